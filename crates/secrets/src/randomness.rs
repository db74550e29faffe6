//! How much a text looks as if it had been drawn at random.

use std::collections::BTreeMap;

/// What a value needs whose variable is called secret: repeated letters are placeholders.
pub(crate) const NAMED_BITS_MIN: f64 = 2.5;
/// What a value needs that only stands behind a word such as `token`.
pub(crate) const ASSIGNED_BITS_MIN: f64 = 3.5;

/// Shannon's entropy of the characters, in bits a character.
pub(crate) fn bits_per_char(text: &str) -> f64 {
    let mut counts: BTreeMap<char, f64> = BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1.0;
    }
    let n: f64 = counts.values().sum();
    counts.values().map(|count| -(count / n) * (count / n).log2()).sum()
}

/// Whether a text has letters of both cases and digits, or is a long number of base 16: words of
/// people and names in programs rarely do.
pub(crate) fn is_mixed(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    let has_digit = has(char::is_ascii_digit);
    let is_hex = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    has_digit
        && (has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase)
            || is_hex && has(char::is_ascii_alphabetic))
}
