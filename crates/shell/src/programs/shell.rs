//! Bash itself: its builtins, and other shells.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    reads(
        ": true false echo test [ let pwd dirs type times ulimit umask sleep return break \
         continue shift exit logout getconf suspend caller compopt",
    ),
    reads("set").special(Special::Set).options(&[takes("-o"), doubts("-a"), KEYWORD]),
    reads("jobs").options(&[runs_rest("-x")]),
    reads("wait").options(&[names_variable("-p")]),
    reads("printf").options(&[names_variable("-v")]),
    reads("read")
        .operands(Operands::Names)
        .options(&[takes("-d -i -n -N -p -t -u"), names_variable("-a")]),
    reads("mapfile readarray")
        .operands(Operands::Names)
        .options(&[takes("-d -n -O -s -u -c"), runs_line("-C")]),
    reads("getopts").operands(Operands::Names),
    reads("unset").operands(Operands::Names),
    reads("export")
        .operands(Operands::Exports)
        .options(&[decides("-n", "a variable gets another name")]),
    reads("readonly local typeset declare").operands(Operands::Names).options(&[
        // What is given to it is given to another, and the name of that may hold a subscript.
        Option_ {
            names: "-n",
            takes: false,
            optional: false,
            does: Does::Asks(
                crate::line::ConcernKind::NotUnderstood,
                "a variable gets another name",
            ),
        },
        flag("-x"),
    ]),
    reads("shopt").special(Special::Shopt),
    reads("cd").special(Special::Cd),
    reads("pushd").special(Special::Pushd),
    reads("popd").special(Special::Popd),
    reads("trap").options(&[only_reads("-p -l")]).special(Special::Trap),
    reads("eval").operands(Operands::Rest).special(Special::Eval),
    changes("source .").operands(Operands::Rest).special(Special::Source),
    changes("exec").operands(Operands::Command(0)).options(&[takes("-a")]),
    reads("command").operands(Operands::Command(0)).options(&[only_reads("-v -V")]),
    reads("builtin").operands(Operands::Command(0)),
    changes("bg fg disown"),
    reads("alias").special(Special::Alias),
    changes("unalias"),
    reads("hash").options(&[Option_ {
        names: "-p",
        takes: true,
        optional: false,
        does: Does::Asks(
            crate::line::ConcernKind::NotUnderstood,
            "hash makes a name mean another program",
        ),
    }]),
    changes("enable").options(&[decides("-f", "enable loads a builtin from a file").valued()]),
    changes("bind").options(&[decides("-x", "bind runs a command at a key").valued()]),
    changes("complete").options(&[runs_line("-C"), takes("-A -G -W -F -X -P -S -o")]),
    changes("compgen").options(&[runs_line("-C"), takes("-A -G -W -F -X -P -S -o")]),
    redefines("fc", "fc runs earlier lines again"),
    changes("history").options(&[writes("-w -a")]),
    changes("coproc").operands(Operands::Command(0)),
    changes("bash sh rbash")
        .operands(Operands::Rest)
        .options(SHELL)
        // To the others it takes nothing.
        .everywhere(&[takes("-O")])
        .special(Special::Shell),
    changes("dash zsh ksh mksh ash yash")
        .operands(Operands::Rest)
        .options(SHELL)
        .special(Special::Shell),
    changes("nu")
        .operands(Operands::Rest)
        .options(&[runs_line("-c --commands -e --execute")])
        .special(Special::OtherShell),
    changes("fish pwsh powershell cmd elvish xonsh csh tcsh")
        .operands(Operands::Rest)
        .options(&[runs_line("-c --command -Command /c -C --init-command"), takes("-o")])
        .special(Special::OtherShell),
];

/// With it the words behind a command may be variables that it gets.
const KEYWORD: Option_ = Option_ {
    names: "-k",
    takes: false,
    optional: false,
    does: Does::Asks(crate::line::ConcernKind::NotUnderstood, KEYWORD_WHY),
};
pub(crate) const KEYWORD_WHY: &str = "words behind a command become variables that it gets";

/// The options of shells like bash, whose long ones may have one dash.
const SHELL: &[Option_] = &[
    takes("-o"),
    Option_ {
        names: "--rcfile --init-file -rcfile -init-file",
        takes: true,
        optional: false,
        does: Does::RunsFile,
    },
    flag("-c -s"),
    doubts("-a"),
    KEYWORD,
    flag("-norc -noprofile -noediting -posix -login -verbose -restricted -debugger"),
    only_reads("-n"),
];
