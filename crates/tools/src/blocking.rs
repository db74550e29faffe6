//! Runs a tool's file work beside the async runtime, and stops it when nobody wants it any more.

use std::sync::Arc;

use heeler_core::{BoxFuture, ToolContext, ToolError, ToolOutput};

/// How long a cancelled call may take to notice before it is abandoned. File work looks at its
/// token often, so only a file system that hangs gets here.
const CANCEL_GRACE_MILLIS: u64 = 1_000;

/// Runs `body` on a thread that may block. The context it is given is cancelled with the call and
/// also when the returned future is dropped.
pub(crate) fn blocking(
    context: ToolContext,
    body: impl FnOnce(&ToolContext) -> Result<ToolOutput, ToolError> + Send + 'static,
) -> BoxFuture<Result<ToolOutput, ToolError>> {
    // Boxed, so that all that surrounds it is in a program once.
    run(context, Box::new(body))
}

/// What is done on a thread that may block.
type Body = Box<dyn FnOnce(&ToolContext) -> Result<ToolOutput, ToolError> + Send>;

fn run(context: ToolContext, body: Body) -> BoxFuture<Result<ToolOutput, ToolError>> {
    Box::pin(async move {
        keep_going(&context)?;
        let (cancel, clock) = (context.cancel.clone(), Arc::clone(&context.clock));
        let inner = ToolContext { cancel: cancel.child_token(), ..context };
        let _stops_with_this_future = inner.cancel.clone().drop_guard();
        let mut work = tokio::task::spawn_blocking(move || {
            keep_going(&inner)?;
            body(&inner)
        });
        let abandoned = async {
            cancel.cancelled().await;
            clock.sleep_until(clock.now().plus(CANCEL_GRACE_MILLIS)).await;
        };
        tokio::select! {
            biased;
            done = &mut work => match done {
                Ok(result) => result,
                // The pipeline turns panics into error results, wherever they happened.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => Err(ToolError::Internal(Box::new(error))),
            },
            () = abandoned => Err(ToolError::for_model(
                "cancelled; the file system did not answer in time, so the work may still finish",
            )),
        }
    })
}

/// An error once the call is no longer wanted; loops ask this every turn.
pub(crate) fn keep_going(context: &ToolContext) -> Result<(), ToolError> {
    if context.cancel.is_cancelled() {
        return Err(ToolError::for_model("cancelled before it finished"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::testing::Folder;

    #[tokio::test]
    async fn dropping_the_future_stops_the_work() {
        let folder = Folder::new(&[]);
        let (started, has_started) = mpsc::channel();
        let (stopped, has_stopped) = mpsc::channel();
        let call = tokio::spawn(blocking(folder.context(), move |context| {
            started.send(()).unwrap();
            while keep_going(context).is_ok() {
                std::thread::yield_now();
            }
            stopped.send(()).unwrap();
            keep_going(context).map(|()| ToolOutput::text("never"))
        }));
        tokio::task::spawn_blocking(move || has_started.recv()).await.unwrap().unwrap();
        call.abort();
        tokio::task::spawn_blocking(move || has_stopped.recv()).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_call_that_ignores_cancellation_is_abandoned() {
        let folder = Folder::new(&[]);
        let context = folder.context();
        let cancel = context.cancel.clone();
        let (release, released) = mpsc::channel::<()>();
        let (started, has_started) = mpsc::channel();
        let call = tokio::spawn(blocking(context, move |_| {
            started.send(()).unwrap();
            let _ = released.recv();
            Ok(ToolOutput::text("never seen"))
        }));
        tokio::task::spawn_blocking(move || has_started.recv()).await.unwrap().unwrap();
        cancel.cancel();
        let error = call.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("may still finish"), "{error}");
        drop(release);
    }

    #[tokio::test]
    async fn a_cancelled_call_never_starts() {
        let context = Folder::new(&[]).context();
        context.cancel.cancel();
        let error = blocking(context, |_| panic!("it ran")).await.unwrap_err();
        assert_eq!(error.to_string(), "cancelled before it finished");
    }
}
