//! The promise of somebody who answers permission requests, and the three simplest ones.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::{BoxFuture, Decision, OpenPermission, PermissionReason};

/// Answers permission requests.
///
/// The driver calls it once per request and runs several at the same time; a decision that comes
/// through the session first wins, and the future is dropped. `None`, a panic, or an approver that
/// is gone count as a denial, in whose words the model is told of a panic. A decision that cannot be
/// used, such as an edited input that does not fit its tool, is given back: it is asked again with
/// the objection, a few times.
///
/// ```
/// use heeler_core::{Approver, BoxFuture, Decision, OpenPermission};
///
/// /// Lets look, and nothing else.
/// struct OnlyLooks;
///
/// impl Approver for OnlyLooks {
///     fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>> {
///         let looks = matches!(request.tool.as_str(), "Read" | "Grep" | "Glob" | "LS");
///         let decision = match looks {
///             true => Decision::Once,
///             false => Decision::Deny { reason: Some("look, do not touch".into()) },
///         };
///         Box::pin(async move { Some(decision) })
///     }
///
///     fn name(&self) -> &str {
///         "only-looks"
///     }
/// }
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Decides about one request.
    fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>>;

    /// Who answers, for the journal.
    fn name(&self) -> &str;
}

/// Says yes, once, to every call. Deny rules still hold, and so does plan mode: a yes to a call is
/// none to another mode.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Approver for AllowAll {
    fn decide(&self, request: OpenPermission) -> BoxFuture<Option<Decision>> {
        let decision = match request.reason {
            PermissionReason::LeavePlan { .. } => Decision::Deny { reason: None },
            PermissionReason::Policy(_) | PermissionReason::Repeated(_) => Decision::Once,
        };
        Box::pin(std::future::ready(Some(decision)))
    }

    fn name(&self) -> &str {
        "allow-all"
    }
}

/// Says no to everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

impl Approver for DenyAll {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        Box::pin(std::future::ready(Some(Decision::Deny { reason: None })))
    }

    fn name(&self) -> &str {
        "deny-all"
    }
}

/// Gives prepared answers in order, then denies; for tests.
#[derive(Debug, Default)]
pub struct ScriptedApprover {
    answers: Mutex<VecDeque<Decision>>,
}

impl ScriptedApprover {
    /// Gives these answers, in order of asking.
    pub fn new(answers: impl IntoIterator<Item = Decision>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()) }
    }
}

impl Approver for ScriptedApprover {
    fn decide(&self, _: OpenPermission) -> BoxFuture<Option<Decision>> {
        let answer = self.answers.lock().ok().and_then(|mut answers| answers.pop_front());
        Box::pin(std::future::ready(answer))
    }

    fn name(&self) -> &str {
        "script"
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::{CallId, PermissionId, RawJson};

    /// What an approver is called and what it answers to three requests.
    fn check(approver: &dyn Approver, name: &str, expected: [Option<Decision>; 3]) {
        let request = OpenPermission {
            id: PermissionId::first(CallId { turn: 1, round: 1, index: 0 }),
            tool: "Bash".into(),
            input: RawJson::empty_object(),
            summary: "Bash {}".into(),
            reason: PermissionReason::Repeated(5),
            offer: None,
            objection: None,
        };
        let answers = [(); 3].map(|()| approver.decide(request.clone()).now_or_never().flatten());
        assert_eq!((approver.name(), answers), (name, expected));
    }

    #[test]
    fn the_simple_approvers_answer_at_once_and_sign_with_their_names() {
        let denied = || Some(Decision::Deny { reason: None });
        check(&AllowAll, "allow-all", [(); 3].map(|()| Some(Decision::Once)));
        check(&DenyAll, "deny-all", [(); 3].map(|()| denied()));
        let script = ScriptedApprover::new([Decision::Once, Decision::Deny { reason: None }]);
        check(&script, "script", [Some(Decision::Once), denied(), None]);
    }
}
