//! The words of TOML, which the packaged grammars lack.

use super::Run;
use crate::theme::SyntaxClass;

/// What a line begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TomlState {
    #[default]
    Outside,
    /// In a text of several lines that these quotes end.
    Inside(&'static str),
}

/// The runs of a line, and what the next one begins in.
pub(super) fn line(line: &str, state: TomlState) -> (Vec<Run>, TomlState) {
    let mut runs = Vec::new();
    let mut at = 0;
    if let TomlState::Inside(quotes) = state {
        let Some(end) = end_of(line, 0, quotes) else {
            push(&mut runs, 0, line.len(), SyntaxClass::String);
            return (runs, state);
        };
        push(&mut runs, 0, end, SyntaxClass::String);
        at = end;
    }
    let trimmed = line.trim_start();
    let is_outside = state == TomlState::Outside;
    if is_outside && trimmed.starts_with('[') && !trimmed.contains('=') {
        let end = line.find('#').unwrap_or(line.len());
        push(
            &mut runs,
            line.len() - trimmed.len(),
            line[..end].trim_end().len(),
            SyntaxClass::Type,
        );
        at = end;
    }
    let mut is_key = is_outside;
    while let Some(next) = line[at..].chars().next() {
        let rest = &line[at..];
        let end = match next {
            '#' => {
                push(&mut runs, at, line.len(), SyntaxClass::Comment);
                line.len()
            }
            '"' | '\'' => match text_end(line, at) {
                Ok(end) => {
                    let class = if is_key { SyntaxClass::Function } else { SyntaxClass::String };
                    push(&mut runs, at, end, class);
                    end
                }
                Err(quotes) => {
                    push(&mut runs, at, line.len(), SyntaxClass::String);
                    return (runs, TomlState::Inside(quotes));
                }
            },
            '=' => {
                is_key = false;
                at + 1
            }
            '{' | ',' => {
                is_key = is_key || rest.contains('=');
                at + 1
            }
            next if is_word(next) => {
                let end = at + rest.find(|next| !is_word(next)).unwrap_or(rest.len());
                let is_value = next.is_ascii_digit()
                    || matches!(next, '+' | '-')
                    || matches!(&line[at..end], "true" | "false" | "inf" | "nan");
                if is_key {
                    push(&mut runs, at, end, SyntaxClass::Function);
                } else if is_value {
                    push(&mut runs, at, end, SyntaxClass::Number);
                }
                end
            }
            next => at + next.len_utf8(),
        };
        at = end;
    }
    (runs, TomlState::Outside)
}

fn is_word(next: char) -> bool {
    next.is_ascii_alphanumeric() || matches!(next, '_' | '-' | '+' | '.' | ':')
}

/// Where the text that begins at `at` ends, or the quotes that a later line has to end it with.
fn text_end(line: &str, at: usize) -> Result<usize, &'static str> {
    for quotes in ["\"\"\"", "'''"] {
        if line[at..].starts_with(quotes) {
            return end_of(line, at + quotes.len(), quotes).ok_or(quotes);
        }
    }
    let quote = if line[at..].starts_with('"') { "\"" } else { "'" };
    // A text of one line that has no end is one up to the end of the line.
    Ok(end_of(line, at + 1, quote).unwrap_or(line.len()))
}

/// The place behind the quotes that end a text which goes on at `from`.
fn end_of(line: &str, from: usize, quotes: &str) -> Option<usize> {
    let mut at = from;
    while at < line.len() {
        let rest = &line[at..];
        if rest.starts_with(quotes) {
            return Some(at + quotes.len());
        }
        let mut signs = rest.chars();
        let escapes = signs.next() == Some('\\') && quotes.starts_with('"');
        at = line.len() - signs.as_str().len();
        if escapes {
            at += signs.next().map_or(0, char::len_utf8);
        }
    }
    None
}

fn push(runs: &mut Vec<Run>, start: usize, end: usize, class: SyntaxClass) {
    if start < end {
        runs.push(Run { range: start..end, class });
    }
}
