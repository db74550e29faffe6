//! The system: processes, users, services, desktops, other agents, heeler itself.

use super::table::*;

const VIEW: &str = "changes what the system shows to programs";

pub(super) const PROGRAMS: &[Program] = &[
    reads(
        "ps top htop uname nproc free vmstat iostat uptime cal whoami id groups who w last tty \
         lscpu lsblk lspci lsusb lsmod pgrep pidof pstree pmap printenv locale tput stty clear addr2line c++filt otool",
    ),
    reads("nm objdump readelf size").options(&[
        decides("--plugin", "a library is loaded into the program").valued(),
    ]),
    // Elsewhere than on macOS it only names the architecture.
    reads("arch").operands(Operands::Command(0)).long_options().options(&[
        takes("-arch -d"),
        names_variable("-e"),
    ]),
    reads("date").special(Special::Date).options(&[
        escapes("-s --set", "sets the clock"),
        takes("-d --date -f --file -r --reference -v"),
        flag("-j"),
    ]),
    reads("dmesg").options(&[escapes("-c -C --clear --read-clear -D -E -n", "changes the log of the kernel")]),
    changes("ldd reset"),
    changes("kill").special(Special::Kill).options(&[takes("-s -n")]),
    leaves("pkill killall killall5 skill snice renice xkill", "signals processes by name"),
    leaves("sudo sudoedit doas pkexec please visudo", "asks for other rights")
        .operands(Operands::Rest)
        .special(Special::Sudo)
        .options(&[
            takes(
                "-u --user -g --group -C --close-from -h --host -p --prompt -r --role -t --type -T --command-timeout \
                 -U --other-user -D --chdir -R --chroot -a --auth-type --login-class",
            ),
            runs_line("-c --command"),
        ]),
    // The user stands before the command, or before an option that holds it.
    leaves("su gosu su-exec", "asks for other rights").operands(Operands::Command(1)).special(Special::OwnShell).options(&[
        takes("-g --group -G --supp-group -w --whitelist-environment"),
        runs_program("-s --shell"),
        runs_line("-c --command --session-command"),
    ]),
    leaves("runuser", "asks for other rights").operands(Operands::Command(1)).special(Special::OwnShell).options(&[
        command_next("-u --user"),
        takes("-g --group -G --supp-group -w --whitelist-environment"),
        runs_program("-s --shell"),
        runs_line("-c --command --session-command"),
    ]),
    leaves("run0", "asks for other rights").operands(Operands::Command(0)).special(Special::OwnShell).options(&[takes(
        "-u --user -g --group -D --chdir --unit --property --description --slice --nice --setenv --background \
         --machine --shell-prompt-prefix",
    )]),
    leaves("capsh", "changes rights or users").special(Special::Capsh).options(&[runs_program("--shell")]),
    leaves("setcap newgrp chpasswd passwd chsh chfn usermod useradd userdel adduser deluser groupadd groupmod gpasswd vipw", "changes rights or users"),
    leaves("setpriv", "changes rights").operands(Operands::Command(0)).options(&[takes(
        "--ambient-caps --inh-caps --bounding-set --ruid --euid --rgid --egid --reuid --regid --groups \
         --securebits --pdeathsig --ptracer --selinux-label --apparmor-profile --landlock-access \
         --landlock-rule --seccomp-filter",
    )]),
    leaves("sg", "changes rights").operands(Operands::Line(1)).options(&[runs_line("-c")]),
    leaves("chroot", "changes what the system shows to programs")
        .operands(Operands::Command(1))
        .special(Special::OwnShell)
        .options(&[takes("--userspec --groups")]),
    leaves("unshare", VIEW).operands(Operands::Command(0)).special(Special::OwnShell).options(&[
        takes(
            "--map-user --map-group --map-users --map-groups --owner --setgroups --propagation -R --root -w --wd \
             -S --setuid -G --setgid --monotonic --boottime -l --load-interp",
        ),
        flag("--mount-proc --mount-binfmt --kill-child -m --mount -u --uts -i --ipc -n --net -p --pid -U --user \
             -C --cgroup -T --time").attached(),
    ]),
    leaves("nsenter", VIEW).operands(Operands::Command(0)).special(Special::OwnShell).options(&[
        takes("-t --target -S --setuid -G --setgid -N --net-socket"),
        flag("-m --mount -u --uts -i --ipc -n --net -p --pid -U --user -C --cgroup -T --time -r --root -w --wd \
             -W --wdns").attached(),
    ]),
    leaves("bwrap", VIEW).operands(Operands::Rest).special(Special::Bwrap),
    leaves("proot", VIEW).operands(Operands::Command(0)).special(Special::OwnShell).options(&[
        takes(
            "-r --rootfs -b --bind -m --mount -w --pwd --cwd -v --verbose -k --kernel-release -i --change-id -R -S",
        ),
        runs_program("-q --qemu"),
    ]),
    leaves("systemd-nspawn", VIEW).operands(Operands::Command(0)).options(&[takes(
        "-D --directory -M --machine -u --user -i --image --template --bind --bind-ro --tmpfs -E --setenv \
         --capability --drop-capability --slice --property --uuid -S --chdir --pivot-root --hostname --kill-signal \
         --overlay --overlay-ro --inaccessible --network-interface --network-bridge --network-macvlan -p --port",
    )]),
    leaves("sandbox-exec", VIEW).operands(Operands::Command(0)).options(&[takes("-f -p -n -D")]),
    leaves("mount umount firejail pivot_root fusermount fusermount3 losetup modprobe insmod rmmod sysctl kexec swapon swapoff newuidmap newgidmap", VIEW)
        .operands(Operands::Command(0)),
    leaves("systemd-run systemd-inhibit systemd-cat dbus-launch", "tells a service manager what to run")
        .operands(Operands::Command(0))
        .options(&[
            takes(
                "-u --unit -p --property -E --setenv --description --slice --uid --gid --nice -M --machine -H \
                 --host --working-directory --on-active --on-boot --on-startup --on-unit-active \
                 --on-unit-inactive --on-calendar --timer-property --path-property --socket-property \
                 --service-type --what --who --why --mode -t --identifier --priority --stderr-priority \
                 --level-prefix --namespace --capsule -C --background --expand-environment",
            ),
            runs_program("--config-file"),
        ]),
    riddles("start-stop-daemon", "start-stop-daemon puts a command together"),
    leaves("systemctl service launchctl loginctl machinectl busctl dbus-send gdbus qdbus hostnamectl timedatectl localectl rc-service rc-update sv initctl telinit systemd-tmpfiles udevadm", "tells a service manager what to run"),
    reads("journalctl").options(&[
        writes("--cursor-file"),
        escapes("--rotate --flush --sync --setup-keys --update-catalog --vacuum-size --vacuum-time --vacuum-files", "changes the log of the system"),
    ]),
    leaves("at batch atq atrm crontab anacron incrontab", "runs something later, outside of the box"),
    leaves("shutdown reboot halt poweroff init", "stops the machine"),
    leaves("tmux screen zellij byobu dtach abduco", "works in another terminal"),
    leaves("xdotool ydotool wtype xte xclip xsel wl-copy wl-paste pbcopy pbpaste clip.exe notify-send wall write mesg logger osascript automator shortcuts xdg-settings xdg-mime gsettings dconf defaults", "acts on the desktop or on other terminals"),
    leaves("open xdg-open gnome-open kde-open", "opens something outside of the box"),
    leaves("code codium cursor windsurf subl idea pycharm webstorm zed", "acts in an editor outside of the box"),
    leaves("flatpak-spawn host-spawn distrobox distrobox-host-exec toolbox wsl wslview cmd.exe powershell.exe", "runs something outside of the box"),
    leaves("op", "shows passwords").verbs(&[leaves("run", "shows passwords")
        .operands(Operands::Command(0))
        .options(&[takes("--env-file --account --config --session --encoding --environment")])]),
    leaves("aws-vault", "shows passwords").verbs(&[leaves("exec", "shows passwords")
        .operands(Operands::Command(1))
        .options(&[takes("-d --duration -t --mfa-token --region --prompt --backend")])]),
    leaves("security secret-tool pass keyring gnome-keyring kwallet-query bw lpass vault 1password age-keygen", "shows passwords"),
    leaves("claude codex aider gemini opencode goose cursor-agent copilot amp crush llm qwen droid cline", "starts another agent"),
    leaves("heeler", "acts on heeler itself"),
    leaves("pm2 supervisord supervisorctl forever monit", "keeps programs running"),
    leaves("adb fastboot idevice_id ios-deploy", "acts on another device"),
    leaves("diskutil hdiutil tmutil csrutil spctl scutil nvram pmset networksetup", "changes the system"),
    leaves("iptables ip6tables nft ufw firewall-cmd pfctl tc", "changes the network of the machine"),
];
