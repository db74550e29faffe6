//! A session as Markdown: what was said as it was said, every call folded to a row.

use std::io::{self, Write};

use heeler_tui::text::clean;

use super::super::list::second;
use super::super::request;
use super::super::story::{Call, Chapter, Part, Story, ending, lasted};
use super::html::escape;
use crate::say::one_line;

/// The fewest backticks of a fence.
const FENCE_MIN: usize = 3;

/// Writes it.
pub(super) fn write(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}\n", line(&story.title()))?;
    writeln!(out, "- session: `{}`", story.header.id)?;
    if let Some(origin) = &story.state.forked {
        writeln!(out, "- forked from: `{}` at {}", origin.session, origin.at)?;
    }
    writeln!(out, "- folder: {}", code(&story.header.workspace))?;
    writeln!(out, "- created: {} UTC", second(story.header.created))?;
    writeln!(out, "- model: {}", code(&story.state.settings.model.name))?;
    let used = request::input(&story.state.usage);
    writeln!(out, "- used: {used}, {} out, {}", story.state.usage.output, story.state.bill())?;
    for damage in &story.damage {
        writeln!(out, "- damaged: {}", line(damage))?;
    }
    for part in &story.before {
        write_part(part, out)?;
    }
    for chapter in &story.chapters {
        write_chapter(chapter, out)?;
    }
    Ok(())
}

fn write_chapter(chapter: &Chapter, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {}. {}\n", chapter.number, line(&chapter.title()))?;
    let mut facts = vec![format!("{} UTC", second(chapter.began))];
    facts.extend(chapter.millis().map(lasted));
    facts.push(format!("{} tokens in, {} out", chapter.usage.input_total(), chapter.usage.output));
    facts.push(chapter.bill.to_string());
    let end = chapter.end.as_ref().map(|(_, outcome)| ending(outcome));
    facts.push(line(&end.unwrap_or_else(|| "unfinished".to_owned())));
    writeln!(out, "*{}*", facts.join(" · "))?;
    chapter.parts.iter().try_for_each(|part| write_part(part, out))
}

fn write_part(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Said(text) => {
            let quoted = clean(text.trim_end()).replace('\n', "\n> ");
            writeln!(out, "\n> {quoted}")
        }
        Part::Answered(text) => writeln!(out, "\n{}", clean(text.trim_end())),
        Part::Thought(text) => folded("thinking", &[("", text)], out),
        Part::Picture(image) => writeln!(out, "\n*an image, {}*", code(&image.media_type)),
        Part::Called(call) => write_call(call, out),
        Part::Noted(what, None) => writeln!(out, "\n*{}*", line(what)),
        Part::Noted(what, Some(more)) => folded(&escape(&one_line(what)), &[("", more)], out),
    }
}

fn write_call(call: &Call, out: &mut dyn Write) -> io::Result<()> {
    let (name, what) = (escape(&one_line(&call.name)), escape(&one_line(&call.summary)));
    let time =
        if call.millis >= 1000 { format!(" · {}", lasted(call.millis)) } else { String::new() };
    let row = format!("{} <b>{name}</b> {what}{time}", call.sign());
    let result = call.result.as_ref().map_or("", |result| &*result.text);
    let language = if call.is_change() { "diff" } else { "" };
    folded(&row, &[("json", &call.input), (language, result)], out)
}

/// A row, given as HTML, that opens to these texts.
fn folded(row: &str, texts: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n<details><summary>{row}</summary>\n")?;
    for (language, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        let text = clean(text.trim_end_matches('\n'));
        let fence = "`".repeat(FENCE_MIN.max(longest_run(&text) + 1));
        writeln!(out, "{fence}{language}\n{text}\n{fence}\n")?;
    }
    writeln!(out, "</details>")
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// On one line, with nothing that Markdown reads as its own.
fn line(text: &str) -> String {
    let one = one_line(text);
    let mut out = String::with_capacity(one.len());
    for c in clean(&one).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// As code within a line.
fn code(text: &str) -> String {
    let text = clean(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The texts of the fenced blocks, and what stands outside of them.
    fn read(page: &str) -> (Vec<String>, Vec<&str>) {
        let (mut blocks, mut around) = (Vec::new(), Vec::new());
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let fence: String = line.chars().take_while(|c| *c == '`').collect();
            if fence.len() < FENCE_MIN {
                around.push(line);
                continue;
            }
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
            blocks.push(inside.join("\n"));
        }
        (blocks, around)
    }

    proptest! {
        #[test]
        fn no_text_ends_its_fence(text in "[`a\n]{1,60}") {
            let mut out = Vec::new();
            folded("row", &[("", &text)], &mut out).unwrap();
            let page = String::from_utf8(out).unwrap();
            let (blocks, around) = read(&page);
            prop_assert_eq!(blocks, [text.trim_end_matches('\n')]);
            let around: String = around.concat();
            prop_assert_eq!(around, "<details><summary>row</summary></details>");
        }

        #[test]
        fn a_line_is_one_line_of_plain_text(text in "\\PC{0,20}[\n<>`*_#]{0,6}") {
            let line = line(&text);
            prop_assert!(!line.contains('\n'));
            let bare = line.replace("\\\\", "");
            for (at, _) in bare.match_indices(['<', '`', '*', '_', '#']) {
                prop_assert_eq!(&bare[at - 1..at], "\\");
            }
        }
    }
}
