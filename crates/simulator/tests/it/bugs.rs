//! Each bug seeded in the shipped code is found.

use expect_test::{Expect, expect};
use heeler_simulator::{Arm, Broken, Bug, Invariant, Totals, run, turn_on};

/// Every bug must show within so many seeds.
const SEEDS_MAX: u64 = 2000;

fn find(bug: Bug) -> Option<(u64, Broken)> {
    assert!(turn_on(Some(bug)), "the tests are built with seeded bugs");
    let mut totals = Totals::of(bug.arm());
    let broken =
        (0..SEEDS_MAX).find_map(|seed| run(seed, &mut totals).err().map(|broken| (seed, *broken)));
    turn_on(None);
    broken
}

/// All bugs of one kind are found, by these invariants: a check that no longer sees what it is there
/// for must not be covered up by another one that happens to.
fn check(arm: Arm, expected: Expect) {
    let found: Vec<String> = Bug::all()
        .filter(|bug| bug.arm() == arm)
        .map(|bug| match find(bug) {
            Some((_, broken)) => format!("{}: {:?}\n", bug.name(), broken.violation.invariant),
            None => panic!("{} is not found", bug.name()),
        })
        .collect();
    expected.assert_eq(&found.concat());
}

#[test]
fn every_bug_of_the_machine_is_found() {
    check(
        Arm::Machine,
        expect![[r#"
        lost-steering: SaidOnceInOrder
        repeated-steering: SaidOnceInOrder
        unheard-take-back: SaidOnceInOrder
        double-run: SideEffectOnce
        orphan-result: RequestIsValid
        missing-result: ResultsInCallOrder
        wrong-order: ResultsInCallOrder
        widened-policy: DeniedNeverRuns
        denied-runs: DeniedNeverRuns
        unjudged-edit: OnlyAllowedRuns
        undecided-leave: DeniedNeverRuns
        forgotten-judgement: ViewIsFold
        truncated-runs: InvalidNeverRuns
        broken-runs: InvalidNeverRuns
        dropped-terminal-event: OneTerminalEvent
        wrong-outcome: OneTerminalEvent
        token-overrun: TokenLimit
        uncounted-cache: TokenLimit
        cost-overrun: CostLimit
        round-overrun: RoundLimit
        call-overrun: CallLimit
        endless-calls: WallLimit
        endless-repeats: RepeatLimit
        uncounted-death: DeathsAreBounded
        paid-twice: PaidOnce
        unsynced-side-effect: SyncedFirst
        overlap: CollidingNeverOverlap
        too-many-at-once: AtOnceLimit
        forgotten-usage: UsageIsSum
        unanswered-cancel: RequestIsValid
        stale-epoch: PrefixIsStable
        silent-message: RequestIsHistory
        empty-block: SaidOnceInOrder
        repeated-id: RequestIsValid
        order-of-outcomes: OutcomesCommute
        forgetful-checkpoint: CheckpointIsFold
        calibrated-by-summary: CalibrationIsLearned
        forgotten-cache: CalibrationIsLearned
        endless-compaction: CompactionsAreBounded
        worthless-summary: CompactionGains
        oversized-request: FitsTheWindow
        endless-overflow: OverflowsAreBounded
        silent-loss: SaidOnceInOrder
        unended-work: WorkEndsOnce
        restless-work: SaidOnceInOrder
        unheard-input: TrimKeepsTheLast
        greedy-pruning: PruningSparesTheTail
        vain-pruning: PruningIsEnough
        needless-summary: PruningComesFirst
        inherited-grants: OnlyAllowedRuns
        forgetful-undo: UndoBringsBack
        bursting-undo: FitsTheWindow
        forgotten-words: SummaryKeepsWords
        unheard-change: DeniedNeverRuns
        repeated-attempt: AttemptsGrow
        unended-turn: CancelEndsEffects
        overtaken-summary: CompactionComesFirst
        moved-cut: CompactionKeepsTail
        endless-wait: Ends
        disturbed-call: ExclusiveRunsAlone
        unseen-limit: OutcomeIsTrue
        unchanged-epoch: PrefixIsStable
        late-warning: RepeatIsTold
        hidden-failure: ResultIsOutput
    "#]],
    );
}

#[test]
fn every_bug_of_the_engine_is_found() {
    check(
        Arm::Engine,
        expect![[r#"
        unsynced-start: SyncedFirst
        early-run: WrittenFirst
        early-event: WrittenFirst
        early-outcome: AnswersAreTrue
        unwritten-steer: AnswersAreTrue
        lost-input: AnswersAreTrue
        silent-end: EventsAreRecords
        backward-events: EventsAreRecords
        decided-twice: DecidedOnce
        stale-outcome: DecidedOnce
        cut-reply: ReplyIsAnswer
        unpriced-cache: CostIsProduct
        unchecked-input: InvalidNeverRuns
        run-again: SideEffectOnce
        endless-call: CallTimeLimit
        endless-grace: WallLimit
        widened-concurrency: AtOnceLimit
        leaked-task: NothingLeaks
        lost-work: WorkIsTold
        deaf-work: WorkIsTold
        untold-end: WorkIsTold
        uncleared-calls: DeadCallsAreClearedAway
        unsynced-close: SyncedFirst
        stale-facts: JudgedAsItIs
        repeated-append: BrokenStops
        unheard-command: CancelIsPrompt
        doubled-grant: FoldFromScratch
        doubled-summary: RecordsFit
    "#]],
    );
}

/// What only ever breaks behind another check could be blind, and nobody would notice.
#[test]
fn every_invariant_is_the_first_to_see_some_bug() {
    // The lines above, which the other tests hold to be true.
    let found: Vec<&str> = include_str!("bugs.rs")
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(_, by)| by)
        .collect();
    let is_blind = |invariant: &&Invariant| !found.contains(&format!("{invariant:?}").as_str());
    let blind: Vec<&Invariant> = Invariant::ALL.iter().filter(is_blind).collect();
    assert!(blind.is_empty(), "no bug is first seen by {blind:?}");
}
