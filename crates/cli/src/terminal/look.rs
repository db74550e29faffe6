//! How the window looks and is typed into, by settings and variables.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use heeler_assembly::Environment;
use heeler_settings::{KeyStyle, TuiPreferences};
use heeler_tui::composer::{self, ComposerSettings};
use heeler_tui::theme::{Background, Builtin, Theme};

/// The theme that these settings name.
pub(super) fn theme_of(
    tui: &TuiPreferences,
    environment: &Environment,
    home: &Path,
    answered: Option<Background>,
) -> Result<Theme> {
    theme(if tui.plain { "plain" } else { &tui.theme }, environment, home, answered)
}

/// Whether the colours depend on a background that only the terminal itself can tell, and it may.
pub(super) fn asks_background(tui: &TuiPreferences, environment: &Environment) -> bool {
    let is_set = |name: &str| matches!(environment.get(name), Ok(Some(value)) if !value.is_empty());
    let terminal = environment.get("TERM").ok().flatten().unwrap_or_default();
    let is_automatic = !tui.plain && matches!(&*tui.theme, "" | "auto") && !is_set("NO_COLOR");
    // The console of Linux, and what is no terminal to speak of, would show the question.
    is_automatic && !is_set("COLORFGBG") && !matches!(terminal, "" | "dumb" | "linux")
}

/// The theme of this name, unless `NO_COLOR` forbids colours. Without a name it is the one for the
/// background that the environment tells, or the terminal when it was asked.
pub(super) fn theme(
    name: &str,
    environment: &Environment,
    home: &Path,
    answered: Option<Background>,
) -> Result<Theme> {
    let forbids = environment.get("NO_COLOR")?.is_some_and(|value| !value.is_empty());
    let name = match (forbids, name) {
        (true, _) => "plain",
        (false, "" | "auto") => match by_environment(environment).or(answered) {
            Some(Background::Light) => "light",
            Some(Background::Dark) | None => "dark",
        },
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

/// What terminals that know it say of their background to whoever is started in them.
fn by_environment(environment: &Environment) -> Option<Background> {
    let colors = environment.get("COLORFGBG").ok().flatten().filter(|colors| !colors.is_empty())?;
    Some(match colors.rsplit(';').next() {
        Some("7" | "15") => Background::Light,
        _ => Background::Dark,
    })
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
