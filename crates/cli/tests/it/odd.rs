//! Command lines and variables that nobody types on purpose: exit 2 with a cause, nothing stored,
//! and never a panic. The parser alone is tried with thousands more beside it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::support::World;

const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";
/// No text, and no flag takes it.
const BYTES: &[u8] = b"a\xff";

/// Runs `heeler` with these words, `\xff` for what is no text, and checks that it refuses, that its
/// words contain `named`, and that its home holds nothing.
#[track_caller]
fn refused(world: &World, line: &[&str], named: &str) {
    let words: Vec<OsString> = line.iter().map(|word| word_of(word)).collect();
    refused_with(world, &[], &words, named);
}

fn word_of(word: &str) -> OsString {
    let bytes = match word.split_once("BYTES") {
        Some((before, after)) => [before.as_bytes(), BYTES, after.as_bytes()].concat(),
        None => word.as_bytes().to_vec(),
    };
    OsString::from_vec(bytes)
}

#[track_caller]
fn refused_with(world: &World, set: &[(&str, &OsStr)], words: &[OsString], named: &str) {
    let mut heeler = world.heeler(words);
    for (name, value) in set {
        heeler = heeler.env(name, value);
    }
    let output = heeler.run().exits(2);
    assert!(output.stderr.contains(named), "{named} is not in {}", output.stderr);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    assert_eq!(output.stdout, "");
    assert_eq!(files(&world.path("home")), 0, "something was stored");
}

/// How many files lie in a folder, at any depth.
fn files(folder: &Path) -> usize {
    let Ok(listed) = std::fs::read_dir(folder) else { return 0 };
    let paths = listed.map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn what_is_no_text_is_named() {
    let world = World::new();
    refused(&world, &["BYTES"], "[PROMPT]");
    refused(&world, &["exec", "BYTES"], "[PROMPT]");
    refused(&world, &["exec", "--BYTES", "x"], "unexpected argument");
    for flag in [
        "--model",
        "--permission-mode",
        "--allow",
        "--deny",
        "--max-rounds",
        "--max-tokens",
        "--max-cost",
        "--timeout",
        "--resume",
    ] {
        refused(&world, &["exec", flag, "BYTES", "x"], flag);
        refused(&world, &["exec", &format!("{flag}=BYTES"), "x"], flag);
    }
    refused(&world, &["exec", "--cwd", "BYTES", "x"], "--cwd");
    refused(&world, &["show", "BYTES"], "<ID>");
    refused(&world, &["show", "a", "--request", "BYTES"], "--request");
    refused(&world, &["audit", "BYTES"], "<ID>");
    refused(&world, &["sessions", "export", "BYTES"], "<ID>");
    refused(&world, &["sessions", "delete", "a", "BYTES"], "<ID>");
    refused(&world, &["completions", "BYTES"], "<SHELL>");
}

#[test]
fn what_is_out_of_bounds_is_named() {
    let world = World::new();
    let long = "x".repeat(100_000);
    for (flag, value) in [
        ("--max-rounds", "4294967296"),
        ("--max-rounds", "1.5"),
        ("--max-tokens", "18446744073709551616"),
        ("--max-cost", "NaN"),
        ("--max-cost", "-0.01"),
        ("--max-cost", "1e309"),
        ("--timeout", ""),
        ("--timeout", "-1"),
        ("--permission-mode", ""),
        ("--permission-mode", long.as_str()),
        ("--model", ""),
    ] {
        refused(
            &world,
            &["exec", flag, value, "x"],
            if flag == "--model" { "model" } else { flag },
        );
    }
    refused(&world, &["exec", ""], "the prompt is empty");
    refused(&world, &["exec", "--cwd", &long, "x"], "--cwd");
    refused(&world, &["exec", "--timeout", "1", "--timeout", "2", "x"], "--timeout");
    refused(&world, &["exec", "--resume", "", "x"], "--resume");
    refused(&world, &["show", "a", "--request", "0"], "--request");
    refused(&world, &["show", "a", "--raw"], "--request");
}

#[test]
fn a_rule_that_forbids_nothing_stops_everything() {
    let world = World::new();
    let model = world.script(ANY);
    for rule in [
        "",
        "(",
        "Bash(",
        "Bash(rm:*",
        "Bash(rm:*), Bash(curl:*)",
        "Bash(*rm*)",
        "Bsh(rm:*)",
        "Bash Read",
        "Edit(src/[)",
        "Read(~root/.ssh/**)",
        "Read(../x)",
        "WebFetch(example.com)",
        "mcp__*__push",
        "mcp__git__push(main)",
        "NoSuchTool",
    ] {
        refused(&world, &["exec", "--model", &model, "--deny", rule, "x"], "--deny: `");
        refused(&world, &["exec", "--model", &model, "--allow", rule, "x"], "--allow: `");
    }
    refused(&world, &["exec", "--model", &model, "--allow", "Bash()", "x"], "--allow: `Bash()`");
}

#[test]
fn variables_without_sense_are_named() {
    let world = World::new();
    let words = ["exec", "hello"].map(OsString::from);
    let key = ("ANTHROPIC_API_KEY", OsStr::new("key"));
    let bytes = OsStr::from_bytes(BYTES);
    let long = "9".repeat(50_000);
    for name in [
        "HEELER_HOME",
        "HEELER_MODEL",
        "HEELER_CHARS_PER_TOKEN",
        "HEELER_CONTEXT_LIMIT",
        "HEELER_EXTRA_HEADERS",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_AUTH_TOKEN",
    ] {
        refused_with(&world, &[key, (name, bytes)], &words, name);
    }
    for (name, value) in [
        ("HEELER_CHARS_PER_TOKEN", "-1"),
        ("HEELER_CHARS_PER_TOKEN", "0"),
        ("HEELER_CONTEXT_LIMIT", "0"),
        ("HEELER_CONTEXT_LIMIT", long.as_str()),
        ("HEELER_EXTRA_HEADERS", "a\u{1b}: b"),
        ("ANTHROPIC_BASE_URL", "http://[::1"),
        ("ANTHROPIC_BASE_URL", "\u{202e}"),
        ("ANTHROPIC_API_KEY", "a\u{1}b"),
    ] {
        refused_with(&world, &[key, (name, OsStr::new(value))], &words, name);
    }
}

#[test]
fn the_largest_limits_there_are_end_nothing() {
    let world = World::new();
    let largest = [
        "--max-rounds=4294967295",
        "--max-tokens=18446744073709551615",
        "--timeout=18446744073709551615",
        "hello",
    ];
    let heeler = world.exec(ANY, &largest);
    let heeler = heeler.env("HEELER_CONTEXT_LIMIT", "18446744073709551615");
    let output = heeler.env("HEELER_CHARS_PER_TOKEN", "32").run().exits(0);
    assert_eq!(output.stdout, "heard\n");
    // Nothing fits, and nothing is there yet that could be left out.
    let output = world.exec(ANY, &["hello"]).env("HEELER_CONTEXT_LIMIT", "1").run().exits(1);
    assert!(output.stderr.contains(" tokens and 1 fit, "), "{}", output.stderr);
}
