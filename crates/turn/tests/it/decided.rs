//! What might have been decided otherwise: a journal that says so does not come out when it is played again.

use heeler_core::{CompactionCause, Entry, EpochCause, EpochStarted, Record, TurnOutcome};
use heeler_turn::State;
use heeler_turn::replay::Replay;

/// Where a record was due, whatever else could stand in its place is noticed, by what is due and not only since
/// it does not fit. Says how much that is.
pub(crate) fn check(before: &State, entry: &Entry) -> usize {
    let follow = |entry: &Entry| Replay::after(before.clone()).follow(entry).err();
    if let Some(divergence) = follow(entry) {
        // Nothing but the machine brings such a record, and where it was not due it does not fit.
        let is_decided = matches!(entry.record, Record::Pruned(_) | Record::Trimmed(_));
        let mut after = before.clone();
        after.apply(entry);
        assert!(!is_decided || after.misfits > before.misfits, "{divergence}");
        return 0;
    }
    let others = others(&entry.record);
    let n_others = others.len();
    for record in others {
        let other = Entry { record, ..entry.clone() };
        let divergence = follow(&other).expect("another record comes, too");
        assert_eq!(divergence.seq, entry.seq);
        assert_ne!(divergence.difference.expected, "the record", "{other:?}");
    }
    n_others
}

/// Other records of what the machine decided, or of what somebody answered to it.
fn others(record: &Record) -> Vec<Record> {
    // Each changes one thing.
    fn each<T: Clone>(of: &T, record: impl Fn(T) -> Record, changes: &[fn(&mut T)]) -> Vec<Record> {
        let change = |change: &fn(&mut T)| {
            let mut other = of.clone();
            change(&mut other);
            record(other)
        };
        changes.iter().map(change).collect()
    }
    match record {
        Record::EpochStarted(epoch) => {
            let other = match epoch.cause {
                EpochCause::First => EpochCause::Compaction,
                _ => EpochCause::First,
            };
            vec![Record::EpochStarted(Box::new(EpochStarted { cause: other, ..(**epoch).clone() }))]
        }
        Record::ModelStarted(started) => each(
            started,
            Record::ModelStarted,
            &[
                |started| started.turn += 1,
                |started| started.round += 1,
                |started| started.attempt += 1,
                |started| started.reserve.output += 1,
            ],
        ),
        Record::ModelAccepted(accepted) => each(
            accepted,
            Record::ModelAccepted,
            &[|it| it.turn += 1, |it| it.round += 1, |it| it.attempt += 1],
        ),
        Record::ModelReplied(replied) => each(
            replied,
            Record::ModelReplied,
            &[|it| it.turn += 1, |it| it.round += 1, |it| it.attempt += 1],
        ),
        Record::ModelFailed(failed) => each(
            failed,
            Record::ModelFailed,
            &[|it| it.turn += 1, |it| it.round += 1, |it| it.attempt += 1],
        ),
        Record::CallPlanned(planned) => {
            each(planned, Record::CallPlanned, &[|planned| planned.call.index += 100])
        }
        Record::FactsChanged(changed) => {
            each(changed, Record::FactsChanged, &[|changed| changed.call.index += 100])
        }
        Record::CallStarted { call } => {
            each(call, |call| Record::CallStarted { call }, &[|call| call.index += 100])
        }
        Record::CallFinished { call, output, millis, inner_calls } => {
            let (millis, inner_calls) = (*millis, *inner_calls);
            let record =
                |call| Record::CallFinished { call, output: output.clone(), millis, inner_calls };
            each(call, record, &[|call| call.index += 100])
        }
        Record::PermissionAsked(asked) => {
            each(asked, Record::PermissionAsked, &[|asked| asked.id.call.index += 100])
        }
        Record::CompactionStarted(started) if started.cause != CompactionCause::Manual => each(
            started,
            Record::CompactionStarted,
            &[|started| started.cut += 1, |started| started.focus = Some("the tests".into())],
        ),
        Record::Trimmed(trimmed) => each(trimmed, Record::Trimmed, &[|trimmed| trimmed.cut += 1]),
        Record::Pruned(pruned) => each(
            pruned,
            Record::Pruned,
            &[|pruned| pruned.before += 1, |pruned| pruned.result_chars_max += 1],
        ),
        Record::TurnFinished { turn, outcome } => each(
            &(*turn, outcome.clone()),
            |(turn, outcome)| Record::TurnFinished { turn, outcome },
            &[
                |(turn, _)| *turn += 1,
                |(_, outcome)| *outcome = TurnOutcome::Failed { message: "never so".into() },
            ],
        ),
        _ => vec![],
    }
}
