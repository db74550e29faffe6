//! Stops a turn when a person or the system asks, and the process when they insist.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::Exit;
use crate::say::say;

/// SIGINT, SIGTERM and SIGHUP. The first asks for the end of the turn, the second ends the
/// process: the journal is whole at any moment.
pub(super) struct Signals {
    first: mpsc::Receiver<()>,
    came: bool,
}

impl Signals {
    /// Listens from here on, on a thread of its own: the one that prints may be stuck at a full
    /// pipe that nobody reads.
    pub(super) fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listeners = {
            let _inside = runtime.enter();
            Listeners::new()?
        };
        let (sender, first) = mpsc::channel(1);
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || runtime.block_on(listeners.obey(sender)))?;
        Ok(Self { first, came: false })
    }

    /// Resolves once, at the first signal.
    pub(super) async fn first(&mut self) {
        if self.first.recv().await.is_none() {
            std::future::pending().await
        }
        self.came = true;
    }

    /// Whether the first signal was waited for and came.
    pub(super) fn came(&self) -> bool {
        self.came
    }
}

struct Listeners {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Listeners {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn obey(mut self, first: mpsc::Sender<()>) {
        self.next().await;
        say("heeler: stopping; once more to stop at once");
        // Nobody listens any more when the turn has just ended.
        let _ = first.send(()).await;
        self.next().await;
        std::process::exit(Exit::Cancelled as i32);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
