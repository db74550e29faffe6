//! The one door: a claim goes in, and what the model and the user are told comes out.
//!
//! Each claim is a whole session of the agent that ships: its tools as they are assembled, the
//! pipeline, a journal on disk, real processes. Only the model is a script, and time may hurry.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use heeler_assembly::{Assembly, Environment, ModelChoice, Permission, Sandbox, Setup};
use heeler_core::{
    Approver, Block, BoxFuture, Clock, Decision, Event, Facts, Input, Limits, Metadata, Mode,
    OpenPermission, Person, Question, RawJson, Role, Timestamp, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput, View,
};
use heeler_engine::{Seen, Session, ToolRegistry};
use heeler_providers::scripted::Scripted;
use heeler_sandbox::Launcher;
use heeler_script::{ReplySpec, Script};
use heeler_store::FileStore;
use heeler_testkit::require;
use heeler_tools::{Bash, SendMessage, TextEditor, TrainedBash, allowed_environment};
use tokio::sync::Barrier;

use crate::claim::{Around, Claim, claim};
use crate::server::Server;

/// A Sunday in September 2001.
const BEGINNING_MILLIS: u64 = 1_000_000_000_000;
/// Who commits.
const GIT: &str = "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n";
/// Lets the server of the test be fetched from.
const SETTINGS: &str = "[web_fetch]\nallowed_hosts = [\"127.0.0.1\"]\n";

/// What came of a claim's calls.
pub(crate) struct Played {
    /// What the model read after its last call, and before it, what people were told and asked.
    pub(crate) answer: String,
    /// What is in the file `a` then.
    pub(crate) file: String,
}

/// Every tool that the agent has, and those that a library's user can give it.
pub(crate) async fn all_tools() -> Vec<Arc<dyn Tool>> {
    let house = House::new(&claim("", "", &[], &[], &[]));
    let assembly = house.assemble(&Arc::default());
    let registry = registry(&assembly);
    let tools = registry.names().into_iter().filter(|name| name != MEET);
    tools.map(|name| registry.get(&name).unwrap()).collect()
}

/// Plays a claim; `None` where this machine has no box and the claim is about it.
pub(crate) async fn played(claim: &Claim) -> Option<Played> {
    let house = House::new(claim);
    let told = Told::default();
    let mut assembly = house.assemble(&told);
    if claim.around.is_boxed {
        let obstacle = assembly.box_obstacle().await.unwrap();
        if !require("a sandbox", obstacle.is_none()) {
            return None;
        }
    }
    let clock = Arc::new(Hurried { begun: Instant::now(), speed: claim.around.speed });
    let registry = registry(&assembly);
    if claim.tool != heeler_engine::TOOL_SEARCH {
        // As if it had been searched for before.
        for call in &claim.calls {
            let hidden = registry.get(call.split(' ').next().unwrap());
            hidden.and_then(|tool| registry.register(tool));
        }
    }
    let calls = claim.calls.iter().map(|call| {
        let call = house.filled(call);
        let (name, input) = call.split_once(' ').unwrap();
        let input = serde_json::from_str(input).unwrap_or_else(|e| panic!("{call}: {e}"));
        ReplySpec { verbatim: true, ..ReplySpec::call(name, input) }
    });
    let ends = ["done", "heard"].map(ReplySpec::text);
    let model = Scripted::from_script(Script::of(calls.chain(ends)), clock.clone());
    let parts = &mut assembly.parts;
    parts.provider = Arc::new(model.clone());
    parts.tools = registry.toolset();
    parts.clock = clock;
    parts.heartbeat_millis = 0;
    let workspace = house.work().display().to_string();
    let session = Session::create(parts.clone(), &workspace).await.unwrap();
    let (mut view, mut cursor) = session.subscribe();
    let outcome = session.turn(Input::text("go")).await;
    let mut answer = String::new();
    // Both replies that are left are those after the last call.
    if model.remaining() == 2 {
        answer += "[the turn ended with this call]\n";
    } else if model.remaining() != 1 || !model.mismatches().is_empty() {
        answer += &format!("[not all was played: {outcome:?} {:?}]\n", model.mismatches());
    }
    if claim.around.hears {
        for work in session.background().await.unwrap() {
            session.wait_for_background(work.call).await.unwrap();
        }
        session.turn(Input::text("and now?")).await;
    }
    while let Some(seen) = cursor.try_next() {
        match seen {
            Seen::Resync(new) => view = *new,
            Seen::Event(envelope) => {
                view.apply(&envelope.event);
                if let Event::ToolText { text, items, .. } = &envelope.event {
                    let items =
                        items.iter().map(|it| format!(" [{}] {}", it.reference, it.media_type));
                    let items: String = items.collect();
                    lock(&told).push_str(&format!("told the user: {text}{items}\n"));
                }
            }
        }
    }
    answer = lock(&told).clone() + &answer + &read_last(&view);
    session.close().await;
    let file = fs::read_to_string(house.work().join("a")).unwrap_or_default();
    Some(Played { answer: house.emptied(&answer), file })
}

/// The assembled tools, and those that only a library's user gives an agent.
fn registry(assembly: &Assembly) -> ToolRegistry {
    let registry = assembly.parts.tool_source.clone().unwrap();
    let bash = Bash::new(Launcher::new(), allowed_environment(std::env::vars()));
    registry.register(Arc::new(TrainedBash::new(bash)));
    registry.register(Arc::new(TextEditor::default()));
    registry.register(Arc::new(SendMessage));
    registry.register(Arc::new(Meet(Barrier::new(2))));
    registry
}

/// What the model reads after its last call.
fn read_last(view: &View) -> String {
    let messages: Vec<_> = view.messages.iter().collect();
    let is_call = |block: &Block| block.as_tool_use().is_some();
    let last = messages.iter().rposition(|message| message.blocks.iter().any(is_call));
    let after = messages.iter().skip(last.map_or(0, |last| last + 1));
    let blocks = after.filter(|message| message.role == Role::User).flat_map(|it| &it.blocks);
    blocks.map(shown).collect()
}

fn shown(block: &Block) -> String {
    match block {
        Block::ToolResult(result) => {
            let failed = if result.is_error { "error: " } else { "" };
            let content = result.content.iter().map(|block| match block {
                Block::Image(image) => format!("[{}]\n", image.media_type),
                other => other.as_text().unwrap_or_default().to_owned(),
            });
            format!("{failed}{}\n", content.collect::<String>())
        }
        other => format!("user: {}\n", other.as_text().unwrap_or_default()),
    }
}

/// A folder with a home and a workspace in it.
struct House {
    root: tempfile::TempDir,
    around: Around,
    server: Server,
}

impl House {
    fn new(claim: &Claim) -> Self {
        let root = tempfile::tempdir().unwrap();
        let house = Self { root, around: claim.around, server: Server::start() };
        for folder in ["work", "home/.heeler", "bin"] {
            fs::create_dir_all(house.path(folder)).unwrap();
        }
        fs::write(house.path("home/.gitconfig"), GIT).unwrap();
        fs::write(house.path("home/.heeler/settings.toml"), SETTINGS).unwrap();
        for (index, (path, content)) in claim.files.iter().enumerate() {
            house.write(path, content, index as u64);
        }
        house
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn work(&self) -> std::path::PathBuf {
        self.path("work")
    }

    /// Writes one file with a time of `age` seconds after a fixed day.
    fn write(&self, path: &str, content: &str, age: u64) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(target) = content.strip_prefix("->") {
            std::os::unix::fs::symlink(target, path).unwrap();
            return;
        }
        fs::write(&path, content).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    fn assemble(&self, told: &Told) -> Assembly {
        let home = self.path("home");
        let shown = |path: &Path| path.display().to_string();
        let path = if self.around.is_without_bash {
            std::os::unix::fs::symlink("/bin/sh", self.path("bin/sh")).unwrap();
            shown(&self.path("bin"))
        } else {
            std::env::var("PATH").unwrap()
        };
        let variables = [
            ("PATH", path),
            ("HOME", shown(&home)),
            ("HEELER_HOME", shown(&home.join(".heeler"))),
            ("ANTHROPIC_API_KEY", "key".to_owned()),
            ("HEELER_WEB_SEARCH", "searxng".to_owned()),
            ("SEARXNG_URL", format!("http://{}/find/", self.server.host)),
        ];
        let environment: Environment =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let permission = Permission {
            mode_default: if self.around.is_boxed { Mode::Ask } else { Mode::Bypass },
            interactive: self.around.is_boxed,
            sandbox: if self.around.is_boxed { Sandbox::AsSettings } else { Sandbox::Off },
            ..Permission::default()
        };
        let person = self.around.answers.map(|answers| {
            Arc::new(Somebody { answers, told: Arc::clone(told) }) as Arc<dyn Person>
        });
        let setup = Setup {
            environment,
            workspace: self.work(),
            model: ModelChoice::Named(None),
            fallback: Vec::new(),
            permission,
            limits: Limits::default(),
            approver: Some(Arc::new(Somebody { answers: "", told: Arc::clone(told) })),
            person,
            staged: false,
            launcher: Launcher::new(),
        };
        setup.assemble(FileStore::open(home.join(".heeler")).unwrap()).unwrap()
    }

    fn filled(&self, call: &str) -> String {
        call.replace("$W", &self.work().display().to_string()).replace("HOST", &self.server.host)
    }

    fn emptied(&self, answer: &str) -> String {
        answer.replace(&self.work().display().to_string(), "$W").replace(&self.server.host, "HOST")
    }
}

/// What people were told and asked.
type Told = Arc<Mutex<String>>;

fn lock(told: &Mutex<String>) -> MutexGuard<'_, String> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who answers questions, and lets run what asks for it.
struct Somebody {
    answers: &'static str,
    told: Told,
}

impl Person for Somebody {
    fn answer(&self, question: Question) -> BoxFuture<Option<String>> {
        let Question { text, choices, .. } = question;
        lock(&self.told).push_str(&format!("asked: {text} {choices:?}\n"));
        Box::pin(std::future::ready(Some(self.answers.to_owned())))
    }
}

impl Approver for Somebody {
    fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>> {
        lock(&self.told).push_str(&format!("asked to run: {}\n", request.input.get()));
        Box::pin(std::future::ready(Some(Decision::Once)))
    }

    fn name(&self) -> &str {
        "somebody"
    }
}

/// Time that passes so many times as fast.
struct Hurried {
    begun: Instant,
    speed: u64,
}

impl Clock for Hurried {
    fn now(&self) -> Timestamp {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap();
        Timestamp(BEGINNING_MILLIS + millis * self.speed)
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<()> {
        let millis = deadline.since(self.now()).div_ceil(self.speed);
        Box::pin(tokio::time::sleep(Duration::from_millis(millis)))
    }
}

/// What [`Meet`] is called.
const MEET: &str = "meet";

/// A tool that only looks, and ends once two calls of it run at the same time.
struct Meet(Barrier);

impl Tool for Meet {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(MEET, "Waits for another call.", RawJson::empty_object())
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        _: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.0.wait().await;
            Ok(ToolOutput::text("met"))
        })
    }
}
