//! Cutting a conversation back without a model: what is left when no summary can be had.
//!
//! [`apply`] is part of the fold, so what it makes of the same conversation and the same numbers
//! never changes; the tests hold its words. `plan` chooses the numbers, and may learn.

use std::sync::Arc;

use heeler_core::{Block, Message, Messages, Role, ToolResult, Trimmed};

use crate::bugs::{Bug, is_on};
use crate::compact;
use crate::keep::said_in;

/// What is tried, the gentlest first: the tail kept by a compaction is divided, and texts shortened.
/// The last leaves nothing but one line about what is gone, and what was said last.
const STEPS: [Step; 8] = [
    Step { keep_divisor: 1, said_chars_max: 16_384, result_chars_max: 16_384 },
    Step { keep_divisor: 1, said_chars_max: 8192, result_chars_max: 4096 },
    Step { keep_divisor: 2, said_chars_max: 8192, result_chars_max: 2048 },
    Step { keep_divisor: 4, said_chars_max: 4096, result_chars_max: 1024 },
    Step { keep_divisor: 8, said_chars_max: 2048, result_chars_max: 512 },
    Step { keep_divisor: 0, said_chars_max: 1024, result_chars_max: 0 },
    Step { keep_divisor: 0, said_chars_max: 128, result_chars_max: 0 },
    Step { keep_divisor: 0, said_chars_max: 0, result_chars_max: 0 },
];

struct Step {
    /// 0 keeps nothing.
    keep_divisor: usize,
    said_chars_max: u64,
    result_chars_max: u64,
}

/// A text is not shortened for less than this, so that it never grows.
const MARKER_CHARS_MAX: usize = 64;
/// Stands after the sentinel, before what the user said.
const NOTE: &str = "(Earlier messages were left out to make room.)";
/// Stands before what the user said.
const SAID: &str = "What the user said in them:";
/// Stands before what a model said of messages that were gone already.
const BEFORE: &str = "A summary of what came before them:";

/// How to cut back so that at most `goal` tokens are left, or, where nothing comes down to that,
/// at most `most`. `tokens_of` says what would be left.
pub(crate) fn plan(
    messages: &Messages,
    keep_tail: usize,
    (goal, most): (u64, u64),
    tokens_of: impl Fn(&Trimmed) -> u64,
) -> Option<Trimmed> {
    // What the model is to answer now is never cut.
    let is_words = |message: &Arc<Message>| message.role == Role::User && !has_results(message);
    let spared = usize::from(messages.last().is_some_and(is_words) && !is_on(Bug::UnheardInput));
    let mut fits = None;
    for step in &STEPS {
        let keep = match step.keep_divisor {
            0 => spared,
            divisor => keep_tail.div_ceil(divisor).max(spared),
        };
        // A short conversation has nothing beyond its tail; then the tail is shorter.
        let latest = messages.len().saturating_sub(keep).max(1).min(messages.len() - spared);
        let Some(cut) = (1..=latest).rev().find(|cut| compact::keeps_pairs(messages, *cut)) else {
            continue;
        };
        let how = Trimmed {
            cut: cut as u64,
            said_chars_max: step.said_chars_max,
            result_chars_max: step.result_chars_max,
            only_said: true,
        };
        let tokens = tokens_of(&how);
        if tokens <= goal {
            return Some(how);
        }
        if tokens <= most && fits.is_none() {
            fits = Some(how);
        }
    }
    fits
}

/// What is left of a conversation: one message that says what is gone, with the user's own words of
/// it, and the tail with its long results shortened.
#[must_use]
pub fn apply(messages: &Messages, how: &Trimmed) -> Vec<Arc<Message>> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (head, tail): (Vec<_>, Vec<_>) = {
        let cut = size(how.cut);
        messages.iter().enumerate().partition(|(at, _)| *at < cut)
    };
    let head = head.iter().map(|(_, message)| *message);
    let note = match how.only_said {
        true => note(head, size(how.said_chars_max)),
        false => note_of_before(head, size(how.said_chars_max)),
    };
    let note = Arc::new(compact::summary_message(&note));
    let results_max = size(how.result_chars_max);
    let tail = tail.into_iter().map(|(_, message)| with_short_results(message, results_max));
    std::iter::once(note).chain(tail).collect()
}

/// What is left of these messages.
fn note<'m>(head: impl Iterator<Item = &'m Arc<Message>>, said_chars_max: usize) -> String {
    let (mut before, mut said) = (String::new(), Vec::new());
    for message in head {
        match compact::summary_of(&message.text()).filter(|_| is_from_user(message)) {
            Some(summary) => {
                let (summary, words) = parts_of(summary);
                summary.clone_into(&mut before);
                said.extend((!words.is_empty()).then(|| words.to_owned()));
            }
            None => said.extend(said_in(message)),
        }
    }
    let each_max = fair_share(said.iter().map(|words| words.chars().count()), said_chars_max);
    let said: Vec<String> = said.iter().map(|words| shortened(words, each_max)).collect();
    let mut note = NOTE.to_owned();
    for (heading, text) in [(BEFORE, before), (SAID, said.join("\n\n"))] {
        let text = shortened(&text, said_chars_max);
        if !text.is_empty() && said_chars_max > 0 {
            note.extend(["\n\n", heading, "\n\n", &text]);
        }
    }
    note
}

/// The most that each of some lengths may be so that together they are at most `most`: a long one leaves
/// the others their room, and takes what they leave.
fn fair_share(lengths: impl Iterator<Item = usize> + Clone, most: usize) -> usize {
    let mut share = most.checked_div(lengths.clone().count()).unwrap_or(most);
    loop {
        let short: usize = lengths.clone().filter(|length| *length <= share).sum();
        let n_long = lengths.clone().filter(|length| *length > share).count();
        let next = most.saturating_sub(short).checked_div(n_long).unwrap_or(most);
        if next <= share {
            return share;
        }
        share = next;
    }
}

/// What a summary or a note tells of messages before it, and what the user said.
fn parts_of(summary: &str) -> (&str, &str) {
    let Some(rest) = summary.strip_prefix(NOTE).map(str::trim_start) else { return (summary, "") };
    let Some(before) = rest.strip_prefix(BEFORE) else {
        return ("", rest.strip_prefix(SAID).unwrap_or_default().trim());
    };
    let (before, said) = before.split_once(SAID).unwrap_or((before, ""));
    (before.trim(), said.trim())
}

/// What is left of these messages in a record of before, which told whatever came as the user's.
fn note_of_before<'m>(head: impl Iterator<Item = &'m Arc<Message>>, said_max: usize) -> String {
    let said: Vec<String> = head.filter_map(words_of).collect();
    let said = match said_max {
        0 => String::new(),
        chars_max => shortened(&said.join("\n\n"), chars_max),
    };
    match said.is_empty() {
        true => NOTE.to_owned(),
        false => format!("{NOTE}\n\n{SAID}\n\n{said}"),
    }
}

/// Whether this stands for messages that were left out, and not for what a model said of them.
pub(crate) fn is_note(summary: &str) -> bool {
    summary.starts_with(NOTE)
}

/// What a user typed, or what stands for what they typed before.
fn words_of(message: &Arc<Message>) -> Option<String> {
    if !is_from_user(message) {
        return None;
    }
    let text = message.text();
    let text = match compact::summary_of(&text) {
        None => text.as_str(),
        // Cut back a second time, the note is not said twice.
        Some(summary) => match summary.strip_prefix(NOTE) {
            None => summary,
            Some(rest) => rest.trim_start().strip_prefix(SAID).unwrap_or_default().trim_start(),
        },
    };
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn with_short_results(message: &Arc<Message>, chars_max: usize) -> Arc<Message> {
    let is_long = |block: &Block| match block {
        Block::ToolResult(result) => result
            .content
            .iter()
            .filter_map(Block::as_text)
            .any(|text| text.chars().count() > chars_max.saturating_add(MARKER_CHARS_MAX)),
        _ => false,
    };
    if !message.blocks.iter().any(is_long) {
        return Arc::clone(message);
    }
    let shorten = |block: &Block| match block {
        Block::ToolResult(result) => Block::from(ToolResult {
            content: result.content.iter().map(|part| short_text(part, chars_max)).collect(),
            ..ToolResult::clone(result)
        }),
        other => other.clone(),
    };
    let blocks = message.blocks.iter().map(shorten).collect();
    Arc::new(Message { role: message.role, blocks })
}

fn short_text(block: &Block, chars_max: usize) -> Block {
    match block.as_text() {
        Some(text) => Block::text(shortened(text, chars_max)),
        None => block.clone(),
    }
}

/// Beginning and end of a text, with a mark between them, when it is longer than so much.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= chars_max.saturating_add(MARKER_CHARS_MAX) {
        return text.to_owned();
    }
    let half = chars_max / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(n_chars - half).collect();
    let left_out = n_chars - 2 * half;
    format!("{head}\n[{left_out} characters left out to make room]\n{tail}").trim().to_owned()
}

fn is_from_user(message: &Message) -> bool {
    message.role == Role::User && !has_results(message)
}

fn has_results(message: &Message) -> bool {
    message.blocks.iter().any(|block| matches!(block, Block::ToolResult(_)))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::{CallId, RawJson, ToolUse};

    use super::*;
    use crate::words;

    fn conversation() -> Messages {
        let call = Block::from(ToolUse {
            id: "x".into(),
            name: "t".into(),
            input: RawJson::empty_object(),
            invalid: None,
            cache: None,
        });
        let result = Block::from(ToolResult {
            tool_use_id: "x".into(),
            content: vec![Block::text(format!("begins {} ends", "é".repeat(200)))],
            is_error: true,
            cache: None,
        });
        let messages = [
            compact::summary_message("We met."),
            Message::user("Mend the parser."),
            Message::assistant("I will."),
            Message::user("And its tests, all of them, and whatever else you find there. Please!"),
            Message { role: Role::Assistant, blocks: vec![call] },
            Message { role: Role::User, blocks: vec![result, Block::text("be quick")] },
        ];
        messages.into_iter().map(Arc::new).collect()
    }

    fn check(cut: u64, said_chars_max: u64, result_chars_max: u64, expected: Expect) -> Messages {
        check_as(Trimmed { cut, said_chars_max, result_chars_max, only_said: false }, expected)
    }

    fn check_as(how: Trimmed, expected: Expect) -> Messages {
        let left: Messages = apply(&conversation(), &how).into_iter().collect();
        let shown = |message: &Arc<Message>| {
            let results = message.blocks.iter().filter_map(|block| match block {
                Block::ToolResult(r) => r.content.first().and_then(Block::as_text),
                _ => None,
            });
            let role = format!("{:?}", message.role).to_lowercase();
            format!("{role}: {}{}\n", results.collect::<String>(), message.text())
        };
        expected.assert_eq(&left.iter().map(shown).collect::<String>());
        left
    }

    #[test]
    fn what_the_user_said_stays_and_long_results_are_shortened() {
        check(
            4,
            1000,
            20,
            expect![[r#"
            user: [Earlier conversation summary — treat as background context]

            (Earlier messages were left out to make room.)

            What the user said in them:

            We met.

            Mend the parser.

            And its tests, all of them, and whatever else you find there. Please!
            assistant: 
            user: begins ééé
            [192 characters left out to make room]
            ééééé endsbe quick
        "#]],
        );
    }

    #[test]
    fn what_is_cut_back_twice_says_so_once() {
        let left = check(
            6,
            20,
            0,
            expect![[r#"
            user: [Earlier conversation summary — treat as background context]

            (Earlier messages were left out to make room.)

            What the user said in them:

            We met.

            M
            [76 characters left out to make room]
            e. Please!
        "#]],
        );
        let again = Trimmed { cut: 1, said_chars_max: 1000, result_chars_max: 0, only_said: false };
        assert_eq!(apply(&left, &again), left.iter().cloned().collect::<Vec<_>>());
        let nothing = Trimmed { said_chars_max: 0, ..again };
        let note = compact::summary_message(NOTE);
        assert_eq!(apply(&left, &nothing), [Arc::new(note)]);
    }

    #[test]
    fn what_others_said_is_not_told_as_the_users() {
        let how = Trimmed { cut: 4, said_chars_max: 1000, result_chars_max: 20, only_said: true };
        let left = check_as(
            how,
            expect![[r#"
            user: [Earlier conversation summary — treat as background context]

            (Earlier messages were left out to make room.)

            A summary of what came before them:

            We met.

            What the user said in them:

            Mend the parser.

            And its tests, all of them, and whatever else you find there. Please!
            assistant: 
            user: begins ééé
            [192 characters left out to make room]
            ééééé endsbe quick
        "#]],
        );
        // Cut back again, everything stays what it is.
        let again = Trimmed { cut: 1, result_chars_max: 100, ..how };
        assert_eq!(apply(&left, &again), left.iter().cloned().collect::<Vec<_>>());
        let nothing = Trimmed { said_chars_max: 0, ..again };
        assert_eq!(apply(&left, &nothing)[0], Arc::new(compact::summary_message(NOTE)));
    }

    #[test]
    fn words_of_programs_and_hooks_are_nobodys_and_a_long_message_leaves_others_their_room() {
        let ours = words::background_lost("Bash", CallId { turn: 1, round: 1, index: 0 });
        let all: Messages = [
            Message::user("Mend it."),
            Message::user(ours),
            Message::user(words::end_refused("check", "say that I changed my mind")),
            Message::user(format!("long {} end", "x".repeat(1000))),
            Message::user("Go on."),
        ]
        .into_iter()
        .map(Arc::new)
        .collect();
        let how = Trimmed { cut: 4, said_chars_max: 200, result_chars_max: 0, only_said: true };
        let note = apply(&all, &how)[0].text();
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            (Earlier messages were left out to make room.)

            What the user said in them:

            Mend it.

            long xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            [817 characters left out to make room]
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx end"#]].assert_eq(&note);
    }

    #[test]
    fn shares_are_fair() {
        for (lengths, most, share) in [
            (&[][..], 10, 10),
            (&[5, 5], 10, 10),
            (&[5, 6], 10, 5),
            (&[1, 100], 10, 9),
            (&[1, 2, 100, 100], 10, 3),
            (&[100, 3, 4, 1], 10, 3),
            (&[7], 0, 0),
        ] {
            assert_eq!(fair_share(lengths.iter().copied(), most), share, "{lengths:?} {most}");
        }
    }

    #[test]
    fn a_message_whose_results_are_short_enough_is_shared_and_not_copied() {
        let messages = conversation();
        let last = messages.last().unwrap();
        // The longest result has so many characters.
        for (chars_max, shared) in [(212 - 64, true), (211 - 64, false)] {
            let left = with_short_results(last, chars_max);
            assert_eq!(Arc::ptr_eq(last, &left), shared, "{chars_max}");
        }
    }

    #[test]
    fn a_text_never_grows() {
        for n_chars in [0, 63, 64, 65, 163, 164, 165, 1000, 10_000] {
            let text = "é".repeat(n_chars);
            for chars_max in [0, 1, 99, 100] {
                let short = shortened(&text, chars_max).chars().count();
                assert!(
                    short <= n_chars.min(chars_max + MARKER_CHARS_MAX),
                    "{n_chars} {chars_max}"
                );
            }
        }
    }
}
