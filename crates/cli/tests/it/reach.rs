//! What tools that open files themselves reach, whoever lets a call run, through the whole program.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;

use expect_test::expect;
use heeler_testkit::require;

use crate::support::{World, can_confine};

#[test]
fn no_mode_and_no_rule_opens_a_wall() {
    let world = World::new();
    for folder in [".ssh", "work/.git/hooks", "work/docs"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
    world.write(".ssh/id", "a key\n");
    world.write("work/.env", "KEY=1\n");
    for (target, link) in [(".git/hooks", "x"), ("../.ssh", "keys"), (".env", "plain")] {
        symlink(target, world.path("work").join(link)).unwrap();
    }
    let calls = [
        ("Read", r#"{ file_path = "~/.ssh/id" }"#),
        ("Read", r#"{ file_path = "keys/id" }"#),
        ("Read", r#"{ file_path = "plain" }"#),
        ("Grep", r#"{ pattern = "KEY", glob = ".env" }"#),
        ("LS", r#"{ path = "." }"#),
        ("Write", r#"{ file_path = "x/pre-commit", content = "evil" }"#),
        ("Edit", r#"{ file_path = "x/pre-push", old_string = "", new_string = "evil" }"#),
        ("Write", r#"{ file_path = ".git/hooks/pre-merge", content = "meant" }"#),
    ];
    let mut script = String::new();
    for (name, input) in calls {
        let input = input.replace('~', world.path("").to_str().unwrap().trim_end_matches('/'));
        write!(script, "[[reply]]\nblocks = [{{ call = \"{name}\", input = {input} }}]\n").unwrap();
    }
    script.push_str("[[reply]]\ntext = \"done\"\n");
    let flags = ["--no-sandbox", "--permission-mode", "bypass", "--deny", "Read(**/.env)"];
    let output = world.exec(&script, &[&flags[..], &["--json", "go"]].concat()).run().exits(0);
    let mut told = String::new();
    for message in output.of_type("message") {
        for block in message["message"]["blocks"].as_array().unwrap() {
            let Some(result) = block.get("tool_result") else { continue };
            writeln!(told, "{}", result["content"][0]["text"]["text"].as_str().unwrap()).unwrap();
        }
    }
    expect![[r#"
        Not allowed: WORLD/.ssh/id is closed: nothing reads or writes in WORLD/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user.
        keys/id leads to WORLD/.ssh/id, which is closed: nothing reads or writes in WORLD/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
        plain leads to WORLD/work/.env, which is closed: the rule Read(**/.env) denies it; leave it to the user
        No matches found
        (1 place is closed to tools and left out)

        . (6 entries)
          closed  .env
             dir  .git/
             dir  docs/
            link  keys -> ../.ssh
            link  plain -> .env
            link  x -> .git/hooks

        x/pre-commit leads to WORLD/work/.git/hooks/pre-commit, which decides what later runs; permission was given for another name only, so name that path if you need the file
        x/pre-push leads to WORLD/work/.git/hooks/pre-push, which decides what later runs; permission was given for another name only, so name that path if you need the file
        Created .git/hooks/pre-merge (1 line)
    "#]].assert_eq(&world.plain(&told));
    let hooks = std::fs::read_dir(world.path("work/.git/hooks")).unwrap();
    let hooks: Vec<_> = hooks.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(hooks, ["pre-merge"]);
}

#[test]
fn that_every_command_is_refused_is_said_once_before_the_first() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    for n in 0..=512 {
        world.write(&format!("work/{n}.key"), "");
    }
    let script = "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"ls\" } }]\n\
                  [[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"pwd\" } }]\n\
                  [[reply]]\ntext = \"done\"\n";
    let said = |deny: &str| {
        let output = world.exec(script, &["--deny", deny, "go"]).run().exits(0);
        let is_about = |line: &&str| line.contains("every command");
        output.stderr.lines().filter(is_about).collect::<Vec<_>>().join("\n")
    };
    expect![["heeler: every command is refused, as nobody can be asked, since the sandbox does not hold all that a rule denies: Read(**/*.key): more than 512 places match; let that rule name fewer places, such as a folder as a whole"]]
        .assert_eq(&said("Read(*.key)"));
    assert_eq!(said("Read(1*.key)"), "");
}
