//! The little languages that run and write from within an argument: sed and awk.

pub(crate) mod awk;
pub(crate) mod sed;
