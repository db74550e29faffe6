//! Where the system gives no more threads, processes or memory: an error with a next step instead of a panic.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, set_hook, take_hook};

use anyhow::{Result, bail};
use rustix::io::Errno;

use crate::exit::Exit;

const STEP: &str = "the system gives no more threads, processes or memory here: end some programs, or raise the \
                    limit (`ulimit -u`, `ulimit -v`, or what a container may have)";

/// How libraries begin that panic where no thread can be made.
const PANICS: [&str; 2] = ["OS can't spawn worker thread", "failed to spawn thread"];
/// What errors speak of that need one. Of other things the same numbers say something else.
const NEED_ONE: [&str; 4] = ["launcher", "signals", "the runtime", "cannot be confined"];

/// Does it, and takes a panic that says that there is no thread for an error. Where a task or a call goes on
/// without what panicked so, nobody reads of it beside what these say.
pub(crate) fn caught(run: fn() -> Result<Exit>) -> Result<Exit> {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if of_thread(info.payload()).is_none() {
            before(info);
        }
    }));
    match catch_unwind(run) {
        Ok(ended) => ended,
        Err(panic) => match of_thread(&*panic) {
            Some(words) => bail!("{words}"),
            None => resume_unwind(panic),
        },
    }
}

/// What to do about such an error, if this is one.
pub(crate) fn step(told: &str) -> Option<&'static str> {
    let numbers = [Errno::AGAIN, Errno::NOMEM];
    let numbers = numbers.map(|errno| format!("(os error {})", errno.raw_os_error()));
    let is_of_system = numbers.iter().any(|number| told.contains(number));
    let needs_one = NEED_ONE.iter().any(|what| told.contains(what));
    ((is_of_system && needs_one) || is_of_thread(told)).then_some(STEP)
}

fn of_thread(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).filter(|words| is_of_thread(words))
}

fn is_of_thread(words: &str) -> bool {
    PANICS.iter().any(|begin| words.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_a_thread_or_a_process_is_told_of_their_limit() {
        for (told, expected) in [
            ("OS can't spawn worker thread: Resource temporarily unavailable (os error 11)", true),
            ("failed to spawn thread: Os { code: 11 }", true),
            (&format!("cannot listen to signals: {}", Errno::AGAIN), true),
            (&format!("the launcher `x` did not start: {}", Errno::NOMEM), true),
            (&format!("the launcher `x` did not start: {}", Errno::NOENT), false),
            (&format!("cannot read stdin: {}", Errno::AGAIN), false),
        ] {
            assert_eq!(step(told).is_some(), expected, "{told}");
        }
    }
}
