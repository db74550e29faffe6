//! Which files are read, and that none is passed over.

use std::fs;
use std::os::unix::fs::symlink;

use heeler_settings::{FILE_BYTES_MAX, Files};

use crate::support::World;

const ALL: [&str; 7] = [
    "me/.claude/settings.json",
    "heeler/settings.toml",
    "me/work/.claude/settings.json",
    "me/work/.heeler/settings.toml",
    "me/work/.claude/settings.local.json",
    "me/work/.heeler/settings.local.toml",
    "heeler/projects.toml",
];

/// A file that denies a command named after it.
fn deny(world: &World, file: &str, command: &str) -> String {
    match file {
        _ if file.ends_with(".json") => {
            format!("{{\"permissions\":\n{{\"deny\": [\"Bash({command})\"]}}}}")
        }
        "heeler/projects.toml" => {
            format!("['{}'.permissions]\ndeny = ['Bash({command})']", world.workspace().display())
        }
        _ => format!("[permissions]\ndeny = ['Bash({command})']"),
    }
}

#[test]
fn every_file_is_read_with_its_place() {
    let world = World::new();
    assert_eq!(world.load().unwrap(), heeler_settings::Loaded::default());
    for (n, file) in ALL.into_iter().enumerate() {
        world.write(file, &deny(&world, file, &n.to_string()));
    }
    let rules: Vec<String> = world
        .load()
        .unwrap()
        .rules
        .iter()
        .map(|rule| world.plain(format!("{rule} {}", rule.source)))
        .collect();
    assert_eq!(
        rules,
        [
            "Bash(0) ~/.claude/settings.json:2",
            "Bash(1) WORLD/heeler/settings.toml:2",
            "Bash(2) .claude/settings.json:2",
            "Bash(3) .heeler/settings.toml:2",
            "Bash(4) .claude/settings.local.json:2",
            "Bash(5) .heeler/settings.local.toml:2",
            "Bash(6) WORLD/heeler/projects.toml:2",
        ]
    );
}

#[test]
fn a_file_that_cannot_be_used_stops_everything_and_is_named() {
    for (n, file) in ALL.into_iter().enumerate() {
        let world = World::new();
        let path = world.write(file, "{ = }");
        let error = world.plain(world.load().unwrap_err());
        assert!(error.contains(".json:1:") || error.contains(".toml:1:"), "{error}");
        assert!(
            error.contains("; mend it") && error.ends_with(", or move the file away"),
            "{error}"
        );

        let limit = usize::try_from(FILE_BYTES_MAX).unwrap();
        fs::write(&path, "\n".repeat(limit + 1)).unwrap();
        let error = world.load().unwrap_err().to_string();
        assert!(
            error.ends_with("the file has more than 1048576 bytes; make it shorter"),
            "{error}"
        );
        fs::write(&path, "\n".repeat(limit)).unwrap();
        world.load().unwrap();

        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = world.load().unwrap_err().to_string();
        assert!(error.ends_with("this is no file; move it away"), "{n}: {error}");
    }
}

#[test]
fn a_file_that_never_ends_is_not_waited_for() {
    for target in ["/dev/zero", "/dev/tty", "/proc/self/fd"] {
        let world = World::new();
        let path = world.write("me/work/.claude/x", "");
        symlink(target, path.with_file_name("settings.json")).unwrap();
        assert!(world.load().is_err(), "{target}");
    }
    let world = World::new();
    let path = world.write("me/work/.heeler/x", "").with_file_name("settings.toml");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(
        world.load().unwrap_err().to_string(),
        ".heeler/settings.toml: this is no file; move it away"
    );
    let looped = World::new();
    let path = looped.write("me/work/.claude/x", "").with_file_name("settings.json");
    symlink(&path, &path).unwrap();
    let error = looped.load().unwrap_err().to_string();
    assert!(error.starts_with(".claude/settings.json: cannot read the file: "), "{error}");
}

#[test]
fn what_is_no_folder_holds_no_settings() {
    let world = World::new();
    world.write("me/work/.claude", "a file");
    world.write("me/.claude", "a file");
    assert!(world.load().unwrap().rules.is_empty());
}

#[test]
fn somebody_who_works_at_home_is_no_stranger_there() {
    let world = World::new();
    world.write("me/.claude/settings.json", r#"{"env": {"A": "1"}}"#);
    world.write("me/.claude/settings.local.json", r#"{"env": {"B": "1"}}"#);
    let files = Files { workspace: world.path("me"), ..world.files() };
    let loaded = world.load_in(&files).unwrap();
    assert_eq!(loaded.environment.keys().collect::<Vec<_>>(), ["A"]);
    let [untrusted] = loaded.untrusted.try_into().unwrap();
    assert_eq!(untrusted.name, ".claude/settings.local.json");
}

#[test]
fn a_named_file_has_to_be_there() {
    let world = World::new();
    let path = world.write("more.toml", "[env]\nA = '1'");
    assert_eq!(world.files().given(&path).unwrap().content, b"[env]\nA = '1'");
    let error = world.files().given(&world.path("less.toml")).unwrap_err();
    assert_eq!(world.plain(error), "WORLD/less.toml: there is no such file; correct --settings");
}
