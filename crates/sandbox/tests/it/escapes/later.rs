//! What comes to be, or is replaced, after a box was made; and links among what is protected.

use std::fs;
use std::path::Path;

use heeler_sandbox::{Bound, Child, Confinement, Exit, Input};

use crate::harness::Case;
use crate::place::{Place, SECRET};

pub(crate) const CASES: &[Case] = crate::cases![
    a_secret_that_comes_later_is_closed,
    a_new_folder_at_home_is_opened_with_the_next_command,
    a_secret_behind_a_link_is_closed,
    a_secret_that_comes_where_a_link_led_nowhere_is_closed,
    a_secret_behind_a_link_that_leads_elsewhere_later_is_closed,
    a_secret_stays_closed_as_the_folders_around_it_do_not_move,
    a_protected_file_that_is_replaced_outside_is_protected_again,
    what_is_replaced_while_a_command_runs_is_protected_again,
    a_secret_that_is_replaced_while_a_command_runs_is_closed_again,
    what_cannot_be_protected_again_ends_who_runs,
    what_waited_begins_in_no_box_of_before,
    what_waited_moves_nothing_aside,
    what_is_made_anew_is_told_from_what_was_there,
    a_protected_name_that_comes_later_is_protected,
    a_protected_link_is_put_back,
    what_a_protected_link_leads_to_is_protected,
    what_many_links_lead_to_is_protected_with_each_of_them,
    what_a_link_that_leads_nowhere_names_does_not_come_to_be,
    the_guard_follows_no_link,
    a_file_that_says_where_the_git_folder_is_is_moved_aside,
    no_names_that_are_taken_beforehand_keep_what_is_protected_in_its_place,
    a_box_that_cannot_be_made_is_refused,
];

async fn a_secret_that_comes_later_is_closed() {
    let place = Place::new();
    let read = "cat ../.aws/credentials ../.config/gh/new";
    assert_ne!(place.boxed(place.sh(read)).await.exit, Exit::Code(0));
    place.write("home/.aws/credentials", SECRET);
    place.write("home/.config/gh/new", SECRET);
    let free = place.finish(place.sh(read)).await;
    assert_eq!(free.output, format!("{SECRET}{SECRET}"));
    let held = place.boxed(place.sh(read)).await;
    assert!(!held.output.contains(SECRET) && held.output.contains("Permission denied"), "{held:?}");
    // While a command runs, too.
    fs::remove_dir_all(place.home.join(".aws")).unwrap();
    place.write("home/.new-secret", SECRET);
    let mut confines = place.confines();
    confines.secrets.push(place.home.join(".new-secret"));
    let script = "until [ -e ../.aws/credentials ]; do :; done; cat ../.aws/credentials";
    let command = place.sh(script).confinement(Confinement::Box(confines.into()));
    let mut child = place.launcher.run(&command).await.unwrap();
    place.write("home/.aws/credentials", SECRET);
    let output = crate::place::read_all(&mut child).await;
    assert!(!output.contains(SECRET) && output.contains("Permission denied"), "{output}");
}

async fn a_new_folder_at_home_is_opened_with_the_next_command() {
    let place = Place::new();
    assert!(place.boxed(place.sh("true")).await.exit.is_success());
    place.write("home/tools/version", "1\n");
    let ended = place.boxed(place.sh("cat ../tools/version")).await;
    assert_eq!((ended.output.as_str(), ended.exit), ("1\n", Exit::Code(0)));
}

async fn a_secret_behind_a_link_is_closed() {
    let place = Place::new();
    place.write("home/dotfiles/aws/credentials", SECRET);
    std::os::unix::fs::symlink("dotfiles/aws", place.home.join(".aws")).unwrap();
    for path in ["../.aws/credentials", "../dotfiles/aws/credentials"] {
        let script = format!("cat {path}");
        assert_eq!(place.finish(place.sh(&script)).await.output, SECRET);
        let held = place.boxed(place.sh(&script)).await;
        assert!(!held.output.contains(SECRET) && !held.exit.is_success(), "{held:?}");
    }
    fs::remove_file(place.home.join(".netrc")).unwrap();
    std::os::unix::fs::symlink("/dev/null", place.home.join(".netrc")).unwrap();
    let ended = place.boxed(place.sh("echo x >/dev/null && echo wrote")).await;
    assert_eq!(ended.output, "wrote\n", "{ended:?}");
}

async fn a_secret_that_comes_where_a_link_led_nowhere_is_closed() {
    let place = Place::new();
    let _ = fs::remove_dir_all(place.home.join(".config"));
    std::os::unix::fs::symlink("../elsewhere", place.home.join(".config")).unwrap();
    let read = "cat ../.config/gh/new";
    assert_ne!(place.boxed(place.sh(read)).await.exit, Exit::Code(0));
    place.write("elsewhere/other", "o\n");
    assert_eq!(place.boxed(place.sh("cat ../.config/other")).await.output, "o\n");
    place.write("elsewhere/gh/new", SECRET);
    assert_eq!(place.finish(place.sh(read)).await.output, SECRET);
    let held = place.boxed(place.sh(read)).await;
    assert!(!held.output.contains(SECRET) && held.output.contains("Permission denied"), "{held:?}");
}

async fn a_secret_behind_a_link_that_leads_elsewhere_later_is_closed() {
    let place = Place::new();
    let _ = fs::remove_dir_all(place.home.join(".config"));
    let link = place.home.join(".config");
    place.write("one/other", "o\n");
    place.write("two/gh/new", SECRET);
    std::os::unix::fs::symlink("../one", &link).unwrap();
    let read = "cat ../../two/gh/new";
    assert_eq!(place.boxed(place.sh(read)).await.output, SECRET);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../two", &link).unwrap();
    for read in [read, "cat ../.config/gh/new"] {
        let held = place.boxed(place.sh(read)).await;
        assert!(!held.output.contains(SECRET) && !held.exit.is_success(), "{held:?}");
    }
}

async fn a_secret_stays_closed_as_the_folders_around_it_do_not_move() {
    let place = Place::new();
    place.write("home/project/sub/deep/.env", SECRET);
    let mut confines = place.confines();
    confines.secrets.push(place.workspace.join("sub/deep/.env"));
    for script in ["mv sub s2", "mv sub/deep sub/d2", "cat */.env */*/.env"] {
        let held = place.boxed_in(confines.clone(), place.sh(script)).await;
        assert!(!held.output.contains(SECRET) && !held.exit.is_success(), "{script}: {held:?}");
    }
    assert!(place.workspace.join("sub/deep/.env").exists());
}

async fn a_protected_file_that_is_replaced_outside_is_protected_again() {
    let place = Place::new();
    place.make_repository();
    assert!(place.boxed(place.sh("true")).await.exit.is_success());
    // As git does it: a new file is moved onto the old one, which takes the mount away.
    place.write("home/project/.git/config.lock", "[core]\n");
    let config = place.workspace.join(".git/config");
    fs::rename(place.workspace.join(".git/config.lock"), &config).unwrap();
    let held = place.boxed(place.sh("echo evil >.git/config")).await;
    assert!(held.output.contains("Read-only"), "{held:?}");
    assert_eq!(fs::read_to_string(config).unwrap(), "[core]\n");
}

async fn what_is_replaced_while_a_command_runs_is_protected_again() {
    let place = Place::new();
    place.make_repository();
    let config = place.workspace.join(".git/config");
    let script =
        "echo ready; read -r _; echo evil >>.git/config; echo also >>.git/hooks/h; read -r _";
    let confinement = Confinement::Box(place.confines().into());
    let command = place.sh(script).input(Input::Pipe).confinement(confinement);
    for text in ["[core]\n", "[core]\n[user]\n"] {
        let mut child = place.launcher.run(&command).await.unwrap();
        let mut output = child.take_output().unwrap();
        assert_eq!(output.chunk().await.unwrap().unwrap(), b"ready\n");
        place.write("home/project/.git/config.lock", text);
        fs::rename(place.workspace.join(".git/config.lock"), &config).unwrap();
        is_mounted_again(&child, &config).await;
        child.take_input().unwrap().send(b"go\ngo\n").await.unwrap();
        let mut said = String::new();
        while let Some(chunk) = output.chunk().await.unwrap() {
            said.push_str(&String::from_utf8_lossy(&chunk));
        }
        child.kill_tree().await.unwrap();
        assert_eq!((said.matches("Read-only").count(), child.bound()), (2, None), "{said}");
        assert_eq!(fs::read_to_string(&config).unwrap(), text);
    }
}

/// The next look has it so: the kernel tells which mounts a process sees.
async fn is_mounted_again(child: &Child, path: &Path) {
    let mounts = format!("/proc/{}/mountinfo", child.pid());
    let is_mounted =
        |line: &str| line.split(' ').nth(4).is_some_and(|at| at == path.to_str().unwrap());
    while !fs::read_to_string(&mounts).unwrap().lines().any(is_mounted) {
        tokio::task::yield_now().await;
    }
}

/// As an editor does it: a new one is moved to its place.
async fn a_secret_that_is_replaced_while_a_command_runs_is_closed_again() {
    let place = Place::new();
    let mut confines = place.confines();
    confines.secrets.extend([".env", "keys"].map(|name| place.workspace.join(name)));
    let confinement = Confinement::Box(confines.into());
    for (secret, file) in [(".env", ".env"), ("keys", "keys/id")] {
        place.write(&format!("home/project/{file}"), SECRET);
        let script = format!("echo ready; read -r _; cat {file}; echo x >{file}; read -r _");
        let command = place.sh(&script).input(Input::Pipe).confinement(confinement.clone());
        let mut child = place.launcher.run(&command).await.unwrap();
        let mut output = child.take_output().unwrap();
        assert_eq!(output.chunk().await.unwrap().unwrap(), b"ready\n");
        let path = place.workspace.join(secret);
        fs::rename(&path, place.home.join(secret)).unwrap();
        place.write(&format!("home/new/{file}"), SECRET);
        fs::rename(place.home.join("new").join(secret), &path).unwrap();
        is_mounted_again(&child, &path).await;
        child.take_input().unwrap().send(b"go\ngo\n").await.unwrap();
        let mut said = String::new();
        while let Some(chunk) = output.chunk().await.unwrap() {
            said.push_str(&String::from_utf8_lossy(&chunk));
        }
        child.kill_tree().await.unwrap();
        assert_eq!(child.bound(), None, "{said}");
        assert!(!said.contains(SECRET) && said.matches("denied").count() == 2, "{said}");
        assert_eq!(fs::read_to_string(place.workspace.join(file)).unwrap(), SECRET);
    }
}

async fn what_cannot_be_protected_again_ends_who_runs() {
    let place = Place::new();
    place.make_repository();
    for name in [".git/config", ".git"] {
        let confinement = Confinement::Box(place.confines().into());
        let command = place.sh("echo ready; sleep 1000").confinement(confinement);
        let mut child = place.launcher.run(&command).await.unwrap();
        assert_eq!(child.take_output().unwrap().chunk().await.unwrap().unwrap(), b"ready\n");
        let path = place.workspace.join(name);
        fs::rename(&path, path.with_extension("moved")).unwrap();
        child.wait().await.unwrap();
        child.kill_tree().await.unwrap();
        assert_eq!(child.bound(), Some(&Bound::Replaced { path }));
    }
}

async fn what_waited_begins_in_no_box_of_before() {
    let place = Place::new();
    place.make_repository();
    let waits = place.sh("read -r line; eval \"$line\"").input(Input::Pipe);
    let waits = waits.confinement(Confinement::Box(place.confines().into()));
    place.begun(&waits).await;
    let child = place.launcher.run_waiting(&waits).await.unwrap();
    place.write("home/project/.git/config.lock", "[core]\n");
    let config = place.workspace.join(".git/config");
    fs::rename(place.workspace.join(".git/config.lock"), &config).unwrap();
    assert!(!child.begin().await);
    place.begun(&waits).await;
}

/// It did nothing: what came to be while it waited is somebody else's.
async fn what_waited_moves_nothing_aside() {
    let place = Place::new();
    let waits = place.sh("read -r line; eval \"$line\"").input(Input::Pipe);
    let waits = waits.confinement(Confinement::Box(place.confines().into()));
    let mut asked = place.launcher.run_waiting(&waits).await.unwrap();
    let mut unasked = place.launcher.run_waiting(&waits).await.unwrap();
    let mut ended = place.launcher.run_waiting(&waits).await.unwrap();
    place.write("home/project/.envrc", "mine\n");
    assert!(!asked.begin().await);
    drop(ended.take_input());
    ended.wait().await.unwrap();
    for child in [&mut asked, &mut unasked, &mut ended] {
        child.kill_tree().await.unwrap();
        assert_eq!(child.bound(), None);
    }
    assert_eq!(fs::read_to_string(place.workspace.join(".envrc")).unwrap(), "mine\n");
}

/// A number that is free is given again.
async fn what_is_made_anew_is_told_from_what_was_there() {
    let place = Place::new();
    place.write("home/project/.envrc", "mine\n");
    for _ in 0..20 {
        let held = place.boxed(place.sh("echo evil >>.envrc")).await;
        assert!(held.output.contains("Read-only"), "{held:?}");
        fs::remove_file(place.workspace.join(".envrc")).unwrap();
        place.write("home/project/.envrc", "mine\n");
    }
}

async fn a_protected_name_that_comes_later_is_protected() {
    let place = Place::new();
    assert!(place.boxed(place.sh("true")).await.exit.is_success());
    place.write("home/project/.envrc", "mine\n");
    let held = place.boxed(place.sh("echo evil >.envrc")).await;
    assert!(held.output.contains("Read-only") && held.bound.is_none(), "{held:?}");
    assert_eq!(fs::read_to_string(place.workspace.join(".envrc")).unwrap(), "mine\n");
}

async fn a_protected_link_is_put_back() {
    let place = Place::new();
    let link = place.workspace.join(".idea");
    std::os::unix::fs::symlink("../idea", &link).unwrap();
    for script in ["rm .idea", "ln -sfn evil .idea", "rm .idea; mkdir .idea; echo evil >.idea/x"] {
        let held = place.boxed(place.sh(script)).await;
        assert!(
            matches!(&held.bound, Some(Bound::Protected { path, .. }) if *path == link),
            "{held:?}"
        );
        assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("../idea"), "{script}");
    }
}

async fn what_a_protected_link_leads_to_is_protected() {
    let place = Place::new();
    place.write("home/project/shared/claude/settings.json", "{}");
    std::os::unix::fs::symlink("shared/claude", place.workspace.join(".claude")).unwrap();
    let settings = "shared/claude/settings.json";
    for script in [format!("echo evil >{settings}"), "echo evil >.claude/settings.json".to_owned()]
    {
        let held = place.boxed(place.sh(&script)).await;
        assert!(held.output.contains("Read-only"), "{held:?}");
    }
    assert_eq!(fs::read_to_string(place.workspace.join(settings)).unwrap(), "{}");
}

/// As a folder of `PATH` may be named: by a link outside of what may be written.
async fn what_many_links_lead_to_is_protected_with_each_of_them() {
    let place = Place::new();
    place.write("home/project/real/bin/tool", "mine");
    place.write("home/elsewhere/x", "");
    std::os::unix::fs::symlink("../home/project", place.home.join("link")).unwrap();
    std::os::unix::fs::symlink("../project/real", place.home.join("project/second")).unwrap();
    std::os::unix::fs::symlink("second", place.home.join("project/first")).unwrap();
    let tool = place.workspace.join("real/bin/tool");
    for script in [
        "echo evil >real/bin/tool",
        "mv real/bin real/other",
        "ln -sfn elsewhere first; sleep 1",
        "ln -sfn elsewhere second; sleep 1",
    ] {
        let mut confines = place.confines();
        confines.protected.push(place.home.join("link/first/bin"));
        let held = place.boxed_in(confines, place.sh(script)).await;
        assert!(held.bound.is_some() || !held.exit.is_success(), "{script}: {held:?}");
        assert_eq!(fs::read_to_string(&tool).unwrap(), "mine", "{script}");
        let by_name = place.home.join("link/first/bin/tool");
        assert_eq!(fs::read_to_string(by_name).unwrap(), "mine", "{script}");
    }
    // A circle is nothing that could be protected, and what is above a link is where that leads.
    std::os::unix::fs::symlink("circle", place.home.join("circle")).unwrap();
    let mut confines = place.confines();
    confines.protected.extend(["circle/x", "link/../project/real"].map(|it| place.home.join(it)));
    let held = place.boxed_in(confines, place.sh("echo evil >real/new")).await;
    assert!(held.output.contains("Read-only"), "{held:?}");
}

async fn what_a_link_that_leads_nowhere_names_does_not_come_to_be() {
    let place = Place::new();
    std::os::unix::fs::symlink("later/envrc", place.workspace.join(".envrc")).unwrap();
    let held = place.boxed(place.sh("mkdir later; echo evil >later/envrc")).await;
    assert!(matches!(&held.bound, Some(Bound::Protected { .. })), "{held:?}");
    assert!(!place.workspace.join(".envrc").exists());
}

async fn the_guard_follows_no_link() {
    let place = Place::new();
    place.write("home/other/tasks.json", "mine\n");
    let held = place.boxed(place.sh("ln -s ../other .vscode")).await;
    let expected = Bound::Protected {
        path: place.workspace.join(".vscode"),
        aside: Some(place.workspace.join(".vscode.refused-1")),
    };
    assert_eq!(held.bound, Some(expected));
    assert_eq!(fs::read_to_string(place.home.join("other/tasks.json")).unwrap(), "mine\n");
}

/// What such a file says decides what git runs, as the folder does.
async fn a_file_that_says_where_the_git_folder_is_is_moved_aside() {
    let place = Place::new();
    let held = place.boxed(place.sh("echo 'gitdir: evil' >.git")).await;
    assert!(matches!(&held.bound, Some(Bound::Protected { path, .. }) if path.ends_with(".git")));
    assert!(!place.workspace.join(".git").exists(), "{held:?}");
    // One that was there has nothing below it, and is nobody's affair here.
    place.write("home/project/.git", "gitdir: ../elsewhere\n");
    let held = place.boxed(place.sh("true")).await;
    assert_eq!(held.bound, None);
}

async fn no_names_that_are_taken_beforehand_keep_what_is_protected_in_its_place() {
    let place = Place::new();
    let script = "for i in $(seq 1000); do : >.envrc.refused-$i; done; echo evil >.envrc";
    let held = place.boxed(place.sh(script)).await;
    let Some(Bound::Protected { aside: Some(aside), .. }) = &held.bound else { panic!("{held:?}") };
    assert!(!place.workspace.join(".envrc").exists());
    assert_eq!(fs::read_to_string(aside).unwrap(), "evil\n");
}

async fn a_box_that_cannot_be_made_is_refused() {
    let place = Place::new();
    let check = async |change: fn(&Place, &mut heeler_sandbox::Confines), expected: &str| {
        let mut confines = place.confines();
        change(&place, &mut confines);
        let confinement = Confinement::Box(confines.into());
        let command = place.sh("echo ran").confinement(confinement);
        let error = place.launcher.run(&command).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(|_, confines| confines.temp = "/no/such/folder".into(), "`/no/such/folder`: No such")
        .await;
    check(|place, confines| confines.secrets.push(place.home.clone()), "is to be written, and")
        .await;
    check(|_, confines| confines.protected.push("../x".into()), "it is no plain path").await;
}
