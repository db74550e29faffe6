//! The git folder of a workspace: where its commits go, and what of it decides what git runs.

mod named;
mod settings;

use std::path::{Path, PathBuf};

use heeler_core::Reach;

use self::named::{Configuration, text_of};
use crate::words::{names, plain};
use crate::{Environment, SetupError};

/// What of a git folder decides what git runs, or where it looks for that.
const DECIDES: [&str; 5] = ["hooks", "config", "config.worktree", "commondir", "modules"];
/// The folders of linked work trees; what is in each decides for that work tree.
const WORK_TREES: &str = "worktrees";
/// The most that are looked at.
const WORK_TREES_MAX: usize = 256;

/// Adds to the reach of an agent that works here what it takes to commit, and keeps from commands what
/// decides what git runs, here and in the other folders that they may write.
///
/// # Errors
/// When a variable is no text.
pub(crate) fn extend(
    reach: &mut Reach,
    environment: &Environment,
    workspace: &Path,
) -> Result<(), SetupError> {
    let home = environment.get("HOME")?.map(Path::new);
    let files = files_of_user(environment)?;
    let of_user = Configuration::read(&files, home);
    reach.protected.extend(files.into_iter().chain(of_user.includes.clone()).flat_map(names));
    let outside = outside(workspace);
    // The one that is worked in takes commits, by whatever folder it is found.
    let linked = outside.as_ref().and_then(|outside| outside.linked.as_deref());
    for folder in [workspace].into_iter().chain(reach.writable.iter().map(PathBuf::as_path)) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        reach.protected.extend(in_folder(&folder, linked));
        let root = root_of(&folder).unwrap_or(&folder);
        let own = Configuration::read(&files_of_repository(root), home);
        reach.protected.extend(own.programs(root, home));
        reach.protected.extend(of_user.programs(root, home));
        reach.protected.extend(own.includes.into_iter().flat_map(names));
    }
    if let Some(linked) = linked {
        reach.protected.extend(DECIDES.map(|name| linked.join(name)));
        reach.protected.push(linked.join("gitdir"));
    }
    if let Some(Outside { folder, linked }) = outside {
        reach.protected.extend(decides_in(&folder, linked.as_deref()));
        reach.writable.push(folder);
    }
    Ok(())
}

/// What in a folder that may be written is of git and no name that is protected everywhere.
fn in_folder(folder: &Path, linked: Option<&Path>) -> Vec<PathBuf> {
    let own = folder.join(".git");
    let mut found: Vec<PathBuf> = work_trees(&own, linked).collect();
    // A file says where the folder is, and nobody but a person has that changed.
    if !own.is_dir() && own.symlink_metadata().is_ok() {
        found.push(own);
        // It may lie in the work tree itself, as with `git init --separate-git-dir`.
        found.extend(git_folders(folder).iter().flat_map(|inner| decides_in(inner, linked)));
    }
    if is_git_folder(folder) {
        found.extend(decides_in(folder, linked));
    }
    found
}

/// What of a git folder decides what git runs, with the work trees that are not worked in.
fn decides_in<'a>(git: &'a Path, linked: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
    DECIDES.iter().map(|name| git.join(name)).chain(work_trees(git, linked))
}

/// The files that git reads its settings from in whatever repository. Commands do not see all of these
/// variables, and the user's own git does.
fn files_of_user(environment: &Environment) -> Result<Vec<PathBuf>, SetupError> {
    let mut files = vec![PathBuf::from("/etc/gitconfig")];
    for (name, below) in [
        ("GIT_CONFIG_SYSTEM", ""),
        ("GIT_CONFIG_GLOBAL", ""),
        ("XDG_CONFIG_HOME", "git/config"),
        ("HOME", ".config/git/config"),
        ("HOME", ".gitconfig"),
    ] {
        let place = environment.get(name)?.map(|place| match below {
            "" => place.into(),
            below => Path::new(place).join(below),
        });
        files.extend(place.filter(|place| place.is_absolute() && !files.contains(place)));
    }
    Ok(files)
}

/// The files of settings of the repository with this root, if it is one.
fn files_of_repository(root: &Path) -> Vec<PathBuf> {
    let settings = |it: PathBuf| ["config", "config.worktree"].map(|name| it.join(name));
    git_folders(root).into_iter().flat_map(settings).collect()
}

/// The folder of git's of the work tree with this root, and the one that it has in common with others.
fn git_folders(root: &Path) -> Vec<PathBuf> {
    let own = root.join(".git");
    let folder = match text_of(&own) {
        // Whoever wrote it: nothing comes of it but that less may be changed.
        Some(text) => plain(&root.join(text.trim_start_matches("gitdir:").trim())),
        None => own,
    };
    let common = text_of(&folder.join("commondir")).map(|it| plain(&folder.join(it.trim())));
    let mut folders = vec![common.unwrap_or_else(|| folder.clone()), folder];
    folders.dedup();
    folders
}

/// The first folder from this one up that has something of the name `.git`. Whatever it is, the
/// repository of a folder above it is another one.
fn root_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())
}

/// A git folder that is not the workspace's own.
#[derive(Debug, PartialEq, Eq)]
struct Outside {
    folder: PathBuf,
    /// What is in it of the workspace, where that is a linked work tree.
    linked: Option<PathBuf>,
}

/// The git folder that a workspace's own commits go to, where it lies elsewhere: in a folder above,
/// or that of the repository whose linked work tree this is.
fn outside(workspace: &Path) -> Option<Outside> {
    let root = root_of(workspace)?;
    let own = root.join(".git");
    if own.is_dir() {
        let is_outside = root != workspace && is_git_folder(&own);
        return is_outside.then_some(Outside { folder: own, linked: None });
    }
    let text = text_of(&own)?;
    let linked = root.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = text_of(&linked.join("commondir"))?;
    let folder = linked.join(common.trim()).canonicalize().ok()?;
    // Only what the repository itself knows and what points back is ours: the file, and whatever
    // lies in the workspace, may be somebody else's.
    let is_known = linked.parent() == Some(&folder.join(WORK_TREES));
    let back = text_of(&linked.join("gitdir"))?;
    let back = linked.join(back.trim()).canonicalize().ok()?;
    let is_ours = is_known && back == own.canonicalize().ok()?;
    let is_elsewhere = !folder.starts_with(workspace.canonicalize().ok()?);
    let outside = Outside { folder, linked: Some(linked) };
    (is_ours && is_elsewhere && is_git_folder(&outside.folder)).then_some(outside)
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// The folders of the linked work trees, without the one that is worked in.
fn work_trees<'a>(git: &Path, linked: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
    let entries = git.join(WORK_TREES).read_dir().into_iter().flatten().flatten();
    let trees = entries.take(WORK_TREES_MAX).map(|entry| entry.path());
    // Settings may name it by way of a link.
    trees.filter(move |tree| linked.is_none() || tree.canonicalize().ok().as_deref() != linked)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is protected of a folder that is a repository and the home, too: the names in it.
    fn check_named(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.replace("ROOT", root.to_str().unwrap())).unwrap();
        }
        let mut reach = Reach::default();
        let environment = Environment::default().with("HOME", root.join("me").to_str().unwrap());
        extend(&mut reach, &environment, &root).unwrap();
        let names = reach.protected.iter().filter_map(|path| path.strip_prefix(&root).ok());
        let mut names: Vec<_> = names.filter_map(Path::to_str).collect();
        names.retain(|name| !matches!(*name, "me/.gitconfig" | "me/.config/git/config"));
        heeler_core::sort(&mut names);
        names.dedup();
        assert_eq!(names, expected, "{files:?}");
    }

    #[test]
    fn what_settings_name_of_the_work_tree_is_found() {
        let text = "[core]\n\thooksPath = .husky/_\n\tfsmonitor = false\n[include]\n\tpath = ../.gitconfig\n\
             [filter \"a\"] clean = \"sh tools/clean.sh %f\"\n[remote \"o\"]\n\turl = ./other\n\
             [core] worktree = ..\n[core] editor = vi\n";
        let included = "[core]\nsshCommand=./ssh.sh -v\n[includeIf \"x\"]\npath = .gitconfig\n";
        check_named(
            &[
                (".git/config", text),
                (".gitconfig", included),
                (".husky/_/h", ""),
                (".husky/pre-commit", ""),
                ("tools/clean.sh", ""),
                ("ssh.sh", ""),
                ("other/x", ""),
            ],
            &[".gitconfig", ".husky", "ssh.sh", "tools/clean.sh"],
        );
    }

    #[test]
    fn what_git_would_look_into_is_protected_before_it_is_there() {
        let text = "[core]\n\thooksPath = .githooks\n\teditor = ed\n\tpager = p/a -x b/c\n\
             [include]\n\tpath = ../.local\n[alias]\n\td = \"!sh ./d.sh o/x\"\n\tl = log ./o\n";
        check_named(&[(".git/config", text)], &[".githooks", ".local", "d.sh", "p/a"]);
    }

    #[test]
    fn hooks_in_the_root_itself_are_protected_by_name() {
        let text = "[core]\n\thooksPath = .\n[init]\n\ttemplateDir = .\n";
        let mut hooks = named::HOOKS;
        heeler_core::sort(&mut hooks);
        check_named(&[(".git/config", text), ("pre-commit", ""), ("other", "")], &hooks);
    }

    #[test]
    fn a_value_of_whatever_key_names_a_file() {
        let text = "[pager]\n log = pager\n[mergetool \"x\"]\n cmd = sh \\\n merge.sh $BASE\n\
             [submodule \"x\"]\n update = \"!'./with space'\"\n[new]\n key = --run=dir/it\n\
             [init]\n defaultBranch = main\n[alias]\n m = !git push origin main\n d = !sh doit\n\
             [blame]\n ignoreRevsFile = .git-ignored\n[core]\n excludesFile = ROOT/ignored.txt\n\
             [x] folder = ./dir\n tool = ./the tool\n[alias] in = !cd dir\n[filter \"f\"] process = python dir/module\n";
        let files = ["pager", "merge.sh", "with space", "dir/it", "main", "doit", ".git-ignored"];
        let mut files: Vec<_> = files.into_iter().map(|name| (name, "")).collect();
        files.extend([
            (".git/config", text),
            ("ignored.txt", ""),
            ("dir/module/x", ""),
            ("the tool", ""),
        ]);
        let expected =
            ["dir/it", "dir/module", "doit", "merge.sh", "pager", "the tool", "with", "with space"];
        check_named(&files, &expected);
    }

    #[test]
    fn the_settings_of_a_user_hold_in_each_repository() {
        check_named(
            &[
                (".git/HEAD", ""),
                ("me/.gitconfig", "[core] hooksPath = gh\n[include] path = more\n"),
                ("me/more", "[core] editor = ~/../ed\n"),
                ("me/.config/git/config", "[diff \"x\"] textconv = conv\n"),
                ("conv", ""),
                ("ed", ""),
            ],
            &["conv", "ed", "gh", "me/more"],
        );
    }

    #[test]
    fn a_git_folder_elsewhere_has_settings_of_this_work_tree() {
        for (name, text) in [("sub/config", ""), ("common/config", "../common\n")] {
            let config = format!("git/{name}");
            let files = [
                (".git", "gitdir: git/sub\n"),
                (&*config, "[core] hooksPath = hooks\n"),
                (if text.is_empty() { "git/other" } else { "git/sub/commondir" }, text),
            ];
            let mut expected = vec![".git".to_owned(), "hooks".to_owned()];
            let folders: &[&str] = if text.is_empty() { &["sub"] } else { &["common", "sub"] };
            for folder in folders {
                expected.extend(DECIDES.map(|name| format!("git/{folder}/{name}")));
            }
            heeler_core::sort(&mut expected);
            check_named(&files, &expected.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("config");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        assert_eq!(Configuration::read(&[pipe], None).includes, Vec::<PathBuf>::new());
        // A loop of files has an end.
        let file = folder.path().join("a");
        fs::write(&file, "[include]\npath = a\n".repeat(100)).unwrap();
        assert_eq!(Configuration::read(&[file], None).includes.len(), 100);
    }

    /// Where commits of `workspace` go when not into it, relative to the folder that holds both.
    fn check(files: &[(&str, &str)], workspace: &str, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(workspace)).unwrap();
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.replace("ROOT", root.to_str().unwrap())).unwrap();
        }
        let found = outside(&root.join(workspace)).map(|found| found.folder);
        assert_eq!(found, expected.map(|path| root.join(path)));
    }

    #[test]
    fn a_linked_work_tree_writes_to_the_repository_that_knows_it() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        let linked = [
            ("tree/.git", "gitdir: ROOT/main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
        ];
        let back = [("main/.git/worktrees/tree/gitdir", "ROOT/tree/.git\n")];
        check(&[&repository[..], &linked, &back].concat(), "tree", Some("main/.git"));
        check(&[&repository[..], &linked, &back].concat(), "tree/src", Some("main/.git"));
        let elsewhere = [("main/.git/worktrees/tree/gitdir", "ROOT/other/.git\n")];
        check(&[&repository[..], &linked, &elsewhere].concat(), "tree", None);
        check(&[&repository[..], &linked].concat(), "tree", None);
    }

    #[test]
    fn a_folder_of_a_repository_writes_to_its_git_folder() {
        let repository = [("main/.git/HEAD", "ref: x"), ("main/.git/objects/a", "")];
        check(&repository, "main/crates/core", Some("main/.git"));
        check(&repository, "main", None);
        // A submodule is in between, with commits of its own.
        let submodule = [("main/sub/.git", "gitdir: ../.git/modules/sub\n")];
        check(&[&repository[..], &submodule].concat(), "main/sub/src", None);
        check(&[&repository[..], &submodule].concat(), "main/sub", None);
        check(&[("main/.git/HEAD", "ref: x")], "main/crates", None);
    }
}
