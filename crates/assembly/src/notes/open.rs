//! Opening one file of notes: where it really is, whether that is closed, and nothing else.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use heeler_core::{Access, Facts, Mode, Policy, RuleEffect, Verdict};
use heeler_turn::verdict::judge;
use sha2::{Digest, Sha256};

/// Bytes of the longest file that is read at all; more than may be told of all notes.
pub(super) const READ_BYTES_MAX: u64 = 4 << 20;

/// What tells that a file is another one, without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The device, and the number of the file there.
    pub(super) file: (u64, u64),
    pub(super) bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// That of the file this path leads to; `None` when it leads to none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Where a file may lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bounds {
    /// In this folder, through no link out of it.
    Below(PathBuf),
    /// Anywhere that is not closed: the user's own file says so.
    Anywhere,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Opened {
    /// Through no link.
    pub(super) real: PathBuf,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    pub(super) text: String,
}

/// Why a file is not told of.
#[derive(Debug)]
pub(super) enum Refused {
    /// There is none; nobody needs to know.
    Absent,
    /// A person should know.
    Because(String),
}

/// Reads a file of notes.
pub(super) fn open(path: &Path, bounds: &Bounds, policy: &Policy) -> Result<Opened, Refused> {
    let because = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Refused::Absent,
        _ => Refused::Because(error.to_string()),
    };
    let real = path.canonicalize().map_err(because)?;
    if let Bounds::Below(folder) = bounds {
        let folder = folder.canonicalize().map_err(because)?;
        if !real.starts_with(&folder) {
            return Err(Refused::Because("it leads out of the repository".to_owned()));
        }
    }
    if is_closed(&real, policy) || (path != real && is_closed(path, policy)) {
        return Err(Refused::Because("a rule or a secret closes it".to_owned()));
    }
    read(&real).map_err(because)?.map_err(|why| Refused::Because(why.to_owned())).map(
        |(content, bytes)| Opened {
            sha256: Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect(),
            text: plain(&content),
            bytes,
            real,
        },
    )
}

/// The bytes of a plain file that is still the one its path leads to.
fn read(real: &Path) -> io::Result<Result<(Vec<u8>, u64), &'static str>> {
    // Neither a link that came meanwhile nor a pipe that nobody writes to.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = flags.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(real)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err("it is no file"));
    }
    if metadata.len() > READ_BYTES_MAX {
        return Ok(Err("it is too large"));
    }
    if real.canonicalize()? != *real || !is_same(&metadata, &fs::symlink_metadata(real)?) {
        return Ok(Err("it was moved meanwhile"));
    }
    let mut content = Vec::new();
    file.take(READ_BYTES_MAX).read_to_end(&mut content)?;
    if content.contains(&0) {
        return Ok(Err("it is no text"));
    }
    Ok(Ok((content, metadata.len())))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether no tool could read this, whatever the mode and whatever is allowed.
fn is_closed(path: &Path, policy: &Policy) -> bool {
    let Some(path) = path.to_str() else { return true };
    let denials = policy.rules.iter().filter(|rule| rule.effect == RuleEffect::Deny);
    let policy = Policy { mode: Mode::Bypass, rules: denials.cloned().collect(), ..policy.clone() };
    let facts = Facts { accesses: vec![Access::Read(path.to_owned())], ..Facts::default() };
    matches!(judge(&policy, &[], "Read", &facts).verdict, Verdict::Deny { .. })
}

/// Text with plain line ends, without the mark of other systems' editors and without what commands
/// a terminal.
fn plain(content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(|c| is_plain(*c)).collect();
    text.trim_end().to_owned()
}
