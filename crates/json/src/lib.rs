//! Writes values as JSON: the bytes that `serde_json` writes.
//!
//! Journals and event lines are most of what a session writes, and what it writes is mostly text. This
//! looks at eight bytes of it at a time, and counts how deep a value nests while it is written, so that
//! nobody has to read a line again to know.
//!
//! ```
//! let mut line = Vec::new();
//! let depth = heeler_json::write(&mut line, &("a\n", [1, 2])).unwrap();
//! assert_eq!((line.as_slice(), depth), (br#"["a\n",[1,2]]"#.as_slice(), 2));
//! ```
//!
//! Invariant: nothing here reads JSON, and what is written is what `serde_json` would write, or both refuse
//! it.

mod text;
mod writer;

use std::io;

use serde::Serialize;

pub use text::string;

/// Why a value has no JSON: a key that is no text, or what the value's own type says.
pub type Error = serde_json::Error;

/// How much waits before it is handed on, where a value is written in pieces.
pub const PIECE_BYTES: usize = 128 * 1024;

/// Takes what was written so far, and empties it.
pub type Full<'f> = dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'f;

/// Adds a value's JSON, without white space, to `out`; on an error its end is undefined. Returns how deep
/// brackets are nested in it, those within raw values not counted.
///
/// # Errors
/// When the value has no JSON.
pub fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<usize, Error> {
    let mut writer = writer::Writer::new(out, None);
    value.serialize(&mut writer)?;
    Ok(writer.deepest())
}

/// Writes as [`write()`] does, but `full` takes what was written as soon as it is [`PIECE_BYTES`] long: the
/// JSON of a long text is never there as a whole. The end stays in `out`.
///
/// # Errors
/// That of `full`, or when the value has no JSON; what was handed on then stays so.
pub fn write_in_pieces<'o, T: Serialize + ?Sized>(
    out: &'o mut Vec<u8>,
    value: &T,
    full: &'o mut Full<'o>,
) -> io::Result<usize> {
    let mut writer = writer::Writer::new(out, Some(full));
    match value.serialize(&mut writer) {
        Ok(()) => Ok(writer.deepest()),
        Err(error) => Err(writer.refused().unwrap_or_else(|| error.into())),
    }
}

#[cfg(test)]
mod tests;
