//! The patch envelope: which files, and what is to become of each. Pure.
//!
//! Models were trained on this format and wrap it in what they know from shells and chats, so that
//! is taken off. What it says is never guessed: a line that could mean two things is refused.

use crate::hunk::Line;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// How many files one patch may name.
pub const PATCH_FILES_MAX: usize = 200;

/// One file of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) path: &'a str,
    pub(super) action: Action<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action<'a> {
    Add(String),
    Delete,
    Update { move_to: Option<&'a str>, hunks: Vec<Hunk<'a>> },
}

/// A line before a place that says where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) text: &'a str,
    /// It stands behind line numbers: diff names a line before the place, which need not hold it.
    pub(super) is_diffs: bool,
}

/// One place of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    /// Lines before the place that say where it is, such as that of a class and a method.
    pub(super) headers: Vec<Header<'a>>,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) at_end: bool,
    /// Its first line in the patch, from 1.
    pub(super) number: usize,
}

/// Every path that is named, in order.
pub(super) fn paths<'a>(parts: &[Part<'a>]) -> Vec<&'a str> {
    let mut paths = Vec::new();
    for part in parts {
        paths.push(part.path);
        if let Action::Update { move_to: Some(to), .. } = part.action {
            paths.push(to);
        }
    }
    paths
}

/// Reads a patch; the error is for the model.
pub(super) fn parse(text: &str) -> Result<Vec<Part<'_>>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = envelope(&lines)?;
    let mut parser = Parser { lines: &lines[..last], at: first + 1 };
    let mut parts = Vec::new();
    while let Some(line) = parser.peek() {
        if line.trim().is_empty() {
            parser.at += 1;
            continue;
        }
        if parts.len() == PATCH_FILES_MAX {
            return Err(format!("the patch names more than {PATCH_FILES_MAX} files; split it"));
        }
        parts.push(parser.part()?);
    }
    if parts.is_empty() {
        return Err("the patch names no file".to_owned());
    }
    Ok(parts)
}

/// The lines where the patch begins and ends. Around them only a shell's or a chat's wrapping may
/// stand.
fn envelope(lines: &[&str]) -> Result<(usize, usize), String> {
    let begins = |line: &&str| line.trim() == BEGIN;
    let Some(first) = lines.iter().position(begins) else {
        return Err(format!("the patch must begin with a line `{BEGIN}`"));
    };
    // A kept line may say the same behind its space.
    let ends = |line: &&str| line.trim_end() == END;
    let Some(last) = lines.iter().rposition(ends).filter(|last| first < *last) else {
        return Err(format!("the patch has no line `{END}`; it may have been cut short"));
    };
    let wraps_before = |line: &&str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("```") || line.contains("<<") || line == "apply_patch"
    };
    let wraps_after = |line: &&str| {
        let line = line.trim_matches(|sign: char| sign.is_whitespace() || "`'\")".contains(sign));
        line.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
    };
    if !lines[..first].iter().all(wraps_before) {
        return Err(format!("there is other text before the line `{BEGIN}`"));
    }
    if !lines[last + 1..].iter().all(wraps_after) {
        return Err(format!("there is other text after the line `{END}`"));
    }
    Ok((first, last))
}

struct Parser<'a, 'b> {
    lines: &'b [&'a str],
    at: usize,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn part(&mut self) -> Result<Part<'a>, String> {
        let number = self.at + 1;
        let line = self.peek().unwrap_or_default();
        self.at += 1;
        let named = |marker: &str| line.trim_start().strip_prefix(marker).map(str::trim);
        let (path, action) = if let Some(path) = named(ADD) {
            (path, Action::Add(self.added()?))
        } else if let Some(path) = named(DELETE) {
            (path, Action::Delete)
        } else if let Some(path) = named(UPDATE) {
            (path, self.update()?)
        } else {
            return Err(format!(
                "line {number} of the patch should be `{ADD} PATH`, `{UPDATE} PATH`, \
                 `{DELETE} PATH` or `{END}`, but it is: {}",
                crate::text::cut(line, 100)
            ));
        };
        if path.is_empty() {
            return Err(format!("line {number} of the patch names no file"));
        }
        Ok(Part { path, action })
    }

    /// The lines up to the next file, without the empty ones at the end.
    fn section(&mut self) -> (usize, Vec<&'a str>) {
        let start = self.at;
        while self.peek().is_some_and(|line| !begins_part(line)) {
            self.at += 1;
        }
        let mut lines = self.lines[start..self.at].to_vec();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        (start, lines)
    }

    fn added(&mut self) -> Result<String, String> {
        let (start, lines) = self.section();
        let mut content = String::new();
        for (index, line) in lines.iter().enumerate() {
            let text = match line.strip_prefix('+') {
                Some(text) => text,
                None if line.is_empty() => "",
                None if line.trim_end() == END_OF_FILE => continue,
                None => return Err(bad_line(start + index, line, "`+`, as of a file to add")),
            };
            content.push_str(text);
            content.push('\n');
        }
        Ok(content)
    }

    fn update(&mut self) -> Result<Action<'a>, String> {
        let move_to = self.peek().and_then(|line| line.trim().strip_prefix(MOVE)).map(str::trim);
        if move_to.is_some() {
            self.at += 1;
        }
        if move_to.is_some_and(str::is_empty) {
            return Err(format!("line {} of the patch names no file", self.at));
        }
        let (start, lines) = self.section();
        let mut hunks: Vec<Hunk<'a>> = Vec::new();
        for (index, line) in lines.iter().enumerate().skip(names(&lines)) {
            let number = start + index + 1;
            if let Some(header) = line.strip_prefix("@@") {
                // Several headers in a row lead to one place.
                let continues = hunks.last().is_some_and(|last| last.lines.is_empty());
                if !continues {
                    hunks.push(Hunk { number, ..Hunk::default() });
                }
                let text = header_text(header);
                if let Some(hunk) = hunks.last_mut().filter(|_| !text.is_empty()) {
                    let is_diffs = text.len() < header.trim().trim_matches('@').trim().len();
                    hunk.headers.push(Header { text, is_diffs });
                }
                continue;
            }
            if hunks.is_empty() {
                hunks.push(Hunk { number, ..Hunk::default() });
            }
            let Some(hunk) = hunks.last_mut() else { continue };
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                continue;
            }
            if hunk.at_end {
                return Err(format!("line {number} of the patch follows `{END_OF_FILE}`"));
            }
            hunk.lines.extend(hunk_line(start + index, line)?);
        }
        check(&hunks, move_to)?;
        Ok(Action::Update { move_to, hunks })
    }
}

fn begins_part(line: &str) -> bool {
    [ADD, UPDATE, DELETE].iter().any(|marker| line.starts_with(marker))
}

/// `None` for what diff says of a file that has no line end at its end.
fn hunk_line(index: usize, line: &str) -> Result<Option<Line<'_>>, String> {
    match line.as_bytes().first() {
        None => Ok(Some(Line::Keep(""))),
        Some(b' ') => Ok(Some(Line::Keep(&line[1..]))),
        Some(b'-') => Ok(Some(Line::Remove(&line[1..]))),
        Some(b'+') => Ok(Some(Line::Add(&line[1..]))),
        Some(b'\\') => Ok(None),
        Some(_) => Err(bad_line(index, line, "a space, `-`, `+` or `@@`")),
    }
}

/// How many lines repeat the file's name, as diff does.
fn names(lines: &[&str]) -> usize {
    match lines {
        [old, new, header, ..]
            if old.starts_with("--- ") && new.starts_with("+++ ") && header.starts_with("@@") =>
        {
            2
        }
        _ => 0,
    }
}

/// The text of a header; line numbers, which models get wrong, say nothing.
fn header_text(header: &str) -> &str {
    let header = header.trim();
    let is_numbers = |text: &str| {
        !text.is_empty() && text.chars().all(|sign| sign.is_ascii_digit() || "-+, ".contains(sign))
    };
    let header = match header.split_once("@@") {
        Some((numbers, rest)) if is_numbers(numbers.trim()) => rest.trim(),
        Some((text, rest)) if rest.trim().is_empty() => text.trim(),
        _ => header,
    };
    if is_numbers(header) { "" } else { header }
}

fn check(hunks: &[Hunk<'_>], move_to: Option<&str>) -> Result<(), String> {
    if hunks.is_empty() && move_to.is_none() {
        return Err("an update of a file changes nothing in it".to_owned());
    }
    let changes = |hunk: &&Hunk<'_>| !hunk.lines.iter().all(|line| matches!(line, Line::Keep(_)));
    match hunks.iter().find(|hunk| !changes(hunk)) {
        Some(hunk) => Err(format!(
            "the change at line {} of the patch neither adds nor removes a line",
            hunk.number
        )),
        None => Ok(()),
    }
}

fn bad_line(index: usize, line: &str, expected: &str) -> String {
    format!(
        "line {} of the patch should begin with {expected}, but it is: {}",
        index + 1,
        crate::text::cut(line, 100)
    )
}
