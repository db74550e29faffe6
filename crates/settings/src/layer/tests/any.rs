//! Whatever stands in a file: an answer, and of rules the one that was written.

use heeler_core::RuleEffect;
use proptest::prelude::*;

use super::*;

const PLACES: [Place; 5] =
    [Place::UserClaude, Place::User, Place::LocalClaude, Place::Local, Place::Saved];

/// Texts that are near to files of settings: lines of keys and tables, and what stands in none.
fn near() -> impl Strategy<Value = String> {
    let pieces: Vec<String> = written().into_iter().chain(ODD.map(str::to_owned)).collect();
    let line = prop_oneof![
        4 => prop::sample::select(pieces),
        1 => "[\\[\\]{}\",:=.a1 #'\\\\-]{0,12}",
        1 => "\\PC{0,12}",
    ];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

const ODD: [&str; 16] = [
    "[permissions]",
    "deny = ['Bash(x)', 'Nonsense(']",
    "allow = ['Bash(ls:*)']",
    "[[hooks.PreToolUse]]",
    "[hooks]",
    "[model]",
    "[models.'a/b']",
    "window = 'x'",
    "[sandbox]",
    "mode = 'offf'",
    "{\"permissions\": {\"deny\": [\"Bash(x)\", 1]}}",
    "{\"hooks\": {\"Stop\": [{}]}, \"env\": {\"A\": 1}}",
    "{\"permissions\": {\"defaultMode\": \"any\"},",
    "\"sandbox\": {\"enabled\": \"yes\"}}",
    "[tui",
    "a.b.c.d = {}",
];

/// Each key that has a default, as a line that sets it.
fn written() -> Vec<String> {
    let own = crate::KEYS.into_iter().filter(|key| !matches!(key.kind, crate::Kind::Outside(_)));
    let own = own.filter(|key| !key.default.is_empty());
    own.map(|key| format!("{} = {}", key.path, key.default)).collect()
}

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

    /// What is wrong with a text is said with the file, and with the line of it that is meant.
    #[test]
    fn what_is_wrong_is_said_with_its_line(text in near(), n in 0..PLACES.len()) {
        let lines = text.lines().count();
        let wrong = match Layer::read(&source(PLACES[n], text), &context()) {
            Ok(layer) => layer.problems,
            Err(error) => vec![error],
        };
        for error in wrong {
            let told = error.to_string();
            let rest = told.strip_prefix("FILE:").unwrap_or_default();
            let place = rest.split_once(": ").map_or("", |(place, _)| place);
            let (line, column) = place.split_once(':').unwrap_or((place, "1"));
            prop_assert!(column.parse::<usize>().is_ok_and(|column| column > 0), "{told}");
            let line = line.parse::<usize>().ok();
            prop_assert!(line.is_some_and(|line| (1..=lines.max(1)).contains(&line)), "{told}");
        }
    }

    /// A mistake on which nothing depends is told with its line, and all else counts as without it; any
    /// other mistake stops, by its line too.
    #[test]
    fn a_mistake_leaves_the_rest_as_it_is(
        mut keys in prop::sample::subsequence(written(), 0..12).prop_shuffle(),
        wrong in prop::sample::select(vec![
            ("context.limit = 'much'", true), ("context.tail = -1", true), ("tui.plain = 3", true),
            ("tui.theme = ['dark']", true), ("notes.nonsense = 1", true), ("tui.keys = 'ed'", true),
            ("limits.rounds = 'many'", false), ("model.default = 1", false), ("nonsense = 1", false),
        ]),
        at: prop::sample::Index,
    ) {
        let (mistake, passes) = wrong;
        let path = mistake.split(' ').next().unwrap();
        keys.retain(|key| !key.starts_with(path));
        let at = at.index(keys.len() + 1);
        let read = |lines: &[String]| {
            let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            Layer::read(&source(Place::User, text), &context())
        };
        let without = read(&keys).unwrap();
        prop_assert_eq!((without.values.len(), without.problems.len()), (keys.len(), 0));
        keys.insert(at, mistake.to_owned());
        let place = format!("FILE:{}: ", at + 1);
        match read(&keys) {
            Ok(layer) => {
                prop_assert!(passes);
                let values = |layer: &Layer| {
                    layer.values.iter().map(|(key, set)| (key.path, set.value.clone())).collect::<Vec<_>>()
                };
                prop_assert_eq!(values(&layer), values(&without));
                let told: Vec<String> = layer.problems.iter().map(ToString::to_string).collect();
                prop_assert!(matches!(&told[..], [one] if one.starts_with(&place)), "{told:?}");
            }
            Err(error) => {
                prop_assert!(!passes && error.to_string().starts_with(&place), "{error}");
            }
        }
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
