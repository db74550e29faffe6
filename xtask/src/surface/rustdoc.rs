//! What rustdoc knows of a crate, as JSON, from the toolchain that builds it.
//!
//! The JSON is not stable yet: the pinned toolchain's rustdoc gives it when it is told that it may.
//! Cargo and the compiler are not told, since build scripts would take that for another toolchain and
//! everything would be built anew; so cargo is given us in place of rustdoc.
#![expect(clippy::disallowed_methods, reason = "programs are built from outside")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::cargo::cargo;

/// Set where cargo takes us for rustdoc.
const AS_RUSTDOC: &str = "HEELER_XTASK_AS_RUSTDOC";

/// Runs rustdoc with our arguments, if that is what cargo wants of us.
pub(crate) fn stand_in() -> Option<Result<ExitCode>> {
    std::env::var_os(AS_RUSTDOC)?;
    let run = || {
        let rustdoc = Command::new("rustdoc")
            .args(std::env::args_os().skip(1))
            .env("RUSTC_BOOTSTRAP", "1")
            .status()
            .context("rustdoc cannot be started")?;
        Ok(if rustdoc.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    };
    Some(run())
}

/// Writes what is public of a package's library, with all its features.
pub(super) fn json(root: &Path, package: &str) -> Result<PathBuf> {
    let us = std::env::current_exe().context("xtask does not know its own program")?;
    let status = cargo()
        .current_dir(root)
        .args(["rustdoc", "--quiet", "--package", package, "--lib"])
        .args(features(package))
        .args(["--", "-Zunstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .env("RUSTDOC", us)
        .env(AS_RUSTDOC, "1")
        .status()
        .context("cargo cannot be started")?;
    ensure!(status.success(), "cargo rustdoc --package {package} failed");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let json = target.join("doc").join(package.replace('-', "_")).with_extension("json");
    ensure!(
        json.extension() == Some(OsStr::new("json")) && json.is_file(),
        "{} is not there; remove {} and try again",
        json.display(),
        target.join("doc").display()
    );
    Ok(json)
}

/// The features that users may switch on. Others are for our own tests.
fn features(package: &str) -> &'static [&'static str] {
    match package {
        "heeler" | "heeler-sessions" => &["--features", "postgres"],
        _ => &[],
    }
}
