//! A session as one page that needs nothing else: no network, no other file.
//!
//! Whatever is not written in this folder passes [`escape`]: [`Page`] takes other texts in no other way.
//! The page's policy lets its own style and script in by their hashes and nothing besides, so even a
//! text that got through would not run.

mod escape;

use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use heeler_core::Image;
use sha2::{Digest, Sha256};

use super::super::list::second;
use super::super::request;
use super::super::story::{Call, Chapter, Part, Story, ending, lasted};
pub(super) use escape::escape;
use escape::escape_into;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Kinds of images that browsers show and that cannot hold a script.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// How much is kept before it is written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes it.
pub(super) fn write(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { buffer: String::with_capacity(BUFFER_BYTES * 2), out };
    page.head(story)?;
    page.facts(story)?;
    page.timeline(story)?;
    if !story.before.is_empty() {
        page.html("<section class=\"turn\" id=\"before\"><h2>Before</h2>\n")?;
        page.parts(&story.before)?;
        page.html("</section>\n")?;
    }
    for chapter in &story.chapters {
        page.chapter(chapter)?;
    }
    page.html("</main>\n<script>")?;
    page.html(SCRIPT)?;
    page.html("</script>\n</body>\n</html>\n")?;
    page.flush()
}

/// A page that is written.
struct Page<'a> {
    buffer: String,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    /// What this program says itself.
    fn html(&mut self, html: &'static str) -> io::Result<()> {
        self.buffer.push_str(html);
        self.flush_when_full()
    }

    /// What anybody else says.
    fn text(&mut self, text: &str) -> io::Result<()> {
        escape_into(&mut self.buffer, text);
        self.flush_when_full()
    }

    fn flush_when_full(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.buffer.as_bytes())?;
        self.buffer.clear();
        Ok(())
    }

    fn head(&mut self, story: &Story) -> io::Result<()> {
        self.html("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
        self.html("<meta http-equiv=\"Content-Security-Policy\" content=\"")?;
        let (style, script) = (hash(STYLE), hash(SCRIPT));
        self.text(&format!(
            "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; \
             img-src data:; base-uri 'none'; form-action 'none'"
        ))?;
        self.html("\">\n<meta name=\"viewport\" content=\"width=device-width\">\n")?;
        self.html("<meta name=\"referrer\" content=\"no-referrer\">\n<title>")?;
        self.text(&story.title())?;
        self.html("</title>\n<style>")?;
        self.html(STYLE)?;
        self.html("</style>\n</head>\n<body>\n<main>\n<h1>")?;
        self.text(&story.title())?;
        self.html("</h1>\n")
    }

    fn facts(&mut self, story: &Story) -> io::Result<()> {
        let used = request::input(&story.state.usage);
        let mut rows = vec![
            ("session", story.header.id.to_string()),
            ("folder", story.header.workspace.clone()),
            ("created", format!("{} UTC", second(story.header.created))),
            ("model", story.state.settings.model.name.clone()),
            ("used", format!("{used}, {} out, {}", story.state.usage.output, story.state.bill())),
        ];
        rows.extend(story.state.forked.as_ref().map(|origin| ("forked from", origin.to_string())));
        rows.extend(story.damage.iter().map(|damage| ("damaged", damage.clone())));
        self.html("<dl>\n")?;
        for (what, value) in rows {
            self.html("<dt>")?;
            self.html(what)?;
            self.html("</dt><dd>")?;
            self.text(&value)?;
            self.html("</dd>\n")?;
        }
        self.html("</dl>\n<p class=\"tools\">")?;
        self.html("<button data-fold=\"open\" data-what=\"call\">open calls</button> ")?;
        self.html("<button data-fold=\"close\" data-what=\"call\">close calls</button> ")?;
        self.html("<button data-fold=\"open\" data-what=\"thought\">open thinking</button> ")?;
        self.html("<button data-fold=\"close\" data-what=\"thought\">close thinking</button></p>\n")
    }

    /// One row a turn: when, how long, what it used.
    fn timeline(&mut self, story: &Story) -> io::Result<()> {
        let longest = story.chapters.iter().filter_map(Chapter::millis).max().unwrap_or(0).max(1);
        self.html("<details class=\"timeline\" open><summary>Turns</summary>\n<table>\n")?;
        self.html("<tr><th>#</th><th class=\"what\">said</th><th>time</th><th>took</th>")?;
        self.html("<th class=\"wide\"></th><th class=\"wide\">in</th><th class=\"wide\">out</th>")?;
        self.html("<th>cost</th></tr>\n")?;
        for chapter in &story.chapters {
            let number = chapter.number.to_string();
            self.html("<tr><td>")?;
            self.text(&number)?;
            self.html("</td><td class=\"what\"><a href=\"#turn-")?;
            self.text(&number)?;
            self.html("\">")?;
            self.text(&or_number(chapter))?;
            self.html("</a></td><td>")?;
            self.time(chapter)?;
            self.html("</td><td>")?;
            self.text(&chapter.millis().map(lasted).unwrap_or_default())?;
            self.html("</td><td class=\"wide\"><progress max=\"1000\" value=\"")?;
            self.text(&(chapter.millis().unwrap_or(0).saturating_mul(1000) / longest).to_string())?;
            self.html("\"></progress></td><td class=\"wide\">")?;
            self.text(&chapter.usage.input_total().to_string())?;
            self.html("</td><td class=\"wide\">")?;
            self.text(&chapter.usage.output.to_string())?;
            self.html("</td><td>")?;
            self.text(&chapter.bill.to_string())?;
            self.html("</td></tr>\n")?;
        }
        self.html("</table></details>\n")
    }

    fn time(&mut self, chapter: &Chapter) -> io::Result<()> {
        let began = second(chapter.began);
        self.html("<time datetime=\"")?;
        self.text(&began.replace(' ', "T"))?;
        self.html("Z\">")?;
        self.text(&began)?;
        self.html("</time>")
    }

    fn chapter(&mut self, chapter: &Chapter) -> io::Result<()> {
        let number = chapter.number.to_string();
        self.html("<section class=\"turn\" id=\"turn-")?;
        self.text(&number)?;
        self.html("\"><h2><a href=\"#turn-")?;
        self.text(&number)?;
        self.html("\">")?;
        self.text(&number)?;
        self.html("</a> ")?;
        self.text(&or_number(chapter))?;
        self.html("</h2>\n<p class=\"facts\">")?;
        self.time(chapter)?;
        let end = chapter.end.as_ref().map(|(_, outcome)| ending(outcome));
        let took = chapter.millis().map(|millis| format!(" · {}", lasted(millis)));
        self.text(&format!(
            " UTC{} · {} tokens in, {} out · {} · {}",
            took.unwrap_or_default(),
            chapter.usage.input_total(),
            chapter.usage.output,
            chapter.bill,
            end.unwrap_or_else(|| "unfinished".to_owned())
        ))?;
        self.html("</p>\n")?;
        self.parts(&chapter.parts)?;
        self.html("</section>\n")
    }

    fn parts(&mut self, parts: &[Part]) -> io::Result<()> {
        parts.iter().try_for_each(|part| self.part(part))
    }

    fn part(&mut self, part: &Part) -> io::Result<()> {
        match part {
            Part::Said(text) => self.block("<div class=\"said\">", text),
            Part::Answered(text) => self.block("<div class=\"answer\">", text),
            Part::Noted(what, None) => self.block("<div class=\"note\">", what),
            Part::Noted(what, Some(more)) => self.folded(what, more),
            Part::Thought(text) => self.folded("thinking", text),
            Part::Picture(image) => self.picture(image),
            Part::Called(call) => self.call(call),
        }
    }

    fn block(&mut self, opening: &'static str, text: &str) -> io::Result<()> {
        self.html(opening)?;
        self.text(text.trim())?;
        self.html("</div>\n")
    }

    fn folded(&mut self, what: &str, text: &str) -> io::Result<()> {
        self.html("<details class=\"thought\"><summary>")?;
        self.text(what)?;
        self.html("</summary>")?;
        self.preformatted(text)?;
        self.html("</details>\n")
    }

    fn preformatted(&mut self, text: &str) -> io::Result<()> {
        // A parser drops the line break that may follow the tag, so one is given it to drop.
        self.html("<pre>\n")?;
        self.text(text.trim_end())?;
        self.html("</pre>")
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        let is_error = call.result.as_ref().is_some_and(|result| result.is_error);
        self.html("<details class=\"call\"><summary><span class=\"")?;
        self.html(if is_error { "bad" } else { "ok" })?;
        self.html("\">")?;
        self.text(call.sign())?;
        self.html("</span> <b>")?;
        self.text(&call.name)?;
        self.html("</b> ")?;
        self.text(&call.summary)?;
        if call.millis >= 1000 {
            self.html(" <span class=\"time\">")?;
            self.text(&lasted(call.millis))?;
            self.html("</span>")?;
        }
        self.html("</summary>")?;
        self.preformatted(&call.input)?;
        if let Some(result) = &call.result {
            match call.is_change() {
                true => self.change(&result.text)?,
                false => self.preformatted(&result.text)?,
            }
            result.pictures.iter().try_for_each(|image| self.picture(image))?;
        }
        self.html("</details>\n")
    }

    /// Lines as the tools that edit tell them: number, sign, text. What is around them stays.
    fn change(&mut self, text: &str) -> io::Result<()> {
        self.html("<pre class=\"diff\">")?;
        for line in text.trim_end().lines() {
            match numbered(line) {
                Some((number, sign, rest)) => {
                    self.html(match sign {
                        '+' => "<span class=\"add\">",
                        '-' => "<span class=\"del\">",
                        _ => "<span>",
                    })?;
                    self.html("<span class=\"num\">")?;
                    self.text(number)?;
                    self.html("</span>")?;
                    self.text(rest)?;
                }
                None => {
                    self.html("<span class=\"meta\">")?;
                    self.text(line)?;
                }
            }
            self.html("</span>")?;
        }
        self.html("</pre>")
    }

    fn picture(&mut self, image: &Image) -> io::Result<()> {
        let kind = PICTURES.iter().find(|kind| **kind == image.media_type);
        let (Some(kind), Some(bytes)) = (kind, image.bytes()) else {
            return self.block("<div class=\"note\">", "(an image that is not shown here)");
        };
        self.html("<details class=\"picture\"><summary>an image, ")?;
        self.text(&format!("{kind}, {} kB", bytes.len().div_ceil(1000)))?;
        self.html("</summary><img loading=\"lazy\" alt=\"\" src=\"data:")?;
        self.text(kind)?;
        self.html(";base64,")?;
        // Encoded anew: it is no more than these bytes, whatever it was.
        self.text(&BASE64_STANDARD.encode(bytes))?;
        self.html("\"></details>\n")
    }
}

fn or_number(chapter: &Chapter) -> String {
    match chapter.title() {
        title if title.is_empty() => format!("turn {}", chapter.number),
        title => title,
    }
}

/// `  12 +text` as its number, its sign, and what follows the number.
fn numbered(line: &str) -> Option<(&str, char, &str)> {
    let digits = line.trim_start();
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let at = line.len() - digits.len() + length;
    let rest = line[at..].strip_prefix(' ').filter(|_| length > 0)?;
    let sign = rest.chars().next().filter(|sign| matches!(sign, '+' | '-' | ' '))?;
    Some((&line[..at], sign, rest))
}

fn hash(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text))
}
