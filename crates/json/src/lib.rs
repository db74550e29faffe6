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

use serde::Serialize;

pub use text::string;

/// Why a value has no JSON: a key that is no text, or what the value's own type says.
pub type Error = serde_json::Error;

/// Adds a value's JSON, without white space, to `out`; on an error its end is undefined. Returns how deep
/// brackets are nested in it, those within raw values not counted.
///
/// # Errors
/// When the value has no JSON.
pub fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<usize, Error> {
    let mut writer = writer::Writer::new(out);
    value.serialize(&mut writer)?;
    Ok(writer.deepest())
}

#[cfg(test)]
mod tests;
