//! The one door of the composer's tests: keys by name in, the drawn composer out.

use std::fmt::Write as _;
use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::Expect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

use super::{Answer, Composer, ComposerSettings, ComposerStyles};

/// How wide and high the composer of most tests is.
const WIDTH: u16 = 40;
const HEIGHT: u16 = 6;

/// Plays the script and compares the composer as it is then, and what it answered on the way.
#[track_caller]
pub(super) fn check(script: &str, expected: Expect) {
    check_with(composer(), WIDTH, script, expected);
}

/// The same at a width.
#[track_caller]
pub(super) fn check_at(width: u16, script: &str, expected: Expect) {
    check_with(composer(), width, script, expected);
}

/// The same with a composer that was prepared.
#[track_caller]
pub(super) fn check_with(mut composer: Composer, width: u16, script: &str, expected: Expect) {
    let mut told = String::new();
    for step in steps(script) {
        // Keys that move by rows need to know how wide those are.
        composer.lines(width, HEIGHT, &ComposerStyles::default());
        tell(&mut told, &step, play(&mut composer, &step));
    }
    expected.assert_eq(&(drawn(&composer, width) + &told));
}

/// The files there are.
const FILES: [&str; 5] = [
    "/space/a.png",
    "/space/b c.JPG",
    "/space/d e.webp",
    "/space/f.txt",
    "/space/some picture.gif",
];

/// A composer for which there are some files.
pub(super) fn composer() -> Composer {
    Composer::new(settings())
}

pub(super) fn settings() -> ComposerSettings {
    ComposerSettings {
        placeholder: "Ask anything".to_owned(),
        is_file: |path| FILES.iter().any(|file| Path::new(file) == path),
        ..ComposerSettings::default()
    }
}

/// One thing a person does.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Key(KeyEvent),
    Paste(String),
}

pub(super) fn play(composer: &mut Composer, step: &Step) -> Answer {
    match step {
        Step::Key(key) => composer.key(*key),
        Step::Paste(text) => composer.paste(text),
    }
}

fn tell(told: &mut String, step: &Step, answer: Answer) {
    let line = match answer {
        Answer::Changed => return,
        Answer::Ignored => match step {
            Step::Key(key) => format!("ignored {:?} {:?}", key.code, key.modifiers),
            Step::Paste(_) => "ignored a paste".to_owned(),
        },
        Answer::Submit(sent) if sent.text == sent.shown && sent.images.is_empty() => {
            format!("submit {:?}", sent.text)
        }
        Answer::Submit(sent) => {
            let images: Vec<_> = sent.images.iter().map(|image| &image.source).collect();
            format!("submit {:?} shown {:?} with {images:?}", sent.text, sent.shown)
        }
        Answer::OpenEditor(text) => format!("editor {text:?}"),
        Answer::Notice(text) => format!("notice {text}"),
    };
    told.push_str(&line);
    told.push('\n');
}

/// The lines with a `|` where the cursor is.
pub(super) fn drawn(composer: &Composer, width: u16) -> String {
    let drawn = composer.lines(width, HEIGHT, &ComposerStyles::default());
    let mut shown = String::new();
    for (row, line) in drawn.lines.iter().enumerate() {
        let mut text = text_of(line);
        if row == usize::from(drawn.cursor.1) {
            let column = usize::from(drawn.cursor.0);
            let at = (0..=text.len())
                .find(|at| text.is_char_boundary(*at) && text[..*at].width() == column);
            text.insert(at.expect("the cursor stands at the edge of a cell"), '|');
        }
        // Blanks at an end would be invisible in a snapshot.
        let end = text.trim_end_matches(' ').len();
        let blanks = "_".repeat(text.len() - end);
        writeln!(shown, "{}{blanks}", &text[..end]).expect("strings take all");
    }
    if drawn.above + drawn.below > 0 {
        writeln!(shown, "(above {}, below {})", drawn.above, drawn.below)
            .expect("strings take all");
    }
    for line in composer.menu(width, &ComposerStyles::default()) {
        let text = text_of(&line);
        assert!(text.width() <= usize::from(width), "{text:?} is wider than {width}");
        writeln!(shown, "  = {}", text.trim_end()).expect("strings take all");
    }
    if let Some(label) = composer.mode_label() {
        writeln!(shown, "-- {label}").expect("strings take all");
    }
    shown
}

pub(super) fn text_of(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Reads a script: `hello<C-a>x<CR>`, where `<lt>` is `<`, `<paste TEXT>` a paste with `\n` for
/// line breaks, and `<lines 12>` a paste of so many.
pub(super) fn steps(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = script;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        if letter != '<' {
            steps.push(Step::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
            continue;
        }
        let (name, after) = rest.split_once('>').expect("a name of a key ends with >");
        rest = after;
        steps.push(match name.split_once(' ') {
            Some(("paste", text)) => Step::Paste(text.replace("\\n", "\n")),
            Some(("lines", count)) => {
                let count = count.parse().expect("a number of lines");
                Step::Paste((1..=count).map(|line: usize| format!("line {line}\n")).collect())
            }
            _ => Step::Key(named(name)),
        });
    }
    steps
}

fn named(name: &str) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    let mut name = name;
    while let Some((modifier, rest)) = name.split_once('-').filter(|(_, rest)| !rest.is_empty()) {
        modifiers |= match modifier {
            "C" => KeyModifiers::CONTROL,
            "A" => KeyModifiers::ALT,
            "S" => KeyModifiers::SHIFT,
            other => panic!("no modifier is called {other}"),
        };
        name = rest;
    }
    let code = match name {
        "CR" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "BS" => KeyCode::Backspace,
        "Del" => KeyCode::Delete,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "lt" => KeyCode::Char('<'),
        "gt" => KeyCode::Char('>'),
        _ => {
            let mut letters = name.chars();
            let letter = letters.next().filter(|_| letters.next().is_none());
            KeyCode::Char(letter.unwrap_or_else(|| panic!("no key is called {name}")))
        }
    };
    KeyEvent::new(code, modifiers)
}
