//! Who stands in a box and starts its commands: what it starts, and that nobody gets rid of it.

use std::fs;
use std::sync::Arc;

use heeler_sandbox::{Command, Confinement, Exit, Launcher, LauncherError};
use rustix::process::{Pid, Signal, kill_process};

use crate::family::{children, heir_and_others};
use crate::harness::Case;
use crate::place::{Ended, Place, VERSIONS};
use crate::processes::{assert_alive, kill, wait_dead};

pub(crate) const CASES: &[Case] = crate::cases![
    programs_are_found_as_outside,
    what_cannot_start_is_told_apart,
    a_command_begins_with_nothing_of_the_porter,
    nobody_in_the_box_reaches_the_porter,
    a_lost_porter_is_replaced,
    a_lost_reaper_is_replaced,
    a_porter_that_does_not_answer_is_replaced,
    the_porter_goes_with_its_launcher,
];

async fn outcome(place: &Place, command: Command) -> Result<Ended, LauncherError> {
    let command = command.confinement(Confinement::Box(Arc::new(place.confines())));
    let mut child = place.launcher.run(&command).await?;
    let output = crate::place::read_all(&mut child).await;
    let exit = child.wait().await?;
    Ok(Ended { output, exit, bound: None })
}

/// The first child of a launcher but its heir, before which nothing ran outside of the box.
async fn porter_of(launcher: &Launcher) -> u32 {
    heir_and_others(launcher.warm().await.unwrap()).1[0]
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

async fn programs_are_found_as_outside() {
    let place = Place::new();
    for (name, text, mode) in [
        ("bin/first", "echo a folder comes first\n", 0o644),
        ("more/first", "#!/bin/sh\necho \"$0 $*\"\n", 0o755),
    ] {
        use std::os::unix::fs::PermissionsExt;
        place.write(&format!("home/project/{name}"), text);
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.workspace.join(name), mode).unwrap();
    }
    let root = place.workspace.display();
    let path = format!("{root}/none:{root}/bin:{root}/more:/usr/bin:/bin");
    let command = |program: &str| {
        let env = [("PATH", "/none"), ("PATH", path.as_str())];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Command::new(program, &place.workspace).args(["a b", "c"]).env(env.to_vec())
    };
    // Found behind what may not be executed; by a path of its own; in the last folder.
    let expected = [
        ("first", format!("{root}/more/first a b c\n")),
        ("more/first", "more/first a b c\n".to_owned()),
        ("printenv", String::new()),
    ];
    for (program, output) in &expected {
        let free = place.finish(command(program)).await;
        let held = outcome(&place, command(program)).await.unwrap();
        assert_eq!((&free.output, free.exit), (output, held.exit), "{program}");
        assert_eq!(free.output, held.output, "{program}");
    }
}

async fn what_cannot_start_is_told_apart() {
    let place = Place::new();
    let said = async |command: Command| outcome(&place, command).await.unwrap_err().to_string();
    let missing = said(place.command("no-such-program", &[])).await;
    assert_eq!(missing, "there is no program `no-such-program`; check its name and PATH");
    let mut command = place.command("sh", &[]);
    command.cwd = place.home.join("nowhere");
    let cwd = command.cwd.display();
    let text = format!("cannot start in `{cwd}`: it is not a folder that can be entered");
    assert_eq!(said(command.clone()).await, text);
    command.cwd = place.home.join(".ssh");
    assert_eq!(
        said(command).await,
        "`sh` did not start: its folder in the box: Permission denied (os error 13)"
    );
    assert_eq!(
        said(place.command("sh", &["a\0b"])).await,
        "`sh` did not start: a zero byte stands in one of its texts"
    );
    assert!(said(place.command("src/main.rs", &[])).await.contains("Permission denied"));
    // None of this was the porter's fault.
    let porter = porter_of(&place.launcher).await;
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    assert_eq!(porter_of(&place.launcher).await, porter);
}

async fn a_command_begins_with_nothing_of_the_porter() {
    let place = Place::new();
    let script = "ls /proc/$$/fd; ulimit -c; awk '/^Sig(Blk|Cgt)/' /proc/self/status; \
                  trap; ps -o ppid= -p $$; ps -o pgid= -p $$ | grep -c -w $$";
    let launcher = place.launcher.warm().await.unwrap();
    let ended = outcome(&place, place.command("bash", &["-c", script])).await.unwrap();
    let expected = format!(
        "0\n1\n2\n0\nSigBlk:\t0000000000000000\nSigCgt:\t0000000000000000\n{launcher}\n1\n"
    );
    let said: Vec<&str> = ended.output.lines().map(str::trim).collect();
    assert_eq!(said, expected.lines().collect::<Vec<_>>());
    let pipe = place.command("bash", &["-c", "yes | head -n 1; echo ${PIPESTATUS[0]}"]);
    assert_eq!(outcome(&place, pipe).await.unwrap().output, "y\n141\n", "a broken pipe kills");
}

async fn nobody_in_the_box_reaches_the_porter() {
    for landlock in VERSIONS {
        let place = Place::on(landlock);
        assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
        let porter = porter_of(&place.launcher).await;
        let tries = [
            "kill -9 $P",
            "kill -STOP $P",
            "cat /proc/$P/environ",
            "readlink /proc/$P/fd/0",
            "ls /proc/$P/root/",
        ];
        for script in tries {
            let command = place.sh(&format!("P={porter}; {script} && echo reached"));
            let held = outcome(&place, command).await.unwrap();
            assert!(!held.output.contains("reached"), "{script}: {held:?}");
            assert_ne!(held.exit, Exit::Code(0), "{script}: {held:?}");
        }
        assert_alive(&[porter], true);
        assert_eq!(porter_of(&place.launcher).await, porter);
    }
}

async fn a_lost_reaper_is_replaced() {
    let place = Place::on(2);
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    let porter = porter_of(&place.launcher).await;
    let reaper = children(porter)[0];
    kill(reaper);
    wait_dead(&[reaper]);
    // Who cannot start anything any more says so and ends.
    let refused = outcome(&place, place.sh("true")).await.unwrap_err().to_string();
    assert!(refused.contains("Cannot allocate memory"), "{refused}");
    wait_dead(&[porter]);
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    assert_ne!(porter_of(&place.launcher).await, porter);
}

async fn a_lost_porter_is_replaced() {
    let place = Place::new();
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    let porter = porter_of(&place.launcher).await;
    kill(porter);
    wait_dead(&[porter]);
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    assert_ne!(porter_of(&place.launcher).await, porter);
}

async fn a_porter_that_does_not_answer_is_replaced() {
    let place = Place::new();
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    let porter = porter_of(&place.launcher).await;
    signal(porter, Signal::STOP);
    let refused = outcome(&place, place.sh("touch began")).await.unwrap_err().to_string();
    assert!(refused.contains("its box was lost"), "{refused}");
    wait_dead(&[porter]);
    assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
    assert!(!place.workspace.join("began").exists(), "what is refused does not run later");
}

async fn the_porter_goes_with_its_launcher() {
    for landlock in VERSIONS {
        let place = Place::on(landlock);
        assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
        let porter = porter_of(&place.launcher).await;
        let launcher = place.launcher.warm().await.unwrap();
        let reaper = children(porter);
        kill(launcher);
        wait_dead(&[&[launcher, porter], reaper.as_slice()].concat());
        let place = Place::on(landlock);
        assert!(outcome(&place, place.sh("true")).await.unwrap().exit.is_success());
        let porter = porter_of(&place.launcher).await;
        drop(place);
        wait_dead(&[porter]);
    }
}
