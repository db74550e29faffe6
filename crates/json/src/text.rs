//! Texts as JSON strings.

/// One byte in so many is thought to need another one before it.
const ESCAPED_PART: usize = 8;

/// 1 in each byte of a word.
const ONES: u64 = u64::MAX / 255;

/// Writes a text as a JSON string (RFC 8259, section 7), the bytes that serde_json writes. Eight bytes at
/// a time are looked at for what has to be escaped; serde_json looks at each.
pub fn string(out: &mut Vec<u8>, text: &str) {
    // With room for what has to be escaped, so that a long text is not moved on its way.
    out.reserve(text.len() + text.len() / ESCAPED_PART + 2);
    out.push(b'"');
    escaped(out, text.as_bytes());
    out.push(b'"');
}

/// What stands between the quotes; of a text or of any piece of it, since what has to be escaped is one byte.
pub(crate) fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_bytes(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = special.split_first() else { break };
        push_escape(out, *byte);
        rest = after;
    }
}

/// How many bytes at the beginning stand for themselves.
fn plain_bytes(bytes: &[u8]) -> usize {
    let mut words = bytes.chunks_exact(8);
    let mut at = 0;
    for word in &mut words {
        let special = special_bytes(u64::from_le_bytes(word.try_into().unwrap_or_default()));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let is_special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    at + words.remainder().iter().position(is_special).unwrap_or(words.remainder().len())
}

/// Sets the highest bit of each byte that has to be escaped: exact up to the first one, beyond which
/// a borrow may set others.
fn special_bytes(word: u64) -> u64 {
    let below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | is(b'"') | is(b'\\')) & (ONES * 0x80)
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend([b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let expected = serde_json::to_string(text).unwrap();
        let mut written = Vec::new();
        string(&mut written, text);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn each_byte_at_each_place_of_a_word() {
        for byte in 0..=0x7F_u8 {
            for before in 0..20 {
                check(&format!("{}{}after", "é".repeat(before), char::from(byte)));
                let long = format!("{}{}\u{7f}after", "a".repeat(60 + before), char::from(byte));
                check(&long);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_what_serde_json_writes(
            text in proptest::collection::vec(
                prop_oneof![any::<char>(), Just('"'), Just('\\'), Just('\n'), Just('\u{1f}'), Just('a')],
                0..200,
            )
        ) {
            check(&text.into_iter().collect::<String>());
        }
    }
}
