//! Theme files: a built-in theme and what differs from it.
//!
//! ```toml
//! base = "dark"
//!
//! [styles]
//! heading = { fg = "cyan", bold = true }
//!
//! [syntax]
//! comment = { fg = 244, italic = true }
//! ```

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Builtin, Theme};

/// The largest theme file that is read; a full one has a hundredth of that.
pub const THEME_BYTES_MAX: usize = 256 * 1024;

/// Colors by name, in the order of their numbers; the terminal's palette says what they look like.
const COLORS: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
    ("strike", Modifier::CROSSED_OUT),
];

/// Why a theme file cannot be used; the message names the file, the line, the key and what may
/// stand there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ThemeError {
    place: String,
    message: String,
}

impl Theme {
    /// Reads a theme file: `base` names a built-in theme (`dark` if absent), `[styles]` and
    /// `[syntax]` say what differs. A style that is named replaces the base's as a whole.
    ///
    /// # Errors
    ///
    /// At the first key, color or value that means nothing here.
    pub fn parse(toml_text: &str, file_name: &str) -> Result<Self, ThemeError> {
        let file = File { text: toml_text, name: file_name };
        if toml_text.len() > THEME_BYTES_MAX {
            let message = format!("a theme has at most {THEME_BYTES_MAX} bytes");
            return Err(ThemeError { place: file_name.to_owned(), message });
        }
        let table = DeTable::parse(toml_text).map_err(|error| {
            file.error(error.span().unwrap_or_default(), error.message().to_owned())
        })?;
        file.theme(table.get_ref())
    }

    /// Every style with its key in a theme file: those of `[syntax]` begin with `syntax.`
    pub(crate) fn styles(&mut self) -> [(&'static str, &mut Style); 25] {
        [
            ("text", &mut self.text),
            ("dim", &mut self.dim),
            ("accent", &mut self.accent),
            ("user", &mut self.user),
            ("heading", &mut self.heading),
            ("emphasis", &mut self.emphasis),
            ("strong", &mut self.strong),
            ("link", &mut self.link),
            ("code", &mut self.code),
            ("quote", &mut self.quote),
            ("success", &mut self.success),
            ("warning", &mut self.warning),
            ("error", &mut self.error),
            ("added", &mut self.added),
            ("removed", &mut self.removed),
            ("added_word", &mut self.added_word),
            ("removed_word", &mut self.removed_word),
            ("selection", &mut self.selection),
            ("status", &mut self.status),
            ("syntax.keyword", &mut self.syntax.keyword),
            ("syntax.string", &mut self.syntax.string),
            ("syntax.comment", &mut self.syntax.comment),
            ("syntax.number", &mut self.syntax.number),
            ("syntax.function", &mut self.syntax.function),
            ("syntax.type", &mut self.syntax.type_name),
        ]
    }
}

/// The file, for its messages.
#[derive(Clone, Copy)]
struct File<'a> {
    text: &'a str,
    name: &'a str,
}

impl File<'_> {
    fn error(&self, at: Range<usize>, message: String) -> ThemeError {
        let before = self.text.get(..at.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        ThemeError { place: format!("{}:{line}", self.name), message }
    }

    fn theme(&self, table: &DeTable<'_>) -> Result<Theme, ThemeError> {
        let mut theme = Builtin::Dark.theme();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "base" => {
                    let name = value.get_ref().as_str().unwrap_or_default();
                    let names = Builtin::ALL.map(|(name, _)| name);
                    let found = Builtin::named(name)
                        .ok_or_else(|| self.error(value.span(), not_one("base", &names)))?;
                    theme = found.theme();
                }
                "styles" | "syntax" => {}
                other => {
                    let message = unknown(other, &["base", "styles", "syntax"]);
                    return Err(self.error(key.span(), message));
                }
            }
        }
        for (section, prefix) in [("styles", ""), ("syntax", "syntax.")] {
            let Some((key, value)) = table.get_key_value(section) else { continue };
            let Some(entries) = value.get_ref().as_table() else {
                let message = format!("`{section}` is a table: `[{section}]` and a style a line");
                return Err(self.error(key.span(), message));
            };
            self.section(&mut theme, prefix, entries)?;
        }
        Ok(theme)
    }

    fn section(
        &self,
        theme: &mut Theme,
        prefix: &str,
        entries: &DeTable<'_>,
    ) -> Result<(), ThemeError> {
        for (key, value) in entries {
            let name = format!("{prefix}{}", key.get_ref());
            let mut styles = theme.styles();
            let Some((_, slot)) = styles.iter_mut().find(|(each, _)| *each == name) else {
                let names: Vec<&str> = styles
                    .iter()
                    .filter_map(|(each, _)| each.strip_prefix(prefix))
                    .filter(|each| !each.contains('.'))
                    .collect();
                return Err(self.error(key.span(), unknown(key.get_ref(), &names)));
            };
            **slot = self.style(key.get_ref(), value)?;
        }
        Ok(())
    }

    /// A style: `"red"`, `208`, or `{ fg = ..., bold = true }`.
    fn style(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<Style, ThemeError> {
        let Some(parts) = value.get_ref().as_table() else {
            return Ok(Style::new().fg(self.color(name, value)?));
        };
        let mut style = Style::new();
        for (key, part) in parts {
            let part_name = key.get_ref().as_ref();
            let modifier = MODIFIERS.iter().find(|(each, _)| *each == part_name);
            match (part_name, modifier) {
                ("fg", _) => style.fg = Some(self.color(&format!("{name}.fg"), part)?),
                ("bg", _) => style.bg = Some(self.color(&format!("{name}.bg"), part)?),
                (_, Some((_, modifier))) => match part.get_ref().as_bool() {
                    Some(true) => style = style.add_modifier(*modifier),
                    Some(false) => {}
                    None => {
                        let message = format!("`{name}.{part_name}` is true or false");
                        return Err(self.error(part.span(), message));
                    }
                },
                _ => {
                    let mut names = vec!["fg", "bg"];
                    names.extend(MODIFIERS.iter().map(|(each, _)| *each));
                    let message = unknown(&format!("{name}.{part_name}"), &names);
                    return Err(self.error(key.span(), message));
                }
            }
        }
        Ok(style)
    }

    fn color(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<Color, ThemeError> {
        let found = match value.get_ref() {
            DeValue::Integer(number) => number
                .as_str()
                .parse::<u8>()
                .ok()
                .filter(|_| number.radix() == 10)
                .map(Color::Indexed),
            DeValue::String(text) => match text.strip_prefix('#') {
                Some(digits) => rgb(digits),
                None => COLORS.iter().find(|(each, _)| each == text).map(|(_, color)| *color),
            },
            _ => None,
        };
        found.ok_or_else(|| {
            let message = format!(
                "`{name}` is no color; it may be a number from 0 to 255, \"#rrggbb\", or one of {}",
                COLORS.map(|(each, _)| each).join(", ")
            );
            self.error(value.span(), message)
        })
    }
}

fn rgb(digits: &str) -> Option<Color> {
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok().map(Color::from_u32)
}

fn unknown(name: &str, allowed: &[&str]) -> String {
    format!("`{name}` means nothing here; there is {}", allowed.join(", "))
}

fn not_one(name: &str, allowed: &[&str]) -> String {
    format!("`{name}` is one of {}", allowed.join(", "))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, message: Expect) {
        let error = Theme::parse(text, "night.toml").expect_err("it must not be taken");
        message.assert_eq(&error.to_string());
    }

    #[test]
    fn a_file_says_what_differs() {
        let text = "
            base = 'light'
            [styles]
            heading = { fg = 'cyan', bold = true, dim = false }
            link = 'bright-red'
            quote = { fg = 208, bg = '#102030' }
            [syntax]
            type = 99
        ";
        let theme = Theme::parse(text, "night.toml").expect("a good file");
        let mut expected = Theme::light();
        expected.heading = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
        expected.link = Style::new().fg(Color::LightRed);
        expected.quote = Style::new().fg(Color::Indexed(208)).bg(Color::Rgb(16, 32, 48));
        expected.syntax.type_name = Style::new().fg(Color::Indexed(99));
        assert_eq!(theme, expected);
        assert_eq!(Theme::parse("", "empty.toml").expect("nothing differs"), Theme::dark());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        check("base = 'drak'", expect!["night.toml:1: `base` is one of dark, light, plain"]);
        check(
            "colors = 1",
            expect!["night.toml:1: `colors` means nothing here; there is base, styles, syntax"],
        );
        check(
            "\n[styles]\n\nheding = 'red'",
            expect![
                "night.toml:4: `heding` means nothing here; there is text, dim, accent, user, heading, emphasis, strong, link, code, quote, success, warning, error, added, removed, added_word, removed_word, selection, status"
            ],
        );
        check(
            "[syntax]\nheading = 'red'",
            expect![
                "night.toml:2: `heading` means nothing here; there is keyword, string, comment, number, function, type"
            ],
        );
        check(
            "[styles]\nheading = { fg = 'rot' }",
            expect![[
                r##"night.toml:2: `heading.fg` is no color; it may be a number from 0 to 255, "#rrggbb", or one of default, black, red, green, yellow, blue, magenta, cyan, white, bright-black, bright-red, bright-green, bright-yellow, bright-blue, bright-magenta, bright-cyan, bright-white"##
            ]],
        );
        check(
            "[styles]\nheading = { fg = 256 }",
            expect![[
                r##"night.toml:2: `heading.fg` is no color; it may be a number from 0 to 255, "#rrggbb", or one of default, black, red, green, yellow, blue, magenta, cyan, white, bright-black, bright-red, bright-green, bright-yellow, bright-blue, bright-magenta, bright-cyan, bright-white"##
            ]],
        );
        check(
            "[styles]\nheading = '#12345g'",
            expect![[
                r##"night.toml:2: `heading` is no color; it may be a number from 0 to 255, "#rrggbb", or one of default, black, red, green, yellow, blue, magenta, cyan, white, bright-black, bright-red, bright-green, bright-yellow, bright-blue, bright-magenta, bright-cyan, bright-white"##
            ]],
        );
        check(
            "[styles]\nheading = { blink = true }",
            expect![
                "night.toml:2: `heading.blink` means nothing here; there is fg, bg, bold, dim, italic, underline, reverse, strike"
            ],
        );
        check(
            "[styles]\nheading = { bold = 'yes' }",
            expect!["night.toml:2: `heading.bold` is true or false"],
        );
        check(
            "styles = 3",
            expect!["night.toml:1: `styles` is a table: `[styles]` and a style a line"],
        );
        check(
            "[styles]\nheading =",
            expect!["night.toml:2: string values must be quoted, expected literal string"],
        );
    }

    #[test]
    fn a_huge_file_is_not_read() {
        check(
            &"#".repeat(THEME_BYTES_MAX + 1),
            expect!["night.toml: a theme has at most 262144 bytes"],
        );
    }
}
