//! Finds what no model can read in a text: data URLs, and long runs of base64.
//!
//! A run counts as base64 when it has one of the two alphabets and nothing else, is padded as it must
//! be, decodes, and looks like it: capitals, small letters and digits, enough different ones, and no
//! sign of paths. So hex, one word, one case and one alphabet's words stay, and so does minified code,
//! whose signs end every run. Runs may be broken into lines of one width, as `base64` and mails do.
//! What stands in armor (`-----BEGIN ...`) stays: a certificate says what it is. So does what a tool
//! has cut, which its mark tells.
//!
//! Each byte is looked at a fixed number of times, whatever the text.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The fewest characters of base64 of a data URL that is worth a file.
pub(super) const URL_CHARS_MIN: usize = 256;
/// The fewest characters of base64 that stands for itself.
pub(super) const RUN_CHARS_MIN: usize = 1024;
/// The longest beginning of a data URL, up to its comma.
const URL_HEAD_BYTES_MAX: usize = 200;
/// The widths of lines that base64 is broken into.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=128;
/// The fewest different characters of base64 that holds anything.
const DIFFERENT_MIN: usize = 40;

/// Something that no model can read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heavy {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// What the data URL says it is.
    pub(super) media_type: Option<String>,
    pub(super) bytes: Vec<u8>,
}

/// The first so many, in order.
pub(super) fn heavy(text: &str, count_max: usize) -> Vec<Heavy> {
    let (bytes, mut found) = (text.as_bytes(), Vec::new());
    let (mut at, mut is_armored) = (0, false);
    while at < bytes.len() && found.len() < count_max {
        if !is_base64(bytes[at]) {
            at += 1;
            continue;
        }
        let end = run_end(bytes, at);
        if bytes[at..end].starts_with(b"-----BEGIN") {
            is_armored = true;
        } else if bytes[at..end].starts_with(b"-----END") {
            is_armored = false;
        } else if let Some((start, media_type)) = url_head(text, at) {
            let end = padded(bytes, end);
            if end - at >= URL_CHARS_MIN
                && !is_part(text, start, end)
                && let Some(decoded) = decode(&bytes[at..end])
            {
                found.push(Heavy { range: start..end, media_type, bytes: decoded });
            }
            at = end;
            continue;
        } else {
            let (chars, end) = unbroken(bytes, at, end);
            if !is_armored
                && chars.len() >= RUN_CHARS_MIN
                && !is_part(text, at, end)
                && looks_like_base64(&chars)
                && let Some(decoded) = decode(&chars)
            {
                found.push(Heavy { range: at..end, media_type: None, bytes: decoded });
            }
            at = end;
            continue;
        }
        at = end;
    }
    found
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Where the run that begins here ends, without its padding.
fn run_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| !is_base64(*byte)).unwrap_or(rest.len())
}

fn padded(bytes: &[u8], end: usize) -> usize {
    end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Where the data URL begins whose data begin here, and what it says they are.
fn url_head(text: &str, data: usize) -> Option<(usize, Option<String>)> {
    const END: &[u8] = b";base64,";
    let bytes = text.as_bytes();
    let end = data.checked_sub(END.len())?;
    if !bytes[end..data].eq_ignore_ascii_case(END) {
        return None;
    }
    let head = &bytes[end.saturating_sub(URL_HEAD_BYTES_MAX)..end];
    let at = head.windows(5).rposition(|five| five.eq_ignore_ascii_case(b"data:"))?;
    let said = &head[at + 5..];
    let is_said = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+/;=%-".contains(&b);
    if !said.iter().all(|b| is_said(*b)) {
        return None;
    }
    let media_type = std::str::from_utf8(said).ok()?.split(';').next().unwrap_or_default();
    let media_type = if media_type.is_empty() { "text/plain" } else { media_type };
    Some((end - head.len() + at, Some(media_type.to_owned())))
}

/// The run that begins here with the lines that continue it, without their ends; and where it ends.
fn unbroken(bytes: &[u8], at: usize, end: usize) -> (Vec<u8>, usize) {
    let width = end - at;
    let mut chars = bytes[at..end].to_vec();
    let mut end = end;
    while WIDTHS.contains(&width) && width.is_multiple_of(4) {
        let Some(next) = line_end(bytes, end) else { break };
        let next_end = run_end(bytes, next);
        let line = &bytes[next..next_end];
        let is_last = line.len() < width;
        let is_whole = bytes.get(next_end).is_none_or(|b| matches!(b, b'\n' | b'\r' | b'='));
        let is_other = line.is_empty() || line.len() > width || line.starts_with(b"--");
        if is_other || is_last && (is_word(line) || !is_whole && !ends_run(bytes, next_end)) {
            break;
        }
        chars.extend_from_slice(line);
        end = next_end;
        if is_last {
            break;
        }
    }
    let padded = padded(bytes, end);
    chars.extend_from_slice(&bytes[end..padded]);
    (chars, padded)
}

/// Whether what stands here can end base64 that is quoted.
fn ends_run(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| matches!(byte, b'"' | b'\'' | b'`' | b')' | b'<'))
}

/// Where the next line begins, if one ends here.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// Whether a tool left out what stood before or after: half a picture is none.
fn is_part(text: &str, start: usize, end: usize) -> bool {
    const MARKS: [&str; 3] = ["[...", "...", "\u{2026}"];
    let is_space = |c: char| matches!(c, ' ' | '\r' | '\n');
    // The marks stand after one space or line end; a whole desert would be walked for each run.
    let after = text[end..].strip_prefix("\r\n").unwrap_or(&text[end..]);
    let after = after.strip_prefix(is_space).unwrap_or(after);
    let before = text[..start].strip_suffix("\r\n").unwrap_or(&text[..start]);
    let before = before.strip_suffix(is_space).unwrap_or(before);
    MARKS.iter().any(|mark| after.starts_with(mark))
        || ["...]", "...", "\u{2026}"].iter().any(|mark| before.ends_with(mark))
}

/// A line after base64 that may well be somebody's word: `done`, `Done`, `DONE`.
fn is_word(line: &[u8]) -> bool {
    let Some((first, rest)) = line.split_first() else { return false };
    first.is_ascii_alphabetic()
        && (rest.iter().all(u8::is_ascii_lowercase)
            || first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_uppercase))
}

fn looks_like_base64(chars: &[u8]) -> bool {
    let mut counts = [0_usize; 256];
    for byte in chars {
        counts[usize::from(*byte)] += 1;
    }
    let share = |of: Range<u8>| counts[usize::from(of.start)..usize::from(of.end)].iter().sum();
    let is_at_least = |count: usize, part: usize| count.saturating_mul(part) >= chars.len();
    let different = counts.iter().filter(|count| **count > 0).count();
    // Of what is random, one in 64 is each of these; of a path, many are.
    let is_path = b"+/-_".iter().any(|byte| counts[usize::from(*byte)] * 8 > chars.len());
    different >= DIFFERENT_MIN
        && is_at_least(share(b'A'..b'Z' + 1), 20)
        && is_at_least(share(b'a'..b'z' + 1), 20)
        && is_at_least(share(b'0'..b'9' + 1), 50)
        && !is_path
}

/// The bytes, when it is base64 of either alphabet as an encoder writes it, padded or not.
fn decode(chars: &[u8]) -> Option<Vec<u8>> {
    let with = |alphabet: &Alphabet| {
        let padding = DecodePaddingMode::Indifferent;
        let config = GeneralPurposeConfig::new().with_decode_padding_mode(padding);
        GeneralPurpose::new(alphabet, config).decode(chars).ok()
    };
    let is_url_safe = chars.iter().any(|byte| matches!(byte, b'-' | b'_'));
    if is_url_safe { with(&URL_SAFE) } else { with(&STANDARD) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    /// Bytes without a pattern, the same every time.
    fn noise(count: usize) -> Vec<u8> {
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        };
        (0..count).map(|_| next()).collect()
    }

    fn encoded(bytes: &[u8]) -> String {
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    fn wrapped(text: &str, width: usize, line_end: &str) -> String {
        let lines: Vec<&str> =
            text.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
        lines.join(line_end)
    }

    /// The text with what was found told in its place.
    fn check(text: &str, expected: Expect) {
        let mut left = text.to_owned();
        for Heavy { range, media_type, bytes } in heavy(text, 100).into_iter().rev() {
            left.replace_range(range, &format!("<{media_type:?} {}>", bytes.len()));
        }
        let short = match left.char_indices().nth(90) {
            Some((at, _)) => format!("{}... {}", &left[..at], left.len()),
            None => left,
        };
        expected.assert_eq(&short);
    }

    #[test]
    fn the_last_line_of_lines_is_shorter_and_ends_them() {
        // 57 bytes a line, and 30 on the last.
        let lines = wrapped(&encoded(&noise(57 * 20 + 30)), 76, "\n");
        check(&format!("{lines}\nnext words"), expect!["<None 1170>\nnext words"]);
        check(&format!("\"{lines}\" and more"), expect![[r#""<None 1170>" and more"#]]);
        check(
            &format!("{lines}, and more"),
            expect![[r#"
            <None 1140>
            JaDXUTL98y2Fw/nroytroI+kYkD7Jl28AaJo3cpW, and more"#]],
        );
        // A longer one is something else.
        let longer = encoded(&noise(75));
        check(
            &format!("{lines}\n{longer}"),
            expect![[r#"
            <None 1170>
            PF6BtAxexo4Eo0Bsl9Y8+9xTrog3GhJRIbWVYUPA7i1V+2OMd/7gtvX5J1+vKX4sl99UBPM71AZiC1... 112"#]],
        );
        let whole = wrapped(&encoded(&noise(57 * 20)), 76, "\n");
        check(
            &format!("{whole}\n{longer}"),
            expect![[r#"
            <None 1140>
            PF6BtAxexo4Eo0Bsl9Y8+9xTrog3GhJRIbWVYUPA7i1V+2OMd/7gtvX5J1+vKX4sl99UBPM71AZiC1... 112"#]],
        );
    }

    #[test]
    fn base64_has_letters_of_both_cases_digits_and_few_signs() {
        let lower = "abcdefghijklmnopqrstuvwxyz".repeat(4);
        let (upper, digits) = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789");
        let looks = |parts: &[&str]| looks_like_base64(parts.concat().as_bytes());
        // The last of each range counts.
        assert!(looks(&[&lower, &"Z".repeat(20), digits, "+/-_"]));
        assert!(looks(&[&upper.repeat(4), &"z".repeat(20), digits, "+/-_"]));
        assert!(looks(&[&lower, upper, &"9".repeat(10)]));
        assert!(!looks(&[&lower, digits, "+/-_"]));
        assert!(!looks(&[&upper.repeat(4), digits, "+/-_"]));
        assert!(!looks(&[&lower, upper, "+/-_"]));
        // 140 others: of 160, 20 are an eighth.
        let others = [lower.as_str(), upper, digits].concat();
        assert_eq!(others.len(), 140);
        for (slashes, expected) in [(8, true), (20, true), (21, false), (60, false)] {
            assert_eq!(looks(&[&others, &"/".repeat(slashes)]), expected, "{slashes}");
        }
    }

    #[test]
    fn data_urls_go_whatever_they_say_they_are() {
        let data = encoded(&noise(300));
        check(
            &format!("a <img src=\"data:image/png;base64,{data}\"> b"),
            expect![[r#"a <img src="<Some("image/png") 300>"> b"#]],
        );
        check(
            &format!("(DATA:;Base64,{data}) data:text/x-a;charset=utf-8;base64,{data}"),
            expect![[r#"(<Some("text/plain") 300>) <Some("text/x-a") 300>"#]],
        );
        // Even what would not look like base64.
        let zeros = encoded(&[0; 300]);
        check(&format!("data:a/b;base64,{zeros}"), expect![[r#"<Some("a/b") 300>"#]]);
    }

    #[test]
    fn what_is_no_data_url_or_a_short_one_stays() {
        let short = encoded(&noise(189));
        for text in [
            format!("data:image/png;base64,{short}"),
            format!("data:image/png,{}", "x".repeat(300)),
            format!("metadata: a;base64,{}", encoded(&noise(300))),
            format!("data:{};base64,{}", "x".repeat(200), encoded(&noise(300))),
            "data:image/png;base64,".to_owned(),
            ";base64,AAAA".to_owned(),
        ] {
            assert_eq!(heavy(&text, 100), [], "{text}");
        }
        assert_eq!(heavy(&format!("data:a/b;base64,{}", encoded(&noise(192))), 100).len(), 1);
    }

    #[test]
    fn long_base64_goes_in_one_line_or_in_many() {
        let data = encoded(&noise(1000));
        check(&format!("got {data}\nDone"), expect!["got <None 1000>\nDone"]);
        check(&format!("\"{data}\","), expect![[r#""<None 1000>","#]]);
        for (width, end) in [(76, "\n"), (64, "\r\n"), (76, "\r\n")] {
            let lines = wrapped(&data, width, end);
            check(&format!("$ base64 a\n{lines}\n$ "), expect!["$ base64 a\n<None 1000>\n$ "]);
        }
        let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(noise(1000));
        check(&format!("'{url_safe}'"), expect!["'<None 1000>'"]);
        let prose = "The quick brown fox, 17 of them, jumps over 3 lazy dogs. ".repeat(20);
        check(
            &encoded(prose.as_bytes()),
            expect![
                "VGhlIHF1aWNrIGJyb3duIGZveCwgMTcgb2YgdGhlbSwganVtcHMgb3ZlciAzIGxhenkgZG9ncy4gVGhlIHF1aWNrIG... 1520"
            ],
        );
    }

    #[test]
    fn a_word_after_full_lines_stays() {
        let lines = wrapped(&encoded(&noise(57 * 20)), 76, "\n");
        for word in ["done", "Done", "DONE", "-----END X-----", "no base64", ""] {
            let text = format!("{lines}\n{word}");
            let found = heavy(&text, 100);
            assert_eq!((found.len(), &found[0].range), (1, &(0..lines.len())), "{word}");
        }
    }

    #[test]
    fn what_is_no_base64_stays() {
        let bytes = noise(3000);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let data = encoded(&bytes);
        let code = "function(a,b){return a.b(c)?d:e}var xY1=[0,1];".repeat(60);
        let path = "/usr/lib/node2/Module/x86/Y".repeat(60);
        let names = (0..40).map(|n| format!("Token{n:059}x\n")).collect::<String>();
        for text in [
            hex.clone(),
            hex.to_uppercase(),
            "A".repeat(4000),
            "ACGT".repeat(1000),
            "loremipsumdolor".repeat(100),
            code,
            path,
            names,
            data.to_lowercase(),
            // Neither alphabet, or padded where it goes on.
            format!("{}-{}", &data[..800], &data[800..1600]).replace('a', "+"),
            format!("{}==={}", &data[..800], &data[800..1600]),
            // Lines of no one width.
            wrapped(&data, 77, "\n"),
            wrapped(&data, 40, "\n"),
            data[..RUN_CHARS_MIN - 4].to_owned(),
            // A length that no encoder gives.
            data[..RUN_CHARS_MIN + 1].to_owned(),
        ] {
            assert_eq!(heavy(&text, 100), [], "{text}");
        }
        assert_eq!(heavy(&data[..RUN_CHARS_MIN], 100).len(), 1);
    }

    #[test]
    fn what_was_cut_stays() {
        let data = encoded(&noise(1500));
        for (before, after) in [
            ("", " [... 7 more bytes]"),
            ("", "\n[... 7 bytes left out ...]\n"),
            ("\n[... 7 bytes left out ...]\n", ""),
            ("", "\u{2026}"),
            ("...", ""),
        ] {
            for kind in ["", "data:image/png;base64,"] {
                assert_eq!(heavy(&format!("{before}{kind}{data}{after}"), 100), []);
            }
        }
        assert_eq!(heavy(&format!("[a] {data} [b]"), 100).len(), 1);
    }

    #[test]
    fn no_more_is_looked_for_than_is_wanted() {
        let data = encoded(&noise(1000));
        let text = [&*data; 3].join(" and ");
        for wanted in 0..=3 {
            assert_eq!(heavy(&text, wanted).len(), wanted);
        }
    }

    #[test]
    fn what_stands_in_armor_stays() {
        let lines = wrapped(&encoded(&noise(3000)), 64, "\n");
        let armored = format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n");
        assert_eq!(heavy(&armored, 100), []);
        let found = heavy(&format!("{armored}{lines}\n"), 100);
        assert_eq!((found.len(), found[0].range.start), (1, armored.len()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_looked_at_and_what_is_found_is_base64_of_it(
            text in prop::collection::vec(
                prop_oneof![
                    ".{0,40}",
                    "[A-Za-z0-9+/=_-]{0,300}",
                    Just("\n".to_owned()),
                    Just("-----BEGIN A-----\n".to_owned()),
                    Just("data:image/png;base64,".to_owned()),
                    (0_usize..3000).prop_map(|count| encoded(&noise(count))),
                    (0_usize..3000).prop_map(|count| wrapped(&encoded(&noise(count)), 76, "\n")),
                ],
                0..12,
            ),
        ) {
            let text = text.concat();
            let mut end = 0;
            for Heavy { range, media_type, bytes } in heavy(&text, 100) {
                prop_assert!(end <= range.start);
                end = range.end;
                let cut = &text[range];
                let data = match media_type {
                    Some(_) => cut.rsplit_once(',').unwrap().1.to_owned(),
                    None => cut.replace(['\r', '\n'], ""),
                };
                prop_assert!(data.len() >= URL_CHARS_MIN);
                let again = [STANDARD_PADDED, URL_PADDED].map(|engine| engine.encode(&bytes));
                let data = data.trim_end_matches('=');
                prop_assert!(again.iter().any(|again| again.trim_end_matches('=') == data));
            }
        }

        /// Whatever stands around it that base64 has no sign of.
        #[test]
        fn base64_is_found_and_comes_out_as_it_went_in(
            count in 768_usize..4000,
            before in "[^A-Za-z0-9+/=_.\u{2026}-]{0,20}",
            after in "([^A-Za-z0-9+/=_\\r\\n .\\[\u{2026}-].{0,20})?",
        ) {
            let bytes = noise(count);
            let text = format!("{before}{}{after}", encoded(&bytes));
            let found = heavy(&text, 100);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].bytes, &bytes);
            prop_assert_eq!(found[0].range.start, before.len());
        }

        /// What is written with the signs of one base of ours or another stays.
        #[test]
        fn hex_and_words_stay(
            text in prop_oneof!["[0-9a-f]{1024,3000}", "[A-Z2-7]{1024,3000}", "[a-z/]{1024,3000}",
                "([a-z]{1,12}[ .;(){}=,]){200,400}", "([A-Za-z0-9]{1,43}=?\n){30,80}"],
        ) {
            prop_assert_eq!(heavy(&text, 100), []);
        }
    }

    const STANDARD_PADDED: GeneralPurpose = base64::engine::general_purpose::STANDARD;
    const URL_PADDED: GeneralPurpose = base64::engine::general_purpose::URL_SAFE;
}
