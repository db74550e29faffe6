//! Files of settings before they are understood: where each stands, and what it may do.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::document::Format;

/// Where settings come from, the least specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `~/.claude/settings.json`.
    UserClaude,
    /// `settings.toml` in heeler's home folder.
    User,
    /// `.claude/settings.json` in the workspace.
    ProjectClaude,
    /// `.heeler/settings.toml` in the workspace.
    Project,
    /// `.claude/settings.local.json` in the workspace.
    LocalClaude,
    /// `.heeler/settings.local.toml` in the workspace.
    Local,
    /// The workspace's part of `projects.toml` in heeler's home folder.
    Saved,
    /// A file that the command line names.
    Given,
    /// The variables heeler was started with.
    Variables,
    /// The command line.
    Flags,
}

impl Place {
    /// Whether the file comes with the repository, or could: whoever wrote it is not the user until
    /// the user says so.
    #[must_use]
    pub fn is_repository(self) -> bool {
        matches!(self, Self::ProjectClaude | Self::Project | Self::LocalClaude | Self::Local)
    }

    /// The command that opens the file of this place in an editor, where there is one.
    #[must_use]
    pub fn edit_command(self) -> Option<&'static str> {
        match self {
            Self::User => Some("heeler config edit"),
            Self::Project => Some("heeler config edit --project"),
            Self::Local => Some("heeler config edit --local"),
            _ => None,
        }
    }

    /// Whether the file belongs to another program, and so holds more than we know of.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::UserClaude | Self::ProjectClaude | Self::LocalClaude)
    }
}

/// What a repository's file may only do once the user trusted its exact content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// Rules that allow.
    Rules,
    /// The permission mode.
    Mode,
    /// Folders beside the workspace.
    Folders,
    /// Commands that run by themselves.
    Hooks,
    /// Variables of commands.
    Environment,
    /// A wider box around commands.
    Sandbox,
    /// Which model answers, what models charge and hold, and who answers instead.
    Models,
    /// Limits that are higher, the context, notes, attribution, and the screen.
    Preferences,
}

impl Aspect {
    /// All there are.
    pub const ALL: [Self; 8] = [
        Self::Rules,
        Self::Mode,
        Self::Folders,
        Self::Hooks,
        Self::Environment,
        Self::Sandbox,
        Self::Models,
        Self::Preferences,
    ];

    /// The name in `trust.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Mode => "mode",
            Self::Folders => "folders",
            Self::Hooks => "hooks",
            Self::Environment => "environment",
            Self::Sandbox => "sandbox",
            Self::Models => "models",
            Self::Preferences => "preferences",
        }
    }

    /// The aspect of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|aspect| aspect.name() == name)
    }

    /// What it is, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rules => "rules that allow",
            Self::Mode => "the permission mode",
            Self::Folders => "folders beside the workspace",
            Self::Hooks => "commands that run by themselves (hooks)",
            Self::Environment => "variables of commands",
            Self::Sandbox => "a wider sandbox",
            Self::Models => "which models answer, and what they charge",
            Self::Preferences => "limits, context, notes, attribution, or the screen",
        }
    }
}

/// One file of settings, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it stands.
    pub place: Place,
    /// The file.
    pub path: PathBuf,
    /// What rules and errors call it.
    pub name: String,
    /// The bytes.
    pub content: Vec<u8>,
    /// What it was trusted with; only asked of a repository's files.
    pub trusted: BTreeSet<Aspect>,
}

impl Source {
    pub(crate) fn format(&self) -> Format {
        let is_json = self.path.extension().is_some_and(|extension| extension == "json");
        if is_json { Format::Json } else { Format::Toml }
    }
}

/// What settings are read for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// The folder that is worked in, absolute.
    pub workspace: String,
    /// The user's home folder, for `~`, by each name it has: where it is linked to, tools may name
    /// it either way.
    pub homes: Vec<String>,
    /// The names of the tools there are; a rule that speaks of none of them is told.
    pub tools: Vec<String>,
}
