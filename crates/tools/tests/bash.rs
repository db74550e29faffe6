//! `Bash` with real processes, through the launcher that this executable becomes.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

#[path = "../../sandbox/tests/harness/mod.rs"]
mod harness;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use heeler_core::{
    BoxFuture, CancellationToken, Clock, Progress, RawJson, Timestamp, Tool, ToolContext,
    ToolError, ToolOutput,
};
use heeler_sandbox::Launcher;
use heeler_tools::{
    BASH_COMMAND_BYTES_MAX, BASH_OUTPUT_BYTES_MAX, Bash, TrainedBash, allowed_environment,
};
use serde_json::json;
use tokio::sync::{mpsc, watch};

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    let mut cases = cases![
        output_comes_as_it_was_written,
        failures_are_errors_that_keep_the_output,
        it_starts_in_the_workspace_with_the_allowed_environment,
        git_takes_no_folder_for_a_repository_that_only_looks_like_one,
        it_is_a_plain_shell_without_input,
        a_timeout_gives_what_there_was,
        a_cancel_gives_what_there_was_and_stops_everything,
        a_cancel_before_the_start_runs_nothing,
        dropping_a_call_stops_everything,
        a_background_process_does_not_hold_up_the_end,
        a_detached_process_is_stopped_and_told,
        long_output_keeps_its_beginning_and_end,
        invalid_bytes_are_replaced,
        a_command_that_is_too_long_is_refused,
        commands_run_side_by_side,
        a_missing_workspace_is_named,
        a_launcher_that_dies_is_told,
        a_launcher_that_cannot_start_says_what_to_do,
        the_trained_shape_runs_restarts_and_keeps_nothing,
        the_trained_shape_touches_what_bash_touches_and_ends_as_it_does,
    ]
    .to_vec();
    // Only there a test can see who waits.
    if cfg!(target_os = "linux") {
        cases.extend_from_slice(cases![
            a_waiting_shell_is_like_a_new_one,
            a_call_is_told_to_the_shell_that_waits,
            a_shell_that_waits_in_another_folder_is_not_used,
            a_waiting_shell_that_died_is_replaced,
            a_waiting_shell_ends_with_its_tool,
        ]);
    }
    harness::run(&cases)
}

/// One call's surroundings.
struct Room {
    folder: tempfile::TempDir,
    tool: Arc<Bash>,
    launcher: Launcher,
    cancel: CancellationToken,
    progress: mpsc::UnboundedReceiver<String>,
    progress_sender: mpsc::UnboundedSender<String>,
}

impl Room {
    fn new() -> Self {
        let launcher = Launcher::new();
        let (progress_sender, progress) = mpsc::unbounded_channel();
        Self {
            folder: tempfile::tempdir().unwrap(),
            tool: Arc::new(Bash::new(launcher.clone(), allowed_environment(std::env::vars()))),
            launcher,
            cancel: CancellationToken::new(),
            progress,
            progress_sender,
        }
    }

    fn call(&self, command: &str, clock: impl Clock) -> BoxFuture<Result<ToolOutput, ToolError>> {
        let input = json!({"command": command, "timeout": 5_000, "description": "a test"});
        let tool = Arc::clone(&self.tool) as Arc<dyn Tool>;
        Tool::call(tool, self.context(clock), RawJson::from_value(&input))
    }

    fn context(&self, clock: impl Clock) -> ToolContext {
        let sender = self.progress_sender.clone();
        ToolContext {
            cancel: self.cancel.clone(),
            progress: Progress::new(move |line| drop(sender.send(line))),
            ..ToolContext::new("test".parse().unwrap(), self.folder.path(), Arc::new(clock))
        }
    }

    /// Starts a shell that waits, and gives its process id.
    async fn warm(&self) -> String {
        self.tool.warm(self.folder.path());
        self.waiting().await
    }

    /// The process id of the shell that waits while no call runs: beside the heir, which has a name of its
    /// own, it is the launcher's only child.
    async fn waiting(&self) -> String {
        let launcher = self.launcher.warm().await.unwrap();
        let list = format!("/proc/{launcher}/task/{launcher}/children");
        loop {
            let children = std::fs::read_to_string(&list).unwrap();
            let is_heir = |pid: &&str| {
                let name = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                name.starts_with(b"launcher-heir")
            };
            let (heir, others): (Vec<_>, Vec<_>) = children.split_whitespace().partition(is_heir);
            if let ([_], [only]) = (&heir[..], &others[..]) {
                return (*only).to_owned();
            }
            tokio::task::yield_now().await;
        }
    }

    /// Runs a command to its end: what the model sees, `!` before an error.
    async fn run(&self, command: &str) -> String {
        say(self.call(command, RealClock).await)
    }
}

fn say(result: Result<ToolOutput, ToolError>) -> String {
    match result {
        Ok(output) if output.is_error => format!("! {}", output.text_content()),
        Ok(output) => output.text_content(),
        Err(error) => format!("!! {error}"),
    }
}

async fn check(command: &str, expected: Expect) {
    expected.assert_eq(&Room::new().run(command).await);
}

/// Time as it is.
struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        Timestamp(u64::try_from(now.as_millis()).unwrap())
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(deadline.since(self.now()))))
    }
}

/// Time that passes when the test says so.
struct TestClock(watch::Receiver<u64>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.borrow())
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        let mut now = self.0.clone();
        Box::pin(async move {
            if now.wait_for(|now| *now >= deadline.millis()).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

async fn output_comes_as_it_was_written() {
    check(
        "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
        expect![[r#"
        out 1
        err 1
        out 2
        err 2
        out 3
        err 3"#]],
    )
    .await;
    check("true", expect!["(no output)"]).await;
    check("printf 'no line end'", expect!["no line end"]).await;
}

async fn failures_are_errors_that_keep_the_output() {
    check(
        "echo half; exit 3",
        expect![[r#"
        ! half
        exit code: 3"#]],
    )
    .await;
    check(
        "false",
        expect![[r#"
        ! (no output)
        exit code: 1"#]],
    )
    .await;
    check(
        "kill -KILL $$",
        expect![[r#"
        ! (no output)
        exit code: 137 (signal 9)"#]],
    )
    .await;
    check(
        "no-such-program 2>/dev/null",
        expect![[r#"
        ! (no output)
        exit code: 127"#]],
    )
    .await;
}

async fn it_starts_in_the_workspace_with_the_allowed_environment() {
    let room = Room::new();
    let workspace = room.folder.path().canonicalize().unwrap();
    assert_eq!(Path::new(&room.run("pwd -P").await), workspace);
    assert_eq!(room.run("echo $TERM").await, "dumb");
    // Cargo sets it for its tests; it is on no list.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    assert_eq!(room.run("echo \"[$CARGO_MANIFEST_DIR]\"").await, "[]");
}

async fn git_takes_no_folder_for_a_repository_that_only_looks_like_one() {
    check(
        r#"mkdir objects refs; echo 'ref: refs/heads/main' >HEAD
        printf '[core]\nbare = false\nworktree = .\nfsmonitor = touch ran; false\n' >config
        git status 2>&1 | cut -d' ' -f1-5; ls"#,
        expect![[r#"
            fatal: cannot use bare repository
            HEAD
            config
            objects
            refs"#]],
    )
    .await;
}

async fn it_is_a_plain_shell_without_input() {
    check(
        "shopt -q login_shell && echo login; case $- in *i*) echo interactive;; esac; cat",
        expect!["(no output)"],
    )
    .await;
    check(
        "-x 2>/dev/null",
        expect![[r#"
        ! (no output)
        exit code: 127"#]],
    )
    .await;
}

async fn a_timeout_gives_what_there_was() {
    let mut room = Room::new();
    let (time, clock) = watch::channel(1_000);
    let call = tokio::spawn(room.call("echo started; sleep 1000", TestClock(clock)));
    assert_eq!(room.progress.recv().await.unwrap(), "started");
    time.send(5_999).unwrap();
    tokio::task::yield_now().await;
    assert!(!call.is_finished());
    time.send(6_000).unwrap();
    expect![[r#"
        ! started
        [timed out after 5000 ms: the command and everything it started were stopped; timeout may be up to 600000 ms; what runs longer goes on in the background with exec, where there is one]"#]]
    .assert_eq(&say(call.await.unwrap()));
}

async fn a_cancel_gives_what_there_was_and_stops_everything() {
    let mut room = Room::new();
    let command = "(sh -c 'echo $$; exec sleep 1000' &) ; exec sleep 1000";
    let call = tokio::spawn(room.call(command, RealClock));
    let pid = room.progress.recv().await.unwrap();
    room.cancel.cancel();
    let expected =
        format!("! {pid}\n[cancelled: the command and everything it started were stopped]");
    assert_eq!(say(call.await.unwrap()), expected);
    assert!(!is_alive(&pid).await);
}

async fn a_cancel_before_the_start_runs_nothing() {
    let room = Room::new();
    room.cancel.cancel();
    let said = room.run("echo ran >file; sleep 1000").await;
    assert!(said.starts_with("! [cancelled"), "{said}");
}

async fn dropping_a_call_stops_everything() {
    let mut room = Room::new();
    let mut call = room.call("echo $$; exec sleep 1000", RealClock);
    let pid = tokio::select! {
        pid = room.progress.recv() => pid.unwrap(),
        ended = &mut call => panic!("{}", say(ended)),
    };
    assert!(is_alive(&pid).await);
    drop(call);
    // The launcher does one thing after the other: the kill comes before this command.
    assert_eq!(room.run("echo next").await, "next");
    assert!(!is_alive(&pid).await);
}

async fn a_background_process_does_not_hold_up_the_end() {
    check(
        "sleep 1000 & echo done",
        expect![[r#"
        done
        [background processes were stopped when the command ended; with exec, where there is one, they go on]"#]],
    )
    .await;
    check(
        "echo first; { echo late; } & wait; exit 2",
        expect![[r#"
        ! first
        late
        exit code: 2"#]],
    )
    .await;
}

async fn a_detached_process_is_stopped_and_told() {
    if cfg!(target_os = "linux") {
        check(
            "setsid sleep 1000 >/dev/null 2>&1 & echo done",
            expect![[r#"
            done
            [background processes were stopped when the command ended; with exec, where there is one, they go on]"#]],
        )
        .await;
    }
}

async fn long_output_keeps_its_beginning_and_end() {
    let n_bytes = BASH_OUTPUT_BYTES_MAX + 1_000;
    let command = format!("echo begin; head -c {n_bytes} /dev/zero | tr '\\0' x; echo; echo end");
    let said = Room::new().run(&command).await;
    let (head, rest) = said.split_once("\n[... ").unwrap();
    let (n_left_out, tail) = rest.split_once(" bytes left out ...]\n").unwrap();
    // What is said of that stands at the end, which is always shown.
    let (tail, told) = tail.split_once("\n[").unwrap();
    let expected = format!(
        "only the first and last 4 MiB of the output were kept: the {n_left_out} bytes between them \
         are in no file]"
    );
    assert_eq!(told, expected);
    assert!(head.starts_with("begin\nxxx") && tail.ends_with("xxx\nend"));
    // The last line end is not shown.
    assert_eq!(head.len() + tail.len() + 1, BASH_OUTPUT_BYTES_MAX);
    assert_eq!(n_left_out.parse::<usize>().unwrap(), 1_000 + "begin\n\nend\n".len());
}

async fn invalid_bytes_are_replaced() {
    check("printf 'a\\377b\\303\\251'", expect!["a\u{fffd}b\u{e9}"]).await;
}

async fn a_command_that_is_too_long_is_refused() {
    let room = Room::new();
    let fits = format!("echo fits #{}", "x".repeat(BASH_COMMAND_BYTES_MAX - 11));
    assert_eq!(room.run(&fits).await, "fits");
    assert_eq!(
        room.run(&format!("{fits}x")).await,
        "!! the command is 131072 bytes long and at most 131071 fit; write it to a file and run that"
    );
    let said = room.run("echo a\0b").await;
    assert!(said.starts_with("!! ") && said.contains("nul byte"), "{said}");
}

/// Each of the two waits for what only the other writes.
async fn commands_run_side_by_side() {
    let room = Room::new();
    assert_eq!(room.run("mkfifo here there").await, "(no output)");
    let one = room.call("echo 1 >here; cat there", RealClock);
    let other = room.call("cat here; echo 2 >there", RealClock);
    let (one, other) = tokio::join!(one, other);
    assert_eq!((say(one), say(other)), ("2".to_owned(), "1".to_owned()));
}

/// In everything but the word for where a line with a syntax error was.
async fn a_waiting_shell_is_like_a_new_one() {
    let lines = [
        "echo $LINENO\necho $LINENO $0 $# $- $((BASHPID - $$)) \"$BASH_EXECUTION_STRING\"",
        "set | grep -vE '^(BASHPID|EPOCH.*|PIPESTATUS|PPID|RANDOM|SECONDS|SRANDOM|_)='",
        "env | sort; pwd; readlink /proc/$$/fd/0; ls /proc/self/fd; ulimit -a | grep -v real-time; trap; shopt",
        "cat; read line || echo no input",
        "set -e; false; echo not reached",
        "false || exit 9",
        "return 3",
        "-x",
        "echo (",
        "echo 'not closed",
        "cat <<END\nfoo",
        "shopt -s extglob\necho !(*)",
        "printf %s ' \u{1}\u{7f} \u{fc} \\t* ' | od -c # comment",
        "trap 'echo bye' EXIT; exit 4",
        "exec sh -c 'echo $0; kill -KILL $$'",
        "sleep 1000 & kill -TERM $$",
        "",
        "\n\n",
    ];
    for line in lines {
        let (new, warm) = (Room::new(), Room::new());
        let pid = warm.warm().await;
        let mut said = Vec::new();
        for room in [new, warm] {
            let folder = room.folder.path().to_str().unwrap().to_owned();
            let text = room.run(line).await.replace(&folder, "FOLDER");
            said.push(text.replace(": eval: ", ": -c: "));
        }
        assert!(!is_alive(&pid).await);
        assert_eq!(said[1], said[0], "{line}");
    }
}

/// A line that is too long for a waiting shell leaves it to the next call.
async fn a_call_is_told_to_the_shell_that_waits() {
    let room = Room::new();
    let pid = room.warm().await;
    let long = format!("echo $$ #{}", "x".repeat(1024 - 8));
    assert_ne!(room.run(&long).await, pid);
    assert_eq!(room.run(&long[..1024]).await, pid);
    let next = room.waiting().await;
    assert_ne!(next, pid);
    assert_eq!(room.run("echo $$").await, next);
}

async fn a_shell_that_waits_in_another_folder_is_not_used() {
    let room = Room::new();
    let pid = room.warm().await;
    let folder = room.folder.path();
    let moved = folder.with_extension("moved");
    std::fs::rename(folder, &moved).unwrap();
    std::fs::create_dir(folder).unwrap();
    assert_ne!(room.run("echo $$ | tee made").await, pid);
    assert!(folder.join("made").exists());
    std::fs::remove_dir_all(moved).unwrap();
    wait_dead(&pid).await;
}

async fn a_waiting_shell_that_died_is_replaced() {
    let room = Room::new();
    let launcher = room.launcher.warm().await.unwrap().to_string();
    for victim in [room.warm().await, launcher] {
        let waiting = room.waiting().await;
        Room::new().run(&format!("kill -KILL {victim}")).await;
        wait_dead(&waiting).await;
        assert_eq!(room.run("echo again").await, "again");
    }
}

async fn a_waiting_shell_ends_with_its_tool() {
    let room = Room::new();
    let pid = room.warm().await;
    assert!(is_alive(&pid).await);
    drop(room.tool);
    wait_dead(&pid).await;
}

async fn a_missing_workspace_is_named() {
    let room = Room::new();
    let workspace = room.folder.path().display().to_string();
    assert_eq!(room.run("rmdir \"$PWD\"").await, "(no output)");
    assert_eq!(
        room.run("echo hi").await,
        format!("!! cannot start in `{workspace}`: it is not a folder that can be entered")
    );
}

async fn a_launcher_that_dies_is_told() {
    let mut room = Room::new();
    let launcher = room.launcher.warm().await.unwrap();
    let call = tokio::spawn(room.call("echo before; exec sleep 1000", RealClock));
    assert_eq!(room.progress.recv().await.unwrap(), "before");
    // Through a launcher of its own, since a process is started nowhere else.
    Room::new().run(&format!("kill -KILL {launcher}")).await;
    expect![[r#"
        ! before
        [the launcher died while the command ran; whether it finished its work is unknown]"#]]
    .assert_eq(&say(call.await.unwrap()));
    assert_eq!(room.run("echo again").await, "again");
}

async fn a_launcher_that_cannot_start_says_what_to_do() {
    let mut room = Room::new();
    room.tool = Arc::new(Bash::new(Launcher::with_program("/no/such/heeler"), Vec::new()));
    let said = room.run("echo hi").await;
    assert!(said.starts_with("!! the launcher `/no/such/heeler` did not start: "), "{said}");
    assert!(said.ends_with("; check that it can be executed"), "{said}");
}

/// Whether a process lives, asked of a launcher that has no part in the test.
async fn is_alive(pid: &str) -> bool {
    Room::new().run(&format!("kill -0 {pid} 2>/dev/null && echo yes")).await == "yes"
}

async fn wait_dead(pid: &str) {
    while is_alive(pid).await {}
}

/// The trained shape over a tool of its own.
fn trained() -> Arc<dyn Tool> {
    let environment = allowed_environment(std::env::vars());
    Arc::new(TrainedBash::new(Bash::new(Launcher::new(), environment)))
}

async fn the_trained_shape_runs_restarts_and_keeps_nothing() {
    let (room, tool) = (Room::new(), trained());
    let mut said = String::new();
    for input in [
        json!({"command": "cd / && export KEPT=yes && touch \"$OLDPWD/file\" && pwd"}),
        // Each command starts anew, where the words say so; files are what stays.
        json!({"command": "[ \"$PWD\" != / ] && echo \"${KEPT-anew}\" && ls"}),
        json!({"restart": true}),
        json!({"command": "ls", "restart": true}),
        json!({"command": "echo out; exit 3"}),
        json!({}),
        json!({"restart": false}),
        json!({"command": 1}),
        json!({"command": "ls", "timeout": 1}),
    ] {
        let input = RawJson::from_value(&input);
        let output = Tool::call(Arc::clone(&tool), room.context(RealClock), input).await;
        said.push_str(&format!("{}\n", say(output).trim_end()));
    }
    expect![[r#"
        /
        anew
        file
        Each command starts anew in the workspace with a fresh environment, so there is nothing to restart.
        file
        ! out
        exit code: 3
        !! invalid input for bash: it says neither what to run nor to restart; give `command` with a command line, or `restart` with true
        !! invalid input for bash: it says neither what to run nor to restart; give `command` with a command line, or `restart` with true
        !! invalid input for bash: invalid type: integer `1`, expected a string at line 1 column 12
        !! invalid input for bash: unknown field `timeout`, expected `command` or `restart` at line 1 column 25
    "#]].assert_eq(&said);
}

async fn the_trained_shape_touches_what_bash_touches_and_ends_as_it_does() {
    let (room, tool) = (Room::new(), trained());
    let facts = |input: serde_json::Value| tool.facts(&RawJson::from_value(&input), "/space");
    let command = json!({"command": "git status; rm x"});
    let bash = Tool::facts(&*room.tool, &RawJson::from_value(&command), "/space");
    assert_eq!(facts(command), bash);
    assert!(!bash.accesses.is_empty());
    assert!(facts(json!({"restart": true})).accesses.is_empty());
    assert_eq!(tool.metadata(), Tool::metadata(&*room.tool));
    let definition = tool.definition();
    assert_eq!(definition.raw.unwrap().json.get(), r#"{"type":"bash_20250124","name":"bash"}"#);
    // A command that does not end is ended by the clock of its call, with what it wrote until then.
    let (time, now) = watch::channel(0);
    let input = RawJson::from_value(&json!({"command": "echo begun; touch begun; sleep 1000"}));
    let call = tokio::spawn(Tool::call(Arc::clone(&tool), room.context(TestClock(now)), input));
    while !room.folder.path().join("begun").exists() {
        tokio::task::yield_now().await;
    }
    time.send(heeler_tools::BASH_TIMEOUT_MILLIS_DEFAULT).unwrap();
    let told = say(call.await.unwrap());
    assert!(told.contains("begun") && told.contains("timed out"), "{told}");
}
