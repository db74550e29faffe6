//! The settings of the scenarios, and how a line of a script changes them.

use heeler_core::{Mode, Policy, Prices, Rule, RuleEffect, Settings};

use crate::toolbox;

/// Everything may run; somebody can be asked.
pub(super) fn of_tests() -> Settings {
    let policy = Policy {
        mode: Mode::Bypass,
        interactive: true,
        workspace: toolbox::WORKSPACE.into(),
        asks_to_leave_plan: true,
        ..Policy::default()
    };
    let mut settings = Settings { policy, ..Settings::default() };
    settings.model.name = "test/model".into();
    settings
}

/// Reads `KEY=VALUE` words.
pub(super) fn change(settings: &mut Settings, words: &str) {
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').expect("KEY=VALUE");
        let number = || value.parse::<u64>().expect("a number");
        let small = || value.parse::<u32>().expect("a small number");
        let rule = |effect| Rule::parse(value, effect, "test").expect("a rule");
        match key {
            "rounds" => settings.limits.rounds = small(),
            "calls" => settings.limits.calls = small(),
            "tokens" => settings.limits.tokens = number(),
            "cost" => settings.limits.cost = number(),
            "wall" => settings.limits.wall_millis = number(),
            "repeats" => settings.limits.repeats = small(),
            "at_once" => settings.limits.calls_at_once = small(),
            "model" => settings.model.name = value.into(),
            "window" => settings.model.window = Some(number()),
            "output" => settings.model.output_max = number(),
            "price" => {
                let price = number();
                settings.model.prices = Some(Prices {
                    input: price,
                    output: price,
                    cache_write: price,
                    cache_read: price,
                    long: None,
                });
            }
            "context" => settings.estimate.context_limit = Some(number()),
            "chars" => settings.estimate.chars_per_token = small(),
            "keep" => settings.compaction.keep_tail = small(),
            "automatic" => settings.compaction.automatic = value == "yes",
            "mode" => settings.policy.mode = value.parse().expect("a mode"),
            "asks" => settings.policy.interactive = value == "yes",
            "allow" => settings.policy.rules.push(rule(RuleEffect::Allow)),
            "ask" => settings.policy.rules.push(rule(RuleEffect::Ask)),
            "deny" => settings.policy.rules.push(rule(RuleEffect::Deny)),
            _ => panic!("`{key}` is no setting"),
        }
    }
}
