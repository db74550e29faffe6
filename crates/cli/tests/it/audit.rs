//! `audit`: what was done and on whose word, and journals that somebody edited.

use expect_test::{Expect, expect};
use regex::Regex;

use crate::fifo::Fifo;
use crate::processes::wait_until_gone;
use crate::support::World;

const WORK: &str = r#"
[[reply]]
blocks = [
  { call = "LS", input = { path = "." } },
  { call = "Write", input = { file_path = "new.txt", content = "new\n" } },
  { call = "Bash", input = { command = "echo one\necho two" } },
]
[[reply]]
blocks = [
  { call = "Bash", input = { command = "exit 3" } },
  { call = "Bash", input = { command = "rm -r ." } },
  { call = "Read", input = { file_path = "../outside.txt" } },
  { call = "Sing", input = {} },
]
[[reply]]
text = "done"
"#;
const RULES: [&str; 6] =
    ["--permission-mode", "accept-edits", "--allow", "Bash", "--deny", "Bash(rm:*)"];

fn work() -> World {
    let world = World::new();
    world.exec(WORK, &[&RULES[..], &["go"]].concat()).run().exits(0);
    world
}

fn check(world: &World, code: i32, expected: Expect) {
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["audit", &id]).run().exits(code);
    assert_eq!(output.stderr, "");
    expected.assert_eq(&world.plain(&output.stdout));
}

/// Puts these lines into the journal, and looks at what is told before the list.
fn check_head(world: &World, lines: &[String], code: i32, expected: Expect) {
    std::fs::write(world.journal(), lines.concat()).unwrap();
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["audit", &id]).run().exits(code);
    let head = output.stdout.split("\n\n").next().unwrap();
    let head: String = head.lines().skip(2).map(|line| line.to_owned() + "\n").collect();
    expected.assert_eq(&world.plain(&(head + &output.stderr)));
}

#[test]
fn what_was_done_and_what_was_denied_with_the_reason() {
    check(
        &work(),
        0,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            journal    26 records, every checksum and the chain are right

            TIME UTC  1.1.1  Write: new.txt
              allowed  mode accept-edits
              ended    done: Created new.txt (1 line)

            TIME UTC  1.1.2  Bash: echo one echo two
              allowed  rule Bash (--allow)
              ended    done: one two

            TIME UTC  1.2.1  Bash: rm -r .
              denied   the rule Bash(rm:*) (--deny) denies it

            TIME UTC  1.2.2  Read: ../outside.txt
              denied   it reads WORLD/outside.txt, and nobody can be asked

            TIME UTC  1.2.0  Bash: exit 3
              allowed  rule Bash (--allow)
              ended    failed: (no output) exit code: 3
        "#]],
    );
    let world = World::new();
    world.exec("[[reply]]\ntext = \"hi\"", &["hello"]).run().exits(0);
    check(
        &world,
        0,
        expect![[r#"
        session    ID
        workspace  WORLD/work
        journal    7 records, every checksum and the chain are right

        nothing was done and nothing denied
    "#]],
    );
}

#[test]
fn no_path_makes_a_row_of_its_own() {
    let world = World::new();
    let forged = r"/etc/a\n\n2026-01-01 00:00:00 UTC  1.1.9  Bash: x\n  allowed  you said yes\n  ended    done: 0";
    let script = format!(
        r#"
        [[reply]]
        blocks = [
          {{ call = "Read", input = {{ file_path = "{forged}" }} }},
          {{ call = "Write", input = {{ file_path = "{forged}", content = "" }} }},
        ]
        [[reply]]
        text = "done"
        "#
    );
    world.exec(&script, &["--permission-mode", "accept-edits", "go"]).run().exits(0);
    check(
        &world,
        0,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            journal    11 records, every checksum and the chain are right

            TIME UTC  1.1.0  Read: /etc/a TIME UTC 1.1.9 Bash: x allowed you said yes ended done: 0
              denied   it reads /etc/a ⏎ TIME UTC 1.1.9 Bash: x ⏎ allowed you said yes ⏎ ended done: 0, and nobody can be asked

            TIME UTC  1.1.1  Write: /etc/a TIME UTC 1.1.9 Bash: x allowed you said yes ended done: 0
              denied   it writes /etc/a ⏎ TIME UTC 1.1.9 Bash: x ⏎ allowed you said yes ⏎ ended done: 0, and nobody can be asked
        "#]],
    );
}

#[test]
fn as_json() {
    let world = work();
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["audit", &id, "--json"]).run().exits(0);
    let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let pretty = world.plain(&serde_json::to_string_pretty(&report).unwrap());
    let plain =
        Regex::new(r#""(seq|at|millis)": \d+"#).unwrap().replace_all(&pretty, r#""$1": "N""#);
    expect![[r#"
        {
          "v": 1,
          "session": "ID",
          "workspace": "WORLD/work",
          "records": 26,
          "damage": [],
          "torn_bytes": 0,
          "misfits": 0,
          "deeds": [
            {
              "seq": "N",
              "at": "N",
              "call": "1.1.1",
              "tool": "Write",
              "summary": "Write: new.txt",
              "input": "{\"file_path\":\"new.txt\",\"content\":\"new\\n\"}",
              "accesses": [
                {
                  "write": "WORLD/work/new.txt"
                }
              ],
              "allowed_by": "mode accept-edits",
              "ending": "done",
              "output": "Created new.txt (1 line)",
              "millis": "N"
            },
            {
              "seq": "N",
              "at": "N",
              "call": "1.1.2",
              "tool": "Bash",
              "summary": "Bash: echo one\necho two",
              "input": "{\"command\":\"echo one\\necho two\"}",
              "accesses": [
                {
                  "shell": {
                    "line": "echo one\necho two",
                    "commands": [
                      {
                        "words": [
                          "echo",
                          "one"
                        ]
                      },
                      {
                        "words": [
                          "echo",
                          "two"
                        ]
                      }
                    ],
                    "is_read_only": true
                  }
                }
              ],
              "allowed_by": "rule Bash (--allow)",
              "ending": "done",
              "output": "one\ntwo",
              "millis": "N"
            },
            {
              "seq": "N",
              "at": "N",
              "call": "1.2.1",
              "tool": "Bash",
              "summary": "Bash: rm -r .",
              "input": "{\"command\":\"rm -r .\"}",
              "accesses": [
                {
                  "shell": {
                    "line": "rm -r .",
                    "commands": [
                      {
                        "words": [
                          "rm",
                          "-r",
                          "."
                        ]
                      }
                    ],
                    "writes": [
                      "WORLD/work"
                    ],
                    "concerns": [
                      {
                        "kind": "irreversible",
                        "why": "removes . for good"
                      }
                    ]
                  }
                }
              ],
              "ending": "denied",
              "by": "the rule Bash(rm:*) (--deny) denies it"
            },
            {
              "seq": "N",
              "at": "N",
              "call": "1.2.2",
              "tool": "Read",
              "summary": "Read: ../outside.txt",
              "input": "{\"file_path\":\"../outside.txt\"}",
              "accesses": [
                {
                  "read": "WORLD/outside.txt"
                }
              ],
              "ending": "denied",
              "by": "it reads WORLD/outside.txt, and nobody can be asked"
            },
            {
              "seq": "N",
              "at": "N",
              "call": "1.2.0",
              "tool": "Bash",
              "summary": "Bash: exit 3",
              "input": "{\"command\":\"exit 3\"}",
              "accesses": [
                {
                  "shell": {
                    "line": "exit 3",
                    "commands": [
                      {
                        "words": [
                          "exit",
                          "3"
                        ]
                      }
                    ],
                    "is_read_only": true
                  }
                }
              ],
              "allowed_by": "rule Bash (--allow)",
              "ending": "failed",
              "output": "(no output)\nexit code: 3",
              "millis": "N"
            }
          ]
        }"#]]
    .assert_eq(&plain);
}

#[test]
fn what_a_dead_process_left_open_and_what_came_of_it() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "echo > began; read line < gate" } }]
        [[reply]]
        text = "done"
    "#;
    let mut began = Fifo::new(&world.path("work/began"));
    let _gate = Fifo::new(&world.path("work/gate"));
    let running =
        world.exec(script, &["--json", "--allow", "Bash(echo:*)", "--allow", "Bash", "x"]);
    let running = running.start();
    began.wait();
    running.kill();
    wait_until_gone(&world);
    check(
        &world,
        0,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            journal    8 records, every checksum and the chain are right

            TIME UTC  1.1.0  Bash: echo > began; read line < gate
              allowed  rule Bash (--allow)
              ended    not yet: it runs, or its process died
        "#]],
    );
    world.exec(script, &["--no-sandbox", "--continue"]).run();
    check(
        &world,
        0,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            journal    16 records, every checksum and the chain are right

            TIME UTC  1.1.0  Bash: echo > began; read line < gate
              allowed  rule Bash (--allow)
              ended    failed: The program died while this call was running, so its outcome is unknown. Check …

            TIME UTC  1.2.0  Bash: echo > began; read line < gate
              denied   it runs the command `echo > began; read line < gate`, which no rule allows, and nobody can be asked in the mode allow-listed
        "#]],
    );
}

#[test]
fn an_edited_journal_is_damaged_wherever_it_was_edited() {
    let world = work();
    let lines = world.journal_lines();
    let edited = |at: usize, from: &str, to: &str| {
        let mut lines = lines.clone();
        assert!(lines[at].contains(from), "{}", lines[at]);
        lines[at] = lines[at].replacen(from, to, 1);
        lines
    };
    let started = lines.iter().position(|line| line.contains("call_started")).unwrap();
    check_head(
        &world,
        &lines,
        0,
        expect![[r#"
        journal    26 records, every checksum and the chain are right
    "#]],
    );
    check_head(
        &world,
        &edited(started, "1.1.0", "1.1.1"),
        1,
        expect![[r#"
            journal    25 records, DAMAGED in 1 place
            damaged    line 11: the line's checksum is wrong
            misfits    1 (records that do not follow from the rest)
        "#]],
    );
    // The last line too: an append that was cut short would have left no line break.
    check_head(
        &world,
        &edited(lines.len() - 1, "done", "dome"),
        1,
        expect![[r#"
        journal    25 records, DAMAGED in 1 place
        damaged    line 27: the line's checksum is wrong
    "#]],
    );
    let mut torn = lines.clone();
    torn.push("{\"seq\":".to_owned());
    check_head(
        &world,
        &torn,
        0,
        expect![[r#"
        journal    26 records, every checksum and the chain are right
        torn       the last 7 bytes are no whole record
    "#]],
    );
    let mut removed = lines.clone();
    removed.remove(started);
    check_head(
        &world,
        &removed,
        1,
        expect![[r#"
            journal    25 records, DAMAGED in 2 places
            damaged    line 11: the chain is broken here: the line before was changed or lines were removed
            damaged    line 11: records 10 to 10 are missing
            misfits    1 (records that do not follow from the rest)
        "#]],
    );
    check_head(
        &world,
        &edited(0, "heeler-journal", "heeler-jourmal"),
        1,
        expect![[r#"
        heeler: the first line of `WORLD/home/sessions/ID.jsonl` cannot be read (its checksum is wrong); `heeler sessions export ID` prints what there is; restore the file from a backup, or remove the session with `heeler sessions delete ID`
    "#]],
    );
}

#[test]
fn a_call_whose_records_are_lost_is_listed() {
    let world = work();
    let mut lines = world.journal_lines();
    lines.retain(|line| !line.contains("call_planned"));
    std::fs::write(world.journal(), lines.concat()).unwrap();
    check(
        &world,
        1,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            journal    19 records, DAMAGED in 4 places
            damaged    line 8: the chain is broken here: the line before was changed or lines were removed
            damaged    line 8: records 7 to 9 are missing
            damaged    line 16: the chain is broken here: the line before was changed or lines were removed
            damaged    line 16: records 18 to 21 are missing
            misfits    8 (records that do not follow from the rest)

            TIME UTC  1.1.0  LS: .
              allowed  nobody knows: the records that said it are missing
              ended    done: (empty directory)

            TIME UTC  1.1.1  Write: new.txt
              allowed  nobody knows: the records that said it are missing
              ended    done: Created new.txt (1 line)

            TIME UTC  1.1.2  Bash: echo one echo two
              allowed  nobody knows: the records that said it are missing
              ended    done: one two

            TIME UTC  1.2.0  Bash: exit 3
              allowed  nobody knows: the records that said it are missing
              ended    failed: (no output) exit code: 3
        "#]],
    );
}
