//! The vendors' own libraries as judges: what they make of our streams is what we make of them, and
//! their types take our requests.

use std::io::Write as _;
use std::process::Stdio;

use heeler_core::Reply;
use heeler_providers::IDLE_TIMEOUT_DEFAULT;
use heeler_testkit::player::command;
use heeler_testkit::require;
use serde_json::{Value, json};

use crate::conformance::ask;
use crate::conformance::requests::bodies;
use crate::conformance::scenario::{all, told};
use crate::conformance::speak::{DIALECTS, Dialect};
use crate::server::Server;
use crate::wire::sized as answer;

/// The Python that has the libraries; `.ci/run` makes one.
const PYTHON: &str = "HEELER_TEST_PYTHON";
const ORACLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/conformance/oracle.py");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_vendors_libraries_read_the_same() {
    let Some(python) = python() else { return };
    let (mut servers, mut streams) = (Vec::new(), Vec::new());
    for dialect in DIALECTS {
        let head = "200 OK\r\ncontent-type: text/event-stream";
        let answers =
            all().iter().map(|scenario| answer(head, (dialect.stream)(scenario))).collect();
        let server = Server::start(answers).await;
        streams.push(json!({"dialect": dialect.name, "url": server.url, "n": all().len()}));
        servers.push(server);
    }
    let asked = json!({"streams": streams, "bodies": []});
    let told_by = tokio::task::spawn_blocking(move || consult(&python, &asked)).await.unwrap();
    for (dialect, messages) in DIALECTS.iter().zip(told_by["messages"].as_array().unwrap()) {
        for (scenario, message) in all().iter().zip(messages.as_array().unwrap()) {
            let place = format!("{}: {}", dialect.name, scenario.name);
            assert_eq!(message["failed"], Value::Null, "{place}");
            // Its message is a document of the same dialect: we read it as any other.
            let reply = document(*dialect, message).await;
            assert_eq!(told(&reply), scenario.expected(), "{place}: {message}");
        }
    }
}

#[tokio::test]
async fn the_vendors_types_take_our_requests() {
    let Some(python) = python() else { return };
    let wrong = [("no_such_field", json!(1)), ("model", json!(1)), ("tools", json!([{"a": 1}]))];
    let (mut asked, mut places) = (Vec::new(), Vec::new());
    for (name, dialect, body) in bodies().await {
        asked.push(json!({"dialect": dialect, "body": body}));
        places.push((true, format!("{dialect}: {name}: {body:#}")));
        // They would say so.
        for (field, value) in &wrong {
            let mut body = body.clone();
            body[*field] = value.clone();
            asked.push(json!({"dialect": dialect, "body": body}));
            places.push((false, format!("{dialect}: {name}: {field} {value}")));
        }
    }
    let told = consult(&python, &json!({"streams": [], "bodies": asked}));
    for ((is_right, place), refused) in places.iter().zip(told["refused"].as_array().unwrap()) {
        assert_eq!(refused.is_null(), *is_right, "{place}: {refused:#}");
    }
}

async fn document(dialect: Dialect, message: &Value) -> Reply {
    let server = Server::start(vec![answer("200 OK", message.to_string())]).await;
    match ask(&(dialect.provider)(&server.url, IDLE_TIMEOUT_DEFAULT)).await {
        Ok(reply) => reply,
        Err(error) => panic!("{}: {error}: {message}", dialect.name),
    }
}

/// A Python that has the libraries, if there is one.
fn python() -> Option<String> {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".to_owned());
    let imports = ["-c", "import anthropic, openai"];
    let tried = command(&python).args(imports).stderr(Stdio::null()).status();
    let is_there = tried.is_ok_and(|status| status.success());
    require("the Python packages anthropic and openai", is_there).then_some(python)
}

fn consult(python: &str, asked: &Value) -> Value {
    let mut oracle = command(python)
        .arg(ORACLE)
        // What a machine has set would win over what is asked here.
        .env_remove("HTTP_PROXY")
        .env_remove("HTTPS_PROXY")
        .env_remove("ALL_PROXY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    oracle.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = oracle.wait_with_output().unwrap();
    assert!(output.status.success(), "the oracle failed");
    serde_json::from_slice(&output.stdout).unwrap()
}
