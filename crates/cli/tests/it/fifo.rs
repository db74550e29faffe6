//! Pipes with a name: a command tells a test where it is, and waits until it may go on.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::support::{PATIENCE, program};

/// A named pipe. We hold both of its ends, so that opening it makes nobody wait.
pub(crate) struct Fifo(File);

impl Fifo {
    pub(crate) fn new(path: &Path) -> Self {
        assert!(program("mkfifo").arg(path).status().unwrap().success());
        Self(OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    /// Waits until somebody wrote a line, and reads it.
    #[track_caller]
    pub(crate) fn wait(&mut self) {
        loop {
            assert!(is_ready(&self.0), "nobody wrote into the pipe in time");
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            if byte == *b"\n" {
                return;
            }
        }
    }

    /// Lets one reader go on.
    pub(crate) fn open(&mut self) {
        self.0.write_all(b"go\n").unwrap();
    }
}

/// Waits until there is something to read, or for the end of our patience.
pub(crate) fn is_ready(file: &impl AsFd) -> bool {
    let seconds = i64::try_from(PATIENCE.as_secs()).unwrap();
    let patience = Timespec { tv_sec: seconds, tv_nsec: 0 };
    let mut waiting = [PollFd::new(file, PollFlags::IN)];
    poll(&mut waiting, Some(&patience)).unwrap() > 0
}
