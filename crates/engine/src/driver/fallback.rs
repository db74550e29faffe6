//! Who answers when the model that was chosen cannot: the next of an ordered list, until the turn
//! ends and the one before has had time to recover.
//!
//! Which model answers is a setting, so a change of it is a record like any other: what is asked,
//! counted and paid for follows from the journal. Here is only who is left out for how long, and
//! that is no longer than this process.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use heeler_core::{
    CompactionFailed, Durability, Event, ModelSettings, Provider, ProviderError, ProviderErrorKind,
    Record, Settings, StoreError, Timestamp,
};
use heeler_turn::retry;

use super::Driver;

/// How often a model is asked before the next one is, where there is one.
const ATTEMPTS_MAX: u32 = 3;
/// The longest wait a provider may ask for, before the next model is asked instead.
const WAIT_MILLIS_MAX: u64 = 30_000;
/// How long a model that failed is left out.
const COOLDOWN_MILLIS: u64 = 300_000;
/// And how long at most, whatever its provider asks for.
const COOLDOWN_MILLIS_MAX: u64 = 86_400_000;

/// A model that answers when those before it cannot.
#[derive(Clone)]
pub struct Fallback {
    /// The model and how it is called.
    pub model: ModelSettings,
    /// Who asks it.
    pub provider: Arc<dyn Provider>,
}

/// Which models failed, and when the one that answers now began to.
#[derive(Default)]
pub(super) struct Fallbacks {
    /// Which of the list answers, 0 for the chosen one: two may have one name.
    at: usize,
    /// Until when each is left out, by its place in the list and its name.
    cooling: HashMap<(usize, String), Timestamp>,
    /// The turn, the round and the attempt that was the last one of the model before.
    changed_after: Option<(u32, u32, u32)>,
}

impl Fallbacks {
    /// How many attempts of this round were other models'.
    fn earlier_attempts(&self, turn: u32, round: u32) -> u32 {
        match self.changed_after {
            Some((t, r, attempt)) if (t, r) == (turn, round) => attempt,
            _ => 0,
        }
    }
}

/// What becomes of a failed attempt.
pub(super) struct Next {
    /// How long to wait before the next attempt; `None` when there is none.
    pub(super) wait: Option<u64>,
    /// The settings of the model that is asked then, if it is another one.
    pub(super) settings: Option<Box<Settings>>,
}

impl Driver {
    /// Who asks the model that answers now.
    pub(super) fn provider(&self) -> &Arc<dyn Provider> {
        let other = self.place().and_then(|at| self.parts.fallback.get(at.checked_sub(1)?));
        other.map_or(&self.parts.provider, |other| &other.provider)
    }

    /// Whether and by whom a request is answered that failed.
    pub(super) fn after_failure(
        &mut self,
        (turn, round, attempt): (u32, u32, u32),
        asked: &str,
        error: &ProviderError,
    ) -> Next {
        // Another one was chosen while this one was asked, and is asked next.
        let is_current = self.state.settings.model.name == asked;
        let has_other = is_current && falls_back(error.kind) && self.has_other_model();
        let policy = self.patience(has_other);
        let attempts = attempt.saturating_sub(self.fallbacks.earlier_attempts(turn, round));
        let wait = policy.next_wait(attempts, error, self.parts.entropy.next());
        if !has_other || wait.is_some() {
            return Next { wait, settings: None };
        }
        let settings = self.fall_back(error.retry_after);
        self.fallbacks.changed_after = Some((turn, round, attempt));
        Next { wait: settings.as_ref().map(|_| 0), settings }
    }

    /// The settings under which another model makes a summary that this one could not.
    pub(super) fn other_summarizer(&mut self, failed: &CompactionFailed) -> Option<Box<Settings>> {
        failed.kind.filter(|kind| falls_back(*kind))?;
        self.fall_back(None)
    }

    /// How patiently a model is asked.
    pub(super) fn patience(&self, has_other: bool) -> retry::Policy {
        let own = self.parts.retry;
        match has_other {
            false => own,
            true => retry::Policy {
                attempts_max: own.attempts_max.min(ATTEMPTS_MAX),
                retry_after_max_millis: own.retry_after_max_millis.min(WAIT_MILLIS_MAX),
                ..own
            },
        }
    }

    /// Whether another model may be asked now.
    pub(super) fn has_other_model(&self) -> bool {
        self.best_model(self.parts.clock.now(), self.place()).is_some()
    }

    /// Leaves the model that answers now out for a while, as long as its provider asks for or a little
    /// longer; the settings with the next one.
    fn fall_back(&mut self, retry_after: Option<Duration>) -> Option<Box<Settings>> {
        let now = self.parts.clock.now();
        let failed = self.place();
        let (at, model) = self.best_model(now, failed)?;
        let settings = self.settings_with(model.clone());
        let asked =
            retry_after.map_or(0, |asked| u64::try_from(asked.as_millis()).unwrap_or(u64::MAX));
        let cooldown = asked.clamp(COOLDOWN_MILLIS, COOLDOWN_MILLIS_MAX);
        if let Some(failed) = failed {
            let name = self.state.settings.model.name.clone();
            self.fallbacks.cooling.insert((failed, name), now.plus(cooldown));
        }
        self.fallbacks.at = at;
        Some(Box::new(settings))
    }

    /// Goes back to the first model that did not fail lately. Between turns only: another model
    /// reads the whole conversation anew.
    pub(super) async fn prefer_model(&mut self) -> Result<(), StoreError> {
        let now = self.parts.clock.now();
        let Some(current) = self.place() else { return Ok(()) };
        let Some((at, best)) = self.best_model(now, None).filter(|(at, _)| *at != current) else {
            return Ok(());
        };
        let settings = self.settings_with(best.clone());
        self.fallbacks.at = at;
        let text = format!("{} answers again", settings.model.name);
        let change = Record::SettingsChanged(Box::new(settings));
        self.write(vec![change], Durability::Written).await?;
        self.show(Event::Notice { text });
        Ok(())
    }

    /// The chosen model under new settings that name this one, and the one that answers then. Whoever
    /// changes something else names one of the two, so that is no choice of a model.
    pub(super) fn models_under(&self, named: ModelSettings) -> (ModelSettings, ModelSettings) {
        let (chosen, answering) = (&self.parts.settings.model, &self.state.settings.model);
        let is_fallback = self.place().is_some_and(|at| at > 0);
        if is_fallback && named.name == answering.name {
            (chosen.clone(), named)
        } else if is_fallback && named.name == chosen.name {
            (named, answering.clone())
        } else {
            (named.clone(), named)
        }
    }

    /// The first model of the list that is not left out now and is not the one at this place.
    fn best_model(&self, now: Timestamp, but: Option<usize>) -> Option<(usize, &ModelSettings)> {
        let is_cool = |at: usize, model: &ModelSettings| {
            let until = self.fallbacks.cooling.get(&(at, model.name.clone()));
            until.is_none_or(|until| *until <= now)
        };
        let mut others = self.models().enumerate().filter(|(at, _)| Some(*at) != but);
        others.find(|(at, model)| is_cool(*at, model))
    }

    /// Where in the list the model stands that answers now, if it is one of them: a journal, and
    /// whoever sets another model, only name it.
    fn place(&self) -> Option<usize> {
        let name = &self.state.settings.model.name;
        let is_it = |at: &usize| self.models().nth(*at).is_some_and(|model| model.name == *name);
        let known = Some(self.fallbacks.at).filter(is_it);
        known.or_else(|| self.models().position(|model| model.name == *name))
    }

    /// All models there are, the chosen one first.
    fn models(&self) -> impl Iterator<Item = &ModelSettings> {
        let others = self.parts.fallback.iter().map(|other| &other.model);
        std::iter::once(&self.parts.settings.model).chain(others)
    }

    /// Today's settings with another model.
    fn settings_with(&self, model: ModelSettings) -> Settings {
        let settings = Settings { model, ..self.state.settings.clone() };
        self.state.settings_to_go_on_with(settings)
    }
}

/// What a user is told of a change of the model.
pub(super) fn answers_instead(failed: &str, settings: &Settings, why: &str) -> String {
    let next = match &settings.model.name {
        // Told apart by who is asked for it.
        next if next == failed => format!("another provider of {next}"),
        next => next.clone(),
    };
    format!("{next} answers from here on, since {failed} cannot: {why}")
}

/// Whether another model may answer what this one could not. Not when the request or the key is
/// wrong: somebody has to know of that.
fn falls_back(kind: ProviderErrorKind) -> bool {
    match kind {
        ProviderErrorKind::Overloaded
        | ProviderErrorKind::RateLimit
        | ProviderErrorKind::Billing
        | ProviderErrorKind::UnknownModel
        | ProviderErrorKind::Server
        | ProviderErrorKind::Network
        | ProviderErrorKind::Format => true,
        ProviderErrorKind::Auth
        | ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::RefusedItem
        | ProviderErrorKind::RefusedReasoning => false,
    }
}
