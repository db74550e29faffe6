//! No state that every session of a process shares.

use crate::finding::Finding;
use crate::rust_text::{closing, line_at, words};
use crate::tree::Tree;

pub(super) const WHY: &str = "what a static remembers is shared by every session and every test of \
     a process, and no journal holds it; hand the value in, or list it here with its reason";

/// A file, the name of a static in it, and why it has to be one.
type Listed = (&'static str, &'static str, &'static str);

const LISTED: [Listed; 17] = [
    ("bench/src/bin/delta_sink.rs", "ALLOCATOR", "Rust takes an allocator as a static"),
    ("crates/cli/src/main.rs", "ALLOCATOR", "Rust takes an allocator as a static"),
    (
        "crates/sandbox/src/launcher/mod.rs",
        "INITIALIZED",
        "whether `init` ran is a fact about the process",
    ),
    (
        "crates/sandbox/src/launcher/tree.rs",
        "HAS_LISTS",
        "what the kernel offers does not change while a process runs",
    ),
    ("crates/providers/src/presets/mod.rs", "ALL", "a table of the program, read once"),
    ("crates/secrets/src/forms.rs", "COMPILED", "a table of the program, compiled once"),
    ("crates/secrets/src/forms.rs", "HINTS", "a table of the program, made once"),
    (
        "crates/cli/tests/it/support.rs",
        "CAN",
        "whether the machine can confine commands does not change while tests run",
    ),
    (
        "crates/cli/tests/it/schema.rs",
        "CLOSED",
        "the committed schema, compiled once for all tests",
    ),
    (
        "crates/engine/src/clock.rs",
        "BEGAN",
        "a process has one time, which all who ask for it are to be told",
    ),
    (
        "crates/turn/src/bugs.rs",
        "ON",
        "the bug on command, for the simulator only; a thread has its own",
    ),
    (
        "crates/stage/src/apply/death.rs",
        "LEFT",
        "the death on command, for tests only; a thread has its own",
    ),
    (
        "loom/src/sync.rs",
        "REVERSED",
        "the wrong order on command, for the models only; a thread has its own",
    ),
    (
        "crates/tui/src/screen/terminal.rs",
        "ENTERED",
        "a process has one terminal, which a panic on any thread gives back",
    ),
    (
        "crates/tui/src/screen/terminal.rs",
        "ALTERNATE",
        "a process has one terminal, which a panic on any thread gives back",
    ),
    (
        "crates/tui/src/screen/terminal.rs",
        "FOUND",
        "a process has one terminal, which a panic on any thread gives back",
    ),
    ("crates/tui/src/screen/terminal.rs", "HOOK", "a panic hook is the process's, set once"),
];

/// Types whose values nothing can change: numbers, texts, and lists of them.
const PLAIN: [&str; 20] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f32", "f64", "static", "CStr", "Option",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_listed(tree, &LISTED)
}

fn check_listed(tree: &Tree, listed: &[Listed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut met = vec![false; listed.len()];
    for (path, file) in tree.rust() {
        for found in statics(&file.rust.code) {
            let place = listed.iter().position(|(at, name, _)| *at == path && *name == found.name);
            match place {
                // A row is for one: what else has its name has no reason yet.
                Some(index) if !met[index] => met[index] = true,
                _ => {
                    let line = line_at(&file.text, found.at);
                    findings.push(Finding::refused(path, line, found.message()));
                }
            }
        }
    }
    for ((path, name, _), met) in listed.iter().zip(met) {
        if !met {
            let message = format!("`{name}` is listed as a static and is none: remove the row");
            findings.push(Finding::refused(path, 0, message));
        }
    }
    findings
}

struct Static<'a> {
    at: usize,
    name: &'a str,
    /// `mut`, or the word of its type that may hide something that changes.
    because: &'a str,
}

impl Static<'_> {
    fn message(&self) -> String {
        match (self.name, self.because) {
            ("", _) => "`static $(...)`: a macro makes one of whatever it is given".to_owned(),
            (name, "mut") => format!("`static mut {name}`: anybody may change it at any time"),
            (name, because) => format!("`static {name}` is a `{because}`, which may change"),
        }
    }
}

/// The statics of a file that are not plainly constant, those of `thread_local!` too.
fn statics(code: &str) -> Vec<Static<'_>> {
    let keywords = words(code)
        .filter(|(at, word)| *word == "static" && !code[..*at].ends_with('\''))
        // `static || {}` and `static move || {}` are closures, and `use<'static>` was left out.
        .map(|(at, word)| (at, &code[at + word.len()..]));
    keywords.filter_map(|(at, rest)| read_static(at, rest)).collect()
}

fn read_static(at: usize, rest: &str) -> Option<Static<'_>> {
    if rest.trim_start().starts_with("$(") {
        return Some(Static { at, name: "", because: "macro" });
    }
    let mut ahead = words(rest);
    let (mut name_at, mut name) = ahead.next()?;
    let is_mutable = name == "mut";
    // `static ref` is the word of a macro that makes lazy ones.
    if is_mutable || name == "ref" {
        (name_at, name) = ahead.next()?;
    }
    let kind = rest[name_at + name.len()..].trim_start().strip_prefix(':')?;
    let kind = &kind[..end_of_type(kind)];
    let hides = words(kind).map(|(_, word)| word).find(|word| {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        !is_number && !PLAIN.contains(word)
    });
    let because = if is_mutable { Some("mut") } else { hides };
    because.map(|because| Static { at, name, because })
}

/// Where the type that `text` begins with ends: at its value, or at the end of the item.
fn end_of_type(text: &str) -> usize {
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'=' | b';' | b'{' | b'}' => return at,
            b'(' | b'[' => at = closing(text, at).unwrap_or(text.len()),
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::finding::render;

    fn check_text(text: &str, expected: Expect) {
        let tree = Tree::of([("crates/a/src/lib.rs", text)]);
        expected.assert_eq(&render(check_listed(&tree, &[])));
    }

    #[test]
    fn what_may_change_is_refused_wherever_it_stands() {
        check_text(
            "static mut COUNT: u64 = 0;
pub(crate) static SEEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());
fn a() {
    static ONCE: std::sync::OnceLock<u8> = OnceLock::new();
}
thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
}
lazy_static! { static ref TABLE: HashMap<u8, u8> = table(); }
static N: [AtomicU8; 2] = [AtomicU8::new(0), AtomicU8::new(0)];
static HIDDEN: &Registry = &Registry::new();
#[cfg(test)]
mod tests {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
}
",
            expect![[r#"
                crates/a/src/lib.rs:1: `static mut COUNT`: anybody may change it at any time
                crates/a/src/lib.rs:2: `static SEEN` is a `Mutex`, which may change
                crates/a/src/lib.rs:4: `static ONCE` is a `std`, which may change
                crates/a/src/lib.rs:7: `static ON` is a `Cell`, which may change
                crates/a/src/lib.rs:9: `static TABLE` is a `HashMap`, which may change
                crates/a/src/lib.rs:10: `static N` is a `AtomicU8`, which may change
                crates/a/src/lib.rs:11: `static HIDDEN` is a `Registry`, which may change
                crates/a/src/lib.rs:14: `static RUNS` is a `AtomicUsize`, which may change
            "#]],
        );
    }

    #[test]
    fn a_macro_hides_nothing() {
        check_text(
            "macro_rules! counter {
    ($name:ident, $kind:ty) => {
        pub static $name: $kind = <$kind>::new(0);
    };
}
macro_rules! counted { ($($rest:tt)*) => { static $($rest)* }; }
counted! { HITS: AtomicU64 = AtomicU64::new(0); }
task_local! { pub static CURRENT: RefCell<u8>; }
unsafe extern \"C\" {
    static mut environ: *const u8;
    static shared: c_int;
}
static
    SPREAD
    : std::sync::RwLock<u8> = RwLock::new(0);
static PLUGINS: [fn(); 1] = [a];
static LAZY: LazyLock<u8> = LazyLock::new(|| 1);
static CELL: RefCell<u8> = RefCell::new(1);
",
            expect![[r#"
                crates/a/src/lib.rs:3: `static name` is a `kind`, which may change
                crates/a/src/lib.rs:6: `static $(...)`: a macro makes one of whatever it is given
                crates/a/src/lib.rs:8: `static CURRENT` is a `RefCell`, which may change
                crates/a/src/lib.rs:10: `static mut environ`: anybody may change it at any time
                crates/a/src/lib.rs:11: `static shared` is a `c_int`, which may change
                crates/a/src/lib.rs:13: `static SPREAD` is a `std`, which may change
                crates/a/src/lib.rs:16: `static PLUGINS` is a `fn`, which may change
                crates/a/src/lib.rs:17: `static LAZY` is a `LazyLock`, which may change
                crates/a/src/lib.rs:18: `static CELL` is a `RefCell`, which may change
            "#]],
        );
    }

    #[test]
    fn constants_and_lifetimes_are_fine() {
        check_text(
            "//! Says static mut COUNT: u64 = 0;
static NAMES: [&str; 2] = [\"static mut A: u8\", \"b\"];
static TABLE: &'static [(u8, Option<char>)] = &[(1, None)];
const LIMIT: Mutex<u8> = Mutex::new(0);
fn a<T: 'static>(x: &'static T) -> impl Fn() + 'static {
    static move || x
}
",
            expect![""],
        );
    }

    #[test]
    fn a_listed_static_is_fine_and_a_row_without_one_is_not() {
        let listed = [("crates/a/src/lib.rs", "A", "x"), ("crates/a/src/lib.rs", "C", "y")];
        let text = "static A: Mutex<u8> = Mutex::new(0);\nstatic B: Mutex<u8> = Mutex::new(0);\n\
                    fn a() {\n    static A: Mutex<u8> = Mutex::new(0);\n}\n";
        let findings = check_listed(&Tree::of([("crates/a/src/lib.rs", text)]), &listed);
        expect![[r#"
            crates/a/src/lib.rs: `C` is listed as a static and is none: remove the row
            crates/a/src/lib.rs:2: `static B` is a `Mutex`, which may change
            crates/a/src/lib.rs:4: `static A` is a `Mutex`, which may change
        "#]]
        .assert_eq(&render(findings));
    }
}
