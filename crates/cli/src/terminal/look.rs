//! How the window looks and is typed into, by settings and variables.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::Environment;
use heeler_settings::{KeyStyle, TuiPreferences};
use heeler_tui::composer::{self, ComposerSettings};
use heeler_tui::theme::{Builtin, Theme};

/// The theme that these settings name.
pub(super) fn theme_of(
    tui: &TuiPreferences,
    environment: &Environment,
    home: &Path,
) -> Result<Theme> {
    theme(if tui.plain { "plain" } else { &tui.theme }, environment, home)
}

/// The theme of this name, unless `NO_COLOR` forbids colours.
pub(super) fn theme(name: &str, environment: &Environment, home: &Path) -> Result<Theme> {
    let forbids = environment.get("NO_COLOR")?.is_some_and(|value| !value.is_empty());
    let name = match (forbids, name) {
        (true, _) => "plain",
        (false, "" | "auto") => by_background(environment),
        (false, name) => name,
    };
    if let Some(built_in) = Builtin::named(name) {
        return Ok(built_in.theme());
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        bail!("`{name}` is no name of a theme: letters, digits, - and _");
    }
    let path = home.join("themes").join(format!("{name}.toml"));
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!("there is no theme `{name}`: write {shown}, or use dark, light or plain")
    })?;
    Ok(Theme::parse(&text, &shown)?)
}

/// What terminals that know it say of their background; most are dark.
fn by_background(environment: &Environment) -> &'static str {
    let colors = environment.get("COLORFGBG").ok().flatten().unwrap_or_default();
    match colors.rsplit(';').next() {
        Some("7" | "15") => "light",
        _ => "dark",
    }
}

/// How the composer reads keys.
pub(super) fn composer(preferences: &TuiPreferences) -> ComposerSettings {
    ComposerSettings {
        keys: match preferences.keys {
            KeyStyle::Emacs => composer::KeyStyle::Emacs,
            KeyStyle::Vim => composer::KeyStyle::Vim,
        },
        placeholder: "what is to be done? (/help)".to_owned(),
        is_file: Path::is_file,
        ..ComposerSettings::default()
    }
}
