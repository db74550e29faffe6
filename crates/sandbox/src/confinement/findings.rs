//! What was found out about this machine's means, and what that says to a person.
//!
//! Finding out is in `found`; what is said of it is a pure function, `lines`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{ProbeLine, calls, porter, rules};

/// Enough for every agent of a machine.
const NAMESPACES: u64 = 15_000;
/// Files that container programs leave in their containers.
const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// What was found.
#[derive(Debug, Clone)]
struct Findings {
    /// The version of Landlock, or the error's number.
    landlock: Result<u32, i32>,
    /// The security modules that are on, as the kernel lists them.
    modules: Option<String>,
    release: String,
    /// Whether a box was made, or why not.
    namespaces: Result<(), String>,
    seccomp: Result<(), String>,
    /// Switches of the kernel that turn user namespaces off, as they are.
    unprivileged_userns_clone: Option<u64>,
    max_user_namespaces: Option<u64>,
    apparmor_restrict_unprivileged_userns: Option<u64>,
    is_root: bool,
    is_container: bool,
    program: PathBuf,
}

/// Tries everything, and says what came of it. Only for a process with one thread.
pub(super) fn found(landlock_at_most: u32) -> Vec<ProbeLine> {
    lines(&Findings::of_this_machine(landlock_at_most))
}

impl Findings {
    fn of_this_machine(landlock_at_most: u32) -> Self {
        let said = |result: io::Result<()>| result.map_err(|error| error.to_string());
        let landlock = rules::version().map(|version| version.min(landlock_at_most));
        let landlock = landlock.map_err(|error| error.raw_os_error().unwrap_or(0));
        let has_scopes = landlock.is_ok_and(|version| version >= rules::SCOPES);
        Self {
            landlock,
            modules: read("/sys/kernel/security/lsm"),
            release: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
            namespaces: said(porter::try_to_stand(!has_scopes)),
            seccomp: said(calls::try_filters()),
            unprivileged_userns_clone: switch("kernel/unprivileged_userns_clone"),
            max_user_namespaces: switch("user/max_user_namespaces"),
            apparmor_restrict_unprivileged_userns: switch(
                "kernel/apparmor_restrict_unprivileged_userns",
            ),
            is_root: rustix::process::geteuid().is_root(),
            is_container: CONTAINER_FILES.iter().any(|file| Path::new(file).exists()),
            program: std::env::current_exe().unwrap_or_else(|_| "heeler".into()),
        }
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn switch(name: &str) -> Option<u64> {
    read(&format!("/proc/sys/{name}"))?.parse().ok()
}

fn lines(findings: &Findings) -> Vec<ProbeLine> {
    let always = |name: &str, detail: &str| ProbeLine {
        name: name.into(),
        is_in_force: true,
        is_needed: false,
        detail: detail.into(),
        remedy: None,
    };
    vec![
        needed("Landlock", landlock(findings)),
        needed("namespaces", namespaces(findings)),
        needed("signals", signals(findings)),
        needed("seccomp", seccomp(findings)),
        always(
            "limits",
            "memory, processes, written bytes and room on the disk are looked at every 20 ms",
        ),
        always("bubblewrap", "not used: the namespaces it makes are made directly"),
    ]
}

/// What holds, or why it does not and what to do about it.
type Said = Result<String, (String, String)>;

fn needed(name: &str, said: Said) -> ProbeLine {
    let is_in_force = said.is_ok();
    let (detail, remedy) = match said {
        Ok(detail) => (detail, None),
        Err((detail, remedy)) => (detail, Some(remedy)),
    };
    ProbeLine { name: name.to_owned(), is_in_force, is_needed: true, detail, remedy }
}

fn landlock(findings: &Findings) -> Said {
    let Findings { release, is_container, .. } = findings;
    let newer = "Linux 5.19 or newer has what is needed (on Ubuntu 22.04: `sudo apt install \
                 linux-generic-hwe-22.04`, then restart)";
    match findings.landlock {
        Ok(version) if version >= rules::LEAST_VERSION => Ok(format!(
            "version {version}; writes reach only what is named, secrets cannot be opened"
        )),
        Ok(version) => {
            Err((format!("version {version} of Linux {release} is too old"), newer.into()))
        }
        Err(libc::EOPNOTSUPP) => {
            let modules = findings.modules.as_deref().filter(|modules| !modules.is_empty());
            // A list of its own would turn the others off.
            let list = modules.unwrap_or("LIST");
            let told = if modules.is_none() {
                ", where LIST is what `cat /sys/kernel/security/lsm` shows"
            } else {
                ""
            };
            let remedy = format!(
                "add `lsm=landlock,{list}` to the kernel's command line: to GRUB_CMDLINE_LINUX in \
                 /etc/default/grub, then `sudo update-grub` (Fedora: `sudo grubby --update-kernel=ALL \
                 --args=lsm=landlock,{list}`){told}, and restart"
            );
            Err(("the kernel has it, and it was not turned on at boot".into(), remedy))
        }
        Err(libc::EPERM | libc::EACCES | libc::ENOSYS) if *is_container => {
            let detail = "the kernel lacks it, or the container forbids it".to_owned();
            Err((detail, format!("{}; {newer}", of_container())))
        }
        Err(number) => {
            let error = io::Error::from_raw_os_error(number);
            Err((format!("Linux {release} does not have it: {error}"), newer.into()))
        }
    }
}

fn namespaces(findings: &Findings) -> Said {
    let Err(reason) = &findings.namespaces else {
        return Ok("all but the workspace is read-only, modes and times included; what is \
                   protected is read-only in it; secrets are covered"
            .into());
    };
    let set = |name: &str, value: u64| {
        format!(
            "`sudo sysctl -w {name}={value}`, and to keep it `echo {name}={value} | sudo tee \
             /etc/sysctl.d/60-heeler.conf`"
        )
    };
    // Root may make them whatever the two others say.
    let (cause, remedy) = if findings.max_user_namespaces == Some(0) {
        let name = "user.max_user_namespaces";
        (format!("`{name}` is 0"), set(name, NAMESPACES))
    } else if findings.unprivileged_userns_clone == Some(0) && !findings.is_root {
        let name = "kernel.unprivileged_userns_clone";
        (format!("`{name}` is 0"), set(name, 1))
    } else if findings.apparmor_restrict_unprivileged_userns == Some(1) && !findings.is_root {
        let cause = "AppArmor gives programs without a profile no privileges in one \
                     (`kernel.apparmor_restrict_unprivileged_userns` is 1)";
        (cause.to_owned(), with_profile(&findings.program))
    } else if findings.is_container {
        ("this is a container".to_owned(), of_container())
    } else {
        let remedy = "a kernel with CONFIG_USER_NS has them; `sysctl -a | grep -e userns -e \
                      user_namespaces` shows switches that may be off";
        ("no switch that is known is off".to_owned(), remedy.to_owned())
    };
    Err((format!("{reason}; {cause}"), remedy))
}

/// A profile that confines nothing but lets the program have what every program had before.
fn with_profile(program: &Path) -> String {
    let program = program.display();
    format!(
        "give it a profile:\n\
         sudo tee /etc/apparmor.d/heeler <<'END'\n\
         abi <abi/4.0>,\n\
         include <tunables/global>\n\
         profile heeler \"{program}\" flags=(unconfined) {{\n  userns,\n}}\n\
         END\n\
         sudo apparmor_parser -r /etc/apparmor.d/heeler"
    )
}

fn of_container() -> String {
    "start the container with `--security-opt seccomp=unconfined --security-opt \
     apparmor=unconfined`, or with a seccomp profile that allows unshare, mount, umount2, \
     mount_setattr, open_tree, move_mount and landlock_*"
        .to_owned()
}

fn signals(findings: &Findings) -> Said {
    match (findings.landlock, &findings.namespaces) {
        (Ok(version), _) if version >= rules::SCOPES => Ok("Landlock keeps them inside".into()),
        (_, Ok(())) => Ok("a namespace of processes keeps them inside, in which numbers differ \
                           from those of /proc; with Linux 6.12 or newer they are the same"
            .into()),
        (_, Err(_)) => Err((
            "neither Landlock nor a namespace of processes keeps them inside".into(),
            "Linux 6.12 or newer, or what the line above says".into(),
        )),
    }
}

fn seccomp(findings: &Findings) -> Said {
    let does = "no sockets without a network, none of this machine ever; no tracing, mounting, \
                namespaces, kernel modules, io_uring";
    let remedy = "a kernel with CONFIG_SECCOMP_FILTER has it, on x86-64, aarch64 and riscv64";
    match &findings.seccomp {
        Ok(()) => Ok(does.to_owned()),
        Err(reason) => Err((reason.clone(), remedy.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// A machine on which all is well.
    fn well() -> Findings {
        Findings {
            landlock: Ok(7),
            modules: Some("capability,yama,apparmor".into()),
            release: "6.18.0".into(),
            namespaces: Ok(()),
            seccomp: Ok(()),
            unprivileged_userns_clone: Some(1),
            max_user_namespaces: Some(96_000),
            apparmor_restrict_unprivileged_userns: Some(0),
            is_root: false,
            is_container: false,
            program: "/usr/bin/heeler".into(),
        }
    }

    /// Each line that is needed, as far as it differs from those of a machine on which all is well.
    fn check(findings: &Findings, expected: Expect) {
        let well = lines(&well());
        let differing = lines(findings).into_iter().filter(|line| !well.contains(line));
        let said = differing.map(|ProbeLine { name, is_in_force, detail, remedy, .. }| {
            let state = if is_in_force { "ok" } else { "MISSING" };
            let remedy = remedy.map(|remedy| format!("-> {remedy}\n")).unwrap_or_default();
            format!("{state} {name}: {detail}\n{remedy}")
        });
        expected.assert_eq(&said.collect::<String>());
    }

    fn refused(reason: &str) -> Findings {
        Findings { namespaces: Err(reason.to_owned()), ..well() }
    }

    #[test]
    fn landlock_that_is_missing_says_whether_the_kernel_or_its_start_is_why() {
        check(
            &Findings { landlock: Err(libc::ENOSYS), ..well() },
            expect![[r#"
            MISSING Landlock: Linux 6.18.0 does not have it: Function not implemented (os error 38)
            -> Linux 5.19 or newer has what is needed (on Ubuntu 22.04: `sudo apt install linux-generic-hwe-22.04`, then restart)
            ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
        "#]],
        );
        check(
            &Findings { landlock: Err(libc::EOPNOTSUPP), ..well() },
            expect![[r#"
                MISSING Landlock: the kernel has it, and it was not turned on at boot
                -> add `lsm=landlock,capability,yama,apparmor` to the kernel's command line: to GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub` (Fedora: `sudo grubby --update-kernel=ALL --args=lsm=landlock,capability,yama,apparmor`), and restart
                ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
            "#]],
        );
        check(
            &Findings { landlock: Err(libc::EOPNOTSUPP), modules: None, ..well() },
            expect![[r#"
                MISSING Landlock: the kernel has it, and it was not turned on at boot
                -> add `lsm=landlock,LIST` to the kernel's command line: to GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub` (Fedora: `sudo grubby --update-kernel=ALL --args=lsm=landlock,LIST`), where LIST is what `cat /sys/kernel/security/lsm` shows, and restart
                ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
            "#]],
        );
        check(
            &Findings { landlock: Err(libc::EPERM), is_container: true, ..well() },
            expect![[r#"
                MISSING Landlock: the kernel lacks it, or the container forbids it
                -> start the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or with a seccomp profile that allows unshare, mount, umount2, mount_setattr, open_tree, move_mount and landlock_*; Linux 5.19 or newer has what is needed (on Ubuntu 22.04: `sudo apt install linux-generic-hwe-22.04`, then restart)
                ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
            "#]],
        );
        let jammy = "5.15.0-91-generic".to_owned();
        check(
            &Findings { landlock: Ok(1), release: jammy, ..well() },
            expect![[r#"
            MISSING Landlock: version 1 of Linux 5.15.0-91-generic is too old
            -> Linux 5.19 or newer has what is needed (on Ubuntu 22.04: `sudo apt install linux-generic-hwe-22.04`, then restart)
            ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
        "#]],
        );
    }

    #[test]
    fn older_kernels_say_what_keeps_signals_in() {
        check(
            &Findings { landlock: Ok(4), ..well() },
            expect![[r#"
            ok Landlock: version 4; writes reach only what is named, secrets cannot be opened
            ok signals: a namespace of processes keeps them inside, in which numbers differ from those of /proc; with Linux 6.12 or newer they are the same
        "#]],
        );
        check(
            &Findings { landlock: Ok(4), ..refused("user namespace: No space left on device") },
            expect![[r#"
                ok Landlock: version 4; writes reach only what is named, secrets cannot be opened
                MISSING namespaces: user namespace: No space left on device; no switch that is known is off
                -> a kernel with CONFIG_USER_NS has them; `sysctl -a | grep -e userns -e user_namespaces` shows switches that may be off
                MISSING signals: neither Landlock nor a namespace of processes keeps them inside
                -> Linux 6.12 or newer, or what the line above says
            "#]],
        );
    }

    #[test]
    fn namespaces_that_are_missing_say_which_switch_is_off() {
        let reason = "user namespace: Operation not permitted (os error 1)";
        check(
            &Findings { unprivileged_userns_clone: Some(0), ..refused(reason) },
            expect![[r#"
            MISSING namespaces: user namespace: Operation not permitted (os error 1); `kernel.unprivileged_userns_clone` is 0
            -> `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and to keep it `echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-heeler.conf`
        "#]],
        );
        let reason = "user namespace: No space left on device (os error 28)";
        check(
            &Findings { max_user_namespaces: Some(0), ..refused(reason) },
            expect![[r#"
            MISSING namespaces: user namespace: No space left on device (os error 28); `user.max_user_namespaces` is 0
            -> `sudo sysctl -w user.max_user_namespaces=15000`, and to keep it `echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-heeler.conf`
        "#]],
        );
        let reason = "mounts: Permission denied (os error 13)";
        let restricted = Findings {
            apparmor_restrict_unprivileged_userns: Some(1),
            program: "/space/my tools/heeler".into(),
            ..refused(reason)
        };
        check(
            &restricted,
            expect![[r#"
            MISSING namespaces: mounts: Permission denied (os error 13); AppArmor gives programs without a profile no privileges in one (`kernel.apparmor_restrict_unprivileged_userns` is 1)
            -> give it a profile:
            sudo tee /etc/apparmor.d/heeler <<'END'
            abi <abi/4.0>,
            include <tunables/global>
            profile heeler "/space/my tools/heeler" flags=(unconfined) {
              userns,
            }
            END
            sudo apparmor_parser -r /etc/apparmor.d/heeler
        "#]],
        );
        // Root is not kept from it by either.
        check(
            &Findings { is_root: true, is_container: true, ..restricted.clone() },
            expect![[r#"
            MISSING namespaces: mounts: Permission denied (os error 13); this is a container
            -> start the container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or with a seccomp profile that allows unshare, mount, umount2, mount_setattr, open_tree, move_mount and landlock_*
        "#]],
        );
        let old = Findings { unprivileged_userns_clone: None, ..refused(reason) };
        check(
            &Findings { is_root: true, ..old },
            expect![[r#"
            MISSING namespaces: mounts: Permission denied (os error 13); no switch that is known is off
            -> a kernel with CONFIG_USER_NS has them; `sysctl -a | grep -e userns -e user_namespaces` shows switches that may be off
        "#]],
        );
    }

    #[test]
    fn a_kernel_without_filters_says_so() {
        check(
            &Findings { seccomp: Err("Invalid argument (os error 22)".into()), ..well() },
            expect![[r#"
                MISSING seccomp: Invalid argument (os error 22)
                -> a kernel with CONFIG_SECCOMP_FILTER has it, on x86-64, aarch64 and riscv64
            "#]],
        );
    }
}
