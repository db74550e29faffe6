//! Outputs too long for the history, beside their session.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use heeler_core::{CallId, SessionId, Spill};

use super::FileStore;
use super::place::{make_folder, open_file, sync_folder};

/// The longest output that is kept.
pub const SPILL_BYTES_MAX: usize = 64 * 1024 * 1024;

impl Spill for FileStore {
    fn write(&self, session: &SessionId, call: CallId, text: &str) -> io::Result<PathBuf> {
        let path = self.place.spill(session, call);
        let named = |error: io::Error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            io::Error::new(error.kind(), message)
        };
        if text.len() > SPILL_BYTES_MAX {
            let why = format!("the output is longer than {SPILL_BYTES_MAX} bytes");
            return Err(named(io::Error::new(io::ErrorKind::FileTooLarge, why)));
        }
        let folder = self.place.spill_folder(session);
        make_folder(&folder).map_err(named)?;
        // A call that runs again after a crash writes again; a new file is never somebody's link.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
            _ => {}
        }
        let mut file =
            open_file(&path, OpenOptions::new().write(true).create_new(true)).map_err(named)?;
        // A record that survives the loss of power says that all of it is there.
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        written.and_then(|()| sync_folder(&folder)).map_err(|error| {
            let _ = fs::remove_file(&path);
            named(error)
        })?;
        Ok(path)
    }

    fn folder(&self, session: &SessionId) -> PathBuf {
        self.place.spill_folder(session)
    }
}
