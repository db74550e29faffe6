//! The keys of readline, which also edit in vim's insert mode.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::edit::{Editor, Way};
use super::graphemes;
use super::kills::Side;
use super::words::{end_of_word, line_end, line_start, start_between_blanks, start_of_word};

/// What a key was to the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// It would have gone above the first row or below the last.
    Edge(Way),
    /// Not a key of the editor.
    Unknown,
}

/// Does what the key says.
pub(super) fn key(editor: &mut Editor, key: KeyEvent) -> Outcome {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    match (key.code, control, alt) {
        (KeyCode::Char(letter), true, false) => with_control(editor, letter),
        (KeyCode::Char(letter), false, true) => with_alt(editor, letter),
        (KeyCode::Char(letter), false, false) => {
            editor.type_letter(letter);
            Outcome::Done
        }
        // A third level of the keyboard arrives as both.
        (KeyCode::Char(letter), true, true) if !letter.is_ascii_alphanumeric() => {
            editor.type_letter(letter);
            Outcome::Done
        }
        (KeyCode::Char(_), true, true) => Outcome::Unknown,
        (code, control, alt) => named(editor, code, control || alt),
    }
}

fn with_control(editor: &mut Editor, letter: char) -> Outcome {
    let (text, cursor) = (editor.text(), editor.cursor());
    match letter.to_ascii_lowercase() {
        'a' => editor.move_to(line_start(text, cursor)),
        'e' => editor.move_to(line_end(text, cursor)),
        'b' => editor.move_to(graphemes::previous(text, cursor)),
        'f' => editor.move_to(graphemes::next(text, cursor)),
        'p' => return climb(editor, Way::Up),
        'n' => return climb(editor, Way::Down),
        'h' => editor.delete(graphemes::previous(text, cursor)..cursor),
        'd' if text.is_empty() => return Outcome::Unknown,
        'd' => editor.delete(cursor..graphemes::next(text, cursor)),
        'w' => editor.kill(start_between_blanks(text, cursor)..cursor, Side::Before),
        'u' => {
            let start = line_start(text, cursor);
            // At the beginning of a line it joins it to the one before.
            let start = if start == cursor { cursor.saturating_sub(1) } else { start };
            editor.kill(start..cursor, Side::Before);
        }
        'k' => {
            let end = line_end(text, cursor);
            let end = if end == cursor { graphemes::next(text, cursor) } else { end };
            editor.kill(cursor..end, Side::After);
        }
        'y' => editor.yank(),
        't' if text.is_empty() => return Outcome::Unknown,
        't' => editor.transpose(),
        'j' => editor.insert("\n"),
        // Terminals that know no more send Ctrl-_ as Ctrl-7.
        '_' | '/' | '7' => return undo(editor),
        _ => return Outcome::Unknown,
    }
    Outcome::Done
}

fn with_alt(editor: &mut Editor, letter: char) -> Outcome {
    let (text, cursor) = (editor.text(), editor.cursor());
    match letter {
        'b' => editor.move_to(start_of_word(text, cursor)),
        'f' => editor.move_to(end_of_word(text, cursor)),
        'd' => editor.kill(cursor..end_of_word(text, cursor), Side::After),
        'y' => editor.yank_older(),
        '<' => editor.move_to(0),
        '>' => editor.move_to(text.len()),
        '_' => {
            editor.buffer.redo();
        }
        'o' => match editor.unfold() {
            true => {}
            false => return Outcome::Unknown,
        },
        _ => return Outcome::Unknown,
    }
    Outcome::Done
}

/// Keys that have names; `by_words` with Control or Alt held.
fn named(editor: &mut Editor, code: KeyCode, by_words: bool) -> Outcome {
    let (text, cursor) = (editor.text(), editor.cursor());
    match code {
        KeyCode::Left if by_words => editor.move_to(start_of_word(text, cursor)),
        KeyCode::Right if by_words => editor.move_to(end_of_word(text, cursor)),
        KeyCode::Home if by_words => editor.move_to(0),
        KeyCode::End if by_words => editor.move_to(text.len()),
        KeyCode::Backspace if by_words => {
            editor.kill(start_of_word(text, cursor)..cursor, Side::Before);
        }
        KeyCode::Delete if by_words => editor.kill(cursor..end_of_word(text, cursor), Side::After),
        KeyCode::Left => editor.move_to(graphemes::previous(text, cursor)),
        KeyCode::Right => editor.move_to(graphemes::next(text, cursor)),
        KeyCode::Home => editor.move_to(line_start(text, cursor)),
        KeyCode::End => editor.move_to(line_end(text, cursor)),
        KeyCode::Backspace => editor.delete(graphemes::previous(text, cursor)..cursor),
        KeyCode::Delete => editor.delete(cursor..graphemes::next(text, cursor)),
        KeyCode::Up if by_words => return Outcome::Unknown,
        KeyCode::Down if by_words => return Outcome::Unknown,
        KeyCode::Up => return climb(editor, Way::Up),
        KeyCode::Down => return climb(editor, Way::Down),
        _ => return Outcome::Unknown,
    }
    Outcome::Done
}

fn climb(editor: &mut Editor, way: Way) -> Outcome {
    if editor.climb(way) { Outcome::Done } else { Outcome::Edge(way) }
}

fn undo(editor: &mut Editor) -> Outcome {
    editor.buffer.undo();
    Outcome::Done
}
