//! Taking more of the machine than a box gives: each works unconfined, and ends at a stated bound.

use heeler_sandbox::{Bound, Confinement, Exit, Input, Limits};

use crate::harness::Case;
use crate::place::{Place, VERSIONS, read_all};

pub(crate) const CASES: &[Case] = crate::cases![
    memory_is_bounded,
    memory_in_shared_files_is_bounded,
    processes_are_bounded,
    a_fork_bomb_is_stopped,
    printing_is_bounded,
    writing_is_bounded,
    what_orphans_wrote_counts,
    room_on_the_disk_is_bounded,
    a_file_is_only_so_long,
    what_waits_is_looked_at_from_its_beginning_on,
];

const MEBIBYTE: u64 = 1 << 20;
/// More than others are likely to write to the same disk meanwhile.
const WRITTEN_BYTES_MAX: u64 = 64 * MEBIBYTE;

/// Runs this with confinement off, where it must reach its end, and on with these limits.
async fn check(script: &str, limits: Limits, expected: Bound) {
    let program = std::env::current_exe().unwrap();
    let command = |place: &Place| {
        let mut command = place.sh(script);
        command.env.push(("OWN".to_owned(), program.to_str().unwrap().to_owned()));
        command
    };
    let place = Place::new();
    let free = place.finish(command(&place)).await;
    assert_eq!((free.exit, free.bound.clone()), (Exit::Code(0), None), "{script}: {}", free.output);
    for landlock in VERSIONS {
        let place = Place::on(landlock);
        let mut confines = place.confines();
        confines.limits = limits;
        let held = command(&place).confinement(Confinement::Box(confines.into()));
        let held = place.finish(held).await;
        let output = &held.output[..held.output.len().min(200)];
        assert_eq!(held.bound, Some(expected.clone()), "{script}: {:?} {output}", held.exit);
        assert_ne!(held.exit, Exit::Code(0), "{script}");
    }
}

async fn memory_is_bounded() {
    let bytes_max = 64 * MEBIBYTE;
    let limits = Limits { resident_bytes_max: bytes_max, ..Limits::default() };
    check("\"$OWN\" --attempt memory", limits, Bound::Memory { bytes_max }).await;
}

async fn memory_in_shared_files_is_bounded() {
    let bytes_max = 64 * MEBIBYTE;
    let limits = Limits { resident_bytes_max: bytes_max, ..Limits::default() };
    check("\"$OWN\" --attempt 'shared files'", limits, Bound::Memory { bytes_max }).await;
}

async fn processes_are_bounded() {
    let limits = Limits { processes_max: 20, ..Limits::default() };
    let script = "for i in $(seq 40); do sleep 1 & done; wait";
    check(script, limits, Bound::Processes { count_max: 20 }).await;
}

async fn a_fork_bomb_is_stopped() {
    let limits = Limits { processes_max: 100, ..Limits::default() };
    // It ends by itself, for the time without a box: 2 to the power of 8, each in its own session.
    let script = "bomb() { if [ $1 = 0 ]; then exec sleep 2; fi
        setsid sh -c \"$self\" sh $(($1 - 1)) & setsid sh -c \"$self\" sh $(($1 - 1)) & wait; }
        bomb $1";
    let script = format!("export self='{script}'; sh -c \"$self\" sh 8");
    check(&script, limits, Bound::Processes { count_max: 100 }).await;
}

async fn printing_is_bounded() {
    let limits = Limits { written_bytes_max: WRITTEN_BYTES_MAX, ..Limits::default() };
    let script = "yes | head -c 300000000";
    check(script, limits, Bound::Written { bytes_max: WRITTEN_BYTES_MAX }).await;
}

async fn writing_is_bounded() {
    let limits = Limits { written_bytes_max: WRITTEN_BYTES_MAX, ..Limits::default() };
    let script = "for i in $(seq 50); do head -c 8000000 /dev/zero >f; done; sleep 1";
    check(script, limits, Bound::Written { bytes_max: WRITTEN_BYTES_MAX }).await;
}

async fn what_orphans_wrote_counts() {
    let limits = Limits { written_bytes_max: WRITTEN_BYTES_MAX, ..Limits::default() };
    // Each writer's parent is gone before it ends, and none lives long enough to write it all.
    let script = "for i in $(seq 20); do (head -c 8000000 /dev/zero >f &); sleep 0.05; done";
    check(script, limits, Bound::Written { bytes_max: WRITTEN_BYTES_MAX }).await;
}

async fn room_on_the_disk_is_bounded() {
    let limits = Limits { written_bytes_max: WRITTEN_BYTES_MAX, ..Limits::default() };
    // Nothing is written, so that only the room tells.
    let script = "for i in $(seq 20); do fallocate -l 16M f$i || exit 1; done; sleep 1";
    check(script, limits, Bound::Disk { bytes_max: WRITTEN_BYTES_MAX }).await;
}

async fn a_file_is_only_so_long() {
    let place = Place::new();
    let mut confines = place.confines();
    confines.limits.written_bytes_max = MEBIBYTE;
    let script = "truncate -s 2M f";
    assert_eq!(place.finish(place.sh(script)).await.exit, Exit::Code(0));
    std::fs::remove_file(place.workspace.join("f")).unwrap();
    let held = place.boxed_in(confines, place.sh(script)).await;
    assert_ne!(held.exit, Exit::Code(0), "{held:?}");
}

async fn what_waits_is_looked_at_from_its_beginning_on() {
    let place = Place::new();
    let mut confines = place.confines();
    confines.limits.written_bytes_max = WRITTEN_BYTES_MAX;
    let waits = place.sh("read -r line; eval \"$line\"").input(Input::Pipe);
    let waits = waits.confinement(Confinement::Box(confines.into()));
    let mut child = place.launcher.run_waiting(&waits).await.unwrap();
    let launcher = place.launcher.warm().await.unwrap();
    let before = times_woken(launcher);
    // Half a second, in which a look every 20 ms would be 25.
    place.finish(place.sh("sleep 0.5")).await;
    let woken = times_woken(launcher) - before;
    assert!(woken < 12, "the launcher was woken {woken} times for one that waits");
    if !child.begin().await {
        child = place.begun(&waits).await;
    }
    child.take_input().unwrap().send(b"yes | head -c 300000000\n").await.unwrap();
    read_all(&mut child).await;
    child.kill_tree().await.unwrap();
    assert_eq!(child.bound(), Some(&Bound::Written { bytes_max: WRITTEN_BYTES_MAX }));
}

/// How often a process went on after it had waited; 0 where nobody tells it.
fn times_woken(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let woken = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    woken.map_or(0, |woken| woken.trim().parse().unwrap())
}
