//! The quotes and dashes of added lines, from how those of the other lines differ.

use std::collections::{BTreeMap, BTreeSet};

use super::alike::plain;

/// Replaces typographic signs in the added lines by those the file has where the model wrote the
/// same ones; `false` when that is not clear.
pub(super) fn adapt(pairs: &[(&str, &str)], added: &mut [String]) -> bool {
    let mut there_for: BTreeMap<char, BTreeSet<char>> = BTreeMap::new();
    for (written, there) in pairs {
        for (written, there) in signs(written).zip(signs(there)) {
            if plain(written) != plain(there) {
                // A line that differs more than in its signs says nothing from here on.
                break;
            }
            if is_mark(written) {
                there_for.entry(written).or_default().insert(there);
            }
        }
    }
    let differs = |written: &char, there: &BTreeSet<char>| there.iter().any(|sign| sign != written);
    if !there_for.iter().any(|(written, there)| differs(written, there)) {
        return true;
    }
    // Dashes say nothing about quotes.
    let is_drifted = |sign: char| {
        let mut seen = there_for.iter().filter(|(written, there)| differs(written, there));
        seen.any(|(written, _)| (plain(*written) == '-') == (plain(sign) == '-'))
    };
    let from_plain =
        there_for.iter().any(|(written, there)| written.is_ascii() && differs(written, there));
    for line in added {
        let mut adapted = String::with_capacity(line.len());
        for sign in line.chars() {
            let there = match there_for.get(&sign) {
                _ if !is_mark(sign) => sign,
                Some(there) => match there.iter().collect::<Vec<_>>()[..] {
                    [there] => *there,
                    _ => return false,
                },
                None if sign.is_ascii() && sign != '-' && from_plain => return false,
                None if sign.is_ascii() || from_plain => sign,
                None if !is_drifted(sign) || !is_usual(sign) => return false,
                None => plain(sign),
            };
            adapted.push(there);
        }
        *line = adapted;
    }
    true
}

/// The signs of a line that are no white space.
fn signs(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|sign| !sign.is_whitespace())
}

/// What is written for a plain quote or dash. Others that look like one may be what is meant.
fn is_usual(sign: char) -> bool {
    matches!(sign, '\u{2018}'..='\u{201f}' | '\u{2010}'..='\u{2015}')
}

fn is_mark(sign: char) -> bool {
    !sign.is_whitespace() && matches!(plain(sign), '\'' | '"' | '-')
}
