//! What the verdict is, and what it says.

use super::*;

/// A policy with rules; `+` allow, `?` ask, `-` deny.
fn policy(mode: Mode, rules: &str) -> Policy {
    let rule = |text: &str| {
        let (effect, text) = match text.split_at(1) {
            ("+", text) => (RuleEffect::Allow, text),
            ("?", text) => (RuleEffect::Ask, text),
            (_, text) => (RuleEffect::Deny, text),
        };
        Rule::parse(text, effect, "test").unwrap()
    };
    Policy {
        mode,
        rules: rules.split(", ").filter(|r| !r.is_empty()).map(rule).collect(),
        interactive: true,
        workspace: "/space".into(),
        ..Policy::default()
    }
}

/// Judges `tool access` under a mode and rules.
fn check(mode: Mode, rules: &str, tool: &str, access: Access, expected: &str) {
    let facts = Facts { accesses: vec![access], ..Facts::default() };
    let verdict = match judge(&policy(mode, rules), &[], tool, &facts).verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    };
    assert_eq!(verdict, expected, "{mode:?} {rules} {tool} {:?}", facts.accesses);
}

/// What a verdict says, its kind first.
fn check_words(policy: &Policy, tool: &str, accesses: &[Access], expected: &str) {
    let facts = Facts { accesses: accesses.to_vec(), ..Facts::default() };
    let words = match judge(policy, &[], tool, &facts).verdict {
        Verdict::Allow { by } => format!("allow: {by}"),
        Verdict::Ask { why } => format!("ask: {why}"),
        Verdict::Deny { by } => format!("deny: {by}"),
    };
    assert_eq!(words, expected);
}

fn run(line: &str) -> Access {
    Access::Command(line.into())
}

fn write(path: &str) -> Access {
    Access::Write(path.into())
}

fn read(path: &str) -> Access {
    Access::Read(path.into())
}

#[test]
fn secrets_are_closed_in_every_mode_whatever_allows_them() {
    use Mode::{AcceptEdits, AllowListed, Ask, Bypass, Plan};
    for mode in [Ask, AcceptEdits, Plan, AllowListed, Bypass] {
        let policy = Policy {
            secrets: ["/space/keys".into(), "/house/.aws".into()].into(),
            readable: vec!["/space/keys/public".into()],
            ..policy(mode, "+Read, +Edit")
        };
        let verdict = |access: Access| {
            let facts = Facts { accesses: vec![read("/space/a"), access], ..Facts::default() };
            judge(&policy, &[], "Any", &facts).verdict
        };
        for closed in ["/space/keys", "/space/keys/a", "/SPACE/Keys/a", "/house/.aws/credentials"] {
            for access in [read(closed), write(closed)] {
                let verdict = verdict(access);
                assert!(matches!(verdict, Verdict::Deny { .. }), "{mode:?} {closed} {verdict:?}");
            }
        }
        for open in ["/space/keys/public/a", "/space/keyst", "/space"] {
            let verdict = verdict(read(open));
            assert!(matches!(verdict, Verdict::Allow { .. }), "{mode:?} {open} {verdict:?}");
        }
    }
    let policy = Policy { secrets: ["/house/.aws".into()].into(), ..policy(Bypass, "") };
    check_words(
        &policy,
        "Read",
        &[read("/house/.aws/credentials")],
        "deny: /house/.aws/credentials is closed: nothing reads or writes in /house/.aws, where keys, \
         passwords or what was said to others is kept, whoever allows it; leave it to the user",
    );
}

#[test]
fn a_reason_is_one_line_whatever_a_path_holds() {
    let policy = Policy { secrets: ["/house/.aws".into()].into(), ..policy(Mode::Ask, "") };
    let path =
        |folder: &str| format!("{folder}/a\n\n2026-01-01  1.1.9  Bash: x\r  allowed  by you");
    let rest = "a \u{23ce} 2026-01-01 1.1.9 Bash: x \u{23ce} allowed by you";
    for (access, expected) in [
        (Access::Read(path("/etc")), format!("ask: it reads /etc/{rest}")),
        (Access::Write(path("/etc")), format!("ask: it writes /etc/{rest}")),
        (Access::Host(path("host")), format!("ask: it talks to host/{rest}")),
        (
            Access::Opaque(path("what")),
            format!("ask: it does something that is not described (what/{rest})"),
        ),
        (
            Access::Read(path("/house/.aws")),
            format!(
                "deny: /house/.aws/{rest} is closed: nothing reads or writes in /house/.aws, where \
                 keys, passwords or what was said to others is kept, whoever allows it; leave it to \
                 the user"
            ),
        ),
    ] {
        check_words(&policy, "Any", &[access], &expected);
    }
}

#[test]
fn modes_without_rules() {
    use Mode::{AcceptEdits, AllowListed, Ask, Bypass, Plan};
    for (mode, inside_read, outside_read, edit, command) in [
        (Ask, "allow", "ask", "ask", "ask"),
        (AcceptEdits, "allow", "ask", "allow", "ask"),
        (Plan, "allow", "ask", "deny", "deny"),
        (AllowListed, "allow", "deny", "deny", "deny"),
        (Bypass, "allow", "allow", "allow", "allow"),
    ] {
        check(mode, "", "Read", read("/space/a"), inside_read);
        check(mode, "", "Read", read("/etc/passwd"), outside_read);
        check(mode, "", "Edit", write("/space/a"), edit);
        check(mode, "", "Bash", run("ls"), command);
    }
    check(AcceptEdits, "", "Edit", write("/space/.git/hooks/pre-commit"), "ask");
    check(AcceptEdits, "", "Edit", write("/space/sub/.git/config"), "ask");
    check(AcceptEdits, "", "Edit", write("/space/.Claude/settings.json"), "ask");
    check(AcceptEdits, "", "Edit", write("/space/.github/x"), "allow");
    check(AcceptEdits, "", "Edit", write("/workshop/a"), "ask");
}

#[test]
fn what_decides_what_later_runs_is_no_plain_edit_in_any_folder() {
    for path in [
        ".vimrc",
        ".gdbinit",
        "sub/.envrc",
        "sub/.vscode/tasks.json",
        "a/b/.claude/settings.json",
        "sub/.Cargo/config.toml",
        "sub/.gitmodules",
    ] {
        check(Mode::AcceptEdits, "", "Write", write(&format!("/space/{path}")), "ask");
    }
    check(Mode::AcceptEdits, "", "Write", write("/space/sub/.cargo/notes"), "allow");
    check(Mode::AcceptEdits, "", "Write", write("/space/.bashrc"), "allow");
}

#[test]
fn in_a_home_what_begins_with_a_dot_is_no_plain_edit() {
    let asks = |home: &str, path: &str| {
        let policy = Policy { home: Some(home.into()), ..policy(Mode::AcceptEdits, "") };
        let facts = Facts { accesses: vec![write(path)], ..Facts::default() };
        matches!(judge(&policy, &[], "Write", &facts).verdict, Verdict::Ask { .. })
    };
    for (home, path, expected) in [
        ("/space", "/space/.bashrc", true),
        ("/space/", "/space/.config/autostart/x.desktop", true),
        ("/space", "/space/project/.bashrc", false),
        ("/space", "/space/notes", false),
        ("/space/user", "/space/User/.profile", true),
        ("/space/user", "/space/other/.profile", false),
        ("/", "/space/.profile", false),
    ] {
        assert_eq!(asks(home, path), expected, "{home} {path}");
    }
}

#[test]
fn deny_wins_in_every_mode() {
    for mode in [Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed, Mode::Bypass] {
        check(mode, "+Bash, -Bash(rm:*)", "Bash", run("rm -r x"), "deny");
        check(mode, "+Bash, -Bash(rm:*)", "Bash", run("ls; rm -r x"), "deny");
        check(mode, "+Edit, -Edit(secret/**)", "Write", write("/space/secret/a"), "deny");
        check(mode, "+Read, -Read", "Read", read("/space/a"), "deny");
    }
}

#[test]
fn a_rule_holds_for_what_it_names_and_nothing_else() {
    for other in ["-Bash(rm:*)", "?Bash(rm:*)", "-Edit(rm:*)", "-Edit", "?Read", "-Bashful"] {
        check(Mode::Ask, &format!("+Bash, {other}"), "Bash", run("ls && pwd"), "allow");
        check(Mode::Ask, &format!("+Bash, {other}"), "Bash", run("ls -l"), "allow");
    }
    check(Mode::Ask, "+Bash, -Edit(rm:*)", "Bash", run("ls; rm x"), "allow");
    // The argument speaks of what else the tool touches.
    let host = Access::Host("a.example".into());
    check(Mode::Ask, "+WebFetch, -Mirror(out/**)", "Mirror", host, "allow");
}

#[test]
fn a_verdict_says_what_it_is_for() {
    let ask = |rules| policy(Mode::Ask, rules);
    let all = [run("ls"), read("/etc/a"), write("/space/a"), Access::Host("h".into())];
    for (rules, expected) in [
        ("", "ask: it runs the command `ls`"),
        ("+Bash", "ask: it reads /etc/a"),
        ("+Bash, +Read", "ask: it writes /space/a"),
        ("+Bash, +Read, +Edit", "ask: it talks to h"),
        ("+Run", "allow: rule Run (test)"),
        (
            "+Bash, +Read, +Edit, +WebFetch, -Run(x)",
            "allow: rule Bash (test); rule Read (test); rule Edit (test); rule WebFetch (test)",
        ),
        ("+Run, ?Read(//etc/**)", "ask: the rule Read(//etc/**) (test) asks"),
        ("+Run, -Read(//etc/**)", "deny: the rule Read(//etc/**) (test) denies it"),
    ] {
        check_words(&ask(rules), "Run", &all, expected);
    }
    let hidden = "deny: the rule Bash(rm:*) (test) denies something this command line may \
                  contain; run the parts as separate simple commands, and write out what \
                  aliases, variables and patterns stand for";
    check_words(&ask("+Bash, -Bash(rm:*)"), "Bash", &[run("$X")], hidden);
    let long = format!("ask: it runs the command `{}…`", "x".repeat(79));
    check_words(&ask(""), "Bash", &[run(&"x".repeat(99))], &long);
    let opaque = [Access::Opaque("magic".into())];
    check_words(&ask(""), "T", &opaque, "ask: it does something that is not described (magic)");
    for (mode, access, expected) in [
        (
            Mode::Plan,
            write("/space/a"),
            "deny: plan mode is read-only, and this call writes /space/a",
        ),
        (Mode::Bypass, run("ls"), "allow: mode bypass"),
        (Mode::Ask, read("/space/a"), "allow: reads in the workspace are allowed"),
        (Mode::AcceptEdits, write("/space/a"), "allow: mode accept-edits"),
        (
            Mode::AcceptEdits,
            write("/space/.Zed/tasks.json"),
            "ask: it writes /space/.Zed/tasks.json",
        ),
        (
            Mode::AllowListed,
            run("ls"),
            "deny: it runs the command `ls`, which no rule allows, and nobody can be asked in the mode allow-listed",
        ),
    ] {
        check_words(&policy(mode, ""), "T", &[access], expected);
    }
    let protected = vec!["/space/tools/hooks".to_owned()];
    let policy = Policy { protected, ..policy(Mode::AcceptEdits, "") };
    for (path, expected) in [
        ("/space/tools/hooks/pre-commit", "ask: it writes /space/tools/hooks/pre-commit"),
        ("/space/Tools/Hooks", "ask: it writes /space/Tools/Hooks"),
        ("/space/tools/hooks.md", "allow: mode accept-edits"),
    ] {
        check_words(&policy, "T", &[write(path)], expected);
    }
}

#[test]
fn a_call_that_touches_nothing_runs() {
    let nothing = "allow: touches nothing outside the agent";
    for (rules, expected) in [
        ("", nothing),
        ("+Other", nothing),
        ("+Think(x)", nothing),
        ("+Think", "allow: rule Think (test)"),
        ("?Think", "ask: the rule Think (test) asks"),
        ("-Think", "deny: the rule Think (test) denies it"),
        ("-Other, ?Other", nothing),
    ] {
        check_words(&policy(Mode::Ask, rules), "Think", &[], expected);
    }
}

#[test]
fn a_child_says_its_own_reason_unless_its_parent_is_stricter() {
    let child = |own: &str, parents: &str| Policy {
        within: Some(Box::new(policy(Mode::Ask, parents))),
        ..policy(Mode::Ask, own)
    };
    for (own, parents, expected) in [
        ("+Bash", "+Bash(ls)", "allow: rule Bash (test)"),
        ("?Bash", "?Bash(ls)", "ask: the rule Bash (test) asks"),
        ("+Bash", "?Bash(ls)", "ask: the rule Bash(ls) (test) asks"),
        ("?Bash", "+Bash(ls)", "ask: the rule Bash (test) asks"),
        ("-Bash", "-Bash(ls)", "deny: the rule Bash (test) denies it"),
        ("?Bash", "-Bash(ls)", "deny: the rule Bash(ls) (test) denies it"),
    ] {
        check_words(&child(own, parents), "Bash", &[run("ls")], expected);
    }
}

#[test]
fn where_a_parent_asks_nobody_its_child_cannot_ask_for_it() {
    let parent = |rules| Policy { interactive: false, ..policy(Mode::Ask, rules) };
    let child =
        |parents| Policy { within: Some(Box::new(parent(parents))), ..policy(Mode::Ask, "+Bash") };
    let denied = "deny: it runs the command `ls`, and nobody can be asked";
    check_words(&child(""), "Bash", &[run("ls")], denied);
    check_words(&child("+Bash"), "Bash", &[run("ls")], "allow: rule Bash (test)");
    // What was granted to the child is nothing to its parent.
    let facts = Facts { accesses: vec![run("ls")], ..Facts::default() };
    let grants = [Rule::parse("Bash", RuleEffect::Allow, "somebody").unwrap()];
    let judged = judge(&child(""), &grants, "Bash", &facts);
    assert!(matches!(judged.verdict, Verdict::Deny { .. }), "{judged:?}");
}

#[test]
fn ask_wins_over_allow_but_not_over_bypass() {
    check(Mode::Ask, "+Bash(ls:*), ?Bash(ls:*)", "Bash", run("ls -l"), "ask");
    check(Mode::Bypass, "?Bash(ls:*)", "Bash", run("ls -l"), "allow");
    check(Mode::AllowListed, "+Bash, ?Bash(ls:*)", "Bash", run("ls -l"), "deny");
}

#[test]
fn allow_rules_match_simple_commands_only() {
    let mode = Mode::AllowListed;
    check(mode, "+Bash(git status:*)", "Bash", run("git status"), "allow");
    check(mode, "+Bash(git status:*)", "Bash", run("git status --short"), "allow");
    check(mode, "+Bash(git status:*)", "Bash", run("git statusx"), "deny");
    check(mode, "+Bash(git status:*)", "Bash", run("git status && rm x"), "deny");
    check(mode, "+Bash(git status:*)", "Bash", run("git status $(rm x)"), "deny");
    check(mode, "+Bash(cargo test)", "Bash", run("cargo test"), "allow");
    check(mode, "+Bash(cargo test)", "Bash", run("cargo test -q"), "deny");
    check(mode, "+Bash", "Bash", run("a | b"), "allow");
}

#[test]
fn a_rule_that_cannot_be_understood_allows_nothing_and_forbids_all() {
    for (rule, tool, access) in [
        ("Edit(src/[)", "Write", write("/space/other")),
        ("Read(~/x)", "Grep", read("/space/x")),
        ("Bash(*rm*)", "Bash", run("rm x")),
        ("WebFetch(a.example)", "WebFetch", Access::Host("a.example".into())),
    ] {
        check(Mode::Bypass, &format!("-{rule}"), tool, access.clone(), "deny");
        check(Mode::Ask, &format!("+{tool}, ?{rule}"), tool, access.clone(), "ask");
        let alone = if matches!(access, Access::Read(_)) { "allow" } else { "deny" };
        check(Mode::AllowListed, &format!("+{rule}"), tool, access, alone);
    }
}

#[test]
fn rules_speak_of_what_a_call_does() {
    let mode = Mode::AllowListed;
    check(mode, "+Edit(src/**)", "Write", write("/space/src/a/b.rs"), "allow");
    check(mode, "+Edit(src/**)", "Write", write("/space/lib.rs"), "deny");
    check(mode, "+Read(//etc/hosts)", "Grep", read("/etc/hosts"), "allow");
    let host = |name: &str| Access::Host(name.into());
    check(mode, "+WebFetch(domain:example.com)", "WebFetch", host("a.example.com"), "allow");
    check(mode, "+WebFetch(domain:example.com)", "WebFetch", host("Example.COM"), "allow");
    check(mode, "+WebFetch(domain:example.com)", "WebFetch", host("badexample.com"), "deny");
    // A dot at the end is the same name to whoever resolves it.
    for name in ["example.com", "example.com.", "a.Example.com.", "example.com.."] {
        check(mode, "+WebFetch, -WebFetch(domain:example.com)", "WebFetch", host(name), "deny");
        check(mode, "+WebFetch, -WebFetch(domain:example.com.)", "WebFetch", host(name), "deny");
        check(mode, "+WebFetch(domain:Example.com.)", "WebFetch", host(name), "allow");
    }
    check(mode, "+WebFetch, -WebFetch(domain:.)", "WebFetch", host("example.com"), "deny");
    check(mode, "+WebFetch(domain:.)", "WebFetch", host("example.com."), "deny");
    check(mode, "+WebFetch(example.com)", "WebFetch", host("example.com"), "deny");
    check(mode, "+mcp__git__*", "mcp__git__log", Access::Opaque("x".into()), "allow");
}
