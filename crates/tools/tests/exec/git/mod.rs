//! The git tools in real repositories: what they show and commit, and what no repository makes them
//! run.

pub(crate) mod boxed;
pub(crate) mod committed;
pub(crate) mod elsewhere;
pub(crate) mod hostile;
pub(crate) mod shown;

use std::path::Path;
use std::sync::Arc;

use expect_test::Expect;
use heeler_core::{Metadata, RawJson, StateView, Tool, ToolContext};
use heeler_sandbox::Launcher;
use heeler_tools::Bash;

use crate::room::Room;

/// Variables that make every commit the same, wherever it is made.
const VARIABLES: [(&str, &str); 8] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_AUTHOR_DATE", "2001-02-03T04:05:06Z"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_DATE", "2001-02-03T04:05:06Z"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// A repository with the tools in it, as one session.
struct Repository {
    room: Room,
    tools: Vec<Arc<dyn Tool>>,
    environment: Vec<(String, String)>,
    /// The folder that the session works in.
    folder: &'static str,
    state: StateView,
    round: u64,
    is_confined: bool,
}

/// Plays steps in a new repository: `$ ` before a shell's line, else a tool's name and its input.
/// `$W` stands for the folder. Compares all that is said.
async fn check(steps: &[&str], expect: Expect) {
    let mut repository = Repository::new();
    let mut transcript = String::new();
    for step in steps {
        transcript += &format!("> {step}\n{}", repository.step(step).await);
        if !transcript.ends_with('\n') {
            transcript.push('\n');
        }
    }
    expect.assert_eq(&transcript);
}

impl Repository {
    fn new() -> Self {
        let room = Room::new();
        let home = room.folder.path().join("home").display().to_string();
        let own = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment: Vec<_> = own.into_iter().chain([("HOME".to_owned(), home)]).collect();
        let tools = heeler_tools::git(&Bash::new(Launcher::new(), environment.clone()));
        let (state, round, is_confined) = (StateView::default(), 0, false);
        let folder = "work";
        let this = Self { room, tools, environment, folder, state, round, is_confined };
        this.shell("git init -q -b main work");
        this
    }

    fn work(&self) -> std::path::PathBuf {
        self.room.folder.path().canonicalize().unwrap().join(self.folder)
    }

    /// Goes on in another folder.
    fn works_in(&mut self, folder: &'static str) {
        self.folder = folder;
    }

    async fn step(&mut self, step: &str) -> String {
        let work = self.work().display().to_string();
        let step = step.replace("$W", &work);
        let said = match step.strip_prefix("$ ") {
            Some(line) => self.shell_in(&self.work(), line),
            None => {
                let (name, input) = step.split_once(' ').unwrap();
                self.round += 1;
                self.call(name, input).await
            }
        };
        said.replace(&work, "$W")
    }

    fn context(&self) -> ToolContext {
        ToolContext {
            workspace: self.work(),
            state: self.state.clone(),
            round: self.round,
            confined: self.is_confined,
            ..self.room.context()
        }
    }

    /// Plays one call, and keeps its changes of state.
    async fn call(&mut self, name: &str, input: &str) -> String {
        let tool = Arc::clone(self.tool(name));
        let called = tool.call(self.context(), RawJson::parse(input).unwrap()).await;
        let output = match called {
            Ok(output) => output,
            Err(error) => return format!("error: {error}"),
        };
        for change in &output.state {
            self.state.0.insert_mut(change.key.clone(), change.value.clone());
        }
        let json = output.structured.as_ref().map(|json| format!("{}\n", json.get()));
        let failed = if output.is_error { "error: " } else { "" };
        format!("{failed}{}{}", output.text_content(), json.unwrap_or_default())
    }

    fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| tool.definition().name == name).unwrap()
    }

    fn metadata(&self, name: &str) -> Metadata {
        self.tool(name).metadata()
    }

    fn shell(&self, line: &str) -> String {
        self.shell_in(self.room.folder.path(), line)
    }

    /// What a line says that a person runs beside the session.
    #[expect(clippy::disallowed_methods, reason = "a person needs no launcher")]
    fn shell_in(&self, folder: &Path, line: &str) -> String {
        let mut shell = std::process::Command::new("sh");
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        shell.args(["-c", line]).current_dir(folder).env_clear().envs(environment);
        let output = shell.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8(said).unwrap()
    }
}
