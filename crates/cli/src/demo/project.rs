//! The demo's project: a cargo package without dependencies whose test fails.

use std::fs;
use std::path::Path;

use anyhow::Result;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// The file with the mistake.
pub(super) const SOURCE: &str = "src/lib.rs";

const MANIFEST: &str = "\
[package]
name = \"median\"
version = \"0.1.0\"
edition = \"2021\"

[lib]
doctest = false
";

const LIBRARY: &str = "\
//! The middle of a list of numbers.

/// The median: the middle number, or the mean of the two in the middle.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted.get(middle).copied()
    } else {
        sorted.get(middle).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn of_an_odd_count() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    }

    #[test]
    fn of_an_even_count() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn of_nothing() {
        assert_eq!(median(&[]), None);
    }
}
";

/// Writes the project.
pub(super) fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), MANIFEST)?;
    fs::write(folder.join(SOURCE), LIBRARY)?;
    Ok(())
}

/// The file with the mistake, as it is now.
pub(super) fn source(folder: &Path) -> Result<String> {
    Ok(fs::read_to_string(folder.join(SOURCE))?)
}

/// What changed, as a unified diff.
pub(super) fn diff(before: &str, after: &str) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let mut few_lines = UnifiedDiffConfig::default();
    few_lines.context_len(2);
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, few_lines, &input);
    let text = format!("--- {SOURCE}\n+++ {SOURCE}\n{hunks}");
    text.lines().map(|line| format!("    {line}\n")).collect()
}
