//! Any settings at all: an agent comes out of them, or words that name the one that is wrong.

use std::path::Path;

use heeler_core::{Limits, Mode, Rule, RuleEffect};
use heeler_providers::anthropic::AnthropicSettings;
use heeler_sandbox::Launcher;
use heeler_settings::Keep;
use heeler_store::FileStore;
use proptest::prelude::*;
use proptest::sample::select;

use crate::permission::TOOLS;
use crate::{Assembly, Environment, ModelChoice, Permission, Setup, home_folder, keep_rule};

/// Variables of ours that are not about Anthropic's server.
const OWN: [&str; 7] = [
    "HEELER_HOME",
    "HEELER_MODEL",
    "ANTHROPIC_MODEL",
    "HEELER_CHARS_PER_TOKEN",
    "HEELER_CONTEXT_LIMIT",
    "HEELER_WEB_SEARCH",
    "SEARXNG_URL",
];

fn name() -> impl Strategy<Value = &'static str> {
    select([&OWN[..], &AnthropicSettings::VARIABLES].concat())
}

/// Values near to those that are usable, and any others.
fn value() -> impl Strategy<Value = String> {
    const NEAR: [&str; 25] = [
        "",
        " ",
        "0",
        "1",
        "32",
        "33",
        "-1",
        "+4",
        " 4 ",
        "4.0",
        "1e3",
        "18446744073709551615",
        "18446744073709551616",
        "http://",
        "http://a",
        "https://a/b?c",
        "http://[::1]:80/",
        "http://a b",
        "script:",
        "script:/",
        "script:/dev/null",
        "anthropic/",
        "anthropic/x",
        "a: b",
        "a: b\nc",
    ];
    prop_oneof![
        2 => select(&NEAR[..]).prop_map(str::to_owned),
        1 => "[^\0]{0,16}",
        1 => "[0-9]{1,30}",
    ]
}

fn assemble(variables: &[(&str, &str)], rules: Vec<Rule>) -> Result<Assembly, String> {
    let folder = tempfile::tempdir().unwrap();
    let environment: Environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    home_folder(&environment).map_err(|error| error.to_string())?;
    let setup = Setup {
        fallback: Vec::new(),
        environment,
        workspace: "/space".into(),
        model: ModelChoice::Named(None),
        permission: Permission { rules, ..Permission::default() },
        limits: Limits::default(),
        approver: None,
        person: None,
        staged: false,
        launcher: Launcher::new(),
    };
    setup.assemble(FileStore::open(folder.path()).unwrap()).map_err(|error| error.to_string())
}

/// What a variable may be called in words about its value.
fn is_named(error: &str, name: &str, value: &str) -> bool {
    // A script that cannot be read is named by its path.
    let value = value.trim();
    let value = value.strip_prefix("script:").unwrap_or(value);
    error.contains(name) || (name.ends_with("_MODEL") && error.contains(value))
}

/// What a model is told of tools by default, in bytes of JSON; each first request pays for it.
const DEFINITIONS_BYTES_MAX: usize = 9_000;

#[test]
fn the_definitions_told_from_the_beginning_are_short() {
    let variables = [("HOME", "/home/user"), ("ANTHROPIC_API_KEY", "key")];
    let tools = assemble(&variables, Vec::new()).unwrap().parts.tools;
    let definitions = tools.definitions();
    let bytes: usize =
        definitions.iter().map(|one| serde_json::to_string(one).unwrap().len()).sum();
    assert!(bytes <= DEFINITIONS_BYTES_MAX, "{bytes} bytes");
    assert!(tools.names().eq(TOOLS.into_iter().take(tools.names().count())), "the first are told");
}

proptest! {
    // Each case builds a client for TLS.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_variable_is_used_or_named(name in name(), value in value()) {
        let variables = [("HOME", "/home/user"), ("ANTHROPIC_API_KEY", "key"), (name, &value)];
        match assemble(&variables, Vec::new()) {
            Ok(assembly) => {
                let estimate = &assembly.parts.settings.estimate;
                prop_assert!((1..=32).contains(&estimate.chars_per_token));
                prop_assert!(estimate.context_limit != Some(0));
            }
            Err(error) => prop_assert!(
                is_named(&error, name, &value) || error.contains("no key"),
                "{name}={value:?}: {error}"
            ),
        }
    }

    /// A policy that comes out forbids what was asked for, and not another tool.
    #[test]
    fn a_rule_is_kept_or_named(
        text in "(Bash|bash|B\\*|Read|Edit|LS|List|WebFetch|mcp__a|\\*)(\\([ -~]{1,8}\\))?",
        effect in select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]),
    ) {
        let Ok(rule) = Rule::parse(&text, effect, "--rule") else { return Ok(()) };
        let variables = [("HOME", "/home/user"), ("ANTHROPIC_API_KEY", "key")];
        match assemble(&variables, vec![rule.clone()]) {
            Ok(assembly) => {
                let tools = assembly.parts.tool_source.map(|tools| tools.names());
                // Nobody is set who searches.
                let there = TOOLS.into_iter().filter(|name| *name != "WebSearch");
                prop_assert!(tools.is_some_and(|names| there.eq(names)));
                let rules = &assembly.parts.settings.policy.rules;
                let is_at_home = rule.argument.as_deref().is_some_and(|a| a.starts_with('~'));
                prop_assert!(rules.contains(&rule) || is_at_home, "{:?}", rules);
                prop_assert!(rules.iter().all(|one| one.tool == rule.tool && one.effect == effect));
            }
            Err(error) => prop_assert!(error.starts_with("--rule: `"), "{}", error),
        }
    }
}

#[test]
fn a_rule_that_is_kept_counts_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap().to_owned();
    let environment: Environment = [("HEELER_HOME".to_owned(), home)].into_iter().collect();
    let settle = |workspace: &str| {
        let permission = Permission { mode_default: Mode::Ask, ..Permission::default() };
        permission.settle(&environment, Path::new(workspace)).unwrap().0.rules
    };
    let rule = Rule::parse("Bash(make:*)", RuleEffect::Allow, "a person").unwrap();
    keep_rule(&environment, Path::new("/space"), Keep::Here, &rule).unwrap();
    assert_eq!(settle("/space").len(), 1);
    assert_eq!(settle("/space/below").len(), 0);
    let rule = Rule::parse("Bash(*x*)", RuleEffect::Allow, "a person").unwrap();
    assert!(keep_rule(&environment, Path::new("/space"), Keep::Here, &rule).is_err());
}

/// What each tool's words cost whoever is told of them: bytes of its definition as JSON.
#[test]
fn the_words_of_each_tool_have_these_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    let variables = [
        ("HEELER_HOME", home),
        ("HOME", home),
        ("ANTHROPIC_API_KEY", "key"),
        ("HEELER_WEB_SEARCH", "searxng"),
        ("SEARXNG_URL", "http://localhost:8888"),
    ];
    let parts = assemble(&variables, Vec::new()).unwrap().parts;
    let shown: Vec<String> = parts.tools.names().map(str::to_owned).collect();
    let source = parts.tool_source.unwrap();
    let mut told = String::new();
    for name in source.names() {
        let tool = source.get(&name).unwrap();
        let bytes = serde_json::to_string(&tool.definition()).unwrap().len();
        let hidden = if shown.contains(&name) { "" } else { ", hidden" };
        told.push_str(&format!("{name} {bytes}{hidden}\n"));
    }
    expect_test::expect![[r#"
        Read 681
        Write 466
        Edit 836
        Glob 538
        Grep 1434
        LS 439
        Bash 1023
        WebFetch 649
        TodoWrite 444
        TodoRead 91
        ToolSearch 364
        batch 737, hidden
        MultiEdit 836, hidden
        apply_patch 708, hidden
        file_info 538, hidden
        ask_user 486, hidden
        exec 1998, hidden
        git_status 353, hidden
        git_diff 773, hidden
        git_log 678, hidden
        git_commit 793, hidden
        CurrentTime 199, hidden
        Calculator 475, hidden
        WebSearch 868, hidden
    "#]]
    .assert_eq(&told);
}
