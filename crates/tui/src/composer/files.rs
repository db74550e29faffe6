//! Which of many paths a few letters mean, found piece by piece.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The most paths that are looked through.
pub const FILES_MAX: usize = 500_000;
/// The most paths that are found.
pub const FOUND_FILES_MAX: usize = 50;

/// Paths below a folder; those of folders end with `/`.
#[derive(Debug, Default)]
pub struct Paths {
    all: Vec<Box<str>>,
}

impl Paths {
    /// Adds paths. Those that would not stand on one line are left out, and what is too much.
    pub fn add(&mut self, paths: impl IntoIterator<Item = String>) {
        let fits = |path: &String| !path.is_empty() && !path.contains(char::is_control);
        let room = FILES_MAX - self.all.len();
        self.all.extend(paths.into_iter().filter(fits).take(room).map(String::into_boxed_str));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether no more are taken.
    pub fn is_full(&self) -> bool {
        self.all.len() == FILES_MAX
    }
}

/// The best first: by score, then the shorter; without a query the least deep.
type Rank<'a> = (Reverse<u32>, usize, &'a str);

/// A query and what it found so far in a list that may still grow.
pub struct Ranking {
    query: String,
    pattern: Pattern,
    matcher: Matcher,
    /// Paths that are to be looked at before those from `next` on.
    first: Vec<usize>,
    next: usize,
    /// Places of all that match, with their scores.
    hits: Vec<(u32, usize)>,
    best: Vec<(u32, usize)>,
}

impl Ranking {
    /// For a query that was not there before.
    pub fn new(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            pattern: Pattern::new(
                query,
                CaseMatching::Smart,
                Normalization::Smart,
                AtomKind::Fuzzy,
            ),
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            first: Vec::new(),
            next: 0,
            hits: Vec::new(),
            best: Vec::new(),
        }
    }

    /// For a query after this one over the same paths: of those that this one looked at, a longer
    /// query looks only at those that matched.
    pub fn then(self, query: &str) -> Self {
        let mut then = Self::new(query);
        if query.starts_with(&self.query) {
            then.first = self.hits.iter().map(|(_, place)| *place).collect();
            then.first.extend(self.first);
            then.next = self.next;
        }
        then
    }

    /// What is looked for.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Whether there are paths it has not looked at.
    pub fn is_behind(&self, paths: &Paths) -> bool {
        !self.first.is_empty() || self.next < paths.all.len()
    }

    /// Looks at some more paths, no more than this; returns at how many.
    pub fn advance(&mut self, paths: &Paths, count_max: usize) -> usize {
        let from_first = count_max.min(self.first.len());
        let places: Vec<_> = self.first.drain(self.first.len() - from_first..).collect();
        let from_next = (count_max - from_first).min(paths.all.len() - self.next);
        let next = self.next..self.next + from_next;
        self.next += from_next;

        let mut letters = Vec::new();
        for place in places.into_iter().chain(next) {
            let path = Utf32Str::new(&paths.all[place], &mut letters);
            if let Some(score) = self.pattern.score(path, &mut self.matcher) {
                self.hits.push((score, place));
                self.best.push((score, place));
            }
        }
        let by_depth = self.query.is_empty();
        let order = |a: &_, b: &_| rank(paths, by_depth, *a).cmp(&rank(paths, by_depth, *b));
        // All of them in order would be most of the work, and nobody sees it.
        if self.best.len() > FOUND_FILES_MAX {
            self.best.select_nth_unstable_by(FOUND_FILES_MAX, order);
            self.best.truncate(FOUND_FILES_MAX);
        }
        self.best.sort_by(order);
        from_first + from_next
    }

    /// The best so far.
    pub fn best(&self, paths: &Paths) -> Vec<String> {
        self.best.iter().map(|(_, place)| paths.all[*place].to_string()).collect()
    }
}

fn rank(paths: &Paths, by_depth: bool, (score, place): (u32, usize)) -> Rank<'_> {
    let path = &*paths.all[place];
    let cost = match by_depth {
        true => path.trim_end_matches('/').matches('/').count(),
        false => path.len(),
    };
    (Reverse(score), cost, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Paths {
        let mut paths = Paths::default();
        paths.add(names.iter().map(|name| (*name).to_owned()));
        paths
    }

    #[track_caller]
    fn check(names: &[&str], query: &str, expected: expect_test::Expect) {
        let paths = paths(names);
        let mut ranking = Ranking::new(query);
        ranking.advance(&paths, usize::MAX);
        expected.assert_eq(&ranking.best(&paths).join("\n"));
    }

    #[test]
    fn few_letters_find_the_likely_path() {
        let names = ["src/main.rs", "src/composer/mod.rs", "Cargo.toml", "src/", "docs/mod.md"];
        check(
            &names,
            "mod",
            expect_test::expect![[r#"
            docs/mod.md
            src/composer/mod.rs"#]],
        );
        check(
            &names,
            "cmod",
            expect_test::expect![[r#"
            src/composer/mod.rs
            docs/mod.md"#]],
        );
        check(
            &names,
            "",
            expect_test::expect![[r#"
            Cargo.toml
            src/
            docs/mod.md
            src/main.rs
            src/composer/mod.rs"#]],
        );
        check(&names, "Main", expect_test::expect![[r#""#]]);
        check(&names, "rs main", expect_test::expect!["src/main.rs"]);
        check(&["a\nb", "", "ok"], "", expect_test::expect!["ok"]);
    }

    #[test]
    fn a_longer_query_looks_only_at_what_matched() {
        let mut paths = Paths::default();
        paths.add((0..1_000).map(|number| format!("src/file_{number}.rs")));
        paths.add((0..20).map(|number| format!("docs/page_{number}.md")));
        let mut ranking = Ranking::new("pa");
        // A part of the list was looked at when the next letter comes.
        assert_eq!(ranking.advance(&paths, 1_010), 1_010);
        let mut ranking = ranking.then("pag");
        assert_eq!(ranking.advance(&paths, usize::MAX), 20);
        assert!(!ranking.is_behind(&paths));
        assert_eq!(ranking.best(&paths).len(), 20);
        // Another one looks at all.
        let mut ranking = ranking.then("fi");
        assert_eq!(ranking.advance(&paths, usize::MAX), 1_020);
        assert_eq!(ranking.best(&paths).len(), FOUND_FILES_MAX);
    }

    #[test]
    fn piece_by_piece_finds_what_all_at_once_finds() {
        let mut paths = Paths::default();
        paths.add((0..3_000).map(|number| format!("folder_{}/name_{number}.rs", number % 7)));
        let mut whole = Ranking::new("f3n9");
        whole.advance(&paths, usize::MAX);
        let mut pieces = Ranking::new("f3").then("f3n9");
        while pieces.is_behind(&paths) {
            assert!(pieces.advance(&paths, 100) <= 100);
        }
        assert_eq!(pieces.best(&paths), whole.best(&paths));
        let mut after = Ranking::new("f3");
        after.advance(&paths, 1_500);
        let mut after = after.then("f3n9");
        after.advance(&paths, usize::MAX);
        assert_eq!(after.best(&paths), whole.best(&paths));
    }

    #[test]
    fn there_is_a_most() {
        let mut paths = Paths::default();
        paths.add((0..=FILES_MAX).map(|number| number.to_string()));
        assert_eq!(paths.count(), FILES_MAX);
        assert!(paths.is_full());
    }
}
