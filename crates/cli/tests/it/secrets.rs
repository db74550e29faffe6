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
    // Said outright it is in the journal, and the audit knows it by the settings.
    world.exec("[[reply]]\ntext = \"done\"", &[&format!("use {PASSWORD}")]).run().exits(0);
    let said = world.ids().into_iter().find(|id| {
        let audit = world.heeler(&["audit", "--secrets", id]).run();
        assert!(!audit.stdout.contains(PASSWORD), "{}", audit.stdout);
        audit.stdout.contains(" (input): DB_PASSWORD\n")
    });
    assert!(said.is_some());
}

#[test]
fn a_key_that_is_kept_is_shown_to_nobody_whoever_answers() {
    let world = World::new();
    let key = "k3Qm9vT2xW8bN5rJ";
    let login = world.heeler(&["login", "openai", "--file"]).stdin(format!("{key}\n"));
    login.run().exits(0);
    world.write("work/notes.txt", format!("once it was {key}\n"));
    let script = "[[reply]]\nblocks = [{ call = \"Read\", input = { file_path = \"notes.txt\" } }]\n\
                  [[reply]]\ntext = \"done\"";
    let output = world.exec(script, &["--json", "go"]).run().exits(0);
    let all = output.stdout + &output.stderr + &world.journal_lines().concat();
    assert!(!all.contains(key) && all.contains("once it was [redacted: OPENAI_API_KEY]"), "{all}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_processes_were_given_and_hold_is_read_by_no_tool() {
    let world = World::new();
    std::os::unix::fs::symlink("/proc/self/environ", world.path("work/link")).unwrap();
    let script = format!(
        "[[reply]]\nblocks = [\n\
         {{ call = \"Read\", input = {{ file_path = \"/proc/self/environ\" }} }},\n\
         {{ call = \"Read\", input = {{ file_path = \"/proc/thread-self/environ\" }} }},\n\
         {{ call = \"Read\", input = {{ file_path = \"/proc/{}/mem\" }} }},\n\
         {{ call = \"Grep\", input = {{ pattern = \"h0rse\", path = \"/proc/self/environ\" }} }},\n\
         {{ call = \"Grep\", input = {{ pattern = \"h0rse\", path = \"/proc/self/task\", glob = \"environ\" }} }},\n\
         ]\n[[reply]]\ntext = \"done\"",
        std::process::id()
    );
    let rules = ["--json", "--allow", "Read", "--allow", "Grep", "go"];
    // Not by its name: what is redacted by its value would not show.
    let output = world.exec(&script, &rules).env("EDITOR", "h0rse").run().exits(0);
    let all = output.stdout + &world.journal_lines().concat();
    let refused = "is closed: the variables and the memory of a process hold keys";
    let n_finished = all.matches(refused).count();
    assert!(n_finished >= 4 && !all.contains("EDITOR=") && all.contains("No matches"), "{all}");
}

#[test]
fn a_crash_leaves_no_dump() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Core).maximum;
    setrlimit(Resource::Core, Rlimit { current: most, maximum: most }).unwrap();
    let script = "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"echo $(ulimit -S -c) \
                  $(ulimit -H -c).\" } }]\n[[reply]]\ntext = \"done\"";
    let world = World::new();
    let output = world.exec(script, &["--json", "--no-sandbox", "--allow", "Bash", "go"]).run();
    let most = most.map_or("unlimited".to_owned(), |most| (most / 1024).to_string());
    let output = output.exits(0).stdout;
    assert!(output.contains(&format!("0 {most}.")), "{output}");
}

#[test]
fn what_is_cut_shows_no_half_of_a_secret() {
    let world = World::new();
    // Each cut goes through the middle of one.
    let mut lines = String::new();
    for (secret, middle) in [(PASSWORD, 10), (KEY, 22)] {
        let line = |before: usize, after: usize| {
            format!("{}{secret}{}\n", " ".repeat(before - middle), " ".repeat(after))
        };
        lines += &(line(2_000, 9) + &format!("needle{}", line(494, 600)));
        let before_match = format!("{}needle", " ".repeat(100 - secret.len() + middle));
        lines += &line(900, 0).replace('\n', &format!("{before_match}\n"));
        let output = line(4 * 1024 * 1024, 5_000_000) + &line(5_000_000, 4 * 1024 * 1024);
        world.write(&format!("work/{}.txt", secret.len()), output);
    }
    world.write("work/lines.txt", lines);
    let script = "[[reply]]\nblocks = [\n\
        { call = \"Read\", input = { file_path = \"lines.txt\" } },\n\
        { call = \"Grep\", input = { pattern = \"needle\", output_mode = \"content\" } },\n\
        { call = \"Bash\", input = { command = \"cat 20.txt\" } },\n\
        { call = \"Bash\", input = { command = \"cat 43.txt\" } },\n\
        { call = \"Bash\", input = { command = \"printf 'a h0rse-bat'; sleep 1; printf 'tery-Staple\\\\n'\" } },\n\
        ]\n[[reply]]\ntext = \"done\"";
    let output = world
        .exec(script, &["--json", "--allow", "Bash", "go"])
        .env("DB_PASSWORD", PASSWORD)
        .run()
        .exits(0);
    let all = output.stdout + &output.stderr + &world.journal_lines().concat();
    let said = script.replace(' ', "");
    for secret in [PASSWORD, KEY] {
        for piece in (0..secret.len() - 4).map(|from| &secret[from..from + 5]) {
            let n_said = said.matches(piece).count();
            assert!(n_said > 0 || !all.contains(piece), "{piece}");
        }
    }
    assert!(all.matches("[redacted: DB_PASSWORD]").count() >= 5, "{all}");
    assert!(all.matches("[redacted: GitHub token]").count() >= 5, "{all}");
}
