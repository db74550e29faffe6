//! Commands that hold others: groups, conditions, loops, cases, functions, tests.

use super::word::Within;
use super::{Reader, Trouble};

/// Words that are none of a simple command's where a command begins. Two of them hardly anybody writes.
const RESERVED: [&str; 19] = [
    "!", "{", "}", "[[", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "function", "select", "coproc",
];

/// Whether a command cannot begin with this word.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

impl<'t> Reader<'t> {
    pub(super) fn command(&mut self) -> Result<(), Trouble> {
        if self.compound()? { self.redirections() } else { self.simple() }
    }

    /// Reads a command that holds others, if one begins here.
    pub(super) fn compound(&mut self) -> Result<bool, Trouble> {
        let read: fn(&mut Reader<'t>) -> Result<(), Trouble> = if self.takes("((") {
            |reader| reader.arithmetic()
        } else if self.takes("(") {
            |reader| reader.commands_until(")")
        } else if self.takes_word("{") {
            |reader| reader.commands_until("}")
        } else if self.takes_word("if") {
            Reader::condition
        } else if self.takes_word("while") || self.takes_word("until") {
            |reader| {
                reader.commands_until("do")?;
                reader.commands_until("done")
            }
        } else if self.takes_word("for") {
            Reader::loop_over
        } else if self.takes_word("case") {
            Reader::case
        } else if self.takes_word("[[") {
            Reader::test
        } else if self.takes_word("function") {
            Reader::function
        } else {
            return Ok(false);
        };
        self.deeper(read)?;
        Ok(true)
    }

    fn condition(&mut self) -> Result<(), Trouble> {
        self.commands_until("then")?;
        loop {
            if !self.list(&["elif", "else", "fi"])? {
                return Err(Trouble::Error);
            }
            if self.takes_word("elif") {
                self.commands_until("then")?;
            } else if self.takes_word("else") {
                return self.commands_until("fi");
            } else {
                return self.expects_word("fi");
            }
        }
    }

    fn loop_over(&mut self) -> Result<(), Trouble> {
        self.blanks();
        if self.takes("((") {
            let start = self.at;
            self.arithmetic()?;
            // Its beginning, its condition and its step.
            if self.text[start..self.at].matches(';').count() != 2 {
                return Err(Trouble::Error);
            }
            self.blanks();
            self.takes(";");
        } else {
            let name = self.word(Within::Line)?.unwrap_or_default();
            if !is_name(name) {
                return Err(Trouble::Error);
            }
            self.lines()?;
            if self.takes_word("in") {
                self.words()?;
                if !matches!(self.peek(), Some(b';' | b'\n')) {
                    return Err(Trouble::Error);
                }
            }
            self.takes(";");
        }
        self.lines()?;
        self.expects_word("do")?;
        self.commands_until("done")
    }

    /// Words up to what is none.
    fn words(&mut self) -> Result<(), Trouble> {
        loop {
            self.blanks();
            if self.word(Within::Line)?.is_none() {
                return Ok(());
            }
        }
    }

    fn case(&mut self) -> Result<(), Trouble> {
        self.blanks();
        self.word(Within::Line)?.ok_or(Trouble::Error)?;
        self.lines()?;
        self.expects_word("in")?;
        loop {
            self.lines()?;
            if self.takes_word("esac") {
                return Ok(());
            }
            self.takes("(");
            self.patterns()?;
            self.list(&[";;", ";&", "esac"])?;
            if !(self.takes(";;&") || self.takes(";;") || self.takes(";&")) {
                return self.expects_word("esac");
            }
        }
    }

    /// The patterns before a case's commands, and the bracket behind them.
    fn patterns(&mut self) -> Result<(), Trouble> {
        loop {
            self.blanks();
            self.word(Within::Line)?.ok_or(Trouble::Error)?;
            self.blanks();
            if !self.takes("|") {
                return self.expects(")");
            }
        }
    }

    /// What comes after the word `function`.
    fn function(&mut self) -> Result<(), Trouble> {
        self.blanks();
        let name = self.word(Within::Line)?.unwrap_or_default();
        self.blanks();
        if self.takes("(") {
            return self.function_named(name);
        }
        self.body_of(name)
    }

    /// What comes after the first bracket behind a function's name.
    pub(super) fn function_named(&mut self, name: &str) -> Result<(), Trouble> {
        self.blanks();
        self.expects(")")?;
        self.body_of(name)
    }

    fn body_of(&mut self, name: &str) -> Result<(), Trouble> {
        if name.is_empty() || name.contains(['\'', '"', '\\', '$', '`', '=', '(']) {
            return Err(Trouble::Error);
        }
        self.lines()?;
        if !self.compound()? {
            return Err(Trouble::Error);
        }
        self.redirections()
    }

    /// What comes after `[[`. Each operator counts as a level: parsers nest what they connect.
    fn test(&mut self) -> Result<(), Trouble> {
        let (depth, mut open, mut holds) = (self.depth, 0_usize, false);
        let mut within = Within::Line;
        loop {
            self.lines()?;
            if open == 0 && holds && self.takes_word("]]") {
                self.depth = depth;
                return Ok(());
            }
            if self.takes("&&") || self.takes("||") || self.takes_word("!") {
                self.enter()?;
            } else if within == Within::Line && self.takes("(") {
                self.enter()?;
                open += 1;
            } else if self.takes(")") {
                open = open.checked_sub(1).ok_or(Trouble::Error)?;
            } else if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() != Some(b'(') {
                self.at += 1;
            } else {
                let word = self.word(within)?.ok_or(Trouble::Error)?;
                holds = true;
                within = match word {
                    "=~" => Within::Expression,
                    "=" | "==" | "!=" => Within::Pattern,
                    _ => Within::Line,
                };
                continue;
            }
            within = Within::Line;
        }
    }
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && !text.as_bytes()[0].is_ascii_digit() && text.bytes().all(is_part)
}
