//! `kill -9` while the provider writes an answer by itself: the answer is read there, not paid for
//! twice.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::processes::wait_until_gone;
use crate::running::Heeler;
use crate::support::World;

const BEGUN: &str = concat!(
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\"}}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"All \"}\n\n",
);
const ENDED: &str = concat!(
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"seen.\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",",
    "\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"All seen.\"}]}],",
    "\"usage\":{\"input_tokens\":100,\"output_tokens\":9}}}\n\n",
);

#[test]
fn an_answer_is_read_where_it_is_and_not_asked_for_again() {
    let world = World::new();
    let server = Server::start();
    let mut running = at(&server, world.heeler(&["exec", MODEL, "--json", "look"])).start();
    running.wait_for("text_delta");
    running.kill();
    wait_until_gone(&world);
    let written = world.journal_lines();
    assert!(written.last().unwrap().contains("model_accepted"), "{written:?}");

    let output = at(&server, world.heeler(&["exec", "--continue", "--json"])).run().exits(0);
    assert_eq!(output.terminal()["answer"], "All seen.");
    let usage = output.terminal()["usage"].clone();
    assert_eq!((&usage["input"], &usage["output"]), (&100.into(), &9.into()));
    let asked = server.asked();
    let [posted, told] = &asked[..] else { panic!("{asked:?}") };
    assert!(posted.starts_with("POST /v1/responses HTTP"), "{posted}");
    assert!(posted.contains(r#""background":true,"store":true,"stream":true"#), "{posted}");
    let address =
        "GET /v1/responses/resp_1?stream=true&include%5B%5D=reasoning.encrypted_content HTTP";
    assert!(told.starts_with(address), "{told}");
    assert!(told.contains("authorization: Bearer test-key"), "{told}");
}

const MODEL: &str = "--model=openai/gpt-test";

fn at(server: &Server, heeler: Heeler) -> Heeler {
    let heeler = heeler.env("OPENAI_API_KEY", "test-key").env("OPENAI_BACKGROUND", "1");
    heeler.env("OPENAI_BASE_URL", &server.url)
}

/// Begins an answer to what is posted and then says no more, and tells the whole of it to whoever
/// asks for that.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        std::thread::spawn({
            let asked = Arc::clone(&asked);
            move || {
                for stream in listener.incoming() {
                    let asked = Arc::clone(&asked);
                    std::thread::spawn(move || serve(stream.unwrap(), &asked));
                }
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream) else { return };
    let is_new = request.starts_with("POST");
    asked.lock().unwrap().push(request);
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let rest = if is_new { "" } else { ENDED };
    stream.write_all([head, BEGUN, rest].concat().as_bytes()).unwrap();
    if is_new {
        // Nothing more until the client is gone.
        while !matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)) {}
    }
}

/// Reads one request by its content-length; `None` at the end of the connection.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            n => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}
