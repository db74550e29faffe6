//! Commands in a box: whose walls they are, and what the model is told when it runs into one.

use std::path::Path;
use std::sync::Arc;

use heeler_sandbox::{Bound, Child, Confines, looks_confined};

use super::End;

/// What the model is told when a call has to be confined and cannot be.
pub(super) const NO_BOX: &str = "this command was only allowed to run in the sandbox, and there is \
     none here; ask the user to allow it, or do without";

/// What a command can do that needs what the box holds.
const WAY_OUT: &str = "If the command needs that, call again with outside_sandbox true: the user is \
     asked";

/// The same in plan mode, where nobody lets it out.
const ONLY_LOOKS: &str = "in plan mode a command writes only in TMPDIR";

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
pub(super) fn notes(output: &str, end: &End, child: &Child, only_looks: bool) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(child.bound().map(note_of));
    let End::Exited(exit) = end else { return notes };
    let from = output.len().saturating_sub(SIGNS_BYTES_MAX);
    let from = (from..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    if let Some(sign) = looks_confined(*exit, &output[from..]) {
        notes.push(match only_looks {
            true => format!("[sandbox: the box may have refused it something: {ONLY_LOOKS}]"),
            false => format!("[sandbox: {sign}. {WAY_OUT}]"),
        });
    }
    notes
}

/// What is told of a bound. Limits are no reason to leave the box; what is protected may be: `git
/// init` in the workspace makes hooks and a configuration, which later commands obey.
fn note_of(bound: &Bound) -> String {
    match bound {
        Bound::Protected { .. } => format!("[sandbox: {bound}. {WAY_OUT}]"),
        _ => format!("[sandbox: {bound}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_needs_what_is_protected_is_told_the_way_out() {
        let (path, aside) =
            ("/space/.git/config".into(), Some("/space/.git/config.refused-1".into()));
        assert_eq!(
            note_of(&Bound::Protected { path, aside }),
            "[sandbox: it made `/space/.git/config`, which is protected; that is now \
             `/space/.git/config.refused-1`. If the command needs that, call again with \
             outside_sandbox true: the user is asked]"
        );
        let limit = Bound::Processes { count_max: 9 };
        assert_eq!(note_of(&limit), "[sandbox: it had more than 9 processes]");
    }
}
