//! Sessions, commands and the terminal itself.

use expect_test::expect;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{Glass, play, play_with};
use crate::support::World;

const TWO: &str = "[[reply]]\ntext = \"First answer.\"\n[[reply]]\ntext = \"Second answer.\"\n";

#[test]
fn s1_a_session_goes_on_in_another_process() {
    let (world, mut glass) = play(TWO);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let model = world.script("[[reply]]\ntext = \"Second answer.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--continue"]);
    glass.waits_for("First answer.");
    glass.types("two\r");
    glass.waits_for("Second answer.");
    glass.shows(expect![[r#"
        > one

        First answer.

        > two

        Second answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    assert_eq!(world.journals().len(), 1);
}

#[test]
fn s2_clear_begins_a_new_session_and_the_list_has_both() {
    let (world, mut glass) = play(TWO);
    glass.types("one thing\r");
    glass.waits_for("First answer.");
    glass.types("/clear\r");
    glass.waits_without("First answer.");
    // It went up: this terminal keeps nothing of what is erased.
    assert!(glass.everything().contains("First answer."));
    glass.types("/sessions\r");
    glass.waits_for("Go on with which session?");
    glass.shows(expect![[r#"

        Go on with which session?
        ▸ _ s  one thing
        ────────────────────────────────────────
          > one thing
          First answer.
          1 of 1 · Enter: go on · Esc: back
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("one thing\r");
    glass.waits_for("First answer.");
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    assert_eq!(world.journals().len(), 1, "in the other one nobody said anything");
}

#[test]
fn s15_a_session_in_which_nobody_said_anything_is_not_kept() {
    for (keys, n_kept) in [("", 0), ("/clear\r", 0), ("/rename mine\r", 1)] {
        let (world, mut glass) = play(TWO);
        glass.types(keys);
        if n_kept == 1 {
            glass.waits_for("this session is named mine");
        }
        glass.types("/quit\r");
        assert_eq!(glass.ends().0, 0);
        assert_eq!(world.journals().len(), n_kept, "{keys}");
    }
}

#[test]
fn s3_commands_answer_on_the_screen() {
    let (_world, mut glass) = play_with(TWO, 100, 40, &[]);
    glass.types("/help\r");
    glass.waits_for("Shift-Tab: mode");
    glass.shows(expect![[r#"
        · /help

        /help                  keys and commands
        /model [NAME]          which models can be asked; have another one answer
        /mode [MODE]           what runs without asking: ask, accept-edits, plan (Shift-Tab)
        /plan                  only look until a plan is agreed on
        /compact [FOCUS|undo]  a summary for the beginning, looking at FOCUS; or take it back
        /clear                 begin a new session; this one is kept
        /init                  have an AGENTS.md written from the project
        /diff                  what differs from the last commit
        /context               what fills the context
        /cost                  what this session used and cost
        /permissions           what may run here, and which rule says so
        /tools                 what the model can call
        /background [stop N]   what runs in the background; or end one of it
        /sessions              choose among the stored sessions
        /resume [ID]           go on with a stored session, by its id or name
        /rename NAME           name this session
        /fork [N]              go on in a new session: with all of this one, or what comes before input N
        /export [FILE]         write this session to a file: .html, .md or .jsonl
        /theme [NAME]          how it looks: dark, light, plain, or a file of yours
        /doctor                what this machine can do, and what is missing
        /bug [WORDS]           write a report of something that went wrong
        /quit                  leave (Ctrl-D)

        Enter sends · Alt-Enter or Ctrl-J: a new line · @: files · /: commands · Ctrl-R: history
        Esc or Ctrl-C stops the turn · Ctrl-C twice or Ctrl-D leaves · Up takes back what waits
        Shift-Tab: mode · Ctrl-T: whole transcript · Ctrl-G: editor · Ctrl-V: copied image · Ctrl-L: draw
        anew · Ctrl-Z: suspend

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    for (command, expected) in [
        ("/context", "in all, corrected"),
        ("/cost", "0 tokens in"),
        ("/tools", "with its first request"),
        ("/permissions", "mode"),
        ("/mode", "the mode is ask"),
        ("/nonsense", "there is no command /nonsense"),
    ] {
        glass.types(&format!("{command}\r"));
        glass.waits_for(expected);
    }
    glass.types("/quit\r");
    assert_eq!(glass.ends().0, 0);
}

#[test]
fn s4_the_pager_covers_the_screen_and_gives_it_back() {
    let (_world, mut glass) = play(TWO);
    glass.types("one\r");
    glass.waits_for("First answer.");
    glass.types("\x14");
    glass.waits_for("q: back");
    glass.shows(expect![[r#"
        > one

        First answer.




















        3 of 3 · q: back · ↑↓ PgUp PgDn Home End · /: search · n N: more
    "#]]);
    glass.types("q");
    glass.waits_without("q: back");
    glass.waits_for("First answer.");

    // The same at a request, where there is no cursor.
    let (world, mut glass) = play(
        r#"
        [[reply]]
        blocks = [{ call = "Write", input = { file_path = "a.txt", content = "written\n" } }]
        [[reply]]
        text = "Written."
    "#,
    );
    glass.types("write\r");
    glass.waits_for("Write this file?");
    glass.types("\x14");
    glass.waits_for("q: back");
    glass.types("q");
    glass.waits_without("q: back");
    glass.waits_for("Write this file?");
    glass.waits_for("  y  once");
    glass.types("y");
    glass.waits_for("Written.");
    assert_eq!(world.worked("a.txt"), "written\n");
}

#[test]
fn s5_another_size_is_drawn_anew() {
    let (_world, mut glass) = play(TWO);
    glass.types("one\r");
    glass.waits_for("First answer.");
    for (columns, rows) in [(40, 12), (200, 50), (41, 10), (80, 24)] {
        glass.resizes(columns, rows);
        glass.types("x");
        glass.waits_for("> x");
        glass.types("\x7f");
        glass.waits_without("> x");
        glass.waits_for("First answer.");
        let screen = glass.screen();
        assert_eq!(screen.matches("First answer.").count(), 1, "{screen}");
    }
    glass.shows(expect![[r#"
        > one

        First answer.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}

#[test]
fn s6_the_terminal_is_given_back_however_it_ends() {
    for end in ["\x04", "kill"] {
        let (_world, mut glass) = play(TWO);
        glass.shows(expect![[r#"

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · confined
        "#]]);
        let expected = match end {
            "kill" => {
                glass.signals(rustix::process::Signal::TERM);
                130
            }
            keys => {
                glass.types(keys);
                0
            }
        };
        let (code, bytes) = glass.everything_after_end();
        assert_eq!(code, expected);
        for sequence in ["\x1b[?2004l", "\x1b[<u", "\x1b[?25h"] {
            assert!(bytes.contains(sequence), "{end:?}: {sequence:?}");
        }
    }
}

#[test]
fn s7_killed_at_a_prompt_it_asks_again() {
    let (world, mut glass) = play(&asks_for("git push origin"));
    glass.types("push\r");
    glass.waits_for("Run this command?");
    glass.dies();
    let model = world.script(&asks_for("echo here; until test -e go; do sleep 0.02; done"));
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--continue"]);
    glass.waits_for("your answer goes on with it");
    glass.waits_for("Run this command?");
    glass.waits_for("  n  no");
    glass.types("n\r");
    // It goes on as any turn does: it is told and stopped, and what waits for it is not lost.
    glass.waits_for("✗ Bash git push");
    // What a command says is the sign that there is one to stop.
    glass.waits_for("│ here");
    glass.types("gently\r");
    glass.waits_for("waits: gently");
    glass.types("\x1b");
    glass.waits_for("stopped; say what to do instead");
    glass.waits_without("working");
    glass.waits_for("> gently");
    glass.shows(expect![[r#"
        > push

        ✗ Bash git push origin
          The user denied this call.

        ! a turn was left unfinished: your answer goes on with it, Esc ends it

        ✗ Bash echo here; until test -e go; do sleep 0.02; done
          here
          [cancelled: the command and everything it started were stopped]

        ! stopped; say what to do instead

        > gently
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    assert!(!glass.everything().contains("All done."));
}

#[test]
fn s11_a_command_leaves_a_turn_that_was_killed_to_go_on() {
    let (world, mut glass) = play(&asks_for("until test -e go; do sleep 0.02; done"));
    glass.types("wait\r");
    // A call that runs says for how long.
    glass.waits_for("sleep 0.02; done · ");
    glass.dies();
    let model = world.script("[[reply]]\ntext = \"All done.\"\n");
    let mut glass = Glass::open(&world, 80, 24, &["--model", &model, "--continue"]);
    glass.waits_for("Enter goes on with it");
    glass.shows(expect![[r#"
        > wait

        ✗ Bash until test -e go; do sleep 0.02; done
          The program died while this call was running, so its outcome is unknown. Check
          what it changed before doing it again.

        ! a turn was left unfinished: Enter goes on with it, Esc ends it; or say
          something else

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("/cost\r");
    glass.waits_for(" tokens in (");
    glass.types("\r");
    glass.waits_for("All done.");
}

#[test]
fn s12_what_is_folded_is_whole_for_who_looks_back() {
    let (_world, mut glass) = play(&asks_for("seq 101 160; exit 3"));
    glass.types("count\r");
    glass.waits_for("All done.");
    assert!(glass.screen().contains("  160\n  exit code: 3\n"), "{}", glass.screen());
    assert!(!glass.screen().contains("117"), "{}", glass.screen());
    glass.types("\x14");
    glass.waits_for("q: back");
    glass.types("/117\r");
    glass.waits_for("  │ 117");
}

/// A model that calls this command, and is done.
fn asks_for(command: &str) -> String {
    format!(
        "[[reply]]\nblocks = [{{ call = \"Bash\", input = {{ command = \"{command}\" }} }}]\n\
         [[reply]]\ntext = \"All done.\"\n"
    )
}

#[test]
fn s8_a_large_paste_is_folded_and_sent_whole() {
    let script = r#"
        [[reply]]
        expect = { last_user_contains = "line 9999 of many" }
        text = "All of it."
    "#;
    let world = World::new();
    let model = world.script(script);
    let roomy = [("HEELER_CONTEXT_LIMIT", "1000000")];
    let mut glass = Glass::open_with(&world, 80, 24, &["--model", &model], &roomy);
    glass.waits_for("script.toml · ");
    let paste: String =
        (0..30_000).map(|n| format!("line {n} of many, to be long enough\n")).collect();
    glass.pastes(&paste);
    glass.waits_for("pasted");
    glass.shows(expect![[r#"

        > [pasted 30000 lines]
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    glass.types("\r");
    glass.waits_for("All of it.");
}

/// A program that says what it was asked for, and prints a picture for those words alone.
fn clipboard(world: &World) -> String {
    fs::create_dir(world.path("desktop")).unwrap();
    let picture = world.write("copied.png", heeler_testkit::picture::png(4, 4));
    let program = world.write(
        "desktop/wl-paste",
        format!(
            "#!/bin/sh\n[ \"$*\" = '--no-newline --type image/png' ] && [ -z \"$SECRET\" ] && exec cat '{}'\nexit 1\n",
            picture.display()
        ),
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", program.parent().unwrap().display())
}

#[test]
fn s13_an_image_is_pasted_and_one_is_dragged_in() {
    let world = World::new();
    let model = world.script("[[reply]]\ntext = \"Two pictures.\"\n");
    let path = clipboard(&world);
    let variables = [("PATH", &*path), ("WAYLAND_DISPLAY", "wayland-0"), ("SECRET", "x")];
    let mut glass = Glass::open_with(&world, 100, 24, &["--model", &model], &variables);
    glass.waits_for("script.toml · ");
    glass.types("what are \x16");
    glass.waits_for("what are [image: from the clipboard]");
    // What terminals make of a paste that is no text.
    glass.pastes("");
    glass.waits_for_times("[image: from the clipboard]", 2);
    glass.types("\x7f");
    glass.waits_for_times("[image: from the clipboard]", 1);
    let dragged = world.write("a picture.png", heeler_testkit::picture::png(2, 2));
    glass.pastes(&format!("'{}'", dragged.display()));
    glass.waits_for("[image: a picture.png]");
    glass.types("\r");
    glass.waits_for("Two pictures.");
    glass.shows(expect![[r#"
        > what are [image: from the clipboard][image: a picture.png]
          [2 images]

        Two pictures.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
    let journal = fs::read_to_string(&world.journals()[0]).unwrap();
    assert_eq!(journal.matches("image/png").count(), 2, "{journal}");
}

#[test]
fn s14_a_clipboard_without_an_image_says_so() {
    let world = World::new();
    let model = world.script("[[reply]]\ntext = \"Nothing.\"\n");
    fs::create_dir(world.path("desktop")).unwrap();
    let text_alone = world.write("desktop/xclip", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&text_alone, fs::Permissions::from_mode(0o700)).unwrap();
    let path = text_alone.parent().unwrap().display().to_string();
    for (display, expected) in [
        (
            ("DISPLAY", ":9"),
            expect![[r#"
            ✗ the clipboard holds no image

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · confined
        "#]],
        ),
        (
            ("WAYLAND_DISPLAY", "wayland-0"),
            expect![[r#"
            ✗ `wl-paste` reads images from the clipboard, and is not there: install wl-clipboard, or drag the image's file here

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · confined
        "#]],
        ),
        (
            ("DISPLAY", ""),
            expect![[r#"
            ✗ no clipboard can be seen from here; drag the image's file here

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · confined
        "#]],
        ),
    ] {
        let variables = [("PATH", &*format!("{path}:/none")), display];
        let mut glass = Glass::open_with(&world, 120, 24, &["--model", &model], &variables);
        glass.waits_for("script.toml · ");
        glass.types("\x16");
        glass.waits_for("✗");
        glass.shows(expected);
    }
}

#[test]
fn s9_without_a_terminal_it_says_what_works() {
    let world = World::new();
    let output = world.heeler(&["--no-settings"]).run().exits(2);
    assert!(output.stderr.contains("there is no terminal here; `heeler exec"), "{}", output.stderr);
}

#[test]
fn s10_the_editor_takes_over_and_gives_back() {
    let world = World::new();
    let model = world.script(
        "[[reply]]\nexpect = { last_user_contains = \"from the editor\" }\ntext = \"Read.\"\n",
    );
    let editor = world.write("editor.sh", "#!/bin/sh\necho ' from the editor' >> \"$1\"\n");
    let mut glass = Glass::open_with(
        &world,
        80,
        24,
        &["--model", &model],
        &[("EDITOR", &format!("sh {}", editor.display()))],
    );
    glass.waits_for("ask");
    glass.types("words\x07");
    glass.waits_for("from the editor");
    glass.types("\r");
    glass.waits_for("Read.");
    glass.shows(expect![[r#"
        > words from the editor

        Read.

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
}
