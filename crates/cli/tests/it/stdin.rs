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

#[test]
fn a_pipe_that_nobody_closes_does_not_hold_up_a_prompt() {
    let world = World::new();
    let output = world.exec(&hears("from the line"), &["from the line"]).open_stdin().run();
    assert_eq!(output.exits(0).stdout, "heard\n");
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
fn a_prompt_on_the_line_leaves_the_pipe_unread() {
    let world = World::new();
    let long = "unread ".repeat(100_000);
    let output = world.exec(&hears("from the line"), &["from the line"]).stdin(long).run();
    assert_eq!(output.exits(0).stdout, "heard\n");
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
