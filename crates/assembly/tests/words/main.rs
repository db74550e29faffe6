//! Every sentence that a model is told of a tool is played: what is not true, or not played, fails.
//!
//! `claim` is what a case says, `door` plays it as a whole session of the shipped agent, `server` is
//! the web it sees; then the claims, a room of tools each.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

mod claim;
mod commands;
mod door;
mod editor;
mod files;
#[path = "../../../sandbox/tests/harness/mod.rs"]
mod harness;
mod looks;
mod others;
mod people;
mod programs;
mod repositories;
mod server;
mod web;

use std::collections::BTreeSet;
use std::process::ExitCode;

use futures::{StreamExt as _, stream};
use heeler_core::Tool;
use serde_json::Value;

use claim::Claim;
use door::Played;

/// How many claims are played at once.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    harness::run(cases![
        every_sentence_is_played,
        what_is_said_of_files_is_true,
        what_is_said_of_looking_is_true,
        what_is_said_of_the_others_is_true,
        what_is_said_of_commands_is_true,
        what_is_said_of_programs_is_true,
        what_is_said_of_repositories_is_true,
        what_is_said_of_the_web_is_true,
        what_is_said_of_people_and_tools_is_true,
        what_is_said_of_the_editor_is_true,
    ])
}

fn claims() -> Vec<Claim> {
    let rooms = [
        files::claims(),
        looks::claims(),
        others::claims(),
        commands::claims(),
        programs::claims(),
        repositories::claims(),
        web::claims(),
        people::claims(),
        editor::claims(),
    ];
    rooms.into_iter().flatten().collect()
}

/// Whatever tool is added to the agent, or said of one, needs a claim.
async fn every_sentence_is_played() {
    let claims = claims();
    let tools = door::all_tools().await;
    let mut failed = Vec::new();
    for tool in &tools {
        let name = tool.definition().name;
        let told = sentences(&**tool);
        let own = claims.iter().filter(|claim| claim.tool == name);
        let played: BTreeSet<String> = own.map(|claim| claim.words.to_owned()).collect();
        let silent = told.difference(&played);
        failed.extend(silent.map(|it| format!("{name}: nothing shows that this is true: {it}")));
        let stale = played.difference(&told);
        failed.extend(stale.map(|it| format!("{name}: nobody is told this any more: {it}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let names: BTreeSet<String> = tools.iter().map(|tool| tool.definition().name).collect();
    let unknown: Vec<_> = claims.iter().filter(|claim| !names.contains(claim.tool)).collect();
    assert!(unknown.is_empty(), "there is no such tool: {unknown:#?}");
}

async fn what_is_said_of_files_is_true() {
    check(files::claims()).await;
}

async fn what_is_said_of_looking_is_true() {
    check(looks::claims()).await;
}

async fn what_is_said_of_the_others_is_true() {
    check(others::claims()).await;
}

async fn what_is_said_of_commands_is_true() {
    check(commands::claims()).await;
}

async fn what_is_said_of_programs_is_true() {
    check(programs::claims()).await;
}

async fn what_is_said_of_repositories_is_true() {
    check(repositories::claims()).await;
}

async fn what_is_said_of_the_web_is_true() {
    check(web::claims()).await;
}

async fn what_is_said_of_people_and_tools_is_true() {
    check(people::claims()).await;
}

async fn what_is_said_of_the_editor_is_true() {
    check(editor::claims()).await;
}

async fn check(claims: Vec<Claim>) {
    let judged = stream::iter(claims).map(untrue).buffered(AT_ONCE);
    let failed: Vec<String> = judged.filter_map(std::future::ready).collect().await;
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What speaks against a claim.
async fn untrue(claim: Claim) -> Option<String> {
    let Played { answer, file } = door::played(&claim).await?;
    let holds = |says: &&&str| match (says.strip_prefix('!'), says.strip_prefix('=')) {
        (Some(absent), _) => !answer.contains(absent),
        (_, Some(content)) => file == content,
        (None, None) => answer.contains(**says),
    };
    let missing: Vec<_> = claim.says.iter().filter(|says| !holds(says)).collect();
    let Claim { tool, words, .. } = claim;
    let shown: String = answer.chars().take(600).collect();
    (claim.calls.is_empty() || claim.says.is_empty() || !missing.is_empty())
        .then(|| format!("{tool}: {words}\n  {missing:?} of: {shown}"))
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
