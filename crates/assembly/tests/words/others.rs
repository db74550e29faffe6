//! What is said of the tools that are not always told.

use crate::claim::{Claim, claim};

pub(crate) fn claims() -> Vec<Claim> {
    [others(), information(), patches(), steps()].into_iter().flatten().collect()
}

fn others() -> Vec<Claim> {
    const SAYS: &str = "Calculates with numbers of any size, exactly: + - * / % (sign of the dividend) ^ ! ( ), abs, floor, ceil, round, min, max, gcd, sqrt.";
    const BOTH: &str = r#"MultiEdit {"file_path": "a", "edits": [{"old_string": "two", "new_string": "2"}, {"old_string": "2", "new_string": "3"}]}"#;
    const TIME: &str = "Tells the date and time now, in UTC and in the user's time zone, with the day of the week.";
    vec![
        claim(
            "Calculator",
            SAYS,
            &[],
            &[r#"Calculator {"expression": "2^200 + (-7 % 3) + 3! - 6/3*1"}"#],
            &["1606938044258990275541962092341162602522202993782792835301379"],
        ),
        claim(
            "Calculator",
            SAYS,
            &[],
            &[
                r#"Calculator {"expression": "abs(-1)+floor(1.5)+ceil(1.5)+round(1.4)+min(1,2)+max(1,2)+gcd(4,6)+sqrt(4)"}"#,
            ],
            &["12"],
        ),
        claim(
            "Calculator",
            "Also ln, log2, log10, exp, sin, cos, tan (radians), pi, e.",
            &[],
            &[
                r#"Calculator {"expression": "ln(e)+log2(2)+log10(10)+exp(0)+sin(0)+cos(0)+tan(0)+cos(pi)"}"#,
            ],
            &["~4"],
        ),
        claim(
            "Calculator",
            "A value that is not exact begins with ~.",
            &[],
            &[r#"Calculator {"expression": "1/3"}"#],
            &["~0.333"],
        ),
        claim(
            "Calculator",
            "A value that is not exact begins with ~.",
            &[],
            &[r#"Calculator {"expression": "1/4"}"#],
            &["0.25", "!~"],
        ),
        claim(
            "Calculator",
            "Such as `2^64 / 3 + sqrt(2)`.",
            &[],
            &[r#"Calculator {"expression": "2^64 / 3 + sqrt(2)"}"#],
            &["~6148914691236517000"],
        ),
        claim(
            "MultiEdit",
            "Makes several edits of one file, all or none, as Edit would one after the other: each sees what those before it made.",
            &[("a", "one two")],
            &[r#"Read {"file_path": "a"}"#, BOTH, r#"Read {"file_path": "a"}"#],
            &["1\tone 3"],
        ),
        claim(
            "MultiEdit",
            "Makes several edits of one file, all or none, as Edit would one after the other: each sees what those before it made.",
            &[("a", "one two")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"MultiEdit {"file_path": "a", "edits": [{"old_string": "two", "new_string": "2"}, {"old_string": "none such", "new_string": "3"}]}"#,
                r#"Read {"file_path": "a"}"#,
            ],
            &["1\tone two"],
        ),
        claim(
            "MultiEdit",
            "File to change.",
            &[("a", "two")],
            &[r#"Read {"file_path": "a"}"#, BOTH],
            &["!error"],
        ),
        claim(
            "MultiEdit",
            "The edits, in order.",
            &[("a", "two")],
            &[r#"Read {"file_path": "a"}"#, BOTH, r#"Read {"file_path": "a"}"#],
            &["1\t3"],
        ),
        claim(
            "MultiEdit",
            "Text to replace, copied from the file.",
            &[("a", "two")],
            &[r#"Read {"file_path": "a"}"#, BOTH, r#"Read {"file_path": "a"}"#],
            &["!two"],
        ),
        claim(
            "MultiEdit",
            "Text to put there.",
            &[("a", "two")],
            &[r#"Read {"file_path": "a"}"#, BOTH, r#"Read {"file_path": "a"}"#],
            &["1\t3"],
        ),
        claim(
            "MultiEdit",
            "Replace every occurrence.",
            &[("a", "two two")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"MultiEdit {"file_path": "a", "edits": [{"old_string": "two", "new_string": "2", "replace_all": true}]}"#,
                r#"Read {"file_path": "a"}"#,
            ],
            &["1\t2 2"],
        ),
        claim(
            "MultiEdit",
            "One edit.",
            &[("a", "two")],
            &[r#"Read {"file_path": "a"}"#, BOTH, r#"Read {"file_path": "a"}"#],
            &["1\t3"],
        ),
        claim(
            "CurrentTime",
            TIME,
            &[],
            &["CurrentTime {}"],
            &["2001-09-09T01:46:4", "Sunday, 2001-09-09"],
        ),
    ]
}

fn information() -> Vec<Claim> {
    const SAYS: &str = "Tells what a file is without its content: kind, size, mode, time of the last change, where a link leads; and of files of at most 67108864 bytes the number of lines, their ends, the encoding, or that they are binary.";
    vec![
        claim(
            "file_info",
            SAYS,
            &[("a", "one\r\ntwo\r\n"), ("link", "->a")],
            &[r#"file_info {"path": "link"}"#],
            &[
                "a: file",
                "link to a",
                "10 bytes",
                "mode 0",
                "changed 2",
                "ASCII, 2 lines, line ends CRLF",
                "!one",
            ],
        ),
        claim("file_info", SAYS, &[("a", "\0")], &[r#"file_info {"path": "a"}"#], &["binary"]),
        claim(
            "file_info",
            "File or folder.",
            &[("d/a", "")],
            &[r#"file_info {"path": "d"}"#],
            &["d: folder"],
        ),
        claim(
            "file_info",
            "Give the SHA-256 of its content, too.",
            &[("a", "1\n2\n")],
            &[r#"file_info {"path": "a", "hash": true}"#],
            &["SHA-256 a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1"],
        ),
    ]
}

fn patches() -> Vec<Claim> {
    const ALL: &str = "Changes files with one patch, all or none.";
    const FORM: &str = "Files to change, move or delete must have been read in this session.\n*** Begin Patch\n*** Add File: path (then lines with +)\n*** Delete File: path\n*** Update File: path (then optionally *** Move to: path)\n@@ line above, such as a function's (optional)\n kept line\n-removed line\n+added line\n*** End of File (optional: the lines end the file)\n*** End Patch\nGive about 3 kept lines around each change; a place that is not clear is refused.";
    vec![
        claim(
            "apply_patch",
            ALL,
            &[("a", "one\n"), ("b", "two\n")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"Read {"file_path": "b"}"#,
                r#"apply_patch {"input": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: b\n@@\n-none such\n+2\n*** End Patch\n"}"#,
            ],
            &["error", "=one\n"],
        ),
        claim(
            "apply_patch",
            FORM,
            &[("a", "one\n")],
            &[
                r#"apply_patch {"input": "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** End Patch\n"}"#,
            ],
            &["error", "Read", "=one\n"],
        ),
        claim(
            "apply_patch",
            FORM,
            &[("a", "fn a() {\n    1\n}\nfn b() {\n    1\n}\n")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"apply_patch {"input": "*** Begin Patch\n*** Update File: a\n@@\n-    1\n+    2\n*** End Patch\n"}"#,
            ],
            &["error", "=fn a() {\n    1\n}\nfn b() {\n    1\n}\n"],
        ),
        claim(
            "apply_patch",
            FORM,
            &[("a", "fn a() {\n    1\n}\nfn b() {\n    1\n}\n"), ("gone", ""), ("old", "x\ny\n")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"Read {"file_path": "gone"}"#,
                r#"Read {"file_path": "old"}"#,
                r#"apply_patch {"input": "*** Begin Patch\n*** Add File: new\n+here\n*** Delete File: gone\n*** Update File: old\n*** Move to: moved\n@@\n x\n-y\n+z\n*** End of File\n*** Update File: a\n@@ fn b() {\n-    1\n+    2\n }\n*** End Patch\n"}"#,
                r#"LS {"path": "."}"#,
            ],
            &["new", "moved", "!gone", "!old", "=fn a() {\n    1\n}\nfn b() {\n    2\n}\n"],
        ),
        claim(
            "apply_patch",
            "The whole patch.",
            &[("a", "")],
            &[r#"apply_patch {"input": "*** Begin Patch\n*** Add File: b\n+1\n"}"#],
            &["error", "End Patch"],
        ),
    ]
}

fn steps() -> Vec<Claim> {
    const LIST: &str = r#"TodoWrite {"todos": [{"content": "look", "status": "completed"}, {"content": "mend", "status": "in_progress"}]}"#;
    vec![
        claim(
            "TodoWrite",
            "Keeps the steps of longer work: replaces your whole list.",
            &[],
            &[
                LIST,
                r#"TodoWrite {"todos": [{"content": "test", "status": "pending"}]}"#,
                "TodoRead {}",
            ],
            &["test", "!look", "!mend"],
        ),
        claim("TodoRead", "Shows that list.", &[], &[LIST, "TodoRead {}"], &["look", "mend"]),
    ]
}
