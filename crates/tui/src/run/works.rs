//! What calls left running in the background, asked of the session.

use heeler_core::CallId;
use heeler_engine::Session;

use super::perform::told;
use super::{Done, Running};
use crate::app::Happened;

pub(super) async fn list(session: Session) -> Done {
    // A closed one runs nothing, and is told of otherwise.
    let works = session.background().await;
    works.map_or(Done::Nothing, |works| Done::happened(Happened::Background(works)))
}

/// Ends what this call left running; that it ended is told by the session.
pub(super) async fn stop(session: Session, call: CallId) -> Done {
    match session.cancel_background(call).await {
        Ok(true) => Done::Nothing,
        Ok(false) => told(Err("it has ended already".to_owned())),
        Err(error) => told(Err(error.to_string())),
    }
}

impl Running {
    /// What runs in the background and ends with this window, in words.
    pub(super) async fn ends_with_it(&self) -> Option<String> {
        if self.is_guest {
            return None;
        }
        let works = self.session.background().await.ok()?;
        self.app.ends_with_it(&works)
    }
}
