//! The journal does not know: over random answers it is the same with and without eager start.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use heeler_core::{
    Access, CallId, Entry, Facts, Mode, RawJson, Record, ToolContext, ToolError, ToolOutput,
};
use heeler_engine::Parts;
use proptest::prelude::*;

use super::looks::slowly;
use crate::common::{TestTool, field, stage_with, tool, virtually};

/// What is looked at and changed, and how often each call began.
#[derive(Clone, Default)]
struct World(Arc<Mutex<(u32, HashMap<CallId, usize>)>>);

impl World {
    /// `look`, `peek` (outside the workspace) and `change`, which share a key: what a look says
    /// depends on what was changed before it.
    fn tools(&self, declare: fn(TestTool) -> TestTool) -> [TestTool; 3] {
        let reads = |path: &str| {
            let path = Access::Read(path.to_owned());
            move |facts: &mut Facts| facts.accesses.push(path)
        };
        let look = self.tool("look", 0).shares("file:a").facts(reads("/space/a"));
        let peek = self.tool("peek", 0).shares("file:a").facts(reads("/etc/a"));
        let change = self.tool("change", 1).locks("file:a").writes("/space/a");
        [declare(look), declare(peek), change]
    }

    fn tool(&self, name: &'static str, step: u32) -> TestTool {
        let world = self.clone();
        tool(name, move |context: ToolContext, input| {
            *world.0.lock().unwrap().1.entry(context.call).or_default() += 1;
            let world = world.clone();
            async move { world.play(&context, &input, step).await }
        })
    }

    async fn play(
        &self,
        context: &ToolContext,
        input: &RawJson,
        step: u32,
    ) -> Result<ToolOutput, ToolError> {
        let millis: u64 = field(input, "millis").parse().unwrap_or(0);
        if millis > 0 {
            context.clock.sleep_until(context.clock.now().plus(millis)).await;
        }
        let seen = {
            let mut world = self.0.lock().unwrap();
            world.0 += step;
            world.0
        };
        let output = ToolOutput::text(format!("sees {seen}")).with_state("seen", &context.call);
        match field(input, "how").as_str() {
            "fail" => Err(ToolError::for_model(format!("failed at {seen}"))),
            "crash" => std::panic::resume_unwind(Box::new("crashed")),
            _ => Ok(output),
        }
    }

    fn begun(&self) -> HashMap<CallId, usize> {
        self.0.lock().unwrap().1.clone()
    }
}

/// Plays a script; gives the journal and how often each call began.
fn play(
    script: &str,
    mode: Mode,
    declare: fn(TestTool) -> TestTool,
) -> (Vec<Entry>, HashMap<CallId, usize>) {
    let world = World::default();
    let tune = move |parts: &mut Parts| {
        slowly(parts);
        parts.settings.policy.mode = mode;
        parts.settings.policy.workspace = "/space".into();
    };
    virtually(async {
        let stage = stage_with(script, world.tools(declare), tune).await;
        stage.say("hi").await;
        let journal = stage.parts.store.read(stage.session.id().clone()).await.unwrap();
        assert_eq!(stage.model.mismatches(), []);
        stage.close().await;
        (journal.entries, world.begun())
    })
}

/// As safe to repeat as one that declares itself: only the declaration is missing.
fn late(tool: TestTool) -> TestTool {
    tool.read_only().undeclared()
}

fn lines(entries: &[Entry]) -> Vec<String> {
    let json = |record: &Record| serde_json::to_string(record).unwrap();
    entries
        .iter()
        .map(|entry| format!("{} {} {}", entry.seq, entry.at.0, json(&entry.record)))
        .collect()
}

/// The records without times, those of each batch by call: calls that take time end in another
/// order when they begin earlier.
fn timeless(entries: &[Entry]) -> Vec<String> {
    let call_of = |record: &Record| match record {
        Record::CallPlanned(planned) => Some(planned.call),
        Record::CallStarted { call } | Record::CallFinished { call, .. } => Some(*call),
        _ => None,
    };
    let mut batch = 0;
    let mut records: Vec<(usize, Option<CallId>, String)> = Vec::new();
    for entry in entries {
        let mut record = entry.record.clone();
        if let Record::ModelFailed(failed) = &mut record {
            failed.retry_at = None;
        }
        let call = call_of(&record);
        batch += usize::from(call.is_none());
        records.push((batch, call, serde_json::to_string(&record).unwrap()));
    }
    // Stable: the records of one call keep their order.
    records.sort_by_key(|(batch, call, _)| (*batch, *call));
    records.into_iter().map(|(_, _, json)| json).collect()
}

/// Each call that was started ran, and once more only for each attempt that failed before.
fn assert_ran_once(entries: &[Entry], begun: &HashMap<CallId, usize>) {
    let failures = |call: &CallId| {
        let is_of_round = |entry: &&Entry| {
            matches!(&entry.record, Record::ModelFailed(failed)
                if (failed.turn, failed.round) == (call.turn, call.round))
        };
        entries.iter().filter(is_of_round).count()
    };
    for entry in entries {
        if let Record::CallStarted { call } = &entry.record {
            let times = begun.get(call).copied().unwrap_or(0);
            assert!((1..=1 + failures(call)).contains(&times), "{call} began {times} times");
        }
    }
}

fn block(millis_max: u64) -> impl Strategy<Value = String> {
    let call = |name: &'static str| {
        let how = prop_oneof![4 => Just(""), 1 => Just("fail"), 1 => Just("crash")];
        (0..=millis_max, how).prop_map(move |(millis, how)| {
            format!("{{ call = \"{name}\", input = {{ millis = {millis}, how = \"{how}\" }} }}")
        })
    };
    prop_oneof![
        6 => call("look"),
        1 => call("peek"),
        2 => call("change"),
        1 => Just("{ text = \"well\" }".to_owned()),
        1 => Just("{ call = \"nobody\" }".to_owned()),
        1 => Just("{ call = \"look\", input_raw = \"[\" }".to_owned()),
    ]
}

/// A few answers, whole or cut, and a last word.
fn script(millis_max: u64) -> impl Strategy<Value = String> {
    let end = prop_oneof![4 => Just(""), 1 => Just("cut = {}"), 1 => Just("stop = \"max_tokens\"")];
    let reply = (prop::collection::vec(block(millis_max), 1..6), end)
        .prop_map(|(blocks, end)| format!("[[reply]]\nblocks = [{}]\n{end}\n", blocks.join(", ")));
    prop::collection::vec(reply, 1..5)
        .prop_map(|replies| replies.concat() + "[[reply]]\ntext = \"done\"\nrepeat = 9\n")
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Bypass), Just(Mode::AllowListed)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_of_the_journal_is_the_same(script in script(0), mode in mode()) {
        let (early, begun) = play(&script, mode, TestTool::read_only);
        let (late, _) = play(&script, mode, late);
        prop_assert_eq!(lines(&early), lines(&late));
        assert_ran_once(&early, &begun);
    }

    #[test]
    fn calls_that_take_time_change_only_times(script in script(400), mode in mode()) {
        let (early, begun) = play(&script, mode, TestTool::read_only);
        let (late, _) = play(&script, mode, late);
        prop_assert_eq!(timeless(&early), timeless(&late));
        assert_ran_once(&early, &begun);
        let ends = [early, late].map(|entries| entries.last().map(|entry| entry.at));
        prop_assert!(ends[0] <= ends[1], "time was lost: {:?}", ends);
    }
}
