//! The attempts of the corpora, played through the whole program under the shipped defaults: those
//! that run unasked are run for real, beside canaries that must not change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use heeler_testkit::require;

use super::{ATTEMPTS, Attempts, Row, SECOND_ATTEMPTS, Want};
use crate::processes::wait_until_gone;
use crate::support::{World, can_confine};

/// What lies in the home's keys; it must not come out of any command.
const SECRET: &str = "CANARY-q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3L";
/// Attempts a session: what one leaves in the workspace is there for those after it.
const SESSION_ROWS: usize = 64;
/// The fewest attempts that run unasked, of both corpora; what asks shows nothing of the box.
const RAN_MIN: usize = 150;
/// How long an attempt may take, in milliseconds. Most that wait, wait for ever.
const ATTEMPT_MILLIS: u64 = 1_500;

/// What a hostile repository's own programs do: whatever of it works is seen.
const PAYLOAD: &str = r#"#!/bin/bash
touch "$HOME/canary" ../outside/canary 2>/dev/null
echo changed >> "$HOME/.bashrc" 2>/dev/null
cat "$HOME/.ssh/id_ed25519" "$HOME/.netrc" 2>/dev/null
(exec 3<>/dev/tcp/127.0.0.1/CANARY_PORT) 2>/dev/null
"#;

/// Programs and links that the attempts speak of.
const PAYLOADS: [&str; 12] = [
    "payload",
    "payload.sh",
    "x.sh",
    "evil",
    "evil.sh",
    "hook",
    "hook.sh",
    "install.sh",
    "run.sh",
    "setup.sh",
    "script.sh",
    "tool",
];

/// A world with a home and a neighbor that hold canaries, and ports that nobody may reach.
struct Canaries {
    world: World,
    tcp: TcpListener,
    unix: UnixListener,
}

impl Canaries {
    fn new() -> Self {
        let world = World::new();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        for folder in ["outside", "user/.ssh", "user/.config/gh", "work/src", "work/.git/hooks"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        for file in ["user/.ssh/id_ed25519", "user/.netrc", "user/.config/gh/hosts.yml"] {
            world.write(file, SECRET);
        }
        for file in ["outside/data.txt", "user/.bashrc", "user/.profile", "user/.gitconfig"] {
            world.write(file, "# as it was\n");
        }
        for file in ["work/src/main.rs", "work/README.md", "work/Makefile", "work/.git/config"] {
            world.write(file, "# a file\n");
        }
        let unix = UnixListener::bind(world.path("user/agent.sock")).unwrap();
        unix.set_nonblocking(true).unwrap();
        let canaries = Self { world, tcp, unix };
        let payload = PAYLOAD.replace("CANARY_PORT", &canaries.port());
        for name in PAYLOADS {
            let file = canaries.world.write(&format!("work/{name}"), &payload);
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink(canaries.world.path("user"), canaries.world.path("work/link")).unwrap();
        canaries
    }

    fn port(&self) -> String {
        self.tcp.local_addr().unwrap().port().to_string()
    }

    /// A command as it is meant on this machine.
    fn localized(&self, command: &str) -> String {
        let user = self.world.path("user").display().to_string();
        let work = self.world.workspace().display().to_string();
        command.replace("/home/user", &user).replace("/space/project", &work)
    }

    /// Everything outside of the workspace that could have been changed.
    fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        look(&self.world.path("outside"), &mut seen);
        look(&self.world.path("user"), &mut seen);
        for place in ["/etc/passwd", "/etc/hosts", "/etc/crontab"] {
            note(Path::new(place), &mut seen);
        }
        seen
    }

    /// Plays these attempts in one session; gives the places of those that ran, and what came out.
    fn play(&self, flags: &[&str], commands: &[&str]) -> (Vec<usize>, String) {
        let mut script = String::new();
        for command in commands {
            let command = serde_json::Value::String(self.localized(command));
            // JSON's escapes are TOML's, but for one.
            let command = command.to_string().replace("\\/", "/").replace('\u{7f}', "\\u007f");
            let input = format!("{{ command = {command}, timeout = {ATTEMPT_MILLIS} }}");
            write!(script, "[[reply]]\nblocks = [{{ call = \"Bash\", input = {input} }}]\n")
                .unwrap();
        }
        script.push_str("[[reply]]\ntext = \"done\"\n");
        let output = self
            .world
            .exec(
                &script,
                &[flags, &["--json", "--max-rounds", "0", "--no-settings", "go"]].concat(),
            )
            .env("HOME", self.world.path("user"))
            .env("TMPDIR", self.world.path("temp"))
            .run()
            .exits(0);
        let n_finished = output.of_type("call_finished").len();
        assert_eq!(n_finished, commands.len(), "every attempt has its result");
        let round = |call: &serde_json::Value| -> usize {
            call["call"].as_str().unwrap().split('.').nth(1).unwrap().parse().unwrap()
        };
        let ran = output.of_type("call_started").iter().map(|call| round(call) - 1).collect();
        let results = output.stdout.lines().filter(|line| line.contains(r#""tool_result":"#));
        (ran, results.collect())
    }
}

fn look(folder: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    note(folder, seen);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            look(&path, seen);
        } else {
            note(&path, seen);
        }
    }
}

/// What is true of a path: its kind, mode, owner, size, time of change and content.
fn note(path: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    let Ok(data) = path.symlink_metadata() else { return };
    let content = if data.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
    let facts = (data.mode(), data.uid(), data.len(), data.mtime_nsec(), data.ctime_nsec());
    seen.insert(path.to_owned(), format!("{facts:?} {content:?}"));
}

#[test]
fn what_runs_without_the_box_is_noticed() {
    let canaries = Canaries::new();
    let before = canaries.outside();
    let (ran, results) = canaries.play(&["--allow", "Bash(./payload)"], &["./payload"]);
    assert_eq!(ran, [0]);
    assert!(results.contains(SECRET), "{results}");
    assert!(canaries.tcp.accept().is_ok());
    let after = canaries.outside();
    let changed = after.iter().filter(|(path, facts)| before.get(*path) != Some(facts));
    let names = changed.map(|(path, _)| path.file_name().unwrap().to_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["outside", "canary", "user", ".bashrc", "canary"]);
}

#[test]
fn no_attempt_that_runs_unasked_touches_anything_outside() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let mut n_ran = 0;
    let mut let_through = Vec::new();
    let corpora = [ATTEMPTS, SECOND_ATTEMPTS].map(|text| toml::from_str::<Attempts>(text).unwrap());
    let rows: Vec<Row> = corpora.into_iter().flat_map(|corpus| corpus.attempt).collect();
    for rows in rows.chunks(SESSION_ROWS) {
        let canaries = Canaries::new();
        let before = canaries.outside();
        let commands: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
        let (ran, results) = canaries.play(&[], &commands);
        assert!(!results.contains(SECRET), "a secret came out");
        assert_eq!(canaries.outside(), before);
        assert!(canaries.tcp.accept().is_err() && canaries.unix.accept().is_err(), "a connection");
        wait_until_gone(&canaries.world);
        n_ran += ran.len();
        let must_ask = ran.iter().map(|at| &rows[*at]).filter(|row| !row.accepts(Want::Confined));
        let_through.extend(must_ask.map(|row| row.command.clone()));
    }
    assert_eq!(let_through, [""; 0], "these must ask");
    // Enough of them ran to show that the box holds.
    assert!(n_ran >= RAN_MIN, "only {n_ran} attempts ran");
}
