//! The deltas that nearly all of a long answer consists of, read from their bytes without a parser.
//!
//! Invariant: what is taken here means the same to the parser; anything unusual is left to it.

const EVENT: &[u8] = b"event: content_block_delta\ndata: ";
const DATA: &[u8] = br#"{"type":"content_block_delta","index":"#;
const TEXT: &[u8] = br#","delta":{"type":"text_delta","text":""#;
const THINKING: &[u8] = br#","delta":{"type":"thinking_delta","thinking":""#;
/// What nearly always stands between the text and the next event.
const TAIL: &[u8] = b"\"}}\n\n";
/// What of an event is not its data: its name, and the line ends.
const NO_DATA_BYTES: usize = EVENT.len() + 2;
/// An index of more digits is left to the parser, which knows how large one may be.
const INDEX_DIGITS_MAX: usize = 9;

/// Events one after the other that add to one block, their text the same bytes in the stream and
/// in the block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlainDeltas<'t> {
    pub(super) index: u32,
    pub(super) kind: PlainKind,
    /// What they add.
    pub(super) text: &'t str,
    /// How long their data is.
    pub(super) data_bytes: usize,
    /// How long the events are, blank lines included.
    pub(super) event_bytes: usize,
}

/// What a delta adds to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlainKind {
    Text,
    Thinking,
}

/// What such an event begins with, up to its text.
struct Head<'a> {
    index: u32,
    kind: PlainKind,
    bytes: &'a [u8],
}

impl<'t> PlainDeltas<'t> {
    /// The events that `bytes` begin with, if they are whole and in the one form the provider
    /// writes, as far as their data is at most `data_bytes_max` long. Their text is put together
    /// in `texts`, whatever it held.
    pub(super) fn read(
        bytes: &[u8],
        data_bytes_max: usize,
        texts: &'t mut Vec<u8>,
    ) -> Option<Self> {
        let Head { index, kind, bytes: head } = Head::read(bytes)?;
        let (mut texts_bytes, mut data_bytes, mut event_bytes) = (0, 0, 0);
        texts.clear();
        // Nearly always what follows differs in nothing but its text.
        while let Some(rest) = behind(&bytes[event_bytes..], head)
            && let Some(text_bytes) = plain(rest, texts)
            && let Some(tail_bytes) = tail(&rest[text_bytes..])
        {
            let length = head.len() + text_bytes + tail_bytes;
            let with_it = data_bytes + length - NO_DATA_BYTES;
            if with_it > data_bytes_max {
                break;
            }
            texts_bytes = texts.len();
            data_bytes = with_it;
            event_bytes += length;
        }
        // What came after is no text, or not of this.
        texts.truncate(texts_bytes);
        // Each is text, so all are.
        let text = std::str::from_utf8(texts).ok()?;
        (event_bytes > 0).then_some(Self { index, kind, text, data_bytes, event_bytes })
    }
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (index, rest) = index(bytes.strip_prefix(EVENT)?.strip_prefix(DATA)?)?;
        let (kind, rest) = match rest.strip_prefix(TEXT) {
            Some(rest) => (PlainKind::Text, rest),
            None => (PlainKind::Thinking, rest.strip_prefix(THINKING)?),
        };
        Some(Self { index, kind, bytes: &bytes[..bytes.len() - rest.len()] })
    }
}

/// What follows `head`. Within the loop over events, also where code is compiled for size.
#[inline(always)]
fn behind<'b>(bytes: &'b [u8], head: &[u8]) -> Option<&'b [u8]> {
    let (start, rest) = bytes.split_at_checked(head.len())?;
    (start == head).then_some(rest)
}

/// How long the rest of the event is that `bytes` are, behind its text.
fn tail(bytes: &[u8]) -> Option<usize> {
    if behind(bytes, TAIL).is_some() {
        return Some(TAIL.len());
    }
    // Some events are filled up with spaces.
    let after = bytes.strip_prefix(br#""}"#)?;
    let padding = after.iter().take_while(|byte| **byte == b' ').count();
    after[padding..].starts_with(b"}\n\n").then_some(TAIL.len() + padding)
}

/// The number that `bytes` begin with, written as JSON writes numbers.
fn index(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = bytes.split_at(length);
    if matches!(digits, [] | [b'0', _, ..]) || length > INDEX_DIGITS_MAX {
        return None;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    Some((number, rest))
}

/// How many of `bytes` stand in a JSON string as they are, if they are text and its end has arrived. Adds
/// them to `texts`, or whatever it has gone by when it finds that they are not.
fn plain(bytes: &[u8], texts: &mut Vec<u8>) -> Option<usize> {
    let start = texts.len();
    let (mut length, mut not_ascii) = (0, 0);
    while let Some(word) = bytes[length..].first_chunk::<8>() {
        // Whole, since a word is copied without a call; what is too much is cut.
        texts.extend_from_slice(word);
        let word = u64::from_le_bytes(*word);
        let ends = ends(word);
        // The lowest bit stands for the first end; what is below it comes before.
        not_ascii |= word & HIGH_BITS & (ends & ends.wrapping_neg()).wrapping_sub(1);
        if ends != 0 {
            length += ends.trailing_zeros() as usize / 8;
            texts.truncate(start + length);
            let is_text = not_ascii == 0 || std::str::from_utf8(&bytes[..length]).is_ok();
            return is_text.then_some(length);
        }
        length += size_of::<u64>();
    }
    let rest = bytes[length..].iter().position(|byte| ends(u64::from(*byte) | NO_ENDS) != 0)?;
    texts.extend_from_slice(&bytes[length..][..rest]);
    std::str::from_utf8(&bytes[..length + rest]).is_ok().then_some(length + rest)
}

/// One of each byte of a word.
const ONES: u64 = u64::MAX / 0xff;
const HIGH_BITS: u64 = ONES << 7;
/// A word of spaces, but for its first byte.
const NO_ENDS: u64 = (ONES << 8) * b' ' as u64;

/// The high bits of the bytes that end the plain part of a JSON string: quotes, backslashes and
/// control characters. The lowest is exact; a byte behind an end may be taken for one.
fn ends(word: u64) -> u64 {
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | is(b'"') | is(b'\\')) & HIGH_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, index: &str, text: &str) -> String {
        let delta = format!(r#"{{"type":"{kind}_delta","{kind}":"{text}"}}"#);
        let data = format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
        format!("event: content_block_delta\ndata: {data}\n\n")
    }

    fn check(events: &str, expected: Option<(PlainKind, u32, &str)>) {
        // What was read before leaves nothing behind.
        let mut texts = b"before".to_vec();
        let read = PlainDeltas::read(events.as_bytes(), usize::MAX, &mut texts);
        let read = read.map(|deltas| (deltas.kind, deltas.index, deltas.text));
        assert_eq!(read, expected, "{events:?}");
    }

    #[test]
    fn plain_deltas_are_read() {
        for (name, kind) in [("text", PlainKind::Text), ("thinking", PlainKind::Thinking)] {
            for text in ["", "a", "\u{e9}\u{1f980}", "}}", "  ", &"long ".repeat(99)] {
                let event = event(name, "12", text);
                check(&event, Some((kind, 12, text)));
                check(&event.replace("}\n", "   }\n"), Some((kind, 12, text)));
                check(&(event.repeat(3) + "event: ping"), Some((kind, 12, &text.repeat(3))));
            }
        }
        let [a, b] = ["a", "b"].map(|text| event("text", "1", text));
        let ends = [
            (b.clone(), "ab"),
            (b.replace("}\n", " }\n") + &b, "abb"),
            (event("text", "2", "b") + &a, "a"),
            (event("thinking", "1", "b"), "a"),
            (b[..b.len() - 1].to_owned(), "a"),
        ];
        for (end, text) in ends {
            check(&(a.clone() + &end), Some((PlainKind::Text, 1, text)));
        }
    }

    #[test]
    fn as_many_are_read_as_there_is_room_for() {
        let event = event("text", "1", "ab");
        let data_bytes = event.lines().nth(1).map_or(0, |line| line.len() - "data: ".len());
        let read = |data_bytes_max| {
            let mut texts = Vec::new();
            let read = PlainDeltas::read(event.repeat(3).as_bytes(), data_bytes_max, &mut texts);
            read.map(|deltas| (deltas.data_bytes / data_bytes, deltas.event_bytes / event.len()))
        };
        let room = [data_bytes - 1, data_bytes, 2 * data_bytes, 3 * data_bytes - 1, usize::MAX];
        assert_eq!(room.map(read), [None, Some((1, 1)), Some((2, 2)), Some((2, 2)), Some((3, 3))]);
    }

    #[test]
    fn all_else_is_left_to_the_parser() {
        for text in [r"a\n", r#"\""#, r"\", "\u{1}", "\t", r#"a"}},"x":{"y":"b"#, "a\nb"] {
            check(&event("text", "12", text), None);
        }
        for index in ["-1", "+1", "01", "00", "1.0", "1e1", "", "9999999999"] {
            check(&event("text", index, "a"), None);
        }
        let plain = event("text", "0", "a");
        check(&plain, Some((PlainKind::Text, 0, "a")));
        check(&plain.replace('\n', "\r\n"), None);
        check(&event("signature", "0", "a"), None);
        (0..plain.len()).for_each(|length| check(&plain[..length], None));
        // Half a character each, which together would be one.
        let halves = event("text", "0", "\u{1}") + &event("text", "0", "\u{2}");
        let half = |byte| match byte {
            1 => 0xc3,
            2 => 0xa9,
            byte => byte,
        };
        let halves: Vec<u8> = halves.into_bytes().into_iter().map(half).collect();
        let mut texts = Vec::new();
        assert_eq!(PlainDeltas::read(&halves, usize::MAX, &mut texts), None);
        let after = [plain.as_bytes(), &halves].concat();
        let read = PlainDeltas::read(&after, usize::MAX, &mut texts);
        assert_eq!(read.map(|deltas| deltas.text), Some("a"));
    }
}
