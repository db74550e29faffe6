//! Who answers to a model's name: `provider/NAME`, a bare name the catalogue knows, `script:PATH`.

mod registry;

pub use registry::KnownProvider;
pub(crate) use registry::made;

use std::collections::BTreeSet;
use std::sync::Arc;

use heeler_core::{Clock, Provider};
use heeler_script::Script;

use crate::catalogue;
use crate::scripted::Scripted;

/// What names a scripted model: the path of its script follows.
const SCRIPT: &str = "script:";
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
#[error("{message}")]
pub struct NameError {
    message: String,
    cause: Cause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The key of the provider of this name.
    Key(&'static str),
    /// Nothing has the name.
    Unknown,
    Other,
}

impl NameError {
    fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { message: message.into(), cause }
    }

    /// The name of the provider whose key is missing, when only that is.
    #[must_use]
    pub fn missing_key(&self) -> Option<&'static str> {
        match self.cause {
            Cause::Key(provider) => Some(provider),
            Cause::Unknown | Cause::Other => None,
        }
    }

    /// Whether no model and no provider has the name.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.cause == Cause::Unknown
    }
}

impl NamedModel {
    /// The variables that name the model, the first that is set.
    pub const NAME_VARIABLES: [&str; 2] = ["HEELER_MODEL", "ANTHROPIC_MODEL"];

    /// Every variable that decides who answers, of all providers.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        let own = KnownProvider::all().flat_map(|provider| provider.variables.iter().copied());
        heeler_core::gathered::<BTreeSet<_>, _>(Self::NAME_VARIABLES.into_iter().chain(own))
            .into_iter()
    }

    /// The name of the model when nobody named one: that of the variables `HEELER_MODEL` or
    /// `ANTHROPIC_MODEL`, else the default.
    pub fn default_name(variable: impl Fn(&str) -> Option<String>) -> String {
        let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
        Self::NAME_VARIABLES.iter().find_map(set).unwrap_or(catalogue::DEFAULT_MODEL.to_owned())
    }

    /// The provider of a model's name, and the name the provider itself has for the model.
    ///
    /// # Errors
    /// When the name is nobody's.
    pub fn provider_of(name: &str) -> Result<(KnownProvider, String), NameError> {
        let Some(full) = catalogue::full_name(name) else { return Err(unclear(name)) };
        let (provider, wire_name) = full.split_once('/').unwrap_or_default();
        match KnownProvider::named(provider) {
            Some(provider) => Ok((provider, wire_name.to_owned())),
            None => {
                let others = provider_names();
                let text = format!(
                    "there is no provider `{provider}`, which `{name}` names; there are {others}"
                );
                Err(NameError::new(Cause::Unknown, text))
            }
        }
    }

    /// The model of this name, or without one, of [`default_name`](Self::default_name).
    /// `variable` gives the value of a variable; keys and addresses are read of those that the
    /// provider [lists](KnownProvider::variables).
    ///
    /// # Errors
    /// When there is no such model, its script cannot be read, or a key is missing.
    pub fn find(
        name: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, NameError> {
        let other = |text| NameError::new(Cause::Other, text);
        let name = name.map_or_else(|| Self::default_name(&variable), str::to_owned);
        if let Some(path) = name.strip_prefix(SCRIPT) {
            // Absolute, so that a session finds it again from wherever it is continued.
            let path = std::path::absolute(path)
                .map_err(|error| other(format!("{name} is no path: {error}")))?;
            let script = Script::load(&path).map_err(|error| other(error.to_string()))?;
            return Ok(Self::scripted(script, clock));
        }
        let (known, wire_name) = Self::provider_of(&name)?;
        if known.needs_key && known.key_variable(&variable).is_none() {
            return Err(no_key(&known));
        }
        let provider = (known.make)(known.name, &variable).map_err(other)?;
        Ok(Self { name: format!("{}/{wire_name}", known.name), provider })
    }

    /// A scripted model.
    #[must_use]
    pub fn scripted(script: Script, clock: Arc<dyn Clock>) -> Self {
        let name = format!("{SCRIPT}{}", script.name);
        Self { name, provider: Arc::new(Scripted::from_script(script, clock)) }
    }
}

/// What to do about a key that is not there.
fn no_key(provider: &KnownProvider) -> NameError {
    let KnownProvider { name, title, keys, .. } = provider;
    let (first, others) = keys.split_first().unwrap_or((&"", &[]));
    let others = match others {
        [] => String::new(),
        others => format!(" (or {})", others.join(", ")),
    };
    let text = format!("there is no key for {title}. Set {first}{others}");
    NameError::new(Cause::Key(name), text)
}

fn unclear(name: &str) -> NameError {
    let example = catalogue::DEFAULT_MODEL;
    let text =
        format!("there is no model `{name}`; use PROVIDER/NAME, such as {example}, or script:PATH");
    NameError::new(Cause::Unknown, text)
}

fn provider_names() -> String {
    KnownProvider::all().map(|provider| provider.name).collect::<Vec<_>>().join(", ")
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
        let found = found.map_or_else(|error| error.to_string(), |model| model.name);
        // Who there is grows; that everybody is listed does not.
        let listed = found.strip_suffix(&provider_names()).map(|begin| format!("{begin}ALL"));
        expected.assert_eq(&listed.unwrap_or(found));
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
            &[("ANTHROPIC_API_KEY", " ")],
            expect![
                "there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)"
            ],
        );
        check(
            Some("other/x"),
            &[key],
            expect!["there is no provider `other`, which `other/x` names; there are ALL"],
        );
        check(
            Some("mystery"),
            &[key],
            expect![
                "there is no model `mystery`; use PROVIDER/NAME, such as anthropic/claude-sonnet-5-5, or script:PATH"
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
