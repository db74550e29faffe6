//! The form of git's files of settings.

use std::iter::Peekable;
use std::str::Chars;

/// A setting of git's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// The section in small letters, without what stands in it in quotes or behind a full stop.
    pub(super) section: String,
    /// The key in small letters.
    pub(super) key: String,
    /// The value as git takes it; empty for a key alone.
    pub(super) value: String,
}

/// The settings of a file. What git would refuse a whole file for is passed over here.
pub(super) fn settings(text: &str) -> Vec<Setting> {
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut section = String::new();
    let mut settings = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            '#' | ';' => drop(chars.by_ref().find(|c| *c == '\n')),
            '[' => section = header(&mut chars),
            c if c.is_whitespace() => {}
            c => {
                let mut key = c.to_string();
                while let Some(c) = chars.next_if(|c| !matches!(c, '=' | '\n')) {
                    key.push(c);
                }
                let value = match chars.next_if_eq(&'=') {
                    Some(_) => value(&mut chars),
                    None => String::new(),
                };
                let key = key.trim().to_ascii_lowercase();
                settings.push(Setting { section: section.clone(), key, value });
            }
        }
    }
    settings
}

/// The name of a section up to the bracket that ends it, which may stand within quotes, too.
fn header(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    let mut is_quoted = false;
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => drop(chars.next()),
            ']' if !is_quoted => break,
            c if !is_quoted => name.push(c),
            _ => {}
        }
    }
    let name = name.split(['.', ' ', '\t']).next().unwrap_or_default();
    name.to_ascii_lowercase()
}

/// A value up to the end of its last line: a backslash there carries it on.
fn value(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => {
                chars.by_ref().find(|c| *c == '\n');
                break;
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some('\r') => drop(chars.next_if_eq(&'\n')),
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => drop(value.pop()),
                Some(other) => value.push(other),
            },
            c => value.push(c),
        }
    }
    value.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_git_reads_it() {
        let text = "\u{feff}# [a]\n[Core]\n\tHooksPath = \"my hooks\" ; ours\n bare\n\
             [filter \"a]\\\"b\"] clean = sh \\\n  tools/clean.sh \"a;b\\\"\" # end\r\n\
             [gpg.ssh]\nx=\"y\\tz\\\\\"\n[alias]\r\nd = !./d.sh\r\n[open";
        let found: Vec<_> = settings(text)
            .into_iter()
            .map(|it| format!("{}.{}={:?}", it.section, it.key, it.value))
            .collect();
        let expected = [
            r#"core.hookspath="my hooks""#,
            r#"core.bare="""#,
            r#"filter.clean="sh   tools/clean.sh a;b\"""#,
            r#"gpg.x="y\tz\\""#,
            r#"alias.d="!./d.sh""#,
        ];
        assert_eq!(found, expected);
    }
}
