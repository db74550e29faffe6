//! A command taken apart: its program or verb, options with their values, operands.

use crate::programs::{Does, Operands, Option_, Program, Special, Style};
use crate::word::Word;

/// How a program is called.
#[derive(Clone, Debug)]
pub(crate) struct Invocation<'w> {
    /// The program, or the innermost verb.
    pub(crate) program: &'static Program,
    /// The program itself.
    pub(super) top: &'static Program,
    /// The options that a table knows, with their values.
    pub(crate) options: Vec<Given>,
    /// All words that look like options, known or not.
    pub(crate) flags: Vec<&'w Word>,
    pub(crate) operands: Vec<&'w Word>,
    /// Operands that might turn out to be options, and options that might turn out to be others.
    pub(crate) doubtful: Vec<&'w Word>,
    /// Whether any word before `--` might turn out to be, or to hold, options that are not written.
    hides_options: bool,
    /// Whether what stands before the verb, which rules do not see, may say what it runs.
    is_doubtful: bool,
    /// Commands that options hold.
    pub(crate) commands: Vec<Vec<Word>>,
    /// What is left for a command within it.
    pub(crate) rest: Vec<Word>,
    /// A verb that is in no table.
    pub(crate) unknown_verb: Option<&'w Word>,
    /// How many words stand before the verb.
    pub(crate) verb_at: usize,
    /// Whether `--` was met, and how many operands stood before it.
    pub(crate) operands_before_dashes: Option<usize>,
    /// How many options stood before the verb, where there is one.
    n_before_verb: Option<usize>,
    verb_is_due: bool,
    style: Style,
}

/// An option that was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) name: &'static str,
    pub(crate) does: Does,
    pub(crate) value: Option<Word>,
}

/// Options with a value that say only how loud, how many, or which part, whatever the program.
const HARMLESS: [&str; 11] = [
    "--color",
    "--features",
    "--filter",
    "--jobs",
    "--loglevel",
    "--message-format",
    "--workspace",
    "-F",
    "-j",
    "-p",
    "-w",
];

impl<'w> Invocation<'w> {
    /// Takes the words after the program's name apart.
    pub(crate) fn read(program: &'static Program, words: &'w [Word]) -> Self {
        let mut call = Self {
            program,
            top: program,
            options: Vec::new(),
            flags: Vec::new(),
            operands: Vec::new(),
            doubtful: Vec::new(),
            hides_options: false,
            is_doubtful: false,
            commands: Vec::new(),
            rest: Vec::new(),
            unknown_verb: None,
            verb_at: 0,
            operands_before_dashes: None,
            n_before_verb: None,
            verb_is_due: !program.verbs.is_empty(),
            style: program.style,
        };
        let mut known = vec![program.options, program.everywhere];
        let (mut index, mut dashes_at) = (0, None);
        while index < words.len() {
            let Some(word) = words.get(index) else { break };
            let text = word.text();
            let is_option =
                text.len() > 1 && text.starts_with('-') && word.leading_hole().is_none();
            if matches!(call.program.operands, Operands::CommandAfter(marks)
                if marks.split(' ').any(|mark| mark == text))
            {
                call.rest = words[index + 1..].to_vec();
                break;
            } else if call.operands_before_dashes.is_none()
                && text == "--"
                // Some, such as `find`, take it for an option that is none.
                && exact(&text, &known).is_none()
                && word.known().is_some()
            {
                call.operands_before_dashes = Some(call.operands.len());
                dashes_at = Some(index);
                index += 1;
            } else if is_option && call.operands_before_dashes.is_none() {
                index += call.option(&text, &words[index..], &known);
            } else if program.special == Special::Shell
                && text.starts_with('+')
                && call.operands_before_dashes.is_none()
            {
                // `+o posix` takes an option away, and `+n` that nothing is run.
                call.options.retain(|given| given.does != Does::OnlyReads);
                index += call.letters_of_shell(&text, &words[index..], &known);
            } else if call.takes_rest() {
                call.rest = words[index..].to_vec();
                break;
            } else if call.verb_is_due {
                if text.starts_with('+') {
                    // A toolchain that is a folder is anybody's.
                    call.is_doubtful |= text.contains('/') || word.has_hole();
                    index += 1;
                    continue;
                }
                let length = call.verb(&words[index..], index, &mut known);
                index += length;
            } else {
                if word.may_become_option() && call.operands_before_dashes.is_none() {
                    call.doubtful.push(word);
                }
                call.operands.push(word);
                index += 1;
            }
        }
        call.hides_options = call.may_hide_options(words, dashes_at);
        call
    }

    /// Whether an option that does this is there.
    pub(crate) fn has(&self, does: Does) -> bool {
        self.options.iter().any(|given| given.does == does)
    }

    /// The options before the verb, which rules do not see; without a verb, all.
    pub(crate) fn before_verb(&self) -> &[Given] {
        let n_before = self.n_before_verb.unwrap_or(self.options.len());
        self.options.get(..n_before).unwrap_or_default()
    }

    /// Whether an option of one of these names is there.
    pub(crate) fn has_option(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| names.contains(&given.name))
    }

    /// The values of an option of these names.
    pub(crate) fn values<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = &'s Word> {
        let given = self.options.iter().filter(|given| names.contains(&given.name));
        given.filter_map(|given| given.value.as_ref())
    }

    /// The last value of an option of these names.
    pub(crate) fn value<'s>(&'s self, names: &'s [&str]) -> Option<&'s Word> {
        self.values(names).last()
    }

    /// Whether options that are not written could make it do more than is known of it.
    pub(crate) fn may_do_more(&self) -> bool {
        let mut options = self.program.options.iter().chain(self.program.everywhere);
        let runs_rest = matches!(
            self.program.operands,
            Operands::Command(_) | Operands::CommandAfter(_) | Operands::Line(_) | Operands::Rest
        );
        self.is_doubtful
            || self.hides_options && (runs_rest || options.any(|option| option.does.is_more()))
    }

    fn may_hide_options(&self, words: &[Word], dashes_at: Option<usize>) -> bool {
        // Builtins of the shell end their options at the first word that is none.
        let ends_early =
            self.program.options.iter().any(|option| matches!(option.does, Does::Names));
        let end = match dashes_at {
            Some(dashes_at) => dashes_at,
            None if self.unknown_verb.is_some() => words.len(),
            None => words.len().saturating_sub(self.rest.len()),
        };
        let own = words.get(..end).unwrap_or(words);
        match own.first() {
            Some(first) if ends_early => first.may_become_option(),
            _ => own.iter().any(Word::may_hold_options),
        }
    }

    /// Whether what it is fed may be an option with which work is lost or the box is left.
    pub(crate) fn may_be_fed_more(&self) -> bool {
        let asks = |option: &Option_| matches!(option.does, Does::Asks(..) | Does::Insists(_));
        let mut own = self.program.options.iter().chain(self.program.everywhere);
        let before = self.top.options.iter().chain(self.top.everywhere);
        let decides = |option: &Option_| matches!(option.does, Does::Decides(_));
        if self.doubtful.iter().any(|word| word.is_option_in_part()) {
            return own.chain(before).any(|option| asks(option) || decides(option));
        }
        self.doubtful.iter().any(|word| word.is_fed()) && own.any(asks)
    }

    pub(crate) fn has_computed_verb(&self) -> bool {
        self.unknown_verb.is_some_and(|verb| verb.known().is_none())
    }

    /// Whether the program only prints its version or help.
    pub(crate) fn only_asks_for_help(&self, words: &[Word]) -> bool {
        let [word] = words else { return false };
        !matches!(self.program.special, Special::Eval | Special::Source | Special::Xargs)
            && word.known().is_some_and(|text| matches!(text.as_str(), "--version" | "--help"))
    }

    fn takes_rest(&self) -> bool {
        match self.program.operands {
            Operands::Command(after) | Operands::Line(after) => {
                // The `-` of `su - USER` is no operand.
                let dash = |word: &&&Word| word.known().is_some_and(|text| text == "-");
                let before = self.operands.len() - self.operands.iter().filter(dash).count();
                before >= after || self.has(Does::CommandNext)
            }
            Operands::Rest => true,
            _ => false,
        }
    }

    /// Takes the verb; the number of words it has.
    fn verb(&mut self, words: &'w [Word], at: usize, known: &mut Vec<&'static [Option_]>) -> usize {
        let texts: Vec<String> = words.iter().take(4).map_while(Word::known).collect();
        self.verb_is_due = false;
        self.verb_at = at;
        self.n_before_verb = Some(self.options.len());
        // Folders that are entered are looked at by themselves.
        let is_doubtful = |given: &Given| {
            given.value.is_some() && given.does == Does::Nothing && !HARMLESS.contains(&given.name)
        };
        let has_value = |flag: &&&Word| flag.text().contains('=');
        let is_known = |flag: &Word| {
            let text = flag.text();
            self.options.iter().any(|given| text.starts_with(given.name))
        };
        self.is_doubtful |= self.options.iter().any(is_doubtful)
            || !self.doubtful.is_empty()
            || self.flags.iter().filter(has_value).any(|flag| !is_known(flag));
        let Some((verb, length)) = self.program.verb(&texts) else {
            self.unknown_verb = words.first();
            self.rest = words.to_vec();
            return 1;
        };
        let everywhere = self.program.everywhere;
        if verb.style == Style::Long {
            self.style = Style::Long;
        }
        self.program = verb;
        *known = vec![verb.options, verb.everywhere, everywhere];
        length
    }

    /// Takes an option; the number of words it has.
    fn option(&mut self, text: &str, words: &'w [Word], known: &[&'static [Option_]]) -> usize {
        let Some(word) = words.first() else { return 1 };
        self.flags.push(word);
        if word.is_option_in_part() {
            self.doubtful.push(word);
        }
        let next = words.get(1);
        if text.starts_with("--") || self.style == Style::Long {
            return self.long(text, words, known);
        }
        // A known option that is spelled out, such as `-C`, `-exec`.
        if let Some(found) = exact(text, known) {
            return self.note(found, None, words, next);
        }
        if matches!(self.program.special, Special::Shell | Special::Set) {
            return self.letters_of_shell(text, words, known);
        }
        self.cluster(text, words, known)
    }

    fn long(&mut self, text: &str, words: &'w [Word], known: &[&'static [Option_]]) -> usize {
        let (name, attached) = match text.split_once('=') {
            Some((name, _)) => {
                (name, words.first().map(|word| word.skip(name.chars().count() + 1)))
            }
            None => (text, None),
        };
        if let Some(found) = exact(name, known) {
            return self.note(found, attached, words, words.get(1));
        }
        // To most of these programs two dashes are as good as one.
        let with_one = name.strip_prefix('-').filter(|name| name.starts_with('-'));
        if self.style == Style::Long
            && let Some(found) = with_one.and_then(|name| exact(name, known))
        {
            return self.note(found, attached, words, words.get(1));
        }
        if self.style == Style::Long {
            return self.attached(text, words, known);
        }
        if name.len() < 3 {
            return 1;
        }
        self.take_back(name, known);
        // Long options may be cut short; where it could be several, it counts as all of them.
        let mut length = 1;
        for found in all(known).filter(|(_, long)| long.starts_with(name)) {
            length = length.max(self.note(found, attached.clone(), words, words.get(1)));
        }
        length
    }

    /// A value right after a name: `-ofile`, `-MFfile`, where long options have one dash.
    fn attached(&mut self, text: &str, words: &'w [Word], known: &[&'static [Option_]]) -> usize {
        let begins = |(option, name): &(&Option_, &str)| {
            option.takes && !name.starts_with("--") && text.starts_with(name)
        };
        let Some(found) = all(known).filter(begins).max_by_key(|(_, name)| name.len()) else {
            return 1;
        };
        let value = words.first().map(|word| word.skip(found.1.len()));
        self.note(found, value, words, None)
    }

    /// Short options in one word, the last perhaps with its value attached.
    fn cluster(&mut self, text: &str, words: &'w [Word], known: &[&'static [Option_]]) -> usize {
        let mut length = 1;
        for (index, c) in text.char_indices().skip(1) {
            if c == '-' {
                self.take_back(text, known);
            }
            let Some(found) = exact(&format!("-{c}"), known) else { continue };
            let (option, _) = found;
            let taken = index + c.len_utf8();
            let takes = option.takes || option.optional || option.does == Does::RunsRest;
            let has_value = takes && taken < text.len();
            let chars = text[..taken].chars().count();
            let attached = has_value.then(|| words.first().map(|word| word.skip(chars))).flatten();
            length = length.max(self.note(found, attached, words, words.get(1)));
            if takes {
                break;
            }
        }
        length
    }

    /// Whether a value would be an option that does more. What is cut short may be another option than
    /// it seems to be, without a value.
    fn is_more(&self, value: &Word) -> bool {
        let text = value.text();
        let known = [self.program.options, self.program.everywhere, self.top.everywhere];
        let name = text.split('=').next().unwrap_or_default();
        exact(name, &known).is_some_and(|(option, _)| option.does.is_more())
    }

    /// Notes an option; the number of words it has.
    pub(super) fn note(
        &mut self,
        (option, name): (&'static Option_, &'static str),
        attached: Option<Word>,
        words: &'w [Word],
        next: Option<&Word>,
    ) -> usize {
        if option.does == Does::RunsRest {
            let rest = words.get(1..).unwrap_or_default();
            let is = |at: usize, text| rest.get(at).and_then(Word::known).as_deref() == Some(text);
            // Only these take several files at once; anywhere else a `+` is a word like others.
            let takes_several = matches!(name, "-exec" | "-execdir");
            let ends_at = |at: &usize| {
                is(*at, ";") || takes_several && *at > 0 && is(*at, "+") && is(at - 1, "{}")
            };
            let end = (0..rest.len()).find(ends_at).unwrap_or(rest.len());
            // Letters may have it after a sign, too.
            let first = attached.map(|word| {
                let is_sign = word.known_prefix().starts_with('=');
                if is_sign { word.skip(1) } else { word }
            });
            self.commands.push(first.into_iter().chain(rest[..end].iter().cloned()).collect());
            self.options.push(Given { name, does: option.does, value: None });
            return end + 2;
        }
        let takes_next = option.takes && attached.is_none();
        let value = if takes_next { next.cloned() } else { attached };
        if takes_next && next.is_some_and(|word| self.is_more(word)) {
            self.is_doubtful = true;
        }
        self.options.push(Given { name, does: option.does, value });
        if takes_next { 2 } else { 1 }
    }
}

fn all(known: &[&'static [Option_]]) -> impl Iterator<Item = (&'static Option_, &'static str)> {
    let options = known.iter().flat_map(|options| options.iter());
    options.flat_map(|option| option.all_names().map(move |name| (option, name)))
}

pub(super) fn exact(
    name: &str,
    known: &[&'static [Option_]],
) -> Option<(&'static Option_, &'static str)> {
    all(known).find(|(_, known)| *known == name)
}

/// The words of tar with its letters (`xzf a.tgz`) written as options.
pub(crate) fn tar_letters(words: &[Word]) -> Option<Vec<Word>> {
    let (letters, rest) = words.split_first()?;
    let known = letters.known().filter(|text| !text.starts_with('-') && !text.is_empty())?;
    let mut rest = rest.iter();
    let mut written = Vec::new();
    for letter in known.chars() {
        written.push(Word::literal(&format!("-{letter}")));
        if "fCbXTIFHgKNV".contains(letter) {
            written.extend(rest.next().cloned());
        }
    }
    written.extend(rest.cloned());
    Some(written)
}
