//! Keys that are kept: asked for without an echo, used, shown nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::{MODEL, World, program};
use crate::terminal::on_terminal_after;

const KEY: &str = "sk-ant-test-0123456789";
const QUESTION: &str = "The key for Anthropic (it is not shown): ";

fn keep(world: &World) {
    let arguments = ["login", "anthropic", "--file"];
    world.heeler(&arguments).stdin(format!("{KEY}\n")).run().exits(0);
}

/// What is told on stderr, without the world's own paths.
fn check(world: &World, arguments: &[&str], stdin: &str, code: i32, expected: Expect) {
    let output = world.heeler(arguments).stdin(stdin).run().exits(code);
    let told = output.stderr.replace(&world.path("").display().to_string(), "WORLD/");
    expected.assert_eq(&told);
    assert!(!output.stderr.contains(KEY) && !output.stdout.contains(KEY));
}

#[test]
fn a_key_from_a_pipe_is_kept_used_and_forgotten() {
    let world = World::new();
    check(
        &world,
        &["login", "anthropic", "--file"],
        &format!(" {KEY}\nmore"),
        0,
        expect![[r#"
            The key for Anthropic is kept in WORLD/home/keys.toml.
            ANTHROPIC_API_KEY wins over it when it is set.
        "#]],
    );
    let file = world.path("home/keys.toml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let server = MockServer::start(
        Script::parse("[script]\nloop = true\n[[reply]]\ntext = \"hi\"").unwrap(),
    );
    let exec = |key: Option<&str>| {
        let heeler = world.heeler(&["exec", "--model", MODEL, "hello"]);
        let heeler = heeler.env("ANTHROPIC_BASE_URL", server.url());
        match key {
            None => heeler,
            Some(key) => heeler.env("ANTHROPIC_API_KEY", key),
        }
    };
    exec(None).run().exits(0);
    exec(Some("sk-own")).run().exits(0);
    let seen = server.requests();
    let keys: Vec<_> = seen.iter().map(|request| request.header("x-api-key").unwrap()).collect();
    assert_eq!(keys, [KEY, "sk-own"]);
    check(
        &world,
        &["logout", "anthropic"],
        "",
        0,
        expect![[r#"
        The key for Anthropic is forgotten.
    "#]],
    );
    check(
        &world,
        &["logout", "anthropic"],
        "",
        0,
        expect![[r#"
        There was no key for Anthropic.
    "#]],
    );
    exec(None).run().exits(2);
}

#[test]
fn a_terminal_does_not_show_what_is_typed_and_is_left_as_it_was() {
    let world = World::new();
    let login = |typed: &str| {
        let mut command = program("sh");
        let line =
            "\"$0\" login anthropic --file; code=$?; stty -a | grep -o '[-]*echo '; exit $code";
        command.args(["-c", line, env!("CARGO_BIN_EXE_heeler")]);
        world.settle(&mut command);
        on_terminal_after(command, QUESTION, typed)
    };
    let (code, shown) = login(&format!("{KEY}x\u{7f}\r"));
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("sk-ant") && shown.contains("is kept in"), "{shown}");
    assert!(shown.ends_with("\necho \n"), "the terminal shows again what is typed: {shown}");
    assert!(
        fs::read_to_string(world.path("home/keys.toml")).unwrap().contains(&format!("{KEY}\""))
    );
    // Ctrl-C keeps nothing, and leaves the terminal as it was.
    world.heeler(&["logout", "anthropic"]).run().exits(0);
    let (code, shown) = login("sk-ant-half\u{3}");
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("cannot read the key: broken off"), "{shown}");
    assert!(!shown.contains("sk-ant") && shown.ends_with("\necho \n"), "{shown}");
    check(
        &world,
        &["logout", "anthropic"],
        "",
        0,
        expect![[r#"
        There was no key for Anthropic.
    "#]],
    );
}

#[test]
fn what_cannot_be_kept_is_told_and_never_repeated() {
    let world = World::new();
    check(
        &world,
        &["login", "anthropic", KEY],
        "",
        2,
        expect![[r#"
            heeler: keys are not given on the command line, where every process and the shell's history see them; run `heeler login anthropic` and give it there, and replace the one you gave
        "#]],
    );
    check(
        &world,
        &["login", "anthropic"],
        "",
        2,
        expect![[r#"
        heeler: there is no key; nothing is kept
    "#]],
    );
    check(
        &world,
        &["login", "anthropic"],
        &format!("{KEY} and words"),
        2,
        expect![[r#"
        heeler: that is no key: it has spaces, or characters that no header can carry; copy it alone
    "#]],
    );
    let unknown = world.heeler(&["login", "nobody"]).stdin("x").run().exits(2);
    assert!(
        unknown.stderr.starts_with("heeler: there is no provider `nobody`; there are anthropic")
    );
    world.heeler(&["login"]).run().exits(2);
    assert!(!world.path("home/keys.toml").exists());
}

#[test]
fn a_key_is_tried_before_it_is_kept() {
    let world = World::new();
    let login = |script: &str| {
        let server = MockServer::start(Script::parse(script).unwrap());
        let heeler = world.heeler(&["login", "anthropic", "--file", "--check"]);
        let output = heeler.env("ANTHROPIC_BASE_URL", server.url()).stdin(KEY).run();
        assert!(!output.stderr.contains(KEY), "{}", output.stderr);
        output
    };
    let refused = login(
        "[[reply]]\nerror = { status = 401, type = \"authentication_error\", message = \"no\" }",
    )
    .exits(2);
    // What is set, or was kept before, was not what was tried.
    expect![[r#"
        heeler: the key is not kept: Anthropic did not accept the key (HTTP 401, request req_1): no
    "#]]
    .assert_eq(&refused.stderr);
    assert!(!world.path("home/keys.toml").exists());
    login("[[reply]]\ntext = \"ok\"").exits(0);
    assert!(world.path("home/keys.toml").exists());
}

#[test]
fn the_status_says_where_each_key_is() {
    let world = World::new();
    keep(&world);
    let status = |variable: Option<&str>| {
        let heeler = world.heeler(&["login", "--status"]);
        let heeler = match variable {
            None => heeler,
            Some(name) => heeler.env(name, KEY),
        };
        let output = heeler.run().exits(0);
        assert!(!output.stdout.contains(KEY));
        output.stdout.lines().next().unwrap().to_owned()
    };
    let file = world.path("home/keys.toml").display().to_string();
    assert_eq!(status(None), format!("anthropic     {file}"));
    assert_eq!(status(Some("ANTHROPIC_AUTH_TOKEN")), "anthropic     ANTHROPIC_AUTH_TOKEN");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = world.heeler(&["login", "--status"]).run().exits(2);
    assert!(refused.stderr.contains(&format!("run `chmod 600 {file}`")), "{}", refused.stderr);
}

#[test]
fn a_kept_key_reaches_no_command_no_journal_and_no_result() {
    let world = World::new();
    keep(&world);
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "env; cat ~/home/keys.toml; echo sk-ant-test-; cat key.txt" } }]
        [[reply]]
        text = "done"
    "#;
    world.write("work/key.txt", KEY);
    let server = MockServer::start(Script::parse(script).unwrap());
    let heeler = world.heeler(&["exec", "--model", MODEL, "--allow", "Bash", "--json", "go"]);
    let output = heeler.env("ANTHROPIC_BASE_URL", server.url()).run().exits(0);
    assert!(output.stdout.contains("sk-ant-test-"), "the command ran: {}", output.stdout);
    let journal = fs::read_to_string(&world.journals()[0]).unwrap();
    for text in [&output.stdout, &output.stderr, &journal] {
        assert!(!text.contains(KEY), "{text}");
    }
}

/// What is refused for use is no less secret.
#[test]
fn a_kept_key_is_hidden_where_its_file_is_refused() {
    let script = "[[reply]]\nblocks = [{ call = \"Read\", input = { file_path = \"key.txt\" } }]\n\
                  [[reply]]\ntext = \"done\"";
    let key = format!("[anthropic]\nkey = '{KEY}'\n");
    for (mode, file, told) in [
        (0o644, key.clone(), ""),
        (0o600, format!("[foo]\nbar = 1\n{key}"), ""),
        (0o600, key.replace('\'', ""), "heeler: passed over: "),
    ] {
        let world = World::new();
        let path = world.write("home/keys.toml", file);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        world.write("work/key.txt", KEY);
        let output = world.exec(script, &["--json", "go"]).run().exits(0);
        let journal = fs::read_to_string(world.journal()).unwrap();
        assert!(journal.contains("[redacted: ANTHROPIC_API_KEY]"), "{journal}");
        for text in [&output.stdout, &output.stderr, &journal] {
            assert!(!text.contains(KEY), "{text}");
        }
        assert!(output.stderr.contains(told), "{}", output.stderr);
        assert_eq!(output.stderr.contains("keys.toml"), !told.is_empty(), "{}", output.stderr);
    }
}

/// Also where so much is wrong elsewhere that not all of it is told.
#[test]
fn keys_that_cannot_all_be_hidden_are_told_first() {
    let world = World::new();
    world.write("home/keys.toml", format!("[anthropic]\nkey = {KEY}\n"));
    world.write(
        "home/settings.toml",
        "[tui]\ntheme = 1\nkeys = 1\nplain = 1\nbell = 1\nstatus = 1\n",
    );
    let output = world.exec("[[reply]]\ntext = \"done\"", &["go"]).run().exits(0);
    let list = world.heeler(&["permissions", "list"]).run();
    for (told, first) in
        [(&output.stderr, "heeler: passed over: "), (&list.stdout, "passed over: ")]
    {
        let line = told.lines().find(|line| line.starts_with(first)).unwrap_or_default();
        assert!(line.contains("keys.toml: keys in it may be shown"), "{told}");
        assert!(!told.contains(KEY), "{told}");
    }
}

#[test]
fn a_key_that_no_file_may_hold_is_told() {
    let world = World::new();
    let login = world.heeler(&["login", "anthropic", "--file"]).stdin(KEY);
    let output = login.run_in("bash", &["-c", "ulimit -f 0; exec \"$@\"", "bash"]).exits(2);
    assert!(output.stderr.contains("let files be larger (`ulimit -f`)"), "{}", output.stderr);
    assert!(!output.stderr.contains(KEY));
}
