//! The person at the terminal, whom tools can ask.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use heeler_core::{BoxFuture, Person, Question};
use tokio::sync::{Mutex, mpsc};

use crate::say::{harmless, say};

/// The most bytes of a line that are taken.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Asks on stderr and reads lines of stdin, one question after the other.
pub(crate) struct TerminalPerson {
    lines: Arc<Mutex<Lines>>,
}

/// Lines as they are wanted: nobody can stop reading a line once begun, so what a question that was
/// taken back had begun to read is left to the next one.
struct Lines {
    wanted: std::sync::mpsc::Sender<()>,
    given: mpsc::UnboundedReceiver<Option<String>>,
    is_waiting: bool,
}

impl TerminalPerson {
    /// The person, if somebody is there.
    pub(crate) fn present() -> Option<Arc<dyn Person>> {
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return None;
        }
        match Self::reading(read_line) {
            Ok(person) => Some(Arc::new(person)),
            Err(error) => {
                say(format_args!(
                    "heeler: nobody can be asked, since no thread can be made: {error}"
                ));
                None
            }
        }
    }

    /// Reads lines by `read`, on a thread that ends with the process or with this value.
    fn reading(mut read: impl FnMut() -> Option<String> + Send + 'static) -> std::io::Result<Self> {
        let (wanted, wants) = std::sync::mpsc::channel::<()>();
        let (give, given) = mpsc::unbounded_channel();
        let reads = move || {
            while wants.recv().is_ok() {
                if give.send(read()).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("answers".into()).spawn(reads)?;
        Ok(Self { lines: Arc::new(Mutex::new(Lines { wanted, given, is_waiting: false })) })
    }
}

impl Person for TerminalPerson {
    fn answer(&self, question: Question) -> BoxFuture<Option<String>> {
        let lines = Arc::clone(&self.lines);
        Box::pin(async move {
            let mut lines = lines.lock().await;
            say(shown(&question));
            if !lines.is_waiting {
                lines.wanted.send(()).ok()?;
                lines.is_waiting = true;
            }
            let line = lines.given.recv().await.flatten();
            lines.is_waiting = false;
            line
        })
    }
}

/// A line of stdin; `None` at its end.
fn read_line() -> Option<String> {
    let mut line = Vec::new();
    let mut stdin = std::io::Read::take(std::io::stdin().lock(), LINE_BYTES_MAX);
    match stdin.read_until(b'\n', &mut line) {
        Ok(n) if n > 0 => Some(String::from_utf8_lossy(&line).into_owned()),
        _ => None,
    }
}

/// The question, its choices by their numbers, and how to answer.
fn shown(question: &Question) -> String {
    let mut text = format!("heeler asks: {}", harmless(&question.text));
    for (number, choice) in (1..).zip(&question.choices) {
        text.push_str(&format!("\n  {number}) {}", harmless(choice)));
    }
    text.push_str(match question.choices.is_empty() {
        true => "\nYour answer, in one line:",
        false => "\nA number, or another answer, in one line:",
    });
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::{AgentPath, CallId, InputOrigin};

    use super::*;

    fn question(text: &str, choices: &[&str]) -> Question {
        Question {
            session: "s".parse().unwrap(),
            agent: AgentPath::default(),
            call: CallId { turn: 1, round: 1, index: 0 },
            to: InputOrigin::default(),
            text: text.into(),
            choices: choices.iter().map(|&choice| choice.into()).collect(),
        }
    }

    #[test]
    fn a_question_shows_its_choices_and_commands_no_terminal() {
        expect![[r#"
            heeler asks: Which␛[2J?
              1) red
              2) blue␇
            A number, or another answer, in one line:"#]]
        .assert_eq(&shown(&question("Which\u{1b}[2J?", &["red", "blue\u{7}"])));
        expect![[r#"
            heeler asks: Why?
            Your answer, in one line:"#]]
        .assert_eq(&shown(&question("Why?", &[])));
    }

    #[test]
    fn a_line_answers_one_question_and_what_was_taken_back_leaves_its_line_to_the_next() {
        let (typed, lines) = std::sync::mpsc::channel::<String>();
        let person = TerminalPerson::reading(move || lines.recv().ok()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            typed.send("one\n".into()).unwrap();
            assert_eq!(person.answer(question("a", &[])).await.as_deref(), Some("one\n"));
            let mut taken_back = person.answer(question("b", &[]));
            assert!(futures_poll(&mut taken_back).await);
            drop(taken_back);
            typed.send("two\n".into()).unwrap();
            assert_eq!(person.answer(question("c", &[])).await.as_deref(), Some("two\n"));
            drop(typed);
            assert_eq!(person.answer(question("d", &[])).await, None);
        });
    }

    /// Polls once; whether it still waits.
    async fn futures_poll(future: &mut BoxFuture<Option<String>>) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
        })
        .await
    }
}
