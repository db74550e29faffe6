//! What a confined command may ask of the kernel: seccomp filters.
//!
//! Landlock and read-only mounts guard files. These guard the rest: other processes, sockets, the
//! kernel's rarely used doors, and the means to leave or undo the box.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::Network;

/// Refused whatever their arguments are.
const REFUSED: &[c_long] = &[
    // Other processes. (Landlock keeps signals inside.)
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    // Files by handle, around every path; quotas and accounting.
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_fanotify_init,
    // Doors into the kernel, and ways around this filter.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    // Keys of the user's session.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine's name and time.
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_kexec_file_load, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[libc::SYS_kexec_file_load];

/// Calls whose first argument names a process, which may only be the caller (0).
const ONLY_ON_ITSELF: &[c_long] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];
/// Calls whose second argument does.
const ONLY_ON_ITSELF_BY_SECOND: &[c_long] = &[libc::SYS_setpriority, libc::SYS_ioprio_set];

/// Flags of clone that make namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Requests that type into a terminal.
const TYPING: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// The programs the kernel runs before each call of a confined command.
pub(super) struct Filters {
    programs: Vec<BpfProgram>,
}

impl Filters {
    pub(super) fn new(network: Network) -> io::Result<Self> {
        let refused = compile(refusals(network)?, libc::EPERM)?;
        // Its flags lie in memory, where no filter can look: libraries fall back to clone.
        let unknown = compile(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
        Ok(Self { programs: vec![refused, unknown] })
    }

    /// Binds the calling thread and all that it will start, for ever. It must not be able to gain
    /// privileges any more.
    pub(super) fn restrict_self(&self) -> io::Result<()> {
        for program in &self.programs {
            seccompiler::apply_filter(program).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Whether filters can be made for this machine.
pub(super) fn try_filters() -> io::Result<()> {
    rustix::thread::secure_computing_mode()?;
    Filters::new(Network::Full).map(drop)
}

type Refusals = BTreeMap<i64, Vec<SeccompRule>>;

fn refusals(network: Network) -> io::Result<Refusals> {
    let mut rules: Refusals = BTreeMap::new();
    for call in REFUSED.iter().chain(REFUSED_HERE) {
        rules.insert(*call, Vec::new());
    }
    for call in ONLY_ON_ITSELF {
        rules.insert(*call, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    }
    for call in ONLY_ON_ITSELF_BY_SECOND {
        rules.insert(*call, vec![rule(&[(1, SeccompCmpOp::Ne, 0)])?]);
    }
    // Looking at the limits of others is allowed, and all of one's own.
    rules.insert(
        libc::SYS_prlimit64,
        vec![rule(&[(0, SeccompCmpOp::Ne, 0), (2, SeccompCmpOp::Ne, 0)])?],
    );
    let mut cloned = Vec::new();
    for bit in (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| NAMESPACES & bit != 0) {
        cloned.push(rule(&[(0, SeccompCmpOp::MaskedEq(bit), bit)])?);
    }
    rules.insert(libc::SYS_clone, cloned);
    let typing = TYPING.iter().map(|request| rule(&[(1, SeccompCmpOp::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, typing.collect::<io::Result<_>>()?);
    rules.insert(libc::SYS_socket, sockets(network)?);
    let unix = libc::AF_UNIX as u64;
    rules.insert(libc::SYS_socketpair, vec![rule(&[(0, SeccompCmpOp::Ne, unix)])?]);
    Ok(rules)
}

/// When a socket is refused: always, or unless it is one of the internet's. One of this machine
/// could reach an agent, a bus or a daemon by its path, which no filter can read.
fn sockets(network: Network) -> io::Result<Vec<SeccompRule>> {
    match network {
        Network::None => Ok(Vec::new()),
        Network::Full => {
            let allowed = [libc::AF_INET, libc::AF_INET6];
            let mut none_of: Vec<_> =
                allowed.iter().map(|family| (0, SeccompCmpOp::Ne, *family as u64)).collect();
            none_of.push((0, SeccompCmpOp::Ne, libc::AF_NETLINK as u64));
            // Of netlink only what libraries list addresses and routes with.
            let other_netlink = rule(&[
                (0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64),
                (2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64),
            ])?;
            Ok(vec![rule(&none_of)?, other_netlink])
        }
    }
}

/// A rule that holds when all its conditions do. Each compares the lower half of an argument: the
/// kernel reads no more of these.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let conditions = conditions.iter().map(|(index, operator, value)| {
        SeccompCondition::new(*index, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    let conditions: Result<Vec<_>, _> = conditions.collect();
    conditions.and_then(SeccompRule::new).map_err(io::Error::other)
}

fn compile(rules: Refusals, errno: i32) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
    let program: BpfProgram = filter.and_then(BpfProgram::try_from).map_err(io::Error::other)?;
    let mut whole = without_second_numbers();
    whole.extend(program);
    Ok(whole)
}

/// On x86-64 each call has a second number with this bit set, which a list of numbers would miss.
fn without_second_numbers() -> BpfProgram {
    const SECOND_BIT: u32 = 0x4000_0000;
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_SET: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let instruction = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    vec![
        instruction(LOAD_NUMBER, 0, 0),
        instruction(JUMP_IF_SET, 1, SECOND_BIT),
        instruction(RETURN, 0, refuse),
    ]
}
