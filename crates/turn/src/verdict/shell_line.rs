//! Matching command lines that nobody read with a shell's grammar: only what is plainly one simple
//! command matches a rule.

use std::collections::BTreeMap;

/// Characters with which a shell does more than split words.
const METACHARACTERS: &[char] = &[
    ';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '[', ']', '*', '?', '!', '~', '#', '\\',
    '\'', '"', '\n', '\r', '\0',
];

/// Those of them with which a rule's argument may be about more than the plain words of a command.
const HEEDED: &[char] =
    &[';', '&', '|', '<', '>', '`', '$', '(', ')', '\\', '\'', '"', '\n', '\r', '\0'];

/// Whether a line is one simple command: words and nothing else.
fn is_simple(line: &str) -> bool {
    !line.contains(METACHARACTERS)
}

/// Whether a simple command matches `prefix:*` or an exact line.
pub(super) fn matches(line: &str, argument: &str) -> bool {
    if !is_simple(line) {
        return false;
    }
    let words = normalize(line);
    match argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *")) {
        Some(prefix) => {
            let prefix = normalize(prefix);
            words == prefix || words.starts_with(&format!("{prefix} "))
        }
        None => words == normalize(argument),
    }
}

/// Whether a line that is not simple might run what a deny rule's argument names.
pub(super) fn may_hide(line: &str, argument: &str) -> bool {
    !is_simple(line) && may_contain(line, argument)
}

/// Whether what a deny rule's argument names may be in a line: it stands there in any form and by any
/// path, or the line can build words that are not written in it.
pub(super) fn may_contain(line: &str, argument: &str) -> bool {
    let prefix = argument.strip_suffix(":*").or_else(|| argument.strip_suffix(" *"));
    let Some(first) = prefix.unwrap_or(argument).split_whitespace().next() else { return true };
    let name = first.rsplit('/').next().unwrap_or(first);
    // A line that ends in a backslash goes on in the next, within a word too.
    let joined = line.replace("\\\n", "");
    let bare: String = joined.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect();
    bare.contains(name) || line.contains(['$', '`', '*', '?', '{', '['])
}

/// Whether an argument may be about more than the plain words of one command.
pub(super) fn is_more_than_words(argument: &str) -> bool {
    argument.contains(HEEDED)
}

/// Whether a command may be one that an argument speaks of which is no plain words: `*` stands for
/// anything, and what comes after a sign that a shell heeds is not looked at. `Some("")` where it is,
/// and else the word behind which anything may stand, since it is made when the line runs.
pub(super) fn may_mean<'a>(
    words: &'a [String],
    made: &BTreeMap<String, String>,
    argument: &str,
) -> Option<&'a str> {
    let (plain, rest) = argument.split_at(argument.find(HEEDED).unwrap_or(argument.len()));
    let plain = plain.strip_suffix(":*").map_or(plain.to_owned(), |words| format!("{words}*"));
    let open = if rest.is_empty() { "" } else { "*" };
    let pattern = normalize(&plain) + open;
    if is_like(&words.join(" "), &pattern) {
        return Some("");
    }
    let at = words.iter().position(|word| made.contains_key(word))?;
    let begin = made[&words[at]].split('*').next().unwrap_or_default();
    let known = format!("{} {begin}", words[..at].join(" "));
    let is_begun = |end: usize| pattern.get(..end).is_some_and(|begun| is_like(&known, begun));
    (0..=pattern.len()).any(is_begun).then_some(words[at].as_str())
}

/// Whether a text is like a pattern in which `*` stands for any text.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let (mut at, mut wanted) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        if pattern.get(wanted) == Some(&b'*') {
            star = Some((wanted, at));
            wanted += 1;
        } else if pattern.get(wanted) == Some(&text[at]) {
            at += 1;
            wanted += 1;
        } else if let Some((place, taken)) = star {
            star = Some((place, taken + 1));
            at = taken + 1;
            wanted = place + 1;
        } else {
            return false;
        }
    }
    pattern[wanted..].iter().all(|byte| *byte == b'*')
}

fn normalize(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_more_than_plain_words_may_mean() {
        for (line, argument, expected) in [
            ("sudoedit x", "sudo*", true),
            ("sud x", "sudo*", false),
            ("git push", "git push*", true),
            ("git pull", "git push*", false),
            ("git checkout main", "git * main", true),
            ("git checkout main -f", "git * main", false),
            ("xargs rm x", "*rm*", true),
            ("ls", "*rm*", false),
            ("curl x", "curl * | bash", true),
            ("wget x", "curl * | bash", false),
            ("git commit -m y", "git commit -m \"x\"", true),
            ("anything", "$X:*", true),
            ("npm-run a b", "npm* a:*", true),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = may_mean(&words, &BTreeMap::new(), argument);
            assert_eq!(found.is_some(), expected, "{line} {argument}");
        }
    }

    #[test]
    fn behind_a_word_that_is_made_anything_may_stand() {
        for (line, argument, expected) in [
            ("make $t", "make deploy*", true),
            ("make d$t", "make deploy*", true),
            ("make t$t", "make deploy*", false),
            ("make test $t", "make deploy*", false),
            ("make $t", "* deploy", true),
            ("make $t", "make", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let last = words.last().unwrap();
            let made = BTreeMap::from([(last.clone(), last.replace("$t", "*"))]);
            let expected = expected.then_some(last.as_str());
            assert_eq!(may_mean(&words, &made, argument), expected, "{line} {argument}");
        }
    }

    #[test]
    fn a_deny_rule_is_not_evaded_by_quoting_or_expansion() {
        for line in [
            "ls; rm x",
            "r\"m\" x",
            "\\rm x",
            "r\\\nm x",
            "r\\\n\"m\" x",
            "$X x",
            "ls && /bin/rm x",
            "`echo rm`",
        ] {
            assert!(may_hide(line, "rm:*"), "{line}");
        }
        assert!(!may_hide("ls && pwd", "rm:*"));
        assert!(!may_hide("cargo test", "rm:*"));
    }
}
