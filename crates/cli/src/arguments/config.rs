//! The arguments of `config`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::HereArguments;
use super::value::text;

/// The arguments of `config`.
#[derive(Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do about settings.
#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// List what holds here, key by key, each with where it is set
    List {
        #[command(flatten)]
        here: HereArguments,
    },
    /// Say what a key holds here, where each file sets it, which of them wins, and why
    Explain {
        /// The key, such as limits.rounds or permissions.allow
        #[arg(value_name = "KEY", value_parser = text())]
        key: String,
        #[command(flatten)]
        here: HereArguments,
    },
    /// Open your settings in your editor ($VISUAL, or $EDITOR), and check them afterwards
    #[command(group = ArgGroup::new("whose").multiple(false))]
    Edit {
        /// This folder's own settings, for everybody who works here
        #[arg(long, group = "whose")]
        project: bool,
        /// Your own settings for this folder
        #[arg(long, group = "whose")]
        local: bool,
        /// Work in this folder instead of the current one
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
    },
    /// Print the JSON schema of a settings file, for editors
    Schema,
}
