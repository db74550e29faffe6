//! What hooks of settings files come to.

use super::*;

/// A Claude file with one guard of `Bash` that has these fields.
fn guard(fields: &str) -> String {
    format!(r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{{{fields}}}]}}]}}}}"#)
}

#[test]
fn a_hook_runs_with_its_arguments() {
    check(
        Place::UserClaude,
        &guard(r#""command": "bash", "args": ["-c", "exit $X"]"#),
        expect![[r#"
            FILE:1: PreToolUse [Bash] "exec bash -c 'exit $X'" None
        "#]],
    );
    check(
        Place::UserClaude,
        &guard(r#""command": "${CLAUDE_PROJECT_DIR}/my guard.sh", "args": []"#),
        expect![[r#"
            FILE:1: PreToolUse [Bash] "exec \"${CLAUDE_PROJECT_DIR}\"'/my guard.sh'" None
        "#]],
    );
    for args in [r#""guard.py""#, r#"["guard.py", 1]"#, "null"] {
        check(
            Place::UserClaude,
            &guard(&format!(r#""command": "python3", "args": {args}"#)),
            expect![[r#"
                FILE:1: PreToolUse [Bash] "python3" None broken
                FILE:1: note: `hooks.PreToolUse.hooks.args` has to be a list of texts; what the hook may be about is denied
            "#]],
        );
    }
    check_refused(
        Place::User,
        &[
            "[[hooks.Stop]]\nhooks = [{ command = 'a', args = ['b c'] }]",
            "[[hooks.Stop]]\nhooks = [{ command = 'a', args = 'b' }]",
        ],
        expect![[r#"
            fine: FILE:2: Stop [] "exec a 'b c'" None

            FILE:2: `hooks.Stop.hooks.args` has to be a list of texts
        "#]],
    );
}
