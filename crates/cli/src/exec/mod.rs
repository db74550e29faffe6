//! `heeler exec`: one turn without a terminal.

mod choose;
mod finish;
mod input;
mod json;
mod signals;
mod text;

pub(crate) use text::progress;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use heeler_assembly::{Environment, ModelChoice, Setup, open_store};
use heeler_core::{Cost, Input, Limits, Mode, Policy, Rule, RuleEffect, SessionId, TurnOutcome};
use heeler_engine::{Cursor, Parts, Seen, Session};

use crate::arguments::ExecArguments;
use crate::exit::Exit;
use choose::Existing;
use finish::Finish;

/// Said once, until confinement exists: what a rule allows runs with the user's own rights.
const NOT_CONFINED: &str =
    "heeler: commands are not confined; what a rule allows runs with your own rights";

/// Prints what is seen of a session.
trait Printer {
    /// Prints what session begins.
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()>;
    /// Prints one event.
    fn print(&mut self, seen: &Seen) -> std::io::Result<()>;
    /// Shows what was printed; called when nothing more waits.
    fn flush(&mut self) -> std::io::Result<()>;
    /// Prints the end. Called once, last.
    fn finish(&mut self, finish: &Finish) -> std::io::Result<()>;
}

/// Runs `exec`. Whatever goes wrong after the command line was read is also told as the terminal
/// event, so that a program that reads it need not read stderr.
pub(crate) fn run(arguments: Box<ExecArguments>) -> Result<Exit> {
    let mut printer: Box<dyn Printer> = if arguments.json {
        Box::new(json::JsonPrinter::default())
    } else {
        Box::new(text::TextPrinter)
    };
    let (finish, exit) = match start(&arguments, printer.as_mut()) {
        Ok(finish) => {
            let exit = Exit::of(&finish.outcome);
            (finish, exit)
        }
        Err(error) => (Finish::failed(format!("{error:#}")), Exit::Usage),
    };
    let printed = printer.finish(&finish);
    if let Some(path) = &arguments.result_json {
        finish.write(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match printed {
        // Whoever read stdout has gone; there is nobody to tell.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Failure),
        Err(error) => Err(error).context("cannot write the answer to stdout"),
        Ok(()) => Ok(exit),
    }
}

fn start(arguments: &ExecArguments, printer: &mut dyn Printer) -> Result<Finish> {
    let workspace = workspace(arguments.cwd.as_deref())?;
    let prompt = input::prompt(arguments.prompt.as_deref(), arguments.continues())?;
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        let existing = choose::session(arguments, &store, &workspace).await?;
        let setup = setup(arguments, &workspace, environment, existing.as_ref())?;
        let assembly = setup.assemble(store)?;
        let id = existing.map(|existing| existing.id);
        run_session(arguments, &workspace, id, prompt, assembly.parts, printer).await
    })
}

/// The folder to work in, absolute and without links: rules and facts compare it as text.
fn workspace(cwd: Option<&Path>) -> Result<PathBuf> {
    let folder = cwd.unwrap_or(Path::new("."));
    let absolute = folder
        .canonicalize()
        .with_context(|| format!("cannot work in the folder {}", folder.display()))?;
    anyhow::ensure!(absolute.is_dir(), "{} is not a folder; use --cwd FOLDER", folder.display());
    Ok(absolute)
}

fn setup(
    arguments: &ExecArguments,
    workspace: &Path,
    environment: Environment,
    existing: Option<&Existing>,
) -> Result<Setup> {
    // A continued session goes on with its own model unless another one is named.
    let model = arguments.model.clone().or_else(|| existing.and_then(|e| e.model.clone()));
    let rules = |texts: &[String], effect, source: &str| -> Result<Vec<Rule>> {
        texts.iter().map(|text| Ok(Rule::parse(text, effect, source)?)).collect()
    };
    let mut all = rules(&arguments.deny, RuleEffect::Deny, "--deny")?;
    all.extend(rules(&arguments.allow, RuleEffect::Allow, "--allow")?);
    Ok(Setup {
        environment,
        workspace: workspace.to_owned(),
        model: ModelChoice::Named(model),
        policy: Policy {
            mode: arguments.permission_mode.parse::<Mode>()?,
            rules: all,
            interactive: false,
            workspace: String::new(),
        },
        limits: Limits {
            rounds: arguments.max_rounds,
            tokens: arguments.max_tokens,
            cost: Cost::from_dollars(arguments.max_cost).0,
            wall_millis: arguments.timeout.saturating_mul(1000),
            ..Limits::default()
        },
        approver: None,
    })
}

async fn run_session(
    arguments: &ExecArguments,
    workspace: &Path,
    id: Option<SessionId>,
    prompt: Option<String>,
    parts: Parts,
    printer: &mut dyn Printer,
) -> Result<Finish> {
    let model = parts.settings.model.name.clone();
    parts.provider.prewarm();
    let session = match id {
        Some(id) => Session::open(parts, id).await?,
        None => Session::create(parts, &workspace.to_string_lossy()).await?,
    };
    eprintln!("{NOT_CONFINED}");
    printer.begin(&session, &model)?;
    let (_, cursor) = session.subscribe();
    let outcome = run_turns(&session, arguments.continues(), prompt, cursor, printer).await?;
    let state = session.state().await.ok();
    let id = session.id().clone();
    session.close().await;
    Ok(Finish::of(id, outcome, state.as_ref()))
}

async fn run_turns(
    session: &Session,
    continues: bool,
    prompt: Option<String>,
    mut cursor: Cursor,
    printer: &mut dyn Printer,
) -> Result<TurnOutcome> {
    let mut outcome = None;
    if continues {
        let pending = session.state().await?.turn.is_some();
        if !pending && prompt.is_none() {
            anyhow::bail!(
                "session {} has nothing left to finish; give a prompt to go on",
                session.id()
            );
        }
        if pending {
            outcome =
                Some(signals::until_done(session, session.resume(), &mut cursor, printer).await?);
        }
    }
    if let Some(prompt) = prompt
        && outcome.as_ref().is_none_or(|outcome| *outcome != TurnOutcome::Cancelled)
    {
        let turn = session.turn(Input::text(prompt));
        outcome = Some(signals::until_done(session, turn, &mut cursor, printer).await?);
    }
    outcome.context("there is no prompt")
}
