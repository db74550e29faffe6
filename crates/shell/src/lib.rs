//! Understands command lines of bash: what a line can run, what it writes, and why somebody must be
//! asked before it runs.
//!
//! ```
//! use heeler_shell::{Place, read};
//!
//! let place = Place { workspace: "/space/project", home: Some("/home/user"), temp: None };
//! let line = read("cargo test 2>&1 | tail -20; git push", &place);
//! assert_eq!(line.concerns[0].why, "git push talks to another repository");
//! assert!(read("git status", &place).is_read_only);
//! ```
//!
//! It judges for a box that already keeps a command from the network and from writing elsewhere, so
//! what it names is what the box cannot mend: work that is lost where writing is allowed, lines that
//! say they leave the box, what decides which program runs, and what is not understood. Two parsers
//! read each line, and where they see different commands it counts as not understood. What programs
//! do is data: [`programs`](../src/heeler_shell/programs/mod.rs.html), one table a family.
//!
//! Invariant: nothing here does I/O, panics, or takes longer than its limits let it, whatever it is
//! given; and it never runs anything.

mod environment;
mod judge;
mod languages;
mod line;
mod parse;
mod place;
mod programs;
mod reader;
mod second;
mod word;

pub use line::{Command, Concern, ConcernKind, LINES_TAKEN, Line};
pub use place::{PROTECTED_NAMES, Place};

/// The longest line that is read, in bytes.
pub const LINE_BYTES_MAX: usize = 128 * 1024;
/// How deep constructs of the shell may be nested in each other.
pub const DEPTH_MAX: usize = 16;
/// How many simple commands a line may hold, those in its scripts and substitutions included.
pub const COMMANDS_MAX: usize = 1_000;
/// How many words these may have together: each command that runs another has the words of that, too.
pub const WORDS_MAX: usize = 100_000;
/// How many commands may run each other with the words behind them (`env nice timeout 5 ls`).
pub const WRAPPED_DEPTH_MAX: usize = 16;
/// How many lines within lines (`sh -c`, `eval`, here-documents for shells) may be nested.
pub const SCRIPTS_DEPTH_MAX: usize = 8;

/// Says what a command line can run, where it writes, and why it must be asked about.
///
/// Never fails: what cannot be understood is a concern.
pub fn read(line: &str, place: &Place<'_>) -> Line {
    reader::read(line, place)
}
