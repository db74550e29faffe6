//! What is said of the tools that reach people, and of those that reach other tools.

use crate::claim::{Claim, claim};

pub(crate) fn claims() -> Vec<Claim> {
    [asks(), messages(), batches(), found()].into_iter().flatten().collect()
}

fn asks() -> Vec<Claim> {
    const CHOICES: &str = "Answers to choose from; another one is always possible.";
    const PORT: &str = r#"ask_user {"question": "Which port?"}"#;
    const COLOR: &str = r#"ask_user {"question": "Which?", "choices": ["red", "blue"]}"#;
    let asked = |words, call: &str, says| claim("ask_user", words, &[], &[call], says);
    vec![
        asked(
            "Asks the user one question and gives their answer.",
            PORT,
            &["asked: Which port? []\n", "answered: 8080"],
        )
        .answered("8080"),
        asked(
            "Only for what you can neither find out nor decide yourself.",
            PORT,
            &["error: ", "nobody is there to answer; decide yourself"],
        ),
        asked("One question.", PORT, &["asked: Which port? []\n"]).answered("8080"),
        asked(CHOICES, COLOR, &[r#"asked: Which? ["red", "blue"]"#, "chose: blue"]).answered("2"),
        asked(CHOICES, COLOR, &["answered: green", "!error"]).answered("green"),
    ]
}

fn messages() -> Vec<Claim> {
    const HALF: &str = r#"message {"text": "half way"}"#;
    const LAST: &str = r#"message {"text": "all done", "last": true}"#;
    const ENDED: &str = "[the turn ended with this call]";
    const MEDIA: &str = "Files to send with it, each a media:// reference that a tool gave.";
    let sent = |words, call: &str, says| claim("message", words, &[], &[call], says);
    vec![
        sent(
            "Sends the user a message before your answer.",
            HALF,
            &["told the user: half way", "![the turn ended"],
        ),
        sent(
            "Not for the answer itself, unless it is the last.",
            LAST,
            &["told the user: all done", ENDED],
        ),
        sent("What to say.", HALF, &["told the user: half way"]),
        sent(
            MEDIA,
            r#"message {"text": "", "media": ["/space/a.png"]}"#,
            &["error: ", "`/space/a.png` is not a media reference"],
        ),
        // What it is called follows from its bytes.
        claim(
            "message",
            MEDIA,
            &[],
            &[
                r#"Bash {"command": "printf data:text/plain\\;base64,; head -c 300 /dev/zero | tr '\\0' a | base64 | tr -d '\\n'"}"#,
                r#"message {"text": "all of it", "media": ["media://7d393a84825d087188c6e6537460fe55"]}"#,
            ],
            &[
                "told the user: all of it [media://7d393a84825d087188c6e6537460fe55] text/plain",
                "!error",
            ],
        ),
        sent("Nothing more is to be said: the turn ends.", LAST, &[ENDED]),
    ]
}

fn batches() -> Vec<Claim> {
    const ALL: &str = "Runs calls of tools that only look, such as Read and Grep, beside each other and gives their results in order.";
    const FAILS: &str =
        "One that fails stops no other; one that changes something or needs permission is not run.";
    const TWO: &str = r#"batch {"calls": [{"tool": "Read", "input": {"file_path": "a"}}, {"tool": "Grep", "input": {"pattern": "tw."}}]}"#;
    let of = |count: usize| {
        let one = r#"{"tool": "Read", "input": {"file_path": "a"}}"#;
        format!(r#"batch {{"calls": [{}]}}"#, vec![one; count].join(", "))
    };
    let batch = |words, call: &str, says| {
        claim("batch", words, &[("a", "one"), ("b", "two")], &[call], says)
    };
    vec![
        batch(
            ALL,
            TWO,
            &["[1] Read {\"file_path\":\"a\"}\n     1\tone\n\n\n[2] Grep {\"pattern\":\"tw.\"}\nb"],
        ),
        // Each ends when the other has begun.
        batch(
            ALL,
            r#"batch {"calls": [{"tool": "meet", "input": {}}, {"tool": "meet", "input": {}}]}"#,
            &["[1] meet {}\nmet", "[2] meet {}\nmet"],
        ),
        batch(
            FAILS,
            r#"batch {"calls": [{"tool": "Read", "input": {"file_path": "none"}}, {"tool": "Read", "input": {"file_path": "a"}}]}"#,
            &["[1] Read {\"file_path\":\"none\"} (failed)", "1\tone"],
        ),
        claim(
            "batch",
            FAILS,
            &[("a", "one")],
            &[
                r#"batch {"calls": [{"tool": "Write", "input": {"file_path": "new", "content": "x"}}, {"tool": "Read", "input": {"file_path": "a"}}]}"#,
            ],
            &["[1] Write", "(failed)", "1\tone"],
        ),
        claim(
            "batch",
            FAILS,
            &[("a", "one")],
            &[
                r#"batch {"calls": [{"tool": "Write", "input": {"file_path": "new", "content": "x"}}, {"tool": "Read", "input": {"file_path": "a"}}]}"#,
                r#"LS {"path": "."}"#,
            ],
            &["a", "!new"],
        ),
        // Outside of the workspace somebody has to be asked.
        claim(
            "batch",
            FAILS,
            &[],
            &[r#"batch {"calls": [{"tool": "Read", "input": {"file_path": "/etc/passwd"}}]}"#],
            &["(failed)", "!root:", "!asked to run"],
        )
        .boxed(),
        batch("At most 20.", &of(20), &["[20] Read", "!error"]),
        batch(
            "At most 20.",
            &of(21),
            &[
                "error: invalid input for batch: `/calls`: [",
                "has more than 20 items. Nothing was run",
            ],
        ),
        batch("One call.", TWO, &["[1] Read"]),
        batch("The tool.", TWO, &["[1] Read"]),
        batch("Its input.", TWO, &["{\"file_path\":\"a\"}\n     1\tone"]),
    ]
}

fn found() -> Vec<Claim> {
    const FINDS: &str = "Finds tools you are not told of and lets you call them.";
    const ADD: &str = r#"Calculator {"expression": "40 + 2"}"#;
    let search = |words, calls: &[&str], says| claim("ToolSearch", words, &[], calls, says);
    vec![
        search(FINDS, &[ADD], &["error: ", "Calculator", "!42"]),
        search(FINDS, &[r#"ToolSearch {"query": "calculator"}"#], &["- Calculator: ", "!- Read: "]),
        search(FINDS, &[r#"ToolSearch {"query": "calculator"}"#, ADD], &["42", "!error"]),
        search(
            "Words for what you need",
            &[r#"ToolSearch {"query": "commit files with git"}"#],
            &["- git_commit: "],
        ),
        search(
            "query is a regular expression",
            &[r#"ToolSearch {"query": "^git_(log|diff)\\b", "regex": true}"#],
            &["- git_log: ", "- git_diff: ", "!- git_status"],
        ),
        search(
            "query is a regular expression",
            &[r#"ToolSearch {"query": "(", "regex": true}"#],
            &["error: "],
        ),
    ]
}
