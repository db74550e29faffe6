//! Many spellings of lines that must ask, and of lines that need not; each list is data.

use heeler_shell::read;

use crate::PLACE;

/// One a line.
const ASKS: &str = include_str!("asks.txt");
/// Between lines of `%%`, since some have several lines.
const RUNS: &str = include_str!("runs.txt");

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
