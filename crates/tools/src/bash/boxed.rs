//! Commands in a box: whose walls they are, and what the model is told when it runs into one.

use std::path::Path;
use std::sync::Arc;

use heeler_sandbox::{Child, Confines, looks_confined};

use super::End;

/// What the model is told when a call has to be confined and cannot be.
pub(super) const NO_BOX: &str = "this command was only allowed to run in the sandbox, and there is \
     none here; ask the user to allow it, or do without";

/// How much of an output's end is looked at for signs of a wall, in bytes.
const SIGNS_BYTES_MAX: usize = 4 * 1024;

/// The same walls around another workspace, for an agent that works there.
pub(super) fn around(confines: &Arc<Confines>, workspace: &Path) -> Arc<Confines> {
    if confines.workspace == workspace {
        return Arc::clone(confines);
    }
    Arc::new(Confines { workspace: workspace.to_owned(), ..Confines::clone(confines) })
}

/// What the model should know of the walls that this command met.
pub(super) fn notes(output: &str, end: &End, child: &Child) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(bound) = child.bound() {
        notes.push(format!("[sandbox: {bound}]"));
    }
    let End::Exited(exit) = end else { return notes };
    let from = output.len().saturating_sub(SIGNS_BYTES_MAX);
    let from = (from..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    if let Some(sign) = looks_confined(*exit, &output[from..]) {
        notes.push(format!(
            "[sandbox: {sign}. If the command needs that, call again with outside_sandbox true: \
             the user is asked]"
        ));
    }
    notes
}
