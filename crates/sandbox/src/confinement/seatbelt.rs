//! The profile of a box for macOS's seatbelt: a pure function of its confines.
//!
//! Of the rules that fit, the last decides. Rules go by path, so they hold for what does not exist
//! yet; what is protected is also held in its place by its folders, which cannot be moved away.

use std::fmt::Write as _;
use std::path::Path;

use super::{Confines, Network};

/// What every program may do: start others like it, look at the system, read, use its own files.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow system-fsctl)
(allow ipc-posix-sem)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read* file-test-existence)
(allow file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
"#;

/// Names are looked up by a daemon of the system.
const NETWORK: &str = r#"(allow system-socket)
(allow network-outbound (remote ip))
(allow network-bind network-inbound (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
"#;

/// What `/usr/bin/sandbox-exec -p` is given. Paths are taken as they are: they have to be
/// canonical, since seatbelt compares them with what links lead to.
#[must_use]
pub fn profile(confines: &Confines) -> String {
    let mut profile = BASE.to_owned();
    if confines.network == Network::Full {
        profile.push_str(NETWORK);
    }
    let mut rule = |verdict: &str, operations: &str, filter: &str, path: &Path| {
        // Writing to a string does not fail.
        let _ = writeln!(profile, "({verdict} {operations} ({filter} {}))", quoted(path));
    };
    for path in confines.writable_folders() {
        rule("allow", "file-write*", "subpath", path);
    }
    for path in &confines.protected {
        let path = confines.workspace.join(path);
        rule("deny", "file-write*", "subpath", &path);
        // The folders around it, up to the one that may be written.
        let mut roots = confines.writable_folders().filter(|root| path.starts_with(root));
        let Some(root) = roots.next() else { continue };
        for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(root)) {
            rule("deny", "file-write-unlink", "literal", folder);
        }
    }
    for path in &confines.secrets {
        rule("deny", "file-read* file-write*", "subpath", path);
    }
    profile
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(change: impl FnOnce(&mut Confines), expected: Expect) {
        let mut confines = Confines::new("/space/project", "/private/tmp/h");
        change(&mut confines);
        let profile = profile(&confines);
        expected.assert_eq(profile.strip_prefix(BASE).unwrap());
    }

    #[test]
    fn only_the_workspace_and_the_temporary_folder_are_written() {
        check(
            |_| {},
            expect![[r#"
            (allow file-write* (subpath "/space/project"))
            (allow file-write* (subpath "/private/tmp/h"))
        "#]],
        );
    }

    #[test]
    fn what_is_protected_or_secret_is_denied_after_what_is_allowed() {
        check(
            |confines| {
                confines.writable = vec!["/space/git".into()];
                confines.protected =
                    vec![".envrc".into(), ".git/hooks/x".into(), "/space/git/config".into()];
                confines.secrets = vec!["/Users/me/.ssh".into()];
            },
            expect![[r#"
                (allow file-write* (subpath "/space/project"))
                (allow file-write* (subpath "/private/tmp/h"))
                (allow file-write* (subpath "/space/git"))
                (deny file-write* (subpath "/space/project/.envrc"))
                (deny file-write-unlink (literal "/space/project"))
                (deny file-write* (subpath "/space/project/.git/hooks/x"))
                (deny file-write-unlink (literal "/space/project/.git/hooks"))
                (deny file-write-unlink (literal "/space/project/.git"))
                (deny file-write-unlink (literal "/space/project"))
                (deny file-write* (subpath "/space/git/config"))
                (deny file-write-unlink (literal "/space/git"))
                (deny file-read* file-write* (subpath "/Users/me/.ssh"))
            "#]],
        );
    }

    #[test]
    fn a_network_has_addresses_but_no_paths() {
        check(
            |confines| confines.network = Network::Full,
            expect![[r#"
            (allow system-socket)
            (allow network-outbound (remote ip))
            (allow network-bind network-inbound (local ip))
            (allow network-outbound (literal "/private/var/run/mDNSResponder"))
            (allow file-write* (subpath "/space/project"))
            (allow file-write* (subpath "/private/tmp/h"))
        "#]],
        );
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let path = "/a\") (allow default) (x \"\\";
        check(
            |confines| confines.secrets = vec![path.into()],
            expect![[r#"
            (allow file-write* (subpath "/space/project"))
            (allow file-write* (subpath "/private/tmp/h"))
            (deny file-read* file-write* (subpath "/a\") (allow default) (x \"\\"))
        "#]],
        );
    }
}
