//! Reads TOML by way of JSON, and writes values as TOML.
//!
//! Each type that is read has a reader compiled for each format, of some kilobytes. What is read as
//! JSON anyway, or once in a while, is read as JSON here, and the program has one kind of readers.
//!
//! ```
//! let read: std::collections::BTreeMap<String, u8> = heeler_toml::read("a = 1\n").unwrap();
//! assert_eq!(heeler_toml::write(&read).unwrap(), "a = 1\n");
//! ```
//!
//! Invariant: the JSON of a document has each value on the line where it stands in the TOML, so that
//! what is said of a line is true of both.

mod read;
mod write;

pub use read::{Converted, NoToml, converted, read};
pub use write::write;
