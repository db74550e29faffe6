//! `heeler doctor`: what is in force on this machine, line by line, and how to get more.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use heeler_assembly::{
    Environment, KeyOwner, Keys, KnownProvider, home_folder, probe, settings_files,
};
use heeler_sandbox::{Probe, ProbeLine};
use serde::Serialize;

use crate::exit::Exit;
use crate::folder::workspace;
use crate::login::words;
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
    lines.extend([home(environment), key(environment), settings(environment)]);
    lines.extend(["bash", "git"].map(|name| program(environment, name)));
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

fn line(name: &str, is_needed: bool, found: Result<String, String>, remedy: &str) -> ProbeLine {
    ProbeLine {
        name: name.to_owned(),
        is_in_force: found.is_ok(),
        is_needed,
        remedy: found.is_err().then(|| remedy.to_owned()),
        detail: found.unwrap_or_else(|why| why),
    }
}

fn home(environment: &Environment) -> ProbeLine {
    let found = home_folder(environment).map_err(|error| error.to_string()).and_then(|home| {
        let shown = home.display();
        match std::fs::metadata(&home) {
            Ok(data) if !data.is_dir() => Err(format!("{shown} is no folder")),
            Ok(data) if data.permissions().readonly() => Err(format!("{shown} is read-only")),
            Ok(_) => Ok(format!("{shown}")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(format!("{shown}, made with the first session"))
            }
            Err(error) => Err(format!("{shown}: {error}")),
        }
    });
    line("home", true, found, "set HEELER_HOME to a folder of yours")
}

fn key(environment: &Environment) -> ProbeLine {
    let found = Keys::of(environment).and_then(|keys| {
        let place = |provider: KnownProvider| {
            keys.place(&KeyOwner::from(&provider), environment).transpose()
        };
        KnownProvider::all().find_map(place).transpose()
    });
    let found = match found {
        Ok(Some(place)) => Ok(format!("in {}", words(&place))),
        Ok(None) => Err("there is no key of a provider".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    line(
        "key",
        false,
        found,
        "set ANTHROPIC_API_KEY, or run `heeler login`; `heeler demo` needs none",
    )
}

/// Whether the files of settings that count here can be read.
fn settings(environment: &Environment) -> ProbeLine {
    let found = workspace(None).map_err(|error| format!("{error:#}")).and_then(|here| {
        let files = settings_files(environment, &here).map_err(|error| error.to_string())?;
        let sources = files.read().map_err(|error| error.to_string())?;
        let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        Ok(if names.is_empty() { "no files".to_owned() } else { names.join(", ") })
    });
    line("settings", true, found, "mend the file that is named, or remove it")
}

fn program(environment: &Environment, name: &str) -> ProbeLine {
    let path = environment.get("PATH").ok().flatten().unwrap_or("/usr/bin:/bin");
    let found = std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| Path::is_file(file))
        .map(|file| file.display().to_string());
    let missing = format!("no {name} in PATH");
    line(name, false, found.ok_or(missing), &format!("install {name}"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

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
