//! A real headless Chromium, driven over its own pipe: what a page shows, and what it does not do.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{PATIENCE, program};

/// The browser's program; Debian calls it so.
const PROGRAM: &str = "chromium";

/// A browser with one empty page. It ends with this value.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    session: String,
    n_asked: u64,
    _folder: TempDir,
}

impl Browser {
    pub(crate) fn open() -> Self {
        let folder = tempfile::Builder::new().prefix("heeler-it-browser-").tempdir().unwrap();
        let profile = folder.path().join("profile");
        std::fs::create_dir(&profile).unwrap();
        let [to, from] = ["to", "from"].map(|name| {
            let path = folder.path().join(name);
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            path
        });
        // The browser reads its commands from descriptor 3 and answers on 4.
        let script = r#"to=$1 from=$2; shift 2; exec "$@" 3<>"$to" 4<>"$from""#;
        let mut command = program("sh");
        command.args(["-c", script, "sh"]).arg(&to).arg(&from).arg(PROGRAM);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        command.env("HOME", folder.path()).env("TMPDIR", folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().unwrap();
        let both = |path: &Path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (commands, reader) = (both(&to), both(&from));
        let (tell, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(reader).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let session = String::new();
        let mut browser = Self { child, commands, answers, session, n_asked: 0, _folder: folder };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        browser.ask("Page.enable", json!({}));
        browser
    }

    /// Opens a file, and waits until it is loaded.
    pub(crate) fn loads(&mut self, path: &Path) {
        let url = format!("file://{}", path.display());
        self.ask("Page.navigate", json!({ "url": url }));
        self.waits(|message| message["method"] == "Page.loadEventFired");
    }

    /// What an expression comes to in the page, a promise when it is kept.
    pub(crate) fn says(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).unwrap();
        let answer = self.waits(|message| message["id"] == id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn waits(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.answers.recv_timeout(PATIENCE).expect("the browser answers");
            if is_it(&message) {
                return message;
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It has processes of its own, all of them in its group.
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Whether there is one; without, whoever needs it says so.
pub(crate) fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file());
    heeler_testkit::require("Chromium", found)
}
