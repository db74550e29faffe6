//! A final answer as JSON that fits a schema, out of any session: the model submits it through a
//! tool, and may not end its turn before.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heeler_core::{
    Block, BoxFuture, Facts, HookEvent, HookMoment, HookOutcome, HookRequest, HookVerdict, Hooks,
    Message, Metadata, RawJson, Role, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
};
use heeler_schema::Schema;

use crate::InputSchema;
use crate::schema::first_problem;

/// The name of the tool a value is submitted with, unless another is given.
pub(crate) const NAME: &str = "submit";
/// How often a turn is kept from ending without a submission.
const REFUSALS_MAX: u32 = 5;
/// The most answers that are kept for whoever asks for them: one a turn, so far more than wait.
const KEPT_MAX: usize = 1024;
/// Why a turn does not end, as the model is told who speaks.
const BY: &str = "output schema";
const DESCRIPTION: &str = "Submits your final answer as JSON. Call it once, when all else is done: \
     its input is the answer, and nothing else of what you write reaches the user.";

/// The answers of a session's turns, as a schema wants them: [`Submission::tool`] goes into the
/// session's tools and [`Submission::hooks`] around its hooks. Clones share what is submitted.
///
/// A value that does not fit goes back to the model with the reason, as with every tool; a turn that
/// would end without one is kept from it, five times at most. A final text that is such a value by
/// itself is taken, too.
///
/// ```
/// use heeler_toolkit::{InputSchema, Submission};
///
/// let schema = InputSchema::parse(r#"{"type": "object", "required": ["sum"]}"#)?;
/// let submission = Submission::new(schema)?;
/// assert_eq!(submission.tool().definition().name, "submit");
/// assert!(submission.answer(1, "It is 7.").is_err());
/// assert_eq!(submission.answer(1, r#"{"sum": 7}"#)?.get(), r#"{"sum": 7}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Submission(Arc<Shared>);

struct Shared {
    schema: InputSchema,
    compiled: Schema,
    /// The newest of each turn.
    submitted: Mutex<Vec<Submitted>>,
    refusals: AtomicU32,
}

struct Submitted {
    turn: u32,
    round: u32,
    value: RawJson,
}

impl Submission {
    /// Answers that fit this schema.
    ///
    /// # Errors
    /// When the schema cannot be compiled.
    pub fn new(schema: InputSchema) -> Result<Self, crate::SchemaError> {
        let compiled = schema.compile()?;
        let submitted = Mutex::default();
        let refusals = AtomicU32::new(0);
        Ok(Self(Arc::new(Shared { schema, compiled, submitted, refusals })))
    }

    /// The tool that the model submits with. It touches nothing, so no rule has to allow it.
    #[must_use]
    pub fn tool(&self) -> Arc<dyn Tool> {
        Arc::new(Submit(self.clone()))
    }

    /// The hooks of a session with one more, which keeps a turn from ending without an answer.
    #[must_use]
    pub fn hooks(&self, others: Option<Arc<dyn Hooks>>) -> Arc<dyn Hooks> {
        Arc::new(KeepsGoing { submission: self.clone(), others })
    }

    /// The answer of a turn whose final text is this.
    ///
    /// # Errors
    /// What is wrong with the text, when nothing was submitted either.
    pub fn answer(&self, turn: u32, text: &str) -> Result<RawJson, String> {
        self.of(turn).map_or_else(|| self.read(text), Ok)
    }

    /// Takes up what an earlier process had accepted of a turn that is still to be finished.
    pub fn recall<'a>(&self, turn: u32, history: impl DoubleEndedIterator<Item = &'a Message>) {
        let mut newest = history.rev();
        let Some(results) = newest.next().filter(|message| message.role == Role::User) else {
            return;
        };
        let accepted = |id: &str| {
            results.blocks.iter().any(|block| match block {
                Block::ToolResult(result) => result.tool_use_id == id && !result.is_error,
                _ => false,
            })
        };
        let Some(calls) = newest.next() else { return };
        let mut calls = calls.tool_uses().filter(|call| call.name == NAME);
        if let Some(call) = calls.find(|call| accepted(&call.id))
            && self.read(call.input.get()).is_ok()
        {
            // Whatever is submitted here is newer.
            self.keep(turn, 0, call.input.clone());
        }
    }

    /// What was submitted in a turn.
    fn of(&self, turn: u32) -> Option<RawJson> {
        let submitted = self.submitted();
        submitted.iter().find(|it| it.turn == turn).map(|it| it.value.clone())
    }

    fn keep(&self, turn: u32, round: u32, value: RawJson) {
        let mut submitted = self.submitted();
        match submitted.iter_mut().find(|it| it.turn == turn) {
            // Of a batch the first one counts; what comes after it puts right what a hook refused.
            Some(before) if before.round >= round => {}
            Some(before) => (before.round, before.value) = (round, value),
            None => {
                if submitted.len() >= KEPT_MAX {
                    submitted.remove(0);
                }
                submitted.push(Submitted { turn, round, value });
            }
        }
    }

    /// A text as a value that fits.
    fn read(&self, text: &str) -> Result<RawJson, String> {
        let json = RawJson::parse(text).map_err(|error| error.to_string())?;
        match first_problem(&self.0.compiled, &json.value()) {
            None => Ok(json),
            Some(problem) => Err(problem),
        }
    }

    fn submitted(&self) -> MutexGuard<'_, Vec<Submitted>> {
        self.0.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of a turn that is about to end with this text.
    fn judge(&self, turn: u32, again: bool, text: &str) -> HookVerdict {
        if self.of(turn).is_some() {
            return HookVerdict::Continue;
        }
        let Err(why) = self.read(text) else { return HookVerdict::Continue };
        if !again {
            self.0.refusals.store(0, Ordering::Relaxed);
        }
        if self.0.refusals.fetch_add(1, Ordering::Relaxed) + 1 >= REFUSALS_MAX {
            return HookVerdict::Continue;
        }
        let reason = format!(
            "the final answer has to be given by calling `{NAME}`, and this text is none ({why}); \
             call `{NAME}` with the answer"
        );
        HookVerdict::Deny { by: BY.to_owned(), reason }
    }
}

/// The tool.
struct Submit(Submission);

impl Tool for Submit {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(NAME, DESCRIPTION, self.0.0.schema.as_json().clone())
    }

    fn metadata(&self) -> Metadata {
        Metadata { terminal: true, ..Metadata::default() }
    }

    fn facts(&self, _: &RawJson, _: &str) -> Facts {
        Facts { replay_safe: true, ..Facts::default() }
    }

    fn call(
        self: Arc<Self>,
        context: ToolContext,
        input: RawJson,
    ) -> BoxFuture<Result<ToolOutput, ToolError>> {
        self.0.keep(context.call.turn, context.call.round, input.clone());
        let output = ToolOutput { structured: Some(input), ..ToolOutput::text("submitted") };
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// The hooks of a session, and one that keeps a turn from ending without an answer.
struct KeepsGoing {
    submission: Submission,
    others: Option<Arc<dyn Hooks>>,
}

impl Hooks for KeepsGoing {
    fn matches(&self, event: HookEvent, subject: &str) -> bool {
        event == HookEvent::Stop
            || self.others.as_ref().is_some_and(|others| others.matches(event, subject))
    }

    fn run(&self, request: HookRequest) -> BoxFuture<HookOutcome> {
        let own = match &request.moment {
            HookMoment::Stop { turn, again, answer } => {
                self.submission.judge(*turn, *again, answer)
            }
            _ => HookVerdict::Continue,
        };
        let (event, subject) = (request.moment.event(), request.moment.subject());
        let others = self.others.as_ref().filter(|others| others.matches(event, subject)).cloned();
        Box::pin(async move {
            let own = HookOutcome::of(own);
            match others {
                Some(others) => own.join(others.run(request).await),
                None => own,
            }
        })
    }
}
