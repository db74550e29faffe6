//! A window played by keys and events, and its screen as text.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use heeler_core::{
    AgentPath, Block, CallId, Envelope, FinalAnswer, Message, PermissionReason, RawJson, Role,
    Rule, RuleEffect, ToolResult, ToolUse, TurnOutcome,
};
pub(super) use heeler_core::{
    Decision, Event, Mode, OpenPermission, PermissionId, Question, SessionId, Settings, SteeringId,
    Timestamp, View,
};
pub(super) use heeler_engine::Seen;
use heeler_settings::StatusField;
use ratatui::text::Line;

use super::guard::{RULE_ALONE_MILLIS, SEEN_MILLIS};
use super::{Action, App, Happened, Opened, Start};
use crate::composer::ComposerSettings;
use crate::host::Facts;
use crate::text::Uncolored;
use crate::theme::Theme;

/// A window and what it asked for.
pub(super) struct Play {
    pub(super) app: App,
    pub(super) now: Timestamp,
    /// Whether keys follow what is asked before anybody can have seen it.
    pub(super) is_quick: bool,
    /// What went to the scrollback.
    pub(super) scrollback: Vec<String>,
    /// What was asked for, in debug form, without what only writes the screen anew.
    pub(super) actions: Vec<String>,
}

impl Play {
    pub(super) fn new(width: u16, height: u16) -> Self {
        Self::begin(width, height, false, View::default())
    }

    /// One in which no time passes unless it is said so: otherwise what is asked is looked at first, and
    /// a key that answers stands alone.
    pub(super) fn quick(width: u16, height: u16) -> Self {
        Self { is_quick: true, ..Self::new(width, height) }
    }

    /// A window on a session in this mode.
    pub(super) fn in_mode(mode: Mode) -> Self {
        let mut play = Self::new(70, 20);
        let mut settings = play.app.settings.clone();
        settings.policy.mode = mode;
        let opened = Opened {
            id: id(2),
            view: View::default(),
            settings,
            waiting: Vec::new(),
            tokens: 0,
            is_unfinished: false,
            new_fork: None,
        };
        play.happens(Happened::Opened(Box::new(opened)));
        play
    }

    /// A window on a session that another process has open.
    pub(super) fn guest(width: u16, height: u16) -> Self {
        Self::begin(width, height, true, View::default())
    }

    /// A window on a session whose turn an earlier process left, with what is asked in it.
    pub(super) fn unfinished(width: u16, height: u16, permissions: Vec<OpenPermission>) -> Self {
        let mut view = View { permissions, ..View::default() };
        [begins(), said("go")].iter().for_each(|event| view.apply(event));
        Self::begin(width, height, false, view)
    }

    fn begin(width: u16, height: u16, is_guest: bool, view: View) -> Self {
        let now = Timestamp(1_000_000);
        let mut settings = Settings::default();
        settings.model.name = "anthropic/claude-sonnet-5-5".into();
        settings.model.window = Some(200_000);
        let opened = Opened {
            id: id(1),
            is_unfinished: view.turn.is_some(),
            view,
            settings,
            waiting: Vec::new(),
            tokens: 0,
            new_fork: None,
        };
        let facts = Facts {
            folder: "/space/project".into(),
            branch: Some("main".into()),
            status: vec![
                StatusField::Model,
                StatusField::Mode,
                StatusField::Context,
                StatusField::Cost,
                StatusField::Cache,
                StatusField::Branch,
            ],
            is_guest,
            is_left: false,
        };
        let start = Start {
            opened,
            facts,
            theme: Theme::dark(),
            is_plain: false,
            rings: false,
            highlight: Arc::new(Uncolored),
            composer: ComposerSettings::default(),
            size: (width, height),
        };
        let app = App::new(start, now);
        let (scrollback, actions) = (Vec::new(), Vec::new());
        Self { app, now: now.plus(SEEN_MILLIS), is_quick: false, scrollback, actions }
    }

    pub(super) fn happens(&mut self, what: Happened) -> &mut Self {
        let asks = match &what {
            Happened::Asked(..) => true,
            Happened::Seen(Seen::Event(envelope)) => {
                matches!(envelope.event, Event::PermissionRequested(_))
            }
            _ => false,
        };
        for action in self.app.happen(what, self.now) {
            match action {
                Action::Redraw => drop(self.app.resized(self.app.width, self.app.height, self.now)),
                Action::ScrollOut => {}
                _ => self.actions.push(format!("{action:?}")),
            }
        }
        if asks && !self.is_quick {
            self.passes(SEEN_MILLIS);
        }
        self
    }

    /// Presses keys: characters, and names such as `<CR>`, `<Esc>`, `<C-c>`, `<S-Tab>`, `<Up>`.
    pub(super) fn types(&mut self, keys: &str) -> &mut Self {
        self.types_with_pauses(keys, 0)
    }

    /// Presses them with so many milliseconds in between.
    pub(super) fn types_with_pauses(&mut self, keys: &str, millis: u64) -> &mut Self {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let key = match named.and_then(|(name, after)| Some((named_key(name)?, after))) {
                Some((key, after)) => {
                    rest = after;
                    key
                }
                None => {
                    rest = &rest[first.len_utf8()..];
                    KeyEvent::new(KeyCode::Char(first), KeyModifiers::NONE)
                }
            };
            self.happens(Happened::Key(key));
            if !self.is_quick && self.app.guard.is_pressed() {
                self.passes(RULE_ALONE_MILLIS);
            }
            if millis > 0 && !rest.is_empty() {
                self.passes(millis);
            }
        }
        self
    }

    /// Presses keys, and nothing for as long as the last one takes to answer.
    pub(super) fn answers(&mut self, keys: &str) -> &mut Self {
        self.types(keys).passes(RULE_ALONE_MILLIS)
    }

    pub(super) fn sees(&mut self, event: Event) -> &mut Self {
        let envelope = Envelope { seq: None, agent: AgentPath::default(), event };
        self.happens(Happened::Seen(Seen::Event(Arc::new(envelope))))
    }

    pub(super) fn passes(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.plus(millis);
        self.happens(Happened::Ticked)
    }

    /// The screen: what went up, a rule, and the live region with the cursor as `▏`.
    pub(super) fn shows(&mut self) -> String {
        if let Some((page, _)) = self.app.page(self.now) {
            return page.iter().map(|line| format!("{}\n", text(line).trim_end())).collect();
        }
        let frame = self.app.frame(self.now);
        self.scrollback.extend(frame.finished.iter().map(text));
        let mut shown: String =
            self.scrollback.iter().map(|line| format!("{}\n", line.trim_end())).collect();
        shown += "────\n";
        for (row, line) in frame.live.iter().enumerate() {
            let mut line = text(line).trim_end().to_owned();
            if let Some(at) = frame.cursor.filter(|at| usize::from(at.row) == row) {
                let column = usize::from(at.column);
                let n_cells = line.chars().count();
                line.extend(std::iter::repeat_n(' ', column.saturating_sub(n_cells)));
                let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
                line.insert(at, '▏');
            }
            shown += &format!("{line}\n");
        }
        shown
    }

    /// What was asked for since the last time, one a line.
    pub(super) fn asks(&mut self) -> String {
        std::mem::take(&mut self.actions).iter().map(|action| format!("{action}\n")).collect()
    }
}

pub(super) fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

pub(super) fn id(n: u64) -> SessionId {
    format!("01900000-0000-7000-8000-{n:012x}").parse().unwrap()
}

fn named_key(name: &str) -> Option<KeyEvent> {
    let (modifiers, name) = match name.split_once('-') {
        Some(("C", rest)) => (KeyModifiers::CONTROL, rest),
        Some(("A", rest)) => (KeyModifiers::ALT, rest),
        Some(("S", rest)) => (KeyModifiers::SHIFT, rest),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "CR" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PageUp" => KeyCode::PageUp,
        "Home" => KeyCode::Home,
        "BS" => KeyCode::Backspace,
        "Tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "Tab" => KeyCode::Tab,
        _ => KeyCode::Char(name.chars().next().filter(|_| name.chars().count() == 1)?),
    };
    Some(KeyEvent::new(code, modifiers))
}

pub(super) fn call_id(index: u32) -> CallId {
    CallId { turn: 1, round: 1, index }
}

pub(super) fn said(text: &str) -> Event {
    Event::Message { message: Arc::new(Message::user(text)) }
}

pub(super) fn begins() -> Event {
    Event::TurnStarted { turn: 1 }
}

pub(super) fn attempt() -> Event {
    Event::AttemptStarted { round: 1, attempt: 1 }
}

pub(super) fn writes(text: &str) -> Event {
    Event::TextDelta { block: 0, offset: 0, text: text.into() }
}

pub(super) fn thinks(text: &str) -> Event {
    Event::ThinkingDelta { block: 0, offset: 0, text: text.into() }
}

/// A whole reply: text, if there is any, and calls of these tools with these inputs.
pub(super) fn replies(text: &str, calls: &[(&str, &str)]) -> Event {
    let mut blocks = Vec::new();
    if !text.is_empty() {
        blocks.push(Block::text(text));
    }
    for (index, (name, input)) in calls.iter().enumerate() {
        blocks.push(Block::from(ToolUse {
            id: format!("call-{index}"),
            name: (*name).into(),
            input: RawJson::parse(input).unwrap(),
            invalid: None,
            cache: None,
        }));
    }
    Event::Message { message: Arc::new(Message { role: Role::Assistant, blocks }) }
}

pub(super) fn starts(index: u32, name: &str, summary: &str) -> Event {
    let (name, summary) = (name.into(), summary.into());
    Event::CallStarted { call: call_id(index), index, name, summary }
}

pub(super) fn ends(index: u32, name: &str, is_error: bool, millis: u64) -> Event {
    let (name, summary) = (name.into(), String::new());
    Event::CallFinished { call: call_id(index), index, name, is_error, summary, millis }
}

/// The results of a batch, each with whether it failed.
pub(super) fn results(results: &[(&str, bool)]) -> Event {
    let result = |(index, (text, is_error)): (usize, &(&str, bool))| {
        Block::from(ToolResult {
            tool_use_id: format!("call-{index}"),
            content: vec![Block::text(*text)],
            is_error: *is_error,
            cache: None,
        })
    };
    let blocks = results.iter().enumerate().map(result).collect();
    Event::Message { message: Arc::new(Message { role: Role::User, blocks }) }
}

pub(super) fn finishes(outcome: TurnOutcome) -> Event {
    Event::TurnFinished { turn: 1, outcome, answer: FinalAnswer::default() }
}

/// Somebody is asked about a call, with a rule on offer.
pub(super) fn asked(index: u32, tool: &str, input: &str, rule: Option<&str>) -> Event {
    Event::PermissionRequested(OpenPermission {
        id: PermissionId::first(call_id(index)),
        tool: tool.into(),
        input: RawJson::parse(input).unwrap(),
        summary: tool.into(),
        reason: PermissionReason::Policy("no rule speaks of it".into()),
        offer: rule.map(|rule| Rule::parse(rule, RuleEffect::Allow, "person").unwrap()),
        objection: None,
    })
}
