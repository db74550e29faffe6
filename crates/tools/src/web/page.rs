//! What a page says, as text for a model: Markdown of what matters, without menus and scripts.

use dom_smoothie::{Config, ParsePolicy, Readability, TextMode};

use super::outline;

/// Bytes of a page that are read; what comes behind is left out, and said to be.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// An article shorter than this share of the page's whole text, in percent, is no article but a
/// part that looked like one.
const ARTICLE_PERCENT_MIN: usize = 10;

/// A page's title and text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) text: String,
}

/// What an HTML page says.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn of_html(html: &str, address: &str) -> Result<Page, String> {
    let (html, is_cut) = match html.len() <= PAGE_BYTES_MAX {
        true => (html, false),
        false => (&html[..html.floor_char_boundary(PAGE_BYTES_MAX)], true),
    };
    let html = outline::without_scripts(html);
    outline::check(&html)?;
    let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
    let mut reader = Readability::new(html.as_str(), Some(address), Some(config.clone()))
        .or_else(|_| Readability::new(html.as_str(), None, Some(config)))
        .map_err(|error| error.to_string())?;
    // The parser has the last word on how deep it is: what follows calls itself for each element.
    check_depth(&reader)?;
    let title = reader.get_article_title().to_string();
    for useless in ["script", "style", "noscript", "template", "svg", "iframe"] {
        reader.doc.select(useless).remove();
    }
    let whole = reader.doc.md(Some(&["head"])).to_string();
    let article = reader.parse_with_policy(ParsePolicy::Strict).ok();
    let article = article.map(|article| article.text_content.to_string());
    let is_enough = |article: &String| article.len() * 100 >= whole.len() * ARTICLE_PERCENT_MIN;
    let mut text = tidied(&article.filter(is_enough).unwrap_or(whole));
    if is_cut {
        text.push_str(&format!("\n\n[the page is longer than {PAGE_BYTES_MAX} bytes; cut here]"));
    }
    Ok(Page { title: title.split_whitespace().collect::<Vec<_>>().join(" "), text })
}

fn check_depth(reader: &Readability) -> Result<(), String> {
    let (mut node, mut depth) = (reader.doc.root(), 0);
    loop {
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            if depth > outline::DEPTH_MAX {
                return Err(outline::too_deep());
            }
            continue;
        }
        while depth > 0 && node.next_sibling().is_none() {
            let Some(parent) = node.parent() else { return Ok(()) };
            (node, depth) = (parent, depth - 1);
        }
        match node.next_sibling() {
            Some(next) if depth > 0 => node = next,
            _ => return Ok(()),
        }
    }
}

/// Without lines of nothing but space, more than one empty line in a row, or space at lines' ends.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut n_empty = 1;
    for line in text.lines().map(str::trim_end) {
        n_empty = if line.trim().is_empty() { n_empty + 1 } else { 0 };
        if n_empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

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
        assert!(page.text.ends_with("[the page is longer than 2097152 bytes; cut here]"));
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
            let expected = [
                "the page's elements nest deeper than 400",
                "the page has more than 50000 elements",
            ];
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

    /// `patches/html-escape`, which is no part of the workspace.
    #[test]
    fn references_become_what_they_stand_for() {
        let kept =
            "&amp &; &# &#; &#x; &#+1; &#0; &#8; &#xd800; &no-such; &CounterClockwiseContour;";
        for (text, expected) in [
            ("plain", "plain"),
            ("&lt;b&gt; &amp;amp; &quot;", "<b> &amp; \""),
            ("&#65;&#x42;&#X63;", "ABc"),
            ("&NotEqualTilde;", "\u{2242}\u{338}"),
            ("&CounterClockwiseContourIntegral;", "\u{2233}"),
            ("&a&lt;&", "&a<&"),
            ("\u{e4}&ouml;\u{fc}", "\u{e4}\u{f6}\u{fc}"),
            (kept, kept),
        ] {
            assert_eq!(html_escape::decode_html_entities(text), expected, "{text}");
        }
    }
}
