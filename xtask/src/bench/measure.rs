//! What is measured, and how: each function runs the reference and heeler in turn.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::Size;
use super::figure::{Budget, Figure, Values, millis};
use super::place::{NOTES, OVER_REQWEST, Place};
use super::prefix::continued;
use super::process::{again, run, run_timed, run_weighed};
use super::server::{Exchange, Order, Server};
use super::wire::{Call, Chunks, answer, deltas};

/// Rounds of a long session.
const ROUNDS: usize = 300;
/// Rounds whose gaps count as those of the beginning and of the end.
const ROUNDS_LOOKED_AT: usize = 10;
/// Deltas of a long answer.
const DELTAS: usize = 250_000;
/// Calls of one reply.
const CALLS: usize = 20;
/// How long each of them waits.
const WAIT_MILLIS: u64 = 200;
/// Sessions at once in one process, and their rounds.
const SESSIONS: usize = 1000;
const SESSION_ROUNDS: usize = 20;

/// From the start of the program to its first request.
pub(super) fn start(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let server = Server::start(vec![answer(0, &[])], Order::Counted)?;
    let commands =
        [place.bare(server.url()), place.exec(server.url()), place.bare_over_reqwest(server.url())];
    let mut times: [Values; 3] = std::array::from_fn(|_| Values::default());
    let mut body_bytes = [0; 3];
    for _ in 0..runs {
        for (n, command) in commands.iter().enumerate() {
            let used = run(&mut again(command))?;
            let exchanges = server.take();
            let first = exchanges.first().context("no request came")?;
            times[n].push(millis(first.came - used.started));
            body_bytes[n] = first.body_bytes;
        }
    }
    let [bare, heeler, over_reqwest] = times;
    let made = place.files_made()?;
    // The repository's notes are its own.
    let notes = serde_json::to_string(NOTES)?.len();
    let body = Values::from_iter([kilo(body_bytes[1].saturating_sub(notes))]);
    let name = "start to first request";
    let beside = format!("{name}, beside the bare loop over reqwest");
    let first = [Values::default(), body];
    Ok(vec![
        figure(name, "ms", [bare, heeler.clone()], Budget::Times(1.5)),
        figure(&beside, "ms", [over_reqwest, heeler], Budget::None),
        figure("a file made in the place", "ms", [Values::default(), made], Budget::None),
        figure("first request's body without the notes", "kB", first, Budget::AtMost(8.0)),
    ])
}

/// Sessions of 300 rounds whose commands print so many bytes.
pub(super) fn rounds(place: &Place, size: &Size, bytes: usize) -> Result<Vec<Figure>> {
    let first = first_gaps(size, bytes, |url| [place.bare(url), place.exec(url)])?;
    let server = Server::start(rounds_of(ROUNDS, bytes), Order::Counted)?;
    let commands = [place.bare(server.url()), place.exec(server.url())];
    let [mut early, mut late, mut processor, mut memory] =
        std::array::from_fn(|_| [Values::default(), Values::default()]);
    for _ in 0..size.runs_long {
        for (n, command) in commands.iter().enumerate() {
            let used = run_weighed(command, &place.note())?;
            let gaps = gaps(&server.take());
            ensure!(gaps.len() == ROUNDS, "{} rounds instead of {ROUNDS}", gaps.len());
            early[n].push(median(&gaps[1..=ROUNDS_LOOKED_AT]));
            late[n].push(median(&gaps[ROUNDS - ROUNDS_LOOKED_AT..]));
            processor[n].push(used.processor.as_secs_f64());
            used.memory_kb.into_iter().for_each(|kb| memory[n].push(kb / 1024.0));
        }
    }
    let of = if bytes == 0 { "short".to_owned() } else { format!("{} kB", bytes / 1000) };
    let [since_first, growth] = [&first, &early].map(|before| [before[1].clone(), late[1].clone()]);
    let memory_budget = if bytes == 0 { Budget::AtMost(14.0) } else { Budget::None };
    Ok(vec![
        figure(&format!("gap of round 1, {of} results"), "ms", first, Budget::Times(1.3)),
        figure(&format!("gap of rounds 2-11, {of} results"), "ms", early, Budget::Times(1.3)),
        figure(&format!("gap of rounds 291-300, {of} results"), "ms", late, Budget::None),
        figure(
            &format!("heeler's rounds 291-300 beside its round 1, {of} results"),
            "ms",
            since_first,
            Budget::Times(1.05),
        ),
        figure(
            &format!("heeler's rounds 291-300 beside its rounds 2-11, {of} results"),
            "ms",
            growth,
            Budget::Times(1.05),
        ),
        figure(&format!("processor of 300 rounds, {of} results"), "s", processor, budget_of(bytes)),
        figure(&format!("peak memory, {of} results"), "MB", memory, memory_budget),
    ])
}

/// Sessions of 300 rounds whose commands stay in the box, beside the same outside of it.
pub(super) fn in_box(place: &Place, size: &Size) -> Result<Vec<Figure>> {
    let first = first_gaps(size, 0, |url| [place.exec(url), place.exec_in_box(url)])?;
    let server = Server::start(rounds_of(ROUNDS, 0), Order::Counted)?;
    let commands = [place.exec(server.url()), place.exec_in_box(server.url())];
    let [mut early, mut processor] =
        std::array::from_fn(|_| [Values::default(), Values::default()]);
    for _ in 0..size.runs_long {
        for (n, command) in commands.iter().enumerate() {
            let used = run_weighed(command, &place.note())?;
            let gaps = gaps(&server.take());
            ensure!(gaps.len() == ROUNDS, "{} rounds instead of {ROUNDS}", gaps.len());
            early[n].push(median(&gaps[1..]));
            processor[n].push(used.processor.as_secs_f64());
        }
    }
    Ok(vec![
        figure("gap of round 1, outside of the box and in it", "ms", first, Budget::More(1.0)),
        figure("gap of rounds 2-300, outside and in it", "ms", early, Budget::More(1.0)),
        figure("processor of 300 rounds, outside and in it", "s", processor, Budget::None),
    ])
}

/// What bubblewrap costs a command that needs the same namespaces, in the bare loop.
pub(super) fn in_bubblewrap(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    if !Place::has_bubblewrap() {
        eprintln!("skipped: needs bwrap");
        return Ok(Vec::new());
    }
    let server = Server::start(rounds_of(ROUNDS, 0), Order::Counted)?;
    let commands = [place.bare(server.url()), place.bare_in_bubblewrap(server.url())];
    let [mut all, mut processor] = std::array::from_fn(|_| [Values::default(), Values::default()]);
    for _ in 0..runs {
        for (n, command) in commands.iter().enumerate() {
            let used = run_weighed(command, &place.note())?;
            let gaps = gaps(&server.take());
            ensure!(gaps.len() == ROUNDS, "{} rounds instead of {ROUNDS}", gaps.len());
            all[n].push(median(&gaps[1..]));
            processor[n].push(used.processor.as_secs_f64());
        }
    }
    let of = "the bare loop, without bubblewrap and with it";
    Ok(vec![
        figure(&format!("gap of rounds 2-300 of {of}"), "ms", all, Budget::None),
        figure(&format!("processor of 300 rounds of {of}"), "s", processor, Budget::None),
    ])
}

/// The gaps of round 1, each of a process of its own, whose command prints so many bytes. There is
/// one in a process, so it takes many of them to tell it from chance.
fn first_gaps(
    size: &Size,
    bytes: usize,
    commands: impl Fn(&str) -> [Command; 2],
) -> Result<[Values; 2]> {
    let server = Server::start(rounds_of(1, bytes), Order::Counted)?;
    let mut both = [Values::default(), Values::default()];
    let commands = commands(server.url());
    for _ in 0..size.runs_short {
        for (values, command) in both.iter_mut().zip(&commands) {
            run(&mut again(command))?;
            let gaps = gaps(&server.take());
            values.push(*gaps.first().context("no second request came")?);
        }
    }
    Ok(both)
}

/// The answers of a session of so many rounds whose commands print so many bytes.
fn rounds_of(rounds: usize, bytes: usize) -> Vec<Vec<u8>> {
    let answers = (0..rounds).map(|n| {
        // Of the shell itself: what is measured is not another program.
        let line = if bytes == 0 { format!("echo {n}") } else { format!("printf %0{bytes}d {n}") };
        answer(n, &[Call { tool: "Bash", input: json!({"command": line}) }])
    });
    answers.chain([answer(rounds, &[])]).collect()
}

/// Whether each request of a long session begins with the one before it, for a provider's cache.
pub(super) fn prefix(place: &Place) -> Result<Vec<Figure>> {
    let server = Server::start_keeping(rounds_of(ROUNDS, 0))?;
    let mut both = [Values::default(), Values::default()];
    for (values, command) in
        both.iter_mut().zip([place.bare(server.url()), place.exec(server.url())])
    {
        run(&mut again(&command))?;
        let bodies: Vec<Vec<u8>> =
            server.take().into_iter().map(|exchange| exchange.body).collect();
        ensure!(bodies.len() == ROUNDS + 1, "{} requests of {ROUNDS} rounds", bodies.len());
        values.push(kilo(continued(&bodies)?) * 1000.0);
    }
    let budget = Budget::AtLeast(kilo(ROUNDS) * 1000.0);
    let name = format!("requests of {ROUNDS} that begin with the one before them");
    Ok(vec![figure(&name, "requests", both, budget)])
}

fn budget_of(bytes: usize) -> Budget {
    if bytes == 0 { Budget::Times(1.5) } else { Budget::None }
}

/// One answer of 250,000 deltas.
pub(super) fn stream(place: &Place, runs: usize, chunks: Chunks) -> Result<Vec<Figure>> {
    let server = Server::start(vec![deltas(DELTAS, chunks)], Order::Counted)?;
    let commands = [
        place.sink(server.url(), &["discard"]),
        place.sink(server.url(), &["library"]),
        place.exec(server.url()),
    ];
    let mut used: [Values; 3] = std::array::from_fn(|_| Values::default());
    for _ in 0..runs {
        for (values, command) in used.iter_mut().zip(&commands) {
            values.push(run_timed(command, &place.note())?.processor.as_secs_f64());
            server.take();
        }
    }
    let [discarded, library, exec] = used;
    let how = match chunks {
        Chunks::PerEvent => "an HTTP chunk each",
        Chunks::Large => "in HTTP chunks of 16 KiB",
    };
    let of = |who: &str| format!("{DELTAS} deltas, {how}: processor of {who}");
    Ok(vec![
        figure(&of("the library"), "s", [discarded.clone(), library], Budget::Times(2.0)),
        figure(&of("exec --json"), "s", [discarded, exec], Budget::Times(2.5)),
    ])
}

/// Twenty calls of one reply that wait 200 ms each.
pub(super) fn parallel(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let calls = |tool: &'static str, input: serde_json::Value| {
        let calls: Vec<Call> = (0..CALLS).map(|_| Call { tool, input: input.clone() }).collect();
        Server::start(vec![answer(0, &calls), answer(1, &[])], Order::Counted)
    };
    let seconds = Duration::from_millis(WAIT_MILLIS).as_secs_f64();
    let commands = calls("Bash", json!({"command": format!("sleep {seconds}")}))?;
    let inside = calls("Wait", json!({"millis": WAIT_MILLIS}))?;
    let mut values: [Values; 3] = std::array::from_fn(|_| Values::default());
    let measured = [
        (&commands, place.bare(commands.url())),
        (&commands, place.exec(commands.url())),
        (&inside, place.sink(inside.url(), &["library"])),
    ];
    for _ in 0..runs {
        for (values, (server, command)) in values.iter_mut().zip(&measured) {
            run(&mut again(command))?;
            let gaps = gaps(&server.take());
            values.push(*gaps.first().context("no second request came")?);
        }
    }
    let [bare, exec, library] = values;
    let none = Values::default();
    Ok(vec![
        figure("20 times `sleep 0.2`", "ms", [bare, exec], Budget::AtMost(240.0)),
        figure("20 calls in the process of 200 ms", "ms", [none, library], Budget::AtMost(206.0)),
    ])
}

/// A thousand sessions of twenty rounds in one process, and as many runs of the toolkit.
pub(super) fn sessions(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let call = || Call { tool: "Wait", input: json!({"millis": 0}) };
    let answers = (0..SESSION_ROUNDS).map(|n| answer(n, &[call()]));
    let answers = answers.chain([answer(SESSION_ROUNDS, &[])]).collect();
    let server = Server::start(answers, Order::AsFarAs)?;
    let n = SESSIONS.to_string();
    let commands = [
        (
            place.bare_sessions(server.url(), &[], SESSIONS),
            place.bare_sessions(server.url(), &[], 1),
        ),
        (place.sink(server.url(), &["sessions", &n]), place.sink(server.url(), &["sessions", "1"])),
        (place.sink(server.url(), &["runs", &n]), place.sink(server.url(), &["runs", "1"])),
        (
            place.bare_sessions(server.url(), &[OVER_REQWEST], SESSIONS),
            place.bare_sessions(server.url(), &[OVER_REQWEST], 1),
        ),
    ];
    let mut processor: [Values; 4] = std::array::from_fn(|_| Values::default());
    let mut memory = processor.clone();
    for _ in 0..runs {
        for (i, (many, one)) in commands.iter().enumerate() {
            let [many, one] = [run_weighed(many, &place.note())?, run_weighed(one, &place.note())?];
            processor[i].push(many.processor.as_secs_f64());
            if let (Some(many), Some(one)) = (many.memory_kb, one.memory_kb) {
                memory[i].push((many - one) / kilo(SESSIONS) / 1000.0);
            }
        }
    }
    let mut figures = Vec::new();
    for (at, what) in [(1, "sessions"), (2, "runs of the toolkit")] {
        let of = format!("{SESSIONS} {what} of {SESSION_ROUNDS} rounds");
        let beside = |values: &[Values; 4]| [values[0].clone(), values[at].clone()];
        let over_reqwest = [processor[3].clone(), processor[at].clone()];
        let processor = beside(&processor);
        figures.push(figure(&format!("{of}: processor"), "s", processor, Budget::Times(1.5)));
        let name = format!("{of}: processor, beside the bare loop over reqwest");
        figures.push(figure(&name, "s", over_reqwest, Budget::None));
        let memory = beside(&memory);
        figures.push(figure(&format!("{of}: memory of each"), "kB", memory, Budget::AtMost(60.0)));
    }
    Ok(figures)
}

/// The program itself.
pub(super) fn program(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let commands = [place.bare_loop(), place.heeler()].map(|file| place.version(file));
    let mut walls = [Values::default(), Values::default()];
    for _ in 0..runs {
        for (values, command) in walls.iter_mut().zip(&commands) {
            values.push(millis(run(&mut again(command))?.wall));
        }
    }
    let mut sizes = [Values::default(), Values::default()];
    for (values, file) in sizes.iter_mut().zip([place.bare_loop(), place.heeler()]) {
        let length = usize::try_from(file.metadata()?.len())?;
        values.push(kilo(length) / 1000.0);
    }
    Ok(vec![
        figure("--version", "ms", walls, Budget::AtMost(3.0)),
        figure("binary", "MB", sizes, Budget::AtMost(16.0)),
    ])
}

fn figure(name: &str, unit: &'static str, both: [Values; 2], budget: Budget) -> Figure {
    let [reference, heeler] = both;
    Figure { name: name.to_owned(), unit, reference, heeler, budget }
}

/// From an answer's end to the next request, in milliseconds.
fn gaps(exchanges: &[Exchange]) -> Vec<f64> {
    exchanges.windows(2).map(|pair| millis(pair[1].came - pair[0].answered)).collect()
}

fn median(values: &[f64]) -> f64 {
    values.iter().copied().collect::<Values>().median()
}

fn kilo(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX)) / 1000.0
}
