//! Here-documents: texts that begin below the line that asks for them.

use super::{Reader, Trouble};

/// A document that was asked for.
pub(super) struct Document {
    end: String,
    strips_tabs: bool,
    /// Whether what it holds is expanded: nothing of its end was quoted.
    expands: bool,
}

impl Document {
    /// One that ends with this word.
    pub(super) fn new(end: &str, strips_tabs: bool) -> Result<Self, Trouble> {
        let within = |quote| end.strip_prefix(quote)?.strip_suffix(quote);
        let quoted = within('\'').or_else(|| within('"')).or_else(|| end.strip_prefix('\\'));
        let plain = quoted.unwrap_or(end);
        // Quoted otherwise, or with any of these in it, it is not worth to be understood.
        if plain.is_empty() || plain.contains(['\'', '"', '\\', '$', '`', '\n', '(']) {
            return Err(Trouble::Error);
        }
        Ok(Self { end: plain.to_owned(), strips_tabs, expands: plain.len() == end.len() })
    }

    /// A line as it is compared with the last one.
    fn line<'l>(&self, line: &'l str) -> &'l str {
        if self.strips_tabs { line.trim_start_matches('\t') } else { line }
    }
}

impl Reader<'_> {
    /// Reads the documents that begin here, below the line that asked for them.
    pub(super) fn documents_below(&mut self) -> Result<(), Trouble> {
        for document in std::mem::take(&mut self.documents) {
            let start = self.at;
            let mut is_continued = false;
            let end = loop {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let at = self.at;
                self.at += line.len();
                let line = document.line(line);
                let is_end = line == document.end;
                if is_end && !is_continued {
                    break at;
                }
                // A line end that is none joins two lines before either is compared.
                let is_joined = document.expands && is_escaped(line);
                if is_end || (is_joined && document.end.starts_with(&line[..line.len() - 1])) {
                    return Err(Trouble::Error);
                }
                is_continued = is_joined;
                self.expects("\n")?;
            };
            let text = &self.text[start..end];
            if document.expands {
                self.within(text, |reader| reader.document_text())?;
            }
            if self.peek().is_some() {
                self.expects("\n")?;
            }
        }
        Ok(())
    }
}

/// Whether a line ends with a backslash that is not escaped itself.
fn is_escaped(line: &str) -> bool {
    let backslashes = line.len() - line.trim_end_matches('\\').len();
    backslashes % 2 == 1
}
