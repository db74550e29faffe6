//! What lists promise.

use super::{Kept, Promise, Store, make, same};

pub(super) const PROMISES: [Promise; 3] = [
    ("ids are sorted by their bytes", |store| Box::pin(sorted(store))),
    ("a list holds the ids that begin with its prefix", |store| Box::pin(prefixes(store))),
    ("a list is no longer than its limit, and 0 means all", |store| Box::pin(limits(store))),
];

/// In the order of their bytes.
const SORTED: [&str; 9] = ["-", "10", "9", "A.b", "B", "_", "a", "a-b", "ab"];

async fn sorted(store: Store) -> Kept {
    same("a list without sessions", &store.list("", 0).await?, &Vec::new())?;
    for id in ["ab", "9", "B", "_", "a-b", "-", "a", "10", "A.b"] {
        make(&store, id).await?;
    }
    same("the list", &store.list("", 0).await?, &SORTED.map(String::from).to_vec())
}

async fn prefixes(store: Store) -> Kept {
    for id in SORTED {
        make(&store, id).await?;
    }
    for (prefix, expected) in [
        ("a", vec!["a", "a-b", "ab"]),
        ("a-", vec!["a-b"]),
        ("ab", vec!["ab"]),
        ("abc", vec![]),
        ("A", vec!["A.b"]),
        // What has a meaning in patterns, queries or paths has none here.
        ("_", vec!["_"]),
        ("%", vec![]),
        ("*", vec![]),
        (".", vec![]),
        ("../", vec![]),
        ("'", vec![]),
        ("\0", vec![]),
        ("ä", vec![]),
    ] {
        let what = format!("the list of {prefix:?}");
        let expected: Vec<String> = expected.into_iter().map(String::from).collect();
        same(&what, &store.list(prefix, 0).await?, &expected)?;
    }
    Ok(())
}

async fn limits(store: Store) -> Kept {
    for n in 0..300 {
        make(&store, &format!("s{n:03}")).await?;
    }
    make(&store, "a").await?;
    for (prefix, limit, first, n) in [
        ("", 0, "a", 301),
        ("s", 0, "s000", 300),
        ("s", 1, "s000", 1),
        ("s1", 3, "s100", 3),
        ("s", 299, "s000", 299),
        ("s", 300, "s000", 300),
        ("", usize::MAX, "a", 301),
    ] {
        let ids = store.list(prefix, limit).await?;
        let what = format!("the list of {prefix:?}, {limit} at most,");
        same(&what, &(ids.len(), ids.first().map(String::as_str)), &(n, Some(first)))?;
    }
    Ok(())
}
