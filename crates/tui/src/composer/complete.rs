//! What the word at the cursor could become: a command behind `/`, a file behind `@`.

use std::ops::Range;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::menu::{About, Item, Menu};

/// The most rows of a menu, scrolled ones included.
const ITEMS_MAX: usize = 100;

/// A command that can be written behind `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What can follow it, as `[focus]`; empty when nothing does.
    pub hint: String,
    /// What it does.
    pub about: String,
}

/// The menu of commands for the text, if a command is being written.
pub(super) fn commands(text: &str, cursor: usize, commands: &[Command]) -> Option<Menu> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let name = text[..end].strip_prefix('/')?;
    if cursor == 0 {
        return None;
    }
    if cursor > end {
        return hint(name, &text[end..], commands);
    }
    let query = text[1..cursor].to_owned();
    let mut ranked = ranked(&query.to_ascii_lowercase(), commands);
    ranked.truncate(ITEMS_MAX);
    let item = |command: &Command| Item {
        left: head(command),
        right: command.about.clone(),
        written: format!("/{} ", command.name),
        complete: command.hint.is_empty() || command.name.eq_ignore_ascii_case(name),
    };
    let items: Vec<_> = ranked.into_iter().map(item).collect();
    let menu = Menu { about: About::Commands, range: 0..end, query, items, chosen: 0 };
    (!menu.items.is_empty()).then_some(menu)
}

/// How the command goes on, while nothing of that is written.
fn hint(name: &str, after: &str, commands: &[Command]) -> Option<Menu> {
    let command = commands.iter().find(|command| command.name.eq_ignore_ascii_case(name))?;
    if command.hint.is_empty() || !after.trim().is_empty() {
        return None;
    }
    let item = Item {
        left: head(command),
        right: command.about.clone(),
        written: String::new(),
        complete: false,
    };
    let query = String::new();
    Some(Menu { about: About::Hint, range: 0..0, query, items: vec![item], chosen: 0 })
}

fn head(command: &Command) -> String {
    match command.hint.as_str() {
        "" => format!("/{}", command.name),
        hint => format!("/{} {hint}", command.name),
    }
}

/// The commands that the query could mean: those that begin with it in their order, then those in
/// which its letters are found, the best first.
fn ranked<'a>(query: &str, commands: &'a [Command]) -> Vec<&'a Command> {
    let begins = |command: &&Command| command.name.starts_with(query);
    let mut ranked: Vec<_> = commands.iter().filter(begins).collect();
    // Whoever wrote a whole name means it, and not a longer one.
    heeler_core::sort_by_key(&mut ranked, |command| command.name != query);
    let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut rest: Vec<_> = commands
        .iter()
        .filter(|command| !begins(command))
        .filter_map(|command| {
            let name = Utf32Str::new(&command.name, &mut letters);
            Some((pattern.score(name, &mut matcher)?, command))
        })
        .collect();
    heeler_core::sort_by_key(&mut rest, |(score, _)| std::cmp::Reverse(*score));
    ranked.extend(rest.into_iter().map(|(_, command)| command));
    ranked
}

/// A file that is being named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// From the `@` to the cursor.
    pub(super) range: Range<usize>,
    /// What is written behind the `@`.
    pub(super) query: String,
}

/// The mention that the cursor stands at the end of. An `@` begins one at the beginning of a word;
/// with a quote behind it, it may hold blanks.
pub(super) fn mention(text: &str, cursor: usize) -> Option<Mention> {
    let line = super::words::line_start(text, cursor);
    let before = &text[line..cursor];
    let begins = |at: &usize| {
        let last = before[..*at].chars().next_back();
        last.is_none_or(|last| last.is_whitespace() || matches!(last, '(' | '[' | '{' | '"' | '\''))
    };
    let at = before.rmatch_indices('@').map(|(at, _)| at).find(begins)?;
    let written = &before[at + 1..];
    let query = match written.strip_prefix('"') {
        Some(quoted) if quoted.contains('"') => return None,
        Some(quoted) => quoted,
        None if written.contains(char::is_whitespace) => return None,
        None => written,
    };
    if query.contains(super::units::is_marker) {
        return None;
    }
    Some(Mention { range: line + at..cursor, query: query.to_owned() })
}

/// The menu of the files that were found for a mention.
pub(super) fn files(mention: Mention, paths: &[String]) -> Menu {
    let item = |path: &String| Item {
        left: path.clone(),
        right: String::new(),
        written: written(path),
        complete: *path == mention.query,
    };
    let items = paths.iter().take(ITEMS_MAX).map(item).collect();
    let Mention { range, query } = mention;
    Menu { about: About::Files, range, query, items, chosen: 0 }
}

/// How a path is mentioned; a folder stays open for what is in it.
fn written(path: &str) -> String {
    match (path.contains(char::is_whitespace), path.ends_with('/')) {
        (true, true) => format!("@\"{path}"),
        (true, false) => format!("@\"{path}\" "),
        (false, true) => format!("@{path}"),
        (false, false) => format!("@{path} "),
    }
}
