//! What stands beside a summary, whatever the model wrote in it: the user's last message, the open
//! steps, the files touched.
//!
//! [`Facts::of`] and [`message`] are part of the fold, so what they make of the same conversation
//! and the same numbers never changes; the tests hold their words. Each of the lines begins with
//! what it is, so that a later compaction finds them again and carries them on, whoever said what.

use heeler_core::{Kept, Message, Messages, RawJson, Role, truncate_chars};
use serde::Deserialize;

use crate::bugs::{Bug, is_on};
use crate::touched::{self, Touched};
use crate::{compact, trim, words};

/// How much is kept, the most first; a summary gains less by it, and has to gain something. What the
/// user said last is never given up for that: it is little, and nothing else has it.
pub(crate) const BOUNDS: [Kept; 3] = [
    Kept { said_chars_max: 4000, steps_max: 20, files_max: 30 },
    Kept { said_chars_max: 500, steps_max: 5, files_max: 10 },
    Kept { said_chars_max: 500, steps_max: 0, files_max: 0 },
];

/// Where the list of steps stands in the session's values.
pub(crate) const STEPS_KEY: &str = "todo";
/// How the line of an open step begins, and that of how many more there are.
const STEP_MARKS: [&str; 3] = ["[ ] ", "[>] ", "(and "];
/// The most characters of one step.
const STEP_CHARS_MAX: usize = 200;

const HEADING: &str = "[Kept beside the summary, word for word]";
/// The same where somebody else says it.
const HEADING_SAID: &str = "(Kept beside the summary, word for word)";
const SAID: &str = "The user's last message:";
const STEPS: &str = "Open steps:";
const FILES: &str = "Files touched, the latest last:";
const CHANGED: &str = " (changed)";
const READ: &str = " (read)";

/// What is known of a conversation's head without asking a model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    said: Option<String>,
    steps: Vec<String>,
    files: Vec<Touched>,
}

impl Facts {
    /// What the first `cut` messages hold that the others do not, and the open ones of `steps`.
    pub(crate) fn of(messages: &Messages, cut: usize, steps: Option<&RawJson>) -> Self {
        let earlier = messages.first().map(|first| first.text());
        let earlier = earlier.as_deref().and_then(compact::summary_of);
        // A note is what is left of many messages: what stands last in it is not what was said last.
        let earlier = earlier.filter(|summary| !trim::is_note(summary));
        let earlier = earlier.and_then(Self::read).unwrap_or_default();
        let mut files = earlier.files;
        touched::add(messages.iter().take(cut), &mut files);
        let said = match messages.iter().rposition(|message| said_in(message).is_some()) {
            Some(at) if at >= cut => None,
            Some(at) => messages.get(at).and_then(|message| said_in(message)),
            None => earlier.said.filter(|_| !is_on(Bug::ForgottenWords)),
        };
        Self { said, steps: steps.map(open_steps).unwrap_or_default(), files }
    }

    /// What an earlier summary's text says beside the summary.
    fn read(text: &str) -> Option<Self> {
        let (_, lines) = text.rsplit_once(&format!("\n\n{HEADING}\n"))?;
        Self::of_lines(lines)
    }

    /// What [`lines`](Self::lines) says; `None` when it never said so.
    fn of_lines(lines: &str) -> Option<Self> {
        let mut facts = Self::default();
        let mut section = "";
        for line in lines.split('\n') {
            match (section, line) {
                (_, SAID | STEPS | FILES) => section = line,
                (SAID, line) => {
                    let line = line.strip_prefix('>')?;
                    let line = line.strip_prefix(' ').unwrap_or(line);
                    match &mut facts.said {
                        Some(said) => {
                            said.push('\n');
                            said.push_str(line);
                        }
                        said => *said = Some(line.to_owned()),
                    }
                }
                // They are taken from where they stand, which may have changed.
                (STEPS, line) => {
                    STEP_MARKS.iter().any(|mark| line.starts_with(mark)).then_some(())?;
                }
                (FILES, line) => {
                    let file = line.strip_prefix("- ")?;
                    let changed = file.strip_suffix(CHANGED);
                    let path = changed.or_else(|| file.strip_suffix(READ))?.to_owned();
                    touched::join(
                        &mut facts.files,
                        Touched { path, is_changed: changed.is_some() },
                    );
                }
                _ => return None,
            }
        }
        Some(facts)
    }

    /// As lines, with a heading; empty when there is nothing.
    fn lines(&self, how: &Kept) -> Vec<String> {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut lines = Vec::new();
        if let Some(said) = self.said.as_ref().filter(|_| how.said_chars_max > 0) {
            lines.push(SAID.to_owned());
            let said = trim::shortened(said, size(how.said_chars_max));
            lines.extend(said.split('\n').map(|line| match line {
                "" => ">".to_owned(),
                line => format!("> {line}"),
            }));
        }
        let steps = self.steps.iter().take(size(how.steps_max));
        lines.extend(steps.len().gt(&0).then(|| STEPS.to_owned()));
        lines.extend(steps.cloned());
        let more = self.steps.len().saturating_sub(size(how.steps_max));
        if how.steps_max > 0 && more > 0 {
            lines.push(format!("(and {more} more)"));
        }
        let files = self.files.iter().skip(self.files.len().saturating_sub(size(how.files_max)));
        lines.extend(files.len().gt(&0).then(|| FILES.to_owned()));
        lines.extend(files.map(|file| {
            format!("- {}{}", file.path, if file.is_changed { CHANGED } else { READ })
        }));
        if !lines.is_empty() {
            lines.insert(0, HEADING.to_owned());
        }
        lines
    }
}

/// The message a summary becomes, with what is kept beside it.
pub(crate) fn message(summary: &str, facts: &Facts, how: &Kept) -> Message {
    let own = own_words(summary);
    let lines = facts.lines(how);
    match lines.is_empty() {
        true => compact::summary_message(&own),
        false => compact::summary_message(&format!("{own}\n\n{}", lines.join("\n"))),
    }
}

/// A summary without what stood beside an earlier one, which a model may copy: that is not said
/// twice. The heading anywhere else is no heading.
pub(crate) fn own_words(summary: &str) -> String {
    let summary = summary.trim_end();
    let own = summary.rsplit_once(HEADING).filter(|(_, lines)| {
        lines.is_empty() || lines.strip_prefix('\n').and_then(Facts::of_lines).is_some()
    });
    let own = own.map_or(summary, |(own, _)| own.trim_end());
    own.replace(HEADING, HEADING_SAID)
}

/// What a message of the user says, if they say anything: a summary, what work in the background
/// came to, and why a turn may not end yet are nobody's words.
pub(crate) fn said_in(message: &Message) -> Option<String> {
    if message.role != Role::User || compact::is_summary(message) {
        return None;
    }
    let text = message.text();
    let is_ours = words::is_of_background(&text) || words::is_end_refused(&text);
    (!text.trim().is_empty() && !is_ours).then_some(text)
}

/// The steps that are not done, a line each.
fn open_steps(list: &RawJson) -> Vec<String> {
    #[derive(Deserialize)]
    struct Step {
        content: String,
        status: String,
    }
    let steps: Vec<Step> = serde_json::from_str(list.get()).unwrap_or_default();
    let open = |step: Step| {
        let mark = match step.status.as_str() {
            "pending" => ' ',
            "in_progress" => '>',
            _ => return None,
        };
        let words: Vec<&str> = step.content.split_whitespace().collect();
        Some(format!("[{mark}] {}", truncate_chars(&words.join(" "), STEP_CHARS_MAX)))
    };
    steps.into_iter().filter_map(open).collect()
}

#[cfg(test)]
mod tests;
