//! Recording: an answer as it passes, and the file it goes to.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use heeler_core::{EventStream, Message, ModelEvent, ProviderError, ProviderErrorKind};
use heeler_secrets::Secrets;

use super::line::{EndLine, ExchangeLine, Line, VERSION};
use super::parts::Numbers;
use super::{Asked, CASSETTE_BYTES_MAX, ExchangeEnd, clean, lock};

/// For the owner only: a cassette holds what was said.
const FILE_MODE: u32 = 0o600;

/// The file that is written.
pub(super) struct Tape {
    file: File,
    /// How many bytes of it are whole lines.
    length: u64,
    /// How many requests were sent.
    sent: u32,
    systems: Numbers,
    tools: Numbers,
    messages: Numbers,
    /// The conversation that was written last: most of the next one's messages are the same.
    last: Vec<(Arc<Message>, u32)>,
}

impl Tape {
    /// Makes the file, which must not exist.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
        let mut tape = Self {
            file,
            length: 0,
            sent: 0,
            systems: Numbers::default(),
            tools: Numbers::default(),
            messages: Numbers::default(),
            last: Vec::new(),
        };
        let heeler = env!("CARGO_PKG_VERSION").to_owned();
        tape.append(&line(&Line::Cassette { version: VERSION, heeler })?)?;
        // So that the name, too, outlives a loss of power.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(tape)
    }

    /// The number of a request that is sent now.
    pub(super) fn begin(&mut self) -> u32 {
        self.sent = self.sent.saturating_add(1);
        self.sent
    }

    /// Writes an exchange, and what it said that was not said before.
    fn write(
        &mut self,
        number: u32,
        asked: &Asked,
        events: Vec<ModelEvent>,
        end: EndLine,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        let text = asked.system.to_string();
        let (system, is_new) = self.systems.of(text.clone());
        if is_new {
            lines.extend(line(&Line::System { number: system, text })?);
        }
        let (tools, is_new) = self.tools.of(serde_json::to_string(&*asked.tools)?);
        if is_new {
            let all = asked.tools.to_vec();
            lines.extend(line(&Line::Tools { number: tools, tools: all })?);
        }
        let messages = self.messages(asked, &mut lines)?;
        let exchange = ExchangeLine {
            number,
            model: asked.model.clone(),
            system,
            tools,
            provider_tools: asked.provider_tools.clone(),
            messages,
            output_max: asked.output_max,
            parameters: asked.parameters.clone(),
            events,
            end,
        };
        lines.extend(line(&Line::Exchange(Box::new(exchange)))?);
        self.append(&lines)
    }

    fn messages(&mut self, asked: &Asked, lines: &mut Vec<u8>) -> io::Result<Vec<u32>> {
        let pairs = self.last.iter().zip(&asked.messages);
        let same = pairs.take_while(|((known, _), said)| Arc::ptr_eq(known, said)).count();
        self.last.truncate(same);
        for message in asked.messages.iter().skip(same) {
            let (number, is_new) = self.messages.of(serde_json::to_string(&**message)?);
            if is_new {
                lines.extend(line(&Line::Message { number, message: (**message).clone() })?);
            }
            self.last.push((Arc::clone(message), number));
        }
        Ok(self.last.iter().map(|(_, number)| *number).collect())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let length = self.length.saturating_add(lines.len() as u64);
        if length > CASSETTE_BYTES_MAX {
            return Err(io::Error::other(format!(
                "it would be longer than {CASSETTE_BYTES_MAX} bytes; record less, or several"
            )));
        }
        let written = self.file.write_all(lines).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length = length,
            // What is there of it is no line; the next one would be glued to it.
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

fn line(line: &Line) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// An answer that is recorded as it passes.
pub(super) struct Recording {
    inner: EventStream,
    tape: Arc<Mutex<Tape>>,
    secrets: Arc<Secrets>,
    path: Arc<Path>,
    number: u32,
    asked: Asked,
    events: Vec<ModelEvent>,
    is_written: bool,
}

impl Recording {
    pub(super) fn new(
        inner: EventStream,
        number: u32,
        asked: Asked,
        tape: Arc<Mutex<Tape>>,
        secrets: Arc<Secrets>,
        path: Arc<Path>,
    ) -> Self {
        let events = Vec::new();
        Self { inner, tape, secrets, path, number, asked, events, is_written: false }
    }

    fn write(&mut self, end: ExchangeEnd) -> io::Result<()> {
        if std::mem::replace(&mut self.is_written, true) {
            return Ok(());
        }
        let events = std::mem::take(&mut self.events);
        let (events, end) = clean::answer(events, end, &self.secrets);
        lock(&self.tape).write(self.number, &self.asked, events, end.into())
    }

    /// Hands the end on once it is written.
    fn end(
        &mut self,
        end: ExchangeEnd,
        step: Result<ModelEvent, ProviderError>,
    ) -> Result<ModelEvent, ProviderError> {
        match self.write(end) {
            Ok(()) => step,
            Err(error) => {
                let text = format!(
                    "cannot record to the cassette `{}`: {error}; remove it and record it again",
                    self.path.display()
                );
                // Nothing gets better when the request is sent again.
                Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text))
            }
        }
    }
}

impl Stream for Recording {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Poll::Ready(step) = this.inner.poll_next_unpin(context) else { return Poll::Pending };
        Poll::Ready(step.map(|step| match step {
            Ok(ModelEvent::Finished(reply)) => {
                let end = ExchangeEnd::Finished(Box::new(reply.clone()));
                this.end(end, Ok(ModelEvent::Finished(reply)))
            }
            Ok(event) => {
                this.events.push(event.clone());
                Ok(event)
            }
            Err(error) => this.end(ExchangeEnd::Failed(error.clone()), Err(error)),
        }))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Whoever dropped it wants to hear of nothing any more.
        let _ = self.write(ExchangeEnd::Cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_that_is_full_says_so_and_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.jsonl");
        let mut tape = Tape::create(&path).unwrap();
        tape.length = CASSETTE_BYTES_MAX - 2;
        tape.append(b"{}").unwrap();
        let error = tape.append(b"\n").unwrap_err().to_string();
        assert_eq!(error, "it would be longer than 268435456 bytes; record less, or several");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("\n{}"), "{text}");
    }
}
