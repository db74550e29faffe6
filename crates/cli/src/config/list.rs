//! `heeler config list`.

use anyhow::Result;
use heeler_settings::{Counts, KEYS, Kind, Loaded};
use serde::Serialize;
use serde_json::json;

use crate::permissions::mistakes;

/// The version of what `--json` prints.
const LIST_VERSION: u32 = 1;
/// Where a value is from that nobody set.
const DEFAULT: &str = "default";

/// One key, or one entry of a key that several files add to.
#[derive(Serialize)]
struct Line {
    key: String,
    /// As TOML.
    value: String,
    source: String,
}

/// What holds, for a person or as JSON.
pub(super) fn text(loaded: &Loaded, as_json: bool) -> Result<String> {
    let lines = lines(loaded);
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    if as_json {
        let mistakes: Vec<String> = loaded.mistakes.iter().map(ToString::to_string).collect();
        let json = json!({
            "v": LIST_VERSION,
            "settings": lines,
            "passed_over": problems,
            "mistakes": mistakes,
        });
        return Ok(serde_json::to_string(&json)? + "\n");
    }
    let mut text = String::new();
    for Line { key, value, source } in lines {
        text += &format!("{key} = {value}  ({source})\n");
    }
    for problem in problems {
        text += &format!("passed over: {problem}\n");
    }
    let lost = loaded
        .said
        .iter()
        .filter(|said| matches!(said.counts, Counts::Untrusted(_) | Counts::NotLower(_)));
    for said in lost {
        text +=
            &format!("{} = {}  ({}) {}\n", said.name, said.value, said.source, said.counts.words());
    }
    text += &mistakes(loaded).0;
    Ok(text)
}

fn lines(loaded: &Loaded) -> Vec<Line> {
    let mut lines = Vec::new();
    for key in KEYS {
        let holds = |counts| counts == Counts::Holds;
        let said = loaded.said.iter().filter(|said| said.key == key && holds(said.counts));
        let before = lines.len();
        lines.extend(said.map(|said| Line {
            key: said.name.clone(),
            value: said.value.clone(),
            source: said.source.clone(),
        }));
        let is_set = lines.len() > before;
        if !is_set && !matches!(key.kind, Kind::Outside(_)) && !key.default.is_empty() {
            let (key, value) = (key.path.to_owned(), key.default.to_owned());
            lines.push(Line { key, value, source: DEFAULT.to_owned() });
        }
    }
    lines
}
