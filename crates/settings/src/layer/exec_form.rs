//! A program and its arguments as a command line in which no shell reads anything.
//!
//! Whoever looks at a hook's line, to run it, to show it or to protect what it names, sees its
//! arguments so.

/// The one placeholder of a settings file; hooks have a variable of this name.
const PROJECT: &str = "${CLAUDE_PROJECT_DIR}";

/// The line that runs `program`, looked up in `PATH`, with exactly these arguments.
pub(super) fn line(program: &str, arguments: &[&str]) -> String {
    // Without `exec` a builtin of the same name would run, and behind the dashes nothing is an option.
    let dashes = if program.starts_with('-') { "-- " } else { "" };
    let mut line = format!("exec {dashes}{}", quoted(program));
    for argument in arguments {
        line.push(' ');
        line.push_str(&quoted(argument));
    }
    line
}

/// One word, whatever characters it has, with the workspace where the placeholder stands.
fn quoted(text: &str) -> String {
    let parts: Vec<String> = text.split(PROJECT).map(literal).collect();
    match parts.concat().is_empty() && parts.len() == 1 {
        true => "''".to_owned(),
        false => parts.join(&format!("\"{PROJECT}\"")),
    }
}

fn literal(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a shell makes of a line, a shell has to say")]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn check(program: &str, arguments: &[&str], expected: &str) {
        assert_eq!(line(program, arguments), expected);
    }

    #[test]
    fn no_shell_reads_anything_in_a_word() {
        check("bash", &["guard.sh"], "exec bash guard.sh");
        check("./guard.sh", &[], "exec ./guard.sh");
        check("a b", &["$(id)", "it's", ""], r"exec 'a b' '$(id)' 'it'\''s' ''");
        check("-x", &["~", "A=1", "*"], "exec -- -x '~' A=1 '*'");
        check(
            "${CLAUDE_PROJECT_DIR}/guard.sh",
            &["--in=${CLAUDE_PROJECT_DIR}", "${HOME}", "${CLAUDE_PROJECT_DIR}/a b"],
            "exec \"${CLAUDE_PROJECT_DIR}\"/guard.sh --in=\"${CLAUDE_PROJECT_DIR}\" '${HOME}' \
             \"${CLAUDE_PROJECT_DIR}\"'/a b'",
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever stands there, the program reads it as it is written.
        #[test]
        fn a_program_reads_what_was_written(
            words in prop::collection::vec("[ -~\n\u{e4}]{0,8}", 1..4)
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let format = [&["%s\\0"], &words[..]].concat();
            let run = Command::new("sh").args(["-c", &line("printf", &format)]).output().unwrap();
            let read: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect();
            prop_assert_eq!(run.stdout, read);
        }
    }
}
