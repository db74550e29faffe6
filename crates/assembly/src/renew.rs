//! Settings that change while a session runs: what of it counts from the next input on.

use std::collections::BTreeMap;
use std::path::Path;

use heeler_core::{Limits, Mode, Policy, Rule, Settings};
use heeler_settings::{Counts, KeyValue, Loaded, Preferences, Said};

use crate::denied::asks_since;
use crate::model::{leave_room, settings as model_settings};
use crate::setup::has_prices;
use crate::{Environment, Permission, SetupError};

/// Keys of what a session is made of, which the next one takes.
const OF_THE_NEXT_SESSION: [&str; 8] = [
    "hooks",
    "sandbox.",
    "env",
    "model.default",
    "models.fallback",
    "notes.",
    "web_fetch.",
    "web_search.",
];

/// Settings that are not what they were.
#[derive(Debug)]
pub struct Renewed {
    /// What the session runs under from here on.
    pub settings: Settings,
    /// What files and flags say now.
    pub loaded: Loaded,
    /// The keys that changed, for people; empty when nothing of it means anything to a session.
    pub words: String,
}

impl Permission {
    /// What changed since `before` for a session that runs under `running`; `None` when nothing did.
    /// The mode stays as the person chose it, unless the files name another one than before. That
    /// rules were kept which the session has among its `grants` is no news to it, and is not told.
    ///
    /// # Errors
    /// When the settings cannot be used; the session then runs on as it did.
    pub fn renew(
        &self,
        (environment, workspace): (&Environment, &Path),
        limits: Limits,
        before: &Loaded,
        (running, grants): (&Settings, &[Rule]),
    ) -> Result<Option<Renewed>, SetupError> {
        let (policy, loaded) = self.clone().settle(environment, workspace)?;
        if is_same(&loaded, before) {
            return Ok(None);
        }
        // A line that moved says nothing new, and what a person chose meanwhile is narrower, perhaps.
        let named = |loaded: &Loaded| loaded.mode.as_ref().map(|mode| mode.value);
        let is_same_mode = named(&loaded) == named(before);
        let mode = if is_same_mode { running.policy.mode } else { policy.mode };
        let Preferences { context, limits: set, .. } = loaded.preferences();
        let mut model = model_settings(running.model.name.clone(), &loaded);
        // A server of this machine told its own window.
        model.window = model.window.or(running.model.window);
        leave_room(&mut model, &loaded);
        let limits = set.over(limits);
        if limits.cost != 0 {
            has_prices(&model, &loaded)?;
        }
        let asks = running.policy.has_box.then(|| asks_since(&running.policy.rules, &policy.rules));
        let asks = asks.flatten();
        let is_new = |rule: &&Rule| !running.policy.rules.contains(rule);
        let told = asks.as_ref().filter(is_new);
        let (was, is) = (held(before, grants), held(&loaded, grants));
        let words = words(&was, &is, (running.policy.mode, mode), told);
        let settings = Settings {
            policy: Policy {
                mode,
                rules: policy.rules.into_iter().chain(asks).collect(),
                has_box: running.policy.has_box,
                // As the session's tools know them.
                protected: running.policy.protected.clone(),
                ..policy
            },
            model,
            limits,
            estimate: context.estimate,
            compaction: context.compaction,
            ..running.clone()
        };
        Ok(Some(Renewed { settings, loaded, words }))
    }
}

/// Whether both say the same. What was passed over was told when the session was made, with what
/// only its model could tell.
fn is_same(one: &Loaded, other: &Loaded) -> bool {
    let said = |loaded: &Loaded| Loaded { problems: Vec::new(), ..loaded.clone() };
    said(one) == said(other)
}

/// Which keys hold something else, and what a person would not see in their names.
fn words(
    before: &Held<'_>,
    after: &Held<'_>,
    (mode_before, mode): (Mode, Mode),
    asks: Option<&Rule>,
) -> String {
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let changed = names.filter(|name| before.get(*name) != after.get(*name)).copied();
    let is_later = |name: &&str| OF_THE_NEXT_SESSION.iter().any(|begin| name.starts_with(begin));
    let (later, now): (Vec<&str>, Vec<&str>) = changed.partition(is_later);
    let mut words = String::new();
    if !now.is_empty() {
        words = format!("settings changed, and count from here on: {}", now.join(", "));
    }
    if !later.is_empty() {
        let begin = if words.is_empty() { "settings changed" } else { "" };
        words += &format!("{begin}; from the next session on: {}", later.join(", "));
    }
    if mode != mode_before {
        let begin = if words.is_empty() { "settings changed" } else { "" };
        words += &format!("{begin}; the mode is {mode} now, no longer {mode_before}");
    }
    if let Some(asks) = asks {
        words += &format!("; commands are asked about {}", asks.source);
    }
    words
}

/// What holds, by the names of keys.
type Held<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// What holds, without the rules that the session has anyway.
fn held<'a>(loaded: &'a Loaded, grants: &[Rule]) -> Held<'a> {
    let texts = grants.iter().map(|rule| KeyValue::Text(rule.to_string()).to_string());
    let granted: Vec<String> = texts.collect();
    let is_news = |said: &&Said| said.name != "permissions.allow" || !granted.contains(&said.value);
    let mut held = Held::new();
    for said in loaded.said.iter().filter(|said| said.counts == Counts::Holds).filter(is_news) {
        held.entry(&said.name).or_default().push(&said.value);
    }
    held
}

#[cfg(test)]
mod tests {
    use heeler_core::RuleEffect;

    use super::*;

    /// A session begins under the one file of settings, somebody chooses a mode, and the file
    /// becomes the other: the mode and the rules then, and what is said.
    fn check(before: &str, chosen: Mode, after: &str, mode: Mode, words: &str) -> Vec<Rule> {
        renewed(before, chosen, after, mode, words, &[])
    }

    fn renewed(
        before: &str,
        chosen: Mode,
        after: &str,
        mode: Mode,
        words: &str,
        grants: &[Rule],
    ) -> Vec<Rule> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.toml");
        let environment =
            Environment::default().with("HEELER_HOME", folder.path().to_str().unwrap());
        let space = Path::new("/space");
        std::fs::write(&file, before).unwrap();
        let permission = Permission { mode_default: Mode::Ask, ..Permission::default() };
        let (policy, loaded) = permission.clone().settle(&environment, space).unwrap();
        let policy = Policy { mode: chosen, ..policy };
        let running = Settings { policy, ..Settings::default() };
        std::fs::write(&file, after).unwrap();
        let place = (&environment, space);
        let running = (&running, grants);
        let renewed = permission.renew(place, Limits::default(), &loaded, running).unwrap();
        let renewed = renewed.unwrap();
        assert_eq!(renewed.settings.policy.mode, mode, "{after}");
        assert_eq!(renewed.words, words, "{after}");
        renewed.settings.policy.rules
    }

    #[test]
    fn the_mode_stays_as_it_was_chosen_until_the_files_name_another_one() {
        const EDITS: &str = "permissions.mode = 'accept-edits'\n";
        let moved = format!("# why\n{EDITS}");
        check(EDITS, Mode::Plan, &moved, Mode::Plan, "");
        check(
            "",
            Mode::Plan,
            "limits.calls = 9",
            Mode::Plan,
            "settings changed, and count from here on: limits.calls",
        );
        check(
            "permissions.mode = 'plan'",
            Mode::Plan,
            EDITS,
            Mode::AcceptEdits,
            "settings changed, and count from here on: permissions.mode; the mode is accept-edits \
             now, no longer plan",
        );
        check(
            EDITS,
            Mode::Plan,
            "",
            Mode::Ask,
            "settings changed, and count from here on: permissions.mode; the mode is ask now, no \
             longer plan",
        );
    }

    #[test]
    fn commands_are_asked_about_under_a_rule_that_came_after_their_box() {
        let rules = check(
            "permissions.deny = ['Read(a)']",
            Mode::Ask,
            "permissions.deny = ['Read(a)', 'Read(*.key)']",
            Mode::Ask,
            "settings changed, and count from here on: permissions.deny; commands are asked about \
             since the sandbox does not hold all that a rule denies: Read(*.key) came after the \
             sandbox was made; the next start holds it",
        );
        let asks = |rule: &&Rule| rule.effect == RuleEffect::Ask && rule.tool == "Bash";
        assert_eq!(rules.iter().filter(asks).count(), 1);
        let rules = check(
            "permissions.deny = ['Read(a)']",
            Mode::Ask,
            "\npermissions.deny = ['Read(a)']",
            Mode::Ask,
            "",
        );
        assert_eq!(rules.iter().filter(asks).count(), 0);
    }

    #[test]
    fn a_rule_that_the_session_was_given_is_no_news_and_what_came_with_it_is() {
        let rule = |text: &str, effect| Rule::parse(text, effect, "settings").unwrap();
        let kept = [rule("Bash(git push:*)", RuleEffect::Allow)];
        let said =
            |after: &str, words: &str| renewed("", Mode::Ask, after, Mode::Ask, words, &kept);
        let allow = "permissions.allow = ['Bash(git push:*)']";
        let rules = said(allow, "");
        assert_eq!(rules.len(), 1);
        let rules = said(
            &format!("{allow}\npermissions.deny = ['WebFetch']"),
            "settings changed, and count from here on: permissions.deny",
        );
        let denies = |rule: &Rule| rule.effect == RuleEffect::Deny && rule.tool == "WebFetch";
        assert!(rules.iter().any(denies), "{rules:?}");
        said(
            "permissions.allow = ['Bash(git push:*)', 'Bash(make)']",
            "settings changed, and count from here on: permissions.allow",
        );
    }
}
