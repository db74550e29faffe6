//! A command as the launcher starts it.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Pid;

use super::tree;
use crate::wire::Failure;

/// All that a process is started with.
pub(crate) struct Start {
    pub(crate) program: OsString,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: PathBuf,
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
    /// Whether these three are a terminal, which becomes its own.
    pub(crate) has_terminal: bool,
    /// What tells its processes from those of others.
    pub(crate) mark: u64,
}

impl Start {
    /// Starts it outside of any box, in a group of its own.
    pub(crate) fn spawn(self) -> Result<Pid, Failure> {
        let Self { program, args, env, cwd, input, output, errors, has_terminal, mark } = self;
        #[expect(clippy::disallowed_methods, reason = "this is the launcher")]
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(env).current_dir(&cwd);
        if has_terminal {
            #[expect(unsafe_code, reason = "the library has no word for it")]
            // SAFETY: the launcher has one thread, and only system calls are made.
            unsafe {
                command.pre_exec(lead_session);
            }
        } else {
            command.process_group(0);
        }
        command.stdin(input).stdout(output).stderr(errors);
        match tree::with_mark(mark, || command.spawn()) {
            Ok(child) => Ok(Pid::from_child(&child)),
            Err(_) if !cwd.is_dir() => Err(Failure::Folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::Program),
            Err(error) => Err(Failure::Refused(error.to_string())),
        }
    }
}

/// Makes the calling process the leader of a session, and of a group, on its standard input.
fn lead_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
}
