//! The system's keyring. Nothing else knows by which library it is asked.
//!
//! It may be missing, locked, or wait for a person who is not there, so each question has its own
//! thread and an end.

use std::sync::mpsc::channel;
use std::time::Duration;

use heeler_providers::Secret;
use keyring::{Entry, Error};

/// What keys are filed under.
const SERVICE: &str = "heeler";
/// A person may have to unlock it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps a key, and makes sure that it is there.
pub(super) fn keep(provider: &'static str, key: &Secret) -> Result<(), String> {
    let key = key.clone();
    ask(provider, move |entry| {
        entry.set_password(key.expose())?;
        match entry.get_password()? == key.expose() {
            true => Ok(()),
            false => Err(Error::NoEntry),
        }
    })
}

/// The key of a provider, if there is one.
pub(super) fn get(provider: &'static str) -> Result<Option<Secret>, String> {
    ask(provider, |entry| match entry.get_password() {
        Ok(key) => Ok(Some(Secret::new(key))),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(error),
    })
}

/// Forgets a key; there may be none.
pub(super) fn forget(provider: &'static str) -> Result<(), String> {
    ask(provider, |entry| match entry.delete_credential() {
        Ok(()) | Err(Error::NoEntry) => Ok(()),
        Err(error) => Err(error),
    })
}

fn ask<T: Send + 'static>(
    provider: &'static str,
    question: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
) -> Result<T, String> {
    let (answer, answered) = channel();
    let asking = std::thread::Builder::new().name("keyring".into()).spawn(move || {
        let entry = Entry::new(SERVICE, provider);
        // Who waited long enough does not listen any more.
        let _ = answer.send(entry.and_then(|entry| question(&entry)));
    });
    asking.map_err(|error| format!("no thread to ask it: {error}"))?;
    match answered.recv_timeout(PATIENCE) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("it did not answer within {} seconds", PATIENCE.as_secs())),
    }
}
