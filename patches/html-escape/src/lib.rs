//! Character references of HTML in a text that was no HTML any more when it was read.

use std::borrow::Cow;

use web_atoms::NAMED_ENTITIES;

/// The most bytes of a reference behind its `&`: the longest name has 32, with its semicolon.
const BYTES_MAX: usize = 40;

/// A text with its references as what they stand for. One without a semicolon, of an unknown name or
/// of a control character stays as it is.
pub fn decode_html_entities<S: ?Sized + AsRef<str>>(text: &S) -> Cow<'_, str> {
    let mut rest = text.as_ref();
    let mut decoded = String::new();
    let mut is_changed = false;
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        decoded.push_str(before);
        rest = match decoded_at(&reference[1..]) {
            Some((characters, behind)) => {
                decoded.extend(characters.into_iter().flatten());
                is_changed = true;
                behind
            }
            None => {
                decoded.push('&');
                &reference[1..]
            }
        };
    }
    if !is_changed {
        return Cow::Borrowed(text.as_ref());
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// What the reference at the start stands for, and what is behind it.
fn decoded_at(reference: &str) -> Option<([Option<char>; 2], &str)> {
    let end = reference.bytes().take(BYTES_MAX).position(|byte| byte == b';')?;
    let (name, behind) = reference.split_at(end + 1);
    let characters = match name.strip_prefix('#') {
        Some(number) => [Some(numbered(number.strip_suffix(';')?)?), None],
        None => match *NAMED_ENTITIES.get(name)? {
            (first, 0) => [char::from_u32(first), None],
            (first, second) => [char::from_u32(first), char::from_u32(second)],
        },
    };
    Some((characters, behind))
}

fn numbered(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    // A number may have a sign, and a reference not.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    let character = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    let is_space = matches!(character, '\t' | '\n' | '\u{c}' | '\r');
    (is_space || character >= ' ').then_some(character)
}
