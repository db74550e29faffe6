//! The `heeler` command.
fn main() {}
