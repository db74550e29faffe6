//! The line at the bottom: who answers, what may run, how full the context is, what it cost.

use heeler_core::{Cost, Event, Mode, Settings, Timestamp, Usage};
use heeler_engine::Seen;
use heeler_settings::StatusField;
use heeler_turn::limits::context_limit;
use ratatui::text::{Line, Span};

use super::Opened;
use crate::host::Facts;
use crate::text::{clean, truncate};
use crate::theme::Theme;
use crate::transcript::Look;

/// How long providers keep a prefix that nobody asks them to keep longer.
const CACHE_MILLIS: u64 = 5 * 60 * 1000;
/// The cells of the context's bar.
const BAR_CELLS: u64 = 8;

/// What the line is made of.
pub(super) struct Status {
    facts: Facts,
    model: String,
    /// Whether commands are kept in.
    is_confined: bool,
    /// The most tokens a request may have.
    limit: u64,
    /// Tokens the next request begins with, as far as known.
    tokens: u64,
    cost: Cost,
    /// When the model last answered: then the provider kept the prefix.
    answered: Option<Timestamp>,
    /// What that used.
    last: Option<Usage>,
    /// How much goes on in the background.
    n_works: usize,
}

impl Status {
    pub(super) fn new(facts: Facts) -> Self {
        Self {
            facts,
            model: String::new(),
            is_confined: false,
            limit: 0,
            tokens: 0,
            cost: Cost::default(),
            answered: None,
            last: None,
            n_works: 0,
        }
    }

    /// What the last answer used.
    pub(super) fn last(&self) -> Option<Usage> {
        self.last
    }

    /// Shows these fields from here on.
    pub(super) fn show(&mut self, fields: Vec<StatusField>) {
        self.facts.status = fields;
    }

    pub(super) fn open(&mut self, opened: &Opened) {
        self.settings(&opened.settings);
        self.tokens = opened.tokens;
        self.cost = opened.view.cost;
        self.answered = None;
        self.last = None;
    }

    pub(super) fn settings(&mut self, settings: &Settings) {
        self.model.clone_from(&settings.model.name);
        self.is_confined = settings.policy.has_box;
        self.limit = context_limit(settings);
    }

    pub(super) fn see(&mut self, seen: &Seen, now: Timestamp) {
        let Seen::Event(envelope) = seen else { return };
        match &envelope.event {
            Event::Usage { usage, total_cost, .. } if envelope.agent.is_main() => {
                self.tokens = usage.input_total().saturating_add(usage.output);
                self.cost = *total_cost;
                self.answered = Some(now);
                self.last = Some(*usage);
            }
            Event::Compacted { tokens_after, .. }
            | Event::Trimmed { tokens_after, .. }
            | Event::Pruned { tokens_after, .. }
            | Event::Restored { tokens_after, .. } => {
                self.tokens = *tokens_after;
                self.answered = None;
            }
            _ => {}
        }
    }

    pub(super) fn count_works(&mut self, n: usize) {
        self.n_works = n;
    }

    /// When the line changes by itself.
    pub(super) fn wakes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let left = CACHE_MILLIS.checked_sub(now.since(self.answered?))?;
        // At the next whole minute that is left.
        (left > 0).then(|| now.plus(left - (left - 1) / 60_000 * 60_000))
    }

    /// The line; `keys` names vim's mode, where one is in force.
    pub(super) fn line(
        &self,
        mode: Mode,
        keys: Option<&'static str>,
        look: Look<'_>,
    ) -> Line<'static> {
        let theme = look.theme;
        let mut parts: Vec<Span<'static>> =
            keys.map(|keys| Span::styled(keys, theme.accent)).into_iter().collect();
        if self.facts.is_guest {
            parts.push(Span::styled("attached", theme.accent));
        }
        if self.n_works > 0 {
            let text = format!("{} in the background", self.n_works);
            parts.push(Span::styled(text, theme.accent));
        }
        parts.extend(self.facts.status.iter().filter_map(|field| self.field(*field, mode, look)));
        let mut spans = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                spans.push(Span::styled(theme.sign(" · ", ", "), theme.dim));
            }
            spans.push(part);
        }
        truncate(&Line::from(spans), look.width)
    }

    fn field(&self, field: StatusField, mode: Mode, look: Look<'_>) -> Option<Span<'static>> {
        let theme = look.theme;
        let plain = |text: String| Span::styled(text, theme.status);
        match field {
            StatusField::Model => {
                Some(plain(theme.sign("", "model ").to_owned() + short_model(&self.model)))
            }
            StatusField::Mode if mode == Mode::Bypass => {
                Some(Span::styled(format!("{}{mode}", theme.sign("", "mode ")), theme.error))
            }
            StatusField::Mode => {
                Some(Span::styled(format!("{}{mode}", theme.sign("", "mode ")), theme.accent))
            }
            StatusField::Context => self.context(theme).map(plain),
            StatusField::Cost => (self.cost.0 > 0)
                .then(|| plain(format!("{}{}", theme.sign("", "cost "), self.cost))),
            StatusField::Cache => {
                self.cache_minutes(look.now).map(|minutes| plain(format!("cache {minutes} min")))
            }
            StatusField::Branch => {
                let sign = theme.sign("⎇ ", "branch ");
                self.facts.branch.as_ref().map(|branch| plain(format!("{sign}{}", clean(branch))))
            }
            // Nothing is kept in the box there.
            StatusField::Confinement if self.is_confined && mode != Mode::Bypass => {
                Some(plain("confined".to_owned()))
            }
            StatusField::Confinement => Some(Span::styled("not confined", theme.warning)),
        }
    }

    fn context(&self, theme: &Theme) -> Option<String> {
        let percent = self.tokens.saturating_mul(100).checked_div(self.limit)?;
        if theme.is_spoken() {
            return Some(format!("context {percent} %"));
        }
        let filled = (self.tokens.saturating_mul(BAR_CELLS) / self.limit).min(BAR_CELLS);
        let cells = |n: u64, cell: &str| cell.repeat(usize::try_from(n).unwrap_or(0));
        Some(format!("{}{} {percent}%", cells(filled, "█"), cells(BAR_CELLS - filled, "░")))
    }

    /// Minutes that the provider still keeps the prefix.
    fn cache_minutes(&self, now: Timestamp) -> Option<u64> {
        let left = CACHE_MILLIS.checked_sub(now.since(self.answered?))?;
        (left > 0).then(|| left.div_ceil(60_000))
    }
}

/// A model's name without its provider.
fn short_model(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, model)| model)
}

#[cfg(test)]
mod tests {
    use heeler_core::Policy;

    use super::*;
    use crate::text::Uncolored;

    #[test]
    fn in_bypass_nothing_is_called_confined() {
        let policy = Policy { has_box: true, ..Policy::default() };
        let mut status = Status::new(Facts::default());
        status.settings(&Settings { policy, ..Settings::default() });
        let theme = Theme::dark();
        let look =
            Look { width: 80, theme: &theme, highlight: &Uncolored, now: Timestamp::default() };
        let shown = |mode| status.field(StatusField::Confinement, mode, look).unwrap().content;
        assert_eq!([shown(Mode::Ask), shown(Mode::Bypass)], ["confined", "not confined"]);
    }
}
