//! The input of a call as a model wrote it: used as it is, or not at all.

use std::borrow::Cow;

use heeler_core::RawJson;

use crate::json;

/// Why an input is not used that the end of the answer cut.
pub(crate) const CUT: &str = "the reply ended before the input was complete";

/// The input, or why the call must not run.
pub(crate) fn parse_input(text: &str) -> Result<RawJson, String> {
    match RawJson::parse(text) {
        // Nor would a server take it back.
        Ok(input) if matches!(json::mended(input.get()), Cow::Owned(_)) => {
            Err("the input has half a character: a surrogate escape without its other half"
                .to_owned())
        }
        Ok(input) if input.is_object() => Ok(input),
        // It says as little as no input at all.
        Ok(input) if input.get().trim() == "null" => Ok(RawJson::empty_object()),
        Ok(_) => Err("the input is not a JSON object".to_owned()),
        Err(error) => Err(format!("the input is {error}")),
    }
}
