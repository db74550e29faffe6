//! Several processes, and several calls in each, that change one file as fast as they can.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Barrier};

use heeler_core::{RawJson, StateView, Tool, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::harness::Case;
use crate::room::Room;

pub(crate) const CASES: &[Case] =
    crate::cases![of_changes_made_at_once_none_is_lost_and_the_loser_is_told_why];

/// Makes this executable count in a file, which the next argument names.
pub(crate) const EDITOR_MODE: &str = "--be-editor";

const PROCESSES: usize = 2;
const THREADS: usize = 2;
/// How often each thread counts one further.
const COUNTS: usize = 60;

/// Waits for a line, then counts in the file in several threads, and prints how often a change was
/// refused.
pub(crate) fn be_editor() -> ! {
    let path = std::env::args().nth(2).unwrap();
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let barrier = Barrier::new(THREADS);
    let n_refused: usize = std::thread::scope(|scope| {
        let count = |thread: usize| {
            let (path, barrier) = (&path, &barrier);
            move || {
                barrier.wait();
                count(Path::new(path), thread)
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(count(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{n_refused}");
    std::process::exit(0)
}

/// Reads the number in the file and puts the next in its place, until that was taken so many times.
fn count(path: &Path, thread: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let room = Room::new();
    let (mut state, mut n_done, mut n_refused) = (StateView::default(), 0, 0);
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut round = 0;
    let mut call = |tool: &str, input: Value| {
        // Each is of an answer of its own.
        round += 1;
        let workspace = path.parent().unwrap().to_owned();
        let context = ToolContext { workspace, round, state: state.clone(), ..room.context() };
        let output = runtime.block_on(named(tool).call(context, RawJson::from_value(&input)))?;
        for change in &output.state {
            state.0.insert_mut(change.key.clone(), change.value.clone());
        }
        Ok::<String, ToolError>(output.text_content())
    };
    while n_done < COUNTS {
        let read = call("Read", json!({"file_path": name})).unwrap();
        let number = read.split_whitespace().nth(1).unwrap();
        let next = format!("{:08}", number.parse::<usize>().unwrap() + 1);
        // Each tool that replaces a file takes part.
        let (tool, input) = match (n_done + thread) % 3 {
            0 => ("Edit", json!({"file_path": name, "old_string": number, "new_string": next})),
            1 => ("Write", json!({"file_path": name, "content": format!("{next}\n")})),
            _ => {
                let patch = format!(
                    "*** Begin Patch\n*** Update File: {name}\n@@\n-{number}\n+{next}\n*** End Patch"
                );
                ("apply_patch", json!({"input": patch}))
            }
        };
        match call(tool, input) {
            Ok(_) => n_done += 1,
            Err(error) => {
                let error = error.to_string();
                let told =
                    ["has changed since you last read", "was changed by somebody else just now"];
                assert!(told.iter().any(|why| error.contains(why)), "{tool}: {error}");
                n_refused += 1;
            }
        }
    }
    n_refused
}

fn named(name: &str) -> Arc<dyn Tool> {
    let mut tools = heeler_tools::standard().into_iter().chain(heeler_tools::further());
    tools.find(|tool| tool.definition().name == name).unwrap()
}

async fn of_changes_made_at_once_none_is_lost_and_the_loser_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("number");
    std::fs::write(&file, "00000000\n").unwrap();
    let mut editors: Vec<Child> = (0..PROCESSES).map(|_| start(&file)).collect();
    let mut outputs: Vec<_> =
        editors.iter_mut().map(|editor| BufReader::new(editor.stdout.take().unwrap())).collect();
    for output in &mut outputs {
        output.read_line(&mut String::new()).unwrap();
    }
    for editor in &mut editors {
        editor.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut n_refused = 0;
    for (editor, output) in editors.iter_mut().zip(&mut outputs) {
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        assert!(editor.wait().unwrap().success(), "{said}");
        n_refused += said.trim().parse::<usize>().unwrap();
    }
    let counted = std::fs::read_to_string(&file).unwrap();
    assert_eq!(counted, format!("{:08}\n", PROCESSES * THREADS * COUNTS));
    assert!(n_refused > 0, "they never met");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[expect(clippy::disallowed_methods, reason = "it stands for another heeler")]
fn start(file: &Path) -> Child {
    let mut editor = std::process::Command::new(std::env::current_exe().unwrap());
    editor.arg(EDITOR_MODE).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
    editor.spawn().unwrap()
}
