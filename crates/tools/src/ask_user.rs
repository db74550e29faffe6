//! `ask_user`: a question to the person, whose answer is the result.

use std::sync::Arc;

use heeler_core::{
    BoxFuture, Facts, Metadata, Person, Question, Resource, ToolContext, ToolError, ToolOutput,
    TypedTool, truncate_chars,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::task::JoinSet;

/// The most characters of a question.
pub const QUESTION_CHARS_MAX: usize = 2_000;
/// The most answers to choose from.
pub const CHOICES_MAX: usize = 10;
/// The most characters of one of them.
pub const CHOICE_CHARS_MAX: usize = 200;
/// The most characters of an answer that are passed on.
pub const ANSWER_CHARS_MAX: usize = 20_000;
/// How long somebody may think: a day.
const TIMEOUT_MILLIS: u64 = 24 * 60 * 60 * 1000;

const NOBODY: &str = "nobody is there to answer; decide yourself, say in your answer what you assumed, \
                      and do not ask again";

/// The tool.
#[derive(Debug, Default)]
pub struct AskUser;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserInput {
    /// One question.
    pub question: String,
    /// Answers to choose from; another one is always possible.
    #[serde(default)]
    pub choices: Vec<String>,
}

impl TypedTool for AskUser {
    type Input = AskUserInput;

    fn name(&self) -> &'static str {
        "ask_user"
    }

    fn description(&self) -> &'static str {
        "Asks the user one question and gives their answer. Only for what you can neither find out nor \
         decide yourself."
    }

    fn metadata(&self) -> Metadata {
        Metadata { timeout_millis: TIMEOUT_MILLIS, ..Metadata::default() }
    }

    fn facts(&self, _: &AskUserInput, _: &str) -> Facts {
        // One question after the other, in call order.
        let resources = vec![Resource { key: "user".into(), write: true }];
        Facts { resources, replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: AskUserInput,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let choices = checked(&input)?;
            let person = context.person.clone().ok_or_else(|| ToolError::for_model(NOBODY))?;
            let question = Question {
                session: context.session,
                agent: context.agent,
                call: context.call,
                to: context.origin,
                text: input.question.trim().to_owned(),
                choices: choices.clone(),
            };
            let answer = tokio::select! {
                biased;
                () = context.cancel.cancelled() => {
                    return Err(ToolError::for_model("the question was taken back"));
                }
                answer = answer(person, question) => answer,
            };
            told(answer.as_deref(), &choices)
        })
    }
}

/// The choices, when all of it can be shown to a person.
fn checked(input: &AskUserInput) -> Result<Vec<String>, ToolError> {
    let refused = |why: String| Err(ToolError::ForModel(format!("nothing was asked: {why}")));
    let chars = input.question.chars().count();
    if input.question.trim().is_empty() {
        return refused("the question is empty".to_owned());
    }
    if chars > QUESTION_CHARS_MAX {
        return refused(format!("{chars} characters; the most are {QUESTION_CHARS_MAX}"));
    }
    let choices: Vec<String> = input.choices.iter().map(|one| one.trim().to_owned()).collect();
    if choices.len() > CHOICES_MAX {
        return refused(format!("{} choices; the most are {CHOICES_MAX}", choices.len()));
    }
    let fits = |one: &String| !one.is_empty() && one.chars().count() <= CHOICE_CHARS_MAX;
    match choices.iter().position(|one| !fits(one)) {
        Some(at) => {
            refused(format!("choice {} has no character, or more than {CHOICE_CHARS_MAX}", at + 1))
        }
        None => Ok(choices),
    }
}

/// A panic is nobody's answer. Dropping this takes the question back.
async fn answer(person: Arc<dyn Person>, question: Question) -> Option<String> {
    let mut asking = JoinSet::new();
    asking.spawn(async move { person.answer(question).await });
    asking.join_next().await?.ok().flatten()
}

fn told(answer: Option<&str>, choices: &[String]) -> Result<ToolOutput, ToolError> {
    let answer = answer.ok_or_else(|| ToolError::for_model(NOBODY))?.trim();
    if answer.is_empty() {
        return Ok(ToolOutput::text("The user answered nothing; decide yourself."));
    }
    Ok(ToolOutput::text(match chosen(answer, choices) {
        Some(choice) => format!("The user chose: {choice}"),
        None => format!("The user answered: {}", truncate_chars(answer, ANSWER_CHARS_MAX)),
    }))
}

/// The choice of this number, if it is one. It is looked up here alone: a choice may be a number itself.
fn chosen<'a>(answer: &str, choices: &'a [String]) -> Option<&'a String> {
    let number = answer.parse::<usize>().ok().filter(|_| !answer.starts_with('+'))?;
    choices.get(number.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::{Expect, expect};
    use heeler_core::{RawJson, Tool};
    use serde_json::json;

    use super::*;
    use crate::testing::Folder;

    /// Answers so, and keeps what it was asked; without an answer it thinks for ever.
    #[derive(Default)]
    struct Scripted {
        answer: Answer,
        asked: Mutex<Vec<Question>>,
    }

    #[derive(Default, Clone)]
    enum Answer {
        Says(&'static str),
        #[default]
        Leaves,
        Panics,
        Thinks,
    }

    impl Person for Scripted {
        fn answer(&self, question: Question) -> BoxFuture<Option<String>> {
            self.asked.lock().unwrap().push(question);
            match &self.answer {
                Answer::Says(text) => Box::pin(std::future::ready(Some((*text).to_owned()))),
                Answer::Leaves => Box::pin(std::future::ready(None)),
                Answer::Panics => panic!("no chair"),
                Answer::Thinks => Box::pin(std::future::pending()),
            }
        }
    }

    /// What a call gives, and what the person was shown.
    #[expect(clippy::needless_pass_by_value, reason = "cases read as values")]
    fn check(person: Option<Answer>, input: serde_json::Value, expected: Expect) {
        let folder = Folder::new(&[]);
        let person = person.map(|answer| Arc::new(Scripted { answer, ..Scripted::default() }));
        let mut context = folder.context();
        context.person = person.clone().map(|person| person as _);
        let cancel = context.cancel.clone();
        let tool: Arc<dyn Tool> = Arc::new(AskUser);
        let call = tool.call(context, RawJson::from_value(&input));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(async {
            let call = tokio::spawn(call);
            // Whoever answers at once has answered by then.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
            call.await.unwrap()
        });
        let mut said = match result {
            Ok(output) => output.text_content(),
            Err(error) => format!("error: {error}"),
        };
        for question in person.iter().flat_map(|person| person.asked.lock().unwrap().clone()) {
            said.push_str(&format!("\nasked {:?} {:?}", question.text, question.choices));
        }
        expected.assert_eq(&said);
    }

    #[test]
    fn an_answer_is_the_result_and_a_number_chooses() {
        let plain = json!({"question": " Which port? "});
        check(
            Some(Answer::Says("8080\n")),
            plain.clone(),
            expect![[r#"
            The user answered: 8080
            asked "Which port?" []"#]],
        );
        check(
            Some(Answer::Says(" ")),
            plain,
            expect![[r#"
            The user answered nothing; decide yourself.
            asked "Which port?" []"#]],
        );
        let choices = json!({"question": "Which?", "choices": ["red", " blue "]});
        check(
            Some(Answer::Says("2")),
            choices.clone(),
            expect![[r#"
            The user chose: blue
            asked "Which?" ["red", "blue"]"#]],
        );
        check(
            Some(Answer::Says("0")),
            choices.clone(),
            expect![[r#"
            The user answered: 0
            asked "Which?" ["red", "blue"]"#]],
        );
        check(
            Some(Answer::Says("3")),
            choices.clone(),
            expect![[r#"
            The user answered: 3
            asked "Which?" ["red", "blue"]"#]],
        );
        check(
            Some(Answer::Says("green")),
            choices,
            expect![[r#"
            The user answered: green
            asked "Which?" ["red", "blue"]"#]],
        );
    }

    #[test]
    fn a_choice_that_is_a_number_is_chosen_by_its_own() {
        let choices = ["2", "1", "3", "+7"].map(str::to_owned);
        for (answer, expected) in [
            ("1", "The user chose: 2"),
            ("2", "The user chose: 1"),
            ("3", "The user chose: 3"),
            ("4", "The user chose: +7"),
            ("+1", "The user answered: +1"),
            ("+7", "The user answered: +7"),
            ("7", "The user answered: 7"),
        ] {
            assert_eq!(told(Some(answer), &choices).unwrap().text_content(), expected, "{answer}");
        }
    }

    #[test]
    fn where_nobody_answers_the_model_decides() {
        let question = json!({"question": "Which?"});
        check(
            None,
            question.clone(),
            expect![
                "error: nobody is there to answer; decide yourself, say in your answer what you assumed, and do not ask again"
            ],
        );
        check(
            Some(Answer::Leaves),
            question.clone(),
            expect![[r#"
            error: nobody is there to answer; decide yourself, say in your answer what you assumed, and do not ask again
            asked "Which?" []"#]],
        );
        check(
            Some(Answer::Panics),
            question,
            expect![[r#"
            error: nobody is there to answer; decide yourself, say in your answer what you assumed, and do not ask again
            asked "Which?" []"#]],
        );
    }

    #[test]
    fn a_question_ends_with_its_turn() {
        check(
            Some(Answer::Thinks),
            json!({"question": "Which?"}),
            expect![[r#"
            error: the question was taken back
            asked "Which?" []"#]],
        );
    }

    #[test]
    fn what_no_person_could_read_is_not_asked() {
        let person = || Some(Answer::Says("yes"));
        check(
            person(),
            json!({"question": " "}),
            expect!["error: nothing was asked: the question is empty"],
        );
        check(
            person(),
            json!({"question": "é".repeat(2_001)}),
            expect!["error: nothing was asked: 2001 characters; the most are 2000"],
        );
        check(
            person(),
            json!({"question": "a", "choices": vec!["b"; 11]}),
            expect!["error: nothing was asked: 11 choices; the most are 10"],
        );
        check(
            person(),
            json!({"question": "a", "choices": ["b", ""]}),
            expect!["error: nothing was asked: choice 2 has no character, or more than 200"],
        );
        check(
            person(),
            json!({"question": "a", "choices": ["é".repeat(201)]}),
            expect!["error: nothing was asked: choice 1 has no character, or more than 200"],
        );
        let most = json!({"question": "é".repeat(2_000), "choices": vec!["é".repeat(200); 10]});
        assert!(checked(&serde_json::from_value(most).unwrap()).is_ok());
        let long = "é".repeat(ANSWER_CHARS_MAX + 1);
        let output = told(Some(&long), &[]).unwrap().text_content();
        assert_eq!(output.chars().count(), ANSWER_CHARS_MAX + "The user answered: ".len());
    }
}
