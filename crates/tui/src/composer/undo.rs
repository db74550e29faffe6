//! What was changed, and back.

use std::collections::VecDeque;

/// The most groups of changes that are kept.
pub const UNDO_GROUPS_MAX: usize = 1_000;
/// The most bytes that kept changes hold.
pub const UNDO_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One replacement.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
}

/// Changes that are taken back together, and where the cursor stood.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) edits: Vec<Edit>,
    pub(super) cursor_before: usize,
    pub(super) cursor_after: usize,
}

/// The changes that can be taken back, and those that were.
#[derive(Debug, Default)]
pub(super) struct Undo {
    done: VecDeque<Group>,
    undone: Vec<Group>,
    open: Option<Group>,
    /// Groups stay open: what an insert mode does is one change.
    pub(super) held: bool,
    bytes: usize,
}

impl Undo {
    pub(super) fn record(&mut self, edit: Edit, cursor_before: usize, cursor_after: usize) {
        self.undone.clear();
        let open = self.open.get_or_insert_with(|| Group {
            edits: Vec::new(),
            cursor_before,
            cursor_after,
        });
        open.cursor_after = cursor_after;
        match open.edits.last_mut() {
            Some(last) if last.at + last.inserted.len() == edit.at && edit.removed.is_empty() => {
                last.inserted.push_str(&edit.inserted);
            }
            _ => open.edits.push(edit),
        }
    }

    /// Ends the group: what comes is taken back by itself.
    pub(super) fn seal(&mut self) {
        if !self.held {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(group) = self.open.take() else { return };
        self.bytes += bytes(&group);
        self.done.push_back(group);
        while self.done.len() > UNDO_GROUPS_MAX || self.bytes > UNDO_BYTES_MAX {
            let Some(oldest) = self.done.pop_front() else { break };
            self.bytes -= bytes(&oldest);
        }
    }

    /// The group to take back now; it can be done again.
    pub(super) fn back(&mut self) -> Option<Group> {
        self.close();
        let group = self.done.pop_back()?;
        self.bytes -= bytes(&group);
        self.undone.push(group.clone());
        Some(group)
    }

    /// The group to do again.
    pub(super) fn forth(&mut self) -> Option<Group> {
        self.close();
        let group = self.undone.pop()?;
        self.bytes += bytes(&group);
        self.done.push_back(group.clone());
        Some(group)
    }
}

fn bytes(group: &Group) -> usize {
    group.edits.iter().map(|edit| edit.removed.len() + edit.inserted.len()).sum()
}
