//! Finds tools by what they are called and said to do: by words, ranked with BM25 (Robertson and
//! Zaragoza, "The Probabilistic Relevance Framework", 2009), or by a regular expression.

use std::collections::{BTreeMap, HashMap};

use heeler_core::ToolDefinition;
use regex::RegexBuilder;

/// Characters of a query or pattern.
const QUERY_CHARS_MAX: usize = 200;
/// Bytes that a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// How soon more of the same word stops to matter.
const SATURATION: f64 = 1.2;
/// How much a long description counts against a tool, from 0 to 1.
const LENGTH_WEIGHT: f64 = 0.75;

/// Letters of the shortest word whose last "s" may be an ending: "as" and "gas" are whole words.
const ENDED_WORD_CHARS_MIN: usize = 4;

/// What is worth less than this share of the best has only words like "the" in common with the query.
const SCORE_SHARE_MIN: f64 = 0.35;

/// What to look for. Of a longer text the first 200 characters count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolQuery {
    /// Words in any language, whatever their case; no word finds all tools.
    Words(String),
    /// A regular expression over name and description, whatever their case.
    Pattern(String),
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFound {
    /// Its name.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
}

/// A pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern cannot be used: {0}")]
pub struct SearchPatternError(String);

/// The tools that are searched, and how often each word occurs in them.
pub(super) struct Index {
    tools: Vec<ToolFound>,
    /// By word: the tools it occurs in, and how often.
    places: HashMap<String, BTreeMap<usize, u32>>,
    n_words: Vec<usize>,
}

impl Index {
    pub(super) fn new(definitions: impl Iterator<Item = ToolDefinition>) -> Self {
        let mut index = Self { tools: Vec::new(), places: HashMap::new(), n_words: Vec::new() };
        for ToolDefinition { name, description, .. } in definitions {
            let at = index.tools.len();
            let words = words(&name).chain(words(&description));
            let mut n_words = 0;
            for word in words {
                n_words += 1;
                *index.places.entry(word).or_default().entry(at).or_default() += 1;
            }
            index.n_words.push(n_words);
            index.tools.push(ToolFound { name, description });
        }
        index
    }

    /// What fits, the best first, and in order of registration among equals.
    pub(super) fn search(&self, query: &ToolQuery) -> Result<Vec<ToolFound>, SearchPatternError> {
        match query {
            ToolQuery::Words(text) => Ok(self.by_words(clip(text))),
            ToolQuery::Pattern(pattern) => self.by_pattern(clip(pattern)),
        }
    }

    fn by_pattern(&self, pattern: &str) -> Result<Vec<ToolFound>, SearchPatternError> {
        let mut pattern = RegexBuilder::new(pattern);
        let pattern = pattern.case_insensitive(true).size_limit(PATTERN_BYTES_MAX).build();
        let pattern = pattern.map_err(|error| SearchPatternError(error.to_string()))?;
        let fits =
            |one: &&ToolFound| pattern.is_match(&one.name) || pattern.is_match(&one.description);
        Ok(self.tools.iter().filter(fits).cloned().collect())
    }

    fn by_words(&self, query: &str) -> Vec<ToolFound> {
        let mut asked: Vec<String> = words(query).collect();
        heeler_core::sort(&mut asked);
        asked.dedup();
        if asked.is_empty() {
            return self.tools.clone();
        }
        // Who asks for a name knows which tool it is, however rare the other words are.
        let is_named = |at: usize| names(query).any(|name| name == self.tools[at].name);
        let mut scored: Vec<(bool, f64, usize)> =
            (0..self.tools.len()).map(|at| (is_named(at), self.score(&asked, at), at)).collect();
        let best = scored.iter().map(|(_, score, _)| *score).fold(0.0, f64::max);
        scored.retain(|(is_named, score, _)| {
            *is_named || (*score > 0.0 && *score >= best * SCORE_SHARE_MIN)
        });
        heeler_core::sort_by(&mut scored, |one, other| {
            (other.0.cmp(&one.0)).then(other.1.total_cmp(&one.1)).then(one.2.cmp(&other.2))
        });
        scored.into_iter().map(|(_, _, at)| self.tools[at].clone()).collect()
    }

    fn score(&self, asked: &[String], at: usize) -> f64 {
        let n_tools = self.tools.len() as f64;
        let mean = self.n_words.iter().sum::<usize>() as f64 / n_tools;
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * self.n_words[at] as f64 / mean;
        let of_word = |word: &String| {
            let places = self.places.get(word)?;
            let n_here = f64::from(*places.get(&at)?);
            let n_with = places.len() as f64;
            let rarity = (1.0 + (n_tools - n_with + 0.5) / (n_with + 0.5)).ln();
            Some(rarity * n_here * (SATURATION + 1.0) / (n_here + SATURATION * length))
        };
        asked.iter().filter_map(of_word).sum()
    }
}

/// What of a text may be the name of a tool.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')))
}

/// The words of a text in lower case and without an ending: runs of letters and digits, and the parts
/// of a name that is written `inOneWord`, besides the whole.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|char: char| !char.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let mut all = vec![plain(run)];
        let starts: Vec<usize> = run
            .char_indices()
            .zip(run.chars().skip(1))
            .filter(|((_, before), char)| before.is_lowercase() && char.is_uppercase())
            .map(|((at, before), _)| at + before.len_utf8())
            .collect();
        if !starts.is_empty() {
            let ends = starts.iter().copied().chain([run.len()]);
            let parts = [0].into_iter().chain(starts.iter().copied()).zip(ends);
            all.extend(parts.map(|(start, end)| plain(&run[start..end])));
        }
        all
    })
}

/// A word in lower case, without the "s" of a plural or a verb: "pages" and "page" are one word, and
/// so are "calculates" and "calculate". "class" has no such ending.
fn plain(word: &str) -> String {
    let mut word = word.to_lowercase();
    let is_ended = word.ends_with('s') && !word.ends_with("ss");
    if is_ended && word.chars().count() >= ENDED_WORD_CHARS_MIN {
        word.pop();
    }
    word
}

fn clip(text: &str) -> &str {
    text.char_indices().nth(QUERY_CHARS_MAX).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::RawJson;
    use proptest::prelude::*;

    use super::*;

    const TOOLS: [(&str, &str); 6] = [
        ("WebFetch", "Reads a page from the web"),
        ("web_search", "Searches the web and gives pages with their titles"),
        ("calculator", "Works out a formula exactly"),
        ("Übersetzer", "Übersetzt Texte ins Französische"),
        ("git_log", "Shows commits, the latest first"),
        ("git_commit", "Makes a commit of named files"),
    ];

    fn index() -> Index {
        let definition =
            |(name, description)| ToolDefinition::new(name, description, RawJson::empty_object());
        Index::new(TOOLS.into_iter().map(definition))
    }

    fn check(query: ToolQuery, expected: Expect) {
        let found = match index().search(&query) {
            Ok(found) => found.into_iter().map(|one| one.name).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&found);
    }

    fn words_of(text: &str) -> ToolQuery {
        ToolQuery::Words(text.into())
    }

    fn pattern(text: &str) -> ToolQuery {
        ToolQuery::Pattern(text.into())
    }

    #[test]
    fn the_rarest_words_in_the_shortest_text_come_first() {
        check(words_of("search the web"), expect!["web_search WebFetch"]);
        check(words_of("commit"), expect!["git_commit git_log"]);
        check(words_of("git commit"), expect!["git_commit git_log"]);
        check(words_of("fetch"), expect!["WebFetch"]);
        check(words_of("webfetch"), expect!["WebFetch"]);
        check(words_of("ÜBERSETZT französische"), expect!["Übersetzer"]);
        check(words_of("nothing of the kind"), expect!["git_commit git_log WebFetch web_search"]);
        check(words_of("blockchain"), expect![""]);
        // With an ending or without one, on either side.
        check(words_of("work out formulas"), expect!["calculator"]);
        check(words_of("search"), expect!["web_search"]);
        check(words_of("page"), expect!["WebFetch web_search"]);
        check(words_of("SHOW"), expect!["git_log"]);
        check(words_of("calculators"), expect!["calculator"]);
        check(words_of("title fetches"), expect!["web_search"]);
        let all = expect!["WebFetch web_search calculator Übersetzer git_log git_commit"];
        check(words_of(" -- "), all);
    }

    #[test]
    fn a_tool_whose_whole_name_is_asked_for_is_found_first_whatever_else_fits_better() {
        check(words_of("latest first: git_commit"), expect!["git_commit git_log"]);
        check(words_of("WebFetch, works out a formula exactly"), expect!["WebFetch calculator"]);
        let rarer = words_of("Übersetzer übersetzt Texte ins Französische; git_log.");
        check(rarer, expect!["Übersetzer git_log"]);
    }

    #[test]
    fn only_an_ending_of_a_longer_word_is_left_out() {
        for (word, expected) in [
            ("Calculates", "calculate"),
            ("tools", "tool"),
            ("runs", "run"),
            ("gas", "gas"),
            ("s", "s"),
            ("class", "class"),
            ("ÉTÉS", "été"),
            ("été", "été"),
        ] {
            assert_eq!(plain(word), expected);
        }
    }

    #[test]
    fn a_pattern_is_for_name_and_description() {
        check(pattern("^git_"), expect!["git_log git_commit"]);
        check(pattern("^ü"), expect!["Übersetzer"]);
        check(pattern("PAGES?"), expect!["WebFetch web_search"]);
        check(
            pattern("x{1000}{1000}"),
            expect![
                "the pattern cannot be used: Compiled regex exceeds size limit of 262144 bytes."
            ],
        );
        let query = pattern("(");
        assert!(index().search(&query).unwrap_err().to_string().contains("unclosed group"));
    }

    #[test]
    fn of_a_long_query_the_beginning_counts() {
        check(
            words_of(&format!("{}git_log", " ".repeat(QUERY_CHARS_MAX))),
            expect!["WebFetch web_search calculator Übersetzer git_log git_commit"],
        );
        check(pattern(&format!("{}x", "é".repeat(QUERY_CHARS_MAX))), expect![""]);
    }

    proptest! {
        #[test]
        fn any_query_is_answered(text: String) {
            let index = index();
            prop_assert!(index.search(&ToolQuery::Words(text.clone())).is_ok());
            if let Ok(found) = index.search(&ToolQuery::Pattern(text)) {
                prop_assert!(found.len() <= TOOLS.len());
            }
        }

        #[test]
        fn a_tool_is_found_by_its_own_words(at in 0..TOOLS.len()) {
            let (name, description) = TOOLS[at];
            let found = index().search(&words_of(&format!("{name} {description}"))).unwrap();
            prop_assert_eq!(&found[0].name, name);
        }
    }
}
