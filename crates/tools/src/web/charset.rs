//! The encoding of what came from the web, as the encoding and HTML standards find it.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::tags::{Kind, Pieces};

/// Bytes from the start in which a page may say its own encoding, as the HTML standard has it.
const PAGE_BYTES: usize = 1024;

/// The encoding that a byte order mark says, or else the content type.
pub(super) fn said(bytes: &[u8], content_type: &str) -> Option<&'static Encoding> {
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    marked.or_else(|| Encoding::for_label(charset?.as_bytes()))
}

/// Whether it has zeros in any text.
pub(super) fn has_zeros(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// The encoding that an HTML page names in its first bytes.
pub(super) fn within(page: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&page[..page.len().min(PAGE_BYTES)]);
    let start = start.to_ascii_lowercase();
    let named = Pieces::of(&start).find_map(|(range, kind)| match kind {
        Kind::Start(tag) if tag.name == "meta" => named_in(&start[range]),
        _ => None,
    });
    // Whoever can read that name does not read UTF-16.
    named.map(|named| if has_zeros(named) { UTF_8 } else { named })
}

fn named_in(tag: &str) -> Option<&'static Encoding> {
    tag.split("charset").skip(1).find_map(|behind| {
        let value = behind.trim_ascii_start().strip_prefix('=')?.trim_ascii_start();
        let value = value.trim_start_matches(['"', '\'']).trim_ascii_start();
        let end = value.find(|char: char| char.is_ascii_whitespace() || "\"';/>".contains(char));
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(encoding: Option<&'static Encoding>) -> &'static str {
        encoding.map_or("none", Encoding::name)
    }

    #[test]
    fn a_mark_counts_before_what_the_content_type_says() {
        for (bytes, content_type, expected) in [
            (&b"a"[..], "text/html; charset=ISO-8859-1", "windows-1252"),
            (b"a", "text/html; x=y; Charset = \"latin1\"; charset=utf-8", "windows-1252"),
            (b"a", "text/plain;charset=UTF-16", "UTF-16LE"),
            (b"a", "text/plain; charset=nonsense", "none"),
            (b"a", "text/plain", "none"),
            (b"\xef\xbb\xbfa", "text/plain; charset=latin1", "UTF-8"),
            (b"\xfe\xff\0a", "text/plain; charset=latin1", "UTF-16BE"),
            (b"\xff\xfea\0", "text/plain", "UTF-16LE"),
        ] {
            assert_eq!(name(said(bytes, content_type)), expected, "{content_type}");
        }
    }

    #[test]
    fn a_page_names_its_encoding_in_a_tag_of_its_first_bytes() {
        let late = format!("{}<meta charset=latin1>", " ".repeat(PAGE_BYTES));
        for (page, expected) in [
            ("<meta charset='windows-1251'>", "windows-1251"),
            ("<META name=x><META CHARSET = koi8-r />", "KOI8-R"),
            (
                "<meta http-equiv=content-type content=\"text/html; charset=shift_jis\">",
                "Shift_JIS",
            ),
            ("<meta charset=utf-16le>", "UTF-8"),
            ("<meta charset=nonsense><meta charset=latin1>", "windows-1252"),
            ("<script src=x charset=latin1></script>charset=latin1", "none"),
            ("<!-- <meta charset=latin1> -->", "none"),
            (&late, "none"),
        ] {
            assert_eq!(name(within(page.as_bytes())), expected, "{page}");
        }
    }
}
