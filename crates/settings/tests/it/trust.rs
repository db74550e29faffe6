//! Trust: exactly these bytes, in exactly this folder, for exactly what was shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use heeler_settings::{Aspect, Files, UntrustedFile};

use crate::support::World;

const FILE: &str = "me/work/.claude/settings.local.json";
const TEXT: &str =
    r#"{"env": {"A": "1"}, "permissions": {"allow": ["Bash"], "deny": ["Bash(x)"]}}"#;

/// What the repository's files widen.
fn widens(world: &World) -> (usize, usize) {
    let loaded = world.load().unwrap();
    let allows = |rule: &&heeler_core::Rule| rule.effect == heeler_core::RuleEffect::Allow;
    assert_eq!(loaded.rules.iter().filter(|rule| !allows(rule)).count(), 1, "denied all the same");
    (loaded.rules.iter().filter(allows).count(), loaded.environment.len())
}

fn untrusted(world: &World) -> Vec<UntrustedFile> {
    world.load().unwrap().untrusted
}

fn grant_all(world: &World) {
    for file in untrusted(world) {
        world.trust().grant(&world.workspace(), &file).unwrap();
    }
}

#[test]
fn a_file_counts_while_it_is_what_was_trusted() {
    let world = World::new();
    world.write(FILE, TEXT);
    assert_eq!(widens(&world), (0, 0));
    let [shown] = untrusted(&world).try_into().unwrap();
    assert_eq!(shown.content, TEXT.as_bytes());
    assert_eq!(shown.aspects, [Aspect::Rules, Aspect::Environment].into());
    grant_all(&world);
    assert_eq!(widens(&world), (1, 1));
    assert_eq!(untrusted(&world), []);
    let text = fs::read_to_string(world.path("heeler/trust.toml")).unwrap();
    let kept =
        "[[trusted]]\nworkspace = \"WORLD/me/work\"\nfile = \".claude/settings.local.json\"\n";
    assert!(world.plain(&text).contains(kept), "{text}");

    world.write(FILE, &format!("{TEXT}\n"));
    assert_eq!(widens(&world), (0, 0), "one byte more");
    assert_eq!(untrusted(&world).len(), 1);
    world.write(FILE, TEXT);
    assert_eq!(widens(&world), (1, 1));
    assert_eq!(world.trust().revoke(&world.workspace()).unwrap(), 1);
    assert_eq!(widens(&world), (0, 0));
    assert_eq!(world.trust().revoke(&world.workspace()).unwrap(), 0);
}

#[test]
fn trust_is_of_one_folder_and_one_file() {
    let world = World::new();
    world.write(FILE, TEXT);
    grant_all(&world);
    world.write("me/other/.claude/settings.local.json", TEXT);
    let files = Files { workspace: world.path("me/other"), ..world.files() };
    assert_eq!(world.load_in(&files).unwrap().untrusted.len(), 1);
    assert_eq!(world.trust().revoke(&world.path("me/other")).unwrap(), 0);
    fs::rename(world.path(FILE), world.path("me/work/.claude/settings.json")).unwrap();
    assert_eq!(untrusted(&world).len(), 1);
}

#[test]
fn what_was_not_shown_is_not_trusted() {
    let world = World::new();
    world.write(FILE, TEXT);
    let [mut shown] = untrusted(&world).try_into().unwrap();
    shown.aspects = [Aspect::Environment].into();
    world.trust().grant(&world.workspace(), &shown).unwrap();
    assert_eq!(widens(&world), (0, 1));
    assert_eq!(untrusted(&world)[0].aspects, [Aspect::Rules].into());
    grant_all(&world);
    assert_eq!(widens(&world), (1, 1), "the second grant adds to the first");

    // Trust in other bytes is not handed on to these.
    world.write(FILE, &format!("{TEXT} "));
    let [mut shown] = untrusted(&world).try_into().unwrap();
    shown.aspects = [Aspect::Environment].into();
    world.trust().grant(&world.workspace(), &shown).unwrap();
    assert_eq!(widens(&world), (0, 1));

    // What was shown is trusted, not what has come into its place since.
    world.write(FILE, &TEXT.replace("Bash(x)", "Bash(y)"));
    let [shown] = untrusted(&world).try_into().unwrap();
    world.write(FILE, &TEXT.replace("Bash(x)", "Bash(z)"));
    world.trust().grant(&world.workspace(), &shown).unwrap();
    assert_eq!(widens(&world), (0, 0));
}

#[test]
fn the_file_is_the_owners_and_a_broken_one_is_told() {
    let world = World::new();
    world.write(FILE, TEXT);
    grant_all(&world);
    for name in ["trust.toml", "settings.lock"] {
        let mode = fs::metadata(world.path("heeler").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let more = "\n[[trusted]]\nworkspace = 'a'\nfile = 'b'\nsha256 = ''\naspects = ['later']\n";
    let text = fs::read_to_string(world.path("heeler/trust.toml")).unwrap();
    world.write("heeler/trust.toml", &(text + more));
    assert_eq!(widens(&world), (1, 1), "an aspect of a later version is nobody's loss");
    for broken in ["trusted = 1", "x", "[[trusted]]\nfile = ''"] {
        world.write("heeler/trust.toml", broken);
        let error = world.plain(world.load().unwrap_err());
        assert!(error.starts_with("WORLD/heeler/trust.toml: this cannot be read: "), "{error}");
        assert!(error.ends_with("; mend it, or remove it to trust nothing"), "{error}");
        assert!(world.trust().revoke(&world.workspace()).is_err());
        assert_eq!(fs::read_to_string(world.path("heeler/trust.toml")).unwrap(), broken);
    }
}
