//! Against servers that speak each format, and ones that do not.

use std::net::TcpListener;
use std::sync::Mutex;

use expect_test::{Expect, expect};
use heeler_core::{Clock, Timestamp, Tool as _};

use super::*;
use crate::testing::Folder;
use crate::web::Allowed;
use crate::web::testing::{answer, server};

const KEY: &str = "tvly-0123456789";

/// A clock on which nothing is ever late.
struct Patient;

impl Clock for Patient {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<()> {
        Box::pin(std::future::pending())
    }
}

fn patient() -> ToolContext {
    ToolContext { clock: Arc::new(Patient), ..Folder::new(&[]).context() }
}

/// A backend by its name at a server of a test, which may be reached.
fn backend(name: &str, host: &str) -> Arc<dyn SearchBackend> {
    let base_url = format!("http://{host}/api");
    match name {
        "searxng" => Arc::new(Searxng::new(&format!("http://{host}/find/")).unwrap()),
        "brave" => Arc::new(Brave::with_base_url(&base_url, KEY).unwrap()),
        _ => Arc::new(Tavily::with_base_url(&base_url, KEY).unwrap()),
    }
}

async fn searched(
    backend: Arc<dyn SearchBackend>,
    context: ToolContext,
    input: WebSearchInput,
) -> ToolOutput {
    let called = TypedTool::call(Arc::new(WebSearch::new(backend)), context, input).await;
    called.unwrap_or_else(|error| ToolOutput::error(error.to_string()))
}

fn input(json: &str) -> WebSearchInput {
    serde_json::from_str(json).unwrap()
}

/// What is asked and told when a backend's server answers this.
async fn check(name: &str, asks: &str, status: &str, body: &str, expected: Expect) {
    let served = server(&[&answer(status, body)]);
    let output = searched(backend(name, &served.host), patient(), input(asks)).await;
    let asked = served.asked();
    let said = output.text_content().replace(&served.host, "HOST");
    assert!(!said.contains(KEY), "{said}");
    let failed = if output.is_error { "error: " } else { "" };
    let agent = format!("user-agent: heeler/{}\n", env!("CARGO_PKG_VERSION"));
    expected.assert_eq(&format!("{}\n---\n{failed}{said}", asked.replace(&agent, "").trim_end()));
}

/// The same, without what was asked.
async fn check_told(name: &str, status: &str, body: &str, expected: Expect) {
    let served = server(&[&answer(status, body)]);
    let asks = input(r#"{"query": "rust"}"#);
    let output = searched(backend(name, &served.host), patient(), asks).await;
    let said = output.text_content();
    assert!(!said.contains(KEY), "{said}");
    expected.assert_eq(&format!("{}{said}", if output.is_error { "error: " } else { "" }));
}

const SEARXNG: &str = r#"{"query": "rust", "number_of_results": 0, "results": [
    {"url": "https://a.example/1", "title": "One", "content": "The first\n of many", "engine": "x",
     "publishedDate": "2026-01-02T03:04:05", "score": 3.2},
    {"url": "https://b.example/2", "title": "Two", "content": "", "publishedDate": null},
    {"url": "https://a.example/1", "title": "One again", "content": "x"},
    {"url": "javascript:alert(1)", "title": "Three"},
    {"url": "https://me:secret@c.example/", "title": "Four"},
    {"title": "Five"}, 6], "answers": [], "suggestions": [], "unresponsive_engines": []}"#;

#[tokio::test]
async fn searxng_is_asked_in_its_format() {
    check(
        "searxng",
        r#"{"query": "rust & c++"}"#,
        "200 OK",
        SEARXNG,
        expect![[r#"
            GET /find/search?q=rust+%26+c%2B%2B&format=json&pageno=1 HTTP/1.1
            host: HOST
            accept: application/json
            ---
            SearXNG, page 1:

            1. One
            https://a.example/1
            2026-01-02: The first of many

            2. Two
            https://b.example/2

            [more on page 2]"#]],
    )
    .await;
    check(
        "searxng",
        r#"{"query": "rust", "page": 2, "count": 1, "blocked_domains": ["b.example"]}"#,
        "200 OK",
        SEARXNG,
        expect![[r#"
            GET /find/search?q=rust+-site%3Ab.example&format=json&pageno=2 HTTP/1.1
            host: HOST
            accept: application/json
            ---
            SearXNG, page 2:

            1. One
            https://a.example/1
            2026-01-02: The first of many

            [1 of other domains left out; more on page 3]"#]],
    )
    .await;
}

#[tokio::test]
async fn brave_is_asked_in_its_format() {
    let body = r#"{"type": "search", "query": {"original": "rust", "more_results_available": true},
        "web": {"type": "search", "results": [
            {"title": "Rust &amp; more", "url": "https://a.example/1", "page_age": "2026-01-02T00:00:00",
             "description": "A <strong>language</strong>", "age": "January 2, 2026"},
            {"title": "", "url": "https://b.example", "description": "Vec&lt;u8&gt;", "age": "3 days ago"}]}}"#;
    check(
        "brave",
        r#"{"query": "rust", "count": 2, "page": 3, "allowed_domains": ["a.example", "*.b.example"]}"#,
        "200 OK",
        body,
        expect![[r#"
            GET /api/web/search?q=rust+site%3Aa.example+OR+site%3Ab.example&count=2&offset=2&result_filter=web&text_decorations=false HTTP/1.1
            host: HOST
            accept: application/json
            x-subscription-token: tvly-0123456789
            ---
            Brave Search, page 3:

            1. Rust & more
            https://a.example/1
            2026-01-02: A language

            2. (no title)
            https://b.example/
            3 days ago: Vec<u8>

            [more on page 4]"#]],
    )
    .await;
}

#[tokio::test]
async fn tavily_is_asked_in_its_format() {
    let body = r#"{"query": "rust", "answer": null, "images": [], "results": [
        {"title": "One", "url": "https://a.example/1", "content": "x", "score": 0.9, "raw_content": null},
        {"title": "Two", "url": "https://a.example/2", "content": "Vec<u8>", "score": 0.8},
        {"title": "Three", "url": "https://c.example/3", "content": "z", "score": 0.7}],
        "response_time": 1.2}"#;
    check(
        "tavily",
        r#"{"query": "rust", "count": 1, "page": 2, "allowed_domains": ["a.example"],
            "blocked_domains": ["C.example."]}"#,
        "200 OK",
        body,
        expect![[r#"
            POST /api/search HTTP/1.1
            host: HOST
            content-length: 96
            accept: application/json
            content-type: application/json
            authorization: Bearer tvly-0123456789

            {"query":"rust","max_results":2,"include_domains":["a.example"],"exclude_domains":["c.example"]}
            ---
            Tavily, page 2:

            1. Two
            https://a.example/2
            Vec<u8>

            [1 of other domains left out; more on page 3]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_word_that_is_no_key_stays_in_what_is_told() {
    let said = r#"{"error": {"code": "VALIDATION", "detail": "none of the languages is known"}}"#;
    let served = server(&[&answer("422 Unprocessable Entity", said)]);
    let brave = Brave::with_base_url(&format!("http://{}/api", served.host), "none").unwrap();
    let output = searched(Arc::new(brave), patient(), input(r#"{"query": "rust"}"#)).await;
    expect!["Brave Search (127.0.0.1) answered 422, `none of the languages is known`. Ask in other words, or tell the user"]
        .assert_eq(&output.text_content());
}

#[tokio::test]
async fn a_refusal_names_the_server_the_status_and_the_next_step() {
    let wrong = r#"{"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID",
        "detail": "The provided subscription token tvly-0123456789 is invalid.", "status": 422}}"#;
    check_told("brave", "422 Unprocessable Entity", wrong, expect!["error: Brave Search (127.0.0.1) answered 422, `The provided subscription token [key] is invalid.`. Its key is not accepted: tell the user to set BRAVE_SEARCH_API_KEY, or to run `heeler login brave`"]).await;
    let request =
        r#"{"error": {"code": "VALIDATION", "detail": "Unable to validate request parameter(s)"}}"#;
    check_told("brave", "422 Unprocessable Entity", request, expect!["error: Brave Search (127.0.0.1) answered 422, `Unable to validate request parameter(s)`. Ask in other words, or tell the user"]).await;
    let limited = r#"{"error": {"code": "RATE_LIMITED", "detail": "Request rate limit exceeded"}}"#;
    let second = "429 Too Many Requests\r\nretry-after: 1\r\nx-ratelimit-remaining: 0, 1999";
    check_told("brave", second, limited, expect!["error: Brave Search (127.0.0.1) answered 429, `Request rate limit exceeded`. These were too many searches: wait as it says, `retry-after: 1`"]).await;
    let month = "429 Too Many Requests\r\nx-ratelimit-remaining: 0, 0";
    check_told("brave", month, limited, expect!["error: Brave Search (127.0.0.1) answered 429, `Request rate limit exceeded`. The plan of its key is used up: tell the user, and go on without searching"]).await;
    let unknown = r#"{"detail": {"error": "Unauthorized: missing or invalid API key."}}"#;
    check_told("tavily", "401 Unauthorized", unknown, expect!["error: Tavily (127.0.0.1) answered 401, `Unauthorized: missing or invalid API key.`. Its key is not accepted: tell the user to set TAVILY_API_KEY, or to run `heeler login tavily`"]).await;
    let used_up = r#"{"detail": {"error": "This request exceeds your plan's set usage limit."}}"#;
    check_told("tavily", "432 Limit", used_up, expect!["error: Tavily (127.0.0.1) answered 432, `This request exceeds your plan's set usage limit.`. The plan of its key is used up: tell the user, and go on without searching"]).await;
    check_told(
        "tavily",
        "500 Internal Server Error",
        "<html>",
        expect!["error: Tavily (127.0.0.1) answered 500. Try once more, then tell the user"],
    )
    .await;
    check_told("searxng", "403 Forbidden", "<html>", expect!["error: SearXNG (127.0.0.1) answered 403. The instance gives no JSON: tell the user to add `json` to `search.formats` of its settings.yml"]).await;
    check_told("searxng", "404 Not Found", "", expect!["error: SearXNG (127.0.0.1) answered 404. There is no SearXNG at this address: tell the user to correct it"]).await;
    check_told("searxng", "429 Too Many Requests", "", expect!["error: SearXNG (127.0.0.1) answered 429. These were too many searches: wait a few seconds"]).await;
    check_told("searxng", "401 Unauthorized", "", expect!["error: SearXNG (127.0.0.1) answered 401. The instance asks who you are: tell the user to put that in its address"]).await;
    check_told("searxng", "301 Moved\r\nlocation: https://b.example/", "", expect!["error: SearXNG (127.0.0.1) answered 301. It leads to `https://b.example/`; tell the user to set that address, if it is right"]).await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_told() {
    check_told("searxng", "200 OK", "<html>a page</html>", expect!["error: SearXNG (127.0.0.1) answered with something else than JSON; tell the user to look at its address"]).await;
    check_told("searxng", "200 OK", "[]", expect!["error: SearXNG (127.0.0.1) answered with something else than JSON; tell the user to look at its address"]).await;
    check_told(
        "searxng",
        "200 OK",
        r#"{"results": "none"}"#,
        expect!["error: SearXNG (127.0.0.1) answered without a list of results; tell the user to look at its address"],
    )
    .await;
    let silent = r#"{"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["x"], 3]}"#;
    check_told(
        "searxng",
        "200 OK",
        silent,
        expect![[r#"
        SearXNG, page 1: nothing found.

        [Did not answer: google (CAPTCHA), x]"#]],
    )
    .await;
    check_told(
        "brave",
        "200 OK",
        r#"{"type": "search", "query": {}}"#,
        expect!["Brave Search, page 1: nothing found."],
    )
    .await;
    check_told("tavily", "200 OK\r\ncontent-length: 900", "{", expect!["error: Tavily (127.0.0.1) cannot be reached: end of file before message length reached. Try once more, then tell the user to look at the network"]).await;
    check_told("tavily", "200 OK", &format!("{{\"a\": \"{}\"}}", "a".repeat(2 << 20)), expect!["error: Tavily (127.0.0.1) answered with more than 2097152 bytes; ask for something narrower"])
        .await;
    // Nobody is there.
    let host = {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        gone.local_addr().unwrap().to_string()
    };
    let asks = input(r#"{"query": "rust"}"#);
    let said = searched(backend("searxng", &host), patient(), asks).await.text_content();
    assert!(said.starts_with("SearXNG (127.0.0.1) cannot be reached: "), "{said}");
    assert!(said.ends_with(". Try once more, then tell the user to look at the network"), "{said}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let asks = || input(r#"{"query": "rust"}"#);
    let served = server(&[b""]);
    // This folder's clock says of every wait that it is over.
    let late = searched(backend("brave", &served.host), Folder::new(&[]).context(), asks()).await;
    assert_eq!(
        late.text_content(),
        "Brave Search (127.0.0.1) did not answer within 20 seconds. Try once more, then tell the user"
    );
    let served = server(&[b""]);
    let (context, backend) = (patient(), backend("brave", &served.host));
    let cancel = context.cancel.clone();
    let call = tokio::spawn(searched(backend, context, asks()));
    tokio::task::spawn_blocking(move || served.asked()).await.unwrap();
    cancel.cancel();
    let said = call.await.unwrap().text_content();
    assert_eq!(said, "cancelled before the search was answered");
}

#[tokio::test]
async fn only_the_users_own_instance_may_be_near() {
    let served = server(&[]);
    let here = format!("http://{}/", served.host);
    for near in [here.as_str(), "http://localhost:1/", "http://2130706433:1/"] {
        let near = Brave::at(&Url::parse(near).unwrap(), Allowed::default(), KEY).unwrap();
        let said = searched(Arc::new(near), patient(), input(r#"{"query": "rust"}"#)).await;
        let said = said.text_content();
        assert!(said.contains("may not be connected to. Searches go to the public"), "{said}");
    }
}

#[test]
fn an_instance_is_named_by_a_web_address() {
    let check = |address: &str, expected: &str| match Searxng::new(address) {
        Ok(searxng) => assert_eq!(searxng.address.as_str(), expected),
        Err(why) => assert_eq!(why, expected),
    };
    check("http://localhost:8888", "http://localhost:8888/search");
    check(
        " https://s.example/find/search/?language=de#x ",
        "https://s.example/find/search?language=de",
    );
    check("http://me:p@[::1]/", "http://me:p@[::1]/search");
    for wrong in ["", "localhost:8888", "ftp://a/", "http://", "/search"] {
        check(wrong, "SearXNG needs an address with http or https and a host");
    }
    assert_eq!(Searxng::new("http://[::1]:1/").unwrap().host(), "::1");
    let brave = |base_url: &str| match Brave::with_base_url(base_url, KEY) {
        Ok(brave) => brave.address.to_string(),
        Err(why) => why,
    };
    assert_eq!(brave("https://s.example/v1/"), "https://s.example/v1/web/search");
    assert_eq!(brave("https://s.example/web/search"), "https://s.example/web/search");
    assert_eq!(
        brave("me:secret@here"),
        "Brave Search needs an address with http or https and a host"
    );
    let tavily = Tavily::with_base_url("ftp://a/", KEY).err();
    assert_eq!(tavily.unwrap(), "Tavily needs an address with http or https and a host");
    assert!(Brave::new("").is_err() && Tavily::new("a\nb").is_err() && Brave::new(KEY).is_ok());
}

/// Gives a page, and keeps what was asked.
#[derive(Default)]
struct Scripted {
    page: SearchPage,
    asked: Mutex<Vec<SearchRequest>>,
}

impl SearchBackend for Scripted {
    fn title(&self) -> &str {
        "Scripted"
    }

    fn host(&self) -> &str {
        "search.example"
    }

    fn search(&self, request: SearchRequest) -> BoxFuture<Result<SearchPage, ToolError>> {
        self.asked.lock().unwrap().push(request);
        Box::pin(std::future::ready(Ok(self.page.clone())))
    }
}

#[tokio::test]
async fn whatever_a_backend_gives_is_bounded() {
    let hit = |n: usize| SearchHit {
        title: format!("{n} {}", "t\n".repeat(1_000)),
        url: format!("https://a.example/{n}"),
        snippet: format!("{n}{}", "\u{1F600}".repeat(10_000)),
        published: "x".repeat(1_000),
    };
    let mut hits: Vec<SearchHit> = (0..1_000).map(hit).collect();
    hits[1].url = format!("https://a.example/{}", "a".repeat(URL_BYTES_MAX));
    let page = SearchPage { hits, has_more: true, note: "n".repeat(10_000) };
    let backend = Arc::new(Scripted { page, ..Scripted::default() });
    let asks = input(r#"{"query": "a\u0000\n b", "count": 20}"#);
    let output = searched(Arc::clone(&backend) as _, patient(), asks).await;
    let structured: WebSearchOutput =
        serde_json::from_str(output.structured.as_ref().unwrap().get()).unwrap();
    assert_eq!(structured.results.len(), SEARCH_RESULTS_MAX);
    assert!(structured.results.iter().all(|result| result.title.len() <= TITLE_BYTES_MAX
        && result.snippet.len() <= SNIPPET_BYTES_MAX
        && result.published.len() <= DATE_BYTES_MAX));
    let most = TITLE_BYTES_MAX + URL_BYTES_MAX + SNIPPET_BYTES_MAX + DATE_BYTES_MAX + 20;
    let text = output.text_content();
    assert!(text.len() <= SEARCH_RESULTS_MAX * most + NOTE_BYTES_MAX + 200, "{}", text.len());
    assert!(text.contains("[979 more on this page, for a higher count; more on page 2; nnn"));
    assert_eq!(backend.asked.lock().unwrap()[0].query, "a b");
}

#[tokio::test]
async fn an_input_that_cannot_be_meant_says_what_is_wrong() {
    let many = format!(r#"{{"query": "a", "allowed_domains": [{}"a.b"]}}"#, "\"a.b\",".repeat(20));
    let long = format!(r#"{{"query": "{}"}}"#, "\u{e9}".repeat(QUERY_CHARS_MAX + 1));
    let mut said = String::new();
    for asks in [
        r#"{"query": " \n\u0007"}"#,
        &long,
        r#"{"query": "a", "count": 0}"#,
        r#"{"query": "a", "count": 21}"#,
        r#"{"query": "a", "page": 0}"#,
        r#"{"query": "a", "page": 101}"#,
        &many,
        r#"{"query": "a", "allowed_domains": ["https://a.example/b"]}"#,
        r#"{"query": "a", "blocked_domains": ["a.example", "b OR site:c.example"]}"#,
        r#"{"query": "a", "blocked_domains": [""]}"#,
    ] {
        let output = searched(Arc::new(Scripted::default()), patient(), input(asks)).await;
        assert!(output.is_error, "{asks}");
        said.push_str(&(output.text_content() + "\n"));
    }
    expect![[r#"
        query is empty; say what to search for
        query has more than 400 characters; shorten it
        count is from 1 to 20
        count is from 1 to 20
        page is from 1 to 100
        page is from 1 to 100
        allowed_domains has 21 domains; at most 20 are taken
        allowed_domains[0]: `https://a.example/b` is no domain; write it as `example.com`
        blocked_domains[1]: `b OR site:c.example` is no domain; write it as `example.com`
        blocked_domains[0]: `` is no domain; write it as `example.com`
    "#]]
    .assert_eq(&said);
    for (name, page) in [("brave", 11), ("tavily", 3)] {
        let asks = WebSearchInput { page: Some(page), ..input(r#"{"query": "a"}"#) };
        let said = searched(backend(name, "127.0.0.1:1"), patient(), asks).await.text_content();
        assert!(said.ends_with("ask in other words"), "{said}");
    }
}

#[test]
fn operators_are_added_as_long_as_there_is_room() {
    let request = |allowed: &[&str], blocked: &[&str]| SearchRequest {
        query: "rust".to_owned(),
        count: 1,
        page: 1,
        allowed_domains: allowed.iter().map(|one| (*one).to_owned()).collect(),
        blocked_domains: blocked.iter().map(|one| (*one).to_owned()).collect(),
    };
    assert_eq!(
        request(&["a.b", "c.d"], &["e.f"]).with_operators(100),
        "rust site:a.b OR site:c.d -site:e.f"
    );
    assert_eq!(request(&["a.b", "c.d"], &["e.f"]).with_operators(20), "rust -site:e.f");
    assert_eq!(request(&[], &[]).with_operators(1), "rust");
}

#[test]
fn a_rule_is_asked_about_the_server_and_the_output_fits_its_schema() {
    let tool = WebSearch::new(Arc::new(Scripted::default()));
    let facts = TypedTool::facts(&tool, &input(r#"{"query": "a"}"#), "/space");
    assert_eq!(facts.accesses, [Access::Host("search.example".into())]);
    let definition = serde_json::to_string(&tool.definition()).unwrap();
    assert!(definition.len() < 1_000, "{}", definition.len());
    let schema = TypedTool::output_schema(&tool).unwrap().value();
    assert_eq!(schema["required"], serde_json::json!(["backend", "page", "has_more", "results"]));
}
