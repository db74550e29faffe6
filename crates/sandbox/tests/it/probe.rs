//! What the machine can do is tried by the launcher, and told line by line.

use heeler_sandbox::Launcher;

use crate::harness::Case;

pub(crate) const CASES: &[Case] = crate::cases![this_machine_tells_what_it_can_do];

async fn this_machine_tells_what_it_can_do() {
    let launcher = Launcher::new();
    let probe = launcher.probe().await.unwrap();
    let names: Vec<&str> = probe.lines.iter().map(|line| line.name.as_str()).collect();
    let expected = ["Landlock", "namespaces", "signals", "seccomp", "limits", "bubblewrap"];
    assert_eq!(names, expected);
    assert!(probe.can_confine(), "the other tests need it: {:?}", probe.obstacle());
    assert_eq!(launcher.probe().await.unwrap(), probe, "it is known from then on");
    let older = Launcher::with_landlock_at_most(2).probe().await.unwrap();
    assert!(older.can_confine(), "{:?}", older.obstacle());
    assert!(older.lines[2].detail.starts_with("a namespace of processes"), "{older:?}");
    let oldest = Launcher::with_landlock_at_most(1).probe().await.unwrap();
    assert_eq!(oldest.obstacle().unwrap().name, "Landlock");
}
