//! Programs of awk: which of their statements write files or run others.

use std::iter::Peekable;
use std::str::Chars;

/// What a program does besides printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// Files that are written: the beginning of the name, and whether that is all of it.
    pub(crate) writes: Vec<(String, bool)>,
    /// Lines for a shell; none where they are computed.
    pub(crate) runs: Vec<Option<String>>,
    pub(crate) connects: bool,
    /// It brings other programs along.
    pub(crate) loads: bool,
}

/// Reads a program. Total: what is no awk gives what it looks like.
pub(crate) fn read(text: &str) -> Program {
    let tokens = tokens(text);
    let mut program = Program::default();
    let (mut depth, mut print): (usize, Option<usize>) = (0, None);
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        match token {
            Token::Name(name) if name == "print" || name == "printf" => print = Some(depth),
            Token::Name(name) if name == "system" && next == Some(&Token::Sign('(')) => {
                program.runs.push(argument(&tokens[index + 2..], Some(&Token::Sign(')'))));
            }
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign(';' | '\n' | '}' | '{') => print = None,
            Token::Redirect if print == Some(depth) => {
                program.writes.push(target(&tokens[index + 1..]))
            }
            Token::Pipe if next == Some(&Token::Name("getline".to_owned())) => {
                let is_alone = !matches!(
                    index.checked_sub(2).and_then(|index| tokens.get(index)),
                    Some(Token::Text(_) | Token::Name(_) | Token::Sign(')' | ']' | '$'))
                );
                program.runs.push(before.and_then(text_of).filter(|_| is_alone));
            }
            Token::Pipe => program.runs.push(argument(&tokens[index + 1..], None)),
            Token::Text(text) if text.starts_with("/inet") => program.connects = true,
            Token::Sign('@') => program.loads = true,
            _ => {}
        }
    }
    program
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Regex,
    Number,
    /// `|` or `|&`, but not `||`.
    Pipe,
    /// `>` or `>>`, but not `>=`.
    Redirect,
    Sign(char),
}

fn text_of(token: &Token) -> Option<String> {
    match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// A text that stands alone up to the end.
fn argument(tokens: &[Token], end: Option<&Token>) -> Option<String> {
    let text = tokens.first().and_then(text_of)?;
    let next = tokens.get(1);
    let ends = match end {
        Some(end) => next == Some(end),
        None => matches!(next, None | Some(Token::Sign(';' | '\n' | '}'))),
    };
    ends.then_some(text)
}

fn target(tokens: &[Token]) -> (String, bool) {
    match argument(tokens, None) {
        Some(text) => (text, true),
        None => (tokens.first().and_then(text_of).unwrap_or_default(), false),
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut chars = text.chars().peekable();
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(c) = chars.next() {
        let token = match c {
            ' ' | '\t' | '\r' => continue,
            '\\' if chars.next_if_eq(&'\n').is_some() => continue,
            '#' => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '"' => Token::Text(quoted(&mut chars)),
            '/' if begins_regex(tokens.last()) => {
                regex(&mut chars);
                Token::Regex
            }
            '|' if chars.next_if_eq(&'|').is_some() => Token::Sign('o'),
            '|' => {
                chars.next_if_eq(&'&');
                Token::Pipe
            }
            '>' if chars.next_if_eq(&'=').is_some() => Token::Sign('c'),
            '>' => {
                chars.next_if_eq(&'>');
                Token::Redirect
            }
            c if c.is_ascii_digit() => {
                while chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '.').is_some() {}
                Token::Number
            }
            c if c.is_alphabetic() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                Token::Name(name)
            }
            c => Token::Sign(c),
        };
        tokens.push(token);
    }
    tokens
}

/// After a value a slash divides.
fn begins_regex(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Name(name)) => {
            matches!(name.as_str(), "print" | "printf" | "return" | "in" | "getline")
        }
        Some(Token::Text(_) | Token::Regex | Token::Number | Token::Sign(')' | ']' | '$')) => false,
        _ => true,
    }
}

fn quoted(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c @ ('"' | '/' | '\\')) => text.push(c),
                // An escape that makes another character hides the text.
                Some(c) => text.extend(['\\', c]),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

fn regex(chars: &mut Peekable<Chars<'_>>) {
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            '/' if !in_brackets => return,
            '\n' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let program = read(text);
        let mut found = format!("writes {:?}, runs {:?}", program.writes, program.runs);
        if program.connects {
            found.push_str(", connects");
        }
        if program.loads {
            found.push_str(", loads");
        }
        expected.assert_eq(&found);
    }

    #[test]
    fn statements_that_write_or_run_are_found() {
        let nothing = || expect!["writes [], runs []"];
        check("{ sum += $3 } END { print sum / NR }", nothing());
        check("NR > 1 && $4 > 100 { print $1, $4 }", nothing());
        check("/a|b/ || /system(x)/ { print \"a | b > c\" }", nothing());
        check("{ print (1 > 2) }", nothing());
        check("BEGIN { system(\"git push\") }", expect![[r#"writes [], runs [Some("git push")]"#]]);
        check("{ system($1) }", expect!["writes [], runs [None]"]);
        check("{ system(\"rm \" $1) }", expect!["writes [], runs [None]"]);
        check("{ print | \"sh\" }", expect![[r#"writes [], runs [Some("sh")]"#]]);
        check("{ \"date\" | getline d }", expect![[r#"writes [], runs [Some("date")]"#]]);
        check("{ x = \"a\" $1 | getline }", expect!["writes [], runs [None]"]);
        check("{ print $0 > \"/etc/x\" }", expect![[r#"writes [("/etc/x", true)], runs []"#]]);
        check("{ print >> \"out-\" $1 }", expect![[r#"writes [("out-", false)], runs []"#]]);
        check(
            "BEGIN { s = \"/inet/tcp/0/x/80\"; s |& getline }",
            expect!["writes [], runs [None], connects"],
        );
        check("@include \"x\"", expect!["writes [], runs [], loads"]);
    }
}
