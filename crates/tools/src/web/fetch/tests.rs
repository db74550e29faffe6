//! Against a server that answers with bytes, and addresses that must not be reached.

use expect_test::{Expect, expect};
use heeler_core::Block;
use heeler_http::Resolver;

use super::*;
use crate::testing::Folder;
use crate::web::guarded_by;
use crate::web::testing::{answer, server};

pub(super) async fn fetched(
    tool: WebFetch,
    url: &str,
    start_index: usize,
    raw: bool,
) -> ToolOutput {
    let folder = Folder::new(&[]);
    let input = WebFetchInput { url: url.to_owned(), start_index, raw };
    let called = TypedTool::call(Arc::new(tool), folder.context(), input).await;
    called.unwrap_or_else(|error| ToolOutput::error(error.to_string()))
}

/// What is said of an address at a server that may be reached; its port is shown as `PORT`.
async fn check(answers: &[&[u8]], path: &str, expected: Expect) {
    let host = server(answers).host;
    let tool = WebFetch::new(Allowed::hosts(["127.0.0.1"]));
    let output = fetched(tool, &format!("http://{host}{path}"), 0, false).await;
    let said = output.text_content().replace(&host, "HOST");
    expected.assert_eq(&format!("{}{said}", if output.is_error { "error: " } else { "" }));
}

const HTML: &str = "<title>Hello</title><body><h1>Hello</h1><p>This is <b>it</b>.</p>";

#[tokio::test]
async fn a_page_is_markdown_and_a_text_is_itself() {
    let html = answer("200 OK\r\ncontent-type: text/html; charset=utf-8", HTML);
    check(
        &[&html],
        "/a?b=c#d",
        expect![[r#"
        http://HOST/a?b=c (200, text/html, 65 bytes)
        # Hello

        This is **it**."#]],
    )
    .await;
    let json = answer("200 OK\r\ncontent-type: application/json", "{\"a\": [1, 2]}");
    check(
        &[&json],
        "/",
        expect![[r#"
        http://HOST/ (200, application/json, 13 bytes)
        {"a": [1, 2]}"#]],
    )
    .await;
    check(
        &[&answer("204 No Content", "")],
        "/",
        expect![[r#"
        http://HOST/ (204, of no kind, 0 bytes)
        (no text)"#]],
    )
    .await;
    let host = server(&[&html]).host;
    let tool = WebFetch::new(Allowed::hosts(["127.0.0.1"]));
    let raw = fetched(tool, &format!("http://{host}/"), 0, true).await;
    assert!(raw.text_content().ends_with(HTML));
}

#[tokio::test]
async fn what_cannot_be_shown_says_so() {
    let missing = answer("404 Not Found\r\ncontent-type: text/html", "<p>No such page");
    check(
        &[&missing],
        "/",
        expect![[r#"
        error: http://HOST/ (404, text/html, 15 bytes)
        No such page"#]],
    )
    .await;
    check(
        &[&answer("200 OK\r\ncontent-type: application/zip", "PK\0\0")],
        "/",
        expect!["error: http://HOST/ is no text but application/zip; nothing to show"],
    )
    .await;
    check(&[&answer("200 OK\r\ncontent-type: text/plain", "a\0b")], "/", expect!["error: http://HOST/ says text/plain, but holds bytes of zero, which no text has; nothing to show"]).await;
    check(&[b"nonsense\r\n\r\n"], "/", expect!["error: http://HOST/ cannot be fetched: the answer's head cannot be read: invalid HTTP version"]).await;
    let long = answer("200 OK\r\ncontent-type: text/plain", &"a".repeat(BODY_BYTES_MAX + 1));
    let host = server(&[&long, &long]).host;
    let url = format!("http://{host}/");
    let tool = || WebFetch::new(Allowed::hosts(["127.0.0.1"]));
    let output = fetched(tool(), &url, 0, false).await.text_content();
    assert!(output.contains("[cut at 5242880 bytes]"), "{}", &output[..100]);
    let past = fetched(tool(), &url, BODY_BYTES_MAX, false).await;
    assert_eq!(past.text_content(), "start_index is past the 5242880 characters");
}

#[tokio::test]
async fn a_long_text_comes_in_parts_without_a_gap() {
    let text: String = (0..PART_CHARS + 10).map(|n| if n % 2 == 0 { 'é' } else { 'x' }).collect();
    let answer = answer("200 OK\r\ncontent-type: text/plain", &text);
    let host = server(&[&answer, &answer]).host;
    let url = format!("http://{host}/");
    let tool = || WebFetch::new(Allowed::hosts(["127.0.0.1"]));
    let first = fetched(tool(), &url, 0, false).await.text_content();
    let second = fetched(tool(), &url, PART_CHARS, false).await.text_content();
    assert!(first.contains("[characters 0 to 20000 of 20010; go on with start_index 20000]\n"));
    assert!(second.contains("[characters 20000 to 20010, the last]\n"));
    let body =
        |said: &str| said.rsplit_once('\n').unwrap().1.replace("[...]", "").trim().to_owned();
    assert_eq!(body(&first) + &body(&second), text);
}

#[tokio::test]
async fn a_text_is_in_the_encoding_that_is_said_where_it_counts() {
    for (content_type, body, expected) in [
        ("text/html; charset=ISO-8859-1", &b"<p>caf\xe9"[..], "caf\u{e9}"),
        ("text/html", b"<meta charset='windows-1252'><p>caf\xe9", "caf\u{e9}"),
        ("text/html; charset=nonsense", b"<p>a\xffb", "a\u{ff}b"),
        ("text/html", "<p>caf\u{e9}".as_bytes(), "caf\u{e9}"),
        // A text is about pages at most.
        ("text/plain", "charset=latin1 caf\u{e9}".as_bytes(), "charset=latin1 caf\u{e9}"),
        (
            "text/plain",
            "<meta charset=latin1> caf\u{e9}".as_bytes(),
            "<meta charset=latin1> caf\u{e9}",
        ),
        ("text/plain; charset=latin1", b"caf\xe9", "caf\u{e9}"),
        ("text/plain; charset=UTF-16", b"a\0b\0", "ab"),
        ("text/plain", b"\xff\xfea\0b\0", "ab"),
        ("text/plain; charset=utf-8", b"\xfe\xff\0a\0b", "ab"),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n");
        let host = server(&[&[head.as_bytes(), body].concat()]).host;
        let tool = WebFetch::new(Allowed::hosts(["127.0.0.1"]));
        let said = fetched(tool, &format!("http://{host}/"), 0, false).await.text_content();
        assert!(said.ends_with(&format!(" bytes)\n{expected}")), "{content_type}: {said}");
    }
}

#[tokio::test]
async fn what_is_packed_unasked_is_unpacked() {
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};

    let packed = |coding: &str, text: &[u8]| {
        let mut bytes = Vec::new();
        let level = Compression::fast();
        let read = match coding {
            "gzip" => GzEncoder::new(text, level).read_to_end(&mut bytes),
            "Deflate" => ZlibEncoder::new(text, level).read_to_end(&mut bytes),
            "deflate" => DeflateEncoder::new(text, level).read_to_end(&mut bytes),
            _ => (&text[..]).read_to_end(&mut bytes),
        };
        read.unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: ";
        [head.as_bytes(), coding.as_bytes(), b"\r\n\r\n", &bytes].concat()
    };
    let said = async |answer: &[u8]| {
        let served = server(&[answer]);
        let tool = WebFetch::new(Allowed::hosts(["127.0.0.1"]));
        let output = fetched(tool, &format!("http://{}/", served.host), 0, false).await;
        assert!(served.asked().contains("accept-encoding: identity\n"));
        output.text_content().replace(&served.host, "HOST")
    };
    for coding in ["gzip", "Deflate", "deflate", "identity"] {
        let expected = "http://HOST/ (200, text/plain, 4 bytes)\ntext";
        assert_eq!(said(&packed(coding, b"text")).await, expected, "{coding}");
    }
    let bomb = packed("gzip", &vec![b'a'; BODY_BYTES_MAX + 1]);
    assert!(said(&bomb).await.contains("5242880 bytes) [cut at 5242880 bytes]"));
    let broken = said(&packed("gzip", b"text")[..90]).await;
    assert!(broken.starts_with("http://HOST/: the answer cannot be unpacked: "), "{broken}");
    expect!["http://HOST/: the answer is packed as `br`, which is not read"]
        .assert_eq(&said(&packed("br", b"text")).await);
}

#[tokio::test]
async fn an_image_is_looked_at() {
    let host = server(&[b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n\x89PNG\xff"]).host;
    let tool = WebFetch::new(Allowed::hosts(["127.0.0.1"]));
    let output = fetched(tool, &format!("http://{host}/a.png"), 0, false).await;
    let is_png =
        |block: &Block| matches!(block, Block::Image(image) if image.media_type == "image/png");
    assert!(output.content.iter().any(is_png), "{output:?}");
}

#[tokio::test]
async fn one_host_may_lead_on_and_another_has_to_be_asked_for() {
    let moved = |to: &str| answer(&format!("302 Found\r\nlocation: {to}"), "");
    let there = answer("200 OK\r\ncontent-type: text/plain", "here");
    check(
        &[&moved("/b"), &moved("http://HOST/c"), &there],
        "/a",
        expect![[r#"
        http://HOST/c (200, text/plain, 4 bytes)
        here"#]],
    )
    .await;
    check(&[&moved("http://localhost:1/b")], "/a", expect!["error: http://HOST/a leads to another host: http://localhost:1/b. Fetch that address if you need it."]).await;
    check(
        &[&moved("ftp://HOST/b")],
        "/a",
        expect!["error: http://HOST/a leads to `ftp://HOST/b`: only http and https are fetched"],
    )
    .await;
    check(
        &[&moved("http://a:b@HOST/b")],
        "/a",
        expect!["error: http://HOST/a leads to `http://a:b@HOST/b`: it holds a name or password"],
    )
    .await;
    let around = moved("/a");
    check(
        &[&*around; REDIRECTS_MAX + 1],
        "/a",
        expect!["error: http://HOST/a leads on more than 5 times"],
    )
    .await;
}

#[tokio::test]
async fn nothing_but_the_public_internet_is_reached() {
    // Whoever connects would be answered.
    let host = server(&[]).host;
    let port = host.rsplit_once(':').unwrap().1;
    for name in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "0.0.0.0",
        "0",
        "127.0.0.1.",
        "LOCALHOST",
    ] {
        let url = format!("http://{name}:{port}/");
        let said = fetched(WebFetch::new(Allowed::default()), &url, 0, false).await;
        assert!(said.is_error, "{name}");
        let said = said.text_content();
        assert!(said.contains("only the public internet may be fetched from"), "{name}: {said}");
        // Nobody is asked about it first.
        assert!(
            looked(Allowed::default(), &url).await.is_some_and(|why| why.contains(NEAR)),
            "{url}"
        );
    }
    for (url, expected) in [
        ("http://169.254.169.254/latest/meta-data/", "`169.254.169.254` may not be connected to"),
        ("http://[fd00:ec2::254]/", "`fd00:ec2::254` may not be connected to"),
        ("file:///etc/passwd", "only http and https are fetched"),
        ("gopher://example.com/", "only http and https are fetched"),
        ("http://user:secret@example.com/", "it holds a name or password"),
        ("not an address", "relative URL without a base"),
        (&format!("http://a/{}", "a".repeat(ADDRESS_BYTES_MAX)), "at most 8000 bytes"),
    ] {
        let said = fetched(WebFetch::new(Allowed::default()), url, 0, false).await.text_content();
        assert!(said.contains(expected), "{url}: {said}");
        let told = looked(Allowed::default(), url).await;
        assert!(told.is_some_and(|why| why.contains(expected)), "{url}");
    }
}

/// Who can change that, in words for whoever sits before it.
const NEAR: &str = "hosts that the user names as web_fetch.allowed_hosts";

/// Why a call is refused before somebody is asked about it.
async fn looked(allowed: Allowed, url: &str) -> Option<String> {
    let input = WebFetchInput { url: url.to_owned(), start_index: 0, raw: false };
    let tool = Arc::new(WebFetch::new(allowed));
    TypedTool::check(tool, Folder::new(&[]).context(), input).await.err().map(|why| why.to_string())
}

#[tokio::test]
async fn what_may_be_reached_and_what_only_a_lookup_would_tell_is_asked_about() {
    for url in ["http://1.1.1.1/", "https://rebind.example/", "http://[2606:4700::1]/"] {
        assert_eq!(looked(Allowed::default(), url).await, None, "{url}");
    }
    let hosts = || Allowed::hosts(["localhost", "::1", "127.0.0.1"]);
    for url in ["http://localhost:7407/", "http://[::1]/", "http://127.0.0.1:1/"] {
        assert_eq!(looked(hosts(), url).await, None, "{url}");
    }
    assert!(looked(hosts(), "http://app.localhost/").await.is_some());
}

/// A tool for which every name means these addresses.
fn told(allowed: Allowed, addresses: &'static str) -> WebFetch {
    let resolver = Resolver::new(move |_| {
        let found = addresses.split_whitespace().map(|address| address.parse().unwrap());
        std::future::ready(Ok(found.collect()))
    });
    WebFetch::by(guarded_by(allowed.clone(), Some(resolver)), allowed)
}

#[tokio::test]
async fn a_name_that_means_what_is_near_is_refused_in_every_form() {
    for near in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "fd00:ec2::254",
        "fe80::1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "::127.0.0.1",
        "2002:7f00:1::1",
        "64:ff9b::7f00:1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "1.1.1.1 192.168.0.1",
        "2606:4700:4700::1111 ::1",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://rebind.example:1/");
            let said = fetched(told(Allowed::default(), near), &url, 0, false).await;
            let said = said.text_content();
            assert!(
                said.contains("only the public internet may be fetched from"),
                "{near}: {said}"
            );
        }
    }
}

#[tokio::test]
async fn a_host_that_the_user_allows_is_reached_by_its_name_alone() {
    let there = answer("200 OK\r\ncontent-type: text/plain", "here");
    let moved = answer("302 Found\r\nlocation: /b", "");
    let served = server(&[&moved, &there]);
    let port = served.host.rsplit_once(':').unwrap().1.to_owned();
    let allowed = || told(Allowed::hosts(["Wiki.example"]), "127.0.0.1");
    let said = fetched(allowed(), &format!("http://wiki.EXAMPLE:{port}/a"), 0, false).await;
    assert!(said.text_content().ends_with("here"), "{said:?}");
    for other in ["a.wiki.example", "wiki.example.", "xwiki.example", "127.0.0.1"] {
        let said = fetched(allowed(), &format!("http://{other}:{port}/"), 0, false).await;
        assert!(said.text_content().contains("only the public internet"), "{other}: {said:?}");
    }
}

#[test]
fn a_rule_is_asked_about_the_host() {
    let tool = WebFetch::new(Allowed::default());
    let accesses = |url: &str| {
        let input = WebFetchInput { url: url.to_owned(), start_index: 0, raw: false };
        TypedTool::facts(&tool, &input, "/space").accesses
    };
    assert_eq!(accesses("https://Example.com:8080/x"), [Access::Host("example.com".into())]);
    assert_eq!(accesses("http://0x7f.1/"), [Access::Host("127.0.0.1".into())]);
    assert_eq!(accesses("nonsense"), [Access::Opaque("nonsense".into())]);
}
