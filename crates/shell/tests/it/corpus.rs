//! The corpora of command lines: each verdict is one of those that are right for it.

use heeler_shell::read;
use serde::Deserialize;

use crate::PLACE;

const FIRST: [&str; 2] = [
    include_str!("../../../cli/tests/corpus/first/attempts.toml"),
    include_str!("../../../cli/tests/corpus/first/everyday.toml"),
];

const SECOND: [&str; 2] = [
    include_str!("../../../cli/tests/corpus/second/attempts.toml"),
    include_str!("../../../cli/tests/corpus/second/everyday.toml"),
];

/// The largest part of the everyday commands that may ask, in percent.
const ASK_PERCENT_MAX: usize = 2;

#[derive(Deserialize)]
struct Corpus {
    #[serde(default)]
    attempt: Vec<Row>,
    #[serde(default)]
    command: Vec<Row>,
}

#[derive(Deserialize)]
pub(crate) struct Row {
    pub(crate) command: String,
    want: Vec<String>,
}

/// The rows whose verdict is wrong, with the reasons that were given.
fn wrong(rows: &[Row]) -> Vec<String> {
    let judged = rows.iter().map(|row| (row, read(&row.command, &PLACE)));
    let verdict = |asks: bool| if asks { "ask" } else { "confined" };
    judged
        .filter(|(row, line)| {
            !row.want.iter().any(|want| want == verdict(!line.concerns.is_empty()))
        })
        .map(|(row, line)| format!("{:?}: {:?}", row.command, line.concerns))
        .collect()
}

fn check(texts: [&str; 2]) {
    let [attempts, everyday] = texts.map(|text| toml::from_str::<Corpus>(text).unwrap());
    let wrong_attempts = wrong(&attempts.attempt);
    let wrong_everyday = wrong(&everyday.command);
    let asks = |row: &&Row| !read(&row.command, &PLACE).concerns.is_empty();
    let asking = everyday.command.iter().filter(asks).count();
    assert!(
        wrong_attempts.is_empty() && wrong_everyday.is_empty(),
        "attempts that run ({}):\n{}\neveryday commands that ask ({}):\n{}",
        wrong_attempts.len(),
        wrong_attempts.join("\n"),
        wrong_everyday.len(),
        wrong_everyday.join("\n"),
    );
    assert!(!attempts.attempt.is_empty() && !everyday.command.is_empty());
    assert!(
        asking * 100 <= everyday.command.len() * ASK_PERCENT_MAX,
        "{asking} of {} everyday commands ask",
        everyday.command.len()
    );
}

#[test]
fn each_line_of_the_first_corpus_gets_a_verdict_that_is_right() {
    check(FIRST);
}

#[test]
fn each_line_of_the_second_corpus_gets_a_verdict_that_is_right() {
    check(SECOND);
}

/// The rows of both corpora.
pub(crate) fn rows() -> Vec<Row> {
    let corpora = FIRST.iter().chain(&SECOND).map(|text| toml::from_str::<Corpus>(text).unwrap());
    corpora.flat_map(|corpus| corpus.attempt.into_iter().chain(corpus.command)).collect()
}
