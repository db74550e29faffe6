//! What stands beside a summary, and what the next one makes of it.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{Block, ToolResult, ToolUse, Trimmed};

use super::*;

/// A conversation a line a message: `> words` of the user, `< words` of the model, `edit PATH`
/// and `read PATH` a call with its result; `|` stands for a line break.
fn conversation(script: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    for (n, line) in script.lines().map(str::trim).enumerate() {
        let (word, rest) = line.split_once(' ').unwrap();
        let text = rest.replace('|', "\n");
        let name = match word {
            ">" => {
                messages.push(Message::user(text));
                continue;
            }
            "<" => {
                messages.push(Message::assistant(text));
                continue;
            }
            "edit" => "Edit",
            _ => "Read",
        };
        let call = ToolUse {
            id: n.to_string(),
            name: name.into(),
            input: RawJson::from_value(&serde_json::json!({ "file_path": rest })),
            invalid: None,
            cache: None,
        };
        let result = ToolResult {
            tool_use_id: n.to_string(),
            content: vec![Block::text("done")],
            is_error: false,
            cache: None,
        };
        let (call, result) = (Block::from(call), Block::from(result));
        messages.push(Message { role: Role::Assistant, blocks: vec![call] });
        messages.push(Message { role: Role::User, blocks: vec![result] });
    }
    messages
}

fn messages(all: Vec<Message>) -> Messages {
    all.into_iter().map(Arc::new).collect()
}

const STEPS: &str = r#"[{"content":"look","status":"completed"},
    {"content":"mend  the\nroof","status":"in_progress"},{"content":"test","status":"pending"}]"#;

/// The summary's message when all but the last `tail` messages become one, each time that more
/// was said.
fn check(how: Kept, steps: &str, said: &[(&str, usize)], expected: Expect) {
    let steps = RawJson::parse(steps).unwrap();
    let mut all = Vec::new();
    let mut texts = Vec::new();
    for (script, tail) in said {
        all.extend(conversation(script));
        let cut = all.len() - tail;
        let facts = Facts::of(&messages(all.clone()), cut, Some(&steps));
        let summary = message("We met.", &facts, &how);
        texts.push(summary.text());
        all.drain(..cut);
        all.insert(0, summary);
    }
    expected.assert_eq(&texts.join("\n==\n"));
}

#[test]
fn what_a_summary_could_forget_stands_beside_it() {
    check(
        BOUNDS[0],
        STEPS,
        &[("> Mend it.||Please.\nread a.rs\nedit b.rs\nread b.rs\n< Done.", 0)],
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            >
            > Please.
            Open steps:
            [>] mend the roof
            [ ] test
            Files touched, the latest last:
            - a.rs (read)
            - b.rs (changed)"#]],
    );
}

#[test]
fn what_nobody_typed_is_not_what_the_user_said_last() {
    let call = "1.1.0".parse().unwrap();
    let ended = crate::words::background_finished("Bash", call, false);
    let failed = crate::words::background_finished("Bash", call, true);
    let goes_on = crate::words::end_refused("guard", "so it says");
    // One who begins like a hook, and says nothing of an end.
    let typed = "The hook `guard` is slow.";
    check(
        BOUNDS[0],
        "[]",
        &[
            (&format!("> Mend it.\n> {ended}\n> {failed}\n> {goes_on}"), 0),
            (&format!("> {typed}\n> {ended}"), 0),
        ],
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            ==
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > The hook `guard` is slow."#]],
    );
}

#[test]
fn the_next_summary_carries_it_on_and_says_it_once() {
    check(
        BOUNDS[0],
        "[]",
        &[
            ("> Mend it.\nread a.rs\nedit b.rs", 0),
            ("read c.rs\nedit a.rs", 0),
            ("> [Kept beside the summary, word for word]|- x (read)\n< Hm.", 1),
            ("read d.rs\n> And now?", 1),
        ],
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            Files touched, the latest last:
            - a.rs (read)
            - b.rs (changed)
            ==
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            Files touched, the latest last:
            - b.rs (changed)
            - c.rs (read)
            - a.rs (changed)
            ==
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > [Kept beside the summary, word for word]
            > - x (read)
            Files touched, the latest last:
            - b.rs (changed)
            - c.rs (read)
            - a.rs (changed)
            ==
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            Files touched, the latest last:
            - b.rs (changed)
            - c.rs (read)
            - a.rs (changed)
            - d.rs (read)"#]],
    );
}

#[test]
fn steps_are_taken_anew_and_what_stands_beside_them_is_carried_on() {
    check(
        BOUNDS[0],
        STEPS,
        &[("> Mend it.\nread a.rs", 0), ("edit b.rs", 0)],
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            Open steps:
            [>] mend the roof
            [ ] test
            Files touched, the latest last:
            - a.rs (read)
            ==
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it.
            Open steps:
            [>] mend the roof
            [ ] test
            Files touched, the latest last:
            - a.rs (read)
            - b.rs (changed)"#]],
    );
}

#[test]
fn it_is_bounded() {
    let how = Kept { said_chars_max: 20, steps_max: 1, files_max: 2 };
    let said = format!("> begins {} ends\nread a\nread b\nread c", "é".repeat(200));
    check(
        how,
        STEPS,
        &[(&said, 0)],
        expect![[r#"
        [Earlier conversation summary — treat as background context]

        We met.

        [Kept beside the summary, word for word]
        The user's last message:
        > begins ééé
        > [192 characters left out to make room]
        > ééééé ends
        Open steps:
        [>] mend the roof
        (and 1 more)
        Files touched, the latest last:
        - b (read)
        - c (read)"#]],
    );
    check(
        BOUNDS[2],
        STEPS,
        &[(&said, 0)],
        expect![[r#"
        [Earlier conversation summary — treat as background context]

        We met.

        [Kept beside the summary, word for word]
        The user's last message:
        > begins éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé ends"#]],
    );
    let nothing = Kept { said_chars_max: 0, steps_max: 0, files_max: 0 };
    check(
        nothing,
        STEPS,
        &[(&said, 0)],
        expect![[r#"
        [Earlier conversation summary — treat as background context]

        We met."#]],
    );
}

#[test]
fn nothing_to_keep_leaves_the_summary_alone() {
    check(
        BOUNDS[0],
        "7",
        &[("< Hello.\n> Hi.", 1)],
        expect![[r#"
        [Earlier conversation summary — treat as background context]

        We met."#]],
    );
}

#[test]
fn a_model_that_copies_what_was_kept_is_not_believed() {
    let copied = format!("So.\n\n{HEADING}\n{FILES}\n- made/up (read)");
    let message = message(&copied, &Facts::default(), &BOUNDS[0]);
    assert_eq!(message, compact::summary_message("So."));
    let old = compact::summary_message(&format!("{copied}\nand more"));
    assert_eq!(Facts::read(&old.text()), None);
}

#[test]
fn a_summary_loses_nothing_of_its_own_by_a_copy() {
    let open = super::STEPS;
    let copy = format!("{HEADING}\n{SAID}\n> Mend it.\n{open}\n[ ] test\n{FILES}\n- a.rs (read)");
    let said = copy.replace(HEADING, HEADING_SAID);
    for (summary, own) in [
        (format!("So.\n\n{copy}\n"), "So.".into()),
        (format!("So.\n\n{HEADING}"), "So.".into()),
        // Where more follows, no line of it is left out, and none is taken for ours.
        (format!("{copy}\n\nWe chose B."), format!("{said}\n\nWe chose B.")),
        (format!("{copy}\nWe chose B.\n{copy}"), format!("{said}\nWe chose B.")),
        (format!("It prints {HEADING} first."), format!("It prints {HEADING_SAID} first.")),
        (copy, String::new()),
    ] {
        assert_eq!(own_words(&summary), own, "{summary}");
    }
}

#[test]
fn what_a_hook_says_of_the_end_is_not_what_the_user_said() {
    let refused = words::end_refused("lint", "two warnings");
    check(
        BOUNDS[0],
        "[]",
        &[(&format!("> Mend it.\n< Done.\n> {refused}\n< Done."), 0)],
        expect![[r#"
            [Earlier conversation summary — treat as background context]

            We met.

            [Kept beside the summary, word for word]
            The user's last message:
            > Mend it."#]],
    );
}

#[test]
fn what_stands_last_in_a_note_is_not_what_was_said_last() {
    let steps = RawJson::parse(STEPS).unwrap();
    let mut all = conversation("> Mend it.\n< Done.");
    let facts = Facts::of(&messages(all.clone()), 2, Some(&steps));
    all.splice(..2, [message("We met.", &facts, &BOUNDS[0])]);
    all.extend(conversation("> And now B, leave the rest.\n< I look."));
    let how = Trimmed { cut: 2, said_chars_max: 4000, result_chars_max: 100, only_said: true };
    let cut_back: Messages = trim::apply(&messages(all), &how).into_iter().collect();
    let facts = Facts::of(&cut_back, cut_back.len(), None);
    assert_eq!(facts, Facts::default());
    // Where nothing but the summary was left out, its own end stands last in the note.
    let mut all = conversation("> Mend it.\n< Done.");
    let facts = Facts::of(&messages(all.clone()), 2, Some(&steps));
    all.splice(.., [message("We met.", &facts, &BOUNDS[0])]);
    all.extend(conversation("< I look."));
    let how = Trimmed { cut: 1, said_chars_max: 4000, result_chars_max: 100, only_said: true };
    let cut_back: Messages = trim::apply(&messages(all), &how).into_iter().collect();
    assert_eq!(Facts::of(&cut_back, cut_back.len(), None), Facts::default());
}
