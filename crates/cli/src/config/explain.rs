//! `heeler config explain`.

use anyhow::Result;
use heeler_settings::{Counts, Key, Kind, Loaded, Merge, Said, Scope};
use serde_json::json;

use crate::permissions::mistakes;

/// The version of what `--json` prints.
const EXPLAIN_VERSION: u32 = 1;

/// Everything that is said of a key, for a person or as JSON.
pub(super) fn text(loaded: &Loaded, asked: &str, as_json: bool) -> Result<String> {
    let (key, name) = Key::find(asked).map_err(anyhow::Error::msg)?;
    // Of a key that holds names, one of them may have been asked for.
    let is_it = |said: &&Said| said.key == key && name.as_ref().is_none_or(|n| *n == said.name);
    let said: Vec<&Said> = loaded.said.iter().filter(is_it).collect();
    let holds: Vec<&&Said> = said.iter().filter(|said| said.counts == Counts::Holds).collect();
    let several = several(key.merge);
    let repository = repository(key.scope);
    if as_json {
        let said = said.iter().map(|said| {
            json!({
                "key": said.name,
                "value": said.value,
                "source": said.source,
                "holds": said.counts == Counts::Holds,
                "why": said.counts.words(),
            })
        });
        let json = json!({
            "v": EXPLAIN_VERSION,
            "key": key.path,
            "means": key.words,
            "takes": takes(key),
            "default": (!key.default.is_empty()).then_some(key.default),
            "variables": key.variables,
            "of_several": several,
            "of_a_repository": repository,
            "said": said.collect::<Vec<_>>(),
            "mistakes": loaded.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        return Ok(serde_json::to_string(&json)? + "\n");
    }
    let mut text = String::new();
    for said in &holds {
        text += &format!("{} = {}  ({})\n", said.name, said.value, said.source);
    }
    if holds.is_empty() {
        let default = if key.default.is_empty() { "nothing" } else { key.default };
        text += &format!("{} = {default}  (default)\n", name.as_deref().unwrap_or(key.path));
    }
    text += &format!("\n{}\n", key.words);
    if let Some(takes) = takes(key) {
        text += &format!("takes: {takes}\n");
    }
    text += &format!("of several: {several}\nof a repository: {repository}\n");
    if !key.variables.is_empty() {
        text += &format!("variable: {}\n", key.variables.join(", or "));
    }
    for said in said {
        text += &format!("{}: {}: {}\n", said.source, said.value, said.counts.words());
    }
    text += &mistakes(loaded).0;
    Ok(text)
}

fn takes(key: &Key) -> Option<String> {
    (!matches!(key.kind, Kind::Outside(_))).then(|| key.kind.words())
}

fn several(merge: Merge) -> &'static str {
    match merge {
        Merge::All => "all count",
        Merge::Any => "one is enough",
        Merge::MostSpecific => "the most specific holds",
        Merge::ByName => "the most specific holds, name by name",
    }
}

fn repository(scope: Scope) -> String {
    match scope {
        Scope::Anybody => "counts at once: it can only forbid".to_owned(),
        Scope::Lowers(_) => {
            "counts at once where it is lower or narrower; else once trusted".to_owned()
        }
        Scope::Trusted(_) => "counts once trusted (`heeler permissions trust`)".to_owned(),
        Scope::Own => "never counts".to_owned(),
    }
}
