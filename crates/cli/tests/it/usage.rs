//! Command lines and settings that cannot be used: exit 2, the cause, the next step.

use expect_test::{Expect, expect};

use crate::support::World;

const ANY: &str = "[[reply]]\ntext = \"heard\"\n";

/// Runs `heeler` without a key and checks that it refuses with these words and makes nothing.
fn check(arguments: &[&str], expected: Expect) {
    check_with(&[], arguments, expected);
}

fn check_with(variables: &[(&str, &str)], arguments: &[&str], expected: Expect) {
    let world = World::new();
    world.write("work/any.toml", ANY);
    let mut heeler = world.heeler(arguments);
    for (name, value) in variables {
        heeler = heeler.env(name, value);
    }
    let output = heeler.run().exits(2);
    assert_eq!(output.stdout, "");
    expected.assert_eq(&world.plain(&output.stderr));
    assert_eq!(world.journals().len(), 0);
}

#[test]
fn without_a_key_the_message_says_what_to_set_and_names_the_demo() {
    check(
        &["exec", "hello"],
        expect![[r#"
            heeler: there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or keep one with `heeler login anthropic`; `heeler demo` needs none, only cargo
        "#]],
    );
    let empty = [("ANTHROPIC_API_KEY", "")];
    check_with(
        &empty,
        &["exec", "--model", "claude-opus-4-8", "hello"],
        expect![[r#"
            heeler: there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or keep one with `heeler login anthropic`; `heeler demo` needs none, only cargo
        "#]],
    );
}

#[test]
fn models_that_are_none() {
    check(
        &["exec", "--model", "gpt-0", "hello"],
        expect![[r#"
        heeler: there is no model `gpt-0`; use PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:PATH, and see `heeler models` for what there is
    "#]],
    );
    check(
        &["exec", "--model", "anthropic/", "hello"],
        expect![[r#"
        heeler: there is no model `anthropic/`; use PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:PATH, and see `heeler models` for what there is
    "#]],
    );
    check_with(
        &[("HEELER_MODEL", "gpt-0")],
        &["exec", "hello"],
        expect![[r#"
        heeler: there is no model `gpt-0`; use PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:PATH, and see `heeler models` for what there is
    "#]],
    );
    check(
        &["exec", "--model", "script:absent.toml", "hello"],
        expect![[r#"
        heeler: WORLD/work/absent.toml: cannot be read: No such file or directory (os error 2); check the path and that it is a UTF-8 file
    "#]],
    );
}

#[test]
fn a_broken_script_is_told_with_file_and_line() {
    let world = World::new();
    world.write("work/broken.toml", "[[reply]]\ntext = \"a\"\n[[reply]]\ntxet = \"b\"\n");
    let output = world.heeler(&["exec", "--model", "script:broken.toml", "hello"]).run().exits(2);
    expect![[r#"
        heeler: WORLD/work/broken.toml:4: unknown field `txet`, expected one of `for`, `when`, `expect`, `capture`, `verbatim`, `text`, `blocks`, `stop`, `usage`, `delay_ms`, `chunks`, `error`, `cut`, `stall`, `headers`, `repeat`; docs/guide/scripted-models.md lists every field
    "#]].assert_eq(&world.plain(&output.stderr));
}

#[test]
fn the_cost_of_a_model_without_prices_cannot_be_limited() {
    let arguments = ["exec", "--model", "script:any.toml", "--max-cost", "1", "hello"];
    check(
        &arguments,
        expect![[r#"
        heeler: the prices of script:WORLD/work/any.toml are not known, so its cost cannot be limited; leave out --max-cost, or limit --max-tokens or --max-rounds
    "#]],
    );
    let arguments = ["exec", "--model", "claude-nobody-1", "--max-cost", "0.5", "hello"];
    check_with(
        &[("ANTHROPIC_API_KEY", "k")],
        &arguments,
        expect![[r#"
        heeler: the prices of anthropic/claude-nobody-1 are not known, so its cost cannot be limited; leave out --max-cost, or limit --max-tokens or --max-rounds
    "#]],
    );
    let world = World::new();
    std::fs::create_dir_all(world.path("home")).unwrap();
    world.write("home/settings.toml", "[limits]\ncost = 5");
    world.write("work/any.toml", "[[reply]]\ntext = \"hi\"");
    let output = world.heeler(&["exec", "--model", "script:any.toml", "hello"]).run().exits(2);
    expect![[r#"
        heeler: the prices of script:WORLD/work/any.toml are not known, so its cost cannot be limited; give --max-cost 0 for this run, leave out ~/home/settings.toml:2, or limit --max-tokens or --max-rounds
    "#]].assert_eq(&world.plain(&output.stderr));
}

#[test]
fn variables_without_sense() {
    let key = ("ANTHROPIC_API_KEY", "k");
    for (name, value, expected) in [
        (
            "ANTHROPIC_BASE_URL",
            "ftp://x",
            expect![[r#"
            heeler: `ftp://x` is no http or https address that a path can follow; correct ANTHROPIC_BASE_URL
        "#]],
        ),
        (
            "HEELER_CHARS_PER_TOKEN",
            "33",
            expect![[r#"
            heeler: HEELER_CHARS_PER_TOKEN=33 is not usable; set it to a number of characters from 1 to 32
        "#]],
        ),
        (
            "HEELER_CONTEXT_LIMIT",
            "many",
            expect![[r#"
            heeler: HEELER_CONTEXT_LIMIT=many is not usable; set it to a number of tokens from 1
        "#]],
        ),
        (
            "HEELER_EXTRA_HEADERS",
            "no colon",
            expect![[r#"
            heeler: extra header 1 cannot be sent; HEELER_EXTRA_HEADERS has one `Name: value` a line
        "#]],
        ),
    ] {
        check_with(&[key, (name, value)], &["exec", "hello"], expected);
    }
}

#[test]
fn folders_that_are_none() {
    check(
        &["exec", "--cwd", "absent", "hello"],
        expect![[r#"
            heeler: cannot work in absent; use --cwd FOLDER: No such file or directory (os error 2)
        "#]],
    );
    check(
        &["exec", "--cwd", "any.toml", "hello"],
        expect![[r#"
        heeler: any.toml is not a folder; use --cwd FOLDER
    "#]],
    );
    check(
        &["sessions", "list", "--cwd", "absent"],
        expect![[r#"
            heeler: cannot list the sessions of absent; use --cwd FOLDER: No such file or directory (os error 2)
        "#]],
    );
}

#[test]
fn rules_modes_and_amounts_that_are_none() {
    check(
        &["exec", "--permission-mode", "yolo", "hello"],
        expect![[r#"
            heeler: --permission-mode: `yolo` is no permission mode; use ask, accept-edits, plan, allow-listed or bypass
        "#]],
    );
    check(
        &["exec", "--allow", "Bash(ls", "hello"],
        expect![[r#"
            heeler: --allow: `Bash(ls` lacks its closing bracket
        "#]],
    );
    check(
        &["exec", "--deny", "", "hello"],
        expect![[r#"
            heeler: --deny: `` does not begin with a tool's name; write Tool or Tool(argument)
        "#]],
    );
    check(
        &["exec", "--max-cost", "-1", "hello"],
        expect![[r#"
            error: invalid value '-1' for '--max-cost <USD>': not an amount between 0 and a billion dollars

            For more information, try '--help'.
        "#]],
    );
    check(
        &["exec", "--max-cost", "free", "hello"],
        expect![[r#"
        error: invalid value 'free' for '--max-cost <USD>': not an amount in dollars

        For more information, try '--help'.
    "#]],
    );
    check(
        &["exec", "--max-rounds", "-1", "hello"],
        expect![[r#"
            error: invalid value '-1' for '--max-rounds <N>': -1 is not in 0..=4294967295

            For more information, try '--help'.
        "#]],
    );
    check(
        &["exec", "--timeout", "99999999999999999999", "hello"],
        expect![[r#"
        error: invalid value '99999999999999999999' for '--timeout <SECONDS>': number too large to fit in target type

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn unknown_flags_and_commands() {
    check(
        &["exec", "--modle", "x", "hello"],
        expect![[r#"
        error: unexpected argument '--modle' found

          tip: a similar argument exists: '--model'

        Usage: heeler exec --model <MODEL> [PROMPT]

        For more information, try '--help'.
    "#]],
    );
    check(
        &["exce"],
        expect![[r#"
            error: unrecognized subcommand 'exce'

              tip: a similar subcommand exists: 'exec'; a prompt of one word that is like a subcommand needs another word

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["help", "exce"],
        expect![[r#"
            error: unrecognized subcommand 'exce'

              tip: a similar subcommand exists: 'exec'

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["help", "sessions", "lst"],
        expect![[r#"
            error: unrecognized subcommand 'lst'

              tip: a similar subcommand exists: 'list'

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["session", "list"],
        expect![[r#"
            error: unrecognized subcommand 'session'

              tip: a similar subcommand exists: 'sessions'

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["exce", "hi"],
        expect![[r#"
            error: unrecognized subcommand 'exce'

              tip: a similar subcommand exists: 'exec'

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["--model", "x", "exce", "hi"],
        expect![[r#"
            error: unrecognized subcommand 'exce'

              tip: a similar subcommand exists: 'exec'

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["--", "exec", "a b"],
        expect![[r#"
            error: unrecognized subcommand 'exec'

              tip: 'exec' is one without the -- before it

            Usage: heeler [OPTIONS] [PROMPT]
                   heeler <COMMAND>

            For more information, try '--help'.
        "#]],
    );
    check(
        &["exec", "--continue", "--resume", "x", "hello"],
        expect![[r#"
        error: the argument '--continue' cannot be used with '--resume <ID>'

        Usage: heeler exec --continue <PROMPT>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn the_tip_about_a_dash_is_for_prompts_that_begin_with_one() {
    let tip_of = |arguments: &[&str]| {
        let told = World::new().heeler(arguments).run().exits(2).stderr;
        told.lines().find_map(|line| Some(line.split_once("tip: ")?.1.to_owned()))
    };
    let behind_dashes = "a prompt that begins with - stands behind --: heeler -- '- a list'";
    assert_eq!(tip_of(&["- one of a list"]).as_deref(), Some(behind_dashes));
    let behind_dashes = behind_dashes.replace("heeler --", "heeler exec --");
    for prompt in ["- one of a list", "-q y z", "-v one"] {
        assert_eq!(tip_of(&["exec", prompt]).as_deref(), Some(&*behind_dashes), "{prompt}");
    }
    let known = tip_of(&["exec", "--dangerously-skip-permissions", "x"]);
    assert_eq!(known.as_deref(), Some("here it is '--permission-mode bypass'"));
    // What else is wrong is not the prompt's fault.
    for wrong in [
        &["exec", "-z", "- x"][..],
        &["exec", "--modle", "x", "-- foo"],
        &["sessions", "list", "- x"],
    ] {
        let tip = tip_of(wrong).unwrap_or_default();
        assert!(!tip.contains("begins with -"), "{wrong:?}: {tip}");
    }
}

#[test]
fn a_prompt_without_its_quotes() {
    check(
        &["exec", "one", "two"],
        expect![[r#"
        error: unexpected argument 'two' found

          tip: a prompt of several words needs quotes: 'fix the failing test'

        Usage: heeler exec [OPTIONS] [PROMPT]

        For more information, try '--help'.
    "#]],
    );
    check(
        &["exec", "- one of a list"],
        expect![[r#"
        error: unexpected argument '- ' found

          tip: a prompt that begins with - stands behind --: heeler exec -- '- a list'

        Usage: heeler exec [OPTIONS] [PROMPT]

        For more information, try '--help'.
    "#]],
    );
    check(
        &["-p", "one", "two"],
        expect![[r#"
        error: unexpected argument 'two' found

          tip: a prompt of several words needs quotes: 'fix the failing test'

        Usage: heeler exec [OPTIONS] [PROMPT]

        For more information, try '--help'.
    "#]],
    );
    check(
        &["fix", "the", "bug"],
        expect![[r#"
        error: unexpected argument 'the' found

          tip: a prompt of several words needs quotes: 'fix the failing test'

        Usage: heeler [OPTIONS] [PROMPT]
               heeler <COMMAND>

        For more information, try '--help'.
    "#]],
    );
    check(
        &["fix", "--modle"],
        expect![[r#"
        error: unexpected argument '--modle' found

          tip: a similar argument exists: '--model'

        Usage: heeler --model <MODEL> <PROMPT>

        For more information, try '--help'.
    "#]],
    );
    // A word that is a command is told as one.
    check(
        &["fix", "exec"],
        expect![[r#"
        error: the subcommand 'exec' cannot be used with '[PROMPT]'

        Usage: heeler [OPTIONS] [PROMPT]
               heeler <COMMAND>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_stage_that_is_none() {
    let output = World::new().heeler(&["stage", "show", "absent"]).run();
    expect![[r#"
        heeler: there is no stage absent; see `heeler stage list` for those there are
    "#]]
    .assert_eq(&output.stderr);
}

#[test]
fn sessions_that_are_none() {
    check(
        &["show", "0199"],
        expect![[r#"
        heeler: there is no session 0199; see `heeler sessions list`
    "#]],
    );
    check(
        &["exec", "--resume", "0199", "hello"],
        expect![[r#"
        heeler: there is no session 0199; see `heeler sessions list`
    "#]],
    );
    check(
        &["exec", "--continue", "hello"],
        expect![[r#"
        heeler: there is no session of WORLD/work yet; start one with `heeler exec PROMPT`
    "#]],
    );
    check(
        &["show"],
        expect![[r#"
        error: the following required arguments were not provided:
          <ID>

        Usage: heeler show <ID>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn without_any_home_the_message_says_what_to_set() {
    let world = World::new();
    let mut heeler = world.heeler(&["sessions", "list"]);
    for name in ["HOME", "HEELER_HOME"] {
        heeler = heeler.env(name, "");
    }
    let output = heeler.run().exits(2);
    expect![[r#"
        heeler: neither HEELER_HOME nor HOME is set; set HEELER_HOME to a folder
    "#]]
    .assert_eq(&output.stderr);
}

#[test]
fn a_home_that_is_a_part_of_a_path_is_refused() {
    check_with(
        &[("HOME", "x")],
        &["exec", "hello"],
        expect![[r#"
        heeler: HOME=x depends on the folder heeler is started in; set it to the whole path, from / on
    "#]],
    );
}

#[test]
fn words_of_the_line_that_are_told_again_command_no_terminal() {
    for arguments in [
        &["exec", "--x\u{1b}[2J"][..],
        &["exec", "--max-rounds", "\u{1b}[2J", "x"],
        &["attach", "a", "x\u{1b}[2J\u{202e}"],
        &["help", "\u{1b}[2J"],
        &["--color\u{9b}2J"],
    ] {
        let told = World::new().heeler(arguments).run().exits(2).stderr;
        assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told:?}");
        assert!(!told.contains('\u{202e}'), "{told:?}");
        assert!(told.contains("2J"), "{told:?}");
    }
}
