//! Patterns of ECMA-262 in the words of [`fancy_regex`], within bounds of memory and time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fancy_regex::{Regex, RegexBuilder};

use crate::problem::short;

/// The most patterns of a schema.
const COUNT_MAX: usize = 1_000;
/// The most memory for all of them, and for one; and for what matching them builds up.
const BYTES_MAX: usize = 64 * 1024 * 1024;
const BYTES_OF_ONE_MAX: usize = 10 * 1024 * 1024;
const BYTES_OF_MATCHING_MAX: usize = 2 * 1024 * 1024;
/// The most steps back in one match, which only patterns that look around or back take.
const STEPS_BACK_MAX: usize = 20_000;
/// What such a match costs, in the steps of a check.
const STEPS_OF_BACK: usize = 4_000;

const DIGITS: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str =
    r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// As it was written.
    pub(crate) text: String,
    /// What a match of it costs by itself, for the count of steps.
    pub(crate) steps: usize,
}

impl Pattern {
    /// Compiles the patterns of a schema; if that fails, which one, and why.
    pub(crate) fn all(texts: Vec<String>) -> Result<Vec<Self>, (usize, String)> {
        if texts.len() > COUNT_MAX {
            return Err((COUNT_MAX, format!("there are more than {COUNT_MAX} patterns")));
        }
        // A pattern that looks around is compiled in parts, each of which begins at a parenthesis.
        let parts: usize = texts.iter().map(|text| 1 + text.matches('(').count()).sum();
        let bytes_max = BYTES_OF_ONE_MAX.min(BYTES_MAX / parts.max(1));
        let compile = |(index, text): (usize, String)| match compiled(&text, bytes_max) {
            Ok((regex, steps)) => Ok(Self { regex, text, steps }),
            Err(why) => Err((index, why)),
        };
        texts.into_iter().enumerate().map(compile).collect()
    }

    /// Whether it is found in a text; `None` if that takes too long to say.
    pub(crate) fn is_in(&self, text: &str) -> Option<bool> {
        // On a few patterns the engine panics: github.com/rust-lang/regex/issues/1344.
        catch_unwind(AssertUnwindSafe(|| self.regex.is_match(text))).ok()?.ok()
    }
}

/// A pattern ready to match, and what a match costs.
fn compiled(text: &str, bytes_max: usize) -> Result<(Regex, usize), String> {
    let name = short(&text.into());
    let mut translation = Translation { rest: text, out: String::new(), steps_back: false };
    translation.all().map_err(|why| format!("the pattern {name} {why}"))?;
    let mut builder = RegexBuilder::new(&translation.out);
    builder.backtrack_limit(STEPS_BACK_MAX).delegate_size_limit(bytes_max);
    builder.delegate_dfa_size_limit(bytes_max.min(BYTES_OF_MATCHING_MAX));
    match catch_unwind(AssertUnwindSafe(|| builder.build())) {
        Ok(Ok(regex)) => Ok((regex, if translation.steps_back { STEPS_OF_BACK } else { 1 })),
        Ok(Err(error)) => Err(format!("the pattern {name} cannot be used: {error}")),
        Err(_) => Err(format!("the pattern {name} cannot be used")),
    }
}

/// A pattern of ECMA-262 on its way into Rust's words.
struct Translation<'t> {
    rest: &'t str,
    out: String,
    /// It looks around, or back at what was found.
    steps_back: bool,
}

/// What was read within brackets.
#[derive(PartialEq)]
enum Item {
    /// A character that a range may begin with.
    Char,
    Other,
}

impl Translation<'_> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(char) = self.next() {
            match char {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '{' if !self.is_count() => self.out.push_str(r"\{"),
                other => self.out.push(other),
            }
            // Some of these groups look around, and all are taken for such.
            let is_special = self.rest.starts_with('?') && !self.rest.starts_with("?:");
            self.steps_back |= char == '(' && is_special;
        }
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.rest = &self.rest[char.len_utf8()..];
        Some(char)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        self.rest.strip_prefix(prefix).map(|rest| self.rest = rest).is_some()
    }

    /// Whether what follows a brace says how often: `2}`, `2,}` or `2,3}`.
    fn is_count(&self) -> bool {
        let Some((count, _)) = self.rest.split_once('}') else { return false };
        let (min, max) = count.split_once(',').unwrap_or((count, "0"));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !min.is_empty() && is_number(min) && is_number(max)
    }

    /// What follows a backslash out of brackets.
    fn escape(&mut self) -> Result<(), String> {
        match self.next() {
            Some('d') => self.out += &format!("[{DIGITS}]"),
            Some('D') => self.out += &format!("[^{DIGITS}]"),
            Some('w') => self.out += &format!("[{WORD}]"),
            Some('W') => self.out += &format!("[^{WORD}]"),
            Some('s') => self.out += &format!("[{SPACE}]"),
            Some('S') => self.out += &format!("[^{SPACE}]"),
            // The last two are of other languages, and mean in them what they do here.
            Some(same @ ('b' | 'B' | 'A' | 'z')) => self.out.extend(['\\', same]),
            Some(same @ ('k' | '1'..='9')) => {
                self.steps_back = true;
                self.out.extend(['\\', same]);
            }
            Some(other) => self.escaped_char(other)?,
            None => return Err("ends with a backslash".to_owned()),
        }
        Ok(())
    }

    /// What follows a backslash anywhere, and is no class of its own.
    fn escaped_char(&mut self, char: char) -> Result<(), String> {
        match char {
            't' | 'n' | 'v' | 'f' | 'r' | 'x' | 'p' | 'P' => self.out.extend(['\\', char]),
            'u' => return self.unicode(),
            '0' => self.out += r"\x00",
            'c' => match self.next() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.out += &format!(r"\x{:02x}", u32::from(letter) % 32);
                }
                _ => return Err(r"has a \c without a letter".to_owned()),
            },
            // These two begin a word for Rust.
            '<' | '>' => self.out.push(char),
            letter if letter.is_alphanumeric() => {
                return Err(format!(r"has \{letter}, which means nothing"));
            }
            other if other.is_ascii() && !other.is_ascii_control() => {
                self.out.extend(['\\', other]);
            }
            other => self.out.push(other),
        }
        if matches!(char, 'p' | 'P')
            && let Some((name, rest)) = self.rest.split_once('}')
        {
            self.out.push_str(name);
            self.out.push('}');
            self.rest = rest;
        }
        Ok(())
    }

    /// What follows `\u`: a code point, or two halves of one.
    fn unicode(&mut self) -> Result<(), String> {
        let wrong = || r"has a \u without four digits".to_owned();
        let braced = self.eat("{");
        let digits = match braced {
            true => self.rest.split_once('}').map(|(digits, _)| digits),
            false => self.rest.get(..4),
        };
        let digits = digits.ok_or_else(wrong)?;
        let mut code = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        self.rest = &self.rest[digits.len() + usize::from(braced)..];
        if (0xd800..0xdc00).contains(&code)
            && let Some(low) = self.rest.strip_prefix(r"\u").and_then(|rest| rest.get(..4))
            && let Ok(low @ 0xdc00..0xe000) = u32::from_str_radix(low, 16)
        {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            self.rest = &self.rest[6..];
        }
        self.out += &format!(r"\u{{{code:x}}}");
        Ok(())
    }

    /// What follows a bracket, up to the one that closes it. Brackets, `&&`, `--` and `~~` within
    /// mean nothing here, and something in Rust.
    fn class(&mut self) -> Result<(), String> {
        let negated = self.eat("^");
        if self.eat("]") {
            self.out += if negated { r"[\s\S]" } else { r"[^\s\S]" };
            return Ok(());
        }
        self.out += if negated { "[^" } else { "[" };
        let mut last = Item::Other;
        loop {
            let char = self.next().ok_or_else(|| "has a bracket that nothing closes".to_owned())?;
            match char {
                ']' => break,
                '-' if last == Item::Char && !self.rest.starts_with(']') => {
                    self.out.push('-');
                    match self.next() {
                        Some(end) => self.class_item(end)?,
                        None => continue,
                    };
                    last = Item::Other;
                }
                other => last = self.class_item(other)?,
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn class_item(&mut self, char: char) -> Result<Item, String> {
        if char != '\\' {
            if matches!(char, '[' | '&' | '~' | '-' | '^') {
                self.out.push('\\');
            }
            self.out.push(char);
            return Ok(Item::Char);
        }
        match self.next() {
            Some('d') => self.out += DIGITS,
            Some('D') => self.out += &format!("[^{DIGITS}]"),
            Some('w') => self.out += WORD,
            Some('W') => self.out += &format!("[^{WORD}]"),
            Some('s') => self.out += SPACE,
            Some('S') => self.out += &format!("[^{SPACE}]"),
            Some(class @ ('p' | 'P')) => self.escaped_char(class)?,
            Some('b') => {
                self.out += r"\x08";
                return Ok(Item::Char);
            }
            Some(other) => {
                self.escaped_char(other)?;
                return Ok(Item::Char);
            }
            None => return Err("ends with a backslash".to_owned()),
        }
        Ok(Item::Other)
    }
}
