//! What the command line lets a turn do, and for how long.

use anyhow::{Context as _, Result};
use heeler_core::{Cost, Limits, Mode, Policy, Rule, RuleEffect};

use crate::arguments::ExecArguments;

/// The mode and the rules of the flags. One that cannot be read stops everything: what somebody
/// meant to forbid must not run because of a typing error.
pub(super) fn policy(arguments: &ExecArguments) -> Result<Policy> {
    let mut rules = read(&arguments.deny, RuleEffect::Deny, "--deny")?;
    rules.extend(read(&arguments.allow, RuleEffect::Allow, "--allow")?);
    let mode = arguments.permission_mode.parse::<Mode>().context("--permission-mode")?;
    Ok(Policy { mode, rules, interactive: false, ..Policy::default() })
}

fn read(texts: &[String], effect: RuleEffect, flag: &'static str) -> Result<Vec<Rule>> {
    texts.iter().map(|text| Rule::parse(text, effect, flag).context(flag)).collect()
}

/// When a turn ends whatever the model wants.
pub(super) fn limits(arguments: &ExecArguments) -> Limits {
    // What is too little to be counted is a limit still; zero would be none.
    let cost = match Cost::from_dollars(arguments.max_cost).0 {
        0 if arguments.max_cost > 0.0 => 1,
        cost => cost,
    };
    Limits {
        rounds: arguments.max_rounds,
        tokens: arguments.max_tokens,
        cost,
        wall_millis: arguments.timeout.saturating_mul(1000),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::RuleEffect;
    use proptest::prelude::*;

    use super::*;
    use crate::arguments::{Command, read};

    fn arguments(words: &[String]) -> ExecArguments {
        let words = ["heeler", "exec"].map(str::to_owned).into_iter().chain(words.to_vec());
        match read(words.map(Into::into)).unwrap() {
            Command::Exec(arguments) => *arguments,
            _ => panic!("no exec"),
        }
    }

    fn rule() -> impl Strategy<Value = String> {
        prop_oneof!["(Bash|Edit|mcp__a__b|b\\*)(\\([ -~]{0,10}\\))?", "[ -~]{0,12}", "(?s).{0,8}",]
    }

    proptest! {
        /// Every rule is kept with its effect, or nothing runs and the flag is named.
        #[test]
        fn no_rule_is_dropped_or_turned(
            denied in prop::collection::vec(rule(), 0..4),
            allowed in prop::collection::vec(rule(), 0..4),
        ) {
            let flags = |flag: &'static str, rules: &[String]| -> Vec<String> {
                rules.iter().map(|rule| format!("{flag}={rule}")).collect()
            };
            let words = [flags("--allow", &allowed), flags("--deny", &denied)].concat();
            match policy(&arguments(&words)) {
                Ok(policy) => {
                    let of = |effect| policy.rules.iter().filter(|rule| rule.effect == effect).count();
                    prop_assert_eq!(of(RuleEffect::Deny), denied.len());
                    prop_assert_eq!(of(RuleEffect::Allow), allowed.len());
                    prop_assert_eq!(policy.mode, Mode::AllowListed);
                }
                Err(error) => {
                    let text = format!("{error:#}");
                    prop_assert!(text.starts_with("--deny: `") || text.starts_with("--allow: `"));
                }
            }
        }

        /// A figure is kept, or becomes the largest there is; it never turns into "no limit".
        #[test]
        fn no_limit_wraps(rounds: u32, tokens: u64, cost in 0.0..1e9f64, timeout: u64) {
            let words = [
                format!("--max-rounds={rounds}"),
                format!("--max-tokens={tokens}"),
                format!("--max-cost={cost}"),
                format!("--timeout={timeout}"),
            ];
            let limits = limits(&arguments(&words));
            prop_assert_eq!((limits.rounds, limits.tokens), (rounds, tokens));
            prop_assert_eq!(limits.wall_millis == 0, timeout == 0);
            prop_assert!(limits.wall_millis >= timeout);
            prop_assert!((limits.cost == 0) == (cost == 0.0), "{} of {}", limits.cost, cost);
        }
    }

    #[test]
    fn the_smallest_cost_is_a_limit() {
        for cost in ["1e-300", "0.0000000001", "0.000001"] {
            assert_ne!(limits(&arguments(&[format!("--max-cost={cost}")])).cost, 0, "{cost}");
        }
    }
}
