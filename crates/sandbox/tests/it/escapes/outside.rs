//! What lies outside a box: servers that listen, a process with secrets, shared memory.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Child, Stdio};

use super::attempts::{ESCAPED, VICTIM_MODE};
use crate::place::{Ended, Place, SECRET};

/// What an escape reaches.
pub(super) enum Reaches {
    /// A text that its output must not have.
    Says(&'static str),
    /// The secret is in its output.
    Secret,
    /// A file below the place's root that changes or goes.
    Changes(&'static str),
    /// A path below the place's root that comes to be.
    Makes(&'static str),
    /// A server that hears it.
    Tcp,
    Udp,
    Unix,
    Datagram,
    Abstract,
    AbstractDatagram,
    /// The process outside, which ends.
    Victim,
}

/// A place with its surroundings.
pub(crate) struct Outside {
    pub(super) place: Place,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    datagram: UnixDatagram,
    hidden: UnixListener,
    hidden_datagram: UnixDatagram,
    hidden_name: String,
    memory: SharedMemory,
    victim: Child,
    victim_facts: String,
    before: std::collections::BTreeMap<&'static str, Option<Facts>>,
}

/// What shows that a file was changed: content, mode, times, attributes.
type Facts = (Vec<u8>, u32, i64, Vec<u8>);

/// Files that escapes change.
const WATCHED: [&str; 5] = [
    "home/notes.txt",
    "home/project/.git/config",
    "home/project/.claude/settings.json",
    "home/project/.git/hooks/pre-commit",
    "home/project/.git/HEAD",
];

impl Outside {
    pub(super) fn new(place: Place) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        let unix = UnixListener::bind(place.home.join("docker.sock")).unwrap();
        unix.set_nonblocking(true).unwrap();
        for name in ["agent.sock", "bus.sock"] {
            std::fs::hard_link(place.home.join("docker.sock"), place.home.join(name)).unwrap();
        }
        let datagram = UnixDatagram::bind(place.home.join("log.sock")).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let hidden_name = format!("heeler-test-{}", place.home.display());
        let address = SocketAddr::from_abstract_name(&hidden_name).unwrap();
        let hidden = UnixListener::bind_addr(&address).unwrap();
        hidden.set_nonblocking(true).unwrap();
        let hidden_datagram = UnixDatagram::bind_addr(&address).unwrap();
        hidden_datagram.set_nonblocking(true).unwrap();
        #[expect(clippy::disallowed_methods, reason = "it has to be outside of every launcher")]
        let mut victim = std::process::Command::new(std::env::current_exe().unwrap());
        victim.arg(VICTIM_MODE).env("VICTIM_SECRET", SECRET).arg(place.home.join(".netrc"));
        let mut victim = victim.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut victim_facts = String::new();
        let said = victim.stdout.take().unwrap();
        BufReader::new(said).read_line(&mut victim_facts).unwrap();
        let mut outside = Self {
            place,
            tcp,
            udp,
            unix,
            datagram,
            hidden,
            hidden_datagram,
            hidden_name,
            memory: SharedMemory::new(),
            victim,
            victim_facts: victim_facts.trim().to_owned(),
            before: std::collections::BTreeMap::new(),
        };
        for path in WATCHED {
            outside.before.insert(path, outside.facts(path));
        }
        outside
    }

    /// What an escape has to know.
    pub(super) fn env(&self) -> Vec<(String, String)> {
        let ports = (self.tcp.local_addr().unwrap(), self.udp.local_addr().unwrap());
        let known = [
            ("TCP_PORT", ports.0.port().to_string()),
            ("UDP_PORT", ports.1.port().to_string()),
            ("ABSTRACT", self.hidden_name.clone()),
            ("MEMORY_KEY", self.memory.key.to_string()),
            ("VICTIM", self.victim.id().to_string()),
            ("VICTIM_FACTS", self.victim_facts.clone()),
        ];
        known.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    pub(super) fn is_reached(&self, what: &Reaches, ended: &Ended) -> bool {
        let root = self.place.home.parent().unwrap();
        match what {
            Reaches::Says(text) => ended.output.contains(text),
            Reaches::Secret => ended.output.contains(SECRET),
            Reaches::Changes(path) => self.facts(path) != self.before[path],
            Reaches::Makes(path) => root.join(path).symlink_metadata().is_ok(),
            Reaches::Tcp => self.tcp.accept().is_ok_and(|(stream, _)| is_heard(stream)),
            Reaches::Udp => self.udp.recv(&mut [0; 64]).is_ok(),
            Reaches::Unix => self.unix.accept().is_ok_and(|(stream, _)| is_heard(stream)),
            Reaches::Datagram => self.datagram.recv(&mut [0; 64]).is_ok(),
            Reaches::Abstract => self.hidden.accept().is_ok_and(|(stream, _)| is_heard(stream)),
            Reaches::AbstractDatagram => self.hidden_datagram.recv(&mut [0; 64]).is_ok(),
            Reaches::Victim => is_dead_soon(self.victim.id()),
        }
    }

    fn facts(&self, path: &str) -> Option<Facts> {
        use std::os::unix::fs::MetadataExt;
        let path = self.place.home.parent().unwrap().join(path);
        let metadata = path.metadata().ok()?;
        let mut attribute = [0; 64];
        let length = rustix::fs::getxattr(&path, "user.escape", &mut attribute).unwrap_or(0);
        let attribute = attribute[..length].to_vec();
        let content = std::fs::read(&path).unwrap_or_default();
        Some((content, metadata.mode(), metadata.mtime(), attribute))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// A signal takes a moment.
fn is_dead_soon(pid: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec};
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    let pidfd = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
    let moment = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
    rustix::event::poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&moment)).unwrap() == 1
}

fn is_heard(mut stream: impl Read) -> bool {
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    heard == ESCAPED
}

/// A segment of shared memory that holds the secret.
struct SharedMemory {
    key: i32,
    id: i32,
}

#[expect(unsafe_code, reason = "no library has these calls")]
impl SharedMemory {
    fn new() -> Self {
        use std::hash::{BuildHasher, Hasher};
        let random = std::hash::RandomState::new().build_hasher().finish();
        let key = i32::from_ne_bytes(*random.to_ne_bytes().first_chunk().unwrap()) | 1;
        // SAFETY: takes plain numbers.
        let id = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
        assert!(id >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: the segment is longer than the secret, and new: all zeros.
        unsafe {
            let memory = libc::shmat(id, std::ptr::null(), 0).cast::<u8>();
            memory.copy_from_nonoverlapping(SECRET.as_ptr(), SECRET.len());
            libc::shmdt(memory.cast());
        }
        Self { key, id }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "no library has this call")]
        // SAFETY: takes plain numbers.
        unsafe {
            libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut())
        };
    }
}
