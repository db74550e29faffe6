//! Records that do not fit where the session stands: each is counted, and the session goes on as
//! if it had not been there.

use heeler_core::{
    AcceptedAnswer, Block, CallId, CallPlan, CallPlanned, Compacted, CompactionCause,
    CompactionStarted, Decision, Entry, Input, Message, ModelAccepted, ModelFailed, ModelReplied,
    ModelStarted, PermissionAsked, PermissionDecided, PermissionId, PermissionReason,
    ProviderErrorKind, Pruned, Record, Reply, Reserve, SteeringQueued, StopReason, ToolOutput,
    Trimmed, TurnOutcome, Usage,
};
use heeler_turn::State;

use crate::door::Play;

const CALL: CallId = CallId { turn: 1, round: 1, index: 0 };

fn started(turn: u32, round: u32) -> Record {
    let reserve = Reserve::default();
    Record::ModelStarted(ModelStarted { turn, round, attempt: 1, epoch: 1, up_to: 0, reserve })
}

fn replied(turn: u32, round: u32, attempt: u32) -> Record {
    let reply = Reply {
        blocks: vec![Block::text("late")],
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        provider_id: None,
    };
    Record::ModelReplied(Box::new(ModelReplied { turn, round, attempt, reply, cost: None }))
}

fn failed(turn: u32, round: u32, attempt: u32) -> Record {
    Record::ModelFailed(Box::new(ModelFailed {
        turn,
        round,
        attempt,
        kind: ProviderErrorKind::Network,
        message: "late".into(),
        retry_at: None,
        usage: Usage::default(),
        cost: None,
    }))
}

fn accepted(turn: u32, round: u32, attempt: u32) -> Record {
    let answer = AcceptedAnswer { dialect: "d".into(), id: "late".into() };
    Record::ModelAccepted(Box::new(ModelAccepted { turn, round, attempt, answer }))
}

fn planned(call: CallId) -> Record {
    planned_after(call, 0)
}

/// The plan of a call about which so many answers were given before.
fn planned_after(call: CallId, answered_before: u32) -> Record {
    let plan = CallPlan::Invalid { error: "late".into() };
    Record::CallPlanned(Box::new(CallPlanned { call, answered_before, plan }))
}

fn finished(call: CallId) -> Record {
    let output = Box::new(ToolOutput::text("late"));
    Record::CallFinished { call, output, millis: 1, inner_calls: 0 }
}

fn asked(call: CallId) -> Record {
    let reason = PermissionReason::Repeated(3);
    Record::PermissionAsked(Box::new(PermissionAsked { id: PermissionId::first(call), reason }))
}

fn decided(call: CallId) -> Record {
    let (id, by) = (PermissionId::first(call), "late".into());
    Record::PermissionDecided(Box::new(PermissionDecided { id, decision: Decision::Once, by }))
}

fn compaction(cut: u64) -> Record {
    Record::CompactionStarted(CompactionStarted {
        cut,
        cause: CompactionCause::Manual,
        focus: None,
    })
}

fn compacted() -> Record {
    Record::Compacted(Box::new(Compacted {
        summary: "late".into(),
        usage: Usage::default(),
        cost: None,
        kept: None,
    }))
}

fn trimmed(cut: u64) -> Record {
    Record::Trimmed(Trimmed { cut, said_chars_max: 100, result_chars_max: 100, only_said: true })
}

fn pruned() -> Record {
    Record::Pruned(Pruned { before: 99, result_chars_max: 100 })
}

fn given() -> Record {
    Record::HistoryGiven { messages: vec![Message::user("late")] }
}

/// What no work in the background came to.
fn landed(call: CallId) -> Record {
    Record::SteeringQueued(Box::new(SteeringQueued::of_background(call, Input::text("late"))))
}

fn ended(turn: u32) -> Record {
    Record::TurnFinished { turn, outcome: TurnOutcome::Done }
}

/// What of a session decides how it goes on.
fn standing(state: &State) -> String {
    let wire: Vec<_> = state.history.messages().iter().collect();
    format!("{:?} {:?} {:?} {wire:?}", state.turn, state.compaction, state.pending())
}

/// After a script, each record alone is counted and changes nothing.
#[track_caller]
fn check(script: &str, records: Vec<Record>) {
    let play = Play::of(script);
    for record in records {
        let mut state = play.state.clone();
        state.apply(&Entry { seq: state.seq + 1, at: state.now, record: record.clone() });
        state.apply(&Entry { seq: state.seq + 1, at: state.now, record: record.clone() });
        assert_eq!(state.misfits, 2, "{script}: {record:?}");
        assert_eq!(standing(&state), standing(&play.state), "{script}: {record:?}");
    }
}

/// Records about calls of which there is none, and about compactions that did not begin.
fn about_nothing() -> Vec<Record> {
    let other = CallId { index: 7, ..CALL };
    vec![
        planned(other),
        Record::CallStarted { call: other },
        finished(other),
        asked(other),
        decided(other),
        compaction(0),
        compaction(99),
        compacted(),
        trimmed(0),
        trimmed(99),
        pruned(),
        Record::Restored,
        ended(7),
        landed(other),
        given(),
    ]
}

#[test]
fn while_a_model_answers_only_its_request_is_answered() {
    let mut records = about_nothing();
    records.extend([started(2, 1), started(1, 2)]);
    records.extend([replied(2, 1, 1), replied(1, 2, 1), replied(1, 1, 2)]);
    records.extend([failed(2, 1, 1), failed(1, 2, 1), failed(1, 1, 2)]);
    records.extend([accepted(2, 1, 1), accepted(1, 2, 1), accepted(1, 1, 2)]);
    check("user hi", records);
}

#[test]
fn before_a_request_is_sent_it_has_no_answer() {
    check("user hi\nlost network 100", vec![replied(1, 1, 2), failed(1, 1, 2), accepted(1, 1, 2)]);
}

#[test]
fn while_calls_run_no_request_is_out() {
    let mut records = about_nothing();
    records.extend([started(1, 1), replied(1, 1, 1), failed(1, 1, 1), accepted(1, 1, 1)]);
    records.extend([planned(CALL), Record::CallStarted { call: CALL }, asked(CALL), decided(CALL)]);
    // Its call would be parted from its result.
    records.extend([compaction(2), trimmed(2)]);
    check("user hi\nreply call read a", records);
}

#[test]
fn a_call_that_waits_for_somebody_cannot_run() {
    let call = CALL;
    let records = vec![planned(call), Record::CallStarted { call }, asked(call), finished(call)];
    check("set mode=ask\nuser hi\nreply call bash a", records);
}

#[test]
fn a_call_is_planned_as_its_input_is_now() {
    check("user hi\nhold\nreply call read a", vec![planned_after(CALL, 1)]);
    let edited = "set mode=ask\nuser hi\nreply call bash a\nhold\nedit 0 b";
    check(edited, vec![planned(CALL), planned_after(CALL, 2)]);
}

#[test]
fn somebody_is_asked_what_is_to_be_asked() {
    let (calls, more) = (Vec::new(), 0);
    let leaves = PermissionReason::LeavePlan { calls, more };
    let later = PermissionId { answered_before: 1, ..PermissionId::first(CALL) };
    let asked = |id, reason| Record::PermissionAsked(Box::new(PermissionAsked { id, reason }));
    check(
        "set mode=ask\nuser hi\nhold\nreply call bash a\nstep",
        vec![asked(later, PermissionReason::Repeated(3)), asked(PermissionId::first(CALL), leaves)],
    );
}

#[test]
fn a_call_has_one_result() {
    let call = CALL;
    check(
        "user hi\nreply call read a | call read b\ndone 0 text",
        vec![finished(call), Record::CallStarted { call }, decided(call), planned(call)],
    );
}

#[test]
fn between_turns_nothing_ends() {
    let mut records = about_nothing();
    records.extend([started(1, 1), replied(1, 1, 1), failed(1, 1, 1), finished(CALL), ended(1)]);
    check("user hi\nreply hello", records);
}

#[test]
fn one_compaction_at_a_time() {
    check(
        "user hi\nreply hello\nuser more\nreply well\nset keep=1\ncompact",
        vec![compaction(2), trimmed(2)],
    );
    // There are results to be cut short, and something to bring back.
    let bulky = "user hi\nreply call read a\nlong 0 5000\nreply hello\nuser more\nreply well";
    let replaced = "set keep=1\ncompact\nsummary said";
    check(&format!("{bulky}\nset keep=1\ncompact"), vec![pruned()]);
    check(&format!("{bulky}\n{replaced}\nuser again\nreply so\ncompact"), vec![Record::Restored]);
}

#[test]
fn what_was_said_elsewhere_stands_before_all_that_is_said_here() {
    let mut state = State::new();
    for (seq, record) in (1..).zip([given(), given()]) {
        state.apply(&Entry { seq, at: state.now, record });
    }
    assert_eq!((state.history.len(), state.misfits), (1, 1));
    // A turn in which nobody said anything was one all the same.
    let mut state = State::new();
    let nothing = Record::Input(Box::new(Input { blocks: Vec::new(), origin: Default::default() }));
    for (seq, record) in (1..).zip([nothing, given()]) {
        state.apply(&Entry { seq, at: state.now, record });
    }
    assert_eq!((state.turns, state.history.len(), state.misfits), (1, 0, 1));
}

#[test]
fn a_record_comes_once_and_one_that_is_missing_is_noticed() {
    let play = Play::of("user hi");
    let (seq, at, record) = (play.state.seq, play.state.now, Record::TimePassed);
    for (seq, misfits, then) in
        [(seq, 1, seq), (1, 1, seq), (seq + 1, 0, seq + 1), (seq + 2, 1, seq + 2)]
    {
        let mut state = play.state.clone();
        state.apply(&Entry { seq, at, record: record.clone() });
        assert_eq!((state.misfits, state.seq), (misfits, then), "{seq}");
    }
}

#[test]
fn the_number_of_a_turn_whose_beginning_is_missing_is_not_used_again() {
    for (number, turns) in [(3, 3), (1_000_000, 1)] {
        let mut state = Play::of("user hi\nreply hello").state;
        state.apply(&Entry { seq: state.seq + 1, at: state.now, record: started(number, 1) });
        assert_eq!((state.turns, state.misfits), (turns, 1));
    }
}

#[test]
fn what_was_granted_in_a_damaged_journal_is_not_and_a_loss_is_of_the_turn_it_lies_in() {
    let play = Play::of("user hi\ngrant write\nreply call read a");
    let seq = play.state.seq;
    assert_eq!(play.state.grants.len(), 1);
    for (lost_up_to, has_hole) in [(seq - 1, false), (seq, false), (seq + 1, true)] {
        let mut state = play.state.clone();
        state.distrust(lost_up_to);
        assert!(state.grants.is_empty());
        assert_eq!(state.turn.unwrap().has_hole, has_hole, "{lost_up_to} of {seq}");
    }
}
