//! A small web service: `POST /chat/NAME` with `{"text": "..."}` streams the answer as server-sent
//! events, `GET /healthz` says that it lives. `ADDRESS=127.0.0.1:3000 TOKEN=secret cargo run --bin
//! web -- FOLDER`
use std::convert::Infallible;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::StreamExt;
use heeler::{
    Agent, Client, ContextManager, FileSessions, Message, RunError, RunEvent, RunResult, RunStream,
    Session, load_or_new, save,
};
use serde::Deserialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Conversations whose names fall together wait for each other; so does everybody who speaks in one.
const LOCKS: usize = 256;
const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Clone)]
struct App {
    agent: Agent,
    sessions: FileSessions,
    locks: Arc<[Arc<Mutex<()>>]>,
    token: Option<Arc<str>>,
}

#[derive(Deserialize)]
struct Said {
    text: String,
}

/// One answer on its way.
struct Turn {
    events: RunStream,
    session: Session,
    sessions: FileSessions,
    _lock: OwnedMutexGuard<()>,
}

async fn chat(
    State(app): State<App>,
    Path(name): Path<String>,
    Json(said): Json<Said>,
) -> Result<Response, (StatusCode, String)> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&name);
    let lock = Arc::clone(&app.locks[hash as usize % LOCKS]).lock_owned().await;
    let session = load_or_new(&app.sessions, &name).await;
    let mut session = session.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    session.history.push(Message::user(said.text));
    let events = app.agent.step_stream(session.history.clone());
    let turn = Turn { events, session, sessions: app.sessions, _lock: lock };
    // Whoever goes away drops the stream, and that stops the model call and the tools.
    let stream = futures::stream::unfold(turn, |mut turn| async move {
        let event = turn.next().await?;
        Some((Ok::<_, Infallible>(event), turn))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()).into_response())
}

impl Turn {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let (name, text) = match self.events.next().await? {
                RunEvent::TextDelta { text, .. } => ("text", text),
                RunEvent::Reset { .. } => ("reset", String::new()),
                RunEvent::CallStarted { summary, .. } => ("call", summary),
                RunEvent::Finished(result) => self.end(result).await,
                _ => continue,
            };
            // As JSON, so that a line break in a text does not end the event.
            return Event::default().event(name).json_data(text).ok();
        }
    }

    /// Keeps what was said; a failed turn's history is valid, too.
    async fn end(&mut self, result: Result<RunResult, RunError>) -> (&'static str, String) {
        let (history, error) = match result {
            Ok(result) => (result.messages, None),
            Err(error) => {
                let text = error.to_string();
                (error.result.messages, Some(text))
            }
        };
        self.session.history = history;
        let saved = save(&self.sessions, &mut self.session).await;
        match error.or(saved.err().map(|error| error.to_string())) {
            Some(error) => ("error", error),
            None => ("done", String::new()),
        }
    }
}

/// Lets in who knows the token, if there is one.
async fn check_token(State(app): State<App>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer "));
    match app.token.as_deref() {
        Some(token) if given != Some(token) => StatusCode::UNAUTHORIZED.into_response(),
        _ => next.run(request).await,
    }
}

/// Resolves when the process is asked to end; answers on their way are finished then.
async fn asked_to_end() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
    println!("ending");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or("conversations".into());
    let agent = Agent::new(Client::from_env()?)
        .system("You are helpful and brief.")
        .context(ContextManager::new(100_000).keep_first(2).keep_recent(40))
        .rounds(10);
    let app = App {
        agent,
        sessions: FileSessions::open(folder)?,
        locks: (0..LOCKS).map(|_| Arc::default()).collect(),
        token: std::env::var("TOKEN").ok().filter(|token| !token.is_empty()).map(Arc::from),
    };
    let router = Router::new()
        .route("/chat/{name}", post(chat))
        .layer(middleware::from_fn_with_state(app.clone(), check_token))
        .route("/healthz", get(|| async { "ok" }))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(app);
    let address = std::env::var("ADDRESS").unwrap_or("127.0.0.1:3000".into());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router).with_graceful_shutdown(asked_to_end()).await?;
    Ok(())
}
