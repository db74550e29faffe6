//! Which files a search looks into: those its `glob` and `type` leave.

use std::path::Path;

use globset::GlobSet;
use heeler_core::ToolError;
use ignore::types::{Types, TypesBuilder};

use super::GrepInput;
use crate::walk;

/// Globs in one input.
const GLOBS_MAX: usize = 50;
/// Names of types that an error suggests.
const SUGGESTIONS_MAX: usize = 5;

pub(super) struct Filter {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
    types: Option<Types>,
    names_hidden: bool,
}

struct Pattern {
    glob: GlobSet,
    /// The pattern has no folder in it, so it is about the name alone.
    name_only: bool,
}

impl Filter {
    pub(super) fn new(input: &GrepInput) -> Result<Self, ToolError> {
        // Behind a comma in braces it would count.
        let text = &input.glob.as_deref().unwrap_or("").replace(", ", ",");
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        let globs = globs(text);
        if GLOBS_MAX < globs.len() {
            return Err(ToolError::for_model(format!(
                "glob has more than {GLOBS_MAX} patterns; name fewer"
            )));
        }
        let names_hidden = globs.iter().any(|glob| walk::names_hidden(glob));
        for glob in globs {
            match glob.strip_prefix('!') {
                Some(glob) => unwanted.push(Pattern::new(glob)?),
                None => wanted.push(Pattern::new(glob)?),
            }
        }
        let types = input.r#type.as_deref().map(types).transpose()?;
        Ok(Self { wanted, unwanted, types, names_hidden })
    }

    /// Whether hidden files are asked for.
    pub(super) fn names_hidden(&self) -> bool {
        self.names_hidden
    }

    /// Whether the search looks into the file at `path` below `base`.
    pub(super) fn wants(&self, base: &Path, path: &Path) -> bool {
        let inside = path.strip_prefix(base).unwrap_or(path);
        let matches = |pattern: &Pattern| pattern.matches(inside);
        (self.wanted.is_empty() || self.wanted.iter().any(matches))
            && !self.unwanted.iter().any(matches)
            && self.types.as_ref().is_none_or(|types| types.matched(path, false).is_whitelist())
    }
}

impl Pattern {
    fn new(glob: &str) -> Result<Self, ToolError> {
        let glob = glob.trim_start_matches("./").trim_start_matches('/');
        // A folder stands for everything in it.
        let all = if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() };
        Ok(Self { glob: walk::glob(&all)?, name_only: !all.contains('/') })
    }

    fn matches(&self, path: &Path) -> bool {
        match path.file_name() {
            Some(name) if self.name_only => self.glob.is_match(name),
            _ => self.glob.is_match(path),
        }
    }
}

/// The globs of an input, between commas. Models separate them with spaces, too, which also stand in
/// names: so each word counts where all of them look like globs, and what they stand in as well.
fn globs(text: &str) -> Vec<&str> {
    let mut globs = Vec::new();
    for part in split(text, |char| char == ',') {
        // Behind a space, that is where the next one begins.
        let ends = part.match_indices(" !").map(|(at, _)| at).chain([part.len()]);
        let mut begin = 0;
        for end in ends {
            let one = part[begin..end].trim();
            let words = split(one, char::is_whitespace);
            if words.len() > 1 && words.iter().all(|word| looks_like_glob(word)) {
                globs.extend(words);
            }
            globs.push(one);
            begin = end;
        }
    }
    globs.retain(|glob| !glob.is_empty());
    globs
}

fn looks_like_glob(word: &str) -> bool {
    word.contains(['*', '?', '[', '{', '.']) || word.ends_with('/')
}

/// What stands between separators, outside of braces.
fn split(text: &str, is_separator: impl Fn(char) -> bool) -> Vec<&str> {
    let mut depth = 0usize;
    let parts = text.split(move |char: char| {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_separator(char)
    });
    parts.filter(|part| !part.is_empty()).collect()
}

fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| {
        let similar: Vec<_> = TypesBuilder::new()
            .add_defaults()
            .definitions()
            .iter()
            .map(|known| known.name().to_owned())
            .filter(|known| known.starts_with(name) || (known.len() > 1 && name.starts_with(known)))
            .take(SUGGESTIONS_MAX)
            .collect();
        let hint = match similar.join(", ") {
            none if none.is_empty() => "use glob, such as `*.ext`".to_owned(),
            some => format!("did you mean {some}? Or use glob, such as `*.ext`"),
        };
        ToolError::for_model(format!("`{name}` is no file type; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_separated_outside_of_braces() {
        for (text, expected) in [
            ("*.rs, *.{ts,tsx} !x", &["*.rs", "*.{ts,tsx}", "!x"][..]),
            ("my notes.txt", &["my notes.txt"]),
            ("!my notes.txt !b", &["!my notes.txt", "!b"]),
            ("*.rs  *.ts", &["*.rs", "*.ts", "*.rs  *.ts"]),
            ("*my notes*, a.b c", &["*my", "notes*", "*my notes*", "a.b c"]),
            ("Cargo.toml Cargo.lock", &["Cargo.toml", "Cargo.lock", "Cargo.toml Cargo.lock"]),
            ("{my notes,b}.txt src/", &["{my notes,b}.txt", "src/", "{my notes,b}.txt src/"]),
        ] {
            assert_eq!(globs(text), expected, "{text}");
        }
        assert!(globs(" , ").is_empty());
    }
}
