//! `heeler exec`: one turn without a terminal.

pub(crate) mod choose;
pub(crate) mod clean;
mod detach;
mod ends;
mod finish;
mod follow;
mod input;
mod json;
mod run;
pub(crate) mod schema;
mod signals;
mod stream;
mod text;
mod wanted;
mod watch;
mod writer;

pub(crate) use follow::{ENDED_IN_A_TURN, follow, not_followed};
pub(crate) use text::progress;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::{
    Assembly, Environment, ModelChoice, Permission, Sandbox, Setup, home_folder, keep_rule,
    lack_of_walls, open_store,
};
use heeler_attach::Questions;
use heeler_core::{Limits, SteeringId};
use heeler_engine::{Seen, Session};
use heeler_sandbox::{Launcher, ProbeLine};
use heeler_settings::Keep;
use heeler_stage::Stage;
use heeler_store::FileStore;
use heeler_tui::Outlet;

use crate::arguments::ExecArguments;
use crate::exit::Exit;
use crate::folder::workspace;
use crate::permissions;
use crate::person::TerminalPerson;
use crate::say::{ask, say, told};
use crate::stage::{self, AtEnd};
use crate::whole::unwritten;
use choose::Existing;
use clean::Cleaning;
use detach::Prompt;
use finish::Finish;
use input::Piped;
use run::{Door, Run};
use stream::{KeepRule, Surroundings};
use wanted::Wanted;

/// What is told when nobody takes the answer.
const NOT_WRITTEN: &str = "cannot write the answer to stdout";

/// How long threads that were begun may take after the end.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(1);

/// Prints what is seen of a session.
trait Printer {
    /// Prints what session begins.
    fn begin(&mut self, session: &Session, model: &str) -> std::io::Result<()>;
    /// Prints one event.
    fn print(&mut self, seen: &Seen) -> std::io::Result<()>;
    /// Shows what was printed; called when nothing more waits.
    fn flush(&mut self) -> std::io::Result<()>;
    /// Where it prints to, if nobody waits for that.
    fn outlet(&self) -> Option<&Outlet> {
        None
    }
    /// Prints the end of a turn after which the session goes on.
    fn turn_finished(&mut self, _finish: &Finish) -> std::io::Result<()> {
        Ok(())
    }
    /// Prints what is wrong with a line of input.
    fn input_error(&mut self, _line: u64, _message: &str) -> std::io::Result<()> {
        Ok(())
    }
    /// Hears that the prompt joins a turn under this name.
    fn awaits(&mut self, _prompt: &SteeringId) {}
    /// Lets whoever started a run of its own go, if they still wait.
    fn let_go(&mut self, _prompt: Prompt) -> std::io::Result<()> {
        Ok(())
    }
    /// Prints the end. Called once, last.
    fn finish(&mut self, finish: &Finish) -> std::io::Result<()>;
}

/// Runs `exec`. Whatever goes wrong after the command line was read is also told as the terminal
/// event, so that a program that reads it need not read stderr.
pub(crate) fn run(mut arguments: Box<ExecArguments>) -> Result<Exit> {
    if arguments.detach && !arguments.detached {
        return detach::begin(arguments.quiet);
    }
    let mut printer: Box<dyn Printer> = if arguments.detached {
        Box::new(detach::DetachedPrinter::begin()?)
    } else if arguments.json || arguments.stream_input {
        Box::new(json::JsonPrinter::new(arguments.stream_input))
    } else {
        Box::new(text::TextPrinter::telling(text::Told::of(&arguments)))
    };
    let mut stage = None;
    let started = match arguments.result_json.as_deref().map_or(Ok(()), finish::check_target) {
        Ok(()) => start(&arguments, &mut stage, printer.as_mut()),
        Err(error) => {
            arguments.result_json = None;
            Err(error)
        }
    };
    let mut finish = match started {
        Ok(finish) => finish,
        Err(error) => Finish::failed(told(&error)),
    };
    let printed = match stage {
        Some(stage) => settle(&arguments, stage, &mut finish, printer.as_mut()),
        None => {
            // First: whoever reads stdout may take its time.
            write_result(&arguments, &mut finish);
            printer.finish(&finish)
        }
    };
    Ok(exit_of(printed.map(|()| finish.exit())))
}

/// The end of what was printed, or tried to be.
fn exit_of(printed: std::io::Result<Exit>) -> Exit {
    printed.unwrap_or_else(|error| {
        // When whoever read stdout has gone, there is nobody to tell.
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            say(format_args!("heeler: {NOT_WRITTEN}: {error}"));
        }
        Exit::Failure
    })
}

/// Writes the terminal event to the file it is wanted in. What was begun is not undone where that cannot be.
fn write_result(arguments: &ExecArguments, finish: &mut Finish) {
    let Some(path) = &arguments.result_json else { return };
    if let Err(error) = finish.write(path) {
        say(format_args!("heeler: {}", unwritten(path, &error)));
        finish.is_unwritten = true;
    }
}

/// Does with a stage what is to be done, and prints and writes the end. Who is asked about it has read
/// the answer; who reads events is told of both at once.
fn settle(
    arguments: &ExecArguments,
    stage: Stage,
    finish: &mut Finish,
    printer: &mut dyn Printer,
) -> std::io::Result<()> {
    let at_end = match arguments.stage {
        // What broke off is not taken for whole.
        Some(AtEnd::Apply) if finish.exit() != Exit::Done => AtEnd::Keep,
        at_end => at_end.unwrap_or(AtEnd::Keep),
    };
    let is_shown = !(arguments.json || arguments.stream_input);
    let printed = is_shown.then(|| printer.finish(finish));
    let told = match (is_shown, arguments.quiet) {
        (false, _) => stage::Told::Kept,
        // What was never begun left nothing to speak of.
        (true, _) if finish.session.is_none() => stage::Told::Kept,
        (true, true) => stage::Told::Asked,
        (true, false) => stage::Told::All,
    };
    finish.stage = Some(stage::settle(stage, at_end, stage::Over::Unchanged, told));
    write_result(arguments, finish);
    printed.unwrap_or_else(|| printer.finish(finish))
}

/// Makes a stage of the folder; before there is a second thread, since an overlay needs that.
fn begin_stage(
    arguments: &ExecArguments,
    workspace: &Path,
    environment: &Environment,
) -> Result<Option<Stage>> {
    if arguments.stage.is_none() {
        return Ok(None);
    }
    let home = home_folder(environment)?;
    if home.starts_with(workspace) {
        bail!(
            "sessions are kept in {}, which lies in the folder to be staged; work in a folder within \
             it, or set HEELER_HOME to another one",
            home.display()
        );
    }
    let stage = Stage::begin(workspace, &stage::stages(environment)?, arguments.stage_form())?;
    stage::tell_part(workspace);
    Ok(Some(stage))
}

fn start(
    arguments: &ExecArguments,
    stage: &mut Option<Stage>,
    printer: &mut dyn Printer,
) -> Result<Finish> {
    let workspace = workspace(arguments.cwd.as_deref())?;
    let permission = arguments.permission()?;
    let launcher = Launcher::new();
    if arguments.stage.is_none() {
        // It takes about as long as all until the first request, and lives in a stage if there is one.
        launcher.start_ahead();
    }
    let wanted = arguments.output_schema.as_deref().map(Wanted::read).transpose()?;
    let prompt = match arguments.stream_input {
        true => input::beside_stream(arguments.prompt.as_deref())?,
        false => input::prompt(arguments.prompt.as_deref(), arguments.continues())?,
    };
    let piped = match arguments.stream_input {
        true => None,
        false => Piped::beside(arguments.prompt.as_deref()),
    };
    if arguments.fork && prompt.is_none() && !arguments.stream_input {
        bail!("a fork has nothing left to finish; give a prompt to go on in it");
    }
    let environment = Environment::of_this_process();
    let store = open_store(&environment)?;
    stage::finish_earlier(&environment)?;
    *stage = begin_stage(arguments, &workspace, &environment)?;
    let workspace = stage.as_ref().map_or(workspace, Stage::workspace);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let stage = stage.as_mut();
    let begun = Begun {
        arguments,
        workspace,
        permission,
        launcher,
        wanted,
        prompt,
        piped,
        environment,
        store,
        stage,
    };
    let ended = runtime.block_on(begun.session(printer));
    // A thread that is stuck in a call of the system's keeps nobody from being told the end.
    runtime.shutdown_timeout(END_PATIENCE);
    ended
}

/// What is there before there is a runtime, which has threads.
struct Begun<'a> {
    arguments: &'a ExecArguments,
    workspace: PathBuf,
    permission: Permission,
    launcher: Launcher,
    wanted: Option<Wanted>,
    prompt: Option<String>,
    /// Read last, when all that does not need it is done.
    piped: Option<Piped>,
    environment: Environment,
    store: FileStore,
    stage: Option<&'a mut Stage>,
}

impl Begun<'_> {
    async fn session(mut self, printer: &mut dyn Printer) -> Result<Finish> {
        let Self { arguments, store, .. } = &self;
        let resume = arguments.resume.as_deref();
        let newest = arguments.continue_newest;
        let existing = choose::session(resume, newest, store, &self.workspace).await?;
        let asked = arguments.cwd.is_some().then_some(&*self.workspace);
        if let Some(existing) = &existing {
            existing.check_stage(&self.environment)?;
        }
        let own = existing.as_ref().map(|it| it.workspace(asked, arguments.fork)).transpose()?;
        self.workspace = own.unwrap_or(self.workspace);
        let questions = Questions::default();
        let mut assembly = self.assembly(existing.as_ref(), &questions).await?;
        let Self { arguments, store, .. } = self;
        let piped = self.piped.map(|piped| piped.read(arguments.quiet)).transpose()?.flatten();
        let mut id = existing.map(|existing| existing.id);
        if let Some(source) = id.as_mut().filter(|_| arguments.fork) {
            *source = choose::in_its_place(&store, source, &self.workspace).await?;
        }
        let cleaning = Cleaning::begin(store.clone(), assembly.parts.clock.now());
        if let Some(wanted) = &self.wanted {
            wanted.join(&mut assembly.parts);
        }
        let around = || Surroundings {
            keep_rule: rule_keeper(self.environment, self.workspace.clone()),
            prompt: assembly.prompt,
        };
        let run = Run {
            continues: arguments.continues(),
            id,
            prompt: self.prompt.map(|prompt| input::joined(prompt, piped)),
            wanted: self.wanted.as_mut(),
            stream: arguments.stream_input.then(around),
            stage: self.stage,
            door: Door { store: store.clone(), questions },
            is_detached: arguments.detached,
        };
        let finish = run.session(&self.workspace, assembly.parts, printer).await;
        cleaning.finish();
        finish.map(|finish| finish.kept_in(&store))
    }

    /// All that the session is made of; says what of it is amiss.
    async fn assembly(
        &self,
        existing: Option<&Existing>,
        questions: &Questions,
    ) -> Result<Assembly> {
        let assemble = |permission| {
            let environment = self.environment.clone();
            let setup = setup(self.arguments, &self.workspace, environment, existing, permission);
            let person = match self.arguments.detached {
                true => Some(questions.person(None)),
                false => setup.person.map(|person| questions.person(Some(person))),
            };
            let setup = Setup { person, launcher: self.launcher.clone(), ..setup };
            setup.assemble(self.store.clone())
        };
        let mut assembly = assemble(self.permission.clone())?;
        permissions::warn(&assembly.loaded);
        for notice in &assembly.prompt.notes().notices {
            say(format_args!("heeler: notes: {notice}"));
        }
        if let Some(obstacle) = assembly.box_obstacle().await? {
            if self.stage.is_some() || !goes_without_box(&obstacle) {
                bail!("{}", no_box(&obstacle));
            }
            assembly = assemble(Permission { sandbox: Sandbox::Off, ..self.permission.clone() })?;
        }
        if let Some(lack) = lack_of_walls(&assembly.parts.settings.policy) {
            say(format_args!("heeler: {lack}"));
        }
        assembly.measure().await;
        Ok(assembly)
    }
}

/// Keeps rules for later sessions of this folder.
fn rule_keeper(environment: Environment, workspace: PathBuf) -> KeepRule {
    Arc::new(move |rule| {
        keep_rule(&environment, &workspace, Keep::Here, rule).map_err(|error| error.to_string())
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
        // Whose stdin holds messages cannot type answers there.
        person: if arguments.stream_input { None } else { TerminalPerson::present() },
        staged: arguments.stage.is_some(),
        launcher: Launcher::new(),
    }
}
