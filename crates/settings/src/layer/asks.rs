//! What a layer says that only counts where its file is trusted.

use std::collections::{BTreeMap, BTreeSet};

use heeler_core::{Rule, RuleEffect};

use super::{Confinement, Layer, Setting};
use crate::keys::{Key, KeyValue, Scope};
use crate::source::Aspect;

/// What holds of the table's keys, by their names.
pub(crate) type Values = BTreeMap<&'static str, Setting<KeyValue>>;

impl Layer {
    /// What this source says that only counts once it is trusted, beside what holds without it.
    #[must_use]
    pub(crate) fn asks_for(&self, holds: &Values) -> BTreeSet<Aspect> {
        let values = |aspect| self.values_ask_for(aspect, holds);
        let widens =
            |confinement: &Setting<Confinement>| confinement.value != Confinement::Required;
        let allows = |rule: &Rule| rule.effect == RuleEffect::Allow;
        let asked = |aspect: &Aspect| match aspect {
            Aspect::Rules => self.rules.iter().any(allows),
            Aspect::Mode => self.mode.is_some(),
            Aspect::Folders => !self.folders.is_empty(),
            Aspect::Hooks => !self.hooks.is_empty() || self.hooks_off.is_some(),
            Aspect::Environment => !self.environment.is_empty(),
            Aspect::Sandbox => {
                !self.writable.is_empty()
                    || self.confinement.as_ref().is_some_and(widens)
                    || self.network.as_ref().is_some_and(|network| network.value)
            }
            Aspect::Models => !self.models.is_empty() || self.fallback.is_some() || values(*aspect),
            Aspect::Preferences => values(*aspect),
        };
        Aspect::ALL.into_iter().filter(asked).collect()
    }

    /// Whether a key of the table says what only counts with this aspect.
    fn values_ask_for(&self, aspect: Aspect, holds: &Values) -> bool {
        self.values.iter().any(|(key, setting)| match key.scope {
            Scope::Trusted(needs) => needs == aspect,
            Scope::Lowers(needs) => needs == aspect && key.is_raised(&setting.value, holds),
            Scope::Anybody | Scope::Own => false,
        })
    }

    /// What it says, and was not trusted with.
    #[must_use]
    pub(crate) fn untrusted(&self, holds: &Values) -> BTreeSet<Aspect> {
        match self.place.is_repository() {
            true => heeler_core::gathered(self.asks_for(holds).difference(&self.trusted).copied()),
            false => BTreeSet::new(),
        }
    }

    /// Whether this aspect counts.
    pub(crate) fn is_trusted(&self, aspect: Aspect) -> bool {
        !self.place.is_repository() || self.trusted.contains(&aspect)
    }

    /// Whether a value counts, beside what holds without it.
    pub(crate) fn counts(&self, key: &Key, value: &KeyValue, holds: &Values) -> bool {
        match key.scope {
            Scope::Anybody => true,
            Scope::Trusted(aspect) => self.is_trusted(aspect),
            Scope::Lowers(aspect) => self.is_trusted(aspect) || !key.is_raised(value, holds),
            Scope::Own => !self.place.is_repository(),
        }
    }
}
