//! Verdicts on command lines that were read: what runs at once, what asks, and what stays in the
//! box.

use heeler_core::{Concern, ConcernKind, HookVerdict, ShellCommand, ShellLine};

use super::*;

/// A line of plain commands, parted by ` && `. A command before ` @ ` only runs the others.
fn line(text: &str, concerns: &[(ConcernKind, &str)]) -> ShellLine {
    let command = |part: &str| {
        let (words, is_wrapper) = match part.strip_suffix(" @") {
            Some(wrapper) => (wrapper, true),
            None => (part, false),
        };
        let words = words.split_whitespace().map(str::to_owned).collect();
        ShellCommand { words, is_wrapper, ..ShellCommand::default() }
    };
    ShellLine {
        line: text.to_owned(),
        commands: text.split(" && ").map(command).collect(),
        concerns: concerns
            .iter()
            .map(|(kind, why)| Concern { kind: *kind, why: (*why).to_owned() })
            .collect(),
        ..ShellLine::default()
    }
}

/// The policy of these rules: `+` allow, `?` ask, `-` deny.
fn policy(mode: Mode, rules: &str) -> Policy {
    let rule = |text: &str| {
        let effect = match &text[..1] {
            "+" => RuleEffect::Allow,
            "?" => RuleEffect::Ask,
            _ => RuleEffect::Deny,
        };
        Rule::parse(&text[1..], effect, "test").unwrap()
    };
    let rules = rules.split(", ").filter(|rule| !rule.is_empty()).map(rule).collect();
    let workspace = "/space".into();
    Policy { mode, rules, interactive: true, workspace, has_box: true, ..Policy::default() }
}

/// `allow`, `ask` or `deny`, where it runs, and the rule that decided.
fn judged(policy: &Policy, line: &ShellLine) -> String {
    let facts = Facts { accesses: vec![Access::Shell(Box::new(line.clone()))], ..Facts::default() };
    let judgement = judge(policy, &[], "Bash", &facts);
    let verdict = match judgement.verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    };
    let place = if judgement.confined { " in the box" } else { "" };
    let rule = judgement.rule.map(|rule| format!(" by {rule}")).unwrap_or_default();
    format!("{verdict}{place}{rule}")
}

fn check(mode: Mode, rules: &str, line: &ShellLine, expected: &str) {
    let judged = judged(&policy(mode, rules), line);
    assert_eq!(judged, expected, "{mode:?} {rules} {}", line.line);
}

#[test]
fn in_a_stage_every_command_runs_in_the_box_and_none_outside_of_it() {
    let of = |rules| Policy { staged: true, ..policy(Mode::AcceptEdits, rules) };
    let reset = line("git reset --hard", &[(ConcernKind::Irreversible, "it discards changes")]);
    let doubtful = line("eval $x", &[(ConcernKind::NotUnderstood, "nobody knows what it runs")]);
    let leaves = line("sudo ls", &[(ConcernKind::Leaves, "another user")]);
    assert_eq!(judged(&of(""), &reset), "allow in the box");
    assert_eq!(judged(&of(""), &doubtful), "allow in the box");
    assert_eq!(judged(&of("+Bash"), &reset), "allow in the box");
    assert_eq!(judged(&of(""), &leaves), "allow in the box");
    assert_eq!(judged(&of("-Bash(git reset:*)"), &reset), "deny by Bash(git reset:*)");
    assert_eq!(judged(&of("?Bash(git reset:*)"), &reset), "ask in the box by Bash(git reset:*)");
    assert_eq!(judged(&Policy { has_box: false, ..of("") }, &reset), "ask");
    assert_eq!(judged(&Policy { mode: Mode::Plan, ..of("") }, &reset), "deny");
    let write = Facts { accesses: vec![Access::Write("/etc/x".into())], ..Facts::default() };
    let allows = HookVerdict::Allow { by: "hook".into(), reason: None };
    let heeding =
        |policy: &Policy| judge_heeding(policy, &[], "Write", &write, Some(&allows)).verdict;
    assert!(matches!(heeding(&of("")), Verdict::Ask { .. }));
    assert!(matches!(heeding(&policy(Mode::AcceptEdits, "")), Verdict::Allow { .. }));
}

#[test]
fn what_stays_in_the_box_runs_there_unasked() {
    let test = line("cargo test", &[]);
    check(Mode::Ask, "", &test, "allow in the box");
    check(Mode::AcceptEdits, "", &test, "allow in the box");
    check(Mode::AllowListed, "", &test, "allow in the box");
    check(Mode::Plan, "", &test, "deny");
    check(Mode::Bypass, "", &test, "allow");
    let no_box = Policy { has_box: false, ..policy(Mode::Ask, "") };
    assert_eq!(judged(&no_box, &test), "ask");
}

#[test]
fn plan_mode_lets_look() {
    let look = ShellLine { is_read_only: true, ..line("git status", &[]) };
    check(Mode::Plan, "", &look, "allow in the box");
    // A rule lets a line out of the box, but out of plan mode no rule does.
    check(Mode::Ask, "+Bash", &look, "allow by Bash");
    check(Mode::Plan, "+Bash", &look, "allow in the box by Bash");
    check(Mode::Plan, "+Bash(git status)", &look, "allow in the box by Bash(git status)");
    let parent = Some(Box::new(policy(Mode::Plan, "")));
    let child = Policy { within: parent, ..policy(Mode::Ask, "+Bash") };
    assert_eq!(judged(&child, &look), "allow in the box by Bash");
    let computed = [(ConcernKind::NotUnderstood, "what it runs is computed")];
    let look = ShellLine { is_read_only: true, ..line("$X", &computed) };
    check(Mode::Plan, "", &look, "deny");
}

#[test]
fn what_somebody_allowed_runs_outside() {
    let push = line("git push", &[(ConcernKind::Leaves, "git push talks to the network")]);
    check(Mode::Ask, "", &push, "ask");
    check(Mode::Ask, "+Bash(git push:*)", &push, "allow by Bash(git push:*)");
    check(Mode::Ask, "+Bash", &push, "allow by Bash");
    check(Mode::AllowListed, "", &push, "deny");
    check(Mode::Ask, "+Bash(cargo test)", &line("cargo test", &[]), "allow by Bash(cargo test)");
}

#[test]
fn rules_on_commands_are_for_each_tool_that_runs_them() {
    let push = line("git push", &[(ConcernKind::Leaves, "git push talks to the network")]);
    let facts = Facts { accesses: vec![Access::Shell(Box::new(push))], ..Facts::default() };
    for (rule, runs) in
        [("+Bash(git push:*)", true), ("+Exec(git push:*)", true), ("+Other(git push:*)", false)]
    {
        let verdict = judge(&policy(Mode::Ask, rule), &[], "Exec", &facts).verdict;
        assert_eq!(matches!(verdict, Verdict::Allow { .. }), runs, "{rule}");
    }
}

#[test]
fn what_a_hook_lets_run_stays_in_the_box_where_it_would_have() {
    let allows = HookVerdict::Allow { by: "hook".into(), reason: None };
    for (kind, confined) in [(ConcernKind::NotUnderstood, true), (ConcernKind::Leaves, false)] {
        let access = Access::Shell(Box::new(line("eval $x", &[(kind, "why")])));
        let facts = Facts { accesses: vec![access], ..Facts::default() };
        let judgement = judge_heeding(&policy(Mode::Ask, ""), &[], "Bash", &facts, Some(&allows));
        assert!(matches!(judgement.verdict, Verdict::Allow { .. }), "{kind:?}");
        assert_eq!(judgement.confined, confined, "{kind:?}");
    }
}

#[test]
fn what_is_understood_hides_nothing() {
    let rules = "-Bash(rm:*), -Bash(git push:*)";
    check(Mode::Ask, rules, &line("echo 'rm'", &[]), "allow in the box");
    check(Mode::Ask, rules, &line("git pushy", &[]), "allow in the box");
    check(Mode::Ask, rules, &line("git push origin", &[]), "deny by Bash(git push:*)");
}

#[test]
fn each_command_needs_its_rule_and_wrappers_need_none() {
    let leaves = [(ConcernKind::Leaves, "the network")];
    let both = line("git fetch && git push", &leaves);
    check(Mode::Ask, "+Bash(git fetch:*)", &both, "ask");
    check(Mode::Ask, "+Bash(git fetch:*), +Bash(git push)", &both, "allow by Bash(git fetch:*)");
    let wrapped = line("timeout 5 git fetch @ && git fetch", &leaves);
    check(Mode::Ask, "+Bash(git fetch:*)", &wrapped, "allow by Bash(git fetch:*)");
    check(Mode::Ask, "+Bash(timeout:*)", &wrapped, "ask");
    // Rules that ask or deny see both.
    check(Mode::Ask, "+Bash, -Bash(timeout:*)", &wrapped, "deny by Bash(timeout:*)");
    check(Mode::Ask, "+Bash, ?Bash(git fetch)", &wrapped, "ask by Bash(git fetch)");
}

#[test]
fn what_cannot_be_undone_asks_whatever_is_allowed() {
    let reset = line("git reset --hard", &[(ConcernKind::Irreversible, "it discards changes")]);
    check(Mode::Ask, "+Bash", &reset, "ask in the box");
    check(Mode::Ask, "+Bash(git reset:*)", &reset, "ask in the box");
    check(Mode::AllowListed, "+Bash", &reset, "deny");
    check(Mode::Bypass, "", &reset, "allow");
    check(Mode::Bypass, "-Bash(git reset:*)", &reset, "deny by Bash(git reset:*)");
}

#[test]
fn a_rule_with_words_allows_no_line_that_is_more_than_its_words() {
    let unclear = [(ConcernKind::NotUnderstood, "a word is computed")];
    check(Mode::Ask, "+Bash(echo:*)", &line("echo $(x)", &unclear), "ask in the box");
    check(Mode::Ask, "+Bash", &line("echo $(x)", &unclear), "allow by Bash");
    check(Mode::Ask, "+Bash, -Bash(rm:*)", &line("echo $(x)", &unclear), "deny by Bash(rm:*)");
    let path = [(ConcernKind::Environment, "it sets PATH")];
    check(Mode::Ask, "+Bash(ls:*)", &line("ls", &path), "ask in the box");
}

#[test]
fn a_program_of_the_workspace_is_not_the_one_it_is_called_like() {
    let push = |is_doubtful| ShellLine {
        commands: vec![ShellCommand {
            words: vec!["./git".into(), "-C".into(), "x".into(), "push".into()],
            plain: vec!["git".into(), "push".into()],
            is_doubtful,
            ..ShellCommand::default()
        }],
        ..line("", &[(ConcernKind::Leaves, "the network")])
    };
    let allowed = "allow by Bash(git push:*)";
    check(Mode::Ask, "+Bash(git push:*)", &push(false), allowed);
    check(Mode::Ask, "+Bash(git push:*)", &push(true), "ask");
    check(Mode::Ask, "+Bash, -Bash(git push:*)", &push(true), "deny by Bash(git push:*)");
}

#[test]
fn paths_in_a_line_are_seen_by_rules_on_paths() {
    let cat = ShellLine { is_read_only: true, ..line("cat src/../.env", &[]) };
    check(Mode::Bypass, "-Read(.env)", &cat, "deny by Read(.env)");
    check(Mode::Ask, "?Read(//space/.env)", &cat, "ask in the box by Read(//space/.env)");
    check(Mode::Ask, "-Edit(.env)", &cat, "allow in the box");
    check(Mode::Ask, "-Edit(.env)", &line("sed -i s/a/b/ .env", &[]), "deny by Edit(.env)");
    check(Mode::Ask, "-Read(.env)", &line("tool --from=.env", &[]), "deny by Read(.env)");
    // Neither does one on something else that is written like a path.
    check(Mode::Ask, "-WebFetch(.env)", &line("tool .env", &[]), "allow in the box");
    // A rule that allows to read says nothing of what runs.
    let leaves = [(ConcernKind::Leaves, "the network")];
    check(Mode::Ask, "+Read", &line("curl -T .env x", &leaves), "ask");
}

/// The work of a line is that of what it names, not of how often: each path once from each folder.
#[test]
fn a_line_that_repeats_itself_is_judged_as_one_that_does_not() {
    let once = line("env a=b ../x && cd /space/sub && cat -fkey ./a", &[]);
    let mut often = once.clone();
    for command in &mut often.commands {
        let operands = command.words[1..].to_vec();
        command.words.extend(vec![operands; 500].concat());
    }
    often.commands = vec![often.commands; 16].concat();
    let with = |line: ShellLine, reads: usize, writes: usize| ShellLine {
        reads: vec!["in".to_owned(); reads],
        writes: vec!["/space/out".to_owned(); writes],
        ..line
    };
    let [once, often] = [with(once, 1, 1), with(often, 300, 300)];
    for rule in [
        "Read(x)",
        "Read(//x)",
        "Read(//space/x)",
        "Edit(sub/a)",
        "Edit(key)",
        "Read(sub/in)",
        "Edit(in)",
        "Edit(out)",
        "Read(b)",
        "Edit(nothing)",
        "Read(sub/b)",
    ] {
        let rules = format!("-{rule}");
        let expected = judged(&policy(Mode::Ask, &rules), &once);
        check(Mode::Ask, &rules, &often, &expected);
    }
    let policy = policy(Mode::Ask, "");
    assert_eq!(
        named::Named::new(&often, &policy).count(),
        named::Named::new(&once, &policy).count()
    );
}

#[test]
fn a_rule_on_a_command_does_not_let_it_write_where_no_edit_may() {
    let to = |path: &str| ShellLine { writes: vec![path.into()], ..line("echo a", &[]) };
    let rules = "+Bash(echo:*)";
    // A link may lead elsewhere, which only the box sees.
    check(Mode::Ask, rules, &to("/space/a"), "allow in the box by Bash(echo:*)");
    for protected in ["/etc/hosts", "/space/.git/hooks/pre-commit", "/space/.envrc"] {
        let writes = ShellLine {
            concerns: vec![Concern { kind: ConcernKind::Leaves, why: "it writes there".into() }],
            ..to(protected)
        };
        check(Mode::Ask, rules, &writes, "ask");
    }
    check(Mode::Ask, "+Bash(echo:*), +Edit(//etc/**)", &to("/etc/hosts"), "allow by Bash(echo:*)");
}

#[test]
fn what_a_rule_allows_stays_in_the_box_where_nobody_can_tell_what_it_writes() {
    let open = |concerns| ShellLine { is_open_ended: true, ..line("echo a", concerns) };
    let leaves = [(ConcernKind::Leaves, "the network")];
    let rules = "+Bash(echo:*)";
    check(Mode::Ask, rules, &open(&[]), "allow in the box by Bash(echo:*)");
    check(Mode::Ask, rules, &open(&leaves), "ask");
    check(Mode::AllowListed, rules, &open(&leaves), "deny");
    check(Mode::Ask, "+Bash", &open(&leaves), "allow by Bash");
    let no_box = Policy { has_box: false, ..policy(Mode::Ask, rules) };
    assert_eq!(judged(&no_box, &open(&[])), "ask");
    let writes = ShellLine { writes: vec!["/space/a".into()], ..line("echo a", &[]) };
    assert_eq!(judged(&no_box, &writes), "allow by Bash(echo:*)");
    let asking = ShellLine { asks_to_leave: true, ..line("echo a", &leaves) };
    check(Mode::Ask, rules, &asking, "allow by Bash(echo:*)");
    let asking = ShellLine { writes: writes.writes, ..asking };
    check(Mode::Ask, rules, &asking, "ask");
    check(Mode::AllowListed, rules, &asking, "allow in the box by Bash(echo:*)");
}

#[test]
fn a_deny_rule_hits_what_it_names_also_where_nobody_can_tell_what_a_line_writes() {
    let open = |text| ShellLine { is_open_ended: true, ..line(text, &[]) };
    for git in ["git status", "git commit -m x"] {
        check(Mode::Ask, "-Bash(rm:*)", &open(git), "allow in the box");
        check(Mode::AllowListed, "-Bash(rm:*)", &open(git), "allow in the box");
        let rules = "+Bash(git:*), -Bash(rm:*)";
        check(Mode::Ask, rules, &open(git), "allow in the box by Bash(git:*)");
    }
    let rules = "+Bash(git:*), -Bash(git commit:*)";
    check(Mode::Ask, rules, &open("git commit -m x"), "deny by Bash(git commit:*)");
}

#[test]
fn what_a_rule_allows_stays_in_the_box_where_another_denies_paths() {
    let cat = ShellLine { is_read_only: true, ..line("cat secre[t]/key", &[]) };
    let leaves = [(ConcernKind::Leaves, "the network")];
    let rules = "+Bash(cat:*), -Read(secret/**)";
    check(Mode::Ask, rules, &cat, "allow in the box by Bash(cat:*)");
    check(Mode::Ask, "+Bash(cat:*), -Edit(x)", &cat, "allow in the box by Bash(cat:*)");
    check(Mode::Ask, "+Bash, -Read(secret/**)", &cat, "allow in the box by Bash");
    check(Mode::Ask, "+Bash(cat:*), -Bash(rm:*)", &cat, "allow by Bash(cat:*)");
    check(Mode::Ask, rules, &line("cat x", &leaves), "allow by Bash(cat:*)");
    let asking = ShellLine { asks_to_leave: true, ..line("cat x", &leaves) };
    check(Mode::Ask, rules, &asking, "ask");
    check(Mode::Ask, "+Bash, -Read(secret/**)", &asking, "ask");
    let no_box = |rules| Policy { has_box: false, ..policy(Mode::Ask, rules) };
    assert_eq!(judged(&no_box(rules), &cat), "ask");
    assert_eq!(judged(&no_box("+Bash, -Read(secret/**)"), &cat), "allow by Bash");
}

#[test]
fn a_child_stays_in_the_box_of_its_parent() {
    let parent = policy(Mode::Ask, "");
    let own = policy(Mode::Ask, "+Bash");
    let child = Policy { within: Some(Box::new(parent)), ..own };
    assert_eq!(judged(&child, &line("cargo test", &[])), "allow in the box by Bash");
}

#[test]
fn the_reason_says_what_leaves() {
    let push = line("git push", &[(ConcernKind::Leaves, "git push talks to the network")]);
    let facts = Facts { accesses: vec![Access::Shell(Box::new(push))], ..Facts::default() };
    let judgement = judge(&policy(Mode::Ask, ""), &[], "Bash", &facts);
    let why = "it runs the command `git push` (git push talks to the network)".to_owned();
    assert_eq!(judgement.verdict, Verdict::Ask { why: why.clone() });
    let by =
        format!("{why}, which no rule allows, and nobody can be asked in the mode allow-listed");
    let judgement = judge(&policy(Mode::AllowListed, ""), &[], "Bash", &facts);
    assert_eq!(judgement.verdict, Verdict::Deny { by });
}

#[test]
fn whoever_asks_says_all_that_speaks_against_a_line() {
    let leaves = (ConcernKind::Leaves, "it asks to run outside of the sandbox");
    let removes = (ConcernKind::Irreversible, "removes `a\nb`");
    let told = |rules, text, concerns: &[_]| {
        let access = Access::Shell(Box::new(line(text, concerns)));
        let facts = Facts { accesses: vec![access], ..Facts::default() };
        match judge(&policy(Mode::Ask, rules), &[], "Bash", &facts).verdict {
            Verdict::Ask { why } => why,
            verdict => format!("{verdict:?}"),
        }
    };
    let shown = format!("echo \u{23ce} {}\u{2026}", "x".repeat(72));
    for (rules, text, concerns, expected) in [
        ("?Bash", "ls", &[][..], "the rule Bash (test) asks"),
        (
            "?Bash(ls:*)",
            "ls",
            &[leaves, removes],
            "the rule Bash(ls:*) (test) asks (it asks to run outside of the sandbox; \
             removes `a \u{23ce} b`)",
        ),
        (
            "",
            "echo  a \t b\n\n c\r\nd ",
            &[leaves],
            "it runs the command `echo a b \u{23ce} c \u{23ce} d` (it asks to run outside of the \
             sandbox)",
        ),
        (
            "",
            &format!("echo\n{}", "x".repeat(200)),
            &[leaves],
            &format!("it runs the command `{shown}` (it asks to run outside of the sandbox)"),
        ),
    ] {
        assert_eq!(told(rules, text, concerns), expected, "{rules} {text}");
    }
}

#[test]
fn a_rule_of_more_than_plain_words_forbids_what_it_may_mean_and_no_more() {
    for (rule, text, denied) in [
        ("Bash(git push*)", "git push origin", true),
        ("Bash(git push*)", "git status", false),
        ("Bash(sudo*)", "ls && sudoedit x", true),
        ("Bash(git * main)", "git merge main", true),
        ("Bash(git * main)", "git merge other", false),
        ("Bash(curl * | bash)", "curl x && bash", true),
        ("Bash(curl * | bash)", "wget x", false),
        ("Bash(curl x | bash)", "curl x && bash", true),
        ("Bash(rm \"a b\":*)", "rm a", true),
        ("Bash(rm \"a b\":*)", "ls", false),
    ] {
        for mode in [Mode::Ask, Mode::Bypass] {
            let rules = format!("+Bash, -{rule}");
            let expected = format!("deny by {rule}");
            let judged = judged(&policy(mode, &rules), &line(text, &[]));
            assert_eq!(judged == expected, denied, "{rule} {text}: {judged}");
            let hidden = line(text, &[(ConcernKind::NotUnderstood, "it is odd")]);
            check(mode, &rules, &hidden, &expected);
        }
        // What it allows is what its words say, and a star within them says nothing.
        let judged = judged(&policy(Mode::AllowListed, &format!("+{rule}")), &line(text, &[]));
        assert!(!judged.contains(" by "), "{rule} {text}: {judged}");
    }
}

#[test]
fn what_is_not_understood_may_hide_what_a_rule_denies_in_plain_words_too() {
    let odd = [(ConcernKind::NotUnderstood, "it is odd")];
    let rules = "-Bash(git push:*)";
    for text in ["coproc git push", "xargs -a f git", "git -c alias.p=push p"] {
        for mode in [Mode::Ask, Mode::Bypass] {
            check(mode, rules, &line(text, &odd), "deny by Bash(git push:*)");
        }
    }
    check(Mode::Ask, rules, &line("coproc ls", &odd), "ask in the box");
    // Another program gives the name of what runs.
    let fed =
        ShellCommand { words: vec!["{}".into()], is_doubtful: true, ..ShellCommand::default() };
    let mut xargs = line("xargs -a f env", &odd);
    xargs.commands.push(fed);
    check(Mode::Bypass, rules, &xargs, "deny by Bash(git push:*)");
    let alias = line("alias a=rm\na x", &odd);
    check(Mode::Ask, "+Bash, -Bash(rm:*)", &alias, "deny by Bash(rm:*)");
    // By whatever path a script is given to a shell.
    let fed = line("bash < scripts/deploy.sh", &odd);
    check(
        Mode::Bypass,
        "-Bash(./scripts/deploy.sh:*)",
        &fed,
        "deny by Bash(./scripts/deploy.sh:*)",
    );
}

#[test]
fn options_and_paths_hide_nothing_from_rules_that_deny_or_ask() {
    let leaves = [(ConcernKind::Leaves, "a cluster")];
    let delete = line("kubectl -n prod delete pod", &leaves);
    check(Mode::Bypass, "-Bash(kubectl delete:*)", &delete, "deny by Bash(kubectl delete:*)");
    check(Mode::Ask, "?Bash(kubectl delete:*)", &delete, "ask by Bash(kubectl delete:*)");
    // What allows goes by the words as they stand.
    check(Mode::Ask, "+Bash(kubectl delete:*)", &delete, "ask");
    let rule = "-Bash(./scripts/deploy.sh:*)";
    for text in ["scripts/deploy.sh", "sh ./scripts/deploy.sh", "cd scripts && ./deploy.sh"] {
        check(Mode::Ask, rule, &line(text, &[]), "deny by Bash(./scripts/deploy.sh:*)");
    }
    check(Mode::Ask, "+Bash(./a/x.sh:*)", &line("x.sh", &[]), "allow in the box");
    check(Mode::Ask, rule, &line("cat scripts/deploy.sh", &[]), "allow in the box");
}
