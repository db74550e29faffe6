//! Two processes and one session; a process that is killed.

use heeler_core::{SessionStore, StoreErrorKind};
use heeler_store::FileStore;
use rustix::process::{Pid, Signal, kill_process};

use crate::children::start;
use crate::support::{StoreNow, entries, id, now};

/// What the other process does.
mod roles {
    use std::io::Read;

    use heeler_testkit::player::say;

    use crate::children::store_of_child;
    use crate::support::{StoreNow, entries, entry};

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn hold() {
        let store = store_of_child();
        let lease = store.take("a").unwrap();
        store.add(&lease, entries(1..=2)).unwrap();
        say("held");
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }

    #[test]
    #[ignore = "a role that other tests start in a process of its own"]
    fn append_forever() {
        let store = store_of_child();
        let lease = store.take("a").unwrap();
        let next = store.load("a").unwrap().entries.len() as u64 + 1;
        for seq in (next..).step_by(2) {
            store.add(&lease, vec![entry(seq), entry(seq + 1)]).unwrap();
            say(seq + 1);
        }
    }
}

#[test]
fn a_session_has_one_owner_among_processes_until_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    let mut owner = start("processes::roles::hold", folder.path());
    assert_eq!(owner.next_word(), "held");

    let busy = store.take("a").err().unwrap();
    assert!(
        busy.is_busy() && busy.to_string().contains("session a is in use; `heeler attach a`"),
        "{busy}"
    );
    assert_eq!(now(store.delete(id("a"))).unwrap_err().kind(), StoreErrorKind::Busy);
    assert_eq!(store.seqs("a"), [1, 2]);

    // A stopped owner still owns, and nobody waits for it.
    let pid = Pid::from_child(owner.child());
    kill_process(pid, Signal::STOP).unwrap();
    assert!(store.take("a").err().unwrap().is_busy());
    assert_eq!(store.seqs("a"), [1, 2]);

    let _ = owner.kill();
    let lease = store.take("a").unwrap();
    store.add(&lease, entries(3..=3)).unwrap();
    assert_eq!(store.seqs("a"), [1, 2, 3]);
}

#[test]
fn a_killed_process_loses_nothing_it_was_told_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    store.make("a");
    for n_words in [1, 2, 5, 17, 40, 3] {
        let mut writer = start("processes::roles::append_forever", folder.path());
        let mut told = 0;
        for _ in 0..n_words {
            told = writer.next_word().parse().unwrap();
        }
        told = writer.kill().last().map_or(told, |word| word.parse().unwrap());
        let journal = store.load("a").unwrap();
        assert!(journal.entries.len() as u64 >= told, "{} < {told}", journal.entries.len());
        assert_eq!(journal.entries, entries(1..=journal.entries.len() as u64));
        assert_eq!(journal.damage, []);
    }
}
