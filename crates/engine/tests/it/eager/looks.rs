//! A tool that looks and takes notes of when, and a stage on which every block takes time.

use std::sync::{Arc, Mutex};

use heeler_core::{Clock, ToolContext, ToolError, ToolOutput};
use heeler_engine::Parts;
use heeler_testkit::VirtualClock;

use crate::common::{Paced, TestTool, field, tool};

/// How long each block of an answer takes.
pub(crate) const BLOCK_MILLIS: u64 = 100;
/// When the clock of a stage begins.
const BEGIN: u64 = 1_000_000;

/// What looks did, and when: `+n@t` begun, `-n@t` ended, `xn@t` stopped.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().join(" ")
    }

    /// How often a look began that was told to be number `n`.
    pub(crate) fn begun(&self, n: usize) -> usize {
        let notes = self.0.lock().unwrap();
        notes.iter().filter(|note| note.starts_with(&format!("+{n}@"))).count()
    }

    fn add(&self, what: char, n: &str, clock: &dyn Clock) {
        let at = clock.now().0 - BEGIN;
        self.0.lock().unwrap().push(format!("{what}{n}@{at}"));
    }

    /// A look: takes `millis`, then says `out n`, or fails, crashes or hangs as `how` says.
    pub(crate) fn look(&self) -> TestTool {
        let notes = self.clone();
        tool("look", move |context: ToolContext, input| {
            let running = Running::new(&notes, &context, field(&input, "n"));
            async move {
                let clock = Arc::clone(&context.clock);
                let millis = field(&input, "millis").parse().unwrap_or(0);
                if millis > 0 {
                    clock.sleep_until(clock.now().plus(millis)).await;
                }
                context.progress.send(format!("half of {}", running.n));
                match field(&input, "how").as_str() {
                    "fail" => Err(ToolError::for_model("nothing there")),
                    "crash" => panic!("broken glasses"),
                    "hang" => std::future::pending().await,
                    "long" => Ok(ToolOutput::text("long ".repeat(20))),
                    _ => Ok(running.end()),
                }
            }
        })
        .read_only()
    }
}

struct Running {
    notes: Notes,
    n: String,
    clock: Arc<dyn Clock>,
    is_whole: bool,
}

impl Running {
    fn new(notes: &Notes, context: &ToolContext, n: String) -> Self {
        let clock = Arc::clone(&context.clock);
        notes.add('+', &n, clock.as_ref());
        Self { notes: notes.clone(), n, clock, is_whole: false }
    }

    fn end(mut self) -> ToolOutput {
        self.is_whole = true;
        self.notes.add('-', &self.n, self.clock.as_ref());
        ToolOutput::text(format!("out {}", self.n))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_whole {
            self.notes.add('x', &self.n, self.clock.as_ref());
        }
    }
}

/// Each block of each answer takes [`BLOCK_MILLIS`].
pub(crate) fn slowly(parts: &mut Parts) {
    let (inner, clock) = (Arc::clone(&parts.provider), Arc::clone(&parts.clock));
    parts.provider = Arc::new(Paced { inner, clock, pause_millis: BLOCK_MILLIS });
}

/// How far the clock has come.
pub(crate) fn elapsed(clock: &VirtualClock) -> u64 {
    clock.now().0 - BEGIN
}

/// Calls of `look`, numbered, that take so long.
pub(crate) fn looks(millis: &[u64]) -> String {
    let call =
        |(n, millis)| format!("{{ call = \"look\", input = {{ n = {n}, millis = {millis} }} }}");
    millis.iter().enumerate().map(call).collect::<Vec<_>>().join(", ")
}

/// A script whose one reply has these blocks, and a last word.
pub(crate) fn script(blocks: &str) -> String {
    format!("[[reply]]\nblocks = [{blocks}]\n[[reply]]\ntext = \"done\"\n")
}

/// A script whose one reply has these blocks and then falls silent.
pub(crate) fn unfinished(blocks: &str) -> String {
    format!("[[reply]]\nblocks = [{blocks}]\nstall = {{}}\n[[reply]]\ntext = \"done\"\n")
}
