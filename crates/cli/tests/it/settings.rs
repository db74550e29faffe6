//! What the files of settings let a turn do, and that a repository's own do not widen it.

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::World;

/// A world whose turn writes a file, runs a command, and ends.
const SCRIPT: &str = r#"
[[reply]]
blocks = [{ call = "Write", input = { file_path = "new.txt", content = "new" } }]
[[reply]]
blocks = [{ call = "Bash", input = { command = "touch $NAME-made" } }]
[[reply]]
text = "done"
"#;

/// Runs that turn beside these files: what is left in the workspace, and what was told on stderr.
fn check(files: &[(&str, &str)], flags: &[&str], expected: Expect) {
    let world = World::new();
    expected.assert_eq(&run(&world, files, flags));
}

fn run(world: &World, files: &[(&str, &str)], flags: &[&str]) -> String {
    for (path, text) in files {
        std::fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        world.write(path, text);
    }
    let output = world.exec(SCRIPT, &[flags, &["go"]].concat()).run();
    let mut left: Vec<_> = std::fs::read_dir(world.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    left.sort();
    let told = output.stderr.lines().filter(|line| line.starts_with("heeler: "));
    // What every turn tells is not about settings.
    let usual = ["not confined", "session", " tokens in "];
    let told: Vec<&str> = told.filter(|line| !usual.iter().any(|u| line.contains(u))).collect();
    let left = left.join(" ");
    let shown = format!("exit {}\nleft: {left}\n{}", output.code, told.join("\n"));
    format!("{}\n", world.plain(&shown).trim_end())
}

const USER: &str = r#"{"permissions": {"defaultMode": "acceptEdits", "allow": ["Bash(touch *)"]},
  "env": {"NAME": "user"}}"#;
const OURS: &str = "[permissions]\nmode = 'accept-edits'\nallow = ['Bash']\n[env]\nNAME = 'ours'\n";

#[test]
fn the_users_files_count() {
    check(
        &[(".claude/settings.json", USER)],
        &["--allow", "Bash"],
        expect![[r#"
            exit 0
            left: new.txt user-made
        "#]],
    );
    check(
        &[("home/settings.toml", OURS)],
        &[],
        expect![[r#"
            exit 0
            left: new.txt ours-made
        "#]],
    );
    check(
        &[("home/settings.toml", OURS)],
        &["--permission-mode", "plan"],
        expect![[r#"
            exit 0
            left:
        "#]],
    );
    check(
        &[("home/settings.toml", OURS)],
        &["--deny", "Bash(touch:*)"],
        expect![[r#"
            exit 0
            left: new.txt
        "#]],
    );
    check(
        &[("home/settings.toml", OURS)],
        &["--no-settings"],
        expect![[r#"
            exit 0
            left:
        "#]],
    );
    check(
        &[("other.toml", OURS)],
        &["--settings", "../other.toml"],
        expect![[r#"
            exit 0
            left: new.txt ours-made
        "#]],
    );
}

#[test]
fn a_repositorys_files_only_narrow_until_they_are_trusted() {
    for path in ["work/.heeler/settings.toml", "work/.heeler/settings.local.toml"] {
        let world = World::new();
        let told = run(&world, &[(path, OURS)], &[]);
        assert!(told.starts_with("exit 0\nleft: \nheeler: not trusted, so "), "{told}");
    }
    check(
        &[("work/.claude/settings.json", USER)],
        &[],
        expect![[r#"
            exit 0
            left: 
            heeler: not trusted, so it does not count: rules that allow, the permission mode, variables of commands of .claude/settings.json; look at it with `heeler permissions trust`
        "#]],
    );
    let deny = "[permissions]\ndeny = ['Edit(*.txt)']";
    check(
        &[("home/settings.toml", OURS), ("work/.heeler/settings.toml", deny)],
        &[],
        expect![[r#"
            exit 0
            left: ours-made
        "#]],
    );
}

#[test]
fn settings_that_cannot_be_used_stop_everything() {
    check(
        &[("work/.claude/settings.json", "{\n\"permissions\": [}")],
        &[],
        expect![[r#"
            exit 2
            left: 
            heeler: .claude/settings.json:2:17: this is no JSON: expected value; mend it, or move the file away
        "#]],
    );
    check(
        &[("home/settings.toml", "permission = 1")],
        &[],
        expect![[r#"
        exit 2
        left: 
        heeler: ~/home/settings.toml:1: `permission` is no setting; did you mean `permissions`?
    "#]],
    );
    check(
        &[("home/trust.toml", "x"), ("work/.heeler/settings.toml", "")],
        &[],
        expect![[r#"
        exit 2
        left: 
        heeler: WORLD/home/trust.toml: this cannot be read: key with no value, expected `=`; mend it, or remove it to trust nothing
    "#]],
    );
    check(
        &[],
        &["--settings", "absent.toml"],
        expect![[r#"
        exit 2
        left: 
        heeler: absent.toml: there is no such file; correct --settings
    "#]],
    );
    let ruled_out = r#"{"permissions": {"disableBypassPermissionsMode": "disable"}}"#;
    check(
        &[("work/.claude/settings.json", ruled_out)],
        &["--permission-mode", "bypass"],
        expect![[r#"
            exit 2
            left: 
            heeler: --permission-mode: the mode bypass is ruled out by .claude/settings.json:1; choose another mode
        "#]],
    );
}

#[test]
fn rules_of_a_flag_may_begin_at_home() {
    check(
        &[],
        &["--allow", "Edit(~/*/new.txt)"],
        expect![[r#"
            exit 0
            left: new.txt
        "#]],
    );
    check(
        &[],
        &["--allow", "Edit(/new.txt)"],
        expect![[r#"
            exit 0
            left: new.txt
        "#]],
    );
    check(
        &[],
        &["--allow", "Edit", "--ask", "Edit(/new.txt)"],
        expect![[r#"
            exit 0
            left:
        "#]],
    );
}

#[test]
fn heelers_own_home_is_no_plain_folder_of_a_workspace() {
    let world = World::new();
    let script = r#"
[[reply]]
blocks = [{ call = "Write", input = { file_path = "home/settings.toml", content = "x" } }]
[[reply]]
blocks = [{ call = "Write", input = { file_path = "homely.txt", content = "x" } }]
[[reply]]
text = "done"
"#;
    let root = world.path("");
    let arguments = ["--cwd", root.to_str().unwrap(), "--permission-mode", "accept-edits", "go"];
    world.exec(script, &arguments).run().exits(0);
    assert!(world.path("homely.txt").exists());
    assert!(!world.path("home/settings.toml").exists());
}

/// The body of the first request of a turn beside these files, and what was told on stderr.
fn first_request(
    files: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> (serde_json::Value, String) {
    let world = World::new();
    for (path, text) in files {
        std::fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        world.write(path, text);
    }
    let server = MockServer::start(Script::parse("[[reply]]\ntext = \"done\"\n").unwrap());
    let mut heeler = world.exec_at(&server, &["go"]);
    for (name, value) in variables {
        heeler = heeler.env(name, value);
    }
    let output = heeler.run().exits(0);
    let body = server.requests().remove(0).body;
    let told = output.stderr.lines().filter(|line| line.contains("passed over"));
    let told = told.map(|line| world.plain(line) + "\n").collect();
    (serde_json::from_slice(&body).unwrap(), told)
}

const OF_MODEL: &str = "attribution = false\n[model]\noutput_max = 1000\nthinking = 'high'\n";

#[test]
fn what_is_set_of_the_model_is_in_its_requests() {
    let system = |body: &serde_json::Value| body["system"].to_string();
    let (body, _) = first_request(&[("home/settings.toml", OF_MODEL)], &[]);
    assert_eq!(body["max_tokens"], 1000);
    assert_eq!(body["output_config"]["effort"], "high");
    assert!(system(&body).contains("Co-Authored-By"));
    // What a repository says of it counts for nothing yet; variables say more than files.
    let files = [("work/.heeler/settings.toml", OF_MODEL)];
    let (body, _) = first_request(&files, &[("HEELER_ATTRIBUTION", "Signed-off-by: me")]);
    assert_ne!(body["max_tokens"], 1000);
    assert!(body["output_config"].is_null());
    assert!(!system(&body).contains("Co-Authored-By"));
    assert!(system(&body).contains("Signed-off-by: me"));
}

#[test]
fn a_mistake_where_nothing_depends_on_it_leaves_the_rest() {
    let text = "[context]\ntial = 3\n[tui]\nkeys = 'emac'\n[model]\noutput_max = 1000\n";
    let (body, told) = first_request(&[("home/settings.toml", text)], &[]);
    assert_eq!(body["max_tokens"], 1000);
    expect![[r#"
        heeler: passed over: ~/home/settings.toml:2: `context.tial` is no setting; did you mean `tail`?
        heeler: passed over: ~/home/settings.toml:4: `tui.keys` has to be one of emacs, vim
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_limit_of_a_file_ends_a_turn_and_a_flag_says_more() {
    let limit = "[limits]\nrounds = 2\n";
    let lines = |flags: &[&str], path: &str| {
        let world = World::new();
        std::fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        world.write(path, limit);
        world.exec(SCRIPT, &[flags, &["--allow", "Edit", "go"]].concat()).run().code
    };
    for path in ["home/settings.toml", "work/.heeler/settings.toml"] {
        assert_eq!(lines(&[], path), 4, "{path}");
        assert_eq!(lines(&["--max-rounds", "3"], path), 0, "{path}");
    }
}

/// What the model is told before everything else.
fn system(server: &MockServer, request: usize) -> String {
    let body = &server.requests()[request].body;
    serde_json::from_slice::<serde_json::Value>(body).unwrap()["system"].to_string()
}

#[test]
fn notes_are_told_and_a_session_that_goes_on_is_told_how_they_are_now() {
    let world = World::new();
    let replies = "[script]\nepoch = \"may change\"\n".to_owned();
    let replies = replies + &"[[reply]]\ntext = \"done\"\n".repeat(4);
    let server = MockServer::start(Script::parse(&replies).unwrap());
    world.write("work/AGENTS.md", "Use make. @missing.md");
    let output = world.exec_at(&server, &["go"]).run().exits(0);
    let told = "heeler: notes: missing.md, which AGENTS.md:1 imports, is not there\n";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    world.exec_at(&server, &["--continue", "again"]).run().exits(0);
    assert!(system(&server, 0).contains("Use make."));
    assert_eq!(system(&server, 0), system(&server, 1));
    world.write("work/AGENTS.md", "Use just.");
    world.exec_at(&server, &["--continue", "again"]).run().exits(0);
    assert!(system(&server, 2).contains("Use just."));
    let off = world.exec_at(&server, &["--continue", "again"]).env("HEELER_NOTES", "false");
    off.run().exits(0);
    assert!(!system(&server, 3).contains("AGENTS.md"));
}

#[test]
fn doctor_names_the_file_and_line_that_cannot_be_used_once() {
    for (text, place, why) in [
        ("[permissions\n", ":1:13: ", "this is no TOML"),
        ("\n[permissions]\nmode = \"yolo\"\n", ":3: ", "`yolo` is no permission mode"),
    ] {
        let world = World::new();
        world.write("home/settings.toml", text);
        let output = world.heeler(&["doctor"]).run();
        assert_eq!(output.code, 1, "{}", output.stdout);
        let row = |name: &str| {
            let is_it = |row: &&str| row.split_whitespace().nth(1) == Some(name);
            output.stdout.lines().find(is_it).unwrap_or_default().to_owned()
        };
        let settings = row("settings");
        assert!(settings.starts_with("MISSING"), "{settings}");
        assert!(settings.contains(&format!("settings.toml{place}")), "{settings}");
        assert_eq!(output.stdout.matches(why).count(), 1, "{}", output.stdout);
        assert!(row("model").contains("not known, as the settings cannot be used"));
    }
}
