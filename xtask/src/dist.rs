//! `cargo xtask dist`: the shipped program, with what a turn runs lying side by side.
//!
//! A page of code that is touched brings its 15 neighbours into memory. A long turn runs some 5,000 of
//! 40,000 functions; strewn about the program they bring nearly four times their size. So the
//! program is linked, watched through a long turn by `valgrind --tool=callgrind`, and linked again with
//! the functions that were seen in front. An order that has become old costs memory, so one is kept
//! only while all but a few functions that it names are in the program: their names change with what
//! they are made of.
#![expect(clippy::disallowed_methods, reason = "programs are built and watched from outside")]

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::cargo::cargo;

/// The order that was seen last, in the folder of its profile.
const ORDER: &str = "heeler.order";
/// Whether the linker leaves the names of functions in the program.
const NAMED: &str = "strip=none";
const STRIPPED: &str = "strip=symbols";
/// Fewer functions than these are no turn.
const FUNCTIONS_MIN: usize = 500;
/// Of so many percent of the functions in an order at least the program must know the names.
const KNOWN_PERCENT_MIN: usize = 99;
/// Functions of the same instructions become one: Rust promises no function an address of its own.
const FOLDED: &str = "link-arg=-Wl,--icf=all";
/// Addresses to be set when the program starts, as a bitmap instead of 24 bytes for each of 47,000: a
/// megabyte that is neither stored nor read. Older C libraries refuse such a program by name.
const PACKED: &str = "link-arg=-Wl,-z,pack-relative-relocs";
/// The first C library that knows them.
const PACKED_SINCE: [u32; 2] = [2, 36];
/// What unwinds stacks, as the C compiler brings it to be linked in. As a library of its own it is
/// looked for, mapped, linked and asks the processor ten questions at each start, a quarter of a
/// millisecond; and it is missing in the smallest containers. Its licence has an exception for
/// programs that bring it (the GCC Runtime Library Exception).
const UNWINDER: &str = "libgcc_eh.a";
/// By this name Rust asks for that library.
const UNWINDER_ASKED_FOR: &str = "libgcc_s.so";
/// C code is never unwound: what it calls of ours ends the process rather than to unwind into it. Its
/// tables for that are 75 kB.
const C_WITHOUT_TABLES: &str = "-fno-asynchronous-unwind-tables";
/// A process that ends gives all of its memory back; mimalloc would do so piece by piece before.
const ENDS_AT_ONCE: &str = "-DMI_SKIP_COLLECT_ON_EXIT=1";
/// Where the linker is known to take an order, and to fold.
const IS_ORDERED: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"));
/// How long after the program its launcher may still be there.
const LAUNCHER_ENDS_WITHIN: Duration = Duration::from_secs(10);
/// So many rounds are more than a thousand records: a checkpoint is kept.
const ROUNDS: usize = 300;
/// The beginning of a turn, with the calls that most sessions are made of. The launcher is a copy of the
/// program, so what it runs is seen, too; what commands run is not.
const TURN: &str = r##"
[[reply]]
blocks = [{ text = "I look." }, { call = "LS", input = { path = "." } }]
[[reply]]
blocks = [
  { call = "Read", input = { file_path = "notes.txt" } },
  { call = "Grep", input = { pattern = "note", output_mode = "content" } },
]
[[reply]]
blocks = [
  { call = "Edit", input = { file_path = "notes.txt", old_string = "one", new_string = "two" } },
  { call = "Write", input = { file_path = "more.txt", content = "more\n" } },
]
[[reply]]
expect = { tool_result_is_error = [false, false] }
blocks = [{ call = "Bash", input = { command = "cat notes.txt" } }]
"##;

/// Runs `dist` with its arguments.
pub(crate) fn run_command(arguments: &[&str]) -> Result<ExitCode> {
    let profile = match arguments {
        [] => "dist",
        ["--profile", profile] => profile,
        other => bail!("dist knows --profile NAME, not {}", other.join(" ")),
    };
    println!("{}", build(profile)?.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the program in the order of functions that was seen last, if it knows them still, or else
/// in one that is seen now.
pub(crate) fn build(profile: &str) -> Result<PathBuf> {
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    let order = folder(profile)?.join(ORDER);
    let named = std::fs::read_to_string(&order).unwrap_or_default();
    if !IS_ORDERED || (named.is_empty() && !has_valgrind) {
        eprintln!("not put in order: that needs valgrind and lld, as Rust brings it on Linux");
        return link(profile, &[]);
    }
    let in_order = |strip: &str| {
        // Cargo looks at the arguments and not into the file, so another order has another name.
        let names = std::fs::read(&order)?;
        let mut hash = DefaultHasher::new();
        names.hash(&mut hash);
        let copy = order.with_extension(format!("{:016x}.order", hash.finish()));
        std::fs::write(&copy, names)?;
        let file = format!("link-arg=-Wl,--symbol-ordering-file={}", copy.display());
        link(profile, &["-C", strip, "-C", &file, "-C", "link-arg=-Wl,--no-warn-symbol-ordering"])
    };
    // Names are in the program until it is stripped, so it is linked with them first.
    let program = if named.is_empty() { link(profile, &["-C", NAMED])? } else { in_order(NAMED)? };
    let bytes = std::fs::read(&program)?;
    let known = known_of(&bytes, named.lines()).len();
    if has_valgrind && known * 100 < named.lines().count().max(1) * KNOWN_PERCENT_MIN {
        let seen = watch(&program)?;
        let names = known_of(&bytes, functions(&seen));
        ensure!(names.len() >= FUNCTIONS_MIN, "only {} functions were seen", names.len());
        std::fs::write(&order, names.join("\n") + "\n")?;
        return in_order(STRIPPED);
    }
    // Into a file of its own: cargo keeps the other under a second name, and takes it from there when
    // nothing has changed.
    let stripped = program.with_extension("stripped");
    match Command::new("strip").arg("--strip-all").arg("-o").arg(&stripped).arg(&program).status() {
        Ok(status) if status.success() => {
            std::fs::rename(&stripped, &program)?;
            Ok(program)
        }
        _ => in_order(STRIPPED),
    }
}

/// Those of the names that are in a program which was not stripped: not the ones of libraries.
fn known_of<'n>(program: &[u8], names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let in_program: HashSet<&[u8]> = program.split(|byte| *byte == 0).collect();
    names.into_iter().filter(|name| in_program.contains(name.as_bytes())).collect()
}

fn link(profile: &str, options: &[&str]) -> Result<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["rustc", "--profile", profile, "-p", "heeler-cli", "--bin", "heeler"]);
    as_shipped(&mut cargo).arg("--");
    if IS_ORDERED {
        cargo.args(["-C", FOLDED]);
        if has_packed() {
            cargo.args(["-C", PACKED]);
        }
        if let Some(folder) = unwinder(&folder(profile)?)? {
            cargo.arg("-L").arg(format!("native={}", folder.display()));
        }
    }
    ensure!(cargo.args(options).status()?.success(), "the program does not build");
    Ok(folder(profile)?.join("heeler"))
}

/// Gives a cargo what all crates of the program are built with. What is built otherwise is built twice.
pub(crate) fn as_shipped(cargo: &mut Command) -> &mut Command {
    if IS_ORDERED {
        let flags = std::env::var("CFLAGS").unwrap_or_default();
        cargo.env("CFLAGS", format!("{flags} {C_WITHOUT_TABLES} {ENDS_AT_ONCE}").trim_start());
    }
    cargo.args(["--config", &format!("build.rustflags={:?}", short_paths())])
}

/// Options that leave the folders of this machine's registries out of the program. Each of 700 places
/// that may panic has its file's name, and nobody else should know where that lies.
fn short_paths() -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    let folders = registries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut options: Vec<_> = folders
        .filter_map(|folder| Some(format!("--remap-path-prefix={}/=", folder.to_str()?)))
        .collect();
    options.sort();
    options
}

/// A folder in that of the profile where the linker finds the unwinder to be linked in under the name
/// of the library. `None` where the C compiler has none.
fn unwinder(profile: &Path) -> Result<Option<PathBuf>> {
    let told = Command::new("cc").arg(format!("-print-file-name={UNWINDER}")).output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_owned());
    // What it does not find it gives back as it was asked.
    let Some(archive) = told.ok().filter(|path| Path::new(path).is_absolute()) else {
        return Ok(None);
    };
    let folder = profile.join("unwinder");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(UNWINDER_ASKED_FOR), format!("INPUT(\"{archive}\")\n"))?;
    Ok(Some(folder))
}

/// Whether this machine's own C library takes packed addresses; what is linked against a newer one
/// promises nothing to older ones anyway.
fn has_packed() -> bool {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    told.is_ok_and(|told| glibc(&String::from_utf8_lossy(&told.stdout)) >= Some(PACKED_SINCE))
}

/// The version in a text such as `glibc 2.36`.
fn glibc(told: &str) -> Option<[u32; 2]> {
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}

/// Where programs of a profile lie.
fn folder(profile: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent).context("no target folder")?;
    Ok(target.join(if profile == "dev" { "debug" } else { profile }))
}

/// What the model says in a long turn.
fn turn() -> String {
    use std::fmt::Write as _;
    let mut script = TURN.to_owned();
    for n in 0..ROUNDS {
        let input = format!("{{ command = \"echo {n}\" }}");
        let _ = writeln!(script, "[[reply]]\nblocks = [{{ call = \"Bash\", input = {input} }}]");
    }
    script + "[[reply]]\ntext = \"Done.\"\n"
}

/// What callgrind writes of a turn in a world of its own.
fn watch(program: &Path) -> Result<String> {
    let world = tempfile::tempdir()?;
    let folders = ["work", "home", "seen"].map(|name| world.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder)?;
    }
    let [work, home, seen] = folders;
    // Whether there can be a box is for the launcher to say, and there is none.
    std::fs::write(home.join("settings.toml"), "[sandbox]\nmode = \"off\"\n")?;
    std::fs::write(work.join("notes.txt"), "one notes\n")?;
    let server = MockServer::start(Script::parse(&turn())?);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no"]);
    // One for each process, by its number.
    valgrind.arg(format!("--callgrind-out-file={}/%p", seen.display())).arg(program);
    valgrind.args(["exec", "--json", "--model", "anthropic/claude-sonnet-5-5"]);
    valgrind.args(["--permission-mode", "accept-edits", "--allow", "Bash"]);
    valgrind.args(["--max-rounds", "0", "go"]);
    valgrind.current_dir(work).env_clear().env("HOME", world.path());
    valgrind.env("HEELER_HOME", home);
    valgrind.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    valgrind.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "none");
    let valgrind = valgrind.stdout(Stdio::piped()).spawn().context("starting valgrind")?;
    let first = valgrind.id().to_string();
    let output = valgrind.wait_with_output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let end = told.lines().last().unwrap_or_default();
    ensure!(output.status.success(), "the turn failed under valgrind: {end}");
    // The launcher ends when it sees that the program is gone.
    let deadline = Instant::now() + LAUNCHER_ENDS_WITHIN;
    let mut texts = written(&seen, &first)?;
    while texts.len() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        texts = written(&seen, &first)?;
    }
    Ok(texts.concat())
}

/// What callgrind wrote to the end, that of the process with this number first.
fn written(seen: &Path, first: &str) -> Result<Vec<String>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(seen)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort_by_key(|file| !file.ends_with(first));
    let texts = files.iter().map(std::fs::read_to_string).collect::<std::io::Result<Vec<_>>>();
    let is_whole = |text: &String| text.contains("\ntotals: ");
    Ok(texts.context("reading what callgrind wrote")?.into_iter().filter(is_whole).collect())
}

/// The functions that callgrind saw, each once. Names stand behind their number, the first time.
fn functions(seen: &str) -> Vec<&str> {
    let mut known = BTreeSet::new();
    let named = seen.lines().filter_map(|line| {
        let rest = line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=("))?;
        let name = rest.split_once(") ")?.1;
        // A function that calls itself is counted by depth.
        Some(name.split('\'').next().unwrap_or(name))
    });
    named.filter(|name| known.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_that_were_seen_in_that_order() {
        let seen = "version: 1\ncreator: callgrind\nob=(1) /heeler\nfl=(1) ???\n\
                    fn=(1) _start\n0 12\ncfn=(2) main\ncalls=1 0\n0 900\n\n\
                    fn=(2)\n0 5\ncfn=(3) walk\ncfn=(4) walk'2\nfn=(5) end\n";
        assert_eq!(functions(seen), ["_start", "main", "walk", "end"]);
    }

    #[test]
    fn addresses_are_packed_for_c_libraries_that_know_them() {
        let packed = |told: &str| glibc(told) >= Some(PACKED_SINCE);
        assert!(packed("glibc 2.36\n") && packed("glibc 2.41") && packed("glibc 3.0"));
        assert!(!packed("glibc 2.35\n") && !packed("glibc 2.4") && !packed(""));
        assert!(!packed("musl 1.2"));
    }

    #[test]
    fn names_are_known_that_are_whole_in_the_program() {
        let program = b"\x7fELF\0\x01\x02start\0start\0main\0walk\0";
        assert_eq!(
            known_of(program, ["start", "memcpy", "ma", "walk2", "walk"]),
            ["start", "walk"]
        );
    }

    #[test]
    fn the_turn_is_a_script() {
        Script::parse(&turn()).unwrap();
    }
}
