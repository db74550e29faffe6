//! Takes secrets out of what a call gave, before it is shown, written or sent anywhere.

use std::borrow::Cow;
use std::sync::Arc;

use heeler_core::{Block, Progress, RawJson, ToolOutput};
use heeler_secrets::Secrets;

/// The most bytes of one text that are looked through: twice what a command gives. Of a longer one as
/// much is left of its beginning as of its end, which is far more than any history takes.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How far beyond a cut is looked for secrets, or half of one would not be known as one. No variable is
/// as long.
const SECRET_BYTES_MAX: usize = 256 * 1024;

/// Takes secrets out of all text of an output, and the middle out of what is very long.
pub(super) fn redact(output: &mut ToolOutput, secrets: &Secrets) {
    let clean = |text: &str| match cleaned(text, secrets, TEXT_BYTES_MAX, SECRET_BYTES_MAX) {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => None,
    };
    for block in &mut output.content {
        if let Some(clean) = block.as_text().and_then(clean) {
            *block = Block::text(clean);
        }
    }
    for text in std::iter::once(&mut output.for_user).chain(&mut output.artifact_tags) {
        if let Some(clean) = clean(text) {
            *text = clean;
        }
    }
    // What is as long is left out anyway.
    output.structured.take_if(|json| json.get().len() > TEXT_BYTES_MAX);
    if let Some(Cow::Owned(clean)) =
        output.structured.as_ref().map(|json| secrets.redact(json.get()))
    {
        // What is no JSON any more is in the text as well, and left out here.
        output.structured = RawJson::parse(&clean).ok();
    }
}

/// A text without secrets, and without its middle where it is longer than `bytes_max`: cut first, since
/// looking takes long, and looked at beyond each cut, as far as a secret may be long.
fn cleaned<'a>(
    text: &'a str,
    secrets: &Secrets,
    bytes_max: usize,
    secret_bytes_max: usize,
) -> Cow<'a, str> {
    if text.len() <= bytes_max {
        return secrets.redact(text);
    }
    let half = bytes_max / 2;
    let head_end = text.floor_char_boundary(half);
    let beyond = text.floor_char_boundary(half.saturating_add(secret_bytes_max));
    let tail_start = text.ceil_char_boundary(text.len() - half);
    let before = text.floor_char_boundary(tail_start.saturating_sub(secret_bytes_max));
    let head = secrets.redact_part(&text[..beyond], 0..head_end);
    let tail = secrets.redact_part(&text[before..], tail_start - before..text.len() - before);
    let n_left_out = tail_start - head_end;
    Cow::Owned(format!("{head}\n[... {n_left_out} bytes left out ...]\n{tail}"))
}

/// A sink that takes secrets out of what it passes on.
pub(crate) fn redacting(progress: Progress, secrets: &Arc<Secrets>) -> Progress {
    let secrets = Arc::clone(secrets);
    Progress::new(move |text| progress.send(secrets.redact(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_at_a_cut_is_shown_neither_whole_nor_in_part() {
        let secret = "h0rse-battery-Staple";
        let secrets = Secrets::of_variables([("DB_PASSWORD", secret)]);
        let (length, bytes_max) = (200, 80);
        for at in 0..=length {
            let text = format!("{}{secret}{}", "\u{e9}".repeat(at), "x".repeat(length - at));
            let clean = cleaned(&text, &secrets, bytes_max, secret.len());
            for piece in (0..=secret.len() - 3).map(|from| &secret[from..from + 3]) {
                assert!(!clean.contains(piece), "{at}: {clean}");
            }
            let marker = "[redacted: DB_PASSWORD]";
            assert!(clean.contains(" bytes left out ...]"), "{at}: {clean}");
            assert!(clean.len() < bytes_max + 2 * marker.len() + 40, "{at}: {clean}");
            let is_within = 2 * at < bytes_max / 2 || length - at < bytes_max / 2;
            assert_eq!(clean.contains(marker), is_within, "{at}: {clean}");
        }
        let short = "x".repeat(bytes_max);
        assert_eq!(cleaned(&short, &secrets, bytes_max, secret.len()), short);
    }

    #[test]
    fn a_line_of_progress_shows_no_secret_and_no_part_beside_a_cut() {
        let secrets = Arc::new(Secrets::of_variables([("DB_PASSWORD", "h0rse-battery-Staple")]));
        for (line, expected) in [
            ("10% h0rse-battery-Staple", "10% [redacted: DB_PASSWORD]"),
            ("20% h0rse-ba\u{2026}", "20% [redacted: DB_PASSWORD]\u{2026}"),
            ("Staple 30%", "Staple 30%"),
        ] {
            let (told, heard) = std::sync::mpsc::channel();
            let progress = Progress::new(move |line| told.send(line).unwrap());
            redacting(progress, &secrets).send(line);
            assert_eq!(heard.recv().unwrap(), expected);
        }
    }

    #[test]
    fn a_very_long_text_loses_its_middle() {
        let mut output = ToolOutput::text("x".repeat(TEXT_BYTES_MAX + 10));
        redact(&mut output, &Secrets::default());
        let text = output.text_content();
        assert!(text.contains("x\n[... 10 bytes left out ...]\nx"));
        assert_eq!(text.len(), TEXT_BYTES_MAX + "\n[... 10 bytes left out ...]\n".len());
    }

    #[test]
    fn text_for_the_model_and_for_the_user_is_cleaned_and_the_rest_stays() {
        let secrets = Secrets::of_variables([("DB_PASSWORD", "h0rse-battery-Staple")]);
        let mut output = ToolOutput {
            content: vec![Block::text("a h0rse-battery-Staple b"), Block::text("plain")],
            for_user: "h0rse-battery-Staple".into(),
            structured: Some(RawJson::parse(r#"{"a": "h0rse-battery-Staple"}"#).unwrap()),
            ..ToolOutput::default().with_artifact("/tmp/h0rse-battery-Staple")
        };
        redact(&mut output, &secrets);
        assert_eq!(output.text_content(), "a [redacted: DB_PASSWORD] bplain");
        assert_eq!(output.for_user, "[redacted: DB_PASSWORD]");
        assert_eq!(output.artifact_tags[..], ["[file:/tmp/[redacted: DB_PASSWORD]]"]);
        let structured = output.structured.unwrap();
        assert_eq!(structured.get(), r#"{"a": "[redacted: DB_PASSWORD]"}"#);
    }
}
