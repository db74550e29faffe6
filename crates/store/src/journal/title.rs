//! What a list calls a session that nobody named: the beginning of what was said in it.

use heeler_core::{Input, truncate_chars};

/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 80;

/// The title that an input gives; `None` when it has no text.
pub(super) fn title_of_input(input: &Input) -> Option<String> {
    input.blocks.iter().find_map(|block| block.as_text()).map(title)
}

fn title(text: &str) -> String {
    // Enough characters for a title stay when white space is folded.
    let words = text.split_whitespace().take(TITLE_CHARS_MAX).collect::<Vec<_>>().join(" ");
    truncate_chars(&words, TITLE_CHARS_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use heeler_core::Block;

    use super::*;

    #[test]
    fn a_title_is_the_beginning_of_the_first_text() {
        let check = |input: &Input, title: Option<&str>| {
            assert_eq!(title_of_input(input).as_deref(), title);
        };
        check(&Input::text("fix\n  the \"bug\""), Some("fix the \"bug\""));
        let long = "\u{1}é😀".repeat(100);
        let cut: String = long.chars().take(79).chain(['…']).collect();
        check(&Input::text(&long), Some(&cut));
        let image = || Block::from(heeler_core::RedactedThinking { data: "x".repeat(9) });
        let with = |blocks| Input { blocks, ..Input::text("") };
        check(&with(vec![image(), Block::text("look")]), Some("look"));
        check(&with(vec![image()]), None);
    }
}
