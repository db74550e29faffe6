//! What `Grep` promises, played on real files.

use expect_test::expect;

use super::*;
use crate::testing::{Folder, check};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "target\n"),
    (".env", "KEY=needle\n"),
    ("src/main.rs", "fn main() {\n    needle();\n    other();\n    more();\n    needle();\n}\n"),
    ("src/lib.ts", "export const Needle = 1;\r\n"),
    ("target/out.rs", "needle\n"),
    ("bin.dat", "needle\0\n"),
    ("link.rs", "->src/main.rs"),
];

#[test]
fn the_modes_show_files_lines_or_counts() {
    check(
        FILES,
        &[
            r#"Grep {"pattern":"needle"}"#,
            r#"Grep {"pattern":"needle","-i":true}"#,
            r#"Grep {"pattern":"needle","output_mode":"content"}"#,
            r#"Grep {"pattern":"needle","output_mode":"content","-n":false}"#,
            r#"Grep {"pattern":"needle","output_mode":"count","-i":true}"#,
            r#"Grep {"pattern":"needle","output_mode":"content","path":"src/main.rs"}"#,
            r#"Grep {"pattern":"needle","output_mode":"count","path":"src/main.rs"}"#,
            r#"Grep {"pattern":"needle","path":"src/main.rs"}"#,
            r#"Grep {"pattern":"nowhere"}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"needle"}
            src/main.rs
            > Grep {"pattern":"needle","-i":true}
            src/lib.ts
            src/main.rs
            > Grep {"pattern":"needle","output_mode":"content"}
            src/main.rs:2:    needle();
            src/main.rs:5:    needle();
            > Grep {"pattern":"needle","output_mode":"content","-n":false}
            src/main.rs:    needle();
            src/main.rs:    needle();
            > Grep {"pattern":"needle","output_mode":"count","-i":true}
            src/lib.ts:1
            src/main.rs:2
            (3 in 2 files)
            > Grep {"pattern":"needle","output_mode":"content","path":"src/main.rs"}
            2:    needle();
            5:    needle();
            > Grep {"pattern":"needle","output_mode":"count","path":"src/main.rs"}
            2
            > Grep {"pattern":"needle","path":"src/main.rs"}
            The file matches
            > Grep {"pattern":"nowhere"}
            No matches found
        "#]],
    );
}

#[test]
fn context_is_shown_with_gaps() {
    check(
        FILES,
        &[
            r#"Grep {"pattern":"needle","output_mode":"content","path":"src/main.rs","-A":1}"#,
            r#"Grep {"pattern":"other","output_mode":"content","path":"src","-C":1}"#,
            r#"Grep {"pattern":"other","output_mode":"content","path":"src","-B":2,"-A":0}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"needle","output_mode":"content","path":"src/main.rs","-A":1}
            2:    needle();
            3-    other();
            --
            5:    needle();
            6-}
            > Grep {"pattern":"other","output_mode":"content","path":"src","-C":1}
            src/main.rs-2-    needle();
            src/main.rs:3:    other();
            src/main.rs-4-    more();
            > Grep {"pattern":"other","output_mode":"content","path":"src","-B":2,"-A":0}
            src/main.rs-1-fn main() {
            src/main.rs-2-    needle();
            src/main.rs:3:    other();
        "#]],
    );
}

#[test]
fn files_are_chosen_by_glob_and_type() {
    check(
        FILES,
        &[
            r#"Grep {"pattern":"needle","-i":true,"glob":"*.ts"}"#,
            r#"Grep {"pattern":"needle","-i":true,"glob":"*.{ts,rs}, !main.*"}"#,
            r#"Grep {"pattern":"needle","glob":"src/**"}"#,
            r#"Grep {"pattern":"needle","glob":"src/"}"#,
            r#"Grep {"pattern":"needle","glob":".env*"}"#,
            r#"Grep {"pattern":"needle","-i":true,"type":"ts"}"#,
            r#"Grep {"pattern":"needle","path":"target"}"#,
            r#"Grep {"pattern":"needle","type":"pyth"}"#,
            r#"Grep {"pattern":"needle","type":"zzz"}"#,
            r#"Grep {"pattern":"needle","glob":"*.{rs"}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"needle","-i":true,"glob":"*.ts"}
            src/lib.ts
            > Grep {"pattern":"needle","-i":true,"glob":"*.{ts,rs}, !main.*"}
            src/lib.ts
            > Grep {"pattern":"needle","glob":"src/**"}
            src/main.rs
            > Grep {"pattern":"needle","glob":"src/"}
            src/main.rs
            > Grep {"pattern":"needle","glob":".env*"}
            .env
            > Grep {"pattern":"needle","-i":true,"type":"ts"}
            src/lib.ts
            > Grep {"pattern":"needle","path":"target"}
            target/out.rs
            > Grep {"pattern":"needle","type":"pyth"}
            error: `pyth` is no file type; did you mean py, python? Or use glob, such as `*.ext`
            > Grep {"pattern":"needle","type":"zzz"}
            error: `zzz` is no file type; use glob, such as `*.ext`
            > Grep {"pattern":"needle","glob":"*.{rs"}
            error: `*.{rs` is not a glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
        "#]],
    );
}

#[test]
fn a_space_may_stand_in_a_name_and_between_globs() {
    check(
        &[
            ("my notes.txt", "needle\n"),
            ("notes.txt", "needle\n"),
            ("a.rs", "needle\n"),
            (".env", "needle\n"),
        ],
        &[
            r#"Grep {"pattern":"needle","glob":"my notes.txt"}"#,
            r#"Grep {"pattern":"needle","glob":"!my notes.txt"}"#,
            r#"Grep {"pattern":"needle","glob":"my n*.txt"}"#,
            r#"Grep {"pattern":"needle","glob":"*.rs n*.txt"}"#,
            r#"Grep {"pattern":"needle","glob":"*.{md, rs}"}"#,
            r#"Grep {"pattern":"needle","glob":"*.md .env*"}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"needle","glob":"my notes.txt"}
            my notes.txt
            > Grep {"pattern":"needle","glob":"!my notes.txt"}
            a.rs
            notes.txt
            > Grep {"pattern":"needle","glob":"my n*.txt"}
            my notes.txt
            > Grep {"pattern":"needle","glob":"*.rs n*.txt"}
            a.rs
            notes.txt
            > Grep {"pattern":"needle","glob":"*.{md, rs}"}
            a.rs
            > Grep {"pattern":"needle","glob":"*.md .env*"}
            .env
        "#]],
    );
}

#[test]
fn a_line_feed_is_whatever_ends_the_lines_of_a_file() {
    check(
        &[("a", "one\r\ntwo\r\nthree\r\n"), ("b", "one\ntwo\n")],
        &[
            r#"Grep {"pattern":"one\ntwo","multiline":true}"#,
            "Grep {\"pattern\":\"one\\ntwo\\nthree\",\"multiline\":true}",
            r#"Grep {"pattern":"two\r\n","multiline":true}"#,
            r#"Grep {"pattern":"two[\n]","multiline":true}"#,
            r#"Grep {"pattern":"(?x)one\ntwo","multiline":true}"#,
            r#"Grep {"pattern":"two\\n","multiline":true}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"one\ntwo","multiline":true}
            a
            b
            > Grep {"pattern":"one\ntwo\nthree","multiline":true}
            a
            > Grep {"pattern":"two\r\n","multiline":true}
            a
            > Grep {"pattern":"two[\n]","multiline":true}
            b
            > Grep {"pattern":"(?x)one\ntwo","multiline":true}
            No matches found
            > Grep {"pattern":"two\\n","multiline":true}
            a
            b
        "#]],
    );
}

#[test]
fn patterns_mean_what_they_say_whatever_the_line_ends() {
    check(
        FILES,
        &[
            r#"Grep {"pattern":"= 1;$","output_mode":"content"}"#,
            r#"Grep {"pattern":"^fn .*\\{$","output_mode":"content"}"#,
            r#"Grep {"pattern":"other.*more","output_mode":"content","multiline":true}"#,
            r#"Grep {"pattern":"other\\(\\);\\n","output_mode":"content","multiline":true}"#,
            r#"Grep {"pattern":"other\\(\\);\\n"}"#,
            r#"Grep {"pattern":"main("}"#,
            r#"Grep {"pattern":"-e needle"}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"= 1;$","output_mode":"content"}
            src/lib.ts:1:export const Needle = 1;
            > Grep {"pattern":"^fn .*\\{$","output_mode":"content"}
            src/main.rs:1:fn main() {
            > Grep {"pattern":"other.*more","output_mode":"content","multiline":true}
            src/main.rs:3:    other();
            src/main.rs:4:    more();
            > Grep {"pattern":"other\\(\\);\\n","output_mode":"content","multiline":true}
            src/main.rs:3:    other();
            > Grep {"pattern":"other\\(\\);\\n"}
            error: `other\(\);\n` cannot be searched for: the literal "\n" is not allowed in a regex
            (to search across lines, set multiline)
            > Grep {"pattern":"main("}
            error: `main(` cannot be searched for: regex parse error:
                (?:main()
                ^
            error: unclosed group
            (to search for characters such as ( [ { . * + ? | \ themselves, put a backslash before them)
            > Grep {"pattern":"-e needle"}
            No matches found
        "#]],
    );
}

#[test]
fn files_that_are_no_plain_text_are_handled() {
    let folder = Folder::new(&[("bin.dat", "needle\0"), ("dangling", "->nowhere")]);
    let utf16: Vec<u8> = "\u{feff}a needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("utf16.txt", &utf16, 1);
    folder.write("latin.txt", b"caf\xe9 needle\n", 1);
    let mut late = format!("needle\n{}", "x\n".repeat(20_000)).into_bytes();
    late.extend_from_slice(b"a needle\0\n");
    late.extend_from_slice(b"needle\n");
    folder.write("late.log", &late, 1);
    let grep = |input: &str| folder.play("Grep", input);
    expect![[r#"
        late.log:1:needle
        late.log:20002:a needle
        latin.txt:1:caf� needle
        utf16.txt:1:a needle
        (1 file was searched only up to a zero byte, which no text has; late.log)
    "#]]
    .assert_eq(&grep(r#"{"pattern":"needle","output_mode":"content"}"#));
    expect![[r#"
        The file is binary and was not searched
    "#]]
    .assert_eq(&grep(r#"{"pattern":"needle","path":"bin.dat"}"#));
    expect![[r#"
        No matches found
        (1 file was searched only up to a zero byte, which no text has; late.log)
    "#]]
    .assert_eq(&grep(r#"{"pattern":"nowhere","path":"late.log"}"#));
    expect!["error: cannot look up dangling: $W/dangling is a symbolic link to something that does not exist"].assert_eq(&grep(r#"{"pattern":"needle","path":"dangling"}"#));
    expect!["error: /dev/null is not a regular file but a pipe, socket or device"]
        .assert_eq(&grep(r#"{"pattern":"needle","path":"/dev/null"}"#));
}

#[test]
fn results_are_bounded() {
    let folder = Folder::new(&[
        ("a.txt", &"needle\n".repeat(GREP_LINES_DEFAULT)),
        ("b.txt", &"needle\n".repeat(LINES_MAX + 1)),
        ("c.txt", &format!("{}\n", "needle ".repeat(1_000)).repeat(1_000)),
    ]);
    let content = |rest: &str| {
        folder.play("Grep", &format!(r#"{{"pattern":"needle","output_mode":"content",{rest}}}"#))
    };
    let lines = |said: &str| said.lines().count();
    let more = |n: usize| {
        format!("(stopped after {n} lines, there is more; narrow the search or raise head_limit)\n")
    };
    assert_eq!(lines(&content(r#""path":"a.txt""#)), GREP_LINES_DEFAULT);
    let said = content(r#""path":"b.txt""#);
    assert!(said.ends_with(&more(250)) && lines(&said) == 251, "{said}");
    let said = content(r#""path":"b.txt","head_limit":0"#);
    assert!(said.ends_with(&more(LINES_MAX)) && lines(&said) == LINES_MAX + 1, "{said}");
    let said = content(r#""head_limit":3"#);
    assert!(said.ends_with(&more(3)) && lines(&said) == 4, "{said}");
    let said = content(r#""path":"c.txt","head_limit":0"#);
    assert!(OUTPUT_BYTES_MAX - 1_000 < said.len() && said.len() < OUTPUT_BYTES_MAX + 200);
    let said = folder.play("Grep", r#"{"pattern":"needle","head_limit":2}"#);
    assert_eq!(said, format!("a.txt\nb.txt\n{}", more(2)));
    let said = folder.play("Grep", r#"{"pattern":"needle","output_mode":"count","head_limit":1}"#);
    let stopped = more(1).replace("lines", "line");
    assert_eq!(said, format!("a.txt:250\n(250 in 1 file)\n{stopped}"));

    let around = content(r#""path":"b.txt","-C":1000000,"head_limit":1"#);
    assert_eq!(lines(&around), 2);
}

#[test]
fn a_long_line_is_shown_around_its_match() {
    let line = format!("{}needle{}\n", "\u{e9}".repeat(2_000), "b".repeat(2_000));
    let folder = Folder::new(&[("a.txt", &line), ("b.txt", &format!("needle{line}"))]);
    let said = folder.play("Grep", r#"{"pattern":"needle","output_mode":"content"}"#);
    let (e, b) = ("\u{e9}".repeat(100), "b".repeat(394));
    let start = "\u{e9}".repeat(494);
    assert_eq!(
        said,
        format!(
            "a.txt:1:[...] {e}needle{b} [... 1606 more bytes]\n\
             b.txt:1:needle{start} [... 5018 more bytes]\n"
        )
    );
}

#[test]
fn a_key_that_a_cut_goes_through_is_not_shown_in_part() {
    let key = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
    // Before the match, and behind it.
    let line = |n: usize| {
        let blanks = " ".repeat(n);
        format!("{}{key}{blanks}needle{}{blanks}{key} end\n", " ".repeat(600), " ".repeat(350))
    };
    let lines: String = (0..=100).map(line).collect();
    let folder = Folder::new(&[("a.txt", &lines)]);
    let said = folder.play("Grep", r#"{"pattern":"needle","output_mode":"content"}"#);
    assert_eq!(said.lines().count(), 101);
    for half in ["ghp_", "AeBuC"] {
        assert!(!said.replace(key, "").contains(half), "{said}");
    }
    assert!(said.contains("[...] [redacted: GitHub token] ") && said.contains(key), "{said}");
    assert!(said.contains(" [redacted: GitHub token] [... "), "{said}");
}

#[test]
fn inputs_and_work_are_bounded() {
    let folder = Folder::new(&[("a.txt", "needle\n"), ("b.txt", "needle\n")]);
    let long = "x".repeat(PATTERN_BYTES_MAX + 1);
    let said = folder.play("Grep", &format!(r#"{{"pattern":"{long}"}}"#));
    assert_eq!(said, "error: the pattern has 10001 bytes; at most 10000 are possible");
    let said = folder.play("Grep", r#"{"pattern":"(a{1,1000}){1,1000}"}"#);
    assert!(said.contains("cannot be searched for") && said.contains("size limit"), "{said}");
    let globs = "*.rs ".repeat(51);
    let said = folder.play("Grep", &format!(r#"{{"pattern":"x","glob":"{globs}"}}"#));
    assert_eq!(said, "error: glob has more than 50 patterns; name fewer");

    let small = Arc::new(Grep { entries_max: 2, ..Grep::default() });
    let said = folder.say(folder.run(small, r#"{"pattern":"needle"}"#));
    assert_eq!(said, "a.txt\n(stopped after 2 files and folders; name a narrower path)\n");

    let small = Arc::new(Grep { heap_bytes_max: 4, ..Grep::default() });
    let said = folder.say(folder.run(small, r#"{"pattern":"needle","multiline":true}"#));
    assert!(
        said.starts_with("No matches found\n(2 files could not be searched; a.txt: "),
        "{said}"
    );
}

#[test]
fn a_search_stops_when_it_is_no_longer_wanted() {
    let cancel = CancellationToken::new();
    let mut source = Stoppable { source: io::repeat(b'x'), cancel: &cancel };
    assert_eq!(source.read(&mut [0; 8]).unwrap(), 8);
    cancel.cancel();
    assert_eq!(source.read(&mut [0; 8]).unwrap_err().to_string(), "cancelled");
}
