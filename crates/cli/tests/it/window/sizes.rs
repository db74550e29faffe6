//! Much of everything: sizes, turns.

use super::{Glass, play_with};
use crate::long;
use crate::support::World;
use expect_test::expect;

/// Rounds that go on while the window changes its size.
const ROUNDS: usize = 40;
/// Turns of a long session, and what each call of one gave.
const TURNS: u32 = 2_000;
const RESULT_BYTES: usize = 500;
/// What the program of the tests takes for such a session, and some room.
const RESIDENT_KB_MAX: u64 = 400_000;

/// A model that says and does something in many rounds.
fn busy() -> String {
    let round = |n: usize| {
        format!(
            "[[reply]]\nblocks = [{{ text = \"Paragraph {n} of what I do, in **words** enough to be \
             broken where there are few columns.\" }}, {{ call = \"Bash\", input = {{ command = \
             \"seq {n}\" }} }}]\n"
        )
    };
    (1..=ROUNDS).map(round).collect::<String>() + "[[reply]]\ntext = \"All is done.\"\n"
}

#[test]
fn z1_a_storm_of_sizes_ends_in_the_picture_of_the_last() {
    let script = busy();
    let (_calm_world, mut calm) = play_with(&script, 80, 24, &[]);
    calm.types("go\r");
    calm.waits_for("All is done.");
    calm.waits_without("working");
    let (_world, mut glass) = play_with(&script, 80, 24, &[]);
    glass.types("go\r");
    let mut n_sizes = 0;
    while !glass.screen().contains("All is done.") || n_sizes < 300 {
        n_sizes += 1;
        let n_bytes = glass.n_bytes();
        glass.resizes(20 + (n_sizes * 37 % 180) as u16, 6 + (n_sizes * 13 % 50) as u16);
        if n_sizes % 5 == 0 {
            // In the middle of what it draws for one of them, the next comes.
            glass.waits_for_more(n_bytes);
        }
        assert!(n_sizes < 20_000, "{}", glass.screen());
    }
    glass.resizes(80, 24);
    // As it would be without any other size, and so it stays when it is drawn anew.
    glass.waits_for_screen(&calm.screen());
    glass.types("\x0cx");
    glass.waits_for("> x");
    glass.types("\x7f");
    glass.waits_for_screen(&calm.screen());
    // What went up stays there, and the pager has all of it.
    glass.types("\x14");
    glass.waits_for("q: back");
    for n in [1, 20, ROUNDS] {
        glass.types(&format!("/Paragraph {n} of\r"));
        glass.waits_for(&format!("Paragraph {n} of what I do"));
    }
}

#[test]
fn z2_two_thousand_turns_open_and_are_searched() {
    let world = World::new();
    let id = long::store(&world, TURNS, RESULT_BYTES);
    let model = world.script("[[reply]]\ntext = \"Still there.\"\n");
    let variables = [("HEELER_CONTEXT_LIMIT", "1000000000")];
    let arguments = ["--model", &model, "--resume", &id];
    let mut glass = Glass::open_with(&world, 80, 24, &arguments, &variables);
    glass.waits_for("answer 2000");
    assert!(glass.everything().contains("1997 earlier turns: Ctrl-T shows them"));
    assert!(!glass.everything().contains("answer 1997"));
    glass.types("\x14");
    glass.waits_for("q: back");
    glass.types("/question 7\r");
    glass.waits_for("> question 7");
    glass.types("/answer 1234\r");
    glass.waits_for("answer 1234");
    glass.types("q");
    glass.waits_for("answer 2000");
    glass.types("go on\r");
    glass.waits_for("Still there.");
    glass.shows(expect![[r#"
        ✓ Read 1998.txt

        answer 1998

        > question 1999

        ✓ Read 1999.txt

        answer 1999

        > question 2000

        ✓ Read 2000.txt

        answer 2000

        > go on

        Still there.

        · the cached beginning could not be used: _ tokens were read again

        > what is to be done? (/help)
        script.toml · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    #[cfg(target_os = "linux")]
    {
        let status = format!("/proc/{}/status", glass.pid().as_raw_pid());
        let status = std::fs::read_to_string(status).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kb < RESIDENT_KB_MAX, "{kb} kB");
    }
}
