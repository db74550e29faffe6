//! Where the prompt comes from, and when stdin is left alone.

use expect_test::{Expect, expect};

use crate::support::{Output, World};

/// A model that answers whatever it is asked.
const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";

/// A model that answers only if this was said.
fn hears(said: &str) -> String {
    format!("[[reply]]\nexpect = {{ last_user_contains = '{said}' }}\ntext = \"heard\"\n")
}

fn complains(output: &Output, expected: Expect) {
    expected.assert_eq(&output.stderr);
    assert_eq!(output.stdout, "");
}

/// What the newest session was asked, as it is shown.
fn asked(world: &World) -> String {
    let list = world.heeler(&["sessions", "list", "--json"]).run().exits(0).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let id = list["sessions"][0]["id"].as_str().unwrap().to_owned();
    let shown = world.heeler(&["show", &id]).run().exits(0).stdout;
    let said = &shown[shown.find("[1] user").unwrap()..];
    said.split("\nheeler: ").next().unwrap().trim().to_owned()
}

#[test]
fn a_pipe_that_nobody_closes_does_not_hold_up_a_prompt() {
    for flags in [&[][..], &["-q"]] {
        let world = World::new();
        let arguments = [flags, &["from the line"]].concat();
        let output = world.exec(&hears("from the line"), &arguments).open_stdin().run().exits(0);
        assert_eq!(output.stdout, "heard\n");
        // Who wants no more than the answer learns, too, what it is not an answer to.
        let told = "nothing comes on stdin, so it is not read; to wait for it: ";
        assert!(output.stderr.contains(told), "{}", output.stderr);
    }
}

/// Elsewhere nobody can tell a slow program from a pipe that was left open.
#[cfg(target_os = "linux")]
#[test]
fn a_program_of_the_same_pipeline_is_waited_for() {
    for flags in [&[][..], &["-q"]] {
        let world = World::new();
        let arguments = [flags, &["from the line"]].concat();
        let pipeline = "(sleep 2.5; echo from the slow program) | \"$@\"";
        let output = world.exec(&hears("from the slow program"), &arguments);
        let output = output.run_in("sh", &["-c", pipeline, "sh"]).exits(0);
        assert_eq!(output.stdout, "heard\n");
        let told = "heeler: waiting for what is piped in on stdin; where nothing is meant to be, ";
        assert_eq!(output.stderr.matches(told).count(), 1, "{}", output.stderr);
    }
}

#[test]
fn what_is_piped_in_stands_behind_the_prompt() {
    let world = World::new();
    let output = world.exec(ANY, &["from the line"]).stdin("from\nthe pipe\n\n").run().exits(0);
    assert_eq!(output.stdout, "heard\n");
    let told = "13 bytes of stdin go with the prompt; where that is not meant, add </dev/null";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    expect![[r#"
        [1] user: from the line

        user: Piped in on stdin:

            from
            the pipe"#]]
    .assert_eq(&asked(&world));
    // Also into a session that goes on, and where it begins after us.
    let again = world.exec(&hears("the end"), &["--continue", "and this"]).open_stdin();
    let mut again = again.start();
    again.say("and so on to the end");
    again.close_stdin();
    assert_eq!(again.finish().exits(0).stdout, "heard\n");
}

#[test]
fn a_file_is_read_from_its_beginning_and_left_to_whoever_is_further_in_it() {
    let in_shell = |script| {
        let world = World::new();
        world.write("work/list", "one\ntwo\nthree\n");
        let output = world.exec(ANY, &["look"]).run_in("sh", &["-c", script, "sh"]).exits(0);
        (asked(&world), output.stdout)
    };
    let (asked, _) = in_shell(r#""$@" < list"#);
    assert!(asked.ends_with("one\n    two\n    three"), "{asked}");
    let (asked, answered) = in_shell(r#"while read line; do "$@"; done < list"#);
    assert_eq!(asked, "[1] user: look");
    assert_eq!(answered, "heard\n".repeat(3));
}

#[test]
fn what_is_piped_in_and_holds_nothing_is_nothing() {
    for text in ["", " \n\n"] {
        let world = World::new();
        let output = world.exec(&hears("from the line"), &["from the line"]).stdin(text).run();
        assert!(!output.exits(0).stderr.contains("stdin"));
    }
}

#[test]
fn a_pipe_without_a_prompt_and_a_dash_are_read() {
    for arguments in [&[][..], &["-"]] {
        let world = World::new();
        let output = world.exec(&hears("from the pipe"), arguments).stdin("from the pipe\n").run();
        assert_eq!(output.exits(0).stdout, "heard\n");
    }
}

#[test]
fn a_continued_session_reads_stdin_only_for_a_dash() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let again = world.exec(ANY, &["--continue"]).open_stdin().run().exits(2);
    let ending = "has nothing left to finish; give a prompt to go on\n";
    assert!(again.stderr.ends_with(ending), "{}", again.stderr);
    world.exec(&hears("second"), &["--continue", "second"]).open_stdin().run().exits(0);
    world.exec(&hears("third"), &["--continue", "-"]).stdin("third").run().exits(0);
    assert_eq!(world.journals().len(), 1);
}

#[test]
fn a_prompt_that_is_none_is_refused_before_anything_is_made() {
    let world = World::new();
    complains(
        &world.exec(ANY, &[]).run().exits(2),
        expect![[r#"
            heeler: the prompt on stdin is empty; write `heeler exec 'what to do'`, or pipe it in
        "#]],
    );
    complains(
        &world.exec(ANY, &["-"]).stdin(" \n\n").run().exits(2),
        expect![[r#"
            heeler: the prompt on stdin is empty; write `heeler exec 'what to do'`, or pipe it in
        "#]],
    );
    complains(
        &world.exec(ANY, &[" "]).run().exits(2),
        expect![[r#"
            heeler: the prompt is empty; write `heeler exec 'what to do'`
        "#]],
    );
    complains(
        &world.exec(ANY, &["-"]).stdin(b"\xff\xfe").run().exits(2),
        expect![[r#"
        heeler: the prompt on stdin is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0
    "#]],
    );
    complains(
        &world.exec(ANY, &["look"]).stdin(b"\xff\xfe").run().exits(2),
        expect![[r#"
        heeler: cannot take stdin; where it is not meant for heeler, add </dev/null: what is piped in beside the prompt is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0
    "#]],
    );
    assert_eq!(world.journals().len(), 0);
}

#[test]
fn a_prompt_longer_than_the_limit_is_refused() {
    let world = World::new();
    let most = 10 * 1024 * 1024;
    let output = world.exec(ANY, &["-"]).stdin("x".repeat(most + 1)).run().exits(2);
    complains(
        &output,
        expect![[r#"
        heeler: the prompt on stdin is longer than 10485760 bytes; put it into a file
    "#]],
    );
}
