//! What is folded in the transcript, and whole for who looks back.

use expect_test::{Expect, expect};

use super::testing::*;

/// The whole transcript, as the pager has it.
fn whole(play: &mut Play) -> String {
    let at_end = play.types("<C-t><End>").shows();
    assert!(at_end.contains("q: back"), "{at_end}");
    let paged = play.app.paged.as_ref().unwrap();
    let lines = paged.settled.iter().chain(&paged.open);
    lines.map(|line| format!("{}\n", text(line).trim_end())).collect()
}

fn check(play: &mut Play, folded: Expect, unfolded: Expect) {
    play.shows();
    let rows: Vec<&str> = play.scrollback.iter().map(|row| row.trim_end()).collect();
    folded.assert_eq(&rows.join("\n"));
    unfolded.assert_eq(&whole(play));
}

fn numbered(name: &str, n: usize) -> String {
    (1..=n).map(|n| format!("{name} {n}\n")).collect()
}

#[test]
fn what_a_command_printed_ends_in_its_error_and_is_whole_in_the_pager() {
    let mut play = Play::new(40, 30);
    let input = r#"{"command":"make all\nmake test","timeout":9}"#;
    play.sees(begins()).sees(replies("", &[("Bash", input), ("Bash", r#"{"command":"seq 6"}"#)]));
    let failed = format!(
        "{}\na line of an error that is rather longer than the window\nexit code: 3",
        numbered("progress", 6)
    );
    play.sees(results(&[(&failed, true), (&numbered("line", 6), false)]));
    check(
        &mut play,
        expect![[r#"
        ✗ Bash make all make test
          │ … 4 lines above (Ctrl-T)
          progress 5
          progress 6
  
          a line of an error that is rather
          longer than the window
          exit code: 3
        ✓ Bash seq 6
          │ … 1 line above (Ctrl-T)
          │ line 2
          │ line 3
          │ line 4
          │ line 5
          │ line 6"#]],
        expect![[r#"
        ✗ Bash make all make test
          make all
          make test
          │ progress 1
          │ progress 2
          │ progress 3
          │ progress 4
          │ progress 5
          │ progress 6
          │
          │ a line of an error that is rather
            longer than the window
          │ exit code: 3
        ✓ Bash seq 6
          │ line 1
          │ line 2
          │ line 3
          │ line 4
          │ line 5
          │ line 6
    "#]],
    );
}

#[test]
fn thoughts_inputs_changes_errors_and_pastes_are_whole_in_the_pager() {
    let mut play = Play::new(40, 30);
    play.sees(begins()).sees(said(&numbered("said", 42))).sees(attempt());
    play.sees(thinks("Which one?\n\nThe one in a.rs, and it is rather long to think."))
        .passes(3_000);
    let mcp = (
        "mcp__notes__add",
        r#"{"title":"a title that is long enough to be cut off in its row","tags":["a","b"]}"#,
    );
    let edit = ("Edit", r#"{"file_path":"a.rs","old_string":"1","new_string":"2"}"#);
    let read = ("Read", r#"{"file_path":"a.rs"}"#);
    play.sees(replies("", &[mcp, edit, read]));
    let change: String = (1..=26).map(|n| format!("    {n} +    added {n}\n")).collect();
    let change =
        format!("Edited a.rs:\n{change}    27 +    a line of a change wider than the window\n");
    play.sees(results(&[("ok", false), (&change, false), (&numbered("wrong", 6), true)]));
    check(
        &mut play,
        expect![[r#"
        > said 1
          said 2
          said 3
          said 4
          said 5
          said 6
          said 7
          said 8
          said 9
          said 10
          said 11
          said 12
          said 13
          said 14
          said 15
          said 16
          said 17
          said 18
          said 19
          said 20
          said 21
          said 22
          said 23
          said 24
          said 25
          said 26
          said 27
          said 28
          said 29
          said 30
          said 31
          said 32
          said 33
          said 34
          said 35
          said 36
          said 37
          said 38
          said 39
          said 40
          … 2 more lines

        ∴ thought for 3.0 s
        ✓ mcp__notes__add {"title":"a title tha…
        ✓ Edit a.rs
              1 +    added 1
              2 +    added 2
              3 +    added 3
              4 +    added 4
              5 +    added 5
              6 +    added 6
              7 +    added 7
              8 +    added 8
              9 +    added 9
              10 +    added 10
              11 +    added 11
              12 +    added 12
              13 +    added 13
              14 +    added 14
              15 +    added 15
              16 +    added 16
              17 +    added 17
              18 +    added 18
              19 +    added 19
              20 +    added 20
              21 +    added 21
              22 +    added 22
              23 +    added 23
              24 +    added 24
          │ … 3 more lines
        ✗ Read a.rs
          wrong 1
          wrong 2
          wrong 3
          wrong 4
          │ … 2 more lines"#]],
        expect![[r#"
        > said 1
          said 2
          said 3
          said 4
          said 5
          said 6
          said 7
          said 8
          said 9
          said 10
          said 11
          said 12
          said 13
          said 14
          said 15
          said 16
          said 17
          said 18
          said 19
          said 20
          said 21
          said 22
          said 23
          said 24
          said 25
          said 26
          said 27
          said 28
          said 29
          said 30
          said 31
          said 32
          said 33
          said 34
          said 35
          said 36
          said 37
          said 38
          said 39
          said 40
          said 41
          said 42

        ∴ thought for 3.0 s
          │ Which one?
          │
          │ The one in a.rs, and it is rather
            long to think.
        ✓ mcp__notes__add {"title":"a title tha…
          {
            "title": "a title that is long
          enough to be cut off in its row",
            "tags": [
              "a",
              "b"
            ]
          }
        ✓ Edit a.rs
              1 +    added 1
              2 +    added 2
              3 +    added 3
              4 +    added 4
              5 +    added 5
              6 +    added 6
              7 +    added 7
              8 +    added 8
              9 +    added 9
              10 +    added 10
              11 +    added 11
              12 +    added 12
              13 +    added 13
              14 +    added 14
              15 +    added 15
              16 +    added 16
              17 +    added 17
              18 +    added 18
              19 +    added 19
              20 +    added 20
              21 +    added 21
              22 +    added 22
              23 +    added 23
              24 +    added 24
              25 +    added 25
              26 +    added 26
              27 +    a line of a change wider
          than the window
        ✗ Read a.rs
          wrong 1
          wrong 2
          wrong 3
          wrong 4
          wrong 5
          wrong 6
    "#]],
    );
}

/// However much there is, so much is unfolded and the rest is said to be left out.
#[test]
fn what_is_unfolded_has_bounds() {
    let mut play = Play::new(200, 30);
    let long = format!("beginning\n{}\nend", "a line that a command printed\n".repeat(9_000));
    play.sees(begins()).sees(replies("", &[("Bash", r#"{"command":"make"}"#)]));
    play.sees(results(&[(&long, false)]));
    play.shows();
    let shown = whole(&mut play);
    assert!(shown.contains("│ beginning") && shown.contains("│ end"));
    assert!(shown.contains("bytes left out: see `heeler show`"));
    assert!(shown.len() < 512 * 1024, "{}", shown.len());
    play.types("q");
    for n in 0..20 {
        let input = format!(r#"{{"command":"make part {n}"}}"#);
        play.sees(begins()).sees(replies("", &[("Bash", &input)]));
        play.sees(results(&[(&long, false)])).shows();
    }
    play.shows();
    let shown = whole(&mut play);
    let n_told = shown.matches("what was folded before this stays so").count();
    assert_eq!(n_told, 1);
    let n_unfolded = shown.matches("│ beginning").count();
    assert!((10..20).contains(&n_unfolded), "{n_unfolded}");
    // The newest are.
    let (older, newer) = shown.split_once("what was folded before this stays so").unwrap();
    assert!(!older.contains("│ beginning") && older.contains("lines above (Ctrl-T)"));
    assert!(!newer.contains("lines above (Ctrl-T)") && newer.contains("make part 19"));
}
