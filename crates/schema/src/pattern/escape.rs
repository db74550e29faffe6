//! What a backslash begins.

use super::translation::{Kind, PROPERTY_WEIGHT, Translation, WIDE_WEIGHT};

const DIGITS: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str =
    r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// The ends of words of ASCII, as Rust only has those of words of all letters here.
const WORD_END: &str = "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))";
const NO_WORD_END: &str = "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))";
const WORD_END_WEIGHT: usize = 4;
const BACK_WEIGHT: usize = 2;

/// Kinds of properties, and those properties whose names begin with a small letter: Rust knows more.
const PROPERTY_KINDS: [&str; 6] =
    ["General_Category", "gc", "Script", "sc", "Script_Extensions", "scx"];
const SMALL_PROPERTIES: [&str; 4] = ["cntrl", "digit", "punct", "space"];

impl Translation<'_> {
    /// What follows a backslash out of brackets.
    pub(super) fn escape(&mut self) -> Result<(), String> {
        let letter = self.escaped()?;
        if let Some((set, weight)) = set(letter) {
            self.put(&set, weight);
            return Ok(());
        }
        match letter {
            'b' | 'B' => {
                self.put_empty(if letter == 'b' { WORD_END } else { NO_WORD_END }, WORD_END_WEIGHT);
                self.group.looks = true;
            }
            // These are of other languages, and mean in them what they do here.
            'A' | 'z' => self.put_empty(&format!(r"\{letter}"), 1),
            'p' | 'P' => {
                self.property(letter)?;
                self.weigh(PROPERTY_WEIGHT);
            }
            '1'..='9' => {
                let is_digit = |char: char| char.is_ascii_digit();
                let rest = self.rest.trim_start_matches(is_digit);
                let more = &self.rest[..self.rest.len() - rest.len()];
                self.rest = rest;
                let number = format!("{letter}{more}");
                self.look_back(&format!(r"\{number}"), number.parse().ok())?;
            }
            'k' => {
                let name = if self.eat("<") { self.name() } else { None };
                let name = name.ok_or_else(|| r"has a \k without a name".to_owned())?;
                let index = self.captures.iter().position(|it| it.name == name);
                self.look_back(&format!(r"\k<{name}>"), index.map(|index| index + 1))?;
            }
            other => {
                let char = self.escaped_char(other)?;
                self.put(&coded(char), char.len_utf8());
            }
        }
        Ok(())
    }

    pub(super) fn escaped(&mut self) -> Result<char, String> {
        self.next().ok_or_else(|| "ends with a backslash".to_owned())
    }

    /// A reference to what a group found, by its number.
    fn look_back(&mut self, written: &str, number: Option<usize>) -> Result<(), String> {
        if self.outer.iter().chain([&self.group]).any(|group| group.kind == Kind::Behind) {
            return Err(format!("has {written} in a look-behind"));
        }
        // Before a group has ended, it would mean nothing.
        let ended = number.filter(|number| {
            self.captures.get(number - 1).is_some_and(|capture| capture.has_ended)
        });
        let number = ended.ok_or_else(|| format!("has {written} where no such group has ended"))?;
        // If it took no part in the match, it found nothing, which is everywhere.
        self.put(&format!(r"(?({number})\{number}|)"), BACK_WEIGHT);
        (self.group.looks, self.group.is_endless) = (true, true);
        Ok(())
    }

    /// What follows `\p`.
    pub(super) fn property(&mut self, letter: char) -> Result<(), String> {
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '=');
        let braced = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (name, rest) = braced
            .filter(|(name, _)| !name.is_empty() && name.chars().all(is_of_name))
            .ok_or_else(|| format!(r"has a \{letter} without a name in braces"))?;
        let is_property = match name.split_once('=') {
            Some((kind, value)) => PROPERTY_KINDS.contains(&kind) && !value.is_empty(),
            None => !name.starts_with(char::is_lowercase) || SMALL_PROPERTIES.contains(&name),
        };
        if !is_property {
            return Err(format!("has `{name}`, which is no property"));
        }
        self.rest = rest;
        self.out += &format!(r"\{letter}{{{name}}}");
        Ok(())
    }

    /// The one character that a backslash and this one, with what follows, stand for anywhere.
    pub(super) fn escaped_char(&mut self, letter: char) -> Result<char, String> {
        Ok(match letter {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if self.rest.starts_with(|next: char| next.is_ascii_digit()) => {
                return Err(r"has a \0 before a digit".to_owned());
            }
            '0' => '\0',
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => char::from(letter as u8 % 32),
                _ => return Err(r"has a \c without a letter".to_owned()),
            },
            'x' => {
                let (code, rest) = digits(self.rest, 2)
                    .ok_or_else(|| r"has a \x without two digits".to_owned())?;
                self.rest = rest;
                char::from_u32(code).unwrap_or_default()
            }
            'u' => return self.unicode(),
            other if other.is_alphanumeric() => {
                return Err(format!(r"has \{other}, which means nothing"));
            }
            other => other,
        })
    }

    /// What follows `\u`: a code point, or two halves of one.
    fn unicode(&mut self) -> Result<char, String> {
        let braced = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let read = match braced {
            Some((inner, rest)) => digits(inner, inner.len()).map(|(code, _)| (code, rest)),
            None => digits(self.rest, 4),
        };
        let (mut code, mut rest) =
            read.ok_or_else(|| r"has a \u without four digits".to_owned())?;
        if (0xd800..0xdc00).contains(&code)
            && let Some(after) = rest.strip_prefix(r"\u")
            && let Some((low @ 0xdc00..0xe000, after)) = digits(after, 4)
        {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            rest = after;
        }
        self.rest = rest;
        char::from_u32(code).ok_or_else(|| r"has a \u that is no character".to_owned())
    }
}

/// The set of characters that a letter after a backslash stands for, and what it weighs.
pub(super) fn set(letter: char) -> Option<(String, usize)> {
    let (set, weight) = match letter.to_ascii_lowercase() {
        'd' => (DIGITS, 1),
        'w' => (WORD, 1),
        's' => (SPACE, WIDE_WEIGHT),
        _ => return None,
    };
    Some(match letter.is_ascii_uppercase() {
        true => (format!("[^{set}]"), WIDE_WEIGHT),
        false => (format!("[{set}]"), weight),
    })
}

/// A character in a form that means nothing else.
pub(super) fn coded(char: char) -> String {
    format!(r"\u{{{:x}}}", u32::from(char))
}

/// A number of so many hexadecimal digits, and what follows it.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok()?;
    is_number.then_some((number, rest))
}
