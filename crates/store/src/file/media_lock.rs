//! The lock of all media: whoever writes or removes any, in whichever process, holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::thread;
use std::time::Duration;

use heeler_core::StoreError;

use super::errors;
use super::place::{Place, open_file};

/// How long somebody else's lock is waited for. Whoever holds it waits for nobody, but may hang on a
/// disk or be stopped.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How long the first wait between two tries is; each other one is twice as long.
const WAIT_FIRST: Duration = Duration::from_millis(1);
/// How long a wait between two tries is at most.
const WAIT_STEP_MAX: Duration = Duration::from_millis(32);

/// The lock. It ends with this value, or with the process.
#[derive(Debug)]
pub(super) struct MediaLock(File);

impl Drop for MediaLock {
    fn drop(&mut self) {
        // Closing would do, if no child that is just being started had a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Waits for the lock; `Busy` when somebody else keeps it.
pub(super) fn lock(place: &Place) -> Result<MediaLock, StoreError> {
    lock_within(place, WAIT_MAX)
}

fn lock_within(place: &Place, wait_max: Duration) -> Result<MediaLock, StoreError> {
    let path = place.media_lock();
    let refused = |error| errors::refused("lock", &path, error);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = open_file(&path, options).map_err(refused)?;
    let (mut waited, mut step) = (Duration::ZERO, WAIT_FIRST);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(MediaLock(file)),
            Err(TryLockError::Error(error)) => return Err(refused(error)),
            Err(TryLockError::WouldBlock) if waited >= wait_max => {
                return Err(errors::media_busy(&path, wait_max));
            }
            Err(TryLockError::WouldBlock) => wait(step),
        }
        waited += step;
        step = (step * 2).min(WAIT_STEP_MAX);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system waits for a lock without an end or not at all"
)]
fn wait(step: Duration) {
    thread::sleep(step);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_that_hangs_is_waited_for_and_then_named() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open(folder.path().to_owned()).unwrap();
        let held = lock(&place).unwrap();
        let error = lock_within(&place, Duration::from_millis(5)).unwrap_err();
        let told = error.to_string().replace(folder.path().to_str().unwrap(), "ROOT");
        let expected = "another process has been writing or removing media for 0 seconds (it holds \
                        `ROOT/media.lock`); end it if it hangs, then try again";
        assert_eq!((error.is_busy(), told.as_str()), (true, expected));

        thread::scope(|threads| {
            let waits = threads.spawn(|| lock(&place).map(drop));
            drop(held);
            waits.join().unwrap().unwrap();
        });
    }
}
