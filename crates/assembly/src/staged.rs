//! What may run in a stage: all that stays in it, and nothing else.

use heeler_core::{Mode, Policy, Rule, RuleEffect};

use crate::SetupError;

/// Tools that change nothing on this machine, whatever a rule lets them do.
const LOOKS: [&str; 6] = ["Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch"];

/// Makes a policy one for a stage: edits and confined commands run without asking, and no rule lets
/// anything out. What rules deny stays denied, and plan mode stays on.
///
/// # Errors
/// When commands are not confined, or everything is to run: then changes would go past the stage.
pub(crate) fn keep_in(policy: &mut Policy) -> Result<(), SetupError> {
    if !policy.has_box {
        return Err(SetupError::new(
            "--stage needs confined commands, which could change anything otherwise; leave out \
             --no-sandbox, or set sandbox.mode in your settings",
        ));
    }
    if policy.mode == Mode::Bypass {
        return Err(SetupError::new(
            "--stage lets nothing out of the stage, and the mode bypass everything; leave one of \
             them out",
        ));
    }
    if policy.mode != Mode::Plan {
        policy.mode = Mode::AcceptEdits;
    }
    let looks = |rule: &Rule| LOOKS.iter().any(|tool| rule.tool.eq_ignore_ascii_case(tool));
    policy.rules.retain(|rule| rule.effect != RuleEffect::Allow || looks(rule));
    policy.interactive = false;
    policy.staged = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_a_stage_and_denials_stay() {
        let rule = |text: &str, effect| Rule::parse(text, effect, "test").unwrap();
        let rules = [
            rule("Bash", RuleEffect::Allow),
            rule("Edit(//etc/**)", RuleEffect::Allow),
            rule("webfetch(domain:example.com)", RuleEffect::Allow),
            rule("Bash(rm:*)", RuleEffect::Deny),
            rule("Edit", RuleEffect::Ask),
        ];
        let kept = |mode| {
            let rules = rules.to_vec();
            let mut policy = Policy { mode, rules, has_box: true, ..Policy::default() };
            keep_in(&mut policy).unwrap();
            let left: Vec<String> = policy.rules.iter().map(Rule::to_string).collect();
            assert_eq!(left, ["webfetch(domain:example.com)", "Bash(rm:*)", "Edit"]);
            policy.mode
        };
        assert_eq!(kept(Mode::Ask), Mode::AcceptEdits);
        assert_eq!(kept(Mode::AllowListed), Mode::AcceptEdits);
        assert_eq!(kept(Mode::Plan), Mode::Plan);
        for policy in [
            Policy { has_box: false, ..Policy::default() },
            Policy { mode: Mode::Bypass, has_box: true, ..Policy::default() },
        ] {
            assert!(keep_in(&mut policy.clone()).is_err());
        }
    }
}
