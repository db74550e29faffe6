//! What models, tools, files and repositories say is shown, wherever it is, and never obeyed.

use super::Glass;
use crate::support::World;
use expect_test::expect;

/// Sets the clipboard and the title, takes the screen, erases it, colours it, and turns the direction
/// of what follows.
const SHOUT: &str =
    r"\u001b]52;c;aGVsbG8=\u0007\u001b]0;owned\u0007\u001b[?1049h\u001b[2J\u009b31m\u202e";

#[test]
fn h1_nothing_that_anybody_says_is_obeyed_by_the_terminal() {
    let world = World::new();
    let model = world.script(&format!(
        r#"
        [[reply]]
        blocks = [
          {{ text = "I say {SHOUT}\n\n```rust\nlet x = \"{SHOUT}\";\n```\n" }},
          {{ call = "Write", input = {{ file_path = "odd {SHOUT}.txt", content = "wrote {SHOUT}\n" }} }},
        ]
        [[reply]]
        blocks = [{{ call = "Edit", input = {{ file_path = "odd {SHOUT}.txt", old_string = "wrote", new_string = "changed {SHOUT}" }} }}]
        [[reply]]
        blocks = [{{ call = "Bash", input = {{ command = "printf 'printed \\033]52;c;aGk=\\007\\033[2J\\n'" }} }}]
        [[reply]]
        blocks = [{{ call = "Bash", input = {{ command = "git push '{SHOUT}'" }} }}]
        [[reply]]
        blocks = [{{ call = "ToolSearch", input = {{ query = "ask_user" }} }}]
        [[reply]]
        blocks = [{{ call = "ask_user", input = {{ question = "Which {SHOUT}?", choices = ["one {SHOUT}", "two"] }} }}]
        [[reply]]
        text = "That is all. {SHOUT}"
    "#
    ));
    // A repository may say what its branch is called, and what its files are.
    std::fs::create_dir(world.path("work/.git")).unwrap();
    world.write("home/settings.toml", "tui.bell = false\n");
    world.write("work/.git/HEAD", "ref: refs/heads/ma\x1b[2Jin\x07\n");
    world.write("work/listed \u{202e}gpj.txt", "");
    world.write("work/listed \x1b]0;owned\x07.txt", "");
    let mut glass = Glass::open(&world, 100, 40, &["--model", &model]);
    glass.waits_for("ma␛[2Jin␇");
    glass.types("look at @listed");
    glass.waits_for("gpj.txt");
    glass.types("\x15");
    glass.pastes("a title \x1b]0;owned\x07 of mine");
    glass.types("\r");
    glass.waits_for("Write this file?");
    glass.waits_for("  y  once");
    glass.types("y");
    glass.waits_for("changed ␛]52;");
    glass.waits_for("  y  once");
    glass.types("y");
    glass.waits_for("Run this command?");
    let everything = glass.everything();
    assert!(everything.contains("printed ␛]52;c;aGk=␇␛[2J"), "{everything}");
    assert!(everything.contains("> a title ␛]0;owned␇ of mine"), "{everything}");
    glass.waits_for("  n  no");
    glass.types("n\r");
    glass.waits_for("1. one ␛]52;");
    glass.waits_for("Enter: answer");
    glass.types("2\r");
    glass.waits_for("That is all. ␛]52;");
    glass.types("/rename odd \x1b]0;owned\x07\r");
    glass.waits_for("this session is named odd");
    glass.types("/clear\r");
    glass.waits_without("That is all.");
    glass.types("/sessions\r");
    glass.waits_for("a title ␛]0;owned␇ of mine");
    glass.shows(expect![[r#"

        Go on with which session?
        ▸ _ s  odd 0;owned a title ␛]0;owned␇ of mine
        ────────────────────────────────────────
          > a title ␛]0;owned␇ of mine
          That is all. ␛]52;c;aGVsbG8=␇␛]0;owned␇␛[?1049h␛[2J<U+009B>31m<U+202E>
          1 of 1 · Enter: go on · Esc: back
        script.toml · ask · ░░░░░░░░ _% · ⎇ ma␛[2Jin␇ · confined
    "#]]);
    glass.types("\x1b\x14");
    glass.waits_for("q: back");
    glass.types("q");
    glass.waits_without("q: back");
    assert_eq!(glass.foreign(), Vec::<String>::new());
    assert!(!String::from_utf8_lossy(&glass.bytes()).contains('\u{202e}'));
}
