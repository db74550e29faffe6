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
    reads("nohup setsid unbuffer catchsegv eatmydata").operands(Operands::Command(0)),
    reads("linux32 linux64 i386 i486 i586 i686 x86_64 uname26 tsocks")
        .operands(Operands::Command(0))
        .special(Special::OwnShell),
    reads("choom").operands(Operands::Command(0)).options(&[takes("-n --adjust"), processes("-p --pid")]),
    reads("numactl").operands(Operands::Command(0)).options(&[takes(
        "-i --interleave -w --weighted-interleave -N --cpunodebind -C --physcpubind -m --membind -p --preferred \
         -P --preferred-many -f --file -o --offset -L --length -M --shmmode -S --shm -I --shmid -c --cpubind",
    )]),
    reads("caffeinate").operands(Operands::Command(0)).options(&[takes("-t -w")]),
    reads("torsocks torify").operands(Operands::Command(0)).special(Special::OwnShell).options(&[takes("-a --address -P --port -u --user -p --pass")]),
    reads("cpulimit").operands(Operands::Command(0)).options(&[takes("-l --limit -c --cpu -s --signal"), processes("-p --pid -e --exe -P --path")]),
    reads("faketime datefudge setuidgid envuidgid")
        .operands(Operands::Command(1))
        .options(&[takes("-p"), runs_program("--date-prog")]),
    // Variables come from files.
    changes("envdir").operands(Operands::Command(1)),
    changes("lockf").operands(Operands::Command(1)).special(Special::Lock).options(&[takes("-t")]),
    changes("dumb-init tini catatonit ccache sccache distcc icecc").operands(Operands::Command(0)).options(&[takes("-p --rewrite -r -e")]),
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
             -F --history-format -g --forget-matching -M --multi-line-ext -O --only-cook -P --pre-given -q \
             --quote-characters -s --histsize -S --substitute-prompt -t --set-term-name -w --wait-before-prompt",
        ),
    ]),
    reads("setarch").operands(Operands::Rest).special(Special::Setarch).options(&[only_reads("--list --show")]),
    reads("fakeroot").operands(Operands::Command(0)).special(Special::OwnShell).options(&[
        decides("-l --lib -f --faked", "a library is loaded into the program").valued(),
        writes("-s"),
        takes("-i -b --fd-base"),
    ]),
    reads("proxychains").operands(Operands::Command(0)).options(&[takes("-f")]),
    reads("cgexec").operands(Operands::Command(0)).options(&[takes("-g")]),
    reads("chpst").operands(Operands::Command(0)).options(&[
        takes("-u -U -b -/ -C -n -l -L -m -d -o -p -f -c -r -t -s -a"),
        doubts("-e").valued(),
    ]),
    reads("time gtime")
        .operands(Operands::Command(0))
        .options(&[takes("-f --format"), writes("-o --output")]),
    changes("flock").operands(Operands::Command(1)).special(Special::Lock).options(&[
        runs_line("-c --command"),
        takes("-w --wait --timeout -E --conflict-exit-code"),
    ]),
    reads("watch").operands(Operands::Line(0)).options(&[takes("-n --interval -q --equexit"), writes("-s --shotsdir")]),
    // On macOS a command comes after its file.
    changes("script").operands(Operands::Command(1)).special(Special::Script).options(&[
        runs_line("-c --command"),
        takes("-E --echo -o --output-limit -m --logging-format"),
        writes("-I -O -B -T --log-in --log-out --log-io --log-timing"),
    ]),
    changes("scriptreplay"),
    changes("scriptlive").options(&[runs_line("-c --command"), takes("-I --log-in -B --log-io -T --timing")]),
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
             --halt --memfree --load --nice --env --rpl -P -s --max-chars -E -U -J --profile --arg-sep --arg-file-sep \
             --process-slot-var --group-by --limit --sshdelay --max-replace-args --shebang-wrap --bnr",
        ),
        writes("--results --joblog --tmpdir --compress-program"),
        enters("--wd --workdir"),
        escapes("-S --sshlogin --sshloginfile --slf", "parallel reaches other machines").valued(),
    ]),
    changes("ltrace").operands(Operands::Command(0)).options(&[
        writes("-o --output"),
        takes("-e -l --library -x -X -w --where -F --config -A -s -a --align -n --indent -D --debug -u"),
        processes("-p"),
    ]),
    changes("strace").operands(Operands::Command(0)).options(&[
        Option_ { names: "-o --output", takes: true, optional: false, does: Does::WritesOrRuns },
        takes(
            "-e --trace -s --string-limit -a --columns -E --env -u --user -O --summary-syscall-overhead -S \
             --summary-sort-by -I --interruptible -P --trace-path -X --const-print-style -b --detach-on -U \
             --summary-columns --signal --signals --status --abbrev --verbose --raw --read --reads --write --writes \
             --kvm --fault --inject --decode-pids --argv0",
        ),
        processes("-p --attach"),
    ]),
    changes("perf").verbs(&[
        reads("list report annotate diff evlist buildid-list version")
            .options(&[runs_program("--objdump --addr2line")]),
        reads("script").operands(Operands::Change).options(&[
            alters("-s --script -g --gen-script --dlfilter").valued(),
            alters("--per-event-dump"),
            takes(
                "-i --input -c --comms -C --cpu -F --fields -k --vmlinux -S --symbols --dsos --pid --tid --time \
                 --kallsyms --max-stack --symfs --stop-bt --addr-range --graph-function --max-blocks",
            ),
        ]),
        // Its own letters mean something else.
        changes("trace").operands(Operands::Command(0)).options(&[
            takes(
                "-e --event --expr -F --pf -m --mmap-pages -C --cpu -D --delay -G --cgroup -i --input -u --uid \
                 --call-graph --duration --filter --filter-pids --map-dump --max-events --max-stack --min-stack \
                 --proc-map-timeout --switch-on --switch-off",
            ),
            writes("-o --output"),
            processes("-p --pid -t --tid"),
        ]),
        reads("stat").operands(Operands::Command(0)).options(&[
            takes("-e --event -r --repeat -x --field-separator -D --delay -I --interval-print -C --cpu -G --cgroup \
                 -M --metrics --control --cputype --filter --for-each-cgroup --interval-count --log-fd --td-level \
                 --timeout"),
            writes("-o --output"),
            processes("-p --pid -t --tid"),
            runs_line("--pre --post"),
        ]),
        changes("record stat+record mem c2c mem+record c2c+record trace+record sched+record lock+record kmem+record").operands(Operands::Command(0)).options(&[
            takes(
                "-e --event -F --freq -c --count --call-graph -m --mmap-pages -C --cpu -D --delay -G --cgroup -j \
                 --branch-filter -k --clockid -r --realtime -u --uid --affinity --control --filter --max-size \
                 --mmap-flush --num-thread-synthesize --proc-map-timeout --switch-max-files --switch-output-event \
                 --synth --vmlinux --clang-opt",
            ),
            runs_program("--clang-path"),
            writes("-o --output"),
            processes("-p --pid -t --tid"),
        ]),
    ]),
    changes("valgrind").operands(Operands::Command(0)).options(&[
        writes("--log-file --xml-file --massif-out-file --callgrind-out-file --cachegrind-out-file"),
    ]),
    changes("rr").verbs(&[changes("record").operands(Operands::Command(0)).options(&[
        takes("-c --num-cpu-ticks -i -p -S -t -v -C -D -a"),
        writes("-o --output-trace-dir"),
    ])]),
    changes("bear").operands(Operands::Command(0)).options(&[writes("--output -o"), takes("--config")]),
    changes("hyperfine").operands(Operands::Lines).options(&[
        runs_line("-p --prepare -c --cleanup -s --setup -C --conclude --reference"),
        takes(
            "-w --warmup -r --runs -m --min-runs -M --max-runs -P -L -n --command-name -u --time-unit -D \
             --parameter-step-size --style --sort --input --reference-name",
        ),
        runs_program("-S --shell"),
        writes("--output --export-orgmode --export-json --export-markdown --export-csv --export-asciidoc"),
    ]),
    changes("entr").operands(Operands::Command(0)).options(&[runs_line("-s")]),
    changes("watchexec").operands(Operands::Command(0)).options(&[takes(
        "-w --watch -W -e --exts -f --filter -i --ignore -d --debounce -s --signal --shell -o --on-busy-update \
         -E --env --workdir --delay-run --filter-file --ignore-file --stop-signal --stop-timeout --fs-events",
    )]),
    changes("nodemon").options(&[runs_line("-x --exec"), takes("-w --watch -e --ext -i --ignore -d --delay")]),
    changes("retry").operands(Operands::Command(0)).options(&[takes(
        "-d --delay -m --message -t --times -u --until -w --while -s --sleep -n --tries --min --max --backoff",
    )]),
    changes("chamber").verbs(&[changes("exec").operands(Operands::CommandAfter("--"))]),
    changes("doppler infisical teller").verbs(&[changes("run").operands(Operands::Command(0)).options(&[
        runs_line("--command"),
        takes("-p --project -c --config --env --path -t --token --projectId --domain --scope"),
    ])]),
    changes("sops").verbs(&[changes("exec-env").operands(Operands::Line(1)), changes("exec-file").operands(Operands::Line(1))]),
    changes("guix").verbs(&[changes("shell environment").operands(Operands::CommandAfter("--"))]),
    changes("chronic ifne errno cronic").operands(Operands::Command(0)),
    changes("cross-env env-cmd").operands(Operands::Rest).special(Special::Env).options(&[takes(
        "-e --environments -f --file -r --rc-file",
    )]),
    changes("dotenv dotenvx").special(Special::Runner).options(&[takes("-e -f --file --env-file -v -c -q --quote")]).verbs(&[
        changes("run").operands(Operands::Command(0)).options(&[takes(
            "-e --env -f --env-file -fk --env-keys-file -fv --env-vault-file --convention -l --log-level",
        )]),
    ]),
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
        changes("exec x").operands(Operands::CommandAfter("--")).options(&[runs_line("-c --command")]),
        reads("version"),
        // The settings of a folder hold templates that run programs.
        changes("ls list current where which doctor"),
        redefines("use trust set settings link reshim", "mise decides which program runs"),
        leaves("install upgrade plugins", "mise downloads"),
    ]),
    changes("prlimit").operands(Operands::Command(0)).options(&[takes("-o --output"), processes("-p --pid")]),
    changes("expect").options(&[takes("-c -f")]),
];

const fn processes(names: &'static str) -> Option_ {
    escapes(names, "reaches into another process").valued()
}
