//! Every store keeps every promise.

use heeler_sessions::{FileSessions, MemorySessions, conformance};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_every_promise() {
    conformance::check(|| async { MemorySessions::new() }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn files_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let n = std::sync::atomic::AtomicUsize::new(0);
    let make = || {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = folder.path().join(n.to_string());
        async move { FileSessions::open(folder).unwrap() }
    };
    conformance::check(make).await.unwrap();
}
