//! Ways out of a box, each tried for real: first unconfined, where it must succeed, or it would
//! prove nothing; then in a box, where it must fail and say why.

mod attempts;
mod bounds;
mod later;
mod outside;
mod survivors;
mod table;

use heeler_sandbox::{Confinement, Network};

use crate::harness::Case;
use crate::place::{Ended, Place, require};
use outside::{Outside, Reaches};
use table::{Escape, How, Needs, TABLE};

pub(crate) use attempts::{ATTEMPT_MODE, VICTIM_MODE, attempt, be_victim};

/// How many kinds there are at least.
const KINDS_MIN: usize = 60;
/// Versions of Landlock before it kept signals in: the oldest that a box is made with, and the
/// newest. What the others add is in both or in neither.
const OLDER: [u32; 2] = [2, 5];
/// The first that keeps signals in.
const SCOPES: u32 = 6;
/// What is said of a process that has no number.
const UNNAMED: &[&str] = &["No such process", "Invalid argument"];
/// How often an unconfined attempt may fail: a race may be lost on a busy machine.
const TRIES_MAX: usize = 40;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases =
        crate::cases![every_escape_is_held, every_escape_is_held_on_older_kernels].to_vec();
    cases.extend_from_slice(bounds::CASES);
    cases.extend_from_slice(later::CASES);
    cases.extend_from_slice(survivors::CASES);
    cases
}

async fn every_escape_is_held() {
    hold_all(u32::MAX).await;
}

async fn every_escape_is_held_on_older_kernels() {
    for landlock in OLDER {
        hold_all(landlock).await;
    }
}

async fn hold_all(landlock: u32) {
    let mut failures = Vec::new();
    for escape in TABLE {
        if escape.needs == Needs::Root && !require("root", rustix::process::geteuid().is_root()) {
            continue;
        }
        if let Err(failure) = check(escape, landlock).await {
            failures.push(format!("{}: {failure}", escape.name));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), TABLE.len(), failures.join("\n"));
    assert!(TABLE.len() >= KINDS_MIN, "{}", TABLE.len());
}

/// Tries one way out with confinement off and on.
async fn check(escape: &Escape, landlock: u32) -> Result<(), String> {
    let mut n_tried = 0;
    loop {
        let (free, outside) = attempt_in(escape, landlock, Confined::No).await;
        n_tried += 1;
        match outside.is_reached(&escape.reaches, &free) {
            true => break,
            false if n_tried < TRIES_MAX => {}
            false => return Err(format!("proves nothing, it fails unconfined: {free:?}")),
        }
    }
    let (held, outside) = attempt_in(escape, landlock, Confined::Yes).await;
    if outside.is_reached(&escape.reaches, &held) {
        return Err(format!("got out: {held:?}"));
    }
    let bound = held.bound.as_ref().map(ToString::to_string).unwrap_or_default();
    // Where a namespace keeps signals in, nobody outside has a number that could be named.
    let is_unnamed = landlock < SCOPES && matches!(escape.reaches, Reaches::Victim);
    let held_by = if is_unnamed { UNNAMED } else { &[escape.held_by] };
    match held_by.iter().any(|word| held.output.contains(word) || bound.contains(word)) {
        true => Ok(()),
        false => Err(format!("does not say `{}`: {held:?}", escape.held_by)),
    }
}

#[derive(PartialEq)]
enum Confined {
    No,
    Yes,
}

async fn attempt_in(escape: &Escape, landlock: u32, confined: Confined) -> (Ended, Outside) {
    let place = Place::on(landlock);
    place.make_repository();
    let outside = Outside::new(place);
    let place = &outside.place;
    let mut command = match escape.how {
        How::Sh(script) => place.sh(script),
        How::Own => {
            let program = std::env::current_exe().unwrap();
            place.command(program.to_str().unwrap(), &[ATTEMPT_MODE, escape.name])
        }
    };
    command.env.extend(outside.env());
    if confined == Confined::Yes {
        let mut confines = place.confines();
        confines.network =
            if escape.needs == Needs::Network { Network::Full } else { Network::None };
        command = command.confinement(Confinement::Box(confines.into()));
    }
    let ended = place.finish(command).await;
    (ended, outside)
}
