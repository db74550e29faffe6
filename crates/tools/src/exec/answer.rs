//! What every action answers, in one shape.

use heeler_core::ToolOutput;
use heeler_sandbox::Exit;
use serde::{Deserialize, Serialize};

/// The answer of every action. The model reads it as one line of JSON, then the output as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecAnswer {
    /// The session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What became of its command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ExecStatus>,
    /// The exit code of a command that ended; of one that a signal ended, 128 and its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What is wrong, in words the model can act on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The sessions there are, for `list`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<ExecSessionInfo>,
    /// What the command wrote and nobody was told yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecSessionInfo {
    /// Its name in calls.
    pub session_id: String,
    /// What it runs.
    pub command: String,
    /// What became of that.
    pub status: ExecStatus,
    /// Milliseconds since it started.
    pub age_millis: u64,
}

/// What became of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecStatus {
    /// It runs.
    Running,
    /// It ended by itself.
    Exited,
    /// It was killed because somebody asked for it.
    Killed,
    /// It ran longer than it was given, or than any may.
    TimedOut,
    /// Nobody used it for long.
    Idle,
    /// Nobody knows: what starts commands died.
    Lost,
}

impl ExecAnswer {
    /// As the result of a call; an error when something is wrong.
    pub(super) fn into_output(mut self) -> ToolOutput {
        let output = std::mem::take(&mut self.output);
        let is_error = self.error.is_some();
        // There is nothing in it that cannot be written.
        let mut text = serde_json::to_string(&self).unwrap_or_default();
        if !output.is_empty() {
            text = format!("{text}\n{}", output.trim_end_matches(['\n', '\r']));
        }
        ToolOutput { is_error, ..ToolOutput::text(text) }
    }
}

/// The code of an exit as a shell gives it.
pub(super) fn code_of(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(answer: ExecAnswer, expected: Expect) {
        let output = answer.into_output();
        expected.assert_eq(&format!("{}\nerror: {}", output.text_content(), output.is_error));
    }

    #[test]
    fn every_answer_is_one_shape_and_the_output_as_it_is() {
        let running = ExecAnswer {
            session_id: Some("x1".to_owned()),
            status: Some(ExecStatus::Running),
            output: "a \"b\"\n\n".to_owned(),
            ..ExecAnswer::default()
        };
        check(
            running,
            expect![[r#"
                {"sessionId":"x1","status":"running"}
                a "b"
                error: false"#]],
        );
        let sessions = vec![ExecSessionInfo {
            session_id: "x2".to_owned(),
            command: "top".to_owned(),
            status: ExecStatus::TimedOut,
            age_millis: 5,
        }];
        check(
            ExecAnswer { sessions, ..ExecAnswer::default() },
            expect![[r#"
                {"sessions":[{"sessionId":"x2","command":"top","status":"timed_out","ageMillis":5}]}
                error: false"#]],
        );
        let exit_code = Some(code_of(Exit::Signal(9)));
        let error = Some("no".to_owned());
        check(
            ExecAnswer { exit_code, error, ..ExecAnswer::default() },
            expect![[r#"
                {"exitCode":137,"error":"no"}
                error: true"#]],
        );
    }
}
