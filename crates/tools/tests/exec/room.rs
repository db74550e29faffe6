//! A workspace with the tool in it, and time that is real or the test's.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    AgentPath, Background, BoxFuture, CancellationToken, Clock, Facts, RawJson, Timestamp, Tool,
    ToolContext, ToolOutput,
};
use heeler_sandbox::Launcher;
use heeler_testkit::require;
use heeler_tools::{Bash, Exec, ExecAnswer, allowed_environment};
use serde_json::{Value, json};

/// How long an answer may take that a test waits for.
const WAIT_MILLIS: u64 = 10_000;

pub(crate) struct Room {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) tool: Arc<Exec>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) session: String,
    pub(crate) agent: AgentPath,
    pub(crate) cancel: CancellationToken,
    pub(crate) background: Background,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::with_clock(Arc::new(RealClock))
    }

    pub(crate) fn with_clock(clock: Arc<dyn Clock>) -> Self {
        let bash = Bash::new(Launcher::new(), allowed_environment(std::env::vars()));
        Self {
            folder: tempfile::tempdir().unwrap(),
            tool: Arc::new(Exec::new(&bash)),
            clock,
            session: "test".to_owned(),
            agent: AgentPath::default(),
            cancel: CancellationToken::new(),
            background: Background::nowhere(),
        }
    }

    pub(crate) fn context(&self) -> ToolContext {
        let (session, clock) = (self.session.parse().unwrap(), Arc::clone(&self.clock));
        ToolContext {
            agent: self.agent.clone(),
            cancel: self.cancel.clone(),
            background: self.background.clone(),
            ..ToolContext::new(session, self.folder.path(), clock)
        }
    }

    pub(crate) fn facts(&self, input: &Value) -> Facts {
        Tool::facts(&*self.tool, &RawJson::from_value(input), &self.folder.path().to_string_lossy())
    }

    /// Runs a call that is not judged first.
    pub(crate) async fn unjudged(&self, input: &Value) -> (ExecAnswer, ToolOutput) {
        let tool = Arc::clone(&self.tool) as Arc<dyn Tool>;
        let output = tool.call(self.context(), RawJson::from_value(input)).await.unwrap();
        let text = output.text_content();
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let mut answer: ExecAnswer = serde_json::from_str(head).unwrap();
        answer.output = rest.to_owned();
        (answer, output)
    }

    pub(crate) async fn call(&self, input: Value) -> ExecAnswer {
        self.facts(&input);
        self.unjudged(&input).await.0
    }

    /// The error of a call that gives one.
    pub(crate) async fn error(&self, input: Value) -> String {
        self.facts(&input);
        let (answer, output) = self.unjudged(&input).await;
        assert!(output.is_error, "{answer:?}");
        answer.error.unwrap()
    }

    /// Starts a session that goes on.
    pub(crate) async fn start(&self, command: &str, pty: bool) -> Talk<'_> {
        let input = json!({"action": "run", "command": command, "pty": pty, "background": true});
        let answer = self.call(input).await;
        assert_eq!(answer.error, None, "{answer:?}");
        Talk { room: self, id: answer.session_id.unwrap(), unheard: answer.output }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

/// A session, and what it has said and nobody waited for.
pub(crate) struct Talk<'a> {
    room: &'a Room,
    pub(crate) id: String,
    unheard: String,
}

impl Talk<'_> {
    /// Calls an action on it, and keeps the output.
    pub(crate) async fn act(&mut self, action: &str, mut more: Value) -> ExecAnswer {
        more["action"] = action.into();
        more["sessionId"] = self.id.as_str().into();
        let answer = self.room.call(more).await;
        self.unheard += &answer.output;
        answer
    }

    pub(crate) async fn write(&mut self, data: &str) -> ExecAnswer {
        self.act("write", json!({"data": data})).await
    }

    pub(crate) async fn keys(&mut self, keys: &str) -> ExecAnswer {
        self.act("send-keys", json!({"keys": keys})).await
    }

    /// Reads up to a text; returns what came before.
    pub(crate) async fn hear(&mut self, wanted: &str) -> String {
        loop {
            if let Some((before, after)) = self.unheard.split_once(wanted) {
                let before = before.to_owned();
                self.unheard = after.to_owned();
                return before;
            }
            let answer = self.act("read", json!({"timeout": WAIT_MILLIS})).await;
            let is_over = answer.exit_code.is_some() || answer.output.is_empty();
            assert!(
                !is_over || self.unheard.contains(wanted),
                "{wanted:?} never came: {answer:?} {:?}",
                self.unheard
            );
        }
    }

    /// Waits for the end, and says how it was.
    pub(crate) async fn end(&mut self) -> ExecAnswer {
        self.act("poll", json!({"timeout": 120_000})).await
    }
}

/// Whether a program is there.
pub(crate) fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    require(program, is_there)
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// Time as it is.
pub(crate) struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        Timestamp(u64::try_from(now.as_millis()).unwrap())
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(deadline.since(self.now()))))
    }
}
