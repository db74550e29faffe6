//! Programs of awk: which of their statements write files or run others.

use std::iter::Peekable;
use std::str::Chars;

use super::brackets;

/// Words that a value follows.
const REGEX_BEHIND: [&str; 8] = ["print", "printf", "return", "in", "else", "do", "exit", "case"];
/// How far back the beginning of a condition is looked for.
const CONDITION_TOKENS_MAX: usize = 256;

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

/// Reads a program; none where it could be meant in two ways. What is no awk gives what it looks like.
pub(crate) fn read(text: &str) -> Option<Program> {
    let tokens = tokens(text)?;
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
    Some(program)
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
        // A backslash that is left makes another character of what follows.
        Token::Text(text) => Some(text.clone()).filter(|text| !text.contains('\\')),
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

fn tokens(text: &str) -> Option<Vec<Token>> {
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
            '/' if begins_regex(&tokens)? => {
                regex(&mut chars)?;
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
                while chars.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
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
    Some(tokens)
}

/// After a value a slash divides. Behind some words, and what may add one, it depends on the awk.
fn begins_regex(before: &[Token]) -> Option<bool> {
    match before {
        [.., Token::Name(name)] => match name.as_str() {
            "length" | "getline" => None,
            name => Some(REGEX_BEHIND.contains(&name)),
        },
        [.., Token::Sign(one @ ('+' | '-')), Token::Sign(two)] if one == two => None,
        [.., Token::Sign(')')] => closes_condition(before),
        [.., Token::Text(_) | Token::Regex | Token::Number | Token::Sign(']')] => Some(false),
        _ => Some(true),
    }
}

/// Whether the bracket at the end closes what stands behind `if`, `while` or `for`; none where the one
/// that opens it is too far.
fn closes_condition(tokens: &[Token]) -> Option<bool> {
    let tokens = &tokens[tokens.len().saturating_sub(CONDITION_TOKENS_MAX)..];
    let mut depth = 0_usize;
    let open = tokens.iter().rposition(|token| {
        match token {
            Token::Sign(')') => depth += 1,
            Token::Sign('(') => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    if open == 0 && tokens.len() == CONDITION_TOKENS_MAX {
        return None;
    }
    Some(match tokens[..open].last() {
        Some(Token::Name(name)) => matches!(name.as_str(), "if" | "while" | "for"),
        _ => false,
    })
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
                Some(c) => text.extend(['\\', c]),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

fn regex(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    loop {
        match chars.next()? {
            '\\' => drop(chars.next()?),
            '[' => brackets(chars, Some('\\'))?,
            '/' => return Some(()),
            '\n' => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let Some(program) = read(text) else { return expected.assert_eq("not understood") };
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
        check("{ print > \"..\\057p\" }", expect![[r#"writes [("", false)], runs []"#]]);
        check("{ print > f }", expect![[r#"writes [("", false)], runs []"#]]);
        check("{ system(\"\\162m x\") }", expect!["writes [], runs [None]"]);
        check("{ print >> \"out-\" $1 }", expect![[r#"writes [("out-", false)], runs []"#]]);
        check(
            "BEGIN { s = \"/inet/tcp/0/x/80\"; s |& getline }",
            expect!["writes [], runs [None], connects"],
        );
        let runs = || expect![[r#"writes [], runs [Some("x")]"#]];
        check("BEGIN{if(0);else /\"/;system(\"x\");/\"/}", runs());
        check("BEGIN{do /\"/;while(0);system(\"x\");/\"/}", runs());
        check("BEGIN{if((1))/\"/;system(\"x\");/\"/}", runs());
        check("{exit /\"/;system(\"x\");/\"/}", runs());
        check("BEGIN{$/\"/;system(\"x\");/\"/}", runs());
        check("BEGIN{/[[:alpha:]/\"]/;system(\"x\");/\"/}", runs());
        check("BEGIN{/[]/\"]/;system(\"x\");/\"/}", runs());
        check("BEGIN{x=1system(\"x\")}", runs());
        check("{ print (1 + 2) / 3 \" a/b\"; print $1/$2, n/NR, 1e3/2 }", nothing());
        check("{ sub(/[^/]*$/, \"\"); gsub(/[][\\/]/, \"\") }", nothing());
        for text in ["BEGIN{x++ / 2; y=\"/\"}", "{print length /2/ 3}", "/a[b/", "/a\n/"] {
            check(text, expect!["not understood"]);
        }
        check("@include \"x\"", expect!["writes [], runs [], loads"]);
    }
}
