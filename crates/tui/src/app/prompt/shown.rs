//! What a prompt says: what would run, why somebody is asked, and which keys answer.

use heeler_core::{OpenPermission, PermissionReason, Question};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::parts::Parts;
use crate::app::change::whole;
use crate::text::diff::diff;
use crate::text::{clean, truncate, wrap};
use crate::transcript::{Look, patch_line};

/// The most rows of what would run; a person who wants more edits it (`e`), or looks at the file.
const DETAIL_ROWS_MAX: usize = 20;

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

/// What it is about, and why somebody is asked.
pub(super) fn permission(
    open: &OpenPermission,
    file: Option<&str>,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let mut lines = match &open.reason {
        PermissionReason::LeavePlan { calls, more } => plan(calls, *more, look),
        _ => call(open, file, look),
    };
    cut(&mut lines, " (e shows all)", look);
    match &open.reason {
        PermissionReason::Policy(why) => lines.extend(said(why, look.theme.dim, look)),
        PermissionReason::Repeated(times) => {
            let why = format!("the same call failed {times} times in a row");
            lines.extend(said(&why, look.theme.warning, look));
        }
        PermissionReason::LeavePlan { .. } => {}
    }
    if let Some(objection) = &open.objection {
        lines.extend(said(objection, look.theme.error, look));
    }
    lines
}

/// One part of a change.
pub(super) fn part(parts: &Parts, look: Look<'_>) -> Vec<Line<'static>> {
    let mut lines = parts.lines(look);
    cut(&mut lines, "", look);
    let count = format!("  part {} of {}", parts.at(), parts.len());
    lines.push(Line::styled(count, look.theme.strong));
    lines
}

/// Leaves the first lines, and says how many there are more.
fn cut(lines: &mut Vec<Line<'static>>, hint: &str, look: Look<'_>) {
    let n_more = lines.len().saturating_sub(DETAIL_ROWS_MAX);
    if n_more > 0 {
        lines.truncate(DETAIL_ROWS_MAX);
        lines.push(Line::styled(format!("  … {n_more} more lines{hint}"), look.theme.dim));
    }
}

/// What a tool asks, and what can be chosen.
pub(super) fn question(question: &Question, look: Look<'_>) -> Vec<Line<'static>> {
    let mut lines = said(&question.text, look.theme.text, look);
    for (index, choice) in question.choices.iter().enumerate() {
        lines.extend(said(&format!("{}. {choice}", index + 1), look.theme.text, look));
    }
    lines
}

/// Which keys answer, each with what it means; `parts` is how many there are to choose among.
pub(super) fn choices(
    open: &OpenPermission,
    parts: Option<usize>,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let mut choices: Vec<(&str, String)> = Vec::new();
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
    keys(choices, look)
}

/// Which keys answer about one part.
pub(super) fn part_choices(look: Look<'_>) -> Vec<Line<'static>> {
    let meanings = [
        ("y", "take it"),
        ("n", "leave it out"),
        ("a", "take it and the rest"),
        ("d", "leave it and the rest out"),
        ("Esc", "back"),
    ];
    keys(meanings.map(|(key, meaning)| (key, meaning.to_owned())), look)
}

fn keys(
    choices: impl IntoIterator<Item = (&'static str, String)>,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let line = |(key, meaning): (&str, String)| {
        let spans = vec![
            Span::styled(format!("  {key}"), look.theme.accent),
            Span::styled(format!("  {meaning}"), look.theme.text),
        ];
        truncate(&Line::from(spans), look.width)
    };
    choices.into_iter().map(line).collect()
}

fn plan(calls: &[String], more: u32, look: Look<'_>) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> =
        calls.iter().flat_map(|call| said(&format!("· {call}"), look.theme.text, look)).collect();
    if more > 0 {
        lines.push(Line::styled(format!("  and {more} more"), look.theme.dim));
    }
    lines
}

/// What the call would do, in the file as it is where that was read.
fn call(open: &OpenPermission, file: Option<&str>, look: Look<'_>) -> Vec<Line<'static>> {
    let input = open.input.value();
    let text = |field: &str| input.get(field).and_then(Value::as_str);
    let path = text("file_path").or_else(|| text("path")).unwrap_or("");
    let whole = file.and_then(|file| whole(&open.tool, &input, file));
    if let Some((old, new)) = whole {
        return diff(&old, &new, path, look.width, look.theme);
    }
    match (open.tool.as_str(), text("command")) {
        ("Edit", _) => {
            let (old, new) = (text("old_string").unwrap_or(""), text("new_string").unwrap_or(""));
            change(old, new, path, look)
        }
        ("Write", _) => diff("", text("content").unwrap_or(""), path, look.width, look.theme),
        ("MultiEdit", _) => {
            let edits = input.get("edits").and_then(Value::as_array);
            let field = |edit: &Value, field: &str| -> String {
                edit.get(field).and_then(Value::as_str).unwrap_or("").to_owned()
            };
            edits
                .into_iter()
                .flatten()
                .flat_map(|edit| {
                    let (old, new) = (field(edit, "old_string"), field(edit, "new_string"));
                    change(&old, &new, path, look)
                })
                .collect()
        }
        ("apply_patch", _) => {
            let patch = text("patch").or_else(|| text("input")).unwrap_or("");
            clean(patch).lines().map(|line| patch_line(line, look)).collect()
        }
        (_, Some(command)) => said(&format!("$ {command}"), look.theme.strong, look),
        _ => {
            let pretty = serde_json::to_string_pretty(&input).unwrap_or_default();
            said(&pretty, look.theme.text, look)
        }
    }
}

/// The difference of two pieces of a file; that a piece ends within a line says nothing of the file.
fn change(old: &str, new: &str, path: &str, look: Look<'_>) -> Vec<Line<'static>> {
    let whole = |text: &str| match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    };
    diff(&whole(old), &whole(new), path, look.width, look.theme)
}

fn said(text: &str, style: Style, look: Look<'_>) -> Vec<Line<'static>> {
    let lines = clean(text);
    let line = |line: &str| wrap(&Line::styled(format!("  {line}"), style), look.width, 2);
    lines.lines().flat_map(line).collect()
}
