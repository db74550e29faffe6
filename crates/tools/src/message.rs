//! `message`: says something to the user while the turn goes on, or instead of an answer.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, MediaReference, Resource, ToolContext, ToolError, ToolOutput, TypedTool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The most characters of one message.
pub const MESSAGE_CHARS_MAX: usize = 20_000;
/// The most files of one message.
pub const MESSAGE_MEDIA_MAX: usize = 16;

/// The tool. It sends nothing itself: what it gives for the user is told watchers, and goes out through
/// the session's [`Outbound`](heeler_core::Outbound), once its result is written.
#[derive(Debug, Default)]
pub struct SendMessage;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessageInput {
    /// What to say.
    pub text: String,
    /// Files to send with it, each a media:// reference that a tool gave.
    #[serde(default)]
    pub media: Vec<String>,
    /// Nothing more is to be said: the turn ends.
    #[serde(default)]
    pub last: bool,
}

impl TypedTool for SendMessage {
    type Input = SendMessageInput;

    fn name(&self) -> &'static str {
        "message"
    }

    fn description(&self) -> &'static str {
        "Sends the user a message before your answer. Not for the answer itself, unless it is the last."
    }

    fn facts(&self, _: &SendMessageInput, _: &str) -> Facts {
        // Messages of one answer leave in the order they were written in.
        let resources = vec![Resource { key: "message".into(), write: true }];
        Facts { resources, replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        input: SendMessageInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(say(input)))
    }
}

fn say(input: SendMessageInput) -> Result<ToolOutput, ToolError> {
    let SendMessageInput { text, media, last } = input;
    let refused = |why: String| Err(ToolError::ForModel(format!("nothing was sent: {why}")));
    if text.trim().is_empty() && media.is_empty() {
        return refused("the message is empty".to_owned());
    }
    let chars = text.chars().count();
    if chars > MESSAGE_CHARS_MAX {
        return refused(format!("{chars} characters; the most are {MESSAGE_CHARS_MAX}"));
    }
    if media.len() > MESSAGE_MEDIA_MAX {
        return refused(format!("{} files; the most are {MESSAGE_MEDIA_MAX}", media.len()));
    }
    let media: Vec<MediaReference> = match media.into_iter().map(TryInto::try_into).collect() {
        Ok(media) => media,
        Err(error) => return refused(format!("{error}, such as media://3f2a that a tool gave")),
    };
    let output =
        ToolOutput { for_user: text, ..ToolOutput::media("Passed on to the user.", media) };
    Ok(if last { output.with_response_handled() } else { output })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
    fn check(input: &str, expected: Expect) {
        let said = match say(serde_json::from_str(input).unwrap()) {
            Ok(output) => serde_json::to_string(&output).unwrap(),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&said);
    }

    #[test]
    fn a_message_is_for_the_user_and_may_be_the_last() {
        check(
            r#"{"text": "half way"}"#,
            expect![[r#"{"for_llm":"Passed on to the user.","for_user":"half way"}"#]],
        );
        check(
            r#"{"text": "", "media": ["media://a"], "last": true}"#,
            expect![[
                r#"{"for_llm":"Passed on to the user.","media":["media://a"],"response_handled":true}"#
            ]],
        );
    }

    #[test]
    fn what_cannot_be_sent_says_why() {
        check(r#"{"text": " "}"#, expect!["nothing was sent: the message is empty"]);
        check(
            r#"{"text": "a", "media": ["/tmp/a.png"]}"#,
            expect![
                "nothing was sent: `/tmp/a.png` is not a media reference, such as media://3f2a that a tool gave"
            ],
        );
        let text = |chars: usize| serde_json::json!({ "text": "é".repeat(chars) }).to_string();
        assert!(say(serde_json::from_str(&text(20_000)).unwrap()).is_ok());
        check(&text(20_001), expect!["nothing was sent: 20001 characters; the most are 20000"]);
        let media = |count| serde_json::json!({ "text": "", "media": vec!["media://a"; count] });
        assert!(say(serde_json::from_value(media(16)).unwrap()).is_ok());
        check(&media(17).to_string(), expect!["nothing was sent: 17 files; the most are 16"]);
    }
}
