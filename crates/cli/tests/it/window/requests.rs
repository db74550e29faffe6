//! What is asked, and how it is answered: commands, plans, questions, and keys that were for something else.

use expect_test::expect;

use super::{play, play_with};

const LS: &str = r#"
    [[reply]]
    blocks = [{ call = "Bash", input = { command = "git push origin" } }]
    [[reply]]
    text = "All done."
"#;

#[test]
fn f4_a_command_that_leaves_the_box_asks_and_y_lets_it_run_once() {
    let (_world, mut glass) = play(LS);
    glass.types("push\r");
    glass.waits_for("Run this command?");
    glass.waits_for("  y  once");
    glass.shows(expect![[r#"
        > push

        · Bash git push origin

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
          y  once
          s  for this session: Bash(git push:*)
          a  always in this folder: Bash(git push:*)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("y");
    glass.waits_for("All done.");
    glass.shows(expect![[r#"
        > push

        ✗ Bash git push origin
          fatal: not a git repository (or any of the parent directories): .git
          exit code: 128

        All done.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    assert!(glass.screen().contains("✗ Bash git push origin"), "{}", glass.screen());
}

#[test]
fn f5_no_with_a_reason_is_told_to_the_model() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "git push origin" } }]
        [[reply]]
        expect = { tool_result_contains = "not on a friday" }
        text = "Not today, then."
    "#,
    );
    glass.types("push\r");
    glass.waits_for("Run this command?");
    glass.waits_for("  y  once");
    glass.types("n");
    glass.waits_for("deny with this reason");
    glass.shows(expect![[r#"
        > push

        · Bash git push origin

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
        >
        Enter: deny with this reason, or with none · Esc: back
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("not on a friday\r");
    glass.waits_for("Not today, then.");
    glass.shows(expect![[r#"
        > push

        ✗ Bash git push origin
          The user denied this call: not on a friday

        Not today, then.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f6_always_is_kept_for_the_folder() {
    let (world, mut glass) = play(LS);
    glass.types("push\r");
    glass.waits_for("  a  always in this folder: Bash(git push:*)");
    glass.types("a");
    glass.waits_for("kept for this folder: Bash(git push:*)");
    glass.waits_for("All done.");
    glass.shows(expect![[r#"
        > push

        ✗ Bash git push origin
          fatal: not a git repository (or any of the parent directories): .git
          exit code: 128

        kept for this folder: Bash(git push:*)

        All done.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    let kept = std::fs::read_to_string(world.path("home/projects.toml")).unwrap();
    assert!(kept.contains("Bash(git push:*)"), "{kept}");
}

#[test]
fn f7_an_edited_command_runs_in_place_of_the_models() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "git push origin" } }]
        [[reply]]
        expect = { tool_result_contains = "instead" }
        text = "That ran."
    "#,
    );
    glass.types("push\r");
    glass.waits_for("Run this command?");
    glass.waits_for("  y  once");
    glass.types("e");
    glass.waits_for("run this instead");
    glass.shows(expect![[r#"
        > push

        · Bash git push origin

        ? Run this command?
          $ git push origin
          it runs the command `git push origin` (git push talks to another repository)
        > git push origin
        Enter: run this instead · Esc: back
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    // A line feed is Ctrl-J, a new line, and runs nothing.
    glass.types("\x15echo instead\necho of it");
    glass.waits_for("  echo of it");
    glass.types("\r");
    glass.waits_for("That ran.");
    glass.shows(expect![[r#"
        > push

        ✓ Bash echo instead echo of it
          │ instead
          │ of it
          │ Note: the user changed the input of this call to {"command":"echo instead\n…

        That ran.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f8_escape_stops_the_turn_also_at_a_prompt_and_nothing_waits() {
    let stopped = || {
        expect![[r#"
            > push

            ✗ Bash git push origin
              Cancelled before it started; nothing was done.

            ! stopped; say what to do instead

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
        "#]]
    };
    let denied = || {
        expect![[r#"
            > push

            ✗ Bash git push origin
              The user denied this call.

            ! denied: The user denied this call.

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
        "#]]
    };
    for (key, expected) in [("\x1b", stopped()), ("\x03", stopped()), ("d", denied())] {
        let (world, mut glass) = play(LS);
        glass.types("push\r");
        glass.waits_for("Run this command?");
        glass.waits_for("  d  no");
        glass.types(key);
        glass.waits_without("Run this command?");
        glass.waits_without("working");
        glass.shows(expected);
        glass.types("\x04");
        assert_eq!(glass.ends().0, 0);
        let journal = std::fs::read_to_string(world.journal()).unwrap();
        assert!(journal.contains("turn_finished") && !journal.contains("All done."));
    }
}

#[test]
fn f11_plan_mode_is_left_by_one_answer() {
    let (world, mut glass) = play_with(
        r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "planned\n" } }]
        [[reply]]
        text = "Written."
    "#,
        80,
        24,
        &["--permission-mode", "plan"],
    );
    glass.types("do it\r");
    glass.waits_for("Leave plan mode and do this?");
    glass.waits_for("  a  leave plan mode");
    glass.types("a");
    glass.waits_for("Written.");
    glass.waits_for("· accept-edits");
    glass.shows(expect![[r#"
        > do it

        ✓ Write a.txt

        Written.

        > what is to be done? (/help)
        script.toml · accept-edits · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    assert_eq!(world.worked("a.txt"), "planned\n");
}

#[test]
fn f12_a_question_of_the_model_is_answered_by_number() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "ask_user" } }]
        [[reply]]
        blocks = [{ call = "ask_user", input = { question = "Which port?", choices = ["80", "8080"] } }]
        [[reply]]
        expect = { tool_result_contains = "8080" }
        text = "Port 8080."
    "#,
    );
    glass.types("serve\r");
    glass.waits_for("2. 8080");
    glass.waits_for("Enter: answer");
    glass.types("2\r");
    glass.waits_for("Port 8080.");
}

#[test]
fn f17_who_is_writing_answers_nothing_that_opens_meanwhile() {
    let (world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "written\n" } }]
        [[reply]]
        text = "Written."
    "#,
    );
    glass.types("push\r");
    glass.waits_for("working");
    glass.types("and also");
    glass.waits_for("> and also");
    world.write("work/go", "");
    // Its keys are shown once it takes them.
    glass.waits_for("  y  once");
    let bytes = String::from_utf8_lossy(&glass.bytes()).into_owned();
    assert!(bytes.contains("send what you wrote, or clear it, to answer"), "{bytes:?}");
    glass.types("y");
    glass.waits_for("Written.");
    glass.waits_for("> and also");
    glass.shows(expect![[r#"
        > push

        ✓ Bash until test -e go; do sleep 0.02; done
          │ (no output)
        ✓ Write a.txt

        Written.

        > and also
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    assert_eq!(world.worked("a.txt"), "written\n");
}

#[test]
fn f18_the_first_letter_of_the_next_message_answers_nothing() {
    let (world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "until test -e go; do sleep 0.02; done" } }]
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "written\n" } }]
        [[reply]]
        text = "Written."
    "#,
    );
    glass.types("push\r");
    glass.waits_for("working");
    world.write("work/go", "");
    glass.waits_for("Write this file?");
    glass.types("yes");
    glass.waits_for("> yes");
    assert!(!world.path("work/a.txt").exists());
    // Who takes back what was begun is asked.
    glass.types("\u{15}");
    glass.waits_for("  y  once");
    glass.types("y");
    glass.waits_for("Written.");
    glass.shows(expect![[r#"
        > push

        ✓ Bash until test -e go; do sleep 0.02; done
          │ (no output)
        ✓ Write a.txt

        Written.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn f20_what_the_tool_would_refuse_is_told_to_the_model_and_nobody_is_asked() {
    let (world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "printf 'old\\n' > a.txt" } }]
        [[reply]]
        blocks = [{ call = "Edit", input = { file_path = "a.txt", old_string = "old", new_string = "new" } }]
        [[reply]]
        expect = { tool_result_contains = "has not been read in this session" }
        blocks = [{ call = "Read", input = { file_path = "a.txt" } }]
        [[reply]]
        blocks = [{ call = "Edit", input = { file_path = "a.txt", old_string = "old", new_string = "new" } }]
        [[reply]]
        text = "All done."
    "#,
    );
    glass.types("edit\r");
    // The first question there is, and the only one.
    glass.waits_for("Make this change?");
    glass.waits_for("  y  once");
    glass.shows(expect![[r#"
        > edit

        ✓ Bash printf 'old\n' > a.txt
          │ (no output)
        ✗ Edit a.txt
          a.txt has not been read in this session; Read it, then try again
        ✓ Read a.txt
        · Edit a.txt

        ? Make this change?
        a.txt +1 -1
        1   - old
          1 + new
          it writes /world/work/a.txt
          y  once
          s  for this session: Edit(//world/work/a.txt)
          a  always in this folder: Edit(//world/work/a.txt)
          n  no, with a reason
          e  edit it first
          d  no, and stop the turn
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("y");
    glass.waits_for("All done.");
    glass.shows(expect![[r#"
        > edit

        ✓ Bash printf 'old\n' > a.txt
          │ (no output)
        ✗ Edit a.txt
          a.txt has not been read in this session; Read it, then try again
        ✓ Read a.txt
        ✓ Edit a.txt
               1 -old
               1 +new

        All done.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    assert_eq!(world.worked("a.txt"), "new\n");
}
