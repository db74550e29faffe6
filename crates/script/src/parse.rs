//! Reads a script: TOML, or JSON Lines with one reply a line.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use heeler_toml::{Converted, NoToml, converted};
use serde::Deserialize;

use crate::fields::{list_of_named, named};
use crate::script::{BLOCKS_MAX, CHUNKS_MAX, REPLIES_MAX};
use crate::template::names_used;
use crate::{Format, Options, ReplySpec, Script, ScriptError};

/// The longest script, in bytes.
pub(crate) const SCRIPT_BYTES_MAX: usize = 16 * 1024 * 1024;

impl Script {
    /// Reads a script and picks the format by its first character: `{` means JSON Lines.
    ///
    /// # Errors
    /// When the text is no script; the error names the line, the field and the next step.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Self::parse_named("script", text)
    }

    /// Reads a script that has a file name: `.toml`, `.jsonl` and `.json` say which format it is.
    ///
    /// # Errors
    /// As [`Script::parse`]; the error also names the file.
    pub fn parse_named(name: &str, text: &str) -> Result<Self, ScriptError> {
        if text.len() > SCRIPT_BYTES_MAX {
            return Err(too_long(name));
        }
        let extension = Path::new(name).extension().and_then(|e| e.to_str());
        let begins_as_lines = || text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        let format = match extension {
            Some("toml") => Format::Toml,
            Some("jsonl" | "json") => Format::Lines,
            _ if begins_as_lines() => Format::Lines,
            _ => Format::Toml,
        };
        let (options, replies) = match format {
            Format::Toml => read_toml(name, text)?,
            Format::Lines => read_lines(name, text)?,
        };
        let script = Self { name: name.to_owned(), options, replies, format };
        check_script(&script)?;
        Ok(script)
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is no script.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let refused = |error: std::io::Error| {
            ScriptError::new(&name, None, format!("cannot be read: {error}"))
                .with_next("check the path and that it is a UTF-8 file")
        };
        let mut bytes = Vec::new();
        // Bounded while it is read: a device never ends.
        let mut file =
            std::fs::File::open(path).map_err(refused)?.take(SCRIPT_BYTES_MAX as u64 + 1);
        file.read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() > SCRIPT_BYTES_MAX {
            return Err(too_long(&name));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| refused(std::io::Error::new(ErrorKind::InvalidData, error)))?;
        Self::parse_named(&name, &text)
    }
}

fn too_long(name: &str) -> ScriptError {
    let what = format!("the script is longer than {SCRIPT_BYTES_MAX} bytes");
    ScriptError::new(name, None, what).with_next("split it")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TomlFile {
    #[serde(default, deserialize_with = "named")]
    script: Options,
    #[serde(default, deserialize_with = "list_of_named")]
    reply: Vec<ReplySpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsLine {
    #[serde(deserialize_with = "named")]
    script: Options,
}

fn read_toml(name: &str, text: &str) -> Result<(Options, Vec<ReplySpec>), ScriptError> {
    let refused = |NoToml { line, what }| ScriptError::new(name, line, what);
    let Converted { json, lines } = converted(text, "reply").map_err(refused)?;
    let file: TomlFile =
        serde_json::from_str(&json).map_err(|error| refused(NoToml::of(&error)))?;
    let replies =
        file.reply.into_iter().zip(lines).map(|(reply, line)| ReplySpec { line, ..reply });
    Ok((file.script, replies.collect()))
}

fn read_lines(name: &str, text: &str) -> Result<(Options, Vec<ReplySpec>), ScriptError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut options = Options::default();
    let mut replies = Vec::new();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (n, (i, line)) in lines.enumerate() {
        let fail = |error: serde_json::Error| {
            // serde_json counts lines within its input, which is one line.
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            let what = format!("{error} (each line is one reply)");
            ScriptError::new(name, Some(i + 1), what)
        };
        if !line.trim_start().starts_with('{') {
            let what = "each line is one reply, an object; a list of them is not JSON Lines";
            return Err(ScriptError::new(name, Some(i + 1), what)
                .with_next("write one `{...}` a line, with nothing around or between them"));
        }
        if n == 0 && is_options(line) {
            options = serde_json::from_str::<OptionsLine>(line).map_err(fail)?.script;
            continue;
        }
        let reply: ReplySpec = serde_json::from_str(line).map_err(fail)?;
        replies.push(ReplySpec { line: i + 1, ..reply });
    }
    Ok((options, replies))
}

/// Whether a line has the one key `script`.
fn is_options(line: &str) -> bool {
    let value: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(line).ok();
    value.is_some_and(|map| map.contains_key("script"))
}

/// What no single field can tell.
fn check_script(script: &Script) -> Result<(), ScriptError> {
    if script.replies.is_empty() {
        let next = match script.format {
            Format::Toml => "add one, such as `[[reply]]` with `text = \"hello\"`",
            Format::Lines => "add a line, such as `{\"text\": \"hello\"}`",
        };
        return Err(ScriptError::new(&script.name, None, "the script has no reply").with_next(next));
    }
    if script.replies.len() > REPLIES_MAX {
        let what = format!("the script has more than {REPLIES_MAX} replies");
        let next = match script.format {
            Format::Toml => "use `repeat`, or `loop` in `[script]`",
            Format::Lines => {
                "use `repeat`, or `loop` in a first line `{\"script\": {\"loop\": true}}`"
            }
        };
        return Err(ScriptError::new(&script.name, None, what).with_next(next));
    }
    let mut captured = BTreeSet::new();
    for reply in &script.replies {
        check_reply(reply, &mut captured).map_err(|(what, next)| {
            ScriptError::new(&script.name, Some(reply.line), what).with_next(next)
        })?;
    }
    Ok(())
}

/// What is wrong, and the next step.
type Problem = (String, String);

fn check_reply(reply: &ReplySpec, captured: &mut BTreeSet<String>) -> Result<(), Problem> {
    let refuse = |what: &str, next: &str| Err((what.to_owned(), next.to_owned()));
    if reply.blocks.len() > BLOCKS_MAX {
        return refuse(&format!("`blocks` has more than {BLOCKS_MAX} entries"), "split the reply");
    }
    if reply.chunks > CHUNKS_MAX {
        return refuse(&format!("`chunks` is more than {CHUNKS_MAX}"), "use a smaller number");
    }
    if reply.repeat == Some(0) {
        return refuse("`repeat` is 0", "remove the reply, or give it a count of 1 or more");
    }
    if reply.cut.is_some() && reply.stall.is_some() {
        return refuse("`cut` and `stall` exclude each other", "keep one of them");
    }
    for (field, after) in [("cut", reply.cut), ("stall", reply.stall)] {
        if after.is_some_and(|after| after.events.is_some() && after.bytes.is_some()) {
            let what = format!("`{field}` has both `events` and `bytes`");
            return refuse(&what, "keep one of them");
        }
    }
    if let Some(error) = &reply.error {
        if error.status.is_some_and(|status| !(400..=599).contains(&status)) {
            return refuse("`error.status` is not a failure", "use 400 to 599");
        }
        let has_blocks = reply.text.is_some() || !reply.blocks.is_empty();
        if error.status.is_some() && has_blocks {
            let what = "an `error` with a `status` comes instead of blocks";
            return refuse(what, "remove the blocks, or `status` for a failure after them");
        }
        if reply.cut.is_some() || reply.stall.is_some() {
            return refuse("`error` excludes `cut` and `stall`", "keep one of them");
        }
    }
    captured.extend(reply.capture.0.keys().cloned());
    if reply.verbatim {
        return Ok(());
    }
    match names_used(reply).into_iter().find(|name| !captured.contains(name)) {
        Some(name) => Err((
            format!("`{{{{{name}}}}}` stands for nothing: no reply up to here captures `{name}`"),
            "add it to `capture`, or set `verbatim = true` for literal braces".into(),
        )),
        None => Ok(()),
    }
}
