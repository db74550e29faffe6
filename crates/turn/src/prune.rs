//! Cutting bulky old results short, so that no summary is needed.
//!
//! [`apply`] is part of the fold, so what it makes of the same conversation and the same numbers
//! never changes; the tests hold its words. `plan` chooses the numbers, and may learn.

use std::sync::Arc;

use heeler_core::{Block, Message, Messages, Pruned, Text, ToolResult};

use crate::bugs::{Bug, is_on};

/// What is tried, the gentlest first: the longest text of an old result, in characters.
const RESULT_CHARS_MAX: [u64; 3] = [4096, 1024, 256];
/// A text is not cut for less than this, so that it never grows.
const MARKER_CHARS_MAX: usize = 128;
/// Stands where an image was.
const IMAGE: &str =
    "[an image of this old result was left out; make the call again if it is needed]";
/// Stands where a document was.
const DOCUMENT: &str =
    "[a document of this old result was left out; make the call again if it is needed]";

/// What was cut, beside the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cut {
    /// Results that are shorter now.
    pub(crate) results: u32,
    /// Characters that are gone.
    pub(crate) chars: u64,
    /// Images and documents that are gone.
    pub(crate) items: u32,
}

/// How to cut old results short so that at most `goal` tokens are left, as little as does; `None`
/// when that is not enough. `tokens_of` says what would be left.
pub(crate) fn plan(
    messages: &Messages,
    keep_tail: usize,
    goal: u64,
    tokens_of: impl Fn(&Pruned) -> u64,
) -> Option<Pruned> {
    let keep_tail = if is_on(Bug::GreedyPruning) { 0 } else { keep_tail };
    let before = messages.len().checked_sub(keep_tail).filter(|before| *before > 0)? as u64;
    if is_on(Bug::NeedlessSummary) {
        return None;
    }
    let mut plans =
        RESULT_CHARS_MAX.map(|result_chars_max| Pruned { before, result_chars_max }).into_iter();
    if is_on(Bug::VainPruning) {
        return plans.next_back().filter(|how| !apply(messages, how).0.is_empty());
    }
    plans.find(|how| tokens_of(how) <= goal)
}

/// The messages that change, each with its place, and what was cut from them.
#[must_use]
pub(crate) fn apply(messages: &Messages, how: &Pruned) -> (Vec<(usize, Arc<Message>)>, Cut) {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let chars_max = size(how.result_chars_max);
    let mut cut = Cut::default();
    let mut changed = Vec::new();
    for (at, message) in messages.iter().enumerate().take(size(how.before)) {
        let before = cut;
        let blocks = message.blocks.iter().map(|block| pruned(block, chars_max, &mut cut));
        let blocks: Vec<Block> = blocks.collect();
        if cut != before {
            changed.push((at, Arc::new(Message { role: message.role, blocks })));
        }
    }
    (changed, cut)
}

fn pruned(block: &Block, chars_max: usize, cut: &mut Cut) -> Block {
    let Block::ToolResult(result) = block else { return block.clone() };
    let before = *cut;
    let content = result.content.iter().map(|part| short(part, chars_max, cut)).collect();
    cut.results = cut.results.saturating_add(u32::from(*cut != before));
    Block::from(ToolResult { content, ..ToolResult::clone(result) })
}

/// A part of a result, or what stands for it.
fn short(part: &Block, chars_max: usize, cut: &mut Cut) -> Block {
    let (note, cache) = match part {
        Block::Text(text) => return Block::Text(shortened(text, chars_max, cut)),
        Block::Image(image) => (IMAGE, image.cache),
        Block::Document(_) => (DOCUMENT, None),
        other => return other.clone(),
    };
    cut.items = cut.items.saturating_add(1);
    Text { text: note.to_owned(), cache, raw: None }.into()
}

/// Beginning and end of a text, with a marker between them, when it is longer than so much.
fn shortened(text: &Arc<Text>, chars_max: usize, cut: &mut Cut) -> Arc<Text> {
    let n_chars = text.text.chars().count();
    if n_chars <= chars_max.saturating_add(MARKER_CHARS_MAX) {
        return Arc::clone(text);
    }
    let half = chars_max / 2;
    let head: String = text.text.chars().take(half).collect();
    let tail: String = text.text.chars().skip(n_chars - half).collect();
    let gone = n_chars - 2 * half;
    cut.chars = cut.chars.saturating_add(gone as u64);
    let short = format!(
        "{head}\n[{gone} characters of this old result were left out; make the call again if they are \
         needed]\n{tail}"
    );
    Arc::new(Text { text: short, cache: text.cache, raw: None })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{Image, Opaque, RawJson, Role, ToolUse};

    use super::*;

    /// A conversation of results with these parts, each after its call: a number is a text of so
    /// many characters, `image` and `document` what they say.
    fn conversation(results: &[&str]) -> Messages {
        let part = |word: &str| match word {
            "image" => {
                Block::from(Image { media_type: "image/png".into(), data: "A".into(), cache: None })
            }
            "document" => Block::Document(Arc::new(Opaque {
                provider: "p".into(),
                raw: RawJson::empty_object(),
            })),
            chars => Block::text("é".repeat(chars.parse().unwrap())),
        };
        let mut messages = vec![Arc::new(Message::user("é".repeat(9000)))];
        for (n, parts) in results.iter().enumerate() {
            let call = Block::from(ToolUse {
                id: n.to_string(),
                name: "t".into(),
                input: RawJson::empty_object(),
                invalid: None,
                cache: None,
            });
            let result = Block::from(ToolResult {
                tool_use_id: n.to_string(),
                content: parts.split(' ').map(part).collect(),
                is_error: n % 2 == 1,
                cache: None,
            });
            messages.push(Arc::new(Message { role: Role::Assistant, blocks: vec![call] }));
            messages.push(Arc::new(Message { role: Role::User, blocks: vec![result] }));
        }
        messages.into_iter().collect()
    }

    fn check(results: &[&str], before: u64, result_chars_max: u64, expected: Expect) {
        let messages = conversation(results);
        let (changed, cut) = apply(&messages, &Pruned { before, result_chars_max });
        let mut shown = format!("{cut:?}\n");
        for (at, message) in changed {
            let Some(Block::ToolResult(result)) = message.blocks.first() else { panic!("{at}") };
            assert_eq!(result.is_error, at % 4 == 0);
            let parts: Vec<&str> = result.content.iter().filter_map(Block::as_text).collect();
            shown += &format!("{at}: {}\n", parts.join(" + ").replace("\n", "|"));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn long_results_lose_their_middle_and_images_go() {
        check(
            &["300", "image 3 document", "10", "300"],
            7,
            20,
            expect![[r#"
            Cut { results: 2, chars: 280, items: 2 }
            2: éééééééééé|[280 characters of this old result were left out; make the call again if they are needed]|éééééééééé
            4: [an image of this old result was left out; make the call again if it is needed] + ééé + [a document of this old result was left out; make the call again if it is needed]
        "#]],
        );
        check(
            &["300", "image", "300"],
            3,
            20,
            expect![[r#"
            Cut { results: 1, chars: 280, items: 0 }
            2: éééééééééé|[280 characters of this old result were left out; make the call again if they are needed]|éééééééééé
        "#]],
        );
        check(
            &["300", "10"],
            9,
            1000,
            expect![[r#"
            Cut { results: 0, chars: 0, items: 0 }
        "#]],
        );
    }

    #[test]
    fn a_text_never_grows() {
        for n_chars in [0, 127, 128, 129, 227, 228, 229, 1000] {
            for chars_max in [0, 1, 99, 100] {
                let mut cut = Cut::default();
                let text = Arc::new(Text { text: "é".repeat(n_chars), cache: None, raw: None });
                let short = shortened(&text, chars_max, &mut cut).text.chars().count();
                assert!(
                    short <= n_chars.min(chars_max + MARKER_CHARS_MAX),
                    "{n_chars} {chars_max}"
                );
            }
        }
    }

    #[test]
    fn as_little_goes_as_is_enough() {
        let messages = conversation(&["6000", "3000", "6000"]);
        let tokens_of = |how: &Pruned| 30_000 - apply(&messages, how).1.chars;
        for (keep_tail, goal, expected) in [
            (0, 26_192, Some((7, 4096))),
            (0, 26_191, Some((7, 1024))),
            (0, 18_072, Some((7, 1024))),
            (0, 18_071, Some((7, 256))),
            (0, 100, None),
            (2, 28_096, Some((5, 4096))),
            (4, 28_095, Some((3, 1024))),
            (6, 29_000, None),
            (7, 30_000, None),
        ] {
            let how = plan(&messages, keep_tail, goal, tokens_of);
            let how = how.map(|how| (how.before, how.result_chars_max));
            assert_eq!(how, expected, "{keep_tail} {goal}");
        }
    }
}
