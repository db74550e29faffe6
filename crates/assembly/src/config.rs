//! Whether one file of settings can be used, for somebody who just wrote it.

use std::path::Path;

use heeler_sandbox::Launcher;
use heeler_settings::{Layer, Loaded, Place, check_examples};

use crate::call;
use crate::permission::{context, settings_files};
use crate::setup::{bash, toolset};
use crate::{Environment, SetupError};

/// What is wrong with the file of this place: all that stops heeler, and what it passes over;
/// nothing when it is well, or not there.
///
/// # Errors
/// When heeler's home is not known.
pub fn settings_mistakes(
    environment: &Environment,
    workspace: &Path,
    place: Place,
) -> Result<Vec<String>, SetupError> {
    let files = settings_files(environment, workspace)?;
    let context = context(&files)?;
    let (sources, unreadable) = files.read_each();
    let Some(source) = sources.iter().find(|source| source.place == place) else {
        return Ok(unreadable.iter().map(ToString::to_string).collect());
    };
    let layer = Layer::salvage(source, &context);
    let wrong = layer.mistakes.iter().chain(&layer.problems);
    let mut mistakes: Vec<String> = wrong.map(ToString::to_string).collect();
    if !layer.examples.is_empty() {
        let tools = toolset(bash(Launcher::new(), environment, &Loaded::default()))?;
        let home = context.homes.first().map(String::as_str);
        let place = call::Place { tools: &tools, workspace: &context.workspace, home };
        let facts = |tool: &str, text: &str| Ok(place.facts(tool, text)?.1);
        let checked = check_examples(&layer.examples, &context.workspace, facts);
        mistakes.extend(checked.err().map(|error| error.to_string()));
    }
    Ok(mistakes)
}
