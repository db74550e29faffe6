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
        if !has_terminal {
            command.process_group(0);
        }
        #[expect(unsafe_code, reason = "the library has no word for it")]
        // SAFETY: the launcher has one thread, and only system calls are made.
        unsafe {
            command.pre_exec(move || {
                die_with_the_launcher()?;
                if has_terminal { lead_session() } else { Ok(()) }
            });
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

/// Has the kernel kill the calling process when the launcher dies, whoever else died. What it starts has
/// other parents and is killed by the launcher's parent or heir.
fn die_with_the_launcher() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// Makes the calling process the leader of a session, and of a group, on its standard input.
fn lead_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
}
