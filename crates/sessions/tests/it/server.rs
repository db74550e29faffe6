//! A real PostgreSQL of the test's own, on a socket in a temporary folder.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use heeler_testkit::{player, require};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// Whom it runs as when the tests run as root: it refuses to be root itself.
const NOBODY: u32 = 65_534;

pub(crate) const PASSWORD: &str = "geheim-7Zq%4";

/// A running server; stopped when dropped, and when its test dies.
pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    child: Option<Child>,
}

impl Server {
    /// Starts a server with an empty database, or says that there is none on this machine.
    pub(crate) fn start() -> Option<Self> {
        let programs = programs().filter(|_| Path::new("/usr/bin/setpriv").exists());
        if !require("postgres", programs.is_some()) {
            return None;
        }
        // The path of a socket is short, so not where the variable for temporary folders says.
        let folder = tempfile::Builder::new().prefix("heeler-pg-").tempdir_in("/tmp").unwrap();
        let mut server = Self { folder, programs: programs?, child: None };
        let password = server.path("password");
        std::fs::write(&password, PASSWORD).unwrap();
        if geteuid().is_root() {
            chown(server.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&password, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut init = server.command("initdb");
        init.args(["--no-sync", "--username=heeler", "--auth=scram-sha-256"]);
        init.args(["--encoding=UTF8", "--locale=C.UTF-8"]);
        init.arg("--pwfile").arg(&password).arg("-D").arg(server.path("data"));
        let made = init.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.run();
        Some(server)
    }

    /// Runs it, again after a stop.
    pub(crate) fn run(&mut self) {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.path("data")).arg("-k").arg(self.folder.path());
        for setting in ["listen_addresses=", "fsync=off", "lc_messages=C", "max_connections=50"] {
            command.args(["-c", setting]);
        }
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready to accept connections") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        // A full pipe would stop it.
        std::thread::spawn(move || log.read_to_end(&mut Vec::new()));
        self.child = Some(child);
    }

    /// Stops it, whoever is connected.
    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            child.wait().unwrap();
        }
    }

    /// How to connect to it.
    pub(crate) fn connection(&self) -> String {
        self.connection_with(PASSWORD)
    }

    pub(crate) fn connection_with(&self, password: &str) -> String {
        let host = self.folder.path().display();
        format!("host={host} user=heeler dbname=postgres password='{password}'")
    }

    /// A connection beside the store's.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        let (client, connection) =
            tokio_postgres::connect(&self.connection(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// One of PostgreSQL's programs, as somebody who is not root, that ends with its test.
    fn command(&self, program: &str) -> Command {
        let mut command = player::command("/usr/bin/setpriv");
        command.arg("--pdeathsig=QUIT");
        if geteuid().is_root() {
            command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
            command.arg("--clear-groups");
        }
        command.arg("--").arg(self.programs.join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Where PostgreSQL's programs are: Debian keeps those of each version in a folder of their own.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.into_iter().rev().chain(std::env::split_paths(&path));
    let can_run = |path: PathBuf| {
        path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
    };
    all.into_iter()
        .find(|folder| can_run(folder.join("initdb")) && can_run(folder.join("postgres")))
}
