//! A session whose end is told to the model: it is the work of the call that started it.

use std::sync::Arc;

use heeler_core::{BoxFuture, Completion, ToolOutput};

use super::answer::{ExecAnswer, ExecStatus};
use super::session::{END_MILLIS, Session, Shared};

/// How much of what a command wrote last is told with its end.
pub const EXEC_TAIL_BYTES_MAX: usize = 4 * 1024;

/// Follows a session to its end, and tells it. When nobody wants to hear that any more, the session
/// is killed. It does not keep the session: that lives as long as its tool.
pub(super) fn tell_end(session: &Arc<Session>, completion: Completion) {
    let (id, shared) = (session.id.clone(), Arc::clone(&session.shared));
    let session = Arc::downgrade(session);
    let mut changes = shared.changes.subscribe();
    let following: BoxFuture<()> = Box::pin(async move {
        let unwanted = completion.cancelled().clone();
        let mut is_wanted = true;
        while shared.state().status == ExecStatus::Running {
            tokio::select! {
                _ = changes.changed() => {}
                () = unwanted.cancelled(), if is_wanted => {
                    is_wanted = false;
                    if let Some(session) = session.upgrade() {
                        session.kill(END_MILLIS);
                    }
                }
            }
        }
        completion.finish(end(id, &shared));
    });
    tokio::spawn(following);
}

/// How a session ended, and the last of what nobody has read; all of that stays to be read.
fn end(id: String, shared: &Shared) -> ToolOutput {
    let state = shared.state();
    let (last, n_before) = state.capture.last(EXEC_TAIL_BYTES_MAX);
    let output = match n_before {
        0 => last,
        _ => format!(
            "[... {n_before} bytes before this; read gives its beginning and end ...]\n{last}"
        ),
    };
    let (status, exit_code, error) = (Some(state.status), state.exit_code, state.error.clone());
    let answer = ExecAnswer {
        session_id: Some(id),
        status,
        exit_code,
        error,
        output,
        ..ExecAnswer::default()
    };
    let is_failed = exit_code != Some(0);
    let output = answer.into_output();
    ToolOutput { is_error: output.is_error || is_failed, ..output }
}
