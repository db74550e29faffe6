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
use heeler_assembly::{Assembly, Environment, ModelChoice, Setup};
use heeler_core::{Cost, Input, Limits, Mode, Policy, Rule, RuleEffect, TurnOutcome};
use heeler_engine::{Cursor, Seen, Session};

use crate::arguments::ExecArguments;
use crate::exit::Exit;
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
    /// Prints the end. Called once, last.
    fn finish(&mut self, finish: &Finish) -> std::io::Result<()>;
}

/// Runs `exec`. Whatever goes wrong after the command line was read is also told as the terminal
/// event, so that a program that reads it need not read stderr.
pub(crate) fn run(arguments: Box<ExecArguments>) -> Result<Exit> {
    let mut printer: Box<dyn Printer> = if arguments.json {
        Box::new(json::JsonPrinter::default())
    } else {
        Box::new(text::TextPrinter::default())
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
    let assembly = setup(arguments, &workspace)?.assemble()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(run_session(arguments, &workspace, prompt, assembly, printer))
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

fn setup(arguments: &ExecArguments, workspace: &Path) -> Result<Setup> {
    let rules = |texts: &[String], effect, source: &str| -> Result<Vec<Rule>> {
        texts.iter().map(|text| Ok(Rule::parse(text, effect, source)?)).collect()
    };
    let mut all = rules(&arguments.deny, RuleEffect::Deny, "--deny")?;
    all.extend(rules(&arguments.allow, RuleEffect::Allow, "--allow")?);
    Ok(Setup {
        environment: Environment::of_this_process(),
        workspace: workspace.to_owned(),
        model: ModelChoice::Named(arguments.model.clone()),
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
    prompt: Option<String>,
    Assembly { parts, store }: Assembly,
    printer: &mut dyn Printer,
) -> Result<Finish> {
    let model = parts.settings.model.name.clone();
    let existing = choose::session(arguments, &store, workspace).await?;
    parts.provider.prewarm();
    let session = match existing {
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
