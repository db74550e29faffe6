//! What sessions are judged as when something is written to them.

use super::*;

const PLACE: Place<'_> =
    Place { workspace: "/space", home: Some("/home/user"), temp: Some("/tmp/x") };

fn said(line: &ShellLine) -> String {
    let concerns: Vec<_> = line.concerns.iter().map(|concern| concern.why.as_str()).collect();
    let needed: Vec<_> = line
        .commands
        .iter()
        .filter(|command| !command.is_wrapper)
        .map(|command| command.words.join(" "))
        .collect();
    format!("{} | {}", needed.join("; "), concerns.join("; "))
}

/// What nobody can tell is said so.
const UNKNOWN: &str = "it writes to a shell whose line cannot be told";

/// A session's command on a terminal, to which this was written.
fn script(command: &str, written: &[&str], is_confined: bool, has_terminal: bool) -> Script {
    let runs = Runs { is_confined, has_terminal };
    let mut script = Script::new(&Setup::new(None, &[]), command, runs, &PLACE);
    for data in written {
        script.write(data, &PLACE);
        script.arrived();
    }
    script
}

/// What the last of these texts is judged as, written to this command one after the other.
fn check_in(has_terminal: bool, command: &str, written: &[&str], expected: &str) {
    let (last, before) = written.split_last().unwrap();
    let script = script(command, before, true, has_terminal);
    assert_eq!(said(&script.line(last, &PLACE)), expected, "{command} {written:?}");
}

fn check(command: &str, written: &[&str], expected: &str) {
    check_in(true, command, written, expected);
}

#[test]
fn what_is_written_to_a_shell_is_a_script() {
    check("bash", &["git status\n"], "bash; git status | ");
    check(
        "env bash -i",
        &["git push\n"],
        "bash -i; git push | git push talks to another repository",
    );
    check("bash", &["rm -", "rf build", "\n"], "bash; rm -rf build | removes build for good");
    check(
        "bash",
        &["cd ..\n", "rm x\n"],
        "bash; cd ..; rm x | writes to /x, which is outside of the workspace",
    );
    check("bash", &["X=rm\n", "$X x\n"], "bash; $X x | which command runs is computed: $X");
    check("bash", &["echo 'a\n", "rm x'\n"], "bash; echo a\nrm x | ");
}

#[test]
fn a_line_that_keys_made_is_asked_about() {
    let unknown = UNKNOWN;
    check(
        "bash",
        &["ls\n", "\x1b[A"],
        &format!(
            "bash; ls; \x1b[A | it holds control characters; the name of a command holds unusual characters; {unknown}"
        ),
    );
    check("bash", &["ls\t", "\x03", "ls\n"], &format!("bash; ls; ls | {unknown}"));
    check("bash", &["!rm\n"], &format!("bash; !rm | {unknown}"));
    check("bash", &["echo rm x\n", "!", "echo\n"], &format!("bash; echo rm x; !echo | {unknown}"));
    check("bash", &["ls !"], &format!("bash; ls ! | {unknown}"));
    check("bash", &["ls x\n", "^ls^rm\n"], &format!("bash; ls x; ^ls^rm | {unknown}"));
    check("bash", &["ls x\n", "^", "ls^rm\n"], &format!("bash; ls x; ^ls^rm | {unknown}"));
    check("bash", &["ls x\r^ls^rm\r"], &format!("bash; ls x; ^ls^rm | {unknown}"));
    check("bash", &["grep ", "^a b\n"], "bash; grep ^a b | ");
    check("bash", &["ls\r", "\x03", "pwd\r"], "bash; ls; pwd | ");
    check("bash", &[&"#".repeat(SCRIPT_BYTES_MAX + 1)], &format!("bash | {unknown}"));
    check("bash", &[&"#".repeat(SCRIPT_BYTES_MAX + 1), "ls\n"], &format!("bash; ls | {unknown}"));
}

#[test]
fn keys_that_end_a_line_do_so_only_where_nothing_is_begun() {
    let unknown = |of: &str| format!("bash; {of} | {UNKNOWN}");
    check("bash", &["r\x0cm -rf build\r"], &unknown("r; m -rf build"));
    check("bash", &["ls\n", "r\x04m -rf build\n"], &unknown("ls; r; m -rf build"));
    check("bash", &["cd x\x03rm y\n"], &unknown("cd x; rm y"));
    // What was open is dropped.
    check("bash", &["echo '\n", "\x03rm -rf build\n#'\n"], &unknown("echo \n\nrm -rf build\n#"));
    check("bash", &["cat <<E\n", "\x04rm y\nE\n"], &unknown("cat"));
    // A carriage return is a line of its own.
    let line = "bash; echo a; rm -rf build | removes build for good";
    check("bash", &["echo a \\\r\nrm -rf build\n"], line);
    check("python3", &["1\n", "\x04"], "python3 | ");
    check("bash", &["\x03".repeat(KEYS_MAX + 1).as_str()], &format!("bash | {UNKNOWN}"));
}

#[test]
fn a_pipe_has_no_keys() {
    let why = format!("it holds control characters; removes build for good; {UNKNOWN}");
    let text = "#\rcat <<E\nrm -rf build\nE\n";
    check_in(false, "bash", &[text], &format!("bash; rm -rf build; E | {why}"));
    check_in(false, "bash", &["ls\n", "pwd\n"], "bash; ls; pwd | ");
    check_in(false, "bash", &["ls\n", "\x04"], "bash; ls | ");
    let long = "#".repeat(TERMINAL_LINE_BYTES_MAX + 1);
    check_in(true, "bash", &[&long], &format!("bash | {UNKNOWN}"));
    check_in(false, "bash", &[&long], "bash | ");
}

#[test]
fn what_did_not_arrive_is_not_known() {
    let mut script = script("bash", &["ls\n"], true, true);
    script.write("pwd\n", &PLACE);
    assert_eq!(said(&script.line("id\n", &PLACE)), format!("bash; ls; pwd; id | {UNKNOWN}"));
    script.write("id\n", &PLACE);
    script.arrived();
    assert_eq!(said(&script.line("w\n", &PLACE)), format!("bash; ls; pwd; id; w | {UNKNOWN}"));
}

#[test]
fn a_program_may_take_the_lines_above_a_command() {
    let runs = |text: &str| {
        let line = script("bash", &[], true, false).line(text, &PLACE);
        let rm = |command: &&ShellCommand| command.words.first().is_some_and(|word| word == "rm");
        let words = line.commands.iter().filter(rm).map(|command| command.words.join(" "));
        let concerns = line.concerns.iter().map(|concern| concern.why.clone());
        words.chain(concerns).collect::<Vec<_>>()
    };
    let removes = ["rm -rf build", "removes build for good"];
    assert_eq!(runs("read x\ncat <<'E'\nrm -rf build\nE\n"), removes);
    assert_eq!(runs("read x\ncat <<'E'\nrm \\\n-rf build\nE\n"), removes);
    assert_eq!(runs("read x\ncat <<'E'\nr\\\nm -rf build\nE\n"), removes);
    assert_eq!(runs("read x\necho '\nrm -rf build #'\n"), removes);
    let behind = "if true\nthen\nread x; fi\ncat <<'E'\nrm -rf build\nE\n";
    assert_eq!(runs(behind), removes);
    // Nobody took anything.
    assert_eq!(runs("cat <<'E'\nrm -rf build\nE\n"), [""; 0]);
    assert_eq!(runs("cd a\nfor i in 1 2; do\n  echo $i\ndone\n"), [""; 0]);
    let long = format!("cat <<'E'\n{}E\n", "it's a line of text, as any other\n".repeat(70));
    assert_eq!(runs(&long), [""; 0]);
    assert_eq!(runs(&format!("cd .\n{long}{long}")), [""; 0]);
    let many = format!("ls\ncat <<'E'\n{}E\n", "cat <<X\n".repeat(3_000));
    assert_eq!(runs(&many), [UNKNOWN]);
}

#[test]
fn a_program_before_the_shell_may_take_the_first_line() {
    let text = "cat <<E\nrm -rf build\nE\n";
    let runs = |command: &str| {
        let line = script(command, &[], true, true).line(text, &PLACE);
        line.concerns.iter().any(|concern| concern.why == "removes build for good")
    };
    assert_eq!(["bash", "env bash -i", "A=1 sh"].map(runs), [false; 3]);
    assert_eq!(["read x; bash", "sed -u 1q; bash", "sh -c 'read x; exec sh'"].map(runs), [true; 3]);
}

#[test]
fn what_has_a_shell_read_otherwise_is_asked_about() {
    for text in [
        "read -n1 x\n#rm\n",
        "read -rd Z x\n",
        "head -c5\n",
        "dd bs=1 count=1\n",
        "stty erase Q\n",
        "bind '\"q\":\"x\"'\n",
        "PS1='$(ls)'\n",
        "export PS2=x\n",
        "PS4=x; set -x\n",
    ] {
        let line = script("bash", &[], true, true).line(text, &PLACE);
        assert!(line.concerns.iter().any(|concern| concern.why == UNKNOWN), "{text}");
    }
    for text in ["read x\n", "head -n 5 a\n", "stty size\n", "echo $PATH\n"] {
        let line = script("bash", &[], true, true).line(text, &PLACE);
        assert!(line.concerns.iter().all(|concern| concern.why != UNKNOWN), "{text}");
    }
}

#[test]
fn what_is_written_to_another_program_is_that_program_and_its_words() {
    check("python3", &["import os\n", "print(1)\n"], "python3 | ");
    let script = script("less a", &[], true, true);
    let line = script.line("!/bin/rm -rf x\n", &PLACE);
    assert_eq!(said(&line), "less a | ");
    assert!(line.commands.iter().any(|command| command.words == ["rm", "-rf", "x"]));
    assert!(!line.is_read_only);
    let begun = {
        let mut script = script;
        script.write("old\n!r", &PLACE);
        script.arrived();
        script
    };
    assert!(begun.line("m x", &PLACE).commands.iter().any(|it| it.words == ["rm", "x"]));
}

#[test]
fn who_runs_outside_leaves_the_box_with_each_word() {
    let script = script("python3", &[], false, true);
    let line = script.line("1\n", &PLACE);
    assert_eq!(said(&line), "python3 | it writes to a program that runs outside of the sandbox");
}

/// What has to be allowed of a command that starts in a folder with variables.
fn check_start(folder: Option<&str>, variables: &[(&str, &str)], command: &str, expected: &str) {
    let variables: Vec<_> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let line = start(&Setup::new(folder, &variables), command, true, &PLACE);
    assert_eq!(said(&line), expected, "{folder:?} {variables:?} {command}");
}

#[test]
fn a_start_is_its_command_with_folder_and_variables() {
    let variables = [("A".to_owned(), "it's".to_owned())];
    let setup = Setup::new(Some("sub dir"), &variables);
    assert_eq!(setup.text, "cd 'sub dir'\nexport A='it'\\''s'\n");
    check_start(Some("sub dir"), &[("A", "it's")], "ls", "ls | ");
    check_start(None, &[], "bash", "bash | ");
    let none = Setup::new(None, &[]);
    let reads = "bash | a shell runs what it reads";
    assert_eq!(said(&start(&none, "bash", false, &PLACE)), reads);
    check_start(None, &[("PATH", "/x")], "ls", "ls | PATH decides what runs");
    let up = "rm x | writes to /x, which is outside of the workspace";
    check_start(Some(".."), &[], "rm x", up);
}

#[test]
fn a_line_break_in_a_setting_lets_no_command_off() {
    check_start(None, &[("A", "1\n2")], "id; ls", "id; ls | ");
    check_start(None, &[("A", "\n\n\n"), ("B", "'\n'")], "id; ls; pwd", "id; ls; pwd | ");
    check_start(Some("a\nb\n"), &[("A", "1")], "id; ls", "id; ls | ");
    check_start(Some("a\n\nb"), &[], "cd c; export D=1; ls", "cd c; export D=1; ls | ");
}
