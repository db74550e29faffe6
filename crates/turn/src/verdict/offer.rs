//! The rule that a prompt offers for the rest of the session, or for good.

use heeler_core::{Access, ConcernKind, Facts, Rule, RuleEffect, ShellCommand, ShellLine};

/// Programs whose second word says what they do, so that a rule on the first alone says too little.
pub(super) const WITH_VERBS: [&str; 30] = [
    "apt",
    "apt-get",
    "aws",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gcloud",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "npx",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "systemctl",
    "uv",
    "yarn",
];
/// Verbs whose next word is the program that runs.
const RUNS: [&str; 2] = ["run", "run-script"];

/// Where an offered rule comes from, for `explain` and `audit`.
pub const OFFER_SOURCE: &str = "offered";

/// The one rule that would allow a call like this one. `None` when no single rule does, or none
/// should: what destroys or is not understood is looked at each time.
#[must_use]
pub fn offer(tool: &str, facts: &Facts) -> Option<Rule> {
    let [access] = facts.accesses.as_slice() else { return None };
    let (family, argument) = match access {
        Access::Shell(line) => ("Bash", Some(of_line(line)?)),
        Access::Read(path) => ("Read", Some(of_path(path)?)),
        Access::Write(path) => ("Edit", Some(of_path(path)?)),
        Access::Host(host) => ("WebFetch", Some(format!("domain:{host}"))),
        Access::Opaque(_) => (tool, None),
        // Of a line that nobody read, only a rule for all of them could speak.
        Access::Command(_) => return None,
    };
    Some(Rule {
        effect: RuleEffect::Allow,
        tool: family.to_owned(),
        argument,
        source: OFFER_SOURCE.to_owned(),
    })
}

/// `git push:*` of a line with one command that is more than a wrapper.
fn of_line(line: &ShellLine) -> Option<String> {
    let is_for_each_time = |kind| line.has(kind);
    if [ConcernKind::Irreversible, ConcernKind::NotUnderstood, ConcernKind::Environment]
        .into_iter()
        .any(is_for_each_time)
        || !line.writes.is_empty()
    {
        return None;
    }
    let mut named = line.commands.iter().filter(|command| !command.is_wrapper);
    let (Some(command), None) = (named.next(), named.next()) else { return None };
    let words = words_of(command);
    let n_words = match words {
        [program, verb, ..] if WITH_VERBS.contains(&program.as_str()) && is_verb(verb) => {
            if RUNS.contains(&verb.as_str()) { 3 } else { 2 }
        }
        [program, ..] if WITH_VERBS.contains(&program.as_str()) => return None,
        _ => 1,
    };
    let prefix: Vec<&str> = words.get(..n_words)?.iter().map(String::as_str).collect();
    let is_plain = prefix.iter().all(|word| is_word(word));
    is_plain.then(|| format!("{}:*", prefix.join(" ")))
}

/// The words that an allow rule goes by.
fn words_of(command: &ShellCommand) -> &[String] {
    if command.is_doubtful || command.plain.is_empty() { &command.words } else { &command.plain }
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && is_word(word)
}

/// Whether a word stands in a rule for itself.
fn is_word(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}

/// The pattern of exactly this path.
fn of_path(path: &str) -> Option<String> {
    let has_pattern = path.contains(['*', '?', '[', ']', '{', '}', '\\', '(', ')', '!']);
    (!has_pattern && path.starts_with('/')).then(|| format!("/{path}"))
}

#[cfg(test)]
mod tests {
    use heeler_core::{Concern, Mode, Policy, Verdict};

    use super::super::judge;
    use super::*;

    fn shell(line: &str, kind: Option<ConcernKind>) -> Access {
        let words = line.split(' ').map(str::to_owned).collect();
        Access::Shell(Box::new(ShellLine {
            line: line.to_owned(),
            commands: vec![ShellCommand { words, ..ShellCommand::default() }],
            concerns: kind.map(|kind| Concern { kind, why: "?".into() }).into_iter().collect(),
            ..ShellLine::default()
        }))
    }

    /// What is offered, and that it would let the call run.
    fn check(tool: &str, access: Access, expected: Option<&str>) {
        let facts = Facts { accesses: vec![access], ..Facts::default() };
        let offered = offer(tool, &facts);
        let shown = offered.as_ref().map(ToString::to_string);
        assert_eq!(shown.as_deref(), expected);
        let Some(rule) = offered else { return };
        assert_eq!(super::super::flaw(&rule), None, "{rule}");
        let policy = Policy { mode: Mode::Ask, workspace: "/space".into(), ..Policy::default() };
        let before = judge(&policy, &[], tool, &facts).verdict;
        assert!(matches!(before, Verdict::Ask { .. }), "{before:?}");
        let after = judge(&policy, &[rule], tool, &facts).verdict;
        assert!(matches!(after, Verdict::Allow { .. }), "{after:?}");
    }

    #[test]
    fn a_rule_names_what_was_asked_about_and_its_like() {
        let leaves = Some(ConcernKind::Leaves);
        check("Bash", shell("git push origin main", leaves), Some("Bash(git push:*)"));
        check("Bash", shell("npm run build -- --x", leaves), Some("Bash(npm run build:*)"));
        check("Bash", shell("curl https://x.example", leaves), Some("Bash(curl:*)"));
        check("Read", Access::Read("/etc/hosts".into()), Some("Read(//etc/hosts)"));
        check("Write", Access::Write("/space/a.rs".into()), Some("Edit(//space/a.rs)"));
        let host = Access::Host("example.com".into());
        check("WebFetch", host, Some("WebFetch(domain:example.com)"));
        check("mcp__a__b", Access::Opaque("b".into()), Some("mcp__a__b"));
    }

    #[test]
    fn what_has_to_be_looked_at_each_time_is_not_offered() {
        check("Bash", shell("git reset --hard", Some(ConcernKind::Irreversible)), None);
        check("Bash", shell("git $X", Some(ConcernKind::NotUnderstood)), None);
        check("Bash", shell("git push", Some(ConcernKind::Environment)), None);
        check("Bash", shell("git --version", None), None);
        check("Bash", shell("npm run", Some(ConcernKind::Leaves)), None);
        // Words that would not stand in a rule for themselves.
        check("Bash", shell("git Push", Some(ConcernKind::Leaves)), None);
        check("Bash", shell("git pu(sh", Some(ConcernKind::Leaves)), None);
        check("Bash", shell("cu(rl https://x.example", Some(ConcernKind::Leaves)), None);
        check("Bash", Access::Command("ls".into()), None);
        check("Edit", Access::Write("/space/[a].rs".into()), None);
        check("Edit", Access::Write("relative".into()), None);
    }
}
