//! How long a call waits for a session: for its end, for what it says, or no longer than it is wanted.

use heeler_core::ToolContext;

use super::answer::ExecAnswer;
use super::session::Session;

/// How long it is quiet before what came counts as all for now.
const QUIET_MILLIS: u64 = 100;
/// How long the command of a cancelled call may take to end by itself.
const CANCEL_END_MILLIS: u64 = 100;
/// How long such a call waits for that end: who cancelled it listens for a quarter of a second, and
/// what was said so far is worth more than how it ended.
const CANCEL_ANSWER_MILLIS: u64 = 200;

/// Waits for a command's end; whoever no longer wants it has it killed.
pub(super) async fn follow(session: &Session, context: &ToolContext) -> ExecAnswer {
    tokio::select! {
        () = end_of(session) => return session.answer(),
        () = context.cancel.cancelled() => session.kill(CANCEL_END_MILLIS),
    }
    let deadline = context.clock.now().plus(CANCEL_ANSWER_MILLIS);
    tokio::select! {
        () = end_of(session) => session.answer(),
        () = context.clock.sleep_until(deadline) => {
            let error = "cancelled: it is being killed, and its end was not waited for";
            ExecAnswer { error: Some(error.to_owned()), ..session.answer() }
        }
    }
}

/// Waits until a session has ended, at most so long, and while it is wanted.
pub(super) async fn until_end(session: &Session, context: &ToolContext, millis: u64) {
    let deadline = context.clock.now().plus(millis);
    tokio::select! {
        () = end_of(session) => {}
        () = context.clock.sleep_until(deadline) => {}
        () = context.cancel.cancelled() => {}
    }
}

/// Waits until a session has said something and is quiet, or has ended, at most so long.
pub(super) async fn until_quiet(session: &Session, context: &ToolContext, millis: u64) {
    let deadline = context.clock.now().plus(millis);
    let mut changes = session.changes();
    while session.is_running() {
        let quiet = context.clock.now().plus(QUIET_MILLIS).min(deadline);
        let until = if session.has_output() { quiet } else { deadline };
        tokio::select! {
            _ = changes.changed() => {}
            () = context.clock.sleep_until(until) => return,
            () = context.cancel.cancelled() => return,
        }
    }
}

async fn end_of(session: &Session) {
    let mut changes = session.changes();
    while session.is_running() {
        // The session sends it, and is there.
        let _ = changes.changed().await;
    }
}
