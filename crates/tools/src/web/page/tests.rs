//! Pages as they are written, and as nobody should have written them.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn of_html(html: &str, address: &str) -> Result<Page, String> {
    super::of_html(html, address, &|| true)
}

fn check(html: &str, expected: Expect) {
    let said = match of_html(html, "https://example.com/a/b") {
        Ok(Page { title, text }) => format!("{title}\n---\n{text}"),
        Err(why) => format!("error: {why}"),
    };
    expected.assert_eq(&said);
}

#[test]
fn an_article_is_told_without_what_stands_around_it() {
    let paragraph = "<p>The engine keeps a journal, and a journal keeps every record that the \
                     engine wrote, in order, so that nothing is lost when a process dies.</p>";
    let html = format!(
        "<html><head><title>On journals | Example</title><script>let x = 1;</script></head>\
         <body><nav><a href='/'>Home</a> <a href='/login'>Log in</a></nav>\
         <article><h1>On journals</h1>{paragraph}{paragraph}\
         <pre><code>heeler exec --continue\n  next line</code></pre>\
         <ul><li>one <b>bold</b></li><li>two <a href='../c'>link</a></li></ul>\
         <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>{paragraph}\
         </article><footer>Copyright, cookies</footer></body></html>"
    );
    check(
        &html,
        expect![[r#"
            On journals | Example
            ---
            # On journals

            The engine keeps a journal, and a journal keeps every record that the engine wrote, in order, so that nothing is lost when a process dies.

            The engine keeps a journal, and a journal keeps every record that the engine wrote, in order, so that nothing is lost when a process dies.

            ```
            heeler exec --continue
              next line
            ```

            - one **bold**
            - two [link](https://example.com/c)

            | a | b |
            | - | - |
            | 1 | 2 |

            The engine keeps a journal, and a journal keeps every record that the engine wrote, in order, so that nothing is lost when a process dies."#]],
    );
}

#[test]
fn what_is_the_page_is_told_whole() {
    let long = "word ".repeat(40);
    let entries = |attributes: &str| -> String {
        (0..40).map(|n| format!("<div {attributes}><b>p{n}</b> {long}</div>")).collect()
    };
    for html in [
        format!("<main>{}</main>", entries("class=parameter")),
        format!("<body>{}", entries("class=comments")),
        format!("<article><p>{long}{}</article>", entries("class='sidebar note'")),
        format!("<article>{long}</article><article>{}</article>", entries("")),
        format!("<div role=main>{}</div><aside>no</aside>", entries("")),
        format!("<script>{}</script><main>{}</main>", "x".repeat(PAGE_BYTES_MAX), entries("")),
    ] {
        let text = of_html(&html, "https://example.com/").unwrap().text;
        assert_eq!(text.matches("**p").count(), 40, "{}: {text}", &html[..40]);
        assert!(!text.contains("no") && !text.contains("cut here"), "{text}");
    }
    check(
        "<header>Shop</header><nav>Home</nav><main><nav>Path</nav><header><h1>Name</h1></header>\
         <p>Text<aside>Beside</aside></main><footer>Foot</footer>",
        expect![[r#"

            ---
            # Name

            Text

            Beside"#]],
    );
    check(
        "<nav><a href='/a'>A</a> <a href='#b'>B</a></nav>",
        expect![[r#"

            ---
            [A](https://example.com/a) [B](#b)"#]],
    );
}

#[test]
fn what_stands_in_lines_of_its_own_stays_so() {
    check(
        "<pre><code><span class=token-line>npm install foo<br></span><span class=token-line>cd foo\
         <br></span><br><span>  make</span></code></pre>\
         <pre><code><div>a</div><div><div>b</div></div><div><br></div><div>c\n</div></code></pre>\
         <dl><dt>--force<dd>Overwrites<dt><code>-n</code><dd><p>Nothing</p></dl>\
         <p>2<sup>10</sup>",
        expect![[r#"

            ---
            ```
            npm install foo
            cd foo

              make
            ```

            ```
            a
            b

            c
            ```

            \--force

            Overwrites

            `-n`

            Nothing

            2^10"#]],
    );
}

#[test]
fn a_page_that_is_no_article_is_told_whole() {
    check(
        "<title>Status</title><body><h2>All <i>good</i></h2><p>up &amp; running</p>\
         <script>alert(1)</script><style>p{}</style>",
        expect![[r#"
            Status
            ---
            ## All *good*

            up & running"#]],
    );
    check(
        "",
        expect![[r#"

        ---
    "#]],
    );
    let (code, inner) = ("if (a <b) {}".repeat(500), "<i>".repeat(500));
    check(
        &format!("a<SCRIPT x>{code}</Script >b<!-- {inner} -->c"),
        expect![[r#"

        ---
        abc"#]],
    );
    check(
        "seen<script>unseen",
        expect![[r#"

        ---
        seen"#]],
    );
    check(
        "seen<!-- unseen",
        expect![[r#"

        ---
        seen"#]],
    );
    check(
        "just text",
        expect![[r#"

        ---
        just text"#]],
    );
}

#[test]
fn what_is_too_large_or_too_deep_is_said() {
    check(&"<div>".repeat(100_000), expect!["error: the page's elements nest deeper than 400"]);
    check(
        &format!("<p {}>", "a=b ".repeat(100_000)),
        expect!["error: an element has more than 1000 attributes"],
    );
    check(&"<p>a".repeat(100_000), expect!["error: the page has more than 50000 elements"]);
    let long = format!("<body><p>{}</p>", "word ".repeat(PAGE_BYTES_MAX / 5 + 1));
    let page = of_html(&long, "https://example.com/").unwrap();
    assert!(page.text.ends_with("[... the page is longer than 2097152 bytes; cut here]"));
}

#[test]
fn nothing_more_is_done_for_nobody() {
    let n_steps = std::cell::Cell::new(0);
    let until = |n_wanted: usize| {
        n_steps.set(0);
        let is_wanted = || {
            n_steps.set(n_steps.get() + 1);
            n_steps.get() <= n_wanted
        };
        super::of_html("<p>a", "https://example.com/", &is_wanted).map(|page| page.text)
    };
    for n_wanted in 0..5 {
        assert_eq!(until(n_wanted), Err("cancelled before it was read".to_owned()));
        assert_eq!(n_steps.get(), n_wanted + 1);
    }
    assert_eq!(until(5).as_deref(), Ok("a"));
    assert_eq!(n_steps.get(), 5);
}

#[test]
fn what_costs_a_parser_much_is_said_before() {
    let names: String = (0..900).map(|n| format!("a{n} ")).collect();
    check(
        &format!("<b {names}>{}", "<p>x".repeat(40_000)),
        expect!["error: what formats the page's text has too many attributes"],
    );
    check(
        &format!("<span>{}<div>{}", "<x>".repeat(389), "</span>".repeat(60_000)),
        expect!["error: the page has more than 50000 elements"],
    );
    // What is closed is not opened again.
    let closed = format!("<b {names}>a</b>").repeat(300) + &"<p>x".repeat(20_000);
    assert!(of_html(&closed, "https://example.com/").is_ok());
}

#[test]
fn what_nests_deep_by_misnesting_is_said_at_once() {
    let attributes = |begin: &str, end: &str| -> String {
        (0..10_000).map(|n| format!("{begin} x={n}>{end}")).collect()
    };
    for html in [
        format!("{}deep", "<b></x>".repeat(22_000)),
        "<div></x>".repeat(45_000),
        "<div><a title='</div>'>".repeat(10_000),
        "<div><table><td></div>".repeat(10_000),
        "<span><div></span>".repeat(10_000),
        "<form><div></form>".repeat(10_000),
        "<div></body>".repeat(10_000),
        attributes("<div><b", "</div>x"),
        attributes("<table><b", "</table>x"),
        attributes("<b", &format!("{}</b>{}", "<p><div>".repeat(9), "</div>".repeat(9))),
        "<rt>".repeat(40_000),
        format!("<svg>{}", "<td>".repeat(40_000)),
        // Only the parser tells of this.
        "<optgroup>".repeat(1_000),
    ] {
        let said = of_html(&html, "https://example.com/").unwrap_err();
        let expected =
            ["the page's elements nest deeper than 400", "the page has more than 50000 elements"];
        assert!(expected.contains(&said.as_str()), "{}: {said}", &html[..60]);
    }
    let again: String = (0..390).map(|n| format!("<b x={n}>")).collect();
    let html = format!("<p>{again}{}", "<p>x".repeat(20_000));
    check(&html, expect!["error: the page has more than 50000 elements"]);
}

#[test]
fn pages_that_are_written_carelessly_are_read() {
    for html in [
        "<h1>a</h2>".repeat(1_000),
        "<a name=x>b".repeat(1_000),
        "<ul><li><span>x</ul>".repeat(1_000),
        "<table><tr><td><div>x</table>".repeat(1_000),
        format!("<svg>{}</svg>x", "<path d='m'/>".repeat(1_000)),
        "<p><b><i>x</b></i>".repeat(1_000),
    ] {
        let said = of_html(&html, "https://example.com/");
        assert!(said.is_ok(), "{said:?}: {}", &html[..30]);
    }
}

#[test]
fn what_only_looks_like_a_script_or_comment_takes_nothing_with_it() {
    for (html, expected) in [
        ("a<div data-x=\"<!-- hi\">b</div>c", "a\n\nb\n\nc"),
        ("a <a title='use <script> here'>b</a> c", "a b c"),
        ("a<!-->b", "ab"),
        ("a<!--->b", "ab"),
        ("a<scripture-quote>b</scripture-quote>c", "abc"),
        ("<title>a <!-- b</title>c", "c"),
        ("a<<!-- -->script>b", "a\\< script>b"),
        ("a<<script>x</script>script>b", "a\\< script>b"),
        ("a<<style></style\n>!-- b", "a\\< !-- b"),
        ("a<svg><script href='x'/><style /></svg>b", "ab"),
        ("a<svg><style>x</svg>b", "ab"),
        ("a<svg><![CDATA[<script> > ]]></svg>b", "ab"),
        ("a<![CDATA[x>b]]>c", "ab\\]\\]>c"),
        ("a<script>x</SCRIPT\t/x=y>b<style>y</style", "ab"),
    ] {
        assert_eq!(of_html(html, "https://example.com/").unwrap().text, expected, "{html}");
    }
    let html = "<textarea>ta <script> x</textarea><p>behind";
    assert!(of_html(html, "https://example.com/").unwrap().text.ends_with("behind"));
}

proptest! {
    #[test]
    fn any_page_is_read_or_said_why_not(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "<p>", "</p>", "<table>", "<td>", "<li>", "<ul>", "<a href='x'>", "</a>", "<!--",
                "-->", "<pre>", "text ", "&amp", "<script>", "</script>", "<br>", "<h1>", "\0",
            ]),
            0..60,
        )
    ) {
        let _ = of_html(&parts.concat(), "https://example.com/");
    }
}
