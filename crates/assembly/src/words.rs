//! Which files a command line may name: its words, and where they lead.

use std::path::{Component, Path, PathBuf};

/// How deep a word is looked into that is a line itself, as behind `sh -c`.
pub(crate) const DEPTH_MAX: usize = 3;
/// What ends a word where it is not quoted.
const ENDS: &str = ";|&<>()`";

/// A word, and where in its line it stands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// A command begins with it.
    pub(crate) begins: bool,
    /// What a command says is written there.
    pub(crate) is_target: bool,
    /// How many words it stands within that are lines themselves, up to [`DEPTH_MAX`].
    pub(crate) depth: usize,
}

/// The words of a command line without their quotes. A word that is a line itself is followed by its
/// own: more may be found than a shell would see, and nothing less.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut found = Vec::new();
    split(line, 0, &mut found);
    found
}

fn split(line: &str, depth: usize, found: &mut Vec<Word>) {
    let mut word = Word { begins: true, ..Word::default() };
    let mut quote = None;
    let mut before = ' ';
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.text.extend(chars.next().filter(|next| *next != '\n')),
            (None, c) if c.is_whitespace() || ENDS.contains(c) => {
                end(&mut word, depth, found);
                match c {
                    // What `<>` opens is read, too.
                    '>' => word = Word { is_target: before != '<', ..Word::default() },
                    // As in `>| a` and `>& a`.
                    '|' | '&' if before == '>' => {}
                    '\n' | ';' | '|' | '&' | '(' | ')' | '`' | '<' => {
                        word = Word { begins: c != '<', ..Word::default() };
                    }
                    _ => {}
                }
            }
            (_, c) => word.text.push(c),
        }
        before = c;
    }
    end(&mut word, depth, found);
}

fn end(word: &mut Word, depth: usize, found: &mut Vec<Word>) {
    if word.text.is_empty() {
        return;
    }
    let word = Word { depth, ..std::mem::take(word) };
    let is_line =
        word.text.contains(|c: char| c.is_whitespace() || ENDS.contains(c) || "'\"".contains(c));
    let text = is_line.then(|| word.text.clone());
    found.push(word);
    if let Some(text) = text.filter(|_| depth < DEPTH_MAX) {
        split(&text, depth + 1, found);
    }
}

/// Where a word may lead that is read in this folder: as it stands, behind a `=`, and without the
/// variable or substitution it begins with, which mostly is that folder.
pub(crate) fn places(word: &str, folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let value = word.split_once('=').map(|(_, value)| value);
    let mut places = Vec::new();
    for word in [Some(word), value].into_iter().flatten().filter(|word| !word.is_empty()) {
        places.push(plain(&folder.join(in_home(word, home))));
        if word.starts_with(['$', '/']) {
            let behind = word.split_once('/').map(|(_, behind)| folder.join(behind));
            places.extend(behind.map(|behind| plain(&behind)));
        }
    }
    places
}

/// A path of which the beginning may stand for the home.
pub(crate) fn in_home(path: &str, home: Option<&Path>) -> PathBuf {
    let begins = ["~/", "$HOME/", "${HOME}/"];
    let below = begins.into_iter().find_map(|begin| path.strip_prefix(begin));
    match home.zip(below) {
        Some((home, below)) => home.join(below),
        None => path.into(),
    }
}

/// The names of a place: the given one as far as it is plain, and the real one where that is another.
pub(crate) fn names(place: PathBuf) -> Vec<PathBuf> {
    // Written anew without the slash at its end.
    let place: PathBuf = place.components().collect();
    let is_plain = !place.components().any(|part| part == Component::ParentDir);
    let real = place.canonicalize().ok().filter(|real| *real != place);
    Some(place).filter(|_| is_plain).into_iter().chain(real).collect()
}

/// A path without `.` and `..`, by its letters.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_a_shell_makes_of_it() {
        for (line, expected) in [
            ("sh a.sh --x;b|c>d", &["sh", "a.sh", "--x", "b", "c", "d"][..]),
            (r#""$X/my guard.sh" a"#, &["$X/my guard.sh", "$X/my", "guard.sh", "a"]),
            (r#""$X"/a' b'\ c"#, &["$X/a b c", "$X/a", "b", "c"]),
            (r#"'a "b'"#, &[r#"a "b"#, "a", "b"]),
            ("sh -c './x \"y z\"'", &["sh", "-c", "./x \"y z\"", "./x", "y z", "y", "z"]),
            ("$(git rev)/a \\\n b 'open", &["$", "git", "rev", "/a", "b", "open"]),
            ("'' \\", &[]),
        ] {
            let found: Vec<String> = words(line).into_iter().map(|word| word.text).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_word_knows_where_it_stands() {
        let of = |line: &str, is: fn(&Word) -> bool| {
            let found: Vec<String> =
                words(line).into_iter().filter(is).map(|word| word.text).collect();
            found.join(" ")
        };
        for (line, begins, targets) in [
            ("a b >> c 2>&1; d | e && f\ng", "a d e f g", "c 1"),
            ("a >| b &> c >&d", "a", "b c d"),
            ("a <> b < c >(d) '>' e \\> f", "a d >", ""),
            ("sh -c 'a > b' c", "sh a", "b"),
            ("$(a `b`) c", "$ a b c", ""),
        ] {
            assert_eq!(of(line, |word| word.begins), begins, "{line}");
            assert_eq!(of(line, |word| word.is_target), targets, "{line}");
        }
    }

    #[test]
    fn a_word_leads_from_its_folder() {
        for (word, expected) in [
            ("a/./b", &["/space/a/b"][..]),
            ("../b", &["/b"]),
            ("/a/b", &["/a/b", "/space/a/b"]),
            ("${X}/b", &["/space/${X}/b", "/space/b"]),
            ("~/b", &["/home/me/b"]),
            ("$HOME/b", &["/home/me/b", "/space/b"]),
            ("--file=b", &["/space/--file=b", "/space/b"]),
        ] {
            let found = places(word, Path::new("/space"), Some(Path::new("/home/me")));
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{word}");
        }
    }
}
