//! Colours for the background that the terminal has.

use expect_test::expect;
use vt100::Color;

use super::glass::left;
use super::{Glass, play, play_with};
use crate::support::World;

const ONE: &str =
    "[[reply]]\nexpect = { last_user_contains = \"hello there\" }\ntext = \"Heard.\"\n";
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\";
const LIGHT: &str = "\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\";
/// What the mode is shown in: cyan on dark, blue on light.
const DARK_ACCENT: Color = Color::Idx(6);
const LIGHT_ACCENT: Color = Color::Idx(4);

fn is_asked(glass: &Glass) -> bool {
    glass.bytes().windows(QUESTION.len()).any(|window| window == QUESTION)
}

#[test]
fn b1_on_a_light_terminal_it_takes_colours_that_can_be_read() {
    for end in ["\x1b\\", "\x07"] {
        let (_world, mut glass) = play(ONE);
        while !is_asked(&glass) {
            glass.waits_for_more(glass.n_bytes());
        }
        assert_eq!(glass.color_of("ask"), DARK_ACCENT, "the first frame waits for no answer");
        // The answer comes in pieces, between the keys of somebody who types.
        glass.types("hel");
        glass.waits_for("> hel");
        glass.types("\x1b]11;rgb:fdfd/f6f6");
        glass.types(&format!("/e3e3{end}lo there"));
        glass.waits_for("> hello there");
        assert_eq!(glass.color_of("ask"), LIGHT_ACCENT);
        glass.types("\r");
        glass.waits_for("Heard.");
        glass.shows(expect![[r#"
            > hello there

            Heard.

            > what is to be done? (/help)
            script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
        "#]]);
        // One that nobody asked for is no key either.
        glass.types(&format!("{LIGHT}x"));
        glass.waits_for("> x");
    }
}

#[test]
fn b2_who_says_what_is_wanted_is_not_asked() {
    for (settings, variables, accent) in [
        ("", [("COLORFGBG", "0;15")], LIGHT_ACCENT),
        ("", [("COLORFGBG", "15;0")], DARK_ACCENT),
        ("", [("NO_COLOR", "1")], Color::Default),
        ("", [("TERM", "linux")], DARK_ACCENT),
        ("[tui]\ntheme = \"light\"\n", [("X", "")], LIGHT_ACCENT),
        ("[tui]\nplain = true\n", [("X", "")], Color::Default),
    ] {
        let world = World::new();
        world.write("home/settings.toml", settings);
        let model = world.script(ONE);
        let mut glass = Glass::open_with(&world, 80, 24, &["--model", &model], &variables);
        let is_plain = settings.contains("plain");
        glass.waits_for(if is_plain { "script.toml, " } else { "script.toml · " });
        glass.types("x");
        glass.waits_for(if is_plain { "You: x" } else { "> x" });
        if !is_plain {
            glass.shows(expect![[r#"

                > x
                script.toml · ask · ░░░░░░░░ _% · confined
            "#]]);
        }
        assert!(!is_asked(&glass), "{settings}{variables:?}");
        assert_eq!(glass.color_of("ask"), accent, "{settings}{variables:?}");
    }
}

#[test]
fn b3_an_answer_that_comes_late_is_not_left_to_the_shell() {
    let (_world, mut glass) = play_with(ONE, 80, 24, &[]);
    let shell = glass.side();
    glass.shows(expect![[r#"

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · confined
    "#]]);
    while !is_asked(&glass) {
        glass.waits_for_more(glass.n_bytes());
    }
    glass.types(&format!("\x04{LIGHT}"));
    assert_eq!(glass.exits(), Some(0));
    assert_eq!(left(shell), "");
}
