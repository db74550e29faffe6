//! `cargo xtask edit-eval`: real changes as calls of Edit and apply_patch, written as models write
//! them, and what became of them.
//!
//! Read in this order: `changes` (what really changed), `call` (a change as a call), `drift` (how a
//! model writes it wrongly), `play` (the tools themselves, on a file), `tally` (the figures).

mod call;
mod changes;
mod drift;
mod play;
mod tally;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::dice::Dice;
use call::{Call, Tool};
use changes::Change;
use drift::{Drift, Written};
use play::{Outcome, Player};
use tally::Tally;

/// Calls that are written for one source, when nobody says how many.
const CALLS: usize = 2_000;

const USAGE: &str = "\
usage: cargo xtask edit-eval [--calls N] [--seed S] [--show N] [PATH...]

PATH is a git repository, whose commits are taken, or one of two folders that follow each other:
an older and a newer version. Without any, this repository.
";

/// What the command line asks for.
struct Wish {
    calls: usize,
    seed: u64,
    /// Calls that did not come out right and are printed whole.
    show: usize,
    paths: Vec<PathBuf>,
}

/// Runs `edit-eval` with its arguments.
pub(crate) fn run_command(arguments: &[&str], root: &std::path::Path) -> Result<ExitCode> {
    let Some(mut wish) = parse(arguments)? else {
        print!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    };
    if wish.paths.is_empty() {
        wish.paths.push(root.to_owned());
    }
    let player = Player::new()?;
    let mut total = Tally::default();
    let mut n_shown = 0;
    for source in changes::sources(&wish.paths)? {
        let mut dice = Dice::new(wish.seed);
        let mut tally = Tally::default();
        for change in source.changes(wish.calls)? {
            for tool in [Tool::Edit, Tool::Patch] {
                for call in Call::all(&change, tool, &mut dice) {
                    if wish.calls <= tally.n_drifted() {
                        break;
                    }
                    let print = n_shown < wish.show;
                    n_shown += play(&player, &change, &call, &mut dice, &mut tally, print)?;
                }
            }
        }
        println!("{}: {}", source.name(), tally.line());
        total.add(&tally);
    }
    println!("\n{}", total.table());
    println!("{}", total.line());
    Ok(if total.meets_the_marks() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays a call as it should be, and with one drift. Gives how many did not come out right.
fn play(
    player: &Player,
    change: &Change,
    call: &Call,
    dice: &mut Dice,
    tally: &mut Tally,
    print: bool,
) -> Result<usize> {
    let mut drifts = vec![Written::faithful(call)];
    drifts.extend(Drift::least_seen(tally, call, change, dice));
    let mut n_odd = 0;
    for written in drifts {
        let (outcome, said) = player.play(change, call, &written)?;
        tally.count(written.drift, outcome);
        if outcome != Outcome::Right {
            n_odd += 1;
            if print {
                println!("{}", play::shown(change, &written, outcome, &said));
            }
        }
    }
    Ok(n_odd)
}

fn parse(arguments: &[&str]) -> Result<Option<Wish>> {
    let mut wish = Wish { calls: CALLS, seed: 1, show: 0, paths: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || -> Result<u64> {
            let value = rest.next().with_context(|| format!("{argument} needs a number"))?;
            value.parse().with_context(|| format!("{argument} {value} is no number"))
        };
        match *argument {
            "--calls" => wish.calls = usize::try_from(number()?)?,
            "--seed" => wish.seed = number()?,
            "--show" => wish.show = usize::try_from(number()?)?,
            "--help" => return Ok(None),
            flag if flag.starts_with("--") => bail!("unknown flag {flag}\n{USAGE}"),
            path => wish.paths.push(PathBuf::from(path)),
        }
    }
    Ok(Some(wish))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const BEFORE: &str =
        "fn one() {\n    first();\n}\n\nfn two() {\n    say(\"2\");\n    last();\n}\n";
    const AFTER: &str = "fn one() {\n    first();\n}\n\nfn two() {\n    say(\"two\");\n    more();\n    last();\n}\n";

    /// Plays every drift of a small change, and compares the last line and the exit.
    fn check(before: &str, after: &str, expect: Expect) {
        let player = Player::new().unwrap();
        let (mut dice, mut tally) = (Dice::new(1), Tally::default());
        let (before, after) = (before.to_owned(), after.to_owned());
        let change = Change { name: "a".to_owned(), before, after };
        for tool in [Tool::Edit, Tool::Patch].repeat(20) {
            for call in Call::all(&change, tool, &mut dice) {
                play(&player, &change, &call, &mut dice, &mut tally, false).unwrap();
            }
        }
        expect.assert_eq(&format!("{}\n{}", tally.line(), tally.meets_the_marks()));
    }

    #[test]
    fn a_change_is_played_and_counted() {
        check(
            BEFORE,
            AFTER,
            expect![[r#"
            calls 40, right 100.00 %, refused 0, wrong 0 (undrifted 100.00 % of 40)
            true"#]],
        );
        check(
            BEFORE,
            BEFORE,
            expect![[r#"
            calls 0, right 100.00 %, refused 0, wrong 0 (undrifted 100.00 % of 0)
            true"#]],
        );
    }

    #[test]
    fn a_wrong_outcome_fails() {
        let player = Player::new().unwrap();
        let mut dice = Dice::new(1);
        let change =
            Change { name: "a".to_owned(), before: BEFORE.to_owned(), after: AFTER.to_owned() };
        let mut calls = Call::all(&change, Tool::Edit, &mut dice);
        calls[0].expected.push('x');
        let (outcome, _) = player.play(&change, &calls[0], &Written::faithful(&calls[0])).unwrap();
        assert_eq!(outcome, Outcome::Wrong);
        let mut tally = Tally::default();
        tally.count(Drift::None, outcome);
        assert!(!tally.meets_the_marks());
        for (n_refused, meets) in [(5, true), (6, false)] {
            let mut tally = Tally::default();
            (0..95).for_each(|_| tally.count(Drift::Tabs, Outcome::Right));
            (0..n_refused).for_each(|_| tally.count(Drift::Tabs, Outcome::Refused));
            assert_eq!(tally.meets_the_marks(), meets);
        }
        // What is wrong is not made up for by what is right.
        let mut tally = Tally::default();
        (0..1_000).for_each(|_| tally.count(Drift::Tabs, Outcome::Right));
        tally.count(Drift::Tabs, Outcome::Wrong);
        assert!(!tally.meets_the_marks());
    }

    #[test]
    fn the_same_seed_writes_the_same_calls() {
        let change =
            Change { name: "a".to_owned(), before: BEFORE.to_owned(), after: AFTER.to_owned() };
        let written = || {
            let mut dice = Dice::new(7);
            let call = Call::all(&change, Tool::Edit, &mut dice).remove(0);
            let written = Drift::least_seen(&Tally::default(), &call, &change, &mut dice).unwrap();
            play::shown(&change, &written, Outcome::Right, "")
        };
        assert_eq!(written(), written());
    }
}
