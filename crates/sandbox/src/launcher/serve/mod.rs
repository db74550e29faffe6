//! The launcher process: starts what it is told to, and kills all of it when its parent is gone.
//!
//! Invariant: one thread, so that a fork copies nothing but what runs.

mod end;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use tokio::signal::unix::{SignalKind, signal};

use super::{Heir, Start, tree};
use crate::confinement::{self, Bound, Boxes, Means, Watch};
use crate::wire::{self, Channel, Failure, Order, Report, RunOrder, Within};
use crate::{Confines, Exit, Input, Probe, Streams};

/// The most commands that run at the same time.
pub(crate) const COMMANDS_MAX: usize = 256;
/// How often confined commands are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Variables without which the dynamic loader may not find the launcher's own libraries.
pub(crate) const LOADER_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// The socket this process was given as its standard input, if it was.
pub(crate) fn inherited_socket() -> Option<UnixStream> {
    let stdin = io::stdin();
    rustix::net::getsockname(stdin.as_fd()).ok()?;
    Some(UnixStream::from(stdin.as_fd().try_clone_to_owned().ok()?))
}

/// Serves until the parent is gone; returns the exit code.
pub(crate) fn run(socket: UnixStream) -> i32 {
    let served = detach().and_then(|()| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(serve(socket))
    });
    // There is nobody to tell: the parent sees the socket close.
    i32::from(served.is_err())
}

/// Leaves the parent's session, terminal and open files.
fn detach() -> io::Result<()> {
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    // Fails only for the leader of a group, which then is as far from the terminal as it can be.
    let _ = rustix::process::setsid();
    tree::allow_huge_pages();
    tree::adopt_orphans()?;
    close_strays_on_exec()
}

/// Files that the parent inherited without close-on-exec are not for commands.
fn close_strays_on_exec() -> io::Result<()> {
    let listed: Vec<i32> = std::fs::read_dir("/dev/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in listed {
        #[expect(unsafe_code, reason = "a number from a listing has no safe owner")]
        // SAFETY: borrowed for one call, in a process with one thread: nothing closes or reuses
        // the number meanwhile. A number that is no longer open gives EBADF.
        let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
        // The listing's own descriptor is closed by now.
        let _ = rustix::io::fcntl_setfd(borrowed, rustix::io::FdFlags::CLOEXEC);
    }
    Ok(())
}

async fn serve(socket: UnixStream) -> io::Result<()> {
    // Before the first child, so that no end of one is missed.
    let mut child_ended = signal(SignalKind::child())?;
    let channel = Channel::new(socket)?;
    let mut server = Server {
        channel,
        running: BTreeMap::new(),
        released: Vec::new(),
        means: Means::default(),
        boxes: Boxes::default(),
        last_box: None,
        heir: None,
        probe: None,
        next_look: tokio::time::Instant::now(),
        mark_base: 0,
    };
    let result = loop {
        tokio::select! {
            _ = child_ended.recv() => server.child_ended(),
            () = tokio::time::sleep_until(server.next_look), if server.looks() => server.look(),
            order = server.channel.next() => match order {
                Ok(Some(order)) => server.obey(order),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            },
        }
    };
    server.kill_all();
    result
}

struct Server {
    channel: Channel,
    running: BTreeMap<u64, Running>,
    /// Commands that are forgotten and not yet reaped.
    released: Vec<Pid>,
    means: Means,
    boxes: Boxes,
    /// The box that was named last, and in which order.
    last_box: Option<(u64, Arc<Confines>)>,
    /// Who kills what runs, if this process and its parent are killed at once.
    heir: Option<Heir>,
    probe: Option<Probe>,
    /// When confined commands are looked at again.
    next_look: tokio::time::Instant,
    mark_base: u64,
}

/// A command from its start to its kill. It is not reaped before that, so nobody else gets its
/// number, which names its group.
struct Running {
    pid: Pid,
    mark: u64,
    has_terminal: bool,
    exit: Option<Exit>,
    watch: Option<Watch>,
    /// Whether it does nothing yet, so that there is nothing to look at.
    waits: bool,
    bound: Option<Bound>,
}

impl Server {
    fn obey(&mut self, order: Order) {
        match order {
            Order::Hello { mark_base, landlock_at_most, .. } => {
                self.mark_base = mark_base;
                self.means = Means { landlock_at_most, mark: mark_base };
                self.boxes = Boxes::new(self.means);
                self.report(&Report::Ready { version: wire::VERSION });
            }
            Order::Prepare(confines) => {
                // Why it cannot be made is told to the command that needs it.
                let _ = self.boxes.prepare(&confines);
                self.last_box = Some((wire::BOX_AHEAD, confines));
            }
            Order::Run(order) => {
                let id = order.id;
                match self.start(order) {
                    Ok(pid) => self.report(&Report::Started { id, pid: pid.as_raw_pid() }),
                    Err(failure) => self.report(&Report::Failed { id, failure }),
                }
            }
            Order::Begin { id } => self.begin(id),
            Order::End { id } => self.ask_to_end(id),
            Order::Kill { id } => self.kill(id),
            Order::Probe => {
                let try_all = || confinement::probe(self.means.landlock_at_most);
                let probe = self.probe.get_or_insert_with(try_all).clone();
                self.report(&Report::Probed { probe });
            }
        }
    }

    fn report(&mut self, report: &Report) {
        if let Some(frame) = wire::frame(report) {
            self.channel.queue(frame, Vec::new());
        }
    }

    fn start(&mut self, order: RunOrder) -> Result<Pid, Failure> {
        let confines = self.confines(order.id, order.within);
        let missing = || Failure::Refused("one of its pipes is missing".into());
        let refused = |error: io::Error| Failure::Refused(error.to_string());
        // Taken even when the command is refused, or the next one would get them.
        let output = self.channel.take_descriptor().ok_or_else(missing)?;
        let errors = match order.streams {
            Streams::Separate => self.channel.take_descriptor().ok_or_else(missing)?,
            Streams::Merged | Streams::Terminal(_) => output.try_clone().map_err(refused)?,
        };
        let has_terminal = matches!(order.streams, Streams::Terminal(_));
        let input = match order.input {
            _ if has_terminal => output.try_clone().map_err(refused)?,
            Input::Empty => std::fs::File::open("/dev/null").map_err(refused)?.into(),
            Input::Pipe => self.channel.take_descriptor().ok_or_else(missing)?,
        };
        if self.running.len() >= COMMANDS_MAX {
            return Err(Failure::TooMany);
        }
        let waits = order.waits;
        if !waits {
            self.name_heir();
        }
        let (id, mark) = (order.id, tree::mark(self.mark_base, order.id));
        let start = Start {
            program: OsString::from_vec(order.program),
            args: order.args,
            env: order.env,
            cwd: PathBuf::from(OsString::from_vec(order.cwd)),
            input,
            output,
            errors,
            has_terminal,
            mark,
        };
        let (pid, watch) = match confines? {
            None => (start.spawn()?, None),
            Some(confines) => {
                let refused = |error| Failure::Refused(format!("it cannot be confined: {error}"));
                let made = self.boxes.prepare(&confines).map_err(refused)?;
                let watch = Watch::new(&confines, Arc::clone(&made));
                (made.start(start)?, Some(watch))
            }
        };
        self.look_from_now(watch.is_some() && !waits);
        self.running
            .insert(id, Running { pid, mark, has_terminal, exit: None, watch, waits, bound: None });
        if waits {
            // It starts meanwhile.
            self.name_heir();
        }
        Ok(pid)
    }

    /// Sees to it that there is an heir before a command does something. A system that has no room
    /// for it leaves the parent, which kills in this process's stead while it lives.
    fn name_heir(&mut self) {
        if self.heir.as_ref().is_none_or(Heir::is_gone) {
            self.heir = Heir::of_this(self.mark_base);
        }
    }

    /// The box of an order. Kept whatever becomes of the command: the next one may mean the same.
    fn confines(&mut self, id: u64, within: Within) -> Result<Option<Arc<Confines>>, Failure> {
        match within {
            Within::Anywhere => Ok(None),
            Within::BoxOf(named) => match &self.last_box {
                Some((last, confines)) if *last == named => Ok(Some(Arc::clone(confines))),
                _ => Err(Failure::Refused("its box was never described".into())),
            },
            Within::Box(confines) => {
                self.last_box = Some((id, Arc::clone(&confines)));
                Ok(Some(confines))
            }
        }
    }

    /// Watches a command that waited until now, if its box is still what it should be.
    fn begin(&mut self, id: u64) {
        let waiting = self.running.get(&id).filter(|running| running.waits);
        let watch = waiting.and_then(|running| running.watch.as_ref());
        let may = waiting.is_some() && watch.is_none_or(Watch::is_up_to_date);
        let is_watched = watch.is_some();
        self.name_heir();
        self.report(&Report::Begun { id, may });
        if !may {
            // Its owner has it killed.
            return;
        }
        self.look_from_now(is_watched);
        let Some(running) = self.running.get_mut(&id) else { return };
        running.waits = false;
        if let Some(watch) = &mut running.watch {
            watch.begin();
        }
    }

    /// Has the next look come in time for a command that begins now, if that is to be looked at.
    fn look_from_now(&mut self, is_watched: bool) {
        if is_watched && !self.looks() {
            self.next_look = tokio::time::Instant::now() + LOOK_EVERY;
        }
    }

    /// Whether any command has to be looked at now and then.
    fn looks(&self) -> bool {
        self.running.values().any(|running| running.watch.is_some() && !running.waits)
    }
}
