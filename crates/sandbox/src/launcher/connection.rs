//! The parent's side: one task owns the socket and routes what the launcher reports.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::process::{Ahead, Process, Started, start};
use super::{serve, tree};
use crate::pipes::Pipes;
use crate::wire::{self, Channel, Failure, Order, Report, RunOrder, Within};
use crate::{Bound, Child, Command, Confinement, Confines, Exit, Killed, LauncherError, Probe};

/// A running launcher.
pub(crate) struct Connection {
    requests: mpsc::UnboundedSender<Request>,
    next_id: AtomicU64,
    pid: u32,
    /// The box that was named last, and in which order. Held until the order is on its way, so that they
    /// arrive in that sequence.
    last_box: Mutex<Option<(u64, Arc<Confines>)>>,
}

/// Tells the launcher to kill what is left of one command. Its queue is bounded by the number of
/// commands, each of which is killed at most twice, and by how often their owner speaks to them.
#[derive(Clone)]
pub(crate) struct Killer {
    requests: mpsc::UnboundedSender<Request>,
    id: u64,
}

/// When a command does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    AtOnce,
    /// It waits until its owner tells it what to do.
    WhenTold,
}

/// Why a command did not start.
pub(crate) enum Lost {
    /// The launcher was gone before it heard of the command: it may be tried again.
    Unsent,
    /// Anything else.
    Error(LauncherError),
}

enum Request {
    Run { id: u64, frame: Vec<u8>, descriptors: Vec<OwnedFd>, route: Route },
    Begin { id: u64, begun: oneshot::Sender<bool> },
    End { id: u64 },
    Kill { id: u64, killed: Option<oneshot::Sender<Ended<Killed>>> },
    Probe { probed: oneshot::Sender<Probe> },
}

/// Whom to tell about a command. Dropping it tells them that the launcher is gone.
struct Route {
    n_frame: u64,
    started: Option<oneshot::Sender<Result<u32, Refusal>>>,
    begun: Option<oneshot::Sender<bool>>,
    exited: Option<oneshot::Sender<Ended<Exit>>>,
    killed: Vec<oneshot::Sender<Ended<Killed>>>,
    group: Option<i32>,
    /// The command ended and left nothing: there is nothing to kill.
    is_gone: bool,
}

/// How something ended, and the bound it had reached.
pub(crate) type Ended<T> = (T, Option<Bound>);

enum Refusal {
    Unsent,
    Failed(Failure),
}

impl Connection {
    /// Starts the launcher, unless it was started ahead, and waits until it answers.
    pub(crate) async fn open(
        program: PathBuf,
        landlock_at_most: u32,
        ahead: Option<Ahead>,
    ) -> Result<Self, LauncherError> {
        let name = program.clone();
        let not_started =
            move |reason: String| LauncherError::NotStarted { program: name.clone(), reason };
        let is_there = ahead.as_ref().is_some_and(Ahead::is_there);
        let start = move || match ahead {
            Some(Ahead::Executed(thread)) => {
                thread.join().map_err(|_| io::Error::other("what started it panicked"))?
            }
            // What keeps a copy from being a launcher need not keep the program from it.
            Some(Ahead::Forked(copy)) => copy.hear().or_else(|_| start(&program, landlock_at_most)),
            None => start(&program, landlock_at_most),
        };
        let started = match is_there {
            true => start(),
            // Blocking, since it waits in real time even where the runtime's clock is a test's.
            false => {
                let started = beside(start).map_err(&not_started)?.await;
                started.map_err(|error| not_started(error.to_string()))?
            }
        };
        let Started { process, socket, mark_base, box_ahead } =
            started.map_err(|error| not_started(error.to_string()))?;
        let channel = Channel::new(socket).map_err(|error| not_started(error.to_string()))?;
        let pid = process.id();
        let (requests, received) = mpsc::unbounded_channel();
        let driver =
            Driver { channel, routes: HashMap::new(), probes: VecDeque::new(), mark_base, process };
        tokio::spawn(driver.drive(received));
        let last_box = Mutex::new(box_ahead.map(|confines| (wire::BOX_AHEAD, confines)));
        Ok(Self { requests, next_id: AtomicU64::new(wire::BOX_AHEAD + 1), pid, last_box })
    }

    /// Whether the launcher is there, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.requests.is_closed()
    }

    /// The launcher's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Asks what a box can be made of here.
    pub(crate) async fn probe(&self) -> Result<Probe, LauncherError> {
        let (sender, probed) = oneshot::channel();
        // A request that is not heard is dropped, and the answer says so.
        let _ = self.requests.send(Request::Probe { probed: sender });
        probed.await.map_err(|_| LauncherError::Gone)
    }

    /// Starts a command.
    pub(crate) async fn run(
        &self,
        command: &Command,
        begins: Begins,
        pipes: Pipes,
    ) -> Result<Child, Lost> {
        if let Confinement::Box(confines) = &command.confinement
            && let Some(path) = confines.paths().find(|path| path.to_str().is_none())
        {
            let reason = format!("`{}` in its confinement is not UTF-8", path.display());
            return Err(LauncherError::Refused { program: command.program.clone(), reason }.into());
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (started_sender, started) = oneshot::channel();
        let (exited_sender, exited) = oneshot::channel();
        let route = Route {
            n_frame: 0,
            started: Some(started_sender),
            begun: None,
            exited: Some(exited_sender),
            killed: Vec::new(),
            group: None,
            is_gone: false,
        };
        self.order(id, command, begins, pipes.theirs, route)?;
        // From here on dropping this future drops the child, which kills what may have started.
        let killer = Killer { requests: self.requests.clone(), id };
        let mut child = Child::new(killer, exited, pipes.ours).map_err(|error| {
            let reason = format!("its pipes cannot be used: {error}");
            LauncherError::Refused { program: command.program.clone(), reason }
        })?;
        match started.await {
            Ok(Ok(pid)) => {
                child.set_pid(pid);
                Ok(child)
            }
            Ok(Err(Refusal::Unsent)) => Err(Lost::Unsent),
            Ok(Err(Refusal::Failed(failure))) => Err(failed(failure, command).into()),
            Err(_) => Err(LauncherError::Gone.into()),
        }
    }

    /// Sends the order for a command on its way.
    fn order(
        &self,
        id: u64,
        command: &Command,
        begins: Begins,
        descriptors: Vec<OwnedFd>,
        route: Route,
    ) -> Result<(), Lost> {
        // What it holds is whole at every moment.
        let mut last_box = self.last_box.lock().unwrap_or_else(PoisonError::into_inner);
        let (within, named) = match &command.confinement {
            Confinement::None => (Within::Anywhere, None),
            Confinement::Box(confines) => match &*last_box {
                Some((id, last)) if Arc::ptr_eq(last, confines) => (Within::BoxOf(*id), None),
                _ => (Within::Box(Arc::clone(confines)), Some((id, Arc::clone(confines)))),
            },
        };
        let order = RunOrder {
            id,
            program: command.program.as_os_str().as_bytes().to_vec(),
            args: command.args.clone(),
            env: command.env.clone(),
            cwd: command.cwd.as_os_str().as_bytes().to_vec(),
            input: command.input,
            streams: command.streams,
            within,
            waits: begins == Begins::WhenTold,
        };
        let Some(frame) = wire::frame(&Order::Run(order)) else {
            return Err(LauncherError::TooLong { bytes_max: wire::FRAME_BYTES_MAX }.into());
        };
        let request = Request::Run { id, frame, descriptors, route };
        self.requests.send(request).map_err(|_| Lost::Unsent)?;
        if named.is_some() {
            *last_box = named;
        }
        Ok(())
    }
}

impl Killer {
    /// Has the command killed; resolves when nothing is left.
    pub(crate) fn kill(&self) -> oneshot::Receiver<Ended<Killed>> {
        let (sender, receiver) = oneshot::channel();
        // Without a launcher nothing is left to kill; the dropped sender says so.
        let _ = self.requests.send(Request::Kill { id: self.id, killed: Some(sender) });
        receiver
    }

    /// Has the command watched, that waited until now; resolves to whether it may begin.
    pub(crate) fn begin(&self) -> oneshot::Receiver<bool> {
        let (begun, receiver) = oneshot::channel();
        // Without a launcher it is being killed; the dropped sender says so.
        let _ = self.requests.send(Request::Begin { id: self.id, begun });
        receiver
    }

    /// Has the command asked to end.
    pub(crate) fn ask_to_end(&self) {
        // Without a launcher there is nobody left who could.
        let _ = self.requests.send(Request::End { id: self.id });
    }

    /// Has the command killed and does not ask what came of it.
    pub(crate) fn kill_unheard(&self) {
        let _ = self.requests.send(Request::Kill { id: self.id, killed: None });
    }
}

impl From<LauncherError> for Lost {
    fn from(error: LauncherError) -> Self {
        Self::Error(error)
    }
}

impl From<Lost> for LauncherError {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Unsent => Self::Gone,
            Lost::Error(error) => error,
        }
    }
}

/// The task that owns the socket.
struct Driver {
    channel: Channel,
    routes: HashMap<u64, Route>,
    /// Who waits for a probe; answers come in the order of the questions.
    probes: VecDeque<oneshot::Sender<Probe>>,
    mark_base: u64,
    process: Process,
}

impl Driver {
    async fn drive(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        let mut is_wanted = true;
        loop {
            tokio::select! {
                request = requests.recv(), if is_wanted => match request {
                    Some(request) => self.request(request),
                    None => {
                        is_wanted = false;
                        self.channel.shutdown();
                    }
                },
                report = self.channel.next() => match report {
                    Ok(Some(report)) => self.report(report),
                    Ok(None) | Err(_) => break,
                },
            }
        }
        if is_wanted {
            requests.close();
            while let Ok(request) = requests.try_recv() {
                if let Request::Run { id, frame, descriptors, mut route } = request {
                    route.n_frame = self.channel.queue(frame, descriptors);
                    self.routes.insert(id, route);
                }
            }
            self.bury().await;
        }
    }

    fn request(&mut self, request: Request) {
        match request {
            Request::Run { id, frame, descriptors, mut route } => {
                route.n_frame = self.channel.queue(frame, descriptors);
                self.routes.insert(id, route);
            }
            Request::Probe { probed } => {
                if let Some(frame) = wire::frame(&Order::Probe) {
                    self.channel.queue(frame, Vec::new());
                    self.probes.push_back(probed);
                }
            }
            Request::Begin { id, begun } => {
                let Some(route) = self.routes.get_mut(&id) else { return };
                route.begun = Some(begun);
                self.order(&Order::Begin { id });
            }
            Request::End { id } => self.order(&Order::End { id }),
            Request::Kill { id, killed } => {
                // A route is missing when the command never started or was killed before.
                let Some(route) = self.routes.get_mut(&id) else { return };
                route.killed.extend(killed);
                if route.is_gone {
                    self.report(Report::Killed { id, killed: Killed::default(), bound: None });
                } else if let Some(frame) = wire::frame(&Order::Kill { id }) {
                    self.channel.queue(frame, Vec::new());
                }
            }
        }
    }

    fn order(&mut self, order: &Order) {
        if let Some(frame) = wire::frame(order) {
            self.channel.queue(frame, Vec::new());
        }
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Ready { .. } => {}
            Report::Started { id, pid } => {
                let Some(route) = self.routes.get_mut(&id) else { return };
                route.group = Some(pid);
                // Who no longer waits has dropped the child, and its kill is on the way.
                let _ = route.started.take().map(|sender| sender.send(Ok(pid.cast_unsigned())));
            }
            Report::Failed { id, failure } => {
                let Some(route) = self.routes.remove(&id) else { return };
                let _ = route.started.map(|sender| sender.send(Err(Refusal::Failed(failure))));
            }
            Report::Begun { id, may } => {
                let Some(route) = self.routes.get_mut(&id) else { return };
                let _ = route.begun.take().map(|sender| sender.send(may));
            }
            Report::Exited { id, exit, is_gone, bound } => {
                let Some(route) = self.routes.get_mut(&id) else { return };
                route.is_gone = is_gone;
                if is_gone {
                    // Its number may soon be another's.
                    route.group = None;
                }
                let _ = route.exited.take().map(|sender| sender.send((exit, bound)));
            }
            Report::Probed { probe } => {
                let _ = self.probes.pop_front().map(|sender| sender.send(probe));
            }
            Report::Killed { id, killed, bound } => {
                let Some(route) = self.routes.remove(&id) else { return };
                for sender in route.killed {
                    let _ = sender.send((killed, bound.clone()));
                }
            }
        }
    }

    /// The launcher died: kills in its stead, then tells who waits.
    async fn bury(mut self) {
        for route in self.routes.values_mut() {
            if !self.channel.is_sent(route.n_frame)
                && let Some(sender) = route.started.take()
            {
                let _ = sender.send(Err(Refusal::Unsent));
            }
        }
        let groups: Vec<i32> = self.routes.values().filter_map(|route| route.group).collect();
        let mark_base = self.mark_base;
        self.process.kill();
        let killed = groups.clone();
        match beside(move || tree::kill_marked(mark_base, &killed)) {
            // A panic in there leaves processes behind, and there is nobody left to tell.
            Ok(killing) => drop(killing.await),
            // Whoever else waits for this thread waits longer; nothing goes on that nobody holds.
            Err(_) => tree::kill_marked(mark_base, &groups),
        }
    }
}

/// Starts work that blocks. Where the system gives no thread for it the library panics, which is told
/// as any other reason; the work is not done then.
fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<tokio::task::JoinHandle<T>, String> {
    // What is left of a panic here is a piece of work in a queue that drops it.
    let begun = catch_unwind(AssertUnwindSafe(|| tokio::task::spawn_blocking(work)));
    begun.map_err(|panic| match panic.downcast::<String>() {
        Ok(reason) => *reason,
        Err(_) => "no thread for it".into(),
    })
}

fn failed(failure: Failure, command: &Command) -> LauncherError {
    let program = command.program.clone();
    match failure {
        Failure::Program => LauncherError::ProgramNotFound { program },
        Failure::Folder => LauncherError::FolderNotFound { cwd: command.cwd.clone() },
        Failure::TooMany => LauncherError::TooMany { count_max: serve::COMMANDS_MAX },
        Failure::Refused(reason) => LauncherError::Refused { program, reason },
    }
}
