//! Which calls of a response may start: as many as the limit lets, colliding ones in call order.

use heeler_core::{Facts, Resource};

use crate::bugs::{Bug, is_on};

/// How far a call is, as far as the schedule cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot<'a> {
    /// Its facts are not known yet.
    Unknown,
    /// It waits for somebody's permission.
    Waiting(&'a Facts),
    /// It may run.
    Ready(&'a Facts),
    /// It runs.
    Running(&'a Facts),
    /// It has its result.
    Done,
}

/// The positions of ready calls that may start now, in call order.
///
/// A call waits for every earlier unfinished call that shares a resource with it, is exclusive, or
/// is not planned yet, and for every later one that runs already and shares one. A call that waits
/// for a permission holds up nothing else.
#[must_use]
pub fn startable(slots: &[Slot<'_>], at_once_max: usize) -> Vec<usize> {
    let mut running = slots.iter().filter(|slot| matches!(slot, Slot::Running(_))).count();
    let exclusive_runs =
        slots.iter().any(|slot| matches!(slot, Slot::Running(facts) if facts.exclusive));
    let mut start = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        let Slot::Ready(facts) = slot else { continue };
        let held_up = slots.iter().take(at).any(|earlier| holds_up(earlier, facts))
            || slots.iter().skip(at + 1).any(|later| runs_in_the_way(later, facts));
        let alone = !facts.exclusive || running == 0;
        if held_up || exclusive_runs || !alone || running >= at_once_max {
            continue;
        }
        running += usize::from(!is_on(Bug::TooManyAtOnce));
        start.push(at);
    }
    start
}

fn holds_up(earlier: &Slot<'_>, later: &Facts) -> bool {
    match earlier {
        Slot::Done => false,
        Slot::Unknown => true,
        Slot::Ready(facts) if is_on(Bug::DisturbedCall) => {
            collide(&facts.resources, &later.resources)
        }
        Slot::Waiting(facts) | Slot::Ready(facts) | Slot::Running(facts) => {
            facts.exclusive || later.exclusive || collide(&facts.resources, &later.resources)
        }
    }
}

/// Whether a call that began earlier, though it stands later, is in the way of this one.
fn runs_in_the_way(later: &Slot<'_>, facts: &Facts) -> bool {
    let waits_for = |other: &Facts| collide(&other.resources, &facts.resources);
    match later {
        Slot::Running(running) => waits_for(running),
        Slot::Ready(ready) => is_on(Bug::EndlessWait) && waits_for(ready),
        Slot::Unknown | Slot::Waiting(_) | Slot::Done => false,
    }
}

/// Whether two calls touch one resource and at least one of them changes it.
#[must_use]
pub fn collide(a: &[Resource], b: &[Resource]) -> bool {
    let meet = |x: &Resource, y: &Resource| x.write || (y.write && !is_on(Bug::Overlap));
    a.iter().any(|x| b.iter().any(|y| x.key == y.key && meet(x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One word a call: state `?`, `w`aiting, `=` ready, `>` running, `.` done; then `!` for
    /// exclusive, `+key` for a write and `-key` for a read.
    fn check(script: &str, at_once_max: usize, expected: &[usize]) {
        let calls: Vec<(char, Facts)> = script
            .split_whitespace()
            .map(|word| {
                let mut facts = Facts::default();
                for part in word[1..].split_inclusive(|c: char| c.is_alphanumeric()) {
                    let (sign, key) = part.split_at(1);
                    facts.exclusive |= sign == "!";
                    if !key.is_empty() {
                        facts.resources.push(Resource { key: key.into(), write: sign == "+" });
                    }
                }
                (word.chars().next().unwrap(), facts)
            })
            .collect();
        let slots: Vec<Slot<'_>> = calls
            .iter()
            .map(|(state, facts)| match state {
                '?' => Slot::Unknown,
                'w' => Slot::Waiting(facts),
                '=' => Slot::Ready(facts),
                '>' => Slot::Running(facts),
                _ => Slot::Done,
            })
            .collect();
        assert_eq!(startable(&slots, at_once_max), expected, "{script}");
    }

    #[test]
    fn independent_calls_start_together_up_to_the_limit() {
        check("= = =", 32, &[0, 1, 2]);
        check("= = =", 2, &[0, 1]);
        check("> > =", 2, &[]);
        check(". > =", 2, &[2]);
        check("? =", 32, &[]);
    }

    #[test]
    fn colliding_calls_run_in_call_order() {
        check("=+a =+a =+b", 32, &[0, 2]);
        check("=-a =-a", 32, &[0, 1]);
        check("=-a =+a =-a", 32, &[0]);
        check(".+a >+a =+a", 32, &[]);
        // One that waited may have been edited into the way of a later one that runs.
        check("=+a >+a", 32, &[]);
        check("=-a >+a =+b", 32, &[2]);
        check("=-a >-a", 32, &[0]);
    }

    #[test]
    fn a_prompt_holds_up_only_what_collides_with_it() {
        check("w+a =+b =+a", 32, &[1]);
    }

    #[test]
    fn an_exclusive_call_runs_alone() {
        check("= =! =", 32, &[0]);
        check(". =! =", 32, &[1]);
        check(". >! =", 32, &[]);
        check(">+a =! =", 32, &[]);
        check("=! =", 32, &[0]);
        check("w =! =", 32, &[]);
        // A later call may run already, when what stands before it waited for a permission.
        check("= >!", 32, &[]);
        check("=! >", 32, &[]);
        check("=! . =", 32, &[0]);
    }
}
