//! `--json`: one versioned event a line.

use std::io::{Stdout, Write};

use heeler_core::{Envelope, Event, SessionId, View};
use heeler_engine::{Seen, Session};
use serde::Serialize;

use super::Printer;
use super::finish::{EVENTS_VERSION, Finish};

/// Prints events as JSON Lines, each flushed when nothing more waits behind it.
pub(super) struct JsonPrinter {
    out: std::io::BufWriter<Stdout>,
}

impl Default for JsonPrinter {
    fn default() -> Self {
        Self { out: std::io::BufWriter::new(std::io::stdout()) }
    }
}

/// One line.
#[derive(Serialize)]
struct Line<T> {
    v: u32,
    #[serde(flatten)]
    event: T,
}

/// Lines that are no events of the session.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Own<'a> {
    /// The first line.
    SessionStarted { session: &'a SessionId, model: &'a str },
    /// The reader was too slow; this is the view now.
    Resync { view: &'a View },
    /// A turn that an earlier process had left is finished; the terminal event is still to come.
    ResumedTurnFinished { turn: u32, outcome: &'a heeler_core::TurnOutcome, answer: &'a str },
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

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        if finish.session.is_none()
            && let Some(complaint) = finish.complaint()
        {
            eprintln!("heeler: {complaint}");
        }
        writeln!(self.out, "{}", finish.to_json()?)?;
        self.out.flush()
    }
}

impl JsonPrinter {
    /// The end of a turn is told by the terminal event, which exec writes itself.
    fn event(&mut self, envelope: &Envelope) -> std::io::Result<()> {
        match &envelope.event {
            Event::TurnFinished { turn, outcome, answer } => {
                self.line(&Own::ResumedTurnFinished { turn: *turn, outcome, answer })
            }
            _ => self.line(envelope),
        }
    }

    fn line<T: Serialize>(&mut self, event: &T) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.out, &Line { v: EVENTS_VERSION, event })?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}
