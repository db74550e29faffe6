//! `cargo xtask pictures`: the README's pictures, of the real program in tmux.
//!
//! A scripted model answers; everything else is what people have: the program that was built, files,
//! commands, a terminal. `--check` makes them anew and compares. Read `svg` for how a screen becomes
//! a picture.
#![expect(clippy::disallowed_methods, reason = "programs are watched from outside, as time passes")]

mod svg;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// Where they are kept.
const FOLDER: &str = "docs/pictures";
/// What the folder that is worked in is called in them.
const SHOWN_FOLDER: &str = "/space/project";
const COLUMNS: usize = 96;
const ROWS: usize = 30;
/// Whoever shows nothing for so long has stopped.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What stands in the folder that is worked in.
const FILES: [(&str, &str); 2] = [
    ("column.rs", "pub fn column(text: &str) -> usize {\n    text.len()\n}\n"),
    ("test.sh", "grep -q width column.rs && echo '1 test passed'\n"),
];
const SCRIPT: &str = r#"
[[reply]]
blocks = [
  { text = "The **column** is counted in bytes, so everything behind `é` stands one cell too far:\n\n```rust\nassert_eq!(column(\"é\"), 1); // 2: that is its length\n```\n\nI read it first.\n" },
  { call = "Read", input = { file_path = "column.rs" } },
]
[[reply]]
blocks = [{ call = "Edit", input = { file_path = "column.rs", old_string = "    text.len()", new_string = "    // What a terminal shows, not what a file holds.\n    unicode_width::UnicodeWidthStr::width(text)" } }]
[[reply]]
blocks = [{ call = "Bash", input = { command = "sh test.sh" } }]
[[reply]]
text = "Mended. What changed:\n\n| text | before | now |\n|---|---|---|\n| `abc` | 3 | 3 |\n| `é` | 2 | 1 |\n| `漢` | 3 | 2 |\n"
"#;

/// What is typed, what is waited for then, and the picture that is taken of it.
const SCENES: [(&str, &str, &str); 2] =
    [("the column is wrong behind an é\r", "  y  once", "request.svg"), ("y", "漢", "turn.svg")];

/// Runs `pictures` with its arguments.
pub(crate) fn run_command(arguments: &[&str], root: &Path) -> Result<ExitCode> {
    let checks = match arguments {
        [] => false,
        ["--check"] => true,
        other => bail!("pictures knows --check, not {}", other.join(" ")),
    };
    if Command::new("tmux").arg("-V").output().is_err() {
        eprintln!("skipped: needs tmux");
        let must = std::env::var_os("HEELER_TEST_REQUIRE").is_some_and(|value| value == "all");
        return Ok(if must { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    ensure!(
        crate::cargo::cargo().args(["build", "-p", "heeler-cli"]).status()?.success(),
        "the program does not build"
    );
    let own = std::env::current_exe()?;
    let heeler = own.parent().context("no target folder")?.join("heeler");
    let mut is_same = true;
    for (name, picture) in take(&heeler)? {
        let path = root.join(FOLDER).join(name);
        if !checks {
            fs::create_dir_all(root.join(FOLDER))?;
            fs::write(&path, picture)?;
        } else if fs::read_to_string(&path).unwrap_or_default() != picture {
            is_same = false;
            eprintln!("{FOLDER}/{name} is of another heeler: run `cargo xtask pictures`");
        }
    }
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays the scenes; gives the pictures with their names.
fn take(heeler: &Path) -> Result<Vec<(&'static str, String)>> {
    let world = tempfile::Builder::new().prefix("heeler-pictures-").tempdir()?;
    for folder in ["home", "work", "temp"] {
        fs::create_dir(world.path().join(folder))?;
    }
    for (name, text) in FILES {
        fs::write(world.path().join("work").join(name), text)?;
    }
    fs::write(world.path().join("script.toml"), SCRIPT)?;
    let tmux = Tmux::start(world.path(), heeler)?;
    let own = world.path().canonicalize()?.join("work").display().to_string();
    tmux.wait_for("what is to be done?")?;
    let mut pictures = Vec::new();
    for (keys, shown, name) in SCENES {
        tmux.types(keys)?;
        let screen = tmux.wait_for(shown)?;
        let screen = screen.replace(&own, SHOWN_FOLDER);
        pictures.push((name, svg::picture(&screen, COLUMNS, ROWS)));
    }
    Ok(pictures)
}

/// A tmux server of our own with the program in it. Dropping it ends both.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    fn start(world: &Path, heeler: &Path) -> Result<Self> {
        let tmux = Self { socket: world.join("tmux") };
        let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
        let mut new = tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", &columns]);
        new.args(["-y", &rows]).arg("-c").arg(world.join("work"));
        new.args(["env", "-i", "TERM=tmux-256color", "COLORFGBG=15;0", "LANG=C.UTF-8"]);
        for (name, folder) in [("HOME", ""), ("HEELER_HOME", "home"), ("TMPDIR", "temp")] {
            new.arg(format!("{name}={}", world.join(folder).display()));
        }
        new.arg(format!("PATH={}", std::env::var("PATH").unwrap_or_default()));
        new.arg(heeler).arg("--model");
        new.arg(format!("script:{}", world.join("script.toml").display()));
        let output = new.output().context("starting tmux")?;
        ensure!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
        Ok(tmux)
    }

    fn types(&self, keys: &str) -> Result<()> {
        let typed = self.command(&["send-keys", "-l", keys]).status()?;
        ensure!(typed.success(), "tmux types nothing");
        Ok(())
    }

    /// Waits until the screen shows this and changes no more; gives it with its styles.
    fn wait_for(&self, text: &str) -> Result<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut before = String::new();
        loop {
            let output = self.command(&["capture-pane", "-p", "-e"]).output()?;
            let screen = String::from_utf8_lossy(&output.stdout).into_owned();
            if screen == before && svg::plain(&screen).contains(text) {
                return Ok(screen);
            }
            ensure!(Instant::now() < deadline, "waited for `{text}` in vain:\n{screen}");
            before = screen;
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        // Without the language it would show what is not ASCII as underscores.
        command.args(["-u", "-S"]).arg(&self.socket).args(arguments).env_remove("TMUX");
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that is gone already is no loss.
        let _ = self.command(&["kill-server"]).output();
    }
}
