//! What Markdown looks like, at every width, whole and in pieces.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::super::testing::{shown, styled};
use super::super::{Uncolored, line_width};
use super::*;

fn check(source: &str, width: usize, expected: Expect) {
    expected.assert_eq(&shown(&markdown(source, width, &Theme::dark(), &Uncolored)));
}

fn check_styles(source: &str, expected: Expect) {
    expected.assert_eq(&styled(&markdown(source, 60, &Theme::dark(), &Uncolored)));
}

const REPORT: &str = include_str!("report.txt");

#[test]
fn a_report_at_40_columns() {
    check(
        REPORT,
        40,
        expect![[r#"
        What was found
        The test resume_after_kill fails since
        the lease is taken twice, see the issue
        (https://example.com/issues/12).

        1. The first owner writes its lease and
           dies before the record that names it
           is synced to the disk.
        2. The second one
           • reads lease.json,
           • finds no record, and
             1. waits, then
             2. takes it.

             rust
             fn take(lease: &Lease) ->
           ↪ Result<Owner, LeaseError> {
                 lease.owner.ok_or(LeaseError::A
           ↪ bsent)
             }

        3. [x] done

        │ Whoever holds the lease writes.
        │
        │ • no lease, no record
        │ • 日本語のテキストは空白なしで折り返す

        file           │ lines │ what is wrong
                       │       │ with it
        ───────────────┼───────┼────────────────
        crates/store/s │   120 │ takes a lease
        rc/lease.rs    │       │ that is not its
                       │       │ own, when the
                       │       │ clock was set
                       │       │ back
        ───────────────┼───────┼────────────────
        crates/store/s │     8 │ nothing
        rc/sync.rs     │       │

        ────────────────────────────────────────

        Now run:

          sh
          cargo test -p heeler-store
        ↪ resume_after_kill -- --nocapture
        ↪ --test-threads 1
    "#]],
    );
}

#[test]
fn a_report_at_80_columns() {
    check(
        REPORT,
        80,
        expect![[r#"
        What was found
        The test resume_after_kill fails since the lease is taken twice, see the issue
        (https://example.com/issues/12).

        1. The first owner writes its lease and dies before the record that names it is
           synced to the disk.
        2. The second one
           • reads lease.json,
           • finds no record, and
             1. waits, then
             2. takes it.

             rust
             fn take(lease: &Lease) -> Result<Owner, LeaseError> {
                 lease.owner.ok_or(LeaseError::Absent)
             }

        3. [x] done

        │ Whoever holds the lease writes.
        │
        │ • no lease, no record
        │ • 日本語のテキストは空白なしで折り返す

        file                      │ lines │ what is wrong with it
        ──────────────────────────┼───────┼─────────────────────────────────────────────
        crates/store/src/lease.rs │   120 │ takes a lease that is not its own, when the
                                  │       │ clock was set back
        ──────────────────────────┼───────┼─────────────────────────────────────────────
        crates/store/src/sync.rs  │     8 │ nothing

        ────────────────────────────────────────────────────────────────────────────────

        Now run:

          sh
          cargo test -p heeler-store resume_after_kill -- --nocapture --test-threads 1
    "#]],
    );
}

#[test]
fn a_report_at_120_columns() {
    check(
        REPORT,
        120,
        expect![[r#"
        What was found
        The test resume_after_kill fails since the lease is taken twice, see the issue (https://example.com/issues/12).

        1. The first owner writes its lease and dies before the record that names it is synced to the disk.
        2. The second one
           • reads lease.json,
           • finds no record, and
             1. waits, then
             2. takes it.

             rust
             fn take(lease: &Lease) -> Result<Owner, LeaseError> {
                 lease.owner.ok_or(LeaseError::Absent)
             }

        3. [x] done

        │ Whoever holds the lease writes.
        │
        │ • no lease, no record
        │ • 日本語のテキストは空白なしで折り返す

        file                      │ lines │ what is wrong with it
        ──────────────────────────┼───────┼───────────────────────────────────────────────────────────────
        crates/store/src/lease.rs │   120 │ takes a lease that is not its own, when the clock was set back
        crates/store/src/sync.rs  │     8 │ nothing

        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

        Now run:

          sh
          cargo test -p heeler-store resume_after_kill -- --nocapture --test-threads 1
    "#]],
    );
}

#[test]
fn a_report_at_200_columns() {
    check(
        REPORT,
        200,
        expect![[r#"
        What was found
        The test resume_after_kill fails since the lease is taken twice, see the issue (https://example.com/issues/12).

        1. The first owner writes its lease and dies before the record that names it is synced to the disk.
        2. The second one
           • reads lease.json,
           • finds no record, and
             1. waits, then
             2. takes it.

             rust
             fn take(lease: &Lease) -> Result<Owner, LeaseError> {
                 lease.owner.ok_or(LeaseError::Absent)
             }

        3. [x] done

        │ Whoever holds the lease writes.
        │
        │ • no lease, no record
        │ • 日本語のテキストは空白なしで折り返す

        file                      │ lines │ what is wrong with it
        ──────────────────────────┼───────┼───────────────────────────────────────────────────────────────
        crates/store/src/lease.rs │   120 │ takes a lease that is not its own, when the clock was set back
        crates/store/src/sync.rs  │     8 │ nothing

        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

        Now run:

          sh
          cargo test -p heeler-store resume_after_kill -- --nocapture --test-threads 1
    "#]],
    );
}

#[test]
fn spans_have_their_styles() {
    let source = "# One\n## Two\n### Three\n*a* **b** ***c*** `d` ~~e~~ <https://e.org> \
                  [f](https://f.org) ![g](h.png)\n> quoted **b**\n- item\n";
    check_styles(
        source,
        expect![[r#"
        {lightcyan bold underlined|One}

        {lightcyan bold|Two}

        {bold|Three}
        {italic|a} {bold|b} {bold italic|c} {lightyellow|d} {crossed_out|e} {lightblue underlined|https://e.org} {lightblue underlined|f}{dim| (https://f.org)} {dim|[image: }{lightblue underlined|g}{dim|] (h.png)}
        {lightgreen|│ }{lightgreen|quoted }{lightgreen bold|b}
        {cyan|• }item
    "#]],
    );
}

#[test]
fn without_colors_signs_mark_code() {
    let lines = markdown("call `main` **now**", 40, &Theme::plain(), &Uncolored);
    expect![[r#"
        call `main` {bold|now}
    "#]]
    .assert_eq(&styled(&lines));
}

#[test]
fn what_is_written_without_care_is_read() {
    check(
        "Steps:\n1. one\n```sh\ncargo test\n```\n2. two\n   more of two\nlazy\n10. ten\n\n\
         * star\n+ plus\n\n    indented code\n\n    goes on\nend",
        40,
        expect![[r#"
            Steps:
            1. one

              sh
              cargo test

            2. two
               more of two
               lazy
            3. ten

            • star
            • plus

              indented code

              goes on
              end
        "#]],
    );
}

#[test]
fn what_a_page_would_hide_is_shown() {
    check(
        "see [the list][1] and [^2]\n\n[1]: https://example.com/list\n[^2]: a note\n\n\
         <details>\n<summary>More</summary>\n</details>\n\na&#27;[2Jb <b>c</b><br>d",
        40,
        expect![[r#"
            see [the list][1] and [^2]

            [1]: https://example.com/list
            [^2]: a note

            <details>
            <summary>More</summary>
            </details>

            a␛[2Jb <b>c</b>
            d
        "#]],
    );
}

#[test]
fn items_without_text_and_blocks_within_items() {
    check(
        "- \n- a\n\n  second\n\n  ```\n  code\n  ```\n  after\n- [ ] open\n- [x] done\n",
        40,
        expect![[r#"
        •
        • a

          second

            code

          after
        [ ] open
        [x] done
    "#]],
    );
    check(
        "> - a\n>   > deep\n>\n> text\nlazy\n\nout",
        40,
        expect![[r#"
        │ • a
        │   │ deep
        │
        │ text
        │ lazy

        out
    "#]],
    );
}

#[test]
fn margins_leave_half_of_the_room() {
    check(
        "- - - - - - - - - - words that have to go somewhere",
        20,
        expect![[r#"
        • • • • • words that
                  have to go
                  somewhere
    "#]],
    );
}

#[test]
fn long_code_goes_on_below() {
    check(
        "```rust\nfn main() { println!(\"a long line of code that does not fit\"); }\n```",
        30,
        expect![[r#"
          rust
          fn main() { println!("a long
        ↪ line of code that does not
        ↪ fit"); }
    "#]],
    );
}

fn any_markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "(- |\\* |1\\. |2\\) |> |# |## |```|```rs|~~~|    |  |\t|\\| a \\| b \\||\\|-|-\\||---|===|\\[x\\]: y|<div>|\\[ \\] |\\\\){0,3}",
        "[a-z*_`\\[\\]()<>|#&;~!\\\\ -]{0,20}",
        "[日本e\\u{301}\\u{200d}\\u{1f468}\\x1b\\r\\t]{0,6}",
        "[a-z ]{0,60}",
    ];
    let end = prop_oneof![3 => Just("\n"), 1 => Just(""), 1 => Just("\n\n"), 1 => Just("\r\n")];
    proptest::collection::vec((piece, end), 0..30)
        .prop_map(|pieces| pieces.into_iter().map(|(text, end)| text + end).collect())
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked(source in any_markdown(), width in 1usize..60) {
        for line in markdown(&source, width, &Theme::dark(), &Uncolored) {
            prop_assert!(line_width(&line) <= width, "{line:?}");
            prop_assert!(!line.to_string().contains(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn no_word_is_lost(words in proptest::collection::vec("[a-z]{6}", 1..20), signs in any_markdown()) {
        let mut source = String::new();
        let signs: Vec<&str> = signs.split_inclusive('\n').collect();
        for (index, word) in words.iter().enumerate() {
            let sign = signs.get(index).copied().unwrap_or("\n");
            source.push_str(&format!("{sign} {word} "));
        }
        let lines = markdown(&source, 200, &Theme::dark(), &Uncolored);
        let all: String = shown(&lines).replace(['\n', '│', '↪'], " ");
        for word in &words {
            prop_assert!(all.contains(word.as_str()), "{word} of {source:?} is not in {all}");
        }
    }

    #[test]
    fn pieces_give_what_the_whole_gives(
        source in any_markdown(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        width in 10usize..50,
    ) {
        let theme = Theme::dark();
        let look = Look { width, theme: &theme, highlight: &Uncolored };
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(source.len() + 1)).collect();
        ends.retain(|end| source.is_char_boundary(*end));
        ends.sort_unstable();
        let mut stream = StreamingMarkdown::new();
        let mut committed = Vec::new();
        let mut at = 0;
        for end in ends {
            stream.push(&source[at..end]);
            at = end;
            committed.extend(stream.committed(look));
            let so_far: Vec<_> = committed.iter().cloned().chain(stream.tail(look)).collect();
            prop_assert_eq!(so_far, markdown(&source[..end], width, &theme, &Uncolored));
        }
        stream.push(&source[at..]);
        let so_far: Vec<_> = committed.iter().cloned().chain(stream.tail(look)).collect();
        let whole = markdown(&source, width, &theme, &Uncolored);
        prop_assert_eq!(&so_far, &whole);
        stream.finish();
        committed.extend(stream.committed(look));
        prop_assert!(stream.is_done());
        prop_assert_eq!(committed, whole);
    }
}
