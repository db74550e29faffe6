//! Layered settings: what may run, which commands run by themselves, and whose files are believed.
//!
//! Files become [`Source`]s, each source a [`Layer`] whose values know their lines, and all layers
//! one [`Loaded`]. Only `files`, `trust` and `save` touch the disk; what comes between is pure.
//!
//! A file that lies in a repository may have been written by anybody. What it forbids counts at
//! once; what it allows, runs or opens counts when the user trusted exactly these bytes.
//!
//! Invariants: no deny or ask rule is ever passed over in silence; a source that is not trusted
//! never widens what may run; nothing here starts a process.

mod document;
mod error;
mod examples;
mod files;
mod keys;
mod layer;
mod loaded;
mod locked;
mod said;
mod save;
mod source;
mod trust;

pub use document::FILE_BYTES_MAX;
pub use error::SettingsError;
pub use examples::check_examples;
pub use files::{Files, read_file};
pub use keys::{
    ATTRIBUTION, AUTO_COMPACT, Attribution, CALLS, CALLS_AT_ONCE, CHARS_PER_TOKEN, CONTEXT_LIMIT,
    COST, ContextPreferences, KEYS, Key, KeyStyle, KeyValue, Kind, LimitPreferences, MODEL, Merge,
    ModelPreferences, NOTES_ENABLED, NOTES_FILE_BYTES, NOTES_NAMES, NOTES_TOTAL_BYTES,
    NotePreferences, OUTPUT_MAX, Preferences, REPEATS, RESULT_CHARS, ROUNDS, SECONDS, Scope,
    StatusField, TAIL, THINKING, TOKENS, TUI_BELL, TUI_KEYS, TUI_PLAIN, TUI_STATUS, TUI_THEME,
    TuiPreferences, schema, template,
};
pub use layer::{
    Confinement, Example, FALLBACKS_MAX, HOOK_TIMEOUT_SECONDS_MAX, HOOKS_MAX, HookSetting, Layer,
    ModelSetting, Note, REPOSITORY_RULES_BYTES_MAX, REPOSITORY_RULES_MAX, RULES_MAX, SearchSetting,
    Setting, WEB_HOSTS_MAX, rule_on_folder,
};
pub use loaded::{Loaded, UntrustedFile, load, merge, salvage};
pub use locked::{change_file, put_back};
pub use said::{Counts, Said};
pub use save::{Keep, save_rule};
pub use source::{Aspect, Context, Place, Source};
pub use trust::Trust;
