//! What changed around a session since the last input: settings, and the project's notes.

use std::sync::Arc;

use anyhow::Result;
use heeler_assembly::{Renewed, home_folder};
use heeler_core::{Rule, Settings};
use heeler_engine::Session;
use heeler_tui::host::{Changed, WindowLook};

use super::host::{Program, limits, lock};
use super::look;
use crate::say::told;

/// Takes in what changed: from the next input on it counts.
pub(super) async fn take_in(program: Arc<Program>, session: Session) -> Changed {
    let mut changed = Changed::default();
    // A session that is closed says so itself when it is given the input.
    let Ok(state) = session.state().await else { return changed };
    let looked =
        tokio::task::spawn_blocking(move || program.look((&state.settings, &state.grants))).await;
    let Ok(Looked { settings, notes }) = looked else { return changed };
    match settings {
        Ok(None) => {}
        Ok(Some(New { settings, words, look })) => {
            changed.words = words;
            changed.look = Some(Box::new(look));
            if let Some(settings) = settings
                && session.set_settings((*settings).clone()).await.is_ok()
            {
                changed.settings = Some(settings);
            }
        }
        Err(why) => changed.words.extend(why.map(Err)),
    }
    if let Some((text, words)) = notes
        && session.set_system(text).await.is_ok()
    {
        changed.words.extend(words);
    }
    changed
}

/// What becomes of settings that cannot be used.
const UNTIL_MENDED: &str = "until that is mended, the settings that held before hold; then they count from the next input on";
/// What is said when they can be used again, and say what they said before.
const MENDED: &str = "the settings are mended; they say what held all the time";

/// What a session runs under, and the rules it was given.
type Running<'a> = (&'a Settings, &'a [Rule]);

/// What there is now.
struct Looked {
    /// Why the settings cannot be used, once.
    settings: Result<Option<New>, Option<String>>,
    /// The words of the prompt, when they are others; what happened to the notes, and what of them
    /// is newly amiss.
    notes: Option<(String, Vec<Result<String, String>>)>,
}

struct New {
    /// Unless they are as they were.
    settings: Option<Box<Settings>>,
    /// What changed, and what was passed over.
    words: Vec<Result<String, String>>,
    look: WindowLook,
}

impl Program {
    /// Reads files, so it is for a thread of its own.
    fn look(&self, running: Running<'_>) -> Looked {
        let settings = self.renew(running).map_err(|error| {
            let problem = told(&error);
            let is_known =
                lock(&self.known).problem.replace(problem.clone()) == Some(problem.clone());
            (!is_known).then(|| format!("{problem}\n{UNTIL_MENDED}"))
        });
        let mut prompt = lock(&self.prompt);
        let notes = prompt.as_mut().and_then(|prompt| {
            let attribution = lock(&self.known).loaded.preferences().attribution;
            let is_other = prompt.attribute(attribution);
            let changed = prompt.reload();
            let is_other = is_other || changed.is_some();
            let (words, amiss) = changed.unzip();
            let amiss = amiss.into_iter().flatten().map(|notice| Err(format!("notes: {notice}")));
            is_other.then(|| (prompt.text(), words.map(Ok).into_iter().chain(amiss).collect()))
        });
        Looked { settings, notes }
    }

    fn renew(&self, running: Running<'_>) -> Result<Option<New>> {
        let Self { permission, environment, workspace, .. } = self;
        let before = lock(&self.known).loaded.clone();
        let renewed = permission.renew((environment, workspace), limits(), &before, running)?;
        let mut known = lock(&self.known);
        let is_mended = known.problem.take().is_some();
        let Renewed { settings, loaded, words } = match renewed {
            Some(renewed) => renewed,
            None if is_mended => {
                let (settings, loaded) = (running.0.clone(), before.clone());
                Renewed { settings, loaded, words: MENDED.to_owned() }
            }
            None => return Ok(None),
        };
        let tui = loaded.preferences().tui;
        let look = WindowLook {
            theme: look::theme_of(&tui, environment, &home_folder(environment)?, known.background)?,
            is_plain: tui.plain,
            rings: tui.bell,
            keys: look::composer(&tui).keys,
            status: tui.status,
        };
        let mut words: Vec<Result<String, String>> =
            (!words.is_empty()).then_some(Ok(words)).into_iter().collect();
        let passed_over =
            loaded.problems.iter().filter(|problem| !before.problems.contains(problem));
        words.extend(passed_over.map(|problem| Err(problem.to_string())));
        known.loaded = loaded;
        let settings = (settings != *running.0).then(|| Box::new(settings));
        Ok(Some(New { settings, words, look }))
    }
}
