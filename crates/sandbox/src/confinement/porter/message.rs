//! What the launcher and a porter say to each other.
//!
//! An errand is a head of numbers, then texts that each end with a zero byte, so that the porter
//! hands them to the kernel as they lie. An answer is two numbers.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::Pid;

/// Descriptors beside an errand: a ruleset, an input and two outputs.
pub(super) const DESCRIPTORS: usize = 4;
/// The length of an answer.
pub(super) const ANSWER_BYTES: usize = 8;
/// The length of an errand's head: how long its texts are, a mark, how many programs and
/// arguments there are, and whether it has a terminal; the folder stands before them, the environment behind.
pub(super) const HEAD_BYTES: usize = 24;
/// Where programs are looked for when the environment does not say.
const PATH: &str = "/bin:/usr/bin";

/// A command to start.
pub(crate) struct Errand<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a [(String, String)],
    pub(crate) cwd: &'a Path,
    /// What tells its processes from those of others.
    pub(crate) mark: u64,
    /// Whether its input and outputs are a terminal, which becomes its own.
    pub(crate) has_terminal: bool,
}

/// The head of an errand as it is read.
pub(super) struct Head {
    pub(super) texts_bytes: usize,
    pub(super) mark: u64,
    pub(super) n_programs: usize,
    pub(super) n_args: usize,
    pub(super) has_terminal: bool,
}

/// The step that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Any that comes before the others.
    Preparing,
    /// Going to its folder.
    Folder,
    /// Taking on the rules of the box.
    Rules,
    /// Becoming the program.
    Program,
}

impl Errand<'_> {
    /// Fails when a text has a zero byte in it.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let programs = self.programs();
        let mut bytes = vec![0; HEAD_BYTES];
        let mut push = |parts: &[&[u8]]| {
            if parts.iter().any(|part| part.contains(&0)) {
                let text = "a zero byte stands in one of its texts";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            parts.iter().for_each(|part| bytes.extend_from_slice(part));
            bytes.push(0);
            Ok(())
        };
        push(&[self.cwd.as_os_str().as_bytes()])?;
        programs.iter().try_for_each(|program| push(&[program]))?;
        push(&[self.program.as_bytes()])?;
        self.args.iter().try_for_each(|arg| push(&[arg.as_bytes()]))?;
        for (index, (name, value)) in self.env.iter().enumerate() {
            // Of a name that comes twice, the last holds.
            if !self.env[index + 1..].iter().any(|(later, _)| later == name) {
                push(&[name.as_bytes(), b"=", value.as_bytes()])?;
            }
        }
        let texts = u32::try_from(bytes.len() - HEAD_BYTES).map_err(io::Error::other)?;
        let (n_programs, n_args) = (programs.len() as u32, self.args.len() as u32 + 1);
        bytes[..4].copy_from_slice(&texts.to_ne_bytes());
        bytes[4..12].copy_from_slice(&self.mark.to_ne_bytes());
        bytes[12..16].copy_from_slice(&n_programs.to_ne_bytes());
        bytes[16..20].copy_from_slice(&n_args.to_ne_bytes());
        bytes[20..HEAD_BYTES].copy_from_slice(&u32::from(self.has_terminal).to_ne_bytes());
        Ok(bytes)
    }

    /// The files that the program may be, in the order they are tried.
    fn programs(&self) -> Vec<Vec<u8>> {
        let name = self.program.as_bytes();
        if name.contains(&b'/') {
            return vec![name.to_vec()];
        }
        let path = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let folders = path.map_or(PATH, |(_, folders)| folders).split(':');
        folders.map(|folder| [folder.as_bytes(), b"/", name].concat()).collect()
    }
}

impl Head {
    pub(super) fn of(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let (texts_bytes, rest) = bytes.split_first_chunk::<4>()?;
        let (mark, rest) = rest.split_first_chunk::<8>()?;
        let (n_programs, rest) = rest.split_first_chunk::<4>()?;
        let (n_args, has_terminal) = rest.split_first_chunk::<4>()?;
        let count = |bytes: &[u8; 4]| u32::from_ne_bytes(*bytes) as usize;
        Some(Self {
            texts_bytes: count(texts_bytes),
            mark: u64::from_ne_bytes(*mark),
            n_programs: count(n_programs),
            n_args: count(n_args),
            has_terminal: count(has_terminal.first_chunk()?) != 0,
        })
    }
}

/// A process that runs, or the step that failed and the number of its error.
pub(super) type Answer = Result<Pid, (Step, i32)>;

pub(super) fn answer_to_bytes(answer: Answer) -> [u8; ANSWER_BYTES] {
    let (step, number) = match answer {
        Ok(pid) => (0, pid.as_raw_pid()),
        Err((Step::Preparing, number)) => (1, number),
        Err((Step::Folder, number)) => (2, number),
        Err((Step::Rules, number)) => (3, number),
        Err((Step::Program, number)) => (4, number),
    };
    let mut bytes = [0; ANSWER_BYTES];
    let (first, second) = bytes.split_at_mut(4);
    first.copy_from_slice(&i32::to_ne_bytes(step));
    second.copy_from_slice(&i32::to_ne_bytes(number));
    bytes
}

/// `None` when it is no answer.
pub(super) fn answer_of(bytes: &[u8; ANSWER_BYTES]) -> Option<Answer> {
    let (step, number) = bytes.split_first_chunk::<4>()?;
    let number = i32::from_ne_bytes(*number.first_chunk()?);
    Some(match i32::from_ne_bytes(*step) {
        0 => Ok(Pid::from_raw(number)?),
        1 => Err((Step::Preparing, number)),
        2 => Err((Step::Folder, number)),
        3 => Err((Step::Rules, number)),
        4 => Err((Step::Program, number)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(program: &str, args: &[&str], env: &[(&str, &str)], expected: Expect) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let env: Vec<(String, String)> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let cwd = Path::new("/space");
        let errand = Errand {
            program: OsStr::new(program),
            args: &args,
            env: &env,
            cwd,
            mark: 1 << 40,
            has_terminal: true,
        };
        let said = errand.to_bytes().map(|bytes| {
            let head = Head::of(bytes.first_chunk().unwrap()).unwrap();
            assert_eq!((head.texts_bytes, head.mark), (bytes.len() - HEAD_BYTES, 1 << 40));
            assert!(head.has_terminal);
            let texts = String::from_utf8_lossy(&bytes[HEAD_BYTES..]).replace('\0', "|");
            format!("{} programs, {} arguments: {texts}", head.n_programs, head.n_args)
        });
        expected.assert_eq(&said.unwrap_or_else(|error| error.to_string()));
    }

    #[test]
    fn an_errand_says_all_that_the_kernel_is_told() {
        let env = [("PATH", "/a"), ("A", "1"), ("PATH", "/b:/c")];
        check(
            "sh",
            &["-c", "true"],
            &env,
            expect!["2 programs, 3 arguments: /space|/b/sh|/c/sh|sh|-c|true|A=1|PATH=/b:/c|"],
        );
        check("./x", &[], &[], expect!["1 programs, 1 arguments: /space|./x|./x|"]);
        check("x", &[], &[], expect!["2 programs, 1 arguments: /space|/bin/x|/usr/bin/x|x|"]);
        check("x", &["a\0b"], &[], expect!["a zero byte stands in one of its texts"]);
    }

    #[test]
    fn an_answer_is_heard_as_it_was_said() {
        let steps = [Step::Preparing, Step::Folder, Step::Rules, Step::Program];
        let failures = steps.map(|step| Err((step, 13)));
        for answer in failures.into_iter().chain([Ok(Pid::INIT)]) {
            assert_eq!(answer_of(&answer_to_bytes(answer)), Some(answer));
        }
        assert_eq!(answer_of(&[0; ANSWER_BYTES]), None);
        assert_eq!(answer_of(&[9; ANSWER_BYTES]), None);
    }
}
