//! Hooks as real processes, through the launcher that this executable becomes.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

#[path = "../../sandbox/tests/harness/mod.rs"]
mod harness;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use heeler_core::{
    Access, AgentPath, CallId, Event, HookEnd, HookEvent, HookMoment, HookOutcome, HookRequest,
    HookRule, HookVerdict, HookWatch, HookedCall, Hooks, Mode, RawJson, Rule, RuleEffect,
};
use heeler_engine::SystemClock;
use heeler_hooks::{CommandHooks, HOOK_OUTPUT_BYTES_MAX, HookCommand};
use heeler_sandbox::Launcher;
use heeler_tools::allowed_environment;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    harness::run(cases![
        it_denies_by_code_and_by_json,
        it_reads_what_happens,
        it_runs_in_the_workspace_with_the_allowed_environment,
        it_changes_an_input,
        one_that_takes_too_long_is_broken_and_gone,
        one_that_crashes_is_broken,
        one_that_is_missing_is_broken,
        one_that_cannot_start_is_broken,
        endless_output_is_cut_and_does_not_hold_it_up,
        json_that_was_cut_is_broken,
        one_need_not_listen,
        what_it_leaves_running_is_stopped,
        those_of_one_moment_run_at_once,
        those_of_many_calls_wait_for_each_other,
        a_guard_of_edits_sees_every_path_of_a_patch,
        any_denial_wins,
        a_matcher_that_cannot_be_read_blocks,
        one_that_cannot_be_meant_blocks_what_it_matches,
        one_with_a_rule_allows_no_more_than_that,
        nobody_waits_for_one_in_the_background,
        dropping_the_answer_stops_everything,
    ])
}

/// Where hooks run.
struct Room {
    folder: tempfile::TempDir,
    launcher: Launcher,
    environment: Vec<(String, String)>,
    timeout_millis: u64,
    seen: Arc<Mutex<Vec<Event>>>,
}

impl Room {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            launcher: Launcher::new(),
            environment: allowed_environment(std::env::vars()),
            timeout_millis: 30_000,
            seen: Arc::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn hooks(&self, event: HookEvent, commands: &[&str]) -> CommandHooks {
        let command = |command: &&str| HookCommand {
            event,
            matcher: String::new(),
            command: (*command).to_owned(),
            timeout_millis: Some(self.timeout_millis),
            only: None,
            in_background: false,
            broken: None,
            source: String::new(),
        };
        let transcripts = |session: &heeler_core::SessionId| {
            Some(PathBuf::from(format!("/space/{session}.jsonl")))
        };
        let (launcher, environment) = (self.launcher.clone(), self.environment.clone());
        CommandHooks::new(launcher, environment, commands.iter().map(command), transcripts)
    }

    fn request(&self, moment: HookMoment) -> HookRequest {
        let seen = Arc::clone(&self.seen);
        HookRequest {
            session: "s".parse().unwrap(),
            agent: AgentPath::default(),
            workspace: self.folder.path().to_owned(),
            mode: Mode::Ask,
            watch: HookWatch::new(&moment, move |event| seen.lock().unwrap().push(event)),
            moment,
            clock: Arc::new(SystemClock),
        }
    }

    /// What these commands say before a call of `Bash` that runs `ls`.
    async fn before(&self, commands: &[&str]) -> HookOutcome {
        let hooks = self.hooks(HookEvent::PreToolUse, commands);
        hooks.run(self.request(HookMoment::PreToolUse(call()))).await
    }

    /// How hooks ended, as watchers were told.
    fn ends(&self) -> Vec<HookEnd> {
        let seen = self.seen.lock().unwrap();
        let end = |event: &Event| match event {
            Event::HookFinished { end, .. } => Some(end.clone()),
            _ => None,
        };
        let ends: Vec<HookEnd> = seen.iter().filter_map(end).collect();
        let started = seen.iter().filter(|event| matches!(event, Event::HookStarted { .. }));
        assert_eq!(started.count(), ends.len());
        ends
    }
}

fn call() -> HookedCall {
    HookedCall {
        accesses: Vec::new(),
        id: CallId { turn: 1, round: 1, index: 0 },
        tool: "Bash".into(),
        input: RawJson::parse(r#"{"command":"ls"}"#).unwrap(),
    }
}

/// One command before a call: what it says.
async fn check(command: &str, expected: Expect) {
    let room = Room::new();
    let outcome = room.before(&[command]).await;
    let path = room.folder.path().to_string_lossy().into_owned();
    expected
        .assert_eq(&format!("{:?} {:?}", outcome.verdict, room.ends()).replace(&path, "FOLDER"));
}

fn why(outcome: &HookOutcome) -> &str {
    let HookVerdict::Broken { why, .. } = &outcome.verdict else { panic!("{outcome:?}") };
    why
}

async fn it_denies_by_code_and_by_json() {
    check(
        "echo no >&2; exit 2",
        expect![[r#"Deny { by: "echo no >&2; exit 2", reason: "no" } [Denied]"#]],
    )
    .await;
    let json = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    check(&format!("echo '{json}'"), expect![[r#"Deny { by: "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":…", reason: "no" } [Denied]"#]]).await;
    check("exit 0", expect!["Continue [Continued]"]).await;
    check(
        "-x; exit 2",
        expect![[
            r#"Deny { by: "-x; exit 2", reason: "bash: line 1: -x: command not found" } [Denied]"#
        ]],
    )
    .await;
}

async fn it_reads_what_happens() {
    let room = Room::new();
    let hooks = room.hooks(HookEvent::UserPromptSubmit, &["cat"]);
    let prompt = "line\n\"two\" \u{1f980}".to_owned();
    let request = room.request(HookMoment::UserPromptSubmit { prompt });
    let outcome = hooks.run(request).await;
    // What it wrote begins like an answer, and says nothing that an answer could.
    assert_eq!(outcome, HookOutcome::default());
    let hooks = room.hooks(HookEvent::UserPromptSubmit, &["echo told:; cat"]);
    let prompt = "line\n\"two\" \u{1f980}".to_owned();
    let outcome = hooks.run(room.request(HookMoment::UserPromptSubmit { prompt })).await;
    let told = outcome.context.concat().replace(&*room.folder.path().to_string_lossy(), "FOLDER");
    expect![[r#"
        told:
        {"session_id":"s","transcript_path":"/space/s.jsonl","cwd":"FOLDER","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"line\n\"two\" 🦀"}"#]].assert_eq(&told);
}

async fn it_runs_in_the_workspace_with_the_allowed_environment() {
    let mut room = Room::new();
    let var = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let secret = [var("PATH", &std::env::var("PATH").unwrap()), var("API_TOKEN", "x")];
    room.environment = allowed_environment(secret.into_iter());
    room.environment.push(var("CLAUDE_PROJECT_DIR", "/elsewhere"));
    let line = r#"[ -n "$CLAUDE_PROJECT_DIR" ] || exit 2
        [ "$(pwd -P)" = "$(cd "$CLAUDE_PROJECT_DIR" && pwd -P)" ] || exit 2
        [ "$HEELER_PROJECT_DIR" = "$CLAUDE_PROJECT_DIR" ] || exit 2
        [ "$PYTHONSAFEPATH" = 1 ] || exit 2
        [ -z "$API_TOKEN" ] || exit 2"#;
    assert_eq!(room.before(&[line]).await, HookOutcome::default());
    room.environment.push(var("PYTHONSAFEPATH", ""));
    let line = r#"[ -z "$PYTHONSAFEPATH" ] || exit 2"#;
    assert_eq!(room.before(&[line]).await, HookOutcome::default());
}

async fn it_changes_an_input() {
    let room = Room::new();
    let json = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}"#;
    let outcome = room.before(&[&format!("grep -q '\"ls\"' && echo '{json}'")]).await;
    assert_eq!(outcome.input.as_ref().map(RawJson::get), Some(r#"{"command":"ls -l"}"#));
    assert_eq!(room.ends(), [HookEnd::Allowed]);
}

async fn one_that_takes_too_long_is_broken_and_gone() {
    let mut room = Room::new();
    room.timeout_millis = 300;
    // Its child would write after its death.
    let line = "(sleep 2; echo late > late) & echo $! > pid; trap '' TERM; sleep 1000";
    let outcome = room.before(&[line]).await;
    assert_eq!(why(&outcome), "it did not end within 300ms");
    assert_eq!(room.ends(), [HookEnd::TimedOut]);
    assert!(!is_alive(&room.path("pid")));
    assert!(!room.path("late").exists());
}

async fn one_that_crashes_is_broken() {
    check("kill -SEGV $$", expect![[r#"Broken { by: "kill -SEGV $$", why: "it ended with signal 11" } [Broken { why: "it ended with signal 11" }]"#]]).await;
    check("echo oh >&2; exit 1", expect![[r#"Broken { by: "echo oh >&2; exit 1", why: "it ended with exit code 1: oh" } [Broken { why: "it ended with exit code 1: oh" }]"#]]).await;
}

async fn one_that_is_missing_is_broken() {
    let room = Room::new();
    let outcome = room.before(&["./guard-that-is-not-there.sh"]).await;
    assert!(why(&outcome).starts_with("it ended with exit code 127: "), "{outcome:?}");
    assert!(why(&outcome).contains("guard-that-is-not-there.sh"), "{outcome:?}");
}

async fn one_that_cannot_start_is_broken() {
    let mut room = Room::new();
    room.environment = vec![("PATH".into(), "/none".into())];
    assert!(why(&room.before(&["true"]).await).starts_with("there is no program `sh`"));
    room.launcher = Launcher::with_program("/none/launcher");
    assert!(why(&room.before(&["true"]).await).contains("`/none/launcher` did not start"));
    let room = Room::new();
    let line = format!("true {}", "x".repeat(4 * 1024 * 1024));
    assert!(why(&room.before(&[&line]).await).contains("longer than"));
}

async fn endless_output_is_cut_and_does_not_hold_it_up() {
    let room = Room::new();
    let hooks = room.hooks(
        HookEvent::UserPromptSubmit,
        &["head -c 1000000000 /dev/zero | tr '\\0' x; head -c 10000000 /dev/zero >&2"],
    );
    let moment = HookMoment::UserPromptSubmit { prompt: "hi".into() };
    let outcome = hooks.run(room.request(moment)).await;
    assert_eq!(outcome.context, ["x".repeat(HOOK_OUTPUT_BYTES_MAX)]);
    let mut room = Room::new();
    room.timeout_millis = 300;
    assert_eq!(why(&room.before(&["yes"]).await), "it did not end within 300ms");
}

async fn json_that_was_cut_is_broken() {
    let room = Room::new();
    let json =
        format!(r#"{{"reason":"{}","decision":"approve"}}"#, "x".repeat(HOOK_OUTPUT_BYTES_MAX));
    std::fs::write(room.path("answer"), json).unwrap();
    let outcome = room.before(&["cat answer"]).await;
    assert!(why(&outcome).starts_with("it wrote more than 65536 bytes"), "{outcome:?}");
}

async fn one_need_not_listen() {
    let room = Room::new();
    let hooks = room.hooks(HookEvent::PreToolUse, &["exit 2", "exec <&-; true"]);
    let input = RawJson::from_value(&serde_json::json!({ "command": "x".repeat(1_000_000) }));
    let moment = HookMoment::PreToolUse(HookedCall { input, ..call() });
    let outcome = hooks.run(room.request(moment)).await;
    assert!(matches!(outcome.verdict, HookVerdict::Deny { .. }), "{outcome:?}");
    assert_eq!(room.ends().len(), 2);
    assert!(room.ends().contains(&HookEnd::Continued));
}

async fn what_it_leaves_running_is_stopped() {
    let room = Room::new();
    // It holds the output open, in a session of its own.
    let outcome = room.before(&["setsid sleep 1000 & echo $! > pid"]).await;
    assert_eq!(outcome, HookOutcome::default());
    assert!(!is_alive(&room.path("pid")));
}

async fn those_of_one_moment_run_at_once() {
    let room = Room::new();
    // Each waits for the other.
    let waits = |own: &str, other: &str| {
        format!("touch {own}; while [ ! -e {other} ]; do sleep 0.01; done")
    };
    let outcome = room.before(&[&waits("a", "b"), &waits("b", "a")]).await;
    assert_eq!(outcome, HookOutcome::default());
    assert_eq!(room.ends(), [HookEnd::Continued, HookEnd::Continued]);
}

async fn those_of_many_calls_wait_for_each_other() {
    let mut room = Room::new();
    // Less than all of them take one after the other: it counts for each from when it begins.
    room.timeout_millis = 5_000;
    let line = "mkdir \"run.$$\"; ls -d run.* | wc -l >> counts; sleep 0.1; rmdir \"run.$$\"";
    let hooks = room.hooks(HookEvent::PreToolUse, &[line]);
    let calls = (0..80).map(|_| hooks.run(room.request(HookMoment::PreToolUse(call()))));
    for outcome in futures::future::join_all(calls).await {
        assert_eq!(outcome, HookOutcome::default());
    }
    let counts = std::fs::read_to_string(room.path("counts")).unwrap();
    let counts: Vec<usize> = counts.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(counts.len(), 80);
    assert!(counts.iter().all(|count| *count <= 16), "{counts:?}");
}

async fn a_guard_of_edits_sees_every_path_of_a_patch() {
    let room = Room::new();
    let command = HookCommand {
        event: HookEvent::PreToolUse,
        matcher: "Edit|Write".into(),
        command: "grep -q '\"file_path\":\"[^\"]*secret' && exit 2; true".into(),
        timeout_millis: None,
        only: None,
        in_background: false,
        broken: None,
        source: String::new(),
    };
    let hooks =
        CommandHooks::new(room.launcher.clone(), room.environment.clone(), [command], |_| None);
    for (paths, is_denied) in [(["/a", "/secret"], true), (["/a", "/b"], false)] {
        let accesses = paths.iter().map(|path| Access::Write((*path).to_owned())).collect();
        let input = RawJson::from_value(&serde_json::json!({ "input": "*** Begin Patch" }));
        let tool = "apply_patch".to_owned();
        let moment = HookMoment::PreToolUse(HookedCall { tool, input, accesses, ..call() });
        let verdict = hooks.run(room.request(moment)).await.verdict;
        assert_eq!(matches!(verdict, HookVerdict::Deny { .. }), is_denied, "{verdict:?}");
    }
    assert_eq!(room.ends().len(), 4);
}

async fn any_denial_wins() {
    let room = Room::new();
    let allow = r#"echo '{"decision":"approve"}'"#;
    let outcome = room.before(&[allow, "exit 1", "echo no >&2; exit 2", "true"]).await;
    let by = "echo no >&2; exit 2".to_owned();
    assert_eq!(outcome.verdict, HookVerdict::Deny { by, reason: "no".into() });
    assert_eq!(room.ends().len(), 4);
}

async fn a_matcher_that_cannot_be_read_blocks() {
    let room = Room::new();
    let command = HookCommand {
        event: HookEvent::PreToolUse,
        matcher: "Edit(".into(),
        command: "touch ran".into(),
        timeout_millis: None,
        only: None,
        in_background: false,
        broken: None,
        source: "settings.json:3".into(),
    };
    let hooks =
        CommandHooks::new(room.launcher.clone(), room.environment.clone(), [command], |_| None);
    assert!(hooks.matches(HookEvent::PreToolUse, "Bash"));
    let outcome = hooks.run(room.request(HookMoment::PreToolUse(call()))).await;
    assert!(why(&outcome).starts_with("its matcher `Edit(` is no pattern"), "{outcome:?}");
    assert_eq!(outcome.verdict.by(), Some("touch ran (settings.json:3)"));
    assert!(!room.path("ran").exists());
}

async fn one_that_cannot_be_meant_blocks_what_it_matches() {
    let room = Room::new();
    let command = HookCommand {
        event: HookEvent::PreToolUse,
        matcher: "Bash".into(),
        command: "touch ran".into(),
        timeout_millis: None,
        only: None,
        in_background: false,
        broken: Some("its `args` are no list".into()),
        source: String::new(),
    };
    let hooks =
        CommandHooks::new(room.launcher.clone(), room.environment.clone(), [command], |_| None);
    assert!(!hooks.matches(HookEvent::PreToolUse, "Read"));
    let outcome = hooks.run(room.request(HookMoment::PreToolUse(call()))).await;
    assert_eq!(why(&outcome), "its `args` are no list");
    assert!(!room.path("ran").exists());
}

async fn one_with_a_rule_allows_no_more_than_that() {
    let room = Room::new();
    let rule = |effect| vec![Rule::parse("Bash(git status:*)", effect, "test").unwrap()];
    let only = HookRule { denying: rule(RuleEffect::Deny), allowing: rule(RuleEffect::Allow) };
    let ends = async |command: &str, line: &str| {
        let command = HookCommand {
            event: HookEvent::PreToolUse,
            matcher: String::new(),
            command: command.to_owned(),
            timeout_millis: None,
            only: Some(only.clone()),
            in_background: false,
            broken: None,
            source: String::new(),
        };
        let hooks =
            CommandHooks::new(room.launcher.clone(), room.environment.clone(), [command], |_| None);
        let accesses = vec![Access::Command(line.to_owned())];
        let moment = HookMoment::PreToolUse(HookedCall { accesses, ..call() });
        hooks.run(room.request(moment)).await;
        std::mem::take(&mut *room.seen.lock().unwrap()).into_iter().find_map(|event| match event {
            Event::HookFinished { end, .. } => Some(end),
            _ => None,
        })
    };
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#;
    assert_eq!(ends(allow, "git status -s").await, Some(HookEnd::Allowed));
    assert_eq!(ends(allow, "git status; rm x").await, Some(HookEnd::Continued));
    assert_eq!(ends("exit 2", "git status; rm x").await, Some(HookEnd::Denied));
    assert_eq!(ends("exit 2", "rm x").await, None);
}

async fn nobody_waits_for_one_in_the_background() {
    let room = Room::new();
    let line = "echo $$ > pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.01; done; \
                grep -q tool_name && touch done; sleep 1000";
    let command = HookCommand {
        event: HookEvent::PreToolUse,
        matcher: String::new(),
        command: line.into(),
        timeout_millis: None,
        only: None,
        in_background: true,
        broken: None,
        source: String::new(),
    };
    let hooks =
        CommandHooks::new(room.launcher.clone(), room.environment.clone(), [command], |_| None);
    let outcome = hooks.run(room.request(HookMoment::PreToolUse(call()))).await;
    assert_eq!(outcome, HookOutcome::default());
    std::fs::write(room.path("go"), "").unwrap();
    while !room.path("done").exists() {
        tokio::task::yield_now().await;
    }
    let pid = room.path("pid");
    assert!(is_alive(&pid));
    drop(hooks);
    while is_alive(&pid) {
        tokio::task::yield_now().await;
    }
}

async fn dropping_the_answer_stops_everything() {
    let room = Room::new();
    let hooks =
        room.hooks(HookEvent::PreToolUse, &["echo $$ > pid.new; mv pid.new pid; sleep 1000"]);
    let answer = tokio::spawn(hooks.run(room.request(HookMoment::PreToolUse(call()))));
    let pid = room.path("pid");
    while !pid.exists() {
        tokio::task::yield_now().await;
    }
    assert!(is_alive(&pid));
    answer.abort();
    while is_alive(&pid) {
        tokio::task::yield_now().await;
    }
}

/// Whether the process runs whose id is in this file.
fn is_alive(file: &Path) -> bool {
    let pid = std::fs::read_to_string(file).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}
