//! What the run that makes a call lets happen, for an agent that works within the call.

use std::fmt;
use std::sync::Arc;

use crate::{Approver, Mode, Policy, Rule};

/// What the run that makes a call lets happen, and whom it asks. Whoever runs an agent within the
/// call hands it on, so that nothing runs there that would not run here.
#[derive(Clone)]
pub struct Permission {
    /// The run's policy.
    pub policy: Policy,
    /// Rules that were given by decisions while it runs.
    pub grants: Vec<Rule>,
    /// Who is asked; nobody but whoever watches the session when there are none.
    pub approvers: Vec<Arc<dyn Approver>>,
}

impl Permission {
    /// The policy with what was granted as rules of it.
    #[must_use]
    pub fn whole_policy(&self) -> Policy {
        let mut policy = self.policy.clone();
        policy.rules.extend(self.grants.iter().cloned());
        policy
    }
}

impl Default for Permission {
    /// Everything may run, as in a run without a policy.
    fn default() -> Self {
        let policy = Policy { mode: Mode::Bypass, ..Policy::default() };
        Self { policy, grants: Vec::new(), approvers: Vec::new() }
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let approvers: Vec<&str> = self.approvers.iter().map(|it| it.name()).collect();
        f.debug_struct("Permission")
            .field("policy", &self.policy)
            .field("grants", &self.grants)
            .field("approvers", &approvers)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllowAll, RuleEffect};

    fn rule(tool: &str) -> Rule {
        let (tool, source) = (tool.into(), "test".into());
        Rule { effect: RuleEffect::Allow, tool, argument: None, source }
    }

    #[test]
    fn what_was_granted_is_part_of_the_policy_and_whom_it_asks_is_told_by_name() {
        let policy = Policy { mode: Mode::Plan, rules: vec![rule("Read")], ..Policy::default() };
        let approvers: Vec<Arc<dyn Approver>> = vec![Arc::new(AllowAll)];
        let permission = Permission { policy, grants: vec![rule("Bash")], approvers };
        let whole = permission.whole_policy();
        assert_eq!((whole.mode, whole.rules), (Mode::Plan, vec![rule("Read"), rule("Bash")]));
        let told = format!("{permission:?}");
        assert!(told.contains(AllowAll.name()) && told.contains("grants: [Rule"), "{told}");
    }
}
