//! Rules that are kept for good: whole, once, where they were given, and by many at the same time.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use heeler_core::{Rule, RuleEffect};
use heeler_settings::{Context, Keep, SettingsError, save_rule};

use crate::support::World;

/// How many save at the same time.
const SAVERS: usize = 8;
/// How many rules each of them has.
const RULES_EACH: usize = 6;

fn rule(text: &str) -> Rule {
    Rule::parse(text, RuleEffect::Allow, "a person").unwrap()
}

fn save(world: &World, keep: Keep, text: &str) -> Result<(), SettingsError> {
    save_rule(&world.heeler_home(), keep, &rule(text), &world.context(&world.workspace()))
}

/// The rules that hold in a folder, with their places.
fn rules(world: &World, folder: &str) -> Vec<String> {
    let mut files = world.files();
    files.workspace = world.path(folder);
    let loaded = world.load_in(&files).unwrap();
    loaded.rules.iter().map(|rule| world.plain(format!("{rule} {}", rule.source))).collect()
}

#[test]
fn a_rule_holds_where_it_was_given() {
    let world = World::new();
    fs::remove_dir(world.heeler_home()).unwrap();
    save(&world, Keep::Here, "Bash(make:*)").unwrap();
    save(&world, Keep::Here, "Bash(make:*)").unwrap();
    save(&world, Keep::Everywhere, "Bash(ls:*)").unwrap();
    let everywhere = "Bash(ls:*) WORLD/heeler/settings.toml:3";
    assert_eq!(rules(&world, "me/work"), [everywhere, "Bash(make:*) WORLD/heeler/projects.toml:5"]);
    assert_eq!(rules(&world, "me/other"), [everywhere]);
    for name in ["settings.toml", "projects.toml"] {
        let mode = fs::metadata(world.path("heeler").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let left = fs::read_dir(world.heeler_home()).unwrap().count();
    assert_eq!(left, 3, "two files and the lock");
}

#[test]
fn savers_at_the_same_time_lose_nothing() {
    let world = World::new();
    let name = |saver: usize, n: usize| format!("Bash(run-{saver}-{n})");
    std::thread::scope(|scope| {
        for saver in 0..SAVERS {
            let world = &world;
            scope.spawn(move || {
                for n in 0..RULES_EACH {
                    save(world, Keep::Here, &name(saver, n)).unwrap();
                    save(world, Keep::Everywhere, "Bash(everybody)").unwrap();
                }
            });
        }
    });
    let rules = rules(&world, "me/work");
    assert_eq!(rules.len(), SAVERS * RULES_EACH + 1);
    for saver in 0..SAVERS {
        for n in 0..RULES_EACH {
            let begin = format!("{} ", name(saver, n));
            assert_eq!(rules.iter().filter(|rule| rule.starts_with(&begin)).count(), 1, "{begin}");
        }
    }
}

#[test]
fn what_would_lock_somebody_out_is_not_kept() {
    let world = World::new();
    let kept = "# mine\n[permissions]\nallow = ['Bash(ls)'] # short\n";
    let path = world.write("heeler/settings.toml", kept);
    let refused = |text: &str| {
        let error = save(&world, Keep::Everywhere, text).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
        world.plain(error).replace("WORLD/heeler/settings.toml: ", "")
    };
    assert_eq!(
        refused("Bash(*rm*)"),
        "`Bash(*rm*)` has a `*` that is not its end; `Bash(words:*)` means any arguments after these"
    );
    assert_eq!(refused("Task(x)"), "`Task(x)` names no tool; the tools are Bash");
    let error = save_rule(
        &world.heeler_home(),
        Keep::Everywhere,
        &Rule { tool: "Bash)".into(), ..rule("Bash(x)") },
        &Context::default(),
    );
    assert!(error.is_err());
    assert!(refused("Read(~you/x)").contains("names another user's home"));

    let broken = "[permissions]\nallow = 'Bash'\n";
    world.write("heeler/settings.toml", broken);
    let error = world.plain(save(&world, Keep::Everywhere, "Bash(ls)").unwrap_err());
    assert_eq!(
        error,
        "WORLD/heeler/settings.toml:2: `permissions.allow` has to be a list, and is a text"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), broken);
}

#[test]
fn a_linked_file_stays_linked() {
    let world = World::new();
    let real = world.write("me/dotfiles/heeler.toml", "# kept elsewhere\n");
    symlink(&real, world.path("heeler/settings.toml")).unwrap();
    save(&world, Keep::Everywhere, "Bash(ls)").unwrap();
    assert!(world.path("heeler/settings.toml").is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.starts_with("# kept elsewhere\n[permissions]\n"), "{text}");
}
