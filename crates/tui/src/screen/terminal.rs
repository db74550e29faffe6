//! The modes of the real terminal, and giving it back as it was found.

use std::io::{self, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal;

/// Pasted text comes in marks of its own; keys come with all their modifiers, where the terminal
/// knows how (others pass over the second).
const ENTER: &str = "\x1b[?2004h\x1b[>1u";
/// Everything back, in whatever state it is: an update that was cut off, a hidden cursor, a style.
const LEAVE: &str = "\x1b[?2026l\x1b[<u\x1b[?2004l\x1b[m\x1b[?25h";

/// Whether the modes are ours, and whether the alternate screen is shown: a panic asks for both from
/// any thread.
static ENTERED: AtomicBool = AtomicBool::new(false);
static ALTERNATE: AtomicBool = AtomicBool::new(false);

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
        terminal::enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Self(()))
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing is left to be done about a terminal that does not listen.
    let mut out = io::stdout();
    if ALTERNATE.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(super::LEAVE_ALTERNATE.as_bytes());
    }
    let _ = out.write_all(LEAVE.as_bytes());
    let _ = out.flush();
    let _ = terminal::disable_raw_mode();
}
