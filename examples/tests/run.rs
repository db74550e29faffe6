//! Every example, as a process, with a script in place of a model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "the examples are started as their users start them"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use expect_test::{Expect, expect};

/// An example whose model plays `scripts/NAME.toml`, in a folder of its own.
struct Example {
    command: Command,
    folder: tempfile::TempDir,
}

impl Example {
    fn new(program: &str, script: &str) -> Self {
        let programs = Path::new(env!("CARGO_BIN_EXE_ask")).parent().unwrap();
        let script =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("scripts/{script}.toml"));
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(programs.join(program));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HEELER_MODEL", format!("script:{}", script.display()));
        command.current_dir(folder.path()).stdin(Stdio::null());
        Self { command, folder }
    }

    fn of(program: &str) -> Self {
        Self::new(program, &program.replace('-', "_"))
    }

    fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Runs to its end with this input; compares how it ended and what it said.
    fn says(mut self, input: &str, expected: Expect) -> tempfile::TempDir {
        let command =
            self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that reads nothing may be gone by now.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.replace(self.folder.path().to_str().unwrap(), "FOLDER")
        };
        let code = output.status.code().map_or("by a signal".to_owned(), |code| code.to_string());
        let errors = match text(&output.stderr) {
            errors if errors.is_empty() => errors,
            errors => format!("--- errors\n{errors}"),
        };
        expected.assert_eq(&format!("exit {code}\n{}{errors}", text(&output.stdout)));
        self.folder
    }

    /// Starts a server and returns its address, once it says so.
    fn serve(mut self) -> Server {
        let command = self.command.env("ADDRESS", "127.0.0.1:0").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("listening on ").trim_start_matches("http://");
        Server { address: address.to_owned(), child, output, _folder: self.folder }
    }
}

struct Server {
    address: String,
    child: Child,
    output: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Server {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends a request and gives the answer's status line and body.
    fn http(&self, request: &str, token: &str, body: &str) -> String {
        let mut socket = self.connect();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer \
             {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.lines().next().unwrap();
        // Of a body in chunks, what the chunks hold.
        let body: String = match head.contains("transfer-encoding: chunked") {
            true => body.split("\r\n").skip(1).step_by(2).collect(),
            false => body.to_owned(),
        };
        format!("{status}\n{}\n", body.trim_end())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ask() {
    Example::of("ask").args(&["Why is the sky blue?"]).says(
        "",
        expect![[r#"
        exit 0
        Air scatters blue light more than red.
    "#]],
    );
    let mut without_key = Example::of("ask");
    without_key.command.env_remove("HEELER_MODEL");
    without_key.says(
        "",
        expect![[r#"
        exit 1
        --- errors
        Error: there is no key for Anthropic. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)
    "#]],
    );
}

#[test]
fn the_smallest_program_has_ten_lines() {
    let program = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ask.rs")).unwrap();
    assert!(program.lines().filter(|line| !line.trim().is_empty()).count() <= 10);
}

#[test]
fn stream() {
    Example::of("stream").says(
        "",
        expect![[r#"
        exit 0
        Once upon
        [once more]
        Once upon a time there was a river. The end.
        [24 tokens in, 13 out]
    "#]],
    );
}

#[test]
fn tool_loop() {
    Example::of("tool-loop").says(
        "",
        expect![[r#"
            exit 0
            User: How many letters has `Donaudampfschifffahrt`?
            > count_letters {"text":"Donaudampfschifffahrt"}
            < 21
            Assistant: It has 21 letters.
            2 model calls
        "#]],
    );
}

#[test]
fn agent() {
    Example::of("agent").says(
        "",
        expect![[r#"
        exit 0
        > weather {"name":"Oslo"}
        > weather {"name":"Osloo"}
        < {"sky":"rain","celsius":7}
        < no station in Osloo
        Yes: it rains in Oslo.
    "#]],
    );
}

#[test]
fn extract() {
    Example::of("extract").says(
        "Acme\n1 rope 12.50\nTotal 12.50",
        expect![[r#"
        exit 0
        Acme wants 12.50
        - Rope: 12.50
    "#]],
    );
}

#[test]
fn repo_explainer() {
    let example = Example::of("repo-explainer").args(&["repo"]).file("outside.txt", "secret");
    fs::create_dir(example.folder.path().join("repo")).unwrap();
    let folder = example.file("repo/README.md", "# A kettle\n").says(
        "",
        expect![[r#"
        exit 0
        It is a kettle. Begin with README.md.
        --- errors
        Glob: **/*
        Read: README.md
        1904 tokens, $0.0000
    "#]],
    );
    assert!(!folder.path().join("repo/new.txt").exists());
}

#[test]
fn router() {
    let question = "My invoice is wrong and the app crashes.";
    Example::of("router").args(&[question]).says(
        "",
        expect![[r#"
        exit 0
        You get a new invoice, and 2.1 does not crash.
    "#]],
    );
}

#[test]
fn chat_goes_on_in_another_process() {
    let first = Example::of("chat").args(&["kept", "ada"]);
    let folder = first.says(
        "I am Ada.\n",
        expect![[r#"
        exit 0
        0 messages so far
        Nice to meet you, Ada.
        --- errors
          #1 turn_start
          #2 model_request
          #3 model_response
          #4 turn_end 26 tokens
    "#]],
    );
    let mut again = Example::new("chat", "chat_again").args(&["kept", "ada"]);
    again.command.current_dir(folder.path());
    again.says(
        "Who am I?\n",
        expect![[r#"
        exit 0
        2 messages so far
        You are Ada.
        --- errors
          #5 turn_start
          #6 model_request
          #7 model_response
          #8 turn_end 44 tokens
    "#]],
    );
}

#[test]
fn pipeline() {
    Example::of("pipeline")
        .file("a.txt", "All about otters.")
        .file("b.txt", "All about herons.")
        .args(&["a.txt", "missing.txt", "b.txt"])
        .says(
            "",
            expect![[r#"
            exit 0
            Both live by the water.
            --- errors
            missing.txt: No such file or directory (os error 2)
        "#]],
        );
}

#[test]
fn own_provider() {
    Example::of("own-provider").args(&["Hello there, who is it?"]).says(
        "",
        expect![[r#"
        exit 0
        Hello there, who is it? (10 tokens)
    "#]],
    );
    Example::of("own-provider").args(&[&"word ".repeat(101)]).says(
        "",
        expect![[r#"
            exit 1
            --- errors
            Error: that is too long (model call 0)
        "#]],
    );
}

#[test]
fn own_tool() {
    Example::of("own-tool").says(
        "",
        expect![[r#"
        exit 0
        3 pixels ["drawing 3 values"], images: 1
        ? plot {"values":[0,64,128,192,255]}
        1 model call, 3 messages
    "#]],
    );
}

#[test]
fn replay() {
    let folder = Example::of("replay").args(&["sky.jsonl"]).says(
        "",
        expect![[r#"
        exit 0
        recording
        Air scatters blue light more than red.
    "#]],
    );
    for (question, expected) in [
        (
            "Why is the sky blue?",
            expect![[r#"
        exit 0
        Air scatters blue light more than red.
    "#]],
        ),
        (
            "Why?",
            expect![[r#"
        exit 1
        --- errors
        Error: request 1 is not recorded; it differs from recorded request 1 at messages[0].blocks[0].text.text: expected "Why is the sky blue?", found "Why?"; record the cassette `sky.jsonl` again if that is meant (model call 0)
    "#]],
        ),
    ] {
        let mut again = Example::of("replay").args(&["sky.jsonl", question]);
        again.command.env_remove("HEELER_MODEL").current_dir(folder.path());
        again.says("", expected);
    }
}

#[test]
fn commit_message() {
    let diff = "--- a/sums.rs\n+++ b/sums.rs\n+fn total() {}\n";
    Example::of("commit-message").says(
        diff,
        expect![[r#"
        exit 0
        sums: add total

        Callers summed by hand.
    "#]],
    );
    Example::of("commit-message").says(
        "",
        expect![[r#"
        exit 1
        --- errors
        Error: nothing is staged; `git add` something first
    "#]],
    );
}

#[test]
fn csv_questions() {
    let table = "seller,euros\nAnn,10.5\nBo,25\nAnn,20\nBo,20\n";
    Example::of("csv-questions")
        .file("sales.csv", table)
        .args(&["sales.csv", "Who sold most?"])
        .says(
            "",
            expect![[r#"
            exit 0
            Bo sold most: 45 euros in 2 sales.
        "#]],
        );
    Example::of("csv-questions").args(&["none.csv", "?"]).says(
        "",
        expect![[r#"
        exit 1
        --- errors
        Error: none.csv

        Caused by:
            No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn web() {
    let mut example = Example::of("web");
    example.command.env("TOKEN", "t0");
    let mut server = example.serve();
    let said = r#"{"text": "Hello!"}"#;
    let mut seen = server.http("GET /healthz", "", "");
    seen += &server.http("POST /chat/ada", "wrong", said);
    seen += &server.http("POST /chat/ada", "t0", said);
    seen += &server.http("POST /chat/bo", "t0", said);
    seen += &server.http("POST /chat/ada", "t0", said);
    seen += &server.http("POST /chat/%2e%2e%2fx", "t0", said);
    seen += &server.http("POST /chat/ada", "t0", &"x".repeat(70_000));
    // An idle connection does not keep it alive, and it says goodbye.
    Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
    let mut last = String::new();
    server.output.read_to_string(&mut last).unwrap();
    seen += &format!("{last}exit {:?}\n", server.child.wait().unwrap().code());
    expect![[r#"
        HTTP/1.1 200 OK
        ok
        HTTP/1.1 401 Unauthorized

        HTTP/1.1 200 OK
        event: text
        data: "Hello "

        event: text
        data: "there."

        event: done
        data: ""
        HTTP/1.1 200 OK
        event: text
        data: "Hello "

        event: text
        data: "there."

        event: done
        data: ""
        HTTP/1.1 200 OK
        event: text
        data: "As I said: hello."

        event: done
        data: ""
        HTTP/1.1 400 Bad Request
        `../x` is no session id; use letters, digits, `-`, `_` and `.`, 1 to 128 of them, the first no dot
        HTTP/1.1 413 Payload Too Large
        Failed to buffer the request body: length limit exceeded
        ending
        exit Some(0)
    "#]].assert_eq(&seen);
}

#[test]
fn chat_server() {
    let server = Example::of("chat-server").serve();
    let talk = |text: &str| {
        let mut socket = server.connect();
        socket.write_all(text.as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let seen = [talk("ada\nHello!\n"), talk("bo\n\nHello!\n"), talk("ada\nHello again!\n")];
    expect![[r#"
        Who are you?
        Welcome, ada.
        Hello there.
        Who are you?
        Welcome, bo.
        Hello there.
        Who are you?
        Welcome back, ada: 2 messages.
        As I said: hello.
    "#]]
    .assert_eq(&seen.concat());
    assert_eq!(talk(&"x".repeat(9000)), "Who are you?\n");
}
