//! Matching absolute, normalized paths; no file system is asked.

use std::cell::OnceCell;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use heeler_core::is_bounded_glob;

/// `path` relative to `folder`, when it lies inside; empty for the folder itself.
pub(super) fn relative<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = match path.strip_prefix(folder.trim_end_matches('/'))? {
        "" => "",
        rest => rest.strip_prefix('/')?,
    };
    // A path that still climbs was not normalized; it lies nowhere.
    (!path.split('/').any(|part| part == "..")).then_some(rest)
}

/// `path` made absolute against `workspace`, with `.` and `..` resolved by letters.
pub(super) fn absolute(path: &str, workspace: &str) -> String {
    let from = if path.starts_with('/') { "" } else { workspace };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether `path` is `folder` or lies in it.
pub(super) fn is_inside(path: &str, folder: &str) -> bool {
    !folder.is_empty() && relative(path, folder).is_some()
}

/// As [`is_inside`]; case does not count, since a file system that folds it knows both names.
pub(super) fn is_in_any_case(path: &str, folder: &str) -> bool {
    !folder.trim_end_matches('/').is_empty() && relative_in_any_case(path, folder).is_some()
}

/// As [`relative`]; case does not count.
pub(super) fn relative_in_any_case<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches('/');
    let head = path.get(..folder.len()).filter(|head| head.eq_ignore_ascii_case(folder));
    relative(path, head?)
}

/// Whether `path` matches a rule's pattern.
pub(super) fn matches(path: &str, pattern: &str, workspace: &str) -> bool {
    Pattern::new(pattern, workspace).matches(path)
}

/// A rule's pattern, read once for all paths that are held against it: reading one takes a thousand
/// times as long.
///
/// `//x` is absolute; everything else is relative to the workspace, where a pattern without a
/// slash matches at any depth. A folder's name matches all that is in it.
pub(super) struct Pattern<'a> {
    /// Where it begins; nothing for the root.
    below: &'a str,
    text: String,
    /// Made for the first path that lies there.
    globs: OnceCell<Option<GlobSet>>,
}

impl<'a> Pattern<'a> {
    pub(super) fn new(pattern: &str, workspace: &'a str) -> Self {
        let (below, text) = match pattern.strip_prefix("//") {
            Some(absolute) if absolute.trim_end_matches('/').is_empty() => ("", "**".to_owned()),
            Some(absolute) => ("", absolute.to_owned()),
            None => (workspace, anchored(pattern.trim_start_matches("./"))),
        };
        Self { below, text, globs: OnceCell::new() }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let Some(rest) = relative(path, self.below) else { return false };
        let text = self.text.trim_end_matches('/');
        let globs = self.globs.get_or_init(|| compile(&[text, &format!("{text}/**")]));
        globs.as_ref().is_some_and(|globs| globs.is_match(rest))
    }

    /// Whether it matches a relative path seen from some folder of the workspace.
    pub(super) fn in_any_folder(&self, workspace: &str) -> impl Fn(&str) -> bool + use<> {
        let full = format!("/{}", self.text);
        let text = match self.below {
            "" => relative(&full, workspace)
                .or(full.strip_prefix('/').filter(|it| it.starts_with("**"))),
            _ => Some(self.text.as_str()),
        };
        let text = text.map(|text| text.trim_end_matches('/'));
        let ends = text.into_iter().flat_map(|text| {
            let starts = text.match_indices('/').map(|(at, _)| at + 1).chain([0]);
            starts.flat_map(|at| [text[at..].to_owned(), format!("{}/**", &text[at..])])
        });
        let ends: Vec<String> = ends.collect();
        // What cannot be taken apart may match.
        let globs = compile(&ends);
        move |path| globs.as_ref().is_none_or(|globs| globs.is_match(&absolute(path, "")[1..]))
    }
}

fn anchored(pattern: &str) -> String {
    match pattern.strip_prefix('/') {
        Some(rooted) => rooted.to_owned(),
        None if pattern.trim_end_matches('/').contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    }
}

/// Whether a rule's argument is a pattern at all.
pub(super) fn is_pattern(argument: &str) -> bool {
    compile(&[argument]).is_some()
}

/// As a set, also of one: for one alone there is no way to say that it is too large.
fn compile(patterns: &[impl AsRef<str>]) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().map(AsRef::as_ref) {
        if !is_bounded_glob(pattern) {
            return None;
        }
        set.add(
            GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .ok()?,
        );
    }
    set.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_anchored_to_the_workspace() {
        for (pattern, path, expected) in [
            ("src/**", "/w/src/a.rs", true),
            ("src", "/w/src/a.rs", true),
            ("src/*", "/w/src/a/b.rs", true),
            ("src/*", "/w/deep/src/a.rs", false),
            ("src/", "/w/deep/src/a.rs", true),
            ("./src/a.rs", "/w/src/a.rs", true),
            ("*.rs", "/w/deep/a.rs", true),
            ("/a.rs", "/w/deep/a.rs", false),
            ("src/**", "/other/src/a.rs", false),
            ("**", "/w/../etc/passwd", false),
            ("//etc/**", "/etc/passwd", true),
            ("//etc", "/etc/passwd", true),
            ("//etc/", "/etc/ssl/a", true),
            ("//etc", "/etcetera", false),
            ("//", "/etc/passwd", true),
            ("//w/**", "/w/../etc/passwd", false),
            ("[", "/w/[", false),
            (&format!("{}a{}", "{".repeat(20), "}".repeat(20)), "/w/a", true),
            (&format!("{}a{}", "{".repeat(250), "}".repeat(250)), "/w/a", false),
            (&format!("{}a{}", "{".repeat(20_000), "}".repeat(20_000)), "/w/a", false),
        ] {
            assert_eq!(matches(path, pattern, "/w"), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_seen_from_any_folder_may_be_in_one_that_a_pattern_names() {
        for (pattern, path, expected) in [
            ("secret/**", "a", true),
            ("secret/*.key", "a.key", true),
            ("secret/*.key", "b/../a.key", true),
            ("secret/*.key", "../secret/a.key", true),
            ("secret/*.key", "a", false),
            (".env", "deep/.env", true),
            (".env", "test", false),
            ("//w/secret/**", "a", true),
            ("//**/.env", ".env", true),
            ("//etc/**", "a", false),
            ("//home/x/.ssh/**", "id", false),
        ] {
            let may_match = Pattern::new(pattern, "/w").in_any_folder("/w");
            assert_eq!(may_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_folder_holds_itself_and_what_is_below_it() {
        for (path, folder, expected) in [
            ("/w", "/w", true),
            ("/w/a", "/w", true),
            ("/w/a", "/w/", true),
            ("/ws/a", "/w", false),
            ("/w/../a", "/w", false),
            ("/w", "/w/a", false),
            // Nobody said where the workspace is, so nothing is in it.
            ("/w/a", "", false),
        ] {
            assert_eq!(is_inside(path, folder), expected, "{path} {folder}");
        }
    }
}
