//! Bugs that are switched on to see that simulation finds them; compiled out of what ships.
//!
//! Each stands at the place of the code it breaks, as `is_on(Bug::...)`. Without the feature
//! `seeded-bugs` that is the constant `false`.

heeler_turn::seeded_bugs! {
    /// The start of a call with side effects is written and not synced.
    UnsyncedStart = "unsynced-start",
    /// A call runs while its start is still being written.
    EarlyRun = "early-run",
    /// Watchers are told before the journal knows.
    EarlyEvent = "early-event",
    /// Whoever waits for a turn is told of its end before the journal knows.
    EarlyOutcome = "early-outcome",
    /// Steering that comes while an answer is streamed is acknowledged and forgotten.
    UnwrittenSteer = "unwritten-steer",
    /// An input that waited for the end of a cancelled turn is forgotten.
    LostInput = "lost-input",
    /// Watchers are not told that a turn was cancelled.
    SilentEnd = "silent-end",
    /// Events of one append come in the wrong order.
    BackwardEvents = "backward-events",
    /// A second decision about the same request counts, too.
    DecidedTwice = "decided-twice",
    /// What a cancelled effect came to is accepted.
    StaleOutcome = "stale-outcome",
    /// An answer that was cut is taken for a whole one.
    CutReply = "cut-reply",
    /// What an answer read from the cache costs nothing.
    UnpricedCache = "unpriced-cache",
    /// No input is held to the schema of its tool.
    UncheckedInput = "unchecked-input",
    /// A call that took too long is tried once more.
    RunAgain = "run-again",
    /// Nothing ends a call that takes too long.
    EndlessCall = "endless-call",
    /// A cancel waits for tools that do not listen.
    EndlessGrace = "endless-grace",
    /// The limit of calls at once is forgotten.
    WidenedConcurrency = "widened-concurrency",
    /// Tools go on after the session was closed.
    LeakedTask = "leaked-task",
    /// What work in the background gives before its call is written is forgotten.
    LostWork = "lost-work",
    /// Work in the background that is cancelled goes on, since nobody tells it.
    DeafWork = "deaf-work",
    /// Work in the background is not told that its session ends.
    UntoldEnd = "untold-end",
    /// What dead calls left is not cleared away.
    UnclearedCalls = "uncleared-calls",
    /// A session is closed before its journal is synced.
    UnsyncedClose = "unsynced-close",
    /// A call starts as it was judged, whatever it touches by then.
    StaleFacts = "stale-facts",
    /// What the store refused is given to it once more.
    RepeatedAppend = "repeated-append",
    /// A session that was halted begins what is said to it.
    RestlessHalt = "restless-halt",
    /// Nobody is heard while an answer is streamed.
    UnheardCommand = "unheard-command",
    /// What somebody allows for the session is put into the state beside its record.
    DoubledGrant = "doubled-grant",
    /// A summary that somebody asks for begins beside the one that is being made.
    DoubledSummary = "doubled-summary",
}
