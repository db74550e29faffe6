//! Without `--json`: the answer on stdout, progress on stderr.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};

use heeler_core::{
    Block, Event, HookEnd, MediaItem, MediaReference, Message, Role, truncate_chars,
};
use heeler_engine::{Seen, Session};

use super::Printer;
use super::finish::{Finish, Structured};
use crate::arguments::ExecArguments;
use crate::permissions::NOT_ALLOWED;
use crate::say::{harmless, one_line, say};

/// The most characters of one thought that are shown.
const THOUGHT_CHARS_MAX: usize = 2_000;
/// The most characters of the reason of a refusal that are shown.
const REASON_CHARS_MAX: usize = 2_000;
/// The most characters of a tool's name.
const NAME_CHARS_MAX: usize = 64;

/// Prints for a person.
pub(super) struct TextPrinter {
    told: Told,
    /// The tools of the calls that were asked for last, by the ids that their results have.
    tools: HashMap<String, String>,
}

impl TextPrinter {
    pub(super) fn telling(told: Told) -> Self {
        Self { told, tools: HashMap::new() }
    }

    /// Progress, with each refusal once: that a call was not allowed in its line, and the whole reason,
    /// which the end of a call has no room for, in another.
    fn progress(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::CallFinished { name, is_error: true, summary, .. }
                if summary.starts_with(NOT_ALLOWED) =>
            {
                Some(format!("  ! {}: not allowed", short(name)))
            }
            Event::Message { message } if message.role == Role::User => self.refusals(message),
            Event::Message { message } => {
                let calls = message.tool_uses();
                self.tools = calls.map(|call| (call.id.clone(), short(&call.name))).collect();
                progress(event)
            }
            event => progress(event),
        }
    }

    /// Why calls were not allowed.
    fn refusals(&self, message: &Message) -> Option<String> {
        let refusal = |block: &Block| {
            let Block::ToolResult(result) = block else { return None };
            // Behind the first text stand notes.
            let text = result.content.iter().find_map(Block::as_text)?;
            let why = text.strip_prefix(NOT_ALLOWED).filter(|_| result.is_error)?;
            let tool = self.tools.get(&result.tool_use_id);
            let tool = tool.map(|tool| format!("{tool}: ")).unwrap_or_default();
            Some(format!("    {tool}{}", one_line(&truncate_chars(why, REASON_CHARS_MAX))))
        };
        let lines: Vec<String> = message.blocks.iter().filter_map(refusal).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// How much is told beside the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// What went wrong.
    Errors,
    /// What is done.
    Progress,
    /// How, too.
    Everything,
}

impl Told {
    pub(super) fn of(arguments: &ExecArguments) -> Self {
        match arguments {
            ExecArguments { quiet: true, .. } => Self::Errors,
            ExecArguments { verbose: true, .. } => Self::Everything,
            _ => Self::Progress,
        }
    }
}

impl Printer for TextPrinter {
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()> {
        if self.told != Told::Errors {
            say(format_args!("heeler: session {} with {model}", session.id()));
        }
        Ok(())
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        let Seen::Event(envelope) = seen else { return Ok(()) };
        let event = &envelope.event;
        let lines = match self.told {
            Told::Errors => [None, trouble(event)],
            Told::Progress => [None, self.progress(event)],
            Told::Everything => [details(event), self.progress(event)],
        };
        lines.into_iter().flatten().for_each(say);
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        let usage = finish.usage;
        if finish.session.is_some() && self.told != Told::Errors {
            say(format_args!(
                "heeler: {} tokens in ({} cached), {} out, {}",
                usage.input_total(),
                usage.cache_read,
                usage.output,
                finish.bill
            ));
        }
        if let Some(complaint) = finish.complaint() {
            say(format_args!("heeler: {complaint}"));
        }
        let mut out = std::io::stdout().lock();
        let answer = match &finish.structured {
            Structured::Unwanted => finish.answer.trim_end(),
            Structured::Given(json) => json,
            Structured::Absent | Structured::Refused => "",
        };
        if !answer.is_empty() {
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
            Some(format!("  ! {}: {}", short(name), one_line(summary)))
        }
        Event::Message { message } if message.role == Role::Assistant => {
            // What comes beside calls is progress; the final answer is printed at the end.
            let text = message.text();
            let has_calls = message.tool_uses().next().is_some();
            (has_calls && !text.trim().is_empty()).then(|| text.trim().to_owned())
        }
        Event::ToolText { text, media, items, .. } => Some(for_user(text, media, items)),
        Event::Retry { message, wait_millis: Some(wait), .. } => {
            let again = match *wait {
                0 => "at once".to_owned(),
                wait => format!("in {}", seconds(wait)),
            };
            Some(format!("  ~ {}; again {again}", message.trim_end_matches('.')))
        }
        Event::CompactionStarted { tokens_before, .. } => {
            Some(format!("  ~ summarizing the conversation (about {tokens_before} tokens)"))
        }
        Event::CompactionFailed { error } => Some(format!("  ~ no summary: {error}")),
        Event::Trimmed { tokens_before, tokens_after, .. } => Some(format!(
            "  ~ earlier messages left out to make room (about {tokens_before} tokens, now \
             {tokens_after})"
        )),
        Event::Pruned { results: n, tokens_before, tokens_after, .. } => {
            let results = if *n == 1 { "old result" } else { "old results" };
            Some(format!(
                "  ~ {n} {results} cut short to make room (about {tokens_before} tokens, now \
                 {tokens_after})"
            ))
        }
        Event::Restored { tokens_before, tokens_after, .. } => Some(format!(
            "  ~ brought back what had made room (about {tokens_before} tokens, now {tokens_after})"
        )),
        event => trouble(event),
    }
}

/// What went wrong, and what the user should know in any case.
fn trouble(event: &Event) -> Option<String> {
    match event {
        Event::HookFinished { event, hook, millis, end, .. } => {
            let why = match end {
                HookEnd::TimedOut => format!("it was stopped after {}", seconds(*millis)),
                HookEnd::Broken { why } => one_line(why),
                _ => return None,
            };
            Some(format!("heeler: the {event} hook `{hook}` is broken: {why}"))
        }
        Event::Notice { text } => Some(format!("heeler: {text}")),
        _ => None,
    }
}

/// What `--verbose` adds to an event's progress, before it.
fn details(event: &Event) -> Option<String> {
    match event {
        Event::AttemptStarted { round, attempt: 1 } => Some(format!("  . model call {round}")),
        Event::AttemptStarted { round, attempt } => {
            Some(format!("  . model call {round}, attempt {attempt}"))
        }
        Event::Usage { usage, cost, .. } => {
            let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
            Some(format!(
                "  . {} tokens in ({} cached), {} out{cost}",
                usage.input_total(),
                usage.cache_read,
                usage.output
            ))
        }
        Event::Message { message } if message.role == Role::Assistant => thought(message),
        Event::CallFinished { name, is_error: false, summary, millis, .. } => {
            Some(format!("  < {}: {} ({})", short(name), one_line(summary), seconds(*millis)))
        }
        Event::HookFinished { event, hook, millis, end: HookEnd::Continued, .. } => {
            Some(format!("  . the {event} hook `{hook}` took {}", seconds(*millis)))
        }
        _ => None,
    }
}

/// What the model thought before it spoke.
fn thought(message: &Message) -> Option<String> {
    let thoughts = message.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thinking) if !thinking.text.trim().is_empty() => {
            Some(format!("  ? {}", truncate_chars(thinking.text.trim(), THOUGHT_CHARS_MAX)))
        }
        _ => None,
    });
    let thoughts: Vec<String> = thoughts.collect();
    (!thoughts.is_empty()).then(|| thoughts.join("\n"))
}

/// A tool's name. A model may have made one up, of any length.
fn short(name: &str) -> String {
    truncate_chars(&one_line(name), NAME_CHARS_MAX).into_owned()
}

fn seconds(millis: u64) -> String {
    format!("{:.1} s", millis as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use heeler_core::ProviderErrorKind;

    use super::*;

    #[test]
    fn an_attempt_that_failed_is_one_sentence() {
        let mut seen = String::new();
        for (message, wait) in [("It was cut", 1500), ("No credit.\nCheck the account.", 0)] {
            let event = Event::Retry {
                attempt: 1,
                kind: ProviderErrorKind::Network,
                message: message.into(),
                wait_millis: Some(wait),
            };
            seen += &(progress(&event).unwrap() + "\n");
        }
        expect![[r#"
              ~ It was cut; again in 1.5 s
              ~ No credit.
            Check the account; again at once
        "#]]
        .assert_eq(&seen);
    }
}
