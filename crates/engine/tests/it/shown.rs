//! What a model was not shown does not count as seen, whatever took it away: no tool then writes over it.

use std::sync::Arc;

use expect_test::{Expect, expect};
use heeler_core::Image;
use heeler_engine::{Parts, Toolset};
use heeler_store::MemoryMedia;
use heeler_testkit::picture::png;
use heeler_tools::{further, standard};

use crate::common::{Case, shown};

/// Plays a reply of each of these lists of calls, each a tool and its input as TOML, with the real tools and
/// these files in `$D`; shows the result of each call, a short piece of it, and the files that changed.
fn check(
    files: &[(&str, &str)],
    replies: &[&[(&str, &str)]],
    tune: impl FnOnce(&mut Parts) + 'static,
    expected: Expect,
) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let place = root.display().to_string();
    files.iter().for_each(|(name, content)| std::fs::write(root.join(name), content).unwrap());
    let call = |(tool, input): &(&str, &str)| {
        format!("{{ call = \"{tool}\", input = {} }}", input.replace("$D", &place))
    };
    let reply = |calls: &&[(&str, &str)]| {
        let calls: Vec<String> = calls.iter().map(call).collect();
        format!("[[reply]]\nblocks = [{}]\n", calls.join(", "))
    };
    let script: String = replies.iter().map(reply).collect();
    let case = Case::new(&(script + "[[reply]]\ntext = \"done\"\n")).calls_only().with(|parts| {
        parts.tools = Toolset::new(standard().into_iter().chain(further())).unwrap();
        tune(parts);
    });
    let short = |line: &str| match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}...\n", &line[..at]),
        None => format!("{line}\n"),
    };
    let shown = shown(case).replace(&place, "$D");
    let mut lines: String =
        shown.lines().filter(|line| line.starts_with("result")).map(short).collect();
    for (name, content) in files {
        let now = std::fs::read_to_string(root.join(name)).unwrap();
        if now != *content {
            lines += &short(&format!("{name} is now {now:?}"));
        }
    }
    expected.assert_eq(&lines);
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n} {}\n", "x".repeat(80))).collect()
}

const READ_A: (&str, &str) = ("Read", r#"{ file_path = "$D/a" }"#);
const WRITE_A: (&str, &str) = ("Write", r#"{ file_path = "$D/a", content = "short" }"#);
const EDIT_A: (&str, &str) =
    ("Edit", r#"{ file_path = "$D/a", old_string = "end", new_string = "END" }"#);
const BATCH_OF_A_AND_B: (&str, &str) = (
    "batch",
    r#"{ calls = [{ tool = "Read", input = { file_path = "$D/a" } }, { tool = "Read", input = { file_path = "$D/b" } }] }"#,
);

#[test]
fn what_was_put_aside_was_not_shown() {
    let data = Image::from_bytes("image/png", &[png(1, 1), (40..=230).collect()].concat()).data;
    check(
        &[("a", &format!("one\nurl(data:image/png;base64,{data})\nend\n"))],
        &[&[READ_A], &[WRITE_A], &[EDIT_A]],
        |parts| parts.media = Some(Arc::new(MemoryMedia::default())),
        expect![[r#"
            result ok:      1	one\n     2	url([media://de60e6d668777a585b39da9718172905 image/png 261 B])\n     3	end\n
            result error: $D/a would lose what you have not seen: of its 3 lines none is known to you; Read the others, or change parts of it with Edit
            result ok: Edited $D/a:\n     1  one\n     2  url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADUlEQVR4AQECAP3/AIAAggCBw24l4AAAAABJRU5E...
            a is now "one\nurl(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADUlEQVR4AQECAP3/AIAAggCBw24l4AAAAABJRU5ErkJggigpKissLS4vMDEyMzQ1Njc4OTo...
        "#]],
    );
}

#[test]
fn what_a_batch_cut_was_not_shown() {
    let (a, b) = (lines(60), lines(60));
    check(
        &[("a", &a), ("b", &b)],
        &[&[BATCH_OF_A_AND_B], &[WRITE_A]],
        |parts| parts.result_chars_max = 10_000,
        expect![[r#"
            result ok: [1] Read {"file_path":"$D/a"}\n     1	line 1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n     2	line 2 xxxxxxxx...
            result error: $D/a would lose what you have not seen: of its 60 lines none is known to you; Read the others, or change parts of it with Edit
        "#]],
    );
    check(
        &[("a", &a), ("b", &b)],
        &[&[BATCH_OF_A_AND_B], &[WRITE_A]],
        |parts| parts.result_chars_max = 20_000,
        expect![[r#"
            result ok: [1] Read {"file_path":"$D/a"}\n      1	line 1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n     2	line 2 xxxxxxx...
            result ok: Updated $D/a (1 line)
            a is now "short"
        "#]],
    );
}

#[test]
fn what_the_same_reply_asks_for_was_not_shown() {
    check(
        &[("a", "one\nend\n")],
        &[&[READ_A, WRITE_A], &[WRITE_A]],
        |_| (),
        expect![[r#"
        result ok:      1	one\n     2	end\n
        result error: $D/a was read in this same answer, so you had not seen it when you wrote this; look at what it holds, then try again
        result ok: Updated $D/a (1 line)
        a is now "short"
    "#]],
    );
    check(
        &[("a", "one\nend\n")],
        &[&[READ_A, EDIT_A, WRITE_A], &[READ_A, WRITE_A]],
        |_| (),
        expect![[r#"
            result ok:      1	one\n     2	end\n
            result ok: Edited $D/a:\n     1  one\n     2 -end\n     2 +END\n
            result error: $D/a was read in this same answer, so you had not seen it when you wrote this; look at what it holds, then try again
            result ok:      1	one\n     2	END\n
            result ok: Updated $D/a (1 line)
            a is now "short"
        "#]],
    );
}
