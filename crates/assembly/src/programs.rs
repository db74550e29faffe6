//! What runs outside of the box by its name or by itself, and stands where commands in it could write:
//! programs of `PATH`, and what hooks name.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use heeler_core::Reach;
use heeler_settings::{Loaded, SettingsError};

use crate::hooked::Ground;
use crate::words::names;
use crate::{Environment, SetupError};

/// Where programs are on most machines.
const USUAL_PATH: &str = "/usr/bin:/bin";

/// The folders of `PATH` that are there, as an activated environment has them, and what hooks name.
/// Each by its real name, too: a link may lead to what commands can write.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn programs(
    environment: &Environment,
    workspace: &Path,
    loaded: &Loaded,
) -> Result<Vec<PathBuf>, SetupError> {
    let home = environment.get("HOME")?.map(Path::new);
    let set = loaded.environment.get("PATH").map(|setting| &*setting.value);
    let paths = [environment.get("PATH")?, set].into_iter().flatten();
    let folders = paths.flat_map(std::env::split_paths).filter(|folder| folder.is_absolute());
    // One that is not there yet is made by whoever sets an environment up.
    let mut programs: Vec<PathBuf> =
        folders.filter(|folder| folder.is_dir()).flat_map(names).collect();
    let writable = loaded.writable.iter().map(|folder| folder.value.clone());
    let roots: Vec<PathBuf> = writable.chain([workspace.to_owned()]).flat_map(names).collect();
    let ground = Ground { workspace, home, roots: &roots };
    programs.extend(loaded.hooks.iter().flat_map(|hook| ground.named(&hook.command)));
    heeler_core::sort(&mut programs);
    programs.dedup();
    Ok(programs)
}

/// Takes from the `PATH` of commands the folders in which whatever runs in the box may put programs,
/// since the next command may run outside of it: those that may be written as a whole, which cannot be
/// protected, and relative ones, which are in the workspace. Returns what to say about it.
pub(crate) fn keep_out(
    variables: &mut [(String, String)],
    workspace: &Path,
    reach: &Reach,
) -> Option<SettingsError> {
    let path = variables.iter_mut().find(|(name, _)| name == "PATH").map(|(_, path)| path)?;
    // By what they are: a folder has many names.
    let identity = |folder: &Path| folder.metadata().ok().map(|about| (about.dev(), about.ino()));
    let writable = reach.writable.iter().map(PathBuf::as_path).chain([workspace]);
    let writable: Vec<_> = writable.filter_map(identity).collect();
    let is_kept = |folder: &PathBuf| {
        folder.is_absolute() && identity(folder).is_none_or(|it| !writable.contains(&it))
    };
    let (kept, out): (Vec<PathBuf>, _) = std::env::split_paths(&*path).partition(is_kept);
    let names = out.iter().map(|folder| match folder.to_str() {
        // As shells take it.
        Some("") => "`.`".to_owned(),
        _ => format!("`{}`", folder.display()),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    *path = std::env::join_paths(kept).ok()?.into_string().ok()?;
    if path.is_empty() {
        // Empty it would be the folder that a command runs in.
        USUAL_PATH.clone_into(path);
    }
    let why = format!(
        "commands do not look for programs in {names}: what runs in the box could put one there"
    );
    (!out.is_empty()).then(|| SettingsError::of_file("PATH", why))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use heeler_settings::HookSetting;

    use super::*;

    fn check(path: &str, hooks: &[&str], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let named = |text: &str| text.replace("ROOT", root.to_str().unwrap());
        for file in [".venv/bin/python", "guard.sh", "tools/check.py", "tools/my one.sh"] {
            let file = root.join("space").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        symlink("space", root.join("link")).unwrap();
        let hook = |command: &&str| HookSetting { command: named(command), ..hook() };
        let loaded = Loaded { hooks: hooks.iter().map(hook).collect(), ..Loaded::default() };
        let environment = Environment::default().with("PATH", &named(path));
        let found = programs(&environment, &root.join("space"), &loaded).unwrap().into_iter();
        let found = found.filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_owned()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.iter().map(PathBuf::from).collect::<Vec<_>>()
        );
    }

    fn hook() -> HookSetting {
        HookSetting {
            event: heeler_core::HookEvent::PreToolUse,
            matcher: String::new(),
            command: String::new(),
            timeout_seconds: None,
            only: None,
            in_background: false,
            broken: None,
            source: "test".into(),
        }
    }

    #[test]
    fn what_path_and_hooks_name_is_found_by_its_real_name_too() {
        let path = "ROOT/space/.venv/bin:ROOT/space/none:.:/usr/bin";
        check(path, &["true"], &["space/.venv/bin"]);
        check("ROOT/link/.venv/bin", &[], &["link/.venv/bin", "space/.venv/bin"]);
        check("/usr/bin", &["./guard.sh --strict"], &["space/guard.sh"]);
        check("/usr/bin", &["sh ROOT/link/guard.sh"], &["link/guard.sh", "space/guard.sh"]);
        for line in [
            "python3 \"$CLAUDE_PROJECT_DIR\"/tools/check.py",
            "$HEELER_PROJECT_DIR/tools/check.py",
            "exec python3 \"${CLAUDE_PROJECT_DIR}\"/tools/check.py",
            "python3 ${CLAUDE_PROJECT_DIR:-.}/tools/check.py>/dev/null",
            "sh -c 'cd x; exec \"./tools/check.py\"'",
            "$(git rev-parse --show-toplevel)/tools/check.py",
        ] {
            check("", &[line], &["space/tools"]);
        }
        // What is in such a word may be a line itself.
        for line in [
            "sh \"$HEELER_PROJECT_DIR/tools/my one.sh\"",
            "tools/my\\ one.sh",
            "exec sh \"${CLAUDE_PROJECT_DIR}\"'/tools/my one.sh'",
        ] {
            check("", &[line], &["space/one.sh", "space/tools", "space/tools/my"]);
        }
    }

    #[test]
    fn no_program_is_looked_for_where_anybody_may_put_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["space/bin", "other"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("space", root.join("link")).unwrap();
        let reach = Reach { writable: vec![root.join("other")], ..Reach::default() };
        let named = |text: &str| text.replace("ROOT", root.to_str().unwrap());
        for (path, expected, said) in [
            ("/usr/bin:ROOT/space/bin:ROOT", "/usr/bin:ROOT/space/bin:ROOT", None),
            ("ROOT/link:/bin", "/bin", Some("`ROOT/link`")),
            ("ROOT/space/:ROOT/other:/bin:", "/bin", Some("`ROOT/space/`, `ROOT/other`, `.`")),
            ("bin:/bin", "/bin", Some("`bin`")),
            ("ROOT/space", "/usr/bin:/bin", Some("`ROOT/space`")),
        ] {
            let mut variables =
                [("A".to_owned(), ".".to_owned()), ("PATH".to_owned(), named(path))];
            let error = keep_out(&mut variables, &root.join("space"), &reach);
            assert_eq!(variables[1].1, named(expected));
            let error = error.map(|error| error.to_string());
            let said = said.map(|said| {
                format!(
                    "PATH: commands do not look for programs in {}: what runs in the box could put \
                     one there",
                    named(said)
                )
            });
            assert_eq!(error, said, "{path}");
        }
        assert_eq!(keep_out(&mut [], &root, &reach), None);
    }
}
