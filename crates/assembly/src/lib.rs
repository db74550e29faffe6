//! Turns settings and environment into a ready agent.
//!
//! Everything a process inherits enters here and nowhere else: variables, folders, model names.
//! Below this floor all of it is an argument.

mod advised;
mod call;
mod config;
mod confine;
mod denied;
mod dotfiles;
mod environment;
mod git;
mod hidden;
mod home;
mod hooked;
mod keys;
mod local;
mod model;
mod notes;
mod permission;
mod programs;
mod prompt;
mod reachable;
mod renew;
mod search;
mod secret_places;
mod setup;
mod staged;
mod stored;
#[cfg(test)]
mod tests;
mod words;

pub use config::settings_mistakes;
pub use confine::{Sandbox, probe};
pub use denied::lack_of_walls;
pub use environment::Environment;
pub use heeler_hooks::AskedHook;
pub use heeler_providers::NamedModel;
pub use heeler_providers::{KnownProvider, Secret};
pub use heeler_secrets::Secrets;
pub use hidden::hidden;
pub use home::home_folder;
pub use keys::{KEY_BYTES_MAX, KEY_BYTES_MIN, KeepKey, KeyOwner, KeyPlace, Keys};
pub use model::ModelChoice;
pub use notes::{Changed, NOTE_FILES_MAX, NOTE_IMPORTS_DEEP_MAX, NoteFile, NotePlaces, Notes};
pub use permission::{
    Explained, Permission, SettingsFiles, asks_for_box, keep_rule, settings_files,
};
pub use prompt::SystemPrompt;
pub use reachable::{Reachable, ReachableModel, ReachableProvider};
pub use renew::Renewed;
pub use search::search_with_key;
pub use setup::{Assembly, Setup, SetupError, open_store};
pub use stored::{ForkWanted, StoredError, fork_session, rename_session};
