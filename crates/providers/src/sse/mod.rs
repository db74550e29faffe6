//! Server-sent events, parsed incrementally by the WHATWG rules.
//!
//! Invariant: pure; the same bytes give the same events however they are cut into chunks.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// The most bytes one event may hold back while it is not complete.
pub const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// So much is kept of lines that are of no event: a failure as servers tell it.
const STRAY_BYTES_MAX: usize = 64 * 1024;

/// So much of them is quoted.
const QUOTED_BYTES_MAX: usize = 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event, borrowed from the chunk where that is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The event's type; `message` when the stream names none. Empty for what is no event by the
    /// rules: lines as they are, some of them of JSON, in which a server that fails may tell so.
    pub kind: &'a str,
    /// Its data lines, joined by line feeds.
    pub data: &'a str,
    /// The last id the stream named; empty for none.
    pub id: &'a str,
}

/// Takes the events of a stream. A closure that takes an [`Event`] is one, too.
pub trait Reader {
    /// Takes an event.
    fn event(&mut self, event: Event<'_>);

    /// Asked between events: takes the events that `bytes` begin with, in a form the reader knows
    /// by heart, and says how long they are with their blank lines. 0 leaves them to the parser;
    /// what is taken must be whole events without an id, and mean what it would mean as [`Event`]s.
    fn skim(&mut self, _bytes: &[u8]) -> usize {
        0
    }
}

impl<F: FnMut(Event<'_>)> Reader for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// An event is longer than the parser's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event is longer than {bytes_max} bytes")]
pub struct EventTooLong {
    /// The limit.
    pub bytes_max: usize,
}

/// Splits a stream of bytes into events.
///
/// There is no `finish`: what has no blank line after it at the end of the stream is no event, and
/// no more than left over.
#[derive(Debug)]
pub struct Parser {
    event_bytes_max: usize,
    /// Bytes of the byte order mark seen so far; `None` once the start is behind us.
    bom_matched: Option<usize>,
    /// The last chunk ended with CR, so an LF at the start of the next one belongs to it.
    after_cr: bool,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    /// Data lines of the current event that are not in the current chunk.
    data: Vec<u8>,
    has_data: bool,
    kind: Vec<u8>,
    id: String,
    /// The lines since the last blank one that are of no event, as far as they are kept.
    stray: Vec<u8>,
    /// The first such lines that a blank one ended.
    stray_before: Vec<u8>,
    /// Bytes of data and type the current event holds.
    retained_bytes: usize,
    failed: bool,
}

/// What the current event has in the chunk being read.
#[derive(Default)]
struct Held<'a> {
    data: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser that allows events of [`EVENT_BYTES_MAX`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(EVENT_BYTES_MAX)
    }

    /// A parser with another limit.
    #[must_use]
    pub fn with_limit(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            bom_matched: Some(0),
            after_cr: false,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            kind: Vec::new(),
            id: String::new(),
            stray: Vec::new(),
            stray_before: Vec::new(),
            retained_bytes: 0,
            failed: false,
        }
    }

    /// Reads a chunk and hands over each event that is complete with it.
    ///
    /// # Errors
    /// When an event is longer than the limit; from then on always.
    pub fn feed(&mut self, chunk: &[u8], mut reader: impl Reader) -> Result<(), EventTooLong> {
        let result = if self.failed { self.too_long() } else { self.read(chunk, &mut reader) };
        self.failed = result.is_err();
        result
    }

    fn read(&mut self, chunk: &[u8], reader: &mut impl Reader) -> Result<(), EventTooLong> {
        let mut rest = self.skip_start(chunk);
        let mut held = Held::default();
        loop {
            rest = self.skim(rest, reader);
            let Some(end) = memchr2(b'\n', b'\r', rest) else { break };
            let line = &rest[..end];
            rest = self.skip_line_end(&rest[end..]);
            if self.line.is_empty() {
                self.line(line, &mut held, reader)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                let mut held_by_line = Held::default();
                self.line(&whole, &mut held_by_line, reader)?;
                self.keep(&mut held_by_line);
                whole.clear();
                self.line = whole;
            }
        }
        self.keep(&mut held);
        self.line.extend_from_slice(rest);
        self.check_length(self.line.len())
    }

    /// Skips the events that the reader takes as they are.
    fn skim<'c>(&self, mut rest: &'c [u8], reader: &mut impl Reader) -> &'c [u8] {
        if self.retained_bytes > 0 || !self.line.is_empty() || !self.stray.is_empty() {
            return rest;
        }
        loop {
            // What does not fit may be longer than the limit, which the parser tells.
            let length = reader.skim(&rest[..rest.len().min(self.event_bytes_max)]);
            if length == 0 {
                return rest;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    /// Skips the byte order mark and the second half of a line end that began in the last chunk.
    fn skip_start<'c>(&mut self, mut chunk: &'c [u8]) -> &'c [u8] {
        while let Some(matched) = self.bom_matched {
            let Some(first) = chunk.first() else { return chunk };
            if *first == BOM[matched] {
                chunk = &chunk[1..];
                // A gateway may put its own before the server's.
                self.bom_matched = Some((matched + 1) % BOM.len());
            } else {
                self.line.extend_from_slice(&BOM[..matched]);
                self.bom_matched = None;
            }
        }
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        chunk
    }

    /// Skips the line end `rest` starts with.
    fn skip_line_end<'c>(&mut self, rest: &'c [u8]) -> &'c [u8] {
        match rest {
            [b'\r', b'\n', after @ ..] => after,
            [b'\r'] => {
                self.after_cr = true;
                &[]
            }
            [_, after @ ..] => after,
            [] => &[],
        }
    }

    fn line<'l>(
        &mut self,
        line: &'l [u8],
        held: &mut Held<'l>,
        reader: &mut impl Reader,
    ) -> Result<(), EventTooLong> {
        if line.is_empty() {
            self.dispatch(held, reader);
            return Ok(());
        }
        self.check_length(line.len())?;
        let (name, value) = split(line);
        match name {
            // llama.cpp's way to say that it failed, which the rules know nothing of.
            b"data" | b"error" => {
                if name == b"error" {
                    self.retained_bytes += name.len();
                    held.kind = Some(name);
                }
                self.retained_bytes += value.len() + 1;
                if self.has_data || held.data.is_some() {
                    self.keep(held);
                    self.push_data(value);
                } else {
                    held.data = Some(value);
                }
            }
            b"event" => {
                self.retained_bytes += value.len();
                held.kind = Some(value);
            }
            b"id" if memchr(0, value).is_none() => {
                self.id = String::from_utf8_lossy(value).into_owned();
            }
            // A comment has an empty name; `retry` is for clients that reconnect.
            b"" | b"retry" | b"id" => {}
            _ => {
                for part in [line, b"\n"] {
                    let room = STRAY_BYTES_MAX.saturating_sub(self.stray.len());
                    self.stray.extend_from_slice(&part[..part.len().min(room)]);
                }
            }
        }
        Ok(())
    }

    /// The beginning of the first lines that are of no event; empty for none. They tell, of a body
    /// without events, what it is instead.
    pub(crate) fn stray(&self) -> String {
        let begun = [&self.stray_before, &self.stray, &self.data, &self.line];
        let lines = begun.into_iter().find(|lines| !lines.trim_ascii().is_empty());
        let lines = lines.map_or(&[][..], |lines| &lines[..lines.len().min(QUOTED_BYTES_MAX)]);
        text(lines).into_owned()
    }

    /// What has no blank line after it: the lines that are of no event, and the data of the event
    /// that began. A server that fails may end so, and only here it is told why.
    pub(crate) fn left_over(&self) -> [String; 2] {
        let (name, value) = split(&self.line);
        let (stray, data) = match name {
            b"data" | b"error" => (&[][..], value),
            _ => (&*self.line, &[][..]),
        };
        let joined = |lines: &[u8], last: &[u8]| text(&[lines, last].join(&b'\n')).into_owned();
        [joined(&self.stray, stray), joined(&self.data, data)]
    }

    /// Hands over lines of no event that a blank one ended, if they may be more than noise.
    fn dispatch_stray(&mut self, reader: &mut impl Reader) {
        let stray = std::mem::take(&mut self.stray);
        let is_json = |line: &[u8]| matches!(line.trim_ascii_start(), [b'{' | b'[', ..]);
        if stray.split(|byte| *byte == b'\n').any(is_json) {
            reader.event(Event { kind: "", data: &text(&stray), id: &self.id });
        }
        if self.stray_before.trim_ascii().is_empty() {
            self.stray_before = stray;
        }
    }

    fn dispatch(&mut self, held: &mut Held<'_>, reader: &mut impl Reader) {
        if !self.stray.is_empty() {
            self.dispatch_stray(reader);
        }
        let data = match held.data.take() {
            Some(data) => Some(data),
            None if self.has_data => Some(self.data.as_slice()),
            None => None,
        };
        if let Some(data) = data {
            let kind = text(held.kind.unwrap_or(&self.kind));
            let kind = if kind.is_empty() { Cow::Borrowed("message") } else { kind };
            let data = text(data);
            reader.event(Event { kind: &kind, data: &data, id: &self.id });
        }
        held.kind = None;
        self.kind.clear();
        self.data.clear();
        self.has_data = false;
        self.retained_bytes = 0;
    }

    /// Copies what would not outlive the chunk.
    fn keep(&mut self, held: &mut Held<'_>) {
        if let Some(kind) = held.kind.take() {
            self.kind.clear();
            self.kind.extend_from_slice(kind);
        }
        if let Some(data) = held.data.take() {
            self.push_data(data);
        }
    }

    fn push_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    fn check_length(&self, line_bytes: usize) -> Result<(), EventTooLong> {
        if self.retained_bytes + line_bytes > self.event_bytes_max {
            return self.too_long();
        }
        Ok(())
    }

    fn too_long(&self) -> Result<(), EventTooLong> {
        Err(EventTooLong { bytes_max: self.event_bytes_max })
    }
}

/// A line's field name and value.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    // Nearly every line is one of data; there is no need to look for its colon.
    let colon = if line.starts_with(b"data:") { Some(4) } else { memchr(b':', line) };
    match colon {
        Some(colon) => {
            let value = &line[colon + 1..];
            (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, &[]),
    }
}

/// `bytes` as text, with what is not UTF-8 replaced.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Checking alone is twice as fast as the checking that replaces.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
