//! What a hook reads: one JSON object about one moment.

use std::path::Path;

use heeler_core::{HookMoment, HookRequest, HookedCall, Mode, ToolOutput, truncate_chars};
use serde_json::{Map, Value, json};

use crate::compatible::Added;

/// The most characters of a call's output.
const OUTPUT_CHARS_MAX: usize = 256 * 1024;

/// The object, as text. `transcript` is where the session's journal is, `added` what a hook reads in the
/// call's input beside its own.
pub(crate) fn told(
    request: &HookRequest,
    transcript: Option<&Path>,
    added: Option<&Added>,
) -> String {
    let mut fields = Map::new();
    let mut say = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    say("session_id", request.session.to_string().into());
    say("transcript_path", transcript.map(Path::to_string_lossy).unwrap_or_default().into());
    say("cwd", request.workspace.to_string_lossy().into());
    say("permission_mode", mode(request.mode).into());
    say("hook_event_name", request.moment.event().name().into());
    if !request.agent.is_main() {
        say("agent_id", request.agent.to_string().into());
    }
    fields.extend(of_moment(&request.moment));
    if let Some(added) = added
        && let Some(input) = fields.remove("tool_input")
    {
        fields.insert("tool_input".to_owned(), added.to(input));
    }
    Value::Object(fields).to_string()
}

/// A mode by the name that hooks know.
fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::AllowListed => "dontAsk",
        Mode::Bypass => "bypassPermissions",
    }
}

fn of_moment(moment: &HookMoment) -> Map<String, Value> {
    let fields = match moment {
        HookMoment::SessionStart { .. } => json!({ "source": moment.subject() }),
        HookMoment::UserPromptSubmit { prompt } => json!({ "prompt": prompt }),
        HookMoment::PreToolUse(call) | HookMoment::PermissionRequest { call, .. } => of_call(call),
        HookMoment::PostToolUse { call, output } => {
            let mut fields = of_call(call);
            let text = text(output);
            if output.is_error {
                fields["error"] = text.into();
            } else {
                fields["tool_response"] = json!({ "content": text, "success": true });
            }
            fields
        }
        HookMoment::PreCompact { focus, .. } => {
            let focus = focus.as_deref().unwrap_or_default();
            json!({ "trigger": moment.subject(), "custom_instructions": focus })
        }
        HookMoment::Stop { again, answer, .. } => {
            json!({ "stop_hook_active": again, "last_assistant_message": answer })
        }
        HookMoment::SubagentStart { kind } => json!({ "agent_type": kind }),
        HookMoment::SubagentStop { kind, again, answer } => json!({
            "agent_type": kind,
            "stop_hook_active": again,
            "last_assistant_message": answer,
        }),
        HookMoment::SessionEnd => json!({ "reason": moment.subject() }),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn of_call(call: &HookedCall) -> Value {
    json!({
        "tool_name": call.tool,
        "tool_input": call.input.value(),
        "tool_use_id": call.id.to_string(),
    })
}

fn text(output: &ToolOutput) -> String {
    truncate_chars(&output.text_content(), OUTPUT_CHARS_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use heeler_core::{
        AgentPath, BoxFuture, CallId, Clock, CompactionCause, HookWatch, PermissionReason, RawJson,
        Timestamp,
    };

    use super::*;

    struct NoTime;

    impl Clock for NoTime {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn sleep_until(&self, _: Timestamp) -> BoxFuture<()> {
            Box::pin(std::future::pending())
        }
    }

    fn request(moment: HookMoment) -> HookRequest {
        HookRequest {
            session: "s".parse().unwrap(),
            agent: AgentPath::default(),
            workspace: "/space".into(),
            mode: Mode::AcceptEdits,
            watch: HookWatch::new(&moment, |_| ()),
            moment,
            clock: Arc::new(NoTime),
        }
    }

    /// What is told of a moment, beyond what is told of every one.
    fn check(moment: HookMoment, expected: Expect) {
        let told: Value = serde_json::from_str(&told(&request(moment), None, None)).unwrap();
        let Value::Object(mut fields) = told else { panic!("{told}") };
        for name in ["session_id", "transcript_path", "cwd", "permission_mode"] {
            assert!(fields.remove(name).is_some(), "{name}");
        }
        expected.assert_eq(&Value::Object(fields).to_string());
    }

    fn call() -> HookedCall {
        HookedCall {
            id: CallId { turn: 1, round: 2, index: 0 },
            tool: "Bash".into(),
            input: RawJson::parse(r#"{"command":"ls"}"#).unwrap(),
            accesses: Vec::new(),
        }
    }

    #[test]
    fn every_moment_says_where_it_is() {
        let mut request = request(HookMoment::SessionEnd);
        expect![[r#"{"session_id":"s","transcript_path":"/space/s.jsonl","cwd":"/space","permission_mode":"acceptEdits","hook_event_name":"SessionEnd","reason":"other"}"#]].assert_eq(&told(&request, Some(Path::new("/space/s.jsonl")), None));
        request.agent = AgentPath(vec![call().id]);
        request.mode = Mode::Bypass;
        expect![[r#"{"session_id":"s","transcript_path":"","cwd":"/space","permission_mode":"bypassPermissions","hook_event_name":"SessionEnd","agent_id":"1.2.0","reason":"other"}"#]].assert_eq(&told(&request, None, None));
    }

    #[test]
    fn each_moment_says_what_it_is_about() {
        check(
            HookMoment::SessionStart { resumed: false },
            expect![[r#"{"source":"startup","hook_event_name":"SessionStart"}"#]],
        );
        check(
            HookMoment::UserPromptSubmit { prompt: "hi \"you\"".into() },
            expect![[r#"{"prompt":"hi \"you\"","hook_event_name":"UserPromptSubmit"}"#]],
        );
        check(
            HookMoment::PreToolUse(call()),
            expect![[
                r#"{"tool_use_id":"1.2.0","tool_input":{"command":"ls"},"tool_name":"Bash","hook_event_name":"PreToolUse"}"#
            ]],
        );
        let reason = PermissionReason::Policy("it runs".into());
        check(
            HookMoment::PermissionRequest { call: call(), reason },
            expect![[
                r#"{"tool_use_id":"1.2.0","tool_input":{"command":"ls"},"tool_name":"Bash","hook_event_name":"PermissionRequest"}"#
            ]],
        );
        let output = Box::new(ToolOutput::text("a\nb"));
        check(
            HookMoment::PostToolUse { call: call(), output },
            expect![[
                r#"{"tool_response":{"content":"a\nb","success":true},"tool_use_id":"1.2.0","tool_input":{"command":"ls"},"tool_name":"Bash","hook_event_name":"PostToolUse"}"#
            ]],
        );
        let output = Box::new(ToolOutput::error("no"));
        check(
            HookMoment::PostToolUse { call: call(), output },
            expect![[
                r#"{"error":"no","tool_use_id":"1.2.0","tool_input":{"command":"ls"},"tool_name":"Bash","hook_event_name":"PostToolUseFailure"}"#
            ]],
        );
        check(
            HookMoment::PreCompact { cause: CompactionCause::Automatic, focus: None },
            expect![[
                r#"{"custom_instructions":"","trigger":"auto","hook_event_name":"PreCompact"}"#
            ]],
        );
        check(
            HookMoment::Stop { turn: 1, again: true, answer: "Done.".into() },
            expect![[
                r#"{"last_assistant_message":"Done.","stop_hook_active":true,"hook_event_name":"Stop"}"#
            ]],
        );
        check(
            HookMoment::SubagentStart { kind: "Explore".into() },
            expect![[r#"{"agent_type":"Explore","hook_event_name":"SubagentStart"}"#]],
        );
        let (kind, answer) = ("Explore".to_owned(), "Found.".to_owned());
        check(
            HookMoment::SubagentStop { kind, again: false, answer },
            expect![[
                r#"{"last_assistant_message":"Found.","stop_hook_active":false,"agent_type":"Explore","hook_event_name":"SubagentStop"}"#
            ]],
        );
    }

    #[test]
    fn a_long_output_is_cut() {
        let output = Box::new(ToolOutput::text("x".repeat(OUTPUT_CHARS_MAX + 1)));
        let told = told(&request(HookMoment::PostToolUse { call: call(), output }), None, None);
        let told: Value = serde_json::from_str(&told).unwrap();
        let content = told["tool_response"]["content"].as_str().unwrap();
        assert_eq!(content.chars().count(), OUTPUT_CHARS_MAX);
    }
}
