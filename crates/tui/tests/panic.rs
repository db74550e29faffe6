//! A panic gives the terminal back before it says anything.

use std::fs::{File, OpenOptions};
use std::io::Read as _;

use heeler_tui::screen::TerminalModes;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

const LINES: LocalModes = LocalModes::ICANON.union(LocalModes::ECHO);

#[test]
#[ignore = "panics on the terminal that the test below gives it"]
fn panics_with_the_terminal_taken() {
    let _modes = TerminalModes::enter().unwrap();
    assert!(!tcgetattr(std::io::stdin()).unwrap().local_modes.intersects(LINES), "not taken");
    let beside = std::thread::spawn(|| panic!("in a thread of its own"));
    beside.join().unwrap_err();
    // Nothing is given back by what follows: it was, by the panic.
    std::process::exit(7);
}

#[test]
fn a_panic_anywhere_gives_the_terminal_back() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let side = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
    #[expect(clippy::disallowed_methods, reason = "this program again, on a terminal of its own")]
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "panics_with_the_terminal_taken", "--nocapture"]);
    command.stdin(side()).stdout(side()).stderr(side());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut master = File::from(master);
    let mut shown = Vec::new();
    // A terminal that everybody has left ends with an error.
    let _ = master.read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    assert_eq!(child.wait().unwrap().code(), Some(7), "{shown}");
    assert!(tcgetattr(&master).unwrap().local_modes.contains(LINES));
    let back = shown.find("\x1b[?2004l").expect("the modes are left");
    let said = shown.find("in a thread of its own").expect("the panic is told");
    assert!(back < said && shown.contains("\x1b[<u") && shown.contains("\x1b[?25h"), "{shown}");
}
