//! A Rust file split into its code and its comments, so that a check never trips over a string.
//!
//! A lexer of a few dozen lines instead of a parser: the checks look for words and brackets, and
//! must go on working in a file that does not compile.

/// The two halves of a file. Both have the bytes of the file at their old places; what belongs to
/// the other half, and every string and character literal, is spaces.
#[derive(Debug, Clone, Default)]
pub(crate) struct RustText {
    pub(crate) code: String,
    pub(crate) comments: String,
}

impl RustText {
    pub(crate) fn of(text: &str) -> Self {
        let (mut code, mut comments) = (String::new(), String::new());
        let mut rest = text;
        let mut before = ' ';
        while !rest.is_empty() {
            let (kind, length) = token(rest, before);
            let (token, after) = rest.split_at(length);
            match kind {
                Kind::Code => {
                    code.push_str(token);
                    blank(token, &mut comments);
                }
                Kind::Comment => {
                    blank(token, &mut code);
                    comments.push_str(token);
                }
                Kind::Literal => {
                    blank(token, &mut code);
                    blank(token, &mut comments);
                }
            }
            before = token.chars().next_back().unwrap_or(' ');
            rest = after;
        }
        Self { code, comments }
    }

    /// The words of the code with the byte where each begins.
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        words(&self.code)
    }
}

/// The identifiers and keywords of `code` with the byte where each begins.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = code.as_ptr() as usize;
    code.split(|c| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - start, word))
}

/// The line of a byte, from 1.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// The byte of the bracket that closes the one at `open`.
pub(crate) fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The opening brace of the body that follows a signature, if it has one.
pub(crate) fn body(code: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'{' => return Some(at),
            b';' => return None,
            b'(' | b'[' => at = closing(code, at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

enum Kind {
    Code,
    Comment,
    Literal,
}

/// The kind and length of what `rest` begins with; `before` is the character ahead of it.
fn token(rest: &str, before: char) -> (Kind, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    if first == '"' {
        return (Kind::Literal, quoted(rest, '"'));
    }
    if first == '\'' {
        return match character(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        };
    }
    if is_word(first) && !is_word(before) {
        if let Some(length) = raw_string(rest) {
            return (Kind::Literal, length);
        }
        return (Kind::Code, rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    (Kind::Code, first.len_utf8())
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0usize);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest.chars().skip(1);
    let first = inside.next()?;
    if first == '\\' {
        return Some(quoted(rest, '\''));
    }
    (inside.next()? == '\'').then(|| 2 + first.len_utf8())
}

/// The length of `r"..."`, `br#"..."#` and the like, when `rest` begins with one.
fn raw_string(rest: &str) -> Option<usize> {
    let after = ["r", "br", "cr"].iter().find_map(|prefix| {
        let after = rest.strip_prefix(prefix)?;
        after.starts_with(['"', '#']).then_some(after)
    })?;
    let n_hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[n_hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n_hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(rest.len() - body.len() + length)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Writes a space for every byte, so that places stay what they are.
fn blank(token: &str, into: &mut String) {
    into.extend(token.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let split = RustText::of(text);
        assert_eq!((split.code.len(), split.comments.len()), (text.len(), text.len()));
        expected.assert_eq(&format!("{}\n--\n{}", split.code.trim(), split.comments.trim()));
    }

    #[test]
    fn strings_characters_and_comments_leave_the_code() {
        check(
            "a(\"{ \\\" //\"); // b's \"c\"",
            expect![[r#"
            a(         );
            --
            // b's "c""#]],
        );
        check(
            "f::<'a>('}', '\\'', 'é', r#\"\"{\"#, br\"\\\") /* x /* y */ z */ g",
            expect![[r#"
                f::<'a>(   ,     ,     ,        ,      )                   g
                --
                /* x /* y */ z */"#]],
        );
        check(
            "for\"x\" bar\"y\"",
            expect![[r#"
            for    bar
            --
        "#]],
        );
    }

    #[test]
    fn unfinished_text_ends_with_the_file() {
        for text in ["\"abc", "/* a /* b */", "r#\"abc\"", "'\\", "b\"", "'"] {
            assert_eq!(RustText::of(text).code.len(), text.len(), "{text}");
        }
    }

    #[test]
    fn brackets_are_matched_across_kinds() {
        assert_eq!(closing("a{b(c[d])}e", 1), Some(9));
        assert_eq!(closing("a{b", 1), None);
    }
}
