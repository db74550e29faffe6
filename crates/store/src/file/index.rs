//! What is known of all sessions, in one file beside them, so that a list opens only journals that
//! changed.
//!
//! The file can be lost or be of any age: a journal's length, time and inode say whether what it says
//! of that journal is still so, and what it does not know is read from the journals. Whoever lists
//! writes it anew once that saves more than it costs.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use heeler_core::{SessionHeader, SessionId, SessionSummary, Timestamp, from_json_bytes};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::checkpoint::{read_file, remove_file};
use super::place::{Place, overwrite};
use crate::journal::Label;

/// The longest file; what is longer is not written, and not read.
const INDEX_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What a file of this form begins with. Another form gets another line, and none of the other is read.
const FIRST_LINE: &str = "heeler-sessions 3";

/// How a file is told from the one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    pub(super) length: u64,
    seconds: i64,
    nanos: i64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            length: metadata.len(),
            seconds: metadata.mtime(),
            nanos: metadata.mtime_nsec(),
        }
    }

    /// Whether a file that had this stamp may since have grown to that one, and nothing else.
    pub(super) fn grew_to(&self, now: &Self) -> bool {
        self.inode == now.inode && self.length <= now.length
    }

    pub(super) fn time(&self) -> Timestamp {
        let millis = self.seconds.saturating_mul(1000).saturating_add(self.nanos / 1_000_000);
        Timestamp(u64::try_from(millis).unwrap_or_default())
    }
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    pub(super) header: SessionHeader,
    pub(super) label: Label,
    /// Its label says what stands in the journal up to here.
    pub(super) read_to: u64,
}

impl Known {
    pub(super) fn summary(&self) -> SessionSummary {
        self.label.clone().summary(self.header.clone(), self.stamp.time())
    }
}

/// All that is known. Without a file that can be used, nothing is.
pub(super) fn read(place: &Place) -> BTreeMap<SessionId, Known> {
    let path = place.index();
    match read_file(&path, INDEX_BYTES_MAX) {
        Ok(bytes) => decode(&bytes).unwrap_or_else(|| {
            tracing::info!(path = %path.display(), "an index of sessions is passed over");
            BTreeMap::new()
        }),
        Err(_) => BTreeMap::new(),
    }
}

/// Keeps what is known; that it could not be kept costs time and nothing else.
pub(super) fn write<'a>(place: &Place, known: impl Iterator<Item = &'a Known>) {
    let path = place.index();
    // What was written in part, or by two at once, has another sum and is passed over.
    let kept = encode(known).and_then(|bytes| overwrite(&path, &bytes));
    if let Err(error) = kept {
        tracing::info!(path = %path.display(), %error, "the index of sessions is not kept");
    }
}

/// Takes out what is known of a session that was deleted: its words go with it.
pub(super) fn forget(place: &Place, id: &SessionId) {
    let path = place.index();
    let forgotten = read_file(&path, INDEX_BYTES_MAX).and_then(|bytes| match decode(&bytes) {
        Some(mut known) => match known.remove(id) {
            Some(_) => overwrite(&path, &encode(known.values())?),
            None => Ok(()),
        },
        // Of another form, or written in part: nobody reads it, and what it says stays in it.
        None => remove_file(&path),
    });
    match forgotten {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::info!(path = %path.display(), %error, "the index of sessions is removed");
            let _ = remove_file(&path);
        }
        _ => {}
    }
}

fn encode<'a>(known: impl Iterator<Item = &'a Known>) -> io::Result<Vec<u8>> {
    let mut bytes = format!("{FIRST_LINE}\n").into_bytes();
    for known in known {
        serde_json::to_writer(&mut bytes, known)?;
        bytes.push(b'\n');
    }
    let sum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&sum);
    match bytes.len() <= INDEX_BYTES_MAX {
        true => Ok(bytes),
        false => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

fn decode(bytes: &[u8]) -> Option<BTreeMap<SessionId, Known>> {
    let (bytes, sum) = bytes.split_last_chunk::<32>()?;
    if Sha256::digest(bytes)[..] != sum[..] {
        return None;
    }
    let mut lines = bytes.strip_suffix(b"\n")?.split(|b| *b == b'\n');
    if lines.next()? != FIRST_LINE.as_bytes() {
        return None;
    }
    let known = |line| from_json_bytes::<Known>(line).ok().map(|k| (k.header.id.clone(), k));
    lines.map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str) -> Known {
        let header = SessionHeader {
            id: id.parse().unwrap(),
            created: Timestamp(5),
            workspace: "/space".to_owned(),
        };
        Known {
            stamp: Stamp { inode: 1, length: 2, seconds: 3, nanos: 4_000_000 },
            header,
            label: Label {
                title: "a \"title\"\n".to_owned(),
                name: "it".parse().ok(),
                forked: None,
                has_open_turn: true,
                is_begun: true,
            },
            read_to: 2,
        }
    }

    #[test]
    fn what_is_known_is_known_again_and_what_was_changed_is_not() {
        let bytes = encode([known("a"), known("b")].iter()).unwrap();
        let all = decode(&bytes).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[&"b".parse::<SessionId>().unwrap()], known("b"));
        assert_eq!(all[&"a".parse::<SessionId>().unwrap()].stamp.time(), Timestamp(3004));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(decode(&changed), None, "{at}");
            assert_eq!(decode(&bytes[..at]), None, "{at}");
        }
        assert_eq!(decode(&encode([].iter()).unwrap()), Some(BTreeMap::new()));
    }
}
