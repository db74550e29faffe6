//! The launcher with real processes: output, exits, errors, and that nothing survives.
#![expect(clippy::unwrap_used, reason = "a test without libtest's attribute is still a test")]

mod family;
mod harness;
mod processes;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use family::{children, heir_and_others};
use heeler_sandbox::{
    Child, Command, Confinement, Confines, Exit, Input, Killed, Launcher, LauncherError,
    OutputStream, Streams,
};
use processes::{assert_alive, is_alive, kill, wait_dead};

/// Makes this executable start a tree of processes, print their ids, and wait to be killed.
const PARENT_MODE: &str = "--be-a-parent";
/// And that its launcher is a copy of it.
const FORKED: &str = "forked";
/// And that its launcher is started ahead where it cannot be a copy any more: within a runtime.
const LATE: &str = "late";
/// And that what it starts is in a box.
const BOXED: &str = "boxed";

/// Leaves four processes behind that print their ids: in the background, forked twice, in a
/// session of their own, and forked twice in a session of their own.
const TREE: &str = "victim='read pid rest </proc/self/stat; echo $pid; exec sleep 1000'
    sh -c \"$victim\" &
    (sh -c \"$victim\" &)
    setsid sh -c \"$victim\" &
    (setsid sh -c \"$victim\" &)
    ";
const TREE_SIZE: usize = 4;

fn main() -> ExitCode {
    heeler_sandbox::launcher::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [PARENT_MODE] => be_a_parent(None),
        [PARENT_MODE, ahead] => be_a_parent(Some(ahead)),
        _ => {}
    }
    let mut cases = cases![
        output_and_exit_code_come_back,
        a_signal_is_an_exit_too,
        separate_streams_stay_separate,
        the_environment_is_exactly_what_was_given,
        input_is_empty_and_nothing_else_is_open,
        input_is_what_is_sent_until_its_end,
        it_runs_in_its_folder_group_and_without_a_terminal,
        a_missing_program_is_told_from_a_missing_folder,
        what_is_too_long_is_refused,
        ten_megabytes_arrive,
        output_may_close_before_the_end,
        a_launcher_that_is_none_is_refused,
        a_killed_launcher_is_replaced,
        a_thousand_commands_leak_nothing,
        more_commands_than_the_limit_are_refused,
        the_launcher_ends_with_its_last_handle,
        one_that_was_started_ahead_is_the_one_that_is_used,
        one_that_was_started_ahead_and_is_none_is_refused,
    ]
    .to_vec();
    if cfg!(target_os = "linux") {
        cases.extend_from_slice(cases![
            commands_may_have_huge_pages,
            kill_tree_reaches_what_detached_itself,
            kill_tree_reaches_what_outlived_its_command,
            drop_kills_too,
            dropping_a_start_kills_what_it_started,
            a_kill_spares_other_commands,
            a_killed_parent_takes_everything_along,
            a_parent_that_is_killed_with_its_launcher_does_too,
            without_an_heir_a_command_in_a_box_dies_with_both,
            a_forked_launcher_has_nothing_of_its_parent,
            a_launcher_below_a_launcher_is_killed_with_its_own,
        ]);
    }
    harness::run(&cases)
}

fn sh(script: &str) -> Command {
    let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    Command::new("sh", "/").args(["-c", script]).env(env)
}

async fn read_all(mut stream: OutputStream) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(chunk) = stream.chunk().await.unwrap() {
        all.extend(chunk);
    }
    all
}

/// Runs a command to its end: its output and exit.
async fn finish(launcher: &Launcher, command: &Command) -> (String, Exit) {
    let mut child = launcher.run(command).await.unwrap();
    let output = read_all(child.take_output().unwrap()).await;
    (String::from_utf8(output).unwrap(), child.wait().await.unwrap())
}

/// Reads process ids, one a line.
async fn read_pids(output: &mut OutputStream, count: usize) -> Vec<u32> {
    let mut text = Vec::new();
    while text.iter().filter(|byte| **byte == b'\n').count() < count {
        text.extend(output.chunk().await.unwrap().unwrap());
    }
    parse_pids(&String::from_utf8(text).unwrap())
}

fn parse_pids(text: &str) -> Vec<u32> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

async fn start_tree(launcher: &Launcher, then: &str) -> (Child, OutputStream, Vec<u32>) {
    start_tree_in(launcher, then, &Confinement::None).await
}

async fn start_tree_in(
    launcher: &Launcher,
    then: &str,
    confinement: &Confinement,
) -> (Child, OutputStream, Vec<u32>) {
    let command = sh(&format!("{TREE}{then}")).confinement(confinement.clone());
    let mut child = launcher.run(&command).await.unwrap();
    let mut output = child.take_output().unwrap();
    let pids = read_pids(&mut output, TREE_SIZE).await;
    (child, output, pids)
}

async fn output_and_exit_code_come_back() {
    let launcher = Launcher::new();
    let command = sh("echo out; echo err >&2; echo again; exit 7");
    let expected = ("out\nerr\nagain\n".to_owned(), Exit::Code(7));
    assert_eq!(finish(&launcher, &command).await, expected);
    let mut child = launcher.run(&sh("true")).await.unwrap();
    assert!(child.wait().await.unwrap().is_success());
    assert!(child.wait().await.unwrap().is_success(), "may be asked again");
}

async fn a_signal_is_an_exit_too() {
    let (_, exit) = finish(&Launcher::new(), &sh("kill -TERM $$")).await;
    assert_eq!((exit, exit.to_string().as_str()), (Exit::Signal(15), "signal 15"));
}

async fn separate_streams_stay_separate() {
    let command = sh("echo out; echo err >&2").streams(Streams::Separate);
    let mut child = Launcher::new().run(&command).await.unwrap();
    assert_eq!(read_all(child.take_output().unwrap()).await, b"out\n");
    assert_eq!(read_all(child.take_errors().unwrap()).await, b"err\n");
    assert!(child.take_output().is_none());
}

async fn the_environment_is_exactly_what_was_given() {
    let path = std::env::var("PATH").unwrap();
    let env = [("A", "1"), ("B", "zwei \u{fc}\n"), ("PATH", path.as_str())];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let (output, _) = finish(&Launcher::new(), &Command::new("env", "/").env(env)).await;
    let mut lines: Vec<&str> = output.split_terminator('\n').collect();
    lines.sort_unstable();
    let path = format!("PATH={path}");
    assert_eq!(lines, ["", "A=1", "B=zwei \u{fc}", path.as_str()]);
}

async fn input_is_empty_and_nothing_else_is_open() {
    // Open in this process without close-on-exec, as what a parent of ours may leave us.
    let _stray = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let launcher = Launcher::new();
    assert_eq!(finish(&launcher, &sh("wc -c")).await.0.trim(), "0");
    // The listing itself takes the number 3.
    let (output, _) = finish(&launcher, &sh("exec ls /dev/fd/")).await;
    assert_eq!(output.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

async fn commands_may_have_huge_pages() {
    // As an allocator does that keeps this process small.
    rustix::thread::disable_transparent_huge_pages(true).unwrap();
    let command = sh("grep THP_enabled /proc/self/status || echo THP_enabled: 1");
    let (output, _) = finish(&Launcher::new(), &command).await;
    assert_eq!(output.split_whitespace().collect::<Vec<_>>(), ["THP_enabled:", "1"]);
    rustix::thread::disable_transparent_huge_pages(false).unwrap();
}

async fn input_is_what_is_sent_until_its_end() {
    let launcher = Launcher::new();
    for streams in [Streams::Merged, Streams::Separate] {
        let command = sh("cat; echo end; echo err >&2").input(Input::Pipe).streams(streams);
        let mut child = launcher.run(&command).await.unwrap();
        let mut input = child.take_input().unwrap();
        assert!(child.take_input().is_none());
        let mut output = child.take_output().unwrap();
        for text in ["one", "two"] {
            input.send(text.as_bytes()).await.unwrap();
            assert_eq!(output.chunk().await.unwrap().unwrap(), text.as_bytes());
        }
        drop(input);
        let mut rest = read_all(output).await;
        if let Some(errors) = child.take_errors() {
            rest.extend(read_all(errors).await);
        }
        assert_eq!(String::from_utf8(rest).unwrap(), "end\nerr\n");
    }
    let mut child = launcher.run(&sh("exit").input(Input::Pipe)).await.unwrap();
    child.wait().await.unwrap();
    assert!(child.take_input().unwrap().send(b"unheard").await.is_err());
    assert!(launcher.run(&sh("true")).await.unwrap().take_input().is_none());
}

async fn it_runs_in_its_folder_group_and_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut command = sh("pwd -P; ps -o pgid= -p $$; (: </dev/tty) 2>/dev/null || echo no tty");
    command.cwd = folder.clone();
    let mut child = Launcher::new().run(&command).await.unwrap();
    let output = String::from_utf8(read_all(child.take_output().unwrap()).await).unwrap();
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    assert_eq!(lines, [folder.to_str().unwrap(), &child.pid().to_string(), "no tty"]);
}

async fn a_missing_program_is_told_from_a_missing_folder() {
    let launcher = Launcher::new();
    let error = launcher.run(&Command::new("no-such-program", "/")).await.err().unwrap();
    assert_eq!(error.to_string(), "there is no program `no-such-program`; check its name and PATH");
    let error = launcher.run(&Command::new("/bin/sh", "/no/such/folder")).await.err().unwrap();
    assert_eq!(error, LauncherError::FolderNotFound { cwd: "/no/such/folder".into() });
    let error = launcher.run(&Command::new("/etc", "/")).await.err().unwrap();
    assert!(matches!(error, LauncherError::Refused { .. }), "{error}");
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
}

async fn what_is_too_long_is_refused() {
    let launcher = Launcher::new();
    let long = |length: usize| Command::new("/bin/echo", "/").args(["x".repeat(length)]);
    let error = launcher.run(&long(5 * 1024 * 1024)).await.err().unwrap();
    assert_eq!(error, LauncherError::TooLong { bytes_max: 4 * 1024 * 1024 });
    let error = launcher.run(&long(3 * 1024 * 1024)).await.err().unwrap();
    assert!(matches!(error, LauncherError::Refused { .. }), "{error}");
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
}

async fn ten_megabytes_arrive() {
    const BYTES: usize = 10 * 1024 * 1024;
    let command = sh(&format!("head -c {BYTES} /dev/zero | tr '\\0' x; echo end"));
    let (output, exit) = finish(&Launcher::new(), &command).await;
    assert_eq!((output.len(), exit), (BYTES + 4, Exit::Code(0)));
    assert!(output.ends_with("xend\n") && output[..BYTES].bytes().all(|byte| byte == b'x'));
}

async fn output_may_close_before_the_end() {
    let launcher = Launcher::new();
    let mut child = launcher.run(&sh("echo hi; exec >&- 2>&-; exec sleep 1000")).await.unwrap();
    assert_eq!(read_all(child.take_output().unwrap()).await, b"hi\n");
    let early = tokio::time::timeout(std::time::Duration::ZERO, child.wait()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(child.kill_tree().await, Ok(Killed { n_killed: 0, n_survivors: 0 }));
    assert_eq!(child.wait().await, Ok(Exit::Signal(9)));
}

async fn a_launcher_that_is_none_is_refused() {
    for program in ["/bin/true", "/no/such/launcher"] {
        let error = Launcher::with_program(program).run(&sh("true")).await.err().unwrap();
        assert!(matches!(error, LauncherError::NotStarted { .. }), "{error}");
        assert!(error.to_string().contains(program), "{error}");
    }
    let installed = Launcher::with_program(std::env::current_exe().unwrap());
    assert_eq!(finish(&installed, &sh("echo fine")).await.0, "fine\n");
}

async fn a_killed_launcher_is_replaced() {
    let launcher = Launcher::new();
    let first = launcher.warm().await.unwrap();
    let (mut child, _output, pids) = start_tree(&launcher, "wait").await;
    kill(first);
    assert_eq!(child.wait().await, Err(LauncherError::Gone));
    assert_eq!(child.kill_tree().await, Err(LauncherError::Gone));
    if cfg!(target_os = "linux") {
        assert_alive(&pids, false);
    }
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
    assert_ne!(launcher.warm().await.unwrap(), first);
}

async fn a_thousand_commands_leak_nothing() {
    const COUNT: usize = 1000;
    let launcher = Launcher::new();
    let pid = launcher.warm().await.unwrap();
    let open_files = |pid: &str| match fs::read_dir(Path::new("/proc").join(pid).join("fd")) {
        Ok(entries) => entries.count(),
        Err(_) => 0,
    };
    let before = open_files("self") + open_files(&pid.to_string());
    for _ in 0..COUNT {
        let mut child = launcher.run(&sh("exit 3")).await.unwrap();
        assert_eq!(child.wait().await, Ok(Exit::Code(3)));
    }
    let mut last = launcher.run(&sh("true")).await.unwrap();
    last.kill_tree().await.unwrap();
    drop(last);
    let after = open_files("self") + open_files(&pid.to_string());
    // The launcher opens a few files of its own while it looks for what is left of a command, and
    // may be at it when they are counted. A leak would be one for each command, or for each tenth.
    assert!(after < before + COUNT / 10, "{before} files before, {after} after");
    if cfg!(target_os = "linux") {
        assert_eq!(heir_and_others(pid).1, [0; 0]);
    }
}

async fn more_commands_than_the_limit_are_refused() {
    let launcher = Launcher::new();
    let mut children = Vec::new();
    for _ in 0..256 {
        children.push(launcher.run(&Command::new("/bin/sleep", "/").args(["1000"])).await.unwrap());
    }
    let error = launcher.run(&sh("true")).await.err().unwrap();
    assert_eq!(error.to_string(), "256 commands run already; wait until one ends");
    children.pop().unwrap().kill_tree().await.unwrap();
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
}

async fn the_launcher_ends_with_its_last_handle() {
    let launcher = Launcher::new();
    let pid = launcher.warm().await.unwrap();
    let mut child = launcher.clone().run(&sh("echo $$; exec sleep 1000")).await.unwrap();
    let mut output = child.take_output().unwrap();
    let pids = read_pids(&mut output, 1).await;
    drop(launcher);
    assert_alive(&pids, true);
    drop(child);
    wait_dead(&[pid, pids[0]]);
}

async fn one_that_was_started_ahead_is_the_one_that_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (program, starts) = (folder.path().join("program"), folder.path().join("starts"));
    let own = std::env::current_exe().unwrap();
    let text =
        format!("#!/bin/sh\necho one >> '{}'\nexec '{}' \"$@\"\n", starts.display(), own.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let launcher = Launcher::with_program(program);
    launcher.start_ahead();
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
    assert_eq!(fs::read_to_string(&starts).unwrap(), "one\n");
    // As of any other, when it dies another one takes its place.
    let pid = launcher.warm().await.unwrap();
    kill(pid);
    wait_dead(&[pid]);
    assert_eq!(finish(&launcher, &sh("echo fine")).await.0, "fine\n");
    assert_eq!(fs::read_to_string(&starts).unwrap(), "one\none\n");
}

async fn one_that_was_started_ahead_and_is_none_is_refused() {
    let launcher = Launcher::with_program("/bin/true");
    launcher.start_ahead();
    let error = launcher.run(&sh("true")).await.err().unwrap();
    assert!(matches!(error, LauncherError::NotStarted { .. }), "{error}");
}

async fn kill_tree_reaches_what_detached_itself() {
    let launcher = Launcher::new();
    let (mut child, output, pids) = start_tree(&launcher, "wait").await;
    assert_alive(&pids, true);
    let killed = child.kill_tree().await.unwrap();
    // A shell in between may be on its way out.
    assert!(killed.n_killed >= TREE_SIZE && killed.n_survivors == 0, "{killed:?}");
    assert_alive(&pids, false);
    assert_eq!(child.wait().await, Ok(Exit::Signal(9)));
    assert_eq!(read_all(output).await, b"");
}

async fn kill_tree_reaches_what_outlived_its_command() {
    let launcher = Launcher::new();
    let (mut child, _output, pids) = start_tree(&launcher, "exit 5").await;
    assert_eq!(child.wait().await, Ok(Exit::Code(5)));
    assert_alive(&pids, true);
    assert_eq!(child.kill_tree().await, Ok(Killed { n_killed: TREE_SIZE, n_survivors: 0 }));
    assert_alive(&pids, false);
}

async fn drop_kills_too() {
    let launcher = Launcher::new();
    for then in ["wait", "exit 5"] {
        let (child, output, pids) = start_tree(&launcher, then).await;
        drop(child);
        assert_eq!(read_all(output).await, b"");
        wait_dead(&pids);
    }
}

async fn dropping_a_start_kills_what_it_started() {
    let launcher = Launcher::new();
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("pid");
    launcher.warm().await.unwrap();
    make_fifo(&fifo);
    let command = sh(&format!("echo $$ >{}; exec sleep 1000", fifo.display()));
    // One poll sends the order; the answer is hardly ever heard, and if so it is dropped too.
    drop(tokio::time::timeout(std::time::Duration::ZERO, launcher.run(&command)).await);
    // Either it was killed before it wrote, or it wrote and was killed then. A writer of our own
    // lets the reading end.
    let mut both = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    let (output, _) = finish(&launcher, &sh("echo later")).await;
    assert_eq!(output, "later\n");
    std::io::Write::write_all(&mut both, b"end\n").unwrap();
    let mut lines = BufReader::new(both).lines().map(Result::unwrap);
    let pids = lines.by_ref().take_while(|line| line != "end").collect::<Vec<_>>().join("\n");
    wait_dead(&parse_pids(&pids));
}

async fn a_kill_spares_other_commands() {
    let launcher = Launcher::new();
    let (mut killed, _output, killed_pids) = start_tree(&launcher, "exit").await;
    let (_spared, _other_output, spared_pids) = start_tree(&launcher, "exit").await;
    killed.kill_tree().await.unwrap();
    assert_alive(&killed_pids, false);
    assert_alive(&spared_pids, true);
}

async fn a_killed_parent_takes_everything_along() {
    for arguments in [&[PARENT_MODE][..], &[PARENT_MODE, FORKED], &[PARENT_MODE, LATE]] {
        let (mut parent, pids) = start_parent(arguments);
        assert_alive(&pids, true);
        parent.kill().unwrap();
        wait_dead(&pids);
        parent.wait().unwrap();
    }
}

async fn a_parent_that_is_killed_with_its_launcher_does_too() {
    for ahead in [&[][..], &[FORKED], &[LATE], &[BOXED]] {
        for parent_first in [true, false] {
            let (mut parent, mut pids) = start_parent(&[&[PARENT_MODE], ahead].concat());
            let launcher = *pids.last().unwrap();
            assert_alive(&pids, true);
            pids.extend(children(launcher));
            // Who is stopped sees nothing of the other's death.
            let both = if parent_first { [parent.id(), launcher] } else { [launcher, parent.id()] };
            stop(both[1]);
            both.into_iter().for_each(kill);
            wait_dead(&pids);
            parent.wait().unwrap();
        }
    }
}

async fn without_an_heir_a_command_in_a_box_dies_with_both() {
    let (mut parent, pids) = start_parent(&[PARENT_MODE, BOXED]);
    let launcher = *pids.last().unwrap();
    let (heir, others) = heir_and_others(launcher);
    stop(parent.id());
    stop(launcher);
    // What lost its own parent is nobody's child that could be told of a death.
    let commands: Vec<u32> = others.into_iter().filter(|pid| !pids.contains(pid)).collect();
    [heir, launcher, parent.id()].into_iter().for_each(kill);
    wait_dead(&commands);
    parent.wait().unwrap();
    // Nobody is left to kill what those started.
    pids.into_iter().filter(|pid| is_alive(*pid)).for_each(kill);
}

/// Stops a process and waits until it stands still.
fn stop(pid: u32) {
    let process = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let stat = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    while !stat().rsplit_once(") ").unwrap().1.starts_with('T') {}
}

async fn a_forked_launcher_has_nothing_of_its_parent() {
    let (mut parent, pids) = start_parent(&[PARENT_MODE, FORKED]);
    let launcher = *pids.last().unwrap();
    let place = Path::new("/proc").join(launcher.to_string());
    let cmdline = fs::read_to_string(place.join("cmdline")).unwrap();
    let environment = fs::read(place.join("environ")).unwrap();
    let folder = fs::read_link(place.join("cwd")).unwrap();
    let (theirs, own) = (open_files(parent.id()), open_files(launcher));
    parent.kill().unwrap();
    wait_dead(&pids);
    parent.wait().unwrap();
    assert_eq!(cmdline.trim_end_matches('\0'), "heeler-launcher");
    assert!(environment.iter().all(|byte| *byte == 0), "{environment:?}");
    assert_eq!(folder, Path::new("/"));
    // Its parent's output above all, whose end somebody awaits.
    let shared: Vec<_> = own.iter().filter(|name| theirs.contains(name)).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

/// What tells the open files of a process from others.
fn open_files(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let names = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "/dev/null" && !name.starts_with("anon_inode")).collect()
}

/// A parent, and the ids of all it started, the launcher's last.
fn start_parent(arguments: &[&str]) -> (std::process::Child, Vec<u32>) {
    #[expect(clippy::disallowed_methods, reason = "a parent to be killed is no command")]
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(arguments)
        .env("KEY_OF_THE_PARENT", "not for others")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines().take(1 + 2 * TREE_SIZE);
    let pids = lines.map(|line| line.unwrap().parse().unwrap()).collect();
    (parent, pids)
}

async fn a_launcher_below_a_launcher_is_killed_with_its_own() {
    let launcher = Launcher::new();
    let program = std::env::current_exe().unwrap();
    let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    let command = Command::new(program, "/").args([PARENT_MODE]).env(env);
    let mut child = launcher.run(&command).await.unwrap();
    let mut output = child.take_output().unwrap();
    let pids = read_pids(&mut output, 1 + 2 * TREE_SIZE).await;
    assert_alive(&pids, true);
    let killed = child.kill_tree().await.unwrap();
    assert_eq!(killed.n_survivors, 0);
    assert_alive(&pids, false);
}

/// Starts two trees, prints their ids and the launcher's, and waits to be killed.
fn be_a_parent(ahead: Option<&str>) -> ! {
    let launcher = Launcher::new();
    let folder = std::env::temp_dir();
    let confinement = match ahead {
        Some(BOXED) => Confinement::Box(Confines::new(&folder, &folder).into()),
        _ => Confinement::None,
    };
    if ahead == Some(FORKED) {
        launcher.start_ahead();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if ahead == Some(LATE) {
            launcher.start_ahead();
        }
        let (_first, _output, mut pids) = start_tree_in(&launcher, "wait", &confinement).await;
        let (_second, _other_output, more) = start_tree_in(&launcher, "exit", &confinement).await;
        pids.extend(more);
        pids.push(launcher.warm().await.unwrap());
        pids.iter().for_each(|pid| println!("{pid}"));
        std::future::pending().await
    })
}

fn make_fifo(path: &Path) {
    #[expect(clippy::disallowed_methods, reason = "prepares the test")]
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}
