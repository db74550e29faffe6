//! What bash takes for arithmetic. The value of a variable is an expression there again, and a
//! subscript in it runs commands: `x='a[$(rm y)]'; echo $((x))` removes y.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use crate::environment;
use crate::line::ConcernKind;
use crate::word::{Atom, Hole, HoleKind, Word};

/// Variables that bash fills with what nobody wrote into the line.
const FILLED: [&str; 9] = [
    "REPLY",
    "OPTARG",
    "MAPFILE",
    "BASH_REMATCH",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "COPROC",
    "_",
    "FUNCNAME",
];
/// Variables whose values are arithmetic as soon as they are given.
const INTEGERS: [&str; 7] =
    ["RANDOM", "SRANDOM", "OPTIND", "SECONDS", "LINENO", "HISTCMD", "BASH_ARGV0"];
/// Builtins whose words are names, which may have subscripts.
const NAMING: [&str; 5] = ["unset", "read", "mapfile", "readarray", "getopts"];
/// Options of builtins with such a word.
const OPTIONS: [&str; 4] = ["-v", "-p", "-np", "-fp"];
/// Variables of bash that are arrays.
const ARRAYS: [&str; 16] = [
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_CMDS",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_VERSINFO",
    "COMPREPLY",
    "COMP_WORDS",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "GROUPS",
    "MAPFILE",
    "PIPESTATUS",
];
/// Builtins that declare.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];
/// Commands that print a word of the system.
const NAMING_SYSTEM: [&str; 7] =
    ["$(uname)", "$(uname -s)", "$(uname -m)", "$(arch)", "$(hostname)", "$(whoami)", "$(id -un)"];

const WHY: &str = "bash takes a value for arithmetic that could hold commands";

/// Variables by what is known of them.
#[derive(Default)]
pub(super) struct Values {
    /// Taken for arithmetic.
    evaluated: BTreeSet<String>,
    /// Given a value that may hold a subscript.
    odd: BTreeSet<String>,
    /// What the values of variables could be the names of.
    named_by: BTreeMap<String, BTreeSet<String>>,
    /// The array whose keys a variable holds, one after the other.
    keys: BTreeMap<String, String>,
    /// Those of them that are subscripts of that array, where they are no arithmetic.
    subscripts: BTreeSet<String>,
    /// Arrays.
    arrays: BTreeSet<String>,
    /// Declared with a text that may be a list, which an array takes apart.
    listed: BTreeSet<String>,
}

impl Reader<'_> {
    /// A variable gets a value; `None` for one that is not known.
    pub(super) fn gets(&mut self, name: &str, value: Option<&Word>) {
        if let Some(array) = value.and_then(keys_in)
            && !self.values.evaluated.contains(name)
            && self.values.keys.get(name).is_none_or(|known| *known == array)
        {
            self.values.keys.insert(name.to_owned(), array);
            return;
        }
        if self.values.subscripts.contains(name) {
            self.evaluates_variable(name);
        }
        if !value.is_some_and(|value| self.is_plain(value)) {
            if INTEGERS.contains(&name) || self.values.evaluated.contains(name) {
                self.unclear(WHY);
            }
            self.values.odd.insert(name.to_owned());
            // Where the variable is a word, this is an option with the name of another.
            let text = value.map(literal).unwrap_or_default();
            if text.contains('[') && OPTIONS.iter().any(|option| text.starts_with(option)) {
                self.unclear(WHY);
            }
        } else if let Some(value) = value {
            // Where this one is evaluated, so are those that it names.
            let names = names_in(value);
            // The value may give a number to one that decides what runs.
            let assigns = literal(value).contains(['=', '+', '-']);
            if assigns && names.iter().any(|name| environment::why(name, None).is_some()) {
                self.values.odd.insert(name.to_owned());
            }
            if self.values.evaluated.contains(name) {
                names.iter().for_each(|name| self.evaluates_variable(name));
            }
            self.values.named_by.entry(name.to_owned()).or_default().extend(names);
        }
    }

    /// A word is taken for arithmetic, or for a name with a subscript.
    pub(super) fn evaluates(&mut self, word: &Word) {
        let text = literal(word);
        let runs = text.contains('[') && (text.contains("$(") || text.contains('`'));
        let is_unknown =
            |hole: &Hole| !matches!(hole.kind, HoleKind::Variable(_)) && !is_number(hole);
        if runs || holes(word).any(is_unknown) {
            self.unclear(WHY);
        }
        let assigns = text.contains('=') || text.contains("++") || text.contains("--");
        for name in names_in(word) {
            self.evaluates_variable(&name);
            if assigns && text.contains('[') {
                self.is_array(&name);
            }
            if assigns && let Some(why) = environment::why(&name, None) {
                self.concern(ConcernKind::Environment, why);
            }
        }
    }

    /// A variable is taken for arithmetic, or for the name of another.
    pub(super) fn evaluates_variable(&mut self, name: &str) {
        let is_odd = self.values.odd.contains(name) || self.values.keys.contains_key(name);
        if FILLED.contains(&name) || is_odd {
            self.unclear(WHY);
        }
        if self.values.evaluated.insert(name.to_owned()) {
            let named = self.values.named_by.get(name).cloned().unwrap_or_default();
            named.iter().for_each(|name| self.evaluates_variable(name));
        }
    }

    /// An array has a subscript. A key of its own is a number, or bash takes it as it is, as long as the
    /// array stays what it is.
    pub(super) fn subscript(&mut self, array: &str, source: &str) {
        let name = source.trim_matches('"').trim_start_matches("${").trim_start_matches('$');
        let name = name.trim_end_matches('}');
        let stays = self.is_outermost() && !self.mentions("unset");
        let is_other = self.values.odd.contains(name) || self.values.named_by.contains_key(name);
        let is_key = self.values.keys.get(name).is_some_and(|keys| keys == array);
        if is_key && stays && !is_other && source.contains('$') {
            self.values.subscripts.insert(name.to_owned());
            return;
        }
        self.arithmetic(source);
    }

    /// A variable is an array, now or later.
    pub(super) fn is_array(&mut self, name: &str) {
        self.values.arrays.insert(name.to_owned());
        self.takes_list_apart(name);
    }

    /// A variable is declared with a text that may be a list.
    fn is_listed(&mut self, name: &str) {
        self.values.listed.insert(name.to_owned());
        self.takes_list_apart(name);
    }

    /// A list that is given to an array as a text is expanded once more.
    fn takes_list_apart(&mut self, name: &str) {
        let is_array = self.values.arrays.contains(name) || ARRAYS.contains(&name);
        if is_array && self.values.listed.contains(name) {
            self.unclear("a list that an array gets is computed");
        }
    }

    /// What builtins evaluate of their words.
    pub(crate) fn evaluates_words(&mut self, words: &[Word]) {
        let is_prefix =
            |word: &&Word| word.known().is_some_and(|word| word == "command" || word == "builtin");
        let words = &words[words.iter().take_while(is_prefix).count()..];
        let Some((name, words)) = words.split_first() else { return };
        let Some(name) = name.known() else { return };
        let is = |word: &Word, options: &[&str]| {
            word.known().is_some_and(|word| options.contains(&word.as_str()))
        };
        let behind = |options: &'static [&'static str]| {
            words.windows(2).filter(move |pair| is(&pair[0], options)).map(|pair| &pair[1])
        };
        match name.as_str() {
            // What it is given is expanded once more.
            "compgen" => {
                let expands = |word: &Word| word.has_hole() || literal(word).contains(['$', '`']);
                if attached(words, 'W', "abcdefgjkprsuv").iter().any(expands) {
                    self.unclear("compgen runs what its words hold");
                }
            }
            "let" => words.iter().for_each(|word| self.evaluates(word)),
            "test" | "[" => {
                behind(&["-v", "-R"]).for_each(|word| self.names(word));
                // A value without quotes may be such an option, or one and what stands behind it.
                let is_open = |hole: &Hole| !hole.is_whole && !is_harmless(hole);
                if words.iter().any(|word| holes(word).any(is_open)) {
                    words.iter().for_each(|word| self.may_be_named(word));
                }
            }
            "printf" => attached(words, 'v', "").iter().for_each(|word| self.names(word)),
            "wait" => attached(words, 'p', "fn").iter().for_each(|word| self.names(word)),
            name if NAMING.contains(&name) => {
                words.iter().for_each(|word| self.names(word));
                let lists = match name {
                    "read" => attached(words, 'a', "ersE"),
                    "mapfile" | "readarray" => words.to_vec(),
                    _ => Vec::new(),
                };
                lists.iter().for_each(|word| self.is_array(&name_of(word)));
            }
            name if DECLARING.contains(&name) => {
                let is_integer = words.iter().map(literal).any(|word| {
                    word.starts_with(['-', '+']) && word.contains('i') && !word.contains('=')
                });
                let is_array = words.iter().map(literal).any(|word| {
                    word.starts_with('-') && word.contains(['a', 'A']) && !word.contains('=')
                });
                let is_list = |word: &Word| {
                    literal(word).split_once('=').is_some_and(|(_, value)| {
                        value.starts_with(['(', '$']) || value.starts_with(' ') && word.has_hole()
                    })
                };
                for word in words {
                    if is_array {
                        self.is_array(&name_of(word));
                    }
                    if is_list(word) {
                        self.is_listed(&name_of(word));
                    }
                    match is_integer {
                        true => self.evaluates(word),
                        false => self.names(word),
                    }
                }
            }
            _ => {}
        }
    }

    /// A word is taken for the name of a variable: its subscript is arithmetic.
    fn names(&mut self, word: &Word) {
        let text = literal(word);
        let plain = text.split('=').next().unwrap_or_default();
        // An index may hold an assignment, so it ends with the last bracket.
        let name = text.rfind(']').map_or(plain, |at| &text[..=at]);
        if let Some(at) = plain.find('[') {
            self.is_array(&plain[..at]);
            let at = name[..at].chars().count();
            let end = name.chars().count();
            self.evaluates(&Word { atoms: word.atoms[at..end].to_vec() });
        }
        // A name that is computed may have one, too.
        if !text.contains('=') {
            held_in(word).for_each(|name| self.evaluates_variable(name));
        }
    }

    /// A word may turn out to be taken for the name of a variable.
    fn may_be_named(&mut self, word: &Word) {
        let is_unknown =
            |hole: &Hole| !matches!(hole.kind, HoleKind::Variable(_)) && !is_harmless(hole);
        if holes(word).any(is_unknown) {
            self.unclear(WHY);
        }
        self.names(word);
    }

    /// Whether a value holds no subscript, as far as it is known.
    fn is_plain(&self, value: &Word) -> bool {
        let is_plain = |hole: &Hole| match &hole.kind {
            HoleKind::Variable(name) => {
                !self.values.odd.contains(name)
                    && !self.values.keys.contains_key(name)
                    && !FILLED.contains(&name.as_str())
            }
            _ => is_number(hole),
        };
        // `{1..9}` among them.
        let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '{' | '}' | '.' | '-');
        if value.text().chars().all(is_of_number) {
            return true;
        }
        !value.has_pattern()
            && !literal(value).contains(['[', '`', '$'])
            && holes(value).all(is_plain)
    }
}

/// What may be the values of an option of one letter, before which these may stand: what comes behind it
/// in the same word, or the next.
fn attached(words: &[Word], letter: char, before: &str) -> Vec<Word> {
    let value = |(index, word): (usize, &Word)| {
        let text = literal(word);
        let rest = text.strip_prefix('-')?.trim_start_matches(|c| before.contains(c));
        match rest.strip_prefix(letter)? {
            "" => words.get(index + 1).cloned(),
            rest => Some(word.skip(text.chars().count() - rest.chars().count())),
        }
    };
    words.iter().enumerate().filter_map(value).collect()
}

/// The array whose keys a word becomes.
fn keys_in(word: &Word) -> Option<String> {
    let [Atom::Hole(hole)] = word.atoms.as_slice() else { return None };
    let name = hole.source.strip_prefix("${!")?;
    let name = name.strip_suffix("[@]}").or_else(|| name.strip_suffix("[*]}"))?;
    Some(name.to_owned())
}

fn is_number(hole: &Hole) -> bool {
    hole.kind == HoleKind::Number
}

/// Whether what stands in a hole is neither an option nor a subscript.
fn is_harmless(hole: &Hole) -> bool {
    is_number(hole) || NAMING_SYSTEM.contains(&hole.source.as_str())
}

fn holes(word: &Word) -> impl Iterator<Item = &Hole> {
    word.atoms.iter().filter_map(|atom| match atom {
        Atom::Hole(hole) => Some(hole),
        _ => None,
    })
}

/// The characters that are known; a blank for each hole.
fn literal(word: &Word) -> String {
    let known = |atom: &Atom| match atom {
        Atom::Plain(c) | Atom::Quoted(c) => *c,
        Atom::Hole(_) => ' ',
    };
    word.atoms.iter().map(known).collect()
}

/// The name of the variable that a word declares.
fn name_of(word: &Word) -> String {
    let text = literal(word);
    text.split(['=', '+', '[']).next().unwrap_or_default().to_owned()
}

/// What could be names of variables in a word.
fn names_in(word: &Word) -> BTreeSet<String> {
    let text = literal(word);
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names =
        parts.filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    names.chain(held_in(word)).map(str::to_owned).collect()
}

/// The variables that a word holds.
fn held_in(word: &Word) -> impl Iterator<Item = &str> {
    holes(word).filter_map(|hole| match &hole.kind {
        HoleKind::Variable(name) => Some(name.as_str()),
        _ => None,
    })
}
