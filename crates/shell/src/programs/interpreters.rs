//! Interpreters and debuggers: their programs are the box's to hold.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    changes("python pypy ipython")
        .operands(Operands::Rest)
        .special(Special::Python)
        .options(&[takes("-c -m -W -X -Q --check-hash-based-pycs")]),
    changes(
        "node nodejs deno bun tsx ts-node irb php lua luajit tclsh wish r rscript julia octave \
         java groovy scala kotlin elixir iex erl escript swift guile racket ocaml ghc runghc",
    )
    .operands(Operands::Rest),
    changes("perl ruby").options(&[
        takes("-e -E -I -r"),
        flag("-M -m -C -F -x").attached(),
        edits("-i", 0).attached(),
    ]),
    changes("gdb lldb cgdb")
        .options(&[
            takes("-ex -x -iex -ix -s -e -c -cd -d"),
            runs_rest("-args --args"),
            escapes("-p -pid --pid", "reaches into another process").valued(),
        ])
        .long_options(),
    changes("sqlite3 duckdb").special(Special::Sqlite).long_options().options(&[
        flag("--"),
        doubts("-init -vfs -f").valued(),
        // Spelled out, or they would be those of one letter.
        flag("-column -csv -safe -stats -columns"),
        takes("-cmd -c -s -separator -newline -nullvalue -maxsize -mmap -lookaside -pagecache"),
    ]),
    changes("gcore dlv delve jstack jmap jcmd py-spy bpftrace bpftool").options(&[escapes(
        "-p --pid",
        "reaches into another process",
    )
    .valued()]),
];
