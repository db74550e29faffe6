//! A box that is made before anybody has a command for it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heeler_sandbox::{Command, Confinement, Confines};

use crate::family::{children, heir_and_others};
use crate::harness::Case;
use crate::place::{Place, read_all};

/// Makes this executable start its launcher as a copy of itself, which takes one thread, have it make
/// a box, and run a command in the box of the second argument.
pub(crate) const OWNER_MODE: &str = "--be-an-owner";

pub(crate) const CASES: &[Case] = crate::cases![
    the_first_command_finds_the_box_that_was_made_ahead,
    a_box_that_cannot_be_made_ahead_is_told_to_its_command,
    a_command_of_another_box_has_its_own,
];

async fn the_first_command_finds_the_box_that_was_made_ahead() {
    check("the same", "made ahead: true, kept: true, boxes: 1, read: notes\n");
}

async fn a_box_that_cannot_be_made_ahead_is_told_to_its_command() {
    let told = said_by("none");
    assert!(told.contains("made ahead: false, kept: false, boxes: 0"), "{told}");
    assert!(told.contains("it cannot be confined"), "{told}");
    assert!(told.contains("missing"), "{told}");
}

async fn a_command_of_another_box_has_its_own() {
    check("another", "made ahead: true, kept: true, boxes: 2, read: \n");
}

fn check(command_in: &str, expected: &str) {
    assert_eq!(said_by(command_in), expected);
}

/// What an owner says whose command is in this box.
fn said_by(command_in: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "an owner of a launcher has none yet")]
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap());
    owner.args([OWNER_MODE, command_in]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = owner.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn be_owner(command_in: &str) {
    let place = Place::new();
    place.launcher.start_ahead();
    let ahead = match command_in {
        "none" => Confines { workspace: place.home.join("missing"), ..place.confines() },
        _ => place.confines(),
    };
    let ahead = Arc::new(ahead);
    place.launcher.make_box_ahead(&ahead);
    // Nobody has a command yet, so whoever stands in a box stands in this one.
    let porter = match command_in {
        "none" => None,
        _ => Some(wait_for(|| children(launcher()?).first().copied())),
    };
    let confines = match command_in {
        "another" => {
            let notes = place.home.join("notes.txt");
            let mut another = place.confines();
            another.secrets.push(notes);
            Arc::new(another)
        }
        _ => ahead,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let command = place.sh("cat ../.netrc ../notes.txt 2>/dev/null");
        let read = read_in(&place, &command.confinement(Confinement::Box(confines))).await;
        let porters = launcher().map_or_else(Vec::new, |launcher| heir_and_others(launcher).1);
        let is_kept = porter.as_ref().is_some_and(|porter| porters.contains(porter));
        let (is_ahead, n) = (porter.is_some(), porters.len());
        println!("made ahead: {is_ahead}, kept: {is_kept}, boxes: {n}, read: {}", read.trim_end());
    });
}

/// The only process that this one started.
fn launcher() -> Option<u32> {
    children(std::process::id()).first().copied()
}

/// What a command reads, or why it cannot.
async fn read_in(place: &Place, command: &Command) -> String {
    match place.launcher.run(command).await {
        Ok(mut child) => {
            let read = read_all(&mut child).await;
            child.kill_tree().await.unwrap();
            read
        }
        Err(error) => error.to_string(),
    }
}

/// What comes within ten seconds.
fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "it never came");
        std::thread::yield_now();
    }
}
