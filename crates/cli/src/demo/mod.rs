//! `heeler demo`: the real engine, tools, journal and permission rules fix a failing test; only
//! the model is played from a script, which sees nothing but what the tools really return.

mod project;

use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use heeler_assembly::{
    Assembly, Environment, ModelChoice, NamedModel, Permission, SettingsFiles, Setup, open_store,
};
use heeler_core::{Event, Input, Limits, Rule, RuleEffect, TurnOutcome};
use heeler_engine::{Seen, Session, SystemClock};
use heeler_sandbox::{Launcher, ProbeLine};
use heeler_script::Script;

use crate::exec::progress;
use crate::exit::Exit;
use crate::say::{harmless, say, told};

/// What the scripted model says and does.
const SCRIPT: &str = include_str!("script.toml");
/// What the user asks.
const PROMPT: &str = "`cargo test` fails here. Find out why and fix it.";

/// What is to be known before it begins.
const INTRODUCTION: &str = "\
heeler demo: a small cargo project with a failing test, made in a temporary folder.
The model is a script; engine, tools, journal and permission rules are the real ones.
Rules allow `cargo test` and edits in src; other commands would run in a sandbox.
";

/// Runs the demo; it fails when any part of the agent does.
pub(crate) fn run() -> Result<Exit> {
    match prepare_and_play() {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            say(format_args!("heeler: the demo failed: {}", told(&error)));
            Ok(Exit::Failure)
        }
    }
}

fn prepare_and_play() -> Result<()> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder for the demo")?;
    let workspace = scratch.path().canonicalize()?.join("median");
    project::create(&workspace).context("cannot write the demo's project")?;
    show(INTRODUCTION)?;
    let assembly = assemble(&workspace, scratch.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(play(assembly, &workspace))
}

fn assemble(workspace: &Path, scratch: &Path) -> Result<Assembly> {
    // Its own home, so that the demo leaves nothing behind; the rest of the variables as they are.
    let home = scratch.join("home").to_string_lossy().into_owned();
    let environment: Environment = Environment::of_this_process()
        .iter()
        .filter(|(name, _)| !name.starts_with("HEELER_"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .chain([("HEELER_HOME".to_owned(), home)])
        .collect();
    let rules = ["Bash(cargo test:*)", "Edit(src/**)"]
        .map(|rule| Rule::parse(rule, RuleEffect::Allow, "demo"))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let script = Script::parse_named("demo", SCRIPT)?;
    let setup = Setup {
        fallback: Vec::new(),
        environment,
        workspace: workspace.to_owned(),
        model: ModelChoice::Ready(NamedModel::scripted(script, Arc::new(SystemClock))),
        // Of its own making alone, so that it shows the same to everybody.
        permission: Permission { rules, files: SettingsFiles::None, ..Permission::default() },
        limits: Limits { rounds: 20, wall_millis: 300_000, ..Limits::default() },
        approver: None,
        person: None,
        staged: false,
        launcher: Launcher::new(),
    };
    let store = open_store(&setup.environment)?;
    Ok(setup.assemble(store)?)
}

async fn play(assembly: Assembly, workspace: &Path) -> Result<()> {
    let before = project::source(workspace)?;
    let mut assembly = assembly;
    if let Some(obstacle) = assembly.box_obstacle().await? {
        let ProbeLine { name, detail, .. } = &obstacle;
        show(format_args!("(commands cannot be confined on this machine: {name}: {detail})\n"))?;
        assembly.parts.settings.policy.has_box = false;
    }
    show(format_args!("user: {PROMPT}\n"))?;
    let session = Session::create(assembly.parts, &workspace.to_string_lossy()).await?;
    let (_, mut cursor) = session.subscribe();
    let mut turn = session.turn(Input::text(PROMPT));
    let outcome = loop {
        tokio::select! {
            biased;
            seen = cursor.next() => match seen {
                Some(seen) => print(&seen)?,
                None => break turn.await,
            },
            outcome = &mut turn => break outcome,
            _ = tokio::signal::ctrl_c() => break TurnOutcome::Cancelled,
        }
    };
    while let Some(seen) = cursor.try_next() {
        print(&seen)?;
    }
    let state = session.state().await?;
    let journal = assembly.store.journal_path(session.id());
    session.close().await;
    let last_test = last_command_output(&state);
    ensure!(outcome == TurnOutcome::Done, "{}", why_it_ended(&outcome, last_test.as_deref()));
    let after = project::source(workspace)?;
    let last_test = last_test.context("no command was run")?;
    ensure!(before != after, "nothing was changed");
    ensure!(last_test.contains("test result: ok"), "the last test run did not pass:\n{last_test}");

    show(format_args!("heeler: {}\n", state.final_answer().trim()))?;
    let change = project::diff(&before, &after);
    show(format_args!("The change in {}:\n\n{change}", project::SOURCE))?;
    show(format_args!("The last test run:\n\n{}", indented(&last_test)))?;
    let n_records = count_lines(&journal)?.saturating_sub(1);
    show(format_args!(
        "{n_records} records were written to the session's journal before anything they announce \
         was done."
    ))?;
    show("Next: export ANTHROPIC_API_KEY=... and run `heeler exec 'explain this repository'`.")
}

fn print(seen: &Seen) -> Result<()> {
    let Seen::Event(envelope) = seen else { return Ok(()) };
    if let Some(line) = progress(&envelope.event) {
        show(line)?;
    }
    if let Event::CallFinished { is_error: false, summary, .. } = &envelope.event {
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        show(format_args!("  < {summary}"))?;
    }
    Ok(())
}

/// Writes one line to stdout.
fn show(text: impl Display) -> Result<()> {
    writeln!(std::io::stdout(), "{}", harmless(&text.to_string())).context("cannot write to stdout")
}

/// Why there is no answer: most often Rust is missing, which the script takes for a failing test.
fn why_it_ended(outcome: &TurnOutcome, last_test: Option<&str>) -> String {
    match (outcome, last_test) {
        (TurnOutcome::Cancelled, _) => "it was interrupted".to_owned(),
        (_, Some(output)) if !output.contains("test result: ") => {
            let output = indented(output);
            format!("it needs `cargo`, which does not run here (https://rustup.rs):\n{output}")
        }
        (TurnOutcome::ProviderFailed { message, .. } | TurnOutcome::Failed { message }, _) => {
            message.clone()
        }
        (other, _) => format!("the turn ended with {other:?}"),
    }
}

/// What the last command printed.
fn last_command_output(state: &heeler_turn::State) -> Option<String> {
    let messages: Vec<_> = state.history.messages().iter().collect();
    let last_bash = messages
        .iter()
        .flat_map(|message| message.tool_uses())
        .filter(|call| call.name == "Bash")
        .last()?;
    let result =
        messages.iter().flat_map(|message| &message.blocks).find_map(|block| match block {
            heeler_core::Block::ToolResult(result) if result.tool_use_id == last_bash.id => {
                Some(result)
            }
            _ => None,
        })?;
    Some(result.content.iter().filter_map(heeler_core::Block::as_text).collect())
}

fn indented(text: &str) -> String {
    text.trim().lines().map(|line| format!("    {line}\n")).collect()
}

fn count_lines(path: &PathBuf) -> Result<usize> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes.iter().filter(|byte| **byte == b'\n').count())
}
