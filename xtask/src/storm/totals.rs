//! What a storm did, in numbers.

use std::collections::BTreeMap;
use std::fmt;

use heeler_core::Record;

use super::journal::{Found, Place};

/// A full disk ended a process.
pub(super) const FULL_DISK: &str = "stopped by a full disk";
/// While a process was stopped, its session was still its own.
pub(super) const REFUSED: &str = "second openers refused while the owner was stopped";
/// A stopped process went on.
pub(super) const CONTINUED: &str = "stopped and continued";
/// A session's commands ran in the box.
pub(super) const BOXED: &str = "sessions with commands in the box";
/// A stream fell silent and stayed open.
pub(super) const STALLED: &str = "provider: stream silent";
const RATE_LIMIT: &str = "provider: rate limit";
const OVERLOADED: &str = "provider: overloaded";
const NETWORK: &str = "provider: connection broken";
const CUT: &str = "provider: stream cut";

/// Numbers of one session, or of all.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) sessions: u64,
    pub(super) disks: u64,
    pub(super) resumes: u64,
    pub(super) records: u64,
    pub(super) requests: u64,
    pub(super) torn: u64,
    /// Deaths by signal and place.
    deaths: BTreeMap<(&'static str, Place), u64>,
    /// Everything else that happened, by name.
    happened: BTreeMap<&'static str, u64>,
}

impl Totals {
    /// The numbers of a session that begins.
    pub(super) fn of_session(is_disk: bool) -> Self {
        Self { sessions: 1, disks: u64::from(is_disk), ..Self::default() }
    }

    /// A process was ended by this signal.
    pub(super) fn died(&mut self, signal: &'static str, place: Place) {
        *self.deaths.entry((signal, place)).or_default() += 1;
    }

    /// Something happened once more.
    pub(super) fn note(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    /// The processes that were ended.
    pub(super) fn kills(&self) -> u64 {
        self.deaths.values().sum()
    }

    /// What a whole storm meets for sure, and this one has not: what it does not meet, it does not test.
    pub(super) fn unmet(&self, disks: bool, boxes: bool) -> Vec<&'static str> {
        let died = |signal: &str| self.deaths.keys().any(|key| key.0 == signal);
        let died_in = |place| self.deaths.keys().any(|key| key.1 == place);
        let signals = ["SIGKILL", "SIGINT", "SIGTERM", "SIGSTOP+KILL"].into_iter();
        let places = [(Place::InStream, "death in a stream"), (Place::InCall, "death in a call")];
        let disk = disks.then_some(FULL_DISK);
        let happened =
            [REFUSED, CONTINUED, RATE_LIMIT, OVERLOADED, NETWORK, CUT, STALLED].into_iter();
        let happened = happened
            .chain(disk)
            .chain(boxes.then_some(BOXED))
            .filter(|what| !self.happened.contains_key(what));
        let signals = signals.filter(|signal| !died(signal));
        let places = places.into_iter().filter(|(place, _)| !died_in(*place));
        signals.chain(places.map(|(_, name)| name)).chain(happened).collect()
    }

    /// Counts a session's journal.
    pub(super) fn add_journal(&mut self, journal: &Found) {
        self.records += journal.entries.len() as u64;
        for entry in &journal.entries {
            if let Record::ModelFailed(failed) = &entry.record {
                *self.happened.entry(failure_name(failed.kind)).or_default() += 1;
            }
        }
    }

    /// Adds another's numbers.
    pub(super) fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.disks += other.disks;
        self.resumes += other.resumes;
        self.records += other.records;
        self.requests += other.requests;
        self.torn += other.torn;
        for (key, n) in other.deaths {
            *self.deaths.entry(key).or_default() += n;
        }
        for (key, n) in other.happened {
            *self.happened.entry(key).or_default() += n;
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = [Place::Starting, Place::InStream, Place::InCall, Place::Between];
        let header = ["starting", "in stream", "in call", "between", "all"];
        write!(f, "{:<10}", "kills")?;
        header.iter().try_for_each(|name| write!(f, "{name:>11}"))?;
        writeln!(f)?;
        let signals: std::collections::BTreeSet<_> = self.deaths.keys().map(|key| key.0).collect();
        for signal in signals {
            let n_at = |place| self.deaths.get(&(signal, place)).copied().unwrap_or_default();
            let counts = places.map(n_at);
            write!(f, "{signal:<10}")?;
            let all = counts.iter().chain([&counts.iter().sum()]).copied().collect::<Vec<u64>>();
            all.iter().try_for_each(|n| write!(f, "{n:>11}"))?;
            writeln!(f)?;
        }
        for (what, n) in &self.happened {
            writeln!(f, "{what}: {n}")?;
        }
        write!(
            f,
            "sessions {} ({} on a nearly full disk), kills {}, resumes {}, requests {}, \
             records {}, torn tails {}",
            self.sessions,
            self.disks,
            self.kills(),
            self.resumes,
            self.requests,
            self.records,
            self.torn
        )
    }
}

fn failure_name(kind: heeler_core::ProviderErrorKind) -> &'static str {
    use heeler_core::ProviderErrorKind::{Format, Network, Overloaded, RateLimit, Server};
    match kind {
        RateLimit => RATE_LIMIT,
        Overloaded => OVERLOADED,
        Network => NETWORK,
        Format => CUT,
        Server => "provider: failed",
        _ => "provider: other failures",
    }
}
