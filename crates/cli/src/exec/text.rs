//! Without `--json`: the answer on stdout, progress on stderr.

use std::io::{IsTerminal, Write};

use heeler_core::{Event, HookEnd, MediaItem, MediaReference, Role};
use heeler_engine::{Seen, Session};

use super::Printer;
use super::finish::Finish;
use crate::say::{harmless, say};

/// Prints for a person.
pub(super) struct TextPrinter;

impl Printer for TextPrinter {
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()> {
        say(format_args!("heeler: session {} with {model}", session.id()));
        Ok(())
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        if let Seen::Event(envelope) = seen
            && let Some(line) = progress(&envelope.event)
        {
            say(line);
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        let usage = finish.usage;
        if finish.session.is_some() {
            say(format_args!(
                "heeler: {} tokens in ({} cached), {} out, {}",
                usage.input_total(),
                usage.cache_read,
                usage.output,
                finish.cost
            ));
        }
        if let Some(complaint) = finish.complaint() {
            say(format_args!("heeler: {complaint}"));
        }
        let mut out = std::io::stdout().lock();
        if !finish.answer.is_empty() {
            let answer = finish.answer.trim_end();
            match out.is_terminal() {
                true => writeln!(out, "{}", harmless(answer))?,
                false => writeln!(out, "{answer}")?,
            }
        }
        out.flush()
    }
}

/// What a tool has for the user: its text, then what it made, one a line.
fn for_user(text: &str, media: &[MediaReference], items: &[MediaItem]) -> String {
    let line = |media: &MediaReference| {
        let path = items.iter().find(|item| item.reference == *media)?.path.as_ref()?;
        Some(format!("  + {}", path.display()))
    };
    let mut lines: Vec<String> =
        media.iter().map(|media| line(media).unwrap_or_else(|| format!("  + {media}"))).collect();
    if !text.is_empty() {
        lines.insert(0, text.to_owned());
    }
    lines.join("\n")
}

/// One line of progress, for what a person wants to see of an event.
pub(crate) fn progress(event: &Event) -> Option<String> {
    match event {
        Event::CallStarted { summary, .. } => Some(format!("  > {}", one_line(summary))),
        Event::CallFinished { name, is_error: true, summary, .. } => {
            Some(format!("  ! {name}: {}", one_line(summary)))
        }
        Event::Message { message } if message.role == Role::Assistant => {
            // What comes beside calls is progress; the final answer is printed at the end.
            let text = message.text();
            let has_calls = message.tool_uses().next().is_some();
            (has_calls && !text.trim().is_empty()).then(|| text.trim().to_owned())
        }
        Event::ToolText { text, media, items, .. } => Some(for_user(text, media, items)),
        Event::Retry { message, wait_millis: Some(wait), .. } => {
            Some(format!("  ~ {message}; again in {:.1} s", *wait as f64 / 1000.0))
        }
        Event::CompactionStarted { tokens_before, .. } => {
            Some(format!("  ~ summarizing the conversation (about {tokens_before} tokens)"))
        }
        Event::CompactionFailed { error } => Some(format!("  ~ no summary: {error}")),
        Event::Trimmed { tokens_before, tokens_after, .. } => Some(format!(
            "  ~ earlier messages left out to make room (about {tokens_before} tokens, now \
             {tokens_after})"
        )),
        Event::HookFinished { event, hook, millis, end, .. } => {
            let seconds = *millis as f64 / 1000.0;
            let why = match end {
                HookEnd::TimedOut => format!("it was stopped after {seconds:.1} s"),
                HookEnd::Broken { why } => one_line(why),
                _ => return None,
            };
            Some(format!("heeler: the {event} hook `{hook}` is broken: {why}"))
        }
        Event::Notice { text } => Some(format!("heeler: {text}")),
        _ => None,
    }
}

/// A summary without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
