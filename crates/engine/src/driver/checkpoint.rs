//! Keeps checkpoints of the state, beside the loop: at each compaction, which makes the state
//! small, and every so many records.
//!
//! The loop only copies pointers; encoding and writing have a thread of their own, one at a time.
//! Without a checkpoint the next process folds more of the journal, so a failure is no more than a
//! line in the trace.

use std::io;
use std::sync::Arc;

use heeler_core::{CheckpointDraft, Entry, Record, Seq};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::Driver;

/// How many records after a checkpoint the next one is due.
pub(crate) const CHECKPOINT_RECORDS: Seq = 1000;

/// When checkpoints are due, and the one that is being written.
pub(super) struct Checkpoints {
    /// The record after which the latest was begun.
    last: Seq,
    /// The conversation was compacted since.
    compacted: bool,
    writing: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// One stands after this record.
    pub(super) fn after(last: Seq) -> Self {
        Self { last, compacted: false, writing: None }
    }

    /// Waits for the one that is being written: it holds the session's lease.
    pub(super) async fn finish(&mut self) {
        if let Some(writing) = self.writing.take() {
            // A panic there concerns nobody else.
            let _ = writing.await;
        }
    }

    fn is_due(&self, seq: Seq) -> bool {
        self.compacted || seq.saturating_sub(self.last) >= CHECKPOINT_RECORDS
    }

    fn is_writing(&self) -> bool {
        self.writing.as_ref().is_some_and(|writing| !writing.is_finished())
    }
}

impl Driver {
    /// Begins a checkpoint, if one is due, once these entries are written and applied.
    pub(super) fn keep_checkpoint(&mut self, entries: &[Entry]) {
        self.checkpoints.compacted |= entries.iter().any(|entry| {
            matches!(entry.record, Record::Compacted(_) | Record::Trimmed(_) | Record::Pruned(_))
        });
        let seq = self.state.seq;
        if !self.checkpoints.is_due(seq) || self.checkpoints.is_writing() {
            return;
        }
        let Some(format) = self.state.checkpoint_format() else { return };
        let state = self.state.clone();
        let encode = Box::new(move |out: &mut dyn io::Write| Ok(state.write_checkpoint(out)?));
        let draft = CheckpointDraft { seq, format, encode };
        let kept = self.parts.store.keep_checkpoint(Arc::clone(&self.lease), draft);
        let runtime = Handle::current();
        let writing = tokio::task::spawn_blocking(move || {
            if let Err(error) = runtime.block_on(kept) {
                tracing::warn!(%error, "a checkpoint could not be kept");
            }
        });
        self.checkpoints = Checkpoints { writing: Some(writing), ..Checkpoints::after(seq) };
    }
}
