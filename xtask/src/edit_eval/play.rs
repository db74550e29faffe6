//! Calls of the tools themselves, on a file of their own.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use heeler_core::{RawJson, SessionId, StateView, Timestamp, ToolContext, ToolError, ToolOutput};
use heeler_testkit::{SeededEntropy, VirtualClock};
use serde_json::json;

use super::call::{Call, Place, Text, Tool, What};
use super::changes::Change;
use super::drift::{Drift, Written};

/// The file the calls are about.
const FILE: &str = "file.txt";
/// Lines around the right place that a refusal may name as it.
const NEAR_LINES: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Right,
    Refused,
    Wrong,
}

/// Runs calls in a folder.
pub(super) struct Player {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Player {
    pub(super) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { folder: tempfile::tempdir()?, runtime })
    }

    /// Runs the call on the file as it was before, and says what became of it.
    pub(super) fn play(
        &self,
        change: &Change,
        call: &Call,
        written: &Written,
    ) -> Result<(Outcome, String)> {
        let path = self.folder.path().join(FILE);
        std::fs::write(&path, &change.before)?;
        let mut state = StateView::default();
        let read = self.run("Read", &json!({"file_path": FILE, "limit": 1}).to_string(), &state)?;
        for change in read.map_err(|error| anyhow::anyhow!("Read: {error}"))?.state {
            state.0.insert_mut(change.key, change.value);
        }
        let (name, input) = match call.tool {
            Tool::Edit => ("Edit", edit(written)),
            Tool::Patch => ("apply_patch", patch(written)),
        };
        let said = self.run(name, &input, &state)?;
        let after = std::fs::read(&path)?;
        let (is_refused, said) = match said {
            Ok(output) => (output.is_error, output.text_content()),
            Err(error) => (true, error.to_string()),
        };
        let outcome = match is_refused {
            _ if after == call.expected.as_bytes() => Outcome::Right,
            true if after != change.before.as_bytes() => Outcome::Wrong,
            true if written.may_refuse && names(&said, written) => Outcome::Right,
            true => Outcome::Refused,
            false => Outcome::Wrong,
        };
        Ok((outcome, said))
    }

    fn run(
        &self,
        name: &str,
        input: &str,
        state: &StateView,
    ) -> Result<Result<ToolOutput, ToolError>> {
        let mut tools = heeler_tools::standard().into_iter().chain(heeler_tools::further());
        let tool = tools.find(|tool| tool.definition().name == name);
        let tool = tool.with_context(|| format!("no tool {name}"))?;
        let input = RawJson::parse(input).map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(self.runtime.block_on(tool.call(self.context(state), input)))
    }

    fn context(&self, state: &StateView) -> ToolContext {
        let session = SessionId::mint(Timestamp(0), &SeededEntropy::new(0));
        let clock = Arc::new(VirtualClock::new(0));
        ToolContext { state: state.clone(), ..ToolContext::new(session, self.folder.path(), clock) }
    }
}

/// Whether a refusal says where the place may be.
fn names(said: &str, written: &Written) -> bool {
    let numbers: Vec<usize> =
        said.split(|sign: char| !sign.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
    // Of many places the first are named.
    if written.drift == Drift::Ambiguous && said.contains(", ...)") {
        return true;
    }
    written.places.iter().any(|place| {
        let first = (place.start + 1).saturating_sub(NEAR_LINES);
        let last = place.start + 1 + place.old().len() + NEAR_LINES;
        numbers.iter().any(|number| (first..=last).contains(number))
    })
}

fn edit(written: &Written) -> String {
    let place = &written.places[0];
    let texts = [What::Add, What::Remove].map(|other| {
        let lines = place.lines.iter().filter(|(what, _)| *what != other);
        let numbered = lines.enumerate().map(|(index, (_, line))| match written.numbers {
            Some(first) => format!("{:>6}\t{line}", first + index),
            None => line.clone(),
        });
        numbered.collect::<Vec<_>>()
    });
    let [old, new] = texts.each_ref().map(|lines| lines.join(written.end));
    // Lines that go without a trace go with their end.
    let old = if texts[1].is_empty() { format!("{old}{}", written.end) } else { old };
    json!({"file_path": FILE, "old_string": old, "new_string": new}).to_string()
}

fn patch(written: &Written) -> String {
    let mut lines = vec!["*** Begin Patch".to_owned(), format!("*** Update File: {FILE}")];
    for place in &written.places {
        lines.push(match written.numbers {
            None => "@@".to_owned(),
            Some(number) => {
                let n_new = place.lines.iter().filter(|it| it.0 != What::Remove).count();
                format!("@@ -{number},{} +{number},{n_new} @@", place.old().len())
            }
        });
        lines.extend(place.lines.iter().map(|(what, line)| match what {
            What::Keep => format!(" {line}"),
            What::Remove => format!("-{line}"),
            What::Add => format!("+{line}"),
        }));
    }
    lines.push("*** End Patch".to_owned());
    json!({"input": lines.join(written.end)}).to_string()
}

/// A call that did not come out right, for whoever looks into it.
pub(super) fn shown(change: &Change, written: &Written, outcome: Outcome, said: &str) -> String {
    let mut text = format!("--- {outcome:?}, {}: {}\n", written.drift.name(), change.name);
    for Place { lines, start } in &written.places {
        let _ = writeln!(text, "@@ line {}", start + 1);
        for (what, line) in lines {
            let sign = match what {
                What::Keep => ' ',
                What::Remove => '-',
                What::Add => '+',
            };
            let _ = writeln!(text, "{sign}{line:?}");
        }
    }
    let first = written.places.first().map_or(0, |place| place.start.saturating_sub(2));
    if written.drift != Drift::None
        && let Some(before) = Text::new(&change.before)
    {
        let _ = writeln!(text, "the file there:");
        for line in before.lines.iter().skip(first).take(24) {
            let _ = writeln!(text, " {line:?}");
        }
    }
    let _ = writeln!(text, "said: {said}");
    text
}
