//! How much a text looks as if it had been drawn at random.

use std::collections::BTreeMap;

/// What a value needs whose variable is called secret: repeated letters are placeholders.
pub(crate) const NAMED_BITS_MIN: f64 = 2.5;
/// What a value needs that only stands behind a word such as `token`.
const ASSIGNED_BITS_MIN: f64 = 3.5;
/// The same of a number of base 16, which has but sixteen characters.
const HEX_BITS_MIN: f64 = 3.0;
/// From which share of neighbors of different kinds on a text is no row of words.
const JUMBLED_SHARE_MIN: f64 = 0.25;

/// Shannon's entropy of the characters, in bits a character.
pub(crate) fn bits_per_char(text: &str) -> f64 {
    let mut counts: BTreeMap<char, f64> = BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
    }
    let n: f64 = counts.values().sum();
    counts.values().map(|count| -(count / n) * (count / n).log2()).sum()
}

/// Whether a text has letters of both cases and digits, or is a long number of base 16, and in either
/// case repeats little: words of people and names in programs rarely do.
pub(crate) fn is_random(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    if !has(char::is_ascii_digit) {
        return false;
    }
    let is_hex = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    let bits = bits_per_char(text);
    is_mixed && bits >= ASSIGNED_BITS_MIN
        || is_hex && has(char::is_ascii_alphabetic) && bits >= HEX_BITS_MIN
}

/// Whether upper case, lower case and digits change so often that the text is no row of words, as names
/// of folders are.
pub(crate) fn is_jumbled(text: &str) -> bool {
    #[derive(PartialEq, Eq)]
    enum Kind {
        Upper,
        Lower,
        Digit,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_uppercase() => Kind::Upper,
        c if c.is_alphabetic() => Kind::Lower,
        c if c.is_ascii_digit() => Kind::Digit,
        _ => Kind::Other,
    };
    let has = |wanted: &Kind| text.chars().any(|c| kind(c) == *wanted);
    let (mut n_changes, mut n_neighbors) = (0.0, 0.0);
    for (one, next) in text.chars().zip(text.chars().skip(1)) {
        let (one, next) = (kind(one), kind(next));
        // What parts words is no change within one.
        if one != Kind::Other && next != Kind::Other {
            n_neighbors += 1.0;
            n_changes += f64::from(u8::from(one != next));
        }
    }
    has(&Kind::Upper) && has(&Kind::Lower) && n_changes >= JUMBLED_SHARE_MIN * n_neighbors
}
