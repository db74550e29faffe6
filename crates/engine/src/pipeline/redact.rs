//! Takes secrets out of what a call gave, before it is shown, written or sent anywhere.

use std::borrow::Cow;
use std::sync::Arc;

use heeler_core::{Block, Progress, RawJson, ToolOutput};
use heeler_secrets::Secrets;

/// Takes secrets out of all text of an output.
pub(super) fn redact(output: &mut ToolOutput, secrets: &Secrets) {
    for block in &mut output.content {
        if let Some(Cow::Owned(clean)) = block.as_text().map(|text| secrets.redact(text)) {
            *block = Block::text(clean);
        }
    }
    for text in std::iter::once(&mut output.for_user).chain(&mut output.artifact_tags) {
        if let Cow::Owned(clean) = secrets.redact(text) {
            *text = clean;
        }
    }
    if let Some(Cow::Owned(clean)) =
        output.structured.as_ref().map(|json| secrets.redact(json.get()))
    {
        // What is no JSON any more is in the text as well, and left out here.
        output.structured = RawJson::parse(&clean).ok();
    }
}

/// A sink that takes secrets out of what it passes on.
pub(crate) fn redacting(progress: Progress, secrets: &Arc<Secrets>) -> Progress {
    let secrets = Arc::clone(secrets);
    Progress::new(move |text| progress.send(secrets.redact(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_the_model_and_for_the_user_is_cleaned_and_the_rest_stays() {
        let secrets = Secrets::of_variables([("DB_PASSWORD", "h0rse-battery-Staple")]);
        let mut output = ToolOutput {
            content: vec![Block::text("a h0rse-battery-Staple b"), Block::text("plain")],
            for_user: "h0rse-battery-Staple".into(),
            structured: Some(RawJson::parse(r#"{"a": "h0rse-battery-Staple"}"#).unwrap()),
            ..ToolOutput::default().with_artifact("/tmp/h0rse-battery-Staple")
        };
        redact(&mut output, &secrets);
        assert_eq!(output.text_content(), "a [redacted: DB_PASSWORD] bplain");
        assert_eq!(output.for_user, "[redacted: DB_PASSWORD]");
        assert_eq!(output.artifact_tags[..], ["[file:/tmp/[redacted: DB_PASSWORD]]"]);
        let structured = output.structured.unwrap();
        assert_eq!(structured.get(), r#"{"a": "[redacted: DB_PASSWORD]"}"#);
    }
}
