//! Many spellings of lines that must ask, and of lines that need not; each list is data.

use heeler_shell::read;

use crate::PLACE;

/// One a line.
const ASKS: &str = include_str!("asks.txt");
/// Between lines of `%%`, since some have several lines.
const RUNS: &str = include_str!("runs.txt");
/// One a line, without whatever it asks: what would be written or run where only reading is let.
const CHANGES: &str = include_str!("changes.txt");
/// One a line.
const READS: &str = include_str!("reads.txt");

#[test]
fn each_spelling_that_must_ask_asks() {
    let passes: Vec<&str> =
        ASKS.lines().filter(|line| read(line, &PLACE).concerns.is_empty()).collect();
    assert_eq!(passes, Vec::<&str>::new());
}

#[test]
fn each_spelling_that_need_not_ask_runs() {
    let lines = RUNS.trim_end().split("\n%%\n");
    let asks: Vec<_> = lines.map(|line| (line, read(line, &PLACE).concerns)).collect();
    let asks: Vec<_> = asks.into_iter().filter(|(_, concerns)| !concerns.is_empty()).collect();
    assert_eq!(asks, Vec::new());
}

#[test]
fn each_spelling_that_changes_something_is_no_reading() {
    let reads = |line: &&str| read(line, &PLACE).is_read_only;
    assert_eq!(CHANGES.lines().filter(reads).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn each_spelling_that_only_reads_is_let_read() {
    let is_let = |line: &&str| {
        let line = read(line, &PLACE);
        line.is_read_only && line.concerns.is_empty() && !line.is_open_ended
    };
    let refused: Vec<&str> = READS.lines().filter(|line| !is_let(line)).collect();
    assert_eq!(refused, Vec::<&str>::new());
}
