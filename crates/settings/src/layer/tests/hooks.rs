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

#[test]
fn a_matcher_that_matches_no_tool_is_told() {
    let about = |event: &str, matcher: &str| {
        format!(
            r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{{"command": "g"}}]}}]}}}}"#
        )
    };
    check(
        Place::UserClaude,
        &about("PreToolUse", "Bash,Edit"),
        expect![[r#"
            FILE:1: PreToolUse [Bash,Edit] "g" None broken
            FILE:1: note: `hooks.PreToolUse`: its matcher `Bash,Edit` matches no tool: names are apart by `|`; what the hook may be about is denied
        "#]],
    );
    check(
        Place::UserClaude,
        &about("PostToolUse", "Edit(src/**)"),
        expect![[r#"
            FILE:1: PostToolUse [Edit(src/**)] "g" None broken
            FILE:1: note: `hooks.PostToolUse`: its matcher `Edit(src/**)` matches no tool: it looks at names, and the hook at inputs; the hook never runs
        "#]],
    );
    check(
        Place::UserClaude,
        &about("PreToolUse", "(unclosed"),
        expect![[r#"
            FILE:1: PreToolUse [(unclosed] "g" None broken
            FILE:1: note: `hooks.PreToolUse`: its matcher `(unclosed` is no pattern: unclosed group; what the hook may be about is denied
        "#]],
    );
    // Where there is no tool, it may be the name of anything.
    check(
        Place::UserClaude,
        &about("SessionStart", "startup resume"),
        expect![[r#"
        FILE:1: SessionStart [startup resume] "g" None
    "#]],
    );
    let own = |matcher: &str| {
        format!("[[hooks.PreToolUse]]\nmatcher = '{matcher}'\nhooks = [{{ command = 'g' }}]")
    };
    check_refused(
        Place::User,
        &[&own("Bash|Edit"), &own("Bash,Edit"), &own("Bash Edit"), &own("Bash(git:*)")],
        expect![[r#"
            fine: FILE:3: PreToolUse [Bash|Edit] "g" None

            FILE:1: `hooks.PreToolUse`: its matcher `Bash,Edit` matches no tool: names are apart by `|`
            FILE:1: `hooks.PreToolUse`: its matcher `Bash Edit` matches no tool: names are apart by `|`
            FILE:1: `hooks.PreToolUse`: its matcher `Bash(git:*)` matches no tool: it looks at names, and the hook at inputs
        "#]],
    );
}

#[test]
fn a_hook_is_about_what_its_rule_means() {
    let only = |rule: &str| guard(&format!(r#""command": "g", "if": {rule}"#));
    check(
        Place::UserClaude,
        &only(r#""Bash(git status *)""#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 1 may allow 1
    "#]],
    );
    check(
        Place::UserClaude,
        &only(r#""Edit(/a)""#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 3 may allow 1
    "#]],
    );
    // What cannot be read hides nothing, and allows nothing.
    check(
        Place::UserClaude,
        &only(r#""Bash(git""#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 0 may allow 0
        FILE:1: note: `hooks.PreToolUse.hooks.if`: `Bash(git` lacks its closing bracket; the hook runs at all it may mean, and allows nothing
    "#]],
    );
    check(
        Place::UserClaude,
        &only(r#""Bash(git push*)""#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 1 may allow 1
        FILE:1: note: `hooks.PreToolUse.hooks.if`: `Bash(git push*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these; the hook runs at all it may mean, and allows nothing
    "#]],
    );
    check(
        Place::UserClaude,
        &only(r#"["Bash"]"#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 0 may allow 0
        FILE:1: note: `hooks.PreToolUse.hooks.if`: it has to be a rule, and is a list; the hook runs at all it may mean, and allows nothing
    "#]],
    );
    check(
        Place::UserClaude,
        r#"{"hooks": {"Stop": [{"hooks": [{"command": "g", "if": "Bash"}]}]}}"#,
        expect![[r#"
            FILE:1: note: `hooks.Stop.hooks.if`: there is no call at Stop that a rule could speak of; the hook never runs
        "#]],
    );
    let own = |event: &str, fields: &str| {
        format!("[[hooks.{event}]]\nhooks = [{{ command = 'g', {fields} }}]")
    };
    check_refused(
        Place::User,
        &[
            &own("PreToolUse", "if = 'Bash(ls:*)', async = true"),
            &own("PreToolUse", "if = 'Bash(ls'"),
            &own("PreToolUse", "if = 'Bash(*ls*)'"),
            &own("PreToolUse", "if = 1"),
            &own("PreToolUse", "async = 1"),
            &own("Stop", "if = 'Bash'"),
        ],
        expect![[r#"
            fine: FILE:2: PreToolUse [] "g" None at 1 may allow 1 background

            FILE:2: `hooks.PreToolUse.hooks.if`: `Bash(ls` lacks its closing bracket
            FILE:2: `hooks.PreToolUse.hooks.if`: `Bash(*ls*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these
            FILE:2: `hooks.PreToolUse.hooks.if`: it has to be a rule, and is a number
            FILE:2: `hooks.PreToolUse.hooks.async` has to be true or false, and is a number
            FILE:2: `hooks.Stop.hooks.if`: there is no call at Stop that a rule could speak of; remove it
        "#]],
    );
}

#[test]
fn no_key_of_a_hook_is_passed_over_in_silence() {
    check(
        Place::UserClaude,
        &guard(r#""command": "g", "async": true, "statusMessage": "x", "once": true"#),
        expect![[r#"
            FILE:1: PreToolUse [Bash] "g" None background
        "#]],
    );
    check(
        Place::UserClaude,
        &guard(
            r#""command": "g", "asyncRewake": true, "async": "no", "onFailure": "block", "If": "x""#,
        ),
        expect![[r#"
            FILE:1: PreToolUse [Bash] "g" None at 0 may allow 0 background
            FILE:1: note: `hooks.PreToolUse.hooks.async` is neither true nor false, and changes nothing
            FILE:1: note: `hooks.PreToolUse.hooks.asyncRewake`: the hook runs, and wakes nobody
            FILE:1: note: `hooks.PreToolUse.hooks.onFailure` is not understood, and changes nothing
            FILE:1: note: `hooks.PreToolUse.hooks.If` is not understood, and the hook allows nothing
        "#]],
    );
    // What may have been meant to narrow it does not let it allow more.
    check(
        Place::UserClaude,
        &guard(r#""command": "g", "iff": 1, "Timeout": 1"#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None at 0 may allow 0
        FILE:1: note: `hooks.PreToolUse.hooks.iff` is not understood, and the hook allows nothing
        FILE:1: note: `hooks.PreToolUse.hooks.Timeout` is not understood, and the hook allows nothing
    "#]],
    );
    check(
        Place::UserClaude,
        r#"{"hooks": {"PreToolUse": [
          {"Matcher": "Bash", "hooks": [{"command": "a"}, {"command": "b", "if": "Bash(ls)"}]},
          {"if": "Bash(ls)", "hooks": [{"command": "c"}]}],
        "Stop": [{"If": "x", "hooks": [{"command": "d"}]}]}}"#,
        expect![[r#"
            FILE:2: PreToolUse [] "a" None at 0 may allow 0
            FILE:2: PreToolUse [] "b" None at 1 may allow 0
            FILE:3: PreToolUse [] "c" None at 0 may allow 0
            FILE:4: Stop [] "d" None
            FILE:2: note: `hooks.PreToolUse.Matcher` is not understood, and the hook allows nothing
            FILE:3: note: `hooks.PreToolUse.if` is not understood, and the hook allows nothing
            FILE:4: note: `hooks.Stop.If` is not understood, and changes nothing
        "#]],
    );
    check(
        Place::UserClaude,
        &guard(r#""command": "g", "shell": "powershell""#),
        expect![[r#"
        FILE:1: PreToolUse [Bash] "g" None broken
        FILE:1: note: `hooks.PreToolUse.hooks.shell`: heeler runs hooks with bash, not with `powershell`; what the hook may be about is denied
    "#]],
    );
    check(
        Place::UserClaude,
        &guard(r#""command": "g", "shell": "powershell", "args": []"#),
        expect![[r#"
            FILE:1: PreToolUse [Bash] "exec g" None
        "#]],
    );
}
