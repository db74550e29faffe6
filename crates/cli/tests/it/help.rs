//! What a newcomer reads first.

use expect_test::{Expect, expect};

use crate::support::World;

fn check(arguments: &[&str], stdout: Expect) {
    let output = World::new().heeler(arguments).run().exits(0);
    stdout.assert_eq(&output.stdout);
    assert_eq!(output.stderr, "");
}

#[test]
fn help() {
    check(
        &["--help"],
        expect![[r#"
            A coding agent that never loses a session and never runs what was not allowed

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            Commands:
              exec         Run one turn without a terminal: the answer goes to stdout, progress to stderr
              attach       Watch a session that runs elsewhere, say something to it, and answer what it asks
              stop         Stop the turn of a session that runs elsewhere
              demo         Watch the agent fix a failing test: needs cargo, but no key and no network
              sessions     List, name, fork, export or delete the stored sessions
              show         Show a session: what was said, what was run, what it cost
              audit        Check a session's journal, and list what was done and what allowed it
              replay       Play a session again and show where it comes out otherwise; nothing is run
              permissions  Say what may run here and why, and trust this folder's own settings
              config       List, explain or edit the settings
              stage        List, show, apply or discard what exec --stage kept
              schema       Print the JSON Schema of what programs read and write
              models       List the models that can be asked here, and what they cost
              login        Keep a provider's key, read from a hidden prompt or a pipe; a variable that is set wins
              logout       Forget a provider's key
              doctor       Look at this machine: what confines commands here, and what is missing
              completions  Print completions for a shell, such as for `source <(heeler completions bash)`

            Arguments:
              [PROMPT]  What to do first; without, heeler waits for what is written

            Options:
                  --model <MODEL>           Who answers: PROVIDER/NAME, a name the catalogue knows, or script:PATH
                  --fallback-model <MODEL>  Who answers when that model cannot; may be given often
                  --cwd <FOLDER>            Work in this folder instead of the current one; a continued session stays in its own
                  --permission-mode <MODE>  What runs without asking: ask, accept-edits, plan, allow-listed or bypass. Without, the settings say; else it is ask. A session that was left in plan mode goes on in it without
                  --allow <RULE>            Let this run: `Bash(git status:*)`, `Edit(src/**)`, `Bash`; may be given often
                  --ask <RULE>              Ask before this runs, whatever allows it; may be given often
                  --deny <RULE>             Never let this run, in any mode; may be given often
                  --settings <FILE>         Read this file of settings too, after the usual ones
                  --no-settings             Read no files of settings: neither what they allow nor what they deny counts
                  --no-sandbox              Confine no command: none runs but what a rule or the mode allows, with your own rights
                  --resume <ID>             Go on with this session: its id, the beginning of it, or its name
                  --continue                Go on with the newest session of this folder
                  --fork                    Leave that session as it is, and go on with a new one that begins with all it has
              -h, --help                    Print help
              -V, --version                 Print version

            Start here:
              heeler demo                              watch it work: a second or two, needs cargo, no key, no network
              export ANTHROPIC_API_KEY=...             then:
              heeler                                   a session in this terminal
              heeler exec 'explain this repository'    (or heeler -p) without one, for scripts
              heeler exec --permission-mode accept-edits --allow 'Bash(cargo test:*)' 'fix the failing test'

            Exit codes of exec: 0 done, 1 failure or refusal, 2 usage or configuration, 3 ended by a denial,
            4 a limit, 5 provider or network, 6 no answer that fits --output-schema, 130 cancelled.
        "#]],
    );
}

#[test]
fn help_of_exec() {
    check(
        &["exec", "--help"],
        expect![[r#"
            Run one turn without a terminal: the answer goes to stdout, progress to stderr

            Usage: heeler exec [OPTIONS] [PROMPT]

            Arguments:
              [PROMPT]  What to do; `-` reads it from stdin, and so does a pipe when there is no prompt. What is piped in beside a prompt is added to it

            Options:
                  --model <MODEL>           Who answers: PROVIDER/NAME, a name the catalogue knows, or script:PATH
                  --fallback-model <MODEL>  Who answers when that model cannot (busy, limited, unpaid, gone), and then this one, in the order they are given
                  --json                    Print one JSON event a line instead of the answer
                  --stream-input            Read messages from stdin, one JSON object a line, while it works, and print events as --json does: see `heeler schema input`. The end of stdin ends it when all is done
                  --output-schema <FILE>    Answer with JSON that fits the JSON Schema in this file, and nothing else; an answer that does not goes back to the model with the reason, five times at most
              -q, --quiet                   Say only what went wrong on stderr: neither progress nor tokens
              -v, --verbose                 Say more on stderr: model calls with their tokens, what the model thinks, what each call gave
                  --cwd <FOLDER>            Work in this folder instead of the current one; a continued session stays in its own
                  --permission-mode <MODE>  What runs without a rule: ask, accept-edits, plan, allow-listed or bypass. Nobody can be asked here, so ask means deny; with --detach, what asks waits for `heeler attach`, and with --stream-input it is asked on stdout. Without, the settings say; else it is allow-listed, and with --detach ask. A session that was left in plan mode goes on in it without
                  --allow <RULE>            Let this run: `Bash(git status:*)`, `Edit(src/**)`, `Bash`; may be given often
                  --ask <RULE>              Ask before this runs, whatever allows it; may be given often
                  --deny <RULE>             Never let this run, in any mode; may be given often
                  --settings <FILE>         Read this file of settings too, after the usual ones
                  --no-settings             Read no files of settings: neither what they allow nor what they deny counts
                  --no-sandbox              Confine no command: none runs but what a rule or the mode allows, with your own rights
                  --max-rounds <N>          End the turn after this many model calls; 0 for no limit. Without, the settings say; else it is 50
                  --max-tokens <N>          End the turn before it uses more tokens than this, input and output; 0 for no limit
                  --max-cost <USD>          End the turn before it costs more than this; 0 for no limit
                  --timeout <SECONDS>       End the turn after this many seconds; 0 for no limit
                  --resume <ID>             Continue this session (its id, the beginning of it, or its name): first what is pending, then the prompt if there is one
                  --continue                Continue the newest session of this folder
                  --fork                    Leave that session as it is, and continue in a new one that begins with all it has
                  --stage[=<WHAT>]          Let all changes happen beside the folder, in a stage, where edits and confined commands need no rule, and nothing else runs. At the end each hunk is asked about at a terminal; else they are shown and kept for `heeler stage`. Or all is applied, kept or discarded, as this says [possible values: ask, apply, keep, discard]
                  --stage-form <FORM>       How a stage is made: as an overlay over the folder, or as a copy. Without, as a copy where the system has no overlay for us [possible values: overlay, copy]
                  --detach                  Return at once and let it run on its own: prints the session's id. What has to be asked about waits until somebody answers by `heeler attach`
                  --result-json <FILE>      Write the terminal event to this file, whole or not at all
              -h, --help                    Print help
        "#]],
    );
}

#[test]
fn help_of_the_rest() {
    check(
        &["demo", "--help"],
        expect![[r#"
            Watch the agent fix a failing test: needs cargo, but no key and no network

            Usage: heeler demo

            Options:
              -h, --help  Print help
        "#]],
    );
    check(
        &["sessions", "list", "--help"],
        expect![[r#"
            List them, the newest last

            Usage: heeler sessions list [OPTIONS]

            Options:
                  --cwd <FOLDER>  Only those of this folder
                  --json          Print one JSON object instead
              -h, --help          Print help
        "#]],
    );
    check(
        &["audit", "--help"],
        expect![[r#"
            Check a session's journal, and list what was done and what allowed it

            Usage: heeler audit [OPTIONS] <ID>

            Arguments:
              <ID>  The session's id, the beginning of it, or its name

            Options:
                  --secrets  Look for keys and passwords in all that is stored of the session instead
                  --json     Print one JSON object instead
              -h, --help     Print help

            Exit code: 0 when the journal is as it was written, 1 when it is damaged.
            With --secrets: 0 when none is found, else 1.
        "#]],
    );
    check(
        &["replay", "--help"],
        expect![[r#"
            Play a session again and show where it comes out otherwise; nothing is run

            Usage: heeler replay [OPTIONS] <ID>

            Arguments:
              <ID>  The session's id, the beginning of it, or its name

            Options:
                  --from <SEQ>     Begin with this record; those before it are taken as they are [default: 1]
                  --model <MODEL>  Ask this model: PROVIDER/NAME, a name the catalogue knows, or script:PATH
                  --json           Print one JSON object instead
              -h, --help           Print help

            Without --model its recorded answers are given, and what heeler decides has to come out as
            it is recorded. With one, each request is made again and sent to it (which costs what it
            costs): it may use other words, but not other calls. Results of calls come from the
            journal. The session stays as it is.

            Exit code: 0 when all comes again, 1 where it does not, 2 when it cannot be played,
            5 when the model cannot be reached.
        "#]],
    );
    check(
        &["show", "--help"],
        expect![[r#"
            Show a session: what was said, what was run, what it cost

            Usage: heeler show [OPTIONS] <ID>

            Arguments:
              <ID>  The session's id, the beginning of it, or its name

            Options:
                  --request <N>  Print the body of the session's N-th model request, and where its tokens are
                  --raw          Print it byte for byte as it was sent, and nothing else
              -h, --help         Print help
        "#]],
    );
}

#[test]
fn help_and_version_may_be_words() {
    let said = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        World::new().heeler(&words).run().exits(0).stdout
    };
    for (words, flags) in [
        ("help", "--help"),
        ("help exec", "exec --help"),
        ("exec help", "exec --help"),
        ("help sessions list", "sessions list --help"),
        ("sessions help", "sessions --help"),
        ("version", "--version"),
    ] {
        assert_eq!(said(words), said(flags), "{words}");
    }
}

#[test]
fn version() {
    let output = World::new().heeler(&["--version"]).run().exits(0);
    assert_eq!(output.stdout, format!("heeler {}\n", env!("CARGO_PKG_VERSION")));
}
