//! The ways out that need system calls: this executable, started with the attempt's name.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags, XattrFlags};
use rustix::process::{Pid, PidfdFlags, Resource, Signal};
use rustix::thread::UnshareFlags;

/// Makes this executable an attempt.
pub(crate) const ATTEMPT_MODE: &str = "--attempt";
/// Makes this executable a process with secrets.
pub(crate) const VICTIM_MODE: &str = "--victim";
/// What is said by, and to, whoever is reached.
pub(super) const ESCAPED: &str = "escaped";
/// How often a race is run.
const RACES: usize = 5_000;
/// How much memory is taken.
const TAKEN_BYTES: usize = 256 << 20;
const NOTES: &str = "../notes.txt";

/// Holds a secret in its memory and another in an open file, says where, and waits for its end.
pub(crate) fn be_victim() -> ! {
    let secret = std::env::var("VICTIM_SECRET").unwrap();
    let file = fs::File::open(std::env::args().nth(2).unwrap()).unwrap();
    #[expect(unsafe_code, reason = "a test of what may be done to it")]
    // SAFETY: takes plain numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY)
    };
    println!("{} {} {}", secret.as_ptr() as usize, secret.len(), file.as_raw_fd());
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop((secret, file));
    std::process::exit(0)
}

/// Tries one way out; says that it worked, or why not.
pub(crate) fn attempt(name: &str) -> u8 {
    match run(name) {
        Ok(()) => println!("{ESCAPED}"),
        Err(error) => println!("{name}: {error}"),
    }
    0
}

fn run(name: &str) -> io::Result<()> {
    match name {
        "link race"
        | "rename race"
        | "truncate"
        | "change mode by descriptor"
        | "change attributes"
        | "write at an offset"
        | "exchange .git"
        | "raw disk"
        | "device"
        | "open by handle" => of_files(name),
        "kill by descriptor"
        | "kill by proc"
        | "ptrace"
        | "read memory"
        | "read memory by file"
        | "take a descriptor"
        | "limits of others"
        | "priority of others"
        | "priority of a group"
        | "queue a signal" => of_processes(name),
        "tcp"
        | "udp"
        | "dns"
        | "listen"
        | "docker"
        | "ssh-agent"
        | "dbus"
        | "datagram"
        | "datagram from a pair"
        | "datagram from a pair with a network"
        | "raw datagram from a pair"
        | "abstract from a pair"
        | "abstract"
        | "docker with a network"
        | "abstract with a network"
        | "netlink" => of_sockets(name),
        _ => of_the_kernel(name),
    }
}

fn of_files(name: &str) -> io::Result<()> {
    match name {
        "link race" => race(
            || {
                let _ = fs::remove_file("l");
                let _ = fs::write("l", "");
                let _ = fs::remove_file("l");
                let _ = std::os::unix::fs::symlink(NOTES, "l");
            },
            "l",
        ),
        "rename race" => {
            fs::create_dir("d")?;
            fs::write("d/notes.txt", "")?;
            std::os::unix::fs::symlink("..", "u")?;
            race(
                || {
                    let _ = rustix::fs::renameat_with(CWD, "d", CWD, "u", RenameFlags::EXCHANGE);
                },
                "d/notes.txt",
            )
        }
        "truncate" => {
            let path = CString::new(NOTES)?;
            #[expect(unsafe_code, reason = "no library truncates by path")]
            // SAFETY: the path ends with a zero byte and outlives the call.
            heard(unsafe { libc::truncate(path.as_ptr(), 0) }.into())
        }
        "change mode by descriptor" => {
            fs::File::open(NOTES)?.set_permissions(fs::Permissions::from_mode(0o777))
        }
        "change attributes" => {
            Ok(rustix::fs::setxattr(NOTES, "user.escape", b"x", XattrFlags::empty())?)
        }
        "write at an offset" => {
            fs::OpenOptions::new().read(true).write(true).open(NOTES)?.write_all_at(b"x", 2)
        }
        "exchange .git" => {
            fs::create_dir("e")?;
            fs::write("e/config", "evil")?;
            Ok(rustix::fs::renameat_with(CWD, "e", CWD, ".git", RenameFlags::EXCHANGE)?)
        }
        "raw disk" => {
            let disk =
                fs::read_dir("/sys/block")?.flatten().next().ok_or(io::ErrorKind::NotFound)?;
            let path = std::path::Path::new("/dev").join(disk.file_name());
            fs::File::open(path)?.read(&mut [0]).map(drop)
        }
        "device" => {
            let device = rustix::fs::makedev(1, 5);
            Ok(rustix::fs::mknodat(CWD, "zero", FileType::CharacterDevice, Mode::RWXU, device)?)
        }
        _ => open_by_handle(),
    }
}

/// Writes to a path again and again while another thread changes what it names.
fn race(change: impl Fn() + Send + 'static, path: &str) -> io::Result<()> {
    let before = fs::read(NOTES)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let is_seen = Arc::clone(&is_over);
    let changer = std::thread::spawn(move || {
        while !is_seen.load(Ordering::Relaxed) {
            change();
        }
    });
    for _ in 0..RACES {
        if let Ok(mut file) = fs::OpenOptions::new().write(true).open(path) {
            let _ = file.write_all(b"evil");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let _ = changer.join();
    match fs::read(NOTES)? == before {
        true => Err(io::Error::other("held")),
        false => Ok(()),
    }
}

fn open_by_handle() -> io::Result<()> {
    // The head of a handle (its length, its type) and room for the longest.
    let mut handle = [0_u32; 2 + 32];
    handle[0] = 128;
    let (path, mut mount, folder) = (CString::new(NOTES)?, 0, fs::File::open(".")?);
    #[expect(unsafe_code, reason = "no library has these calls")]
    // SAFETY: the handle has the room that its first number says, and all outlive the calls.
    let opened = unsafe {
        let handle = handle.as_mut_ptr();
        let (path, mount) = (path.as_ptr(), &raw mut mount);
        libc::syscall(libc::SYS_name_to_handle_at, libc::AT_FDCWD, path, handle, mount, 0);
        libc::syscall(libc::SYS_open_by_handle_at, folder.as_raw_fd(), handle, libc::O_RDONLY)
    };
    heard(opened)
}

fn of_processes(name: &str) -> io::Result<()> {
    let pid = Pid::from_raw(variable("VICTIM").parse().unwrap()).unwrap();
    let facts = variable("VICTIM_FACTS");
    let facts: Vec<usize> = facts.split(' ').map(|fact| fact.parse().unwrap()).collect();
    let mut secret = vec![0; facts[1]];
    match name {
        "kill by descriptor" => {
            let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
            rustix::process::pidfd_send_signal(pidfd, Signal::KILL)?;
            return Ok(());
        }
        "kill by proc" => {
            let folder = fs::File::open(format!("/proc/{}", pid.as_raw_pid()))?;
            return Ok(rustix::process::pidfd_send_signal(folder, Signal::KILL)?);
        }
        "limits of others" => {
            let before = rustix::process::getrlimit(Resource::Nofile);
            rustix::process::prlimit(Some(pid), Resource::Nofile, before)?;
            return Ok(());
        }
        "priority of others" => return Ok(rustix::process::setpriority_process(Some(pid), 5)?),
        // All of a user's processes are named the same way, and the system has one answer to both.
        "priority of a group" => return Ok(rustix::process::setpriority_pgrp(None, 5)?),
        "read memory by file" => {
            let memory = fs::File::open(format!("/proc/{}/mem", pid.as_raw_pid()))?;
            memory.read_exact_at(&mut secret, facts[0] as u64)?;
        }
        _ => of_processes_by_call(name, pid.as_raw_pid(), &facts, &mut secret)?,
    }
    println!("{}", String::from_utf8_lossy(&secret));
    Ok(())
}

#[expect(unsafe_code, reason = "no library has these calls")]
fn of_processes_by_call(
    name: &str,
    pid: i32,
    facts: &[usize],
    secret: &mut [u8],
) -> io::Result<()> {
    match name {
        "ptrace" => {
            // SAFETY: takes plain numbers; the process is another.
            heard(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) })
        }
        "queue a signal" => {
            let value = libc::sigval { sival_ptr: std::ptr::null_mut() };
            // SAFETY: takes plain numbers.
            heard(unsafe { libc::sigqueue(pid, libc::SIGKILL, value) }.into())
        }
        "read memory" => {
            let ours = libc::iovec { iov_base: secret.as_mut_ptr().cast(), iov_len: secret.len() };
            let theirs = libc::iovec { iov_base: facts[0] as *mut _, iov_len: facts[1] };
            // SAFETY: ours is a buffer of that length; theirs is an address in another process.
            heard(unsafe { libc::process_vm_readv(pid, &ours, 1, &theirs, 1, 0) } as i64)
        }
        _ => {
            use std::os::fd::FromRawFd;
            // SAFETY: takes plain numbers; what it returns is a new descriptor, owned by nobody.
            let file = unsafe {
                let pidfd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
                let taken = libc::syscall(libc::SYS_pidfd_getfd, pidfd, facts[2], 0);
                heard(taken)?;
                fs::File::from_raw_fd(taken as i32)
            };
            file.read_exact_at(secret, 0)
        }
    }
}

fn of_sockets(name: &str) -> io::Result<()> {
    let home = std::path::PathBuf::from(variable("HOME"));
    let server = |name: &str| (std::net::Ipv4Addr::LOCALHOST, variable(name).parse().unwrap());
    match name {
        "tcp" => TcpStream::connect(server("TCP_PORT"))?.write_all(ESCAPED.as_bytes()),
        "udp" => udp(server("UDP_PORT"), ESCAPED.as_bytes()),
        // A question for the address of `a.b`.
        "dns" => udp(server("UDP_PORT"), b"\0\x01\x01\0\0\x01\0\0\0\0\0\0\x01a\x01b\0\0\x01\0\x01"),
        "listen" => TcpListener::bind("127.0.0.1:0").map(drop),
        "docker" | "docker with a network" => unix(&home.join("docker.sock")),
        "ssh-agent" => unix(&home.join("agent.sock")),
        "dbus" => unix(&home.join("bus.sock")),
        "datagram" => {
            UnixDatagram::unbound()?.send_to(ESCAPED.as_bytes(), home.join("log.sock")).map(drop)
        }
        "raw datagram from a pair" => from_a_pair(libc::SOCK_RAW, &log(&home)?),
        "abstract from a pair" => {
            let name = SocketAddr::from_abstract_name(variable("ABSTRACT"))?;
            from_a_pair(libc::SOCK_DGRAM, &name)
        }
        name if name.starts_with("datagram from") => from_a_pair(libc::SOCK_DGRAM, &log(&home)?),
        "netlink" => {
            use rustix::net::{AddressFamily, SocketType};
            rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
            Ok(())
        }
        _ => {
            let address = SocketAddr::from_abstract_name(variable("ABSTRACT"))?;
            UnixStream::connect_addr(&address)?.write_all(ESCAPED.as_bytes())
        }
    }
}

fn udp(server: (std::net::Ipv4Addr, u16), bytes: &[u8]) -> io::Result<()> {
    UdpSocket::bind("127.0.0.1:0")?.send_to(bytes, server).map(drop)
}

fn log(home: &std::path::Path) -> io::Result<SocketAddr> {
    SocketAddr::from_pathname(home.join("log.sock"))
}

/// One end of a pair sends to somebody else.
fn from_a_pair(kind: i32, address: &SocketAddr) -> io::Result<()> {
    let mut ends = [0; 2];
    #[expect(unsafe_code, reason = "the library makes no raw ones")]
    // SAFETY: there is room for two numbers; what they name is new, and owned by nobody.
    let end = unsafe {
        let kind = kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        heard(libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()).into())?;
        <UnixDatagram as std::os::fd::FromRawFd>::from_raw_fd(ends[0])
    };
    end.send_to_addr(ESCAPED.as_bytes(), address).map(drop)
}

fn unix(path: &std::path::Path) -> io::Result<()> {
    UnixStream::connect(path)?.write_all(ESCAPED.as_bytes())
}

fn of_the_kernel(name: &str) -> io::Result<()> {
    match name {
        "join a namespace" => {
            let own = fs::File::open("/proc/self/ns/uts")?;
            Ok(rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&own), None)?)
        }
        "mount" => {
            fs::create_dir("m")?;
            let flags = rustix::mount::MountFlags::empty();
            rustix::mount::mount("none", "m", "tmpfs", flags, None::<&std::ffi::CStr>)?;
            Ok(rustix::mount::unmount("m", rustix::mount::UnmountFlags::empty())?)
        }
        "chroot" => Ok(rustix::process::chroot(".")?),
        "privileges" => {
            let status = fs::read_to_string("/proc/self/status")?;
            let bounds = status.lines().find_map(|line| line.strip_prefix("CapBnd:\t"));
            match bounds.is_some_and(|bounds| bounds.bytes().all(|digit| digit == b'0')) {
                true => Err(io::Error::other("it has none")),
                false => Ok(()),
            }
        }
        "memory" => take(&mut vec![0; TAKEN_BYTES]),
        "shared files" => {
            // Neither mapped nor open under a name: it shows in no process.
            use rustix::fs::{FallocateFlags, MemfdFlags};
            let file = rustix::fs::memfd_create("taken", MemfdFlags::empty())?;
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, TAKEN_BYTES as u64)?;
            take(&mut [0])
        }
        "user namespace" => {
            #[expect(unsafe_code, reason = "unshare is unsafe for what it may do to other threads")]
            // SAFETY: there is one thread.
            Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }?)
        }
        _ => by_number(name),
    }
}

/// Touches memory, and keeps it for a moment.
fn take(memory: &mut [u8]) -> io::Result<()> {
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    let moment = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
    rustix::event::poll(&mut [], Some(&moment))?;
    Ok(())
}

/// Calls the kernel with arguments that it refuses for what they are, once it looks at them.
#[expect(unsafe_code, reason = "no library has these calls")]
fn by_number(name: &str) -> io::Result<()> {
    let mut zeros = [0_u64; 32];
    let zeroed = zeros.as_mut_ptr();
    // SAFETY: where a pointer is expected it is null, or points to more zeros than the kernel
    // reads or writes; the children that clone makes end at once.
    let result = unsafe {
        match name {
            "io_uring" => libc::syscall(libc::SYS_io_uring_setup, 1, zeroed),
            "user namespace by clone" => {
                let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
                end_child(libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0))
            }
            "user namespace by clone3" => {
                zeros[0] = libc::CLONE_NEWUSER as u64;
                zeros[4] = libc::SIGCHLD as u64;
                end_child(libc::syscall(libc::SYS_clone3, zeros.as_mut_ptr(), 88))
            }
            "bpf" => libc::syscall(libc::SYS_bpf, 0, zeroed, 64),
            "keys" => {
                let (kind, name) = (c"user".as_ptr(), c"heeler-test".as_ptr());
                libc::syscall(libc::SYS_add_key, kind, name, c"x".as_ptr(), 1, -2)
            }
            "perf" => libc::syscall(libc::SYS_perf_event_open, 0, 0, -1, -1, 0),
            "userfaultfd" => libc::syscall(libc::SYS_userfaultfd, 1 | 1 << 30),
            "type into a terminal" => libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()).into(),
            "shared memory" => return shared_memory(),
            _ => panic!("there is no attempt `{name}`"),
        }
    };
    heard(result)
}

#[expect(unsafe_code, reason = "no library has these calls")]
fn shared_memory() -> io::Result<()> {
    let key = variable("MEMORY_KEY").parse().unwrap();
    // SAFETY: takes plain numbers.
    let id = unsafe { libc::shmget(key, 0, 0) };
    heard(id.into())?;
    // SAFETY: a segment that holds a text with a zero byte at its end.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::shmat(id, std::ptr::null(), 0).cast()) };
    println!("{}", text.to_string_lossy());
    Ok(())
}

/// Ends the process if it is the new one; waits for it otherwise.
fn end_child(pid: i64) -> i64 {
    match u32::try_from(pid).map(|pid| Pid::from_raw(pid.cast_signed())) {
        Ok(None) => std::process::exit(0),
        Ok(child) => {
            let _ = rustix::process::waitpid(child, rustix::process::WaitOptions::empty());
        }
        Err(_) => {}
    }
    pid
}

/// An error that a filter or a missing privilege gives, or the lack of what was to be reached.
/// Any other tells that the kernel looked at the arguments.
fn heard(result: i64) -> io::Result<()> {
    let error = io::Error::last_os_error();
    let refusals =
        [libc::EPERM, libc::EACCES, libc::EROFS, libc::ENOSYS, libc::ENOENT, libc::ESRCH];
    match result < 0 && error.raw_os_error().is_some_and(|errno| refusals.contains(&errno)) {
        true => Err(error),
        false => Ok(()),
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}
