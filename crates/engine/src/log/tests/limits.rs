//! How much is kept for whom, and how often it is gone through.

use heeler_core::{AgentPath, Event, Message, View};

use super::event::Maker;
use super::*;

/// Publishes so many deltas of four bytes; one reader keeps up, one sleeps. What the sleeper saw.
fn stalled(deltas: usize) -> (Arc<EventLog>, Vec<Seen>) {
    let log = EventLog::new(View::default());
    let (_, mut fast) = log.subscribe();
    let (_, mut slow) = log.subscribe();
    let mut maker = Maker::default();
    for _ in 0..deltas {
        log.publish([maker.make("text 0 word")]);
        assert_eq!(events(&drain(&mut fast)).len(), 1);
    }
    let (kept, bytes) = log.lock().backlog.size();
    assert!(bytes < 2 * 4 * deltas + 64 * 1024, "{kept} events, {bytes} bytes");
    (log, drain(&mut slow))
}

#[test]
fn a_stalled_reader_keeps_little_more_than_the_text() {
    let (log, seen) = stalled(100_000);
    let seen = events(&seen);
    let lengths: Vec<usize> = seen.iter().map(|envelope| text_bytes(&envelope.event)).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 400_000, "{lengths:?}");
    // Joined up to the limit of one event, and the end of the log not yet.
    assert_eq!(lengths.iter().max(), Some(&(64 * 1024)), "{lengths:?}");
    assert!(lengths.len() < 2000, "{}", lengths.len());
    assert_eq!(log.lock().backlog.size(), (0, 0));
}

#[test]
fn who_is_too_far_behind_holds_nothing() {
    let log = EventLog::new(View::default());
    let (_, mut slow) = log.subscribe();
    let (_, mut fast) = log.subscribe();
    let mut maker = Maker::default();
    let text = "x".repeat(1024 * 1024);
    for _ in 0..7 {
        log.publish([maker.make(&format!("notice {text}"))]);
        assert_eq!(drain(&mut fast).len(), 1);
    }
    assert_eq!(log.lock().backlog.size().0, 7);
    for _ in 0..2 {
        log.publish([maker.make(&format!("notice {text}"))]);
        assert_eq!(events(&drain(&mut fast)).len(), 1);
    }
    assert_eq!(log.lock().backlog.size(), (0, 0));
    let seen = drain(&mut slow);
    assert!(matches!(&seen[..], [Seen::Resync(_)]), "{} seen", seen.len());
    log.publish([maker.make("notice again")]);
    assert_eq!(events(&drain(&mut slow)).len(), 1);
}

#[test]
fn messages_count_but_one_alone_sends_nobody_for_a_snapshot() {
    let said =
        |bytes: usize| Event::Message { message: Arc::new(Message::assistant("x".repeat(bytes))) };
    let log = EventLog::new(View::default());
    let (_, mut slow) = log.subscribe();
    let published =
        |event| log.publish([Envelope { seq: None, agent: AgentPath::default(), event }]);
    published(said(20 * 1024 * 1024));
    assert_eq!(events(&drain(&mut slow)).len(), 1);
    (0..100).for_each(|_| published(said(100 * 1024)));
    assert_eq!(log.lock().backlog.size(), (0, 0));
    assert!(matches!(&drain(&mut slow)[..], [Seen::Resync(_)]));
}

fn text_bytes(event: &Event) -> usize {
    match event {
        Event::TextDelta { text, .. } => text.len(),
        other => panic!("{other:?}"),
    }
}

/// Bounds in which one KiB is much.
const SMALL: Bounds =
    Bounds { merge_bytes_min: 1024, backlog_bytes_max: 16 * 1024, joined_bytes_max: 1024 };

/// Publishes so many events that cannot be merged, of 512 bytes each.
fn fill(log: &EventLog, events: usize) {
    let text = "x".repeat(512 - size_of::<Envelope>());
    (0..events).for_each(|_| log.publish([Maker::default().make(&format!("notice {text}"))]));
}

fn was_given_up(cursor: &mut Cursor) -> bool {
    matches!(cursor.try_next(), Some(Seen::Resync(_)))
}

#[test]
fn only_the_slowest_is_given_up() {
    let log = EventLog::with_bounds(View::default(), SMALL);
    let (_, mut slowest) = log.subscribe();
    fill(&log, 1);
    let (_, mut slow) = log.subscribe();
    fill(&log, 31);
    assert_eq!(log.lock().backlog.size(), (32, 16 * 1024));
    fill(&log, 1);
    assert!(was_given_up(&mut slowest));
    assert_eq!(events(&drain(&mut slow)).len(), 32, "it is behind by no more than the limit");
}

#[test]
fn a_log_that_merging_hardly_helps_is_full() {
    for (notices, is_given_up) in [(28, false), (31, true)] {
        let log = EventLog::with_bounds(View::default(), SMALL);
        let (_, mut slow) = log.subscribe();
        fill(&log, notices);
        let mut maker = Maker::default();
        let deltas = (16 * 1024 - notices * 512) / size_of::<Envelope>() + 1;
        (0..deltas).for_each(|_| log.publish([maker.make("text 0 a")]));
        assert_eq!(was_given_up(&mut slow), is_given_up, "{notices} notices");
    }
}

#[test]
fn a_pass_waits_until_the_log_has_grown_by_half_again() {
    let log = EventLog::with_bounds(View::default(), SMALL);
    let (_, _slow) = log.subscribe();
    let mut maker = Maker::default();
    // A pass comes with the first event beyond the bound, and sets the next one.
    let mut passes = Vec::new();
    for notices in 1..=20 {
        fill(&log, 1);
        let before = log.lock().backlog.merge_at_bytes();
        if passes.last() != Some(&before) {
            passes.push(before);
        }
        assert!(notices * 512 <= before, "{notices}");
    }
    assert_eq!(passes, [1024, 2304, 3840, 6144, 9984, 15_360]);
    // Little is added to much: it is left as it is.
    (0..8).for_each(|_| log.publish([maker.make("text 0 a")]));
    assert_eq!(log.lock().backlog.size().0, 28);
}
