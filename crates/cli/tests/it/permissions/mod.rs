//! `heeler permissions`: what it says is what a turn does, and trust is given by somebody.

mod hooks;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::World;

/// Writes files and the folders above them.
fn write(world: &World, files: &[(&str, &str)]) {
    for (path, text) in files {
        std::fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        world.write(path, text);
    }
}

/// What `heeler permissions` prints with these arguments, after its exit code.
fn shown(world: &World, arguments: &[&str]) -> String {
    let output = world.heeler(&[&["permissions"], arguments].concat()).run();
    world.plain(&format!("exit {}\n{}{}", output.code, output.stdout, output.stderr))
}

fn check(files: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    let world = World::new();
    write(&world, files);
    expected.assert_eq(&shown(&world, arguments));
}

const USER: &str = r#"{"permissions": {
  "allow": ["Bash(git push:*)", "WebFetch(domain:docs.example)"],
  "deny": ["Read(~/.ssh/**)"]}}"#;
const HOME: [(&str, &str); 1] = [(".claude/settings.json", USER)];

#[test]
fn a_call_is_explained_with_the_private_folder_that_a_session_has() {
    check(
        &HOME,
        &["explain", "Bash(tmp=$(mktemp -d); cp a \"$tmp\"; rm -rf \"$tmp\" $TMPDIR/y)"],
        expect![[r#"
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
    "#]],
    );
}

#[test]
fn a_call_is_explained_with_what_decides() {
    check(
        &HOME,
        &["explain", "Bash(git push)"],
        expect![[r#"
        exit 0
        allow: rule Bash(git push:*) (~/.claude/settings.json:2)
        rule: Bash(git push:*) (~/.claude/settings.json:2)
        mode: ask
        confined: no
    "#]],
    );
    check(
        &HOME,
        &["explain", "--json", "Bash(git push)"],
        expect![[r#"
        exit 0
        {"verdict":"allow","rule":"Bash(git push:*)","source":"~/.claude/settings.json:2","reason":"rule Bash(git push:*) (~/.claude/settings.json:2)","confined":false,"mode":"ask","hooks":[]}
    "#]],
    );
    check(
        &HOME,
        &["explain", "--json", "Bash(make)"],
        expect![[r#"
            exit 0
            {"verdict":"allow","rule":null,"source":null,"reason":"it stays in the box","confined":true,"mode":"ask","hooks":[]}
        "#]],
    );
    check(
        &[],
        &["explain", "Bash(cat ~/.ssh/id_rsa)"],
        expect![[r#"
        exit 0
        allow: it stays in the box; the box closes WORLD/.ssh, so what reads it there fails
        mode: ask
        confined: yes
    "#]],
    );
    check(
        &[],
        &["explain", "--json", "--ask", "Bash(cat:*)", "Bash(cat notes ~/.config/hub)"],
        expect![[r#"
            exit 0
            {"verdict":"ask","rule":"Bash(cat:*)","source":"--ask","reason":"the rule Bash(cat:*) (--ask) asks; the box closes WORLD/.config/hub, so what reads it there fails","confined":true,"mode":"ask","hooks":[]}
        "#]],
    );
    check(
        &HOME,
        &["explain", "--json", "Read(~/.ssh/id_ed25519)"],
        expect![[r#"
        exit 0
        {"verdict":"deny","rule":"Read(/WORLD/.ssh/**)","source":"~/.claude/settings.json:3","reason":"the rule Read(/WORLD/.ssh/**) (~/.claude/settings.json:3) denies it","confined":false,"mode":"ask","hooks":[]}
    "#]],
    );
    check(
        &HOME,
        &["explain", "--mode", "bypass", "Write(~/.aws/credentials)"],
        expect![[r#"
        exit 0
        deny: WORLD/.aws/credentials is closed: nothing reads or writes in WORLD/.aws, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
        mode: bypass
        confined: no
    "#]],
    );
    check(
        &HOME,
        &["explain", "WebFetch(https://docs.example/a)"],
        expect![[r#"
        exit 0
        allow: rule WebFetch(domain:docs.example) (~/.claude/settings.json:2)
        rule: WebFetch(domain:docs.example) (~/.claude/settings.json:2)
        mode: ask
        confined: no
    "#]],
    );
    check(
        &HOME,
        &["explain", "--mode", "allow-listed", "Edit(src/main.rs)"],
        expect![[r#"
        exit 0
        deny: it writes WORLD/work/src/main.rs, which no rule allows, and nobody can be asked in the mode allow-listed
        mode: allow-listed
        confined: no
    "#]],
    );
    check(
        &HOME,
        &["explain", "--permission-mode", "bypass", "Edit(src/main.rs)"],
        expect![[r#"
        exit 0
        allow: mode bypass
        mode: bypass
        confined: no
    "#]],
    );
    check(
        &HOME,
        &["explain", "--no-settings", "--ask", "Bash", "Bash(git push)"],
        expect![[r#"
        exit 0
        ask: the rule Bash (--ask) asks (git push talks to another repository)
        rule: Bash (--ask)
        mode: ask
        confined: no
    "#]],
    );
}

#[test]
fn what_is_no_call_is_told() {
    check(
        &[],
        &["explain", "Bash"],
        expect![[r#"
        exit 2
        heeler: `Bash`: write the call as Tool(argument), such as `Bash(git push)`
    "#]],
    );
    check(
        &[],
        &["explain", "Bash( )"],
        expect![[r#"
        exit 2
        heeler: `Bash( )`: write the call as Tool(argument), such as `Bash(git push)`
    "#]],
    );
    check(
        &[],
        &["explain", "Task(x)"],
        expect![[r#"
            exit 2
            heeler: `Task(x)`: there is no such tool; there are Read, Write, Edit, Glob, Grep, LS, Bash, WebFetch, TodoWrite, TodoRead, batch, MultiEdit, apply_patch, file_info, ask_user, exec, git_status, git_diff, git_log, git_commit, CurrentTime, Calculator
        "#]],
    );
    check(
        &[],
        &["explain", "--mode", "yolo", "Bash(ls)"],
        expect![[r#"
        exit 2
        heeler: --mode: `yolo` is no permission mode; use ask, accept-edits, plan, allow-listed or bypass
    "#]],
    );
    check(
        &[],
        &["explain", "--cwd", "absent", "Bash(ls)"],
        expect![[r#"
        exit 2
        heeler: cannot work in absent; use --cwd FOLDER: No such file or directory (os error 2)
    "#]],
    );
    check(
        &[("home/settings.toml", "x")],
        &["explain", "Bash(ls)"],
        expect![[r#"
            exit 2
            heeler: ~/home/settings.toml:1:2: this is no TOML: key with no value, expected `=`; mend it with `heeler config edit`, or move the file away
        "#]],
    );
}

/// Calls as people write them, and as a model makes them.
const CALLS: [(&str, &str, &str); 7] = [
    ("Bash(touch a)", "Bash", r#"{ command = "touch a" }"#),
    ("Bash(touch a && touch b)", "Bash", r#"{ command = "touch a && touch b" }"#),
    ("Bash(git status)", "Bash", r#"{ command = "git status" }"#),
    ("Read(../outside.txt)", "Read", r#"{ file_path = "../outside.txt" }"#),
    ("LS(.)", "LS", r#"{ path = "." }"#),
    ("Write(new.txt)", "Write", r#"{ file_path = "new.txt", content = "x" }"#),
    ("Write(.git/hooks/x)", "Write", r#"{ file_path = ".git/hooks/x", content = "x" }"#),
];

#[test]
fn what_is_explained_is_what_a_turn_does() {
    let settings = "[permissions]\nallow = ['Bash(touch:*)', 'Read(//)']\n\
                    deny = ['Edit(.git/**)', 'Bash(git:*)']\n[sandbox]\nmode = 'off'";
    for mode in ["ask", "accept-edits", "plan", "allow-listed", "bypass"] {
        let world = World::new();
        write(&world, &[("home/settings.toml", settings), ("outside.txt", "x")]);
        let mut script = String::new();
        for (_, tool, input) in CALLS {
            writeln!(script, "[[reply]]\nblocks = [{{ call = \"{tool}\", input = {input} }}]")
                .unwrap();
        }
        script.push_str("[[reply]]\ntext = \"done\"\n");
        let run = world.exec(&script, &["--permission-mode", mode, "--json", "go"]).run().exits(0);
        let (started, finished) = (run.of_type("call_started"), run.of_type("call_finished"));
        assert_eq!(finished.len(), CALLS.len());
        for ((call, _, _), finished) in CALLS.into_iter().zip(finished) {
            let ran = started.iter().any(|started| started["call"] == finished["call"]);
            let arguments = ["permissions", "explain", "--json", "--mode", mode, call];
            let output = world.heeler(&arguments).run().exits(0);
            let explained: Value = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!(explained["verdict"] == "allow", ran, "{mode} {call}: {explained}");
        }
    }
}

#[test]
fn everything_that_is_set_is_listed_with_its_source() {
    let ours = "[permissions]\nask = ['Bash(make:*)']\nmode = 'accept-edits'\n\
                [[hooks.Stop]]\nhooks = [{ command = 'beep' }]\n[env]\nSECRET = 'x'\n\
                [sandbox]\nmode = 'required'\nwritable = ['~/cache']\nnetwork = false";
    let files = [
        HOME[0],
        ("home/settings.toml", ours),
        ("work/.claude/settings.json", r#"{"permissions": {"allow": ["Task(x)", "Bash"]}}"#),
    ];
    check(
        &files,
        &["list", "--deny", "Edit(/a)"],
        expect![[r#"
            exit 0
            deny      Read(/WORLD/.ssh/**)  (~/.claude/settings.json:3)
            deny      Edit(/a)  (--deny)
            deny      Edit(//a)  (--deny)
            ask       Bash(make:*)  (~/home/settings.toml:2)
            allow     Bash(git push:*)  (~/.claude/settings.json:2)
            allow     WebFetch(domain:docs.example)  (~/.claude/settings.json:2)
            mode      accept-edits  (~/home/settings.toml:3)
            hook      Stop *: beep  (~/home/settings.toml:5)
            variable  SECRET  (~/home/settings.toml:7)
            sandbox   required  (~/home/settings.toml:9)
            sandbox   writable WORLD/cache  (~/home/settings.toml:10)
            sandbox   network off  (~/home/settings.toml:11)
            note: .claude/settings.json:1: `Task(x)` names no tool; the tools are Read, Write, Edit, Glob, Grep, LS, Bash, WebFetch, TodoWrite, TodoRead, ToolSearch, batch, MultiEdit, apply_patch, file_info, ask_user, exec, git_status, git_diff, git_log, git_commit, CurrentTime, Calculator, WebSearch
            not trusted: rules that allow of .claude/settings.json
        "#]],
    );
    check(
        &files,
        &["list", "--json"],
        expect![[r#"
            exit 0
            {"settings":[{"what":"deny","value":"Read(/WORLD/.ssh/**)","source":"~/.claude/settings.json:3"},{"what":"ask","value":"Bash(make:*)","source":"~/home/settings.toml:2"},{"what":"allow","value":"Bash(git push:*)","source":"~/.claude/settings.json:2"},{"what":"allow","value":"WebFetch(domain:docs.example)","source":"~/.claude/settings.json:2"},{"what":"mode","value":"accept-edits","source":"~/home/settings.toml:3"},{"what":"hook","value":"Stop *: beep","source":"~/home/settings.toml:5"},{"what":"variable","value":"SECRET","source":"~/home/settings.toml:7"},{"what":"sandbox","value":"required","source":"~/home/settings.toml:9"},{"what":"sandbox","value":"writable WORLD/cache","source":"~/home/settings.toml:10"},{"what":"sandbox","value":"network off","source":"~/home/settings.toml:11"}],"passed_over":[],"mistakes":[],"notes":[{"source":".claude/settings.json:1","text":"`Task(x)` names no tool; the tools are Read, Write, Edit, Glob, Grep, LS, Bash, WebFetch, TodoWrite, TodoRead, ToolSearch, batch, MultiEdit, apply_patch, file_info, ask_user, exec, git_status, git_diff, git_log, git_commit, CurrentTime, Calculator, WebSearch"}],"untrusted":[{"file":".claude/settings.json","aspects":["rules"]}]}
        "#]],
    );
    check(
        &[],
        &["list"],
        expect![[r#"
            exit 0
            mode      ask  (default)
        "#]],
    );
}

const ASKING: [(&str, &str); 2] = [
    ("work/.claude/settings.json", r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#),
    (
        "work/.heeler/settings.toml",
        "[[hooks.Stop]]\n# \u{202e}hidden\nhooks = [{ command = 'x' }]\n",
    ),
];

#[test]
fn trust_is_shown_then_granted_and_taken_back() {
    let world = World::new();
    write(&world, &ASKING);
    let mut told = shown(&world, &["trust"]);
    assert!(!world.path("home/trust.toml").exists(), "nobody said yes");
    told += &shown(&world, &["explain", "Bash(touch a)"]);
    told += &shown(&world, &["trust", "--yes"]);
    told += &shown(&world, &["trust", "--yes"]);
    told += &shown(&world, &["explain", "Bash(touch a)"]);
    told += &shown(&world, &["trust", "--revoke"]);
    told += &shown(&world, &["explain", "Bash(touch a)"]);
    expect![[r#"
        exit 1
        rules that allow of .claude/settings.json:

        {"permissions": {"allow": ["Bash(touch:*)"]}}

        commands that run by themselves (hooks) of .heeler/settings.toml:

        [[hooks.Stop]]
        # <U+202E>hidden
        hooks = [{ command = 'x' }]

        heeler: nothing was trusted; add --yes to trust exactly what is shown above
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
        heeler: not trusted, so it does not count: rules that allow of .claude/settings.json; commands that run by themselves (hooks) of .heeler/settings.toml; look at it with `heeler permissions trust`
        exit 0
        rules that allow of .claude/settings.json:

        {"permissions": {"allow": ["Bash(touch:*)"]}}

        commands that run by themselves (hooks) of .heeler/settings.toml:

        [[hooks.Stop]]
        # <U+202E>hidden
        hooks = [{ command = 'x' }]

        trusted: rules that allow of .claude/settings.json
        trusted: commands that run by themselves (hooks) of .heeler/settings.toml
        exit 0
        nothing here asks for more trust than it has
        exit 0
        allow: rule Bash(touch:*) (.claude/settings.json:1)
        rule: Bash(touch:*) (.claude/settings.json:1)
        mode: ask
        confined: yes
        exit 0
        files no longer trusted: 2
        exit 0
        allow: it stays in the box
        mode: ask
        confined: yes
        heeler: not trusted, so it does not count: rules that allow of .claude/settings.json; commands that run by themselves (hooks) of .heeler/settings.toml; look at it with `heeler permissions trust`
    "#]]
    .assert_eq(&told);
}

#[test]
fn processes_that_trust_at_the_same_time_lose_nothing() {
    const FOLDERS: usize = 12;
    let world = World::new();
    let folder = |n: usize| format!("work/{n}");
    for n in 0..FOLDERS {
        write(&world, &[(&format!("work/{n}/.heeler/settings.toml"), "[env]\nA = '1'\n")]);
    }
    std::thread::scope(|scope| {
        for n in 0..FOLDERS {
            let folder = world.path(&folder(n));
            let world = &world;
            scope.spawn(move || {
                let cwd = folder.to_str().unwrap();
                world.heeler(&["permissions", "trust", "--yes", "--cwd", cwd]).run().exits(0)
            });
        }
    });
    for n in 0..FOLDERS {
        let told = shown(&world, &["trust", "--cwd", world.path(&folder(n)).to_str().unwrap()]);
        assert_eq!(told, "exit 0\nnothing here asks for more trust than it has\n");
    }
}

#[test]
fn examples_of_rules_are_checked_against_the_tools() {
    let rule = |match_: &str, not_match: &str| {
        format!(
            "[permissions]\nallow = [\n  {{ rule = 'Bash(git push:*)', match = ['{match_}'],\n    \
             not_match = ['{not_match}'] }},\n  {{ rule = 'Read(~/notes)', match = ['~/notes/a'] }},\n]"
        )
    };
    let call = ["explain", "Bash(git push)"];
    let fine = rule("git push origin", "git pull");
    check(
        &[("home/settings.toml", &fine)],
        &call,
        expect![[r#"
        exit 0
        allow: rule Bash(git push:*) (~/home/settings.toml:3)
        rule: Bash(git push:*) (~/home/settings.toml:3)
        mode: ask
        confined: no
    "#]],
    );
    let loose = rule("git push origin", "git push -v");
    check(
        &[("home/settings.toml", &loose)],
        &call,
        expect![[r#"
        exit 2
        heeler: ~/home/settings.toml:4: `Bash(git push:*)`, example `git push -v`: it matches, and must not; correct one of them
    "#]],
    );
    let strict = rule("git pull", "git status");
    check(
        &[("home/settings.toml", &strict)],
        &call,
        expect![[r#"
        exit 2
        heeler: ~/home/settings.toml:3: `Bash(git push:*)`, example `git pull`: it does not let this run; correct one of them
    "#]],
    );
}
