//! No line panics, and none takes more than its limits let it.

use heeler_shell::{
    COMMANDS_MAX, DEPTH_MAX, LINE_BYTES_MAX, SCRIPTS_DEPTH_MAX, WORDS_MAX, WRAPPED_DEPTH_MAX, read,
};
use proptest::prelude::*;

use crate::PLACE;

/// What the reader says where something panicked within it.
const PANICKED: &str = "the line could not be read";

fn whys(line: &str) -> Vec<String> {
    read(line, &PLACE).concerns.into_iter().map(|concern| concern.why).collect()
}

fn check(line: &str, expected: &str) {
    let whys = whys(line);
    let start: String = line.chars().take(80).collect();
    assert!(whys.iter().any(|why| why == expected), "{start}: {whys:?}");
}

/// The line with a construct around it, so many times.
fn nested(depth: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn each_limit_is_reached_and_what_is_just_below_is_read() {
    let comment = |bytes: usize| format!("ls #{}", "x".repeat(bytes - 4));
    assert_eq!(whys(&comment(LINE_BYTES_MAX)), Vec::<String>::new());
    check(&comment(LINE_BYTES_MAX + 1), "the line is too long to read");

    assert_eq!(whys(&"ls;".repeat(COMMANDS_MAX)), Vec::<String>::new());
    check(&"ls;".repeat(COMMANDS_MAX + 1), "it holds too many commands");
    // Each line within holds few, all together hold too many.
    let many = format!("sh -c '{}';", "ls;".repeat(COMMANDS_MAX / 2));
    check(&many.repeat(3), "it holds too many commands");

    assert_eq!(whys(&nested(DEPTH_MAX, "(", "ls", ")")), Vec::<String>::new());
    check(&nested(DEPTH_MAX + 1, "( ", "ls", " )"), "it is nested too deep");

    assert_eq!(whys(&nested(SCRIPTS_DEPTH_MAX - 1, "eval ", "ls", "")), Vec::<String>::new());
    check(&nested(SCRIPTS_DEPTH_MAX, "eval ", "ls", ""), "lines are nested too deep in each other");

    assert_eq!(whys(&nested(WRAPPED_DEPTH_MAX, "env ", "ls", "")), Vec::<String>::new());
    for wrapper in ["env ", "xargs ", "nohup ", "timeout 1 ", "find . -exec ", "env -S env "] {
        let line = nested(WRAPPED_DEPTH_MAX + 1, wrapper, "ls", "");
        check(&line, "commands run each other too deep");
    }
    // All words again for each command that runs another.
    let words = format!("ls{}", " a".repeat(WORDS_MAX / 3));
    assert_eq!(whys(&format!("env env {words}")), ["it holds too many commands"]);
    assert_eq!(whys(&format!("env {words}")), Vec::<String>::new());
}

/// Each would take seconds or a stack without a limit.
#[test]
fn hostile_lines_end() {
    let deep = [
        ("echo ${a[", "b", "]}"),
        ("echo $((a[", "1", "]))"),
        ("echo \"${a:-\"", "x", "\"}\""),
        ("echo \"$(", "ls", ")\""),
        ("if true; then ", "ls", "; fi"),
        ("case a in a) ", "ls", " ;; esac"),
        ("cat <(", "ls", ")"),
        ("[[ ( ", "a", " ) ]]"),
        ("f() { ", "ls", "; }"),
    ];
    for (open, inner, close) in deep {
        for depth in [DEPTH_MAX / 2, DEPTH_MAX, 2_000] {
            read(&nested(depth, open, inner, close), &PLACE);
        }
    }
    let long = [
        "(", "((", "$(", "`", "\\", "@(", "<", "<<a ", "'", "\"", "${", "if ", "{", "{a,b}", "$((",
        "a=b ", "> a ", "1+", "!", "| ",
    ];
    for part in long {
        let part = part.repeat(LINE_BYTES_MAX / part.len() - 8);
        read(&part, &PLACE);
        read(&format!("echo {part}"), &PLACE);
    }
    // Quadratic without a limit on the depth, or by looking into each pair again.
    let half = LINE_BYTES_MAX / 2 - 8;
    read(&format!("echo {}{}", "{".repeat(half), "}".repeat(half)), &PLACE);
    for wrapper in ["xargs ", "env ", "sudo ", "timeout 1 "] {
        read(&nested(LINE_BYTES_MAX / wrapper.len() - 8, wrapper, "rm", ""), &PLACE);
    }
}

/// The grammar's scanner looked characters behind a brace up in a table of 384.
#[test]
fn what_stands_behind_a_brace_may_be_any_character() {
    for char in (0x100..=0x10_ffff).step_by(0x1fff).filter_map(char::from_u32) {
        for line in [format!("echo {{{char}"), format!("{{1{char}}}"), format!("a {{1..2{char}}}")]
        {
            assert!(!whys(&line).iter().any(|why| why == PANICKED), "{line:?}");
        }
    }
    assert_eq!(whys("echo {\u{65e5},\u{672c}}.txt"), Vec::<String>::new());
}

/// Pieces that shell lines are made of, as they come.
pub(crate) fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "ls",
        "git",
        "push",
        "rm",
        "-rf",
        "echo",
        "sed",
        "s/a/b/e",
        "awk",
        "{print}",
        "find",
        "-exec",
        "xargs",
        "env",
        "sh",
        "-c",
        "eval",
        "tar",
        "xzf",
        "cd",
        "..",
        "~",
        "/etc/x",
        "src",
        "$(",
        ")",
        "`",
        "'",
        "\"",
        "$'",
        "${",
        "}",
        "{",
        "(",
        "((",
        "))",
        "[[",
        "]]",
        ";",
        "&&",
        "||",
        "|",
        "&",
        ">",
        ">>",
        "<",
        "<<",
        "<<<",
        "<<EOF\n",
        "\nEOF\n",
        "\n",
        "\\",
        "\\\n",
        "#",
        "*",
        "?",
        "[a]",
        "$x",
        "${a:-b}",
        "$((1+1))",
        "a=b",
        "PATH=x",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "f()",
        "time",
        "!",
        "coproc",
        "=",
        ",",
        "..",
        "@(",
        "+",
        ":",
        "%",
        "é",
        "\u{202e}",
        "\u{10fffd}",
        "\0",
        "\u{7f}",
    ]);
    prop::collection::vec((piece, prop::sample::select(vec!["", " "])), 0..24)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| format!("{piece}{gap}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_panics(line in any::<String>()) {
        prop_assert!(!whys(&line).iter().any(|why| why == PANICKED));
    }

    #[test]
    fn no_shell_panics(line in pieces()) {
        prop_assert!(!whys(&line).iter().any(|why| why == PANICKED), "{line:?}");
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let line = String::from_utf8_lossy(&bytes);
        prop_assert!(!whys(&line).iter().any(|why| why == PANICKED));
    }
}
