//! What `Edit` promises, played on real files.

mod nearly;

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{Folder, check};

#[test]
fn what_was_redacted_is_not_edited_back() {
    check(
        &[(".env", "KEY=1\nB=2\n")],
        &[
            r#"Read {"file_path":".env"}"#,
            r#"Edit {"file_path":".env","old_string":"B=2","new_string":"B=[redacted: secret]"}"#,
            r#"Edit {"file_path":"new","old_string":"","new_string":"[redacted: secret]"}"#,
            r#"Edit {"file_path":".env","old_string":"B=2","new_string":"B=3"}"#,
        ],
        expect![[r#"
            > Read {"file_path":".env"}
                 1	KEY=1
                 2	B=2
            > Edit {"file_path":".env","old_string":"B=2","new_string":"B=[redacted: secret]"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to .env as it is; change the parts around it with Edit, or leave the place to the user
            > Edit {"file_path":"new","old_string":"","new_string":"[redacted: secret]"}
            error: the text holds `[redacted: ...]`, which stands for a secret that you were not shown, so it would not be written to new as it is; change the parts around it with Edit, or leave the place to the user
            > Edit {"file_path":".env","old_string":"B=2","new_string":"B=3"}
            Edited .env:
                 1  KEY=1
                 2 -B=2
                 2 +B=3
            == .env "KEY=1\nB=3\n"
        "#]],
    );
}

#[test]
fn one_place_is_replaced() {
    check(
        &[("a.rs", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n")],
        &[
            r#"Edit {"file_path":"a.rs","old_string":"five","new_string":"5"}"#,
            r#"Read {"file_path":"a.rs","limit":1}"#,
            r#"Edit {"file_path":"a.rs","old_string":"five","new_string":"5a\n5b"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"5b\nsix\n","new_string":""}"#,
        ],
        expect![[r#"
            > Edit {"file_path":"a.rs","old_string":"five","new_string":"5"}
            error: a.rs has not been read in this session; Read it, then try again
            > Read {"file_path":"a.rs","limit":1}
                 1	one
            (8 more of 9 lines; continue with offset 2)
            > Edit {"file_path":"a.rs","old_string":"five","new_string":"5a\n5b"}
            Edited a.rs:
                 2  two
                 3  three
                 4  four
                 5 -five
                 5 +5a
                 6 +5b
                 7  six
                 8  seven
                 9  eight
            > Edit {"file_path":"a.rs","old_string":"5b\nsix\n","new_string":""}
            Edited a.rs:
                 3  three
                 4  four
                 5  5a
                 6 -5b
                 7 -six
                 6  seven
                 7  eight
                 8  nine
            == a.rs "one\ntwo\nthree\nfour\n5a\nseven\neight\nnine\n"
        "#]],
    );
}

#[test]
fn places_a_few_lines_apart_are_shown_together() {
    check(
        &[("a", "1\nx\n3\n4\n5\n6\nx\n8\n")],
        &[
            r#"Read {"file_path":"a","limit":1}"#,
            r#"Edit {"file_path":"a","old_string":"x","new_string":"y","replace_all":true}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a","limit":1}
                 1	1
            (7 more of 8 lines; continue with offset 2)
            > Edit {"file_path":"a","old_string":"x","new_string":"y","replace_all":true}
            Edited a in 2 places:
                 1  1
                 2 -x
                 2 +y
                 3  3
                 4  4
                 5  5
                 6  6
                 7 -x
                 7 +y
                 8  8
            == a "1\ny\n3\n4\n5\n6\ny\n8\n"
        "#]],
    );
}

#[test]
fn what_would_be_too_large_is_refused_before_it_is_made() {
    let content = "x\r\n".repeat(50_000);
    let new = "\r\n".repeat(2_000);
    let one = One { old: "x\n", new: &new, replace_all: true };
    let refused = change("a", content.as_bytes(), &one).err().map(|error| error.to_string());
    let said = "the file would have 100000000 bytes; at most 33554432 are possible";
    assert_eq!(refused.as_deref(), Some(said));
}

#[test]
fn many_places_need_a_word() {
    check(
        &[("a.rs", "x = 1;\n\n\n\n\n\n\n\n\n\ny = x + x;\n")],
        &[
            r#"Read {"file_path":"a.rs"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"x","new_string":"count"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"x","new_string":"count","replace_all":true}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.rs"}
                 1	x = 1;
                 2	
                 3	
                 4	
                 5	
                 6	
                 7	
                 8	
                 9	
                10	
                11	y = x + x;
            > Edit {"file_path":"a.rs","old_string":"x","new_string":"count"}
            error: old_string occurs 3 times in a.rs (at lines 1, 11, 11); add text around it until it is unique, or set replace_all
            > Edit {"file_path":"a.rs","old_string":"x","new_string":"count","replace_all":true}
            Edited a.rs in 3 places:
                 1 -x = 1;
                 1 +count = 1;
                 2  
                 3  
                 4  
               ...
                 8  
                 9  
                10  
                11 -y = x + x;
                11 +y = count + count;
            == a.rs "count = 1;\n\n\n\n\n\n\n\n\n\ny = count + count;\n"
        "#]],
    );
}

#[test]
fn what_cannot_be_done_says_why() {
    check(
        &[("a.rs", "fn main() {\n    run();\n}\n"), ("folder/x", "")],
        &[
            r#"Read {"file_path":"a.rs"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"run","new_string":"run"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"","new_string":"x"}"#,
            r#"Edit {"file_path":"b.rs","old_string":"x","new_string":"y"}"#,
            r#"Edit {"file_path":"folder","old_string":"x","new_string":"y"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"  run();\n  }","new_string":"y"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"     2\t    run();","new_string":"y"}"#,
            r#"Edit {"file_path":"a.rs","old_string":"main() {\r\n","new_string":"main() {\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.rs"}
                 1	fn main() {
                 2	    run();
                 3	}
            > Edit {"file_path":"a.rs","old_string":"run","new_string":"run"}
            error: old_string and new_string are the same, so there is nothing to change
            > Edit {"file_path":"a.rs","old_string":"","new_string":"x"}
            error: a.rs exists, and an empty old_string only creates new files; name the text to replace, or use Write to replace the whole file
            > Edit {"file_path":"b.rs","old_string":"x","new_string":"y"}
            error: b.rs does not exist; did you mean a.rs?
            > Edit {"file_path":"folder","old_string":"x","new_string":"y"}
            error: folder is a folder; use LS to list it
            > Edit {"file_path":"a.rs","old_string":"  run();\n  }","new_string":"y"}
            error: old_string is not in a.rs as it is, only nearly, and the indentation differs from the file's in a way that leaves open how deep the new lines belong. The lines are:
                 2	    run();
                 3	}
            > Edit {"file_path":"a.rs","old_string":"     2\t    run();","new_string":"y"}
            Edited a.rs (line numbers were left out):
                 1  fn main() {
                 2 -    run();
                 2 +y
                 3  }
            > Edit {"file_path":"a.rs","old_string":"main() {\r\n","new_string":"main() {\n"}
            error: the change would leave a.rs as it is: Edit keeps the file's own line ends, and nothing else differs
            == a.rs "fn main() {\ny\n}\n"
        "#]],
    );
}

#[test]
fn an_empty_old_string_creates_a_file() {
    check(
        &[],
        &[
            r#"Edit {"file_path":"new/a.rs","old_string":"","new_string":"one\n"}"#,
            r#"Edit {"file_path":"new/a.rs","old_string":"one","new_string":"two"}"#,
        ],
        expect![[r#"
            > Edit {"file_path":"new/a.rs","old_string":"","new_string":"one\n"}
            Created new/a.rs (1 line)
            > Edit {"file_path":"new/a.rs","old_string":"one","new_string":"two"}
            Edited new/a.rs:
                 1 -one
                 1 +two
            == new/a.rs "two\n"
        "#]],
    );
}

#[test]
fn line_ends_and_the_byte_order_mark_are_kept() {
    check(
        &[("a.cs", "\u{feff}one\r\ntwo\r\nthree\r\n")],
        &[
            r#"Read {"file_path":"a.cs"}"#,
            r#"Edit {"file_path":"a.cs","old_string":"one\ntwo","new_string":"1\n2\n2b"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.cs"}
                 1	one
                 2	two
                 3	three
            > Edit {"file_path":"a.cs","old_string":"one\ntwo","new_string":"1\n2\n2b"}
            Edited a.cs:
                 1 -one
                 2 -two
                 1 +1
                 2 +2
                 3 +2b
                 4  three
            == a.cs "\u{feff}1\r\n2\r\n2b\r\nthree\r\n"
        "#]],
    );
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let folder = Folder::new(&[]);
    let head = "x\n".repeat(5_000);
    let content = |word: &str| [head.as_bytes(), b"caf\xe9 ", word.as_bytes(), b"\n"].concat();
    folder.write("a.txt", &content("noir"), 1);
    folder.play("Read", r#"{"file_path":"a.txt","limit":1}"#);
    let input = r#"{"file_path":"a.txt","old_string":"noir","new_string":"blanc"}"#;
    let said = folder.play("Edit", input);
    assert!(said.ends_with("  5001 -caf\u{fffd} noir\n  5001 +caf\u{fffd} blanc\n"), "{said}");
    assert_eq!(std::fs::read(folder.path("a.txt")).unwrap(), content("blanc"));
}

#[test]
fn what_is_shown_is_bounded() {
    let folder = Folder::new(&[("a.txt", &"x\n\n\n\n\n\n\n\n\n".repeat(6))]);
    folder.play("Read", r#"{"file_path":"a.txt"}"#);
    let input = r#"{"file_path":"a.txt","old_string":"x","new_string":"y","replace_all":true}"#;
    let said = folder.play("Edit", input);
    assert!(said.ends_with("    31  \n(and 2 more places)\n"), "{said}");

    let many = "z\\n".repeat(100);
    let input = format!(
        r#"{{"file_path":"a.txt","old_string":"y\n\n\n\n\n\n\n\n\ny\n","new_string":"{many}","replace_all":true}}"#
    );
    let said = folder.play("Edit", &input);
    assert!(said.contains("more lines here)\n"), "{said}");

    let many = "z\\n".repeat(2_000);
    let input = format!(r#"{{"file_path":"b.txt","old_string":"","new_string":"{many}"}}"#);
    folder.play("Edit", &input);
    let input = format!(r#"{{"file_path":"b.txt","old_string":"{many}","new_string":"none"}}"#);
    assert_eq!(folder.play("Edit", &input), "Edited b.txt:\n(2000 lines became 1, from line 1)\n");
}

#[test]
fn the_result_of_an_edit_is_bounded() {
    let folder = Folder::new(&[("a.txt", &"x".repeat(60_000))]);
    folder.play("Read", r#"{"file_path":"a.txt"}"#);
    let new = "y".repeat(600);
    let said = folder.play(
        "Edit",
        &format!(
            r#"{{"file_path":"a.txt","old_string":"x","new_string":"{new}","replace_all":true}}"#
        ),
    );
    assert_eq!(said, "error: the file would have 36000000 bytes; at most 33554432 are possible");
    let said = folder.play("Edit", r#"{"file_path":"a.txt","old_string":"x","new_string":"y"}"#);
    assert!(
        said.contains("occurs 60000 times in a.txt (at lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...)")
    );

    folder.write("b.txt", "x".repeat(EDIT_MATCHES_MAX + 1).as_bytes(), 1);
    folder.play("Read", r#"{"file_path":"b.txt"}"#);
    let said = folder.play(
        "Edit",
        r#"{"file_path":"b.txt","old_string":"x","new_string":"y","replace_all":true}"#,
    );
    assert_eq!(said, "error: old_string occurs more than 100000 times in b.txt; use a longer one");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_edit_of_any_text_does_what_it_says_or_nothing(
        content: String, old: String, new: String, at in 0usize..40, len in 1usize..12,
    ) {
        // Mostly text that is there, sometimes any text.
        let piece: String = content.chars().skip(at).take(len).collect();
        let old = if piece.is_empty() { old } else { piece };
        let folder = Folder::new(&[]);
        let call = |name, input: serde_json::Value| folder.play(name, &input.to_string());
        call("Write", json!({"file_path": "a", "content": content}));
        let said = call("Edit", json!({"file_path": "a", "old_string": old, "new_string": new}));
        let after = std::fs::read_to_string(folder.path("a")).unwrap();
        if said.starts_with("error: ") {
            prop_assert_eq!(&after, &content);
        }
        if ![&content, &old, &new].iter().any(|text| text.contains('\r')) && !old.is_empty() {
            let n_places = (0..content.len())
                .filter(|at| content.as_bytes()[*at..].starts_with(old.as_bytes()))
                .count();
            let edited = n_places == 1 && old != new;
            let expected = if edited { content.replacen(&old, &new, 1) } else { content };
            prop_assert_eq!(&after, &expected);
            prop_assert_eq!(said.starts_with("Edited a:"), edited);
        }
        prop_assert_eq!(folder.listing(), ["a"]);
    }
}
