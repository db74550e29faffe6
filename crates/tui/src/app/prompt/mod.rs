//! What somebody has to answer: permission requests and questions of tools, one after the other.

#[cfg(test)]
mod meanwhile;
mod one;
mod parts;
#[cfg(test)]
mod room;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crossterm::event::KeyEvent;
use heeler_core::{AgentPath, CallId, OpenPermission, PermissionId, Question};
use ratatui::text::Line;

use super::Action;
use super::draw::composer_styles;
use super::guard::Held;
use crate::composer::{ComposerStyles, Draft, KeyStyle};
use crate::text::wrap;
use crate::transcript::{Look, spoken};
pub(super) use one::Means;
use one::{About, Prompt, Stage, composer};
use parts::Parts;
use shown::Arranged;

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
    cut_off: Option<CutOff>,
}

/// What somebody was writing where it is not asked any more.
pub(super) struct CutOff(pub(super) Draft);

/// Said of what was answered here, until that is in the journal.
const ANSWERED: &str = "answered; not taken yet";
/// The most lines of what is asked that are read aloud; the page has the rest.
const SPOKEN_ROWS_MAX: usize = 40;

/// Which prompt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Permission(PermissionId),
    Question(u64),
}

/// How it stands on the screen.
#[derive(Default)]
pub(super) struct Drawn {
    pub(super) lines: Vec<Line<'static>>,
    /// Where the cursor stands within them.
    pub(super) cursor: Option<(u16, u16)>,
    /// Whether anybody sees what a key would allow.
    pub(super) tells: bool,
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
        let prompt = Prompt { parts, ..Prompt::new(about, Stage::Chooses) };
        match self.open.iter_mut().find(|other| other.id() == prompt.id()) {
            Some(other) => *other = prompt,
            None => self.open.push_back(prompt),
        }
    }

    pub(super) fn ask(&mut self, id: u64, question: Box<Question>) {
        self.revision += 1;
        let stage = Stage::Answers(composer(self.keys));
        self.open.push_back(Prompt::new(About::Question(id, question), stage));
    }

    /// Somebody decided: here, a hook, or another window. Whether nobody had answered it here.
    pub(super) fn decided(&mut self, id: PermissionId, is_own: bool) -> bool {
        let is_it = |prompt: &Prompt| prompt.id() == Some(id);
        if let Some(own) = self.open.iter_mut().find(|prompt| is_own && is_it(prompt)) {
            own.words = None;
        }
        let was_unanswered = self.open.iter().any(|prompt| is_it(prompt) && !prompt.is_answered);
        self.keep(|prompt| !is_it(prompt));
        was_unanswered
    }

    /// A call that ended waits for nothing. Whether it had asked a question that is open here.
    pub(super) fn ended(&mut self, agent: &AgentPath, call: CallId) -> bool {
        let asked = |prompt: &Prompt| match &prompt.about {
            About::Permission(_) => false,
            About::Question(_, question) => question.call == call && question.agent == *agent,
        };
        let had_asked = self.open.iter().any(asked);
        self.keep(|prompt| match &prompt.about {
            About::Permission(open) => open.id.call != call || !agent.is_main(),
            About::Question(..) => !asked(prompt),
        });
        had_asked
    }

    pub(super) fn clear(&mut self) {
        self.keep(|_| false);
    }

    /// The requests are these now.
    pub(super) fn replace_requests(&mut self, requests: impl Iterator<Item = OpenPermission>) {
        let requests: Vec<OpenPermission> = requests.collect();
        // One that somebody is about to answer stays as far as they are.
        self.keep(|prompt| match &prompt.about {
            About::Permission(open) => requests.iter().any(|now| now.id == open.id),
            About::Question(..) => true,
        });
        for open in requests {
            if self.open.iter().all(|prompt| prompt.id() != Some(open.id)) {
                self.request(open);
            }
        }
    }

    /// Keeps these, and what is being written in one of the others.
    fn keep(&mut self, is_kept: impl Fn(&Prompt) -> bool) {
        self.revision += 1;
        let front = self.open.front_mut().filter(|prompt| !is_kept(prompt));
        if let Some(draft) = front.and_then(Prompt::begun) {
            self.is_in_editor = false;
            self.cut_off = Some(CutOff(draft));
        }
        self.open.retain(is_kept);
    }

    /// What was cut off since the last time.
    pub(super) fn cut_off(&mut self) -> Option<CutOff> {
        self.cut_off.take()
    }

    /// A decision did not count; the request stays open and says why.
    pub(super) fn object(&mut self, id: PermissionId, why: String) {
        self.revision += 1;
        if let Some(prompt) = self.open.iter_mut().find(|prompt| prompt.id() == Some(id)) {
            prompt.object(why);
        }
    }

    /// Shows the change in its place.
    pub(super) fn set_file(&mut self, id: PermissionId, text: String) {
        self.revision += 1;
        for prompt in &mut self.open {
            if let About::Permission(open) = &prompt.about
                && open.id == id
            {
                prompt.is_looked_at = false;
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

    /// Whether the one that is shown was answered, and nobody has taken that yet.
    pub(super) fn is_answered(&self) -> bool {
        self.open.front().is_some_and(|prompt| prompt.is_answered)
    }

    /// Whether keys write within it.
    pub(super) fn is_written_in(&self) -> bool {
        let front = self.open.front().filter(|prompt| !prompt.is_answered);
        let stage = front.map(|prompt| &prompt.stage);
        matches!(stage, Some(Stage::Denies(_) | Stage::Edits(_) | Stage::Answers(_)))
    }

    /// What a key is to the one that is shown.
    pub(super) fn means(&self, key: KeyEvent) -> Means {
        self.open.front().map_or(Means::Step, |prompt| prompt.means(key))
    }

    /// Whether this key has something run.
    pub(super) fn allows(&self, key: KeyEvent) -> bool {
        self.open.front().is_some_and(|prompt| prompt.allows(key))
    }

    /// All of the one that is shown is opened.
    pub(super) fn looked_at(&mut self) {
        if let Some(prompt) = self.open.front_mut() {
            prompt.is_looked_at = true;
        }
    }

    /// Whether the reason for a no is being written.
    pub(super) fn denies(&self) -> bool {
        self.open.front().is_some_and(|prompt| matches!(prompt.stage, Stage::Denies(_)))
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
        let front = self.open.front_mut().filter(|prompt| !prompt.is_answered);
        front.and_then(Prompt::written).map(|at| at.paste(text)).is_some()
    }

    /// Its lines, in so many rows if that can be. Its keys stand there when it takes them: before that
    /// their place is empty, and to who writes it is said.
    pub(super) fn lines(&self, held: Option<Held>, rows: usize, look: Look<'_>) -> Drawn {
        let Some(prompt) = self.open.front() else { return Drawn::default() };
        let (mut folded, mut cursor) = (None, None);
        let keys = match &prompt.stage {
            _ if prompt.is_answered => {
                vec![Line::styled(format!("  {ANSWERED}"), look.theme.dim)]
            }
            _ if held == Some(Held::Writes) => {
                vec![Line::styled("  send what you wrote, or clear it, to answer", look.theme.dim)]
            }
            _ if held == Some(Held::Unshown) => {
                vec![Line::styled("  answer in a higher window", look.theme.warning)]
            }
            Stage::Chooses | Stage::Parts => {
                let mut choices = prompt.choices();
                if held == Some(Held::New) {
                    choices.iter_mut().for_each(|(key, _)| *key = &"   "[..key.len()]);
                }
                folded = Some(shown::folded(&choices, look));
                shown::keys(&choices, look)
            }
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => {
                let styles = composer_styles(look.theme);
                let width = u16::try_from(look.width).unwrap_or(u16::MAX);
                let rows = u16::try_from(rows / 2).unwrap_or(u16::MAX);
                let mut drawn = at.lines(width, rows.clamp(1, WRITTEN_ROWS_MAX), &styles);
                cursor = Some(drawn.cursor);
                let hint = wrap(&Line::styled(prompt.hint(), look.theme.dim), look.width, 0);
                match held {
                    Some(Held::New) => drawn.lines.extend(hint.iter().map(|_| Line::default())),
                    _ => drawn.lines.extend(hint),
                }
                drawn.lines
            }
        };
        let n_keys = keys.len();
        let title = prompt.title(self.open.len(), look);
        let is_chosen = folded.is_some();
        let arranged = |keys: Vec<Line<'static>>, folded| {
            shown::arranged(title.clone(), prompt.said(look), keys, folded, rows, look)
        };
        let Arranged { mut lines, tells } = arranged(keys, folded);
        let tells = tells || prompt.is_looked_at;
        if is_chosen && !tells && held.is_none() {
            let look_first = Line::styled("  Ctrl-T: look first", look.theme.warning);
            lines = arranged(vec![look_first], None).lines;
        }
        let above = u16::try_from(lines.len() - n_keys.min(lines.len())).unwrap_or(u16::MAX);
        let cursor = cursor.map(|(column, row)| (column, above.saturating_add(row)));
        Drawn { lines, cursor, tells }
    }

    /// What is asked, and what the keys mean, as lines that are written once.
    pub(in crate::app) fn words(
        &self,
        look: Look<'_>,
    ) -> Option<(Vec<Line<'static>>, Vec<Line<'static>>)> {
        let prompt = self.open.front()?;
        let keys = match &prompt.stage {
            Stage::Chooses | Stage::Parts => shown::keys(&prompt.choices(), look),
            _ => vec![Line::raw(spoken(prompt.hint(), look.theme).into_owned())],
        };
        let (title, said) = (prompt.title(1, look), prompt.said(look));
        let asked = shown::arranged(title, said, Vec::new(), None, SPOKEN_ROWS_MAX, look);
        Some((asked.lines, keys))
    }

    /// The line of the answer to that, and where the cursor stands.
    pub(in crate::app) fn spoken_live(
        &self,
        width: u16,
        look: Look<'_>,
    ) -> (Vec<Line<'static>>, (u16, u16)) {
        let Some(prompt) = self.open.front() else { return (vec![Line::default()], (0, 0)) };
        let says = |text: String| {
            let column = u16::try_from(text.len()).unwrap_or(u16::MAX);
            (vec![Line::raw(text)], (column.min(width.saturating_sub(1)), 0))
        };
        match &prompt.stage {
            _ if prompt.is_answered => says(ANSWERED.to_owned()),
            Stage::Chooses | Stage::Parts => {
                let keys: Vec<&str> = prompt.choices().iter().map(|(key, _)| *key).collect();
                says(format!("Answer with {}: ", keys.join(", ")))
            }
            Stage::Denies(at) | Stage::Edits(at) | Stage::Answers(at) => {
                let mark = Some(prompt.mark());
                let styles = ComposerStyles { mark, ..composer_styles(look.theme) };
                let drawn = at.lines(width, WRITTEN_ROWS_MAX, &styles);
                (drawn.lines, drawn.cursor)
            }
        }
    }

    /// All that is asked and what the keys mean, however long.
    pub(super) fn whole(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let Some(prompt) = self.open.front() else { return Vec::new() };
        let keys = shown::keys(&prompt.choices(), look);
        let mut lines = vec![Line::default()];
        let title = prompt.title(self.open.len(), look);
        lines.extend(shown::arranged(title, prompt.said(look), keys, None, usize::MAX, look).lines);
        lines
    }

    /// Counts what changed of what is asked.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }
}
