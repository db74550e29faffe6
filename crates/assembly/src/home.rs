//! Where heeler keeps its sessions.

use std::path::PathBuf;

use crate::{Environment, SetupError};

/// `HEELER_HOME`, else the platform's data folder.
///
/// # Errors
/// When neither `HEELER_HOME` nor `HOME` is set, or to what is no text, or to a part of a path: sessions
/// and keys would lie in whatever folder somebody works in.
pub fn home_folder(environment: &Environment) -> Result<PathBuf, SetupError> {
    if let Some(home) = environment.get("HEELER_HOME")? {
        return Ok(PathBuf::from(home));
    }
    let data = environment.get("XDG_DATA_HOME")?.map(PathBuf::from).filter(|p| p.is_absolute());
    if let (Some(data), false) = (data, cfg!(target_os = "macos")) {
        return Ok(data.join("heeler"));
    }
    let home = environment.get("HOME")?.ok_or_else(|| {
        SetupError::new("neither HEELER_HOME nor HOME is set; set HEELER_HOME to a folder")
    })?;
    let data = if cfg!(target_os = "macos") {
        "Library/Application Support/heeler"
    } else {
        ".local/share/heeler"
    };
    Ok(PathBuf::from(home).join(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let environment: Environment =
            variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        assert_eq!(home_folder(&environment).ok(), expected.map(PathBuf::from));
    }

    #[test]
    fn heeler_home_wins() {
        check(&[("HEELER_HOME", "/a"), ("HOME", "/b")], Some("/a"));
        check(&[], None);
        check(&[("HEELER_HOME", "a/b"), ("HOME", "/b")], None);
        check(&[("HOME", "a/b")], None);
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn else_the_data_folder() {
        check(&[("HOME", "/b")], Some("/b/.local/share/heeler"));
        check(&[("HOME", "/b"), ("XDG_DATA_HOME", "/d")], Some("/d/heeler"));
        check(&[("HOME", "/b"), ("XDG_DATA_HOME", "relative")], Some("/b/.local/share/heeler"));
        check(&[("HEELER_HOME", ""), ("HOME", "/b")], Some("/b/.local/share/heeler"));
    }
}
