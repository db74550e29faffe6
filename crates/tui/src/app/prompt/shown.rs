//! What a prompt says: what would run, why somebody is asked, and which keys answer.

use std::borrow::Cow;
use std::ops::Range;

use heeler_core::{OpenPermission, PermissionReason, Question};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::parts::Parts;
use crate::app::change::whole;
use crate::text::diff::headed;
use crate::text::{clean, one_line, truncate, wrap};
use crate::transcript::{Look, is_command_alone, patch_lines};

/// The rows of what would run that stay when there is little room; sooner, what the keys mean folds.
const WHAT_ROWS_MIN: usize = 3;

/// The empty rows that stand one below the other; of more, it is said how many there are.
const EMPTY_ROWS_MAX: usize = 1;

/// What stands between the title and the keys: what would run, and what is said of it, which is
/// short.
pub(super) struct Said {
    /// The rows of what would run that only name it, such as the path of a file.
    pub(super) n_head: usize,
    pub(super) what: Vec<Line<'static>>,
    pub(super) of_it: Vec<Line<'static>>,
}

/// A prompt in so many rows.
pub(super) struct Arranged {
    pub(super) lines: Vec<Line<'static>>,
    /// Whether anything of what would run stands there, and not its frame alone.
    pub(super) tells: bool,
}

/// The question, in a few words.
pub(super) fn title(open: &OpenPermission) -> String {
    let tool = clean(&open.tool);
    match &open.reason {
        PermissionReason::LeavePlan { .. } => "Leave plan mode and do this?".to_owned(),
        _ => match open.tool.as_str() {
            "Bash" | "bash" => "Run this command?".to_owned(),
            "Edit" | "MultiEdit" | "apply_patch" => "Make this change?".to_owned(),
            "Write" => "Write this file?".to_owned(),
            "WebFetch" => "Fetch this page?".to_owned(),
            _ => format!("Let {tool} run?"),
        },
    }
}

/// All of it in so many rows, so that the title, both ends of what would run and the keys stand
/// there: first what would run is cut, then the keys stand without their meanings (`folded`).
pub(super) fn arranged(
    title: Line<'static>,
    said: Said,
    mut keys: Vec<Line<'static>>,
    folded: Option<Line<'static>>,
    rows: usize,
    look: Look<'_>,
) -> Arranged {
    let Said { n_head, mut what, mut of_it } = said;
    let least = what.len().min(WHAT_ROWS_MIN);
    if let Some(folded) = folded
        && 1 + least + of_it.len() + keys.len() > rows
    {
        keys = vec![folded];
    }
    let room = rows.saturating_sub(1 + keys.len());
    cut(&mut of_it, room.saturating_sub(least), look);
    let kept = cut(&mut what, room.saturating_sub(of_it.len()).max(1), look);
    let is_kept = |index: &usize| *index < kept.start || *index >= kept.end;
    // What is cut has to stand there with its end: that is where something is hidden.
    let has_end = kept.end < what.len();
    let tells = kept.is_empty()
        || has_end && (n_head..what.len()).filter(is_kept).any(|index| tells(&what[index]));
    Arranged { lines: [vec![title], what, of_it, keys].concat(), tells }
}

/// Whether a row says something of what would run, beside brackets and the frame of a patch.
fn tells(row: &Line<'_>) -> bool {
    let text = row.to_string();
    let text = text.trim_start();
    text.contains(char::is_alphanumeric) && !text.starts_with("***") && !text.starts_with("@@")
}

/// What it is about, and why somebody is asked.
pub(super) fn permission(open: &OpenPermission, file: Option<&str>, look: Look<'_>) -> Said {
    let (n_head, what) = match &open.reason {
        PermissionReason::LeavePlan { calls, more } => (0, plan(calls, *more, look)),
        _ => call(open, file, look),
    };
    let mut of_it = Vec::new();
    match &open.reason {
        PermissionReason::Policy(why) => {
            // It may hold a piece of what would run, whose lines are to crowd out nothing.
            let lines: Vec<&str> = why.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
            let why = lines.join(look.theme.sign(" ⏎ ", " "));
            of_it.extend(said(&why, look.theme.dim, look));
        }
        PermissionReason::Repeated(times) => {
            let why = format!("the same call failed {}", heeler_turn::words::in_a_row(*times));
            of_it.extend(said(&why, look.theme.warning, look));
        }
        PermissionReason::LeavePlan { .. } => {}
    }
    if let Some(objection) = &open.objection {
        of_it.extend(said(objection, look.theme.error, look));
    }
    Said { n_head, what: without_gaps(what, look), of_it }
}

/// The rows, with a word for many empty ones: what stands behind them is to be seen.
fn without_gaps(rows: Vec<Line<'static>>, look: Look<'_>) -> Vec<Line<'static>> {
    let is_empty = |row: &Line<'_>| row.to_string().trim().is_empty();
    let mut out = Vec::with_capacity(rows.len());
    for run in rows.chunk_by(|one, next| is_empty(one) && is_empty(next)) {
        if run.len() > EMPTY_ROWS_MAX {
            let text = format!("  {}{} empty lines", look.theme.sign("… ", ""), run.len());
            out.push(Line::styled(text, look.theme.dim));
        } else {
            out.extend_from_slice(run);
        }
    }
    out
}

/// One part of a change.
pub(super) fn part(parts: &Parts, look: Look<'_>) -> Said {
    let count = format!("  part {} of {}", parts.at(), parts.len());
    Said { n_head: 0, what: parts.lines(look), of_it: vec![Line::styled(count, look.theme.strong)] }
}

/// Leaves the first and the last lines, so many with the one that says how many there are more: where
/// that one stands.
fn cut(lines: &mut Vec<Line<'static>>, rows: usize, look: Look<'_>) -> Range<usize> {
    if lines.len() <= rows {
        return 0..0;
    }
    let n_last = if rows < 3 { 0 } else { (rows / 3).max(1) };
    let n_first = rows.saturating_sub(1 + n_last);
    let n_more = lines.len() - n_first - n_last;
    let dots = look.theme.sign("… ", "");
    let more = format!("  {dots}{n_more} more lines (Ctrl-T)");
    let more = (rows > 0).then(|| Line::styled(more, look.theme.dim));
    lines.splice(n_first..n_first + n_more, more);
    n_first..n_first + 1
}

/// What a tool asks, and what can be chosen.
pub(super) fn question(question: &Question, look: Look<'_>) -> Said {
    let choice = |(index, choice): (usize, &String)| {
        let mark = format!("  {}. ", index + 1);
        let line = Line::styled(format!("{mark}{}", clean(&one_line(choice))), look.theme.text);
        wrap(&line, look.width, mark.len())
    };
    let of_it = question.choices.iter().enumerate().flat_map(choice).collect();
    Said { n_head: 0, what: said(&question.text, look.theme.text, look), of_it }
}

/// A key and what it means.
pub(super) type Choice = (&'static str, String);

/// Which keys answer; `parts` is how many there are to choose among.
pub(super) fn choices(open: &OpenPermission, parts: Option<usize>) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    if let PermissionReason::LeavePlan { .. } = open.reason {
        choices.push(("y", "leave plan mode, ask before changes".into()));
        choices.push(("a", "leave plan mode, accept edits".into()));
        choices.push(("n", "stay in plan mode, with a reason".into()));
    } else {
        choices.push(("y", "once".into()));
        if let Some(rule) = &open.offer {
            choices.push(("s", format!("for this session: {}", clean(&rule.to_string()))));
            choices.push(("a", format!("always in this folder: {}", clean(&rule.to_string()))));
        }
        choices.push(("n", "no, with a reason".into()));
        choices.push(("e", "edit it first".into()));
        if let Some(parts) = parts {
            choices.push(("h", format!("choose among its {parts} parts")));
        }
    }
    choices.push(("d", "no, and stop the turn".into()));
    choices
}

/// Which keys answer about one part.
pub(super) fn part_choices() -> Vec<Choice> {
    let meanings = [
        ("y", "take it"),
        ("n", "leave it out"),
        ("a", "take it and the rest"),
        ("d", "leave it and the rest out"),
        ("Esc", "back"),
    ];
    meanings.map(|(key, meaning)| (key, meaning.to_owned())).into()
}

/// The keys, each with what it means: all of it, since it may be a rule.
pub(super) fn keys(choices: &[Choice], look: Look<'_>) -> Vec<Line<'static>> {
    let line = |(key, meaning): &Choice| {
        let spans = vec![
            Span::styled(format!("  {key}"), look.theme.accent),
            Span::styled(format!("{}{meaning}", look.theme.sign("  ", ": ")), look.theme.text),
        ];
        wrap(&Line::from(spans), look.width, key.len() + 4)
    };
    choices.iter().flat_map(line).collect()
}

/// The keys alone.
pub(super) fn folded(choices: &[Choice], look: Look<'_>) -> Line<'static> {
    let keys: String = choices.iter().map(|(key, _)| format!(" {key}")).collect();
    let spans = vec![
        Span::styled(format!(" {keys}"), look.theme.accent),
        Span::styled("  (Ctrl-T says what they mean)", look.theme.dim),
    ];
    truncate(&Line::from(spans), look.width)
}

fn plan(calls: &[String], more: u32, look: Look<'_>) -> Vec<Line<'static>> {
    let dot = look.theme.sign("· ", "");
    let mut lines: Vec<Line<'static>> = calls
        .iter()
        .flat_map(|call| said(&format!("{dot}{call}"), look.theme.text, look))
        .collect();
    if more > 0 {
        lines.push(Line::styled(format!("  and {more} more"), look.theme.dim));
    }
    lines
}

/// What the call would do, in the file as it is where that was read, and how many rows only name it.
fn call(open: &OpenPermission, file: Option<&str>, look: Look<'_>) -> (usize, Vec<Line<'static>>) {
    let input = open.input.value();
    let text = |field: &str| input.get(field).and_then(Value::as_str);
    let path = text("file_path").or_else(|| text("path")).unwrap_or("");
    let whole = file.and_then(|file| whole(&open.tool, &input, file));
    if let Some((old, new)) = whole {
        return change(&old, &new, path, look);
    }
    let lines = match (open.tool.as_str(), text("command")) {
        ("Edit", _) => {
            let (old, new) = (text("old_string").unwrap_or(""), text("new_string").unwrap_or(""));
            return change(&ended(old), &ended(new), path, look);
        }
        ("Write", _) => return change("", text("content").unwrap_or(""), path, look),
        ("MultiEdit", _) => {
            let edits = input.get("edits").and_then(Value::as_array);
            let field = |edit: &Value, field: &str| -> String {
                edit.get(field).and_then(Value::as_str).unwrap_or("").to_owned()
            };
            let (mut first, mut lines) = (None, Vec::new());
            for edit in edits.into_iter().flatten() {
                let (old, new) = (field(edit, "old_string"), field(edit, "new_string"));
                let (n_head, rows) = change(&ended(&old), &ended(&new), path, look);
                first.get_or_insert(n_head);
                lines.extend(rows);
            }
            return (first.unwrap_or_default(), lines);
        }
        ("apply_patch", _) => {
            let patch = text("patch").or_else(|| text("input")).unwrap_or("");
            patch.lines().flat_map(|line| patch_lines(line, look)).collect()
        }
        (tool, Some(command)) if is_command_alone(tool, &input) => {
            let sign = look.theme.sign("$ ", "command: ");
            said(&format!("{sign}{command}"), look.theme.strong, look)
        }
        _ => {
            let pretty = serde_json::to_string_pretty(&input).unwrap_or_default();
            said(&pretty, look.theme.text, look)
        }
    };
    (0, lines)
}

fn change(old: &str, new: &str, path: &str, look: Look<'_>) -> (usize, Vec<Line<'static>>) {
    let (head, body) = headed(old, new, path, look.width, look.theme);
    (head.len(), [head, body].concat())
}

/// A piece of a file as lines; that it ends within one says nothing of the file.
fn ended(piece: &str) -> Cow<'_, str> {
    match piece.is_empty() || piece.ends_with('\n') {
        true => Cow::Borrowed(piece),
        false => Cow::Owned(format!("{piece}\n")),
    }
}

fn said(text: &str, style: Style, look: Look<'_>) -> Vec<Line<'static>> {
    let lines = clean(text);
    let line = |line: &str| wrap(&Line::styled(format!("  {line}"), style), look.width, 2);
    lines.lines().flat_map(line).collect()
}
