//! What stays quick where there is much of it: files behind `@`, sessions in a list.
//!
//! Nothing stands beside it: what a person notices has limits of its own.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::figure::{Budget, Figure, Values, millis};
use super::place::{Place, fill_folder};
use super::process::{again, run};
use super::server::{Order, Server};
use super::terminal::READY;
use super::tty::Tty;
use super::wire::answer;

/// Files that `@` looks through.
const FILES: usize = 100_000;
/// What the names of all of them end with; nothing else on the screen does.
const FILE_END: &str = ".txt";
/// Letters that few of their names have.
const LETTERS: &str = "f9999";
/// Sessions of a list.
const SESSIONS: usize = 10_000;
/// A window that writes nothing for so long has settled.
const QUIET: Duration = Duration::from_millis(500);

/// From `@` to the first files on the screen, in a window that has looked for none yet; and from the
/// last of some letters to the files they mean.
pub(super) fn files(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let folder = place.folder("files");
    fill_folder(&folder, FILES)?;
    let server = Server::start(vec![answer(0, &[])], Order::Counted)?;
    let window = place.window_in(&folder, server.url());
    let [mut first, mut early, mut known] = std::array::from_fn(|_| Values::default());
    for _ in 0..runs {
        let mut tty = settled(&window)?;
        let asked = tty.types("@")?;
        first.push(millis(tty.reads_until("folder-")? - asked));
        tty.reads_until_quiet(QUIET)?;
        let asked = tty.types(LETTERS)?;
        known.push(millis(tty.reads_until(FILE_END)? - asked));
        leave(tty)?;

        let mut tty = settled(&window)?;
        let asked = tty.types(&format!("@{LETTERS}"))?;
        early.push(millis(tty.reads_until(FILE_END)? - asked));
        leave(tty)?;
    }
    let most = Budget::AtMost(50.0);
    Ok(vec![
        figure("`@` to the first of 100,000 files", first, most),
        figure("letters to the first they mean of 100,000 files", known, most),
        figure("`@` and letters at once, before the files were looked up", early, Budget::None),
    ])
}

/// All sessions of a home, told by `heeler sessions list`: for the first time, and after it.
pub(super) fn sessions(place: &Place, runs: usize) -> Result<Vec<Figure>> {
    let home = place.folder("sessions");
    place.fill_store(&home, SESSIONS)?;
    let list = place.list(&home);
    let [mut anew, mut known] = std::array::from_fn(|_| Values::default());
    for _ in 0..runs {
        let index = home.join("sessions.index");
        if index.exists() {
            std::fs::remove_file(&index)?;
        }
        anew.push(millis(run(&mut again(&list))?.wall));
        known.push(millis(run(&mut again(&list))?.wall));
    }
    Ok(vec![
        figure("10,000 sessions listed", known, Budget::AtMost(100.0)),
        figure("10,000 sessions listed for the first time", anew, Budget::None),
    ])
}

fn settled(window: &Command) -> Result<Tty> {
    let mut tty = Tty::start(window)?;
    tty.reads_until(READY)?;
    tty.reads_until_quiet(QUIET)?;
    Ok(tty)
}

/// Leaves it, and what was written.
fn leave(mut tty: Tty) -> Result<()> {
    tty.types("\x15")?;
    tty.reads_until_quiet(QUIET)?;
    tty.leaves()
}

fn figure(name: &str, heeler: Values, budget: Budget) -> Figure {
    Figure { name: name.to_owned(), unit: "ms", reference: Values::default(), heeler, budget }
}
