//! What changed around a session since the last input: settings, and the project's notes.

use std::sync::Arc;

use anyhow::Result;
use heeler_assembly::{Renewed, home_folder};
use heeler_core::Settings;
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
    let looked = tokio::task::spawn_blocking(move || program.look(&state.settings)).await;
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
        changed.words.extend(words.map(Ok));
    }
    changed
}

/// What there is now.
struct Looked {
    /// Why the settings cannot be used, once.
    settings: Result<Option<New>, Option<String>>,
    /// The words of the prompt, when they are others, and what happened to the notes.
    notes: Option<(String, Option<String>)>,
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
    fn look(&self, running: &Settings) -> Looked {
        let settings = self.renew(running).map_err(|error| {
            let problem = told(&error);
            let is_known =
                lock(&self.known).problem.replace(problem.clone()) == Some(problem.clone());
            (!is_known).then_some(problem)
        });
        let mut prompt = lock(&self.prompt);
        let notes = prompt.as_mut().and_then(|prompt| {
            let attribution = lock(&self.known).loaded.preferences().attribution;
            let is_other = prompt.attribute(attribution);
            let words = prompt.reload();
            (is_other || words.is_some()).then(|| (prompt.text(), words))
        });
        Looked { settings, notes }
    }

    fn renew(&self, running: &Settings) -> Result<Option<New>> {
        let Self { permission, environment, workspace, .. } = self;
        let before = lock(&self.known).loaded.clone();
        let renewed = permission.renew((environment, workspace), limits(), &before, running)?;
        let mut known = lock(&self.known);
        known.problem = None;
        let Some(Renewed { settings, loaded, words }) = renewed else { return Ok(None) };
        let tui = loaded.preferences().tui;
        let look = WindowLook {
            theme: look::theme_of(&tui, environment, &home_folder(environment)?, known.background)?,
            is_still: tui.plain,
            keys: look::composer(&tui).keys,
            status: tui.status,
        };
        let mut words: Vec<Result<String, String>> =
            (!words.is_empty()).then_some(Ok(words)).into_iter().collect();
        let passed_over =
            loaded.problems.iter().filter(|problem| !before.problems.contains(problem));
        words.extend(passed_over.map(|problem| Err(problem.to_string())));
        known.loaded = loaded;
        let settings = (settings != *running).then(|| Box::new(settings));
        Ok(Some(New { settings, words, look }))
    }

    /// A rule was kept by this window: it is no news to it.
    pub(super) fn know_rule(&self) {
        let Self { permission, environment, workspace, .. } = self;
        if let Ok((_, loaded)) = permission.clone().settle(environment, workspace) {
            lock(&self.known).loaded = loaded;
        }
    }
}
