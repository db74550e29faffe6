//! `--detach`: the same program again, as a process of its own, which tells its beginning and then
//! nobody anything.
//!
//! Its beginning is told when the prompt stands in the journal, and not before: what was reported as
//! taken outlives the process.

use std::io::{BufRead as _, BufReader, stdout};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use heeler_core::{Event, Input, Role, SessionId, SteeringId, TurnOutcome};
use heeler_engine::{Seen, Session};
use heeler_turn::state::Phase;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Printer;
use super::finish::Finish;
use super::watch::Watch;
use crate::exit::Exit;
use crate::say::say;

/// What the command line of the process that goes on has besides.
const DETACHED: &str = "--detached";
/// The most bytes of the line with the session's id.
const LINE_BYTES_MAX: u64 = 1024;
/// Stands before the id where the process goes on without its prompt.
const WITHOUT_PROMPT: &str = "without prompt ";

/// What became of the prompt of a process that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// It is written, or there is none.
    Taken,
    /// A hook did not let it through.
    Refused,
}

/// Starts the process, and returns once its session is begun and its input is written, or ends as the
/// process did.
pub(super) fn begin(is_quiet: bool) -> Result<Exit> {
    let program = std::env::current_exe().context("cannot find this program to start it anew")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is to outlive us, which the launcher prevents"
    )]
    let mut command = std::process::Command::new(program);
    command.args(["exec", DETACHED]).args(std::env::args_os().skip(2)).stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start the process that goes on")?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(std::io::Read::take(stdout, LINE_BYTES_MAX));
        stdout.read_line(&mut line).context("cannot read what the process says")?;
    }
    let Some(told) = line.strip_suffix('\n') else {
        // It told what is wrong itself.
        let status = child.wait().context("cannot wait for the process")?;
        std::process::exit(status.code().unwrap_or(Exit::Failure as i32));
    };
    let (id, exit) = match told.strip_prefix(WITHOUT_PROMPT) {
        Some(id) => {
            say("heeler: the prompt was not let through; the turn that was begun before goes on");
            (id, Exit::Denied)
        }
        None => match crate::say::print(&line) {
            Ok(()) => (told, Exit::Done),
            Err(error) => {
                say(format_args!("heeler: the run is begun; {error}"));
                (told, Exit::Failure)
            }
        },
    };
    // Who has the id from nowhere else can neither follow nor stop it.
    if !is_quiet || exit == Exit::Failure {
        say(format_args!(
            "heeler: it runs on its own; `heeler attach {id}` shows it and answers what it asks, \
             `heeler stop {id}` stops it"
        ));
    }
    Ok(exit)
}

/// Goes on with the turn that an earlier process left, and hands the prompt over to it. Nobody
/// waits for the end of that turn, which may be far: a prompt that waited for it in memory would be
/// lost with this process.
///
/// # Errors
/// When the session is closed, or whoever started this cannot be told.
pub(super) async fn go_on(
    watch: &mut Watch<'_>,
    prompt: Option<Input>,
) -> Result<Option<TurnOutcome>> {
    let session = watch.session;
    let state = session.state().await?;
    let stopped = Phase::Ending(TurnOutcome::Cancelled);
    let mut was_stopped = state.turn.is_some_and(|turn| turn.phase == stopped);
    match prompt {
        Some(prompt) => {
            let id = SteeringId(format!("prompt-{}", state.incarnation));
            watch.printer.awaits(&id);
            // The turn says why a session broke off.
            if watch.until_done(session.steer(id, prompt)).await?.is_ok() {
                watch.printer.let_go(Prompt::Refused)?;
            }
        }
        None => watch.printer.let_go(Prompt::Taken)?,
    }
    if watch.signals.came() {
        return Ok(Some(TurnOutcome::Cancelled));
    }
    loop {
        let outcome = watch.until_done(session.resume()).await?;
        let is_cancelled = outcome == TurnOutcome::Cancelled;
        // Who stops the turn stops this run, and the prompt with it. An earlier process that was told to
        // stop knew nothing of the prompt.
        let is_stopped = is_cancelled && !std::mem::take(&mut was_stopped);
        if is_stopped || watch.signals.came() || !is_in_turn(session).await {
            return Ok(Some(outcome));
        }
    }
}

/// Whether what was said too late for one turn has begun another.
pub(super) async fn is_in_turn(session: &Session) -> bool {
    session.state().await.is_ok_and(|state| state.turn.is_some())
}

/// Leaves the terminal, now that all of stdin is read. Until here a signal for whoever started this
/// process ends this one as well, so that half a prompt is not run behind their back.
///
/// # Errors
/// When they are gone.
pub(super) fn leave() -> Result<()> {
    rustix::process::setsid().context("cannot leave the terminal")?;
    ends_with_parent(Ends::No)?;
    let stdout = stdout();
    let mut reader = [PollFd::new(&stdout, PollFlags::empty())];
    poll(&mut reader, Some(&Timespec::default())).context("cannot look who listens")?;
    if reader[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
        bail!("whoever started this run was stopped before it began, so it does not begin");
    }
    Ok(())
}

/// Whether the end of whoever started this process is the end of this one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Yes,
    No,
}

/// A signal that is sent to them alone reaches this process so. Elsewhere it is noticed when stdin ends.
fn ends_with_parent(ends: Ends) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        let signal = (ends == Ends::Yes).then_some(rustix::process::Signal::TERM);
        rustix::process::set_parent_process_death_signal(signal)
            .context("cannot hear of the end of whoever started this")?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = ends;
    Ok(())
}

/// Tells the session's id when the prompt is written; from then on the journal has everything.
pub(super) struct DetachedPrinter {
    session: Option<SessionId>,
    /// The name of a prompt that joins a turn; without, the prompt begins one.
    awaited: Option<SteeringId>,
    is_free: bool,
}

impl DetachedPrinter {
    /// For a process that is still that of whoever started it, until it [`leave`]s.
    pub(super) fn begin() -> Result<Self> {
        ends_with_parent(Ends::Yes)?;
        Ok(Self { session: None, awaited: None, is_free: false })
    }
}

impl Printer for DetachedPrinter {
    fn begin(&mut self, session: &Session, _: &str) -> std::io::Result<()> {
        self.session = Some(session.id().clone());
        Ok(())
    }

    fn awaits(&mut self, prompt: &SteeringId) {
        self.awaited = Some(prompt.clone());
    }

    fn print(&mut self, seen: &Seen) -> std::io::Result<()> {
        let Seen::Event(envelope) = seen else { return Ok(()) };
        // What an agent of the session is told was not said by whoever waits here.
        if !envelope.agent.is_main() {
            return Ok(());
        }
        match (&envelope.event, &self.awaited) {
            (Event::SteeringQueued { id }, Some(awaited)) if id == awaited => {
                self.let_go(Prompt::Taken)
            }
            (Event::Message { message }, None) if message.role == Role::User => {
                self.let_go(Prompt::Taken)
            }
            // Why the prompt was not let through: beside a turn, or as one of its own.
            (Event::Notice { text: told }, _)
            | (
                Event::TurnFinished { outcome: TurnOutcome::Denied { reason: told }, .. },
                Some(_),
            ) if !self.is_free => {
                say(format_args!("heeler: {told}"));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn let_go(&mut self, prompt: Prompt) -> std::io::Result<()> {
        let Some(session) = self.session.as_ref().filter(|_| !self.is_free) else { return Ok(()) };
        self.is_free = true;
        let without = if prompt == Prompt::Refused { WITHOUT_PROMPT } else { "" };
        // Whoever started it may be gone, and the run goes on all the same.
        crate::say::print(&format!("{without}{session}\n"))?;
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, finish: &Finish) -> std::io::Result<()> {
        if let Some(complaint) = finish.complaint().filter(|_| !self.is_free) {
            say(format_args!("heeler: {complaint}"));
        }
        Ok(())
    }
}
