//! Accepts connections and answers their requests.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use heeler_script::{ErrorSpec, Player, Reply, RequestView, Script, Step};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::oneshot;

use super::body::{End, Pieces, never};
use super::io::Connection;
use super::log::{Log, Recorded};
use super::{Chunking, sse, wire};

/// The longest request body, as the provider has it.
const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

type Answer = Response<BoxBody<Bytes, io::Error>>;

/// Accepts connections until `stopped`.
pub(super) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    mut stopped: oneshot::Receiver<()>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        let socket = tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => socket,
                // A client that went away before it was accepted.
                Err(_) => continue,
            },
        };
        let connection = Connection::new(socket, Arc::clone(&service.log));
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let service = Arc::clone(&service);
                async move { service.answer(request).await }
            });
            // How a connection ends, the script decides or the client; neither is an error here.
            let _ = http1::Builder::new().serve_connection(connection, answer).await;
        });
    }
}

/// The scripted model behind the server.
pub(super) struct Service {
    player: Mutex<Player>,
    chunking: Chunking,
    headers: BTreeMap<String, String>,
    log: Arc<Log>,
}

/// A request that is answered with an error of the provider.
struct Refusal {
    status: u16,
    kind: &'static str,
    message: String,
}

impl Service {
    pub(super) fn new(
        script: Script,
        chunking: Chunking,
        headers: BTreeMap<String, String>,
        log: &Arc<Log>,
    ) -> Self {
        let player = Mutex::new(Player::new(script));
        Self { player, chunking, headers, log: Arc::clone(log) }
    }

    async fn answer(&self, request: Request<Incoming>) -> io::Result<Answer> {
        let (mut recorded, method) = record(&request);
        let read = Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await;
        let outcome = match read {
            Ok(body) => {
                recorded.body = body.to_bytes().to_vec();
                self.decide(&mut recorded, &method)
            }
            Err(error) if error.is::<LengthLimitError>() => Err(Refusal {
                status: 413,
                kind: "request_too_large",
                message: format!("the body is longer than {BODY_BYTES_MAX} bytes"),
            }),
            // The client went away; nobody reads an answer.
            Err(error) => return Err(io::Error::other(error)),
        };
        recorded.refused = outcome.as_ref().err().map(|refusal| refusal.message.clone());
        self.log.change(|state| {
            state.requests.push(recorded);
            state.status.requests += 1;
        });
        match outcome {
            Ok((reply, request)) => self.send(&reply, &request).await,
            Err(refusal) => {
                let error = ErrorSpec {
                    status: Some(refusal.status),
                    kind: refusal.kind.to_owned(),
                    message: refusal.message,
                    retry_after: None,
                };
                self.send_error(&error, &BTreeMap::new())
            }
        }
    }

    /// Checks a request and picks its reply.
    fn decide(
        &self,
        recorded: &mut Recorded,
        method: &Method,
    ) -> Result<(Reply, wire::Parsed), Refusal> {
        let refuse = |status, kind, message: String| Refusal { status, kind, message };
        let path = recorded.path.split('?').next().unwrap_or_default();
        if *method != Method::POST || path != "/v1/messages" {
            let message = format!("there is no {method} {path}; the server has POST /v1/messages");
            return Err(refuse(404, "not_found_error", message));
        }
        check_headers(recorded)?;
        let parsed = wire::parse(&recorded.body)
            .map_err(|message| refuse(400, "invalid_request_error", message))?;
        recorded.view = Some(parsed.view.clone());
        let reply = self.play(&parsed.view);
        reply
            .map(|reply| (reply, parsed))
            .map_err(|message| refuse(400, "invalid_request_error", message))
    }

    fn play(&self, view: &RequestView) -> Result<Reply, String> {
        let mut player = self.player.lock().unwrap_or_else(PoisonError::into_inner);
        player.answer(view).map_err(|mismatch| mismatch.to_string())
    }

    async fn send(&self, reply: &Reply, request: &wire::Parsed) -> io::Result<Answer> {
        if reply.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
        }
        if let Some(error) = &reply.error {
            if error.kind == "network" && reply.blocks.is_empty() {
                return Err(io::Error::other("the script closes the connection here"));
            }
            if error.status.is_some() {
                return self.send_error(error, &reply.headers);
            }
        }
        if !request.is_stream {
            let message = sse::message(reply, &request.view.model).to_string();
            return self.respond(200, "application/json", whole(message), &reply.headers, &[]);
        }
        let (events, end) = stream(reply, &request.view.model);
        let body = Pieces::new(events, end, self.chunking, Arc::clone(&self.log)).boxed();
        self.respond(200, "text/event-stream; charset=utf-8", body, &reply.headers, &[])
    }

    fn send_error(
        &self,
        error: &ErrorSpec,
        headers: &BTreeMap<String, String>,
    ) -> io::Result<Answer> {
        let retry_after = error.retry_after.map(|seconds| ("retry-after", seconds.to_string()));
        let body = whole(sse::error(error).to_string());
        let status = error.status.unwrap_or(500);
        self.respond(status, "application/json", body, headers, retry_after.as_slice())
    }

    fn respond(
        &self,
        status: u16,
        content_type: &str,
        body: BoxBody<Bytes, io::Error>,
        headers: &BTreeMap<String, String>,
        own: &[(&str, String)],
    ) -> io::Result<Answer> {
        let status = StatusCode::from_u16(status).map_err(io::Error::other)?;
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        let n = self.log.read(|state| state.requests.len());
        all.insert("content-type".into(), content_type.to_owned());
        all.insert("request-id".into(), format!("req_{n}"));
        all.extend(own.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        for (name, value) in self.headers.iter().chain(headers) {
            all.insert(name.to_ascii_lowercase(), value.clone());
        }
        let mut response = Response::builder().status(status);
        for (name, value) in &all {
            response = response.header(name, value);
        }
        // A script's header that HTTP does not allow ends here.
        response.body(body).or_else(|error| {
            let message = format!("the script's headers cannot be sent: {error}");
            let body = json!({"type": "error", "error": {"type": "api_error", "message": message}});
            let response = Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR);
            response.body(whole(body.to_string())).map_err(io::Error::other)
        })
    }
}

fn record(request: &Request<Incoming>) -> (Recorded, Method) {
    let text =
        |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = request.headers().iter();
    let recorded = Recorded {
        method: request.method().to_string(),
        path: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: headers.map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: Vec::new(),
        view: None,
        refused: None,
    };
    (recorded, request.method().clone())
}

/// The headers without which the provider answers nothing.
fn check_headers(recorded: &Recorded) -> Result<(), Refusal> {
    if recorded.header("x-api-key").is_none() && recorded.header("authorization").is_none() {
        return Err(Refusal {
            status: 401,
            kind: "authentication_error",
            message: "neither x-api-key nor authorization is set".into(),
        });
    }
    for name in ["anthropic-version", "content-type"] {
        if recorded.header(name).is_none() {
            return Err(Refusal {
                status: 400,
                kind: "invalid_request_error",
                message: format!("the header {name} is missing"),
            });
        }
    }
    Ok(())
}

/// The events of a reply as text, as far as the script lets them come, and how they end.
fn stream(reply: &Reply, model: &str) -> (Vec<String>, End) {
    let mut events = Vec::new();
    let mut end = End::Whole;
    for step in reply.steps() {
        match step {
            Step::Cut { .. } | Step::Stall => end = end_of(&step),
            Step::Failed if reply.error.as_ref().is_some_and(|e| e.kind == "network") => {
                end = End::Broken;
            }
            step => events.extend(sse::events(reply, &step, model)),
        }
    }
    if let Some((bytes_max, step)) = reply.ending_in_bytes() {
        end = end_of(&step);
        cut(&mut events, bytes_max);
    }
    (events, end)
}

fn end_of(step: &Step) -> End {
    match step {
        Step::Cut { hard: true } => End::Broken,
        Step::Stall => End::Silent,
        _ => End::Whole,
    }
}

/// Keeps so many bytes; a character in the middle goes.
fn cut(events: &mut Vec<String>, bytes_max: usize) {
    let mut left = bytes_max;
    for event in events.iter_mut() {
        event.truncate(event.floor_char_boundary(left));
        left = left.saturating_sub(event.len());
    }
    events.retain(|event| !event.is_empty());
}

fn whole(text: String) -> BoxBody<Bytes, io::Error> {
    Full::new(Bytes::from(text)).map_err(never).boxed()
}
