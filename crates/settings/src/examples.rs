//! Whether rules do what their examples say.

use heeler_core::{Facts, Mode, Policy, RuleEffect};
use heeler_turn::verdict::judge;

use crate::SettingsError;
use crate::layer::Example;

/// Judges every example with its rule alone. `facts` says what a tool's call with this argument
/// touches, as the tool itself does.
///
/// # Errors
/// When an example does not behave, or its tool takes none; names file, line, rule and example.
pub fn check_examples(
    examples: &[Example],
    workspace: &str,
    facts: impl Fn(&str, &str) -> Result<Facts, String>,
) -> Result<(), SettingsError> {
    for example in examples {
        let Example { rule, text, matches, source } = example;
        let wrong = |why: String| {
            SettingsError::of_file(source, format!("`{rule}`, example `{text}`: {why}"))
        };
        let facts = facts(&rule.tool, text).map_err(wrong)?;
        let does = is_match(example, workspace, &facts);
        if does != *matches {
            let why = match (matches, rule.effect) {
                (true, RuleEffect::Allow) => "it does not let this run; correct one of them",
                (true, _) => "it does not match; correct one of them",
                (false, _) => "it matches, and must not; correct one of them",
            };
            return Err(wrong(why.to_owned()));
        }
    }
    Ok(())
}

/// Whether the rule is what decides, where there is no other.
fn is_match(example: &Example, workspace: &str, facts: &Facts) -> bool {
    let rule = &example.rule;
    let policy = Policy {
        mode: Mode::Ask,
        rules: vec![rule.clone()],
        workspace: workspace.to_owned(),
        ..Policy::default()
    };
    judge(&policy, &[], &rule.tool, facts).rule.as_ref() == Some(rule)
}

#[cfg(test)]
mod tests {
    use heeler_core::{Access, Rule};

    use super::*;

    /// Which of these examples the rule matches.
    fn check(effect: RuleEffect, text: &str, expected: &[(&str, bool)]) {
        let rule = Rule::parse(text, effect, "FILE:1").unwrap();
        for (text, matches) in expected {
            for said in [true, false] {
                let (rule, text) = (rule.clone(), (*text).to_owned());
                let example = Example { rule, text, matches: said, source: "FILE:2".into() };
                let checked = check_examples(std::slice::from_ref(&example), "/space", facts);
                assert_eq!(checked.is_ok(), said == *matches, "{example:?}: {checked:?}");
            }
        }
    }

    fn facts(tool: &str, text: &str) -> Result<Facts, String> {
        let access = match tool {
            "Bash" => Access::Command(text.into()),
            "Read" => Access::Read(text.into()),
            _ => return Err(format!("{tool} takes no examples")),
        };
        Ok(Facts { accesses: vec![access], ..Facts::default() })
    }

    #[test]
    fn an_example_is_judged_as_a_call_is() {
        for effect in [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny] {
            check(
                effect,
                "Bash(git push:*)",
                &[("git push", true), ("git push origin", true), ("git pull", false)],
            );
            // What is allowed anyway is not allowed by the rule.
            let paths = [("/space/a.rs", true), ("/space/a.md", false), ("/etc/a.md", false)];
            check(effect, "Read(*.rs)", &paths);
        }
        check(RuleEffect::Allow, "Bash(git push:*)", &[("git push; rm x", false)]);
        check(RuleEffect::Deny, "Bash(git push:*)", &[("ls; git push x", true)]);
    }

    #[test]
    fn what_does_not_behave_is_named() {
        for (rule, text, matches, expected) in [
            ("Bash(ls:*)", "rm", true, "it does not let this run; correct one of them"),
            ("Bash(ls:*)", "ls -l", false, "it matches, and must not; correct one of them"),
            ("Task(x)", "y", false, "Task takes no examples"),
        ] {
            let rule = Rule::parse(rule, RuleEffect::Allow, "FILE:1").unwrap();
            let told = format!("FILE:2: `{rule}`, example `{text}`: {expected}");
            let example = Example { rule, text: text.into(), matches, source: "FILE:2".into() };
            let error = check_examples(&[example], "/space", facts).unwrap_err();
            assert_eq!(error.to_string(), told);
        }
    }
}
