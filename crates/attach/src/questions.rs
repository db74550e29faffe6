//! Questions of tools, which whoever is there first answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{BoxFuture, Person, Question};
use tokio::sync::{oneshot, watch};

/// The open questions of a session, for all who may answer them; cheap to clone.
#[derive(Clone, Default)]
pub struct Questions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    open: Mutex<Open>,
    /// Tells that there are others.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Open {
    number: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    question: Question,
    answer: oneshot::Sender<Option<String>>,
}

impl Questions {
    /// The person whom tools ask: who is at hand, if anybody is, and whoever comes in by the door.
    /// With nobody at hand a question waits until somebody does.
    #[must_use]
    pub fn person(&self, at_hand: Option<Arc<dyn Person>>) -> Arc<dyn Person> {
        Arc::new(Anybody { questions: self.clone(), at_hand })
    }

    /// Resolves its futures whenever there are other questions.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Those that wait, by their numbers.
    pub(crate) fn open(&self) -> Vec<(u64, Question)> {
        let open = self.lock();
        open.waiting.iter().map(|(number, one)| (*number, one.question.clone())).collect()
    }

    /// Answers a question. `false` when somebody else did.
    pub(crate) fn answer(&self, number: u64, answer: Option<String>) -> bool {
        let waiting = self.lock().waiting.remove(&number);
        self.0.changed.send_replace(());
        waiting.is_some_and(|one| one.answer.send(answer).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Each change is one step, so what a panic left is whole.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Anybody {
    questions: Questions,
    at_hand: Option<Arc<dyn Person>>,
}

impl Person for Anybody {
    fn answer(&self, question: Question) -> BoxFuture<Option<String>> {
        let at_hand = self.at_hand.as_ref().map(|person| person.answer(question.clone()));
        let questions = self.questions.clone();
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let asked = Asking::begin(questions, Waiting { question, answer });
            let elsewhere = async {
                match answered.await {
                    Ok(answer) => answer,
                    Err(_) => std::future::pending().await,
                }
            };
            let answer = match at_hand {
                None => elsewhere.await,
                Some(here) => tokio::select! {
                    answer = here => answer,
                    answer = elsewhere => answer,
                },
            };
            drop(asked);
            answer
        })
    }
}

/// A question that waits as long as this lives.
struct Asking {
    questions: Questions,
    number: u64,
}

impl Asking {
    fn begin(questions: Questions, waiting: Waiting) -> Self {
        let mut open = questions.lock();
        open.number += 1;
        let number = open.number;
        open.waiting.insert(number, waiting);
        drop(open);
        questions.0.changed.send_replace(());
        Self { questions, number }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if self.questions.lock().waiting.remove(&self.number).is_some() {
            self.questions.0.changed.send_replace(());
        }
    }
}
