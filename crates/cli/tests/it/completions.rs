//! `completions`: scripts that complete what there is.

use expect_test::expect;

use crate::running::Heeler;
use crate::support::{World, program};

/// Completes the last of these words as an interactive bash does.
const BASH: &str = r#"
source /dev/stdin
COMP_WORDS=(heeler "$@") COMP_CWORD=$#
_heeler heeler "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
echo "${COMPREPLY[@]}"
"#;

fn script(world: &World, shell: &str) -> String {
    let output = world.heeler(&["completions", shell]).run().exits(0);
    assert_eq!(output.stderr, "");
    output.stdout
}

#[test]
fn bash_completes_commands_options_and_values() {
    let world = World::new();
    let script = script(&world, "bash");
    let mut completed = String::new();
    for words in [
        &["se"][..],
        &["sessions", ""],
        &["show", "--r"],
        &["completions", ""],
        &["exec", "--permission-mode", "a"],
    ] {
        let mut bash = program("bash");
        bash.args(["--norc", "-c", BASH, "bash"]).args(words);
        world.settle(&mut bash);
        let output = Heeler::new(bash).stdin(script.as_str()).run().exits(0);
        completed.push_str(&format!("{words:?}: {}", output.stdout));
    }
    expect![[r#"
        ["se"]: sessions
        ["sessions", ""]: -h --help list rename fork export delete
        ["show", "--r"]: --request --raw
        ["completions", ""]: -h --help bash zsh fish
        ["exec", "--permission-mode", "a"]: ask accept-edits allow-listed
    "#]]
    .assert_eq(&completed);
}

#[test]
fn every_shell_has_a_script_of_all_commands() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = script(&world, shell);
        for word in ["exec", "sessions", "audit", "permission-mode"] {
            assert!(script.contains(word), "{shell} knows no {word}");
        }
        for hidden in ["--detached", "-l detached"] {
            assert!(!script.contains(hidden), "{shell} offers {hidden}");
        }
    }
    let output = world.heeler(&["completions", "tcsh"]).run().exits(2);
    expect![[r#"
        error: invalid value 'tcsh' for '<SHELL>'
          [possible values: bash, zsh, fish]

          tip: a similar value exists: 'zsh'

        For more information, try '--help'.
    "#]]
    .assert_eq(&output.stderr);
}
