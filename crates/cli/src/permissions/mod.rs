//! `heeler permissions`: what may run here, and why.

use heeler_settings::{Loaded, UntrustedFile};

use crate::say::say;

/// Says in one line what of the repository's settings does not count, and in another that there
/// is more to be known of the files.
pub(crate) fn warn(loaded: &Loaded) {
    if !loaded.untrusted.is_empty() {
        let files: Vec<String> = loaded.untrusted.iter().map(lacks).collect();
        say(format_args!(
            "heeler: not trusted, so it does not count: {}; look at it with `heeler permissions \
             trust`",
            files.join("; ")
        ));
    }
    if !loaded.notes.is_empty() {
        let notes = loaded.notes.len();
        say(format_args!("heeler: notes on the settings: {notes}; see `heeler permissions list`"));
    }
}

/// What a file asks for and was not trusted with.
fn lacks(file: &UntrustedFile) -> String {
    let aspects: Vec<&str> = file.aspects.iter().map(|aspect| aspect.words()).collect();
    format!("{} of {}", aspects.join(", "), file.name)
}
