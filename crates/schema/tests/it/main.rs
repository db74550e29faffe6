//! What schemas accept and refuse, by their own words and beside another validator.

#![expect(clippy::unwrap_used, reason = "a case that is wrong")]

mod hostile;
mod patterns;
mod references;
mod same;
mod standard;
mod words;
