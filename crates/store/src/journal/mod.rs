//! The bytes of a journal: lines with checksums in a chain, read from any byte stream and written
//! through any [`Medium`]. Knows no folders and no locks.

mod ahead;
mod checkpoint;
mod header;
mod label;
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

pub(crate) use ahead::unseal_open;
pub(crate) use checkpoint::{
    CHECKPOINT_LINE_BYTES_MAX, decode_checkpoint, encode_checkpoint, seq_of_checkpoint,
};
pub(crate) use header::{HeaderError, encode_header};
pub(crate) use label::Label;
pub(crate) use line::{LineError, encode as encode_entry};
pub(crate) use lines::Lines;
pub(crate) use medium::{Medium, ReadFrom};
pub(crate) use read::{Collected, entry_of_line, latest, stands};
pub(crate) use scan::{End, ScanError, scan_header};
pub(crate) use writer::{AppendError, OpenError, Writer};
