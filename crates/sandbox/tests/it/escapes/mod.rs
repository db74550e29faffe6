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
use outside::Outside;
use table::{Escape, How, Needs, TABLE};

pub(crate) use attempts::{ATTEMPT_MODE, VICTIM_MODE, attempt, be_victim};

/// How many kinds there are at least.
const KINDS_MIN: usize = 60;
/// How often an unconfined attempt may fail: a race may be lost on a busy machine.
const TRIES_MAX: usize = 5;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = crate::cases![every_escape_is_held].to_vec();
    cases.extend_from_slice(bounds::CASES);
    cases.extend_from_slice(later::CASES);
    cases.extend_from_slice(survivors::CASES);
    cases
}

async fn every_escape_is_held() {
    let mut failures = Vec::new();
    for escape in TABLE {
        if escape.needs == Needs::Root && !require("root", rustix::process::geteuid().is_root()) {
            continue;
        }
        if let Err(failure) = check(escape).await {
            failures.push(format!("{}: {failure}", escape.name));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), TABLE.len(), failures.join("\n"));
    assert!(TABLE.len() >= KINDS_MIN, "{}", TABLE.len());
}

/// Tries one way out with confinement off and on.
async fn check(escape: &Escape) -> Result<(), String> {
    let mut n_tried = 0;
    loop {
        let (free, outside) = attempt_in(escape, Confined::No).await;
        n_tried += 1;
        match outside.is_reached(&escape.reaches, &free) {
            true => break,
            false if n_tried < TRIES_MAX => {}
            false => return Err(format!("proves nothing, it fails unconfined: {free:?}")),
        }
    }
    let (held, outside) = attempt_in(escape, Confined::Yes).await;
    if outside.is_reached(&escape.reaches, &held) {
        return Err(format!("got out: {held:?}"));
    }
    let bound = held.bound.as_ref().map(ToString::to_string).unwrap_or_default();
    match held.output.contains(escape.held_by) || bound.contains(escape.held_by) {
        true => Ok(()),
        false => Err(format!("does not say `{}`: {held:?}", escape.held_by)),
    }
}

#[derive(PartialEq)]
enum Confined {
    No,
    Yes,
}

async fn attempt_in(escape: &Escape, confined: Confined) -> (Ended, Outside) {
    let place = Place::new();
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
