//! The built `heeler` in a terminal whose screen a test can read.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use expect_test::Expect;
use regex::Regex;
use rustix::fs::OFlags;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::support::{PATIENCE, World, can_confine, program};

/// Rows above the screen that are kept.
const SCROLLBACK: usize = 10_000;

/// Who writes nothing for so long is done, when expectations are written anew.
const SETTLED: Duration = Duration::from_millis(700);

/// What is another each time, and what stands for it.
fn changing() -> Vec<(Regex, &'static str)> {
    let changing = [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"\b01[0-9a-f]{6}\b", "ID"),
        ("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠋"),
        // How long a turn took is told of long ones alone.
        (r"(?m)^· [0-9.]+ s(, \d+ calls?)?\n\n?", ""),
        (r"(?m)^([✓✗⠋] .*) · [0-9.]+ s$", "$1"),
        (r"working \d+ s", "working"),
        (r"(?m)^(▸ |  |choice 1 of 1:  )\d+ s  ", "${1}_ s  "),
        ("not confined", "confined"),
        // The prompt names the folder, so a token more or less is no news.
        (r"(about|now) \d+", "$1 _"),
        (r"\d+( tokens| before)", "_$1"),
        (r"[█▓▒░]{8} \d+%", "░░░░░░░░ _%"),
        (r"(?m) +$", ""),
    ];
    let compiled = |(what, always)| (Regex::new(what).unwrap(), always);
    changing.into_iter().map(compiled).collect()
}

/// A person at a terminal.
pub(crate) struct Glass {
    child: Child,
    master: File,
    /// The name of the terminal's other side.
    side: String,
    /// The folder of the world.
    root: String,
    changing: Vec<(Regex, &'static str)>,
    shown: Arc<Shown>,
}

struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    terminal: vt100::Parser,
    /// Everything the program wrote, in its own bytes.
    bytes: Vec<u8>,
    /// Whether nothing more comes.
    is_over: bool,
    /// Whether nobody reads what comes.
    is_away: bool,
}

impl Glass {
    /// Starts `heeler` with these arguments in a terminal of this size.
    pub(crate) fn open(world: &World, columns: u16, rows: u16, arguments: &[&str]) -> Self {
        Self::open_with(world, columns, rows, arguments, &[])
    }

    /// As `open`, with these variables.
    pub(crate) fn open_with(
        world: &World,
        columns: u16,
        rows: u16,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        // Or the programs of other tests hold the terminal open when nobody is there any more.
        fcntl_setfd(&master, FdFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let side = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        tcsetwinsize(&master, size(columns, rows)).unwrap();
        let child = start(world, &side, arguments, variables);
        let master = File::from(master);
        let terminal = vt100::Parser::new(cells(rows), cells(columns), SCROLLBACK);
        let state =
            Mutex::new(State { terminal, bytes: Vec::new(), is_over: false, is_away: false });
        let shown = Arc::new(Shown { state, changed: Condvar::new() });
        let (reader, shows) = (master.try_clone().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || shows.follow(reader));
        let root = world.path("").display().to_string().trim_end_matches('/').to_owned();
        Self { child, master, side, root, changing: changing(), shown }
    }

    /// Kills it, as nobody can refuse, and starts another one as a shell on the same terminal would,
    /// which speaks of the death first.
    pub(crate) fn starts_again(&mut self, world: &World, arguments: &[&str]) {
        let mut shell = OpenOptions::new().read(true).write(true).open(&self.side).unwrap();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        shell.write_all(b"\r\nKilled\r\n$ heeler\r\n").unwrap();
        self.child = start(world, &self.side, arguments, &[]);
    }

    /// Our side of the terminal, also after the program is gone.
    pub(crate) fn terminal(&self) -> File {
        self.master.try_clone().unwrap()
    }

    /// Waits until the program stands still, as Ctrl-Z has it.
    pub(crate) fn waits_until_stopped(&self) {
        waitid(WaitId::Pid(self.pid()), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT).unwrap();
    }

    /// The terminal as whoever started the program has it.
    pub(crate) fn side(&self) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        options.open(&self.side).unwrap()
    }

    /// What of that it wrote a terminal would obey and the window has no use for while `tui.bell` is
    /// off: the beginning of each such sequence.
    pub(crate) fn foreign(&self) -> Vec<String> {
        let bytes = self.bytes();
        let text = String::from_utf8_lossy(&bytes);
        // Modes that are entered and left, movement within the live region, erasing, styles, and the
        // question for the background.
        let own =
            r"^(\x1b\[(\?(2026|25|2004|1049)[hl]|>1u|<u|[0-9;]*[ABCHJKm])|\x1b\]11;\?\x1b\\|\r|\n)";
        let own = regex::Regex::new(own).unwrap();
        let mut foreign = Vec::new();
        let mut rest = &*text;
        while let Some(next) = rest.chars().next() {
            let length = own.find(rest).map_or(0, |found| found.end());
            if length == 0 && next.is_control() {
                foreign.push(rest.chars().take(20).collect());
            }
            rest = &rest[length.max(next.len_utf8())..];
        }
        foreign
    }

    /// Presses keys, as the bytes a terminal sends for them.
    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Has the terminal stand still, or take what was written to it meanwhile.
    pub(crate) fn stands_still(&self, is_away: bool) {
        self.shown.state.lock().unwrap().is_away = is_away;
        self.shown.changed.notify_all();
    }

    /// Pastes a text, as terminals mark it.
    pub(crate) fn pastes(&mut self, text: &str) {
        self.types(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Gives the terminal another size.
    pub(crate) fn resizes(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.master, size(columns, rows)).unwrap();
        let mut state = self.shown.state.lock().unwrap();
        state.terminal.screen_mut().set_size(cells(rows), cells(columns));
        drop(state);
        // The terminal is not the child's controlling one, so nobody else tells it.
        self.signals(Signal::WINCH);
    }

    pub(crate) fn signals(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// The process's number.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until the screen shows this text.
    #[track_caller]
    pub(crate) fn waits_for(&self, text: &str) {
        self.waits_until(|screen| screen.contains(text), text);
    }

    /// Waits until the screen shows this text so often.
    #[track_caller]
    pub(crate) fn waits_for_times(&self, text: &str, times: usize) {
        self.waits_until(|screen| screen.matches(text).count() == times, text);
    }

    /// Waits until the screen does not show this text.
    #[track_caller]
    pub(crate) fn waits_without(&self, text: &str) {
        self.waits_until(|screen| !screen.contains(text), text);
    }

    /// Waits until the screen is this one.
    #[track_caller]
    pub(crate) fn waits_for_screen(&self, expected: &str) {
        self.waits_until(|screen| lines(screen) == expected, expected);
    }

    /// Waits until the screen is this one, but for what is another each time.
    #[track_caller]
    pub(crate) fn shows(&self, expected: Expect) {
        let wanted = unindented(expected.data());
        let is_settled = match std::env::var_os("UPDATE_EXPECT") {
            None => self.comes_to(|screen| self.same(screen) == wanted),
            Some(_) => self.settles(),
        };
        if !is_settled || std::env::var_os("UPDATE_EXPECT").is_some() {
            expected.assert_eq(&self.same(&self.screen()));
        }
    }

    /// A screen as it is every time: folders, ids, times and ages aside, and whether this machine
    /// confines commands.
    fn same(&self, screen: &str) -> String {
        let mut same = screen.replace(&self.root, "/world");
        for (what, always) in &self.changing {
            same = what.replace_all(&same, *always).into_owned();
        }
        format!("{}\n", same.trim_end())
    }

    /// Whether nothing was written for a while.
    fn settles(&self) -> bool {
        loop {
            let state = self.shown.state.lock().unwrap();
            let n_bytes = state.bytes.len();
            let (state, waited) = self.shown.changed.wait_timeout(state, SETTLED).unwrap();
            if state.is_over || (waited.timed_out() && state.bytes.len() == n_bytes) {
                return true;
            }
        }
    }

    #[track_caller]
    fn waits_until(&self, is_so: impl Fn(&str) -> bool, what: &str) {
        let came = self.comes_to(is_so);
        assert!(came, "waited for `{what}`:\n{}", self.screen());
    }

    /// Waits until this is so of the screen; `false` when it does not come to it.
    fn comes_to(&self, is_so: impl Fn(&str) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shown.state.lock().unwrap();
        loop {
            if is_so(&state.terminal.screen().contents()) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.is_over || left.is_zero() {
                return false;
            }
            state = self.shown.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// The screen, a line a row, without what is empty at the end.
    pub(crate) fn screen(&self) -> String {
        let state = self.shown.state.lock().unwrap();
        lines(&state.terminal.screen().contents())
    }

    /// Where the cursor is, column and row from 0; `None` while it is hidden.
    pub(crate) fn cursor(&self) -> Option<(u16, u16)> {
        let state = self.shown.state.lock().unwrap();
        let screen = state.terminal.screen();
        let (row, column) = screen.cursor_position();
        (!screen.hide_cursor()).then_some((column, row))
    }

    /// Everything above the screen and on it.
    pub(crate) fn everything(&self) -> String {
        let mut state = self.shown.state.lock().unwrap();
        let screen = state.terminal.screen_mut();
        let columns = screen.size().1.into();
        screen.set_scrollback(usize::MAX);
        let n_above = screen.scrollback();
        let mut text = String::new();
        for above in (1..=n_above).rev() {
            screen.set_scrollback(above);
            let row = screen.rows(0, columns).next().unwrap_or_default();
            text += &format!("{}\n", row.trim_end());
        }
        screen.set_scrollback(0);
        text + &screen.contents()
    }

    /// What the program wrote since it began, in its own bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.shown.state.lock().unwrap().bytes.clone()
    }

    /// The colour of the first cell on the screen that shows this.
    pub(crate) fn color_of(&self, text: &str) -> vt100::Color {
        let state = self.shown.state.lock().unwrap();
        let screen = state.terminal.screen();
        let (rows, columns) = screen.size();
        let found = (0..).zip(screen.rows(0, columns.into())).find_map(|(row, shown)| {
            let at = shown.find(text)?;
            Some((row, u16::try_from(shown[..at].chars().count()).unwrap()))
        });
        let (row, column) = found.unwrap_or_else(|| panic!("`{text}` is not among {rows} rows"));
        screen.cell(row, column).unwrap().fgcolor()
    }

    /// How many bytes the program wrote so far.
    pub(crate) fn n_bytes(&self) -> usize {
        self.shown.state.lock().unwrap().bytes.len()
    }

    /// Waits until the program wrote more than so many bytes.
    #[track_caller]
    pub(crate) fn waits_for_more(&self, n_bytes: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shown.state.lock().unwrap();
        while state.bytes.len() <= n_bytes {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!state.is_over && !left.is_zero(), "nothing more is written");
            state = self.shown.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for the end of the program alone, while others keep the terminal; gives the exit code.
    pub(crate) fn exits(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Waits for the end; gives the exit code.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let mut state = self.shown.state.lock().unwrap();
        while !state.is_over {
            state = self.shown.changed.wait(state).unwrap();
        }
        let screen = state.terminal.screen().contents();
        (status.code().unwrap_or(-1), screen)
    }

    /// Waits for the end; gives the exit code and everything it wrote.
    pub(crate) fn everything_after_end(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let mut state = self.shown.state.lock().unwrap();
        while !state.is_over {
            state = self.shown.changed.wait(state).unwrap();
        }
        let bytes = String::from_utf8_lossy(&state.bytes).into_owned();
        (status.code().unwrap_or(-1), bytes)
    }

    /// Kills it, as nobody can refuse.
    pub(crate) fn dies(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Glass {
    fn drop(&mut self) {
        // A test that failed leaves no program behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shown {
    /// Reads what the program writes until it has gone.
    fn follow(&self, mut reader: File) {
        let mut bytes = [0; 8192];
        loop {
            // A terminal that everybody has left ends with an error.
            let n = reader.read(&mut bytes).unwrap_or(0);
            let mut state = self.state.lock().unwrap();
            while state.is_away {
                state = self.changed.wait(state).unwrap();
            }
            state.terminal.process(&bytes[..n]);
            state.bytes.extend(&bytes[..n]);
            state.is_over = n == 0;
            self.changed.notify_all();
            if n == 0 {
                return;
            }
        }
    }
}

/// Starts the program on this terminal.
fn start(world: &World, side: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Child {
    let mut command = program(env!("CARGO_BIN_EXE_heeler"));
    command.args(arguments);
    // Who attaches takes what the owner has.
    if !can_confine() && arguments.first() != Some(&"attach") {
        command.arg("--no-sandbox");
    }
    world.settle(&mut command);
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let side = || OpenOptions::new().read(true).write(true).open(side).unwrap();
    command.stdin(side()).stdout(side()).stderr(side());
    // As a shell starts it: who is alone in the world is not stopped by Ctrl-Z.
    command.process_group(0);
    // The ends that are kept for the child would keep the terminal open: they go with the command.
    command.spawn().unwrap()
}

/// Whether a terminal takes lines and shows what is typed, as a shell has it.
pub(crate) fn is_cooked(terminal: &File) -> bool {
    let modes = tcgetattr(terminal).unwrap().local_modes;
    modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
}

/// What was typed and is not read by anybody yet.
pub(crate) fn left(mut side: File) -> String {
    let mut modes = tcgetattr(&side).unwrap();
    modes.make_raw();
    tcsetattr(&side, OptionalActions::Now, &modes).unwrap();
    let mut bytes = [0; 1000];
    let n = side.read(&mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..n]).into_owned()
}

/// Has a terminal take lines, as a shell does when it has its own again.
pub(crate) fn cook(terminal: &File) {
    let mut modes = tcgetattr(terminal).unwrap();
    modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    tcsetattr(terminal, OptionalActions::Now, &modes).unwrap();
}

/// A text of the source as it is meant: without what all of its lines begin with.
fn unindented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let rows = || text.lines().filter(|row| !row.trim().is_empty());
    let indent = rows().map(|row| row.len() - row.trim_start().len()).min().unwrap_or_default();
    let text: String =
        text.lines().map(|row| format!("{}\n", row.get(indent..).unwrap_or(""))).collect();
    format!("{}\n", text.trim_end())
}

/// The rows of a screen, without what is empty at their ends.
fn lines(screen: &str) -> String {
    screen.lines().map(|row| format!("{}\n", row.trim_end())).collect()
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 }
}
