//! What somebody wrote, as a value of its own: text, folded pastes, images.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most columns an image's name takes in its label.
const IMAGE_NAME_COLUMNS_MAX: usize = 40;

/// A piece of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// What was typed.
    Text(String),
    /// What was pasted and is shown as one line.
    Paste(Arc<str>),
    /// An image that goes along.
    Image(Attachment),
}

/// An image that goes along with what was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attachment {
    /// What it is called on the screen and to the model.
    pub name: String,
    /// Where its bytes are.
    pub source: ImageSource,
}

/// Where an image's bytes are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ImageSource {
    /// In a file, which is read when it is sent.
    Path(PathBuf),
    /// Here: a clipboard had no file.
    Bytes(Arc<[u8]>),
}

impl std::fmt::Debug for ImageSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
        }
    }
}

impl Attachment {
    /// The image in a file, called as the file is.
    pub fn of_path(path: &Path) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { name, source: ImageSource::Path(path.to_owned()) }
    }

    /// An image that is only in memory.
    pub fn of_bytes(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), source: ImageSource::Bytes(bytes.into()) }
    }
}

/// What somebody wrote: kept in histories, put back into a composer, sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Draft {
    /// Its pieces, in order; no two texts stand beside each other.
    pub parts: Vec<Part>,
}

impl Draft {
    /// All of it as text: pastes whole, images as their labels.
    pub fn text(&self) -> String {
        self.parts.iter().fold(String::new(), |text, part| match part {
            Part::Text(piece) => text + piece,
            Part::Paste(piece) => text + piece,
            Part::Image(_) => text + &part.label(),
        })
    }

    /// As it is shown: pastes and images as their labels.
    pub fn shown(&self) -> String {
        self.parts.iter().map(Part::label).collect()
    }

    /// The images, in order.
    pub fn images(&self) -> Vec<Attachment> {
        let image = |part: &Part| match part {
            Part::Image(image) => Some(image.clone()),
            Part::Text(_) | Part::Paste(_) => None,
        };
        self.parts.iter().filter_map(image).collect()
    }

    /// Whether there is nothing to send.
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) => text.trim().is_empty(),
            Part::Paste(_) | Part::Image(_) => false,
        })
    }
}

impl From<&str> for Draft {
    fn from(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }
}

impl Part {
    /// How it is shown.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Paste(text) => match text.lines().count() {
                0 | 1 => format!("[pasted {}]", size(text.len())),
                lines => format!("[pasted {lines} lines]"),
            },
            Self::Image(image) => format!("[image: {}]", short(&image.name)),
        }
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A file's name may be anything: controls out, the middle left out where it is long.
fn short(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .filter(|letter| !super::units::is_marker(*letter))
        .collect();
    let count = plain.chars().count();
    if count <= IMAGE_NAME_COLUMNS_MAX {
        return plain;
    }
    let half = IMAGE_NAME_COLUMNS_MAX / 2 - 1;
    let head: String = plain.chars().take(half).collect();
    let tail: String = plain.chars().skip(count - half).collect();
    format!("{head}..{tail}")
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Submission {
    /// The text, pastes whole, images as their labels.
    pub text: String,
    /// The images, in the order of their labels.
    pub images: Vec<Attachment>,
    /// The text as it was shown: pastes folded.
    pub shown: String,
    /// All of it, to be put back or kept in a history.
    pub draft: Draft,
}

impl From<Draft> for Submission {
    fn from(draft: Draft) -> Self {
        Self { text: draft.text(), images: draft.images(), shown: draft.shown(), draft }
    }
}
