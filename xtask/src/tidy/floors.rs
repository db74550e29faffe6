//! Imports only go down, and every crate is furnished alike.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tree::Tree;

pub(super) const WHY: &str = "a crate may import only what lies on a strictly lower floor, so \
     that each room can be read, tested and replaced without its neighbors; cargo refuses \
     cycles, this refuses siblings";

const FLOOR_MAX: i64 = 5;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rooms = BTreeMap::new();
    for (_, path, file) in tree.crates() {
        match Room::read(path, &file.text) {
            Ok(room) => {
                findings.extend(room.furniture());
                rooms.insert(room.name.clone(), room);
            }
            Err(finding) => findings.push(finding),
        }
    }
    let root: Table =
        tree.text("Cargo.toml").and_then(|text| text.parse().ok()).unwrap_or_default();
    for room in rooms.values() {
        let look = |(name, value)| room.look_down(name, package(&root, name, value), &rooms);
        findings.extend(room.dependencies().filter_map(look));
    }
    findings.extend(lost_bans(tree));
    findings
}

/// A crate's own clippy.toml replaces the root's, so it has to repeat what the root bans.
fn lost_bans(tree: &Tree) -> Vec<Finding> {
    let Some(root) = tree.text("clippy.toml") else { return Vec::new() };
    let bans = |text: &str| -> Vec<String> {
        let starts = text.split("path = \"").skip(1);
        starts.filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect()
    };
    let mut findings = Vec::new();
    for (folder, ..) in tree.crates() {
        let path = format!("{folder}/clippy.toml");
        let Some(own) = tree.text(&path).map(bans) else { continue };
        for lost in bans(root).into_iter().filter(|ban| !own.contains(ban)) {
            let message = format!("does not repeat the root's ban of `{lost}`, and so lifts it");
            findings.push(Finding::refused(&path, 0, message));
        }
    }
    findings
}

/// One crate's manifest.
struct Room<'a> {
    path: &'a str,
    text: &'a str,
    manifest: Table,
    name: String,
    floor: Option<i64>,
}

impl<'a> Room<'a> {
    fn read(path: &'a str, text: &'a str) -> Result<Self, Finding> {
        let manifest: Table =
            text.parse().map_err(|error| Finding::refused(path, 0, format!("{error}")))?;
        let name = get(&manifest, &["package", "name"]).and_then(Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        let floor = get(&manifest, &["package", "metadata", "house", "floor"]);
        let floor = floor.and_then(Value::as_integer);
        Ok(Self { path, text, manifest, name, floor })
    }

    /// What every crate has: a floor, the workspace's lints, versions from the workspace.
    fn furniture(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !self.floor.is_some_and(|floor| (0..=FLOOR_MAX).contains(&floor)) {
            let message = format!("no `floor = 0..={FLOOR_MAX}` under [package.metadata.house]");
            findings.push(Finding::refused(self.path, 0, message));
        }
        if get(&self.manifest, &["lints", "workspace"]) != Some(&Value::Boolean(true)) {
            let message = "no `workspace = true` under [lints]: the workspace's lints are off here";
            findings.push(Finding::refused(self.path, 0, message));
        }
        for (name, value) in
            self.tables(&["dependencies", "build-dependencies", "dev-dependencies"])
        {
            if value.get("workspace") != Some(&Value::Boolean(true)) {
                let message = format!(
                    "`{name}` states its own version: declare it once in the root Cargo.toml and \
                     write `{name}.workspace = true`"
                );
                findings.push(Finding::refused(self.path, self.line(name), message));
            }
        }
        findings
    }

    /// What the crate's own code (not its tests) depends on.
    fn dependencies(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tables(&["dependencies", "build-dependencies"])
    }

    /// The entries of these tables, those for one platform included.
    fn tables(&self, names: &'static [&'static str]) -> impl Iterator<Item = (&str, &Value)> {
        let targets = get(&self.manifest, &["target"]).and_then(Value::as_table);
        let platforms = targets.into_iter().flat_map(|targets| targets.values());
        std::iter::once(&self.manifest)
            .chain(platforms.filter_map(Value::as_table))
            .flat_map(|table| names.iter().filter_map(|name| table.get(*name)?.as_table()))
            .flat_map(|table| table.iter().map(|(name, value)| (name.as_str(), value)))
    }

    /// What is wrong with depending on this package, called `name` here, if it is ours.
    fn look_down(
        &self,
        name: &str,
        package: &str,
        rooms: &BTreeMap<String, Room<'_>>,
    ) -> Option<Finding> {
        let (below, floor) = (rooms.get(package)?.floor?, self.floor?);
        (below >= floor).then(|| {
            let message = format!(
                "{} (floor {floor}) depends on {package} (floor {below}); move what it needs to a \
                 lower floor, or hand it in as an argument",
                self.name
            );
            Finding::refused(self.path, self.line(name), message)
        })
    }

    fn line(&self, name: &str) -> usize {
        let begins = |line: &str| {
            line.trim_start()
                .strip_prefix(name)
                .is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
        };
        self.text.lines().position(begins).map_or(0, |index| index + 1)
    }
}

/// The package that a dependency is, whatever it is called.
fn package<'a>(root: &'a Table, name: &'a str, value: &'a Value) -> &'a str {
    let declared = get(root, &["workspace", "dependencies", name]);
    let renamed = [Some(value), declared].into_iter().flatten();
    renamed.filter_map(|value| value.get("package")?.as_str()).next().unwrap_or(name)
}

fn get<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { get(value.as_table()?, rest) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn manifest(name: &str, floor: &str, last: &str) -> String {
        format!(
            "[package]\nname = \"heeler-{name}\"\n[package.metadata.house]\n{floor}\n\
             [lints]\nworkspace = true\n{last}\n"
        )
    }

    /// Two crates: `core` on floor 0, and `a` with this floor and these last lines.
    fn check_room(floor: &str, last: &str, expected: Expect) {
        let tree = Tree::of([
            ("crates/core/Cargo.toml", manifest("core", "floor = 0", "")),
            ("crates/a/Cargo.toml", manifest("a", floor, last)),
        ]);
        expected.assert_eq(&render(check(&tree)));
    }

    #[test]
    fn down_is_allowed() {
        check_room("floor = 1", "[dependencies]\nheeler-core.workspace = true", expect![""]);
    }

    #[test]
    fn sideways_is_refused_on_every_way_in() {
        check_room(
            "floor = 0",
            "[dependencies]\nheeler-core.workspace = true",
            expect![[r#"
            crates/a/Cargo.toml:8: heeler-a (floor 0) depends on heeler-core (floor 0); move what it needs to a lower floor, or hand it in as an argument
        "#]],
        );
        let platform = "[target.'cfg(unix)'.build-dependencies]\nheeler-core.workspace = true";
        check_room(
            "floor = 0",
            platform,
            expect![[r#"
            crates/a/Cargo.toml:8: heeler-a (floor 0) depends on heeler-core (floor 0); move what it needs to a lower floor, or hand it in as an argument
        "#]],
        );
    }

    #[test]
    fn another_name_hides_no_crate() {
        let root = "[workspace.dependencies]\nbase = { path = \"x\", package = \"heeler-core\" }\n";
        let tree = |last| {
            Tree::of([
                ("Cargo.toml", root.to_owned()),
                ("crates/core/Cargo.toml", manifest("core", "floor = 0", "")),
                ("crates/a/Cargo.toml", manifest("a", "floor = 0", last)),
            ])
        };
        let sideways = expect![[r#"
            crates/a/Cargo.toml:8: heeler-a (floor 0) depends on heeler-core (floor 0); move what it needs to a lower floor, or hand it in as an argument
        "#]];
        sideways.assert_eq(&render(check(&tree("[dependencies]\nbase.workspace = true"))));
    }

    #[test]
    fn tests_may_look_sideways() {
        check_room("floor = 0", "[dev-dependencies]\nheeler-core.workspace = true", expect![""]);
    }

    #[test]
    fn every_crate_is_furnished() {
        check_room(
            "",
            "[dependencies]\nserde = \"1\"",
            expect![[r#"
            crates/a/Cargo.toml: no `floor = 0..=5` under [package.metadata.house]
            crates/a/Cargo.toml:8: `serde` states its own version: declare it once in the root Cargo.toml and write `serde.workspace = true`
        "#]],
        );
        check_room(
            "floor = 6",
            "",
            expect![[r#"
            crates/a/Cargo.toml: no `floor = 0..=5` under [package.metadata.house]
        "#]],
        );
        let bare = Tree::of([(
            "crates/a/Cargo.toml",
            "[package]\nname = \"a\"\n[package.metadata.house]\nfloor = 0\n",
        )]);
        expect![[r#"
            crates/a/Cargo.toml: no `workspace = true` under [lints]: the workspace's lints are off here
        "#]]
        .assert_eq(&render(check(&bare)));
    }

    #[test]
    fn a_crates_own_clippy_file_repeats_the_roots_bans() {
        let root = "disallowed-methods = [{ path = \"a::b\" }, { path = \"c::d\" }]";
        let own = "disallowed-methods = [{ path = \"a::b\" }]";
        let text = manifest("core", "floor = 0", "");
        let tree = Tree::of([
            ("clippy.toml", root),
            ("crates/core/Cargo.toml", &text),
            ("crates/core/clippy.toml", own),
        ]);
        expect![[r#"
            crates/core/clippy.toml: does not repeat the root's ban of `c::d`, and so lifts it
        "#]]
        .assert_eq(&render(check(&tree)));
    }

    #[test]
    fn a_manifest_that_is_not_toml_is_said_so() {
        let findings = check(&Tree::of([("crates/a/Cargo.toml", "[package\n")]));
        assert!(render(findings).starts_with("crates/a/Cargo.toml: TOML parse error"));
    }
}
