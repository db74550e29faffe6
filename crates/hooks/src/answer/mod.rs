//! What a hook means: its exit code, and the JSON or text it wrote.

mod misplaced;

use heeler_core::{HookEvent, HookOutcome, HookVerdict, RawJson, from_json, truncate_chars};
use heeler_sandbox::Exit;
use serde::Deserialize;
use serde_json::Value;

use crate::process::HOOK_OUTPUT_BYTES_MAX;

/// The exit code that blocks.
const BLOCKS: i32 = 2;
/// The most characters of what a broken hook wrote that people are shown.
const COMPLAINT_CHARS_MAX: usize = 500;

/// What a hook wrote, and how it ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) exit: Exit,
    pub(crate) output: &'a str,
    pub(crate) errors: &'a str,
    /// It wrote more output than is kept.
    pub(crate) is_cut: bool,
    /// What it wrote is UTF-8 without null bytes.
    pub(crate) is_text: bool,
}

/// The outcome of one hook, called `by`.
pub(crate) fn read(event: HookEvent, by: &str, said: Said<'_>) -> HookOutcome {
    // Some programs begin all that they write with a mark of its encoding.
    let output = said.output.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    let output = output.trim_end();
    match said.exit {
        Exit::Code(0) if said.is_cut && event.guards() => {
            broken(by, format!("it wrote more than {HOOK_OUTPUT_BYTES_MAX} bytes"))
        }
        // In another encoding a denial would look like words that mean nothing.
        Exit::Code(0) if !said.is_text && event.guards() => {
            broken(by, "its output is no UTF-8 text".to_owned())
        }
        Exit::Code(0) if output.starts_with('{') => match from_json(output) {
            Ok(answer) => match misplaced_in(event, output) {
                Some(name) => {
                    broken(by, format!("its `{name}` stands where nothing is decided by it"))
                }
                None => Reading { event, by }.read(answer),
            },
            Err(_) if text_counts(event) && !is_json(output) => text(event, output),
            Err(error) => broken(by, format!("its output cannot be read as an answer: {error}")),
        },
        Exit::Code(0) if event.guards() && hides_answer(output) => {
            broken(by, "its output is no answer, and holds what looks like one".to_owned())
        }
        Exit::Code(0) => text(event, output),
        Exit::Code(BLOCKS) if can_block(event) => {
            let reason = given(said.errors.trim());
            HookOutcome::of(HookVerdict::Deny { by: by.to_owned(), reason })
        }
        Exit::Code(BLOCKS) => {
            let notices = vec![format!("the hook `{by}`: {}", given(said.errors.trim()))];
            HookOutcome { notices, ..HookOutcome::default() }
        }
        exit => {
            let complaint = match said.errors.trim() {
                "" => output,
                errors => errors,
            };
            let complaint = truncate_chars(complaint, COMPLAINT_CHARS_MAX);
            let says = if complaint.is_empty() { "" } else { ": " };
            broken(by, format!("it ended with {exit}{says}{complaint}"))
        }
    }
}

/// A hook that gave no answer that can be heeded.
pub(crate) fn broken(by: &str, why: String) -> HookOutcome {
    HookOutcome::of(HookVerdict::Broken { by: by.to_owned(), why })
}

/// What decides nothing in an answer on which a call hangs, though it was meant to.
fn misplaced_in(event: HookEvent, output: &str) -> Option<String> {
    let answer: Value = event.guards().then(|| from_json(output).ok()).flatten()?;
    misplaced::misplaced(event, &answer)
}

/// Whether a text that begins with a brace is meant as JSON, which may be cut or broken.
fn is_json(output: &str) -> bool {
    let behind = output.trim_start_matches('{').trim_start();
    behind.is_empty() || behind.starts_with(['"', '}'])
}

/// Words of an answer that decide.
const DECIDING: [&str; 5] =
    ["hookSpecificOutput", "permissionDecision", "decision", "behavior", "continue"];

/// Whether there is JSON behind other output, or within a list, or what decides behind anything at
/// all, such as a colour.
fn hides_answer(output: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let mut lines = output.lines().map(|line| line.trim_start_matches(is_blank));
    let is_list = output
        .strip_prefix('[')
        .is_some_and(|list| list.trim_start().starts_with(['{', '[', '"', ']']));
    is_list || lines.any(|line| line.starts_with('{')) || names_decision(output)
}

/// Whether a field that decides is named behind a brace.
fn names_decision(output: &str) -> bool {
    let Some((_, behind)) = output.split_once('{') else { return false };
    DECIDING.iter().any(|name| {
        behind.match_indices(name).any(|(at, name)| {
            let (before, after) = (&behind[..at], &behind[at + name.len()..]);
            before.ends_with(['"', '\'']) && after.starts_with(['"', '\'', '\\'])
        })
    })
}

/// Whether plain text is for the model.
fn text_counts(event: HookEvent) -> bool {
    matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit | HookEvent::PreCompact)
}

fn text(event: HookEvent, output: &str) -> HookOutcome {
    let context = match text_counts(event) && !output.is_empty() {
        true => vec![output.to_owned()],
        false => Vec::new(),
    };
    HookOutcome { context, ..HookOutcome::default() }
}

/// Whether there is anything that such a hook can keep from happening, or object to.
fn can_block(event: HookEvent) -> bool {
    !matches!(event, HookEvent::SessionStart | HookEvent::SubagentStart | HookEvent::SessionEnd)
}

fn given(reason: &str) -> String {
    match reason {
        "" => "it gave no reason".to_owned(),
        reason => reason.to_owned(),
    }
}

/// The JSON of an answer. What it does not name here is of no concern.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    decision: Option<PermissionDecision>,
}

/// The answer of a hook on permission requests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionDecision {
    behavior: String,
    message: Option<String>,
    #[serde(default)]
    interrupt: bool,
    updated_input: Option<Value>,
}

struct Reading<'a> {
    event: HookEvent,
    by: &'a str,
}

impl Reading<'_> {
    fn read(&self, mut answer: Answer) -> HookOutcome {
        let mut specific = answer.hook_specific_output.take().unwrap_or_default();
        let input = specific.updated_input.take();
        let context = specific.additional_context.take().into_iter().collect();
        let notices = answer.system_message.take().into_iter().collect();
        let (verdict, input) = match self.verdict(answer, specific, input) {
            Ok(verdict) => verdict,
            Err(why) => return HookOutcome { notices, ..broken(self.by, why) },
        };
        HookOutcome { verdict, input, context, notices }
    }

    fn verdict(
        &self,
        answer: Answer,
        specific: Specific,
        input: Option<Value>,
    ) -> Result<(HookVerdict, Option<RawJson>), String> {
        if let Some(name) = specific.hook_event_name.as_deref()
            && name != self.event.name()
        {
            return Err(format!("it answered about {name}, and was asked about {}", self.event));
        }
        if answer.goes_on == Some(false) && can_block(self.event) {
            let reason = given(answer.stop_reason.as_deref().unwrap_or_default().trim());
            return Ok((HookVerdict::Stop { by: self.by.to_owned(), reason }, None));
        }
        let verdict = match self.event {
            HookEvent::PreToolUse => self.before_call(answer, specific)?,
            HookEvent::PermissionRequest => self.about_request(answer, specific)?,
            _ => match answer.decision.as_deref() {
                Some("block") if can_block(self.event) => self.deny(answer.reason),
                None | Some("approve" | "block") => HookVerdict::Continue,
                Some(other) => return Err(unknown("decision", other)),
            },
        };
        match input {
            Some(input @ Value::Object(_)) if self.event == HookEvent::PreToolUse => {
                let input = RawJson::parse(&input.to_string())
                    .map_err(|error| format!("the input it wants cannot be used: {error}"))?;
                Ok((verdict, Some(input)))
            }
            Some(_) if self.event == HookEvent::PreToolUse => {
                Err("the input it wants is no object".to_owned())
            }
            _ => Ok((verdict, None)),
        }
    }

    fn before_call(&self, answer: Answer, specific: Specific) -> Result<HookVerdict, String> {
        let by = self.by.to_owned();
        let reason = specific.permission_decision_reason;
        let verdict = match specific.permission_decision.as_deref() {
            Some("allow") => HookVerdict::Allow { by, reason },
            Some("deny") => self.deny(reason),
            // To put a call off is to leave it to a person.
            Some("ask" | "defer") => HookVerdict::Ask { by, reason },
            Some(other) => return Err(unknown("permissionDecision", other)),
            None => HookVerdict::Continue,
        };
        Ok(stricter(verdict, self.in_old_words(answer)?))
    }

    fn about_request(&self, answer: Answer, specific: Specific) -> Result<HookVerdict, String> {
        let old = self.in_old_words(answer)?;
        let Some(decision) = specific.decision else { return Ok(old) };
        if decision.updated_input.is_some() {
            return Err("it changes the input, which only hooks before a call can".to_owned());
        }
        let by = self.by.to_owned();
        let verdict = match decision.behavior.as_str() {
            "allow" => HookVerdict::Allow { by, reason: decision.message },
            "deny" if decision.interrupt => {
                let reason = given(decision.message.as_deref().unwrap_or_default().trim());
                HookVerdict::Stop { by, reason }
            }
            "deny" => self.deny(decision.message),
            other => return Err(unknown("behavior", other)),
        };
        Ok(stricter(verdict, old))
    }

    /// The decision at the top, which hooks had before they could say more.
    fn in_old_words(&self, answer: Answer) -> Result<HookVerdict, String> {
        match answer.decision.as_deref() {
            None => Ok(HookVerdict::Continue),
            Some("approve" | "allow") => {
                Ok(HookVerdict::Allow { by: self.by.to_owned(), reason: answer.reason })
            }
            Some("block" | "deny") => Ok(self.deny(answer.reason)),
            Some(other) => Err(unknown("decision", other)),
        }
    }

    fn deny(&self, reason: Option<String>) -> HookVerdict {
        let reason = given(reason.as_deref().unwrap_or_default().trim());
        HookVerdict::Deny { by: self.by.to_owned(), reason }
    }
}

/// Of two decisions of one answer the one that lets less through.
fn stricter(one: HookVerdict, other: HookVerdict) -> HookVerdict {
    HookOutcome::of(one).join(HookOutcome::of(other)).verdict
}

fn unknown(field: &str, value: &str) -> String {
    format!("its {field} `{}` means nothing", truncate_chars(value, 40))
}

#[cfg(test)]
mod tests;
