//! Interpreters and runners: where they are given their program, and what of its name may be left out.

/// Endings that may be left out, as Node, Bun and Ruby add them.
pub(super) const NODE: &[&str] = &["js", "json", "node"];
const BUN: &[&str] = &["tsx", "jsx", "ts", "mts", "cts", "js", "mjs", "cjs", "json", "node"];
const RUBY: &[&str] = &["rb", "so"];

/// Options whose value is loaded before the program, also in a variable such as `NODE_OPTIONS`, and may
/// lack its ending.
pub(super) const LOADS: [&str; 2] = ["--require", "--preload"];
/// Commands that run the command behind them.
pub(super) const WRAPPERS: [&str; 34] = [
    "bunx",
    "builtin",
    "caffeinate",
    "chronic",
    "command",
    "direnv",
    "doas",
    "env",
    "exec",
    "flock",
    "hatch",
    "ionice",
    "mise",
    "nice",
    "nix",
    "nohup",
    "npm",
    "npx",
    "parallel",
    "pdm",
    "pipenv",
    "pixi",
    "pnpm",
    "pnpx",
    "poetry",
    "rye",
    "setsid",
    "stdbuf",
    "sudo",
    "time",
    "timeout",
    "uv",
    "xargs",
    "yarn",
];
/// Words behind which a command begins, and what wrappers call that.
pub(super) const KEYWORDS: [&str; 9] =
    ["!", "do", "elif", "else", "if", "then", "until", "while", "{"];
pub(super) const WRAPPED: [&str; 4] = ["dlx", "exec", "run", "x"];
/// Programs that take one file to run, which is found by its name as any other.
pub(super) const SCRIPTED: [&str; 14] = [
    ".", "ash", "bash", "dash", "fish", "ksh", "lua", "mksh", "perl", "php", "ruby", "sh",
    "source", "zsh",
];
/// What of the folder that they work in says what these do.
pub(super) const MANIFESTS: [(&[&str], &[&str]); 2] = [
    (&["bun", "npm", "pnpm", "yarn"], &["package.json"]),
    (&["gmake", "make"], &["GNUmakefile", "makefile", "Makefile"]),
];

/// A program whose first operand is its program.
pub(super) struct Runner {
    pub(super) names: &'static [&'static str],
    /// Where it stands behind one of these, and else only where it is a path by its looks.
    pub(super) verbs: &'static [&'static str],
    /// Whether it has to.
    pub(super) is_verb_needed: bool,
    /// Options with a value.
    pub(super) valued: &'static [&'static str],
    /// Options that say what runs, so that no operand does.
    pub(super) ends: &'static [&'static str],
    pub(super) endings: &'static [&'static str],
}

const RUNNER: Runner =
    Runner { names: &[], verbs: &[], is_verb_needed: false, valued: &[], ends: &[], endings: &[] };
const RUNNERS: &[Runner] = &[
    Runner {
        names: &["ipython", "pypy", "python"],
        valued: &["-X", "-W", "--check-hash-based-pycs"],
        ..RUNNER
    },
    Runner {
        names: &["node", "nodejs"],
        valued: &[
            "-C",
            "--conditions",
            "--env-file",
            "--env-file-if-exists",
            "--experimental-loader",
            "--import",
            "--loader",
            "--title",
        ],
        ends: &["-c", "--check", "-e", "--eval", "-p", "-pe", "--print", "--run", "--test"],
        endings: NODE,
        ..RUNNER
    },
    Runner {
        names: &["ts-node", "tsx"],
        valued: &["-P", "--project", "--tsconfig", "--env-file"],
        ends: &["-e", "--eval", "-p", "-pe", "--print", "--test"],
        endings: BUN,
        ..RUNNER
    },
    Runner {
        names: &["bun", "deno"],
        verbs: &["run", "serve"],
        valued: &["-c", "--config", "--env-file", "--import-map"],
        ends: &["-e", "--eval", "-p", "--print"],
        endings: BUN,
        ..RUNNER
    },
    Runner {
        names: &["go"],
        verbs: &["run"],
        is_verb_needed: true,
        valued: &[
            "-C", "-exec", "-gcflags", "-ldflags", "-mod", "-modfile", "-overlay", "-p", "-tags",
        ],
        ..RUNNER
    },
    Runner {
        names: &["run-parts"],
        valued: &["-a", "-u", "--arg", "--regex", "--umask"],
        ..RUNNER
    },
    // Its program is found as any file; what it loads may lack the ending.
    Runner { names: &["ruby"], verbs: &[""], is_verb_needed: true, endings: RUBY, ..RUNNER },
];

pub(super) fn runner(base: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.names.contains(&base))
}
