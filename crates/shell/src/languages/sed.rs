//! Scripts of sed: which of their commands write files or run programs.

use std::iter::Peekable;
use std::str::Chars;

use super::brackets;

/// What a script does besides printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) writes: Vec<String>,
    /// Lines for a shell; none where the line is the text that is edited.
    pub(crate) runs: Vec<Option<String>>,
}

/// Reads a script; none where it is not understood.
pub(crate) fn read(text: &str) -> Option<Script> {
    let mut reader = Reader { chars: text.chars().peekable(), script: Script::default() };
    while reader.command()? {}
    Some(reader.script)
}

struct Reader<'t> {
    chars: Peekable<Chars<'t>>,
    script: Script,
}

impl Reader<'_> {
    /// Reads a command; false at the end.
    fn command(&mut self) -> Option<bool> {
        self.skip(|c| c.is_whitespace() || c == ';');
        self.addresses()?;
        let Some(command) = self.chars.next() else { return Some(false) };
        match command {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'F' | 'z' => {}
            'a' | 'i' | 'c' => self.text(),
            // What comes behind a blank is another command to some.
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.skip(|c| c == ' ' || c == '\t');
                self.until(|c| c.is_whitespace() || matches!(c, ';' | '}'));
            }
            'q' | 'Q' | 'l' | 'L' => self.skip(|c| c == ' ' || c.is_ascii_digit()),
            'r' | 'R' | '#' => {
                self.line();
            }
            'w' | 'W' => {
                let file = self.line();
                self.script.writes.push(file);
            }
            'e' => {
                let line = self.line();
                // A backslash joins lines, or goes away.
                let is_known = !line.is_empty() && !line.contains('\\');
                self.script.runs.push(is_known.then_some(line));
            }
            's' => self.substitute()?,
            'y' => {
                let end = self.chars.next()?;
                self.plain(end)?;
                self.plain(end)?;
            }
            _ => return None,
        }
        Some(true)
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.chars.peek() {
                Some('/') => {
                    self.chars.next();
                    self.delimited('/')?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some('\\') => {
                    self.chars.next();
                    let end = self.chars.next()?;
                    self.delimited(end)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                Some(c) if c.is_ascii_digit() || "$,~+! \t".contains(*c) => {
                    self.chars.next();
                }
                _ => return Some(()),
            }
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let end = self.chars.next()?;
        self.delimited(end)?;
        self.plain(end)?;
        loop {
            match self.chars.peek() {
                Some('e') => {
                    self.chars.next();
                    self.script.runs.push(None);
                }
                Some('w') => {
                    self.chars.next();
                    let file = self.line();
                    self.script.writes.push(file);
                    return Some(());
                }
                Some(c) if "gpiImM".contains(*c) || c.is_ascii_digit() => {
                    self.chars.next();
                }
                _ => return Some(()),
            }
        }
    }

    /// Goes past the next delimiter that is not escaped and not in brackets.
    fn delimited(&mut self, end: char) -> Option<()> {
        loop {
            match self.chars.next()? {
                '\\' => drop(self.chars.next()?),
                c if c == end => return Some(()),
                '[' => brackets(&mut self.chars, None)?,
                _ => {}
            }
        }
    }

    /// The same where brackets mean nothing: it is no expression.
    fn plain(&mut self, end: char) -> Option<()> {
        loop {
            match self.chars.next()? {
                '\\' => drop(self.chars.next()?),
                c if c == end => return Some(()),
                _ => {}
            }
        }
    }

    /// The text of `a`, `i` and `c`: a line, and those after it as long as they end with `\`.
    fn text(&mut self) {
        let mut escaped = false;
        for c in self.chars.by_ref() {
            if c == '\n' && !escaped {
                return;
            }
            escaped = c == '\\' && !escaped;
        }
    }

    /// The rest of the line.
    fn line(&mut self) -> String {
        self.until(|c| c == '\n').trim().to_owned()
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.chars.next_if(|c| !ends(*c)) {
            text.push(c);
        }
        text
    }

    fn skip(&mut self, skips: impl Fn(char) -> bool) {
        while self.chars.next_if(|c| skips(*c)).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(script: &str, expected: Expect) {
        let text = match read(script) {
            Some(script) => format!("writes {:?}, runs {:?}", script.writes, script.runs),
            None => "not understood".to_owned(),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn commands_that_write_or_run_are_found_wherever_they_stand() {
        let nothing = || expect!["writes [], runs []"];
        check("s/we/ew/g;p", nothing());
        check("/<main>:/,/ret/p", nothing());
        check("s#v1/users#v2/users#g", nothing());
        check("s/[/]e/x/", nothing());
        check("s/[^]/]*$/[/;s/[[:alpha:]/]/]/;y/[/]/", nothing());
        check(":a;N;ta;v 4.2;s/a/b/", nothing());
        check("2i\\\n e w run\n$!d", nothing());
        check(r"s/.*([A-Z_]+).*/\1/", nothing());
        check("e", expect!["writes [], runs [None]"]);
        check("1,3e date\np", expect![[r#"writes [], runs [Some("date")]"#]]);
        check("s/a/b/ge", expect!["writes [], runs [None]"]);
        check(r"\,x,{s/a/b/pw out", expect![[r#"writes ["out"], runs []"#]]);
        check("/x/w /etc/x", expect![[r#"writes ["/etc/x"], runs []"#]]);
        let runs = || expect![[r#"writes [], runs [Some("x")]"#]];
        check("s/a/[/;e x\n# ]/", runs());
        check("y/[/b/;e x\n# ]/z/", runs());
        check("v;e x", runs());
        check("v 4.2 e x", runs());
        check(":a e x", runs());
        check("s/[[:alpha:]/]/;#/;e x", runs());
        check("s/[]/]/;#/;e x", runs());
        check("e y\\\nx", expect!["writes [], runs [None]"]);
        check("s/[/b/", expect!["not understood"]);
        check("s/a/b", expect!["not understood"]);
        check("k", expect!["not understood"]);
    }
}
