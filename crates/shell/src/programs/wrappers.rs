//! Programs that run the command in their arguments.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    reads("env").operands(Operands::Rest).special(Special::Env).options(&[
        takes("-u --unset -a --argv0"),
        enters("-C --chdir"),
        takes("-S --split-string"),
        decides("-P", "env looks for the program somewhere else").valued(),
    ]),
    reads("timeout gtimeout")
        .operands(Operands::Command(1))
        .options(&[takes("-s --signal -k --kill-after")]),
    reads("nice gnice").operands(Operands::Command(0)).options(&[takes("-n --adjustment")]),
    reads("ionice")
        .operands(Operands::Command(0))
        .options(&[takes("-c --class -n --classdata"), processes("-p --pid -P --pgid -u --uid")]),
    reads("chrt").operands(Operands::Command(1)).options(&[
        takes("-T --sched-runtime -P --sched-period -D --sched-deadline"),
        processes("-p --pid"),
    ]),
    reads("taskset").operands(Operands::Command(1)).options(&[processes("-p --pid")]),
    reads("stdbuf").operands(Operands::Command(0)).options(&[takes("-i --input -o --output -e --error")]),
    reads("nohup setsid unbuffer linux32 linux64 i386 i486 i586 i686 x86_64 uname26 catchsegv tsocks eatmydata")
        .operands(Operands::Command(0)),
    reads("choom").operands(Operands::Command(0)).options(&[takes("-n --adjust"), processes("-p --pid")]),
    reads("numactl").operands(Operands::Command(0)).options(&[takes(
        "-i --interleave -w --weighted-interleave -N --cpunodebind -C --physcpubind -m --membind -p --preferred \
         -P --preferred-many -f --file -o --offset -L --length -M --shmmode -S --shm -t --strict",
    )]),
    reads("caffeinate").operands(Operands::Command(0)).options(&[takes("-t -w")]),
    reads("torsocks torify").operands(Operands::Command(0)).options(&[takes("-a --address -P --port -u --user -p --pass")]),
    reads("cpulimit").operands(Operands::Command(0)).options(&[takes("-l --limit"), processes("-p --pid -e --exe -P --path")]),
    reads("faketime datefudge setuidgid envuidgid envdir").operands(Operands::Command(1)).options(&[takes("-f")]),
    changes("lockf").operands(Operands::Command(1)).options(&[takes("-t")]),
    changes("dumb-init tini catatonit ccache sccache distcc icecc").operands(Operands::Command(0)).options(&[takes("-p --rewrite -r")]),
    changes("xvfb-run").operands(Operands::Command(0)).options(&[
        writes("-e --error-file -f --auth-file"),
        takes("-n --server-num -p --xauth-protocol -s --server-args -w --wait"),
    ]),
    changes("dbus-run-session").operands(Operands::Command(0)).options(&[
        runs_program("--dbus-daemon"),
        doubts("--config-file").valued(),
    ]),
    changes("rlwrap").operands(Operands::Command(0)).options(&[
        runs_line("-z --filter"),
        writes("-H --history-filename -l --logfile"),
        takes(
            "-b --break-chars -C --command-name -D --history-no-dupes -e --extra-char-after-completion -f --file \
             -g --forget-matching -m --multi-line -M --multi-line-ext -O --only-cook -p --prompt-colour -q \
             --quote-characters -s --histsize -S --substitute-prompt -t --set-term-name -w --wait-before-prompt",
        ),
    ]),
    reads("setarch").operands(Operands::Rest).special(Special::Setarch),
    reads("fakeroot").operands(Operands::Command(0)).options(&[
        decides("-l --lib --faked", "a library is loaded into the program").valued(),
        writes("-s"),
        takes("-i -b"),
    ]),
    reads("proxychains").operands(Operands::Command(0)).options(&[takes("-f")]),
    reads("cgexec").operands(Operands::Command(0)).options(&[takes("-g")]),
    reads("chpst").operands(Operands::Command(0)).options(&[takes(
        "-u -U -b -e -/ -C -n -l -L -m -d -o -p -f -c -r -t -s -a",
    )]),
    reads("time gtime")
        .operands(Operands::Command(0))
        .options(&[takes("-f --format"), writes("-o --output")]),
    changes("flock").operands(Operands::Command(1)).options(&[
        runs_line("-c --command"),
        takes("-w --wait --timeout -E --conflict-exit-code"),
    ]),
    reads("watch").operands(Operands::Line(0)).options(&[takes("-n --interval -q --equexit")]),
    // On macOS a command comes after its file.
    changes("script").operands(Operands::Command(1)).special(Special::Script).options(&[
        runs_line("-c --command"),
        takes("-E --echo -o --output-limit -m --logging-format"),
        writes("-I -O -B -T --log-in --log-out --log-io --log-timing"),
    ]),
    changes("scriptreplay scriptlive"),
    reads("busybox toybox").operands(Operands::Command(0)).options(&[only_reads("--list")]),
    changes("ld.so").operands(Operands::Command(0)).options(&[
        takes("--library-path --inhibit-rpath --argv0 --glibc-hwcaps-prepend"),
        decides("--preload --audit", "a library is loaded into the program").valued(),
    ]),
    reads("xargs gxargs").operands(Operands::Rest).special(Special::Xargs).options(&[
        takes(
            "-a --arg-file -d --delimiter -E -I -L -n --max-args -P --max-procs -s --max-chars",
        ),
        // Their value is only what is attached; the next word is the command.
        flag("--replace -i --eof -e --max-lines -l").attached(),
        names_variable("--process-slot-var"),
    ]),
    changes("parallel sem").operands(Operands::Rest).special(Special::Parallel).options(&[
        takes(
            "-j --jobs --max-procs -a --arg-file -I -C --colsep -d --delimiter -n --max-args -N -L \
             --max-lines --timeout --delay --retries --header --tagstring --block --recstart --recend \
             --halt --memfree --load --nice --env --plus --rpl",
        ),
        writes("--results --joblog --tmpdir --compress-program"),
        enters("--wd --workdir"),
        escapes("-S --sshlogin --sshloginfile --slf", "parallel reaches other machines").valued(),
    ]),
    changes("strace ltrace").operands(Operands::Command(0)).options(&[
        Option_ { names: "-o --output", takes: true, optional: false, does: Does::WritesOrRuns },
        takes(
            "-e --trace -s --string-limit -a --columns -E --env -u --user -O -S --summary-sort-by -I \
             -P --trace-path -X -b --detach-on -U --summary-columns -A -l -n -F -x -w",
        ),
        processes("-p --attach"),
    ]),
    changes("perf").verbs(&[
        reads("list report annotate diff script evlist buildid-list version"),
        reads("stat").operands(Operands::Command(0)).options(&[
            takes("-e --event -r --repeat -x --field-separator -D --delay -I --interval-print -C --cpu -G --cgroup"),
            writes("-o --output"),
            processes("-p --pid -t --tid"),
            runs_line("--pre --post"),
        ]),
        changes("record trace mem c2c").operands(Operands::Command(0)).options(&[
            takes("-e --event -F --freq -c --count -g --call-graph -m --mmap-pages -C --cpu -D --delay"),
            writes("-o --output"),
            processes("-p --pid -t --tid"),
        ]),
    ]),
    changes("valgrind").operands(Operands::Command(0)).options(&[
        writes("--log-file --xml-file --massif-out-file --callgrind-out-file --cachegrind-out-file"),
    ]),
    changes("rr").verbs(&[changes("record").operands(Operands::Command(0))]),
    changes("bear").operands(Operands::Command(0)).options(&[writes("--output -o"), takes("--config")]),
    changes("hyperfine").operands(Operands::Lines).options(&[
        runs_line("-p --prepare -c --cleanup -s --setup --conclude"),
        takes("-w --warmup -r --runs -m --min-runs -M --max-runs -P -L -n --command-name -u --time-unit -S --shell -N -i"),
        writes("--export-json --export-markdown --export-csv --export-asciidoc"),
    ]),
    changes("entr").operands(Operands::Command(0)).options(&[runs_line("-s")]),
    changes("watchexec").operands(Operands::Command(0)).options(&[takes(
        "-w --watch -e --exts -f --filter -i --ignore -d --debounce -s --signal --shell",
    )]),
    changes("nodemon").options(&[runs_line("-x --exec"), takes("-w --watch -e --ext -i --ignore -d --delay")]),
    changes("chronic ifne errno cronic").operands(Operands::Command(0)),
    changes("dotenv cross-env env-cmd dotenvx").operands(Operands::Rest).special(Special::Env).options(&[takes("-e -f --env-file")]),
    changes("direnv").verbs(&[
        changes("exec").operands(Operands::Command(1)),
        redefines("allow permit grant edit reload", "direnv runs what a folder says"),
        reads("status version stdlib"),
    ]),
    changes("asdf").verbs(&[
        changes("exec").operands(Operands::Command(0)),
        reads("list current where which info version"),
        redefines("reshim global local set shell", "asdf decides which program runs"),
        leaves("install plugin update", "asdf downloads"),
    ]),
    changes("mise rtx").verbs(&[
        changes("exec x").operands(Operands::Command(0)),
        reads("ls list current where which version doctor"),
        redefines("use trust set settings link reshim", "mise decides which program runs"),
        leaves("install upgrade plugins", "mise downloads"),
    ]),
    changes("prlimit").operands(Operands::Command(0)).options(&[processes("-p --pid")]),
    changes("expect").options(&[takes("-c -f")]),
];

const fn processes(names: &'static str) -> Option_ {
    escapes(names, "reaches into another process").valued()
}
