//! Looks through a file once, in bounded memory: the wanted lines, their total, the hash.

use std::io::{self, Read};

use heeler_core::ToolContext;
use heeler_secrets::BEYOND_CUT_BYTES;
use sha2::{Digest as _, Sha256};

use crate::blocking::keep_going;
use crate::guard::{self, Lines};
use crate::text::{cut_mark, part};

const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of the longest UTF-8 character.
const CHAR_BYTES_MAX: usize = 4;

/// The lines a call asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first, from 1.
    pub(super) first: u64,
    /// How many.
    pub(super) count: u64,
}

/// What a result says beside the lines.
const BESIDE_CHARS_MAX: usize = 1_000;

/// Where the scan stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) line_chars_max: usize,
    pub(super) output_bytes_max: usize,
    pub(super) scan_bytes_max: u64,
    pub(super) hash_bytes_max: u64,
}

impl Limits {
    /// The same for a result of which the model is given no more than so many characters: the lines end
    /// there, instead of being cut in their middle.
    pub(super) fn within(self, result_chars_max: usize) -> Self {
        let room = result_chars_max.saturating_sub(BESIDE_CHARS_MAX);
        Self { output_bytes_max: self.output_bytes_max.min(room), ..self }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The wanted lines with their numbers.
    pub(super) text: String,
    /// How many lines `text` has.
    pub(super) shown: u64,
    /// Those of them that are shown as they are, to the end.
    pub(super) faithful: Vec<Lines>,
    /// Bytes in one of them are shown as U+FFFD.
    pub(super) is_replaced: bool,
    /// How many lines the file has, when the scan came to its end.
    pub(super) lines_total: Option<u64>,
    /// The hash of the whole content, when it was small enough.
    pub(super) hash: Option<String>,
}

/// Scans `source`, which is thought to have `size` bytes. A file too large to be hashed is left
/// as soon as the wanted lines are there.
pub(super) fn scan(
    mut source: impl Read,
    size: u64,
    wanted: Wanted,
    limits: Limits,
    context: &ToolContext,
) -> io::Result<Scan> {
    let mut lines = Cutter::new(wanted, limits);
    let mut hasher = (size <= limits.hash_bytes_max).then(Sha256::new);
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut n_scanned = 0;
    loop {
        keep_going(context).map_err(io::Error::other)?;
        let n_read = match source.read(&mut chunk) {
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if n_read == 0 {
            lines.end_of_file();
            break;
        }
        let bytes = &chunk[..n_read];
        n_scanned += n_read as u64;
        // The file may grow while it is read.
        hasher = hasher.filter(|_| n_scanned <= limits.hash_bytes_max);
        if let Some(hasher) = &mut hasher {
            hasher.update(bytes);
        }
        lines.push(bytes);
        let given_up = limits.scan_bytes_max <= n_scanned;
        if hasher.is_none() && (lines.is_done() || given_up) {
            break;
        }
    }
    let hash = hasher.map(guard::hexadecimal);
    Ok(Scan { hash, ..lines.found })
}

/// Cuts a stream of bytes into lines and keeps the wanted ones.
struct Cutter {
    wanted: Wanted,
    limits: Limits,
    found: Scan,
    /// The number of the line that is being read, from 1.
    number: u64,
    /// As much of that line as can be shown, and what may belong to a key that a cut goes through.
    line: Vec<u8>,
    /// Its bytes so far, shown or not.
    line_bytes: usize,
    /// The output is full: no further line is shown.
    full: bool,
}

impl Cutter {
    fn new(wanted: Wanted, limits: Limits) -> Self {
        Self {
            wanted,
            limits,
            found: Scan::default(),
            number: 1,
            line: Vec::new(),
            line_bytes: 0,
            full: false,
        }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.keep(&bytes[..end]);
            self.end_of_line();
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
    }

    fn end_of_file(&mut self) {
        // What follows the last line end is a line only if there is something.
        if self.line_bytes > 0 {
            self.end_of_line();
        }
        self.found.lines_total = Some(self.number - 1);
    }

    fn is_done(&self) -> bool {
        self.full || self.wanted.count <= self.found.shown
    }

    fn is_wanted(&self) -> bool {
        !self.is_done() && self.wanted.first <= self.number
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.line_bytes = self.line_bytes.saturating_add(bytes.len());
        if self.is_wanted() {
            // More than is shown, so that a cut can be seen, and what it goes through.
            let bytes_max = self.limits.line_chars_max * CHAR_BYTES_MAX + BEYOND_CUT_BYTES;
            let room = bytes_max - self.line.len();
            self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn end_of_line(&mut self) {
        if self.is_wanted() {
            let (text, is_faithful) = self.line_text();
            let fits = self.found.text.len() + text.len() <= self.limits.output_bytes_max;
            // The first line is always shown, or reading on would never get anywhere.
            if fits || self.found.shown == 0 {
                self.found.text.push_str(&text);
                self.found.shown += 1;
                if is_faithful {
                    self.note_faithful();
                } else {
                    self.found.is_replaced |= text.contains(char::REPLACEMENT_CHARACTER);
                }
            } else {
                self.full = true;
            }
        }
        self.number += 1;
        self.line.clear();
        self.line_bytes = 0;
    }

    fn note_faithful(&mut self) {
        match self.found.faithful.last_mut() {
            Some((_, last)) if *last + 1 == self.number => *last += 1,
            _ => self.found.faithful.push((self.number, self.number)),
        }
    }

    /// The line as it is shown, and whether that is all of it.
    fn line_text(&self) -> (String, bool) {
        let mut line = self.line.as_slice();
        let mut n_bytes = self.line_bytes;
        // A byte order mark is no part of the text, and models copy what they see.
        if self.number == 1
            && let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf")
        {
            line = rest;
            n_bytes -= 3;
        }
        if line.len() == n_bytes
            && let Some(rest) = line.strip_suffix(b"\r")
        {
            line = rest;
            n_bytes -= 1;
        }
        let mut shown = String::new();
        let mut n_chars = 0;
        let mut n_shown_bytes = 0;
        let mut cut_at = None;
        let mut is_faithful = true;
        for piece in line.utf8_chunks() {
            let invalid = (!piece.invalid().is_empty())
                .then_some((char::REPLACEMENT_CHARACTER, piece.invalid().len()));
            is_faithful &= invalid.is_none();
            for (char, bytes) in piece.valid().chars().map(|c| (c, c.len_utf8())).chain(invalid) {
                if n_chars == self.limits.line_chars_max {
                    cut_at.get_or_insert((shown.len(), n_bytes - n_shown_bytes));
                }
                shown.push(char);
                n_chars += 1;
                n_shown_bytes += bytes;
            }
        }
        match cut_at {
            None => (format!("{:>6}\t{shown}\n", self.number), is_faithful),
            Some((end, n_missing)) => {
                let (shown, mark) = (part(&shown, 0..end), cut_mark(n_missing));
                (format!("{:>6}\t{shown} {mark}\n", self.number), false)
            }
        }
    }
}
