//! Real input: heeler works on a clone of its own repository, is killed in the middle of a real
//! `cargo test`, goes on, and leaves exactly the change that was asked for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heeler_script::{BlockSpec, Expect, ReplySpec, Script};
use heeler_testkit::{MockServer, require};
use serde_json::json;

use crate::processes::wait_until_gone;
use crate::running::Heeler;
use crate::support::{World, program};

/// Cargo may first have to build what the crate depends on.
const PATIENCE: Duration = Duration::from_secs(600);

/// The first `cargo test` that would pass.
const CALL_TO_KILL: &str = "1.6.0";

/// A change of one place in one file.
struct Change {
    file: &'static str,
    old: &'static str,
    new: &'static str,
}

/// A test that does not compile until the other change is made.
const TEST: Change = Change {
    file: "crates/core/src/approver.rs",
    old: "        \"script\"\n    }\n}\n",
    new: "        \"script\"
    }
}

#[cfg(test)]
mod allows {
    use crate::Decision;

    #[test]
    fn only_a_yes_lets_a_call_run() {
        assert!(Decision::Once.allows() && !Decision::Deny { reason: None }.allows());
    }
}
",
};
const METHOD: Change = Change {
    file: "crates/core/src/policy.rs",
    old: "\n#[cfg(test)]\nmod tests {\n",
    new: "
impl Decision {
    /// Whether the call runs.
    #[must_use]
    pub fn allows(&self) -> bool {
        !matches!(self, Self::Deny { .. } | Self::DenyAndStop { .. })
    }
}

#[cfg(test)]
mod tests {
",
};

#[test]
fn a_change_of_our_own_repository_survives_a_kill() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    if !require("the git metadata of this workspace", root.join(".git").exists()) {
        return;
    }
    let build = Build::take();
    let world = World::new();
    let clone = Clone::of(&root, &world);
    let expected = clone.expected_patch();
    let server = MockServer::start(build.script());

    // The command writes where it builds, which is outside of the workspace.
    let target = format!("Edit(/{})", build.folder.display());
    let rules = ["--permission-mode", "accept-edits", "--allow", "Bash(cargo test:*)"];
    let rules = [&rules[..], &["--allow", &target]].concat();
    let heeler = |arguments: &[&str]| {
        let arguments = [&["--json", "--cwd", "clone"], &rules[..], arguments].concat();
        with_cargo(world.exec_at(&server, &arguments)).patience(PATIENCE)
    };
    let mut running = heeler(&["Decision needs `allows`; add it, and a test."]).start();
    while running.wait_for("call_started")["call"] != CALL_TO_KILL {}
    running.wait_for("call_progress");
    running.kill();
    wait_until_gone(&world);
    let written = world.journal_lines();

    let output = heeler(&["--continue"]).start().finish().exits(0);
    assert_eq!(output.terminal()["answer"], "`Decision::allows` is there and tested.");
    assert_eq!(server.violations(), [""; 0]);
    assert_eq!(clone.git(&["diff"]), expected);
    assert_eq!(clone.git(&["status", "--porcelain"]).lines().count(), 2);
    assert!(world.journal_lines().starts_with(&written));
}

/// Where the clone is built: a folder that later runs find again, for one run at a time.
struct Build {
    folder: PathBuf,
    _lock: File,
}

impl Build {
    fn take() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clone-target");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        Self { folder, _lock: lock }
    }

    /// The command that tests the change.
    fn command(&self) -> String {
        let folder = self.folder.display();
        format!("cargo test --offline -p heeler-core --lib --target-dir {folder} allows")
    }

    /// What the model does: looks, reads, writes the test, sees it fail, makes it pass.
    fn script(&self) -> Script {
        let test = || {
            let input = json!({ "command": self.command(), "timeout": 600_000 });
            ReplySpec::call("Bash", input)
        };
        let grep = |pattern| BlockSpec::call("Grep", json!({ "pattern": pattern }));
        let read = |change: &Change| BlockSpec::call("Read", json!({ "file_path": change.file }));
        let edit = |change: &Change| {
            let Change { file, old, new } = change;
            let input = json!({ "file_path": file, "old_string": old, "new_string": new });
            ReplySpec::call("Edit", input)
        };
        let after = |results: &[&str], reply: ReplySpec| {
            let results = results.iter().map(|text| (*text).to_owned()).collect();
            let expect = Expect { tool_result_contains: results, ..Expect::default() };
            ReplySpec { expect, verbatim: true, ..reply }
        };
        let greps = [grep("impl Approver for Scripted"), grep("pub enum Decision ")];
        Script::of([
            ReplySpec::blocks(greps),
            after(&[TEST.file, METHOD.file], ReplySpec::blocks([read(&TEST), read(&METHOD)])),
            after(&["impl Approver", "enum Decision"], edit(&TEST)),
            after(&[TEST.file], test()),
            after(&["no method named `allows`"], edit(&METHOD)),
            after(&[METHOD.file], test()),
            after(&["outcome is unknown"], test()),
            after(
                &["test result: ok. 1 passed"],
                ReplySpec::text("`Decision::allows` is there and tested."),
            ),
        ])
    }
}

/// A clone of this repository.
struct Clone<'w> {
    world: &'w World,
    folder: PathBuf,
}

impl<'w> Clone<'w> {
    fn of(root: &Path, world: &'w World) -> Self {
        // Who owns the repository does not matter here.
        world.write("gitconfig", "[safe]\n\tdirectory = *\n");
        let clone = Self { world, folder: world.path("work/clone") };
        let url = format!("file://{}", root.display());
        clone.run(&["clone", "--quiet", "--depth", "1", &url, "clone"], &world.workspace());
        clone
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.run(arguments, &self.folder)
    }

    fn run(&self, arguments: &[&str], folder: &Path) -> String {
        let mut command = program("git");
        self.world.settle(command.args(arguments));
        command.current_dir(folder).env("GIT_CONFIG_GLOBAL", self.world.path("gitconfig"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The patch as git writes it when the changes are made by hand; they are taken back again.
    fn expected_patch(&self) -> String {
        for Change { file, old, new } in [TEST, METHOD] {
            let path = self.folder.join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches(old).count(), 1, "{file} has changed: choose another {old:?}");
            std::fs::write(&path, text.replace(old, new)).unwrap();
        }
        let patch = self.git(&["diff"]);
        self.git(&["checkout", "--quiet", "--", "."]);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(patch.matches("\n+").count() - patch.matches("\n+++").count(), 18, "{patch}");
        patch
    }
}

/// Lets commands find the cargo that runs this test.
pub(crate) fn with_cargo(heeler: Heeler) -> Heeler {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let ours = |name, folder: &str| std::env::var_os(name).unwrap_or(home.join(folder).into());
    let heeler = heeler.env("CARGO_HOME", ours("CARGO_HOME", ".cargo"));
    let heeler = heeler.env("RUSTUP_HOME", ours("RUSTUP_HOME", ".rustup"));
    match std::env::var_os("RUSTUP_TOOLCHAIN") {
        Some(toolchain) => heeler.env("RUSTUP_TOOLCHAIN", toolchain),
        None => heeler,
    }
}
