//! Markdown that is still being written: what is complete, once, and what may yet change.

use std::collections::VecDeque;

use ratatui::text::Line;

use super::scan::{Body, Scanner, Segment};
use super::{Look, draw, starts};

/// A line longer than this is read in pieces: text without an end has no end either.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024;
/// So many pieces wait for the colors of code before they are given out without.
pub(super) const WAITING_MAX: usize = 32;

/// Text that grows, as lines.
///
/// Whatever was taken by [`committed`](Self::committed) never changes and is never read again, so
/// that it can go to the terminal's own scrollback; [`tail`](Self::tail) is what follows it now. At
/// any moment the two together are what [`markdown`](super::markdown()) makes of the whole text.
/// All of it costs a constant for each byte of the text, and a tail as much as is open: at most some
/// 20 KiB of text.
///
/// A change of width or theme is seen in what is drawn from then on.
#[derive(Debug, Clone, Default)]
pub struct StreamingMarkdown {
    scanner: Scanner,
    /// The last line, as far as it is there.
    partial: String,
    /// Whether it is the rest of a line that was cut.
    goes_on: bool,
    /// Complete, not given out.
    waiting: VecDeque<Segment>,
    is_finished: bool,
}

impl StreamingMarkdown {
    /// No text yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text, cut anywhere. After `finish` nothing is added.
    pub fn push(&mut self, text: &str) {
        if self.is_finished {
            return;
        }
        for piece in text.split_inclusive('\n') {
            let (piece, is_whole) = match piece.strip_suffix('\n') {
                Some(line) => (line, true),
                None => (piece, false),
            };
            self.partial.push_str(piece);
            self.cut_partial();
            if is_whole {
                let line = std::mem::take(&mut self.partial);
                self.scanner.line(&starts::line(&line), std::mem::take(&mut self.goes_on));
                // The room it took serves the next line.
                self.partial = line;
                self.partial.clear();
            }
        }
        self.waiting.extend(self.scanner.take());
    }

    /// Says that the text is complete.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        end(&mut self.scanner, &self.partial, self.goes_on);
        self.partial = String::new();
        self.waiting.extend(self.scanner.take());
    }

    /// The lines that became complete since the last call.
    ///
    /// Code waits here until its colors are known, or too much of it waits.
    #[must_use]
    pub fn committed(&mut self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while let Some(segment) = self.waiting.front() {
            if self.waiting.len() <= WAITING_MAX && is_pending(segment, look) {
                break;
            }
            draw::segment(segment, look, &mut lines);
            self.waiting.pop_front();
        }
        lines
    }

    /// As `committed`, without waiting for colors.
    #[must_use]
    pub fn flush(&mut self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for segment in self.waiting.drain(..) {
            draw::segment(&segment, look, &mut lines);
        }
        lines
    }

    /// The lines after the last that was committed, as they are now.
    #[must_use]
    pub fn tail(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for segment in &self.waiting {
            draw::segment(segment, look, &mut lines);
        }
        if !self.is_finished {
            let mut open = self.scanner.clone();
            end(&mut open, &self.partial, self.goes_on);
            for segment in &open.take() {
                draw::segment(segment, look, &mut lines);
            }
        }
        lines
    }

    /// Whether there is nothing to come from here: it was finished and everything was taken.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_finished && self.waiting.is_empty()
    }

    fn cut_partial(&mut self) {
        while self.partial.len() > LINE_BYTES_MAX {
            let rest = self.partial.split_off(starts::cut(&self.partial, LINE_BYTES_MAX));
            self.scanner.line(&starts::line(&self.partial), self.goes_on);
            self.partial = rest;
            self.goes_on = true;
        }
    }
}

fn end(scanner: &mut Scanner, partial: &str, goes_on: bool) {
    if !partial.is_empty() {
        scanner.line(&starts::line(partial), goes_on);
    }
    scanner.finish();
}

fn is_pending(segment: &Segment, look: Look<'_>) -> bool {
    match &segment.body {
        Body::Text(_) => false,
        Body::Code { place, text, .. } => look.highlight.classes(place, text).is_pending,
    }
}
