//! The modes of the real terminal, and giving it back as it was found.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crossterm::terminal;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::LEAVE_ALTERNATE;
use crate::outlet::StandardOutput;

/// Pasted text comes in marks of its own; keys come with all their modifiers, where the terminal
/// knows how (others pass over the second).
const ENTER: &str = "\x1b[?2004h\x1b[>1u";
/// Everything back, in whatever state it is: an update that was cut off, a hidden cursor, a style.
const LEAVE: &str = "\x1b[?2026l\x1b[<u\x1b[?2004l\x1b[m\x1b[?25h";

/// Whether the modes are ours, and whether the alternate screen is shown: a panic asks for both from
/// any thread.
static ENTERED: AtomicBool = AtomicBool::new(false);
static ALTERNATE: AtomicBool = AtomicBool::new(false);
/// How the terminal's lines were when it was taken first. What it is given back as does not hang on
/// how an editor leaves it that dies.
static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

/// Notes which screen is shown.
pub(super) fn note_alternate(is_shown: bool) {
    ALTERNATE.store(is_shown, Ordering::SeqCst);
}

/// Columns and rows of the terminal; 80 by 24 where nobody knows.
#[must_use]
pub fn size() -> (u16, u16) {
    match terminal::size() {
        Ok((width, height)) if width > 0 && height > 0 => (width, height),
        _ => (80, 24),
    }
}

/// While it lives the terminal is in our modes. Dropping it, and a panic anywhere, gives it back.
pub struct TerminalModes(());

impl TerminalModes {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it has no such modes.
    pub fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                give_back();
                before(info);
            }));
        });
        take_lines()?;
        // Else it takes the line feed of Ctrl-J for Enter, as a terminal sends it that is not raw.
        terminal::enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        write(&[ENTER])?;
        Ok(Self(()))
    }

    /// Takes the terminal once more, in whatever state others left it; gives what is to be written to it
    /// then. It is never anybody else's on the way, since a terminal shows what is typed then. Who may
    /// not have it is stopped here, before anything is written.
    ///
    /// # Errors
    /// When it has no such modes any more.
    pub fn take_again(&self) -> io::Result<String> {
        take_lines()?;
        // Back first: modes are kept on a stack by terminals that know them.
        let leave = leave_alternate();
        note_alternate(false);
        Ok([leave, LEAVE, ENTER].concat())
    }

    /// Gives the lines back and writes nothing, to a terminal that takes nothing.
    pub fn give_back_silently(self) {
        if ENTERED.swap(false, Ordering::SeqCst) {
            give_lines_back();
        }
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        give_back();
        if std::thread::panicking() {
            // What was on its way when the hook gave it back was written since.
            let _ = write(&[leave_alternate(), LEAVE]);
        }
    }
}

/// Has the terminal give every key as it is pressed.
fn take_lines() -> io::Result<()> {
    let stdin = io::stdin();
    let mut found = found();
    let mut modes = match &*found {
        Some(modes) => modes.clone(),
        None => found.insert(tcgetattr(&stdin)?).clone(),
    };
    modes.make_raw();
    Ok(tcsetattr(&stdin, OptionalActions::Now, &modes)?)
}

fn give_back() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing is left to be done about a terminal that does not listen.
    let _ = write(&[leave_alternate(), LEAVE]);
    give_lines_back();
}

/// What leaves the alternate screen, if it is shown; elsewhere it would move the cursor.
fn leave_alternate() -> &'static str {
    if ALTERNATE.load(Ordering::SeqCst) { LEAVE_ALTERNATE } else { "" }
}

fn give_lines_back() {
    if let Some(modes) = &*found() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    }
}

fn write(texts: &[&str]) -> io::Result<()> {
    StandardOutput.write_all(texts.concat().as_bytes())
}

/// A panic leaves nothing half done in here.
fn found() -> MutexGuard<'static, Option<Termios>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}
