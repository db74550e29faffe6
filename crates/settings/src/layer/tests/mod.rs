//! What each kind of file says, with its places.

mod any;
mod hooks;
mod preferences;
mod refused;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use heeler_core::HookRule;

use super::*;

fn context() -> Context {
    Context {
        workspace: "/space".into(),
        homes: vec!["/home/me".into()],
        tools: ["Bash", "Read", "Edit", "Write", "LS"].map(str::to_owned).into(),
    }
}

fn source(place: Place, text: impl Into<Vec<u8>>) -> Source {
    let path = if place.is_foreign() { "/f/s.json" } else { "/f/s.toml" };
    Source {
        place,
        path: path.into(),
        name: "FILE".into(),
        content: text.into(),
        trusted: BTreeSet::new(),
    }
}

/// All that a layer says, a line each.
fn show(layer: &Layer) -> String {
    let mut shown = String::new();
    for rule in &layer.rules {
        writeln!(shown, "{}: {:?} {rule}", rule.source, rule.effect).unwrap();
    }
    for Example { rule, text, matches, source } in &layer.examples {
        writeln!(shown, "{source}: {rule} on {text:?}: {matches}").unwrap();
    }
    if let Some(Setting { value, source }) = &layer.mode {
        writeln!(shown, "{source}: mode {value:?}").unwrap();
    }
    if let Some(source) = &layer.bypass_ruled_out {
        writeln!(shown, "{source}: no bypass").unwrap();
    }
    for Setting { value, source } in &layer.folders {
        writeln!(shown, "{source}: folder {}", value.display()).unwrap();
    }
    for hook in &layer.hooks {
        let HookSetting { event, matcher, command, timeout_seconds, .. } = hook;
        let source = &hook.source;
        write!(shown, "{source}: {event} [{matcher}] {command:?} {timeout_seconds:?}").unwrap();
        if let Some(HookRule { denying, allowing }) = &hook.only {
            write!(shown, " at {} may allow {}", denying.len(), allowing.len()).unwrap();
        }
        let background = if hook.in_background { " background" } else { "" };
        let broken = if hook.broken.is_some() { " broken" } else { "" };
        writeln!(shown, "{background}{broken}").unwrap();
    }
    if let Some(source) = &layer.hooks_off {
        writeln!(shown, "{source}: no hooks").unwrap();
    }
    for (name, Setting { value, source }) in &layer.environment {
        writeln!(shown, "{source}: {name}={value}").unwrap();
    }
    if let Some(Setting { value, source }) = &layer.confinement {
        writeln!(shown, "{source}: sandbox {value:?}").unwrap();
    }
    for Setting { value, source } in &layer.writable {
        writeln!(shown, "{source}: writable {}", value.display()).unwrap();
    }
    if let Some(Setting { value, source }) = &layer.network {
        writeln!(shown, "{source}: network {value}").unwrap();
    }
    if let Some(Setting { value, source }) = &layer.search {
        writeln!(shown, "{source}: search by {}", value.name()).unwrap();
    }
    for Setting { value, source } in layer.search_address.iter().chain(&layer.web_hosts) {
        writeln!(shown, "{source}: reaches {value}").unwrap();
    }
    for (name, Setting { value, source }) in &layer.models {
        let ModelSetting { window, output_max, prices } = value;
        writeln!(shown, "{source}: {name} {window:?} {output_max:?} {prices:?}").unwrap();
    }
    if let Some(Setting { value, source }) = &layer.fallback {
        writeln!(shown, "{source}: else {value:?}").unwrap();
    }
    for (key, Setting { value, source }) in &layer.values {
        writeln!(shown, "{source}: {} = {}", key.path, key.show(value)).unwrap();
    }
    for Note { source, text } in &layer.notes {
        writeln!(shown, "{source}: note: {text}").unwrap();
    }
    for problem in &layer.problems {
        writeln!(shown, "passed over: {problem}").unwrap();
    }
    shown
}

fn check(place: Place, text: &str, expected: Expect) {
    let shown = match Layer::read(&source(place, text), &context()) {
        Ok(layer) => show(&layer),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

/// What is wrong with each of these files.
fn check_refused(place: Place, texts: &[&str], expected: Expect) {
    let mut shown = String::new();
    for text in texts {
        match Layer::read(&source(place, *text), &context()) {
            Ok(layer) => writeln!(shown, "fine: {}", show(&layer)).unwrap(),
            Err(error) => writeln!(shown, "{error}").unwrap(),
        }
    }
    expected.assert_eq(&shown);
}

const WEB: &str = r#"
[web_search]
backend = "searxng"
address = "http://localhost:8888"
[web_fetch]
allowed_hosts = ["Wiki.LAN", "127.0.0.1", "[0:0::1]", "build_host"]
"#;

#[test]
fn who_searches_and_what_is_near_is_the_users_own_say() {
    check(
        Place::User,
        WEB,
        expect![[r#"
        FILE:3: search by searxng
        FILE:4: reaches http://localhost:8888
        FILE:6: reaches wiki.lan
        FILE:6: reaches 127.0.0.1
        FILE:6: reaches ::1
        FILE:6: reaches build_host
    "#]],
    );
    check(
        Place::Given,
        WEB,
        expect![[r#"
        FILE:3: search by searxng
        FILE:4: reaches http://localhost:8888
        FILE:6: reaches wiki.lan
        FILE:6: reaches 127.0.0.1
        FILE:6: reaches ::1
        FILE:6: reaches build_host
    "#]],
    );
    let told = expect![[r#"
        FILE:2: note: `web_search` only counts in your own settings.toml, whatever is trusted: it says where requests go
        FILE:5: note: `web_fetch` only counts in your own settings.toml, whatever is trusted: it says where requests go
    "#]];
    for place in [Place::Project, Place::Local] {
        let trusted = Source { trusted: Aspect::ALL.into(), ..source(place, WEB) };
        let layer = Layer::read(&trusted, &context()).unwrap();
        told.assert_eq(&show(&layer));
        assert!(layer.asks_for(&Values::new()).is_empty());
    }
    // Another program's file knows neither.
    check(
        Place::UserClaude,
        r#"{"web_search": 1, "web_fetch": {"allowed_hosts": 2}}"#,
        expect![""],
    );
    let many = format!("[web_fetch]\nallowed_hosts = [{}]", "'a',".repeat(WEB_HOSTS_MAX + 1));
    check_refused(
        Place::User,
        &[
            "web_search = 'brave'",
            "[web_search]\nbackend = 'duckduckgo'",
            "[web_search]\nbackend = 'Tavily'",
            "[web_search]\naddress = 8888",
            "[web_search]\nkey = 'abc'",
            "[web_fetch]\nallowed_hosts = 'a'",
            "[web_fetch]\nallowed_hosts = ['http://a/']",
            "[web_fetch]\nallowed_hosts = ['a:80']",
            "[web_fetch]\nallowed_hosts = ['*.a']",
            "[web_fetch]\nallowed_hosts = ['10.0.0.0/8']",
            "[web_fetch]\nallowed_hosts = ['0x7f.1']",
            "[web_fetch]\nallowed_hosts = ['']",
            &many,
        ],
        expect![[r#"
            FILE:1: `web_search` has to be a table, and is a text
            FILE:2: `duckduckgo` is no search backend; there are searxng, brave, tavily
            FILE:2: `Tavily` is no search backend; did you mean `tavily`?
            FILE:2: `web_search.address` has to be a text, and is a number
            FILE:2: `web_search.key` is no setting; there are backend, address
            FILE:2: `web_fetch.allowed_hosts` has to be a list, and is a text
            FILE:2: `web_fetch.allowed_hosts`: `http://a/` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:2: `web_fetch.allowed_hosts`: `a:80` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:2: `web_fetch.allowed_hosts`: `*.a` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:2: `web_fetch.allowed_hosts`: `10.0.0.0/8` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:2: `web_fetch.allowed_hosts`: `0x7f.1` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:2: `web_fetch.allowed_hosts`: `` is no host; write a name or an IP address alone, such as `wiki.lan` or `127.0.0.1`
            FILE:1: `web_fetch.allowed_hosts` has more than 64 hosts
        "#]],
    );
}

#[test]
fn models_are_known_by_their_full_names() {
    check(
        Place::User,
        r#"
[models]
fallback = ["openai/gpt-6.2-sol", "gpt-5.5"]
[models."ollama/qwen3:8b"]
window = 32_768
[models."openai/gpt-next"]
output_max = 64_000
prices = { input = 1, output = 2.5, cache_read = 0.1 }
long = { over = 200_000, input = 2.0, output = 1_0.5 }
"#,
        expect![[r#"
            FILE:4: ollama/qwen3:8b Some(32768) None None
            FILE:6: openai/gpt-next None Some(64000) Some(Prices { input: 1000, output: 2500, cache_write: 1000, cache_read: 100, long: Some(LongPrices { over: 200000, input: 2000, output: 10500, cache_write: 2000, cache_read: 2000 }) })
            FILE:3: else ["openai/gpt-6.2-sol", "gpt-5.5"]
        "#]],
    );
    check(Place::ProjectClaude, r#"{"models": {"fallback": 1}}"#, expect![""]);
    let many = format!("[models]\nfallback = [{}]", "'a/b',".repeat(FALLBACKS_MAX + 1));
    check_refused(
        Place::Project,
        &[
            "models = 1",
            "[models]\nfallback = 'a/b'",
            "[models]\nfallback = [1]",
            &many,
            "[models.opus]\nwindow = 1",
            "[models.'a/']\nwindow = 1",
            "[models.'a/b']\nwindow = 0",
            "[models.'a/b']\nwindow = 1_000_000_001",
            "[models.'a/b']\nwindows = 5",
            "[models.'a/b']\noutput_max = 0.5",
            "[models.'a/b']\nprices = { input = 1 }",
            "[models.'a/b']\nprices = { output = 1 }",
            "[models.'a/b']\nprices = { input = -1, output = 1 }",
            "[models.'a/b']\nprices = { input = nan, output = 1 }",
            "[models.'a/b']\nprices = { input = 1, output = 1_000_001 }",
            "[models.'a/b']\nprices = { input = 1, output = 1, cash = 1 }",
            "[models.'a/b']\nlong = { over = 1, input = 1, output = 1 }",
            "[models.'a/b']\nprices = { input = 1, output = 1 }\nlong = { input = 1, output = 1 }",
        ],
        expect![[r#"
            FILE:1: `models` has to be a table, and is a number
            FILE:2: `models.fallback` has to be a list, and is a text
            FILE:2: `models.fallback` has to be a text, and is a number
            FILE:2: `models.fallback` has more than 16 models
            FILE:1: `models."opus"` is no model; write its full name, as in [models."openai/gpt-6.2-sol"], or `fallback` for a list of models
            FILE:1: `models."a/"` is no model; write its full name, as in [models."openai/gpt-6.2-sol"], or `fallback` for a list of models
            FILE:2: `models."a/b".window` has to be a number of tokens from 1 to 1000000000, and is a number
            FILE:2: `models."a/b".window` has to be a number of tokens from 1 to 1000000000, and is a number
            FILE:2: `models."a/b".windows` is no setting; did you mean `window`?
            FILE:2: `models."a/b".output_max` has to be a number of tokens from 1 to 1000000000, and is a fraction
            FILE:2: `models."a/b".prices.output` is missing; add it
            FILE:2: `models."a/b".prices.input` is missing; add it
            FILE:2: `models."a/b".prices.input` has to be dollars per million tokens, from 0 to 1000000, and is a number
            FILE:2: `models."a/b".prices.input` has to be dollars per million tokens, from 0 to 1000000, and is a fraction
            FILE:2: `models."a/b".prices.output` has to be dollars per million tokens, from 0 to 1000000, and is a number
            FILE:2: `models."a/b".prices.cash` is no setting; there are input, output, cache_write, cache_read
            FILE:1: `models."a/b".long` needs `prices` beside it
            FILE:3: `models."a/b".long.over` is missing; add it
        "#]],
    );
}

#[test]
fn all_keys_of_our_own_files() {
    check(
        Place::User,
        r#"
[permissions]
allow = [
  "Bash(npm run test:*)",
  { rule = "Bash(git push:*)", match = ["git push origin"], not_match = [
    "git pull",
  ] },
]
ask = ["Edit(/docs/**)"]
deny = ["Read(~/.ssh/**)", "mcp__server__tool", "WebFetch(domain:x.example)"]
mode = "accept-edits"
additionalDirectories = ["~/notes", "../other", "/abs"]
disableBypassPermissionsMode = "disable"

[[hooks.PreToolUse]]
matcher = "Bash|Edit"
hooks = [
  { type = "command", command = "check.sh", timeout = 5 },
  { command = "other" },
]
[[hooks.Stop]]
hooks = [{ command = "done" }]

[env]
RUST_LOG = "debug"
MY_TOKEN = "x"

[sandbox]
mode = "required"
writable = ["~/.cargo", "target"]
network = true
"#,
        expect![[r#"
            FILE:10: Deny Read(//home/me/.ssh/**)
            FILE:10: Deny mcp__server__tool
            FILE:10: Deny WebFetch(domain:x.example)
            FILE:9: Ask Edit(/docs/**)
            FILE:9: Ask Edit(//docs/**)
            FILE:4: Allow Bash(npm run test:*)
            FILE:5: Allow Bash(git push:*)
            FILE:5: Bash(git push:*) on "git push origin": true
            FILE:6: Bash(git push:*) on "git pull": false
            FILE:11: mode AcceptEdits
            FILE:13: no bypass
            FILE:12: folder /home/me/notes
            FILE:12: folder /other
            FILE:12: folder /abs
            FILE:18: PreToolUse [Bash|Edit] "check.sh" Some(5)
            FILE:19: PreToolUse [Bash|Edit] "other" None
            FILE:22: Stop [] "done" None
            FILE:25: RUST_LOG=debug
            FILE:26: MY_TOKEN=x
            FILE:29: sandbox Required
            FILE:30: writable /home/me/.cargo
            FILE:30: writable /space/target
            FILE:31: network true
        "#]],
    );
}

#[test]
fn another_programs_file_is_read_as_far_as_we_know_it() {
    check(
        Place::ProjectClaude,
        r#"{
  "$schema": "x", "model": 7, "sandbox": {"enabled": false},
  "permissions": {
    "allow": ["Bash(ls *)", "Task(explore)", "WebSearch", "Bash(git push*)", "Bash(x", "a b"],
    "ask": ["Bash(npm* run:*)"],
    "deny": ["Read(./.env)", "Edit(/etc/x)", "Bash(sudo*)", "NotebookEdit"],
    "defaultMode": "acceptEdits",
    "mode": "ours means nothing here",
    "other": []
  },
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "more": 1, "hooks": [
      {"type": "command", "command": "check", "timeout": 30, "async": true},
      {"type": "prompt", "prompt": "is it fine?"}
    ]}],
    "Notification": [{"hooks": [{"type": "command", "command": "beep"}]}]
  },
  "env": {"A": "1", "ANTHROPIC_AUTH_TOKEN": "sk"}
}"#,
        expect![[r#"
            FILE:6: Deny Read(./.env)
            FILE:6: Deny Edit(/etc/x)
            FILE:6: Deny Edit(//etc/x)
            FILE:6: Deny Bash(sudo*)
            FILE:6: Deny NotebookEdit
            FILE:5: Ask Bash(npm* run:*)
            FILE:4: Allow Bash(ls *)
            FILE:4: Allow Task(explore)
            FILE:4: Allow WebSearch
            FILE:4: Allow Bash(git push*)
            FILE:7: mode AcceptEdits
            FILE:13: PreToolUse [Bash] "check" Some(30) background
            FILE:14: PreToolUse [Bash] "prompt" None broken
            FILE:18: A=1
            FILE:6: note: `Bash(sudo*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these; it denies all that it may mean
            FILE:6: note: `NotebookEdit` names no tool; the tools are Bash, Read, Edit, Write, LS
            FILE:5: note: `Bash(npm* run:*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these; it asks about all that it may mean
            FILE:4: note: `Task(explore)` names no tool; the tools are Bash, Read, Edit, Write, LS
            FILE:4: note: `WebSearch` names no tool; the tools are Bash, Read, Edit, Write, LS
            FILE:4: note: `Bash(git push*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these; it allows nothing
            FILE:4: note: a rule that allows is passed over: `Bash(x` lacks its closing bracket
            FILE:4: note: a rule that allows is passed over: `a b` does not begin with a tool's name; write Tool or Tool(argument)
            FILE:12: note: `hooks.PreToolUse.more` is not understood, and changes nothing
            FILE:14: note: `hooks.PreToolUse.hooks`: heeler runs hooks of the type command, not `prompt`; what the hook may be about is denied
            FILE:16: note: its hooks never run: `hooks.Notification` is no event; there are SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact, Stop, SubagentStart, SubagentStop, SessionEnd
            FILE:18: note: the variable ANTHROPIC_AUTH_TOKEN looks like a secret and is not given to commands; to give it to them, set it in heeler's own settings.toml
        "#]],
    );
    check(
        Place::UserClaude,
        r#"{"permissions": {"defaultMode": "dontAsk"}}"#,
        expect![[r#"
        FILE:1: mode AllowListed
    "#]],
    );
    check(
        Place::UserClaude,
        r#"{"permissions": {"defaultMode": "auto"}}"#,
        expect![[r#"
        FILE:1: note: the mode is passed over: `auto` is no permission mode; use ask, accept-edits, plan, allow-listed or bypass
    "#]],
    );
    check(
        Place::UserClaude,
        r#"{"permissions": {"deny": ["Read(/etc/x)"]}}"#,
        expect![[r#"
        FILE:1: Deny Read(//home/me/.claude/etc/x)
        FILE:1: Deny Read(/etc/x)
        FILE:1: Deny Read(//etc/x)
    "#]],
    );
}

#[test]
fn a_key_of_another_program_that_differs_in_case_alone_is_told() {
    check(
        Place::UserClaude,
        r#"{"Permissions": {"deny": ["Bash(rm:*)"]}, "theme": "dark"}"#,
        expect![[r#"
            FILE:1: note: `Permissions` sets nothing: the setting is called `permissions`
        "#]],
    );
    check(
        Place::UserClaude,
        r#"{"permissions": {"Deny": ["Bash(rm:*)"], "other": 1}}"#,
        expect![[r#"
            FILE:1: note: `permissions.Deny` sets nothing: the setting is called `permissions.deny`
        "#]],
    );
}

#[test]
fn a_rule_that_forbids_any_arguments_twice_forbids_them() {
    check(
        Place::UserClaude,
        r#"{"permissions": {"deny": ["Bash(rm:*:*)"], "allow": ["Bash(ls:*:*)"]}}"#,
        expect![[r#"
            FILE:1: Deny Bash(rm:*)
            FILE:1: Allow Bash(ls:*:*)
            FILE:1: note: `Bash(ls:*:*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these; it allows nothing
        "#]],
    );
}

#[test]
fn hooks_can_be_switched_off() {
    check(
        Place::UserClaude,
        r#"{"disableAllHooks": true}"#,
        expect![[r#"
        FILE:1: no hooks
    "#]],
    );
    check(Place::UserClaude, r#"{"disableAllHooks": false}"#, expect![""]);
    check(
        Place::User,
        "disableAllHooks = 1",
        expect!["FILE:1: `disableAllHooks` has to be true or false, and is a number"],
    );
}

#[test]
fn a_hook_of_another_program_has_no_more_time_than_ours() {
    let hooks = |timeout: &str| {
        let hook = format!(r#"{{"command": "check", "timeout": {timeout}}}"#);
        format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{hook}]}}]}}}}"#)
    };
    let place = Place::UserClaude;
    check(
        place,
        &hooks("600"),
        expect![[r#"
            FILE:1: Stop [] "check" Some(600)
        "#]],
    );
    check(
        place,
        &hooks("3600"),
        expect![[r#"
            FILE:1: Stop [] "check" Some(600)
            FILE:1: note: `hooks.Stop.hooks.timeout`: a hook has from 1 to 600 seconds; this one has 600 instead of 3600
        "#]],
    );
    for (timeout, expected) in [
        (
            "0",
            expect![[r#"
            FILE:1: Stop [] "check" Some(1)
            FILE:1: note: `hooks.Stop.hooks.timeout`: a hook has from 1 to 600 seconds; this one has 1 instead of 0
        "#]],
        ),
        (
            "0.5",
            expect![[r#"
            FILE:1: Stop [] "check" Some(1)
        "#]],
        ),
        (
            "1e9",
            expect![[r#"
            FILE:1: Stop [] "check" Some(600)
            FILE:1: note: `hooks.Stop.hooks.timeout`: a hook has from 1 to 600 seconds; this one has 600 instead of 1000000000
        "#]],
        ),
        (
            "null",
            expect![[r#"
            FILE:1: Stop [] "check" None
            FILE:1: note: `hooks.Stop.hooks.timeout` is no number, and the hook has the time of all others
        "#]],
        ),
    ] {
        check(place, &hooks(timeout), expected);
    }
}

#[test]
fn hooks_of_sub_agents_are_said_never_to_run() {
    let hooks = "[[hooks.SubagentStart]]\nhooks = [{ command = 'a' }]\n\n\
                 [[hooks.SubagentStop]]\nhooks = [{ command = 'b' }]";
    check(
        Place::User,
        hooks,
        expect![[r#"
        FILE:2: SubagentStart [] "a" None
        FILE:5: SubagentStop [] "b" None
        FILE:1: note: its hooks never run: `hooks.SubagentStart`: heeler starts no sub-agents yet
        FILE:4: note: its hooks never run: `hooks.SubagentStop`: heeler starts no sub-agents yet
    "#]],
    );
}
