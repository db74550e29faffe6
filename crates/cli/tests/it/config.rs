//! `heeler config`: what holds and why, and a file that is edited and checked.

#![expect(clippy::unwrap_used, reason = "a world that cannot be made fails the test")]

use expect_test::{Expect, expect};

use crate::support::World;

const USER: &str = "[limits]\nrounds = 20\n[tui]\nkeys = 'vim'\nplain = 'x'\n";
const PROJECT: &str = "[limits]\nrounds = 100\ncalls = 9\n[permissions]\nallow = ['Bash']\n";

/// What a command prints in a world with these files, and how it ends.
fn check(files: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    let world = World::new();
    write(&world, files);
    let output = world.heeler(arguments).run();
    let shown = format!("exit {}\n{}{}", output.code, output.stdout, output.stderr);
    expected.assert_eq(&world.plain(&shown));
}

fn write(world: &World, files: &[(&str, &str)]) {
    for (path, text) in files {
        std::fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        world.write(path, text);
    }
}

#[test]
fn what_holds_is_listed_with_where_it_is_set() {
    let files = [("home/settings.toml", USER), ("work/.heeler/settings.toml", PROJECT)];
    check(
        &files,
        &["config", "list"],
        expect![[r#"
        exit 0
        model.output_max = 32000  (default)
        context.chars_per_token = 4  (default)
        context.tail = 8  (default)
        context.result_chars = 200000  (default)
        context.auto_compact = true  (default)
        limits.rounds = 20  (~/home/settings.toml:2)
        limits.calls = 9  (.heeler/settings.toml:3)
        limits.tokens = 0  (default)
        limits.cost = 0  (default)
        limits.seconds = 0  (default)
        limits.repeats = 5  (default)
        limits.calls_at_once = 32  (default)
        notes.enabled = true  (default)
        notes.names = ["AGENTS.md", "CLAUDE.md", ".heeler.md"]  (default)
        notes.file_bytes = 32768  (default)
        notes.total_bytes = 65536  (default)
        attribution = true  (default)
        tui.theme = "auto"  (default)
        tui.keys = "vim"  (~/home/settings.toml:4)
        tui.plain = false  (default)
        tui.bell = true  (default)
        tui.status = ["model", "mode", "context", "cost", "cache", "branch", "confinement"]  (default)
        passed over: ~/home/settings.toml:5: `tui.plain` has to be true or false
        permissions.allow = "Bash"  (.heeler/settings.toml:5) does not count: the file is not trusted with rules that allow
        limits.rounds = 100  (.heeler/settings.toml:2) does not count: the file is not trusted with limits, context, notes, attribution, or the screen, so it may only make this lower or narrower
    "#]],
    );
    check(
        &files,
        &["config", "list", "--json"],
        expect![[r#"
            exit 0
            {"v":1,"settings":[{"key":"model.output_max","value":"32000","source":"default"},{"key":"context.chars_per_token","value":"4","source":"default"},{"key":"context.tail","value":"8","source":"default"},{"key":"context.result_chars","value":"200000","source":"default"},{"key":"context.auto_compact","value":"true","source":"default"},{"key":"limits.rounds","value":"20","source":"~/home/settings.toml:2"},{"key":"limits.calls","value":"9","source":".heeler/settings.toml:3"},{"key":"limits.tokens","value":"0","source":"default"},{"key":"limits.cost","value":"0","source":"default"},{"key":"limits.seconds","value":"0","source":"default"},{"key":"limits.repeats","value":"5","source":"default"},{"key":"limits.calls_at_once","value":"32","source":"default"},{"key":"notes.enabled","value":"true","source":"default"},{"key":"notes.names","value":"[\"AGENTS.md\", \"CLAUDE.md\", \".heeler.md\"]","source":"default"},{"key":"notes.file_bytes","value":"32768","source":"default"},{"key":"notes.total_bytes","value":"65536","source":"default"},{"key":"attribution","value":"true","source":"default"},{"key":"tui.theme","value":"\"auto\"","source":"default"},{"key":"tui.keys","value":"\"vim\"","source":"~/home/settings.toml:4"},{"key":"tui.plain","value":"false","source":"default"},{"key":"tui.bell","value":"true","source":"default"},{"key":"tui.status","value":"[\"model\", \"mode\", \"context\", \"cost\", \"cache\", \"branch\", \"confinement\"]","source":"default"}],"passed_over":["~/home/settings.toml:5: `tui.plain` has to be true or false"],"mistakes":[]}
        "#]],
    );
}

#[test]
fn a_key_is_explained_with_everybody_who_sets_it() {
    let files = [("home/settings.toml", USER), ("work/.heeler/settings.toml", PROJECT)];
    check(
        &files,
        &["config", "explain", "limits.rounds"],
        expect![[r#"
        exit 0
        limits.rounds = 20  (~/home/settings.toml:2)

        model calls of a turn; 200 in a terminal where nobody sets it
        takes: a number of model calls from 1 to 1000000, or 0 for no limit
        of several: the most specific holds
        of a repository: counts at once where it is lower or narrower; else once trusted
        variable: HEELER_MAX_ROUNDS
        ~/home/settings.toml:2: 20: holds
        .heeler/settings.toml:2: 100: does not count: the file is not trusted with limits, context, notes, attribution, or the screen, so it may only make this lower or narrower
    "#]],
    );
    check(
        &files,
        &["config", "explain", "permissions.allow"],
        expect![[r#"
        exit 0
        permissions.allow = nothing  (default)

        rules on what runs without asking
        of several: all count
        of a repository: counts once trusted (`heeler permissions trust`)
        .heeler/settings.toml:5: "Bash": does not count: the file is not trusted with rules that allow
    "#]],
    );
    check(
        &files,
        &["config", "explain", "context.limit", "--json"],
        expect![[r#"
            exit 0
            {"v":1,"key":"context.limit","means":"the most estimated tokens of a request; without, what the model's window holds","takes":"a number of tokens from 1","default":null,"variables":["HEELER_CONTEXT_LIMIT"],"of_several":"the most specific holds","of_a_repository":"counts once trusted (`heeler permissions trust`)","said":[],"mistakes":[]}
        "#]],
    );
    check(
        &files,
        &["config", "explain", "limits.round"],
        expect![[r#"
        exit 2
        heeler: `limits.round` is no setting; did you mean `limits.rounds`?
    "#]],
    );
    check(
        &files,
        &["config", "explain", "limits"],
        expect![[r#"
        exit 2
        heeler: `limits` is a table; ask for one of limits.rounds, limits.calls, limits.tokens, limits.cost, limits.seconds, limits.repeats, limits.calls_at_once
    "#]],
    );
}

#[test]
fn the_schema_is_json() {
    let output = World::new().heeler(&["config", "schema"]).run().exits(0);
    let schema: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert!(schema["properties"]["limits"]["properties"]["rounds"].is_object());
}

/// An editor that writes this text over the file; what is told, and what the file holds then.
fn edit(files: &[(&str, &str)], flags: &[&str], script: &str, expected: Expect) -> World {
    let world = World::new();
    write(&world, files);
    let editor = world.write("editor.sh", script);
    let arguments = [&["config", "edit"], flags].concat();
    let editor = format!("sh {}", editor.display());
    let output = world.heeler(&arguments).env("EDITOR", editor).run();
    expected.assert_eq(&world.plain(&format!("exit {}\n{}", output.code, output.stderr)));
    world
}

#[test]
fn a_file_that_is_gone_or_leads_nowhere_is_told_as_such() {
    edit(
        &[("work/.heeler/settings.toml", "[limits]\nrounds = 5\n")],
        &["--project"],
        "rm \"$1\"\n",
        expect![[r#"
        exit 0
        heeler: WORLD/work/.heeler/settings.toml is gone, so nothing is set there
    "#]],
    );
    let world = World::new();
    std::fs::create_dir(world.path("work/.heeler")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("work/.heeler/settings.toml")).unwrap();
    let output = world.heeler(&["config", "edit", "--project"]).env("EDITOR", "true").run();
    let expected = "settings.toml: it is a link to what is not there; remove it first";
    assert!(output.code != 0 && output.stderr.contains(expected), "{output:?}");
}

#[test]
fn a_file_is_made_with_every_key_and_checked_when_it_is_left() {
    let append = "printf '[limits]\\nrounds = 5\\n' > \"$1\"\n";
    let world = edit(
        &[],
        &[],
        append,
        expect![[r#"
        exit 0
        heeler: WORLD/home/settings.toml is well; it counts from the next start on
    "#]],
    );
    assert!(std::fs::read_to_string(world.path("home/settings.toml")).unwrap().contains("rounds"));
    let world = edit(
        &[],
        &["--project"],
        append,
        expect![[r#"
        exit 0
        heeler: WORLD/work/.heeler/settings.toml is well; what widens counts once you trust it: `heeler permissions trust`
    "#]],
    );
    assert!(world.path("work/.heeler/settings.toml").exists());
    let kept = "cp \"$1\" \"$1.seen\"\n";
    let world = edit(
        &[],
        &["--local"],
        kept,
        expect![[r#"
        exit 0
        heeler: nothing was set, so no file is left
    "#]],
    );
    let seen = world.path("work/.heeler/settings.local.toml.seen");
    assert!(std::fs::read_to_string(seen).unwrap().contains("\n# rounds = 50\n"));
    assert!(!world.path("work/.heeler/settings.local.toml").exists());
}

#[test]
fn mistakes_are_told_and_nothing_is_lost() {
    let files = [("home/settings.toml", USER)];
    edit(
        &files,
        &[],
        "echo 'limits = 1' >> \"$1\"\n",
        expect![[r#"
        exit 2
        heeler: ~/home/settings.toml:5: `tui.plain` has to be true or false
        heeler: ~/home/settings.toml:6: `tui.limits` is no setting; there are theme, keys, plain, bell, status
    "#]],
    );
    edit(
        &files,
        &[],
        "exit 3\n",
        expect![[r#"
        exit 2
        heeler: cannot run the editor sh WORLD/editor.sh: it ended with exit status: 3; the file stays as it left it
    "#]],
    );
    // What the editor never saw is not left for the next time.
    let world = edit(
        &[],
        &["--project"],
        "exit 3\n",
        expect![[r#"
        exit 2
        heeler: cannot run the editor sh WORLD/editor.sh: it ended with exit status: 3; nothing was set, so no file is left
    "#]],
    );
    assert!(!world.path("work/.heeler/settings.toml").exists());
    check(
        &[],
        &["config", "edit"],
        expect![[r#"
        exit 2
        heeler: no editor is set; set VISUAL or EDITOR, such as EDITOR=vi
    "#]],
    );
}

#[test]
fn what_is_no_file_is_not_read() {
    let world = World::new();
    std::fs::create_dir_all(world.path("work/.heeler")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", world.path("work/.heeler/settings.toml")).unwrap();
    let output = world.heeler(&["config", "edit", "--project"]).env("EDITOR", "true").run();
    expect![[r#"
        exit 2
        heeler: cannot edit WORLD/work/.heeler/settings.toml: WORLD/work/.heeler/settings.toml: this is no file; move it away
    "#]]
    .assert_eq(&world.plain(&format!("exit {}\n{}", output.code, output.stderr)));
}

const BROKEN: &str = "[limits]\nrounds = 20\ncalls = \n[permissions]\ndeny = ['Read(//etc/**)']\n\
                      allow = [\n  'Bash(ls)',\n  Bash(cat),\n]\n[tui]\nkeys = 'vim'\n";

#[test]
fn of_a_broken_file_all_is_shown_that_can_be_read() {
    let files = [
        ("home/settings.toml", BROKEN),
        ("work/.heeler/settings.toml", "[limits]\nrounds = 5\n"),
        ("work/.claude/settings.json", r#"{"permissions": {"deny": ["Bash(rm:*)"], "ask": "x"}}"#),
    ];
    check(
        &files,
        &["config", "explain", "limits.rounds"],
        expect![[r#"
        exit 2
        limits.rounds = 5  (.heeler/settings.toml:2)

        model calls of a turn; 200 in a terminal where nobody sets it
        takes: a number of model calls from 1 to 1000000, or 0 for no limit
        of several: the most specific holds
        of a repository: counts at once where it is lower or narrower; else once trusted
        variable: HEELER_MAX_ROUNDS
        ~/home/settings.toml:2: 20: overridden by what is more specific
        .heeler/settings.toml:2: 5: holds
        cannot be used: ~/home/settings.toml:3:9: this is no TOML: string values must be quoted, expected literal string, in `limits.calls`; mend it with `heeler config edit`, or move the file away
        cannot be used: ~/home/settings.toml:8:3: this is no TOML: string values must be quoted, expected literal string, in `permissions.allow`; mend it with `heeler config edit`, or move the file away
        cannot be used: .claude/settings.json:1: `permissions.ask` has to be a list, and is a text
        no session begins here until that is mended; what could be read is above
    "#]],
    );
    check(
        &files,
        &["config", "list"],
        expect![[r#"
        exit 2
        permissions.deny = "Read(//etc/**)"  (~/home/settings.toml:5)
        permissions.deny = "Bash(rm:*)"  (.claude/settings.json:1)
        permissions.allow = "Bash(ls)"  (~/home/settings.toml:7)
        model.output_max = 32000  (default)
        context.chars_per_token = 4  (default)
        context.tail = 8  (default)
        context.result_chars = 200000  (default)
        context.auto_compact = true  (default)
        limits.rounds = 5  (.heeler/settings.toml:2)
        limits.calls = 0  (default)
        limits.tokens = 0  (default)
        limits.cost = 0  (default)
        limits.seconds = 0  (default)
        limits.repeats = 5  (default)
        limits.calls_at_once = 32  (default)
        notes.enabled = true  (default)
        notes.names = ["AGENTS.md", "CLAUDE.md", ".heeler.md"]  (default)
        notes.file_bytes = 32768  (default)
        notes.total_bytes = 65536  (default)
        attribution = true  (default)
        tui.theme = "auto"  (default)
        tui.keys = "vim"  (~/home/settings.toml:11)
        tui.plain = false  (default)
        tui.bell = true  (default)
        tui.status = ["model", "mode", "context", "cost", "cache", "branch", "confinement"]  (default)
        cannot be used: ~/home/settings.toml:3:9: this is no TOML: string values must be quoted, expected literal string, in `limits.calls`; mend it with `heeler config edit`, or move the file away
        cannot be used: ~/home/settings.toml:8:3: this is no TOML: string values must be quoted, expected literal string, in `permissions.allow`; mend it with `heeler config edit`, or move the file away
        cannot be used: .claude/settings.json:1: `permissions.ask` has to be a list, and is a text
        no session begins here until that is mended; what could be read is above
    "#]],
    );
    check(
        &files,
        &["permissions", "list"],
        expect![[r#"
        exit 2
        deny      Read(//etc/**)  (~/home/settings.toml:5)
        deny      Bash(rm:*)  (.claude/settings.json:1)
        allow     Bash(ls)  (~/home/settings.toml:7)
        mode      ask  (default)
        setting   limits.rounds = 5  (.heeler/settings.toml:2)
        setting   tui.keys = "vim"  (~/home/settings.toml:11)
        cannot be used: ~/home/settings.toml:3:9: this is no TOML: string values must be quoted, expected literal string, in `limits.calls`; mend it with `heeler config edit`, or move the file away
        cannot be used: ~/home/settings.toml:8:3: this is no TOML: string values must be quoted, expected literal string, in `permissions.allow`; mend it with `heeler config edit`, or move the file away
        cannot be used: .claude/settings.json:1: `permissions.ask` has to be a list, and is a text
        no session begins here until that is mended; what could be read is above
    "#]],
    );
    let json = |command: &str| {
        let world = World::new();
        write(&world, &files);
        let output = world.heeler(&[command, "list", "--json"]).run().exits(2);
        let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        json["mistakes"].as_array().unwrap().len()
    };
    assert_eq!((json("config"), json("permissions")), (3, 3));
}

#[test]
fn nothing_runs_while_a_file_is_broken_and_all_of_it_is_told() {
    let world = World::new();
    let two = "[permissions]\nmode = 'yolo'\n[limits]\nrounds = 'x'\n";
    for (file, text, expected) in [
        (
            "home/settings.toml",
            BROKEN,
            expect![[r#"
            heeler: ~/home/settings.toml:3:9: this is no TOML: string values must be quoted, expected literal string, in `limits.calls`; mend it with `heeler config edit`, or move the file away
            ~/home/settings.toml:8:3: this is no TOML: string values must be quoted, expected literal string, in `permissions.allow`; mend it with `heeler config edit`, or move the file away
        "#]],
        ),
        (
            "home/settings.toml",
            two,
            expect![[r#"
            heeler: ~/home/settings.toml:2: `yolo` is no permission mode; use ask, accept-edits, plan, allow-listed or bypass
            ~/home/settings.toml:4: `limits.rounds` has to be a number of model calls from 1 to 1000000, or 0 for no limit
        "#]],
        ),
        (
            "work/.heeler/settings.toml",
            "[permissions\ndeny = []\n",
            expect![[r#"
            heeler: .heeler/settings.toml:1:13: this is no TOML: unclosed table, expected `]`; mend it with `heeler config edit --project`, or move the file away
        "#]],
        ),
    ] {
        write(&world, &[(file, text)]);
        let output = world.exec("[[reply]]\ntext = \"ran\"\n", &["go"]).run().exits(2);
        assert!(!output.stdout.contains("ran"));
        expected.assert_eq(&world.plain(&output.stderr));
        std::fs::remove_file(world.path(file)).unwrap();
    }
}

#[test]
fn what_runs_nothing_works_beside_a_broken_file() {
    let world = World::new();
    world.exec("[[reply]]\ntext = \"done\"\n", &["go"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    write(&world, &[("home/settings.toml", BROKEN)]);
    for arguments in [
        &["sessions", "list"][..],
        &["show", &id],
        &["audit", &id],
        &["config", "schema"],
        &["login", "--status"],
        &["stage", "list"],
        &["exec", "--help"],
    ] {
        let output = world.heeler(arguments).run();
        let told = format!("{arguments:?}: {}{}", output.stdout, output.stderr);
        assert!(output.code == 0 && !told.contains("no TOML"), "{told}");
    }
}
