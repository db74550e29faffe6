//! Verbs in other places than behind the name: `git remote -v add`, `git-push`.

use super::invocation::{Invocation, exact};
use crate::programs::{self, Effect};
use crate::word::Word;

/// The words of a program of git that stands alone as those of git: `git-push origin`.
pub(crate) fn of_git(name: &str, words: &[Word]) -> Option<Vec<Word>> {
    let base = programs::base(name);
    let verb = base.strip_suffix(".exe").unwrap_or(&base).strip_prefix("git-")?;
    let mut names = programs::find("git")?.verbs.iter().flat_map(programs::Program::all_names);
    names.find(|name| name.split('+').next() == Some(verb))?;
    Some([&[Word::literal("git"), Word::literal(verb)], words.get(1..)?].concat())
}

/// The words with those of the verb next to each other, where options stand between them.
pub(crate) fn together(call: &Invocation<'_>, words: &[Word]) -> Option<Vec<Word>> {
    let top = call.top;
    let first = words.get(call.verb_at)?.known()?;
    if !top.verbs.iter().any(|verb| verb.all_names().any(|name| begins_with(name, &first))) {
        return None;
    }
    let known = [call.program.options, call.program.everywhere, top.everywhere];
    let mut at = call.verb_at + 1;
    while let Some(text) = words.get(at).map(Word::text)
        && text.len() > 1
        && text.starts_with('-')
        && text != "--"
    {
        let takes = exact(&text, &known).is_some_and(|(option, _)| option.takes);
        at += if takes { 2 } else { 1 };
    }
    if at == call.verb_at + 1 {
        return None;
    }
    let second = words.get(at)?.known()?;
    let third = words.get(at + 1).and_then(Word::known);
    let texts: Vec<String> = [first, second].into_iter().chain(third).collect();
    let (verb, length) = top.verb(&texts)?;
    // What only looks is nothing that anybody would hide.
    if length < 2 || verb.effect == Effect::Reads {
        return None;
    }
    let (before, after) = words.split_at(call.verb_at + 1);
    let (between, rest) = after.split_at_checked(at - before.len())?;
    let (second, rest) = rest.split_at_checked(length - 1)?;
    Some([before, second, between, rest].concat())
}

/// Whether the name of a verb has several words, of which this is the first.
fn begins_with(name: &str, first: &str) -> bool {
    name.split_once('+').is_some_and(|(begin, _)| begin == first)
}
