//! One thing that was said or done, and its lines.

use heeler_core::Timestamp;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::call::{CallRow, below_sign};
use super::shortened::Shortened;
use super::{Look, Note, seconds, unfolded};
use crate::text::{StreamingMarkdown, clean, markdown, truncate, wrap};
use crate::theme::Theme;

/// The most rows of what somebody said that are shown; the rest is for the pager.
const SAID_ROWS_MAX: usize = 40;
/// And of what the session said in their place, such as what came of work in the background.
const TOLD_ROWS_MAX: usize = 6;

/// An item.
pub(super) enum Item {
    Said(Said),
    Answer(Answer),
    Thought(Thought),
    Call(CallRow),
    Note(Note),
    Shortened(Shortened),
}

/// What kinds of items there are, for what stands apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Said,
    Answer,
    Row,
    Note,
}

/// Whether an empty line stands between them.
pub(super) fn are_apart(last: Option<Kind>, next: Kind) -> bool {
    last.is_some_and(|last| !(last == Kind::Row && next == Kind::Row))
}

impl Item {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Said(Said { speaker: Speaker::Session, .. }) => Kind::Note,
            Self::Said(_) => Kind::Said,
            Self::Answer(_) => Kind::Answer,
            Self::Thought(_) | Self::Call(_) => Kind::Row,
            Self::Note(_) | Self::Shortened(_) => Kind::Note,
        }
    }

    /// Whether it changes no more.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Said(_) | Self::Note(_) | Self::Shortened(_) => true,
            Self::Answer(answer) => answer.stream.is_done(),
            Self::Thought(thought) => !thought.is_streaming(),
            Self::Call(row) => row.is_done(),
        }
    }

    /// Whether all of it says what it will say, whether or not its lines were given.
    pub(super) fn is_settled(&self) -> bool {
        match self {
            Self::Answer(answer) => !answer.is_open,
            _ => self.is_done(),
        }
    }

    pub(super) fn close(&mut self, now: Timestamp) {
        match self {
            Self::Said(_) | Self::Note(_) | Self::Shortened(_) => {}
            Self::Answer(answer) => answer.end(),
            Self::Thought(thought) => thought.end(now),
            Self::Call(row) => row.close(now),
        }
    }

    /// Lines that change no more and were not given yet.
    pub(super) fn drain(&mut self, look: Look<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Answer(answer) => answer.stream.committed(look.text()),
            _ if self.is_done() => self.whole(look),
            _ => Vec::new(),
        }
    }

    /// Whether lines of it were given.
    pub(super) fn has_drained(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.has_drained)
    }

    pub(super) fn note_drained(&mut self) {
        if let Self::Answer(answer) = self {
            answer.has_drained = true;
        }
    }

    /// What was given, at another width perhaps.
    pub(super) fn drained(&self, look: Look<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Answer(answer) => answer.drained(look),
            _ => self.whole(look),
        }
    }

    /// What is still open of it.
    pub(super) fn live(&self, look: Look<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Answer(answer) => answer.stream.tail(look.text()),
            _ => self.whole(look),
        }
    }

    /// All of it.
    pub(super) fn whole(&self, look: Look<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Said(said) => said.lines(look),
            Self::Answer(answer) => whole(&answer.source, look),
            Self::Thought(thought) => thought.lines(look),
            Self::Call(row) => row.lines(look),
            Self::Note(note) => note.lines(look),
            Self::Shortened(shortened) => shortened.lines(look),
        }
    }

    /// All of it, and what is shown only to who looks back.
    pub(super) fn paged(&self, look: Look<'_>) -> Vec<Line<'static>> {
        match self {
            Self::Said(said) => said.paged(look),
            Self::Thought(thought) => thought.paged(look),
            Self::Call(row) => row.paged(look),
            Self::Shortened(shortened) => shortened.paged(look),
            Self::Answer(_) | Self::Note(_) => self.whole(look),
        }
    }

    /// What it takes to unfold it, in bytes.
    pub(super) fn paged_cost(&self) -> usize {
        match self {
            Self::Said(said) => unfolded::cost(&said.text),
            Self::Thought(thought) => unfolded::cost(&thought.text),
            Self::Call(row) => row.paged_cost(),
            Self::Answer(_) | Self::Note(_) | Self::Shortened(_) => 0,
        }
    }
}

/// What a person said, or somebody on their behalf.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) images: usize,
    pub(super) speaker: Speaker,
}

/// Whose words stand in a message of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Person,
    /// The session itself.
    Session,
}

impl Said {
    /// What stands before it, and its colours.
    fn dress(&self, theme: &Theme) -> (&'static str, Style) {
        match self.speaker {
            Speaker::Person => (theme.sign("> ", "You: "), theme.user),
            Speaker::Session => (theme.sign("· ", ""), theme.dim),
        }
    }

    fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let (sign, style) = self.dress(look.theme);
        let mut lines = indented(&clean(&self.text), sign, style, look);
        let rows_max = match self.speaker {
            Speaker::Person => SAID_ROWS_MAX,
            Speaker::Session => TOLD_ROWS_MAX,
        };
        let n_more = lines.len().saturating_sub(rows_max);
        if n_more > 0 {
            lines.truncate(rows_max);
            let dots = look.theme.sign("… ", "");
            let more = format!("  {dots}{n_more} more {}", unfolded::lines(n_more));
            lines.push(Line::styled(more, look.theme.dim));
        }
        lines.extend(self.attached(look));
        lines
    }

    fn paged(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let text = clean(&self.text);
        let (sign, style) = self.dress(look.theme);
        let mut lines = indented(&unfolded::within(&text, look.theme), sign, style, look);
        lines.extend(self.attached(look));
        lines
    }

    fn attached(&self, look: Look<'_>) -> Option<Line<'static>> {
        (self.images > 0).then(|| {
            let images = if self.images == 1 { "image" } else { "images" };
            Line::styled(format!("  [{} {images}]", self.images), look.theme.dim)
        })
    }
}

/// Text of the model.
pub(super) struct Answer {
    pub(super) source: String,
    block: u32,
    stream: StreamingMarkdown,
    /// Whether more of it may come.
    is_open: bool,
    /// Whether lines of it were given.
    has_drained: bool,
}

impl Answer {
    pub(super) fn streaming(block: u32) -> Self {
        let (source, stream) = (String::new(), StreamingMarkdown::new());
        Self { source, block, stream, is_open: true, has_drained: false }
    }

    pub(super) fn whole(source: &str) -> Self {
        let mut answer = Self::streaming(0);
        answer.push(source);
        answer.end();
        answer
    }

    pub(super) fn is_streaming(&self) -> bool {
        self.is_open
    }

    pub(super) fn is_open_for(&self, block: u32) -> bool {
        self.is_open && self.block == block
    }

    pub(super) fn push(&mut self, text: &str) {
        self.source.push_str(text);
        self.stream.push(text);
    }

    pub(super) fn end(&mut self) {
        self.is_open = false;
        self.stream.finish();
    }

    /// Forgets what was not given yet, and tells whether anything was.
    pub(super) fn discard(&mut self) -> bool {
        self.stream = StreamingMarkdown::new();
        self.end();
        self.has_drained
    }

    /// What was given, at another width perhaps: all but the open end.
    fn drained(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = whole(&self.source, look);
        let n_open = self.stream.tail(look.text()).len();
        lines.truncate(lines.len().saturating_sub(n_open));
        lines
    }
}

/// The model's reasoning, folded to a row.
pub(super) struct Thought {
    pub(super) text: String,
    block: u32,
    since: Timestamp,
    until: Timestamp,
    is_open: bool,
}

impl Thought {
    pub(super) fn streaming(block: u32, now: Timestamp) -> Self {
        Self { text: String::new(), block, since: now, until: now, is_open: true }
    }

    pub(super) fn is_streaming(&self) -> bool {
        self.is_open
    }

    pub(super) fn is_open_for(&self, block: u32) -> bool {
        self.is_open && self.block == block
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn end(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.is_open) {
            self.until = now;
        }
    }

    fn lines(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let sign = look.theme.sign("∴ ", "");
        let head = if self.is_open {
            format!("{sign}thinking {}", seconds(look.now.since(self.since)))
        } else {
            match self.until.since(self.since) {
                0..1000 => format!("{sign}thought"),
                millis => format!("{sign}thought for {}", seconds(millis)),
            }
        };
        let last = self.text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        let last = if self.is_open { format!("  {}", clean(last.trim())) } else { String::new() };
        let spans = vec![Span::styled(head, look.theme.dim), Span::styled(last, look.theme.dim)];
        vec![truncate(&Line::from(spans), look.width)]
    }

    /// With what was thought.
    fn paged(&self, look: Look<'_>) -> Vec<Line<'static>> {
        let mut lines = self.lines(look);
        lines.extend(unfolded::rows(
            &clean(&self.text),
            below_sign(look.theme),
            look.theme.dim,
            look,
        ));
        lines
    }
}

fn whole(source: &str, look: Look<'_>) -> Vec<Line<'static>> {
    markdown(source, look.width, look.theme, look.highlight)
}

/// Lines behind a sign that stands in the first.
pub(super) fn indented(text: &str, sign: &str, style: Style, look: Look<'_>) -> Vec<Line<'static>> {
    let indent = sign.chars().count();
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let before = if index == 0 { sign.to_owned() } else { " ".repeat(indent) };
        let line = Line::from(Span::styled(format!("{before}{line}"), style));
        lines.extend(wrap(&line, look.width, indent));
    }
    lines
}
