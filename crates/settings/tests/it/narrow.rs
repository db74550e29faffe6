//! Whatever stands in a repository's files that nobody trusts, no call is judged more kindly.

use std::collections::BTreeSet;

use heeler_core::{Access, Facts, Mode, Policy, Verdict};
use heeler_settings::{Context, Place, Source, load};
use heeler_turn::verdict::judge;
use proptest::prelude::*;
use proptest::sample::select;

const RULES: [&str; 14] = [
    "Bash",
    "Bash(ls:*)",
    "Bash(ls *)",
    "Bash(rm x)",
    "Bash(r*)",
    "Read",
    "Read(~/secret)",
    "Read(/a/**)",
    "Read(//etc)",
    "Edit(*.rs)",
    "Edit",
    "WebFetch(domain:x.example)",
    "Task(x)",
    "mcp__a__b",
];

const MODES: [&str; 5] = ["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"];

fn context() -> Context {
    Context {
        workspace: "/space".into(),
        homes: vec!["/home/user".into()],
        tools: ["Bash", "Read", "Edit"].map(str::to_owned).into(),
    }
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(select(&RULES[..]), 0..4)
}

/// A file of Claude Code's form that says anything.
fn file(place: Place) -> impl Strategy<Value = Source> {
    (rules(), rules(), rules(), prop::option::of(select(&MODES[..]))).prop_map(
        move |(allow, ask, deny, mode)| {
            let mut permissions = serde_json::json!({
                "allow": allow, "ask": ask, "deny": deny,
            });
            if place.is_repository() {
                permissions["additionalDirectories"] = serde_json::json!(["/etc", "~"]);
            }
            if let Some(mode) = mode {
                permissions["defaultMode"] = mode.into();
            }
            let content = serde_json::json!({ "permissions": permissions }).to_string();
            Source {
                place,
                path: "settings.json".into(),
                name: format!("{place:?}"),
                content: content.into_bytes(),
                trusted: BTreeSet::new(),
            }
        },
    )
}

fn access() -> impl Strategy<Value = Access> {
    let path = select(vec!["/space/a/b", "/space/m.rs", "/etc/x", "/home/user/secret", "/a/x"]);
    prop_oneof![
        select(vec!["ls -l", "rm x", "rm y", "ls; rm x"]).prop_map(|l| Access::Command(l.into())),
        path.clone().prop_map(|path| Access::Read(path.into())),
        path.prop_map(|path| Access::Write(path.into())),
        Just(Access::Host("a.x.example".into())),
        Just(Access::Opaque("x".into())),
    ]
}

/// How strict the verdict on a call is under these files.
fn strictness(sources: &[Source], tool: &str, access: &Access) -> u8 {
    let loaded = load(sources, Vec::new(), &context()).unwrap();
    let policy = Policy {
        mode: loaded.mode.map_or(Mode::Ask, |mode| mode.value),
        rules: loaded.rules,
        interactive: true,
        workspace: "/space".into(),
        ..Policy::default()
    };
    let facts = Facts { accesses: vec![access.clone()], ..Facts::default() };
    match judge(&policy, &[], tool, &facts).verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    }
}

proptest! {
    #[test]
    fn no_call_is_judged_more_kindly_for_an_untrusted_file(
        user in file(Place::UserClaude),
        project in file(Place::ProjectClaude),
        local in file(Place::LocalClaude),
        access in access(),
        tool in select(vec!["Bash", "Read", "Edit", "mcp__a__b", "Task"]),
    ) {
        let alone = strictness(std::slice::from_ref(&user), tool, &access);
        let beside = strictness(&[user, project, local], tool, &access);
        prop_assert!(beside >= alone, "{tool} {access:?}: {alone} alone, {beside} beside");
    }
}
