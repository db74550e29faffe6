//! Values of flags: each refusal names the flag.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

/// A value that has to be text. Clap's own refusal of other bytes does not say which it was.
#[derive(Clone)]
pub(super) struct Text<P>(pub(super) P);

impl<P: TypedValueParser> TypedValueParser for Text<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, Error> {
        if value.to_str().is_some() {
            return self.0.parse_ref(command, argument, value);
        }
        let name = argument.map(ToString::to_string).unwrap_or_default();
        let message = format!("the value '{}' for '{name}' is not UTF-8 text", value.display());
        Err(command.clone().error(ErrorKind::InvalidValue, message))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// The name of a mode, which shells complete. Whether it is one, in which words ever, is seen where
/// settings are read.
#[derive(Clone)]
pub(super) struct ModeName;

impl TypedValueParser for ModeName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let modes = ["ask", "accept-edits", "plan", "allow-listed", "bypass"];
        Some(Box::new(modes.into_iter().map(PossibleValue::new)))
    }
}

/// Any text.
pub(super) fn text() -> Text<StringValueParser> {
    Text(StringValueParser::new())
}

/// A session's id, its beginning, or the session's name. An empty one begins every session's: `--resume "$ID"` of a
/// shell in which `ID` is not set must not go on with whatever there is.
pub(super) fn id() -> Text<impl TypedValueParser<Value = String>> {
    Text(StringValueParser::new().try_map(|text| match text.trim() {
        "" => Err("there is no session without an id; see `heeler sessions list`"),
        _ => Ok(text),
    }))
}

/// An amount of money.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "not an amount in dollars".to_owned())?;
    if amount.is_finite() && (0.0..1e9).contains(&amount) {
        Ok(amount)
    } else {
        Err("not an amount between 0 and a billion dollars".to_owned())
    }
}
