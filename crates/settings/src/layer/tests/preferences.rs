//! The sections that are rows of the table of keys: what is read, what stops, what is passed over.

use expect_test::expect;

use super::*;
use crate::keys::KEYS;

#[test]
fn every_key_is_read_with_its_place() {
    check(
        Place::User,
        r#"
attribution = "Made with care"
[model]
default = "openai/gpt-6.2-sol"
thinking = 4096
output_max = 64000
[context]
chars_per_token = 3
limit = 100_000
tail = 4
result_chars = 30_000
auto_compact = false
[limits]
rounds = 10
calls = 0
tokens = 1_000_000
cost = 0.25
seconds = 600
repeats = 3
calls_at_once = 8
[notes]
enabled = true
names = ["NOTES.md"]
file_bytes = 1000
total_bytes = 2000
[tui]
theme = "dark"
keys = "vim"
plain = false
bell = false
status = ["model", "cost"]
"#,
        expect![[r#"
            FILE:4: model.default = "openai/gpt-6.2-sol"
            FILE:5: model.thinking = 4096
            FILE:6: model.output_max = 64000
            FILE:8: context.chars_per_token = 3
            FILE:9: context.limit = 100000
            FILE:10: context.tail = 4
            FILE:11: context.result_chars = 30000
            FILE:12: context.auto_compact = false
            FILE:14: limits.rounds = 10
            FILE:15: limits.calls = 0
            FILE:16: limits.tokens = 1000000
            FILE:17: limits.cost = 0.25
            FILE:18: limits.seconds = 600
            FILE:19: limits.repeats = 3
            FILE:20: limits.calls_at_once = 8
            FILE:22: notes.enabled = true
            FILE:23: notes.names = ["NOTES.md"]
            FILE:24: notes.file_bytes = 1000
            FILE:25: notes.total_bytes = 2000
            FILE:27: tui.theme = "dark"
            FILE:28: tui.keys = "vim"
            FILE:29: tui.plain = false
            FILE:30: tui.bell = false
            FILE:31: tui.status = ["model", "cost"]
            FILE:2: attribution = "Made with care"
        "#]],
    );
}

#[test]
fn what_only_changes_what_is_seen_is_passed_over_and_told() {
    check(
        Place::Project,
        r#"
[context]
chars_per_token = 33
limt = 5
tail = 2
[notes]
names = ["../AGENTS.md"]
[tui]
keys = "emac"
plain = "yes"
status = ["model", "model"]
theme = "light"
"#,
        expect![[r#"
            FILE:5: context.tail = 2
            FILE:12: tui.theme = "light"
            passed over: FILE:3: `context.chars_per_token` has to be a number of characters from 1 to 32
            passed over: FILE:4: `context.limt` is no setting; did you mean `limit`?
            passed over: FILE:7: `notes.names` has to be a list of up to 16 names of files, without folders
            passed over: FILE:9: `tui.keys` has to be one of emacs, vim
            passed over: FILE:10: `tui.plain` has to be true or false
            passed over: FILE:11: `tui.status` has to be a list, each once, of model, mode, context, cost, cache, branch, confinement
        "#]],
    );
    check(
        Place::User,
        "tui = 1\ncontext = []\nnotes = 'x'\n[limits]\nrounds = 1",
        expect![[r#"
        FILE:5: limits.rounds = 1
        passed over: FILE:2: `context` has to be a table, and is a list
        passed over: FILE:3: `notes` has to be a table, and is a text
        passed over: FILE:1: `tui` has to be a table, and is a number
    "#]],
    );
}

#[test]
fn what_somebody_may_have_relied_on_stops() {
    check_refused(
        Place::User,
        &[
            "[model]\ndefalt = 'ollama/x'",
            "[model]\ndefault = ['ollama/x']",
            "[model]\ndefault = \"a\\nb\"",
            "[model]\nthinking = 'hihg'",
            "[model]\nthinking = 1023",
            "[model]\noutput_max = 0",
            "[limits]\nround = 5",
            "[limits]\nrounds = -1",
            "[limits]\nrounds = 1000001",
            "[limits]\ncost = 1e7",
            "[limits]\ncost = nan",
            "[limits]\ncalls_at_once = 0",
            "attribution = 0",
            "attribution = ''",
            "attribution = \"a\\nb\"",
            "model = 'x'",
        ],
        expect![[r#"
            FILE:2: `model.defalt` is no setting; did you mean `default`?
            FILE:2: `model.default` has to be a text of one line, 1 to 256 characters
            FILE:2: `model.default` has to be a text of one line, 1 to 256 characters
            FILE:2: `model.thinking` has to be one of none, minimal, low, medium, high, xhigh, max, or a number of tokens from 1024 to 1000000
            FILE:2: `model.thinking` has to be one of none, minimal, low, medium, high, xhigh, max, or a number of tokens from 1024 to 1000000
            FILE:2: `model.output_max` has to be a number of tokens from 1 to 1000000000
            FILE:2: `limits.round` is no setting; did you mean `rounds`?
            FILE:2: `limits.rounds` has to be a number of model calls from 1 to 1000000, or 0 for no limit
            FILE:2: `limits.rounds` has to be a number of model calls from 1 to 1000000, or 0 for no limit
            FILE:2: `limits.cost` has to be an amount of dollars from 0 to 1000000; 0 is no limit
            FILE:2: `limits.cost` has to be an amount of dollars from 0 to 1000000; 0 is no limit
            FILE:2: `limits.calls_at_once` has to be a number of calls from 1 to 256
            FILE:1: `attribution` has to be true, false, or a text of one line, 1 to 200 characters
            FILE:1: `attribution` has to be true, false, or a text of one line, 1 to 200 characters
            FILE:1: `attribution` has to be true, false, or a text of one line, 1 to 200 characters
            FILE:1: `model` has to be a table, and is a text
        "#]],
    );
}

#[test]
fn of_another_programs_file_only_the_attribution_counts() {
    let text = r#"{"includeCoAuthoredBy": false, "model": "opus", "limits": {"rounds": "x"}}"#;
    check(
        Place::UserClaude,
        text,
        expect![[r#"
            FILE:1: attribution = false
        "#]],
    );
    check(
        Place::UserClaude,
        r#"{"includeCoAuthoredBy": "no"}"#,
        expect![[r#"
        FILE:1: note: `includeCoAuthoredBy` is passed over: it is not true or false
    "#]],
    );
}

/// What these variables say, or what is wrong with them.
fn check_variables(variables: &[(&str, &str)], expected: Expect) {
    let given = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    expected.assert_eq(&match Layer::of_variables(given) {
        Ok(layer) => show(&layer),
        Err(error) => error.to_string(),
    });
}

#[test]
fn variables_say_the_same() {
    check_variables(
        &[
            ("HEELER_MODEL", ""),
            ("ANTHROPIC_MODEL", "claude-x"),
            ("HEELER_THINKING", "2048"),
            ("HEELER_CHARS_PER_TOKEN", " 3 "),
            ("HEELER_AUTO_COMPACT", "false"),
            ("HEELER_MAX_COST", "0.000000000001"),
            ("HEELER_ATTRIBUTION", "false"),
        ],
        expect![[r#"
            ANTHROPIC_MODEL: model.default = "claude-x"
            HEELER_THINKING: model.thinking = 2048
            HEELER_CHARS_PER_TOKEN: context.chars_per_token = 3
            HEELER_AUTO_COMPACT: context.auto_compact = false
            HEELER_MAX_COST: limits.cost = 0.000000001
            HEELER_ATTRIBUTION: attribution = false
        "#]],
    );
    check_variables(
        &[("HEELER_THINKING", "high"), ("HEELER_MAX_COST", "2")],
        expect![[r#"
        HEELER_THINKING: model.thinking = "high"
        HEELER_MAX_COST: limits.cost = 2
    "#]],
    );
    check_variables(
        &[("HEELER_MAX_ROUNDS", "ten")],
        expect![
            "HEELER_MAX_ROUNDS=ten is not usable; set it to a number of model calls from 1 to 1000000, or 0 for no limit"
        ],
    );
    check_variables(
        &[("HEELER_CHARS_PER_TOKEN", "4\nx = 1")],
        expect![[r#"
        HEELER_CHARS_PER_TOKEN=4
        x = 1 is not usable; set it to a number of characters from 1 to 32"#]],
    );
    check_variables(
        &[("HEELER_MODEL", "a: b\nc")],
        expect![[r#"
        HEELER_MODEL=a: b
        c is not usable; set it to a text of one line, 1 to 256 characters"#]],
    );
}

/// What a key takes for itself comes back as the same value.
#[test]
fn every_default_is_a_value_of_its_key_and_shown_as_it_is_written() {
    for key in KEYS {
        let Some(value) = key.default_value() else {
            assert_eq!(key.default, "", "{}", key.path);
            continue;
        };
        assert_eq!(key.show(&value), key.default, "{}", key.path);
    }
}
