//! Every sentence that a model is told of a tool is played: what is not true, or not played, fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use heeler_core::Tool;
use serde_json::Value;

use crate::testing::Folder;

/// A sentence, and calls whose last answer shows that it is true.
struct Claim {
    tool: &'static str,
    words: &'static str,
    files: Vec<(String, String)>,
    calls: &'static [&'static str],
    /// What the last answer holds, or with a `!` before it, does not; with a `=`, all that is in the
    /// file `a` then.
    says: &'static [&'static str],
}

type Files<'a> = &'a [(&'a str, &'a str)];

fn claim(
    tool: &'static str,
    words: &'static str,
    files: Files<'_>,
    calls: &'static [&'static str],
    says: &'static [&'static str],
) -> Claim {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Claim { tool, words, files, calls, says }
}

/// The same, among so many files of these names; `#` is the number.
fn among(n: usize, name: &str, claim: Claim) -> Claim {
    let more = (0..n).map(|index| (name.replace('#', &format!("{index:04}")), String::new()));
    Claim { files: claim.files.into_iter().chain(more).collect(), ..claim }
}

/// The tools whose words are played here. Those of the web, of commands and of persons have servers,
/// processes and people of their own in their tests.
fn tools() -> Vec<Arc<dyn Tool>> {
    let more: [Arc<dyn Tool>; 3] = [
        Arc::new(crate::MultiEdit::default()),
        Arc::new(crate::Calculator::default()),
        Arc::new(crate::CurrentTime::utc()),
    ];
    crate::standard().into_iter().chain(more).collect()
}

/// Every sentence of a tool's words.
fn sentences(tool: &dyn Tool) -> BTreeSet<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(text) if key == "description" => found.push(text.clone()),
                        value => collect(value, found),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let definition = tool.definition();
    let mut found = vec![definition.description];
    collect(&definition.input_schema.value(), &mut found);
    let split = |text: &String| {
        let parts = text.split_inclusive(". ").map(|part| part.trim().to_owned());
        parts.collect::<Vec<_>>()
    };
    found.iter().flat_map(split).collect()
}

#[test]
fn every_sentence_is_played_and_true() {
    let claims = claims();
    for tool in tools() {
        let name = tool.definition().name;
        let told = sentences(&*tool);
        let own = claims.iter().filter(|claim| claim.tool == name);
        let played: BTreeSet<String> = own.map(|claim| claim.words.to_owned()).collect();
        let silent: Vec<_> = told.difference(&played).collect();
        let stale: Vec<_> = played.difference(&told).collect();
        assert!(silent.is_empty(), "{name}: nothing shows that this is true: {silent:#?}");
        assert!(stale.is_empty(), "{name}: nobody is told this any more: {stale:#?}");
    }
    let failed: Vec<String> = claims.iter().filter_map(untrue).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What speaks against a claim.
fn untrue(claim: &Claim) -> Option<String> {
    let files: Vec<(&str, &str)> =
        claim.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = Folder::new(&files);
    let mut answer = String::new();
    for call in claim.calls {
        let (name, input) = call.split_once(' ')?;
        let tool = tools().into_iter().find(|tool| tool.definition().name == name)?;
        answer = folder.say(folder.run(tool, input));
    }
    let file = std::fs::read_to_string(folder.path("a")).unwrap_or_default();
    let holds = |says: &&&str| match (says.strip_prefix('!'), says.strip_prefix('=')) {
        (Some(absent), _) => !answer.contains(absent),
        (_, Some(content)) => file == content,
        (None, None) => answer.contains(**says),
    };
    let missing: Vec<_> = claim.says.iter().filter(|says| !holds(says)).collect();
    let Claim { tool, words, .. } = claim;
    let shown: String = answer.chars().take(400).collect();
    (claim.calls.is_empty() || !missing.is_empty())
        .then(|| format!("{tool}: {words}\n  {missing:?} of: {shown}"))
}

fn claims() -> Vec<Claim> {
    [reads(), writes(), edits(), globs(), greps(), lists(), others()]
        .into_iter()
        .flatten()
        .collect()
}

fn reads() -> Vec<Claim> {
    let lines: String = (1..=2_500).map(|n| format!("line {n}\n")).collect();
    let long = format!("{}yzEND", "x".repeat(1_999));
    vec![
        claim(
            "Read",
            "Reads a text file as numbered lines (number, tab, line), or shows a png, jpeg, gif or webp image.",
            &[("a", "one\n")],
            &[r#"Read {"file_path": "a"}"#],
            &["1\tone"],
        ),
        claim(
            "Read",
            "Gives 2000 lines unless told otherwise; use offset and limit for the rest.",
            &[("a", &lines)],
            &[r#"Read {"file_path": "a"}"#],
            &["2000\tline 2000\n", "!line 2001", "offset 2001"],
        ),
        claim(
            "Read",
            "Lines are cut at 2000 characters.",
            &[("a", &long)],
            &[r#"Read {"file_path": "a"}"#],
            &["xy", "!z"],
        ),
        claim(
            "Read",
            "Relative paths start at the workspace.",
            &[("b/a", "deep")],
            &[r#"Read {"file_path": "b/a"}"#],
            &["1\tdeep"],
        ),
        claim(
            "Read",
            "A file must be read before it can be changed.",
            &[("a", "one")],
            &[r#"Edit {"file_path": "a", "old_string": "one", "new_string": "two"}"#],
            &["error: ", "read"],
        ),
        claim("Read", "File to read.", &[("a", "one")], &[r#"Read {"file_path": "a"}"#], &["one"]),
        claim(
            "Read",
            "First line, from 1.",
            &[("a", "one\ntwo")],
            &[r#"Read {"file_path": "a", "offset": 2}"#],
            &["2\ttwo", "!one"],
        ),
        claim(
            "Read",
            "Number of lines.",
            &[("a", "one\ntwo")],
            &[r#"Read {"file_path": "a", "limit": 1}"#],
            &["1\tone", "!two"],
        ),
    ]
}

fn writes() -> Vec<Claim> {
    const NEW: &str = r#"Write {"file_path": "b/c/a", "content": "whole"}"#;
    vec![
        claim(
            "Write",
            "Writes a whole file, creating folders as needed.",
            &[],
            &[NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole"],
        ),
        claim(
            "Write",
            "An existing file is replaced, and only if you have read it in this session.",
            &[("b/c/a", "other")],
            &[NEW],
            &["error: ", "read"],
        ),
        claim(
            "Write",
            "An existing file is replaced, and only if you have read it in this session.",
            &[("b/c/a", "other")],
            &[r#"Read {"file_path": "b/c/a"}"#, NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole", "!other"],
        ),
        claim(
            "Write",
            "To change a part of a file use Edit.",
            &[("a", "one two")],
            &[
                r#"Read {"file_path": "a"}"#,
                r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2"}"#,
                r#"Read {"file_path": "a"}"#,
            ],
            &["1\tone 2"],
        ),
        claim("Write", "File to write.", &[], &[NEW], &["!error", "b/c/a"]),
        claim(
            "Write",
            "Its whole content.",
            &[],
            &[NEW, r#"Read {"file_path": "b/c/a"}"#],
            &["1\twhole"],
        ),
    ]
}

fn edits() -> Vec<Claim> {
    const READ: &str = r#"Read {"file_path": "a"}"#;
    const EDIT: &str = r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2"}"#;
    const ALL: &str =
        r#"Edit {"file_path": "a", "old_string": "two", "new_string": "2", "replace_all": true}"#;
    vec![
        claim(
            "Edit",
            "Replaces text in a file you have read in this session.",
            &[("a", "one two")],
            &[EDIT],
            &["error: ", "read"],
        ),
        claim(
            "Edit",
            "Replaces text in a file you have read in this session.",
            &[("a", "one two")],
            &[READ, EDIT, READ],
            &["one 2"],
        ),
        claim(
            "Edit",
            "old_string must occur once, unless replace_all is true, and be the file's text; other indentation or quotes are forgiven where one place can be meant.",
            &[("a", "two two")],
            &[READ, EDIT],
            &["error: "],
        ),
        claim(
            "Edit",
            "old_string must occur once, unless replace_all is true, and be the file's text; other indentation or quotes are forgiven where one place can be meant.",
            &[("a", "fn a() {\n        say(\"two\");\n        end();\n}\n")],
            &[
                READ,
                r#"Edit {"file_path": "a", "old_string": "    say(\u201ctwo\u201d);\n    end();\n", "new_string": "    say(\u201c2\u201d);\n    end();\n"}"#,
                READ,
            ],
            &["        say(\"2\");", "        end();"],
        ),
        claim(
            "Edit",
            "Leave out the line numbers that Read shows.",
            &[("a", "one two")],
            &[READ, EDIT],
            &["!error"],
        ),
        claim(
            "Edit",
            "Line ends and byte order mark are kept.",
            &[("a", "\u{feff}one\r\ntwo\r\n")],
            &[READ, EDIT],
            &["=\u{feff}one\r\n2\r\n"],
        ),
        claim(
            "Edit",
            "An empty old_string creates a new file.",
            &[],
            &[r#"Edit {"file_path": "a", "old_string": "", "new_string": "2"}"#, READ],
            &["1\t2"],
        ),
        claim("Edit", "File to change.", &[("a", "two")], &[READ, EDIT], &["!error"]),
        claim(
            "Edit",
            "Text to replace, copied from the file.",
            &[("a", "two")],
            &[READ, EDIT, READ],
            &["!two"],
        ),
        claim("Edit", "Text to put there.", &[("a", "two")], &[READ, EDIT, READ], &["1\t2"]),
        claim(
            "Edit",
            "Replace every occurrence.",
            &[("a", "two two")],
            &[READ, ALL, READ],
            &["1\t2 2"],
        ),
    ]
}

fn globs() -> Vec<Claim> {
    vec![
        among(
            250,
            "f#",
            claim(
                "Glob",
                "Finds files whose path matches a glob, newest first, at most 200.",
                &[("a.x", "")],
                &[r#"Glob {"pattern": "f*"}"#],
                &["f0249\nf0248", "!f0049", "!a.x"],
            ),
        ),
        claim(
            "Glob",
            "`*` stays within one folder, `**` crosses folders.",
            &[("a.x", ""), ("b/c.x", "")],
            &[r#"Glob {"pattern": "*.x"}"#],
            &["a.x", "!c.x"],
        ),
        claim(
            "Glob",
            "`*` stays within one folder, `**` crosses folders.",
            &[("a.x", ""), ("b/c.x", "")],
            &[r#"Glob {"pattern": "**/*.x"}"#],
            &["a.x", "b/c.x"],
        ),
        claim(
            "Glob",
            "Honors .gitignore; hidden files only if the pattern names them.",
            &[(".gitignore", "no"), ("no", ""), (".h", ""), ("yes", "")],
            &[r#"Glob {"pattern": "*"}"#],
            &["yes", "!no", "!.h"],
        ),
        claim(
            "Glob",
            "Honors .gitignore; hidden files only if the pattern names them.",
            &[(".h", "")],
            &[r#"Glob {"pattern": ".*"}"#],
            &[".h"],
        ),
        claim(
            "Glob",
            "Paths are relative to the workspace.",
            &[("b/c.x", "")],
            &[r#"Glob {"pattern": "*.x", "path": "b"}"#],
            &["b/c.x", "!$W"],
        ),
        claim(
            "Glob",
            "Such as `src/**/*.{ts,tsx}`.",
            &[("src/a/b.tsx", ""), ("src/a.ts", ""), ("src/a.rs", "")],
            &[r#"Glob {"pattern": "src/**/*.{ts,tsx}"}"#],
            &["src/a/b.tsx", "src/a.ts", "!a.rs"],
        ),
        claim(
            "Glob",
            "Folder to search; default the workspace.",
            &[("b/c.x", ""), ("a.x", "")],
            &[r#"Glob {"pattern": "*.x", "path": "b"}"#],
            &["c.x", "!a.x"],
        ),
    ]
}

fn greps() -> Vec<Claim> {
    let many: String = (0..400).map(|n| format!("hit {n}\n")).collect();
    let long = format!("hit{}END", "x".repeat(600));
    vec![
        claim(
            "Grep",
            "Searches file contents, line by line.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "one.*two"}"#],
            &["!a\n"],
        ),
        claim(
            "Grep",
            "Searches file contents, line by line.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "tw."}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Honors .gitignore; skips binary files, and hidden ones unless glob names them.",
            &[(".gitignore", "no"), ("no", "hit"), (".h", "hit"), ("bin", "\0hit"), ("yes", "hit")],
            &[r#"Grep {"pattern": "hit"}"#],
            &["yes", "!no", "!.h", "!bin"],
        ),
        claim(
            "Grep",
            "Honors .gitignore; skips binary files, and hidden ones unless glob names them.",
            &[(".h", "hit")],
            &[r#"Grep {"pattern": "hit", "glob": ".h"}"#],
            &[".h"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("b", "hit"), ("a", "hit")],
            &[r#"Grep {"pattern": "hit"}"#],
            &["a\nb"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("a", &many)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["hit 249", "!hit 250"],
        ),
        claim(
            "Grep",
            "Regular expression (Rust syntax).",
            &[("a", "ab12")],
            &[r#"Grep {"pattern": "\\p{L}+\\d{2}$"}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "File or folder; default the workspace.",
            &[("a", "hit"), ("b/c", "hit")],
            &[r#"Grep {"pattern": "hit", "path": "b"}"#],
            &["b/c", "!a"],
        ),
        claim(
            "Grep",
            "Such as `*.rs` or `src/**`; `!` excludes.",
            &[("a.rs", "hit"), ("a.py", "hit")],
            &[r#"Grep {"pattern": "hit", "glob": "!*.py"}"#],
            &["a.rs", "!a.py"],
        ),
        claim(
            "Grep",
            "File type, such as rust, py, js.",
            &[("a.rs", "hit"), ("a.py", "hit")],
            &[r#"Grep {"pattern": "hit", "type": "py"}"#],
            &["a.py", "!a.rs"],
        ),
        claim(
            "Grep",
            "What to show.",
            &[("a", "hit\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "count"}"#],
            &["2"],
        ),
        claim(
            "Grep",
            "Ignore case.",
            &[("a", "HIT")],
            &[r#"Grep {"pattern": "hit", "-i": true}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Line numbers; default true.",
            &[("a", "x\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["2"],
        ),
        claim(
            "Grep",
            "Line numbers; default true.",
            &[("a", "x\nhit")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-n": false}"#],
            &["hit", "!2"],
        ),
        claim(
            "Grep",
            "Lines after.",
            &[("a", "u\nhit\nv\nw")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-A": 1}"#],
            &["v", "!u", "!w"],
        ),
        claim(
            "Grep",
            "Lines before.",
            &[("a", "t\nu\nhit\nv")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-B": 1}"#],
            &["u", "!v"],
        ),
        claim(
            "Grep",
            "Lines around.",
            &[("a", "u\nhit\nv\nw")],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "-C": 1}"#],
            &["u", "v", "!w"],
        ),
        claim(
            "Grep",
            "Output lines.",
            &[("a", &many)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content", "head_limit": 2}"#],
            &["hit 1", "!hit 2"],
        ),
        claim(
            "Grep",
            "Let matches span lines.",
            &[("a", "one\ntwo")],
            &[r#"Grep {"pattern": "one.two", "multiline": true}"#],
            &["a"],
        ),
        claim(
            "Grep",
            "Results are sorted by path, at most 250 lines unless head_limit says otherwise; lines are cut at 500 characters.",
            &[("a", &long)],
            &[r#"Grep {"pattern": "hit", "output_mode": "content"}"#],
            &["hitxx", "!END"],
        ),
    ]
}

fn lists() -> Vec<Claim> {
    const ALL: &str = "Lists one folder, hidden and ignored entries included: size (or `dir`, `link`) and name, sorted by name, at most 1000.";
    vec![
        claim(
            "LS",
            ALL,
            &[(".gitignore", "no"), ("no", "abc"), ("d/deep", ""), ("l", "->no")],
            &[r#"LS {"path": "."}"#],
            &[".gitignore", "no", "dir", "link", "!deep"],
        ),
        among(
            1_050,
            "f#",
            claim("LS", ALL, &[], &[r#"LS {"path": "."}"#], &["f0000", "f0999", "!f1000"]),
        ),
        claim(
            "LS",
            "Folder to list.",
            &[("b/c", ""), ("a", "")],
            &[r#"LS {"path": "b"}"#],
            &["c", "!a\n"],
        ),
        claim(
            "LS",
            "Globs of names to leave out.",
            &[("a.o", ""), ("b.c", "")],
            &[r#"LS {"path": ".", "ignore": ["*.o"]}"#],
            &["b.c", "!a.o"],
        ),
    ]
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
            &["1970-01-01T00:00:00Z", "Thursday", "(UTC)"],
        ),
    ]
}
