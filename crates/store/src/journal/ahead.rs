//! The lines of a journal with a look ahead, which tells a line that strayed from one behind a hole.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use heeler_core::Seq;

use super::line::{LINE_BYTES_MAX, RecordLine, Sum, unseal};
use super::lines::{Line, Lines};

/// How many lines a look ahead goes at most.
const AHEAD_LINES_MAX: usize = 64;
/// A look ahead ends behind the line with which it has this many bytes.
const AHEAD_BYTES_MAX: u64 = LINE_BYTES_MAX as u64;

/// Lines, of which some may have been read ahead.
pub(super) struct Ahead<R> {
    lines: Lines<R>,
    read: VecDeque<Held>,
    n_bytes_read: u64,
}

/// A line that was read ahead.
struct Held {
    bytes: Vec<u8>,
    length: u64,
    /// `None` for what is no sound record.
    link: Option<Link>,
}

/// Where a record stands in the chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) seq: Seq,
    pub(super) prev: Sum,
    pub(super) sum: Sum,
}

impl Link {
    /// Whether this record was written right behind that one.
    pub(super) fn follows(&self, seq: Seq, sum: Sum) -> bool {
        self.seq == seq.saturating_add(1) && self.prev == sum
    }
}

/// What a line is by itself.
pub(super) enum Found<'a> {
    /// Its checksum is right.
    Sealed(Sealed<'a>),
    /// It was changed.
    Changed,
    /// It has no end: torn, if it is the last.
    Unended,
}

/// A line whose checksum is right.
pub(super) struct Sealed<'a> {
    pub(super) said: &'a [u8],
    pub(super) sum: Sum,
    /// The bytes that are kept of it.
    pub(super) length: u64,
    /// Whether it lacks its newline.
    pub(super) is_open: bool,
}

impl<R: BufRead> Ahead<R> {
    pub(super) fn new(lines: Lines<R>) -> Self {
        Self { lines, read: VecDeque::new(), n_bytes_read: 0 }
    }

    /// Puts the next line into `buffer` and gives its length; `None` at the end.
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let Some(held) = self.read.pop_front() else { return self.lines.read(buffer) };
        self.n_bytes_read -= held.length;
        *buffer = held.bytes;
        Ok(Some(held.length))
    }

    /// Whether the line just given strayed to where it is: its number leaves some out behind record
    /// `last`, whose checksum is `sum`, and those follow. They do when as many lines that hang together
    /// as there are with this one begin right behind `last`, or more of them anywhere before this one.
    ///
    /// What is appended later changes no answer, since its number is higher than all that is there.
    pub(super) fn is_astray(&mut self, line: Link, last: Seq, sum: Sum) -> io::Result<bool> {
        let mut before = line;
        let mut n_astray = 1;
        // Of the run of lines that is being counted: how long it is, and how long it has to be. The
        // first is that of the line itself.
        let mut run: Option<(usize, usize)> = None;
        let mut is_first = true;
        for at in 0..AHEAD_LINES_MAX {
            if self.read.len() == at && !self.read_one()? {
                break;
            }
            let Some(link) = self.read.get(at).and_then(|held| held.link) else {
                (is_first, run) = (false, None);
                continue;
            };
            let hangs_on = link.follows(before.seq, before.sum);
            if is_first && hangs_on {
                n_astray += 1;
            } else if let Some((n, _)) = run.as_mut().filter(|_| hangs_on) {
                *n += 1;
            } else {
                is_first = false;
                let is_before = last < link.seq && link.seq < line.seq;
                let needed = if link.follows(last, sum) { n_astray } else { n_astray + 1 };
                run = is_before.then_some((1, needed));
            }
            if run.is_some_and(|(n, needed)| n >= needed) {
                return Ok(true);
            }
            before = link;
        }
        Ok(false)
    }

    /// Reads one line more ahead, unless there is none or it would be too much.
    fn read_one(&mut self) -> io::Result<bool> {
        if self.n_bytes_read >= AHEAD_BYTES_MAX {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        let Some(length) = self.lines.read(&mut bytes)? else { return Ok(false) };
        let link = match found(&self.lines.line(&bytes, length)) {
            Found::Sealed(Sealed { said, sum, .. }) => {
                RecordLine::parse(said).map(|RecordLine { seq, prev, .. }| Link { seq, prev, sum })
            }
            Found::Changed | Found::Unended => None,
        };
        self.n_bytes_read += length;
        self.read.push_back(Held { bytes, length, link });
        Ok(true)
    }

    /// What a line is that [`next`](Self::next) gave.
    pub(super) fn found<'a>(&self, bytes: &'a [u8], length: u64) -> Found<'a> {
        found(&self.lines.line(bytes, length))
    }
}

fn found<'a>(line: &Line<'a>) -> Found<'a> {
    match (line.whole, line.open.and_then(unseal_open)) {
        (Some(whole), _) => unseal(whole).map_or(Found::Changed, |(said, sum)| {
            Found::Sealed(Sealed { said, sum, length: line.length, is_open: false })
        }),
        (None, Some(Open { line, said, sum })) => {
            Found::Sealed(Sealed { said, sum, length: line.len() as u64, is_open: true })
        }
        (None, None) => Found::Unended,
    }
}

/// A whole line without its newline.
pub(crate) struct Open<'a> {
    pub(crate) line: &'a [u8],
    said: &'a [u8],
    sum: Sum,
}

/// What of a last line is a whole one when it lacks its newline and nothing else: its writer died just
/// before it, or something changed that one byte. The record may have been acknowledged.
pub(crate) fn unseal_open(line: &[u8]) -> Option<Open<'_>> {
    let before = line.split_last().map_or(line, |(_, before)| before);
    [line, before].into_iter().find_map(|line| {
        let (said, sum) = unseal(line)?;
        Some(Open { line, said, sum })
    })
}
