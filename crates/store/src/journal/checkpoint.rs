//! A checkpoint's bytes: a line that says where in which journal it belongs, the state, and the
//! checksum of both.
//!
//! The line is sealed like a journal's. Whatever is amiss, the journal is folded whole, so a reader
//! learns nothing but that.

use std::io::{self, Write};

use heeler_core::{Seq, from_json_bytes};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::line::{SUM_CHARS, Sum, seal, unseal};
use super::scan::End;

/// The longest first line; the beginning of a file that is looked at holds it whole.
pub(crate) const CHECKPOINT_LINE_BYTES_MAX: usize = 1024;

/// The layout of the file.
const LAYOUT: &str = "heeler-checkpoint-1";

#[derive(Serialize, Deserialize)]
struct Line {
    checkpoint: String,
    /// The form of the state.
    format: String,
    seq: Seq,
    /// The journal's bytes up to the record's end.
    length: u64,
    /// The journal's lines up to there.
    lines: u64,
    /// The checksum of the record's line.
    chain: String,
}

/// Writes a checkpoint at `end`, of at most `bytes_max` bytes.
pub(crate) fn encode_checkpoint(
    out: impl Write,
    bytes_max: usize,
    format: &str,
    end: &End,
    state: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let line = Line {
        checkpoint: LAYOUT.to_owned(),
        format: format.to_owned(),
        seq: end.seq,
        length: end.length,
        lines: end.lines,
        chain: end.sum.text().to_owned(),
    };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.pop();
    seal(&mut bytes, 0);
    let mut out =
        Summed { out, hash: Sha256::new(), bytes_left: bytes_max.saturating_sub(SUM_CHARS) };
    out.write_all(&bytes)?;
    state(&mut out)?;
    let sum = Sum::of_hash(out.hash);
    out.out.write_all(sum.text().as_bytes())?;
    out.out.flush()
}

/// Hashes what passes, and lets only so much pass.
struct Summed<W> {
    out: W,
    hash: Sha256,
    bytes_left: usize,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes_left =
            self.bytes_left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.hash.update(bytes);
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The record after which a checkpoint was made, from the beginning of its bytes.
pub(crate) fn seq_of_checkpoint(bytes: &[u8]) -> Option<Seq> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    unseal(line)?;
    Some(from_json_bytes::<Line>(line).ok()?.seq)
}

/// Where a checkpoint belongs, and of its bytes only the state; or what is amiss.
pub(crate) fn decode_checkpoint(
    mut bytes: Vec<u8>,
    format: &str,
) -> Result<(End, Vec<u8>), &'static str> {
    let (all, sum) = bytes.split_last_chunk::<SUM_CHARS>().ok_or("it is torn")?;
    let sum = std::str::from_utf8(sum).ok().and_then(Sum::parse);
    if sum != Some(Sum::of_hash(Sha256::new_with_prefix(all))) {
        return Err("it is torn or was changed");
    }
    let line_end = all.iter().position(|byte| *byte == b'\n').ok_or("it has no first line")?;
    let line: Line = from_json_bytes(&all[..line_end]).map_err(|_| "it is of another layout")?;
    if line.checkpoint != LAYOUT || line.format != format {
        return Err("it is of another version");
    }
    let sum = Sum::parse(&line.chain).ok_or("it names no record")?;
    let Line { seq, length, lines, .. } = line;
    bytes.truncate(bytes.len() - SUM_CHARS);
    bytes.drain(..=line_end);
    Ok((End { length, lines, seq, unreadable: 0, sum, is_open: false }, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> End {
        let sum = Sum::of_hash(Sha256::new_with_prefix("a line"));
        End { length: u64::MAX, lines: u64::MAX, seq: 7, unreadable: 0, sum, is_open: false }
    }

    fn encoded(state: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let format = "f".repeat(32);
        encode_checkpoint(&mut bytes, bytes_max, &format, &end(), |out| out.write_all(state))?;
        Ok(bytes)
    }

    fn decoded(bytes: &[u8]) -> Result<(End, Vec<u8>), &'static str> {
        decode_checkpoint(bytes.to_vec(), &"f".repeat(32))
    }

    #[test]
    fn a_checkpoint_comes_back_with_its_place() {
        let state = b"{\"a\":\"\\n\"}\nmore";
        let bytes = encoded(state, 1000).unwrap();
        assert_eq!(decoded(&bytes), Ok((end(), state.to_vec())));
        let beginning = &bytes[..bytes.len().min(CHECKPOINT_LINE_BYTES_MAX)];
        assert_eq!(seq_of_checkpoint(beginning), Some(7));
        assert_eq!(decode_checkpoint(bytes, "f2"), Err("it is of another version"));
        let long = encoded(&[b'x'; 2000], 3000).unwrap();
        assert_eq!(seq_of_checkpoint(&long[..CHECKPOINT_LINE_BYTES_MAX]), Some(7));
    }

    #[test]
    fn a_cut_or_a_flipped_bit_anywhere_makes_it_none() {
        let bytes = encoded(b"the state", 1000).unwrap();
        for n in 0..bytes.len() {
            assert!(decoded(&bytes[..n]).is_err(), "cut at {n}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[n] ^= 1 << bit;
                assert!(decoded(&flipped).is_err(), "bit {bit} of {n}");
            }
        }
        assert!(decoded(&[&bytes[..], b"x"].concat()).is_err());
        assert_eq!((seq_of_checkpoint(b""), seq_of_checkpoint(b"{}\n")), (None, None));
    }

    #[test]
    fn a_state_that_is_too_long_is_not_written() {
        let length = encoded(b"the state", 1000).unwrap().len();
        assert!(encoded(b"the state", length).is_ok());
        let error = encoded(b"the state", length - 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
