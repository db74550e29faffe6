//! Many processes and one folder; a process that is killed.

use heeler_sessions::{FileSessions, SessionStore};

use crate::children::{check_sum, start, whole};

/// What the other processes do.
mod roles {
    use heeler_sessions::FileSessions;

    use crate::children::{count, place_of_child, write_forever};

    #[tokio::test]
    #[ignore = "a role that other tests start in a process of its own"]
    async fn counts() {
        count(&FileSessions::open(place_of_child()).unwrap()).await;
    }

    #[tokio::test]
    #[ignore = "a role that other tests start in a process of its own"]
    async fn writes() {
        write_forever(&FileSessions::open(place_of_child()).unwrap()).await;
    }
}

#[tokio::test]
async fn many_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSessions::open(folder.path()).unwrap();
    check_sum(&store, "processes::roles::counts", folder.path().to_str().unwrap()).await;
}

#[tokio::test]
async fn a_writer_that_is_killed_leaves_a_whole_session_and_no_litter() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let mut litter = 0;
    for kill in 0..30 {
        let mut writer = start("processes::roles::writes", place);
        let first: usize = writer.next_word().parse().unwrap();
        // Each in another write: between two of them, or as soon as the new file is begun.
        (0..kill % 5).for_each(|_| drop(writer.next_word()));
        while kill % 3 > 0 && folder.path().read_dir().unwrap().count() < 2 {}
        let last = writer.kill().last().map_or(first, |word| word.parse().unwrap());
        litter += folder.path().read_dir().unwrap().count() - 1;

        let store = FileSessions::open(folder.path()).unwrap();
        let n = whole(&store.get("a").await.unwrap());
        assert!(n >= last && n >= first, "write {last} was done, and {n} is there");
        let names: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.json"]);
    }
    // Else this test has not seen what it is for.
    assert!(litter > 0, "no kill came in the middle of a write");
}
