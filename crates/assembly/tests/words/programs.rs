//! What is said of the tool that talks to programs.

use crate::claim::{Claim, claim};

/// Lets a command go on that waits with `cat go`.
const GO: &str = r#"Bash {"command": "until test -p go; do sleep 0.05; done; echo went on > go"}"#;
const WORDS: &str = "run starts one: with background you are told of its end when it comes, without it waits for the end, at most 120000 ms unless timeout says otherwise; write and send-keys give it input and answer with what it says; read gives output not yet read, of much its beginning and end; poll tells how it is; list; kill.";
const LONG: &str = r#"exec {"action": "run", "command": "sleep 1000", "background": true}"#;
const ECHOES: &str = r#"exec {"action": "run", "command": "while read line; do echo got $line; done", "background": true}"#;

fn said(words: &'static str, calls: &[&str], says: &'static [&'static str]) -> Claim {
    claim("exec", words, &[("b/c", ""), ("b/touch", "touch ../beside && echo made")], calls, says)
}

pub(crate) fn claims() -> Vec<Claim> {
    [ways(), times(), inputs(), talks(), terminals()].into_iter().flatten().collect()
}

fn ways() -> Vec<Claim> {
    vec![
        said(
            "Runs programs that you talk to or that go on in the background.",
            &[ECHOES, r#"exec {"action": "write", "sessionId": "x1", "data": "hello\n"}"#],
            &["got hello", r#""status":"running""#],
        ),
        said(
            WORDS,
            &[
                r#"exec {"action": "run", "command": "mkfifo go; cat go; exit 3", "background": true}"#,
                GO,
            ],
            &["user: [", r#""sessionId":"x1","status":"exited","exitCode":3"#, "went on"],
        )
        .heard(),
        said(
            WORDS,
            &[r#"exec {"action": "run", "command": "sleep 0.2; echo end"}"#],
            &[r#""status":"exited""#, "end"],
        ),
        said(
            WORDS,
            &[ECHOES, r#"exec {"action": "write", "sessionId": "x1", "data": "one\ntwo\n"}"#],
            &["got one\ngot two"],
        ),
        said(
            WORDS,
            &[
                r#"exec {"action": "run", "command": "read -rsn1 key; echo got $key; sleep 1000", "background": true, "pty": true}"#,
                r#"exec {"action": "send-keys", "sessionId": "x1", "keys": "q"}"#,
            ],
            &["got q"],
        ),
        said(
            WORDS,
            &[
                r#"exec {"action": "run", "command": "echo first; mkfifo go; cat go; sleep 1000", "background": true}"#,
                GO,
                r#"exec {"action": "read", "sessionId": "x1", "timeout": 60000}"#,
            ],
            &["went on", "!first"],
        ),
        said(
            WORDS,
            &[
                r#"exec {"action": "run", "command": "mkfifo go; cat go; seq 1 100000; echo END", "background": true}"#,
                GO,
                r#"exec {"action": "poll", "sessionId": "x1", "timeout": 60000}"#,
                r#"exec {"action": "read", "sessionId": "x1"}"#,
            ],
            &["went on\n1\n2\n", " bytes left out ", "100000\nEND", "!\n50000\n"],
        ),
        said(
            WORDS,
            &[LONG, r#"exec {"action": "poll", "sessionId": "x1"}"#],
            &[r#"{"sessionId":"x1","status":"running"}"#],
        ),
        said(WORDS, &[LONG, r#"exec {"action": "list"}"#], &["sessions", "x1", "sleep 1000"]),
        said(
            WORDS,
            &[LONG, r#"exec {"action": "kill", "sessionId": "x1"}"#],
            &[r#""status":"killed""#],
        ),
        said(
            "For a command that just ends use Bash.",
            &[r#"Bash {"command": "echo it"}"#],
            &["it\n", "!sessionId"],
        ),
    ]
}

fn times() -> Vec<Claim> {
    const IDLE: &str = "A session ends after 30 minutes without use.";
    // Ten minutes of that time.
    const WAIT: &str = r#"Bash {"command": "sleep 1000", "timeout": 600000}"#;
    const LIST: &str = r#"exec {"action": "list"}"#;
    let foreground = |call, says| said(WORDS, &[call], says);
    vec![
        // A second of the test is 100 of that time.
        foreground(r#"exec {"action": "run", "command": "sleep 1000"}"#, &["timed_out"])
            .hurried(100),
        foreground(r#"exec {"action": "run", "command": "sleep 0.6"}"#, &["exited"]).hurried(100),
        foreground(
            r#"exec {"action": "run", "command": "sleep 1.6", "timeout": 600000}"#,
            &["exited"],
        )
        .hurried(100),
        said(IDLE, &[LONG, WAIT, WAIT, LIST], &[r#""status":"running""#]).hurried(600),
        said(IDLE, &[LONG, WAIT, WAIT, WAIT, WAIT, LIST], &[r#""status":"idle""#]).hurried(600),
        said(
            "Milliseconds.",
            &[r#"exec {"action": "run", "command": "sleep 1000", "timeout": 100}"#],
            &["timed_out"],
        ),
        said(
            "run: it is stopped then.",
            &[
                r#"exec {"action": "run", "command": "sleep 1000", "timeout": 1500, "background": true}"#,
                r#"exec {"action": "poll", "sessionId": "x1", "timeout": 60000}"#,
            ],
            &["timed_out"],
        ),
    ]
}

fn inputs() -> Vec<Claim> {
    const FOR: &str = "The session; for all but run and list.";
    const OUTSIDE: &str = "run: ask the user to let it run outside of the sandbox.";
    vec![
        said("What to do.", &[r#"exec {"action": "list"}"#], &["!error"]),
        said(
            "run: the command line.",
            &[r#"exec {"action": "run", "command": "echo $((1 + 1)) | tr 2 3"}"#],
            &["\n3\n"],
        ),
        said(FOR, &[LONG, r#"exec {"action": "poll"}"#], &["error: ", "needs a sessionId"]),
        said(FOR, &[LONG, r#"exec {"action": "kill"}"#], &["error: ", "needs a sessionId"]),
        said(
            "run: variables besides the usual ones.",
            &[
                r#"exec {"action": "run", "command": "echo $A; test -n \"$PATH\" && echo usual", "env": {"A": "it's"}}"#,
            ],
            &["it's\nusual"],
        ),
        said(
            "run: folder to start in.",
            &[r#"exec {"action": "run", "command": "pwd -P; ls", "cwd": "b"}"#],
            &["$W/b\nc\n"],
        ),
        said("run: answer at once and go on.", &[LONG], &[r#""status":"running""#]),
        said(
            OUTSIDE,
            &[r#"exec {"action": "run", "command": "sh b/touch"}"#],
            &["error: ", "!made", "!asked to run"],
        )
        .boxed(),
        said(
            OUTSIDE,
            &[r#"exec {"action": "run", "command": "sh b/touch", "outside_sandbox": true}"#],
            &["asked to run: ", "\nmade"],
        )
        .boxed(),
    ]
}

fn talks() -> Vec<Claim> {
    const TEXT: &str = "write: text; end a line with \\n.";
    const WAITS: &str = "Else: how long to wait for output, with poll for the end.";
    const LATE: &str = r#"exec {"action": "run", "command": "sleep 3; echo late; sleep 1000", "background": true}"#;
    vec![
        said(
            TEXT,
            &[ECHOES, r#"exec {"action": "write", "sessionId": "x1", "data": "half\n"}"#],
            &["got half"],
        ),
        said(
            TEXT,
            &[
                ECHOES,
                r#"exec {"action": "write", "sessionId": "x1", "data": "half", "timeout": 300}"#,
            ],
            &["running", "!got", "!error"],
        ),
        said(
            WAITS,
            &[LATE, r#"exec {"action": "read", "sessionId": "x1", "timeout": 60000}"#],
            &["late"],
        ),
        said(
            WAITS,
            &[LATE, r#"exec {"action": "read", "sessionId": "x1", "timeout": 10}"#],
            &["running", "!late"],
        ),
        said(
            WAITS,
            &[
                r#"exec {"action": "run", "command": "sleep 1.5; exit 4", "background": true}"#,
                r#"exec {"action": "poll", "sessionId": "x1", "timeout": 60000}"#,
            ],
            &[r#""status":"exited","exitCode":4"#],
        ),
    ]
}

fn terminals() -> Vec<Claim> {
    const TERMINAL: &str = "run: on a terminal.";
    vec![
        said(
            "send-keys: names such as `up, enter, ctrl-c, f1, q`.",
            &[
                r#"exec {"action": "run", "command": "stty raw -echo; echo ready; head -c 9 | od -An -tx1; sleep 1000", "background": true, "pty": true}"#,
                r#"exec {"action": "send-keys", "sessionId": "x1", "keys": "up, enter, ctrl-c, f1, q"}"#,
            ],
            &["1b 5b 41 0d 03 1b 4f 50 71"],
        ),
        said(
            TERMINAL,
            &[
                r#"exec {"action": "run", "command": "test -t 0 && test -t 1 && echo terminal", "pty": true}"#,
            ],
            &["\nterminal"],
        ),
        said(
            TERMINAL,
            &[r#"exec {"action": "run", "command": "test -t 0 || test -t 1 || echo none"}"#],
            &["\nnone"],
        ),
        said(
            "Rows of the terminal, from now on.",
            &[
                r#"exec {"action": "run", "command": "stty size; read line; stty size; sleep 1000", "background": true, "pty": true, "rows": 9, "columns": 70}"#,
            ],
            &["9 70"],
        ),
        said(
            "Its columns, from now on.",
            &[
                r#"exec {"action": "run", "command": "stty size; read line; stty size; sleep 1000", "background": true, "pty": true, "rows": 9, "columns": 70}"#,
                r#"exec {"action": "write", "sessionId": "x1", "data": "\n", "rows": 10, "columns": 71}"#,
            ],
            &["10 71"],
        ),
    ]
}
