//! The verdict: deny wins, whatever else is written, granted or set.

use heeler_core::{
    Access, Concern, ConcernKind, Facts, Judgement, Mode, Policy, Rule, RuleEffect, ShellCommand,
    ShellLine, Verdict,
};
use heeler_turn::verdict::{judge, judge_heeding};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::cases;
use crate::toolbox;

/// An access, the tool that makes it, and arguments of rules that match it.
#[derive(Debug, Clone)]
struct Sample {
    tool: &'static str,
    access: Access,
    arguments: &'static [&'static str],
}

fn samples() -> Vec<Sample> {
    let sample = |tool, access, arguments| Sample { tool, access, arguments };
    let bash = |line: &str, arguments| sample("Bash", Access::Command(line.into()), arguments);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let shell =
        |line: ShellLine, arguments| sample("Bash", Access::Shell(Box::new(line)), arguments);
    let line = |line: &str, concerns: &[ConcernKind]| ShellLine {
        line: line.into(),
        commands: line
            .split(" && ")
            .map(|part| ShellCommand { words: words(part), ..ShellCommand::default() })
            .collect(),
        concerns: concerns.iter().map(|kind| Concern { kind: *kind, why: "?".into() }).collect(),
        ..ShellLine::default()
    };
    vec![
        shell(
            line("ls && git push", &[ConcernKind::Leaves]),
            &["Bash(git push:*)", "Bash(git push)", "Bash(ls *)", "Bash"],
        ),
        shell(line("git reset --hard", &[ConcernKind::Irreversible]), &["Bash(git reset:*)"]),
        shell(line("g$X x", &[ConcernKind::NotUnderstood]), &["Bash(rm:*)", "Bash(git:*)"]),
        shell(
            ShellLine { is_read_only: true, ..line("cat src/../.env", &[]) },
            &["Read(.env)", "Read(//w/.env)", "Bash(cat:*)", "Grep(.env)"],
        ),
        shell(
            ShellLine { writes: vec!["/w/out/a".into()], ..line("echo a", &[]) },
            &["Edit(out/**)", "Write(out)", "Bash(echo a)"],
        ),
        shell(line("cp --target=out/a b", &[]), &["Edit(out/**)", "Read(b)"]),
        bash("git push", &["Bash", "Bash(git push)", "Bash(git:*)", "bash(git push:*)", "B*"]),
        bash("git  push --force", &["Bash(git push:*)", "Bash(git *)", "Bash"]),
        // A line that is not plainly one command is denied when it may hide what a rule names.
        bash("ls; git push", &["Bash(git push:*)", "Bash(git:*)"]),
        bash("g\"i\"t push", &["Bash(git push:*)"]),
        bash("$(echo git) push", &["Bash(git:*)", "Bash(rm:*)"]),
        sample(
            "Write",
            Access::Write("/w/src/a.rs".into()),
            &["Edit(src/**)", "Write(*.rs)", "Edit", "edit(//w/**)", "Write"],
        ),
        sample("Grep", Access::Read("/etc/passwd".into()), &["Read(//etc/**)", "Read", "Grep"]),
        sample("List", Access::Read("/w/secret".into()), &["Read(secret)", "Read(/secret)"]),
        sample(
            "Fetch",
            Access::Host("a.Example.com".into()),
            &["WebFetch(domain:example.com)", "WebFetch", "Fetch", "Fetch(domain:a.example.com)"],
        ),
        sample("mcp__x__y", Access::Opaque("?".into()), &["mcp__x__y", "mcp__x__*"]),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    select(vec![Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed, Mode::Bypass])
}

/// Any rule: of any effect, about any of the samples.
fn rule() -> impl Strategy<Value = Rule> {
    let arguments: Vec<&str> =
        samples().iter().flat_map(|sample| sample.arguments).copied().collect();
    let effects = vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny];
    (select(arguments), select(effects)).prop_map(|(text, effect)| parse(text, effect))
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..6)
}

fn parse(text: &str, effect: RuleEffect) -> Rule {
    Rule::parse(text, effect, "test").unwrap()
}

fn facts() -> impl Strategy<Value = (&'static str, Facts)> {
    (select(samples()), prop::collection::vec(select(samples()), 0..3)).prop_map(|(main, more)| {
        let accesses = std::iter::once(main.access).chain(more.into_iter().map(|s| s.access));
        (main.tool, Facts { accesses: accesses.collect(), ..Facts::default() })
    })
}

fn policy(mode: Mode, rules: Vec<Rule>) -> Policy {
    Policy {
        mode,
        rules,
        interactive: true,
        workspace: "/w".into(),
        has_box: true,
        ..Policy::default()
    }
}

/// How little a verdict lets through.
fn strictness(judgement: &Judgement) -> u8 {
    match &judgement.verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_matching_deny_rule_wins(
        mode in mode(), mut rules in rules(), grants in rules(), (tool, facts) in facts(),
        which in any::<Index>(), at in any::<Index>(),
    ) {
        let Some(sample) = samples().into_iter().find(|s| facts.accesses[0] == s.access) else {
            panic!("facts come from the samples")
        };
        let argument = sample.arguments[which.index(sample.arguments.len())];
        let deny = parse(argument, RuleEffect::Deny);
        rules.insert(at.index(rules.len() + 1), deny);
        let verdict = judge(&policy(mode, rules), &grants, tool, &facts);
        prop_assert_eq!(strictness(&verdict), 2, "{:?}", verdict);
    }

    #[test]
    fn a_deny_rule_never_widens_and_no_allow_rule_lifts_a_denial(
        mode in mode(), rules in rules(), grants in rules(), (tool, facts) in facts(),
        extra in rule(),
    ) {
        let before = strictness(&judge(&policy(mode, rules.clone()), &grants, tool, &facts));
        let mut more = rules;
        more.push(extra.clone());
        let after = strictness(&judge(&policy(mode, more), &grants, tool, &facts));
        // Nobody is asked in the mode allow-listed, so what no rule allows is denied there.
        let lifts = before == 2 && after < 2 && mode != Mode::AllowListed;
        match extra.effect {
            RuleEffect::Allow => prop_assert!(after <= before && !lifts),
            RuleEffect::Ask | RuleEffect::Deny => prop_assert!(after >= before),
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        mode in mode(), rules in rules(), grants in rules(), (tool, facts) in facts(),
    ) {
        let mut backwards = rules.clone();
        backwards.reverse();
        let one = judge(&policy(mode, rules), &grants, tool, &facts);
        let other = judge(&policy(mode, backwards), &grants, tool, &facts);
        prop_assert_eq!(strictness(&one), strictness(&other));
    }

    #[test]
    fn each_mode_keeps_its_word(rules in rules(), grants in rules(), (tool, facts) in facts()) {
        let judged = |mode| judge(&policy(mode, rules.clone()), &grants, tool, &facts);
        prop_assert_ne!(strictness(&judged(Mode::Bypass)), 1);
        prop_assert_ne!(strictness(&judged(Mode::AllowListed)), 1);
        let changes = |access: &Access| match access {
            Access::Shell(line) => !line.is_read_only,
            other => !matches!(other, Access::Read(_) | Access::Host(_)),
        };
        if facts.accesses.iter().any(changes) {
            prop_assert_eq!(strictness(&judged(Mode::Plan)), 2);
        }
        let accept_edits = strictness(&judged(Mode::AcceptEdits));
        prop_assert!(accept_edits <= strictness(&judged(Mode::Ask)));
        prop_assert!(strictness(&judged(Mode::Bypass)) <= accept_edits);
    }

    #[test]
    fn a_hook_can_deny_and_lifts_neither_a_denial_nor_the_box(
        mode in mode(), rules in rules(), grants in rules(), (tool, facts) in facts(),
        wish in select(vec!["allow", "ask", "broken", "deny", "stop", "nothing"]),
    ) {
        let policy = policy(mode, rules);
        let alone = judge(&policy, &grants, tool, &facts);
        let hook = toolbox::hook(wish);
        let heeding = judge_heeding(&policy, &grants, tool, &facts, Some(&hook));
        let [before, after] = [&alone, &heeding].map(strictness);
        match wish {
            "broken" | "deny" | "stop" => prop_assert_eq!(after, 2),
            "ask" => prop_assert!(after >= before),
            // Nobody is asked in the mode allow-listed, so what no rule allows is denied there.
            "allow" => prop_assert!(after <= before && (before < 2 || after == 2 || mode == Mode::AllowListed)),
            _ => prop_assert_eq!(&heeding, &alone),
        }
        prop_assert!(after == 2 || !alone.confined || heeding.confined);
    }

    #[test]
    fn a_child_is_never_wider_than_its_parent(
        (own, own_rules) in (mode(), rules()),
        (parents, parents_rules) in (mode(), rules()),
        grants in rules(),
        (tool, facts) in facts(),
    ) {
        let alone = policy(own, own_rules);
        let parent = policy(parents, parents_rules);
        let child = Policy { within: Some(Box::new(parent.clone())), ..alone.clone() };
        let verdict = |policy: &Policy| strictness(&judge(policy, &grants, tool, &facts));
        prop_assert_eq!(verdict(&child), verdict(&alone).max(verdict(&parent)));
    }
}
