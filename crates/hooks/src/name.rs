//! What a hook is called in events, journals and towards the model: its line, without what may be secret.

use heeler_core::truncate_chars;
use regex::Regex;

/// The most characters of a command in its name.
const NAME_CHARS_MAX: usize = 80;

/// `NAME=value`, of variables and options alike, where a value may be quoted in parts.
const ASSIGNMENT: &str =
    r#"\b([A-Za-z_][A-Za-z0-9_-]*)=(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s;&|)'"\\])+"#;
/// An address: what stands before its host, the host, and all the rest.
const ADDRESS: &str = r#"\b([a-z][a-z0-9+.-]*://)(?:[^\s/@'"]*@)?([^\s/?#'"]*)[^\s'"]*"#;

/// What finds in a line what is left out, and what is shown instead.
pub(crate) struct Names([(Regex, &'static str); 2]);

impl Names {
    #[expect(clippy::expect_used, reason = "constants, which the test below reads")]
    pub(crate) fn new() -> Self {
        // The address first: its query has assignments.
        let patterns = [(ADDRESS, "$1$2/\u{2026}"), (ASSIGNMENT, "$1=\u{2026}")];
        Self(patterns.map(|(pattern, shown)| (Regex::new(pattern).expect("a pattern"), shown)))
    }

    /// The name of a hook with this line, from this file.
    pub(crate) fn of(&self, line: &str, source: &str) -> String {
        let mut line = line.to_owned();
        for (pattern, shown) in &self.0 {
            line = pattern.replace_all(&line, *shown).into_owned();
        }
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = truncate_chars(&line, NAME_CHARS_MAX);
        match source {
            "" => name.into_owned(),
            source => format!("{name} ({source})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_no_value_and_of_an_address_the_host() {
        for (line, expected) in [
            ("API_TOKEN=hunter2 sh -c 'exit 2'", "API_TOKEN=\u{2026} sh -c 'exit 2'"),
            ("A=\"x y\"z'w w' B='' ./guard.sh", "A=\u{2026} B=\u{2026} ./guard.sh"),
            ("sh -c 'export TOKEN=hunter2; run'", "sh -c 'export TOKEN=\u{2026}; run'"),
            ("guard --api-key=hunter2 --quiet", "guard --api-key=\u{2026} --quiet"),
            (
                "curl 'https://me:pass@example.org:8/hook?key=hunter2' -d @-",
                "curl 'https://example.org:8/\u{2026}' -d @-",
            ),
            ("curl https://example.org", "curl https://example.org/\u{2026}"),
            ("[ \"$a\" == b ] && a=", "[ \"$a\" == b ] && a="),
            ("jq -e '.decision' <<< \"$x\"", "jq -e '.decision' <<< \"$x\""),
        ] {
            assert_eq!(Names::new().of(line, ""), expected);
        }
        assert_eq!(Names::new().of("a\n  b", "s.json:3"), "a b (s.json:3)");
    }
}
