//! One line: what is said, then the previous line's checksum, then its own.
//!
//! Both checksums have a fixed length and stand at a fixed distance from the line's end, so they
//! are checked on the raw bytes, and the body between is parsed once, into its type.

use std::io::Write;

use heeler_core::{Entry, Seq, Timestamp};
use sha2::{Digest, Sha256};

use super::typed;

/// The longest line of a journal, its newline included.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The deepest nesting of a record; raw JSON inside it is a string and counts by itself.
pub const RECORD_DEPTH_MAX: usize = 100;

/// Hexadecimal digits of a checksum: the first 128 bits of a SHA-256.
pub(crate) const SUM_CHARS: usize = 32;
/// What stands before the previous line's checksum.
const PREV_KEY: &[u8] = br#","prev":""#;
/// What stands before the line's own checksum.
const SUM_KEY: &[u8] = br#","sum":""#;

/// A line's checksum as the text that stands in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum([u8; SUM_CHARS]);

impl Sum {
    /// Stands for a line whose checksum is not known because it could not be read.
    pub(crate) const UNKNOWN: Self = Self([b'0'; SUM_CHARS]);

    /// The checksum as text; `None` for what is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self(text.as_bytes().try_into().ok()?))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    fn of(bytes: &[u8]) -> Self {
        Self::of_hash(Sha256::new_with_prefix(bytes))
    }

    /// The checksum of all that was put into `hash`.
    pub(crate) fn of_hash(hash: Sha256) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let hash = hash.finalize();
        let mut text = [0; SUM_CHARS];
        for (pair, byte) in text.chunks_exact_mut(2).zip(hash) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        Self(text)
    }
}

/// Why an entry cannot become a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineError {
    /// It is longer than [`LINE_BYTES_MAX`].
    Size,
    /// It nests deeper than [`RECORD_DEPTH_MAX`].
    Depth,
    /// It holds what JSON cannot.
    Json(String),
}

/// Adds an entry's line to `buffer`; on an error the buffer's end is undefined.
pub(crate) fn encode(buffer: &mut Vec<u8>, entry: &Entry, prev: Sum) -> Result<Sum, LineError> {
    let start = buffer.len();
    encode_said(buffer, entry)?;
    buffer.extend_from_slice(PREV_KEY);
    buffer.extend_from_slice(&prev.0);
    buffer.push(b'"');
    let sum = seal(buffer, start);
    if buffer.len() - start > LINE_BYTES_MAX {
        return Err(LineError::Size);
    }
    Ok(sum)
}

/// Adds what an entry's line says, without its checksums and without its closing brace.
pub(crate) fn encode_said(buffer: &mut Vec<u8>, entry: &Entry) -> Result<(), LineError> {
    let (seq, at) = (entry.seq, entry.at.millis());
    let json = |error: &dyn std::fmt::Display| LineError::Json(error.to_string());
    let version = typed::version(entry.record.kind());
    write!(buffer, r#"{{"seq":{seq},"at":{at},"v":{version}"#).map_err(|e| json(&e))?;
    // The record is an object of its own, `{"kind":..,"body":..}`; its fields join the line's.
    let opening = buffer.len();
    let depth = heeler_json::write(buffer, &entry.record).map_err(|e| json(&e))?;
    buffer[opening] = b',';
    buffer.pop();
    if depth > RECORD_DEPTH_MAX { Err(LineError::Depth) } else { Ok(()) }
}

/// Ends the line that began at `start` with its checksum.
pub(crate) fn seal(buffer: &mut Vec<u8>, start: usize) -> Sum {
    let sum = Sum::of(&buffer[start..]);
    buffer.extend_from_slice(&ending(sum));
    sum
}

/// What every line of this checksum ends in, its newline included.
pub(crate) fn ending(sum: Sum) -> Vec<u8> {
    [SUM_KEY, &sum.0, b"\"}\n"].concat()
}

/// What a line says and its checksum, when the checksum is right. The line comes without newline.
pub(crate) fn unseal(line: &[u8]) -> Option<(&[u8], Sum)> {
    let (said, stated) = split_quoted(line.strip_suffix(b"}")?, SUM_KEY)?;
    (Sum::of(said) == stated).then_some((said, stated))
}

/// A record's line as its envelope tells, the body not yet parsed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordLine<'a> {
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) version: u64,
    pub(crate) kind: &'a str,
    /// The body as JSON; `None` for a kind that has none.
    pub(crate) body: Option<&'a str>,
    /// The checksum of the line before.
    pub(crate) prev: Sum,
    /// The bytes from the line's start to the end of its body.
    pub(crate) said: &'a [u8],
}

impl<'a> RecordLine<'a> {
    /// Reads the envelope of what [`unseal`] gave.
    pub(crate) fn parse(unsealed: &'a [u8]) -> Option<Self> {
        let (said, prev) = split_quoted(unsealed, PREV_KEY)?;
        let text = std::str::from_utf8(said).ok()?;
        let (seq, text) = number(text.strip_prefix(r#"{"seq":"#)?)?;
        let (at, text) = number(text.strip_prefix(r#","at":"#)?)?;
        let (version, text) = number(text.strip_prefix(r#","v":"#)?)?;
        let (kind, text) = text.strip_prefix(r#","kind":""#)?.split_once('"')?;
        let body = match text {
            "" => None,
            _ => Some(text.strip_prefix(r#","body":"#)?),
        };
        Some(Self { seq, at: Timestamp(at), version, kind, body, prev, said })
    }
}

/// Splits `…KEY<checksum>"` into what comes before the key and the checksum.
fn split_quoted<'a>(bytes: &'a [u8], key: &[u8]) -> Option<(&'a [u8], Sum)> {
    let (rest, sum) = bytes.strip_suffix(b"\"")?.split_last_chunk::<SUM_CHARS>()?;
    Some((rest.strip_suffix(key)?, Sum(*sum)))
}

/// The decimal number at the beginning, and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Block, Input, Record, SteeringId, SteeringQueued, ToolResult};

    use super::*;

    fn check(record: Record, line: Expect) {
        let entry = Entry { seq: 7, at: Timestamp(1234), record };
        let mut buffer = Vec::new();
        let sum = encode(&mut buffer, &entry, Sum::UNKNOWN).unwrap();
        line.assert_eq(std::str::from_utf8(&buffer).unwrap());
        let (unsealed, stated) = unseal(buffer.strip_suffix(b"\n").unwrap()).unwrap();
        let read = RecordLine::parse(unsealed).unwrap();
        assert_eq!((stated, read.prev), (sum, Sum::UNKNOWN));
        assert_eq!((read.seq, read.at, read.version), (7, Timestamp(1234), 1));
        assert_eq!(read.kind, entry.record.kind());
    }

    #[test]
    fn a_line_is_one_object_with_its_checksums_last() {
        check(
            Record::Input(Box::new(Input::text("hi\n"))),
            expect![[r#"
                {"seq":7,"at":1234,"v":1,"kind":"input","body":{"blocks":[{"text":{"text":"hi\n"}}],"origin":{}},"prev":"00000000000000000000000000000000","sum":"47511e2748bcaade213643fa7ab6270b"}
            "#]],
        );
        check(
            Record::TimePassed,
            expect![[r#"
                {"seq":7,"at":1234,"v":1,"kind":"time_passed","prev":"00000000000000000000000000000000","sum":"ce7a7265eb264832df099b9dbbd3a588"}
            "#]],
        );
    }

    fn nested(levels: usize) -> Block {
        (0..levels).fold(Block::text("x"), |inner, _| {
            Block::from(ToolResult {
                tool_use_id: String::new(),
                content: vec![inner],
                is_error: false,
                cache: None,
            })
        })
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let encode_blocks = |blocks| {
            let input = Input { blocks, origin: Default::default() };
            let record = Record::SteeringQueued(Box::new(SteeringQueued::said(
                SteeringId("s".to_owned()),
                input,
            )));
            let entry = Entry { seq: 1, at: Timestamp(0), record };
            encode(&mut Vec::new(), &entry, Sum::UNKNOWN).map(|_| ())
        };
        assert_eq!(encode_blocks(vec![nested(31)]), Ok(()));
        assert_eq!(encode_blocks(vec![nested(33)]), Err(LineError::Depth));
        let long = "x".repeat(LINE_BYTES_MAX - 300);
        assert_eq!(encode_blocks(vec![Block::text(&long)]), Ok(()));
        let too_long = long + &"x".repeat(300);
        assert_eq!(encode_blocks(vec![Block::text(too_long)]), Err(LineError::Size));
    }
}
