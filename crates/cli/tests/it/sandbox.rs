//! Commands in the box, through the whole program: what they reach, what the model is told, and what
//! is left.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use heeler_testkit::require;

use crate::support::{World, can_confine};

/// Runs these commands one after the other under the shipped defaults: what the model is told.
fn check(world: &World, flags: &[&str], commands: &[&str], expected: Expect) {
    check_with(world, &[], flags, commands, expected);
}

/// The same, with these variables.
fn check_with(
    world: &World,
    variables: &[(&str, &str)],
    flags: &[&str],
    commands: &[&str],
    expected: Expect,
) {
    let mut script = String::new();
    for command in commands {
        let input = match command.strip_prefix("! ") {
            None => format!("{{ command = {command:?} }}"),
            Some(command) => format!("{{ command = {command:?}, outside_sandbox = true }}"),
        };
        write!(script, "[[reply]]\nblocks = [{{ call = \"Bash\", input = {input} }}]\n").unwrap();
    }
    script.push_str("[[reply]]\ntext = \"done\"\n");
    let heeler = world.exec(&script, &[flags, &["--json", "go"]].concat());
    let heeler = heeler.env("TMPDIR", world.path("temp"));
    let heeler = variables.iter().fold(heeler, |heeler, (name, value)| heeler.env(name, value));
    let output = heeler.run().exits(0);
    let mut told = String::new();
    for message in output.of_type("message") {
        let blocks = message["message"]["blocks"].as_array().unwrap().clone();
        for result in blocks.iter().filter_map(|block| block.get("tool_result")) {
            let text = result["content"][0]["text"]["text"].as_str().unwrap();
            writeln!(told, "{text}").unwrap();
        }
    }
    expected.assert_eq(&world.plain(&told));
    assert_eq!(std::fs::read_dir(world.path("temp")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn it_holds_what_nobody_allowed() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    world.write("outside.txt", "outside");
    std::fs::create_dir(world.path(".ssh")).unwrap();
    world.write(".ssh/id_ed25519", "a key");
    std::fs::create_dir_all(world.path("work/.git/hooks")).unwrap();
    world.write("work/name", ".git/hooks/pre-commit\n");
    check(
        &world,
        &[],
        &[
            "echo in > in.txt && cat in.txt",
            "echo a > \"$TMPDIR/a\" && cat \"$TMPDIR/a\"",
            // By way of a variable, so that only the box stands in the way.
            "p=..; cat $p/outside.txt; echo changed > $p/outside.txt",
            "h=$HOME; cat $h/.ssh/id_ed25519",
            "read -r hook < name; echo x > \"$hook\"",
            "sleep 100 & echo left one behind",
        ],
        expect![[r#"
            in
            a
            outside/usr/bin/bash: line 1: ../outside.txt: Read-only file system
            [sandbox: the box lets it write only in the workspace and TMPDIR. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
            cat: WORLD/.ssh/id_ed25519: Permission denied
            [sandbox: the box may have refused it a file, a folder or a system call. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
            /usr/bin/bash: line 1: .git/hooks/pre-commit: Read-only file system
            [sandbox: the box lets it write only in the workspace and TMPDIR. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
            left one behind
            [background processes were stopped when the command ended; with exec, where there is one, they go on]
        "#]],
    );
    assert_eq!(std::fs::read_to_string(world.path("outside.txt")).unwrap(), "outside");
    assert!(!world.path("work/.git/hooks/pre-commit").exists());
    crate::processes::wait_until_gone(&world);
}

#[test]
fn it_holds_what_a_rule_denies_by_pattern() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    for folder in ["work/k", "work/sub"] {
        std::fs::create_dir(world.path(folder)).unwrap();
    }
    world.write("work/k/a.key", "secret");
    world.write("work/k/b.txt", "plain\n");
    world.write("work/sub/.env", "secret");
    world.write("work/lock.toml", "old\n");
    check(
        &world,
        &["--deny", "Read(*.key)", "--deny", "Read(.env)", "--deny", "Edit(*.toml)"],
        &["cat k/*", "cat sub/.en?", "echo new > new.txt; cat new.txt; n=lock; echo x > $n.toml"],
        expect![[r#"
            cat: k/a.key: Permission denied
            plain
            [sandbox: the box may have refused it a file, a folder or a system call. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
            cat: sub/.env: Permission denied
            [sandbox: the box may have refused it a file, a folder or a system call. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
            new
            /usr/bin/bash: line 1: lock.toml: Read-only file system
            [sandbox: the box lets it write only in the workspace and TMPDIR. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
        "#]],
    );
    // What is more than is looked for is asked about, and nobody is there.
    check(
        &world,
        &["--deny", "Read(//**/*.key)"],
        &["cat k/*"],
        expect![[r#"
        Not allowed: the rule Bash (since the sandbox does not hold all that a rule denies: Read(/**/*.key) reaches beyond the folder that is worked in, where nobody looks for it) asks, and nobody can be asked in the mode allow-listed.
    "#]],
    );
}

#[test]
fn what_leaves_it_needs_somebody() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    check(
        &world,
        &[],
        &["curl http://127.0.0.1:9/", "git push", "rm -rf src", "! touch a", "$X y"],
        expect![[r#"
            Not allowed: it runs the command `curl http://SERVER/` (requests something from the network), which no rule allows, and nobody can be asked in the mode allow-listed.
            Not allowed: it runs the command `git push` (git push talks to another repository), which no rule allows, and nobody can be asked in the mode allow-listed.
            Not allowed: it runs the command `rm -rf src` (removes src for good), which no rule allows, and nobody can be asked in the mode allow-listed.
            Not allowed: it runs the command `touch a` (it asks to run outside of the sandbox), which no rule allows, and nobody can be asked in the mode allow-listed.
            Not allowed: it runs the command `$X y` (which command runs is computed: $X), which no rule allows, and nobody can be asked in the mode allow-listed.
        "#]],
    );
    check(
        &world,
        &["--allow", "Bash(touch:*)", "--allow", "Bash(curl:*)"],
        &["! touch a", "curl -s http://127.0.0.1:9/ || echo tried", "touch ../b"],
        expect![[r#"
            (no output)
            Not allowed: it runs the command `curl -s http://SERVER/ || echo tried` (requests something from the network), which no rule allows, and nobody can be asked in the mode allow-listed.
            Not allowed: it runs the command `touch ../b` (writes to WORLD/b, which is outside of the workspace), which no rule allows, and nobody can be asked in the mode allow-listed.
        "#]],
    );
    assert!(world.path("work/a").exists());
}

/// The shell that waits for the next call was started in the box of before.
#[test]
fn what_changes_between_two_commands_is_protected_as_it_is_now() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    std::fs::create_dir_all(world.path("work/.git")).unwrap();
    world.write("work/.git/config", "[core]\n");
    world.write("work/names", ".git/config .envrc\n");
    world.write("work/outside.sh", "echo mine > new; mv new .git/config; touch .envrc");
    let write = "read -r config envrc < names; echo evil >> \"$config\"; echo evil >> \"$envrc\"";
    check(
        &world,
        &["--allow", "Bash(sh outside.sh)"],
        &[write, "! sh outside.sh", write],
        expect![[r#"
            /usr/bin/bash: line 1: .git/config: Read-only file system
            [sandbox: it made `WORLD/work/.envrc`, which is protected; that is now `WORLD/work/.envrc.refused-1`. If the command needs that, call again with outside_sandbox true: the user is asked]
            (no output)
            /usr/bin/bash: line 1: .git/config: Read-only file system
            /usr/bin/bash: line 1: .envrc: Read-only file system
            [sandbox: the box lets it write only in the workspace and TMPDIR. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
        "#]],
    );
    let read = |name| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read("work/.git/config"), "mine\n");
    assert_eq!(read("work/.envrc"), "");
}

#[test]
fn a_secret_is_what_keeps_something() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    let key = world.write("key.json", "a key").display().to_string();
    std::os::unix::fs::symlink("/dev/null", world.path(".bash_history")).unwrap();
    check_with(
        &world,
        &[
            ("KUBECONFIG", "/dev/null"),
            ("HISTFILE", "/dev/null"),
            ("GOOGLE_APPLICATION_CREDENTIALS", &key),
        ],
        &[],
        &["echo x > /dev/null && echo wrote", "p=..; cat $p/key.json"],
        expect![[r#"
            wrote
            cat: ../key.json: Permission denied
            [sandbox: the box may have refused it a file, a folder or a system call. If the command needs that, call again with outside_sandbox true: the user is asked]
            exit code: 1
        "#]],
    );
}

#[test]
fn what_looks_only_by_its_name_changes_nothing_in_plan_mode() {
    if !require("a sandbox on this machine", can_confine()) {
        return;
    }
    let world = World::new();
    std::fs::create_dir(world.path("bin")).unwrap();
    let reader = world.path("bin/wc");
    let does = "#!/bin/sh\ntouch made.txt\necho b > \"$TMPDIR/b\" && cat \"$TMPDIR/b\"\nexit 1\n";
    std::fs::write(&reader, does).unwrap();
    std::fs::set_permissions(&reader, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    // The second finds a shell that waits, and what a rule lets out of the box stays in it here.
    for rules in [&[][..], &["--allow", "Bash"]] {
        check_with(
            &world,
            &[("PATH", &path)],
            &[&["--permission-mode", "plan"], rules].concat(),
            &["wc first", "wc second", "ls"],
            expect![[r#"
                touch: cannot touch 'made.txt': Read-only file system
                b
                [sandbox: the box may have refused it something: in plan mode a command writes only in TMPDIR]
                exit code: 1
                touch: cannot touch 'made.txt': Read-only file system
                b
                [sandbox: the box may have refused it something: in plan mode a command writes only in TMPDIR]
                exit code: 1
                (no output)
            "#]],
        );
    }
    check_with(
        &world,
        &[("PATH", &path)],
        &[],
        &["wc first; ls made.txt"],
        expect![[r#"
            b
            made.txt
        "#]],
    );
}
