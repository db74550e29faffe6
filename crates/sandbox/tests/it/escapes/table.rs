//! The ways out, as data.

use super::outside::Reaches::{self, *};

/// One way out.
pub(super) struct Escape {
    pub(super) name: &'static str,
    pub(super) needs: Needs,
    pub(super) how: How,
    pub(super) reaches: Reaches,
    /// A word of why it fails: of its own output, or of the bound that it reached.
    pub(super) held_by: &'static str,
}

#[derive(PartialEq)]
pub(super) enum Needs {
    Nothing,
    /// Fails for other users anyway.
    Root,
    /// Is tried in a box that has a network.
    Network,
}

pub(super) enum How {
    /// A line of shell.
    Sh(&'static str),
    /// This executable, which has an attempt of that name.
    Own,
}

const READ_ONLY: &str = "Read-only file system";
const DENIED: &str = "Permission denied";
const NOT_PERMITTED: &str = "not permitted";
const BUSY: &str = "busy";
const PROTECTED: &str = "which is protected";

const fn sh(
    name: &'static str,
    script: &'static str,
    reaches: Reaches,
    held_by: &'static str,
) -> Escape {
    Escape { name, needs: Needs::Nothing, how: How::Sh(script), reaches, held_by }
}

const fn own(name: &'static str, reaches: Reaches, held_by: &'static str) -> Escape {
    Escape { name, needs: Needs::Nothing, how: How::Own, reaches, held_by }
}

const fn root(name: &'static str, reaches: Reaches, held_by: &'static str) -> Escape {
    Escape { name, needs: Needs::Root, how: How::Own, reaches, held_by }
}

const fn net(name: &'static str, reaches: Reaches, held_by: &'static str) -> Escape {
    Escape { name, needs: Needs::Network, how: How::Own, reaches, held_by }
}

const NOTES: Reaches = Changes("home/notes.txt");
const CONFIG: Reaches = Changes("home/project/.git/config");
const DONE: Reaches = Says("escaped");

pub(super) const TABLE: &[Escape] = &[
    // Writing outside.
    sh("absolute path", "echo x >\"$HOME/notes.txt\"", NOTES, READ_ONLY),
    sh("dot dot", "echo x >../notes.txt", NOTES, READ_ONLY),
    sh("through a link", "ln -s ../notes.txt l; echo x >l", NOTES, READ_ONLY),
    sh("through a linked folder", "ln -s .. up; echo x >up/notes.txt", NOTES, READ_ONLY),
    own("link race", NOTES, "held"),
    own("rename race", NOTES, "held"),
    sh("proc root", "echo x >\"/proc/self/root$HOME/notes.txt\"", NOTES, READ_ONLY),
    sh("proc cwd", "echo x >/proc/self/cwd/../notes.txt", NOTES, READ_ONLY),
    sh("hard link in", "ln ../notes.txt l && echo x >l", NOTES, "ross-device"),
    sh("move in", "mv ../notes.txt n", NOTES, READ_ONLY),
    sh("move onto", "echo x >n; mv n ../notes.txt", NOTES, READ_ONLY),
    sh("delete", "rm ../notes.txt", NOTES, READ_ONLY),
    sh("new folder", "mkdir ../new", Makes("home/new"), READ_ONLY),
    sh("new link", "ln -s x ../new", Makes("home/new"), READ_ONLY),
    sh("new pipe", "mkfifo ../new", Makes("home/new"), READ_ONLY),
    sh("shell profile", "echo evil >>../.profile", Makes("home/.profile"), READ_ONLY),
    own("truncate", NOTES, READ_ONLY),
    sh("change mode", "chmod 777 ../notes.txt", NOTES, READ_ONLY),
    own("change mode by descriptor", NOTES, READ_ONLY),
    sh("change owner", "chown $(id -u) ../notes.txt && echo escaped", DONE, READ_ONLY),
    sh("change times", "touch -d 2001-01-01 ../notes.txt", NOTES, READ_ONLY),
    own("change attributes", NOTES, READ_ONLY),
    own("write at an offset", NOTES, READ_ONLY),
    // Reading secrets.
    sh("read a key", "cat ../.ssh/id_ed25519", Secret, DENIED),
    sh("list keys", "ls ../.ssh/", Says("id_ed25519"), DENIED),
    sh("read through a link", "ln -s ../.netrc l; cat l", Secret, DENIED),
    sh("read through proc", "cat \"/proc/self/root$HOME/.netrc\"", Secret, DENIED),
    sh("read a linked key", "ln ../.netrc l; cat l", Secret, "ross-device"),
    sh("read below", "cat ../.config/gh/hosts.yml", Secret, DENIED),
    sh("copy a key", "cp -r ../.ssh . && cat .ssh/*", Secret, DENIED),
    sh("open descriptors of others", "cat /proc/$VICTIM/fd/${VICTIM_FACTS##* }", Secret, DENIED),
    sh("environment of others", "tr '\\0' '\\n' </proc/$VICTIM/environ", Secret, DENIED),
    sh("root of others", "cat \"/proc/$VICTIM/root$HOME/.netrc\"", Secret, DENIED),
    sh("other devices", ": </dev/ptmx && echo escaped", DONE, DENIED),
    root("raw disk", DONE, DENIED),
    // What is protected in the workspace.
    sh(
        "plant a hook",
        "echo evil >.git/hooks/pre-commit",
        Makes("home/project/.git/hooks/pre-commit"),
        READ_ONLY,
    ),
    sh("git config", "git config core.fsmonitor evil", CONFIG, BUSY),
    sh("append to config", "echo x >>.git/config", CONFIG, READ_ONLY),
    sh("delete config", "rm .git/config", CONFIG, BUSY),
    sh("move onto config", "echo x >n; mv n .git/config", CONFIG, BUSY),
    sh(
        "move hooks away",
        "mv .git/hooks h && mkdir .git/hooks && echo x >.git/hooks/pre-commit",
        Makes("home/project/.git/hooks/pre-commit"),
        READ_ONLY,
    ),
    sh("move .git away", "mv .git g && mkdir .git && echo x >.git/config", CONFIG, BUSY),
    sh(
        "link instead of .git",
        "mkdir -p e/hooks; mv .git g; ln -sn e .git && echo x >.git/config",
        CONFIG,
        BUSY,
    ),
    sh("remove .git", "rm -rf .git", CONFIG, READ_ONLY),
    own("exchange .git", CONFIG, BUSY),
    sh("mode of config", "chmod 777 .git/config", CONFIG, READ_ONLY),
    sh("link to config", "ln .git/config c && echo x >c", CONFIG, "ross-device"),
    sh(
        "edit settings",
        "echo '{}' >.claude/settings.json",
        Changes("home/project/.claude/settings.json"),
        READ_ONLY,
    ),
    sh(
        "new settings",
        "echo '{}' >.claude/settings.local.json",
        Makes("home/project/.claude/settings.local.json"),
        READ_ONLY,
    ),
    sh("new .envrc", "echo evil >.envrc", Makes("home/project/.envrc"), PROTECTED),
    sh(
        "new .envrc, then wait",
        "echo evil >.envrc; exec sleep 1",
        Makes("home/project/.envrc"),
        PROTECTED,
    ),
    sh("move to .envrc", "echo evil >n; mv n .envrc", Makes("home/project/.envrc"), PROTECTED),
    sh("link to .envrc", "echo evil >n; ln -s n .envrc", Makes("home/project/.envrc"), PROTECTED),
    sh("hard link to .envrc", "echo evil >n; ln n .envrc", Makes("home/project/.envrc"), PROTECTED),
    sh(
        "new .vscode/tasks.json",
        "mkdir -p .vscode; echo evil >.vscode/tasks.json",
        Makes("home/project/.vscode/tasks.json"),
        PROTECTED,
    ),
    sh(
        "link to a folder of tasks",
        "mkdir n; echo evil >n/tasks.json; ln -s n .vscode",
        Makes("home/project/.vscode/tasks.json"),
        PROTECTED,
    ),
    sh(
        "git's common folder",
        "echo ../evil >.git/commondir",
        Makes("home/project/.git/commondir"),
        PROTECTED,
    ),
    sh("new secret", "echo evil >.npmrc", Makes("home/project/.npmrc"), PROTECTED),
    sh("move to a secret", "echo evil >n; mv n .npmrc", Makes("home/project/.npmrc"), PROTECTED),
    sh(
        "new secret in a new folder",
        "mkdir .kube; echo evil >.kube/config",
        Makes("home/project/.kube/config"),
        PROTECTED,
    ),
    // Other processes.
    sh("kill", "kill -9 $VICTIM", Victim, NOT_PERMITTED),
    own("kill by descriptor", Victim, NOT_PERMITTED),
    own("kill by proc", Victim, NOT_PERMITTED),
    own("ptrace", DONE, NOT_PERMITTED),
    own("read memory", Secret, NOT_PERMITTED),
    own("read memory by file", Secret, DENIED),
    own("take a descriptor", Secret, NOT_PERMITTED),
    own("limits of others", DONE, NOT_PERMITTED),
    own("priority of others", DONE, NOT_PERMITTED),
    own("priority of a group", DONE, NOT_PERMITTED),
    own("queue a signal", Victim, NOT_PERMITTED),
    // Sockets.
    own("tcp", Tcp, NOT_PERMITTED),
    own("udp", Udp, NOT_PERMITTED),
    own("dns", Udp, NOT_PERMITTED),
    own("listen", DONE, NOT_PERMITTED),
    own("docker", Unix, NOT_PERMITTED),
    own("ssh-agent", Unix, NOT_PERMITTED),
    own("dbus", Unix, NOT_PERMITTED),
    own("datagram", Datagram, NOT_PERMITTED),
    own("datagram from a pair", Datagram, NOT_PERMITTED),
    own("raw datagram from a pair", Datagram, NOT_PERMITTED),
    own("abstract", Abstract, NOT_PERMITTED),
    own("abstract from a pair", AbstractDatagram, NOT_PERMITTED),
    net("docker with a network", Unix, NOT_PERMITTED),
    net("abstract with a network", Abstract, NOT_PERMITTED),
    net("datagram from a pair with a network", Datagram, NOT_PERMITTED),
    own("io_uring", DONE, NOT_PERMITTED),
    own("netlink", DONE, NOT_PERMITTED),
    own("shared memory", Secret, "No such file"),
    // The kernel.
    own("user namespace", DONE, NOT_PERMITTED),
    own("user namespace by clone", DONE, NOT_PERMITTED),
    own("user namespace by clone3", DONE, "not implemented"),
    root("join a namespace", DONE, NOT_PERMITTED),
    root("mount", DONE, NOT_PERMITTED),
    root("chroot", DONE, NOT_PERMITTED),
    root("device", DONE, DENIED),
    root("open by handle", DONE, NOT_PERMITTED),
    root("bpf", DONE, NOT_PERMITTED),
    own("keys", DONE, NOT_PERMITTED),
    own("perf", DONE, NOT_PERMITTED),
    own("userfaultfd", DONE, NOT_PERMITTED),
    own("type into a terminal", DONE, NOT_PERMITTED),
    own("privileges", DONE, "it has none"),
];
