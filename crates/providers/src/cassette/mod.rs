//! A cassette: every exchange with a model recorded once, and played again later, offline and exact.
//!
//! Read in this order: `line` (the file), `clean` (what never gets into it), `parts` (what is said
//! twice is written once), `record`, `replay`.
//!
//! Invariant: no header and no key is ever stored; an exchange is on the disk before its end is seen.

mod clean;
mod line;
mod parts;
mod record;
mod replay;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{StreamExt, stream};
use heeler_core::{
    AcceptedAnswer, EventStream, ModelRequest, Provider, ProviderError, ProviderErrorKind,
};
use heeler_secrets::Secrets;

pub use line::{Exchange, ExchangeEnd};
pub use parts::Asked;
use parts::Asker;
use record::{Recording, Tape};
use replay::Played;
pub use replay::read;

/// The most bytes of a cassette's file.
pub const CASSETTE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A provider that records what goes to another provider and what comes back, or plays such a
/// record.
///
/// The file holds JSON Lines: what each request asked, and the events of its answer as they came,
/// with usage, errors and attempts. A request that is sent again is recorded again. Of secrets the
/// well-known forms are taken out, and those that [`Cassette::secrets`] knows; headers and keys are
/// no part of a request.
///
/// A request is answered by the first recorded exchange, not yet played, that asked the same: model,
/// system prompt, tools, messages, output limit, parameters. So runs may be concurrent, and come in
/// another order than they were recorded. A request that nobody asked ends as an `InvalidRequest`
/// error, which is never tried again and says where it differs from the nearest recorded one.
///
/// Clones share the cassette.
///
/// ```
/// # use std::sync::Arc;
/// # use heeler_core::{ModelRequest, Provider};
/// # fn example(provider: impl Provider, request: ModelRequest) -> Result<(), Box<dyn std::error::Error>> {
/// use heeler_providers::cassette::Cassette;
///
/// let recording = Cassette::record("answers.jsonl", provider)?;
/// let events = recording.stream(request.clone());
/// // Later, without the provider:
/// let replay = Cassette::replay("answers.jsonl")?;
/// let same_events = replay.stream(request);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Cassette {
    path: Arc<Path>,
    secrets: Arc<Secrets>,
    asker: Arc<Mutex<Asker>>,
    mode: Mode,
}

#[derive(Clone)]
enum Mode {
    Record { inner: Arc<dyn Provider>, tape: Arc<Mutex<Tape>> },
    Replay(Arc<Mutex<Played>>),
}

/// Why a cassette cannot be recorded or played; the message names the file and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{what} the cassette `{}`: {why}", path.display())]
pub struct CassetteError {
    what: &'static str,
    path: PathBuf,
    why: String,
}

impl Cassette {
    /// Records to a new file, for its owner only, what `provider` is asked and what it answers.
    ///
    /// An exchange is synced to the disk before its end is handed on. One that cannot be written ends
    /// as an error instead: a record with a hole would play something else.
    ///
    /// # Errors
    /// When the file exists, since nothing that was recorded is ever overwritten, or cannot be made.
    pub fn record(path: impl AsRef<Path>, provider: impl Provider) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let tape = Tape::create(path).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    "it exists; remove it to record it again, or replay it".to_owned()
                }
                _ => error.to_string(),
            };
            CassetteError { what: "cannot record", path: path.into(), why }
        })?;
        let mode = Mode::Record { inner: Arc::new(provider), tape: Arc::new(Mutex::new(tape)) };
        Ok(Self::new(path, mode))
    }

    /// Plays what was recorded. The file is read whole, and never changed.
    ///
    /// # Errors
    /// When it cannot be read or is no cassette; the message names the line.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let path = path.as_ref();
        let exchanges = read(path)?;
        Ok(Self::of(path, exchanges))
    }

    /// Plays exchanges that stand in a file of another kind.
    #[doc(hidden)]
    #[must_use]
    pub fn of(path: impl AsRef<Path>, exchanges: Vec<Exchange>) -> Self {
        let mode = Mode::Replay(Arc::new(Mutex::new(Played::new(exchanges))));
        Self::new(path.as_ref(), mode)
    }

    fn new(path: &Path, mode: Mode) -> Self {
        Self { path: path.into(), secrets: Arc::default(), asker: Arc::default(), mode }
    }

    /// Takes out these secrets, too, before anything is written or compared. Say the same when it is
    /// recorded and when it is played.
    #[must_use]
    pub fn secrets(mut self, secrets: impl Into<Arc<Secrets>>) -> Self {
        self.secrets = secrets.into();
        self
    }

    /// How many recorded exchanges were not played yet; 0 for one that records.
    #[must_use]
    pub fn remaining(&self) -> usize {
        match &self.mode {
            Mode::Record { .. } => 0,
            Mode::Replay(played) => lock(played).remaining(),
        }
    }

    /// Why the first request that is not recorded is not: which recorded one it was nearest to, and
    /// where it differs. `None` when all were recorded so far.
    #[must_use]
    pub fn mismatch(&self) -> Option<String> {
        match &self.mode {
            Mode::Record { .. } => None,
            Mode::Replay(played) => lock(played).mismatch(),
        }
    }
}

impl Provider for Cassette {
    fn stream(&self, request: ModelRequest) -> EventStream {
        self.answer(request, |inner, request| inner.stream(request))
    }

    /// An answer that was gone on with is recorded, and plays, as any other.
    fn resume(&self, request: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        self.answer(request, |inner, request| inner.resume(request, answer))
    }

    fn prewarm(&self) {
        if let Mode::Record { inner, .. } = &self.mode {
            inner.prewarm();
        }
    }

    /// What is played says what was said, of which a run finds out.
    fn tells_cost(&self) -> bool {
        match &self.mode {
            Mode::Record { inner, .. } => inner.tells_cost(),
            Mode::Replay(_) => true,
        }
    }
}

impl Cassette {
    fn answer(
        &self,
        request: ModelRequest,
        ask: impl FnOnce(&dyn Provider, ModelRequest) -> EventStream,
    ) -> EventStream {
        let asked = lock(&self.asker).asked(&request, &self.secrets);
        match &self.mode {
            Mode::Record { inner, tape } => {
                let number = lock(tape).begin();
                let (tape, secrets) = (Arc::clone(tape), Arc::clone(&self.secrets));
                let path = Arc::clone(&self.path);
                let answer = ask(&**inner, request);
                Recording::new(answer, number, asked, tape, secrets, path).boxed()
            }
            Mode::Replay(played) => {
                let answer = lock(played).answer(&asked);
                match answer {
                    Ok(steps) => stream::iter(steps).boxed(),
                    Err(why) => {
                        let text = format!(
                            "{why}; record the cassette `{}` again if that is meant",
                            self.path.display()
                        );
                        let kind = ProviderErrorKind::InvalidRequest;
                        stream::iter([Err(ProviderError::new(kind, text))]).boxed()
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match &self.mode {
            Mode::Record { .. } => "record",
            Mode::Replay(_) => "replay",
        };
        f.debug_struct("Cassette").field("path", &self.path).field("mode", &mode).finish()
    }
}

/// What is behind a lock; a panic elsewhere has not left it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
