//! What the model of one session says: calls with effects that can be counted, and every way a
//! provider fails.

use std::collections::BTreeMap;

use heeler_script::{After, BlockSpec, ErrorSpec, ReplySpec, Script};
use heeler_testkit::Chunking;
use serde_json::json;

use crate::dice::Dice;

/// The file that commands append to.
pub(super) const EFFECTS: &str = "effects.txt";
/// The file that is edited.
pub(super) const BOARD: &str = "board.txt";
/// The answer that ends a session.
pub(super) const FINAL: &str = "the storm is over";

/// The most failures of the provider in a session: each costs a wait of up to a second.
const FAILURES_MAX: usize = 3;

/// A session's script, and what its calls may leave in the workspace.
pub(super) struct Workload {
    pub(super) script: Script,
    pub(super) chunking: Chunking,
    /// Lines that commands append, each by one call.
    pub(super) tokens: Vec<String>,
    /// Lines of the board, each edited by at most one call.
    pub(super) slots: Vec<String>,
    /// Files that are written, each by one call, with their content.
    pub(super) files: BTreeMap<String, String>,
}

impl Workload {
    /// Draws a workload of so many rounds.
    pub(super) fn draw(dice: &mut Dice, n_rounds: usize) -> Self {
        let mut drawing = Drawing::default();
        let mut replies = Vec::new();
        let mut n_failures = 0;
        for _ in 0..n_rounds {
            if n_failures < FAILURES_MAX && dice.one_in(4) {
                n_failures += 1;
                replies.push(failure(dice));
            }
            if dice.one_in(5) {
                replies.push(stall(dice));
            }
            replies.push(drawing.round(dice));
        }
        replies.push(ReplySpec::text(FINAL));
        let chunking = match dice.roll(0..=3) {
            0 => Chunking::Whole,
            1 => Chunking::PerEvent,
            _ => Chunking::Bytes(dice.roll(20..=400)),
        };
        let Drawing { tokens, slots, files } = drawing;
        Self { script: Script::of(replies).repeating(), chunking, tokens, slots, files }
    }

    /// The board before anything was edited.
    pub(super) fn board(&self) -> String {
        self.slots.iter().map(|slot| format!("{slot}: empty\n")).collect()
    }
}

/// What the rounds so far may leave.
#[derive(Default)]
struct Drawing {
    tokens: Vec<String>,
    slots: Vec<String>,
    files: BTreeMap<String, String>,
}

impl Drawing {
    fn round(&mut self, dice: &mut Dice) -> ReplySpec {
        let mut blocks = Vec::new();
        if dice.one_in(4) {
            blocks.push(BlockSpec::thinking(long_text(dice, 400), "c2lnbmVk"));
        }
        if dice.one_in(2) {
            blocks.push(BlockSpec::text(long_text(dice, 4_000)));
        }
        let mut calls: Vec<BlockSpec> = (0..dice.roll(1..=3)).map(|_| self.append(dice)).collect();
        for _ in 0..dice.roll(0..=2) {
            calls.push(match dice.roll(0..=4) {
                0 => BlockSpec::call("LS", json!({"path": "."})),
                1 => BlockSpec::call("Grep", json!({"pattern": "slot-.*full", "path": "."})),
                2 => self.write(dice),
                3 => self.edit(),
                _ => BlockSpec::call("Read", json!({"file_path": BOARD})),
            });
        }
        // An edit needs a read before it, in whatever process.
        if dice.one_in(3) {
            calls.push(BlockSpec::call("Read", json!({"file_path": BOARD})));
            calls.push(self.edit());
        }
        let id = match dice.roll(0..=5) {
            0 => Some("again"),
            1 => Some(""),
            _ => None,
        };
        blocks.extend(calls.into_iter().map(|call| match id {
            Some(id) => call.with_id(id),
            None => call,
        }));
        let chunks = dice.pick([1, 3, 30, 200]);
        let delay_ms = dice.pick([0, 0, 0, 5, 30]);
        ReplySpec { blocks, chunks, delay_ms, ..ReplySpec::default() }
    }

    /// A command that appends a line of its own, somewhere within its run.
    fn append(&mut self, dice: &mut Dice) -> BlockSpec {
        let token = format!("token-{:04}", self.tokens.len());
        let before = dice.pick(["", "", "sleep 0.01; ", "sleep 0.05; "]);
        let strays = dice.pick(["", "", "(setsid sleep 1000 &); ", "sleep 1000 & "]);
        let after = dice.pick(["", "", "; sleep 0.02", "; sleep 0.2", "; seq 1 20000"]);
        let command = format!("{before}{strays}echo {token} >> {EFFECTS}{after}");
        self.tokens.push(token);
        BlockSpec::call("Bash", json!({"command": command}))
    }

    fn write(&mut self, dice: &mut Dice) -> BlockSpec {
        let name = format!("made-{:04}.txt", self.files.len());
        let line = format!("{name} is whole or not there\n");
        let content = line.repeat(dice.pick([1, 100, 2_000]));
        let call = BlockSpec::call("Write", json!({"file_path": name, "content": content}));
        self.files.insert(name, content);
        call
    }

    fn edit(&mut self) -> BlockSpec {
        let slot = format!("slot-{:04}", self.slots.len());
        let (old, new) = (format!("{slot}: empty"), format!("{slot}: full"));
        self.slots.push(slot);
        let input = json!({"file_path": BOARD, "old_string": old, "new_string": new});
        BlockSpec::call("Edit", input)
    }
}

/// A reply that comes to nothing and is asked for again.
fn failure(dice: &mut Dice) -> ReplySpec {
    let refused = |status, kind: &str, retry_after| ReplySpec {
        error: Some(ErrorSpec {
            status,
            kind: kind.to_owned(),
            message: "try again".to_owned(),
            retry_after,
        }),
        ..ReplySpec::default()
    };
    let begun = ReplySpec { chunks: 20, ..ReplySpec::text(long_text(dice, 1_000)) };
    match dice.roll(0..=6) {
        0 => refused(Some(429), "rate_limit_error", Some(0)),
        1 => refused(Some(529), "overloaded_error", Some(0)),
        2 => refused(Some(529), "overloaded_error", None),
        3 => refused(None, "network", None),
        4 => ReplySpec { error: refused(None, "overloaded_error", None).error, ..begun },
        n => {
            let after = After { events: Some(dice.roll(1..=15)), bytes: None, hard: n == 5 };
            ReplySpec { cut: Some(after), ..begun }
        }
    }
}

/// A reply that falls silent until somebody ends it.
fn stall(dice: &mut Dice) -> ReplySpec {
    let after = After { events: Some(dice.roll(0..=15)), bytes: None, hard: false };
    let begun = ReplySpec { chunks: 20, ..ReplySpec::text(long_text(dice, 1_000)) };
    ReplySpec { stall: Some(after), ..begun }
}

fn long_text(dice: &mut Dice, chars_max: usize) -> String {
    let words = "the wind rises and the sea with it, ";
    words.chars().cycle().take(dice.roll(20..=chars_max)).chain(['.']).collect()
}
