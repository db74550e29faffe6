//! What rules deny of paths: places for the box, and what of patterns it cannot hold.

use std::path::{Component, Path, PathBuf};

use heeler_core::{Denied, Mode, Policy, READING_TOOLS, Reach, Rule, RuleEffect, takes_paths};
use heeler_tools::denied_places;

/// How the source begins of a rule that asks since the box does not hold what another one denies.
const NOT_HELD: &str = "since the sandbox does not hold all that a rule denies: ";

/// What the box closes of what rules deny.
#[derive(Debug, Default)]
pub(crate) struct Walls {
    /// What is neither read nor written.
    pub(crate) secrets: Vec<PathBuf>,
    /// What is not written.
    pub(crate) protected: Vec<PathBuf>,
    /// Why that is not all.
    lacks: Option<String>,
}

impl Walls {
    /// A box knows no patterns, so what there is of them is looked for, once; what comes to be later
    /// is for the verdict, and for tools that open files themselves.
    pub(crate) fn new(reach: &Reach, workspace: &Path) -> Self {
        let mut walls = Self::default();
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for denied in &reach.denied {
            let is_read = READING_TOOLS.iter().any(|tool| tool.eq_ignore_ascii_case(&denied.tool));
            match (denied.glob.is_empty(), is_read) {
                (true, true) => walls.secrets.push(workspace.join(&denied.below)),
                (true, false) => walls.protected.push(denied.below.clone()),
                (false, true) => read.push(denied),
                (false, false) => written.push(denied),
            }
        }
        for (patterns, places) in [(read, &mut walls.secrets), (written, &mut walls.protected)] {
            if !patterns.is_empty() {
                let found = denied_places(workspace, &patterns);
                places.extend(found.places);
                walls.lacks = walls.lacks.take().or(found.lacks);
            }
        }
        walls
    }

    /// The rule by which somebody is asked about every command, where the box does not hold it all.
    pub(crate) fn asks(&self) -> Option<Rule> {
        self.lacks.as_deref().map(asks)
    }
}

fn asks(why: &str) -> Rule {
    let source = format!("{NOT_HELD}{why}");
    Rule { effect: RuleEffect::Ask, tool: "Bash".to_owned(), argument: None, source }
}

/// That every command is asked about, or refused, since the box does not hold all that a rule denies, and
/// what to do; `None` where it is not so. For who says it once, before the first command.
#[must_use]
pub fn lack_of_walls(policy: &Policy) -> Option<String> {
    if policy.mode == Mode::Bypass {
        return None;
    }
    let rule = policy.rules.iter().find(|rule| rule.source.starts_with(NOT_HELD))?;
    let asks = policy.interactive && policy.mode != Mode::AllowListed;
    let what = if asks { "asked about" } else { "refused, as nobody can be asked" };
    let advice = "let that rule name fewer places, such as a folder as a whole";
    Some(format!("every command is {what}, {}; {advice}", rule.source))
}

/// What asks about every command since a session runs in a box that was made before these rules: what
/// it did not hold from the beginning, and what it does not know of.
pub(crate) fn asks_since<'a>(before: &'a [Rule], now: &'a [Rule]) -> Option<Rule> {
    if let Some(asks) = before.iter().find(|rule| rule.source.starts_with(NOT_HELD)) {
        return Some(asks.clone());
    }
    let closes = |rule: &&Rule| rule.effect == RuleEffect::Deny && !denied_by(rule).is_empty();
    let is_new = |rule: &&Rule| {
        let is_same = |old: &Rule| (&old.tool, &old.argument) == (&rule.tool, &rule.argument);
        !before.iter().any(|old| old.effect == RuleEffect::Deny && is_same(old))
    };
    let new = now.iter().filter(closes).find(is_new)?;
    Some(asks(&format!("{new} came after the sandbox was made; the next start holds it")))
}

/// What a rule on paths denies, relative to the workspace or absolute. None for rules on other
/// things, and for those on everything, which deny the call itself.
pub(crate) fn denied_by(rule: &Rule) -> Vec<Denied> {
    let Some(argument) = rule.argument.as_deref().filter(|_| takes_paths(&rule.tool)) else {
        return Vec::new();
    };
    let denied = |pattern: &str| {
        let parts: Vec<Component<'_>> = Path::new(pattern).components().collect();
        let plain: Vec<String> = parts.iter().map_while(plain).collect();
        let glob: PathBuf = parts.iter().skip(plain.len()).collect();
        let (below, glob) =
            (plain.iter().collect::<PathBuf>(), glob.to_string_lossy().into_owned());
        // Of the workspace or the whole machine only the pattern is kept: no box goes without.
        let is_whole = glob == "**" && below.file_name().is_some();
        Denied { tool: rule.tool.clone(), below, glob: if is_whole { String::new() } else { glob } }
    };
    let pattern = argument.trim_start_matches("./");
    match (pattern.strip_prefix("//"), pattern.strip_prefix('/')) {
        (Some(absolute), _) => vec![denied(&format!("/{absolute}"))],
        (None, Some(anchored)) => vec![denied(anchored)],
        (None, None) if pattern.trim_end_matches('/').contains('/') => vec![denied(pattern)],
        // A mere name, at any depth.
        (None, None) => vec![denied(pattern), denied(&format!("**/{pattern}"))],
    }
}

/// A part of a pattern that stands for itself alone.
fn plain(part: &Component<'_>) -> Option<String> {
    let mut plain = String::new();
    let part = part.as_os_str().to_string_lossy();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' | '{' => return None,
            '\\' => plain.push(chars.next()?),
            c => plain.push(c),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_a_place_and_what_it_matches_there() {
        let said = |rule: &str| {
            let rule = Rule::parse(rule, RuleEffect::Deny, "test").unwrap();
            let denied = denied_by(&rule).into_iter();
            let said = |it: Denied| format!("{} {}: {}", it.tool, it.below.display(), it.glob);
            denied.map(said).collect::<Vec<_>>()
        };
        for (rule, expected) in [
            ("Read(//etc/x)", &["Read /etc/x: "][..]),
            ("Read(./a/secret.txt)", &["Read a/secret.txt: "]),
            ("Grep(/keys/**)", &["Grep keys: "]),
            ("Read(.env)", &["Read .env: ", "Read : **/.env"]),
            ("Read(keys/)", &["Read keys: ", "Read : **/keys"]),
            ("Read(**/.env)", &["Read : **/.env"]),
            ("Edit(src/*.rs)", &["Edit src: *.rs"]),
            ("Read(//home/me \\[x\\]/a/*.key)", &["Read /home/me [x]/a: *.key"]),
            ("file_info(/keys/**)", &["file_info keys: "]),
            ("Read(/**)", &["Read : **"]),
            ("Read(//**)", &["Read /: **"]),
            ("Read", &[]),
            ("Bash(rm:*)", &[]),
        ] {
            assert_eq!(said(rule), expected, "{rule}");
        }
    }
}
