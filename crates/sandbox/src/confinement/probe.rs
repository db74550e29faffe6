//! What of a box this machine can make: tried, not guessed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What this machine can do to confine a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// One line a mechanism.
    pub lines: Vec<ProbeLine>,
}

/// One mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeLine {
    /// What it is, in a word or two.
    pub name: String,
    /// Whether it holds what it is there to hold.
    pub is_in_force: bool,
    /// Whether no box is made without it.
    pub is_needed: bool,
    /// What it does, or why it does not.
    pub detail: String,
    /// How to get more, where there is more to get.
    pub remedy: Option<String>,
}

impl Probe {
    /// Whether confined commands can run.
    #[must_use]
    pub fn can_confine(&self) -> bool {
        self.lines.iter().all(|line| line.is_in_force || !line.is_needed)
    }

    /// Why confined commands cannot run: the first line that is needed and missing.
    #[must_use]
    pub fn obstacle(&self) -> Option<&ProbeLine> {
        self.lines.iter().find(|line| line.is_needed && !line.is_in_force)
    }
}

impl fmt::Display for ProbeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_in_force { "in force" } else { "missing" };
        write!(f, "{}: {state}; {}", self.name, self.detail)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// Tries everything. Only for a process with one thread.
#[cfg(target_os = "linux")]
pub(crate) fn probe(landlock_at_most: u32) -> Probe {
    Probe { lines: super::findings::found(landlock_at_most) }
}

/// Looks for the program that applies a profile.
#[cfg(target_os = "macos")]
pub(crate) fn probe(_landlock_at_most: u32) -> Probe {
    let line = ProbeLine {
        name: "seatbelt".to_owned(),
        is_in_force: std::path::Path::new(super::macos::SANDBOX_EXEC).exists(),
        is_needed: true,
        detail: format!("`{}` with a profile; bounds are not watched", super::macos::SANDBOX_EXEC),
        remedy: None,
    };
    Probe { lines: vec![line] }
}

/// Says that there is nothing.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn probe(_landlock_at_most: u32) -> Probe {
    let detail = "this system has no confinement that heeler can use".to_owned();
    let name = "confinement".to_owned();
    let line = ProbeLine { name, is_in_force: false, is_needed: true, detail, remedy: None };
    Probe { lines: vec![line] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, is_in_force: bool, is_needed: bool) -> ProbeLine {
        let (name, detail) = (name.to_owned(), "why".to_owned());
        ProbeLine { name, is_in_force, is_needed, detail, remedy: Some("do this".to_owned()) }
    }

    #[test]
    fn what_is_needed_and_missing_is_the_obstacle() {
        let mut probe = Probe { lines: vec![line("a", true, true), line("b", false, false)] };
        assert!(probe.can_confine() && probe.obstacle().is_none());
        probe.lines.push(line("c", false, true));
        assert!(!probe.can_confine());
        assert_eq!(probe.obstacle().unwrap().to_string(), "c: missing; why; do this");
        assert_eq!(line("d", true, true).to_string(), "d: in force; why; do this");
    }
}
