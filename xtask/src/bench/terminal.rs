//! The window, on a real terminal: what it costs to stand there, to stream, and to press a key.
//!
//! Nothing stands beside it: what a person notices has limits of its own.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::figure::{Budget, Figure, Values, millis};
use super::place::Place;
use super::process::{again, run};
use super::server::{Order, Server};
use super::tty::Tty;
use super::wire::{Call, answer, streamed};

/// What the window writes at the end of each draw.
const DRAWN: &str = "\x1b[?2026l";
/// What its composer says as long as nothing is written.
pub(super) const READY: &str = "what is to be done?";
/// What it says as long as a turn runs.
const WORKING: &str = "working";
/// The last words of every answer.
const LAST: &str = "That is all.";
/// How long nothing is done to a window whose rest is looked at.
const IDLE: Duration = Duration::from_secs(10);
/// A window that writes nothing for so long has settled: what is asked for at a start is there.
const QUIET: Duration = Duration::from_secs(1);
/// Rounds of the session that keys are pressed in.
const ROUNDS: usize = 300;
/// What is streamed: 500 deltas a second for ten seconds, a token each.
const DELTA_EVERY: Duration = Duration::from_millis(2);
const DELTA_CHARS: usize = 5;
const STREAMED_BYTES: usize = 25_000;
/// Keys that are pressed, each another one, so that none is taken for the one before it. Nothing
/// else on the screen has these letters.
const KEYS: std::ops::RangeInclusive<char> = 'а'..='я';
/// How often all of them are, while nothing else happens.
const KEYS_TIMES: usize = 4;
/// What is left between two keys, which nobody presses faster.
const KEY_EVERY: Duration = Duration::from_millis(30);

/// A window that nobody does anything to, after a turn: what it uses.
pub(super) fn idle(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let server = Server::start(vec![streamed(LAST, DELTA_CHARS)], Order::Counted)?;
    let [mut processor, mut woken] = [Values::default(), Values::default()];
    for _ in 0..runs {
        let mut tty = Tty::start(&place.window(server.url()))?;
        tty.reads_until(READY)?;
        tty.types("go\r")?;
        tty.reads_until(LAST)?;
        tty.reads_until_quiet(QUIET)?;
        let before = tty.used()?;
        tty.reads_for(IDLE)?;
        let used = tty.used()?.since(before);
        processor.push(millis(used.processor));
        woken.push(f64::from(used.times_woken));
        tty.leaves()?;
    }
    Ok(vec![
        figure("the window idle for 10 s: processor", "ms", processor, Budget::AtMost(0.0)),
        figure("the window idle for 10 s: woken", "times", woken, Budget::AtMost(0.0)),
    ])
}

/// An answer of 500 deltas a second: what the window uses and writes.
pub(super) fn stream(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let text = prose(STREAMED_BYTES);
    let server = Server::start_paced(vec![streamed(&text, DELTA_CHARS)], DELTA_EVERY)?;
    let [mut processor, mut bytes] = [Values::default(), Values::default()];
    for _ in 0..runs {
        let mut tty = Tty::start(&place.window(server.url()))?;
        tty.reads_until(READY)?;
        tty.reads_until_quiet(QUIET)?;
        tty.types("go\r")?;
        let began = tty.reads_until(WORKING)?;
        let (before, n_before) = (tty.used()?, tty.n_written());
        let ended = tty.reads_until(LAST)?;
        let used = tty.used()?.since(before);
        let share = used.processor.as_secs_f64() / (ended - began).as_secs_f64();
        processor.push(share * 100.0);
        bytes.push(count(tty.n_written() - n_before) / count(text.len()));
        tty.reads_until_quiet(QUIET)?;
        tty.leaves()?;
    }
    let of = "500 deltas a second in the window";
    Ok(vec![
        figure(&format!("{of}: processor"), "% of a core", processor, Budget::AtMost(10.0)),
        figure(&format!("{of}: written for each byte"), "bytes", bytes, Budget::None),
    ])
}

/// From a key to the screen, in a session of 300 rounds that ended with coloured code.
pub(super) fn keys(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    long_session(place)?;
    let text = prose(STREAMED_BYTES);
    let server = Server::start_paced(vec![streamed(&text, DELTA_CHARS)], DELTA_EVERY)?;
    let mut start = Values::default();
    let [mut rests, mut streams] = [[(); 2]; 2].map(|both| both.map(|()| Values::default()));
    for _ in 0..runs {
        let mut tty = Tty::start(place.window(server.url()).args(["--continue"]))?;
        let shown = tty.reads_until(READY)?;
        start.push(millis(shown - tty.started()));
        tty.reads_until_quiet(QUIET)?;
        let took = press(&mut tty, KEYS_TIMES)?;
        note(&mut rests, &took);
        tty.types("go\r")?;
        tty.reads_until(WORKING)?;
        // As long as the answer streams.
        let took = press(&mut tty, 2)?;
        note(&mut streams, &took);
        tty.reads_until(LAST)?;
        tty.reads_until_quiet(QUIET)?;
        tty.leaves()?;
    }
    let [[rest_half, rest_most], [stream_half, stream_most]] = [rests, streams];
    let of = "a key to the screen, 300 rounds with code";
    let most = Budget::AtMost(16.0);
    Ok(vec![
        figure("start to first frame, 300 rounds with code", "ms", start, Budget::None),
        figure(&format!("{of}: half of them within"), "ms", rest_half, Budget::None),
        figure(&format!("{of}: 95 of 100 within"), "ms", rest_most, most),
        figure(&format!("{of} and an answer: half within"), "ms", stream_half, Budget::None),
        figure(&format!("{of} and an answer: 95 of 100 within"), "ms", stream_most, most),
    ])
}

/// From the start of the program to the first thing that stands on the screen.
pub(super) fn start(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let server = Server::start(vec![answer(0, &[])], Order::Counted)?;
    let mut values = Values::default();
    for _ in 0..runs {
        let mut tty = Tty::start(&place.window(server.url()))?;
        let shown = tty.reads_until(DRAWN)?;
        values.push(millis(shown - tty.started()));
        tty.leaves()?;
    }
    Ok(vec![figure("start to first frame", "ms", values, Budget::AtMost(30.0))])
}

/// Has the newest session be one of 300 rounds.
fn long_session(place: &Place) -> Result<()> {
    let call = |n: usize| Call { tool: "Bash", input: json!({"command": format!("seq {n}")}) };
    let answers = (0..ROUNDS).map(|n| answer(n, &[call(n)]));
    let answers = answers.chain([streamed(&prose(STREAMED_BYTES), DELTA_CHARS)]).collect();
    let server = Server::start(answers, Order::Counted)?;
    run(&mut again(&place.exec(server.url()))).context("making a session")?;
    Ok(())
}

/// Presses all keys so often; how long each took to be seen, in milliseconds.
fn press(tty: &mut Tty, times: usize) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..times {
        for key in KEYS {
            tty.reads_for(KEY_EVERY)?;
            let key = key.to_string();
            let at = tty.types(&key)?;
            tty.reads_until(&key)?;
            took.push(millis(tty.reads_until(DRAWN)? - at));
        }
        // All of it away.
        tty.types("\x15")?;
        tty.reads_for(KEY_EVERY)?;
    }
    Ok(took)
}

/// The times that half and that 95 of 100 keep within.
fn note([half, most]: &mut [Values; 2], took: &[f64]) {
    let mut sorted = took.to_vec();
    sorted.sort_by(f64::total_cmp);
    for (values, percent) in [(half, 50), (most, 95)] {
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).into_iter().for_each(|took| values.push(*took));
    }
}

/// An answer of about so many bytes as models write them: headings, prose, lists and code.
fn prose(bytes: usize) -> String {
    let mut text = String::new();
    let mut part = 0;
    while text.len() < bytes {
        part += 1;
        text += &format!("## Part {part}\n\n");
        text += "The parser keeps what it has **not** read yet, and `advance` moves past what it knows. \
                 A token that is cut by the end of a piece waits for the next one, so nothing is read \
                 twice and nothing is lost, whatever the pieces are.\n\n";
        text += "- an empty piece changes nothing\n- the last piece is told by `finish`\n- what is left \
                 then is an *error* with its place\n\n";
        text += &format!(
            "```rust\n/// Part {part} of it.\nfn advance_{part}(&mut self, piece: &str) -> Result<usize, Error> {{\n    \
             let mut taken = 0;\n    for (at, c) in piece.char_indices() {{\n        if !self.takes(c)? {{\n            \
             return Err(Error::at(self.offset + at, \"unexpected\"));\n        }}\n        taken = at + \
             c.len_utf8();\n    }}\n    Ok(taken)\n}}\n```\n\n"
        );
    }
    text + LAST
}

fn figure(name: &str, unit: &'static str, heeler: Values, budget: Budget) -> Figure {
    Figure { name: name.to_owned(), unit, reference: Values::default(), heeler, budget }
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_hundred_keys_the_fiftieth_and_the_ninety_fifth_count() {
        let mut both = [Values::default(), Values::default()];
        let took: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        note(&mut both, &took);
        note(&mut both, &[]);
        assert_eq!(both.map(|values| values.to_string()), ["50.0", "95.0"]);
    }

    #[test]
    fn what_is_streamed_holds_no_key_and_ends_with_its_last_words_alone() {
        let text = prose(1000);
        assert!(!text.contains(|c| KEYS.contains(&c)));
        assert_eq!((text.matches(LAST).count(), text.ends_with(LAST)), (1, true));
    }
}
