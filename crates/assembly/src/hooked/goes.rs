//! Into which folders a line goes, so that it is read there, too.

/// Options that name a folder to work in, beside `-C` of env, make, git and tar.
const FOLDER_OPTIONS: [&str; 6] =
    ["--chdir", "--cwd", "--dir", "--directory", "--prefix", "--working-directory"];

/// What makes of a word a folder that is changed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    Nowhere,
    /// `cd` and its like, whose operand it is.
    Command,
    /// The same, and it begins with `$(...)`: what stands behind that.
    Behind,
    /// An option of another program. Of some it means something else, so the word may be any, too.
    Option,
}

impl Goes {
    /// The folder that a word names, and what the next one is.
    pub(super) fn behind(self, word: &str, begins: bool) -> (Option<&str>, Self) {
        if matches!(word, "cd" | "pushd") {
            return (None, Self::Command);
        }
        match self {
            // What the substitution runs is passed over. As it may have no such end, that word may be any, too.
            Self::Behind if begins && word.starts_with('/') => return (Some(word), Self::Nowhere),
            Self::Behind => return (None, self),
            Self::Command if word == "$" => return (None, Self::Behind),
            Self::Command | Self::Option if begins => {}
            // Back to where the line was before.
            Self::Command if word == "-" => return (None, Self::Nowhere),
            Self::Command if word.starts_with('-') => return (None, self),
            Self::Command | Self::Option => return (Some(word), Self::Nowhere),
            Self::Nowhere => {}
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if FOLDER_OPTIONS.contains(&name) {
            return (value, if value.is_some() { Self::Nowhere } else { Self::Option });
        }
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        match letters.and_then(|letters| letters.split_once('C')) {
            Some((before, "")) if before.chars().all(char::is_alphabetic) => (None, Self::Option),
            Some(("", folder)) => (Some(folder), Self::Nowhere),
            _ => (None, Self::Nowhere),
        }
    }
}
