//! `--json`: one versioned event a line.

use std::sync::Arc;

use heeler_core::{Envelope, Event, SessionId, TurnOutcome, View};
use heeler_engine::{Seen, Session, SystemClock};
use heeler_tui::Outlet;
use schemars::JsonSchema;
use serde::Serialize;

use super::Printer;
use super::finish::{EVENTS_VERSION, Finish};
use crate::say::say;
use crate::stage::Settled;

/// Lines that are longer together are handed over at once; what one read of an answer brings is one write, and
/// the line of a whole answer several.
const WRITE_BYTES: usize = 64 * 1024;

/// Prints events as JSON Lines.
pub(super) struct JsonPrinter {
    /// What is not handed over yet; bytes in memory, as a journal's line is made, so that a program
    /// has what writes JSON once.
    waiting: Vec<u8>,
    /// Stdout, at which a session must not stand still: calls have their limits, and others may want
    /// to stop it.
    out: Outlet,
    /// The end of the last turn, until it is known whether another one follows.
    held_back: Option<Arc<Envelope>>,
    /// Whether the session goes on after a turn, whose end is then told at once.
    is_stream: bool,
}

/// One line.
#[derive(Serialize)]
struct Line<T> {
    v: u32,
    #[serde(flatten)]
    event: T,
}

/// Lines that are no events of the session.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Own<'a> {
    /// The first line.
    SessionStarted {
        /// The session.
        session: &'a SessionId,
        /// Who answers.
        model: &'a str,
    },
    /// The reader was too slow; this is the view now.
    Resync {
        /// What is true of the session.
        view: &'a View,
    },
    /// A turn that an earlier process had left is finished; the terminal event is still to come.
    ResumedTurnFinished {
        /// The turn.
        turn: u32,
        /// How it ended.
        outcome: &'a TurnOutcome,
        /// The final answer's text; empty when there is none.
        answer: &'a str,
    },
    /// A line of `--stream-input` that came to nothing.
    InputError {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        message: &'a str,
    },
    /// The last line of `--stream-input`.
    SessionFinished {
        /// The session; `null` when none was begun.
        session: Option<&'a SessionId>,
        /// The code of the last turn's end.
        exit_code: u8,
        /// Why it ended so, unless all was well.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        /// With `--stage`: what became of the changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        stage: Option<&'a Settled>,
    },
}

impl Printer for JsonPrinter {
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()> {
        self.line(&Own::SessionStarted { session: session.id(), model })
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        match seen {
            Seen::Resync(view) => self.line(&Own::Resync { view }),
            Seen::Event(envelope) => self.event(envelope),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.give(&mut self.waiting)
    }

    fn outlet(&self) -> Option<&Outlet> {
        Some(&self.out)
    }

    fn turn_finished(&mut self, finish: &Finish) -> std::io::Result<()> {
        finish.write_line(&mut self.waiting, &mut |piece| self.out.give(piece))
    }

    fn input_error(&mut self, line: u64, message: &str) -> std::io::Result<()> {
        self.line(&Own::InputError { line, message })
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        if finish.session.is_none()
            && let Some(complaint) = finish.complaint()
        {
            say(format_args!("heeler: {complaint}"));
        }
        if self.is_stream {
            let (session, exit_code) = (finish.session.as_ref(), finish.exit() as u8);
            let message = finish.why();
            let message = message.as_deref();
            let stage = finish.stage.as_ref();
            self.line(&Own::SessionFinished { session, exit_code, message, stage })?;
        } else {
            finish.write_line(&mut self.waiting, &mut |piece| self.out.give(piece))?;
        }
        self.flush()?;
        self.out.wait()
    }
}

impl JsonPrinter {
    /// Prints to stdout; one turn, or with `is_stream` as many as come.
    pub(super) fn new(is_stream: bool) -> Self {
        let out = Outlet::standard(Arc::new(SystemClock));
        Self { waiting: Vec::with_capacity(WRITE_BYTES), out, held_back: None, is_stream }
    }

    /// The end of the last turn is told by the terminal event, that of an earlier one here.
    fn event(&mut self, envelope: &Arc<Envelope>) -> std::io::Result<()> {
        // What an agent of the session ends or begins is an event like any other.
        let is_main = envelope.agent.is_main();
        if is_main && matches!(envelope.event, Event::TurnFinished { .. }) {
            self.held_back = Some(Arc::clone(envelope));
            return Ok(());
        }
        let held_back = self.held_back.take();
        if is_main
            && matches!(envelope.event, Event::TurnStarted { .. })
            && let Some(Event::TurnFinished { turn, outcome, answer }) =
                held_back.as_deref().map(|envelope| &envelope.event)
        {
            self.line(&Own::ResumedTurnFinished { turn: *turn, outcome, answer })?;
        }
        self.line(envelope.as_ref())
    }

    fn line<T: Serialize>(&mut self, event: &T) -> std::io::Result<()> {
        let line = Line { v: EVENTS_VERSION, event };
        heeler_json::write_in_pieces(&mut self.waiting, &line, &mut |piece| self.out.give(piece))?;
        self.waiting.push(b'\n');
        if self.waiting.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }
}
