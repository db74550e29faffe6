//! Outliving a command: it works for a process that no launcher started, and in no box.

use std::io::Read;
use std::process::Stdio;

use heeler_sandbox::Confinement;

use crate::harness::Case;
use crate::place::{Place, VERSIONS};
use crate::processes::{assert_alive, kill, wait_dead};

pub(crate) const CASES: &[Case] = crate::cases![
    nothing_outlives_a_confined_command,
    nothing_outlives_the_launcher_of_a_confined_command,
];

/// Ways to be left behind; each prints the survivor's id as it is outside of every namespace.
const WAYS: [&str; 5] = [
    "sh -c 'read pid rest </proc/self/stat; echo $pid; exec sleep 1000' &",
    "(sh -c 'read pid rest </proc/self/stat; echo $pid; exec sleep 1000' &)",
    "setsid sh -c 'read pid rest </proc/self/stat; echo $pid; exec sleep 1000' &",
    "(setsid sh -c 'setsid sh -c \"read pid rest </proc/self/stat; echo \\$pid; exec sleep 1000\" &' &)",
    "sh -c 'trap \"\" TERM HUP INT; read pid rest </proc/self/stat; echo $pid; exec sleep 1000' &",
];

async fn nothing_outlives_a_confined_command() {
    for (way, landlock) in WAYS.iter().flat_map(|way| VERSIONS.map(|version| (way, version))) {
        let place = Place::on(landlock);
        let free = left_behind(way);
        assert_alive(&[free], true);
        kill(free);
        let script = format!("exec 3>&1; {{ {way} }} | {{ read pid; echo $pid >&3; }}");
        let command = place.sh(&script);
        let command = command.confinement(Confinement::Box(place.confines().into()));
        let mut child = place.launcher.run(&command).await.unwrap();
        let pid = read_pid(&mut child).await;
        assert_alive(&[pid], true);
        child.kill_tree().await.unwrap();
        assert_alive(&[pid], false);
    }
}

async fn nothing_outlives_the_launcher_of_a_confined_command() {
    for landlock in VERSIONS {
        let place = Place::on(landlock);
        let launcher_pid = place.launcher.warm().await.unwrap();
        let script = "(setsid sh -c 'read pid rest </proc/self/stat; echo $pid; exec sleep 1000' &)
            exec sleep 1000";
        let command = place.sh(script).confinement(Confinement::Box(place.confines().into()));
        let mut child = place.launcher.run(&command).await.unwrap();
        let pid = read_pid(&mut child).await;
        assert_alive(&[pid, child.pid()], true);
        kill(launcher_pid);
        child.wait().await.unwrap_err();
        wait_dead(&[pid, child.pid()]);
    }
}

async fn read_pid(child: &mut heeler_sandbox::Child) -> u32 {
    let mut said = Vec::new();
    let mut output = child.take_output().unwrap();
    while !said.ends_with(b"\n") {
        said.extend(output.chunk().await.unwrap().unwrap());
    }
    String::from_utf8(said).unwrap().trim().parse().unwrap()
}

/// The process that stays when a plain one runs this and ends.
fn left_behind(way: &str) -> u32 {
    #[expect(clippy::disallowed_methods, reason = "what no launcher started")]
    let mut command = std::process::Command::new("sh");
    let mut child = command.args(["-c", way]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = Vec::new();
    let mut output = child.stdout.take().unwrap();
    while !said.ends_with(b"\n") {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        said.extend(byte);
    }
    child.wait().unwrap();
    String::from_utf8(said).unwrap().trim().parse().unwrap()
}
