//! The terminal's background, asked for and understood when it answers.
//!
//! The answer comes among keys, as keys: Alt-], digits, and Ctrl-G or Alt-\ at its end. What begins
//! so is held back until it is an answer or is none.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::theme::Background;

/// What asks a terminal for its background: one that does not know the question passes over it.
pub(super) const QUESTION: &str = "\x1b]11;?\x1b\\";
/// What an answer begins with, behind the first key.
const HEAD: &str = "11;";
/// No answer has more characters.
const ANSWER_CHARS_MAX: usize = 64;

/// Reads the answer out of the keys.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Keys that may be one.
    held: Vec<KeyEvent>,
}

/// What a key is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// These were pressed, and the ones that were held back before.
    Keys(Vec<KeyEvent>),
    /// It may belong to an answer.
    Held,
    /// The end of an answer, which says this if it can be understood.
    Answer(Option<Background>),
}

impl Answers {
    /// Takes a key.
    pub(super) fn hear(&mut self, key: KeyEvent) -> Heard {
        if key.kind == KeyEventKind::Release && self.held.is_empty() {
            return Heard::Keys(vec![key]);
        }
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char(']') if is_alt && self.held.is_empty() => {
                self.held.push(key);
                return Heard::Held;
            }
            _ if self.held.is_empty() => return Heard::Keys(vec![key]),
            _ => {}
        }
        let text = self.text();
        let is_begun = text.starts_with(HEAD);
        match key.code {
            KeyCode::Char('\\') if is_alt && is_begun => self.ends(&text),
            KeyCode::Char('g') if is_control && is_begun => self.ends(&text),
            KeyCode::Char(next)
                if !is_alt
                    && !is_control
                    && text.len() < ANSWER_CHARS_MAX
                    && (is_begun || HEAD[text.len()..].starts_with(next)) =>
            {
                self.held.push(key);
                Heard::Held
            }
            _ => {
                self.held.push(key);
                Heard::Keys(std::mem::take(&mut self.held))
            }
        }
    }

    /// What is held back, behind its first key.
    fn text(&self) -> String {
        self.held.iter().skip(1).filter_map(|key| key.code.as_char()).collect()
    }

    fn ends(&mut self, text: &str) -> Heard {
        self.held.clear();
        Heard::Answer(understood(text.strip_prefix(HEAD).unwrap_or_default()))
    }
}

/// Of a color as X11 writes it: `rgb:RR/GG/BB` with one to four digits each, or `#RRGGBB`.
fn understood(color: &str) -> Option<Background> {
    let parts: Vec<&str> = match (color.split_once(':'), color.strip_prefix('#')) {
        (Some(("rgb" | "rgba", parts)), _) => parts.split('/').take(3).collect(),
        (None, Some(digits)) if digits.is_ascii() && matches!(digits.len(), 3 | 6 | 12) => {
            let n = digits.len() / 3;
            (0..3).map(|at| &digits[at * n..(at + 1) * n]).collect()
        }
        _ => return None,
    };
    let share = |digits: &str| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
        let part = u32::from_str_radix(digits, 16).ok()?;
        (1..=4).contains(&digits.len()).then(|| f64::from(part) / f64::from(most))
    };
    let shares: Vec<f64> = parts.into_iter().map(share).collect::<Option<_>>()?;
    let [red, green, blue] = shares.try_into().ok()?;
    // As bright as an eye takes it for.
    let light = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if light > 0.5 { Background::Light } else { Background::Dark })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// What is heard of these keys; `⎋` is Alt with the next one, `^` Control.
    fn check(typed: &str, expected: Expect) {
        let mut answers = Answers::default();
        let mut heard = String::new();
        let mut modifiers = KeyModifiers::NONE;
        for c in typed.chars() {
            match c {
                '⎋' => modifiers = KeyModifiers::ALT,
                '^' => modifiers = KeyModifiers::CONTROL,
                _ => {
                    let key = KeyEvent::new(
                        KeyCode::Char(c),
                        std::mem::replace(&mut modifiers, KeyModifiers::NONE),
                    );
                    match answers.hear(key) {
                        Heard::Held => {}
                        Heard::Keys(keys) => {
                            heard.extend(keys.iter().filter_map(|key| key.code.as_char()));
                        }
                        Heard::Answer(answer) => heard += &format!("<{answer:?}>"),
                    }
                }
            }
        }
        expected.assert_eq(&heard);
    }

    #[test]
    fn an_answer_is_heard_between_keys() {
        check("ab⎋]11;rgb:ffff/ffff/ffff⎋\\cd", expect!["ab<Some(Light)>cd"]);
        check("⎋]11;rgb:1e1e/1e1e/2e2e^gx", expect!["<Some(Dark)>x"]);
        check("⎋]11;rgba:FFFF/FFFF/0000/FFFF⎋\\", expect!["<Some(Light)>"]);
        check("⎋]11;#fdf6e3^g", expect!["<Some(Light)>"]);
        check("⎋]11;rgb:0/0/f^g", expect!["<Some(Dark)>"]);
    }

    #[test]
    fn what_cannot_be_understood_is_no_key_either() {
        check("⎋]11;nothing known⎋\\x", expect!["<None>x"]);
        check(
            "⎋]11;rgb:gg/00/00^g⎋]11;rgb:00000/0/0^g⎋]11;rgb:0/0^g⎋]11;#12^g",
            expect!["<None><None><None><None>"],
        );
    }

    #[test]
    fn what_is_no_answer_is_what_was_pressed() {
        check("⎋]x", expect!["]x"]);
        check("⎋]1⎋]11;rgb:0/0/0^g", expect!["]1]11;rgb:0/0/0g"]);
        check("⎋\\^g]11;rgb", expect![["\\g]11;rgb"]]);
        // Whoever types on and on is heard in the end.
        let mut answers = Answers::default();
        answers.hear(KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT));
        let typed = HEAD.chars().chain(std::iter::repeat_n('a', ANSWER_CHARS_MAX));
        let heard =
            typed.map(|c| answers.hear(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
        let heard: Vec<usize> = heard
            .filter_map(|heard| match heard {
                Heard::Keys(keys) => Some(keys.len()),
                _ => None,
            })
            .collect();
        assert_eq!(heard, [ANSWER_CHARS_MAX + 2, 1, 1]);
    }
}
