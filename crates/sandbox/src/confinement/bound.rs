//! The bounds of a box that end a command which reaches them.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a confined command reached that nothing refuses beforehand: it and all it started were
/// killed, or, if it had ended by then, what it left was put aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bound {
    /// More memory than this.
    Memory {
        /// What it may take.
        bytes_max: u64,
    },
    /// More processes than this.
    Processes {
        /// How many it may have.
        count_max: u32,
    },
    /// More bytes written than this, to files and pipes.
    Written {
        /// What it may write.
        bytes_max: u64,
    },
    /// A file system that it may write to has that much less room than at its start.
    Disk {
        /// What it may take.
        bytes_max: u64,
    },
    /// Something came to be under a protected name, or took the place of a protected link.
    Protected {
        /// The protected name.
        path: PathBuf,
        /// Where that is now; `None` when it was only taken away, or could not be moved.
        aside: Option<PathBuf>,
    },
    /// Something that is protected was replaced outside, and could not be protected again.
    Replaced {
        /// The protected name.
        path: PathBuf,
    },
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { bytes_max } => {
                write!(f, "it took more than {} of memory", size(*bytes_max))
            }
            Self::Processes { count_max } => write!(f, "it had more than {count_max} processes"),
            Self::Written { bytes_max } => write!(f, "it wrote more than {}", size(*bytes_max)),
            Self::Disk { bytes_max } => {
                write!(f, "the disk lost more than {} of room while it ran", size(*bytes_max))
            }
            Self::Protected { path, aside: Some(aside) } => {
                let (path, aside) = (path.display(), aside.display());
                write!(f, "it made `{path}`, which is protected; that is now `{aside}`")
            }
            Self::Protected { path, aside: None } => {
                write!(f, "it changed `{}`, which is protected", path.display())
            }
            Self::Replaced { path } => write!(
                f,
                "`{}`, which is protected, was replaced while it ran, and could not be kept from it any more",
                path.display()
            ),
        }
    }
}

/// In the largest unit that divides it, since limits are round.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fitting =
        units.iter().find(|(bits, _)| bytes >= 1 << bits && bytes.trailing_zeros() >= *bits);
    match fitting {
        Some((bits, unit)) => format!("{} {unit}", bytes >> bits),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_was_reached() {
        let said = |bound: Bound| bound.to_string();
        assert_eq!(said(Bound::Memory { bytes_max: 8 << 30 }), "it took more than 8 GiB of memory");
        assert_eq!(said(Bound::Processes { count_max: 3 }), "it had more than 3 processes");
        assert_eq!(said(Bound::Written { bytes_max: 1536 }), "it wrote more than 1536 bytes");
        assert_eq!(
            said(Bound::Disk { bytes_max: 3 << 19 }),
            "the disk lost more than 1536 KiB of room while it ran"
        );
        let (path, aside) =
            (PathBuf::from("/a/.envrc"), Some(PathBuf::from("/a/.envrc.refused-1")));
        assert_eq!(
            said(Bound::Protected { path: path.clone(), aside }),
            "it made `/a/.envrc`, which is protected; that is now `/a/.envrc.refused-1`"
        );
        assert_eq!(
            said(Bound::Protected { path: path.clone(), aside: None }),
            "it changed `/a/.envrc`, which is protected"
        );
        assert_eq!(
            said(Bound::Replaced { path }),
            "`/a/.envrc`, which is protected, was replaced while it ran, and could not be kept from it \
             any more"
        );
    }
}
