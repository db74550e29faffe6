//! What runs outside of the box later, or decides what does: no command in the box puts it there.
//! Through the whole program, with git itself.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use heeler_testkit::require;

use crate::running::Heeler;
use crate::support::{World, can_confine, program};

/// A world whose workspace is a repository, where this machine can make a box.
pub(crate) fn world() -> Option<World> {
    require("a sandbox on this machine", can_confine()).then(|| {
        let world = World::new();
        git(&world, "init -q");
        git(&world, "config user.name t");
        git(&world, "config user.email t@localhost");
        world
    })
}

/// What git says to these words in the workspace.
pub(crate) fn git(world: &World, words: &str) -> String {
    let mut command = program("git");
    world.settle(command.args(words.split(' ')));
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {words}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Writes files of the workspace, with their folders.
fn write(world: &World, files: &[(&str, &str)]) {
    for (file, text) in files {
        fs::create_dir_all(world.path("work").join(file).parent().unwrap()).unwrap();
        world.write(&format!("work/{file}"), text);
    }
}

/// What the model is told of a script that runs in the box.
pub(crate) fn boxed(
    world: &World,
    script: &str,
    flags: &[&str],
    change: impl FnOnce(Heeler) -> Heeler,
) -> String {
    // In a file: of a line the verdict would say what it thinks of the names in it.
    world.write("work/script", script);
    let model = "[[reply]]\nblocks = [{ call = \"Bash\", input = { command = \"sh script\" } }]\n\
                 [[reply]]\ntext = \"done\"\n";
    let output = change(world.exec(model, &[flags, &["--json", "go"]].concat())).run().exits(0);
    let messages = output.of_type("message").into_iter();
    let blocks = messages.flat_map(|it| it["message"]["blocks"].as_array().unwrap().clone());
    let results = blocks.filter_map(|block| {
        Some(block.get("tool_result")?["content"][0]["text"]["text"].as_str()?.to_owned())
    });
    world.plain(&results.collect::<String>())
}

#[test]
fn what_git_would_look_into_does_not_come_to_be() {
    let Some(world) = world() else { return };
    git(&world, "config core.hooksPath .githooks");
    git(&world, "config include.path ../.gitconfig.local");
    let ran = world.path("ran");
    let program = format!("touch {}", ran.display());
    for script in [
        format!(
            "mkdir .githooks; echo '{program}' > .githooks/pre-commit; \
             chmod +x .githooks/pre-commit"
        ),
        format!("printf '[core]\\n\\tfsmonitor = \"{program}; false\"\\n' > .gitconfig.local"),
    ] {
        let told = boxed(&world, &script, &[], |heeler| heeler);
        assert!(told.contains("which is protected"), "{told}");
        git(&world, "commit -q --allow-empty -m x");
        git(&world, "status");
        assert!(!ran.exists(), "{script}");
    }
}

/// As `git init --separate-git-dir` makes it.
#[test]
fn a_git_folder_of_another_name_is_protected_as_well() {
    let Some(world) = world() else { return };
    fs::rename(world.path("work/.git"), world.path("work/.bare")).unwrap();
    world.write("work/.git", "gitdir: ./.bare\n");
    let before = world.worked(".bare/config");
    let script =
        "echo evil >> .bare/config; mkdir -p .bare/hooks; echo evil > .bare/hooks/pre-commit";
    boxed(&world, script, &[], |heeler| heeler);
    assert_eq!(world.worked(".bare/config"), before);
    assert!(!world.path("work/.bare/hooks/pre-commit").exists());
    git(&world, "commit -q --allow-empty -m x");
}

/// What git is told to ask is no folder of the workspace.
#[test]
fn words_of_settings_close_no_folders_of_their_name() {
    let Some(world) = world() else { return };
    let settings = "[credential]\n\thelper = !gh auth git-credential\n\thelper = store\n[core]\n\teditor = code --wait\n";
    world.write(".gitconfig", settings);
    write(&world, &[("auth/a", ""), ("store/a", ""), ("code/a", "")]);
    let told =
        boxed(&world, "for i in auth store code; do echo new > $i/b; done; echo done", &[], |it| {
            it
        });
    assert_eq!(told, "done", "{told}");
}

/// A pipe in the place of git's own file is not waited for.
#[test]
fn what_is_no_file_of_git_hangs_nobody() {
    let Some(world) = world() else { return };
    fs::remove_dir_all(world.path("work/.git")).unwrap();
    assert!(program("mkfifo").arg(world.path("work/.git")).status().unwrap().success());
    assert!(boxed(&world, "echo done", &[], |heeler| heeler).contains("done"));
}

/// Nor does a tool put it there that nobody is asked about.
#[test]
fn what_git_runs_is_edited_by_no_mode_that_accepts_edits() {
    let Some(world) = world() else { return };
    git(&world, "config core.hooksPath tools/hooks");
    let call = |path: &str| {
        let path = world.path("work").join(path);
        let input = format!("{{ file_path = {:?}, content = \"x\" }}", path.display().to_string());
        format!("[[reply]]\nblocks = [{{ call = \"Write\", input = {input} }}]\n")
    };
    let paths = ["tools/hooks/pre-commit", "tools/hooks.md"];
    let script = paths.map(call).concat() + "[[reply]]\ntext = \"done\"\n";
    fs::create_dir(world.path(".claude")).unwrap();
    world.write(".claude/settings.json", r#"{"permissions": {"defaultMode": "acceptEdits"}}"#);
    world.exec(&script, &["--permission-mode", "accept-edits", "go"]).run().exits(0);
    assert_eq!(paths.map(|path| world.path("work").join(path).exists()), [false, true]);
    for (path, expected) in paths.into_iter().zip(["ask", "allow"]) {
        let call = format!("Write({path})");
        let said = world.heeler(&["permissions", "explain", &call]).run();
        assert!(said.stdout.starts_with(expected), "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn nothing_comes_to_stand_where_a_hook_runs_it() {
    let Some(world) = world() else { return };
    write(&world, &[("scripts/guard.sh", "exit 0\n")]);
    let line = "sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh; if [ -x ./local.sh ]; then ./local.sh; fi; \
                cd later 2>/dev/null && sh ./run.sh; true";
    crate::hooks::set(&world, "PreToolUse", line);
    let script = "echo evil > scripts/guard.sh; echo evil > scripts/lib.sh; echo evil > local.sh; \
                  mkdir -p later; echo evil > later/run.sh; echo fine > free.sh";
    boxed(&world, script, &[], |heeler| heeler);
    let is_there = |file: &str| world.path("work").join(file).exists();
    for file in ["scripts/lib.sh", "local.sh", "later/run.sh"] {
        assert!(!is_there(file), "{file}");
    }
    assert_eq!(fs::read_to_string(world.path("work/scripts/guard.sh")).unwrap(), "exit 0\n");
    assert!(is_there("free.sh"));
}

#[test]
fn what_settings_of_git_name_cannot_be_changed() {
    let Some(world) = world() else { return };
    for (key, value) in [
        ("pager.log", "./s/pager"),
        ("alias.d", "!./s/alias"),
        ("mergetool.x.cmd", "s/cmd"),
        ("interactive.diffFilter", "s/filter"),
        ("remote.o.uploadpack", "s/up"),
        ("new.key", "--run=s/new"),
    ] {
        git(&world, &format!("config {key} {value}"));
    }
    world.write(".gitconfig", "[core]\n\thooksPath = hooks\n\teditor = sh \\\n  s/editor\n");
    let names = ["pager", "alias", "cmd", "filter", "up", "new", "editor"];
    let files: Vec<String> = names.iter().map(|name| format!("s/{name}")).collect();
    let mut files: Vec<&str> = files.iter().map(|name| &**name).collect();
    files.push("hooks/pre-commit");
    write(&world, &files.iter().map(|name| (*name, "mine")).collect::<Vec<_>>());
    write(&world, &[("s/other", "mine")]);
    let script =
        format!("for i in {} s/other; do echo evil > $i && echo W:$i; done", files.join(" "));
    let told = boxed(&world, &script, &[], |heeler| heeler);
    assert_eq!(told.matches("W:").collect::<String>(), "W:", "{told}");
    assert_eq!(world.worked("s/other"), "evil\n", "{told}");
    for name in files {
        assert_eq!(world.worked(name), "mine", "{name}");
    }
}

#[test]
fn another_folder_that_may_be_written_is_guarded_as_well() {
    let Some(world) = world() else { return };
    fs::create_dir(world.path("other")).unwrap();
    let other = world.path("other");
    git(&world, &format!("init -q {}", other.display()));
    fs::create_dir_all(other.join(".git/hooks")).unwrap();
    let settings = format!("[sandbox]\nwritable = [{other:?}]\n");
    let settings = world.write("settings.toml", settings).display().to_string();
    for (line, is_made) in [
        ("echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"),
        ("git config core.fsmonitor evil", ".git/evil"),
        ("echo evil > .envrc", ".envrc"),
        ("mkdir .vscode", ".vscode"),
    ] {
        let script = format!("cd ../other; touch made; {line}");
        let told = boxed(&world, &script, &["--settings", &settings], |heeler| heeler);
        assert!(!other.join(is_made).exists(), "{told}");
    }
    let config = fs::read_to_string(other.join(".git/config")).unwrap();
    assert!(!config.contains("evil") && other.join("made").exists());
}

#[test]
fn below_a_submodule_the_repository_around_it_is_not_ours() {
    let Some(world) = world() else { return };
    let library = world.path("library");
    git(&world, &format!("init -q {}", library.display()));
    let there = format!("-C {} -c user.name=t -c user.email=t@localhost", library.display());
    fs::create_dir(library.join("src")).unwrap();
    fs::write(library.join("src/a"), "").unwrap();
    git(&world, &format!("{there} add ."));
    git(&world, &format!("{there} commit -q -m x"));
    let add = "-c protocol.file.allow=always submodule --quiet add";
    git(&world, &format!("{add} {} sub", library.display()));
    let source = world.path("work/sub/src");
    let script = "echo evil > ../../.git/refs/heads/evil; echo evil > ../../.git/modules/sub/evil; \
                  echo mine > a";
    world.write("work/sub/src/script", script);
    let told = boxed(&world, script, &[], |heeler| heeler.cwd(&source));
    assert_eq!(fs::read_to_string(source.join("a")).unwrap(), "mine\n", "{told}");
    for name in ["refs/heads/evil", "modules/sub/evil"] {
        assert!(!world.path("work/.git").join(name).exists(), "{told}");
    }
}

#[test]
fn a_folder_of_programs_is_known_by_whatever_name() {
    let Some(world) = world() else { return };
    write(&world, &[("bin/tool", "mine")]);
    symlink("work", world.path("link")).unwrap();
    let path = |folder: &str| {
        let folder = world.path(folder);
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
    };
    let script = "echo evil > bin/tool; cp script bin/git; rm -r bin; true";
    let told = boxed(&world, script, &[], |heeler| heeler.env("PATH", path("link/bin")));
    assert!(!world.path("work/bin/git").exists() && world.worked("bin/tool") == "mine", "{told}");
    // One that cannot be protected is none: not for what runs outside of the box later, either.
    let script = "cp script tool; chmod +x tool; command -v tool || echo none";
    for folder in ["work", "link"] {
        let path = path(folder);
        let told = boxed(&world, script, &[], |heeler| heeler.env("PATH", &path));
        assert_eq!(told, "none", "{folder}");
        let model = "[[reply]]\ntext = \"done\"\n";
        let said = world.exec(model, &["go"]).env("PATH", path).run().exits(0);
        assert!(said.stderr.contains("commands do not look for programs in"), "{said:?}");
    }
}

#[test]
fn a_script_of_a_hook_is_known_by_whatever_name() {
    let Some(world) = world() else { return };
    write(&world, &[("tools/my guard.sh", "exit 0"), ("guard.sh", "exit 0")]);
    symlink("work", world.path("link")).unwrap();
    let link = world.path("link/guard.sh").display().to_string();
    let mut settings = String::new();
    for command in [r#"sh "$HEELER_PROJECT_DIR/tools/my guard.sh""#, &format!("sh {link}")] {
        write!(settings, "[[hooks.PreToolUse]]\nmatcher = \"Read\"\n").unwrap();
        write!(settings, "[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n").unwrap();
        writeln!(settings, "command = {command:?}").unwrap();
    }
    let settings = world.write("settings.toml", settings).display().to_string();
    let script = "echo evil > 'tools/my guard.sh'; echo evil > guard.sh; echo done";
    let told = boxed(&world, script, &["--settings", &settings], |heeler| heeler);
    assert_eq!(told.matches("Read-only").count(), 2, "{told}");
    for name in ["tools/my guard.sh", "guard.sh"] {
        assert_eq!(world.worked(name), "exit 0", "{told}");
    }
}
