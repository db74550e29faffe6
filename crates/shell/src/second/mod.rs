//! The second opinion: which commands and redirections a line holds, to be compared with what was
//! judged.
//!
//! A reader of its own, that shares nothing with the parser whose tree is judged, follows bash's grammar
//! from left to right and keeps no tree. It is strict: what bash takes in more than one way, or only
//! with an option, or what hardly anybody writes, is an [`Trouble::Error`], and somebody is asked.
//! `list` reads commands, `compound` what is made of them, `simple` one command with its redirections,
//! `word` words and what expands in them, `document` what stands below a line.
//!
//! It takes one pass, so no line takes long, and what nests is counted, so none goes deep.

mod compound;
mod document;
mod list;
mod simple;
mod word;

use document::Document;

use crate::DEPTH_MAX;

/// What is between the words of a [`Seen`] command.
const BETWEEN: char = '\u{1f}';

/// Why there is no second opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not shell, as far as this reader can tell.
    Error,
    TooDeep,
}

/// The source of each simple command's words, and of each redirection's target; sorted.
pub(crate) type Seen = Vec<String>;

/// What the reader sees in a script.
pub(crate) fn seen(text: &str) -> Result<Seen, Trouble> {
    let mut reader = Reader::new(text, 0);
    reader.script()?;
    reader.seen.sort();
    Ok(reader.seen)
}

/// How the target of a redirection is compared; descriptors are not.
pub(crate) fn redirection(target: &str) -> Option<String> {
    let is_descriptor = target.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    (!is_descriptor).then(|| format!(">{BETWEEN}{}", joined(target)))
}

/// How a command's words are compared.
pub(crate) fn command<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut command = String::new();
    for (index, word) in words.enumerate() {
        if index > 0 {
            command.push(BETWEEN);
        }
        command.push_str(&joined(word));
    }
    command
}

/// A text as it is without escaped line ends.
fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

/// A place in a text, and what was seen up to there.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// What begins below the line that is read.
    documents: Vec<Document>,
    seen: Seen,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, depth: usize) -> Self {
        Self { text, at: 0, depth, documents: Vec::new(), seen: Seen::new() }
    }

    /// Reads another text within this one, one level deeper.
    fn within(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Reader<'_>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.deeper(|outer| {
            let mut reader = Reader::new(text, outer.depth);
            read(&mut reader)?;
            outer.seen.append(&mut reader.seen);
            Ok(())
        })
    }

    /// Reads what is nested.
    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.enter()?;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Counts a level.
    fn enter(&mut self) -> Result<(), Trouble> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(Trouble::TooDeep) } else { Ok(()) }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte after the next one.
    fn peek_second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Goes past this, if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    fn expects(&mut self, text: &str) -> Result<(), Trouble> {
        if self.takes(text) { Ok(()) } else { Err(Trouble::Error) }
    }

    /// Whether this comes next and is a whole word.
    fn is_at_word(&self, word: &str) -> bool {
        let after = self.rest().strip_prefix(word);
        after.is_some_and(|after| after.bytes().next().is_none_or(ends_word))
    }

    /// Goes past this word, if it comes next.
    fn takes_word(&mut self, word: &str) -> bool {
        let comes = self.is_at_word(word);
        if comes {
            self.at += word.len();
        }
        comes
    }

    fn expects_word(&mut self, word: &str) -> Result<(), Trouble> {
        if self.takes_word(word) { Ok(()) } else { Err(Trouble::Error) }
    }

    /// Goes to the next word or operator of the line: past blanks, escaped line ends and a remark.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) || self.rest().starts_with("\\\n") {
            self.at += if self.peek() == Some(b'\\') { 2 } else { 1 };
        }
        if self.peek() == Some(b'#') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// The same, past line ends and the documents below them, too.
    fn lines(&mut self) -> Result<(), Trouble> {
        self.blanks();
        while self.takes("\n") {
            self.documents_below()?;
            self.blanks();
        }
        Ok(())
    }
}

/// Whether a byte, unless it is quoted, is no part of a word.
fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// The commands and targets of a text, with a comma between words and a bar between commands.
    fn check(text: &str, expected: Expect) {
        let seen = seen(text).expect(text);
        expected.assert_eq(&seen.join(" | ").replace(BETWEEN, ", "));
    }

    #[track_caller]
    fn refused(trouble: Trouble, texts: &[&str]) {
        let read: Vec<_> = texts.iter().filter(|text| seen(text) != Err(trouble)).collect();
        assert_eq!(read, Vec::<&&str>::new());
    }

    #[test]
    fn commands_are_seen_wherever_they_stand() {
        check("a b; c | d && e & f # g", expect!["a, b | c | d | e | f"]);
        check("x=1 y[2]=$(a) z=(1 $(b)) c", expect!["a | b | c"]);
        check(
            "export x=(1 2) y; [ -f a ] || [[ $(b) =~ (c|d) && ! e == @(f|g) ]]",
            expect!["b | export, x=(1 2), y"],
        );
        check("if a; then b; elif c; then d; else e; fi", expect!["a | b | c | d | e"]);
        check("while a; do b; done < c; until d; do e; done", expect![">, c | a | b | d | e"]);
        check(
            "for i in $(a) b; do c; done; for ((i = $(d); ; )) do e; done",
            expect!["a | c | d | e"],
        );
        check("case $(a) in (b | c) d;; *) e;& f) esac", expect!["a | d | e"]);
        check(
            "f() { a; }; function g { b; } > c; ! (d); ((e + $(h)))",
            expect![">, c | a | b | d | h"],
        );
        check(
            r#"a "$(b `c \`d\``)" ${e:-"$(f)"} <(g) $((1 + $(h)))"#,
            expect![[
                r#"a, "$(b `c \`d\``)", ${e:-"$(f)"}, , $((1 + $(h))) | b, `c \`d\`` | c, `d` | d | f | g | h"#
            ]],
        );
        check("a > >(b) 2>&1 &> c <<< $(d) 3>&- < e", expect![">, c | >, e | a | b | d"]);
        check("time -p a | b; c | time d", expect!["a | b | c | time, d"]);
    }

    #[test]
    fn documents_hold_what_expands_in_them_and_end_where_bash_ends_them() {
        check("a <<E | b\n$(c) \\$(d) 'e\nE \n`f`\nE\ng", expect!["a | b | c | f | g"]);
        check("a <<'E' <<-\\F; b\n$(c)\nE\n\t$(d)\n\tF", expect!["a | b"]);
        check(
            "a $(b <<E\nc\nE\n) <<E\n$(d)\nE",
            expect![[r#"
            a, $(b <<E
            c
            E
            ) | b | d"#]],
        );
        refused(Trouble::Error, &["a <<E", "a <<E\nE\\\n", "a <<E\nb\\\nE\n", "a <<$x\n$x\n"]);
        refused(Trouble::Error, &["a $(b <<E)\nE\n", "a <<''\n\n", "a <<E'F'\nEF\n"]);
    }

    #[test]
    fn what_is_no_shell_is_refused() {
        let open =
            ["'", "\"", "`", "$(", "${", "$((", "(", "{ a;", "if a; then b", "[[ a", "case a in"];
        refused(Trouble::Error, &open);
        let stray =
            [")", "a )", "}", "a; ; b", "&& a", "a &&", "| a", "a; fi", "()", "{ }", "a ;;"];
        refused(Trouble::Error, &stray);
        refused(
            Trouble::Error,
            &["a >", "a (b)", "(a) b", "for 1 in a; do b; done", "x=1 f() { a; }"],
        );
    }

    /// Each of these is read in different ways, by different shells or with different options.
    #[test]
    fn what_can_be_meant_in_two_ways_is_refused() {
        let hidden = ["N\\\nODE_OPTIONS=a b", "\"$\\\n(a)\"", "$\\\n(a)", "1\\\n>a b", "$'\\\na'"];
        refused(Trouble::Error, &hidden);
        refused(Trouble::Error, &["$((a); b)", "((a); b)", "${ a; }", "${| a; }", "$[1 + 1]"]);
        refused(Trouble::Error, &["\"${a#'b'}\"", "${a:-<(b)}", "a<(b)", "a !(b)", "$(('a'))"]);
        refused(Trouble::Error, &["a[b c]=d", "{a}> b", "a <<< 2> b", "a==(b)", "echo a=(b)"]);
        refused(Trouble::Error, &["coproc a", "select a in b; do c; done", "x=1 time a", "> a if"]);
        refused(Trouble::Error, &["{a[x]}> b", "a {b[c[d]]}<b", "a <b {c[$x]}<<<d"]);
        refused(Trouble::Error, &["time -- a", "time -p -- a", "time -p -p a", "! time -v a"]);
    }

    #[test]
    fn what_nests_too_deep_is_refused_and_what_is_long_is_read() {
        let nested = |open: &str, close: &str| {
            format!("{}a{}", open.repeat(DEPTH_MAX + 1), close.repeat(DEPTH_MAX + 1))
        };
        for (open, close) in [("( ", ")"), ("{ ", ";}"), ("a $(", ")"), ("${a:-", "}"), ("! ", "")]
        {
            refused(Trouble::TooDeep, &[&nested(open, close)]);
        }
        refused(
            Trouble::TooDeep,
            &[&nested("$((1+(", ")))"), &format!("[[ {} ]]", nested("a && ", ""))],
        );

        assert_eq!(
            seen(&format!("{}a", "a && ".repeat(10_000))).map(|seen| seen.len()),
            Ok(10_001)
        );
    }
}
