//! What is refused, in whose file, and what is passed over.

use expect_test::expect;

use super::*;

#[test]
fn what_cannot_be_meant_is_refused_in_our_files() {
    check_refused(
        Place::Project,
        &[
            "permission = {}",
            "[permissions]\nalow = []",
            "[permissions]\nallow = 'Bash'",
            "[permissions]\nallow = [7]",
            "[permissions]\nallow = [{ match = [] }]",
            "[permissions]\nallow = [{ rule = 'Bash', matches = [] }]",
            "[permissions]\nallow = [{ rule = 'Bash', match = [1] }]",
            "[permissions]\nallow = ['Bash(']",
            "[permissions]\n\ndeny = ['Bash(*rm*)']",
            "[permissions]\ndeny = ['Task(x)']",
            "[permissions]\ndeny = ['Read(~you/x)']",
            "[permissions]\nmode = 'yolo'",
            "[permissions]\nmode = 'ask'\ndefaultMode = 'plan'",
            "[permissions]\ndisableBypassPermissionsMode = true",
            "[permissions]\nadditionalDirectories = ['~you/x']",
            "[permissions]\nadditionalDirectories = [' ']",
            "hooks = []",
            "[hooks]\nPreTool = []",
            "[hooks]\nx = []",
            "[hooks]\nStop = {}",
            "[[hooks.Stop]]\nhook = []",
            "[[hooks.Stop]]\nhooks = [{ type = 'prompt' }]",
            "[[hooks.Stop]]\nhooks = [{ command = ' ' }]",
            "[[hooks.Stop]]\nmatcher = 'Bash('\nhooks = [{ command = 'x' }]",
            "[[hooks.Stop]]\nhooks = [{ command = 'x', timeout = 0 }]",
            "[[hooks.Stop]]\nhooks = [{ command = 'x', timeout = 601 }]",
            "[[hooks.Stop]]\nhooks = [{ command = 'x', timeout = 1.5 }]",
            "[[hooks.Stop]]\nhooks = [{ command = 'x', shell = 'sh' }]",
            "[env]\nA = 1",
            "[env]\n'A=B' = 'x'",
            "[env]\nA = \"\\u0000\"",
            "env = 1",
            "[sandbox]\nmode = 'of'",
            "[sandbox]\nmode = true",
            "[sandbox]\nnetwork = 'off'",
            "[sandbox]\nwritable = '~'",
            "[sandbox]\nunix = 1",
        ],
        expect![[r#"
            FILE:1: `permission` is no setting; did you mean `permissions`?
            FILE:2: `permissions.alow` is no setting; did you mean `allow`?
            FILE:2: `permissions.allow` has to be a list, and is a text
            FILE:2: `permissions.allow` has to be a list of rules, each a text, and is a number
            FILE:2: `permissions.allow`: a table without `rule`; add the rule, such as `Bash(ls:*)`
            FILE:2: `permissions.allow.matches` is no setting; did you mean `match`?
            FILE:2: `permissions.allow.match` has to be a text, and is a number
            FILE:2: `Bash(` lacks its closing bracket
            FILE:3: `Bash(*rm*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these
            FILE:2: `Task(x)` names no tool; the tools are Bash, Read, Edit, Write, LS
            FILE:2: `Read(~you/x)` names another user's home; write `//` and the path
            FILE:2: `yolo` is no permission mode; use ask, accept-edits, plan, allow-listed or bypass
            FILE:3: `permissions.mode` and `permissions.defaultMode` are the same; keep one
            FILE:2: `permissions.disableBypassPermissionsMode` has to be "disable", and is true or false
            FILE:2: `permissions.additionalDirectories`: the folder `~you/x` names another user's home; write the whole path
            FILE:2: `permissions.additionalDirectories`: the folder ` ` has no name; remove it
            FILE:1: `hooks` has to be a table, and is a list
            FILE:2: `hooks.PreTool` is no event; did you mean `PreToolUse`?
            FILE:2: `hooks.x` is no event; there are SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStart, SubagentStop, SessionEnd
            FILE:2: `hooks.Stop` has to be a list, and is a table
            FILE:2: `hooks.Stop.hook` is no setting; did you mean `hooks`?
            FILE:2: `hooks.Stop.hooks`: heeler runs hooks of the type command, not `prompt`; change the type
            FILE:2: `hooks.Stop.hooks`: a hook without a command; add `command`, or remove it
            FILE:1: `hooks.Stop`: its matcher `Bash(` is no pattern: unclosed group
            FILE:2: `hooks.Stop.hooks.timeout` has to be a whole number of seconds from 1 to 600
            FILE:2: `hooks.Stop.hooks.timeout` has to be a whole number of seconds from 1 to 600
            FILE:2: `hooks.Stop.hooks.timeout` has to be a whole number of seconds from 1 to 600
            FILE:2: `hooks.Stop.hooks.shell` is no setting; there are type, command, args, timeout, if, async
            FILE:2: `env.A` has to be a text, and is a number
            FILE:2: `env.A=B` cannot be a variable; rename it, or remove it
            FILE:2: `env.A` cannot be a variable; rename it, or remove it
            FILE:1: `env` has to be a table, and is a number
            FILE:2: `of` is no mode of the sandbox; did you mean `off`?
            FILE:2: `sandbox.mode` has to be a text, and is true or false
            FILE:2: `sandbox.network` has to be true or false, and is a text
            FILE:2: `sandbox.writable` has to be a list, and is a text
            FILE:2: `sandbox.unix` is no setting; there are mode, writable, network
        "#]],
    );
}

#[test]
fn what_forbids_is_never_passed_over_in_another_programs_file() {
    check_refused(
        Place::ProjectClaude,
        &[
            "[]",
            r#"{"permissions": []}"#,
            r#"{"permissions": {"deny": "Bash"}}"#,
            r#"{"permissions": {"deny": [{"rule": "Bash"}]}}"#,
            r#"{"permissions": {"deny": ["Bash(rm"]}}"#,
            r#"{"permissions": {"ask": ["a b"]}}"#,
            r#"{"permissions": {"deny": []},
                "permissions": {"deny": ["Bash"]}}"#,
            r#"{"permissions": {"deny": ["Bash"], "deny": []}}"#,
            r#"{"permissions": {"disableBypassPermissionsMode": "yes"}}"#,
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}"#,
        ],
        expect![[r#"
            FILE:1: the file has to be a table, and is a list
            FILE:1: `permissions` has to be a table, and is a list
            FILE:1: `permissions.deny` has to be a list, and is a text
            FILE:1: `permissions.deny` has to be a list of rules, each a text, and is a table
            FILE:1: `Bash(rm` lacks its closing bracket
            FILE:1: `a b` does not begin with a tool's name; write Tool or Tool(argument)
            FILE:2: `permissions` is given twice; merge the two
            FILE:1: `permissions.deny` is given twice; merge the two
            FILE:1: `permissions.disableBypassPermissionsMode` has to be "disable", and is a text
            FILE:1: `hooks.PreToolUse.hooks`: a hook without a command; add `command`, or remove it
        "#]],
    );
}

#[test]
fn a_saved_file_speaks_of_its_own_folder_only() {
    let text = "['/space'.permissions]\nallow = ['Bash(make)']\n\
                ['/other'.permissions]\nallow = ['Bash']\nmode = 'bypass'";
    check(
        Place::Saved,
        text,
        expect![[r#"
        FILE:2: Allow Bash(make)
    "#]],
    );
    check(
        Place::Saved,
        "['/space']\npermission = 1",
        expect![[r#"FILE:2: `"/space".permission` is no setting; did you mean `permissions`?"#]],
    );
    check(Place::Saved, "", expect![""]);
}

#[test]
fn rules_have_a_limit() {
    let rules = |n: usize| format!("[permissions]\nallow = [{}]", "'Bash',".repeat(n));
    let read = |n| Layer::read(&source(Place::User, rules(n)), &context());
    assert_eq!(read(RULES_MAX).unwrap().rules.len(), RULES_MAX);
    assert_eq!(
        read(RULES_MAX + 1).unwrap_err().to_string(),
        "FILE:2: there are more than 4096 rules; remove some"
    );
    // Those behind are not even read.
    let layer = Layer::salvage(&source(Place::User, rules(3 * RULES_MAX)), &context());
    assert_eq!(layer.rules.len(), RULES_MAX + 1);
}

#[test]
fn what_a_repository_denies_and_asks_has_a_limit() {
    let read = |place, n: usize, rule: &str| {
        let rules = format!("'{rule}',").repeat(n);
        let text = format!("[permissions]\ndeny = [{rules}]");
        Layer::read(&source(place, text), &context()).map(|layer| layer.rules.len())
    };
    let long = format!("Read({})", "x".repeat(REPOSITORY_RULES_BYTES_MAX / 16));
    assert_eq!(read(Place::Local, REPOSITORY_RULES_MAX, "Read(x)"), Ok(REPOSITORY_RULES_MAX));
    assert_eq!(read(Place::Local, 16, &long), Ok(16));
    assert_eq!(read(Place::User, 17, &long), Ok(17));
    assert_eq!(
        read(Place::User, REPOSITORY_RULES_MAX + 1, "Read(x)"),
        Ok(REPOSITORY_RULES_MAX + 1)
    );
    for (n, rule) in [(REPOSITORY_RULES_MAX + 9, "Read(x)"), (17, &*long)] {
        assert_eq!(
            read(Place::Project, n, rule).unwrap_err().to_string(),
            "FILE:2: a repository's rules that deny or ask are more than 512, or have more than 32768 \
             bytes; keep them in heeler's own settings.toml"
        );
    }
}

#[test]
fn hooks_have_a_limit() {
    let hooks = |matchers: &[String]| {
        let group = |matcher: &String| {
            format!("[[hooks.PreToolUse]]\nmatcher = '{matcher}'\nhooks = [{{ command = 'x' }}]\n")
        };
        let text: String = matchers.iter().map(group).collect();
        let read = Layer::read(&source(Place::Project, text), &context());
        read.map(|layer| layer.hooks.len()).map_err(|error| error.to_string())
    };
    assert_eq!(hooks(&vec![r"mcp__\w+__[a-z]+".into(); HOOKS_MAX]), Ok(HOOKS_MAX));
    let many = hooks(&vec![r"\w{200}".into(); HOOKS_MAX + 1]).unwrap_err();
    expect![[
        r#"FILE:1: `hooks.PreToolUse`: its matcher `\w{200}` is no pattern: it is too large"#
    ]]
    .assert_eq(&many);
    let many = hooks(&vec!["Bash".into(); HOOKS_MAX + 1]).unwrap_err();
    expect!["FILE:769: there are more than 256 hooks; remove some"].assert_eq(&many);
    let long = hooks(&["x".repeat(1025)]).unwrap_err();
    assert!(long.ends_with("is no pattern: it has more than 1024 bytes"), "{long}");
}

#[test]
fn every_mistake_of_a_table_is_told_not_the_first_alone() {
    let text = "[sandbox]\nmode = true\nnetwork = 'yes'\nwritable = ['a', 1, '~you']\nunix = 1\nx = 2\n\
                [env]\nA = 1\nB = 'b'\nC = 2\n\
                [web_fetch]\nallowed_hosts = ['http://a', 'b', 'c/d']\n\
                [web_search]\nbackend = 'yahoo'\naddress = 1\nkey = 'k'\n\
                [models]\nfallback = 'a/b'\ngpt = 1\n'a/b' = { window = 'w' }\n'c/d' = { x = 1 }\n\
                [hooks]\nBefore = []\nPreToolUse = [{ hooks = [{}, { command = 'a', timeout = 0 }] }, \
                { matcher = '(' }]\nStop = 1\n";
    let layer = Layer::salvage(&source(Place::User, text), &context());
    let told: String = layer.mistakes.iter().map(|mistake| format!("{mistake}\n")).collect();
    expect![[r#"
        FILE:23: `hooks.Before` is no event; there are SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStart, SubagentStop, SessionEnd
        FILE:24: `hooks.PreToolUse.hooks`: a hook without a command; add `command`, or remove it
        FILE:24: `hooks.PreToolUse.hooks.timeout` has to be a whole number of seconds from 1 to 600
        FILE:24: `hooks.PreToolUse`: its matcher `(` is no pattern: unclosed group
        FILE:25: `hooks.Stop` has to be a list, and is a number
        FILE:8: `env.A` has to be a text, and is a number
        FILE:10: `env.C` has to be a text, and is a number
        FILE:2: `sandbox.mode` has to be a text, and is true or false
        FILE:4: `sandbox.writable` has to be a text, and is a number
        FILE:4: `sandbox.writable`: the folder `~you` names another user's home; write the whole path
        FILE:3: `sandbox.network` has to be true or false, and is a text
        FILE:5: `sandbox.unix` is no setting; there are mode, writable, network
        FILE:6: `sandbox.x` is no setting; there are mode, writable, network
        FILE:18: `models.fallback` has to be a list, and is a text
        FILE:19: `models."gpt"` is no model; write its full name, as in [models."openai/gpt-6.2-sol"], or `fallback` for a list of models
        FILE:20: `models."a/b".window` has to be a number of tokens from 1 to 1000000000, and is a text
        FILE:21: `models."c/d".x` is no setting; there are window, output_max, prices, long
        FILE:14: `yahoo` is no search backend; there are searxng, brave, tavily
        FILE:15: `web_search.address` has to be a text, and is a number
        FILE:16: `web_search.key` is no setting; there are backend, address
        FILE:12: `web_fetch.allowed_hosts`: `http://a` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
        FILE:12: `web_fetch.allowed_hosts`: `c/d` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
    "#]].assert_eq(&told);
}
