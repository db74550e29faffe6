//! What git's settings name and git runs, or reads more settings from.

use std::fs;
use std::path::{Path, PathBuf};

use super::settings::{Setting, settings};
use crate::words::{in_home, names, places, plain, words};

/// Keys whose values git runs, whatever their section.
const RUN: [&str; 30] = [
    "fsmonitor",
    "sshcommand",
    "gitproxy",
    "askpass",
    "editor",
    "pager",
    "external",
    "textconv",
    "command",
    "cmd",
    "driver",
    "clean",
    "smudge",
    "process",
    "program",
    "helper",
    "difffilter",
    "defaultkeycommand",
    "alternaterefscommand",
    "uploadpack",
    "receivepack",
    "packobjectshook",
    "browser",
    "httpd",
    "smtpserver",
    "sendmailcmd",
    "tocmd",
    "cccmd",
    "headercmd",
    "tunnel",
];
/// The section whose keys are git's own commands, and all of whose values are run.
const PAGERS: &str = "pager";
/// The section that may have hundreds of values, all of them names of branches.
const BRANCHES: &str = "branch";
/// Keys whose values are folders that git looks for programs in.
const FOLDERS: [&str; 2] = [HOOKS_PATH, "templatedir"];
const HOOKS_PATH: &str = "hookspath";
/// What git runs by its name in a folder of hooks (githooks(5)).
pub(super) const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];
/// Keys whose values are files of names, revisions or words, of which nothing runs.
const LISTS: [(&str, &str); 5] = [
    ("core", "excludesfile"),
    ("core", "attributesfile"),
    ("blame", "ignorerevsfile"),
    ("commit", "template"),
    ("mailmap", "file"),
];
/// The most files of settings that are read, and the longest.
const CONFIGS_MAX: usize = 32;
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// The settings of files, and of those that they include.
#[derive(Debug, Default)]
pub(super) struct Configuration {
    settings: Vec<Setting>,
    /// The files that are included under whatever condition, whether they exist or not.
    pub(super) includes: Vec<PathBuf>,
}

impl Configuration {
    pub(super) fn read(files: &[PathBuf], home: Option<&Path>) -> Self {
        let mut configuration = Self::default();
        let mut files = files.to_vec();
        let mut n_read = 0;
        while let Some(file) = files.get(n_read).filter(|_| n_read < CONFIGS_MAX).cloned() {
            n_read += 1;
            let Some(text) = text_of(&file) else { continue };
            // The real folder: `..` is not above one that is a link.
            let Some(folder) = file.parent().and_then(|folder| folder.canonicalize().ok()) else {
                continue;
            };
            for setting in settings(&text) {
                if setting.section.starts_with("include") && setting.key == "path" {
                    let include = plain(&folder.join(in_home(&setting.value, home)));
                    configuration.includes.push(include.clone());
                    if !files.contains(&include) {
                        files.push(include);
                    }
                } else {
                    configuration.settings.push(setting);
                }
            }
        }
        configuration
    }

    /// What these settings make git run of the files below `root`, where it runs programs.
    pub(super) fn programs(&self, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let of_each = |setting: &Setting| match FOLDERS.contains(&&*setting.key) {
            true => programs_of(setting, root, home),
            false => files_of(setting, root, home),
        };
        self.settings.iter().flat_map(of_each).flat_map(names).collect()
    }
}

/// A regular file as text, if it is not too long.
pub(super) fn text_of(file: &Path) -> Option<String> {
    // Whatever else has such a name may never end, or never begin.
    let is_read = |about: fs::Metadata| about.is_file() && about.len() <= CONFIG_BYTES_MAX;
    let bytes = file.metadata().is_ok_and(is_read).then(|| fs::read(file).ok())??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The folder of programs that is a value: what is not there yet would be looked in as well.
fn programs_of(setting: &Setting, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    if setting.value.is_empty() {
        return Vec::new();
    }
    let folder = plain(&root.join(in_home(&setting.value, home)));
    // Nobody could work in a root that is protected as a whole.
    if root.starts_with(&folder) {
        let hooks = HOOKS.iter().filter(|_| setting.key == HOOKS_PATH);
        return hooks.map(|hook| folder.join(hook)).collect();
    }
    // What stands in `.husky/_` runs what stands beside it.
    let whole = folder.parent().filter(|whole| folder.ends_with("_") && *whole != root);
    vec![whole.map_or(folder.clone(), Path::to_owned)]
}

/// The files that the words of a value lead to. Also of keys that nobody knows here: other programs
/// have settings there, too, and git gets new ones.
fn files_of(setting: &Setting, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    if setting.section == BRANCHES || LISTS.contains(&(&*setting.section, &*setting.key)) {
        return Vec::new();
    }
    let is_program = setting.section == PAGERS || RUN.contains(&&*setting.key);
    let line = setting.value.strip_prefix('!');
    let words = words(line.unwrap_or(&setting.value)).into_iter().map(|word| word.text);
    let words: Vec<String> = words.collect();
    let is_gits = words.first().is_some_and(|first| first == "git");
    let is_run = is_program || line.is_some();
    // A value that is one path has no quotes around its spaces.
    let whole = Some(&setting.value).filter(|it| is_path(it) && it.contains(' '));
    let whole = whole.map(|it| plain(&root.join(in_home(it, home))));
    let mut files: Vec<PathBuf> = whole.filter(|file| file.is_file()).into_iter().collect();
    for (index, word) in words.iter().enumerate() {
        if !is_path(word) && (!is_run || is_gits) {
            continue;
        }
        let is_certain = word.starts_with("./") || word.starts_with("../");
        let is_first = index == 0 && word.contains('/');
        for (nth, place) in places(word, root, home).into_iter().enumerate() {
            // What runs as soon as somebody makes it.
            let is_awaited = is_run && nth == 0 && (is_certain || is_first);
            let is_there = match place.metadata() {
                // A bare word is looked up in `PATH`, or is an argument, as in `gh auth git-credential`.
                Ok(about) if about.is_dir() => {
                    is_program && word.contains('/') && !root.starts_with(&place)
                }
                Ok(_) => true,
                Err(_) => is_awaited,
            };
            if is_there {
                files.push(place);
            }
        }
    }
    files
}

/// Whether a word looks like a path. A bare one is rather the name of something else, as `main` is
/// that of a branch.
fn is_path(word: &str) -> bool {
    word.contains('/') || word.trim_start_matches('.').contains('.')
}
