//! The corpora of command lines, `tests/corpus`: data that others judge and run, so a mistake in it
//! would weaken them in silence.

mod canary;

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use serde::Deserialize;

const ATTEMPTS: &str = include_str!("../../corpus/first/attempts.toml");
const EVERYDAY: &str = include_str!("../../corpus/first/everyday.toml");

const SECOND_ATTEMPTS: &str = include_str!("../../corpus/second/attempts.toml");
const SECOND_EVERYDAY: &str = include_str!("../../corpus/second/everyday.toml");

/// The fewest command lines of a file.
const ROWS_MIN: usize = 300;
/// The fewest of a file of the second corpus, whose kinds need not all be there.
const SECOND_ROWS_MIN: usize = 150;
/// The largest part of the everyday commands that may ask.
const ASK_PERCENT_MAX: usize = 2;
/// The largest part of the attempts that may be of one kind: many tricks, not one in many dresses.
const KIND_PERCENT_MAX: usize = 10;

/// The kinds of attempts that `README.md` beside them describes.
const ATTEMPT_KINDS: [&str; 39] = [
    "agent-self",
    "archive",
    "autostart",
    "builtin",
    "config-planting",
    "confinement-escape",
    "dev-tcp",
    "environment",
    "exfiltration",
    "exhaustion",
    "fetch-and-run",
    "function-alias",
    "git-config-hooks",
    "glob-brace",
    "heredoc",
    "hidden-in-chain",
    "inner-shell",
    "interpreter",
    "irreversible",
    "line-continuation",
    "malformed",
    "obfuscation",
    "option-injection",
    "option-that-runs",
    "option-that-writes",
    "package-scripts",
    "path-planting",
    "persistence",
    "privilege",
    "procfs-ptrace",
    "redirection",
    "remote-state",
    "secrets",
    "sockets",
    "substitution",
    "survivor",
    "symlink",
    "unicode-control",
    "wrapper",
];

/// The kinds of everyday commands.
const EVERYDAY_KINDS: [&str; 16] = [
    "agent-chain",
    "c-make",
    "files",
    "git-read",
    "git-write",
    "go",
    "here-document",
    "infrastructure",
    "jvm",
    "node",
    "other-languages",
    "python",
    "rust",
    "search",
    "shell",
    "text",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempts {
    attempt: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Everyday {
    command: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: String,
    command: String,
    want: Vec<Want>,
    /// Whether bash takes the line for a program at all.
    #[serde(default = "yes")]
    parses: bool,
    #[serde(default)]
    why: String,
}

/// A verdict that is right for a command line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Want {
    Ask,
    Confined,
    Deny,
}

fn yes() -> bool {
    true
}

impl Row {
    fn accepts(&self, want: Want) -> bool {
        self.want.contains(&want)
    }
}

/// What is wrong with one attempt.
fn attempt_flaws(row: &Row) -> Vec<&'static str> {
    let mut flaws = row_flaws(row);
    if !(row.accepts(Want::Ask) && row.accepts(Want::Deny)) {
        flaws.push("asking and denying are always right here");
    }
    if row.accepts(Want::Confined) && !row.parses {
        flaws.push("what does not parse is never run");
    }
    if row.why.trim().is_empty() {
        flaws.push("it gives no reason");
    }
    flaws
}

/// What is wrong with one everyday command.
fn everyday_flaws(row: &Row) -> Vec<&'static str> {
    let mut flaws = row_flaws(row);
    if row.accepts(Want::Deny) {
        flaws.push("nobody's daily work is refused");
    }
    if row.accepts(Want::Ask) && row.why.trim().is_empty() {
        flaws.push("it may ask and gives no reason");
    }
    if !row.parses {
        flaws.push("people run what parses");
    }
    flaws
}

fn row_flaws(row: &Row) -> Vec<&'static str> {
    let mut flaws = Vec::new();
    if row.command.trim().is_empty() {
        flaws.push("it runs nothing");
    }
    if row.command.contains('\0') {
        flaws.push("no command line can hold a NUL");
    }
    if row.want.is_empty() || !row.want.is_sorted_by(|a, b| a < b) {
        flaws.push("verdicts are given once each, in the order of the alphabet");
    }
    flaws
}

/// What is wrong with all rows together.
fn corpus_flaws(rows: &[Row], kinds: &[&str]) -> Vec<String> {
    let mut flaws = Vec::new();
    if rows.len() < ROWS_MIN {
        flaws.push(format!("{} rows; at least {ROWS_MIN}", rows.len()));
    }
    let mut seen = BTreeSet::new();
    let twice = rows.iter().filter(|row| !seen.insert(&row.command));
    flaws.extend(twice.map(|row| format!("twice: {}", row.command)));
    let used: BTreeSet<&str> = rows.iter().map(|row| row.kind.as_str()).collect();
    let known: BTreeSet<&str> = kinds.iter().copied().collect();
    flaws.extend(used.difference(&known).map(|kind| format!("an unknown kind: {kind}")));
    flaws.extend(known.difference(&used).map(|kind| format!("no row of the kind {kind}")));
    flaws
}

fn too_many_of_a_kind(rows: &[Row]) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for row in rows {
        *counts.entry(&row.kind).or_default() += 1;
    }
    counts.retain(|_, count| *count * 100 > rows.len() * KIND_PERCENT_MAX);
    counts.iter().map(|(kind, count)| format!("{count} are of the kind {kind}")).collect()
}

fn too_many_ask(rows: &[Row]) -> Option<String> {
    let asking = rows.iter().filter(|row| row.accepts(Want::Ask)).count();
    let is_much = asking * 100 > rows.len() * ASK_PERCENT_MAX;
    is_much.then(|| format!("{asking} of {} may ask", rows.len()))
}

/// The flaws of each row, with its command.
fn named(rows: &[Row], flaws: fn(&Row) -> Vec<&'static str>) -> Vec<String> {
    let flaws = rows.iter().flat_map(|row| flaws(row).into_iter().map(move |flaw| (row, flaw)));
    flaws.map(|(row, flaw)| format!("{}: {flaw}", row.command)).collect()
}

fn check_attempts(text: &str, expected: Expect) {
    let rows = toml::from_str::<Attempts>(text).unwrap().attempt;
    let mut flaws = named(&rows, attempt_flaws);
    flaws.extend(corpus_flaws(&rows, &ATTEMPT_KINDS));
    flaws.extend(too_many_of_a_kind(&rows));
    expected.assert_eq(&flaws.join("\n"));
}

fn check_everyday(text: &str, expected: Expect) {
    let rows = toml::from_str::<Everyday>(text).unwrap().command;
    let mut flaws = named(&rows, everyday_flaws);
    flaws.extend(corpus_flaws(&rows, &EVERYDAY_KINDS));
    flaws.extend(too_many_ask(&rows));
    expected.assert_eq(&flaws.join("\n"));
}

#[test]
fn the_first_corpus_is_as_its_page_says() {
    check_attempts(ATTEMPTS, expect![""]);
    check_everyday(EVERYDAY, expect![""]);
}

/// What is wrong with a file of the second corpus, beside the same file of the first.
fn second_flaws(rows: &[Row], first: &[Row], kinds: &[&str]) -> Vec<String> {
    let mut flaws = Vec::new();
    if rows.len() < SECOND_ROWS_MIN {
        flaws.push(format!("{} rows; at least {SECOND_ROWS_MIN}", rows.len()));
    }
    let mut seen: BTreeSet<&str> = first.iter().map(|row| row.command.as_str()).collect();
    let twice = rows.iter().filter(|row| !seen.insert(&row.command));
    flaws.extend(twice.map(|row| format!("twice: {}", row.command)));
    let unknown = rows.iter().filter(|row| !kinds.contains(&row.kind.as_str()));
    flaws.extend(unknown.map(|row| format!("an unknown kind: {}", row.kind)));
    flaws
}

#[test]
fn the_second_corpus_is_as_its_page_says() {
    let attempts = |text| toml::from_str::<Attempts>(text).unwrap().attempt;
    let everyday = |text| toml::from_str::<Everyday>(text).unwrap().command;
    let (first, second) = (attempts(ATTEMPTS), attempts(SECOND_ATTEMPTS));
    let mut flaws = named(&second, attempt_flaws);
    flaws.extend(second_flaws(&second, &first, &ATTEMPT_KINDS));
    let (first, second) = (everyday(EVERYDAY), everyday(SECOND_EVERYDAY));
    flaws.extend(named(&second, everyday_flaws));
    flaws.extend(second_flaws(&second, &first, &EVERYDAY_KINDS));
    flaws.extend(too_many_ask(&second));
    expect![""].assert_eq(&flaws.join("\n"));
    expect![[r#"
        1 rows; at least 150
        twice: git status
        an unknown kind: git-read"#]]
    .assert_eq(&second_flaws(&first[..1], &first, &["go"]).join("\n"));
}

#[test]
fn a_row_with_a_flaw_is_named() {
    let flaws = |row: &str, flaws: fn(&Row) -> Vec<&'static str>| {
        let row: Row = toml::from_str(&format!("kind = 'x'\n{row}")).unwrap();
        flaws(&row).join("\n")
    };
    let attempt = |row: &str, expected: Expect| expected.assert_eq(&flaws(row, attempt_flaws));
    attempt("command = 'x'\nwant = ['ask', 'deny']\nwhy = 'y'", expect![""]);
    attempt(
        "command = ' '\nwant = ['deny', 'ask']\nwhy = ' '",
        expect![[r#"
        it runs nothing
        verdicts are given once each, in the order of the alphabet
        it gives no reason"#]],
    );
    attempt(
        "command = \"a\\u0000b\"\nwant = []\nwhy = 'y'",
        expect![[r#"
        no command line can hold a NUL
        verdicts are given once each, in the order of the alphabet
        asking and denying are always right here"#]],
    );
    attempt(
        "command = 'x'\nwant = ['ask', 'confined', 'deny']\nparses = false\nwhy = 'y'",
        expect!["what does not parse is never run"],
    );
    let everyday = |row: &str, expected: Expect| expected.assert_eq(&flaws(row, everyday_flaws));
    everyday("command = 'x'\nwant = ['confined']", expect![""]);
    everyday(
        "command = 'x'\nwant = ['ask', 'ask', 'deny']\nparses = false",
        expect![[r#"
        verdicts are given once each, in the order of the alphabet
        nobody's daily work is refused
        it may ask and gives no reason
        people run what parses"#]],
    );
}

#[test]
fn a_corpus_with_a_flaw_is_not_whole() {
    let row =
        |number: usize| format!("[[attempt]]\nkind = 'go'\ncommand = '{number}'\nwant = ['ask']\n");
    let text: String = (1..ROWS_MIN).chain([7]).map(row).collect();
    let rows = toml::from_str::<Attempts>(&text).unwrap().attempt;
    let whole = |rows: &[Row]| {
        let mut flaws = corpus_flaws(rows, &["git"]);
        flaws.extend(too_many_of_a_kind(rows));
        flaws.extend(too_many_ask(rows));
        flaws.join("\n")
    };
    expect![[r#"
        twice: 7
        an unknown kind: go
        no row of the kind git
        300 are of the kind go
        300 of 300 may ask"#]]
    .assert_eq(&whole(&rows));
    expect![[r#"
        299 rows; at least 300
        twice: 7
        an unknown kind: go
        no row of the kind git
        299 are of the kind go
        299 of 299 may ask"#]]
    .assert_eq(&whole(&rows[1..]));
}

#[test]
fn an_unknown_word_is_refused() {
    let text = ATTEMPTS.replacen("\"ask\"", "\"allow\"", 1);
    let error = toml::from_str::<Attempts>(&text).err().unwrap();
    expect!["unknown variant `allow`, expected one of `ask`, `confined`, `deny`"]
        .assert_eq(error.message());
    let text = ATTEMPTS.replacen("why = ", "because = ", 1);
    let error = toml::from_str::<Attempts>(&text).err().unwrap();
    expect!["unknown field `because`, expected one of `kind`, `command`, `want`, `parses`, `why`"]
        .assert_eq(error.message());
}
