//! `heeler doctor`: what is in force on this machine, line by line, and how to get more.

mod lines;

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use heeler_assembly::{Environment, probe};
use heeler_sandbox::{Probe, ProbeLine};
use serde::Serialize;

use crate::exit::Exit;
use crate::say::{harmless, print};

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

/// What `doctor` prints, for somebody who asks within a session.
pub(crate) async fn told(environment: &Environment) -> Result<String> {
    Ok(harmless(&text(&look(environment).await?)))
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

fn text(report: &Report) -> String {
    let mut text = format!("heeler {}\n", report.version);
    let width = report.lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for ProbeLine { name, is_in_force, is_needed, detail, remedy } in &report.lines {
        let state = match (is_in_force, is_needed) {
            (true, _) => "ok     ",
            (false, true) => "MISSING",
            (false, false) => "no     ",
        };
        // A `String` takes whatever is written to it.
        let _ = writeln!(text, "{state}  {name:width$}  {detail}");
        if let Some(remedy) = remedy.as_ref().filter(|_| !is_in_force) {
            // Further lines are to be copied, so they begin where lines begin.
            let _ = writeln!(text, "         {:width$}  -> {remedy}", "");
        }
    }
    if !report.sandbox {
        text += "\nCommands cannot be confined here: heeler exec refuses to start without --no-sandbox, \
                 and with it runs only commands that a rule allows.\n";
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
    }
}
