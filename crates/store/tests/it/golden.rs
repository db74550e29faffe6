//! Journals that releases wrote, one file for each version of a kind: all of them open, for ever.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use heeler_core::{RECORD_KINDS, RecordKind};
use heeler_store::FileStore;
use serde_json::Value;

use crate::support::{StoreNow, id};

#[test]
fn every_version_of_every_kind_opens_as_it_was_meant() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
    let (mut seen, mut older) = (BTreeSet::new(), BTreeSet::new());
    for file in fs::read_dir(golden).unwrap() {
        let path = file.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::open(folder.path()).unwrap();
        fs::copy(&path, store.journal_path(&id("a"))).unwrap();
        let journal = store.load("a").unwrap();
        assert_eq!((journal.damage, journal.torn_bytes), (vec![], 0), "{}", path.display());
        assert!(store.take("a").is_ok(), "{} cannot go on", path.display());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), journal.entries.len() + 1);
        for (line, entry) in text.lines().skip(1).zip(&journal.entries) {
            let written: Value = serde_json::from_str(line).unwrap();
            let kind = RecordKind::named(RECORD_KINDS, entry.record.kind()).unwrap();
            let version = written["v"].as_u64().unwrap();
            let read = serde_json::to_value(&entry.record).unwrap();
            if version == kind.version() {
                let lost = lost(&written["body"], &read["body"]);
                assert_eq!(lost, None, "{line} was read as {read}");
            } else {
                let (name, was, is) = (kind.name, &written["body"], &read["body"]);
                older.insert(format!("{name} {version}: {was}\n  is read as {is}\n"));
            }
            seen.insert((kind.name, version));
        }
    }
    let released = |kind: &RecordKind| {
        let name = kind.name;
        (1..=kind.version()).map(move |version| (name, version))
    };
    let all: BTreeSet<_> = RECORD_KINDS.iter().flat_map(released).collect();
    assert_eq!(seen, all, "each needs a line in a golden file");
    expect_file!["golden_older.txt"].assert_eq(&String::from_iter(older));
}

/// Something that was written and is not there any more; what was added since is no loss.
fn lost(written: &Value, read: &Value) -> Option<Value> {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written
            .iter()
            .find_map(|(key, value)| lost(value, read.get(key).unwrap_or(&Value::Null))),
        (Value::Array(written), Value::Array(read)) if written.len() == read.len() => {
            written.iter().zip(read).find_map(|(written, read)| lost(written, read))
        }
        _ => (written != read).then(|| written.clone()),
    }
}
