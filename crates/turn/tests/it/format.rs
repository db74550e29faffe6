//! The format of checkpoints changes with every source that decides it, whoever forgets what.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heeler_turn::{CharacterEstimate, State, checkpoint};

#[expect(dead_code, reason = "cargo runs its main; the test needs what main calls")]
#[path = "../../build.rs"]
mod build;

#[test]
#[cfg_attr(miri, ignore = "reads and hashes all sources")]
fn it_is_that_of_todays_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = build::SOURCES.iter().map(|path| here.join(path)).collect();
    paths.push(here.join("../../Cargo.lock"));
    assert_eq!(build::format_of(&paths).unwrap(), checkpoint::FORMAT);
    assert!(paths.iter().all(|path| path.exists()));
}

#[test]
#[cfg_attr(miri, ignore = "writes and hashes files")]
fn it_changes_with_any_byte_and_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("src");
    fs::create_dir_all(root.join("state")).unwrap();
    let format = || build::format_of(std::slice::from_ref(&root)).unwrap();
    let mut seen = vec![format()];
    let mut check = |change: &dyn Fn()| {
        change();
        let now = format();
        assert_eq!(now, format());
        assert!(!seen.contains(&now), "{seen:?}");
        seen.push(now);
    };
    check(&|| fs::write(root.join("a.rs"), "one").unwrap());
    check(&|| fs::write(root.join("state/b.rs"), "two").unwrap());
    check(&|| fs::write(root.join("state/b.rs"), "too").unwrap());
    check(&|| fs::rename(root.join("state/b.rs"), root.join("state/c.rs")).unwrap());
    // Text that moves from one file to the next.
    check(&|| fs::write(root.join("a.rs"), "onet").unwrap());
    check(&|| fs::write(root.join("state/c.rs"), "oo").unwrap());
}

#[test]
fn a_state_that_estimates_in_its_own_way_has_none() {
    assert_eq!(State::new().checkpoint_format(), Some(checkpoint::FORMAT));
    let own = State::with_estimate(Arc::new(CharacterEstimate::new(4)));
    assert_eq!(own.checkpoint_format(), None);
}
