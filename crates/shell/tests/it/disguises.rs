//! Whatever is wrapped around a line, and however it is quoted, it loses no concern.

use heeler_shell::{ConcernKind, Line, read};
use proptest::prelude::*;
use tree_sitter::{Node, Parser};

use crate::PLACE;
use crate::corpus;

/// What can be put around a line; `@` stands for it, `%` for it in single quotes.
const WRAPPERS: [&str; 22] = [
    "( @\n)",
    "{ @\n}",
    "if true; then @\nfi",
    "if false; then :; else @\nfi",
    "while true; do @\ndone",
    "for i in 1 2; do @\ndone",
    "case x in *) @\n;; esac",
    "echo $(@\n)",
    "echo \"$(@\n)\"",
    "x=$(@\n)",
    "cat <(@\n)",
    "true && { @\n}",
    "{ @\n} | cat",
    "echo | { @\n}",
    "{ @\n} >/dev/null 2>&1",
    "work() { @\n}; work",
    "sh -c %",
    "env bash -c %",
    "timeout 5 bash -ec %",
    "nice -n 3 nohup sh -c %",
    "eval %",
    "find . -maxdepth 0 -exec sh -c % \\;",
];

/// What can be put before a simple command.
const PREFIXES: [&str; 8] =
    ["env ", "env -i A=b ", "timeout 5 ", "nice -n 5 ", "nohup ", "command ", "time ", "! "];

fn wrapped(wrapper: &str, line: &str) -> String {
    let quoted = format!("'{}'", line.replace('\'', r"'\''"));
    wrapper.replace('%', &quoted).replace('@', line)
}

fn asks(line: &Line) -> bool {
    !line.concerns.is_empty()
}

fn check(before: &str, after: &str) -> Result<(), TestCaseError> {
    let (plain, disguised) = (read(before, &PLACE), read(after, &PLACE));
    prop_assert!(
        !asks(&plain) || asks(&disguised),
        "{before:?} asks for {:?}, not\n{after}",
        plain.concerns
    );
    prop_assert!(plain.is_read_only || !disguised.is_read_only, "{after:?} only reads");
    Ok(())
}

fn rows() -> impl Strategy<Value = String> {
    let rows: Vec<String> = corpus::rows().into_iter().map(|row| row.command).collect();
    // What asks because it does not parse may parse in another place.
    prop::sample::select(rows).prop_filter("it parses", |row| parses(row))
}

fn parses(line: &str) -> bool {
    read(line, &PLACE).concerns.iter().all(|concern| !concern.why.contains("parse"))
}

/// The plain words of a line: where they are, and that quotes change nothing about them.
fn words(line: &str) -> Vec<std::ops::Range<usize>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    let tree = parser.parse(line, None).unwrap();
    let mut found = Vec::new();
    collect(tree.root_node(), line, &mut found);
    found
}

fn collect(node: Node<'_>, line: &str, found: &mut Vec<std::ops::Range<usize>>) {
    let text = &line[node.byte_range()];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let of_command =
        node.parent().is_some_and(|parent| matches!(parent.kind(), "command" | "command_name"));
    if node.kind() == "word"
        && of_command
        && text != "time"
        && text != "-p"
        && text.chars().all(is_plain)
    {
        found.push(node.byte_range());
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, line, found);
    }
}

/// The word in other letters that mean the same.
fn requoted(word: &str, how: usize) -> String {
    let (first, rest) = word.split_at(1);
    match how {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("\\{word}"),
        3 => format!("{first}''{rest}"),
        4 => format!("\"{first}\"{rest}"),
        5 => format!("$'{word}'"),
        6 => format!("{first}\\\n{rest}"),
        _ => format!("$'\\x{:02x}'{rest}", first.as_bytes()[0]),
    }
}

#[test]
fn two_dashes_end_no_options_of_a_program_that_heeds_them_all_the_same() {
    for line in [
        "find -- precious -delete",
        "find . -- -delete",
        "find -H -- . -delete",
        "find -- . -exec rm -rf {} +",
        "find -- . -exec rm -rf {} \\;",
        "find -L -- a b -ok rm {} \\;",
        "xargs find -- . -delete",
    ] {
        let concerns = read(line, &PLACE).concerns;
        assert!(concerns.iter().any(|it| it.kind == ConcernKind::Irreversible), "{line}");
    }
    for line in
        ["find -- . -fprint out", "find -- . $X", "tidy -- -m a.html", "xmllint -- --shell a"]
    {
        assert!(!read(line, &PLACE).is_read_only, "{line}");
    }
    for line in ["find -- . -name x", "tidy -q -- a.html", "xmllint --noout a", "grep -- -r a"] {
        assert!(read(line, &PLACE).is_read_only, "{line}");
    }
}

#[test]
fn a_word_goes_on_behind_the_end_of_its_line() {
    for (line, expected) in [
        ("r\\\nm victim", "rm victim"),
        ("ls; r\\\n\\\nm \"a b\"", "ls | rm a b"),
        ("sh -c \"r\\\nm victim\"", "sh -c rm victim | rm victim"),
        ("cargo test \\\n  --all", "cargo test --all"),
        ("echo a\\\\\nrm b", "echo a\\ | rm b"),
    ] {
        let read = read(line, &PLACE);
        let commands: Vec<String> = read.commands.iter().map(|it| it.words.join(" ")).collect();
        assert_eq!(commands.join(" | "), expected, "{line}");
        assert_eq!(read.concerns, [], "{line}");
    }
}

#[test]
fn each_row_keeps_its_verdict_in_wrappers() {
    // Each row in four of them, and each of them around many rows.
    for (index, row) in corpus::rows().iter().enumerate().filter(|(_, row)| parses(&row.command)) {
        for wrapper in WRAPPERS.iter().cycle().skip(index * 4 % WRAPPERS.len()).take(4) {
            check(&row.command, &wrapped(wrapper, &row.command)).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn wrappers_in_wrappers_lose_nothing(
        row in rows(),
        wrappers in prop::collection::vec(prop::sample::select(WRAPPERS.to_vec()), 1..4),
    ) {
        let line = wrappers.iter().fold(row.clone(), |line, wrapper| wrapped(wrapper, &line));
        check(&row, &line)?;
    }

    #[test]
    fn a_prefix_loses_nothing(row in rows(), prefix in prop::sample::select(PREFIXES.to_vec())) {
        let words = words(&row);
        prop_assume!(words.first().is_some_and(|word| word.start == 0));
        // A child that changes its folder leaves the shell where it is.
        prop_assume!(!row.starts_with("cd ") && !row.starts_with("pushd "));
        check(&row, &format!("{prefix}{row}"))?;
    }

    #[test]
    fn quotes_lose_nothing(row in rows(), at in any::<prop::sample::Index>(), how in 0_usize..8) {
        let words = words(&row);
        prop_assume!(!words.is_empty());
        let word = words[at.index(words.len())].clone();
        let line = format!("{}{}{}", &row[..word.start], requoted(&row[word.clone()], how), &row[word.end..]);
        check(&row, &line)?;
    }
}

/// Whether the line is seen to run `touch p`, or not understood.
fn is_seen(line: &str) -> bool {
    let read = read(line, &PLACE);
    let touches = read.commands.iter().any(|command| command.words == ["touch", "p"]);
    touches || read.concerns.iter().any(|concern| concern.kind == ConcernKind::NotUnderstood)
}

#[test]
fn what_another_user_runs_is_looked_into() {
    for line in [
        "su root -c 'touch p'",
        "su root -- -c 'touch p'",
        "su -- root -c 'touch p'",
        "su - root -- --command='touch p'",
        "su -c 'touch p' root",
        "su root -- -x s",
    ] {
        assert!(is_seen(line), "{line}");
    }
}

#[test]
fn values_that_bash_expands_by_itself_are_looked_into() {
    for line in [
        "PS4='$(touch p)'; set -x; ls",
        "PS4=\"+ \\$(touch p)\" bash -xc true",
        "export PS4='+ `touch p`'; set -x; ls",
        "PS4='\\044(touch p)'; set -x; ls",
        "PS4='$(tou\\[ch p)'; set -x; ls",
        "PS4='$'; PS4+='(touch p)'; set -x; ls",
        "declare PS4='$'; declare PS4+='(touch p)'; set -x; ls",
        "a='$(touch p)'; PS4=$a; set -x; ls",
        "read -r PS4 < f; set -x; ls",
        "printf -v PS4 '$(touch p)'; set -x; ls",
        "for PS4 in '$(touch p)'; do set -x; ls; done",
        "declare -n r=PS4; r='$(touch p)'; set -x; ls",
        "declare -n r='a[$(touch p)]'; r=1",
        "f() { local -n r=$1; r=1; }; f 'a[$(touch p)]'",
        "PS0='$(touch p)' bash -i",
        "PS1='$(touch p)' bash -i",
        "BASH_ENV='$(touch p)' bash -c true",
        "BASH_ENV='\"$(touch p)\"' bash -c true",
        "BASH_ENV=\"'\\$(touch p)'\" bash -c true",
        "BASH_ENV='${x:-$(touch p)}' bash -c true",
        "BASH_ENV=/dev/stdin bash -c true <<< 'touch p'",
        "ENV='$(touch p)' sh -ic true",
        "env ENV='$(touch p)' sh -ic true",
        "MAILPATH='f?$(touch p)' bash -i",
    ] {
        assert!(is_seen(line), "{line}");
    }
    for line in [
        "PS4='+ ${BASH_SOURCE}:${LINENO}: '; set -x; ls",
        "PS1='\\[\\e[32m\\]\\u@\\h:\\w\\$ ' bash -i -c ls",
        "PS1=\"(venv) $PS1\"; ls",
        "ENV=production npm start",
        "BASH_ENV=~/.bashrc bash -c ls",
    ] {
        assert!(!is_seen(line), "{line}");
    }
}
