//! Calls that a call plays: of other tools, that only look.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{BoxFuture, RawJson, ToolOutput};

/// A call of another tool, within a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerCall {
    /// The other tool's name.
    pub name: String,
    /// The input, not yet held to that tool's schema.
    pub input: RawJson,
}

/// Plays the calls that a call names in [`Tool::inner_calls`](crate::Tool::inner_calls). Each goes the
/// way of a model's own call, by the rules for its own tool, as far as that takes nobody else: what
/// somebody would have to be asked about is not run and answers so. Clones are the same.
#[derive(Clone)]
pub struct InnerCalls(Option<Arc<Player>>);

struct Player {
    play: Box<Play>,
    played: AtomicU32,
}

type Play = dyn Fn(InnerCall) -> BoxFuture<ToolOutput> + Send + Sync;

impl InnerCalls {
    /// Calls as `play` plays them. A call that fails is an output, too.
    pub fn new(play: impl Fn(InnerCall) -> BoxFuture<ToolOutput> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Player { play: Box::new(play), played: AtomicU32::new(0) })))
    }

    /// Nobody plays calls here, and each answers so.
    #[must_use]
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// How many calls were begun or refused here until now.
    #[must_use]
    pub fn played(&self) -> u32 {
        self.0.as_ref().map_or(0, |player| player.played.load(Ordering::Relaxed))
    }

    /// Plays one call to its end. Dropping the future stops it.
    pub fn play(&self, call: InnerCall) -> BoxFuture<ToolOutput> {
        match &self.0 {
            Some(player) => {
                player.played.fetch_add(1, Ordering::Relaxed);
                (player.play)(call)
            }
            None => {
                let text = format!("{} cannot be called from within a call here", call.name);
                Box::pin(std::future::ready(ToolOutput::error(text)))
            }
        }
    }
}

impl fmt::Debug for InnerCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InnerCalls")
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn calls_are_counted_for_all_who_share_them_and_where_nobody_plays_there_are_none() {
        let says = |calls: &InnerCalls| {
            let call = InnerCall { name: "Read".into(), input: RawJson::empty_object() };
            calls.play(call).now_or_never().unwrap().text_content()
        };
        let calls = InnerCalls::new(|call| {
            Box::pin(std::future::ready(ToolOutput::text(format!("played {}", call.name))))
        });
        assert_eq!((says(&calls), calls.played()), ("played Read".to_owned(), 1));
        let other = calls.clone();
        assert_eq!((says(&other), says(&calls)), ("played Read".into(), "played Read".into()));
        assert_eq!((calls.played(), other.played()), (3, 3));
        let nowhere = InnerCalls::nowhere();
        assert_eq!(says(&nowhere), "Read cannot be called from within a call here");
        assert_eq!(nowhere.played(), 0);
    }
}
