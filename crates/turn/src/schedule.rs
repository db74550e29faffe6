//! Which calls of a response may start: as many as the limit lets, colliding ones in call order.

use std::collections::HashMap;

use heeler_core::{Access, Facts, Resource};

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
/// is not planned yet, and for every later one that runs already and shares one. Which files a command
/// touches nobody knows: it waits for calls that write one, they for it, and calls that read one for a
/// command that may change something and needs no permission any more. Commands run beside each other.
/// A call that waits for a permission holds up nothing else.
#[must_use]
pub fn startable(slots: &[Slot<'_>], at_once_max: usize) -> Vec<usize> {
    // What runs is in the way of a call wherever it stands: it may have begun while that waited.
    let mut in_the_way = InTheWay::default();
    let mut running = 0;
    for slot in slots {
        let Slot::Running(facts) = slot else { continue };
        in_the_way.add(facts);
        running += 1;
    }
    let mut start = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        // Each outcome asks anew, so calls behind the last that can start have to cost nothing.
        if running >= at_once_max {
            break;
        }
        match slot {
            Slot::Unknown => break,
            Slot::Waiting(facts) => in_the_way.add_waiting(facts),
            Slot::Ready(facts) => {
                if !in_the_way.holds_up(facts) && !waits_for_later(slots, at, facts) {
                    running += usize::from(!is_on(Bug::TooManyAtOnce));
                    start.push(at);
                }
                if is_on(Bug::DisturbedCall) {
                    in_the_way.touch(facts);
                } else {
                    in_the_way.add(facts);
                }
            }
            Slot::Running(_) | Slot::Done => {}
        }
    }
    start
}

/// The calls that one would have to wait for, all at once: compared with each of them, a batch of
/// many would cost their square.
#[derive(Default)]
struct InTheWay<'a> {
    is_any: bool,
    is_exclusive: bool,
    /// By key, whether one of them changes it.
    touched: HashMap<&'a str, bool>,
    files: FileUse,
}

/// What a call has to do with files, whichever they are.
#[derive(Default, Clone, Copy)]
struct FileUse {
    /// It runs a command.
    runs: bool,
    /// It runs one that is not known to change nothing.
    changes: bool,
    /// It is a tool that reads one.
    reads: bool,
    /// It is a tool that writes one.
    writes: bool,
}

impl FileUse {
    fn of(facts: &Facts) -> Self {
        let mut files = Self::default();
        for access in &facts.accesses {
            match access {
                Access::Command(_) => (files.runs, files.changes) = (true, true),
                Access::Shell(line) => {
                    files.runs = true;
                    files.changes |= !line.is_read_only;
                }
                Access::Read(_) => files.reads = true,
                Access::Write(_) => files.writes = true,
                Access::Host(_) | Access::Opaque(_) => {}
            }
        }
        files
    }

    fn add(&mut self, other: Self) {
        self.runs |= other.runs;
        self.changes |= other.changes;
        self.reads |= other.reads;
        self.writes |= other.writes;
    }

    /// Whether a call would find what these do, or take what they look for from under them. What only reads
    /// is done long before a command can change it.
    fn hold_up(self, call: Self) -> bool {
        call.runs && self.writes || call.writes && self.runs || call.reads && self.changes
    }
}

impl<'a> InTheWay<'a> {
    fn add(&mut self, facts: &'a Facts) {
        self.is_any = true;
        self.is_exclusive |= facts.exclusive;
        self.touch(facts);
    }

    /// One that waits for a permission: what only reads does not wait with it for somebody's answer.
    fn add_waiting(&mut self, facts: &'a Facts) {
        let changes = self.files.changes;
        self.add(facts);
        self.files.changes = changes;
    }

    fn touch(&mut self, facts: &'a Facts) {
        self.files.add(FileUse::of(facts));
        for resource in &facts.resources {
            *self.touched.entry(&resource.key).or_default() |= resource.write;
        }
    }

    fn holds_up(&self, facts: &Facts) -> bool {
        self.is_exclusive
            || (facts.exclusive && self.is_any)
            || self.files.hold_up(FileUse::of(facts))
            || facts.resources.iter().any(|resource| self.collides(resource))
    }

    /// Whether one of them touches this, too, and it or the call changes it.
    fn collides(&self, resource: &Resource) -> bool {
        let touched = self.touched.get(resource.key.as_str());
        touched.is_some_and(|writes| *writes || (resource.write && !is_on(Bug::Overlap)))
    }
}

/// With a bug on, whether a later call that may run is in the way of this one.
fn waits_for_later(slots: &[Slot<'_>], at: usize, facts: &Facts) -> bool {
    let mut later = InTheWay::default();
    if is_on(Bug::EndlessWait) {
        for slot in slots.iter().skip(at + 1) {
            let Slot::Ready(ready) = slot else { continue };
            later.touch(ready);
        }
    }
    later.holds_up(facts)
}

#[cfg(test)]
mod tests {
    use heeler_core::ShellLine;
    use proptest::prelude::*;

    use super::*;

    /// One word a call: state `?`, `w`aiting, `=` ready, `>` running, `.` done; then `!` for
    /// exclusive, `+key` for a write and `-key` for a read, and what it has to do with files: `$` a
    /// command, `~` one that changes nothing, `<` a tool that reads, `^` one that writes.
    fn check(script: &str, at_once_max: usize, expected: &[usize]) {
        let calls: Vec<(char, Facts)> = script
            .split_whitespace()
            .map(|word| {
                let mut facts = Facts::default();
                for part in word[1..].split_inclusive(|c: char| c.is_alphanumeric()) {
                    let (sign, key) = part.split_at(1);
                    facts.exclusive |= sign == "!";
                    facts.accesses.extend(file_access(sign));
                    if !key.is_empty() {
                        facts.resources.push(Resource { key: key.into(), write: sign == "+" });
                    }
                }
                (word.chars().next().unwrap(), facts)
            })
            .collect();
        assert_eq!(startable(&slots(&calls), at_once_max), expected, "{script}");
    }

    fn file_access(sign: &str) -> Option<Access> {
        let shell = |is_read_only| {
            Access::Shell(Box::new(ShellLine { is_read_only, ..ShellLine::default() }))
        };
        match sign {
            "$" => Some(shell(false)),
            "~" => Some(shell(true)),
            "<" => Some(Access::Read("/a".into())),
            "^" => Some(Access::Write("/a".into())),
            _ => None,
        }
    }

    fn slots(calls: &[(char, Facts)]) -> Vec<Slot<'_>> {
        let slots = calls.iter().map(|(state, facts)| match state {
            '?' => Slot::Unknown,
            'w' => Slot::Waiting(facts),
            '=' => Slot::Ready(facts),
            '>' => Slot::Running(facts),
            _ => Slot::Done,
        });
        slots.collect()
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

    #[test]
    fn commands_and_tools_for_files_run_in_call_order() {
        // What was written is there for the command, and what it did for the tool.
        check("=^ =$", 32, &[0]);
        check("=^ =~", 32, &[0]);
        check("=$ =^", 32, &[0]);
        check("=~ =^", 32, &[0]);
        check("=$ =<", 32, &[0]);
        check(".^ =$ =$ =<", 32, &[1, 2]);
        // What changes nothing for the other waits for nobody.
        check("=< =$", 32, &[0, 1]);
        check("=$ ><", 32, &[0]);
        check("=~ =<", 32, &[0, 1]);
        check("=< =~", 32, &[0, 1]);
        check("=$ =$ =~", 32, &[0, 1, 2]);
        check("=^+a =^+b =<", 32, &[0, 1, 2]);
        // One that waits for a permission is waited for, wherever the other stands.
        check("w$ =^ =$", 32, &[]);
        check("=^ >$", 32, &[]);
        check("w$ =< =^", 32, &[1]);
    }

    /// Whether a call would find what the other does to files, or take away what that looks for.
    fn is_disturbed(call: &Facts, other: &Facts, is_asked: bool) -> bool {
        match (&call.accesses[..], &other.accesses[..]) {
            ([Access::Shell(_)], [Access::Write(_)]) | ([Access::Write(_)], [Access::Shell(_)]) => {
                true
            }
            ([Access::Read(_)], [Access::Shell(line)]) => !line.is_read_only && !is_asked,
            _ => false,
        }
    }

    /// Calls of any state that touch up to two of three things, and how many may run at once.
    fn batches() -> impl Strategy<Value = (Vec<(char, Facts)>, usize)> {
        let resources = prop::collection::vec(("[abc]", any::<bool>()), 0..3);
        let state = prop::sample::select(&['?', 'w', '=', '=', '>', '.'][..]);
        let files = prop::sample::select(&["", "", "", "$", "~", "<", "^"][..]);
        let call = (state, prop::bool::weighted(0.1), resources, files);
        let call = call.prop_map(|(state, exclusive, resources, files)| {
            let resources = resources.into_iter().map(|(key, write)| Resource { key, write });
            let (resources, accesses) =
                (resources.collect(), file_access(files).into_iter().collect());
            (state, Facts { exclusive, resources, accesses, ..Facts::default() })
        });
        (prop::collection::vec(call, 0..8), 1_usize..5)
    }

    proptest! {
        #[test]
        fn a_call_starts_when_nothing_is_in_its_way_and_only_then(
            (calls, at_once_max) in batches(),
        ) {
            let started = startable(&slots(&calls), at_once_max);
            let running = calls.iter().filter(|(state, _)| *state == '>').count();
            let meet = |x: &Resource, y: &Resource| x.key == y.key && (x.write || y.write);
            for (at, (state, facts)) in calls.iter().enumerate() {
                let is_in_the_way = |(other, (state, there)): (usize, &(char, Facts))| {
                    let excludes = there.exclusive || facts.exclusive;
                    let meets = |x: &Resource| facts.resources.iter().any(|y| meet(x, y));
                    let disturbs = excludes
                        || there.resources.iter().any(meets)
                        || is_disturbed(facts, there, *state == 'w');
                    match state {
                        '?' => other < at,
                        '>' => disturbs,
                        'w' | '=' => other < at && disturbs,
                        _ => false,
                    }
                };
                let before = running + started.iter().filter(|other| **other < at).count();
                let is_due = *state == '='
                    && before < at_once_max
                    && !calls.iter().enumerate().any(is_in_the_way);
                prop_assert_eq!(started.contains(&at), is_due, "call {}", at);
            }
        }
    }
}
