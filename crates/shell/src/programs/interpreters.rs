//! Interpreters and debuggers: their programs are the box's to hold.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    changes("python pypy ipython").operands(Operands::Rest).special(Special::Python).options(&[
        takes("-c -m -W -X -Q --check-hash-based-pycs"),
    ]),
    changes("node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh wish r rscript julia octave \
         java groovy scala kotlin elixir iex erl escript swift guile racket ocaml ghc runghc awk-script")
        .operands(Operands::Rest),
    changes("gdb lldb cgdb").options(&[
        runs_nothing("-ex -x -iex -ix -s -e -c -cd -d"),
        escapes("-p -pid --pid", "reaches into another process").valued(),
    ]).long_options(),
    changes("sqlite3 duckdb"),
    changes("gcore dlv delve jstack jmap jcmd py-spy bpftrace bpftool").options(&[
        escapes("-p --pid", "reaches into another process").valued(),
    ]),
    changes("jupyter pdflatex xelatex lualatex latexmk pandoc convert magick ffmpeg"),
];

const fn runs_nothing(names: &'static str) -> Option_ {
    takes(names)
}
