//! `heeler demo`: the real engine, tools, journal and permission rules fix a failing test; only
//! the model is played from a script, which sees nothing but what the tools really return.

mod project;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use heeler_assembly::{Assembly, Environment, ModelChoice, NamedModel, Setup, open_store};
use heeler_core::{Event, Input, Limits, Mode, Policy, Rule, RuleEffect, TurnOutcome};
use heeler_engine::{Seen, Session};
use heeler_script::Script;

use crate::exec::progress;
use crate::exit::Exit;

/// What the scripted model says and does.
const SCRIPT: &str = include_str!("script.toml");
/// What the user asks.
const PROMPT: &str = "`cargo test` fails here. Find out why and fix it.";

/// Runs the demo; it fails when any part of the agent does.
pub(crate) fn run() -> Result<Exit> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder for the demo")?;
    let workspace = scratch.path().canonicalize()?.join("median");
    project::create(&workspace).context("cannot write the demo's project")?;
    println!("heeler demo: a small cargo project with a failing test, made in a temporary folder.");
    println!(
        "The model is a script; engine, tools, journal and permission rules are the real ones."
    );
    println!(
        "Commands are not confined yet; the rules below allow `cargo test` and edits in src.\n"
    );
    let assembly = assemble(&workspace, scratch.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(play(assembly, &workspace)) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            eprintln!("heeler: the demo failed: {error:#}");
            Ok(Exit::Failure)
        }
    }
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
        environment,
        workspace: workspace.to_owned(),
        model: ModelChoice::Ready(Box::new(NamedModel::scripted(script))),
        policy: Policy {
            mode: Mode::AllowListed,
            rules,
            interactive: false,
            workspace: String::new(),
        },
        limits: Limits { rounds: 20, wall_millis: 300_000, ..Limits::default() },
        approver: None,
    };
    let store = open_store(&setup.environment)?;
    Ok(setup.assemble(store)?)
}

async fn play(assembly: Assembly, workspace: &Path) -> Result<()> {
    let before = project::source(workspace)?;
    println!("user: {PROMPT}\n");
    let session = Session::create(assembly.parts, &workspace.to_string_lossy()).await?;
    let (_, mut cursor) = session.subscribe();
    let mut turn = session.turn(Input::text(PROMPT));
    let outcome = loop {
        tokio::select! {
            biased;
            seen = cursor.next() => match seen {
                Some(seen) => print(&seen),
                None => break turn.await,
            },
            outcome = &mut turn => break outcome,
            _ = tokio::signal::ctrl_c() => break TurnOutcome::Cancelled,
        }
    };
    while let Some(seen) = cursor.try_next() {
        print(&seen);
    }
    let state = session.state().await?;
    let journal = assembly.store.journal_path(session.id());
    session.close().await;
    ensure!(outcome == TurnOutcome::Done, "the turn ended with {outcome:?}");
    let after = project::source(workspace)?;
    let last_test = last_command_output(&state).context("no command was run")?;
    ensure!(before != after, "nothing was changed");
    ensure!(last_test.contains("test result: ok"), "the last test run did not pass:\n{last_test}");

    println!("heeler: {}\n", state.final_answer().trim());
    println!("The change in {}:\n\n{}", project::SOURCE, project::diff(&before, &after));
    println!("The last test run:\n\n{}", indented(&last_test));
    println!(
        "{} records were written to the session's journal before anything they announce was done.",
        count_lines(&journal)?.saturating_sub(1)
    );
    println!("Next: export ANTHROPIC_API_KEY=... and run `heeler exec 'explain this repository'`.");
    Ok(())
}

fn print(seen: &Seen) {
    let Seen::Event(envelope) = seen else { return };
    if let Some(line) = progress(&envelope.event) {
        println!("{line}");
    }
    if let Event::CallFinished { is_error: false, summary, .. } = &envelope.event {
        println!("  < {}", summary.split_whitespace().collect::<Vec<_>>().join(" "));
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
