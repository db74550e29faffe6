//! Keys and passwords that a session meets: they reach neither the model nor anything stored, and
//! `audit --secrets` finds what somebody says outright.

use expect_test::expect;

use crate::support::World;

/// A value that only its variable's name calls secret.
const PASSWORD: &str = "h0rse-battery-Staple";
/// A key by its form; nobody's.
const KEY: &str = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuCiDo";

/// Shows both in every way that results go: a file, a search, a command's two outputs, an output
/// so long that it is kept in a file of its own.
const MEETS: &str = r#"
[[reply]]
blocks = [
  { call = "Read", input = { file_path = "settings.ini" } },
  { call = "Grep", input = { pattern = "TOKEN", output_mode = "content" } },
  { call = "Bash", input = { command = "cat settings.ini; cat settings.ini >&2" } },
  { call = "Bash", input = { command = "head -c 150000 /dev/zero | tr '\\0' x; cat settings.ini; head -c 150000 /dev/zero | tr '\\0' x" } },
]
[[reply]]
text = "done"
"#;

fn world(prompt: &str) -> World {
    let world = World::new();
    world.write("work/settings.ini", format!("DB_PASSWORD={PASSWORD}\nTOKEN={KEY}\n"));
    let output = world
        .exec(MEETS, &["--json", "--allow", "Bash", prompt])
        .env("DB_PASSWORD", PASSWORD)
        .run()
        .exits(0);
    for secret in [PASSWORD, KEY] {
        let said = prompt.contains(secret);
        assert_eq!(output.stdout.contains(secret), said, "{secret}");
        assert!(!output.stderr.contains(secret), "{secret}");
    }
    world
}

fn audit(world: &World, code: i32) -> String {
    let [id] = world.ids().try_into().unwrap();
    let audit = world.heeler(&["audit", "--secrets", &id]).env("DB_PASSWORD", PASSWORD);
    world.plain(&audit.run().exits(code).stdout)
}

#[test]
fn a_session_that_was_fed_secrets_holds_none() {
    let world = world("go");
    let all = world.journal_lines().concat();
    assert_eq!(all.matches("[redacted: DB_PASSWORD]").count(), 3);
    assert!(all.matches("[redacted: GitHub token]").count() >= 3);
    expect![[r#"
        no secrets in the 2 files of this session
    "#]]
    .assert_eq(&audit(&world, 0));
}

#[test]
fn a_secret_that_somebody_says_is_found_and_not_repeated() {
    let world = world(&format!("use {PASSWORD}"));
    let audit = audit(&world, 1);
    assert!(!audit.contains(PASSWORD), "{audit}");
    expect![[r#"
        WORLD/home/sessions/ID.jsonl:4 (input): DB_PASSWORD
        delete the session, and exchange what was found: it was sent to the model
    "#]]
    .assert_eq(&audit);
}

#[test]
fn the_door_of_a_session_that_is_open_or_was_killed_is_passed_over() {
    let world = world("go");
    let door = world.journal().with_extension("door");
    let _listener = std::os::unix::net::UnixListener::bind(&door).unwrap();
    let expected = expect![[r#"
        no secrets in the 2 files of this session
    "#]];
    expected.assert_eq(&audit(&world, 0));
}

#[test]
fn what_the_settings_give_to_commands_is_shown_to_nobody() {
    let world = World::new();
    world.write("home/settings.toml", format!("[env]\nDB_PASSWORD = \"{PASSWORD}\"\n"));
    let script = "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"echo $DB_PASSWORD; test \
                  ${#DB_PASSWORD} = 20 && echo given\" } }]\n[[reply]]\ntext = \"done\"";
    let output = world.exec(script, &["--json", "--allow", "Bash", "go"]).run().exits(0);
    let all = output.stdout + &output.stderr + &world.journal_lines().concat();
    assert!(!all.contains(PASSWORD) && all.contains("[redacted: DB_PASSWORD]\\ngiven"), "{all}");
}
