//! `cargo xtask instructions`: what the hot paths execute, counted, so that nothing creeps.
//!
//! Time differs from run to run and from machine to machine; the number of instructions of a
//! program that asks neither clock nor network hardly does. `valgrind --tool=callgrind` counts
//! those of one function of `bench/src/bin/hot_paths.rs`, and the figures that were committed say
//! what is usual. A runner such as gungraun needs a program of its own installed for this.
#![expect(clippy::disallowed_methods, reason = "programs are measured from outside")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_testkit::require;
use serde::Deserialize;

/// Where the usual figures stand, below the workspace's root.
const FILE: &str = "bench/instructions.toml";
/// What a figure may be above the usual one, in percent.
const ABOVE_PERCENT_MAX: u64 = 3;
/// What it may be below before the usual one should be lowered, in percent.
const BELOW_PERCENT_MAX: u64 = 3;
/// The function that is counted, with all it calls.
const COUNTED: &str = "--toggle-collect=hot_paths::measured*";

/// The paths, as `hot-paths` knows them.
const PATHS: [&str; 7] = [
    "decode-delta",
    "decode-delta-16k",
    "apply-record",
    "encode-request",
    "write-line",
    "read-line",
    "judge-command",
];

const HEAD: &str = "\
# What the hot paths execute: instructions for each delta, record, request or line, as
# `cargo xtask instructions` counts them and CI compares them. After a change that is meant to
# change them: `cargo xtask instructions --update`, and a word in the commit.
#
# A few percent again and again are not few. So no update raises a ceiling; that is done by hand,
# for a reason that is worth it.
";

type Figures = BTreeMap<String, u64>;

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Known {
    /// What each path executes.
    usual: Figures,
    /// What it may execute at most, however it came there.
    ceilings: Figures,
}

/// Runs `instructions` with its arguments.
pub(crate) fn run_command(arguments: &[&str], root: &Path) -> Result<ExitCode> {
    let updates = match arguments {
        [] => false,
        ["--update"] => true,
        other => bail!("instructions knows --update, not {}", other.join(" ")),
    };
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    if !require("valgrind", has_valgrind) {
        return Ok(ExitCode::SUCCESS);
    }
    let file = root.join(FILE);
    let program = build()?;
    let mut counted = Figures::new();
    for path in PATHS {
        counted.insert(path.to_owned(), count(&program, path)?);
    }
    let known = std::fs::read_to_string(&file).with_context(|| format!("reading {FILE}"))?;
    let mut known: Known = toml::from_str(&known).with_context(|| format!("reading {FILE}"))?;
    if updates {
        known.usual.clone_from(&counted);
        std::fs::write(&file, text_of(&known)).with_context(|| format!("writing {FILE}"))?;
        println!("{FILE} is written");
    }
    let report = compare(&known, &counted);
    print!("{}", report.text);
    if report.is_refused {
        eprintln!("instructions: not as in {FILE}; mend it, or say why in a commit with --update");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the program that walks the paths, without what only the other programs need.
fn build() -> Result<std::path::PathBuf> {
    let mut build = crate::cargo::cargo();
    build.args(["build", "--quiet", "--release", "-p", "heeler-bench"]);
    build.args(["--no-default-features", "--bin", "hot-paths"]);
    ensure!(build.status()?.success(), "the hot paths do not build");
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).context("no target folder")?;
    Ok(target.join("release").join("hot-paths"))
}

/// The instructions of one walk of a path.
fn count(program: &Path, path: &str) -> Result<u64> {
    let folder = tempfile::tempdir()?;
    let mut valgrind = Command::new("valgrind");
    let out = format!("--callgrind-out-file={}", folder.path().join("out").display());
    valgrind.args(["--tool=callgrind", COUNTED, &out]).arg(program).arg(path);
    // What a machine's variables say must not change what is counted.
    valgrind.env_clear().env("TMPDIR", folder.path());
    if let Some(programs) = std::env::var_os("PATH") {
        valgrind.env("PATH", programs);
    }
    let output = valgrind.output().context("starting valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{path} failed under valgrind:\n{told}");
    let times: u64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    let all = collected(&told).with_context(|| format!("valgrind tells no figure:\n{told}"))?;
    ensure!(all > 0 && times > 0, "nothing of {path} was counted:\n{told}");
    Ok(all / times)
}

/// The figure of the line `==PID== Collected : N`.
fn collected(told: &str) -> Option<u64> {
    told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

fn text_of(known: &Known) -> String {
    let mut text = HEAD.to_owned();
    for (name, figures) in [("usual", &known.usual), ("ceilings", &known.ceilings)] {
        let _ = writeln!(text, "\n[{name}]");
        for (path, figure) in figures {
            let _ = writeln!(text, "{path} = {figure}");
        }
    }
    text
}

struct Report {
    text: String,
    is_refused: bool,
}

/// A line a path, and whether one of them is not as it should be.
fn compare(known: &Known, counted: &Figures) -> Report {
    let mut report = Report { text: String::new(), is_refused: false };
    for (path, now) in counted {
        let word = match (known.usual.get(path), known.ceilings.get(path)) {
            (None, _) => Err(format!("is not in {FILE}")),
            (_, None) => Err(format!("has no ceiling in {FILE}")),
            (_, Some(ceiling)) if now > ceiling => {
                Err(format!("is above its ceiling of {ceiling}, which no update raises"))
            }
            (Some(before), _) => word_of(*before, *now),
        };
        report.is_refused |= word.is_err();
        let (Ok(word) | Err(word)) = word;
        let _ = writeln!(report.text, "{path:<17} {now:>9} {word}");
    }
    let known = known.usual.keys().chain(known.ceilings.keys()).collect::<BTreeSet<_>>();
    for path in known.into_iter().filter(|path| !counted.contains_key(*path)) {
        report.is_refused = true;
        let _ = writeln!(report.text, "{path:<17} {:>9} stands in {FILE}, and is no path", "-");
    }
    report
}

/// What there is to say of a figure: an error when it grew too much.
fn word_of(before: u64, now: u64) -> Result<String, String> {
    let change = format!("{:+.1} %", (now as f64 / before.max(1) as f64 - 1.0) * 100.0);
    if now * 100 > before * (100 + ABOVE_PERCENT_MAX) {
        return Err(format!("{change}: more than the {before} that are usual"));
    }
    if now * 100 < before * (100 - BELOW_PERCENT_MAX) {
        return Ok(format!("{change}: lower the figure, so that it stays there: --update"));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(usual: &[(&str, u64)], counted: &[(&str, u64)], refused: bool, expected: Expect) {
        let figures = |all: &[(&str, u64)]| -> Figures {
            all.iter().map(|(path, figure)| ((*path).to_owned(), *figure)).collect()
        };
        let ceilings = usual.iter().map(|(path, _)| ((*path).to_owned(), 1040)).collect();
        let report = compare(&Known { usual: figures(usual), ceilings }, &figures(counted));
        assert_eq!(report.is_refused, refused, "{}", report.text);
        expected.assert_eq(&report.text);
    }

    #[test]
    fn what_grows_is_refused_and_what_shrinks_is_told() {
        check(
            &[("a", 1000), ("b", 1000), ("c", 1000), ("d", 1000)],
            &[("a", 1030), ("b", 970), ("c", 969), ("d", 1000)],
            false,
            expect![[r#"
                a                      1030 +3.0 %
                b                       970 -3.0 %
                c                       969 -3.1 %: lower the figure, so that it stays there: --update
                d                      1000 +0.0 %
            "#]],
        );
        check(
            &[("a", 1000)],
            &[("a", 1031)],
            true,
            expect![[r#"
                a                      1031 +3.1 %: more than the 1000 that are usual
            "#]],
        );
    }

    #[test]
    fn no_step_leads_above_the_ceiling() {
        check(
            &[("a", 1035)],
            &[("a", 1041)],
            true,
            expect![[r#"
                a                      1041 is above its ceiling of 1040, which no update raises
            "#]],
        );
        let report = compare(
            &Known { usual: Figures::from([("a".to_owned(), 1)]), ..Known::default() },
            &Figures::from([("a".to_owned(), 1)]),
        );
        assert!(report.is_refused && report.text.contains("has no ceiling"), "{}", report.text);
    }

    #[test]
    fn a_path_without_a_figure_and_a_figure_without_a_path_are_refused() {
        check(
            &[("gone", 5)],
            &[("new", 7)],
            true,
            expect![[r#"
                new                       7 is not in bench/instructions.toml
                gone                      - stands in bench/instructions.toml, and is no path
            "#]],
        );
    }

    #[test]
    fn the_file_reads_what_it_writes() {
        let figures = |figure| Figures::from([("decode-delta".to_owned(), figure)]);
        let known = Known { usual: figures(1234), ceilings: figures(1300) };
        assert_eq!(toml::from_str::<Known>(&text_of(&known)).unwrap(), known);
    }

    #[test]
    fn valgrind_is_understood() {
        let told = "==7== Events    : Ir\n==7== Collected : 4711\n==7== \n";
        assert_eq!((collected(told), collected("==7== none")), (Some(4711), None));
    }
}
