//! What holds after any keys and pastes, at any width.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::testing::{Step, play, settings, text_of};
use super::{
    Answer, Command, Composer, ComposerSettings, ComposerStyles, Draft, History, KeyStyle,
    UNDO_GROUPS_MAX, graphemes,
};

fn any_letter() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => proptest::char::range('a', 'f'),
        4 => proptest::sample::select(vec![
            ' ', ' ', '\t', '\\', '@', '/', '.', '(', ')', '"', '\'', '0', '3', 'w', 'y', 'p', 'v',
            'V', 'i', 'A', 'o', 'O', 'j', 'k', 'G', 'g', 'u', 'x', 'r', '~', 't', ';', ',', 'J',
            '\u{65E5}', '\u{1F468}', '\u{200D}', '\u{1F469}', '\u{301}', '\u{1F1E9}', '\u{600}',
            '\u{1b}', '\u{200b}', '\u{e0200}', '\u{e0201}', '\r', '\u{1100}', '\u{1161}', '\u{ad}',
        ]),
        1 => any::<char>(),
    ]
}

fn any_code() -> impl Strategy<Value = KeyCode> {
    prop_oneof![
        6 => any_letter().prop_map(KeyCode::Char),
        4 => proptest::char::range('a', 'z').prop_map(KeyCode::Char),
        4 => proptest::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::BackTab, KeyCode::Backspace,
            KeyCode::Delete, KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down,
            KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::F(5),
        ]),
    ]
}

fn any_modifiers() -> impl Strategy<Value = KeyModifiers> {
    proptest::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::SHIFT,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL | KeyModifiers::ALT,
    ])
}

/// A composer with everything that can open.
fn any_composer() -> impl Strategy<Value = Composer> {
    proptest::bool::ANY.prop_map(|is_vim| {
        let keys = if is_vim { KeyStyle::Vim } else { KeyStyle::Emacs };
        let mut composer = Composer::new(ComposerSettings { keys, ..settings() });
        let draft = |text: &str| Draft::from(text);
        composer.set_history(History::new([
            draft("an older one"),
            draft("two\nlines"),
            draft("/a"),
        ]));
        let command = |name: &str| Command { name: name.to_owned(), ..Command::default() };
        composer.set_commands(vec![command("a"), command("able"), command("bad")]);
        composer
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let key = (any_code(), any_modifiers())
        .prop_map(|(code, modifiers)| Step::Key(KeyEvent::new(code, modifiers)));
    let text = proptest::collection::vec(any_letter(), 0..12)
        .prop_map(|letters| Step::Paste(letters.into_iter().collect()));
    let long = (0..30_usize).prop_map(|lines| Step::Paste("line\n".repeat(lines)));
    let image = Just(Step::Paste("/space/a.png".to_owned()));
    prop_oneof![12 => key, 2 => text, 1 => long, 1 => image]
}

/// All that must hold of a composer as it is drawn.
fn assert_sound(composer: &Composer, width: u16, height: u16) -> Result<(), TestCaseError> {
    let (text, cursor) = (composer.editor.text(), composer.editor.cursor());
    prop_assert!(graphemes::is_edge(text, cursor), "{cursor} in {text:?}");
    let drawn = composer.lines(width, height, &ComposerStyles::default());
    prop_assert!(!drawn.lines.is_empty() && drawn.lines.len() <= usize::from(height));
    prop_assert!(drawn.cursor.0 < width, "column {} of {width}", drawn.cursor.0);
    prop_assert!(usize::from(drawn.cursor.1) < drawn.lines.len());
    for line in drawn.lines.iter().chain(&composer.menu(width, &ComposerStyles::default())) {
        let shown = text_of(line);
        prop_assert!(shown.width() <= usize::from(width), "{shown:?} is wider than {width}");
        prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_keys_leave_a_sound_composer(
        mut composer in any_composer(),
        steps in proptest::collection::vec(any_step(), 0..60),
        width in 1..200_u16,
        height in 1..8_u16,
    ) {
        for step in &steps {
            play(&mut composer, step);
            if let Some(query) = composer.file_query().map(str::to_owned) {
                composer.offer_files(&query, &["src/a b.rs".to_owned(), "docs/".to_owned()]);
            }
            assert_sound(&composer, width, height)?;
        }
    }

    #[test]
    fn undo_goes_back_to_nothing_and_redo_to_the_end(
        mut composer in any_composer(),
        steps in proptest::collection::vec(any_step(), 0..60),
    ) {
        for step in &steps {
            let recalls = composer.recalled.is_some();
            if let Answer::Submit(_) = play(&mut composer, step) {
                prop_assert!(recalls || composer.editor.text().is_empty());
            }
        }
        // What was taken back among the steps comes first.
        while composer.editor.buffer.redo() {}
        let end = composer.editor.text().to_owned();
        let mut back = 0;
        while composer.editor.buffer.undo() {
            back += 1;
            prop_assert!(back <= UNDO_GROUPS_MAX);
        }
        prop_assert_eq!(composer.editor.text(), "");
        for _ in 0..back {
            prop_assert!(composer.editor.buffer.redo());
        }
        prop_assert_eq!(composer.editor.text(), end);
    }
}
