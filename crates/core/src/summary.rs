//! Short human-readable descriptions of calls, for spinners and rows.

use std::borrow::Cow;

use serde_json::Value;

/// The most characters of an input summary.
const INPUT_CHARS_MAX: usize = 100;
/// The most characters of an output summary.
const OUTPUT_CHARS_MAX: usize = 80;
/// The most characters of what is looked for, where it is said where: both are to be seen.
const PATTERN_CHARS_MAX: usize = 50;
/// Which input field says best what a call does, best first.
const TELLING_FIELDS: [&str; 6] = ["command", "pattern", "path", "file_path", "query", "url"];

/// `name: value` of the most telling field, for a search with where it looks; else `name` and the raw
/// input; at most 100 characters.
#[must_use]
pub fn input_summary(name: &str, input: &str) -> String {
    let object = serde_json::from_str::<Value>(input).ok();
    let text = |field: &str| object.as_ref()?.get(field)?.as_str().filter(|s| !s.is_empty());
    let telling = TELLING_FIELDS.iter().find_map(|field| Some((*field, text(field)?)));
    let whole = match (telling, text("path")) {
        (Some(("pattern", pattern)), Some(path)) => {
            format!("{name}: {} in {path}", truncate_chars(pattern, PATTERN_CHARS_MAX))
        }
        (Some((_, value)), _) => format!("{name}: {value}"),
        (None, _) => format!("{name} {input}"),
    };
    truncate_chars(&whole, INPUT_CHARS_MAX).into_owned()
}

/// The beginning of an output; at most 80 characters.
#[must_use]
pub fn output_summary(output: &str) -> String {
    truncate_chars(output, OUTPUT_CHARS_MAX).into_owned()
}

/// At most `chars_max` characters of `text`; the last is `…` when something was cut.
#[must_use]
pub fn truncate_chars(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        None => Cow::Borrowed(text),
        Some(_) if chars_max == 0 => Cow::Borrowed(""),
        Some(_) => {
            let end = text.char_indices().nth(chars_max - 1).map_or(text.len(), |(at, _)| at);
            Cow::Owned(format!("{}…", &text[..end]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_telling_field_wins() {
        for (input, expected) in [
            (r#"{"path":"a.rs","command":"ls"}"#, "bash: ls"),
            (r#"{"command":"","path":"a.rs"}"#, "bash: a.rs"),
            (r#"{"command":7,"file_path":"b"}"#, "bash: b"),
            (r#"{"x":1}"#, r#"bash {"x":1}"#),
            ("not json", "bash not json"),
        ] {
            assert_eq!(input_summary("bash", input), expected);
        }
    }

    #[test]
    fn a_search_says_what_is_looked_for_and_where() {
        let long = "x".repeat(60);
        for (input, expected) in [
            (r#"{"path":"src","pattern":"needle"}"#.to_owned(), "Grep: needle in src".to_owned()),
            (r#"{"pattern":"needle"}"#.to_owned(), "Grep: needle".to_owned()),
            (r#"{"pattern":"","path":"src"}"#.to_owned(), "Grep: src".to_owned()),
            (
                format!(r#"{{"pattern":"{long}","path":"src"}}"#),
                format!("Grep: {}… in src", &long[..49]),
            ),
        ] {
            assert_eq!(input_summary("Grep", &input), expected);
        }
    }

    #[test]
    fn a_cut_never_falls_inside_a_character() {
        let summary = input_summary("bash", &format!(r#"{{"command":"{}"}}"#, "é".repeat(200)));
        assert_eq!(summary.chars().count(), 100);
        assert!(summary.ends_with('…'));
        assert_eq!(output_summary(&"日".repeat(81)).chars().count(), 80);
        assert_eq!(output_summary(&"日".repeat(80)), "日".repeat(80));
        for (chars_max, expected) in [(0, ""), (1, "…"), (2, "é…"), (3, "éab"), (4, "éab")] {
            assert_eq!(truncate_chars("éab", chars_max), expected);
        }
    }
}
