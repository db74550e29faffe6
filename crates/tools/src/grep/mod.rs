//! `Grep`: lines that match a regular expression, on ripgrep's own crates.

mod filter;
mod found;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use heeler_core::{
    BoxFuture, CancellationToken, Facts, Metadata, ToolContext, ToolError, ToolOutput, TypedTool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::{blocking, keep_going};
use crate::place::{self, Below, Place};
use crate::walk::{self, Tree, WALK_ENTRIES_MAX};
use filter::Filter;
use found::{FileSink, Found};

/// Lines of one result when the model names no limit.
pub const GREP_LINES_DEFAULT: usize = 250;
/// Lines of one result, whatever the model says.
const LINES_MAX: usize = 5_000;
/// Bytes of one result.
const OUTPUT_BYTES_MAX: usize = 100_000;
/// Characters of one line that are shown.
pub const GREP_LINE_CHARS_MAX: usize = 500;
/// Lines around a match.
const CONTEXT_LINES_MAX: usize = 100;
/// The end of a line, as a pattern.
const LINE_END: &str = r"(?:\r?\n)";
/// Bytes of the longest line, or with `multiline` of the largest file.
const HEAP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of what a pattern is compiled to: a few letters can ask for gigabytes.
const COMPILED_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 10_000;
/// Bytes at the start of a file that tell whether it is text.
const HEAD_BYTES: u64 = 8_192;

/// The tool.
pub struct Grep {
    description: String,
    entries_max: usize,
    heap_bytes_max: usize,
}

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepInput {
    /// Regular expression (Rust syntax).
    pub pattern: String,
    /// File or folder; default the workspace.
    pub path: Option<String>,
    /// Such as `*.rs` or `src/**`; `!` excludes.
    pub glob: Option<String>,
    /// File type, such as rust, py, js.
    pub r#type: Option<String>,
    /// What to show.
    #[serde(default)]
    pub output_mode: OutputMode,
    /// Ignore case.
    #[serde(rename = "-i")]
    pub ignore_case: Option<bool>,
    /// Line numbers; default true.
    #[serde(rename = "-n")]
    pub line_numbers: Option<bool>,
    /// Lines after.
    #[serde(rename = "-A")]
    pub after: Option<usize>,
    /// Lines before.
    #[serde(rename = "-B")]
    pub before: Option<usize>,
    /// Lines around.
    #[serde(rename = "-C")]
    pub around: Option<usize>,
    /// Output lines.
    pub head_limit: Option<usize>,
    /// Let matches span lines.
    pub multiline: Option<bool>,
}

/// What a search shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a comment on a variant would turn the schema's enum into oneOf")]
pub enum OutputMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

impl Default for Grep {
    fn default() -> Self {
        Self {
            description: format!(
                "Searches file contents, line by line. Honors .gitignore; skips binary files, \
                 and hidden ones unless glob names them. Results are sorted by path, at most \
                 {GREP_LINES_DEFAULT} lines unless head_limit says otherwise; lines are cut at \
                 {GREP_LINE_CHARS_MAX} characters."
            ),
            entries_max: WALK_ENTRIES_MAX,
            heap_bytes_max: HEAP_BYTES_MAX,
        }
    }
}

impl TypedTool for Grep {
    type Input = GrepInput;

    fn name(&self) -> &str {
        "Grep"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, input: &GrepInput, workspace: &str) -> Facts {
        place::read_facts(workspace, input.path.as_deref().unwrap_or(""))
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: GrepInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        blocking(context, move |context| self.grep(context, &input))
    }
}

impl Grep {
    fn grep(&self, context: &ToolContext, input: &GrepInput) -> Result<ToolOutput, ToolError> {
        let matcher = matcher(input)?;
        let filter = Filter::new(input)?;
        let path = input.path.as_deref().unwrap_or("");
        let (place, closed) = Place::to_search(context, self.name(), path)?;
        let mut found = Found::new(input, OUTPUT_BYTES_MAX);
        let mut search =
            Search { searcher: self.searcher(input), matcher, cancel: &context.cancel };
        if !place.is_folder() {
            let file = place.open_file(path)?;
            search.file(Ok(file), path, None, &mut found);
            keep_going(context)?;
            return Ok(ToolOutput::text(found.into_text(true)));
        }
        let tree = Tree::new(&place, closed, filter.names_hidden(), self.entries_max);
        let failed = |error| ToolError::for_model(format!("cannot search {path}: {error}"));
        let mut below = Below::new(&place).map_err(failed)?;
        let walked = walk::walk(context, &tree, |entry| {
            // Links are left out, so that a file is searched once; so are pipes and devices.
            let is_plain = entry.file_type().is_some_and(|kind| kind.is_file());
            if is_plain && filter.wants(&tree.base, entry.path()) {
                let shown = place::shown(&context.workspace, entry.path());
                if let Some(file) = below.open(entry.path()).transpose() {
                    search.file(file, &shown, Some(&shown), &mut found);
                }
            }
            if found.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        keep_going(context)?;
        let notes = walk::notes(&walked, self.entries_max);
        Ok(ToolOutput::text(found.into_text(false) + &notes))
    }

    fn searcher(&self, input: &GrepInput) -> Searcher {
        let context = |lines: Option<usize>| match input.output_mode {
            OutputMode::Content => lines.or(input.around).unwrap_or(0).min(CONTEXT_LINES_MAX),
            _ => 0,
        };
        SearcherBuilder::new()
            .line_number(true)
            .before_context(context(input.before))
            .after_context(context(input.after))
            .multi_line(input.multiline.unwrap_or(false))
            .line_terminator(grep_matcher::LineTerminator::crlf())
            .heap_limit(Some(self.heap_bytes_max))
            .binary_detection(BinaryDetection::quit(0))
            .build()
    }
}

fn matcher(input: &GrepInput) -> Result<RegexMatcher, ToolError> {
    let pattern = &input.pattern;
    if PATTERN_BYTES_MAX < pattern.len() {
        return Err(ToolError::for_model(format!(
            "the pattern has {} bytes; at most {PATTERN_BYTES_MAX} are possible",
            pattern.len()
        )));
    }
    let multiline = input.multiline.unwrap_or(false);
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(input.ignore_case.unwrap_or(false))
        .multi_line(true)
        .crlf(true)
        .dot_matches_new_line(multiline)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX);
    if multiline {
        builder.line_terminator(None);
    }
    let searched = if multiline { any_line_end(pattern) } else { Cow::Borrowed(&**pattern) };
    builder.build(&searched).map_err(|error| {
        let hint = if !multiline && (pattern.contains('\n') || pattern.contains(r"\n")) {
            "to search across lines, set multiline"
        } else {
            "to search for characters such as ( [ { . * + ? | \\ themselves, put a backslash \
             before them"
        };
        ToolError::for_model(format!("`{pattern}` cannot be searched for: {error}\n({hint})"))
    })
}

/// A pattern in which each line feed is the end of a line, whatever the file has there: nobody who reads
/// files sees carriage returns. What stands in brackets is left as it is, and all of a pattern whose
/// spaces mean nothing.
fn any_line_end(pattern: &str) -> Cow<'_, str> {
    let sets_spaces = |flags: &str| {
        let flags = flags.split([')', ':']).next().unwrap_or_default();
        flags.contains('x') && flags.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
    };
    if pattern.split("(?").skip(1).any(sets_spaces) {
        return Cow::Borrowed(pattern);
    }
    let mut written = String::new();
    let mut depth = 0_usize;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' if depth == 0 => written.push_str(LINE_END),
            '\\' => match chars.next() {
                Some('n') if depth == 0 => written.push_str(LINE_END),
                escaped => written.extend(std::iter::once('\\').chain(escaped)),
            },
            '[' | ']' => {
                depth = if c == '[' { depth + 1 } else { depth.saturating_sub(1) };
                written.push(c);
            }
            c => written.push(c),
        }
    }
    Cow::Owned(written)
}

/// What a file turned out to be.
enum Searched {
    Text,
    /// Text that has a zero byte far behind its start, as logs do that were cut off while written.
    UpToZero,
    Binary,
}

/// Searches one file after the other.
struct Search<'a> {
    searcher: Searcher,
    matcher: RegexMatcher,
    cancel: &'a CancellationToken,
}

impl Search<'_> {
    /// Searches one file. `path` names it in an error, `shown` in results.
    fn file(&mut self, file: io::Result<File>, path: &str, shown: Option<&str>, found: &mut Found) {
        let Self { searcher, matcher, cancel } = self;
        let mut sink = FileSink::new(found, matcher, shown.map(str::to_owned));
        match file.and_then(|file| through(file, searcher, matcher, cancel, &mut sink)) {
            Ok(Searched::Text) => sink.keep(),
            Ok(Searched::UpToZero) => {
                sink.keep();
                found.note_cut(path);
            }
            Ok(Searched::Binary) => found.note_binary(),
            Err(error) => found.note_failure(path, &error),
        }
    }
}

/// Puts a file through the searcher, once its beginning shows that it is text.
fn through(
    mut file: File,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    cancel: &CancellationToken,
    sink: &mut FileSink<'_>,
) -> io::Result<Searched> {
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    // Of UTF-16 text half may be NUL; the searcher converts it when it starts with a mark.
    let is_utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if !is_utf16 && head.contains(&0) {
        return Ok(Searched::Binary);
    }
    let source = Stoppable { source: head.as_slice().chain(file), cancel };
    if is_utf16 {
        searcher.search_reader(matcher, source, &mut *sink)?;
        return Ok(if sink.is_binary() { Searched::Binary } else { Searched::Text });
    }
    let mut source = UpToZero { source, is_over: false };
    searcher.search_reader(matcher, &mut source, &mut *sink)?;
    Ok(if source.is_over { Searched::UpToZero } else { Searched::Text })
}

/// A reader that ends at the first zero byte.
struct UpToZero<R> {
    source: R,
    is_over: bool,
}

impl<R: Read> Read for UpToZero<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over {
            return Ok(0);
        }
        let n_read = self.source.read(buffer)?;
        let zero = memchr::memchr(0, &buffer[..n_read]);
        self.is_over = zero.is_some();
        Ok(zero.unwrap_or(n_read))
    }
}

/// A reader that fails once the call is no longer wanted: a large file without a match would
/// otherwise be read to its end.
struct Stoppable<'a, R> {
    source: R,
    cancel: &'a CancellationToken,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.source.read(buffer)
    }
}
