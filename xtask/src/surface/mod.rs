//! `cargo xtask surface`: all that a user of the library can name, beside `docs/surface.txt`.
//!
//! `heeler` only re-exports, so its surface is that of other crates as far as a door of `heeler` opens
//! it: one of them by name, or a module or crate whole. What is derived or implemented for everything
//! is left out.

mod named;
mod rustdoc;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

pub(crate) use rustdoc::stand_in;

const PAGE: &str = "docs/surface.txt";
const FRONT: &str = "heeler";
const MANIFEST: &str = "crates/heeler/Cargo.toml";
/// So many lines of a difference are shown.
const SHOWN_MAX: usize = 40;

/// Compares what is public with the page, or writes the page.
pub(crate) fn run_command(arguments: &[&str], root: &Path) -> Result<ExitCode> {
    let update = match arguments {
        [] => false,
        ["--update"] => true,
        other => bail!("surface knows --update, not {}", other.join(" ")),
    };
    let page = root.join(PAGE);
    let now = surface(root)?;
    let unnamed = named::unnamed(&now);
    if !unnamed.is_empty() {
        println!(
            "what users meet and cannot name; re-export it from `heeler`, or hide what shows it:"
        );
        unnamed.iter().for_each(|(name, line)| println!("  {name} in {line}"));
        return Ok(ExitCode::FAILURE);
    }
    if update {
        std::fs::write(&page, now).with_context(|| format!("writing {}", page.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let was =
        std::fs::read_to_string(&page).with_context(|| format!("reading {}", page.display()))?;
    let difference = difference(&was, &now);
    if difference.is_empty() {
        println!("surface: {} public items, as {PAGE} has them", now.lines().count());
        return Ok(ExitCode::SUCCESS);
    }
    print!("{difference}");
    println!(
        "what users can name has changed. If that is meant, `cargo xtask surface --update` writes \
         {PAGE}; what somebody used and is gone belongs into CHANGELOG.md"
    );
    Ok(ExitCode::FAILURE)
}

/// The page as it would be written now.
fn surface(root: &Path) -> Result<String> {
    let front = std::fs::read_to_string(rustdoc::json(root, FRONT)?)?;
    let doors = doors(&serde_json::from_str(&front)?);
    let mut text = format!("# {FRONT}\n\n");
    for Door { name, source } in &doors {
        writeln!(text, "pub use {source} as {name}")?;
    }
    let manifest = std::fs::read_to_string(root.join(MANIFEST))?;
    let manifest: toml::Table = manifest.parse()?;
    let packages = manifest.get("dependencies").and_then(toml::Value::as_table);
    for package in packages.into_iter().flat_map(toml::Table::keys) {
        let json = rustdoc::json(root, package)?;
        let public = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .with_context(|| format!("reading {}", json.display()))?;
        let lines = public.items().map(ToString::to_string);
        write!(text, "\n# {package}\n\n")?;
        for line in opened(&package.replace('-', "_"), lines, &doors) {
            writeln!(text, "{line}")?;
        }
    }
    Ok(text)
}

/// One thing that `heeler` re-exports.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Door {
    /// Its name in `heeler`; `*` for all there is.
    name: String,
    /// Where it comes from.
    source: String,
}

fn doors(json: &Value) -> Vec<Door> {
    let items = json["index"].as_object().into_iter().flat_map(|index| index.values());
    let mut doors: Vec<Door> = items
        .map(|item| &item["inner"]["use"])
        .filter_map(|item| {
            let name = if item["is_glob"] == true { "*" } else { item["name"].as_str()? };
            Some(Door { name: name.to_owned(), source: item["source"].as_str()?.to_owned() })
        })
        .collect();
    doors.sort();
    doors.dedup();
    doors
}

/// The lines of a crate that a door opens.
fn opened(
    crate_name: &str,
    lines: impl IntoIterator<Item = String>,
    doors: &[Door],
) -> Vec<String> {
    let is_open = |place: &str| {
        doors.iter().any(|door| {
            let rest = place.strip_prefix(door.source.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    };
    let mut was_open = false;
    let open = lines.into_iter().filter(|line| {
        // What is implemented for any type has no place of its own; it stands behind its `impl`.
        if let Some(place) = place(crate_name, line) {
            was_open = is_open(place);
        }
        was_open
    });
    open.collect()
}

/// The path of what a line is about.
fn place<'a>(crate_name: &str, line: &'a str) -> Option<&'a str> {
    let subject = match line.split_once(" for ") {
        Some((before, after)) if before.starts_with("impl") => after,
        _ => line,
    };
    let within = |text: &'a str| {
        let is_start = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let at = text.match_indices(crate_name).map(|(at, _)| at).find(|at| is_start(*at))?;
        let end = text[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        Some(text[at..end.map_or(text.len(), |end| at + end)].trim_end_matches(':'))
    };
    within(subject).or_else(|| within(line))
}

/// What is gone and what is new, line by line; empty for no difference.
fn difference(was: &str, now: &str) -> String {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (was.lines().collect(), now.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}\n"));
    let added = new.difference(&old).map(|line| format!("+ {line}\n"));
    let all: Vec<String> = gone.chain(added).collect();
    let mut text: String = all.iter().take(SHOWN_MAX).map(String::as_str).collect();
    if all.len() > SHOWN_MAX {
        text += &format!("... {} more\n", all.len() - SHOWN_MAX);
    }
    if text.is_empty() && was != now {
        text = "the lines are the same in another order\n".to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn only_what_a_door_opens_is_on_the_page() {
        let json = serde_json::json!({"index": {
            "1": {"inner": {"use": {"source": "a::One", "name": "One", "is_glob": false}}},
            "2": {"inner": {"use": {"source": "a::open", "name": "open", "is_glob": true}}},
            "3": {"inner": {"struct": {}}},
        }});
        let doors = doors(&json);
        let lines = [
            "pub mod a",
            "pub struct a::One",
            "impl a::One",
            "pub fn a::One::new(b::Two) -> Self",
            "pub struct a::OneMore",
            "impl core::fmt::Display for a::One",
            "impl core::convert::From<a::One> for a::Two",
            "pub fn a::Two::from(a::One) -> Self",
            "pub trait a::open::Layer",
            "impl<F: Fn() -> bool> a::open::Layer for F",
            "pub fn F::wrap(&self)",
            "pub fn a::closed::f()",
        ];
        let open = opened("a", lines.map(str::to_owned), &doors).join("\n");
        expect![[r#"
            pub struct a::One
            impl a::One
            pub fn a::One::new(b::Two) -> Self
            impl core::fmt::Display for a::One
            pub trait a::open::Layer
            impl<F: Fn() -> bool> a::open::Layer for F
            pub fn F::wrap(&self)"#]]
        .assert_eq(&open);
    }

    #[test]
    fn a_difference_says_what_is_gone_and_what_is_new() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), "");
        assert_eq!(difference("a\nb\n", "b\nc\n"), "- a\n+ c\n");
        assert_eq!(difference("a\nb\n", "b\na\n"), "the lines are the same in another order\n");
        let many: String = (0..=SHOWN_MAX).map(|n| format!("{n}\n")).collect();
        assert!(difference("", &many).ends_with("... 1 more\n"));
    }
}
