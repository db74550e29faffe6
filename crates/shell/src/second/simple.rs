//! One simple command: assignments, words, redirections.

use super::compound::{is_name, is_reserved};
use super::document::Document;
use super::word::Within;
use super::{Reader, Trouble, command, redirection};

/// Commands whose arguments may be lists in brackets.
const DECLARES: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

impl<'t> Reader<'t> {
    pub(super) fn simple(&mut self) -> Result<(), Trouble> {
        let mut words: Vec<&'t str> = Vec::new();
        let mut is_first = true;
        loop {
            self.blanks();
            if !self.redirection()? {
                let declares = words.first().is_none_or(|name| DECLARES.contains(name));
                let within = if declares { Within::Assignment } else { Within::Line };
                let Some(word) = self.word(within)? else { break };
                self.is_no_descriptor(word)?;
                if !words.is_empty() || !is_assignment(word) {
                    if words.is_empty() {
                        self.is_a_name(word, is_first)?;
                        self.blanks();
                        if is_first && self.takes("(") {
                            return self.deeper(|reader| reader.function_named(word));
                        }
                    }
                    words.push(word);
                }
            }
            is_first = false;
        }
        if is_first || self.peek() == Some(b'(') {
            return Err(Trouble::Error);
        }
        // A test by its old name is compared with nothing: only what expands in it can run.
        if words.first().is_some_and(|name| *name != "[") {
            self.seen.push(command(words.into_iter().map(of_word)));
        }
        Ok(())
    }

    /// A word of the grammar is no command. Behind an assignment, bash runs what `time` otherwise only
    /// measures.
    fn is_a_name(&self, word: &str, is_first: bool) -> Result<(), Trouble> {
        if is_reserved(word) || (word == "time" && !is_first) {
            return Err(Trouble::Error);
        }
        Ok(())
    }

    /// A word right before a redirection may be its descriptor, or the variable that gets it.
    fn is_no_descriptor(&self, word: &str) -> Result<(), Trouble> {
        let inside = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
        // With a subscript too, which bash evaluates.
        let inside = inside.and_then(|inside| inside.split('[').next());
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        match self.peek() {
            Some(b'<' | b'>') if is_number || inside.is_some_and(is_name) => Err(Trouble::Error),
            _ => Ok(()),
        }
    }

    /// What may come after a command that holds others.
    pub(super) fn redirections(&mut self) -> Result<(), Trouble> {
        loop {
            self.blanks();
            if !self.redirection()? {
                return Ok(());
            }
        }
    }

    /// Reads a redirection, if one begins here.
    fn redirection(&mut self) -> Result<bool, Trouble> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let is_numbered = self.at > start;
        let is_both = !is_numbered && self.rest().starts_with("&>");
        let is_process = |second| second == Some(b'(');
        if !is_both && !matches!(self.peek(), Some(b'<' | b'>')) {
            self.at = start;
            return Ok(false);
        }
        if !is_both && is_process(self.peek_second()) {
            return if is_numbered { Err(Trouble::Error) } else { Ok(false) };
        }
        if self.takes("<<<") {
            self.target()?;
            return Ok(true);
        }
        if self.takes("<<") {
            let strips_tabs = self.takes("-");
            let end = self.target()?;
            self.documents.push(Document::new(end, strips_tabs)?);
            return Ok(true);
        }
        let operators = ["&>>", "&>", "<&", "<>", "<", ">>", ">&", ">|", ">"];
        if !operators.iter().any(|operator| self.takes(operator)) {
            return Err(Trouble::Error);
        }
        let target = self.target()?;
        if !is_process_substitution(target) {
            self.seen.extend(redirection(target));
        }
        Ok(true)
    }

    fn target(&mut self) -> Result<&'t str, Trouble> {
        self.blanks();
        let word = self.word(Within::Line)?.ok_or(Trouble::Error)?;
        self.is_no_descriptor(word)?;
        Ok(word)
    }
}

/// What is compared of a word; what stands in a process substitution is compared by itself.
fn of_word(word: &str) -> &str {
    if is_process_substitution(word) { "" } else { word }
}

fn is_process_substitution(word: &str) -> bool {
    word.starts_with("<(") || word.starts_with(">(")
}

/// Whether a word, where no command was named yet, gives a variable a value.
fn is_assignment(word: &str) -> bool {
    let name =
        word.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = word.split_at(name);
    let rest = if rest.starts_with('[') { behind_brackets(rest) } else { rest };
    is_name(name) && (rest.starts_with('=') || rest.starts_with("+="))
}

/// What comes after the bracket that closes the first one.
fn behind_brackets(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return &text[at + 1..],
            b']' => depth -= 1,
            _ => {}
        }
    }
    ""
}
