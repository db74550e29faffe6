//! Where letters lead, played on real files: every way to a place that its letters do not show.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::{Denied, PROTECTED, Reach};

use super::found::PATH_BYTES_MAX;
use super::*;
use crate::testing::{Folder, check_in};

#[test]
fn letters_alone_make_a_path_absolute() {
    let cases = [
        ("a.rs", "/w/a.rs"),
        ("./a/../b", "/w/b"),
        ("../up", "/up"),
        ("../../../../etc/passwd", "/etc/passwd"),
        ("/x//y/./z/", "/x/y/z"),
        ("", "/w"),
        (".", "/w"),
    ];
    for (path, expected) in cases {
        assert_eq!(absolute(Path::new("/w"), path), Path::new(expected), "{path}");
    }
}

#[test]
fn facts_name_the_absolute_path() {
    let facts = write_facts("/w", "src/../a.rs");
    assert_eq!(facts.accesses, [Access::Write("/w/a.rs".into())]);
    assert_eq!(facts.resources, [Resource { key: "file:/w/a.rs".into(), write: true }]);
    assert!(!facts.replay_safe);
    assert!(read_facts("/w", "a.rs").replay_safe);
}

#[test]
fn a_path_too_long_or_with_a_nul_is_an_error() {
    let context = Folder::new(&[]).context();
    let error = |path: &str| Place::to_read(&context, "Read", path).unwrap_err().to_string();
    let long = error(&"x".repeat(PATH_BYTES_MAX + 1));
    assert_eq!(long, "the path has 4097 bytes; at most 4096 are possible");
    let nul = error("a\0b");
    assert!(nul.starts_with("cannot look up a\0b"), "{nul}");
}

/// Plays calls in `work`, beside a home with a secret, and with what rules deny.
fn check(files: &[(&str, &str)], calls: &[&str], expected: Expect) {
    let home = [("home/.ssh/id", "a key\n"), ("home/notes/n", "a note\n"), ("work/a", "one\n")];
    let mut folder = Folder::new(&[&home, files].concat());
    let denied = |tool: &str, below: PathBuf, glob: &str| Denied {
        tool: tool.to_owned(),
        below,
        glob: glob.to_owned(),
    };
    folder.workspace = "work";
    folder.reach = Arc::new(Reach {
        protected: PROTECTED.map(PathBuf::from).into(),
        secrets: vec![folder.path("home/.ssh"), "keys".into(), folder.path("home/link")],
        readable: vec![folder.path("work/keys/public")],
        denied: vec![
            denied("Read", "".into(), "**/.env"),
            denied("edit", "locked".into(), ""),
            denied("Grep", "vendor".into(), ""),
            denied("Read", folder.path("home"), "*.pem"),
        ],
        ..Reach::default()
    });
    check_in(&folder, calls, expected);
}

#[test]
fn a_link_to_what_decides_what_runs_is_not_written_through() {
    let files = [
        ("work/.git/hooks/pre-commit.sample", ""),
        ("work/.git/config", "[core]\n"),
        ("work/.heeler/settings.toml", ""),
        ("work/.claude/settings.json", "{}"),
        ("work/.mcp.json", "{}"),
        ("work/.envrc", "x\n"),
        ("work/.vscode/tasks.json", "{}"),
        ("work/sub/.git/config", "[core]\n"),
        ("work/hooks", "->.git/hooks"),
        ("work/config", "->.git/config"),
        ("work/docs/deep", "->../.heeler"),
        ("work/c", "->docs/../.claude"),
        ("work/mcp", "->.mcp.json"),
        ("work/env", "->$W/work/.envrc"),
        ("work/code", "->.vscode/../.vscode"),
        ("work/nested", "->sub/.git"),
        ("work/sub/.vscode/tasks.json", "{}"),
        ("work/tasks", "->sub/.vscode"),
    ];
    check(
        &files,
        &[
            r#"Write {"file_path":"hooks/pre-commit","content":"evil"}"#,
            r#"Write {"file_path":"hooks/new/pre-commit","content":"evil"}"#,
            r#"Edit {"file_path":"hooks/pre-push","old_string":"","new_string":"evil"}"#,
            r#"Read {"file_path":"config"}"#,
            r#"Edit {"file_path":"config","old_string":"core","new_string":"evil"}"#,
            r#"Write {"file_path":"config","content":"evil"}"#,
            r#"Write {"file_path":"docs/deep/settings.toml","content":"evil"}"#,
            r#"Write {"file_path":"c/settings.json","content":"evil"}"#,
            r#"Write {"file_path":"mcp","content":"evil"}"#,
            r#"Write {"file_path":"env","content":"evil"}"#,
            r#"Write {"file_path":"code/tasks.json","content":"evil"}"#,
            r#"Write {"file_path":"nested/config","content":"evil"}"#,
            r#"Write {"file_path":"tasks/tasks.json","content":"evil"}"#,
            r#"Write {"file_path":"sub/.vscode/new.json","content":"judged so\n"}"#,
            r#"Edit {"file_path":".git/config","old_string":"core","new_string":"user"}"#,
            r#"Write {"file_path":".claude/commands/new.md","content":"judged so\n"}"#,
            r#"Write {"file_path":"/proc/self/root$W/work/.zed/tasks.json","content":"{}"}"#,
        ],
        expect![[r#"
            > Write {"file_path":"hooks/pre-commit","content":"evil"}
            error: hooks/pre-commit leads to $W/work/.git/hooks/pre-commit, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"hooks/new/pre-commit","content":"evil"}
            error: hooks/new/pre-commit leads to $W/work/.git/hooks/new/pre-commit, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Edit {"file_path":"hooks/pre-push","old_string":"","new_string":"evil"}
            error: hooks/pre-push leads to $W/work/.git/hooks/pre-push, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Read {"file_path":"config"}
                 1	[core]
            > Edit {"file_path":"config","old_string":"core","new_string":"evil"}
            error: config leads to $W/work/.git/config, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"config","content":"evil"}
            error: config leads to $W/work/.git/config, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"docs/deep/settings.toml","content":"evil"}
            error: docs/deep/settings.toml leads to $W/work/.heeler/settings.toml, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"c/settings.json","content":"evil"}
            error: c/settings.json leads to $W/work/.claude/settings.json, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"mcp","content":"evil"}
            error: mcp leads to $W/work/.mcp.json, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"env","content":"evil"}
            error: env leads to $W/work/.envrc, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"code/tasks.json","content":"evil"}
            error: code/tasks.json leads to $W/work/.vscode/tasks.json, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"nested/config","content":"evil"}
            error: nested/config leads to $W/work/sub/.git/config, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"tasks/tasks.json","content":"evil"}
            error: tasks/tasks.json leads to $W/work/sub/.vscode/tasks.json, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":"sub/.vscode/new.json","content":"judged so\n"}
            Created sub/.vscode/new.json (1 line)
            > Edit {"file_path":".git/config","old_string":"core","new_string":"user"}
            Edited .git/config:
                 1 -[core]
                 1 +[user]
            > Write {"file_path":".claude/commands/new.md","content":"judged so\n"}
            Created .claude/commands/new.md (1 line)
            > Write {"file_path":"/proc/self/root$W/work/.zed/tasks.json","content":"{}"}
            error: /proc/self/root$W/work/.zed/tasks.json leads to $W/work/.zed/tasks.json, which decides what later runs; permission was given for another name only, so name that path if you need the file
            == work/.claude/commands/new.md "judged so\n"
            == work/.git/config "[user]\n"
            == work/sub/.vscode/new.json "judged so\n"
        "#]],
    );
}

#[test]
fn what_a_protected_name_links_to_is_protected_too() {
    check(
        &[("work/githooks/x", ""), ("work/.git/hooks", "->../githooks"), ("work/.git/HEAD", "")],
        &[
            r#"Write {"file_path":"githooks/pre-commit","content":"evil"}"#,
            r#"Write {"file_path":".git/hooks/pre-commit","content":"judged so"}"#,
        ],
        expect![[r#"
            > Write {"file_path":"githooks/pre-commit","content":"evil"}
            error: githooks/pre-commit leads to $W/work/.git/hooks/pre-commit, which decides what later runs; permission was given for another name only, so name that path if you need the file
            > Write {"file_path":".git/hooks/pre-commit","content":"judged so"}
            Created .git/hooks/pre-commit (1 line)
            == work/githooks/pre-commit "judged so"
        "#]],
    );
}

#[test]
fn secrets_are_read_and_written_by_nobody() {
    check(
        &[
            ("work/keys/k", "secret\n"),
            ("work/keys/public/k", "public\n"),
            ("work/link", "->keys"),
            ("work/out", "->../home/notes"),
            ("home/notes/ssh", "->../.ssh"),
            ("home/link", "->else"),
            ("home/else/x", "elsewhere\n"),
        ],
        &[
            r#"Read {"file_path":"$W/home/.ssh/id"}"#,
            r#"Read {"file_path":"$W/home/notes/ssh/id"}"#,
            r#"Read {"file_path":"$W/home/else/x"}"#,
            r#"Read {"file_path":"$W/home/.SSH/id"}"#,
            r#"Read {"file_path":"/proc/self/root$W/home/.ssh/id"}"#,
            r#"Read {"file_path":"/proc/self/cwd/../../../../../../../..$W/home/.ssh/id"}"#,
            r#"Read {"file_path":"keys/k"}"#,
            r#"Read {"file_path":"link/k"}"#,
            r#"Read {"file_path":"link/../keys/./k"}"#,
            r#"Read {"file_path":"keys/public/k"}"#,
            r#"Read {"file_path":"keys/none"}"#,
            r#"Write {"file_path":"link/new","content":"x"}"#,
            r#"Write {"file_path":"$W/home/.ssh/authorized_keys","content":"x"}"#,
            r#"Edit {"file_path":"keys/k","old_string":"","new_string":"x"}"#,
            r#"Grep {"pattern":"e","path":"keys"}"#,
            r#"Grep {"pattern":"e","path":"keys/k"}"#,
            r#"Glob {"pattern":"keys/*"}"#,
            r#"LS {"path":"link"}"#,
            r#"LS {"path":"$W/home/.ssh"}"#,
            r#"Read {"file_path":"$W/home/notes/n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"$W/home/.ssh/id"}
            error: $W/home/.ssh/id is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"$W/home/notes/ssh/id"}
            error: $W/home/notes/ssh/id leads to $W/home/.ssh/id, which is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"$W/home/else/x"}
            error: $W/home/else/x is closed: nothing reads or writes in $W/home/else, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"$W/home/.SSH/id"}
            error: $W/home/.SSH/id is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"/proc/self/root$W/home/.ssh/id"}
            error: /proc/self/root$W/home/.ssh/id leads to $W/home/.ssh/id, which is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"/proc/self/cwd/../../../../../../../..$W/home/.ssh/id"}
            error: /proc/self/cwd/../../../../../../../..$W/home/.ssh/id is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"keys/k"}
            error: keys/k is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"link/k"}
            error: link/k leads to $W/work/keys/k, which is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"link/../keys/./k"}
            error: link/../keys/./k is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"keys/public/k"}
                 1	public
            > Read {"file_path":"keys/none"}
            error: keys/none is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Write {"file_path":"link/new","content":"x"}
            error: link/new leads to $W/work/keys/new, which is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Write {"file_path":"$W/home/.ssh/authorized_keys","content":"x"}
            error: $W/home/.ssh/authorized_keys is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Edit {"file_path":"keys/k","old_string":"","new_string":"x"}
            error: keys/k is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Grep {"pattern":"e","path":"keys"}
            error: keys is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Grep {"pattern":"e","path":"keys/k"}
            error: keys/k is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Glob {"pattern":"keys/*"}
            error: keys is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > LS {"path":"link"}
            error: link leads to $W/work/keys, which is closed: nothing reads or writes in $W/work/keys, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > LS {"path":"$W/home/.ssh"}
            error: $W/home/.ssh is closed: nothing reads or writes in $W/home/.ssh, where keys, passwords or what was said to others is kept, whoever allows it; leave it to the user
            > Read {"file_path":"$W/home/notes/n"}
                 1	a note
        "#]],
    );
}

#[test]
fn searches_pass_over_what_is_closed() {
    check(
        &[
            ("work/keys/k", "secret one\n"),
            ("work/keys/public/k", "public one\n"),
            ("work/.env", "one\n"),
            ("work/sub/.env/deep", "one\n"),
            ("work/vendor/v", "one\n"),
            ("home/x.pem", "one\n"),
            ("home/deep/x.pem", "one\n"),
        ],
        &[
            r#"Grep {"pattern":"one"}"#,
            r#"Grep {"pattern":"one","glob":".env"}"#,
            r#"Grep {"pattern":"one","path":".env"}"#,
            r#"Grep {"pattern":"one","path":"vendor"}"#,
            r#"Read {"file_path":"vendor/v"}"#,
            r#"Glob {"pattern":"**"}"#,
            r#"Glob {"pattern":"**/.*"}"#,
            r#"Glob {"pattern":"$W/home/**"}"#,
            r#"Grep {"pattern":"key|note|one","path":"$W/home","glob":".*,*,.ssh/*"}"#,
            r#"LS {"path":"."}"#,
        ],
        expect![[r#"
            > Grep {"pattern":"one"}
            a
            (2 places are closed to tools and left out)
            > Grep {"pattern":"one","glob":".env"}
            No matches found
            (4 places are closed to tools and left out)
            > Grep {"pattern":"one","path":".env"}
            error: .env is closed: the rule Read(**/.env) denies it; leave it to the user
            > Grep {"pattern":"one","path":"vendor"}
            error: vendor is closed: the rule Grep(vendor) denies it; leave it to the user
            > Read {"file_path":"vendor/v"}
                 1	one
            > Glob {"pattern":"**"}
            vendor/v
            a
            (1 place is closed to tools and left out)
            > Glob {"pattern":"**/.*"}
            No file matches `**/.*` in .
            (3 places are closed to tools and left out)
            > Glob {"pattern":"$W/home/**"}
            $W/home/deep/x.pem
            $W/home/notes/n
            (1 place is closed to tools and left out)
            > Grep {"pattern":"key|note|one","path":"$W/home","glob":".*,*,.ssh/*"}
            $W/home/deep/x.pem
            $W/home/notes/n
            (2 places are closed to tools and left out)
            > LS {"path":"."}
            . (5 entries)
              closed  .env
                  4B  a
              closed  keys
                 dir  sub/
                 dir  vendor/
        "#]],
    );
}

#[test]
fn what_rules_deny_stays_denied_under_another_name() {
    check(
        &[
            ("work/.env", "one\n"),
            ("work/plain", "->.env"),
            ("work/locked/l", "one\n"),
            ("work/open", "->locked"),
            ("work/v", "->vendor"),
            ("work/vendor/v", "one\n"),
        ],
        &[
            r#"Read {"file_path":"plain"}"#,
            r#"Read {"file_path":"open/l"}"#,
            r#"Write {"file_path":"open/l","content":"two"}"#,
            r#"Edit {"file_path":"open/new","old_string":"","new_string":"x"}"#,
            r#"Grep {"pattern":"one","path":"v"}"#,
            r#"Read {"file_path":"v/v"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"plain"}
            error: plain leads to $W/work/.env, which is closed: the rule Read(**/.env) denies it; leave it to the user
            > Read {"file_path":"open/l"}
                 1	one
            > Write {"file_path":"open/l","content":"two"}
            error: open/l leads to $W/work/locked/l, which is closed: the rule edit(locked) denies it; leave it to the user
            > Edit {"file_path":"open/new","old_string":"","new_string":"x"}
            error: open/new leads to $W/work/locked/new, which is closed: the rule edit(locked) denies it; leave it to the user
            > Grep {"pattern":"one","path":"v"}
            error: v leads to $W/work/vendor, which is closed: the rule Grep(vendor) denies it; leave it to the user
            > Read {"file_path":"v/v"}
                 1	one
        "#]],
    );
}

#[test]
fn open_files_of_the_process_are_no_way_around() {
    let mut folder = Folder::new(&[("work/a", ""), ("keys/k", "secret\n")]);
    let _open = File::open(folder.path("keys/k")).unwrap();
    let number = _open.as_raw_fd();
    folder.workspace = "work";
    let read = |folder: &Folder, path: &str| {
        let said = folder.play("Read", &format!(r#"{{"file_path":"{path}/{number}"}}"#));
        said.replace(&number.to_string(), "N")
    };
    for path in ["/proc/self/fd", "/dev/fd", "/proc/thread-self/fd"] {
        folder.reach = Arc::default();
        assert_eq!(read(&folder, path), "     1\tsecret\n", "without a wall");
        folder.reach = Arc::new(Reach { secrets: vec![folder.path("keys")], ..Reach::default() });
        let said = read(&folder, path);
        assert!(said.contains("/N leads to $W/keys/k, which is closed: "), "{said}");
    }
}
