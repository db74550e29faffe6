//! What is changed: a file part by part, the model, the session.

use expect_test::expect;

use super::{Glass, play, play_with};
use crate::support::{World, program};

#[test]
fn c1_of_a_change_the_parts_that_were_taken_are_made() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "1\n2\n3\n4\n5\n6\n7\n8\n9\n" } }]
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n" } }]
        [[reply]]
        expect = { tool_result_contains = "" }
        text = "Half of it."
    "#;
    let (world, mut glass) = play_with(script, 80, 30, &[]);
    glass.types("change it\r");
    glass.waits_for("Write this file?");
    glass.waits_for("  y  once");
    glass.types("y");
    glass.waits_for("h  choose among its 2 parts");
    glass.types("h");
    glass.waits_for("part 1 of 2");
    glass.types("n");
    glass.waits_for("part 2 of 2");
    glass.types("y");
    glass.waits_for("Half of it.");
    glass.shows(expect![[r#"
        > change it

        ✓ Write a.txt
        ✓ Write a.txt

        Half of it.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    expect![[r#"
        1
        2
        3
        4
        5
        6
        7
        8
        nine
    "#]]
    .assert_eq(&world.worked("a.txt"));
}

#[test]
fn c2_a_model_that_is_not_there_leaves_the_session_as_it_is() {
    let (_world, mut glass) = play("[[reply]]\ntext = \"Still here.\"\n");
    glass.types("/model nobody/nothing\r");
    glass.waits_for("✗");
    glass.types("hello\r");
    glass.waits_for("Still here.");
    glass.shows(expect![[r#"
        ✗ there is no provider `nobody`, which `nobody/nothing` names; there are
          anthropic, openai, openai-chat, deepseek, gemini, glm, groq, llamacpp,
          lmstudio, mistral, moonshot, ollama, openrouter, together, vllm, xai, and see
          `heeler models` for what there is

        > hello

        Still here.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

/// What runs in the background goes with the session, which is closed for that.
#[test]
fn c10_another_model_ends_what_runs_in_the_background_when_it_is_asked_for_twice() {
    let script = r#"
        [script]
        epoch = "may change"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "exec" } }]
        [[reply]]
        blocks = [{ call = "exec", input = { action = "run", background = true, command = "exec sleep 1000" } }]
        [[reply]]
        text = "It waits."
    "#;
    let (world, mut glass) = play_with(script, 100, 30, &["--allow", "Bash", "--allow", "exec"]);
    let other = world.write("other.toml", "[[reply]]\ntext = \"Another.\"\n");
    glass.types("wait\r");
    glass.waits_for("It waits.");
    glass.waits_without("working");
    let model = format!("/model script:{}\r", other.display());
    glass.types(&model);
    glass.waits_for("would end what runs in the background");
    glass.types(&model);
    glass.waits_for("answers from here on");
    // The one that answers is not asked for again.
    glass.types(&model);
    glass.waits_for("answers already");
    glass.types("hello\r");
    glass.waits_for("Another.");
}

/// What is written before the other session is there is said to it.
#[test]
fn c3_what_is_said_on_the_way_to_another_session_is_said_there() {
    let (world, mut glass) =
        play("[[reply]]\nexpect = { last_user_contains = \"new\" }\ntext = \"Heard.\"\n");
    glass.types("/clear\rthis is new\r");
    glass.waits_for("Heard.");
    glass.shows(expect![[r#"
        > this is new

        Heard.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journals = world.journals();
    let is_said = |journal: &&std::path::PathBuf| {
        std::fs::read_to_string(journal).unwrap().contains("this is new")
    };
    assert_eq!((journals.len(), journals.iter().filter(is_said).count()), (1, 1));
}

#[test]
fn c4_settings_that_change_count_from_the_next_input() {
    let script = r#"
        [[reply]]
        text = "First."
        [[reply]]
        blocks = [{ call = "LS", input = { path = "." } }]
        [[reply]]
        text = "Third."
        [[reply]]
        text = "Fourth."
    "#;
    let (world, mut glass) = play_with(script, 120, 30, &[]);
    glass.types("one\r");
    glass.waits_for("First.");
    // What is said before the turn is over belongs to it.
    glass.waits_without("working");
    world.write(
        "home/settings.toml",
        "[limits]\nrounds = 1\n[tui]\nstatus = [\"mode\"]\n[sandbox]\nnetwork = true\n",
    );
    glass.types("two\r");
    glass.waits_for(
        "count from here on: limits.rounds, tui.status; from the next session on: sandbox.network",
    );
    glass.waits_for("the turn ended at its limit of rounds");
    glass.shows(expect![[r#"
        > one

        First.

        settings changed, and count from here on: limits.rounds, tui.status; from the next session on: sandbox.network

        > two

        ✓ LS .

        ! the turn ended at its limit of rounds; say `go on` to continue

        > what is to be done? (/help)
        ask
    "#]]);
    glass.waits_without("script.toml · ask");
    world.write("home/settings.toml", "[limits]\nrounds = \n");
    glass.types("three\r");
    glass.waits_for("settings.toml:2:10: this is no TOML");
    glass.waits_for("in `limits.rounds`");
    glass.waits_for("until that is mended, the settings that held before hold");
    glass.waits_for("Third.");
    glass.waits_without("working");
    let mended =
        "[limits]\nrounds = 1\ncalls = 7\n[tui]\nstatus = [\"mode\"]\n[sandbox]\nnetwork = true\n";
    world.write("home/settings.toml", mended);
    glass.types("four\r");
    glass.waits_for("count from here on: limits.calls");
    glass.waits_for("Fourth.");
}

#[test]
fn c5_the_difference_from_the_last_commit_is_shown() {
    let world = World::new();
    world.write("work/a.txt", "one\ntwo\n");
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
        let mut git = program("git");
        let git = git.arg("-C").arg(world.path("work")).args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
        ]);
        assert!(git.args(arguments).status().unwrap().success());
    }
    world.write("work/a.txt", "one\n2\n");
    world.write("work/new.txt", "fresh\n");
    world.write("work/picture.bin", "\0\0");
    let model = world.script("[[reply]]\ntext = \"x\"\n");
    let mut glass = Glass::open(&world, 80, 30, &["--model", &model]);
    glass.waits_for("script.toml · ");
    glass.types("/diff\r");
    glass.waits_for("+2");
    glass.shows(expect![[r#"
        · /diff

          diff --git a/a.txt b/a.txt
          index 814f4a4..99b356d 100644
          --- a/a.txt
          +++ b/a.txt
          @@ -1,2 +1,2 @@
           one
          -two
          +2
          diff --git a/new.txt b/new.txt
          new file mode 100644
          --- /dev/null
          +++ b/new.txt
          @@ -0,0 +1,1 @@
          +fresh
          diff --git a/picture.bin b/picture.bin
          new file mode 100644
          Binary files /dev/null and b/picture.bin differ

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · ⎇ master · confined
    "#]]);
    let screen = glass.screen();
    assert!(screen.contains("-two") && screen.contains("+++ b/a.txt"), "{screen}");
    assert!(screen.contains("+++ b/new.txt") && screen.contains("+fresh"), "{screen}");
    assert!(screen.contains("Binary files /dev/null and b/picture.bin differ"), "{screen}");
    let mut git = program("git");
    let status = git.arg("-C").arg(world.path("work")).args(["status", "--short"]).output();
    let status = String::from_utf8(status.unwrap().stdout).unwrap();
    assert!(status.contains("?? new.txt"), "the index is as it was: {status}");
}

#[test]
fn c6_a_report_has_nothing_of_the_conversation() {
    let (world, mut glass) = play_with("[[reply]]\ntext = \"Heard you.\"\n", 100, 30, &[]);
    glass.types("a private word\r");
    glass.waits_for("Heard you.");
    glass.shows(expect![[r#"
        > a private word

        Heard you.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("/bug it looks odd\r");
    glass.waits_for("the report is");
    let reports = std::fs::read_dir(world.path("home/reports")).unwrap();
    let [report] = reports.collect::<Vec<_>>().try_into().unwrap();
    let text = std::fs::read_to_string(report.unwrap().path()).unwrap();
    assert!(text.contains("it looks odd") && text.contains("TERM=xterm-256color"), "{text}");
    assert!(!text.contains("private") && !text.contains("Heard"), "{text}");
}

#[test]
fn c7_init_has_notes_written_from_the_project() {
    let (_world, mut glass) = play(
        r#"
        [[reply]]
        expect = { last_user_contains = "AGENTS.md at the root" }
        text = "Written down."
    "#,
    );
    glass.types("/init\r");
    glass.waits_for("Written down.");
    glass.shows(expect![[r#"
        > Write the file AGENTS.md at the root of this repository: what a coding agent
          has to know to work here, and cannot see at a glance. If there is one, mend
          what is wrong or missing in it and leave the rest.

          Look first: the README, the files that say how it is built and tested, what
          continuous integration runs, notes for other agents (CLAUDE.md, .cursorrules,
          .github/copilot-instructions.md), and enough of the code to know its parts.
          Try the commands you name, where they may run.

          Say, in at most 60 lines: what the project is, in a sentence or two; the
          commands that build it, check its style, and run all its tests and a single
          one; the parts and how they hang together; conventions and traps that would
          surprise somebody. No advice that holds for every project, nothing that is
          made up, and no list of files that one can see.

        Written down.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn c8_notes_that_lead_nowhere_or_change_are_told_with_file_and_line() {
    let world = World::new();
    world.write("work/AGENTS.md", "# Here\n\n@gone.md\n@docs/style.md\n");
    std::fs::create_dir(world.path("work/docs")).unwrap();
    world.write("work/docs/style.md", "Tabs.\n");
    let model = world
        .script("[script]\nepoch = \"may change\"\nloop = true\n[[reply]]\ntext = \"heard\"\n");
    let mut glass = Glass::open(&world, 120, 30, &["--model", &model]);
    glass.waits_for("notes: gone.md, which AGENTS.md:3 imports, is not there");
    glass.waits_for("script.toml · ");
    glass.types("one\r");
    glass.waits_for("heard");
    world.write("work/docs/style.md", "Spaces.\n\n@more.md\n");
    glass.types("two\r");
    glass.waits_for(
        "project notes changed, so a new epoch begins: docs/style.md changed (imported by",
    );
    glass.waits_for("AGENTS.md:4)");
    glass.waits_for("notes: docs/more.md, which docs/style.md:3 imports, is not there");
}

#[test]
fn c9_what_is_denied_while_somebody_is_asked_counts_after_always() {
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "git push origin" } }]
        [[reply]]
        text = "First."
        [[reply]]
        blocks = [{ call = "Read", input = { file_path = "key.txt" } }]
        [[reply]]
        expect = { tool_result_contains = "Not allowed" }
        text = "Not for me."
    "#;
    let (world, mut glass) = play_with(script, 120, 30, &[]);
    world.write("work/key.txt", "secret\n");
    glass.types("push\r");
    glass.waits_for("  a  always in this folder: Bash(git push:*)");
    world.write("home/settings.toml", "permissions.deny = ['Read(key.txt)']\n");
    glass.types("a");
    glass.waits_for("kept for this folder: Bash(git push:*)");
    glass.waits_for("First.");
    glass.types("read\r");
    glass.waits_for("settings changed, and count from here on: permissions.deny");
    glass.waits_for("Not for me.");
    assert!(!glass.screen().contains("permissions.allow"), "{}", glass.screen());
}
