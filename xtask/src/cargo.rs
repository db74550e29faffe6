//! Cargo as a person calls it, whoever called us.
#![expect(clippy::disallowed_methods, reason = "programs are built from outside")]

use std::process::Command;

/// What the cargo that runs us tells of xtask. Build scripts, that of `ring` for one, take it for a
/// change, and all that stands on them would be built anew each time.
const OF_US: [&str; 3] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];

/// A cargo to give arguments to.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| OF_US.iter().any(|start| name.starts_with(start))) {
            cargo.env_remove(name);
        }
    }
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_us_is_passed_on() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let cargo = cargo();
        let removed: Vec<_> = cargo.get_envs().filter(|(_, value)| value.is_none()).collect();
        assert!(removed.iter().any(|(name, _)| *name == "CARGO_MANIFEST_DIR"), "{removed:?}");
        assert!(removed.iter().any(|(name, _)| *name == "CARGO_PKG_NAME"), "{removed:?}");
    }
}
