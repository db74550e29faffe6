//! The one door: a script goes in; events, outcomes and the conversation come out.

use std::sync::Arc;

use expect_test::Expect;
use heeler_core::TurnOutcome;
use heeler_engine::{Parts, replay};
use heeler_testkit::transcript;
use heeler_turn::State;

use super::TestTool;
use super::stage::{Stage, stage_with, toolset, virtually};

/// A conversation to play.
pub(crate) struct Case {
    script: String,
    inputs: Vec<String>,
    tools: Vec<TestTool>,
    tune: Box<dyn FnOnce(&mut Parts)>,
    calls_only: bool,
}

impl Case {
    /// The model plays this script; the user says `hi`.
    pub(crate) fn new(script: &str) -> Self {
        Self {
            script: script.into(),
            inputs: vec!["hi".into()],
            tools: Vec::new(),
            tune: Box::new(|_| ()),
            calls_only: false,
        }
    }

    /// What the user says, turn by turn.
    pub(crate) fn says<const N: usize>(mut self, inputs: [&str; N]) -> Self {
        self.inputs = inputs.map(str::to_owned).into();
        self
    }

    pub(crate) fn tools<const N: usize>(mut self, tools: [TestTool; N]) -> Self {
        self.tools = tools.into();
        self
    }

    /// Shows what became of calls and leaves everything else out.
    pub(crate) fn calls_only(mut self) -> Self {
        self.calls_only = true;
        self
    }

    /// Changes the parts of the session.
    pub(crate) fn with(mut self, tune: impl FnOnce(&mut Parts) + 'static) -> Self {
        let before = std::mem::replace(&mut self.tune, Box::new(|_| ()));
        self.tune = Box::new(move |parts| {
            before(parts);
            tune(parts);
        });
        self
    }
}

/// A script that calls once, with this name and input, and then ends; only calls are shown.
pub(crate) fn one_call(name: &str, input: &str) -> Case {
    Case::new(&format!(
        r#"
        [[reply]]
        blocks = [{{ call = "{name}", input = {input} }}]
        [[reply]]
        text = "done"
        "#
    ))
    .calls_only()
}

/// Plays a case and compares what came of it. Whatever the case is about, also holds that each
/// turn has one terminal event with the outcome its awaitable had, that a watcher's fold is the
/// state's view, that the journal alone gives the same state, that no request was refused, and
/// that nothing is left behind.
pub(crate) fn check(case: Case, expected: Expect) {
    expected.assert_eq(&shown(case));
}

/// What [`check`] compares.
pub(crate) fn shown(case: Case) -> String {
    virtually(play(case))
}

async fn play(case: Case) -> String {
    let Case { script, inputs, tools, tune, calls_only } = case;
    let tune = |parts: &mut Parts| {
        parts.tools = toolset(tools);
        tune(parts);
    };
    let mut stage = stage_with(&script, [], tune).await;
    let mut outcomes = Vec::new();
    for input in inputs {
        outcomes.push(stage.say(&input).await);
    }
    let state = stage.session.state().await.unwrap();
    stage.watcher.drain();
    assert_promises(&stage, &state, &outcomes).await;
    let conversation = transcript(state.history.messages().iter().map(Arc::as_ref));
    let shown = |line: &&str| !calls_only || is_about_calls(line);
    let lines = stage.watcher.lines.iter().map(String::as_str);
    let lines = lines.chain(["---"]).chain(conversation.lines()).filter(shown);
    let mut text = lines.fold(String::new(), |text, line| text + line.trim_end() + "\n");
    if stage.model.remaining() > 0 {
        text.push_str(&format!("--- {} replies not asked for\n", stage.model.remaining()));
    }
    stage.close().await;
    text
}

fn is_about_calls(line: &str) -> bool {
    let kinds = [
        "started",
        "finished",
        "failed",
        "progress",
        "for the user",
        "asked",
        "hook",
        "notice",
        "decided",
        "end of",
        "result",
    ];
    kinds.iter().any(|kind| line.starts_with(kind))
}

async fn assert_promises(stage: &Stage, state: &State, outcomes: &[TurnOutcome]) {
    let told: Vec<TurnOutcome> = stage.watcher.endings().into_iter().map(|(_, o)| o).collect();
    assert_eq!(told, outcomes, "terminal events and outcomes differ");
    assert_eq!(stage.watcher.view, state.view(), "the fold of events is not the view");
    assert_eq!(stage.model.mismatches(), [], "a request was refused");
    assert_eq!(stage.model.streams_open(), 0, "a stream is still open");
    let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
    let mut replayed = State::new();
    journal.entries.iter().for_each(|entry| replayed.apply(entry));
    assert_eq!((replayed.view(), replayed.misfits), (state.view(), 0), "the journal says else");
    let played = replay(&journal, 1, None).await.unwrap();
    assert_eq!(played.divergence, None, "the journal does not come again");
}
