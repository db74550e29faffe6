//! Collects what a search found, file by file, up to the limits of one result.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::{GREP_LINE_CHARS_MAX, GREP_LINES_DEFAULT, GrepInput, LINES_MAX, OutputMode};
use crate::text::{count_of, cut_mark, part};

/// Characters shown before a match that lies deep in a long line.
const CHARS_BEFORE_MATCH: usize = 100;

/// What stands between pieces that do not touch.
const GAP: &str = "--";

/// All results so far.
pub(super) struct Found {
    mode: OutputMode,
    numbers: bool,
    lines_max: usize,
    output_bytes_max: usize,
    text: String,
    n_lines: usize,
    n_matches: u64,
    n_files: usize,
    n_binary: usize,
    n_cut: usize,
    first_cut: String,
    n_failed: usize,
    first_failure: String,
    /// Something was found that did not fit.
    full: bool,
}

impl Found {
    pub(super) fn new(input: &GrepInput, output_bytes_max: usize) -> Self {
        let lines_max = match input.head_limit {
            None => GREP_LINES_DEFAULT,
            // Zero means no limit in other tools of this name.
            Some(0) => LINES_MAX,
            Some(limit) => limit.min(LINES_MAX),
        };
        Self {
            mode: input.output_mode,
            numbers: input.line_numbers.unwrap_or(true),
            lines_max,
            output_bytes_max,
            text: String::new(),
            n_lines: 0,
            n_matches: 0,
            n_files: 0,
            n_binary: 0,
            n_cut: 0,
            first_cut: String::new(),
            n_failed: 0,
            first_failure: String::new(),
            full: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn note_binary(&mut self) {
        self.n_binary += 1;
    }

    /// A file was searched up to a zero byte.
    pub(super) fn note_cut(&mut self, path: &str) {
        if self.n_cut == 0 {
            path.clone_into(&mut self.first_cut);
        }
        self.n_cut += 1;
    }

    pub(super) fn note_failure(&mut self, path: &str, error: &io::Error) {
        if self.n_failed == 0 {
            self.first_failure = format!("{path}: {error}");
        }
        self.n_failed += 1;
    }

    /// The result. `one_file` tells whether the search was about a single file.
    pub(super) fn into_text(mut self, one_file: bool) -> String {
        if self.n_lines == 0 {
            self.text = match self.n_binary {
                1 if one_file => "The file is binary and was not searched\n".to_owned(),
                _ => "No matches found\n".to_owned(),
            };
        } else if self.mode == OutputMode::Count && !one_file {
            let files = count_of(self.n_files, "file", "files");
            self.text.push_str(&format!("({} in {files})\n", self.n_matches));
        }
        if self.full {
            self.text.push_str(&format!(
                "(stopped after {}, there is more; narrow the search or raise head_limit)\n",
                count_of(self.n_lines, "line", "lines")
            ));
        }
        if self.n_cut > 0 {
            let files = count_of(self.n_cut, "file was", "files were");
            let first = &self.first_cut;
            self.text.push_str(&format!(
                "({files} searched only up to a zero byte, which no text has; {first})\n"
            ));
        }
        if self.n_failed > 0 {
            let files = count_of(self.n_failed, "file", "files");
            let first = &self.first_failure;
            self.text.push_str(&format!("({files} could not be searched; {first})\n"));
        }
        self.text
    }

    fn push(&mut self, line: &str) {
        if self.full
            || self.lines_max <= self.n_lines
            || self.output_bytes_max < self.text.len() + line.len() + 1
        {
            self.full = true;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.n_lines += 1;
    }
}

/// Collects the results of one file; they count once the file has proved to be text.
pub(super) struct FileSink<'a> {
    found: &'a mut Found,
    matcher: &'a RegexMatcher,
    /// How lines name the file; `None` when there is only one.
    path: Option<String>,
    lines: Vec<String>,
    lines_bytes: usize,
    n_matches: u64,
    binary: bool,
}

impl<'a> FileSink<'a> {
    pub(super) fn new(
        found: &'a mut Found,
        matcher: &'a RegexMatcher,
        path: Option<String>,
    ) -> Self {
        Self {
            found,
            matcher,
            path,
            lines: Vec::new(),
            lines_bytes: 0,
            n_matches: 0,
            binary: false,
        }
    }

    pub(super) fn is_binary(&self) -> bool {
        self.binary
    }

    /// Adds the file's results to the others.
    pub(super) fn keep(self) {
        if self.n_matches == 0 {
            return;
        }
        let path = self.path.as_deref();
        match self.found.mode {
            OutputMode::FilesWithMatches => self.found.push(path.unwrap_or("The file matches")),
            OutputMode::Count => {
                let prefix = path.map_or(String::new(), |path| format!("{path}:"));
                self.found.push(&format!("{prefix}{}", self.n_matches));
                // The sums are those of the lines that are shown.
                if !self.found.full {
                    self.found.n_files += 1;
                    self.found.n_matches += self.n_matches;
                }
            }
            OutputMode::Content => {
                for line in &self.lines {
                    self.found.push(line);
                }
            }
        }
    }

    /// Keeps one line; false once the result cannot take any more of them.
    fn line(&mut self, number: Option<u64>, separator: char, bytes: &[u8]) -> bool {
        let mut line = String::new();
        if let Some(path) = &self.path {
            line.push_str(path);
            line.push(separator);
        }
        if let Some(number) = number.filter(|_| self.found.numbers) {
            line.push_str(&format!("{number}{separator}"));
        }
        line.push_str(&self.cut(bytes));
        self.push(line)
    }

    fn push(&mut self, line: String) -> bool {
        self.lines_bytes += line.len() + 1;
        self.lines.push(line);
        // One line too many is kept, so that the result can tell that there is more.
        self.found.n_lines + self.lines.len() <= self.found.lines_max
            && self.found.text.len() + self.lines_bytes <= self.found.output_bytes_max
    }

    /// The line, or of a long one the part around its first match.
    fn cut(&self, bytes: &[u8]) -> String {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        if text.chars().nth(GREP_LINE_CHARS_MAX).is_none() {
            return text.into_owned();
        }
        let at = self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start());
        let at = text.floor_char_boundary(at);
        let start = text[..at].char_indices().rev().take(CHARS_BEFORE_MATCH).last();
        let start = match start {
            // A match near the start needs no cut before it.
            Some((start, _)) if text[..at].chars().nth(GREP_LINE_CHARS_MAX - 1).is_some() => start,
            _ => 0,
        };
        let before = if start > 0 { "[...] " } else { "" };
        let end = text[start..].char_indices().nth(GREP_LINE_CHARS_MAX);
        let (end, mark) = match end {
            None => (text.len(), String::new()),
            Some((end, _)) => (start + end, format!(" {}", cut_mark(text.len() - start - end))),
        };
        format!("{before}{}{mark}", part(&text, start..end))
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.n_matches += 1;
        match self.found.mode {
            OutputMode::FilesWithMatches => Ok(false),
            OutputMode::Count => Ok(true),
            OutputMode::Content => {
                let mut number = found.line_number();
                for line in found.lines() {
                    if !self.line(number, ':', line) {
                        return Ok(false);
                    }
                    number = number.map(|number| number + 1);
                }
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.line(context.line_number(), '-', context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        Ok(self.lines.is_empty() || self.push(GAP.to_owned()))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
