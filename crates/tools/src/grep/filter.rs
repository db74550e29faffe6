//! Which files a search looks into: those its `glob` and `type` leave.

use std::path::Path;

use globset::GlobMatcher;
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
    glob: GlobMatcher,
    /// The pattern has no folder in it, so it is about the name alone.
    name_only: bool,
}

impl Filter {
    pub(super) fn new(input: &GrepInput) -> Result<Self, ToolError> {
        let text = input.glob.as_deref().unwrap_or("");
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        let globs = globs(text);
        if GLOBS_MAX < globs.len() {
            return Err(ToolError::for_model(format!(
                "glob has {} patterns; at most {GLOBS_MAX} are possible",
                globs.len()
            )));
        }
        for glob in globs {
            match glob.strip_prefix('!') {
                Some(glob) => unwanted.push(Pattern::new(glob)?),
                None => wanted.push(Pattern::new(glob)?),
            }
        }
        let types = input.r#type.as_deref().map(types).transpose()?;
        Ok(Self { wanted, unwanted, types, names_hidden: walk::names_hidden(text) })
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

/// The globs of an input: models separate them with commas and spaces.
fn globs(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(move |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.is_whitespace() || (c == ',' && depth == 0)
    })
    .filter(|glob| !glob.is_empty())
    .collect()
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
        assert_eq!(globs("*.rs, *.{ts,tsx} !x"), ["*.rs", "*.{ts,tsx}", "!x"]);
        assert!(globs(" , ").is_empty());
    }
}
