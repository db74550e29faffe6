//! Package managers: what downloads, installs and publishes.

use super::table::*;

/// Why package managers ask: they fetch from a registry and run what comes.
const DOWNLOADS: &str = "downloads packages, whose scripts may run";
const PUBLISHES: &str = "publishes for others";

pub(super) const PROGRAMS: &[Program] = &[
    changes("npm").everywhere(&[
        takes("--prefix -C -w --workspace --registry --loglevel --userconfig"),
        escapes("-g --global", "puts programs into the user's folders"),
        doubts("--node-options --shell --init-module --globalconfig").valued(),
        doubts_line("--script-shell --git --editor --viewer --browser"),
        writes("--cache --logs-dir"),
    ]).verbs(&[
        reads("ls list ll la help root prefix bin explain why pkg+get fund query sbom"),
        leaves("install i add ci clean-install install-test it update up upgrade uninstall remove rm un link ln audit outdated view info show search dedupe ddp", DOWNLOADS),
        leaves("publish unpublish deprecate dist-tag owner access team token login adduser logout whoami profile star hook org stars ping doctor", PUBLISHES),
        changes("test t tst run run-script start stop restart version prune rebuild pkg pkg+set pkg+delete init create cache shrinkwrap set-script config config+get config+list").operands(Operands::Read),
        redefines("config+set config+delete config+edit set", "decides what npm runs"),
        changes("exec x").operands(Operands::Command(0)).special(Special::OwnShell).options(&[takes("-p --package"), runs_line("-c --call")]),
        changes("explore").operands(Operands::Command(1)).special(Special::OwnShell),
        changes("pack").options(&[writes("--pack-destination")]),
    ]),
    // What these list, they ask the folder's `.pnpmfile.cjs` about.
    changes("pnpm").special(Special::Runner).options(&[takes("--filter -F -C --dir")]).verbs(&[
        changes("list ls why root bin licenses"),
        leaves("install i add update up upgrade remove rm uninstall un link import fetch audit outdated self-update env setup", DOWNLOADS),
        leaves("publish login logout", PUBLISHES),
        changes("exec").operands(Operands::Command(0)).options(&[runs_line("-c --shell-mode")]),
        changes("dlx").operands(Operands::Command(0)).options(&[takes("--package"), runs_line("-c --shell-mode")]),
        changes("run test start build lint typecheck dev pack rebuild prune store create init deploy patch"),
    ]),
    // The folder's settings name the yarn that runs.
    changes("yarn yarnpkg").special(Special::Runner).verbs(&[
        changes("list why info versions bin licenses"),
        leaves("install add remove up upgrade upgrade-interactive import dedupe audit outdated global link set plugin self-update", DOWNLOADS),
        leaves("publish npm login logout owner team tag", PUBLISHES),
        changes("exec").operands(Operands::Command(0)),
        changes("dlx").operands(Operands::Command(0)),
        changes("workspace").operands(Operands::Read),
        changes("run test start build lint dev pack node init create cache clean workspaces version"),
    ]),
    changes("npx bunx pnpx").operands(Operands::Command(0)).special(Special::OwnShell).options(&[
        takes("-p --package -w --workspace"),
        runs_line("-c --call"),
    ]),
    changes("corepack fnm volta").verbs(&[
        changes("exec run").operands(Operands::Command(0)).options(&[takes(
            "--using --node --npm --pnpm --yarn --log-level --node-dist-mirror --fnm-dir --arch",
        )]),
        leaves("install prepare use enable pin latest lts", "downloads or decides which program runs"),
        reads("list ls current which"),
    ]),
    // The version stands before the command.
    changes("nvm n").verbs(&[
        changes("exec").operands(Operands::Command(1)),
        leaves("install prepare use enable pin latest lts", "downloads or decides which program runs"),
        reads("list ls current which"),
    ]),
    changes("pip pipenv").everywhere(&[
        runs_version("--python"),
        writes("--log --log-file --local-log --cache-dir"),
        takes("--index-url -i --proxy --keyring-provider --timeout --retries --trusted-host --cert --client-cert --use-feature"),
    ]).verbs(&[
        reads("list show freeze check debug help inspect graph"),
        leaves("install download wheel index search lock sync update upgrade uninstall cache", DOWNLOADS),
        changes("config config+set config+get config+list hash completion"),
        changes("run shell").operands(Operands::Command(0)).special(Special::OwnShell),
    ]),
    changes("uv").everywhere(&[takes("--directory --project --config-file --color"), writes("--cache-dir"), runs_version("--python -p")]).verbs(&[
        // Versions are written, too, and a tree asks what builds the folder's packages.
        changes("tree version"),
        reads("pip+list pip+show pip+freeze pip+check python+list python+find help"),
        leaves("add remove sync lock publish self self+update tool+install tool+upgrade tool+uninstall python+install python+uninstall pip+install pip+sync pip+uninstall pip+compile cache", DOWNLOADS),
        changes("run").operands(Operands::Command(0)).options(&[takes("--with --extra --group --env-file --with-requirements --with-editable --index --default-index -w --package --no-extra --no-group --only-group --index-url -i --extra-index-url --find-links -f --refresh-package --upgrade-package -P --reinstall-package --resolution --prerelease --exclude-newer --link-mode --config-setting")]),
        changes("tool+run x").operands(Operands::Command(0)).options(&[takes("--from --with")]),
        changes("venv init build format export"),
    ]),
    changes("uvx pipx").operands(Operands::Read).options(&[takes("--from --with --spec")]).verbs(&[
        leaves("install upgrade upgrade-all uninstall inject reinstall ensurepath", DOWNLOADS),
        reads("list"),
    ]),
    changes("poetry").options(&[takes("-C --directory -P --project")]).verbs(&[
        // Each of them loads the plugins of the folder.
        changes("show check version env+info env+list about"),
        leaves("install add remove update lock publish self search source cache", DOWNLOADS),
        changes("run").operands(Operands::Command(0)),
        changes("shell").special(Special::OwnShell),
        changes("build new init export config env"),
    ]),
    leaves("conda mamba micromamba pixi", DOWNLOADS).verbs(&[
        leaves("run", DOWNLOADS).operands(Operands::Command(0)).options(&[takes(
            "-n --name -p --prefix --cwd -r --root-prefix --rc-file --log-level -e --environment --manifest-path -a --attach",
        )]),
    ]),
    changes("pyenv rbenv nodenv goenv jenv").verbs(&[
        changes("exec").operands(Operands::Command(0)),
        leaves("install uninstall update", "downloads or decides which program runs"),
        redefines("global local shell rehash init", "decides which program runs"),
    ]),
    leaves("twine easy_install ensurepip", DOWNLOADS),
    changes("hatch pdm rye").verbs(&[
        leaves("add remove install update lock sync publish self python", DOWNLOADS),
        changes("run").operands(Operands::Command(0)),
        changes("shell").special(Special::OwnShell),
        changes("build test fmt env version show list"),
    ]),
    changes("gem").verbs(&[
        reads("list query specification which environment env contents dependency help"),
        leaves("install i update push yank owner signin signout uninstall fetch search sources cleanup pristine exec", DOWNLOADS),
        changes("build unpack check"),
    ]),
    changes("bundle bundler").verbs(&[
        reads("version"),
        // The Gemfile is a program.
        changes("list show info check licenses platform env"),
        leaves("install update add remove lock package cache outdated publish", DOWNLOADS),
        changes("exec e").operands(Operands::Command(0)).options(&[flag("--keep-file-descriptors")]),
        changes("config config+set open init gem binstubs clean doctor pristine viz"),
    ]),
    changes("composer").options(&[takes("-d --working-dir")]).verbs(&[
        // Each of them loads the plugins of the folder.
        changes("show info licenses validate depends why why-not prohibits status check-platform-reqs"),
        leaves("install i update u upgrade require remove create-project global self-update selfupdate outdated audit search archive reinstall bump", DOWNLOADS),
        changes("run-script run exec dump-autoload dumpautoload init test config clear-cache"),
    ]),
    changes("mix").verbs(&[
        leaves("deps.get deps.update local.hex local.rebar archive.install escript.install hex.publish hex.info hex.outdated", DOWNLOADS),
        destroys("ecto.drop ecto.reset", "drops a database"),
        changes("test format compile run credo dialyzer deps deps.compile ecto.migrate ecto.create phx.routes phx.server"),
    ]),
    changes("dotnet").verbs(&[
        leaves("restore add nuget tool workload new", DOWNLOADS),
        changes("build test run format clean publish pack watch msbuild vstest sln ef list"),
    ]),
    changes("cabal stack opam dune").verbs(&[
        leaves("update install upload get fetch upgrade switch setup pin", DOWNLOADS),
        changes("exec").operands(Operands::Command(0)).options(&[takes("--switch --package --stack-yaml --root")]),
        changes("build test run bench check clean repl list show info outdated gen-bounds configure freeze sdist"),
    ]),
    changes("flutter dart pub").verbs(&[
        leaves("pub+get pub+add pub+upgrade pub+publish upgrade get publish doctor", DOWNLOADS),
        changes("analyze test build run format create clean compile fix"),
    ]),
    leaves("cpan cpanm", DOWNLOADS),
    changes("luarocks").verbs(&[leaves("install upload download search build remove purge", DOWNLOADS)]),
    leaves("brew port macports", "installs programs for the whole user"),
    leaves(
        "apt apt-get aptitude dpkg dpkg-reconfigure rpm yum dnf zypper pacman yay paru apk emerge snap flatpak \
         xbps-install pkg pkg_add pkgin installer softwareupdate mas choco winget scoop update-ca-certificates \
         update-ca-trust update-alternatives",
        "changes the programs of the system",
    ),
    leaves("nix-env nix-channel nix-store nix-collect-garbage nixos-rebuild home-manager darwin-rebuild", "changes the programs of the user"),
    changes("nix").verbs(&[
        changes("develop shell").operands(Operands::CommandAfter("-c --command")).special(Special::OwnShell),
        changes("run build flake eval fmt repl"),
        leaves("profile upgrade-nix copy store registry", "changes the programs of the user"),
    ]),
    changes("nix-shell").special(Special::OwnShell).options(&[runs_line("--run --command"), takes("-p --packages -I -A")]),
    leaves("helmfile", "changes a cluster"),
];
