//! The deltas that nearly all of a long answer consists of, read from their bytes without a parser.
//!
//! Invariant: what is taken here means the same to the parser; anything unusual is left to it.

const EVENT: &[u8] = b"event: content_block_delta\ndata: ";
const DATA: &[u8] = br#"{"type":"content_block_delta","index":"#;
const TEXT: &[u8] = br#","delta":{"type":"text_delta","text":""#;
const THINKING: &[u8] = br#","delta":{"type":"thinking_delta","thinking":""#;
/// What of an event is not its data: its name, and the line ends.
const NO_DATA_BYTES: usize = EVENT.len() + 2;
/// An index of more digits is left to the parser, which knows how large one may be.
const INDEX_DIGITS_MAX: usize = 9;

/// Events one after the other that add to one block, their text the same bytes in the stream and
/// in the block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlainDeltas {
    pub(super) index: u32,
    pub(super) kind: PlainKind,
    /// What they add.
    pub(super) text: String,
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

/// One such event.
struct PlainDelta<'a> {
    index: u32,
    kind: PlainKind,
    /// The event's bytes before, in and after the text.
    head: &'a [u8],
    text: &'a [u8],
    tail: &'a [u8],
}

impl PlainDeltas {
    /// The events that `bytes` begin with, if they are whole and in the one form the provider
    /// writes, as far as their data is at most `data_bytes_max` long.
    pub(super) fn read(bytes: &[u8], data_bytes_max: usize) -> Option<Self> {
        let PlainDelta { index, kind, head, text, tail } = PlainDelta::read(bytes)?;
        let (mut texts, mut data_bytes, mut event_bytes) = (Vec::new(), 0, 0);
        let mut next = Some(text);
        while let Some(text) = next {
            let length = head.len() + text.len() + tail.len();
            let with_it = data_bytes + length - NO_DATA_BYTES;
            if with_it > data_bytes_max {
                break;
            }
            texts.extend_from_slice(text);
            data_bytes = with_it;
            event_bytes += length;
            // Nearly always what follows differs in nothing but its text.
            next = text_between(&bytes[event_bytes..], head, tail);
        }
        // Each is text, so all are.
        let text = String::from_utf8(texts).ok()?;
        (event_bytes > 0).then_some(Self { index, kind, text, data_bytes, event_bytes })
    }
}

impl<'a> PlainDelta<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (index, rest) = index(bytes.strip_prefix(EVENT)?.strip_prefix(DATA)?)?;
        let (kind, rest) = match rest.strip_prefix(TEXT) {
            Some(rest) => (PlainKind::Text, rest),
            None => (PlainKind::Thinking, rest.strip_prefix(THINKING)?),
        };
        let head = &bytes[..bytes.len() - rest.len()];
        let text = plain(rest)?;
        let rest = &rest[text.len()..];
        // Some events are filled up with spaces.
        let after = rest.strip_prefix(br#""}"#)?;
        let padding = after.iter().take_while(|byte| **byte == b' ').count();
        after[padding..].starts_with(b"}\n\n").then(|| {
            let tail = &rest[..2 + padding + 3];
            Self { index, kind, head, text, tail }
        })
    }
}

/// The text of the event that `bytes` begin with, if it is like one that was read.
fn text_between<'a>(bytes: &'a [u8], head: &[u8], tail: &[u8]) -> Option<&'a [u8]> {
    let rest = bytes.strip_prefix(head)?;
    let text = plain(rest)?;
    rest[text.len()..].starts_with(tail).then_some(text)
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

/// What `bytes` begin with that stands in a JSON string as it is, if that is text.
fn plain(bytes: &[u8]) -> Option<&[u8]> {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    let length = bytes.iter().position(|byte| !is_plain(*byte))?;
    let text = &bytes[..length];
    (text.is_ascii() || std::str::from_utf8(text).is_ok()).then_some(text)
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
        let read = PlainDeltas::read(events.as_bytes(), usize::MAX);
        let read = read.as_ref().map(|deltas| (deltas.kind, deltas.index, deltas.text.as_str()));
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
            (b.replace("}\n", " }\n") + &b, "a"),
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
            let read = PlainDeltas::read(event.repeat(3).as_bytes(), data_bytes_max);
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
        assert_eq!(PlainDeltas::read(&halves, usize::MAX), None);
        let read = PlainDeltas::read(&[plain.as_bytes(), &halves].concat(), usize::MAX);
        assert_eq!(read.map(|deltas| deltas.text), Some("a".to_owned()));
    }
}
