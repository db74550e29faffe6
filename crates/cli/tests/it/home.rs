//! A home that cannot be used: read-only, no folder, a full disk.

use std::path::Path;

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::{MockServer, require};

use crate::fifo::Fifo;
use crate::support::{World, program};

const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";

/// How to get a mount namespace of our own: as root directly, else through a user namespace.
pub(crate) fn namespace() -> Option<&'static [&'static str]> {
    let is_root = rustix::process::geteuid().is_root();
    let arguments: &[&str] = if is_root { &["-m"] } else { &["-Urm"] };
    let mut unshare = program("unshare");
    let tried = unshare.args(arguments).args(["mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let works = tried.is_ok_and(|output| output.status.success());
    require("a mount namespace (unshare, tmpfs)", works).then_some(arguments)
}

/// Runs `heeler` with arguments where a shell has mounted things first; the world's home is `$HOME/home`.
fn check(world: &World, mount: &str, arguments: &[&str], code: i32, stderr: Expect) {
    let Some(unshare) = namespace() else { return };
    let line = format!("set -e; {mount}; exec \"$@\"");
    let heeler = world.exec(ANY, arguments);
    let output = heeler.run_in("unshare", &[unshare, &["bash", "-c", &line, "bash"]].concat());
    let output = output.exits(code);
    stderr.assert_eq(&world.plain(&output.stderr));
}

#[test]
fn a_read_only_home_is_told() {
    let world = World::new();
    let mount = "mount -t tmpfs -o ro none $HEELER_HOME";
    check(
        &world,
        mount,
        &["hello"],
        2,
        expect![[r#"
        heeler: cannot make the folder `WORLD/home/sessions` (set HEELER_HOME to a folder you can write): Read-only file system (os error 30)
    "#]],
    );
    // What is there can still be read.
    world.exec(ANY, &["hello"]).run().exits(0);
    let mount = "mount --bind $HEELER_HOME $HEELER_HOME; mount -o remount,ro,bind $HEELER_HOME";
    check(
        &world,
        mount,
        &["--continue", "hello"],
        2,
        expect![[r#"
            heeler: cannot open `WORLD/home/sessions/ID.jsonl` (set HEELER_HOME to a folder you can write): Read-only file system (os error 30)
        "#]],
    );
    check(
        &world,
        mount,
        &["hello"],
        2,
        expect![[r#"
            heeler: cannot open `WORLD/home/sessions/ID.jsonl` (set HEELER_HOME to a folder you can write): Read-only file system (os error 30)
        "#]],
    );
}

#[test]
fn what_a_read_only_home_holds_can_be_read() {
    let world = World::new();
    world.exec(ANY, &["hello"]).run().exits(0);
    let Some(unshare) = namespace() else { return };
    let line = "set -e; mount --bind $HEELER_HOME $HEELER_HOME; \
                mount -o remount,ro,bind $HEELER_HOME; exec \"$@\"";
    let shell = [unshare, &["bash", "-c", line, "bash"]].concat();
    let listed = world.heeler(&["sessions", "list"]).run_in("unshare", &shell).exits(0);
    assert!(listed.stdout.ends_with("hello\n"), "{}", listed.stdout);
}

#[test]
fn a_file_in_place_of_the_home_is_told() {
    let world = World::new();
    std::fs::remove_dir(world.path("home")).unwrap();
    world.write("home", "");
    let output = world.exec(ANY, &["hello"]).run().exits(2);
    expect![[r#"
        heeler: cannot make the folder `WORLD/home/sessions` (set HEELER_HOME to a folder you can write): Not a directory (os error 20)
    "#]].assert_eq(&world.plain(&output.stderr));
}

/// A disk so small that a few records fill it. The shell runs `heeler` until it fails, frees some
/// space, and goes on with the same session.
#[test]
fn a_full_disk_is_told_and_the_session_goes_on_once_there_is_space() {
    let world = World::new();
    let Some(unshare) = namespace() else { return };
    let script = r#"
        [[reply]]
        repeat = 40
        blocks = [{ call = "LS", input = { path = "." } }]
        [[reply]]
        text = "done"
    "#;
    let line = r#"
        set -e
        mount -t tmpfs -o size=256k none "$HEELER_HOME"
        # Pages are what counts: the ballast leaves room for about ten of them.
        head -c 200k /dev/zero > "$HEELER_HOME/ballast"
        code=0; "$@" hello --result-json first.json > first.out 2> first.err || code=$?
        echo "first: $code"
        cp "$HEELER_HOME"/sessions/*.jsonl kept.jsonl
        rm "$HEELER_HOME/ballast"
        code=0; "$@" --continue > second.out 2> second.err || code=$?
        echo "second: $code"
        cp "$HEELER_HOME"/sessions/*.jsonl after.jsonl
    "#;
    let shell = [unshare, &["bash", "-c", line, "bash"]].concat();
    let server = MockServer::start(Script::parse(script).unwrap());
    let output = world.exec_at(&server, &[]).run_in("unshare", &shell).exits(0);
    assert_eq!(output.stdout, "first: 1\nsecond: 0\n", "{}", world.worked("second.err"));
    assert_eq!(server.violations(), [""; 0]);
    let told = world.worked("first.err");
    assert!(!told.contains("heeler: 0 tokens in"), "{told}");
    assert!(world.worked("first.json").contains(r#""turn":1,"#), "{}", world.worked("first.json"));
    let told = told.lines().skip_while(|line| !line.contains("tokens in")).skip(1);
    expect![[r#"
        heeler: the session's journal could not be written, so the turn stopped here: cannot append to `WORLD/home/sessions/ID.jsonl` (free some space there, or set HEELER_HOME to a folder with room for new sessions): No space left on device (os error 28). Nothing that was written is lost; fix the cause and continue the session
        heeler: go on with `heeler exec --resume ID PROMPT`"#]].assert_eq(&world.plain(&told.collect::<Vec<_>>().join("\n")));
    assert_eq!(world.worked("second.out"), "done\n");
    // Not a byte of what was written is lost.
    let kept = world.worked("kept.jsonl");
    let kept = &kept[..kept.rfind('\n').unwrap() + 1];
    assert!(kept.len() > 20_000 && world.worked("after.jsonl").starts_with(kept));
}

#[test]
fn a_limit_on_the_size_of_files_is_told_and_holds_for_commands_as_ever() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "head -c 100k /dev/zero > long; echo it ended with $?" } }]
        [[reply]]
        expect = { tool_result_contains = "it ended with 153" }
        blocks = [{ call = "LS", input = { path = "." } }]
        [[reply]]
        repeat = 100
        blocks = [{ call = "LS", input = { path = "." } }]
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let shell = ["-c", "ulimit -f 40; exec \"$@\"", "bash"];
    let heeler = world.exec_at(&server, &["--allow", "Bash", "-q", "go"]);
    let output = heeler.run_in("bash", &shell).exits(1);
    assert_eq!(server.violations(), [""; 0]);
    expect![[r#"
        heeler: the session's journal could not be written, so the turn stopped here: cannot append to `WORLD/home/sessions/ID.jsonl` (let files be larger (`ulimit -f`), or set HEELER_HOME to another disk): File too large (os error 27). Nothing that was written is lost; fix the cause and continue the session
        heeler: go on with `heeler exec --resume ID PROMPT`
    "#]]
    .assert_eq(&world.plain(&output.stderr));
}

#[test]
fn a_disk_that_fills_up_in_a_turn_that_was_left_is_told_though_a_prompt_waits() {
    let world = World::new();
    let Some(unshare) = namespace() else { return };
    let script = r#"
        [[reply]]
        repeat = 1000
        blocks = [{ call = "LS", input = { path = "." } }]
    "#;
    let line = r#"
        set -e
        mount -t tmpfs -o size=256k none "$HEELER_HOME"
        head -c 200k /dev/zero > "$HEELER_HOME/ballast"
        code=0; "$@" hello > first.out 2> first.err || code=$?
        echo "first: $code"
        # Room for the new process to begin, and for little more.
        truncate -s 196k "$HEELER_HOME/ballast"
        code=0; "$@" --continue 'and more' > second.out 2> second.err || code=$?
        echo "second: $code"
    "#;
    let shell = [unshare, &["bash", "-c", line, "bash"]].concat();
    let server = MockServer::start(Script::parse(script).unwrap());
    let output = world.exec_at(&server, &[]).run_in("unshare", &shell).exits(0);
    assert_eq!(output.stdout, "first: 1\nsecond: 1\n", "{}", world.worked("second.err"));
    let told = world.worked("second.err");
    assert!(told.contains("the session's journal could not be written"), "{told}");
    assert!(!told.contains("the session was closed before the turn ended"), "{told}");
    assert_eq!(server.violations(), [""; 0]);
}

#[test]
fn a_journal_removed_cut_or_replaced_in_the_middle_of_a_turn_is_not_called_whole() {
    let check = |spoil: fn(&Path), expected: Expect| {
        let world = World::new();
        let script = r#"
            [[reply]]
            blocks = [{ call = "Bash", input = { command = "echo > began; read l < gate" } }]
        "#;
        let server = MockServer::start(Script::parse(script).unwrap());
        let mut began = Fifo::new(&world.path("work/began"));
        let mut gate = Fifo::new(&world.path("work/gate"));
        let running = world.exec_at(&server, &["--allow", "Bash", "-q", "go"]).start();
        began.wait();
        let length = world.journal().metadata().unwrap().len();
        spoil(&world.journal());
        gate.open();
        let output = running.finish().exits(1);
        // How long a journal is depends on the machine.
        let told = world.plain(&output.stderr).replace(&format!(" {length} ("), " LENGTH (");
        expected.assert_eq(&told);
    };
    // Of one that is gone nobody is told to go on with it.
    check(
        |journal| std::fs::remove_file(journal).unwrap(),
        expect![[r#"
        heeler: the session's journal could not be written, so the turn stopped here: `WORLD/home/sessions/ID.jsonl` was removed while session ID was open; begin another session
    "#]],
    );
    check(
        |journal| drop(std::fs::File::create(journal).unwrap()),
        expect![[r#"
        heeler: the session's journal could not be written, so the turn stopped here: somebody else wrote to session ID: the file has 0 bytes instead of LENGTH (`WORLD/home/sessions/ID.jsonl`); open it again
        heeler: go on with `heeler exec --resume ID PROMPT`
    "#]],
    );
    check(
        |journal| {
            let aside = journal.with_extension("aside");
            std::fs::copy(journal, &aside).unwrap();
            std::fs::rename(aside, journal).unwrap();
        },
        expect![[r#"
            heeler: the session's journal could not be written, so the turn stopped here: somebody else wrote to session ID: another file has taken its place (`WORLD/home/sessions/ID.jsonl`); open it again
            heeler: go on with `heeler exec --resume ID PROMPT`
        "#]],
    );
}

#[test]
fn a_pipe_in_place_of_what_is_remembered_of_the_machine_holds_nobody_up() {
    let world = World::new();
    let pipe = world.path("home/sandbox-tried");
    assert!(program("mkfifo").arg(&pipe).status().unwrap().success());
    world.exec(ANY, &["hello"]).run().exits(0);
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&pipe.metadata().unwrap().file_type()));
}

#[test]
fn a_home_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let home = world.path("home/deep/er");
    world.exec(ANY, &["hello"]).env("HEELER_HOME", &home).run().exits(0);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    let journal = std::fs::read_dir(home.join("sessions")).unwrap().next().unwrap().unwrap();
    assert_eq!(mode(&journal.path()), 0o600);
}

#[test]
fn doctor_says_that_a_home_cannot_be_made_and_where() {
    let world = World::new();
    let doctor = |home: &str| world.heeler(&["doctor"]).env("HEELER_HOME", home).run();
    let made = world.path("there/is/none");
    let told = format!("{}, made with the first session\n", made.display());
    assert!(doctor(made.to_str().unwrap()).stdout.contains(&told));
    if !require("/proc", Path::new("/proc/self").exists()) {
        return;
    }
    let output = doctor("/proc/foo/bar").exits(1);
    let told = "/proc/foo/bar cannot be made: nothing can be written to /proc: ";
    assert!(output.stdout.contains(told), "{}", output.stdout);
}

#[test]
fn a_home_that_depends_on_the_folder_is_refused() {
    let world = World::new();
    let output = world.exec(ANY, &["hello"]).env("HEELER_HOME", "relative/h").run().exits(2);
    let told =
        "heeler: HEELER_HOME=relative/h depends on the folder heeler is started in; set it to";
    assert!(output.stderr.starts_with(told), "{}", output.stderr);
    assert!(!world.path("work/relative").exists());
}

#[test]
fn doctor_names_the_variable_whose_proxy_cannot_be_used() {
    let world = World::new();
    let doctor = |proxy: &str| world.heeler(&["doctor"]).env("https_proxy", proxy).run();
    let broken = doctor("http://me:pa ss@proxy:3128");
    assert_eq!(broken.code, 1, "{}", broken.stdout);
    let row = broken.stdout.lines().find(|row| row.starts_with("MISSING  proxy ")).unwrap();
    assert!(row.contains("https_proxy is no address") && !row.contains("pa ss"), "{row}");
    let set = doctor("http://me:pw@proxy:3128").stdout;
    let row = set.lines().find(|row| row.starts_with("ok       proxy ")).unwrap();
    assert!(row.ends_with(" https_proxy"), "{row}");
    assert!(!doctor("").stdout.contains("proxy"));
}
