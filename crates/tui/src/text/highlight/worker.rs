//! The thread that knows grammars: it begins with the first code and ends with its owner.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use super::known::Known;
use super::parse::Grammars;
use super::{CodePlace, Highlight, Highlighted};

/// Where a block of code is longer than this, its rest stays plain.
pub(super) const CODE_BYTES_MAX: usize = 512 * 1024;
/// Pieces that wait for the thread; who asks for more asks again.
const WAITING_MAX: usize = 256;

/// Knows what the words of code are, a moment after it was asked.
///
/// Nothing is loaded before the first code is asked for; the grammars then take some 70 ms and 13 MB
/// on a thread of its own. Each time something becomes known, the revision grows and the notice
/// given to [`Highlighter::new`] is called, on that thread.
pub struct Highlighter {
    shared: Arc<Shared>,
    /// Absent as long as nobody asked, `None` if there can be no thread.
    jobs: OnceLock<Option<SyncSender<Job>>>,
}

struct Shared {
    known: Mutex<Known>,
    revision: AtomicU64,
    notice: Box<dyn Fn() + Send + Sync>,
}

struct Job {
    place: CodePlace,
    code: String,
}

impl Highlighter {
    /// Calls `notice` whenever more is known: it should return at once.
    #[must_use]
    pub fn new(notice: impl Fn() + Send + Sync + 'static) -> Self {
        let shared = Shared {
            known: Mutex::default(),
            revision: AtomicU64::new(0),
            notice: Box::new(notice),
        };
        Self { shared: Arc::new(shared), jobs: OnceLock::new() }
    }

    /// Grows with what is known: what was drawn at an older revision may have more colors now.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.revision.load(Ordering::Acquire)
    }

    fn jobs(&self) -> Option<&SyncSender<Job>> {
        let start = || {
            let (sender, jobs) = sync_channel(WAITING_MAX);
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("highlight".to_owned());
            // Without a thread there are no colors, which is no reason to stop.
            thread.spawn(move || work(jobs, &shared)).ok().map(|_| sender)
        };
        self.jobs.get_or_init(start).as_ref()
    }
}

impl Highlight for Highlighter {
    fn classes(&self, place: &CodePlace, code: &str) -> Highlighted {
        let is_plain = matches!(place.language(), "" | "text" | "txt" | "plain" | "plaintext");
        if is_plain || place.bytes + code.len() > CODE_BYTES_MAX {
            return Highlighted::default();
        }
        let Some(jobs) = self.jobs() else { return Highlighted::default() };
        let end = place.after(code);
        let mut known = self.shared.known();
        if let Some(classes) = known.get(&end) {
            return Highlighted { classes, is_pending: false };
        }
        let classes = Arc::new(known.first_lines(place, code));
        if !known.is_asked(&end) {
            match jobs.try_send(Job { place: place.clone(), code: code.to_owned() }) {
                Ok(()) => known.ask(end),
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => {
                    return Highlighted { classes, is_pending: false };
                }
            }
        }
        Highlighted { classes, is_pending: true }
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing is left half done in there.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives up what was asked for when the thread ends, so that nobody waits for it.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.known().forget_all();
        (self.0.notice)();
    }
}

fn work(jobs: Receiver<Job>, shared: &Shared) {
    let _ending = Ending(shared);
    // Dropped before the ending: whoever asks then is told that nobody listens.
    let jobs = jobs;
    let mut grammars = Grammars::load();
    while let Ok(first) = jobs.recv() {
        let mut all: Vec<Job> = std::iter::once(first).chain(jobs.try_iter()).collect();
        // Of a piece that grew while it waited only the last state is worth the time.
        let outgrown = |job: &Job, later: &[Job]| {
            later.iter().any(|next| next.place == job.place && next.code.starts_with(&job.code))
        };
        let mut index = 0;
        while index < all.len() {
            if outgrown(&all[index], &all[index + 1..]) {
                let job = all.remove(index);
                shared.known().forget(&job.place.after(&job.code));
            } else {
                index += 1;
            }
        }
        for Job { place, code } in all {
            let classes = grammars.classes(&place, &code);
            shared.known().put(&place, code, classes);
        }
        shared.revision.fetch_add(1, Ordering::Release);
        (shared.notice)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::super::super::{Look, StreamingMarkdown};
    use super::*;
    use crate::theme::Theme;

    fn highlighter() -> (Highlighter, Receiver<()>) {
        let (sender, notices) = channel();
        (Highlighter::new(move || sender.send(()).unwrap_or_default()), notices)
    }

    #[test]
    fn colors_come_later_and_a_notice_with_them() {
        let (highlighter, notices) = highlighter();
        let place = CodePlace::start("rust");
        let first = highlighter.classes(&place, "fn main() {}\n");
        assert!(first.is_pending && first.classes.is_empty());
        notices.recv().expect("the thread says so");
        let then = highlighter.classes(&place, "fn main() {}\n");
        assert!(!then.is_pending && !then.classes[0].is_empty());
        assert_eq!(highlighter.revision(), 1);
        // What has grown keeps the colors it had.
        let grown = highlighter.classes(&place, "fn main() {}\nfn other");
        assert!(grown.is_pending);
        assert_eq!(grown.classes[0], then.classes[0]);
    }

    #[test]
    fn nothing_is_started_for_what_stays_plain() {
        let (highlighter, _notices) = highlighter();
        let plain = highlighter.classes(&CodePlace::start(""), "fn main() {}\n");
        assert!(!plain.is_pending);
        let long = "x".repeat(CODE_BYTES_MAX + 1);
        assert!(!highlighter.classes(&CodePlace::start("rust"), &long).is_pending);
        assert!(highlighter.jobs.get().is_none());
    }

    #[test]
    fn a_stream_waits_for_its_colors() {
        let (highlighter, notices) = highlighter();
        let theme = Theme::dark();
        let look = Look { width: 40, theme: &theme, highlight: &highlighter };
        let mut stream = StreamingMarkdown::new();
        stream.push("```rust\nfn main() {}\n```\nafter\n\n");
        assert!(stream.committed(look).is_empty());
        assert!(!stream.tail(look).is_empty());
        notices.recv().expect("the thread says so");
        let lines = stream.committed(look);
        let is_colored = |span: &ratatui::text::Span<'_>| {
            span.content == "fn" && span.style == theme.syntax.keyword
        };
        assert!(lines.iter().flat_map(|line| &line.spans).any(is_colored), "{lines:?}");
    }
}
