//! Where a line would run, and what a path means there. By its letters only: links are the box's.

/// Where a line would run. All paths are absolute; no I/O is done.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder the session works in, where lines start.
    pub workspace: &'a str,
    /// The user's home.
    pub home: Option<&'a str>,
    /// The private folder for temporary files, `$TMPDIR`.
    pub temp: Option<&'a str>,
}

/// What writing to a path would mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// It may be written.
    Inside(String),
    /// Only the kernel is told something: `/dev/null` and its like.
    Device,
    /// A connection that bash makes itself.
    Connection,
    /// Not to be written: a path, and why.
    Refused(String, &'static str),
    /// Relative to a folder that is not known.
    Unknown,
}

/// Files and folders that programs read as orders to run something, in whatever folder they lie. A
/// name may be that of a place within a folder. All of git is protected besides.
pub const PROTECTED_NAMES: [&str; 40] = [
    ".heeler",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".crush",
    "crush.json",
    ".crush.json",
    ".qwen",
    ".windsurf",
    ".kiro",
    ".roo",
    ".clinerules",
    ".continue",
    ".amazonq",
    ".factory",
    ".junie",
    ".pi",
    ".aider.conf.yml",
    ".github/hooks",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".gitmodules",
    ".cargo/config",
    ".cargo/config.toml",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lvimrc",
    ".dir-locals.el",
    ".gdbinit",
];

/// What belongs to git but decides nothing.
const GIT_FREE: &str = "index.lock head.lock config.lock shallow.lock packed-refs.lock";

impl Place<'_> {
    /// What writing to a path means, seen from a folder, if that is known. `is_whole` is false for
    /// the part of a path before something that is computed.
    pub(crate) fn target(&self, path: &str, folder: Option<&str>, extent: Extent) -> Target {
        if is_connection(path) {
            return Target::Connection;
        }
        let Some(full) = resolve(path, folder) else {
            return match protected(path) {
                Some(why) => Target::Refused(path.to_owned(), why),
                None => Target::Unknown,
            };
        };
        if is_device(&full) {
            return Target::Device;
        }
        // Of a path that is only known to its first hole, the folder counts.
        let full = match extent {
            Extent::Whole => full,
            Extent::Start if path.is_empty() || path.ends_with('/') => full,
            Extent::Start => parent(&full).to_owned(),
        };
        self.of_absolute(full)
    }

    fn of_absolute(&self, full: String) -> Target {
        let inside = |folder: &str| below(&full, folder);
        if let Some(rest) = inside(self.workspace) {
            return match protected(rest).or_else(|| self.start_file(&full)) {
                Some(why) => Target::Refused(full, why),
                None => Target::Inside(full),
            };
        }
        if self.is_temp(&full) {
            return Target::Inside(full);
        }
        Target::Refused(full, "is outside of the workspace")
    }

    /// Whether it is refused and nowhere in the workspace.
    pub(crate) fn is_outside(&self, target: &Target) -> bool {
        matches!(target, Target::Refused(path, _) if below(path, self.workspace).is_none())
    }

    /// Whether writing to a path is refused.
    pub(crate) fn is_elsewhere(&self, path: &str, folder: Option<&str>) -> bool {
        matches!(self.target(path, folder, Extent::Whole), Target::Refused(..))
    }

    /// Whether a path lies in the private temp.
    pub(crate) fn is_temp(&self, full: &str) -> bool {
        self.temp.is_some_and(|temp| below(full, temp).is_some_and(|rest| !rest.is_empty()))
    }

    /// A home that is the workspace still has files that shells and editors start with.
    fn start_file(&self, full: &str) -> Option<&'static str> {
        let rest = below(full, self.home?)?;
        rest.starts_with('.').then_some("is a setting of the user")
    }
}

/// How much of a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Start,
}

/// Whether bash opens a connection when a redirection names this.
pub(crate) fn is_connection(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

fn is_device(full: &str) -> bool {
    let of_descriptor = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    matches!(
        full,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/zero" | "/dev/full"
    ) || full.strip_prefix("/dev/fd/").is_some_and(of_descriptor)
}

/// Why a path within the workspace is not to be written.
fn protected(path: &str) -> Option<&'static str> {
    let lower = path.to_lowercase();
    let parts: Vec<&str> =
        lower.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    for (index, part) in parts.iter().enumerate() {
        let begins = |place: &&str| {
            place.split('/').enumerate().all(|(more, name)| parts.get(index + more) == Some(&name))
        };
        if PROTECTED_NAMES.iter().any(begins) {
            return Some("is protected: programs read it as orders");
        }
        let rest = parts[index + 1..].join("/");
        let is_free = GIT_FREE.split(' ').any(|name| name == rest) || rest == "info/exclude";
        if *part == ".git" && !is_free {
            return Some("belongs to git");
        }
    }
    None
}

/// The absolute path without `.` and `..`, where that can be told.
pub(crate) fn resolve(path: &str, folder: Option<&str>) -> Option<String> {
    let start = if path.starts_with('/') { "" } else { folder? };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

fn parent(full: &str) -> &str {
    full.rsplit_once('/').map_or("/", |(before, _)| if before.is_empty() { "/" } else { before })
}

/// The part of a path below a folder; empty for the folder itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
