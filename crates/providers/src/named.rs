//! Who answers to a model's name: `anthropic/NAME`, a bare Claude name, `script:PATH`.

use std::sync::Arc;

use heeler_core::{Clock, Provider};
use heeler_script::Script;

use crate::anthropic::{Anthropic, AnthropicSettings};
use crate::catalogue;
use crate::scripted::Scripted;

/// What names a scripted model: the path of its script follows.
const SCRIPT: &str = "script:";
/// The variables that name the model, the first that is set.
const VARIABLES: [&str; 2] = ["HEELER_MODEL", "ANTHROPIC_MODEL"];

/// A model that is ready to be asked.
#[derive(Clone)]
pub struct NamedModel {
    /// Its full name, `provider/model`, or `script:` and an absolute path.
    pub name: String,
    /// Who asks it.
    pub provider: Arc<dyn Provider>,
}

/// Why nobody answers to a name, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

impl NamedModel {
    /// Every variable that decides who answers.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        VARIABLES.into_iter().chain(AnthropicSettings::VARIABLES)
    }

    /// The model of this name; without one, that of the variables `HEELER_MODEL` or
    /// `ANTHROPIC_MODEL`, else the default. `variable` gives the value of a variable; keys and
    /// addresses are read as [`AnthropicSettings::from_variables`] says.
    ///
    /// # Errors
    /// When there is no such model, its script cannot be read, or a key is missing.
    pub fn find(
        name: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, NameError> {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let name = match name {
            Some(name) => name.to_owned(),
            None => VARIABLES.iter().find_map(set).unwrap_or(catalogue::DEFAULT_MODEL.to_owned()),
        };
        if let Some(path) = name.strip_prefix(SCRIPT) {
            // Absolute, so that a session finds it again from wherever it is continued.
            let path = std::path::absolute(path)
                .map_err(|error| NameError(format!("{name} is no path: {error}")))?;
            let script = Script::load(&path).map_err(|error| NameError(error.to_string()))?;
            return Ok(Self::scripted(script, clock));
        }
        let Some(wire_name) = catalogue::anthropic_name(&name) else {
            return Err(NameError(format!(
                "there is no model `{name}`; use anthropic/NAME, a Claude name such as {}, or \
                 script:PATH",
                catalogue::DEFAULT_MODEL
            )));
        };
        let provider = AnthropicSettings::from_variables(variable)
            .and_then(|settings| Anthropic::new(&settings))
            .map_err(|error| NameError(error.to_string()))?;
        Ok(Self { name: format!("anthropic/{wire_name}"), provider: Arc::new(provider) })
    }

    /// A scripted model.
    #[must_use]
    pub fn scripted(script: Script, clock: Arc<dyn Clock>) -> Self {
        let name = format!("{SCRIPT}{}", script.name);
        Self { name, provider: Arc::new(Scripted::from_script(script, clock)) }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use heeler_core::Timestamp;

    use super::*;

    struct Zero;

    impl Clock for Zero {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn sleep_until(&self, _: Timestamp) -> heeler_core::BoxFuture<()> {
            Box::pin(std::future::pending())
        }
    }

    fn check(name: Option<&str>, variables: &[(&str, &str)], expected: Expect) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        };
        let found = NamedModel::find(name, variable, Arc::new(Zero));
        expected.assert_eq(&found.map_or_else(|error| error.to_string(), |model| model.name));
    }

    #[test]
    fn a_name_or_a_variable_says_who_answers() {
        let key = ("ANTHROPIC_API_KEY", "sk-1");
        check(Some("claude-x"), &[key], expect!["anthropic/claude-x"]);
        check(None, &[key], expect!["anthropic/claude-sonnet-5-5"]);
        check(None, &[key, ("HEELER_MODEL", "")], expect!["anthropic/claude-sonnet-5-5"]);
        check(None, &[key, ("ANTHROPIC_MODEL", "claude-y")], expect!["anthropic/claude-y"]);
        let both = [key, ("ANTHROPIC_MODEL", "claude-y"), ("HEELER_MODEL", "claude-z")];
        check(None, &both, expect!["anthropic/claude-z"]);
        check(
            Some("claude-x"),
            &[],
            expect![
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN); `heeler demo` needs none"
            ],
        );
        check(
            Some("other/x"),
            &[key],
            expect![
                "there is no model `other/x`; use anthropic/NAME, a Claude name such as anthropic/claude-sonnet-5-5, or script:PATH"
            ],
        );
        check(
            Some("script:/nowhere.toml"),
            &[],
            expect![
                "/nowhere.toml: cannot be read: No such file or directory (os error 2); check the path and that it is a UTF-8 file"
            ],
        );
    }
}
