//! Words, and what is run or computed within them.

use super::compound::is_name;
use super::{Reader, Trouble, ends_word};

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Line,
    /// Where a list in brackets may be what a variable gets.
    Assignment,
    /// Behind `==` in a test, where `@(a|b)` means something in every bash.
    Pattern,
    /// Behind `=~` in a test: brackets and bars belong to it.
    Expression,
}

/// What quotes mean around an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoted {
    No,
    /// Single quotes mean themselves, or not: it depends on what expands.
    Double,
}

impl<'t> Reader<'t> {
    /// The source of the word that begins here, if one does.
    pub(super) fn word(&mut self, within: Within) -> Result<Option<&'t str>, Trouble> {
        let start = self.at;
        if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() == Some(b'(') {
            self.at += 2;
            self.substitution()?;
            self.expects_end_of_word()?;
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if within == Within::Expression || self.is_pattern(start, within) => {
                    self.brackets()?;
                }
                b'(' if within == Within::Assignment && self.is_list(start) => {
                    self.at += 1;
                    self.deeper(Self::values)?;
                    self.expects_end_of_word()?;
                }
                b'[' if within == Within::Assignment && is_name(&self.text[start..self.at]) => {
                    self.index()?;
                }
                b'|' | b'<' | b'>' if within == Within::Expression => self.at += 1,
                // Within a word this is no redirection, and no shell's word by itself.
                b'<' | b'>' if self.at > start && self.peek_second() == Some(b'(') => {
                    return Err(Trouble::Error);
                }
                byte if ends_word(byte) => break,
                // A line end that is none may stand behind a word; within one, it hides what it is.
                b'\\' if self.peek_second() == Some(b'\n') => {
                    return self.is_end_of_word(2).then(|| self.since(start)).ok_or(Trouble::Error);
                }
                b'\'' => self.single_quoted()?,
                _ => self.one(Quoted::No)?,
            }
        }
        Ok(self.since(start))
    }

    /// The index of an element that gets a value. To bash everything up to the last bracket belongs to
    /// it, so what would end a word anywhere else may not stand in it.
    fn index(&mut self) -> Result<(), Trouble> {
        self.at += 1;
        self.deeper(|reader| {
            loop {
                match reader.peek().ok_or(Trouble::Error)? {
                    b']' => break,
                    b'[' => reader.index()?,
                    b'\'' => reader.single_quoted()?,
                    byte if ends_word(byte) => return Err(Trouble::Error),
                    _ => reader.one(Quoted::No)?,
                }
            }
            reader.at += 1;
            Ok(())
        })
    }

    /// Whether a word surely ends so many bytes from here. A bracket would begin another one, and a
    /// redirection may have a descriptor before it.
    fn is_end_of_word(&self, ahead: usize) -> bool {
        let next = self.text.as_bytes().get(self.at + ahead).copied();
        next.is_none_or(|byte| ends_word(byte) && !matches!(byte, b'(' | b'<' | b'>'))
    }

    fn expects_end_of_word(&self) -> Result<(), Trouble> {
        if self.is_end_of_word(0) { Ok(()) } else { Err(Trouble::Error) }
    }

    /// The word from there to here, if there is any.
    fn since(&self, start: usize) -> Option<&'t str> {
        self.text.get(start..self.at).filter(|word| !word.is_empty())
    }

    /// Whether the bracket here belongs to a pattern such as `@(a|b)`.
    fn is_pattern(&self, start: usize, within: Within) -> bool {
        let before = self.text.as_bytes()[start..self.at].last();
        within == Within::Pattern && matches!(before, Some(b'?' | b'*' | b'+' | b'@' | b'!'))
    }

    /// Whether the bracket here opens a list that a variable gets.
    fn is_list(&self, start: usize) -> bool {
        let name = self.text[start..self.at].strip_suffix('=');
        name.is_some_and(|name| is_name(name.strip_suffix('+').unwrap_or(name)))
    }

    /// The words of a list, and the bracket behind them.
    fn values(&mut self) -> Result<(), Trouble> {
        loop {
            self.lines()?;
            if self.word(Within::Line)?.is_none() {
                return self.expects(")");
            }
        }
    }

    /// A bracket, what is in it and the one that closes it, within a pattern or expression.
    fn brackets(&mut self) -> Result<(), Trouble> {
        self.at += 1;
        self.deeper(|reader| {
            loop {
                match reader.peek().ok_or(Trouble::Error)? {
                    b')' => break,
                    b'(' => reader.brackets()?,
                    b'\n' | b';' | b'&' => return Err(Trouble::Error),
                    b'<' | b'>' if reader.peek_second() == Some(b'(') => {
                        return Err(Trouble::Error);
                    }
                    b'\'' => reader.single_quoted()?,
                    _ => reader.one(Quoted::No)?,
                }
            }
            reader.at += 1;
            Ok(())
        })
    }

    /// The next character, with what it begins: an escape, a quoted text, an expansion.
    fn one(&mut self, quoted: Quoted) -> Result<(), Trouble> {
        match self.peek().ok_or(Trouble::Error)? {
            b'\\' => self.escape(),
            b'"' => self.deeper(Self::double_quoted),
            b'`' => self.backquoted(quoted),
            b'$' => self.expansion(quoted),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    /// A backslash, and the character that it keeps from meaning anything.
    fn escape(&mut self) -> Result<(), Trouble> {
        let escaped = self.rest().chars().nth(1).ok_or(Trouble::Error)?;
        self.at += 1 + escaped.len_utf8();
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), Trouble> {
        let end = self.rest()[1..].find('\'').ok_or(Trouble::Error)?;
        self.at += end + 2;
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), Trouble> {
        self.at += 1;
        while self.peek() != Some(b'"') {
            self.one(Quoted::Double)?;
        }
        self.at += 1;
        Ok(())
    }

    /// `$'...'`, in which a backslash may stand before the quote.
    fn ansi_c_quoted(&mut self) -> Result<(), Trouble> {
        self.at += 2;
        loop {
            match self.peek().ok_or(Trouble::Error)? {
                b'\'' => break,
                // Parsers do not agree on what this leaves.
                b'\\' if self.peek_second() == Some(b'\n') => return Err(Trouble::Error),
                b'\\' => self.escape()?,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Commands in backquotes, which are read without the backslashes that stand before some.
    fn backquoted(&mut self, quoted: Quoted) -> Result<(), Trouble> {
        self.at += 1;
        let mut inner = String::new();
        loop {
            let char = self.rest().chars().next().ok_or(Trouble::Error)?;
            self.at += char.len_utf8();
            match char {
                '`' => break,
                '\\' => {
                    let escaped = self.rest().chars().next().ok_or(Trouble::Error)?;
                    self.at += escaped.len_utf8();
                    let is_taken = matches!(escaped, '`' | '\\' | '$')
                        || (escaped == '"' && quoted == Quoted::Double);
                    if !is_taken {
                        inner.push('\\');
                    }
                    inner.push(escaped);
                }
                _ => inner.push(char),
            }
        }
        self.within(&inner, |reader| reader.script())
    }

    fn expansion(&mut self, quoted: Quoted) -> Result<(), Trouble> {
        match self.peek_second() {
            Some(b'(') if self.rest().starts_with("$((") => {
                self.at += 3;
                self.deeper(Self::arithmetic)
            }
            Some(b'(') => {
                self.at += 2;
                self.substitution()
            }
            Some(b'{') => {
                self.at += 2;
                self.deeper(|reader| reader.braces(quoted))
            }
            Some(b'\'') if quoted == Quoted::No => self.ansi_c_quoted(),
            // The process; what stands behind it expands by itself.
            Some(b'$') => {
                self.at += 2;
                Ok(())
            }
            // Old arithmetic; and what is hidden by a line end that is none.
            Some(b'[') => Err(Trouble::Error),
            Some(b'\\') if self.rest().starts_with("$\\\n") => Err(Trouble::Error),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    /// Commands up to the bracket that closes what was opened. Documents of the line around them
    /// are no matter of theirs.
    fn substitution(&mut self) -> Result<(), Trouble> {
        let outer = std::mem::take(&mut self.documents);
        self.deeper(|reader| {
            reader.list(&[")"])?;
            reader.expects(")")
        })?;
        if !self.documents.is_empty() {
            return Err(Trouble::Error);
        }
        self.documents = outer;
        Ok(())
    }

    /// What is in the braces of an expansion, and the one that closes them.
    fn braces(&mut self, quoted: Quoted) -> Result<(), Trouble> {
        // What a parameter is named by. Newer shells run what stands behind a blank or a bar.
        let names = |byte: u8| byte.is_ascii_alphanumeric() || b"_@*#?-$!".contains(&byte);
        if !self.peek().is_some_and(names) {
            return Err(Trouble::Error);
        }
        loop {
            match self.peek().ok_or(Trouble::Error)? {
                b'}' => break,
                b'\'' if quoted == Quoted::Double => return Err(Trouble::Error),
                b'\'' => self.single_quoted()?,
                b'<' | b'>' if self.peek_second() == Some(b'(') => return Err(Trouble::Error),
                _ => self.one(quoted)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Arithmetic up to the two brackets that close it. Where the first closes and the second does not
    /// follow, bash takes it for commands in brackets; nobody has to write that.
    pub(super) fn arithmetic(&mut self) -> Result<(), Trouble> {
        let depth = self.depth;
        loop {
            match self.peek().ok_or(Trouble::Error)? {
                b')' if self.depth == depth => return self.expects("))"),
                b')' => {
                    self.depth -= 1;
                    self.at += 1;
                }
                b'(' => {
                    self.enter()?;
                    self.at += 1;
                }
                b'\'' => return Err(Trouble::Error),
                b'<' | b'>' if self.peek_second() == Some(b'(') => return Err(Trouble::Error),
                _ => self.one(Quoted::Double)?,
            }
        }
    }

    /// A text in which quotes mean nothing, to its end.
    pub(super) fn document_text(&mut self) -> Result<(), Trouble> {
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.at += 1,
                _ => self.one(Quoted::Double)?,
            }
        }
        Ok(())
    }
}
