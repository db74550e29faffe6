//! What a list shows of a journal, from the beginning of its file.

use heeler_core::{Input, Record, SessionHeader, from_json_bytes, truncate_chars};

use super::header::{HeaderError, decode_header};
use super::line::{RecordLine, unseal};
use super::typed;

/// How much of a file a list reads.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;
/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 80;
/// The most bytes of JSON that can make [`TITLE_CHARS_MAX`] characters: each may be written as two
/// escapes of six.
const TITLE_JSON_BYTES_MAX: usize = TITLE_CHARS_MAX * 12;

/// The beginning of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) header: SessionHeader,
    pub(crate) title: String,
}

/// Reads the beginning of a journal, at most [`HEAD_BYTES`] of it.
pub(crate) fn read_head(bytes: &[u8]) -> Result<Head, HeaderError> {
    let first = bytes.iter().position(|b| *b == b'\n').ok_or(HeaderError::Missing)?;
    let (line, rest) = bytes.split_at(first);
    let (header, _) = decode_header(line)?;
    let title = rest.split(|b| *b == b'\n').find_map(title_of_line).unwrap_or_default();
    Ok(Head { header, title })
}

/// The title, when the line is the first input's or its beginning.
fn title_of_line(line: &[u8]) -> Option<String> {
    let text = match unseal(line).and_then(|(said, _)| RecordLine::parse(said)) {
        Some(RecordLine { kind: "input", version, body, .. }) => {
            match typed::record("input", version, body) {
                Ok(Record::Input(input)) => return title_of_input(&input),
                _ => return None,
            }
        }
        Some(_) => return None,
        None => text_of_cut_line(line)?,
    };
    Some(title(&text))
}

/// The title that an input gives; `None` when it has no text.
pub(crate) fn title_of_input(input: &Input) -> Option<String> {
    input.blocks.iter().find_map(|block| block.as_text()).map(title)
}

fn title(text: &str) -> String {
    // Enough characters for a title stay when white space is folded.
    let words = text.split_whitespace().take(TITLE_CHARS_MAX).collect::<Vec<_>>().join(" ");
    truncate_chars(&words, TITLE_CHARS_MAX).into_owned()
}

/// The beginning of the text of an input that is longer than what was read.
fn text_of_cut_line(line: &[u8]) -> Option<String> {
    const OPENING: &[u8] = br#","kind":"input","body":{"blocks":[{"text":{"text":""#;
    // The numbers before the kind are short.
    let window = &line[..line.len().min(128)];
    let at = window.windows(OPENING.len()).position(|bytes| bytes == OPENING)?;
    let json = &line[at + OPENING.len()..];
    let json = &json[..json.len().min(TITLE_JSON_BYTES_MAX)];
    // The cut may stand inside a character or an escape; one of the last places does not.
    (0..=12).filter_map(|n| json.get(..json.len().checked_sub(n)?)).find_map(|json| {
        let quoted = [b"\"", json, b"\""].concat();
        from_json_bytes::<String>(&quoted).ok()
    })
}

#[cfg(test)]
mod tests {
    use heeler_core::{Block, Entry, Opened, Timestamp};

    use super::super::header::encode_header;
    use super::super::line::encode;
    use super::*;

    fn check(record: Record, title: &str) {
        let header = SessionHeader {
            id: "a".parse().unwrap(),
            created: Timestamp(5),
            workspace: "/".into(),
        };
        let (mut bytes, mut sum) = encode_header(&header).unwrap();
        let opened = Record::Opened(Opened { incarnation: 1, build: "1".to_owned() });
        for (seq, record) in
            [(1, opened), (2, record), (3, Record::Input(Box::new(Input::text("later"))))]
        {
            sum = encode(&mut bytes, &Entry { seq, at: Timestamp(0), record }, sum).unwrap();
        }
        bytes.truncate(HEAD_BYTES);
        assert_eq!(read_head(&bytes), Ok(Head { header, title: title.to_owned() }));
    }

    #[test]
    fn a_title_is_the_beginning_of_the_first_input() {
        check(Record::TimePassed, "later");
        check(Record::Input(Box::new(Input::text("fix\n  the \"bug\""))), "fix the \"bug\"");
        let long = "\u{1}é😀".repeat(100);
        let cut: String = long.chars().take(79).chain(['…']).collect();
        check(Record::Input(Box::new(Input::text(&long))), &cut);
        check(Record::Input(Box::new(Input::text(long.repeat(100)))), &cut);
        let image = Block::from(heeler_core::RedactedThinking { data: "x".repeat(9) });
        check(
            Record::Input(Box::new(Input {
                blocks: vec![image, Block::text("look")],
                ..Input::text("")
            })),
            "look",
        );
        // A record longer than what a list reads hides what comes after it.
        let build = "x".repeat(HEAD_BYTES);
        check(Record::Opened(Opened { incarnation: 2, build }), "");
    }

    #[test]
    fn no_beginning_makes_it_panic() {
        for bytes in [
            &b""[..],
            b"\n",
            b"{}\n{",
            b"\n,\"kind\":\"input\",\"body\":{\"blocks\":[{\"text\":{\"text\":\"",
        ] {
            assert!(read_head(bytes).is_err());
        }
        assert_eq!(
            text_of_cut_line(b",\"kind\":\"input\",\"body\":{\"blocks\":[{\"text\":{\"text\":\"")
                .as_deref(),
            Some("")
        );
    }
}
