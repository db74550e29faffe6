//! Reads a whole journal into typed entries.

use std::io::BufRead;

use heeler_core::{Entry, Journal};

use super::scan::{ScanError, scan};
use super::typed;

/// Reads a journal; what cannot be read is told in its damage.
pub(crate) fn read(reader: impl BufRead) -> Result<Journal, ScanError> {
    let mut entries = Vec::new();
    let scanned = scan(reader, |line| {
        let record = typed::record(line.kind, line.body)
            .map_err(|error| format!("the body of record kind `{}`: {error}", line.kind))?;
        entries.push(Entry { seq: line.seq, at: line.at, record });
        Ok(())
    })?;
    Ok(Journal {
        header: scanned.header,
        entries,
        damage: scanned.damage,
        torn_bytes: scanned.torn_bytes,
    })
}
