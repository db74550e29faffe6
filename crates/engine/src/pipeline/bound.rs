//! Bounds what a result puts into the history; the rest goes where the model can read it.

use std::io;

use heeler_core::{Block, CallId, SessionId, Spill, ToolOutput, truncate_chars};

/// The most changes of the session's state in one result.
const STATE_CHANGES_MAX: usize = 256;
/// The most bytes of one value of the session's state.
const STATE_VALUE_BYTES_MAX: usize = 256 * 1024;
/// The most media references, and the most artifact tags, of one result.
const FILES_MAX: usize = 64;
/// The most bytes of one artifact tag.
const TAG_BYTES_MAX: usize = 4096;
/// The most bytes of a result as JSON, which nobody can read in part.
const STRUCTURED_BYTES_MAX: usize = 1024 * 1024;
/// The most bytes of a whole result in its record: images have 24 MiB of their own, and a line of a
/// journal 64 MiB.
const OUTPUT_BYTES_MAX: usize = 48 * 1024 * 1024;
/// A result with no more text and state than that is within it, whatever JSON makes of its letters.
const SMALL_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Cuts the output's text to `chars_max`, head and tail, and spills the whole of it. What is shown
/// to the user, and state have limits of their own, and all of it together has one, so that a record
/// always fits a journal.
pub(super) fn bound(
    output: &mut ToolOutput,
    chars_max: usize,
    spill: Option<&dyn Spill>,
    session: &SessionId,
    call: CallId,
) {
    bound_parts(output, chars_max, spill, session, call);
    let bytes = written_bytes(output);
    if bytes > OUTPUT_BYTES_MAX {
        // What a tool did is known by all of its changes or by none.
        *output = ToolOutput::error(format!(
            "the call ended, but its result has {bytes} bytes and at most {OUTPUT_BYTES_MAX} can be \
             kept, so nothing of it was; have it give less"
        ));
    }
}

fn bound_parts(
    output: &mut ToolOutput,
    chars_max: usize,
    spill: Option<&dyn Spill>,
    session: &SessionId,
    call: CallId,
) {
    output.for_user = truncate_chars(&output.for_user, chars_max).into_owned();
    output.state.retain(|change| change.value.get().len() <= STATE_VALUE_BYTES_MAX);
    output.state.truncate(STATE_CHANGES_MAX);
    output.media.truncate(FILES_MAX);
    output.media_items.truncate(FILES_MAX);
    output.artifact_tags.retain(|tag| tag.len() <= TAG_BYTES_MAX);
    output.artifact_tags.truncate(FILES_MAX);
    output.structured.take_if(|json| json.get().len() > STRUCTURED_BYTES_MAX);
    let chars: usize = output.content.iter().filter_map(Block::as_text).map(char_count).sum();
    let is_cut = chars > chars_max;
    if !is_cut {
        return;
    }
    // Without a cut this stays open: what is shown as it is here may be cut as a part of another result.
    output.settle_cut();
    let whole = output.text_content();
    let path = spill.and_then(|spill| spill.write(session, call, &whole).ok());
    let place = match &path {
        // Not "the whole output": a tool may have kept only a part of what there was, and says so in it.
        Some(path) => format!("; all {chars} are in {}", path.display()),
        None => String::new(),
    };
    let marker =
        format!("\n[... {} of {chars} characters left out{place} ...]\n", chars - chars_max);
    let text = head_and_tail(&whole, chars_max, &marker);
    output.content.retain(|block| block.as_text().is_none());
    output.content.insert(0, Block::text(text));
    output.spill = path;
}

/// The bytes of an output in its record; 0 of one that is small whatever they are.
fn written_bytes(output: &ToolOutput) -> usize {
    let state = output.state.iter().map(|change| change.key.len() + change.value.get().len());
    let content = output.content.iter().map(|block| match block {
        Block::Text(text) => text.text.len(),
        // They have a limit of their own.
        Block::Image(_) => 0,
        _ => SMALL_BYTES_MAX,
    });
    if state.chain(content).sum::<usize>() + output.for_user.len() < SMALL_BYTES_MAX {
        return 0;
    }
    let mut counted = Counted(0);
    match serde_json::to_writer(&mut counted, output) {
        Ok(()) => counted.0,
        Err(_) => usize::MAX,
    }
}

/// Counts what is written to it.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Three quarters of `chars_max` from the beginning, the rest from the end.
fn head_and_tail(text: &str, chars_max: usize, marker: &str) -> String {
    let head_chars = chars_max / 4 * 3;
    let tail_chars = chars_max - head_chars;
    let head_end = text.char_indices().nth(head_chars).map_or(text.len(), |(at, _)| at);
    let tail_start = match tail_chars {
        0 => text.len(),
        n => text.char_indices().rev().nth(n - 1).map_or(0, |(at, _)| at),
    };
    format!("{}{marker}{}", &text[..head_end], &text[tail_start.max(head_end)..])
}

fn char_count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_head_and_tail_and_never_splits_a_character() {
        let session = "s".parse().unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let mut output = ToolOutput::text("é".repeat(10) + "end");
        bound(&mut output, 8, None, &session, call);
        assert_eq!(output.text_content(), "éééééé\n[... 5 of 13 characters left out ...]\nnd");
        let mut short = ToolOutput::text("12345678");
        bound(&mut short, 8, None, &session, call);
        assert_eq!(short, ToolOutput::text("12345678"));
    }

    #[test]
    fn what_is_cut_does_not_count_as_shown() {
        let session = "s".parse().unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let whole = "made=1 shown=2 part=3";
        for (chars_max, expected) in [(10, whole), (9, "made=1 part=4")] {
            let mut output = ToolOutput::text("0123456789")
                .with_state("made", &1)
                .with_shown("shown", &2, None::<&u8>)
                .with_shown("part", &3, Some(&4));
            bound(&mut output, chars_max, None, &session, call);
            let kept = output.state.iter();
            let kept: Vec<String> = kept.map(|c| format!("{}={}", c.key, c.value.get())).collect();
            assert_eq!(kept.join(" "), expected);
        }
    }

    #[test]
    fn what_is_not_text_has_limits_too() {
        let session = "s".parse().unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let mut output = ToolOutput { for_user: "x".repeat(40), ..ToolOutput::default() }
            .with_state("largest", &"x".repeat(262_142))
            .with_state("too large", &"x".repeat(262_143));
        bound(&mut output, 30, None, &session, call);
        assert_eq!(output.for_user, "x".repeat(29) + "…");
        let kept: Vec<&str> = output.state.iter().map(|change| change.key.as_str()).collect();
        assert_eq!(kept, ["largest"]);
        let mut output = ToolOutput::default();
        for n in 0..=STATE_CHANGES_MAX {
            output = output.with_state(n.to_string(), &n);
        }
        bound(&mut output, 30, None, &session, call);
        assert_eq!(output.state.len(), 256);
    }

    #[test]
    fn all_of_it_together_has_a_limit() {
        let session = "s".parse().unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        // A quote is an escape in the value, and both of its bytes are in the record.
        let value = "\"".repeat(131_071);
        for (changes, is_kept) in [(1, true), (90, true), (98, false), (256, false)] {
            let mut output = ToolOutput::text("done");
            for n in 0..changes {
                output = output.with_state(n.to_string(), &value);
            }
            bound(&mut output, 30, None, &session, call);
            assert_eq!(!output.is_error, is_kept, "{changes}: {}", output.text_content());
            assert_eq!(output.state.len(), if is_kept { changes } else { 0 });
        }
    }

    #[test]
    fn references_tags_and_json_have_limits_too() {
        let session = "s".parse().unwrap();
        let call = CallId { turn: 1, round: 1, index: 0 };
        let json = |bytes: usize| {
            let text = format!("\"{}\"", "x".repeat(bytes - 2));
            Some(heeler_core::RawJson::parse(&text).unwrap())
        };
        let mut output = ToolOutput::media("", vec!["media://a".parse().unwrap(); 65])
            .with_artifact("x".repeat(4_089))
            .with_artifact("x".repeat(4_090));
        output.structured = json(1_048_576);
        bound(&mut output, 30, None, &session, call);
        assert_eq!((output.media.len(), output.artifact_tags.len()), (64, 1));
        assert_eq!(output.structured, json(1_048_576));
        output.structured = json(1_048_577);
        (0..64).for_each(|n| output.artifact_tags.push(format!("[file:{n}]")));
        bound(&mut output, 30, None, &session, call);
        assert_eq!((output.artifact_tags.len(), output.structured), (64, None));
    }
}
