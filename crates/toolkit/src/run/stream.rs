//! A run as a stream of events: the engine's turn, followed to its end.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use heeler_core::{
    BoxFuture, CancellationToken, Clock, Message, ProviderError, Role, SessionHeader, SessionId,
    TurnOutcome,
};
use heeler_engine::{Cursor, Parts, Seen, Session};
use heeler_sessions::TurnId;
use heeler_turn::{CharacterEstimate, History};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::background::Wait;
use super::event::{RunEvent, Teller};
use super::journal::{NOTICES_MAX, RunJournal, Watch};
use super::provider::RunProvider;
use super::recording::Recording;
use super::{Run, RunError, RunErrorKind, RunResult};
use crate::context::CHARS_PER_TOKEN;
use crate::{Client, ToolsetError};

/// A run as it happens. It begins when it is first read; then it goes on whether or not it is read, and
/// is cancelled when it is dropped, or when the token that was given with it is.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use futures::StreamExt;
/// use heeler_toolkit::{Run, RunEvent, testing::scripted};
///
/// let mut events = scripted(r#"{"text": "Hello!"}"#)?.run_stream(Run::say("Hi."));
/// while let Some(event) = events.next().await {
///     match event {
///         RunEvent::TextDelta { text, .. } => print!("{text}"),
///         RunEvent::Finished(result) => assert_eq!(result?.final_text(), "Hello!"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a run begins when its stream is read"]
pub struct RunStream(Pin<Box<dyn Stream<Item = RunEvent> + Send>>);

impl RunStream {
    pub(crate) fn new(client: Client, run: Run) -> Self {
        let stages = futures::stream::unfold(Stage::Start(Box::new((client, run))), next);
        // Fused: who has read it to its end may still ask for that.
        Self(stages.fuse().boxed())
    }

    /// Waits for the end and gives what [`RunEvent::Finished`] would tell; other events are passed
    /// over.
    ///
    /// # Errors
    /// As [`Client::run`], and when the stream was read to its end before.
    pub async fn finish(mut self) -> Result<RunResult, RunError> {
        while let Some(event) = self.0.next().await {
            if let RunEvent::Finished(result) = event {
                return result;
            }
        }
        let kind = RunErrorKind::Failed("the run was read to its end before".to_owned());
        Err(RunError { kind, iteration: 0, result: Box::default() })
    }
}

impl Stream for RunStream {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.0.as_mut().poll_next(context)
    }
}

/// How far a run is.
enum Stage {
    Start(Box<(Client, Run)>),
    Going(Box<Going>),
    Over,
}

async fn next(stage: Stage) -> Option<(RunEvent, Stage)> {
    let mut going = match stage {
        Stage::Start(start) => {
            let (client, run) = *start;
            let hooks = run.hooks.clone();
            match Going::begin(client, run).await {
                Ok(going) => Box::new(going),
                Err(error) => {
                    let result = Err(error);
                    hooks.tell_done(&result);
                    return Some((RunEvent::Finished(result), Stage::Over));
                }
            }
        }
        Stage::Going(going) => going,
        Stage::Over => return None,
    };
    let event = going.next().await;
    let stage = match event {
        RunEvent::Finished(_) => Stage::Over,
        _ => Stage::Going(going),
    };
    Some((event, stage))
}

/// A run that goes on.
struct Going {
    session: Session,
    turn: BoxFuture<TurnOutcome>,
    cursor: Cursor,
    watch: Arc<Watch>,
    clock: Arc<dyn Clock>,
    /// The run with an empty history: that is the session's now.
    run: Run,
    given: usize,
    due: VecDeque<RunEvent>,
    teller: Teller,
    /// Waits for the caller's tokens, whether or not anybody reads; ends with the run.
    _stop: JoinSet<()>,
}

/// Opens the session of a run, whose journal is in memory.
async fn session(
    client: &Client,
    run: &mut Run,
    watch: &Arc<Watch>,
    header: SessionHeader,
    history: Vec<Message>,
) -> Result<Session, RunError> {
    let id = header.id.clone();
    let provider = RunProvider::new(client.provider(), Arc::clone(watch), run, id.clone());
    let journal = RunJournal::new(header, history, Arc::clone(watch));
    let mut parts = Parts::new(Arc::new(provider.clone()), Arc::new(journal));
    client.fill(&mut parts);
    for other in &mut parts.fallback {
        let around = provider.around(Arc::clone(&other.provider), &other.model.name);
        other.provider = Arc::new(around);
    }
    run.fill(&mut parts);
    let opened = Session::open(parts, id).await;
    opened.map_err(|error| unbegun(RunErrorKind::Failed(error.to_string()), Vec::new()))
}

impl Going {
    async fn begin(client: Client, mut run: Run) -> Result<Self, RunError> {
        let turn = || TurnId::mint(client.entropy().as_ref());
        let recording = client.recorder().map(|recorder| Recording::new(recorder, turn()));
        let counts_cost = (run.limits.cost > 0).then(|| client.model().to_owned());
        let watch = Arc::new(Watch::new(client.on_retry(), recording, counts_cost));
        let history = std::mem::take(&mut run.history);
        let workspace = match allowed(&client, &run) {
            Ok(workspace) => workspace,
            Err(kind) => return Err(unbegun(kind, repaired(history))),
        };
        let created = client.clock().now();
        let header = SessionHeader {
            id: SessionId::mint(created, client.entropy().as_ref()),
            created,
            workspace,
        };
        let session = session(&client, &mut run, &watch, header, history).await?;
        let (view, cursor) = session.subscribe();
        if view.messages.last().is_none_or(|last| last.role != Role::User) {
            let messages = view.messages.iter().map(|m| (**m).clone()).collect();
            return Err(unbegun(RunErrorKind::NothingToAnswer, repaired(messages)));
        }
        watch.record(|recording| {
            recording.begin(view.messages.iter().map(|m| (**m).clone()).collect(), created);
        });
        watch.follow(session.subscribe().1);
        // Before the turn goes on: its notices come as events.
        let due = {
            let notices = &mut watch.seen().notices;
            notices.truncate(NOTICES_MAX);
            notices.iter().cloned().map(RunEvent::Notice).collect()
        };
        let turn = session.resume();
        let given = view.messages.len();
        let clock = Arc::clone(client.clock());
        let stopped = CancellationToken::new();
        let turn: BoxFuture<TurnOutcome> = match run.background_wait {
            None => Box::pin(turn),
            Some(limit) => {
                let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                let wait = Wait {
                    session: session.clone(),
                    clock: Arc::clone(&clock),
                    watch: Arc::clone(&watch),
                    limits: run.limits,
                    until: clock.now().plus(millis),
                    cancel: stopped.clone(),
                };
                Box::pin(wait.outlast(turn))
            }
        };
        let stop = stop(&session, std::mem::take(&mut run.cancel), &stopped).await;
        Ok(Self {
            session,
            turn,
            cursor,
            watch,
            clock,
            run,
            given,
            due,
            teller: Teller::default(),
            _stop: stop,
        })
    }

    async fn next(&mut self) -> RunEvent {
        loop {
            if let Some(event) = self.due.pop_front() {
                return event;
            }
            tokio::select! {
                biased;
                Some(seen) = self.cursor.next() => self.see(seen),
                outcome = &mut self.turn => {
                    while let Some(seen) = self.cursor.try_next() {
                        self.see(seen);
                    }
                    let result = self.finish(outcome).await;
                    self.due.push_back(RunEvent::Finished(result));
                }
            }
        }
    }

    fn see(&mut self, seen: Seen) {
        self.due.extend(self.teller.told(seen));
    }

    async fn finish(&mut self, outcome: TurnOutcome) -> Result<RunResult, RunError> {
        self.watch.gather();
        let mut result = RunResult { new_from: self.given, ..RunResult::default() };
        match self.session.state().await {
            Ok(state) => {
                result.messages = state.history.messages().iter().map(|m| (**m).clone()).collect();
                (result.usage, result.cost) = (state.usage, state.cost);
                result.cost_is_partial = state.cost_is_partial;
            }
            // The session is gone, as when its runtime is shut down: what was seen of it stays.
            Err(_) => {
                let (view, _) = self.session.subscribe();
                result.messages = repaired(view.messages.iter().map(|m| (**m).clone()).collect());
                (result.usage, result.cost) = (view.usage, view.cost);
                result.cost_is_partial = view.cost_is_partial;
            }
        }
        let iteration = {
            let seen = self.watch.seen();
            result.usage += seen.summaries;
            result.rounds = seen.rounds;
            result.stop.clone_from(&seen.stop);
            result.notices.clone_from(&seen.notices);
            result.is_over_budget = seen.is_over_budget;
            seen.round.saturating_sub(1)
        };
        let result = match self.why(outcome) {
            None => Ok(result),
            Some(kind) => Err(RunError { kind, iteration, result: Box::new(result) }),
        };
        if self.run.outbound.is_some() {
            // Once the run is over, what it had for people is theirs.
            self.session.clone().close().await;
        }
        let now = self.clock.now();
        self.watch.record(|recording| match &result {
            Ok(result) => recording.end(Ok(result.usage), now),
            Err(error) => recording.end(Err((error, error.result.usage)), now),
        });
        self.run.hooks.tell_done(&result);
        result
    }

    /// Why the run did not come to its end, if it did not.
    fn why(&self, outcome: TurnOutcome) -> Option<RunErrorKind> {
        Some(match outcome {
            TurnOutcome::Done => return None,
            TurnOutcome::Refused => RunErrorKind::Refused(self.watch.seen().reason.clone()),
            TurnOutcome::Truncated => RunErrorKind::Truncated,
            TurnOutcome::Cancelled => RunErrorKind::Cancelled,
            TurnOutcome::Denied { reason } => RunErrorKind::Denied(reason),
            TurnOutcome::Limit { limit } => RunErrorKind::Limit(limit),
            TurnOutcome::ProviderFailed { kind, message } => {
                self.watch.failure(ProviderError::new(kind, message))
            }
            TurnOutcome::Failed { message } => RunErrorKind::Failed(message),
        })
    }
}

/// The folder of a run that may begin.
fn allowed(client: &Client, run: &Run) -> Result<String, RunErrorKind> {
    if Handle::try_current().is_err() {
        let why = "a run needs a tokio runtime with `enable_all`; call it from within one";
        return Err(RunErrorKind::Failed(why.to_owned()));
    }
    // Without prices nothing would ever be spent of it.
    if run.limits.cost > 0
        && let Some(model) = client.unpriced()
    {
        return Err(RunErrorKind::NoPrices(model.to_owned()));
    }
    if let Some(name) = run.tools.misnamed() {
        return Err(RunErrorKind::Failed(ToolsetError::Name(name).to_string()));
    }
    run.workspace_text().map_err(RunErrorKind::Failed)
}

/// A run that did not begin, with the history it was given.
fn unbegun(kind: RunErrorKind, messages: Vec<Message>) -> RunError {
    let result = RunResult { new_from: messages.len(), messages, ..RunResult::default() };
    RunError { kind, iteration: 0, result: Box::new(result) }
}

/// A history that can be gone on from: also the calls at its end have results.
fn repaired(messages: Vec<Message>) -> Vec<Message> {
    let mut history = History::new(Arc::new(CharacterEstimate::new(CHARS_PER_TOKEN)));
    history.push_given(&messages);
    history.push_user(Vec::new());
    history.messages().iter().map(|message| (**message).clone()).collect()
}

/// Cancels the turn, and what waits for it, once one of the tokens is cancelled.
pub(super) async fn stop(
    session: &Session,
    tokens: Vec<CancellationToken>,
    waits: &CancellationToken,
) -> JoinSet<()> {
    let mut stop = JoinSet::new();
    if tokens.iter().any(CancellationToken::is_cancelled) {
        // At once: a short run would be over before a task begins.
        waits.cancel();
        session.cancel().await;
        return stop;
    }
    for token in tokens {
        let (session, waits) = (session.clone(), waits.clone());
        stop.spawn(async move {
            token.cancelled().await;
            waits.cancel();
            session.cancel().await;
        });
    }
    stop
}
