//! What is recorded is played again, exactly, and nothing else is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use expect_test::{Expect, expect};
use heeler_core::{
    AcceptedAnswer, Block, Message, ModelEvent, Parameters, ProviderItem, RawJson, Reply,
    RequestMessages, Role, StopReason, ToolDefinition, ToolResult, ToolUse, Usage,
};
use proptest::prelude::*;

use super::*;

const KEY: &str = "sk-ant-api03-q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuCiDoq7Zk2Wm9";
/// JSON writes it otherwise.
const PASSWORD: &str = "h0rse \"battery\" Staple";

fn secret_input() -> String {
    serde_json::json!({"token": KEY, "password": PASSWORD}).to_string()
}

type Step = Result<ModelEvent, ProviderError>;

/// Answers with what it was told, one character a piece, calls a tool with it, or fails, as told.
struct Echo;

impl Provider for Echo {
    fn stream(&self, request: ModelRequest) -> EventStream {
        let said = request.messages.last().map(|said| said.message.text()).unwrap_or_default();
        let usage = Usage { input: said.len() as u64, output: 2, ..Usage::default() };
        let mut steps: Vec<Step> = vec![Ok(ModelEvent::Usage(usage))];
        let input = match said.strip_prefix("call ") {
            Some("secretly") => Some(secret_input()),
            input => input.map(str::to_owned),
        };
        let (content, stop) = match &input {
            Some(input) => {
                steps.push(Ok(ModelEvent::ToolUseStarted { block: 0, name: "do".into() }));
                let call = ToolUse {
                    id: "c".into(),
                    name: "do".into(),
                    input: RawJson::parse(input).unwrap(),
                    invalid: None,
                    cache: None,
                };
                (Block::from(call), StopReason::ToolUse)
            }
            None => (Block::text(said.as_str()), StopReason::EndTurn),
        };
        let piece = |c: char| match &content {
            Block::ToolUse(_) => ModelEvent::ToolInputDelta { block: 0, text: c.into() },
            _ => ModelEvent::TextDelta { block: 0, text: c.into() },
        };
        steps.extend(input.as_ref().unwrap_or(&said).chars().map(|c| Ok(piece(c))));
        if said.starts_with("fail") {
            steps.push(Err(ProviderError {
                kind: ProviderErrorKind::Overloaded,
                message: format!("no: {said}"),
                retry_after: Some(Duration::from_millis(1500)),
                status: Some(529),
                provider_type: Some("overloaded_error".into()),
            }));
            return stream::iter(steps).boxed();
        }
        steps.push(Ok(ModelEvent::BlockFinished { block: 0, content: content.clone() }));
        let reply = Reply { blocks: vec![content], stop, usage, provider_id: Some("id".into()) };
        steps.push(Ok(ModelEvent::Finished(reply)));
        stream::iter(steps).boxed()
    }

    fn resume(&self, _: ModelRequest, answer: AcceptedAnswer) -> EventStream {
        self.stream(say(&answer.id))
    }
}

fn request(messages: impl IntoIterator<Item = Message>) -> ModelRequest {
    let messages: RequestMessages = messages.into_iter().collect();
    ModelRequest {
        model: "m".into(),
        system: "Be kind.".into(),
        tools: [].into(),
        provider_tools: [].into(),
        stable: messages.len(),
        messages,
        output_max: 100,
        parameters: Parameters::default(),
        epoch: 1,
    }
}

fn say(text: &str) -> ModelRequest {
    request([Message::user(text)])
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn play(provider: &impl Provider, request: ModelRequest) -> Vec<Step> {
    block_on(provider.stream(request).collect())
}

fn error(provider: &impl Provider, request: ModelRequest) -> String {
    let steps = play(provider, request);
    let [Err(error)] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!(error.kind, ProviderErrorKind::InvalidRequest);
    error.message.clone()
}

/// A folder, and the path of a cassette in it that holds these requests.
fn recorded(requests: impl IntoIterator<Item = ModelRequest>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let cassette = Cassette::record(&path, Echo).unwrap();
    for request in requests {
        assert_eq!(play(&cassette, request.clone()), play(&Echo, request));
    }
    (folder, path)
}

fn conversation() -> [ModelRequest; 3] {
    let asked = Message::user(r#"call {"a":1}"#);
    let call = ToolUse {
        id: "c".into(),
        name: "do".into(),
        input: RawJson::parse(r#"{"a":1}"#).unwrap(),
        invalid: None,
        cache: None,
    };
    let called = Message { role: Role::Assistant, blocks: vec![Block::from(call)] };
    let result = ToolResult {
        tool_use_id: "c".into(),
        content: vec![Block::text("done")],
        is_error: false,
        cache: None,
    };
    let answered = Message { role: Role::User, blocks: vec![Block::from(result)] };
    let tool = ToolDefinition::new("do", "Does", RawJson::empty_object());
    let search = ProviderItem::new("p", RawJson::parse(r#"{"type": "search"}"#).unwrap());
    let with_tool = |request| ModelRequest {
        tools: [tool.clone()].into(),
        provider_tools: [search.clone()].into(),
        ..request
    };
    [
        say("fail once"),
        with_tool(request([asked.clone()])),
        with_tool(request([asked, called, answered])),
    ]
}

#[test]
fn a_file_says_once_what_is_said_with_each_request() {
    let (_folder, path) = recorded(conversation());
    let text = fs::read_to_string(path).unwrap();
    expect![[r#"
        {"cassette":{"version":1,"heeler":"VERSION"}}
        {"system":{"number":1,"text":"Be kind."}}
        {"tools":{"number":1,"tools":[]}}
        {"message":{"number":1,"message":{"role":"user","blocks":[{"text":{"text":"fail once"}}]}}}
        {"exchange":{"number":1,"model":"m","system":1,"tools":1,"messages":[1],"output_max":100,"parameters":{},"events":[{"usage":{"input":9,"output":2,"cache_write":0,"cache_read":0,"reasoning":0}},{"text_delta":{"block":0,"text":"f"}},{"text_delta":{"block":0,"text":"a"}},{"text_delta":{"block":0,"text":"i"}},{"text_delta":{"block":0,"text":"l"}},{"text_delta":{"block":0,"text":" "}},{"text_delta":{"block":0,"text":"o"}},{"text_delta":{"block":0,"text":"n"}},{"text_delta":{"block":0,"text":"c"}},{"text_delta":{"block":0,"text":"e"}}],"end":{"failed":{"kind":"overloaded","message":"no: fail once","retry_after_millis":1500,"status":529,"provider_type":"overloaded_error"}}}}
        {"tools":{"number":2,"tools":[{"name":"do","description":"Does","input_schema":"{}"}]}}
        {"message":{"number":2,"message":{"role":"user","blocks":[{"text":{"text":"call {\"a\":1}"}}]}}}
        {"exchange":{"number":2,"model":"m","system":1,"tools":2,"provider_tools":[{"provider":"p","json":"{\"type\": \"search\"}"}],"messages":[2],"output_max":100,"parameters":{},"events":[{"usage":{"input":12,"output":2,"cache_write":0,"cache_read":0,"reasoning":0}},{"tool_use_started":{"block":0,"name":"do"}},{"tool_input_delta":{"block":0,"text":"{"}},{"tool_input_delta":{"block":0,"text":"\""}},{"tool_input_delta":{"block":0,"text":"a"}},{"tool_input_delta":{"block":0,"text":"\""}},{"tool_input_delta":{"block":0,"text":":"}},{"tool_input_delta":{"block":0,"text":"1"}},{"tool_input_delta":{"block":0,"text":"}"}},{"block_finished":{"block":0,"content":{"tool_use":{"id":"c","name":"do","input":"{\"a\":1}"}}}}],"end":{"finished":{"blocks":[{"tool_use":{"id":"c","name":"do","input":"{\"a\":1}"}}],"stop":"tool_use","usage":{"input":12,"output":2,"cache_write":0,"cache_read":0,"reasoning":0},"provider_id":"id"}}}}
        {"message":{"number":3,"message":{"role":"assistant","blocks":[{"tool_use":{"id":"c","name":"do","input":"{\"a\":1}"}}]}}}
        {"message":{"number":4,"message":{"role":"user","blocks":[{"tool_result":{"tool_use_id":"c","content":[{"text":{"text":"done"}}]}}]}}}
        {"exchange":{"number":3,"model":"m","system":1,"tools":2,"provider_tools":[{"provider":"p","json":"{\"type\": \"search\"}"}],"messages":[2,3,4],"output_max":100,"parameters":{},"events":[{"usage":{"input":0,"output":2,"cache_write":0,"cache_read":0,"reasoning":0}},{"block_finished":{"block":0,"content":{"text":{"text":""}}}}],"end":{"finished":{"blocks":[{"text":{"text":""}}],"stop":"end_turn","usage":{"input":0,"output":2,"cache_write":0,"cache_read":0,"reasoning":0},"provider_id":"id"}}}}
    "#]].assert_eq(&text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn every_event_error_and_attempt_is_played_as_it_was_and_once() {
    let (_folder, path) = recorded(conversation().into_iter().chain(conversation()));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let cassette = Cassette::replay(&path).unwrap();
    for left in [3, 0] {
        for request in conversation() {
            assert_eq!(play(&cassette, request.clone()), play(&Echo, request));
        }
        assert_eq!((cassette.remaining(), cassette.mismatch()), (left, None));
    }
    let told = error(&cassette, conversation()[0].clone());
    let path = path.display();
    assert_eq!(
        told,
        format!(
            "request 7 is recorded as request 1, which was answered; record the cassette `{path}` \
             again if that is meant"
        )
    );
}

proptest! {
    // Each case waits for the disk a few times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_requests_does_not_matter(
        said in prop::collection::vec("[ab ]{0,2}|fail [ab]", 1..8),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 8),
        plays in prop::collection::vec(any::<prop::sample::Index>(), 8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let cassette = Cassette::record(&path, Echo).unwrap();
        // All begin before one ends, and they end in another order.
        let mut open: Vec<_> = said.iter().map(|text| cassette.stream(say(text))).collect();
        for end in &ends {
            if !open.is_empty() {
                let _: Vec<Step> = block_on(open.remove(end.index(open.len())).collect());
            }
        }
        let cassette = Cassette::replay(&path).unwrap();
        let mut left = said.clone();
        for next in &plays {
            if left.is_empty() {
                break;
            }
            let text = left.remove(next.index(left.len()));
            prop_assert_eq!(play(&cassette, say(&text)), play(&Echo, say(&text)));
        }
        prop_assert_eq!(cassette.remaining(), left.len());
    }
}

#[test]
fn another_request_is_told_where_it_differs() {
    let [_, asks, ends] = conversation();
    let check = |request: ModelRequest, expected: Expect| {
        let (_folder, path) = recorded([asks.clone(), ends.clone(), say("hi")]);
        let cassette = Cassette::replay(&path).unwrap();
        play(&cassette, asks.clone());
        let told = error(&cassette, request);
        let end = format!("; record the cassette `{}` again if that is meant", path.display());
        expected.assert_eq(told.strip_suffix(&end).unwrap());
        assert_eq!(cassette.remaining(), 2);
    };
    check(
        say("ho"),
        expect![[
            r#"request 2 is not recorded; it differs from recorded request 3 at messages[0].blocks[0].text.text: expected "hi", found "ho""#
        ]],
    );
    check(
        ModelRequest { system: "Be rude.".into(), ..ends.clone() },
        expect![[
            r#"request 2 is not recorded; it differs from recorded request 2 at system: expected "Be kind.", found "Be rude.""#
        ]],
    );
    check(
        ModelRequest { provider_tools: [].into(), ..ends.clone() },
        expect![[
            r#"request 2 is not recorded; it differs from recorded request 2 at provider_tools[0]: expected {"provider":"p","json":"{\"type\": \"search\"}"}, found nothing"#
        ]],
    );
    check(
        ModelRequest { tools: [].into(), ..ends.clone() },
        expect![[
            r#"request 2 is not recorded; it differs from recorded request 2 at tools[0]: expected {"name":"do","description":"Does","input_schema":"{}"}, found nothing"#
        ]],
    );
    check(
        ModelRequest { output_max: 7, ..ends.clone() },
        expect![
            "request 2 is not recorded; it differs from recorded request 2 at output_max: expected 100, found 7"
        ],
    );
    let warm = Parameters { temperature: Some(0.5), ..Parameters::default() };
    check(
        ModelRequest { parameters: warm, ..ends.clone() },
        expect![
            "request 2 is not recorded; it differs from recorded request 2 at parameters.temperature: expected nothing, found 0.5"
        ],
    );
    check(
        request([Message::user("hi"), Message::assistant("you")]),
        expect![[
            r#"request 2 is not recorded; it differs from recorded request 3 at messages[1]: expected nothing, found {"role":"assistant","blocks":[{"text":{"text":"you"}}]}"#
        ]],
    );
    let (_folder, path) = recorded([]);
    let cassette = Cassette::replay(&path).unwrap();
    assert!(
        error(&cassette, say("hi")).starts_with("request 1 is not recorded, since nothing is;")
    );
    let (_folder, path) = recorded([say("hi")]);
    let cassette = Cassette::replay(&path).unwrap();
    play(&cassette, say("hi"));
    expect![[r#" it differs from recorded request 1 (all that is recorded was played) at messages[0].blocks[0].text.text: expected "hi", found "ho""#]].assert_eq(error(&cassette, say("ho")).split(';').nth(1).unwrap());
    assert!(cassette.mismatch().unwrap().starts_with("request 2 is not recorded"));
}

#[test]
fn no_secret_gets_into_the_file_and_none_is_missed_when_it_is_played() {
    let secrets = || Secrets::of_variables([("DB_PASSWORD", PASSWORD)]);
    let extra = RawJson::from_value(&serde_json::json!({"user": KEY}));
    let with_key = Parameters { extra_body: Some(extra), ..Parameters::default() };
    let requests = [
        say(&format!("the key is {KEY} and the password {PASSWORD}.")),
        say(&format!("fail {KEY}")),
        say("call secretly"),
        // No value holds these, and their texts are read all the same.
        say(&format!(r#"call {{"q":"\ud83d","token":"{KEY}"}}"#)),
        say(&format!(r#"call {{"{KEY}":1e400}}"#)),
        ModelRequest { system: KEY.into(), parameters: with_key, ..say("hi") },
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let cassette = Cassette::record(&path, Echo).unwrap().secrets(secrets());
    for request in requests.clone() {
        // Whoever asks is told everything.
        assert_eq!(play(&cassette, request.clone()), play(&Echo, request));
    }
    let text = fs::read_to_string(&path).unwrap();
    for piece in [KEY, "h0rse", "Staple", "q7Zk2Wm9"] {
        assert!(!text.contains(piece), "{piece} in {text}");
    }
    // Nor one character after the other.
    let letters: String =
        text.split("\"text\":\"").skip(1).filter_map(|rest| rest.chars().next()).collect();
    assert!(!letters.contains("q7Zk") && !letters.contains("h0rse"), "{letters}");
    let cassette = Cassette::replay(&path).unwrap().secrets(secrets());
    let told: Vec<String> =
        requests.into_iter().map(|request| pieces(&play(&cassette, request))).collect();
    expect![[r#"
        the key is [redacted: Anthropic key] and the password [redacted: DB_PASSWORD].
        fail [redacted: Anthropic key]|no: fail [redacted: Anthropic key]
        {"token":"[redacted: Anthropic key]","password":"[redacted: DB_PASSWORD]"}
        {"q":"\ud83d","token":"[redacted: Anthropic key]"}
        {"[redacted: Anthropic key]":1e400}
        h|i"#]]
    .assert_eq(&told.join("\n"));
}

/// The text of a stream, its pieces parted by bars.
fn pieces(steps: &[Step]) -> String {
    let piece = |step: &Step| match step {
        Ok(ModelEvent::TextDelta { text, .. } | ModelEvent::ToolInputDelta { text, .. }) => {
            Some(text.clone())
        }
        Err(error) => Some(error.to_string()),
        _ => None,
    };
    steps.iter().filter_map(piece).collect::<Vec<_>>().join("|")
}

#[test]
fn an_answer_nobody_read_to_its_end_is_played_as_far_as_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let cassette = Cassette::record(&path, Echo).unwrap();
    let mut events = cassette.stream(say("hi"));
    let _ = (block_on(events.next()), block_on(events.next()));
    drop(events);
    let steps = play(&Cassette::replay(&path).unwrap(), say("hi"));
    expect!["h|the answer to request 1 was recorded only to here"].assert_eq(&pieces(&steps));
}

#[test]
fn an_answer_that_was_gone_on_with_is_recorded_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let cassette = Cassette::record(&path, Echo).unwrap();
    let answer = AcceptedAnswer { dialect: "echo".into(), id: "ab".into() };
    let steps: Vec<Step> = block_on(cassette.resume(say("hi"), answer.clone()).collect());
    assert_eq!(pieces(&steps), "a|b");
    let replayed = Cassette::replay(&path).unwrap();
    assert_eq!(play(&replayed, say("hi")), steps);
    let replayed = Cassette::replay(&path).unwrap();
    assert_eq!(block_on(replayed.resume(say("hi"), answer).collect::<Vec<_>>()), steps);
}

#[test]
fn what_cannot_be_recorded_or_played_says_why() {
    let (folder, path) = recorded([say("hi")]);
    let told = |result: Result<Cassette, CassetteError>| {
        let text = result.unwrap_err().to_string();
        text.replace(&*folder.path().to_string_lossy(), "FOLDER")
    };
    expect!["cannot record the cassette `FOLDER/tape.jsonl`: it exists; remove it to record it again, or replay it"].assert_eq(&told(Cassette::record(&path, Echo)));
    expect!["cannot record the cassette `FOLDER/no/tape`: No such file or directory (os error 2)"]
        .assert_eq(&told(Cassette::record(folder.path().join("no/tape"), Echo)));
    expect!["cannot replay the cassette `FOLDER/none`: No such file or directory (os error 2)"]
        .assert_eq(&told(Cassette::replay(folder.path().join("none"))));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let check = |text: &str, expected: Expect| {
        let path = folder.path().join("other.jsonl");
        fs::write(&path, text).unwrap();
        let told = match Cassette::replay(path) {
            Ok(cassette) => format!("{} exchanges", cassette.remaining()),
            error => told(error).split_once("`: ").unwrap().1.to_owned(),
        };
        expected.assert_eq(&told);
    };
    check("", expect!["line 1: it is no cassette, which begins with its version"]);
    check("{\"seq\":1}\n", expect!["line 1: it is no cassette, which begins with its version"]);
    check(lines[1], expect!["line 1: it is no cassette, which begins with its version"]);
    check(
        &text.replacen("\"version\":1", "\"version\":2", 1),
        expect!["line 1: it has version 2, of heeler 0.1.0; this one reads version 1"],
    );
    check(&[lines[0], lines[0]].concat(), expect!["line 2: another cassette begins here"]);
    check(
        &[lines[0], lines[1], lines[1]].concat(),
        expect!["line 3: part 1 stands where 2 should"],
    );
    check(
        &[lines[0], lines[1], lines[2], lines[4]].concat(),
        expect!["line 4: part 1 was not said before"],
    );
    check(
        &text.replacen("\"role\":\"user\"", "\"role\":\"king\"", 1),
        expect!["line 4: unknown variant `king`, expected `user` or `assistant`, at its byte 47"],
    );
    // Its writer died in the middle of the last line.
    check(text.trim_end(), expect!["0 exchanges"]);
    check(&text, expect!["1 exchanges"]);
    let long = folder.path().join("long");
    fs::File::create(&long).unwrap().set_len(CASSETTE_BYTES_MAX + 1).unwrap();
    expect!["cannot replay the cassette `FOLDER/long`: it is longer than 268435456 bytes"]
        .assert_eq(&told(Cassette::replay(long)));
}

/// Says how often it was asked.
struct Counts(std::sync::atomic::AtomicU32);

impl Provider for Counts {
    fn stream(&self, _: ModelRequest) -> EventStream {
        let n = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let text = ModelEvent::TextDelta { block: 0, text: n.to_string() };
        let error = ProviderError::new(ProviderErrorKind::Server, "ended");
        stream::iter([Ok(text), Err(error)]).boxed()
    }
}

#[test]
fn requests_that_ask_the_same_are_answered_as_they_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let cassette = Cassette::record(&path, Counts(0.into())).unwrap();
    let (first, second) = (cassette.stream(say("hi")), cassette.stream(say("hi")));
    for stream in [second, first] {
        let _: Vec<Step> = block_on(stream.collect());
    }
    let cassette = Cassette::replay(&path).unwrap();
    let told = [(); 2].map(|()| pieces(&play(&cassette, say("hi"))));
    assert_eq!(told, ["0|ended", "1|ended"]);
}
