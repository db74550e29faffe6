//! The table of keys, in the order people read them.

use super::outside::{
    ALLOW, ASK, BYPASS, DENY, DIRECTORIES, ENV, FALLBACK, HOOKS, HOOKS_OFF, MODE, MODELS, NETWORK,
    SANDBOX, SEARCH, SEARCH_ADDRESS, WEB_HOSTS, WRITABLE,
};
use super::{Key, Kind, Merge, Scope};
use crate::source::Aspect;

/// The most tokens anything may be set to.
const TOKENS_MAX: u64 = 1_000_000_000;

/// Most keys: the most specific file counts.
const fn key(path: &'static str, kind: Kind, default: &'static str, words: &'static str) -> Key {
    let scope = Scope::Trusted(Aspect::Preferences);
    Key { path, kind, default, merge: Merge::MostSpecific, scope, variables: &[], words }
}

/// A limit of a turn, which a repository may lower.
const fn limit(
    path: &'static str,
    kind: Kind,
    default: &'static str,
    variables: &'static [&'static str],
    words: &'static str,
) -> Key {
    let scope = Scope::Lowers(Aspect::Preferences);
    Key { path, kind, default, merge: Merge::MostSpecific, scope, variables, words }
}

/// `model.default`.
pub const MODEL: Key = Key {
    scope: Scope::Trusted(Aspect::Models),
    variables: &["HEELER_MODEL", "ANTHROPIC_MODEL"],
    ..key(
        "model.default",
        Kind::Name { chars_max: 256 },
        "",
        "who answers when nobody is named: `PROVIDER/NAME`, or a name the catalogue knows",
    )
};
/// `model.thinking`.
pub const THINKING: Key = Key {
    scope: Scope::Trusted(Aspect::Models),
    variables: &["HEELER_THINKING"],
    ..key(
        "model.thinking",
        Kind::Effort,
        "",
        "how much the model reasons first: a name such as `\"high\"`, or tokens; without, its \
         provider decides",
    )
};
/// `model.output_max`.
pub const OUTPUT_MAX: Key = Key {
    scope: Scope::Trusted(Aspect::Models),
    ..key(
        "model.output_max",
        Kind::Number { min: 1, max: TOKENS_MAX, unit: "tokens" },
        "32000",
        "the most tokens of a reply; never more than the model can write",
    )
};
/// `context.chars_per_token`.
pub const CHARS_PER_TOKEN: Key = Key {
    variables: &["HEELER_CHARS_PER_TOKEN"],
    ..key(
        "context.chars_per_token",
        Kind::Number { min: 1, max: 32, unit: "characters" },
        "4",
        "how many characters are estimated to be a token",
    )
};
/// `context.limit`.
pub const CONTEXT_LIMIT: Key = Key {
    variables: &["HEELER_CONTEXT_LIMIT"],
    ..key(
        "context.limit",
        Kind::Number { min: 1, max: u64::MAX >> 1, unit: "tokens" },
        "",
        "the most estimated tokens of a request; without, what the model's window holds",
    )
};
/// `context.tail`.
pub const TAIL: Key = key(
    "context.tail",
    Kind::Number { min: 0, max: 1_000, unit: "messages" },
    "8",
    "how many of the newest messages a compaction leaves as they are",
);
/// `context.result_chars`.
pub const RESULT_CHARS: Key = key(
    "context.result_chars",
    Kind::Number { min: 10_000, max: 200_000, unit: "characters" },
    "200000",
    "the most characters of a tool's result that the model is given; all of it is in a file then",
);
/// `context.auto_compact`.
pub const AUTO_COMPACT: Key = Key {
    variables: &["HEELER_AUTO_COMPACT"],
    ..key(
        "context.auto_compact",
        Kind::Switch,
        "true",
        "whether old results are cut short, or all is summarized, when the next request would not fit",
    )
};
/// `limits.rounds`.
pub const ROUNDS: Key = limit(
    "limits.rounds",
    Kind::Limit { max: 1_000_000, unit: "model calls" },
    "50",
    &["HEELER_MAX_ROUNDS"],
    "model calls of a turn; 200 in a terminal where nobody sets it",
);
/// `limits.calls`.
pub const CALLS: Key = limit(
    "limits.calls",
    Kind::Limit { max: 1_000_000, unit: "tool calls" },
    "0",
    &[],
    "tool calls of a turn",
);
/// `limits.tokens`.
pub const TOKENS: Key = limit(
    "limits.tokens",
    Kind::Limit { max: TOKENS_MAX, unit: "tokens" },
    "0",
    &["HEELER_MAX_TOKENS"],
    "input and output tokens of a turn",
);
/// `limits.cost`.
pub const COST: Key =
    limit("limits.cost", Kind::Dollars, "0", &["HEELER_MAX_COST"], "dollars a turn may cost");
/// `limits.seconds`.
pub const SECONDS: Key = limit(
    "limits.seconds",
    Kind::Limit { max: 31_536_000, unit: "seconds" },
    "0",
    &["HEELER_TIMEOUT"],
    "seconds a turn may take",
);
/// `limits.repeats`.
pub const REPEATS: Key = limit(
    "limits.repeats",
    Kind::Limit { max: 1_000, unit: "calls" },
    "5",
    &[],
    "the same failing call in a row, after which a person is asked, or the turn ends",
);
/// `limits.calls_at_once`.
pub const CALLS_AT_ONCE: Key = limit(
    "limits.calls_at_once",
    Kind::Number { min: 1, max: 256, unit: "calls" },
    "32",
    &[],
    "calls that run at the same time",
);
/// `notes.enabled`.
pub const NOTES_ENABLED: Key = Key {
    variables: &["HEELER_NOTES"],
    ..key(
        "notes.enabled",
        Kind::Switch,
        "true",
        "whether [project notes](notes.md) are read and told to the model",
    )
};
/// `notes.names`.
pub const NOTES_NAMES: Key = key(
    "notes.names",
    Kind::FileNames { count_max: 16 },
    r#"["AGENTS.md", "CLAUDE.md", ".heeler.md"]"#,
    "the names of files that are project notes, in the order they are read in each folder",
);
/// `notes.file_bytes`.
pub const NOTES_FILE_BYTES: Key = key(
    "notes.file_bytes",
    Kind::Number { min: 1, max: 1 << 20, unit: "bytes" },
    "32768",
    "the most bytes of one file of notes, with what it imports; the rest is cut, and said so",
);
/// `notes.total_bytes`.
pub const NOTES_TOTAL_BYTES: Key = key(
    "notes.total_bytes",
    Kind::Number { min: 1, max: 1 << 20, unit: "bytes" },
    "65536",
    "the most bytes of all notes together; those of the outermost folders are cut first",
);
/// `attribution`.
pub const ATTRIBUTION: Key = Key {
    variables: &["HEELER_ATTRIBUTION"],
    ..key(
        "attribution",
        Kind::SwitchOrText { chars_max: 200 },
        "true",
        "`false`: the model is told to leave AI out of commits and pull requests; a text: what it \
         writes there instead",
    )
};
/// `tui.theme`.
pub const TUI_THEME: Key = key(
    "tui.theme",
    Kind::Name { chars_max: 64 },
    "\"auto\"",
    "the colors of the terminal: `auto`, `light`, `dark`, `plain` (none), or the name of a theme file",
);
/// `tui.keys`.
pub const TUI_KEYS: Key =
    key("tui.keys", Kind::Choice(&["emacs", "vim"]), "\"emacs\"", "how the composer is edited");
/// `tui.plain`.
pub const TUI_PLAIN: Key = key(
    "tui.plain",
    Kind::Switch,
    "false",
    "lines of text alone, one below the other, for screen readers",
);
/// `tui.bell`.
pub const TUI_BELL: Key = key(
    "tui.bell",
    Kind::Switch,
    "true",
    "the terminal's bell rings when something is asked or a turn is over, and no key was pressed for \
     ten seconds",
);
/// `tui.status`.
pub const TUI_STATUS: Key = key(
    "tui.status",
    Kind::Choices(&["model", "mode", "context", "cost", "cache", "branch", "confinement"]),
    r#"["model", "mode", "context", "cost", "cache", "branch", "confinement"]"#,
    "what the status line shows, in this order",
);

/// Every key there is.
pub const KEYS: [&Key; 42] = [
    &DENY,
    &ASK,
    &ALLOW,
    &MODE,
    &BYPASS,
    &DIRECTORIES,
    &HOOKS,
    &HOOKS_OFF,
    &ENV,
    &SANDBOX,
    &WRITABLE,
    &NETWORK,
    &MODELS,
    &FALLBACK,
    &SEARCH,
    &SEARCH_ADDRESS,
    &WEB_HOSTS,
    &MODEL,
    &THINKING,
    &OUTPUT_MAX,
    &CHARS_PER_TOKEN,
    &CONTEXT_LIMIT,
    &TAIL,
    &RESULT_CHARS,
    &AUTO_COMPACT,
    &ROUNDS,
    &CALLS,
    &TOKENS,
    &COST,
    &SECONDS,
    &REPEATS,
    &CALLS_AT_ONCE,
    &NOTES_ENABLED,
    &NOTES_NAMES,
    &NOTES_FILE_BYTES,
    &NOTES_TOTAL_BYTES,
    &ATTRIBUTION,
    &TUI_THEME,
    &TUI_KEYS,
    &TUI_PLAIN,
    &TUI_BELL,
    &TUI_STATUS,
];
