//! The arguments of `stage`.

use clap::{Args, Subcommand};

use super::value::text;

/// The arguments of `stage`.
#[derive(Args)]
pub(crate) struct StageArguments {
    #[command(subcommand)]
    pub(crate) command: StageCommand,
}

/// What to do with what is kept.
#[derive(Subcommand)]
pub(crate) enum StageCommand {
    /// List the stages: name, session and folder
    List,
    /// Print what differs from the folder, as a unified diff
    Show {
        /// Its name
        #[arg(value_name = "NAME", value_parser = text())]
        id: String,
    },
    /// Make the changes in the folder: each hunk is asked about, which needs a terminal, or --all
    Apply {
        /// Its name
        #[arg(value_name = "NAME", value_parser = text())]
        id: String,
        /// All of them, without asking
        #[arg(long)]
        all: bool,
        /// Also over what somebody changed in the folder since the stage began
        #[arg(long)]
        force: bool,
    },
    /// Drop the changes
    Discard {
        /// Its name
        #[arg(value_name = "NAME", value_parser = text())]
        id: String,
    },
}
