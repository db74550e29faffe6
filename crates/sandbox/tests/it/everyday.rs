//! What people do all day works in a box.

use std::fs;

use heeler_sandbox::{Confinement, Exit};

use crate::harness::Case;
use crate::place::{Place, VERSIONS};

pub(crate) const CASES: &[Case] = crate::cases![
    reading_and_writing_the_workspace_works,
    nothing_else_can_be_written,
    secrets_cannot_be_read,
    tools_of_every_day_work,
    an_older_kernel_does_as_well,
];

async fn check(place: &Place, script: &str, expected: &str) {
    let ended = place.boxed(place.sh(script)).await;
    assert_eq!((ended.output.as_str(), ended.exit), (expected, Exit::Code(0)), "{script}");
    assert_eq!(ended.bound, None, "{script}");
}

async fn reading_and_writing_the_workspace_works() {
    let place = Place::new();
    check(&place, "cat ../notes.txt src/main.rs", "notes\nfn main() {}\n").await;
    check(&place, "echo a >a; mkdir -p b/c; mv a b/c/d; chmod 600 b/c/d; cat b/c/d", "a\n").await;
    assert_eq!(fs::read_to_string(place.workspace.join("b/c/d")).unwrap(), "a\n");
    check(&place, "cat <<END | sort >\"$TMPDIR/x\" && cat \"$TMPDIR/x\"\nb\na\nEND", "a\nb\n")
        .await;
    check(
        &place,
        "pwd -P; echo >/dev/null; ps -o pid= -p $$ >/dev/null && echo fine",
        &format!("{}\nfine\n", place.workspace.display()),
    )
    .await;
}

async fn nothing_else_can_be_written() {
    let place = Place::new();
    for script in [
        "echo x >../notes.txt",
        "echo x >../new",
        "rm ../notes.txt",
        "mkdir /tmp/h-new",
        "chmod 777 ../notes.txt",
        "touch -d yesterday ../notes.txt",
        "mv ../notes.txt .",
        "echo x >/dev/shm/../x",
    ] {
        let ended = place.boxed(place.sh(script)).await;
        assert_ne!(ended.exit, Exit::Code(0), "{script}: {ended:?}");
    }
    assert_eq!(fs::read_to_string(place.home.join("notes.txt")).unwrap(), "notes\n");
}

async fn secrets_cannot_be_read() {
    let place = Place::new();
    for script in [
        "cat ../.ssh/id_ed25519",
        "cat ../.netrc",
        "cat ../.config/gh/hosts.yml",
        "cat /proc/self/root$HOME/.netrc",
        "ls ../.ssh | grep .",
        "ln ../.netrc x && cat x",
    ] {
        let ended = place.boxed(place.sh(script)).await;
        assert_ne!(ended.exit, Exit::Code(0), "{script}: {ended:?}");
    }
    check(
        &place,
        "ls -A ..; cat ../.config/git/config",
        ".config\n.netrc\n.ssh\nnotes.txt\nproject\n[user]\n name = t\n email = t@localhost\n",
    )
    .await;
}

async fn tools_of_every_day_work() {
    for landlock in VERSIONS {
        try_tools(&Place::on(landlock)).await;
    }
}

async fn an_older_kernel_does_as_well() {
    let place = Place::on(2);
    check(&place, "mkdir d e; echo a >d/a; mv d/a e/b; ln e/b d/c; cat d/c", "a\n").await;
    check(&place, "sleep 9 & kill $!; wait $! 2>/dev/null; echo $?", "143\n").await;
    check(
        &place,
        "trap 'echo heard' USR1; kill -USR1 $$; kill -0 $$ && echo fine",
        "heard\nfine\n",
    )
    .await;
    // Others have no number, and the namespace's first process takes no signal.
    let ended = place.boxed(place.sh("kill -9 1; kill -0 $PPID; (sleep 0.01 &); echo on")).await;
    assert!(ended.output.ends_with("on\n") && ended.exit.is_success(), "{ended:?}");
    check(&place, "read pid rest </proc/self/stat; [ $pid != $$ ] && echo outside", "outside\n")
        .await;
    let place = Place::on(1);
    let command = place.sh("true").confinement(Confinement::Box(place.confines().into()));
    let refused = place.launcher.run(&command).await.err().unwrap().to_string();
    assert_eq!(
        refused,
        "`sh` did not start: it cannot be confined: version 1 of Landlock is too old"
    );
}

async fn try_tools(place: &Place) {
    let ended = place.finish(place.sh("git init -q")).await;
    assert!(ended.exit.is_success(), "{ended:?}");
    let git = "git add . && git commit -qm first && git status --short && git log --format=%s";
    check(place, git, "first\n").await;
    check(place, "git branch x; git checkout -q x; git branch --show-current", "x\n").await;
    check(place, "node -e 'console.log(1)'; python3 -c 'print(2)'", "1\n2\n").await;
}
