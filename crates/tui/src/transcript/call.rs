//! The row of a call: what it does, how far it is, what came of it.

use heeler_core::{RawJson, Timestamp};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::item::indented;
use super::{Look, seconds, unfolded};
use crate::text::{clean, one_line, truncate, width, wrap};
use crate::theme::Theme;

/// The most lines of a change that stand under its row.
const CHANGE_ROWS_MAX: usize = 24;
/// The most lines of a command's output that stand under its row: the last ones, which have the
/// error and the exit code.
const OUTPUT_ROWS_MAX: usize = 5;
/// The most lines of an error.
const ERROR_ROWS_MAX: usize = 4;
/// What the sign before a call takes, with the space before its words.
const SIGN_CELLS: usize = 3;
/// What stands before lines that belong to the row above.
pub(super) fn below_sign(theme: &Theme) -> &'static str {
    theme.sign("  │ ", "  ")
}

/// One after the other while a call runs.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long each of them stands.
pub(crate) const SPINNER_MILLIS: u64 = 100;

/// A call.
pub(super) struct CallRow {
    index: u32,
    name: String,
    /// The id on the wire, by which its result is found.
    wire_id: Option<String>,
    input: Option<RawJson>,
    summary: String,
    state: State,
    progress: String,
    /// Whether it was told that it runs.
    is_told: bool,
    result: Option<CallResult>,
    /// Whether nothing more comes of it.
    is_closed: bool,
}

enum State {
    /// The model asked for it; it is looked up, judged, or waits for its turn.
    Waits,
    Runs {
        since: Timestamp,
    },
    Ended {
        is_error: bool,
        millis: u64,
    },
}

/// What the model is told of it.
struct CallResult {
    text: String,
    is_error: bool,
}

/// What stands under the row of a call that is done.
enum Below {
    Error,
    Change,
    Output { is_error: bool },
    Steps,
    Nothing,
}

impl CallRow {
    pub(super) fn new(index: u32, name: &str) -> Self {
        Self {
            index,
            name: name.to_owned(),
            wire_id: None,
            input: None,
            summary: String::new(),
            state: State::Waits,
            progress: String::new(),
            is_told: false,
            result: None,
            is_closed: false,
        }
    }

    /// A call as the model asked for it.
    pub(super) fn asked(index: u32, wire_id: &str, name: &str, input: &RawJson) -> Self {
        let mut row = Self::new(index, name);
        row.wire_id = Some(wire_id.to_owned());
        row.summary = heeler_core::input_summary(name, input.get());
        row.input = Some(input.clone());
        row
    }

    /// Whether it is this call of the running batch.
    pub(super) fn is(&self, index: u32) -> bool {
        self.index == index && !self.is_done()
    }

    /// Whether this result is its own.
    pub(super) fn is_of(&self, wire_id: &str) -> bool {
        self.wire_id.as_deref() == Some(wire_id)
    }

    pub(super) fn is_done(&self) -> bool {
        self.result.is_some() || self.is_closed
    }

    pub(super) fn start(&mut self, summary: &str, now: Timestamp) {
        summary.clone_into(&mut self.summary);
        self.state = State::Runs { since: now };
    }

    pub(super) fn progress(&mut self, text: &str) {
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("").clone_into(&mut self.progress);
    }

    pub(super) fn finish(&mut self, is_error: bool, millis: u64) {
        self.state = State::Ended { is_error, millis };
    }

    /// Its result is part of the conversation: it changes no more.
    pub(super) fn result(&mut self, text: String, is_error: bool) {
        self.result = Some(CallResult { text, is_error });
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self, now: Timestamp) {
        if let State::Runs { since } = self.state {
            self.state = State::Ended { is_error: true, millis: now.since(since) };
        }
        self.is_closed = true;
    }

    /// That it runs, once.
    pub(super) fn begun(&mut self, look: Look<'_>) -> Option<Line<'static>> {
        let is_news = matches!(self.state, State::Runs { .. }) && !self.is_told;
        self.is_told |= is_news;
        is_news.then(|| self.head(look))
    }

    pub(super) fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = vec![self.head(look)];
        match &self.result {
            Some(result) => lines.extend(self.below(result, look)),
            None if matches!(self.state, State::Runs { .. }) && !self.progress.is_empty() => {
                lines.push(below(&self.progress, look.theme.dim, look));
            }
            None => {}
        }
        lines
    }

    /// With all of what it was given and gave.
    pub(super) fn paged(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let Some(result) = &self.result else { return self.lines(look) };
        let theme = look.theme;
        let mut lines = vec![self.head(look)];
        if let Some(input) = self.folded_input(look) {
            lines.extend(unfolded::rows(&clean(&input), "  ", theme.text, look));
        }
        let text = clean(&result.text);
        lines.extend(match self.kind_of(result) {
            Below::Error => unfolded::rows(&text, "  ", theme.error, look),
            Below::Change => all_changed_lines(&unfolded::within(&text, theme), look),
            Below::Output { is_error } => {
                let style = if is_error { theme.error } else { theme.dim };
                unfolded::rows(&text, below_sign(theme), style, look)
            }
            Below::Steps => self.steps(look),
            Below::Nothing => Vec::new(),
        });
        lines
    }

    /// What it takes to unfold it, in bytes.
    pub(super) fn paged_cost(&self) -> usize {
        let input = self.input.as_ref().map_or("", |input| input.get());
        let is_shown = |result: &&CallResult| !matches!(self.kind_of(result), Below::Nothing);
        let result = self.result.as_ref().filter(is_shown).map_or("", |result| &result.text);
        unfolded::cost(input).saturating_add(unfolded::cost(result))
    }

    /// What it was given, where the row does not show all of it: a command as it is, else as JSON.
    fn folded_input(&self, look: Look<'_>) -> Option<String> {
        let input = self.input.as_ref()?.value();
        let result = self.result.as_ref()?;
        if matches!(self.kind_of(result), Below::Change | Below::Steps) {
            // It stands below.
            return None;
        }
        let (name, what) = self.words();
        let fits = width(&name) + width(&what) + SIGN_CELLS <= look.width;
        let told = match &input {
            Value::Object(fields) if fields.len() == 1 => fields.values().next()?.as_str(),
            _ => None,
        };
        let command =
            || input.get("command")?.as_str().filter(|_| is_command_alone(&self.name, &input));
        let told = told.or_else(command);
        match told {
            Some(told) => (!fits || clean(told) != what).then(|| told.to_owned()),
            None if fits && what == clean(self.input.as_ref()?.get()) => None,
            None if input.as_object().is_some_and(serde_json::Map::is_empty) => None,
            None => serde_json::to_string_pretty(&input).ok(),
        }
    }

    fn head(&self, look: Look<'_>) -> Line<'static> {
        let theme = look.theme;
        let is_failed = self.result.as_ref().is_some_and(|result| result.is_error)
            || matches!(self.state, State::Ended { is_error: true, .. });
        let (sign, style) = match &self.state {
            State::Waits if self.result.is_none() => (theme.sign("·", "Waits:"), theme.dim),
            State::Runs { since } => {
                let step = look.now.since(*since) / SPINNER_MILLIS % SPINNER.len() as u64;
                let sign = usize::try_from(step).ok().and_then(|step| SPINNER.get(step));
                (theme.sign(sign.copied().unwrap_or("*"), "Running:"), theme.accent)
            }
            _ if is_failed => (theme.sign("✗", "Failed:"), theme.error),
            _ => (theme.sign("✓", "Done:"), theme.success),
        };
        let (name, what) = self.words();
        let mut spans = vec![
            Span::styled(format!("{sign} "), style),
            Span::styled(name, theme.strong),
            Span::styled(format!(" {what}"), theme.text),
        ];
        let after = match &self.state {
            State::Runs { since } if !theme.is_spoken() => seconds(look.now.since(*since)),
            State::Ended { millis, .. } if *millis >= 1000 => seconds(*millis),
            _ => String::new(),
        };
        if !after.is_empty() {
            // What it took stays in sight however long the rest is.
            let room = look.width.saturating_sub(after.len() + 3);
            let line = truncate(&Line::from(spans), room.max(1));
            spans = line.spans;
            spans.push(Span::styled(format!("{}{after}", theme.sign(" · ", ", ")), theme.dim));
        }
        truncate(&Line::from(spans), look.width)
    }

    /// The tool and what it works on: the summary is `name: value`, or `name {json}`.
    fn words(&self) -> (String, String) {
        let summary = one_line(&self.summary);
        let rest = summary.strip_prefix(&self.name).map(|rest| rest.trim_start_matches(':').trim());
        match rest {
            // What it sets stands below.
            Some(_) if self.name == "TodoWrite" => (self.name.clone(), String::new()),
            Some(rest) => (clean(&self.name).into_owned(), clean(rest).into_owned()),
            None => (clean(&self.name).into_owned(), clean(&summary).into_owned()),
        }
    }

    /// What stands under the row when it is done.
    fn below(&self, result: &CallResult, look: Look<'_>) -> Vec<Line<'static>> {
        let text = clean(&result.text);
        match self.kind_of(result) {
            Below::Error => some_lines(text.lines(), ERROR_ROWS_MAX, look.theme.error, look),
            Below::Change => changed_lines(&text, look),
            Below::Output { is_error } => last_lines(&text, is_error, look),
            Below::Steps => self.steps(look),
            Below::Nothing => Vec::new(),
        }
    }

    fn kind_of(&self, result: &CallResult) -> Below {
        match self.name.as_str() {
            "Bash" | "bash" | "exec" => Below::Output { is_error: result.is_error },
            _ if result.is_error => Below::Error,
            "Edit" | "MultiEdit" | "Write" | "apply_patch" | "str_replace_based_edit_tool" => {
                Below::Change
            }
            "TodoWrite" => Below::Steps,
            _ => Below::Nothing,
        }
    }

    /// The list of steps as the model set it.
    fn steps(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let input = self.input.as_ref().map(|input| input.value());
        let Some(Value::Array(steps)) = input.as_ref().and_then(|input| input.get("todos")) else {
            return Vec::new();
        };
        let theme = look.theme;
        let line = |step: &Value| {
            let text = step.get("content")?.as_str()?;
            let (sign, style) = match step.get("status").and_then(Value::as_str) {
                Some("completed") => (theme.sign("☑ ", "done: "), theme.dim),
                Some("in_progress") => (theme.sign("▸ ", "now: "), theme.accent),
                _ => (theme.sign("☐ ", "to do: "), theme.text),
            };
            Some(truncate(&Line::styled(format!("  {sign}{}", clean(text)), style), look.width))
        };
        steps.iter().filter_map(line).collect()
    }
}

/// The lines of a change, as the tools that edit tell them, each with its style: number, sign, text.
fn changes<'a>(text: &'a str, look: Look<'a>) -> impl Iterator<Item = Line<'a>> {
    let theme = look.theme;
    text.lines().filter_map(move |line| {
        let numbered = line.trim_start();
        let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &numbered[..numbered.len() - rest.len()];
        let rest = rest.strip_prefix(' ').filter(|_| !number.is_empty())?;
        let (style, words) = match rest.chars().next()? {
            '+' => (theme.added, " added"),
            '-' => (theme.removed, " removed"),
            _ => (theme.dim, ""),
        };
        let text = match theme.is_spoken() {
            true => {
                format!("  line {number}{words}: {}", rest.get(1..).unwrap_or_default().trim_end())
            }
            false => format!("  {line}"),
        };
        Some(Line::styled(text, style))
    })
}

/// The first lines of a change.
fn changed_lines(text: &str, look: Look<'_>) -> Vec<Line<'static>> {
    let mut changes = changes(text, look);
    let shown = changes.by_ref().take(CHANGE_ROWS_MAX);
    let mut lines: Vec<_> = shown.map(|line| truncate(&line, look.width)).collect();
    let n_hidden = changes.count();
    if n_hidden > 0 {
        lines.push(below(&more_lines(n_hidden, look.theme), look.theme.dim, look));
    }
    lines
}

fn all_changed_lines(text: &str, look: Look<'_>) -> Vec<Line<'static>> {
    changes(text, look).flat_map(|line| wrap(&line, look.width, 2)).collect()
}

/// The last lines of what a command printed.
fn last_lines(text: &str, is_error: bool, look: Look<'_>) -> Vec<Line<'static>> {
    let theme = look.theme;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let n_hidden = lines.len().saturating_sub(OUTPUT_ROWS_MAX);
    let mut shown = Vec::new();
    if n_hidden > 0 {
        let dots = theme.sign("… ", "");
        let more = format!("{dots}{n_hidden} {} above (Ctrl-T)", unfolded::lines(n_hidden));
        shown.push(below(&more, theme.dim, look));
    }
    let last = &lines[n_hidden..];
    match is_error {
        true => shown.extend(indented(&last.join("\n"), "  ", theme.error, look)),
        false => shown.extend(last.iter().map(|line| below(line, theme.dim, look))),
    }
    shown
}

fn some_lines<'a>(
    all: impl Iterator<Item = &'a str>,
    rows_max: usize,
    style: Style,
    look: Look<'_>,
) -> Vec<Line<'static>> {
    let all: Vec<&str> = all.collect();
    let text = all.iter().take(rows_max).copied().collect::<Vec<_>>().join("\n");
    let mut lines = indented(&text, "  ", style, look);
    if all.len() > rows_max {
        lines.push(below(&more_lines(all.len() - rows_max, look.theme), style, look));
    }
    lines
}

fn more_lines(n: usize, theme: &Theme) -> String {
    format!("{}{n} more {}", theme.sign("… ", ""), unfolded::lines(n))
}

fn below(text: &str, style: Style, look: Look<'_>) -> Line<'static> {
    let text = format!("{}{}", below_sign(look.theme), clean(text));
    truncate(&Line::from(Span::styled(text, style)), look.width)
}

/// Whether an input is its `command` and nothing else that does something.
pub(crate) fn is_command_alone(tool: &str, input: &Value) -> bool {
    const SAYS_LITTLE: [&str; 3] = ["command", "timeout", "description"];
    // What else the shell's own input holds stands in the reason why it is asked about.
    matches!(tool, "Bash" | "bash")
        || input.as_object().is_some_and(|fields| {
            let says_little = |(name, value): (&String, &Value)| {
                SAYS_LITTLE.contains(&name.as_str()) || (name == "action" && value == "run")
            };
            fields.iter().all(says_little)
        })
}
