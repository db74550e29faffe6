//! `TodoWrite` and `TodoRead`: the steps a model has set itself, as part of the session's state, so that
//! what takes a session back takes them back too.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, Resource, ToolContext, ToolError, ToolOutput, TypedTool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most steps of a list.
pub const TODO_ITEMS_MAX: usize = 50;
/// The most characters of one step.
pub const TODO_CHARS_MAX: usize = 400;

/// Where the list stands in the session's state.
const KEY: &str = "todo";

/// The tool that replaces the list.
#[derive(Debug, Default)]
pub struct TodoWrite;

/// The tool that shows it.
#[derive(Debug, Default)]
pub struct TodoRead;

/// What the model gives: the whole list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteInput {
    todos: Vec<Todo>,
}

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TodoReadInput {}

// One step. What stands here as a comment for readers of the schema would be paid with every request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Todo {
    content: String,
    status: TodoStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

impl TypedTool for TodoWrite {
    type Input = TodoWriteInput;

    fn name(&self) -> &'static str {
        "TodoWrite"
    }

    fn description(&self) -> &'static str {
        "Keeps the steps of longer work: replaces your whole list."
    }

    fn facts(&self, _: &TodoWriteInput, _: &str) -> Facts {
        list(Touch::Writes)
    }

    fn call(
        self: Arc<Self>,
        _: ToolContext,
        input: TodoWriteInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(write(&input.todos)))
    }
}

impl TypedTool for TodoRead {
    type Input = TodoReadInput;

    fn name(&self) -> &'static str {
        "TodoRead"
    }

    fn description(&self) -> &'static str {
        "Shows that list."
    }

    fn metadata(&self) -> Metadata {
        Metadata { read_only: true, ..Metadata::default() }
    }

    fn facts(&self, _: &TodoReadInput, _: &str) -> Facts {
        list(Touch::Reads)
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        _: TodoReadInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        let todos: Vec<Todo> = context.state.get(KEY).unwrap_or_default();
        Box::pin(std::future::ready(Ok(ToolOutput::text(shown(&todos)))))
    }
}

#[derive(PartialEq)]
enum Touch {
    Reads,
    Writes,
}

/// It touches nothing but the list, in call order.
fn list(touch: Touch) -> Facts {
    let resources = vec![Resource { key: KEY.into(), write: touch == Touch::Writes }];
    Facts { resources, replay_safe: true, ..Facts::default() }
}

fn write(todos: &[Todo]) -> Result<ToolOutput, ToolError> {
    let refused =
        |why: String| Err(ToolError::ForModel(format!("the list stays as it was: {why}")));
    if todos.len() > TODO_ITEMS_MAX {
        return refused(format!("{} steps; the most are {TODO_ITEMS_MAX}", todos.len()));
    }
    for (number, todo) in (1..).zip(todos) {
        let chars = todo.content.chars().count();
        if chars > TODO_CHARS_MAX {
            return refused(format!(
                "step {number} has {chars} characters; the most are {TODO_CHARS_MAX}"
            ));
        }
        if todo.content.trim().is_empty() {
            return refused(format!("step {number} says nothing"));
        }
    }
    let output = ToolOutput::text(summary(todos));
    Ok(match todos {
        // Null takes the key away.
        [] => output.with_state(KEY, &()),
        _ => output.with_state(KEY, &todos),
    })
}

/// How far it is, in a line for watchers, which the model needs no more than.
fn summary(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The list is empty.".to_owned();
    }
    let with = |status| todos.iter().filter(move |todo| todo.status == status);
    let done = with(TodoStatus::Completed).count();
    let now = with(TodoStatus::InProgress).next().map(|todo| format!("; now: {}", todo.content));
    format!("{done} of {} done{}", todos.len(), now.unwrap_or_default())
}

fn shown(todos: &[Todo]) -> String {
    let mut text = summary(todos);
    for todo in todos {
        let mark = match todo.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
        };
        text.push_str(&format!("\n[{mark}] {}", todo.content));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::testing::Folder;

    fn list_of(steps: &[(&str, &str)]) -> String {
        let todo = |(content, status): &(&str, &str)| json!({"content": content, "status": status});
        json!({ "todos": steps.iter().map(todo).collect::<Vec<_>>() }).to_string()
    }

    /// What the calls give, one after the other in one session; a list is written, nothing is read.
    #[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
    fn check(calls: &[Option<String>], expected: Expect) {
        let folder = Folder::new(&[]);
        let mut said = Vec::new();
        for call in calls {
            let result = match call {
                Some(input) => folder.run(Arc::new(TodoWrite), input),
                None => folder.run(Arc::new(TodoRead), "{}"),
            };
            said.push(match result {
                Ok(output) => output.text_content(),
                Err(error) => format!("error: {error}"),
            });
        }
        expected.assert_eq(&said.join("\n--\n"));
    }

    #[test]
    fn a_list_is_replaced_shown_and_taken_away() {
        let steps = [("look", "completed"), ("mend", "in_progress"), ("test", "pending")];
        check(
            &[
                None,
                Some(list_of(&steps)),
                None,
                Some(list_of(&steps[..1])),
                Some(list_of(&[])),
                None,
            ],
            expect![[r#"
                The list is empty.
                --
                1 of 3 done; now: mend
                --
                1 of 3 done; now: mend
                [x] look
                [>] mend
                [ ] test
                --
                1 of 1 done
                --
                The list is empty.
                --
                The list is empty."#]],
        );
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let long = "é".repeat(TODO_CHARS_MAX);
        let (longer, keep) = (format!("{long}x"), Some(list_of(&[(&long, "pending")])));
        let many = |count| Some(list_of(&vec![("a", "pending"); count]));
        let refused = [
            Some(list_of(&[("a", "pending"), (&longer, "pending")])),
            many(51),
            Some(list_of(&[(" ", "pending")])),
        ];
        let folder = Folder::new(&[]);
        assert!(folder.run(Arc::new(TodoWrite), &many(50).unwrap()).is_ok());
        assert!(folder.run(Arc::new(TodoWrite), &keep.unwrap()).is_ok());
        for call in &refused {
            assert!(folder.run(Arc::new(TodoWrite), call.as_ref().unwrap()).is_err());
        }
        let kept = folder.run(Arc::new(TodoRead), "{}").unwrap().text_content();
        assert_eq!(kept, format!("0 of 1 done\n[ ] {long}"));
        check(
            &refused,
            expect![[r#"
            error: the list stays as it was: step 2 has 401 characters; the most are 400
            --
            error: the list stays as it was: 51 steps; the most are 50
            --
            error: the list stays as it was: step 1 says nothing"#]],
        );
    }

    #[test]
    fn the_words_for_the_model_are_few() {
        let tools: [Arc<dyn heeler_core::Tool>; 2] = [Arc::new(TodoWrite), Arc::new(TodoRead)];
        let words: Vec<String> =
            tools.iter().map(|tool| serde_json::to_string(&tool.definition()).unwrap()).collect();
        expect![[r#"
            {"name":"TodoWrite","description":"Keeps the steps of longer work: replaces your whole list.","input_schema":"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"todos\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"string\"},\"status\":{\"type\":\"string\",\"enum\":[\"pending\",\"in_progress\",\"completed\"]}},\"required\":[\"content\",\"status\"]}}},\"required\":[\"todos\"]}"}
            {"name":"TodoRead","description":"Shows that list.","input_schema":"{\"type\":\"object\"}"}"#]].assert_eq(&words.join("\n"));
    }
}
