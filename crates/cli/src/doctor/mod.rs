//! `heeler doctor`: what is in force on this machine, line by line, and how to get more.

mod lines;

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use heeler_assembly::{Environment, probe};
use heeler_sandbox::{Probe, ProbeLine};
use heeler_tui::transcript::TableRow;
use serde::Serialize;

use crate::exit::Exit;
use crate::say::{harmless, print};

/// Said where there is no box.
const UNCONFINED: &str = "Commands cannot be confined here: heeler exec refuses to start without \
                          --no-sandbox, and with it runs only commands that a rule allows.";

/// The version of what `--json` prints.
const DOCTOR_VERSION: u32 = 1;

/// Everything that was looked at.
#[derive(Serialize)]
struct Report {
    v: u32,
    version: &'static str,
    /// Whether commands can be confined.
    sandbox: bool,
    lines: Vec<ProbeLine>,
}

/// Runs `heeler doctor`. Fails when something that is needed is missing.
pub(crate) fn run(json: bool) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(look(&Environment::of_this_process()))?;
    let text = if json { serde_json::to_string(&report)? + "\n" } else { harmless(&text(&report)) };
    print(&text)?;
    let is_well = report.lines.iter().all(|line| line.is_in_force || !line.is_needed);
    Ok(if is_well { Exit::Done } else { Exit::Failure })
}

/// What `doctor` prints.
pub(crate) async fn told(environment: &Environment) -> Result<String> {
    Ok(harmless(&text(&look(environment).await?)))
}

/// The same for somebody who asks within a session, whose window may be narrow.
pub(crate) async fn table(environment: &Environment) -> Result<Vec<TableRow>> {
    Ok(rows(&look(environment).await?))
}

async fn look(environment: &Environment) -> Result<Report> {
    let Probe { lines } = probe().await.context("cannot start the launcher")?;
    let sandbox = lines.iter().all(|line| line.is_in_force || !line.is_needed);
    let mut lines: Vec<ProbeLine> = lines
        .into_iter()
        .map(|line| ProbeLine { name: format!("sandbox: {}", line.name), ..line })
        .collect();
    lines.extend(lines::all(environment).await);
    Ok(Report { v: DOCTOR_VERSION, version: env!("CARGO_PKG_VERSION"), sandbox, lines })
}

/// What is said of a line first, as wide as all of these.
fn state(line: &ProbeLine) -> &'static str {
    match (line.is_in_force, line.is_needed) {
        (true, _) => "ok     ",
        (false, true) => "MISSING",
        (false, false) => "no     ",
    }
}

/// What to do about a line, if it is not as it should be.
fn remedy(line: &ProbeLine) -> Option<&str> {
    line.remedy.as_deref().filter(|_| !line.is_in_force)
}

fn rows(report: &Report) -> Vec<TableRow> {
    let mut rows = vec![TableRow::line(format!("heeler {}", report.version))];
    for line in &report.lines {
        let mut right = line.detail.clone();
        // Further lines are to be copied, so they begin where lines begin.
        let mut copied = "";
        if let Some(remedy) = remedy(line) {
            let (first, rest) = remedy.split_once('\n').unwrap_or((remedy, ""));
            right += &format!("\n-> {first}");
            copied = rest;
        }
        rows.push(TableRow::new(format!("{}  {}", state(line), line.name), right));
        rows.extend(copied.lines().map(TableRow::line));
    }
    if !report.sandbox {
        rows.extend([TableRow::default(), TableRow::line(UNCONFINED)]);
    }
    rows
}

fn text(report: &Report) -> String {
    let mut text = format!("heeler {}\n", report.version);
    let width = report.lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for line in &report.lines {
        let (state, name, detail) = (state(line), &line.name, &line.detail);
        // A `String` takes whatever is written to it.
        let _ = writeln!(text, "{state}  {name:width$}  {detail}");
        if let Some(remedy) = remedy(line) {
            // Further lines are to be copied, so they begin where lines begin.
            let _ = writeln!(text, "         {:width$}  -> {remedy}", "");
        }
    }
    if !report.sandbox {
        text += &format!("\n{UNCONFINED}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::lines::line;
    use super::*;

    #[test]
    fn each_line_says_its_state_and_what_is_missing_says_what_to_do() {
        let lines = vec![
            line("sandbox: seccomp", true, Ok("no sockets".into()), "x"),
            line("sandbox: namespaces", true, Err("not permitted".into()), "allow them"),
            line("key", false, Err("none".into()), "set one:\ncat <<END\nEND"),
        ];
        let report = Report { v: 1, version: "1.2.3", sandbox: false, lines };
        expect![[r#"
            heeler 1.2.3
            ok       sandbox: seccomp     no sockets
            MISSING  sandbox: namespaces  not permitted
                                          -> allow them
            no       key                  none
                                          -> set one:
            cat <<END
            END

            Commands cannot be confined here: heeler exec refuses to start without --no-sandbox, and with it runs only commands that a rule allows.
        "#]].assert_eq(&text(&report));
        let row = |row: &TableRow| format!("{:?} {:?}\n", row.left, row.right);
        expect![[r#"
            "heeler 1.2.3" ""
            "ok       sandbox: seccomp" "no sockets"
            "MISSING  sandbox: namespaces" "not permitted\n-> allow them"
            "no       key" "none\n-> set one:"
            "cat <<END" ""
            "END" ""
            "" ""
            "Commands cannot be confined here: heeler exec refuses to start without --no-sandbox, and with it runs only commands that a rule allows." ""
        "#]].assert_eq(&rows(&report).iter().map(row).collect::<String>());
    }
}
