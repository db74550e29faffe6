//! One prompt: which key does what about it, and what it says.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use heeler_core::{
    Decision, Mode, OpenPermission, PermissionId, PermissionReason, Question, RawJson,
};
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::parts::{Chosen, Parts};
use super::shown::{self, Choice, Said};
use crate::app::Action;
use crate::composer::{Answer, Composer, ComposerSettings, Draft, KeyStyle, Submission};
use crate::transcript::{Look, is_command_alone};

/// What is asked, and how far the person is.
pub(super) struct Prompt {
    pub(super) about: About,
    pub(super) stage: Stage,
    /// What is in the file that the call would change.
    pub(super) file: Option<String>,
    /// The parts of that change that can be taken or left, where there are several.
    pub(super) parts: Option<Parts>,
    /// Whether all of it was opened, as it is shown now.
    pub(super) is_looked_at: bool,
    /// Whether it was answered here, and only its event is to come.
    pub(super) is_answered: bool,
    /// What was written for that answer: why not, or what is to run instead.
    pub(super) words: Option<Draft>,
}

pub(super) enum About {
    Permission(Box<OpenPermission>),
    Question(u64, Box<Question>),
}

/// What the person does about it.
pub(super) enum Stage {
    /// Presses a key.
    Chooses,
    /// Takes or leaves the parts of the change, one after the other.
    Parts,
    /// Writes why not.
    Denies(Box<Composer>),
    /// Writes what is to run instead.
    Edits(Box<Composer>),
    /// Writes an answer.
    Answers(Box<Composer>),
}

/// What a key is at a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Means {
    /// It answers, or opens what is written there.
    Answer,
    /// The same, and it gives a rule.
    Rule,
    /// A letter of something else: who writes it does not answer.
    Letter,
    /// What a prompt does with it is done at once.
    Step,
}

impl Prompt {
    pub(super) fn new(about: About, stage: Stage) -> Self {
        let (file, parts, words) = (None, None, None);
        Self { about, stage, file, parts, is_looked_at: false, is_answered: false, words }
    }

    pub(super) fn id(&self) -> Option<PermissionId> {
        match &self.about {
            About::Permission(open) => Some(open.id),
            About::Question(..) => None,
        }
    }

    /// Where something is written.
    pub(super) fn written(&mut self) -> Option<&mut Composer> {
        match &mut self.stage {
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => Some(at),
            Stage::Chooses | Stage::Parts => None,
        }
    }

    /// What somebody began to write and did not send: nothing yet, too, and of what was there to be
    /// edited only what is otherwise now. What they sent, as long as nobody took it.
    pub(super) fn begun(&mut self) -> Option<Draft> {
        let original = match (&self.about, &self.stage) {
            _ if self.is_answered => return self.words.take(),
            (About::Permission(open), Stage::Edits(_)) => Some(editable(&open.tool, &open.input)),
            _ => None,
        };
        let draft = self.written()?.draft();
        Some(if original == Some(draft.text()) { Draft::default() } else { draft })
    }

    pub(super) fn means(&self, key: KeyEvent) -> Means {
        let KeyCode::Char(c) = key.code else { return Means::Step };
        if self.is_answered || !is_plain(key) {
            return Means::Step;
        }
        let c = c.to_ascii_lowercase();
        let is_choice = || self.choices().iter().any(|(choice, _)| choice.chars().eq([c]));
        match (&self.stage, &self.parts) {
            (Stage::Denies(_) | Stage::Edits(_) | Stage::Answers(_), _) => Means::Step,
            _ if !is_choice() => Means::Letter,
            (Stage::Parts, Some(parts)) if !parts.is_decided_by(c) => Means::Step,
            // A no with what is behind it as its reason, and nothing is done yet.
            (Stage::Chooses, _) if c == 'n' => Means::Step,
            (Stage::Chooses, _) if matches!(c, 's' | 'a') => Means::Rule,
            (Stage::Chooses | Stage::Parts, _) => Means::Answer,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, style: KeyStyle) -> Option<Vec<Action>> {
        let is_plain = is_plain(key);
        match &mut self.stage {
            Stage::Chooses => match key.code {
                KeyCode::Char(c) if is_plain => self.chosen(c.to_ascii_lowercase(), style),
                _ => None,
            },
            Stage::Parts => match key.code {
                KeyCode::Char(c) if is_plain => {
                    Some(self.part_chosen(c.to_ascii_lowercase(), style))
                }
                KeyCode::Esc => {
                    self.stage = Stage::Chooses;
                    self.is_looked_at = false;
                    Some(Vec::new())
                }
                _ => None,
            },
            Stage::Denies(at) | Stage::Edits(at) if key.code == KeyCode::Esc => {
                // In vim's insert mode, Esc is the composer's own.
                if matches!(at.key(key), Answer::Ignored) {
                    self.stage = Stage::Chooses;
                }
                Some(Vec::new())
            }
            Stage::Denies(at) => match at.key(key) {
                Answer::Submit(submission) => {
                    let reason = submission.text.trim();
                    // Who writes `no` whole says no more than its first letter, which is the key.
                    let is_reason = !reason.is_empty() && !reason.eq_ignore_ascii_case("o");
                    let reason = is_reason.then(|| reason.to_owned());
                    self.words = Some(submission.draft);
                    Some(self.decide(Decision::Deny { reason }))
                }
                Answer::Ignored if key.code == KeyCode::Enter => {
                    Some(self.decide(Decision::Deny { reason: None }))
                }
                Answer::OpenEditor(text) => Some(vec![Action::Edit(text)]),
                Answer::Ignored => None,
                _ => Some(Vec::new()),
            },
            Stage::Edits(at) => match at.key(key) {
                Answer::Submit(submission) => Some(self.edited(submission)),
                Answer::OpenEditor(text) => Some(vec![Action::Edit(text)]),
                Answer::Ignored => None,
                _ => Some(Vec::new()),
            },
            Stage::Answers(at) => {
                let About::Question(id, _) = &self.about else { return None };
                match at.key(key) {
                    Answer::Submit(submission) => {
                        // Whoever asked knows which choice a number is.
                        let answer = submission.text.trim().to_owned();
                        Some(vec![Action::Answer(*id, Some(answer))])
                    }
                    Answer::Ignored if key.code == KeyCode::Enter => {
                        Some(vec![Action::Answer(*id, None)])
                    }
                    Answer::OpenEditor(text) => Some(vec![Action::Edit(text)]),
                    Answer::Ignored => None,
                    _ => Some(Vec::new()),
                }
            }
        }
    }

    /// Whether this key has something run.
    pub(super) fn allows(&self, key: KeyEvent) -> bool {
        let KeyCode::Char(c) = key.code else { return false };
        match self.stage {
            Stage::Chooses => is_plain(key) && matches!(c.to_ascii_lowercase(), 'y' | 's' | 'a'),
            Stage::Parts => is_plain(key) && matches!(c.to_ascii_lowercase(), 'y' | 'a'),
            _ => false,
        }
    }

    fn chosen(&mut self, key: char, style: KeyStyle) -> Option<Vec<Action>> {
        let About::Permission(open) = &self.about else { return None };
        let leaves_plan = matches!(open.reason, PermissionReason::LeavePlan { .. });
        let offer = open.offer.clone();
        let decision = match (key, offer) {
            ('y', _) if leaves_plan => Decision::LeavePlan { mode: Mode::Ask },
            ('a', _) if leaves_plan => Decision::LeavePlan { mode: Mode::AcceptEdits },
            ('y', _) => Decision::Once,
            ('s', Some(rule)) if !leaves_plan => Decision::Session { rule },
            ('a', Some(rule)) if !leaves_plan => Decision::Always { rule },
            ('d', _) => Decision::DenyAndStop { reason: None },
            ('n', _) => {
                self.deny(style);
                return Some(Vec::new());
            }
            ('h', _) => {
                if let Some(parts) = &mut self.parts {
                    parts.restart();
                    self.stage = Stage::Parts;
                    self.is_looked_at = false;
                }
                return Some(Vec::new());
            }
            ('e', _) if !leaves_plan => {
                let mut at = composer(style);
                at.set_text(&editable(&open.tool, &open.input));
                self.stage = Stage::Edits(at);
                return Some(Vec::new());
            }
            _ => return Some(Vec::new()),
        };
        Some(self.decide(decision))
    }

    fn part_chosen(&mut self, key: char, style: KeyStyle) -> Vec<Action> {
        let (takes, rest) = match key {
            'y' => (true, false),
            'n' => (false, false),
            'a' => (true, true),
            'd' => (false, true),
            _ => return Vec::new(),
        };
        let About::Permission(open) = &self.about else { return Vec::new() };
        let Some(parts) = &mut self.parts else { return Vec::new() };
        self.is_looked_at = false;
        match parts.choose(takes, rest, open) {
            Chosen::Next => Vec::new(),
            Chosen::All => self.decide(Decision::Once),
            Chosen::Some(input) => self.decide(Decision::Edited { input }),
            Chosen::None => {
                self.deny(style);
                Vec::new()
            }
        }
    }

    /// Asks for the reason.
    fn deny(&mut self, style: KeyStyle) {
        self.stage = Stage::Denies(composer(style));
    }

    fn decide(&self, decision: Decision) -> Vec<Action> {
        self.id().map(|id| Action::Decide(id, decision)).into_iter().collect()
    }

    /// What was written in place of the input.
    fn edited(&mut self, submission: Submission) -> Vec<Action> {
        let About::Permission(open) = &mut self.about else { return Vec::new() };
        match with_edit(&open.tool, &open.input, &submission.text) {
            Ok(input) => {
                self.words = Some(submission.draft);
                self.decide(Decision::Edited { input })
            }
            Err(why) => {
                open.objection = Some(why);
                self.write_again(submission.draft);
                Vec::new()
            }
        }
    }

    /// Writes on with what did not count.
    fn write_again(&mut self, draft: Draft) {
        if let Stage::Edits(at) = &mut self.stage {
            at.set_draft(draft);
        }
    }

    /// It does not count, and this is why.
    pub(super) fn object(&mut self, why: String) {
        let About::Permission(open) = &mut self.about else { return };
        open.objection = Some(why);
        self.is_answered = false;
        match self.words.take() {
            Some(draft) => self.write_again(draft),
            None => self.stage = Stage::Chooses,
        }
    }

    /// What stands before what is written here, where there are words for everything.
    pub(super) fn mark(&self) -> &'static str {
        match self.stage {
            Stage::Denies(_) => "Reason: ",
            Stage::Edits(_) => "Instead: ",
            _ => "Answer: ",
        }
    }

    /// What Enter and Esc do where something is written.
    pub(super) fn hint(&self) -> &'static str {
        match self.stage {
            Stage::Denies(_) => "Enter: deny with this reason, or with none · Esc: back",
            Stage::Edits(_) => "Enter: run this instead · Esc: back",
            _ => "Enter: answer, or with nothing let the model decide · Esc: stop the turn",
        }
    }

    pub(super) fn title(&self, n_open: usize, look: Look<'_>) -> Line<'static> {
        let title = match &self.about {
            About::Permission(open) => shown::title(open),
            About::Question(..) => "The model asks".to_owned(),
        };
        let sign = look.theme.sign("? ", "");
        let mut spans = vec![Span::styled(format!("{sign}{title}"), look.theme.accent)];
        if n_open > 1 {
            spans.push(Span::styled(format!("  (1 of {n_open})"), look.theme.dim));
        }
        Line::from(spans)
    }

    pub(super) fn said(&self, look: Look<'_>) -> Said {
        match (&self.about, &self.stage, &self.parts) {
            (About::Permission(_), Stage::Parts, Some(parts)) => shown::part(parts, look),
            (About::Permission(open), ..) => shown::permission(open, self.file.as_deref(), look),
            (About::Question(_, question), ..) => shown::question(question, look),
        }
    }

    pub(super) fn choices(&self) -> Vec<Choice> {
        let About::Permission(open) = &self.about else { return Vec::new() };
        match (&self.stage, &self.parts) {
            (Stage::Parts, Some(_)) => shown::part_choices(),
            (_, parts) => shown::choices(open, parts.as_ref().map(Parts::len)),
        }
    }
}

fn is_plain(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// Where something is written within a prompt.
pub(super) fn composer(keys: KeyStyle) -> Box<Composer> {
    Box::new(Composer::new(ComposerSettings { keys, ..ComposerSettings::default() }))
}

/// What a person edits of an input: a command by itself, everything else as JSON.
fn editable(tool: &str, input: &RawJson) -> String {
    let value = input.value();
    match value.get("command").and_then(Value::as_str) {
        Some(command) if is_command_alone(tool, &value) => command.to_owned(),
        _ => serde_json::to_string_pretty(&value).unwrap_or_else(|_| input.get().to_owned()),
    }
}

/// # Errors
/// When it is no JSON, where it has to be.
fn with_edit(tool: &str, input: &RawJson, text: &str) -> Result<RawJson, String> {
    let mut value = input.value();
    let is_alone = is_command_alone(tool, &value);
    let command = value.get_mut("command").filter(|command| is_alone && command.is_string());
    let json = match command {
        Some(command) => {
            *command = Value::String(text.to_owned());
            value.to_string()
        }
        None => text.to_owned(),
    };
    RawJson::parse(&json).map_err(|error| format!("that is not usable as an input: {error}"))
}
