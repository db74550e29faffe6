//! Which style each kind of text has.

mod file;

use ratatui::style::{Color, Modifier, Style};

pub use file::{THEME_BYTES_MAX, ThemeError};

/// A style for each kind of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// What has no other style.
    pub text: Style,
    /// What matters less: thinking, addresses, numbers of lines, rules.
    pub dim: Style,
    /// What is active: a running call, the frame of a question, a chosen mode.
    pub accent: Style,
    /// What the person wrote.
    pub user: Style,
    /// Headings; levels differ by underline and weight.
    pub heading: Style,
    /// `*emphasis*`.
    pub emphasis: Style,
    /// `**strong**`.
    pub strong: Style,
    /// What can be followed.
    pub link: Style,
    /// Code within a sentence; in a block, what has no syntax class is `text`.
    pub code: Style,
    /// Quoted text and its bar.
    pub quote: Style,
    /// What went well.
    pub success: Style,
    /// What should be looked at.
    pub warning: Style,
    /// What failed.
    pub error: Style,
    /// Lines that came in.
    pub added: Style,
    /// Lines that went out.
    pub removed: Style,
    /// Within a changed line, what came in.
    pub added_word: Style,
    /// Within a changed line, what went out.
    pub removed_word: Style,
    /// The chosen entry of a list.
    pub selection: Style,
    /// The status line.
    pub status: Style,
    /// The words of code.
    pub syntax: Syntax,
    /// What stands for what is seen at a glance.
    pub signs: Signs,
}

/// What stands for what is seen at a glance, such as done, failed, or a share of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signs {
    /// Signs and boxes.
    #[default]
    Drawn,
    /// Words, and nothing that cannot be read aloud.
    Words,
}

/// A style for each class of words in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Syntax {
    /// `if`, `fn`, `return`.
    pub keyword: Style,
    /// Texts and characters.
    pub string: Style,
    /// What the compiler skips.
    pub comment: Style,
    /// Numbers, `true`, constants of the language.
    pub number: Style,
    /// Functions where they are made or called.
    pub function: Style,
    /// Types, tags, keys of settings.
    pub type_name: Style,
}

/// What a word of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxClass {
    /// `if`, `fn`, `return`.
    Keyword,
    /// Texts and characters.
    String,
    /// What the compiler skips.
    Comment,
    /// Numbers, `true`, constants of the language.
    Number,
    /// Functions where they are made or called.
    Function,
    /// Types, tags, keys of settings.
    Type,
    /// What came in, in a diff.
    Added,
    /// What went out, in a diff.
    Removed,
}

/// Themes that need no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// For a dark background, of the terminal's own 16 colors.
    Dark,
    /// For a light background, of the terminal's own 16 colors.
    Light,
    /// No color at all.
    Plain,
}

impl Builtin {
    /// All there are, with the names people call them by.
    pub const ALL: [(&'static str, Self); 3] =
        [("dark", Self::Dark), ("light", Self::Light), ("plain", Self::Plain)];

    /// The theme called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(each, _)| *each == name).map(|(_, found)| found)
    }

    /// Its styles.
    #[must_use]
    pub fn theme(self) -> Theme {
        match self {
            Self::Dark => Theme::dark(),
            Self::Light => Theme::light(),
            Self::Plain => Theme::plain(),
        }
    }
}

/// What a terminal's background is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Darker than its text.
    Dark,
    /// Lighter than its text.
    Light,
}

impl Theme {
    /// For a dark background, of the terminal's own 16 colors.
    #[must_use]
    pub fn dark() -> Self {
        let plain = Self::plain();
        Self {
            // Weaker than the terminal's own text, whatever that is: bright black is invisible on
            // some well-known palettes.
            dim: modified(Modifier::DIM),
            accent: colored(Color::Cyan),
            user: colored(Color::LightBlue),
            heading: bold(Color::LightCyan),
            emphasis: modified(Modifier::ITALIC),
            link: underlined(Color::LightBlue),
            code: colored(Color::LightYellow),
            quote: colored(Color::LightGreen),
            success: colored(Color::LightGreen),
            warning: colored(Color::LightYellow),
            error: colored(Color::LightRed),
            added: colored(Color::Green),
            removed: colored(Color::Red),
            added_word: bold(Color::LightGreen),
            removed_word: bold(Color::LightRed),
            status: modified(Modifier::DIM),
            syntax: Syntax {
                keyword: colored(Color::LightMagenta),
                string: colored(Color::LightGreen),
                comment: modified(Modifier::DIM),
                number: colored(Color::LightYellow),
                function: colored(Color::LightBlue),
                type_name: colored(Color::LightCyan),
            },
            ..plain
        }
    }

    /// For a light background, of the terminal's own 16 colors.
    #[must_use]
    pub fn light() -> Self {
        Self {
            accent: colored(Color::Blue),
            user: colored(Color::Blue),
            heading: bold(Color::Blue),
            link: underlined(Color::Blue),
            code: colored(Color::Magenta),
            quote: colored(Color::Green),
            success: colored(Color::Green),
            warning: bold(Color::Red),
            error: bold(Color::Red),
            added: colored(Color::Green),
            removed: colored(Color::Red),
            added_word: bold(Color::Green),
            removed_word: bold(Color::Red),
            syntax: Syntax {
                keyword: colored(Color::Magenta),
                string: colored(Color::Green),
                comment: modified(Modifier::DIM),
                number: colored(Color::Red),
                function: colored(Color::Blue),
                type_name: colored(Color::Cyan),
            },
            ..Self::dark()
        }
    }

    /// No colors (`NO_COLOR`): weight, underline and reverse only, and those only where a difference
    /// would be lost without them.
    #[must_use]
    pub fn plain() -> Self {
        let none = Style::new();
        let strong = modified(Modifier::BOLD);
        Self {
            text: none,
            dim: none,
            accent: strong,
            user: strong,
            heading: strong,
            emphasis: modified(Modifier::UNDERLINED),
            strong,
            link: modified(Modifier::UNDERLINED),
            code: none,
            quote: none,
            success: none,
            warning: strong,
            error: strong,
            added: none,
            removed: none,
            added_word: modified(Modifier::UNDERLINED),
            removed_word: modified(Modifier::UNDERLINED),
            selection: modified(Modifier::REVERSED),
            status: none,
            syntax: Syntax {
                keyword: none,
                string: none,
                comment: none,
                number: none,
                function: none,
                type_name: none,
            },
            signs: Signs::Drawn,
        }
    }

    /// The style of a word of code.
    #[must_use]
    pub fn class(&self, class: SyntaxClass) -> Style {
        match class {
            SyntaxClass::Keyword => self.syntax.keyword,
            SyntaxClass::String => self.syntax.string,
            SyntaxClass::Comment => self.syntax.comment,
            SyntaxClass::Number => self.syntax.number,
            SyntaxClass::Function => self.syntax.function,
            SyntaxClass::Type => self.syntax.type_name,
            SyntaxClass::Added => self.added,
            SyntaxClass::Removed => self.removed,
        }
    }

    /// Whether there are words for signs.
    pub(crate) fn is_spoken(&self) -> bool {
        self.signs == Signs::Words
    }

    /// A sign, or the words for it.
    pub(crate) fn sign(&self, drawn: &'static str, words: &'static str) -> &'static str {
        match self.signs {
            Signs::Drawn => drawn,
            Signs::Words => words,
        }
    }

    /// Whether code in a sentence looks as the sentence does, so that signs have to mark it.
    pub(crate) fn marks_code(&self) -> bool {
        self.code == self.text
    }
}

fn colored(color: Color) -> Style {
    Style::new().fg(color)
}

fn bold(color: Color) -> Style {
    colored(color).add_modifier(Modifier::BOLD)
}

fn underlined(color: Color) -> Style {
    colored(color).add_modifier(Modifier::UNDERLINED)
}

fn modified(modifier: Modifier) -> Style {
    Style::new().add_modifier(modifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of_the_terminal(color: Option<Color>) -> bool {
        !matches!(color, Some(Color::Rgb(..) | Color::Indexed(_)))
    }

    #[test]
    fn built_in_themes_have_the_terminals_own_colors_or_none() {
        for (name, builtin) in Builtin::ALL {
            let mut theme = builtin.theme();
            for (key, style) in theme.styles() {
                assert!(is_of_the_terminal(style.fg), "{name} {key}");
                assert_eq!(style.bg, None, "{name} {key}: the background is the terminal's");
                let quiet = Modifier::BOLD | Modifier::UNDERLINED | Modifier::REVERSED;
                if builtin == Builtin::Plain {
                    assert_eq!(style.fg, None, "{key}");
                    assert!(quiet.contains(style.add_modifier), "{key}");
                }
            }
        }
    }
}
