//! What of git no table can say: settings on the line, and which work a checkout throws away.

use super::invocation::Invocation;
use crate::line::ConcernKind;
use crate::programs::Special;
use crate::reader::Reader;
use crate::word::Word;

/// Settings that name no program; `*` stands for the rest of a family.
const FREE_SETTINGS: &str = "user.* author.* committer.* color.* advice.* column.* log.* \
    core.quotepath core.abbrev core.autocrlf core.eol core.safecrlf core.ignorecase core.filemode \
    core.precomposeunicode core.longpaths core.symlinks core.preloadindex core.untrackedcache \
    core.whitespace core.commentchar core.logallrefupdates commit.gpgsign tag.gpgsign commit.verbose \
    diff.renames diff.renamelimit diff.algorithm diff.context diff.noprefix diff.mnemonicprefix \
    diff.colormoved diff.colormovedws diff.wordregex diff.statgraphwidth \
    merge.conflictstyle merge.renames merge.ff merge.stat \
    init.defaultbranch pull.rebase rebase.autosquash rebase.autostash rebase.updaterefs \
    status.short status.branch status.showuntrackedfiles status.relativepaths status.renames \
    status.aheadbehind status.showstash grep.linenumber grep.patterntype gc.auto fetch.prune \
    stash.showpatch versionsort.* tag.sort branch.sort i18n.* format.pretty blame.* apply.whitespace";

/// The last words of settings whose values are lines for a shell.
const LINES: &str = "pager editor sshcommand askpass external textconv command cmd driver clean smudge process \
    helper program fsmonitor packobjectshook uploadpack receivepack difffilter gitproxy browser \
    alternaterefscommand defaultkeycommand";

/// Names that files and folders of a repository often have, and branches hardly ever.
const USUAL_NAMES: &str = "Makefile Dockerfile Justfile justfile Rakefile Gemfile Procfile Vagrantfile \
    LICENSE README NOTICE CHANGELOG AUTHORS CODEOWNERS src lib libs app apps bin cmd pkg internal crates \
    packages modules tests test spec docs doc public assets static scripts config examples include \
    vendor tools migrations templates components pages";

impl Reader<'_> {
    pub(super) fn git(&mut self, call: &Invocation<'_>) {
        match call.program.special {
            Special::GitCheckout => self.checkout(call),
            Special::GitClone => self.clone_into(call),
            Special::GitConfig => self.config(call),
            Special::GitPush => self.push(call),
            _ => {}
        }
    }

    /// `name=value` after `-c`.
    pub(super) fn setting(&mut self, word: &Word) {
        let text = word.text();
        let (name, value) = text.split_once('=').unwrap_or((text.as_str(), "true"));
        let is_free = |known: &str| match known.strip_suffix('*') {
            Some(start) => name.to_lowercase().starts_with(start),
            None => name.eq_ignore_ascii_case(known),
        };
        let runs_nothing = matches!(value, "" | "cat" | "true" | "false" | "/dev/null")
            && matches!(
                name.to_lowercase().as_str(),
                "core.pager" | "core.editor" | "core.hookspath" | "core.fsmonitor"
            );
        let is_known = word.known_prefix().len() > name.len() || word.known().is_some();
        if !is_known || !FREE_SETTINGS.split_ascii_whitespace().any(is_free) && !runs_nothing {
            self.concern(ConcernKind::Environment, format!("{name} decides what git runs"));
            self.line_of_setting(&name.to_lowercase(), value);
        }
    }

    /// Many a setting is a line for a shell; an alias may be a verb of git.
    fn line_of_setting(&mut self, name: &str, value: &str) {
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_alias = name.starts_with("alias.");
        let is_line = LINES.split_ascii_whitespace().any(|line| line == last)
            || is_alias
            || name.starts_with("pager.")
            || name.starts_with("sendemail.") && last.ends_with("cmd");
        if !is_line || matches!(value, "" | "true" | "false" | "cat") {
            return;
        }
        let line = match value.strip_prefix('!') {
            Some(line) => line.to_owned(),
            None if is_alias => format!("git {value}"),
            None => value.to_owned(),
        };
        self.line_of(&Word::literal(&line));
    }

    /// Without options that say otherwise, paths are taken from the index or a commit, over what
    /// is in the files.
    fn checkout(&mut self, call: &Invocation<'_>) {
        let makes_branch =
            call.has_option(&["-b", "-B", "--orphan", "-t", "--track", "-d", "--detach"]);
        if makes_branch || call.program.effect != crate::programs::Effect::Changes {
            return;
        }
        let has_paths = match (call.operands_before_dashes, call.operands.as_slice()) {
            (Some(before), operands) => operands.len() > before,
            (None, []) => false,
            (None, [one]) => looks_like_path(one),
            (None, _) => true,
        };
        if has_paths {
            self.concern(
                ConcernKind::Irreversible,
                "git checkout of paths overwrites what is in them",
            );
        }
    }

    /// Without a folder it makes one that is called like the repository.
    fn clone_into(&mut self, call: &Invocation<'_>) {
        let Some((repository, folders)) = call.operands.split_first() else { return };
        if !folders.is_empty() {
            return folders.iter().for_each(|folder| self.write(folder));
        }
        let Some(text) = repository.known() else { return self.is_open_ended() };
        let path = text.trim_end_matches('/');
        let path = path.strip_suffix("/.git").unwrap_or(path).trim_end_matches('/');
        let name = path.rsplit(['/', ':']).next().unwrap_or_default();
        let name =
            name.strip_suffix(".git").or_else(|| name.strip_suffix(".bundle")).unwrap_or(name);
        self.write(&Word::literal(name));
    }

    fn config(&mut self, call: &Invocation<'_>) {
        let reads = [
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--list",
            "-l",
            "--get-color",
            "--get-colorbool",
            "--name-only",
        ];
        let first = call.operands.first().map(|word| word.text()).unwrap_or_default();
        let is_read = call.has_option(&reads)
            || matches!(first.as_str(), "get" | "list")
            || call.operands.len() == 1 && call.options.is_empty() && first.contains('.')
            || call.operands.len() == 1 && first.contains('.') && !changes_settings(call);
        if !is_read {
            self.changes();
            self.concern(ConcernKind::Environment, "git config decides what git runs");
        }
    }

    /// A repository that is a folder has hooks, which run here, with the rights of whoever pushes.
    fn push(&mut self, call: &Invocation<'_>) {
        let repository = call.operands.first().copied();
        if repository.into_iter().chain(call.values(&["--repo"])).any(may_be_folder) {
            self.is_open_ended();
        }
        let rewrites = |word: &&Word| {
            let text = word.text();
            text.starts_with('+') || text.starts_with(':')
        };
        if call.operands.iter().any(rewrites) {
            self.concern(
                ConcernKind::Irreversible,
                "git push overwrites or deletes what others have",
            );
        }
    }
}

fn changes_settings(call: &Invocation<'_>) -> bool {
    call.has_option(&[
        "--unset",
        "--unset-all",
        "--edit",
        "-e",
        "--add",
        "--replace-all",
        "--remove-section",
        "--rename-section",
    ])
}

/// Whether a word in the place of a repository may be a folder, or a program that talks to one, and is no
/// address of another machine or name of a remote.
fn may_be_folder(word: &Word) -> bool {
    let Some(text) = word.known() else { return true };
    let lower = text.to_lowercase();
    if let Some((scheme, _)) = lower.split_once("://") {
        return !matches!(
            scheme,
            "https" | "http" | "ssh" | "git" | "git+ssh" | "ssh+git" | "ftp" | "ftps"
        );
    }
    let before_slash = text.split('/').next().unwrap_or_default();
    let is_host = before_slash.contains(':') && !text.contains("::");
    !is_host && (text.contains(['/', ':', '\\']) || text.starts_with(['.', '~']))
}

/// Whether a single word after `git checkout` is rather a path than a branch.
fn looks_like_path(word: &Word) -> bool {
    let Some(text) = word.known() else { return true };
    let last = text.rsplit('/').next().unwrap_or_default();
    let extension = last.rsplit_once('.').map(|(_, extension)| extension);
    let is_extension = |extension: &str| {
        extension.len() <= 5 && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let first = text.split('/').next().unwrap_or_default();
    text.starts_with('.')
        || USUAL_NAMES.split_ascii_whitespace().any(|name| name == first)
        || text.starts_with('/')
        || text.starts_with(":")
        || text.ends_with('/')
        || extension.is_some_and(is_extension)
}
