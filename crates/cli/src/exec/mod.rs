//! `heeler exec`: one turn without a terminal.

pub(crate) mod choose;
pub(crate) mod clean;
mod finish;
mod input;
mod json;
mod signals;
mod text;
mod watch;

pub(crate) use text::progress;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{Environment, ModelChoice, Permission, Sandbox, Setup, open_store};
use heeler_core::{Input, Limits, SessionId, TurnOutcome};
use heeler_engine::{Cursor, Parts, Seen, Session};
use heeler_sandbox::ProbeLine;

use crate::arguments::ExecArguments;
use crate::exit::Exit;
use crate::folder::workspace;
use crate::permissions;
use crate::person::TerminalPerson;
use crate::say::{ask, say, told};
use choose::Existing;
use clean::Cleaning;
use finish::Finish;
use signals::Signals;
use watch::until_done;

/// Said once, where there is no box.
const NOT_CONFINED: &str =
    "heeler: commands are not confined; what a rule allows runs with your own rights";

/// What is told when nobody takes the answer.
const NOT_WRITTEN: &str = "cannot write the answer to stdout";

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
pub(crate) fn run(mut arguments: Box<ExecArguments>) -> Result<Exit> {
    let mut printer: Box<dyn Printer> = if arguments.json {
        Box::new(json::JsonPrinter::default())
    } else {
        Box::new(text::TextPrinter)
    };
    let started = match arguments.result_json.as_deref().map_or(Ok(()), finish::check_target) {
        Ok(()) => start(&arguments, printer.as_mut()),
        Err(error) => {
            arguments.result_json = None;
            Err(error)
        }
    };
    let (finish, exit) = match started {
        Ok(finish) => {
            let exit = Exit::of(&finish.outcome);
            (finish, exit)
        }
        Err(error) => (Finish::failed(told(&error)), Exit::Usage),
    };
    let printed = printer.finish(&finish);
    if let Some(path) = &arguments.result_json {
        finish.write(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    match printed {
        // Whoever read stdout has gone; there is nobody to tell.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Failure),
        Err(error) => {
            say(format_args!("heeler: {NOT_WRITTEN}: {error}"));
            Ok(Exit::Failure)
        }
        Ok(()) => Ok(exit),
    }
}

fn start(arguments: &ExecArguments, printer: &mut dyn Printer) -> Result<Finish> {
    let workspace = workspace(arguments.cwd.as_deref())?;
    let permission = arguments.permission()?;
    let prompt = input::prompt(arguments.prompt.as_deref(), arguments.continues())?;
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async {
        let resume = arguments.resume.as_deref();
        let newest = arguments.continue_newest;
        let existing = choose::session(resume, newest, &store, &workspace).await?;
        let asked = arguments.cwd.is_some().then_some(&*workspace);
        let own = existing.as_ref().map(|existing| existing.workspace(asked)).transpose()?;
        let workspace = own.unwrap_or(workspace);
        let assemble = |permission| {
            let environment = environment.clone();
            let setup = setup(arguments, &workspace, environment, existing.as_ref(), permission);
            setup.assemble(store.clone())
        };
        let mut assembly = assemble(permission.clone())?;
        permissions::warn(&assembly.loaded);
        for notice in &assembly.prompt.notes().notices {
            say(format_args!("heeler: notes: {notice}"));
        }
        if let Some(obstacle) = assembly.box_obstacle().await? {
            if !goes_without_box(&obstacle) {
                bail!("{}", no_box(&obstacle));
            }
            assembly = assemble(Permission { sandbox: Sandbox::Off, ..permission })?;
        }
        assembly.measure().await;
        let id = existing.map(|existing| existing.id);
        let cleaning = Cleaning::begin(store.clone(), assembly.parts.clock.now());
        let finish = run_session(arguments, &workspace, id, prompt, assembly.parts, printer).await;
        cleaning.finish();
        finish
    })
}

/// Whether a person, when there is one, wants commands to run all the same.
fn goes_without_box(obstacle: &ProbeLine) -> bool {
    let missing = format!("{}: {}", obstacle.name, obstacle.detail);
    let question = format!(
        "heeler: commands cannot be confined on this machine: {}\n\
         Run what rules allow without confinement, with your own rights? [y/N]",
        missing
    );
    let answer = ask(&question).unwrap_or_default();
    matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Why nothing is started on a machine that cannot confine commands.
pub(crate) fn no_box(obstacle: &ProbeLine) -> String {
    // What takes several lines is for `heeler doctor`.
    let short = obstacle.remedy.as_ref().filter(|remedy| !remedy.contains('\n'));
    let remedy = short.map(|remedy| format!(" ({remedy})")).unwrap_or_default();
    format!(
        "commands cannot be confined on this machine: {}: {}{remedy}; see `heeler doctor`, or use \
         --no-sandbox to run what rules allow with your own rights",
        obstacle.name, obstacle.detail
    )
}

fn setup(
    arguments: &ExecArguments,
    workspace: &Path,
    environment: Environment,
    existing: Option<&Existing>,
    permission: Permission,
) -> Setup {
    // A continued session goes on with its own model unless another one is named.
    let model = arguments.model.clone().or_else(|| existing.and_then(|e| e.model.clone()));
    Setup {
        environment,
        workspace: workspace.to_owned(),
        model: ModelChoice::Named(model),
        fallback: arguments.fallback_model.clone(),
        permission,
        limits: Limits::default(),
        approver: None,
        person: TerminalPerson::present(),
    }
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
    let is_confined = parts.settings.policy.has_box;
    parts.provider.prewarm();
    // So that it and the launcher's start go on in their threads while the session is made here.
    tokio::task::yield_now().await;
    let session = match id {
        Some(id) => Session::open(parts, id).await?,
        None => Session::create(parts, &workspace.to_string_lossy()).await?,
    };
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    if !is_confined {
        say(NOT_CONFINED);
    }
    if let Ok(state) = session.state().await {
        state.lost_works().for_each(|told| say(told.trim_matches(['[', ']'])));
    }
    printer.begin(&session, &model)?;
    let (_, cursor) = session.subscribe();
    let turns = run_turns(&session, arguments.continues(), prompt, cursor, &mut signals, printer);
    let outcome = match turns.await {
        Ok(outcome) => outcome,
        // Nobody can watch any more, so nothing goes on.
        Err(error) if error.is::<std::io::Error>() => {
            session.cancel().await;
            TurnOutcome::Failed { message: format!("{NOT_WRITTEN}: {error}") }
        }
        Err(error) => {
            session.close().await;
            return Err(error);
        }
    };
    end_background(&session).await;
    let state = session.state().await.ok();
    let id = session.id().clone();
    let (view, _) = session.subscribe();
    session.close().await;
    Ok(Finish::of(id, outcome, state.as_ref(), &view))
}

/// Ends what calls left in the background: nobody is there who would hear of it. The model is told so
/// when the session goes on.
async fn end_background(session: &Session) {
    let Ok(works) = session.background().await else { return };
    let mut ended = Vec::new();
    for work in works {
        if session.cancel_background(work.call).await.unwrap_or_default() {
            ended.push(format!("{} (call {})", work.tool, work.call));
        }
    }
    if !ended.is_empty() {
        say(format!("heeler: ended with this run: background work of {}", ended.join(", ")));
    }
}

async fn run_turns(
    session: &Session,
    continues: bool,
    prompt: Option<String>,
    mut cursor: Cursor,
    signals: &mut Signals,
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
                Some(until_done(session, session.resume(), &mut cursor, signals, printer).await?);
        }
    }
    // A turn that an earlier process was told to stop ends as cancelled here too; only who stops
    // this process does not want the prompt either.
    match prompt {
        Some(_) if signals.came() => outcome = Some(TurnOutcome::Cancelled),
        // The session broke off in that turn, whose outcome says why.
        Some(_) if outcome.is_some() && session.state().await.is_err() => {}
        Some(prompt) => {
            let turn = session.turn(Input::text(prompt));
            outcome = Some(until_done(session, turn, &mut cursor, signals, printer).await?);
        }
        None => {}
    }
    outcome.context("there is no prompt")
}
