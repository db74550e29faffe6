//! What somebody has to answer: permission requests and questions of tools, one after the other.

mod parts;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use heeler_core::{
    AgentPath, CallId, Decision, Mode, OpenPermission, PermissionId, PermissionReason, Question,
    RawJson,
};
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::Action;
use super::draw::composer_styles;
use crate::composer::{Answer, Composer, ComposerSettings, KeyStyle};
use crate::text::wrap;
use crate::transcript::Look;
use parts::{Chosen, Parts};
use shown::{Choice, Said};

/// The most rows of a composer within a prompt.
const WRITTEN_ROWS_MAX: u16 = 8;

/// The open prompts, the oldest first; the first one is shown.
#[derive(Default)]
pub(super) struct Prompts {
    open: VecDeque<Prompt>,
    revision: u64,
    /// Whose keys edit what is written within a prompt.
    keys: KeyStyle,
    /// Whether what is written there is in an editor.
    is_in_editor: bool,
}

struct Prompt {
    about: About,
    stage: Stage,
    /// What is in the file that the call would change.
    file: Option<String>,
    /// The parts of that change that can be taken or left, where there are several.
    parts: Option<Parts>,
    /// Whether it was answered here, and only its event is to come.
    is_answered: bool,
}

/// Which prompt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Permission(PermissionId),
    Question(u64),
}

enum About {
    Permission(Box<OpenPermission>),
    Question(u64, Box<Question>),
}

/// What the person does about it.
enum Stage {
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

impl Prompts {
    pub(super) fn new(keys: KeyStyle) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Reads keys in this way from here on.
    pub(super) fn set_keys(&mut self, keys: KeyStyle) {
        self.keys = keys;
        for at in self.open.iter_mut().filter_map(Prompt::written) {
            at.set_keys(keys);
        }
    }

    /// What an editor left, if it was opened on what is written here; gives back what was not.
    pub(super) fn edited(&mut self, text: Option<String>) -> Option<String> {
        if !std::mem::take(&mut self.is_in_editor) {
            return text;
        }
        if let (Some(text), Some(at)) = (text, self.open.front_mut().and_then(Prompt::written)) {
            at.set_text(&text);
        }
        None
    }

    /// The mode of vim's keys where something is written.
    pub(super) fn mode_label(&self) -> Option<&'static str> {
        match &self.open.front()?.stage {
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => at.mode_label(),
            Stage::Chooses | Stage::Parts => None,
        }
    }

    /// Adds a request, in place of an earlier one about the same.
    pub(super) fn request(&mut self, open: OpenPermission) {
        self.revision += 1;
        let parts = Parts::of(&open, None);
        let about = About::Permission(Box::new(open));
        let prompt = Prompt { about, stage: Stage::Chooses, file: None, parts, is_answered: false };
        match self.open.iter_mut().find(|other| other.id() == prompt.id()) {
            Some(other) => *other = prompt,
            None => self.open.push_back(prompt),
        }
    }

    pub(super) fn ask(&mut self, id: u64, question: Box<Question>) {
        self.revision += 1;
        let stage = Stage::Answers(composer(self.keys));
        let about = About::Question(id, question);
        let (file, parts, is_answered) = (None, None, false);
        self.open.push_back(Prompt { about, stage, file, parts, is_answered });
    }

    /// Somebody decided: here, a hook, or another window. Whether nobody had answered it here.
    pub(super) fn decided(&mut self, id: PermissionId) -> bool {
        self.revision += 1;
        let is_it = |prompt: &Prompt| prompt.id() == Some(id);
        let was_unanswered = self.open.iter().any(|prompt| is_it(prompt) && !prompt.is_answered);
        self.open.retain(|prompt| !is_it(prompt));
        was_unanswered
    }

    /// A call that ended waits for nothing.
    pub(super) fn ended(&mut self, agent: &AgentPath, call: CallId) {
        self.revision += 1;
        self.open.retain(|prompt| match &prompt.about {
            About::Permission(open) => open.id.call != call || !agent.is_main(),
            About::Question(_, question) => question.call != call || question.agent != *agent,
        });
    }

    pub(super) fn clear(&mut self) {
        self.revision += 1;
        self.open.clear();
    }

    pub(super) fn clear_requests(&mut self) {
        self.revision += 1;
        self.open.retain(|prompt| prompt.id().is_none());
    }

    /// A decision did not count; the request stays open and says why.
    pub(super) fn object(&mut self, id: PermissionId, why: String) {
        self.revision += 1;
        for prompt in &mut self.open {
            if let About::Permission(open) = &mut prompt.about
                && open.id == id
            {
                open.objection = Some(why.clone());
                prompt.is_answered = false;
                prompt.stage = Stage::Chooses;
            }
        }
    }

    /// Shows the change in its place.
    pub(super) fn set_file(&mut self, id: PermissionId, text: String) {
        self.revision += 1;
        for prompt in &mut self.open {
            if let About::Permission(open) = &prompt.about
                && open.id == id
            {
                prompt.parts = Parts::of(open, Some(&text));
                prompt.file = Some(text);
                break;
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The one that is shown.
    pub(super) fn shown(&self) -> Option<Asked> {
        self.open.front().map(|prompt| match &prompt.about {
            About::Permission(open) => Asked::Permission(open.id),
            About::Question(id, _) => Asked::Question(*id),
        })
    }

    /// Whether more are open than the one that is shown.
    pub(super) fn has_more(&self) -> bool {
        self.open.len() > 1
    }

    /// Whether keys write within it.
    pub(super) fn is_written_in(&self) -> bool {
        let stage = self.open.front().map(|prompt| &prompt.stage);
        matches!(stage, Some(Stage::Denies(_) | Stage::Edits(_) | Stage::Answers(_)))
    }

    /// Takes a key; `None` when it is none of a prompt's.
    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Vec<Action>> {
        let prompt = self.open.front_mut()?;
        if prompt.is_answered {
            return None;
        }
        let actions = prompt.key(key, self.keys)?;
        self.is_in_editor = actions.iter().any(|action| matches!(action, Action::Edit(_)));
        prompt.is_answered = actions.iter().any(|action| matches!(action, Action::Decide(..)));
        // A decision takes the request away with its event; a question is answered once and for all.
        if actions.iter().any(|action| matches!(action, Action::Answer(..))) {
            self.open.pop_front();
        }
        Some(actions)
    }

    /// Takes a paste, where something is written.
    pub(super) fn pasted(&mut self, text: &str) -> bool {
        let at = self.open.front_mut().and_then(Prompt::written);
        at.map(|at| at.paste(text)).is_some()
    }

    /// Its lines, in so many rows if that can be, and where the cursor stands within them; while it
    /// takes no keys, it says so in the place of them.
    pub(super) fn lines(
        &self,
        takes_keys: bool,
        rows: usize,
        look: Look<'_>,
    ) -> (Vec<Line<'static>>, Option<(u16, u16)>) {
        let Some(prompt) = self.open.front() else { return (Vec::new(), None) };
        let (mut folded, mut cursor) = (None, None);
        let keys = match &prompt.stage {
            _ if !takes_keys => {
                vec![Line::styled("  answer when you have stopped writing", look.theme.dim)]
            }
            Stage::Chooses | Stage::Parts => {
                let choices = prompt.choices();
                folded = Some(shown::folded(&choices, look));
                shown::keys(&choices, look)
            }
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => {
                let styles = composer_styles(look.theme);
                let width = u16::try_from(look.width).unwrap_or(u16::MAX);
                let rows = u16::try_from(rows / 2).unwrap_or(u16::MAX);
                let mut drawn = at.lines(width, rows.clamp(1, WRITTEN_ROWS_MAX), &styles);
                cursor = Some(drawn.cursor);
                let hint = Line::styled(prompt.hint(), look.theme.dim);
                drawn.lines.extend(wrap(&hint, look.width, 0));
                drawn.lines
            }
        };
        let n_keys = keys.len();
        let title = prompt.title(self.open.len(), look);
        let lines = shown::arranged(title, prompt.said(look), keys, folded, rows, look);
        let above = u16::try_from(lines.len() - n_keys.min(lines.len())).unwrap_or(u16::MAX);
        (lines, cursor.map(|(column, row)| (column, above.saturating_add(row))))
    }

    /// All that is asked and what the keys mean, however long.
    pub(super) fn whole(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let Some(prompt) = self.open.front() else { return Vec::new() };
        let keys = shown::keys(&prompt.choices(), look);
        let mut lines = vec![Line::default()];
        let title = prompt.title(self.open.len(), look);
        lines.extend(shown::arranged(title, prompt.said(look), keys, None, usize::MAX, look));
        lines
    }

    /// Counts what changed of what is asked.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }
}

impl Prompt {
    fn id(&self) -> Option<PermissionId> {
        match &self.about {
            About::Permission(open) => Some(open.id),
            About::Question(..) => None,
        }
    }

    /// Where something is written.
    fn written(&mut self) -> Option<&mut Composer> {
        match &mut self.stage {
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => Some(at),
            Stage::Chooses | Stage::Parts => None,
        }
    }

    fn key(&mut self, key: KeyEvent, style: KeyStyle) -> Option<Vec<Action>> {
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
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
                    let reason = Some(submission.text.trim().to_owned());
                    Some(self.decide(Decision::Deny { reason: reason.filter(|r| !r.is_empty()) }))
                }
                Answer::Ignored if key.code == KeyCode::Enter => {
                    Some(self.decide(Decision::Deny { reason: None }))
                }
                Answer::OpenEditor(text) => Some(vec![Action::Edit(text)]),
                Answer::Ignored => None,
                _ => Some(Vec::new()),
            },
            Stage::Edits(at) => match at.key(key) {
                Answer::Submit(submission) => Some(self.edited(&submission.text)),
                Answer::OpenEditor(text) => Some(vec![Action::Edit(text)]),
                Answer::Ignored => None,
                _ => Some(Vec::new()),
            },
            Stage::Answers(at) => {
                let About::Question(id, question) = &self.about else { return None };
                match at.key(key) {
                    Answer::Submit(submission) => {
                        let answer = chosen_answer(question, submission.text.trim());
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
                }
                return Some(Vec::new());
            }
            ('e', _) if !leaves_plan => {
                let mut at = composer(style);
                at.set_text(&editable(&open.input));
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
    fn edited(&mut self, text: &str) -> Vec<Action> {
        let About::Permission(open) = &mut self.about else { return Vec::new() };
        match with_edit(&open.input, text) {
            Ok(input) => self.decide(Decision::Edited { input }),
            Err(why) => {
                open.objection = Some(why);
                Vec::new()
            }
        }
    }

    /// What Enter and Esc do where something is written.
    fn hint(&self) -> &'static str {
        match self.stage {
            Stage::Denies(_) => "Enter: deny with this reason, or with none · Esc: back",
            Stage::Edits(_) => "Enter: run this instead · Esc: back",
            _ => "Enter: answer, or with nothing let the model decide · Esc: stop the turn",
        }
    }

    fn title(&self, n_open: usize, look: Look<'_>) -> Line<'static> {
        let title = match &self.about {
            About::Permission(open) => shown::title(open),
            About::Question(..) => "The model asks".to_owned(),
        };
        let mut spans = vec![Span::styled(format!("? {title}"), look.theme.accent)];
        if n_open > 1 {
            spans.push(Span::styled(format!("  (1 of {n_open})"), look.theme.dim));
        }
        Line::from(spans)
    }

    fn said(&self, look: Look<'_>) -> Said {
        match (&self.about, &self.stage, &self.parts) {
            (About::Permission(_), Stage::Parts, Some(parts)) => shown::part(parts, look),
            (About::Permission(open), ..) => shown::permission(open, self.file.as_deref(), look),
            (About::Question(_, question), ..) => shown::question(question, look),
        }
    }

    fn choices(&self) -> Vec<Choice> {
        let About::Permission(open) = &self.about else { return Vec::new() };
        match (&self.stage, &self.parts) {
            (Stage::Parts, Some(_)) => shown::part_choices(),
            (_, parts) => shown::choices(open, parts.as_ref().map(Parts::len)),
        }
    }
}

/// Where something is written within a prompt.
fn composer(keys: KeyStyle) -> Box<Composer> {
    Box::new(Composer::new(ComposerSettings { keys, ..ComposerSettings::default() }))
}

/// What a person edits of an input: a command by itself, everything else as JSON.
fn editable(input: &RawJson) -> String {
    let value = input.value();
    match command(&value) {
        Some(command) => command.to_owned(),
        None => serde_json::to_string_pretty(&value).unwrap_or_else(|_| input.get().to_owned()),
    }
}

/// The command of an input that is little else.
fn command(input: &Value) -> Option<&str> {
    input.get("command")?.as_str()
}

/// # Errors
/// When it is no JSON, where it has to be.
fn with_edit(input: &RawJson, text: &str) -> Result<RawJson, String> {
    let mut value = input.value();
    let json = match value.get_mut("command").filter(|command| command.is_string()) {
        Some(command) => {
            *command = Value::String(text.to_owned());
            value.to_string()
        }
        None => text.to_owned(),
    };
    RawJson::parse(&json).map_err(|error| format!("that is not usable as an input: {error}"))
}

/// A number chooses; anything else is the answer itself.
fn chosen_answer(question: &Question, text: &str) -> String {
    let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match number.and_then(|index| question.choices.get(index)) {
        Some(choice) => choice.clone(),
        None => text.to_owned(),
    }
}
