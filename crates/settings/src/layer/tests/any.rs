//! Whatever stands in a file: an answer, and of rules the one that was written.

use heeler_core::RuleEffect;
use proptest::prelude::*;

use super::*;

const PLACES: [Place; 5] =
    [Place::UserClaude, Place::User, Place::LocalClaude, Place::Local, Place::Saved];

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>, n in 0..PLACES.len()) {
        let _ = Layer::read(&source(PLACES[n], bytes), &context());
    }

    /// Nor do texts that are nearly right: pieces of files in any order.
    #[test]
    fn no_pieces_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\n", "=", "\"permissions\"", "permissions", "hooks",
            "\"hooks\"", "\"deny\"", "deny", "\"Bash(x)\"", "'Read(~/x)'", "\"PreToolUse\"", "env",
            "\"env\"", "sandbox", "mode", "\"mode\"", "1", "true", "\"\"", "'/space'", ".",
        ]), 0..24),
        n in 0..PLACES.len(),
    ) {
        let _ = Layer::read(&source(PLACES[n], pieces.concat()), &context());
    }

    /// A rule is read as what it was written as.
    #[test]
    fn a_rule_that_is_written_is_read(
        rules in prop::collection::vec("(Bash|Read|Edit|WebFetch|Task|mcp__a)(\\([ -~]{1,8}\\))?", 1..5),
        effect in prop::sample::select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]),
    ) {
        let key = match effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Ask => "ask",
            RuleEffect::Deny => "deny",
        };
        let json = serde_json::json!({ "permissions": { key: rules } }).to_string();
        let parsed: Result<Vec<Rule>, _> =
            rules.iter().map(|rule| Rule::parse(rule, effect, "FILE:1")).collect();
        match Layer::read(&source(Place::LocalClaude, json), &context()) {
            Ok(layer) => {
                for rule in parsed.into_iter().flatten() {
                    let is_turned = rule.argument.as_deref().is_some_and(|a| a.starts_with('~'));
                    prop_assert!(is_turned || layer.rules.contains(&rule), "{rule} of {:?}", layer.rules);
                }
            }
            Err(error) => prop_assert!(effect != RuleEffect::Allow, "{error}"),
        }
    }
}
