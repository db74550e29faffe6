//! The bytes of a journal: lines with checksums in a chain, read from any byte stream and written
//! through any [`Medium`]. Knows no folders and no locks.

mod header;
mod kinds;
mod line;
mod lines;
mod medium;
mod read;
mod scan;
mod title;
mod typed;
mod writer;

pub use header::HEADER_BYTES_MAX;
pub use line::{LINE_BYTES_MAX, RECORD_DEPTH_MAX};
pub use scan::DAMAGE_MAX;

pub(crate) use header::{HeaderError, encode_header};
pub(crate) use line::LineError;
pub(crate) use medium::Medium;
pub(crate) use read::read;
pub(crate) use scan::ScanError;
pub(crate) use title::{HEAD_BYTES, read_head, title_of_input};
pub(crate) use writer::{AppendError, OpenError, READ_BUFFER_BYTES, Writer};
