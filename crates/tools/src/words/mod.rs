//! Every sentence that a model is told of a tool is played: what is not true, or not played, fails.

mod files;
mod looks;
mod others;

use std::collections::BTreeSet;
use std::sync::Arc;

use heeler_core::Tool;
use serde_json::Value;

use crate::testing::Folder;

/// A sentence, and calls whose last answer shows that it is true.
struct Claim {
    tool: &'static str,
    words: &'static str,
    files: Vec<(String, String)>,
    calls: &'static [&'static str],
    /// What the last answer holds, or with a `!` before it, does not; with a `=`, all that is in the
    /// file `a` then.
    says: &'static [&'static str],
}

type Files<'a> = &'a [(&'a str, &'a str)];

fn claim(
    tool: &'static str,
    words: &'static str,
    files: Files<'_>,
    calls: &'static [&'static str],
    says: &'static [&'static str],
) -> Claim {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Claim { tool, words, files, calls, says }
}

/// The same, among so many files of these names; `#` is the number.
fn among(n: usize, name: &str, claim: Claim) -> Claim {
    let more = (0..n).map(|index| (name.replace('#', &format!("{index:04}")), String::new()));
    Claim { files: claim.files.into_iter().chain(more).collect(), ..claim }
}

/// The tools whose words are played here. Those of the web, of commands and of persons have servers,
/// processes and people of their own in their tests.
fn tools() -> Vec<Arc<dyn Tool>> {
    let more: [Arc<dyn Tool>; 7] = [
        Arc::new(crate::MultiEdit::default()),
        Arc::new(crate::ApplyPatch::default()),
        Arc::new(crate::FileInfo::default()),
        Arc::new(crate::TodoWrite),
        Arc::new(crate::TodoRead),
        Arc::new(crate::Calculator::default()),
        Arc::new(crate::CurrentTime::utc()),
    ];
    crate::standard().into_iter().chain(more).collect()
}

/// Every sentence of a tool's words.
fn sentences(tool: &dyn Tool) -> BTreeSet<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(text) if key == "description" => found.push(text.clone()),
                        value => collect(value, found),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let definition = tool.definition();
    let mut found = vec![definition.description];
    collect(&definition.input_schema.value(), &mut found);
    let split = |text: &String| {
        let parts = text.split_inclusive(". ").map(|part| part.trim().to_owned());
        parts.collect::<Vec<_>>()
    };
    found.iter().flat_map(split).collect()
}

#[test]
fn every_sentence_is_played_and_true() {
    let claims = claims();
    for tool in tools() {
        let name = tool.definition().name;
        let told = sentences(&*tool);
        let own = claims.iter().filter(|claim| claim.tool == name);
        let played: BTreeSet<String> = own.map(|claim| claim.words.to_owned()).collect();
        let silent: Vec<_> = told.difference(&played).collect();
        let stale: Vec<_> = played.difference(&told).collect();
        assert!(silent.is_empty(), "{name}: nothing shows that this is true: {silent:#?}");
        assert!(stale.is_empty(), "{name}: nobody is told this any more: {stale:#?}");
    }
    let failed: Vec<String> = claims.iter().filter_map(untrue).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What speaks against a claim.
fn untrue(claim: &Claim) -> Option<String> {
    let files: Vec<(&str, &str)> =
        claim.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = Folder::new(&files);
    let mut answer = String::new();
    for call in claim.calls {
        let (name, input) = call.split_once(' ')?;
        let tool = tools().into_iter().find(|tool| tool.definition().name == name)?;
        answer = folder.say(folder.run(tool, input));
    }
    let file = std::fs::read_to_string(folder.path("a")).unwrap_or_default();
    let holds = |says: &&&str| match (says.strip_prefix('!'), says.strip_prefix('=')) {
        (Some(absent), _) => !answer.contains(absent),
        (_, Some(content)) => file == content,
        (None, None) => answer.contains(**says),
    };
    let missing: Vec<_> = claim.says.iter().filter(|says| !holds(says)).collect();
    let Claim { tool, words, .. } = claim;
    let shown: String = answer.chars().take(400).collect();
    (claim.calls.is_empty() || !missing.is_empty())
        .then(|| format!("{tool}: {words}\n  {missing:?} of: {shown}"))
}

fn claims() -> Vec<Claim> {
    let files = [files::reads(), files::writes(), files::edits()];
    let looks = [looks::globs(), looks::greps(), looks::lists()];
    let others = [others::others(), others::information(), others::patches(), others::steps()];
    files.into_iter().chain(looks).chain(others).flatten().collect()
}
