//! Bugs that are switched on to see that simulation finds them; compiled out of what ships.
//!
//! Each stands at the place of the code it breaks, as `is_on(Bug::...)`. Without the feature
//! `seeded-bugs` that is the constant `false`.

/// Declares a crate's bugs with their names on the command line, and the switch; the feature
/// `seeded-bugs` is that of the crate that declares.
#[doc(hidden)]
#[macro_export]
macro_rules! seeded_bugs {
    ($($(#[$doc:meta])* $bug:ident = $name:literal,)*) => {
        /// A bug somebody could have written.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Bug { $($(#[$doc])* $bug,)* }

        impl Bug {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$bug,)*];

            /// The name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$bug => $name,)* }
            }
        }

        #[cfg(feature = "seeded-bugs")]
        thread_local! {
            static ON: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
        }

        /// Switches one bug on for this thread, or none. `false` when bugs are compiled out.
        #[cfg(feature = "seeded-bugs")]
        pub fn turn_on(bug: Option<Bug>) -> bool {
            ON.set(bug);
            true
        }

        /// Switches one bug on for this thread, or none. `false` when bugs are compiled out.
        #[cfg(not(feature = "seeded-bugs"))]
        pub fn turn_on(_: Option<Bug>) -> bool {
            false
        }

        /// Whether the code shall be wrong here.
        #[cfg(feature = "seeded-bugs")]
        pub(crate) fn is_on(bug: Bug) -> bool {
            ON.get() == Some(bug)
        }

        /// Whether the code shall be wrong here: never.
        #[cfg(not(feature = "seeded-bugs"))]
        pub(crate) const fn is_on(_: Bug) -> bool {
            false
        }
    };
}

crate::seeded_bugs! {
    /// Steering that a retried request should deliver is dropped.
    LostSteering = "lost-steering",
    /// Steering is delivered and stays in the queue.
    RepeatedSteering = "repeated-steering",
    /// What was taken back is delivered all the same.
    UnheardTakeBack = "unheard-take-back",
    /// A call with side effects runs again after a crash.
    DoubleRun = "double-run",
    /// A compaction parts a call from its result.
    OrphanResult = "orphan-result",
    /// The last result of a long batch is left out.
    MissingResult = "missing-result",
    /// Results stand in another order than the calls.
    WrongOrder = "wrong-order",
    /// A rule that allows a whole tool beats one that denies.
    WidenedPolicy = "widened-policy",
    /// A denial without a reason lets the call run.
    DeniedRuns = "denied-runs",
    /// What somebody made of an input runs without being looked up and judged.
    UnjudgedEdit = "unjudged-edit",
    /// A denial without a reason leaves plan mode.
    UndecidedLeave = "undecided-leave",
    /// A policy that became stricter is not asked about calls that wait to start.
    ForgottenJudgement = "forgotten-judgement",
    /// A call whose input was cut runs with what came.
    TruncatedRuns = "truncated-runs",
    /// A call whose input is no JSON runs with none, unless it is the last of its answer.
    BrokenRuns = "broken-runs",
    /// Watchers are not told of the end of a cancelled turn.
    DroppedTerminalEvent = "dropped-terminal-event",
    /// Every turn is told as done.
    WrongOutcome = "wrong-outcome",
    /// Tokens spent earlier in the turn are not counted.
    TokenOverrun = "token-overrun",
    /// What was read from the cache is in no turn's tokens.
    UncountedCache = "uncounted-cache",
    /// Money is reserved without the price of writing the cache.
    CostOverrun = "cost-overrun",
    /// One round too many.
    RoundOverrun = "round-overrun",
    /// One call too many.
    CallOverrun = "call-overrun",
    /// No wall time while calls run.
    EndlessCalls = "endless-calls",
    /// Exactly the same failing call may run for ever.
    EndlessRepeats = "endless-repeats",
    /// Processes that died in a model call are not counted.
    UncountedDeath = "uncounted-death",
    /// An answer that its provider keeps is forgotten with the process, and asked for again.
    PaidTwice = "paid-twice",
    /// A call with side effects starts before its record is synced.
    UnsyncedSideEffect = "unsynced-side-effect",
    /// A call writes what an earlier one still reads.
    Overlap = "overlap",
    /// The limit of calls at once counts only what ran before.
    TooManyAtOnce = "too-many-at-once",
    /// A failed attempt's tokens are not counted.
    ForgottenUsage = "forgotten-usage",
    /// Calls go on after an interrupt.
    UnansweredCancel = "unanswered-cancel",
    /// New parameters are sent within the old epoch.
    StaleEpoch = "stale-epoch",
    /// Watchers are not told of results.
    SilentMessage = "silent-message",
    /// White space becomes a block of a message.
    EmptyBlock = "empty-block",
    /// An id the model used before stands twice.
    RepeatedId = "repeated-id",
    /// Values depend on which call of a batch ended last.
    OrderOfOutcomes = "order-of-outcomes",
    /// A checkpoint forgets which rules were granted.
    ForgetfulCheckpoint = "forgetful-checkpoint",
    /// The summary's own call is taken for a sample of the estimate.
    CalibratedBySummary = "calibrated-by-summary",
    /// The estimate is not compared with what came from the cache.
    ForgottenCache = "forgotten-cache",
    /// A compaction that gave nothing is tried again and again.
    EndlessCompaction = "endless-compaction",
    /// A summary longer than what it stands for is taken.
    WorthlessSummary = "worthless-summary",
    /// What cannot be made to fit is sent as it is.
    OversizedRequest = "oversized-request",
    /// A request that the provider finds too long is cut back and sent for ever.
    EndlessOverflow = "endless-overflow",
    /// Nobody is told of work in the background that its process took along.
    SilentLoss = "silent-loss",
    /// Work in the background that has ended is held to go on.
    UnendedWork = "unended-work",
    /// What work in the background came to wakes the model, asked to or not.
    RestlessWork = "restless-work",
    /// What was said last is cut away with the rest.
    UnheardInput = "unheard-input",
    /// Results that are not old are cut short, too.
    GreedyPruning = "greedy-pruning",
    /// Old results are cut short though that is not enough.
    VainPruning = "vain-pruning",
    /// Old results stay whole, and a model is paid for a summary.
    NeedlessSummary = "needless-summary",
    /// What was allowed in a session is allowed in its fork.
    InheritedGrants = "inherited-grants",
    /// What was said since a summary goes when what it replaced comes back.
    ForgetfulUndo = "forgetful-undo",
    /// What a summary replaced comes back though it does not fit.
    BurstingUndo = "bursting-undo",
    /// Reasoning that was refused is left out of the last answer alone.
    LingeringReasoning = "lingering-reasoning",
    /// Reasoning that was refused comes back with what a summary replaced.
    ReturningReasoning = "returning-reasoning",
    /// A turn ends with reasoning that was refused, though it is left out.
    EndedByReasoning = "ended-by-reasoning",
    /// The user's last message stands beside the first summary, and not beside the next.
    ForgottenWords = "forgotten-words",
    /// A call that touches something else by the time it starts runs as it was judged before.
    UnheardChange = "unheard-change",
    /// A request is sent again under the number of the one that failed.
    RepeatedAttempt = "repeated-attempt",
    /// An interrupt answers the calls, and the turn goes on.
    UnendedTurn = "unended-turn",
    /// The model is asked while a summary is being made.
    OvertakenSummary = "overtaken-summary",
    /// Where to cut is decided anew when the summary has come.
    MovedCut = "moved-cut",
    /// Two calls that write the same wait for each other.
    EndlessWait = "endless-wait",
    /// What may start in the same moment as an exclusive call runs beside it.
    DisturbedCall = "disturbed-call",
    /// An answer that reached its limit is taken for a whole one.
    UnseenLimit = "unseen-limit",
    /// What stands behind a summary is sent as if it had stood behind what that replaced.
    UnchangedEpoch = "unchanged-epoch",
    /// The model is told of a repetition one failure too late.
    LateWarning = "late-warning",
    /// The model is told of a call that failed as of one that succeeded.
    HiddenFailure = "hidden-failure",
}
