//! The storm finds nothing in the shipped program, and something in programs that are broken.

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use heeler_testkit::require;

    /// The program that was built with this test; `None` when only this test was.
    fn heeler() -> Option<PathBuf> {
        let beside = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("heeler");
        require("heeler beside xtask (cargo build -p heeler-cli)", beside.exists())
            .then_some(beside)
    }

    /// Runs a storm over a program; returns what it printed, and whether all was well.
    #[expect(clippy::disallowed_methods, reason = "the storm is tested from outside")]
    fn storm(binary: &Path, kills: &str) -> (String, bool) {
        // SIGINT is ignored, as for what a script starts in its background: it strikes all the same.
        let mut command = Command::new("sh");
        command.args(["-c", r#"trap '' INT; exec "$@""#, "sh", env!("CARGO_BIN_EXE_xtask")]);
        command.args(["storm", "--seed", "1", "--kills", kills, "--binary"]).arg(binary);
        let folder = tempfile::tempdir().unwrap();
        // What a broken session leaves goes with the folder.
        let output = command.env("TMPDIR", folder.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout) + &text(&output.stderr), output.status.success())
    }

    /// Runs a storm over a shell script that ends in the real program; what the machine can do is
    /// asked of that alone.
    fn check_broken(before: &str, expected: &str) {
        let Some(heeler) = heeler() else { return };
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("broken");
        let broken = format!("if [ \"$1\" != doctor ]; then\n{before}\nfi");
        let text = format!("#!/bin/sh\n{broken}\nexec '{}' \"$@\"\n", heeler.display());
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (said, is_well) = storm(&script, "1");
        assert!(!is_well && said.contains("violations: 1"), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("again: cargo xtask storm --kills 1 --seed 1"), "{said}");
    }

    #[test]
    fn the_shipped_program_stands() {
        let Some(heeler) = heeler() else { return };
        let (said, is_well) = storm(&heeler, "10");
        assert!(is_well && said.contains("violations: 0"), "{said}");
        let kills = said.split("kills ").nth(2).and_then(|rest| rest.split(',').next());
        assert!(kills.is_some_and(|n| n.parse::<u64>().is_ok_and(|n| n >= 10)), "{said}");
    }

    #[test]
    fn a_signal_strikes_before_anybody_listens() {
        check_broken("kill -INT $$", "it ended with Signal(2)");
    }

    #[test]
    fn an_effect_that_happens_again_is_found() {
        check_broken("[ -s effects.txt ] && tail -n 1 effects.txt >> effects.txt", " times");
    }

    #[test]
    fn a_lost_record_is_found() {
        let lose =
            r#"for j in "$HEELER_HOME"/sessions/*.jsonl; do [ -f "$j" ] && sed -i '$d' "$j"; done"#;
        check_broken(lose, "the journal");
    }

    #[test]
    fn a_file_that_is_left_is_found() {
        check_broken("touch .heeler-left", "files are left: ");
    }

    #[test]
    fn an_end_that_nothing_explains_is_found() {
        check_broken("exit 7", "it ended with Code(7)");
    }
}
