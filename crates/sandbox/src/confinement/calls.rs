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
/// Calls whose second argument does, where the first says that it names one and not a group or a user.
const ONLY_ON_ITSELF_BY_SECOND: &[(c_long, u64)] = &[
    (libc::SYS_setpriority, libc::PRIO_PROCESS as u64),
    (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
];
/// Of `linux/ioprio.h`.
const IOPRIO_WHO_PROCESS: u64 = 1;

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

/// The bits of a socket's type that are its kind; the others are flags.
const SOCKET_KINDS: u64 = 0xf;
/// Kinds whose pairs reach nobody but each other.
const CONNECTED_KINDS: [u64; 2] = [libc::SOCK_STREAM as u64, libc::SOCK_SEQPACKET as u64];

/// The program the kernel runs before each call of a confined command.
pub(super) struct Filters {
    program: BpfProgram,
}

impl Filters {
    pub(super) fn new(network: Network) -> io::Result<Self> {
        let rules = refusals(network)?;
        let numbers: Vec<u32> = rules.keys().filter_map(|call| u32::try_from(*call).ok()).collect();
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
        let checked: BpfProgram =
            filter.and_then(BpfProgram::try_from).map_err(io::Error::other)?;
        let mut program = shortcut(&numbers);
        program.extend(checked);
        Ok(Self { program })
    }

    /// Binds the calling thread and all that it will start, for ever. It must not be able to gain
    /// privileges any more.
    pub(super) fn restrict_self(&self) -> io::Result<()> {
        seccompiler::apply_filter(&self.program).map_err(io::Error::other)
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
    for (call, process) in ONLY_ON_ITSELF_BY_SECOND {
        let others =
            vec![rule(&[(0, SeccompCmpOp::Ne, *process)])?, rule(&[(1, SeccompCmpOp::Ne, 0)])?];
        rules.insert(*call, others);
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
    rules.insert(libc::SYS_socketpair, pairs()?);
    Ok(rules)
}

/// When a pair of sockets is refused: unless it is of this machine and connected for good. One
/// that sends datagrams can send them elsewhere, by a path or an abstract name.
fn pairs() -> io::Result<Vec<SeccompRule>> {
    let others = (0..=SOCKET_KINDS).filter(|kind| !CONNECTED_KINDS.contains(kind));
    let kinds = others.map(|kind| rule(&[(1, SeccompCmpOp::MaskedEq(SOCKET_KINDS), kind)]));
    let families = rule(&[(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)]);
    kinds.chain([families]).collect()
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

/// The architecture's number in the kernel's audit.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0xc000_00f3;

/// On x86-64 each call has a second number with this bit set, which a list of numbers would miss.
const SECOND_NUMBERS: u32 = 0x4000_0000;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
/// Where a program finds the number of the call, and the architecture.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
/// How many numbers are compared one by one.
const LEAF_MAX: usize = 3;

/// Lets calls that no rule names pass after a few comparisons. The rules are tried one after the
/// other, and when a filter is installed the kernel runs it for every number there is.
fn shortcut(numbers: &[u32]) -> BpfProgram {
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let clone3 = libc::SYS_clone3 as u32;
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE_AT),
        instruction(IF_EQUAL, 1, 0, ARCHITECTURE),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(LOAD, 0, 0, NUMBER_AT),
        // The flags of this one lie in memory, where no filter can look. Libraries that hear that
        // there is no such call use clone.
        instruction(IF_EQUAL, 1, 0, clone3),
        instruction(IF_AT_LEAST, 0, 1, SECOND_NUMBERS),
        instruction(RETURN, 0, 0, unknown),
    ];
    program.extend(search(numbers));
    let length = program.len();
    // Whoever found a number jumps behind the search.
    for (index, instruction) in program.iter_mut().enumerate() {
        if instruction.code == JUMP {
            instruction.k = (length - index - 1) as u32;
        }
    }
    program
}

/// Finds a number among those that are sorted, and allows the call when it is not there.
fn search(numbers: &[u32]) -> BpfProgram {
    if numbers.len() <= LEAF_MAX {
        let found = |number| [instruction(IF_EQUAL, 0, 1, number), instruction(JUMP, 0, 0, 0)];
        let mut program: BpfProgram = numbers.iter().flat_map(|number| found(*number)).collect();
        program.push(instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
        return program;
    }
    let (below, rest) = numbers.split_at(numbers.len() / 2);
    let (mut below, rest_program) = (search(below), search(rest));
    // A jump reaches 255 instructions, which 300 numbers do not fill.
    let mut program = vec![instruction(IF_AT_LEAST, below.len() as u8, 0, rest[0])];
    program.append(&mut below);
    program.extend(rest_program);
    program
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program says to a call, and after how many steps.
    fn run(program: &[sock_filter], architecture: u32, number: u32) -> (u32, usize) {
        let (mut at, mut loaded) = (0, 0);
        for n_steps in 1.. {
            let sock_filter { code, jt, jf, k } = program[at].clone();
            at += 1;
            let choose = |is_so: bool| usize::from(if is_so { jt } else { jf });
            match code {
                LOAD if k == ARCHITECTURE_AT => loaded = architecture,
                // Arguments are all zero.
                LOAD => loaded = if k == NUMBER_AT { number } else { 0 },
                JUMP => at += k as usize,
                IF_EQUAL => at += choose(loaded == k),
                IF_AT_LEAST => at += choose(loaded >= k),
                RETURN => return (k, n_steps),
                // The only other that seccompiler makes for zeros: compare with a mask, compare.
                _ => at += choose(false),
            }
        }
        unreachable!()
    }

    #[test]
    fn what_no_rule_names_passes_after_a_few_steps_and_nothing_else_does() {
        const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        let program = Filters::new(Network::None).unwrap().program;
        for number in 0..600_u32 {
            let (said, n_steps) = run(&program, ARCHITECTURE, number);
            let call = libc::c_long::from(number);
            let is_refused = REFUSED.contains(&call)
                || REFUSED_HERE.contains(&call)
                || call == libc::SYS_socket
                || call == libc::SYS_socketpair
                // Zero is no kind that names a process there.
                || call == libc::SYS_ioprio_set;
            if is_refused {
                assert_eq!(said, REFUSE, "{number}");
            } else if call == libc::SYS_clone3 {
                assert_eq!(said, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
            } else {
                assert_eq!(said, libc::SECCOMP_RET_ALLOW, "{number}");
            }
            let is_named = refusals(Network::None).unwrap().contains_key(&call);
            assert!(is_named || n_steps < 24, "{number}: {n_steps} steps");
        }
    }

    #[test]
    fn other_architectures_and_second_numbers_are_not_let_through() {
        let program = Filters::new(Network::Full).unwrap().program;
        assert_eq!(run(&program, 0x4000_0003, 1).0, libc::SECCOMP_RET_KILL_PROCESS);
        let said = run(&program, ARCHITECTURE, SECOND_NUMBERS | 1).0;
        assert_eq!(said, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
    }
}
