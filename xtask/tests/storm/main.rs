//! The storm finds nothing in the shipped program, and something in programs that are broken.

#[cfg(test)]
mod spoiler;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use heeler_testkit::require;

    use crate::spoiler;

    /// The program that was built with this test; `None` when only this test was.
    fn heeler() -> Option<PathBuf> {
        let beside = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("heeler");
        require("heeler beside xtask (cargo build -p heeler-cli)", beside.exists())
            .then_some(beside)
    }

    /// Runs a storm over a program; returns what it printed, and whether all was well.
    #[expect(clippy::disallowed_methods, reason = "the storm is tested from outside")]
    fn storm(binary: &Path, kills: &str, patience: &str) -> (String, bool) {
        // SIGINT is ignored, as for what a script starts in its background: it strikes all the same.
        let mut command = Command::new("sh");
        command.args(["-c", r#"trap '' INT; exec "$@""#, "sh", env!("CARGO_BIN_EXE_xtask")]);
        command.args(["storm", "--seed", "1", "--kills", kills, "--patience", patience]);
        command.arg("--binary").arg(binary);
        let folder = tempfile::tempdir().unwrap();
        // What a broken session leaves goes with the folder.
        let output = command.env("TMPDIR", folder.path()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout) + &text(&output.stderr), output.status.success())
    }

    /// Seconds, where a storm waits for something that does not come.
    const SHORT: &str = "8";
    /// Seconds, where it waits for nothing.
    const LONG: &str = "60";

    /// Runs a storm over a shell script that ends in the real program; what the machine can do is
    /// asked of that alone.
    fn check_broken(before: &str, expected: &str) {
        check_all_said(before, LONG, &[expected]);
    }

    fn check_all_said(before: &str, patience: &str, expected: &[&str]) {
        let Some(heeler) = heeler() else { return };
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("broken");
        let broken = format!("if [ \"$1\" != doctor ]; then\n{before}\nfi");
        let text = format!("#!/bin/sh\n{broken}\nexec '{}' \"$@\"\n", heeler.display());
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (said, is_well) = storm(&script, "1", patience);
        assert!(!is_well && said.contains("violations: 1"), "{said}");
        for words in expected {
            assert!(said.contains(words), "{words} is missing: {said}");
        }
        assert!(said.contains("again: cargo xtask storm --kills 1 --seed 1"), "{said}");
    }

    #[test]
    fn the_shipped_program_stands() {
        let Some(heeler) = heeler() else { return };
        let (said, is_well) = storm(&heeler, "10", LONG);
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
        check_broken(lose, "the journal lost what was written: ");
    }

    #[test]
    fn a_file_that_is_left_is_found_however_deep() {
        check_broken("touch .heeler-left", "files are left: work/.heeler-left");
        let deep = r#"mkdir -p "$HEELER_HOME/sessions/a/b"; : > "$HEELER_HOME/sessions/a/b/.tmp1""#;
        check_broken(
            deep,
            "files are left: home/sessions/a/, home/sessions/a/b/, home/sessions/a/b/.tmp1",
        );
        let temporary = r#"mkdir -p "$TMPDIR/heeler-left/b"; : > "$TMPDIR/heeler-left/b/c""#;
        check_broken(temporary, "temp/heeler-left/b/c");
    }

    #[test]
    fn a_process_that_is_left_is_found() {
        let leave = "(setsid sleep 1000 </dev/null >/dev/null 2>&1 &)";
        check_all_said(leave, SHORT, &["processes are left: ", " (S) sleep 1000"]);
    }

    #[test]
    fn a_process_that_holds_a_pipe_is_found() {
        let stays = "it ended, and its output stays open";
        check_all_said("sleep 1000 2>/dev/null &", SHORT, &[stays, " (S) sleep 1000"]);
        let stays = "it ended, and its stderr stays open";
        check_all_said("sleep 1000 >/dev/null &", SHORT, &[stays, " (S) sleep 1000"]);
    }

    #[test]
    fn an_invalid_request_is_found() {
        let port = spoiler::start().unwrap();
        let lead = format!(
            r#"ANTHROPIC_BASE_URL="http://127.0.0.1:{port}/${{ANTHROPIC_BASE_URL##*:}}"; export ANTHROPIC_BASE_URL"#
        );
        check_broken(&lead, "requests are invalid: ");
    }

    #[test]
    fn a_process_that_hangs_is_told_with_where_it_stands() {
        // From the first effect on, so that there is a session.
        let hang = "[ -s effects.txt ] && exec sleep 1000";
        let told = [
            "it hangs: not a word for 8 s",
            ": session ",
            ", its last record ",
            "; process ",
            ", its last events: ",
            "; alive: ",
            " (S) sleep 1000",
        ];
        check_all_said(hang, SHORT, &told);
    }

    #[test]
    fn an_end_that_nothing_explains_is_found() {
        check_broken("exit 7", "it ended with Code(7)");
    }
}
