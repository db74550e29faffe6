//! Scripts, lists and pipelines: what stands between commands.

use super::{Reader, Trouble};

impl Reader<'_> {
    /// A whole text.
    pub(super) fn script(&mut self) -> Result<(), Trouble> {
        self.list(&[])?;
        if self.peek().is_some() || !self.documents.is_empty() {
            return Err(Trouble::Error);
        }
        Ok(())
    }

    /// Commands up to one of these words or operators where a command could begin, or to the end of
    /// the text; that is left unread. Whether there are any.
    pub(super) fn list(&mut self, ends: &[&str]) -> Result<bool, Trouble> {
        let mut holds = false;
        loop {
            self.lines()?;
            if self.peek().is_none() || ends.iter().any(|end| self.is_at(end)) {
                return Ok(holds);
            }
            self.and_or()?;
            holds = true;
            self.blanks();
            match self.peek() {
                // Two of them, or one and `&`, end a case's commands.
                Some(b';') if !matches!(self.peek_second(), Some(b';' | b'&')) => self.at += 1,
                Some(b'&') => self.at += 1,
                // What cannot follow here cannot be the beginning of the next command, either.
                None | Some(b'\n' | b')' | b';') => {}
                Some(_) => return Err(Trouble::Error),
            }
        }
    }

    /// The same where there have to be some, and what ends them is read.
    pub(super) fn commands_until(&mut self, end: &str) -> Result<(), Trouble> {
        if !self.list(&[end])? || !self.is_at(end) {
            return Err(Trouble::Error);
        }
        self.at += end.len();
        Ok(())
    }

    pub(super) fn is_at(&self, end: &str) -> bool {
        let is_operator = matches!(end, ")" | ";;" | ";&");
        if is_operator { self.rest().starts_with(end) } else { self.is_at_word(end) }
    }

    fn and_or(&mut self) -> Result<(), Trouble> {
        self.pipeline()?;
        self.blanks();
        while self.takes("&&") || self.takes("||") {
            self.lines()?;
            self.pipeline()?;
            self.blanks();
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Result<(), Trouble> {
        self.blanks();
        if self.takes_word("!") {
            return self.deeper(Self::pipeline);
        }
        if self.takes_word("time") {
            self.blanks();
            self.takes_word("-p");
            self.blanks();
            // `time -- a` runs a; any other option would be the name of a command.
            if self.peek() == Some(b'-') {
                return Err(Trouble::Error);
            }
            return self.deeper(Self::pipeline);
        }
        self.command()?;
        self.blanks();
        while self.peek() == Some(b'|') && self.peek_second() != Some(b'|') {
            self.at += 1;
            self.takes("&");
            self.lines()?;
            self.command()?;
            self.blanks();
        }
        Ok(())
    }
}
