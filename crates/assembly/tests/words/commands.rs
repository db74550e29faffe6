//! What is said of the tools that run a command to its end.

use crate::claim::{Claim, claim};

/// The process that the command left, as `a` names it.
const IS_IT_GONE: &str = r#"Bash {"command": "kill -0 $(cat a) 2>/dev/null || echo gone"}"#;

pub(crate) fn claims() -> Vec<Claim> {
    let rooms = [ways(), times(), inputs(), trained()];
    rooms.into_iter().flatten().collect()
}

fn ways() -> Vec<Claim> {
    const RUNS: &str = "Runs a command line in the workspace with bash (sh where there is none) and gives its standard output and error as they came, then the exit code unless it is 0.";
    vec![
        claim(
            "Bash",
            RUNS,
            &[],
            &[
                r#"Bash {"command": "pwd -P; test -n \"$BASH_VERSION\" && echo bash; echo out; echo err >&2; echo again; exit 3"}"#,
            ],
            &["$W\nbash\nout\nerr\nagain\nexit code: 3"],
        ),
        claim("Bash", RUNS, &[], &[r#"Bash {"command": "true"}"#], &["!exit code"]),
        claim(
            "Bash",
            RUNS,
            &[],
            &[r#"Bash {"command": "case $0 in */bin/sh) echo it is sh;; esac"}"#],
            &["it is sh"],
        )
        .without_bash(),
        claim(
            "Bash",
            "Each call is a new shell: directory and variables do not carry over.",
            &[],
            &[
                r#"Bash {"command": "cd /; export A=1; B=2"}"#,
                r#"Bash {"command": "pwd -P; echo [$A$B]"}"#,
            ],
            &["$W\n[]"],
        ),
        claim(
            "Bash",
            "There is no input and no terminal.",
            &[],
            &[
                r#"Bash {"command": "cat; read line || echo nothing; test -t 0 || test -t 1 || test -t 2 || echo none; (: </dev/tty) 2>/dev/null || echo not behind it"}"#,
            ],
            &["nothing\nnone\nnot behind it"],
        ),
        claim(
            "Bash",
            "What it leaves running in the background is stopped when it ends.",
            &[],
            &[r#"Bash {"command": "sleep 1000 & echo $! >a"}"#, IS_IT_GONE],
            &["gone"],
        ),
        // What a command shows was not read, so that it cannot be changed.
        claim(
            "Bash",
            "Prefer the other tools to read, search and change files.",
            &[("a", "one")],
            &[
                r#"Bash {"command": "cat a"}"#,
                r#"Edit {"file_path": "a", "old_string": "one", "new_string": "two"}"#,
            ],
            &["error: ", "read", "=one"],
        ),
    ]
}

fn times() -> Vec<Claim> {
    const ENDS: &str = "It is stopped after 120000 ms, or after timeout, at most 600000 ms.";
    let ends = |call: &str, says| claim("Bash", ENDS, &[], &[call], says);
    vec![
        ends(r#"Bash {"command": "sleep 1000"}"#, &["timed out after 120000 ms"]).hurried(100),
        // A minute of that time.
        ends(r#"Bash {"command": "sleep 0.6; echo done"}"#, &["done", "!timed out"]).hurried(100),
        ends(
            r#"Bash {"command": "sleep 1000", "timeout": 200000}"#,
            &["timed out after 200000 ms"],
        )
        .hurried(200),
        ends(
            r#"Bash {"command": "sleep 1000", "timeout": 900000}"#,
            &["timed out after 600000 ms"],
        )
        .hurried(600),
        claim(
            "Bash",
            ENDS,
            &[],
            &[r#"Bash {"command": "sleep 1000 & echo $! >a; wait"}"#, IS_IT_GONE],
            &["gone"],
        )
        .hurried(50),
        claim(
            "Bash",
            "Milliseconds after which it is stopped.",
            &[],
            &[r#"Bash {"command": "sleep 1000", "timeout": 100}"#],
            &["timed out after 100 ms"],
        ),
    ]
}

fn inputs() -> Vec<Claim> {
    const OUTSIDE: &str =
        "Ask the user to let it run outside of the sandbox; only for what failed because of it.";
    vec![
        claim(
            "Bash",
            "Command line to run.",
            &[],
            &[r#"Bash {"command": "echo $((1 + 1)) | tr 2 3"}"#],
            &["3"],
        ),
        claim(
            "Bash",
            "What it does, in a few words.",
            &[],
            &[r#"Bash {"command": "echo it", "description": "Says it"}"#],
            &["it", "!error"],
        ),
        claim(
            "Bash",
            OUTSIDE,
            &[("touch.sh", "touch ../beside && echo made")],
            &[r#"Bash {"command": "sh touch.sh"}"#],
            &["error: ", "sandbox", "!made", "!asked to run"],
        )
        .boxed(),
        claim(
            "Bash",
            OUTSIDE,
            &[("touch.sh", "touch ../beside && echo made")],
            &[r#"Bash {"command": "sh touch.sh", "outside_sandbox": true}"#],
            &["asked to run: ", "\nmade"],
        )
        .boxed(),
    ]
}

fn trained() -> Vec<Claim> {
    const ANEW: &str = "Each starts anew in the workspace, so chain what belongs together with &&.";
    vec![
        claim(
            "bash",
            "Runs a command in bash.",
            &[],
            &[r#"bash {"command": "test -n \"$BASH_VERSION\" && echo it is"}"#],
            &["it is"],
        ),
        claim(
            "bash",
            ANEW,
            &[],
            &[
                r#"bash {"command": "cd / && export A=1"}"#,
                r#"bash {"command": "pwd -P; echo [$A]"}"#,
            ],
            &["$W\n[]"],
        ),
        claim(
            "bash",
            ANEW,
            &[],
            &[r#"bash {"command": "cd / && export A=1 && pwd -P && echo [$A]"}"#],
            &["/\n[1]"],
        ),
        claim("bash", "Command to run.", &[], &[r#"bash {"command": "echo it"}"#], &["it"]),
        claim(
            "bash",
            "Start over; without effect.",
            &[],
            &[r#"bash {"restart": true}"#],
            &["there is nothing to restart", "!error"],
        ),
    ]
}
