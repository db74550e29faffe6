//! Servers on this machine: what they have is listed, and their models' windows count.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use expect_test::expect;

use crate::support::World;

const MODELS: &str =
    r#"{"object":"list","data":[{"id":"qwen","object":"model","max_model_len":40960}]}"#;
const ANSWER: &str = r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;

/// A server of vLLM's kind, as long as its test runs: its address.
pub(crate) fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || serve(stream.unwrap()));
        }
    });
    url
}

/// Answers one request: a list of models to whoever wants one, else an answer.
fn serve(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let body = if head.starts_with("GET /v1/models ") { MODELS } else { ANSWER };
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                return stream.write_all(answer.as_bytes()).unwrap();
            }
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(n) => request.extend_from_slice(&bytes[..n]),
        }
    }
}

#[test]
fn what_a_server_has_is_listed_and_a_silent_one_says_why() {
    let world = World::new();
    let url = server();
    let heeler = world.heeler(&["models"]).env("VLLM_BASE_URL", &url);
    // Nothing listens there, whatever else this machine runs.
    let closed = "http://127.0.0.1:1/v1";
    let heeler = ["OLLAMA_BASE_URL", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL"]
        .iter()
        .fold(heeler, |heeler, name| heeler.env(name, closed));
    let text = heeler.run().exits(0).stdout;
    let lines: Vec<_> = text.lines().skip_while(|line| !line.starts_with("llama.cpp")).collect();
    expect![[r#"
        llama.cpp: it needs no key
          llama.cpp at http://127.0.0.1:1/v1 does not run, or is somewhere else. Start it, or set LLAMACPP_BASE_URL

        LM Studio: it needs no key
          LM Studio at http://127.0.0.1:1/v1 does not run, or is somewhere else. Start it, or set LMSTUDIO_BASE_URL

        Ollama: it needs no key
          Ollama at http://127.0.0.1:1/v1 does not run, or is somewhere else. Start it, or set OLLAMA_BASE_URL

        vLLM: it needs no key
          vllm/qwen                                         40k      ?  ?
    "#]].assert_eq(&lines[..12].join("\n"));
}

#[test]
fn a_models_window_is_what_its_server_says() {
    let world = World::new();
    let heeler = world.heeler(&["exec", "--model", "vllm/qwen", "go"]);
    let output = heeler.env("VLLM_BASE_URL", server()).run().exits(0);
    assert_eq!(output.stdout, "Hi.\n");
    let journal = world.journal_lines().join("\n");
    assert!(journal.contains(r#""window":40960"#), "{journal}");

    // What the settings say wins, and nobody is asked.
    let world = World::new();
    world.write("home/settings.toml", "[models.\"vllm/qwen\"]\nwindow = 20000\n");
    let heeler = world.heeler(&["exec", "--model", "vllm/qwen", "go"]);
    heeler.env("VLLM_BASE_URL", server()).run().exits(0);
    let journal = world.journal_lines().join("\n");
    assert!(journal.contains(r#""window":20000"#), "{journal}");
}
