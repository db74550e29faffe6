//! `heeler permissions`: which hooks there are, which are asked about a call, and which block it.

use expect_test::{Expect, expect};

use super::check;

#[test]
fn a_call_is_explained_with_the_hooks_that_are_asked() {
    let hooks = r#"{"hooks": {
      "PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]},
        {"matcher": "Edit", "hooks": [{"type": "command", "command": "guard edits"}]},
        {"hooks": [{"type": "command", "command": "exit 2"}, {"type": "command", "command": "a\n b"}]}],
      "PermissionRequest": [{"hooks": [{"type": "command", "command": "answer"}]}],
      "Stop": [{"hooks": [{"type": "command", "command": "stopped"}]}]}}"#;
    let files = [(".claude/settings.json", hooks)];
    check(
        &files,
        &["explain", "Bash(ls)"],
        expect![[r#"
            exit 0
            allow: it stays in the box
            mode: ask
            confined: yes
            before that these hooks are asked: `exit 2` (~/.claude/settings.json:5), `a b` (~/.claude/settings.json:5)
        "#]],
    );
    check(
        &files,
        &["explain", "--json", "MultiEdit(a)"],
        expect![[r#"
            exit 0
            {"verdict":"ask","rule":null,"source":null,"reason":"it writes WORLD/work/a","confined":false,"mode":"ask","hooks":[{"event":"PreToolUse","command":"guard edits","source":"~/.claude/settings.json:4"},{"event":"PreToolUse","command":"exit 2","source":"~/.claude/settings.json:5"},{"event":"PreToolUse","command":"a\n b","source":"~/.claude/settings.json:5"},{"event":"PermissionRequest","command":"answer","source":"~/.claude/settings.json:6"}]}
        "#]],
    );
    check(
        &files,
        &["explain", "--ask", "Read", "Read(a)"],
        expect![[r#"
        exit 0
        ask: the rule Read (--ask) asks
        rule: Read (--ask)
        mode: ask
        confined: no
        before that these hooks are asked: `exit 2` (~/.claude/settings.json:5), `a b` (~/.claude/settings.json:5)
        before somebody is asked these hooks are: `answer` (~/.claude/settings.json:6)
    "#]],
    );
    check(
        &files,
        &["explain", "--no-settings", "Bash(ls)"],
        expect![[r#"
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
    "#]],
    );
}

#[test]
fn a_call_that_a_broken_hook_guards_is_denied() {
    let explained = |hooks: &str, call: &str, expected: Expect| {
        let text = format!(r#"{{"hooks": {{"PreToolUse": [{hooks}]}}}}"#);
        check(&[(".claude/settings.json", &text)], &["explain", call], expected);
    };
    let of_bash = |fields: &str| {
        format!(
            r#"{{"matcher": "Bash", "hooks": [{{"command": "g", {fields}}}, {{"command": "other"}}]}}"#
        )
    };
    explained(
        &of_bash(r#""shell": "powershell""#),
        "Bash(ls)",
        expect![[r#"
        exit 0
        deny: the hook `g (~/.claude/settings.json:1)` is broken: `hooks.PreToolUse.hooks.shell`: heeler runs hooks with bash, not with `powershell`; a call that it guards does not run
        mode: ask
        confined: no
        before that these hooks are asked: `other` (~/.claude/settings.json:1)
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    explained(
        &of_bash(r#""shell": "powershell", "async": true"#),
        "Bash(ls)",
        expect![[r#"
        exit 0
        deny: the hook `g (~/.claude/settings.json:1)` is broken: `hooks.PreToolUse.hooks.shell`: heeler runs hooks with bash, not with `powershell`; a call that it guards does not run
        mode: ask
        confined: no
        before that these hooks are asked: `other` (~/.claude/settings.json:1)
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    explained(
        &of_bash(r#""shell": "powershell""#),
        "Read(a)",
        expect![[r#"
        exit 0
        allow: reads in the workspace are allowed
        mode: ask
        confined: no
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    let pushes = of_bash(r#""args": "x", "if": "Bash(git push *)""#);
    explained(
        &pushes,
        "Bash(git push x)",
        expect![[r#"
        exit 0
        deny: the hook `g (~/.claude/settings.json:1)` is broken: `hooks.PreToolUse.hooks.args` has to be a list of texts; a call that it guards does not run
        mode: ask
        confined: no
        before that these hooks are asked: `other` (~/.claude/settings.json:1)
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    explained(
        &pushes,
        "Bash(ls)",
        expect![[r#"
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
        before that these hooks are asked: `other` (~/.claude/settings.json:1)
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    explained(
        r#"{"matcher": "(unclosed", "hooks": [{"command": "g"}]}"#,
        "Read(a)",
        expect![[r#"
            exit 0
            deny: the hook `g (~/.claude/settings.json:1)` is broken: its matcher `(unclosed` is no pattern: unclosed group; a call that it guards does not run
            mode: ask
            confined: no
            heeler: notes on the settings: 1; see `heeler permissions list`
        "#]],
    );
    let hooks = r#"{"hooks": {"PermissionRequest": [{"matcher": "Write,Edit", "hooks": [{"command": "g"}]}]}}"#;
    let files = [(".claude/settings.json", hooks)];
    check(
        &files,
        &["explain", "--json", "Write(a)"],
        expect![[r#"
        exit 0
        {"verdict":"deny","rule":null,"source":null,"reason":"the hook `g (~/.claude/settings.json:1)` is broken: its matcher `Write,Edit` matches no tool: names are apart by `|`; a call that it guards does not run","confined":false,"mode":"ask","hooks":[{"event":"PermissionRequest","command":"g","source":"~/.claude/settings.json:1","broken":"its matcher `Write,Edit` matches no tool: names are apart by `|`"}]}
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
    check(
        &files,
        &["explain", "Read(a)"],
        expect![[r#"
        exit 0
        allow: reads in the workspace are allowed
        mode: ask
        confined: no
        heeler: notes on the settings: 1; see `heeler permissions list`
    "#]],
    );
}

#[test]
fn a_hook_is_asked_about_what_its_rule_may_mean() {
    let hooks = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
      {"type": "command", "command": "guard", "if": "Bash(git push *)"},
      {"type": "command", "command": "log", "async": true}]}]}}"#;
    let files = [(".claude/settings.json", hooks)];
    check(
        &files,
        &["explain", "Bash(ls)"],
        expect![[r#"
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
    "#]],
    );
    check(
        &files,
        &["explain", "Bash(git push a)"],
        expect![[r#"
        exit 0
        ask: it runs the command `git push a` (git push talks to another repository)
        mode: ask
        confined: no
        before that these hooks are asked: `guard` (~/.claude/settings.json:2)
    "#]],
    );
    check(
        &files,
        &["explain", "Bash($X push a)"],
        expect![[r#"
        exit 0
        ask: it runs the command `$X push a` (which command runs is computed: $X)
        mode: ask
        confined: yes
        before that these hooks are asked: `guard` (~/.claude/settings.json:2)
    "#]],
    );
}

#[test]
fn hooks_are_listed_with_what_sets_them_apart() {
    let hooks = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
      {"type": "command", "command": "guard", "if": "Bash(git push *)"},
      {"type": "command", "command": "guess", "if": "Bash("},
      {"type": "command", "command": "doubt", "if": "Bash(ls:*)", "IF": "Bash"},
      {"type": "command", "command": "log", "async": true},
      {"type": "command", "command": "pwsh it", "shell": "powershell"}]}]}}"#;
    check(
        &[(".claude/settings.json", hooks)],
        &["list"],
        expect![[r#"
            exit 0
            mode      ask  (default)
            hook      PreToolUse Bash if Bash(git push *): guard  (~/.claude/settings.json:2)
            hook      PreToolUse Bash and allows nothing: guess  (~/.claude/settings.json:3)
            hook      PreToolUse Bash if Bash(ls:*) and allows nothing: doubt  (~/.claude/settings.json:4)
            hook      PreToolUse Bash: log (nobody waits for it)  (~/.claude/settings.json:5)
            hook      PreToolUse Bash: pwsh it (never runs, and what it may be about is denied: `hooks.PreToolUse.hooks.shell`: heeler runs hooks with bash, not with `powershell`)  (~/.claude/settings.json:6)
            note: ~/.claude/settings.json:3: `hooks.PreToolUse.hooks.if`: `Bash(` lacks its closing bracket; the hook runs at all it may mean, and allows nothing
            note: ~/.claude/settings.json:4: `hooks.PreToolUse.hooks.IF` is not understood, and the hook allows nothing
            note: ~/.claude/settings.json:6: `hooks.PreToolUse.hooks.shell`: heeler runs hooks with bash, not with `powershell`; what the hook may be about is denied
        "#]],
    );
}
