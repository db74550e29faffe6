//! The tests' one door: files and calls in, a transcript out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use expect_test::Expect;
use heeler_core::{
    Block, BoxFuture, Clock, RawJson, Reach, StateView, Timestamp, Tool, ToolContext, ToolError,
    ToolOutput,
};

/// Makes `files` in a new folder, plays `calls` (each `Name {json}`) in it as one session, and
/// compares the results and every file that changed. `$W` stands for the folder.
pub(crate) fn check(files: &[(&str, &str)], calls: &[&str], expect: Expect) {
    check_in(&Folder::new(files), calls, expect);
}

/// As [`check`], in a folder that was made before.
pub(crate) fn check_in(folder: &Folder, calls: &[&str], expect: Expect) {
    let before = folder.contents();
    let mut transcript = String::new();
    for call in calls {
        let (name, input) = call.split_once(' ').expect("a name and a JSON input");
        let input = input.replace("$W", folder.path("").to_str().unwrap().trim_end_matches('/'));
        let refused = folder.refused(name, &input);
        let said = folder.play(name, &input);
        assert_foretold(name, refused.as_deref(), &said);
        transcript.push_str(&format!("> {call}\n{said}"));
        if !transcript.ends_with('\n') {
            transcript.push('\n');
        }
    }
    for (path, content) in folder.contents() {
        if !before.contains(&(path.clone(), content.clone())) {
            transcript.push_str(&format!("== {path} {content:?}\n"));
        }
    }
    expect.assert_eq(&transcript);
}

/// What a tool that changes files says of a call before somebody is asked about it is what it says
/// when it runs, but for where paths lead that are walled off.
fn assert_foretold(name: &str, refused: Option<&str>, said: &str) {
    let changes = ["Write", "Edit", "MultiEdit", "apply_patch", "str_replace_based_edit_tool"]
        .contains(&name);
    let walls = ["is closed: ", "leads out of the workspace", "cannot look up "];
    match refused {
        Some(refused) => assert_eq!(refused, said),
        None if changes && said.starts_with("error: ") => {
            assert!(walls.iter().any(|wall| said.contains(wall)), "{name} did not foretell {said}");
        }
        None => {}
    }
}

/// A temporary workspace with a session's state.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
    state: Mutex<StateView>,
    /// How many calls ran, each of an answer of its own.
    rounds: AtomicU64,
    /// Where calls work, in the folder.
    pub(crate) workspace: &'static str,
    pub(crate) reach: Arc<Reach>,
}

impl Folder {
    /// A folder with these files, each newer than the one before it. A content `->target` makes
    /// a symbolic link.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let this = Self {
            folder: tempfile::tempdir().unwrap(),
            state: Mutex::new(StateView::default()),
            rounds: AtomicU64::new(0),
            workspace: "",
            reach: Arc::default(),
        };
        for (index, (path, content)) in files.iter().enumerate() {
            this.write(path, content.as_bytes(), index as u64);
        }
        this
    }

    /// Writes one file with a modification time of `age` seconds after a fixed day.
    pub(crate) fn write(&self, path: &str, content: &[u8], age: u64) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(target) = content.strip_prefix(b"->") {
            let root = self.path("");
            let root = root.to_str().unwrap().trim_end_matches('/');
            let target = std::str::from_utf8(target).unwrap().replace("$W", root);
            std::os::unix::fs::symlink(target, path).unwrap();
            return;
        }
        fs::write(&path, content).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    /// The absolute path of a file in the folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// A new call's context.
    pub(crate) fn context(&self) -> ToolContext {
        ToolContext {
            reach: Arc::clone(&self.reach),
            state: self.state.lock().unwrap().clone(),
            round: self.rounds.load(Ordering::Relaxed) + 1,
            ..context_in(self.path(self.workspace))
        }
    }

    /// Runs one call of a standard or optional tool and keeps its changes of state.
    pub(crate) fn play(&self, name: &str, input: &str) -> String {
        self.say(self.run(named(name), input))
    }

    /// What a tool says of a call that it would refuse, before anybody is asked; it changes nothing.
    pub(crate) fn refused(&self, name: &str, input: &str) -> Option<String> {
        let input = RawJson::parse(input).expect("JSON");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let before = self.contents();
        let checked = runtime.block_on(named(name).check(self.context(), input));
        assert_eq!(self.contents(), before, "{name} looks and changes nothing");
        checked.err().map(|error| self.say(Err(error)))
    }

    /// Runs one call and keeps its changes of state.
    pub(crate) fn run(&self, tool: Arc<dyn Tool>, input: &str) -> Result<ToolOutput, ToolError> {
        let input = RawJson::parse(input).expect("JSON");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(tool.call(self.context(), input));
        self.rounds.fetch_add(1, Ordering::Relaxed);
        if let Ok(output) = &result {
            let mut state = self.state.lock().unwrap();
            for change in &output.state {
                state.0.insert_mut(change.key.clone(), change.value.clone());
            }
        }
        result
    }

    /// A result as the transcript shows it.
    pub(crate) fn say(&self, result: Result<ToolOutput, ToolError>) -> String {
        let text = match result {
            Ok(output) => output.content.iter().map(say_block).collect(),
            Err(error) => format!("error: {error}"),
        };
        text.replace(self.path("").to_str().unwrap().trim_end_matches('/'), "$W")
    }

    /// The names in the folder's root, sorted.
    pub(crate) fn listing(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Every file and link with its content, sorted by path.
    fn contents(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect(&self.path(""), "", &mut found);
        found.sort();
        found
    }
}

/// A standard or optional tool.
pub(crate) fn named(name: &str) -> Arc<dyn Tool> {
    crate::standard()
        .into_iter()
        .chain(crate::further())
        .chain([Arc::new(crate::TextEditor::default()) as _])
        .find(|tool| tool.definition().name == name)
        .expect("a standard tool")
}

/// The context of a new call in the workspace of a session of this name, in whichever process.
pub(crate) fn context_in(workspace: PathBuf) -> ToolContext {
    ToolContext::new("test".parse().unwrap(), workspace, Arc::new(Standing))
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else if kind.is_symlink() {
            found.push((name, format!("->{}", fs::read_link(entry.path()).unwrap().display())));
        } else if kind.is_file() {
            let content = fs::read(entry.path()).unwrap();
            found.push((name, String::from_utf8_lossy(&content).into_owned()));
        }
    }
}

fn say_block(block: &Block) -> String {
    match block {
        Block::Image(image) => format!("[{} {}]\n", image.media_type, image.data),
        other => other.as_text().expect("text or an image").to_owned(),
    }
}

/// A clock whose time stands still and whose waits are over at once.
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn sleep_until(&self, _deadline: Timestamp) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}
