//! Names and forks: what they are called, where they come from, and that the source is left alone.

use expect_test::{Expect, expect};

use crate::support::{Output, World};

const ANY: &str =
    "[script]\nloop = true\nusage = { input = 100, output = 7 }\n[[reply]]\ntext = \"heard\"\n";

fn run(world: &World, arguments: &[&str]) -> Output {
    world.heeler(arguments).run()
}

fn told(world: &World, arguments: &[&str], code: i32, expected: Expect) {
    let Output { stdout, stderr, .. } = run(world, arguments).exits(code);
    expected.assert_eq(&world.plain(&(stdout + &stderr)));
}

#[test]
fn a_named_session_is_found_by_its_name() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    world.exec(ANY, &["second"]).run().exits(0);
    let [first, second] = world.ids().try_into().unwrap();
    world.minute_passes();
    told(
        &world,
        &["sessions", "rename", &first, " the  parser "],
        0,
        expect![[r#"
        session ID is named the parser
    "#]],
    );
    told(
        &world,
        &["sessions", "list"],
        0,
        expect![[r#"
        ID  TIME  WORLD/work  second
        ID  TIME  WORLD/work  [the parser] first
    "#]],
    );
    world.exec(ANY, &["--resume", "the parser", "again"]).run().exits(0);
    let shown = run(&world, &["show", "the parser"]).exits(0).stdout;
    assert!(shown.contains(&first) && shown.contains("user: again"), "{shown}");
    assert!(shown.contains("name       the parser\n"), "{shown}");

    // Two of one name need an id, and a name can be taken away.
    run(&world, &["sessions", "rename", &second, "the parser"]).exits(0);
    told(
        &world,
        &["show", "the parser"],
        2,
        expect![[r#"
        heeler: 2 sessions are named the parser (ID, ID); give the id
    "#]],
    );
    told(
        &world,
        &["sessions", "rename", &second, ""],
        0,
        expect![[r#"
        session ID has no name any more
    "#]],
    );
    run(&world, &["show", "the parser"]).exits(0);
    told(
        &world,
        &["sessions", "rename", &second, "a\u{1b}b"],
        2,
        expect![[r#"
        heeler: the name has a control character; leave it out
    "#]],
    );
    run(&world, &["audit", &first]).exits(0);
}

#[test]
fn a_fork_has_what_came_before_its_point_and_goes_on_by_itself() {
    let world = World::new();
    world.exec(ANY, &["one"]).run().exits(0);
    world.exec(ANY, &["--continue", "two"]).run().exits(0);
    world.exec(ANY, &["--continue", "three"]).run().exits(0);
    let source = world.journal();
    let before = std::fs::read(&source).unwrap();
    let [id] = world.ids().try_into().unwrap();
    told(
        &world,
        &["show", &id],
        0,
        expect![[r#"
            session    ID
            workspace  WORLD/work
            created    TIME UTC
            model      script:WORLD/script.toml
            used       300 tokens in (0 % cached: 0 read, 0 written, 300 neither), 21 out, cost not known
            estimate   RATIO tokens counted for each estimated one, by 3 model calls
            status     3 turns, the last ended done

            [1] user: one

            heeler: heard

            [2] user: two

            heeler: heard

            [3] user: three

            heeler: heard
        "#]],
    );
    told(
        &world,
        &["sessions", "fork", &id, "--at", "3"],
        0,
        expect![[r#"
        session ID is forked from ID at 3; `heeler --resume ID` goes on with it
    "#]],
    );
    told(
        &world,
        &["sessions", "fork", &id, "--at", "1"],
        2,
        expect![[r#"
        heeler: nothing was said in session ID before input 1; begin a new session instead
    "#]],
    );
    told(
        &world,
        &["sessions", "fork", &id, "--at", "5"],
        2,
        expect![[r#"
        heeler: session ID has 3 inputs, so there is no input 5 to fork before; see `heeler show ID`
    "#]],
    );
    assert_eq!(std::fs::read(&source).unwrap(), before);
    let [_, fork] = world.ids().try_into().unwrap();
    told(
        &world,
        &["sessions", "list"],
        0,
        expect![[r#"
        ID  TIME  WORLD/work  one
        ID  TIME  WORLD/work  one (forked from ID at 3)
    "#]],
    );
    run(&world, &["sessions", "delete", &id]).exits(0);
    run(&world, &["audit", &fork]).exits(0);
    world.exec(ANY, &["--resume", &fork, "another three"]).run().exits(0);
    told(
        &world,
        &["show", &fork],
        0,
        expect![[r#"
            session    ID
            forked     from ID at 3
            workspace  WORLD/work
            created    TIME UTC
            model      script:WORLD/script.toml
            used       100 tokens in (0 % cached: 0 read, 0 written, 100 neither), 7 out, cost not known
            estimate   RATIO tokens counted for each estimated one, by 3 model calls
            status     3 turns, the last ended done

            [1] user: one

            heeler: heard

            [2] user: two

            heeler: heard

              - forked from ID at 3

            [3] user: another three

            heeler: heard
        "#]],
    );
    run(&world, &["audit", &fork]).exits(0);
    run(&world, &["replay", &fork]).exits(0);
}

#[test]
fn exec_goes_on_in_a_fork_of_all_of_a_session() {
    let world = World::new();
    world.exec(ANY, &["one"]).run().exits(0);
    let source = world.journal();
    let before = std::fs::read(&source).unwrap();
    let [id] = world.ids().try_into().unwrap();
    let output = world.exec(ANY, &["--resume", &id, "--fork", "two"]).run().exits(0);
    assert_eq!(output.stdout, "heard\n");
    assert!(output.stderr.contains(&format!("is forked from {id} at 2")), "{}", output.stderr);
    assert_eq!(std::fs::read(&source).unwrap(), before);
    let [_, fork] = world.ids().try_into().unwrap();
    let shown = run(&world, &["show", &fork]).exits(0).stdout;
    assert!(shown.contains("[1] user: one") && shown.contains("[2] user: two"), "{shown}");
    // A fork has nothing to finish, and of nothing there is none.
    told(
        &world,
        &["exec", "--resume", &id, "--fork"],
        2,
        expect![[r#"
        heeler: a fork has nothing left to finish; give a prompt to go on in it
    "#]],
    );
    assert_eq!(world.ids().len(), 2);
    told(
        &world,
        &["exec", "--fork", "x"],
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <--resume <ID>|--continue>

        Usage: heeler exec --fork <--resume <ID>|--continue> <PROMPT>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_fork_of_an_unfinished_turn_answers_its_calls_and_reads_its_own_files() {
    let world = World::new();
    // A result that is longer than what the history takes is beside the session.
    world.write("work/long.sh", "#!/bin/sh\nyes 'a long line of output' | head -n 20000\n");
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "sh long.sh" } }]
        [[reply]]
        text = "Long."
    "#;
    world.exec(script, &["--allow", "Bash(sh long.sh)", "run it"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let spilled = world.path("home/sessions").join(format!("{id}.spill"));
    assert!(spilled.is_dir(), "{}", run(&world, &["show", &id]).stdout);
    run(&world, &["sessions", "fork", &id]).exits(0);
    run(&world, &["sessions", "delete", &id]).exits(0);
    let [fork] = world.ids().try_into().unwrap();
    let journal = std::fs::read_to_string(world.journal()).unwrap();
    let result = journal.lines().find(|line| line.contains(r#""kind":"call_finished""#)).unwrap();
    assert!(!result.contains(&id) && result.contains(&format!("{fork}.spill")), "{result}");
    let own = world.path("home/sessions").join(format!("{fork}.spill/1.1.0.txt"));
    let script = format!(
        r#"
        [[reply]]
        blocks = [{{ call = "Read", input = {{ file_path = "{}", limit = 1 }} }}]
        [[reply]]
        expect = {{ tool_result_contains = ["a long line of output"] }}
        text = "Read."
        "#,
        own.display()
    );
    let output = world.exec(&script, &["--resume", &fork, "read it"]).run().exits(0);
    assert_eq!(output.stdout, "Read.\n");
}

#[test]
fn a_limit_on_the_size_of_files_is_told_and_leaves_nothing_half_made() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let journal = std::fs::read(world.journal()).unwrap();
    assert!(journal.len() > 2048);
    let named = |name: &str| world.path(&format!("home/sessions/{name}")).display().to_string();
    for (arguments, file) in [
        (&["sessions", "fork", &id][..], named("")),
        (&["sessions", "rename", &id, "name"], named(&format!("{id}.jsonl"))),
        (&["sessions", "export", &id, "-o", "out.jsonl"], "out.jsonl".into()),
        (&["sessions", "export", &id, "-o", "out.html"], "out.html".into()),
    ] {
        let limited = ["-c", "ulimit -f 1; exec \"$@\"", "bash"];
        let output = world.heeler(arguments).run_in("bash", &limited).exits(2);
        for part in [&*file, "let files be larger (`ulimit -f`)", "File too large"] {
            assert!(output.stderr.contains(part), "{arguments:?}: {}", output.stderr);
        }
        assert_eq!(world.worked("out.jsonl") + &world.worked("out.html"), "");
        let mut left = std::fs::read_dir(world.path("home/sessions")).unwrap();
        let strays = left.find_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            (!name.starts_with(&id) || name.ends_with(".new")).then_some(name)
        });
        assert_eq!(strays, None, "{arguments:?}");
        assert_eq!(std::fs::read(world.journal()).unwrap(), journal);
    }
}

/// Nothing is left of a start that the disk had no room for, and what is left by one that was killed is
/// not what goes on.
#[test]
fn a_session_without_records_is_no_session_to_go_on_with() {
    let world = World::new();
    let limited = ["-c", "ulimit -f 1; exec \"$@\"", "bash"];
    let output = world.exec(ANY, &["first"]).run_in("bash", &limited).exits(2);
    assert!(output.stderr.contains("File too large"), "{}", output.stderr);
    assert_eq!(world.ids(), [""; 0]);
    world.exec(ANY, &["first"]).run().exits(0);
    world.minute_passes();
    world.exec(ANY, &["other"]).run().exits(0);
    let [id, _] = world.ids().try_into().unwrap();
    let newer = &world.journals()[1];
    let header = std::fs::read_to_string(newer).unwrap();
    std::fs::write(newer, header.split_inclusive('\n').next().unwrap()).unwrap();
    world.exec(ANY, &["--continue", "second"]).run().exits(0);
    let shown = run(&world, &["show", &id]).exits(0).stdout;
    assert!(shown.contains("[2] user: second"), "{shown}");
}
