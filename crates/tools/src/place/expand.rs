//! What there is of what rules deny by pattern: a box closes places, and knows no patterns.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use heeler_core::Denied;

use super::walls::globs;

/// The most files and folders that are looked at for all patterns together.
pub const DENIED_ENTRIES_MAX: usize = 200_000;
/// The most places that are found: each is a wall of the box.
pub const DENIED_PLACES_MAX: usize = 512;

/// What patterns were found to mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeniedPlaces {
    /// The files and folders that match, by their real names; nothing in one that matches.
    pub places: Vec<PathBuf>,
    /// Why these are not all.
    pub lacks: Option<String>,
}

/// Looks for what patterns mean: ignored and hidden files, too, but nothing in a folder `.git` below
/// the one where a pattern begins, and no links, which have the places they lead to.
///
/// A pattern that begins above the workspace and crosses folders is only looked for in the workspace.
#[must_use]
pub fn denied_places(workspace: &Path, denied: &[&Denied]) -> DeniedPlaces {
    let mut groups: BTreeMap<(&Path, Option<usize>), Vec<&Denied>> = BTreeMap::new();
    for denied in denied {
        groups.entry((&denied.below, depth_of(&denied.glob))).or_default().push(denied);
    }
    let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let mut search =
        Search { workspace, entries_left: DENIED_ENTRIES_MAX, found: DeniedPlaces::default() };
    for ((below, depth_max), group) in groups {
        search.look(below, depth_max, &group);
    }
    heeler_core::sort(&mut search.found.places);
    search.found.places.dedup();
    search.found
}

/// How many folders below its beginning a pattern reaches at most; `None` when it crosses any number.
fn depth_of(glob: &str) -> Option<usize> {
    (!glob.contains("**")).then(|| glob.split('/').filter(|part| !part.is_empty()).count())
}

struct Search {
    workspace: PathBuf,
    entries_left: usize,
    found: DeniedPlaces,
}

impl Search {
    /// Looks for patterns that begin in the same folder.
    fn look(&mut self, below: &Path, depth_max: Option<usize>, group: &[&Denied]) {
        let patterns = || group.iter().map(|denied| denied.glob.trim_end_matches('/'));
        // What denies all in a folder closes the folder: that is one place, and holds for what comes later.
        let whole = patterns().map(|glob| glob.trim_end_matches("/**"));
        let (Some(globs), Some(whole)) = (globs(patterns()), globs(whole)) else {
            return self.lacks(format!("{} is no pattern of paths", shown(group)));
        };
        // What is not there yet is found by nobody.
        let Ok(root) = self.workspace.join(below).canonicalize() else { return };
        let mut begin = root.clone();
        if depth_max.is_none() && root != self.workspace && self.workspace.starts_with(&root) {
            let why = "reaches beyond the folder that is worked in, where nobody looks for it";
            self.lacks(format!("{} {why}", shown(group)));
            begin.clone_from(&self.workspace);
        }
        let is_one_of = |globs: &GlobSet, path: &Path| {
            let rest = path.strip_prefix(&root).unwrap_or(Path::new(""));
            !rest.as_os_str().is_empty() && globs.is_match(rest)
        };
        let closes = |path: &Path| is_one_of(&globs, path);
        let workspace = self.workspace.clone();
        let closes_whole = |path: &Path| is_one_of(&whole, path) && !workspace.starts_with(path);
        if begin.ancestors().any(closes) {
            return self.lacks_room(group);
        }
        let mut folders = VecDeque::from([(begin, 1)]);
        while let Some((folder, depth)) = folders.pop_front() {
            // What cannot be read here cannot be read in the box.
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Some(left) = self.entries_left.checked_sub(1) else {
                    let why = "there are more files and folders than are looked at for it";
                    return self.lacks(format!("{}: {why} ({DENIED_ENTRIES_MAX})", shown(group)));
                };
                self.entries_left = left;
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if !kind.is_symlink() && closes(&path) || kind.is_dir() && closes_whole(&path) {
                    if self.workspace.starts_with(&path) {
                        self.lacks_room(group);
                        continue;
                    }
                    if self.found.places.len() == DENIED_PLACES_MAX {
                        let why = format!("more than {DENIED_PLACES_MAX} places match");
                        return self.lacks(format!("{}: {why}", shown(group)));
                    }
                    self.found.places.push(path);
                } else if kind.is_dir()
                    && entry.file_name() != ".git"
                    && depth_max.is_none_or(|depth_max| depth < depth_max)
                {
                    folders.push_back((path, depth + 1));
                }
            }
        }
    }

    fn lacks_room(&mut self, group: &[&Denied]) {
        self.lacks(format!("{} closes the folder that is worked in as a whole", shown(group)));
    }

    /// The first reason is enough.
    fn lacks(&mut self, why: String) {
        self.found.lacks.get_or_insert(why);
    }
}

/// One of the rules, and that there are more.
fn shown(group: &[&Denied]) -> String {
    let first = group.first().map(|denied| denied.rule()).unwrap_or_default();
    match group.len() {
        0 | 1 => first,
        n => format!("{first} (and {} more)", n - 1),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::Folder;

    /// What is found of patterns, each with the folder it begins in, and what is not.
    fn check(patterns: &[(&str, &str)], expected: Expect) {
        let folder = Folder::new(&[
            ("space/.env", ""),
            ("space/.git/deep/.env", ""),
            ("space/.gitignore", "*\n"),
            ("space/k/a.key", ""),
            ("space/k/b.txt", ""),
            ("space/k/l/c.key", ""),
            ("space/keys.key/inner.key", ""),
            ("space/sub/.env", ""),
            ("other/d.key", ""),
            ("other/far/e.key", ""),
        ]);
        let root = folder.path("").canonicalize().unwrap();
        std::os::unix::fs::symlink("b.txt", folder.path("space/k/link.key")).unwrap();
        let denied: Vec<Denied> = patterns
            .iter()
            .map(|(below, glob)| Denied {
                tool: "Read".into(),
                below: below.replace("ROOT", root.to_str().unwrap()).into(),
                glob: (*glob).into(),
            })
            .collect();
        let found = denied_places(&folder.path("space"), &denied.iter().collect::<Vec<_>>());
        let places = found.places.iter().map(|place| format!("{}\n", place.display()));
        let text = places.collect::<String>() + &found.lacks.unwrap_or_default();
        expected.assert_eq(&text.replace(root.to_str().unwrap(), "ROOT"));
    }

    #[test]
    fn a_pattern_is_the_places_that_match_it() {
        check(
            &[("", "**/.env")],
            expect![[r#"
            ROOT/space/.env
            ROOT/space/sub/.env
        "#]],
        );
        check(
            &[("k", "*.key")],
            expect![[r#"
            ROOT/space/k/a.key
        "#]],
        );
        check(
            &[("", "**/*.key"), ("", "*/l")],
            expect![[r#"
            ROOT/space/k/a.key
            ROOT/space/k/l
            ROOT/space/k/l/c.key
            ROOT/space/keys.key
        "#]],
        );
        check(
            &[("nowhere", "**/*.key"), ("ROOT/other", "**/*.key")],
            expect![[r#"
            ROOT/other/d.key
            ROOT/other/far/e.key
        "#]],
        );
    }

    #[test]
    fn a_pattern_of_all_in_a_folder_closes_the_folder() {
        check(
            &[("", "**/k/**")],
            expect![[r#"
            ROOT/space/k
        "#]],
        );
        check(
            &[("", "sub/**"), ("", "**/.env/**"), ("k", "**/l/**/")],
            expect![[r#"
            ROOT/space/k/l
            ROOT/space/sub
        "#]],
        );
        check(
            &[("ROOT", "space/k/**")],
            expect![[r#"
            ROOT/space/k
            Read(ROOT/space/k/**) reaches beyond the folder that is worked in, where nobody looks for it"#]],
        );
        let files: Vec<String> =
            (0..=DENIED_PLACES_MAX).map(|n| format!("node_modules/p{n}/a")).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|name| (&**name, "")).collect();
        let folder = Folder::new(&files);
        let glob = "**/node_modules/**".to_owned();
        let denied = Denied { tool: "Read".into(), below: PathBuf::new(), glob };
        let found = denied_places(&folder.path(""), &[&denied]);
        assert_eq!((found.places.len(), found.lacks), (1, None));
    }

    #[test]
    fn what_is_not_looked_for_is_said() {
        check(
            &[("ROOT", "**/*.key")],
            expect![[r#"
            ROOT/space/k/a.key
            ROOT/space/k/l/c.key
            ROOT/space/keys.key
            Read(ROOT/**/*.key) reaches beyond the folder that is worked in, where nobody looks for it"#]],
        );
        check(
            &[("ROOT", "*")],
            expect![[r#"
            ROOT/other
            Read(ROOT/*) closes the folder that is worked in as a whole"#]],
        );
        check(
            &[("ROOT", "*/*.key")],
            expect![[r#"
            ROOT/other/d.key
            ROOT/space/keys.key
        "#]],
        );
        check(&[("", "{a")], expect!["Read({a) is no pattern of paths"]);
    }

    #[test]
    fn places_have_a_limit() {
        let files: Vec<(String, &str)> =
            (0..=DENIED_PLACES_MAX).map(|n| (format!("{n}.key"), "")).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
        let folder = Folder::new(&files);
        let denied =
            Denied { tool: "Read".into(), below: PathBuf::new(), glob: "*.key".to_owned() };
        let found = denied_places(&folder.path(""), &[&denied]);
        assert_eq!(found.places.len(), DENIED_PLACES_MAX);
        assert_eq!(found.lacks.unwrap(), "Read(*.key): more than 512 places match");
    }
}
