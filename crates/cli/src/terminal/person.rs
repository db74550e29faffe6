//! The person at the window, whom tools can ask.

use std::sync::Arc;

use heeler_core::{BoxFuture, Person, Question};
use heeler_tui::host::Asking;
use tokio::sync::{mpsc, oneshot};

/// Hands questions to the window.
pub(super) struct WindowPerson {
    asks: mpsc::Sender<Asking>,
}

impl WindowPerson {
    pub(super) fn shared(asks: mpsc::Sender<Asking>) -> Arc<dyn Person> {
        Arc::new(Self { asks })
    }
}

impl Person for WindowPerson {
    fn answer(&self, question: Question) -> BoxFuture<Option<String>> {
        let asks = self.asks.clone();
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            asks.send(Asking { question, answer }).await.ok()?;
            answered.await.ok().flatten()
        })
    }
}
