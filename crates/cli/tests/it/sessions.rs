//! `sessions list` and `show`: sound sessions, unfinished ones, damaged ones.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use heeler_script::Script;
use heeler_testkit::{MockServer, require};

use crate::support::World;

const TALK: &str = r#"
[script]
usage = { input = 100, output = 7, cache_read = 30 }
[[reply]]
blocks = [
  { thinking = "hm", signature = "s" },
  { text = "I will look." },
  { call = "LS", input = { path = "." } },
  { call = "Read", input = { file_path = "absent.txt" } },
  { call = "Read", input = { file_path = "long.txt" } },
]
[[reply]]
text = "There is a long file."
"#;
const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";

fn check(world: &World, arguments: &[&str], stdout: Expect) {
    let output = world.heeler(arguments).run().exits(0);
    stdout.assert_eq(&world.plain(&output.stdout));
    assert_eq!(output.stderr, "");
}

#[test]
fn the_newest_goes_on_however_much_its_journal_holds_before_what_was_said() {
    let world = World::new();
    world.exec(ANY, &["older"]).run().exits(0);
    let rules: String =
        (0..400).map(|n| format!("'Bash(program-{n} with arguments:*)',")).collect();
    world.write("home/settings.toml", format!("[permissions]\nallow = [{rules}]\n"));
    world.minute_passes();
    world.exec(ANY, &["newer"]).run().exits(0);
    let [_, newer] = world.ids().try_into().unwrap();
    world.minute_passes();
    world.exec(ANY, &["--continue", "and more"]).run().exits(0);
    check(
        &world,
        &["sessions", "list"],
        expect![[r#"
        ID  TIME  WORLD/work  older
        ID  TIME  WORLD/work  newer
    "#]],
    );
    let shown = world.heeler(&["show", &newer]).run().exits(0).stdout;
    assert!(shown.contains("user: and more"), "{shown}");
}

#[test]
fn a_list_of_nothing_and_of_something() {
    let world = World::new();
    check(
        &world,
        &["sessions", "list"],
        expect![[r#"
        no sessions yet; start one with `heeler exec PROMPT`
    "#]],
    );
    std::fs::create_dir(world.path("work/inner")).unwrap();
    world.exec(ANY, &["first\n  line\twith spaces"]).run().exits(0);
    let long = "words ".repeat(100);
    world.exec(ANY, &["--cwd", "inner", &long]).run().exits(0);
    check(
        &world,
        &["sessions", "list"],
        expect![[r#"
        ID  TIME  WORLD/work  first line with spaces
        ID  TIME  WORLD/work/inner  words words words words words words words words words words…
    "#]],
    );
    check(
        &world,
        &["sessions", "list", "--cwd", "inner"],
        expect![[r#"
        ID  TIME  WORLD/work/inner  words words words words words words words words words words…
    "#]],
    );
    // A folder that is gone had its sessions all the same, and a name of two lines is one row.
    std::fs::rename(world.path("work/inner"), world.path("work/two\nlines")).unwrap();
    let gone = world.heeler(&["sessions", "list", "--cwd", "inner"]).run().exits(0).stdout;
    assert_eq!(gone.lines().count(), 1, "{gone}");
    world.exec(ANY, &["--cwd", "two\nlines", "second"]).run().exits(0);
    let listed = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    assert!(listed.contains(r#"work/two\nlines"  second"#), "{listed}");
}

#[test]
fn a_list_has_the_time_of_the_persons_clock() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let journal = std::fs::File::options().append(true).open(world.journal()).unwrap();
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_772_460_600);
    journal.set_modified(at).unwrap();
    for (zone, time) in [("UTC0", "2026-03-02 14:10"), ("HERE-10:30", "2026-03-03 00:40")] {
        let listed = world.heeler(&["sessions", "list"]).env("TZ", zone).run().exits(0).stdout;
        assert!(listed.contains(time), "{zone}: {listed}");
    }
}

#[test]
fn the_newest_stands_last_and_is_the_one_to_continue() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    world.exec(ANY, &["second"]).run().exits(0);
    let [first, second] = world.ids().try_into().unwrap();
    world.minute_passes();
    world.exec(ANY, &["--resume", &first, "again"]).run().exits(0);
    let listed = world.heeler(&["sessions", "list"]).run().exits(0).stdout;
    let listed: Vec<&str> = listed.lines().map(|line| &line[..first.len()]).collect();
    assert_eq!(listed, [second, first.clone()]);
    world.exec(ANY, &["--continue", "newest"]).run().exits(0);
    let shown = world.heeler(&["show", &first]).run().exits(0).stdout;
    assert!(shown.contains("user: newest"), "{shown}");
    // One that was opened and left is newer, and not what anybody means.
    world.exec(ANY, &["--stream-input"]).run().exits(0);
    assert_eq!(world.ids().len(), 3);
    world.exec(ANY, &["--continue", "and on"]).run().exits(0);
    let shown = world.heeler(&["show", &first]).run().exits(0).stdout;
    assert!(shown.contains("user: and on"), "{shown}");
}

#[test]
fn a_session_is_shown_by_the_beginning_of_its_id() {
    let world = World::new();
    world.write("work/long.txt", "a line of text\n".repeat(100));
    world.exec(TALK, &["what is\nhere?"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    check(
        &world,
        &["show", &id[..13]],
        expect![[r#"
            session    ID
            workspace  WORLD/work
            created    TIME UTC
            model      script:WORLD/script.toml
            used       260 tokens in (23 % cached: 60 read, 0 written, 200 neither), 14 out, cost not known
            estimate   RATIO tokens counted for each estimated one, by 2 model calls
            status     1 turn, the last ended done

            [1] user: what is
                here?

            heeler: I will look.

              > LS: .
              < . (1 entry)
                    1.5K  long.txt

              > Read: absent.txt
              ! absent.txt does not exist; use Glob or LS to find it

              > Read: long.txt
              <      1	a line of text
                     2	a line of text
                     3	a line of text
                     4	a line of text
                     5	a line of text
                     6	a line of text
                     7	a line of text
                     8	a line of text
                     9	a line of text
                    10	a line of text
                    11	a line of text
                    12	a line of text
                    13	a line of text
                    14	a line of text
                    15	a line of text
                    16	a line of text
                    17	a line of text
                    18	a line of text
                   …

            heeler: There is a long file.
        "#]],
    );
    world.exec(ANY, &["another"]).run().exits(0);
    let both = &id[..2];
    let output = world.heeler(&["show", both]).run().exits(2);
    expect![[r#"
        heeler: 2 sessions begin with 01 (ID, ID); give more of the id
    "#]]
    .assert_eq(&world.plain(&output.stderr));
}

#[test]
fn a_model_is_kept_unless_another_is_named() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let other = world.write("other.toml", "[[reply]]\ntext = \"from the other\"");
    assert_eq!(world.heeler(&["exec", "--continue", "x"]).run().exits(0).stdout, "heard\n");
    let other = format!("script:{}", other.display());
    let arguments = ["exec", "--continue", "--model", &other, "x"];
    assert_eq!(world.heeler(&arguments).run().exits(0).stdout, "from the other\n");
}

#[test]
fn a_resumed_session_works_in_its_own_folder_from_wherever_it_is_resumed() {
    let world = World::new();
    std::fs::create_dir(world.path("work/inner")).unwrap();
    let script = r#"
        [[reply]]
        text = "hi"
        [[reply]]
        blocks = [
          { call = "LS", input = { path = "." } },
          { call = "Write", input = { file_path = "made", content = "x" } },
        ]
        [[reply]]
        expect = { tool_result_contains = ["inner", "made"], tool_result_is_error = [false, false] }
        text = "seen"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    world.exec_at(&server, &["hello"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let arguments = ["--permission-mode", "accept-edits", "--resume", &id, "and now?"];
    let inner = world.path("work/inner");
    let output = world.exec_at(&server, &arguments).cwd(&inner).run().exits(0);
    assert_eq!(output.stdout, "seen\n");
    // Neither has the prompt's prefix changed, nor is the file in the other folder.
    assert_eq!(server.violations(), [""; 0]);
    assert_eq!(world.worked("made"), "x");

    let output = world.exec(ANY, &["--resume", &id, "--cwd", "inner", "x"]).run().exits(2);
    expect![[r#"
        heeler: session ID works in WORLD/work; leave out --cwd, or add --fork to go on in the other folder
    "#]]
    .assert_eq(&world.plain(&output.stderr));
    let moved = world.path("moved");
    std::fs::rename(world.workspace(), &moved).unwrap();
    let output = world.exec(ANY, &["--resume", &id, "x"]).cwd(&moved).run().exits(2);
    expect![[r#"
        heeler: session ID works in WORLD/work, which is no folder any more; where it is now, or in another one, a fork goes on: add --fork --cwd FOLDER
    "#]]
    .assert_eq(&world.plain(&output.stderr));
    // A fork goes on there, and knows where it is.
    let script = r#"
        [[reply]]
        expect = { system_contains = "/moved", last_user_contains = "go on" }
        blocks = [{ call = "Read", input = { file_path = "made" } }]
        [[reply]]
        expect = { tool_result_contains = ["x"] }
        text = "here it is"
    "#;
    let server = MockServer::start(Script::parse(script).unwrap());
    let arguments = ["--resume", &id, "--fork", "--cwd", ".", "go on"];
    let output = world.exec_at(&server, &arguments).cwd(&moved).run().exits(0);
    assert_eq!((output.stdout.as_str(), server.violations()), ("here it is\n", vec![]));
    let arguments = ["sessions", "fork", &id, "--cwd", "."];
    let output = world.heeler(&arguments).cwd(&moved).run().exits(0);
    let fork = output.stdout.split(' ').nth(1).unwrap();
    let listed = world.heeler(&["sessions", "list", "--json"]).cwd(&moved).run().exits(0).stdout;
    let forks = listed.lines().filter(|line| line.contains(r#"/moved""#));
    assert_eq!(forks.filter(|line| line.contains(fork)).count(), 1, "{listed}");
}

#[test]
fn a_script_is_found_from_where_one_stands_and_found_again() {
    let world = World::new();
    std::fs::create_dir(world.path("work/inner")).unwrap();
    world.write("work/any.toml", ANY);
    let arguments = ["exec", "--cwd", "inner", "--model", "script:any.toml", "first"];
    world.heeler(&arguments).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let arguments = ["exec", "--resume", &id, "again"];
    world.heeler(&arguments).cwd(&world.path("home")).run().exits(0);
}

#[test]
fn what_somebody_says_begins_no_line_of_ours() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [
          { text = "Look:\n[2] user: yes\n> Bash: x\n  > Bash: y" },
          { call = "LS", input = { path = ".\n[3] user: do" } },
        ]
        [[reply]]
        text = "done\n[4] user: so"
    "#;
    world.exec(script, &["go\n[5] user: on"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    let said = &shown[shown.find("\n[1]").unwrap()..];
    expect![[r#"

        [1] user: go
            [5] user: on

        heeler: Look:
            [2] user: yes
            > Bash: x
              > Bash: y

          > LS: . [3] user: do
          ! .
            [3] user: do does not exist; use Glob or LS to find it

        heeler: done
            [4] user: so
    "#]]
    .assert_eq(&world.plain(said));
}

#[test]
fn a_broken_line_is_told_and_the_rest_goes_on() {
    let world = World::new();
    world.write("work/long.txt", "text\n");
    world.exec(TALK, &["what is here?"]).run().exits(0);
    let mut lines = world.journal_lines();
    // The seventh line holds the first reply; one letter of it changes.
    let reply = lines.iter().position(|line| line.contains("model_replied")).unwrap();
    lines[reply] = lines[reply].replacen("I will look.", "I will loot.", 1);
    std::fs::write(world.journal(), lines.concat()).unwrap();
    let [id] = world.ids().try_into().unwrap();
    check(
        &world,
        &["show", &id],
        expect![[r#"
            session    ID
            workspace  WORLD/work
            created    TIME UTC
            model      script:WORLD/script.toml
            used       130 tokens in (23 % cached: 30 read, 0 written, 100 neither), 7 out, cost not known
            status     1 turn, the last ended done
            damaged    line 7: the line's checksum is wrong

            [1] user: what is here?

              - records of this session are missing; what could be read was kept, and permissions granted earlier are asked again
        "#]],
    );

    let output = world.exec(ANY, &["--continue", "and now?"]).run().exits(0);
    assert_eq!(output.stdout, "heard\n");
    expect![[r#"
        heeler: session ID with script:WORLD/script.toml
        heeler: the journal of session ID is damaged in 1 place (line 7: the line's checksum is wrong); what could not be read was left out, and permissions granted earlier are asked again
        heeler: 2119 tokens in (30 cached), 9 out, cost not known
    "#]]
    .assert_eq(&world.plain(&output.stderr));
    let output = world.exec(ANY, &["--continue", "--json", "and now?"]).run().exits(0);
    assert_eq!(output.of_type("notice").len(), 1, "{}", output.stdout);
    // The broken line stays where it is; nothing is rewritten.
    assert_eq!(world.journal_lines()[..lines.len()], lines);
}

#[test]
fn a_broken_header_is_told_with_the_file_and_the_next_step() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let text = std::fs::read_to_string(world.journal()).unwrap();
    std::fs::write(world.journal(), text.replacen("heeler-journal", "heeler-jourmal", 1)).unwrap();
    let [id] = world.ids().try_into().unwrap();
    let shown = world.heeler(&["show", &id]).run().exits(2);
    expect![[r#"
        heeler: the first line of `WORLD/home/sessions/ID.jsonl` cannot be read (its checksum is wrong); `heeler sessions export ID` prints what there is; restore the file from a backup, or remove the session with `heeler sessions delete ID`
    "#]].assert_eq(&world.plain(&shown.stderr));
    let resumed = world.exec(ANY, &["--resume", &id, "x"]).run().exits(2);
    assert_eq!(resumed.stderr, shown.stderr);
}

#[test]
fn an_older_session_does_not_go_on_in_place_of_one_that_cannot_be_read() {
    let world = World::new();
    world.exec(ANY, &["older"]).run().exits(0);
    let path = world.journal();
    world.exec(ANY, &["newer"]).run().exits(0);
    let [older, newer] = world.ids().try_into().unwrap();
    let damaged = path.with_file_name(format!("{newer}.jsonl"));
    let text = std::fs::read_to_string(&damaged).unwrap();
    std::fs::write(&damaged, text.replacen("heeler-journal", "heeler-jourmal", 1)).unwrap();
    let before = std::fs::read_to_string(&path).unwrap();
    let refused = world.exec(ANY, &["--continue", "x"]).run().exits(2).stderr;
    for word in [format!("heeler audit {newer}"), format!("--resume {older}")] {
        assert!(refused.contains(&word), "{refused}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    // One in which nothing was ever said is in nobody's way.
    std::fs::write(&damaged, "").unwrap();
    world.exec(ANY, &["--continue", "x"]).run().exits(0);
}

#[test]
fn a_journal_of_a_newer_heeler_is_shown_but_not_continued() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let text = std::fs::read_to_string(world.journal()).unwrap();
    std::fs::write(world.journal(), text.replacen("\"version\":1", "\"version\":9", 1)).unwrap();
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["exec", "--resume", &id, "x"]).run().exits(2);
    expect![[r#"
        heeler: `WORLD/home/sessions/ID.jsonl` has format 9 of a newer heeler; update heeler to open it
    "#]].assert_eq(&world.plain(&output.stderr));
}

/// What nobody but its owner can read cannot be looked into either: the step is another one.
#[test]
fn beside_a_journal_that_only_somebody_else_can_read_a_step_works() {
    let world = World::new();
    for folder in ["", "home", "work", "temp"] {
        set_permissions(world.path(folder), Permissions::from_mode(0o777)).unwrap();
    }
    // All can be read by root.
    let (outer, somebody): (_, &[&str]) = match rustix::process::getuid().is_root() {
        true => ("setpriv", &["--reuid=64123", "--regid=64123", "--clear-groups"]),
        false => ("env", &[]),
    };
    let script = "[[reply]]\ntext = \"hi\"";
    let can_be = world.heeler(&["--version"]).run_in(outer, somebody).code == 0;
    if !require("to be somebody else", can_be) {
        return;
    }
    world.exec(script, &["--no-sandbox", "first"]).run_in(outer, somebody).exits(0);
    let [id] = world.ids().try_into().unwrap();
    world.minute_passes();
    let other = "01997d2f-6c00-7a11-9b0c-2f6c1c7a54d3";
    let path = world.write(&format!("home/sessions/{other}.jsonl"), "{}\n");
    set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let arguments = ["--no-sandbox", "--continue", "go on"];
    let output = world.exec(script, &arguments).run_in(outer, somebody).exits(2);
    let step = format!(
        "`ls -l {}` tells whose it is, or go on with the older one: --resume {id}",
        path.display()
    );
    assert!(output.stderr.contains(&step), "{}", output.stderr);
    let resumed = ["--no-sandbox", "--resume", &id, "go on"];
    world.exec(script, &resumed).run_in(outer, somebody).exits(0);
}
