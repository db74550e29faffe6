//! Build tools and test runners: they run what the workspace says, which is the box's to hold.

use super::table::*;

pub(super) const PROGRAMS: &[Program] = &[
    changes("make gmake bmake").special(Special::Make).options(&[
        enters("-C --directory"),
        takes("-f --file --makefile -I --include-dir -o --old-file -W --what-if --eval"),
    ]),
    changes("cargo").everywhere(&[
        decides("--config", "decides which programs cargo runs").valued(),
        writes("--target-dir --artifact-dir"),
        takes("-p --package --manifest-path --features -F --target --profile -j --jobs --color --message-format -Z"),
        enters("-C"),
    ]).verbs(&[
        reads("version help locate-project pkgid read-manifest verify-project"),
        // They ask the compiler that the folder's settings name.
        changes("tree metadata"),
        leaves("publish login logout owner yank search info", "cargo talks to a registry"),
        leaves("install", "cargo install downloads and puts programs into the home").options(&[writes("--root"), takes("--path --git --version --index --registry")]),
        destroys("uninstall", "cargo uninstall removes programs"),
        leaves("fetch update add generate-lockfile vendor upgrade binstall", "cargo downloads"),
        changes("watch").operands(Operands::Command(0)).options(&[
            runs_line("-s --shell"),
            Option_ { names: "-x --exec", takes: true, optional: false, does: Does::RunsVerb("cargo ") },
            takes("-w --watch -i --ignore -d --delay -E --env -B --features --use-shell --workdir"),
        ]),
        changes("new init").operands(Operands::Write(0)).options(&[takes("--vcs --edition --name --registry")]),
        changes("clean build b check c test t run r bench doc d clippy fmt fix package remove rm nextest expand xtask miri llvm-cov deny audit machete udeps insta mutants hack"),
    ]),
    reads("rustc").special(Special::Compiler).options(&[
        writes("-o --out-dir"),
        takes("--crate-type --crate-name --edition --emit --print -C --codegen -Z -A -W -D -F -L -l --cfg --target --extern"),
        alters("-O -g --test"),
    ]).operands(Operands::Change),
    changes("rustup").verbs(&[
        reads("show which doc target+list component+list toolchain+list check version"),
        changes("run").operands(Operands::Command(1)),
        leaves("update install toolchain+install toolchain+add target+add component+add self+update", "rustup downloads"),
        destroys("toolchain+uninstall toolchain+remove self+uninstall target+remove component+remove", "rustup removes"),
        redefines("default override toolchain+link set override+set", "rustup decides which compiler runs"),
    ]),
    changes("go").long_options().verbs(&[
        reads("version list doc help").options(&[
            runs_program("-toolexec -exec -vettool"),
            takes("-f -tags -modfile -overlay -C"),
            alters("-export -compiled"),
            alters("-mod").valued(),
        ]),
        leaves("get install mod+download mod+tidy telemetry", "go downloads"),
        changes("env").options(&[decides("-w -u", "go env decides what go runs")]),
        changes("build test run generate vet fmt tool mod mod+edit mod+graph mod+why mod+verify mod+vendor mod+init work clean fix bug").options(&[
            writes("-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir"),
            takes("-run -bench -count -timeout -tags -ldflags -gcflags -mod -modfile -p -parallel -covermode -coverpkg -asmflags -buildmode -cpu -benchtime -fuzz -fuzztime -overlay -pkgdir"),
            runs_program("-exec -toolexec -vettool"),
            enters("-C"),
        ]),
    ]),
    changes("gcc g++ cc c++ clang clang++ tcc cl")
        .long_options()
        .special(Special::Compiler)
        .options(&[
            flag("--"),
            writes("-o --output -MF"),
            takes("-I -L -l -D -U -x -include -isystem -MT -MQ -T -wrapper -B -Xclang -Xlinker"),
        ]),
    changes("ld ld.lld gold lld mold as nasm yasm").long_options().options(&[
        flag("--"),
        writes("-o --output -Map"),
        doubts("-plugin -load-pass-plugin").valued(),
        takes("-I -L -l -T"),
    ]),
    changes("cmake").operands(Operands::Read).options(&[
        takes("-S -G -T -A -C -D -U --preset --target -t --config"),
        writes("-B --install-prefix --prefix"),
        takes("--build --install"),
        runs_rest("-E"),
        takes("-P"),
    ]),
    // The tools of `cmake -E`, which are met as commands of their own.
    destroys("remove_directory", "removes folders for good"),
    changes("copy copy_directory copy_if_different create_symlink").operands(Operands::WriteLast),
    changes("make_directory").operands(Operands::Write(0)),
    changes("ninja samu").options(&[enters("-C"), takes("-f -j -k -l -d -t -w")]),
    changes("meson").verbs(&[changes("setup compile test install dist configure init rewrite subprojects wrap devenv")]),
    changes("ctest").options(&[takes("-R -E -L -LE -C --timeout"), writes("-O --output-log")]),
    changes("mvn mvnw").options(&[takes("-f -s -P -pl -D -T -rf --file --settings --projects")]),
    changes("gradle gradlew").options(&[takes("-p -b -c -I -x -P -D --tests --configuration")]),
    changes("ant sbt bazel bazelisk buck buck2 pants just task rake scons waf tup nix-build"),
    changes("javac").long_options().options(&[writes("-d -s -h"), takes("-cp -classpath -sourcepath --release -source -target")]),
    changes("jar").operands(Operands::Read),
    changes("pytest py.test nose2 tox nox jest vitest mocha").operands(Operands::Read),
    changes("coverage").verbs(&[
        changes("run").operands(Operands::Read).options(&[takes("--source --omit --include --rcfile -m")]),
        changes("report html xml json lcov combine erase annotate debug"),
    ]),
    changes("tsc eslint webpack vite rollup esbuild parcel turbo"),
    changes("nx lerna").verbs(&[changes("exec").operands(Operands::Command(0)).options(&[takes(
        "--scope --ignore --since --concurrency --loglevel --include-merged-tags",
    )])]),
];
