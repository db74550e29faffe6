//! The words of TypeScript, which the packaged grammars lack: the one for JavaScript loses its way
//! at the first type.

use super::Run;
use crate::theme::SyntaxClass;

/// Words that are neither names nor values.
const KEYWORDS: [&str; 58] = [
    "abstract",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "declare",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "finally",
    "for",
    "from",
    "function",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "infer",
    "instanceof",
    "interface",
    "is",
    "keyof",
    "let",
    "namespace",
    "new",
    "of",
    "override",
    "private",
    "protected",
    "public",
    "readonly",
    "return",
    "satisfies",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "try",
    "type",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];
/// Types that begin with a small letter.
const TYPES: [&str; 9] =
    ["any", "bigint", "boolean", "never", "number", "object", "string", "symbol", "unknown"];
const VALUES: [&str; 6] = ["true", "false", "null", "undefined", "NaN", "Infinity"];

/// What a line begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ScriptState {
    #[default]
    Outside,
    /// In a comment of several lines.
    Comment,
    /// In a text between backticks; what is inserted there counts as the text's.
    Template,
}

/// The runs of a line, and what the next one begins in.
pub(super) fn line(line: &str, begins: ScriptState) -> (Vec<Run>, ScriptState) {
    let mut runs = Vec::new();
    let mut state = begins;
    let mut at = 0;
    while at < line.len() {
        let start = at;
        let class;
        (at, class, state) = token(line, at, state);
        if let Some(class) = class {
            runs.push(Run { range: start..at, class });
        }
    }
    (runs, state)
}

/// The end of the token at `at`, what it is, and what follows begins in.
fn token(line: &str, at: usize, state: ScriptState) -> (usize, Option<SyntaxClass>, ScriptState) {
    let rest = &line[at..];
    let closed = |from: usize, end: &str, class, inside| match text_end(line, at + from, end) {
        Some(end) => (end, Some(class), ScriptState::Outside),
        None => (line.len(), Some(class), inside),
    };
    match state {
        ScriptState::Comment => {
            return closed(0, "*/", SyntaxClass::Comment, ScriptState::Comment);
        }
        ScriptState::Template => {
            return closed(0, "`", SyntaxClass::String, ScriptState::Template);
        }
        ScriptState::Outside => {}
    }
    let Some(first) = rest.chars().next() else { return (line.len(), None, state) };
    match first {
        '/' if rest.starts_with("//") => (line.len(), Some(SyntaxClass::Comment), state),
        '/' if rest.starts_with("/*") => {
            closed(2, "*/", SyntaxClass::Comment, ScriptState::Comment)
        }
        '`' => closed(1, "`", SyntaxClass::String, ScriptState::Template),
        '"' => closed(1, "\"", SyntaxClass::String, ScriptState::Outside),
        '\'' => closed(1, "'", SyntaxClass::String, ScriptState::Outside),
        '@' => {
            let end = at + 1 + word_length(&rest[1..]);
            (end, Some(SyntaxClass::Function), state)
        }
        first if is_word(first) => {
            let end = at + word_length(rest);
            (end, word_class(&line[at..end], &line[end..], line[..at].ends_with('.')), state)
        }
        first => (at + first.len_utf8(), None, state),
    }
}

fn word_class(word: &str, after: &str, is_member: bool) -> Option<SyntaxClass> {
    let is_called = after.starts_with('(');
    if !is_member && KEYWORDS.contains(&word) {
        Some(SyntaxClass::Keyword)
    } else if !is_member && TYPES.contains(&word) {
        Some(SyntaxClass::Type)
    } else if VALUES.contains(&word) || word.starts_with(|first: char| first.is_ascii_digit()) {
        Some(SyntaxClass::Number)
    } else if is_called {
        Some(SyntaxClass::Function)
    } else if word.starts_with(char::is_uppercase) {
        Some(SyntaxClass::Type)
    } else {
        None
    }
}

fn is_word(next: char) -> bool {
    next.is_alphanumeric() || matches!(next, '_' | '$')
}

fn word_length(text: &str) -> usize {
    text.find(|next| !is_word(next)).unwrap_or(text.len())
}

/// The place behind `end`, which a backslash before it takes its meaning from.
fn text_end(line: &str, from: usize, end: &str) -> Option<usize> {
    let mut at = from;
    while at < line.len() {
        let rest = &line[at..];
        if rest.starts_with(end) {
            return Some(at + end.len());
        }
        let mut signs = rest.chars();
        if signs.next() == Some('\\') && end != "*/" {
            signs.next();
        }
        at = line.len() - signs.as_str().len();
    }
    None
}
