//! Says what one simple command does, by the tables of programs.

mod edit;
mod git;
mod invocation;
mod letters;
mod network;
mod rights;
mod shells;
mod special;
mod tools;
mod verb;
mod wrapped;

use invocation::Invocation;

use crate::line::{Command, ConcernKind};
use crate::place;
use crate::programs::{self, Does, Effect, Operands, Program, Special};
use crate::reader::Reader;
use crate::word::Word;

impl Reader<'_> {
    /// Judges a command: its name, its options, its operands, and what it runs in turn.
    pub(crate) fn judge(&mut self, words: &[Word]) {
        self.evaluates_words(words);
        let Some(name) = words.first() else { return };
        let Some(known) = self.name_of(name) else {
            self.changes();
            self.add(command_of(words, None, 0));
            return;
        };
        self.calls_function(&known);
        // The function may not be there yet, and another program stand in its place.
        if self.is_function(&known) {
            self.changes();
            self.scope.may_be_anywhere();
            self.add(command_of(words, None, 1));
            return;
        }
        let of_git = verb::of_git(&known, words);
        // What a folder of somebody calls `ls` may be anything, and git's own programs are not among the system's.
        if !programs::is_of_the_system(&known) || of_git.is_some() {
            self.changes();
        }
        let told = of_git.as_deref().unwrap_or(words);
        let Some((name, rest)) = told.split_first() else { return };
        let program = programs::find(&name.text()).unwrap_or(&programs::UNKNOWN);
        let old_style =
            (program.special == Special::Tar).then(|| invocation::tar_letters(rest)).flatten();
        let rest = old_style.as_deref().unwrap_or(rest);
        let mut invocation = Invocation::read(program, rest);
        let together = verb::together(&invocation, rest);
        let rest = together.as_deref().unwrap_or(rest);
        if together.is_some() {
            invocation = Invocation::read(program, rest);
        }
        let mut command = command_of(told, Some(&invocation), 1);
        command.words = words.iter().map(Word::text).collect();
        command.is_named &= of_git.is_none();
        if together.is_some() {
            let plain: Vec<Word> = [std::slice::from_ref(name), rest].concat();
            command.plain = command_of(&plain, Some(&invocation), 1).plain;
        }
        command.is_elsewhere = self.goes_elsewhere(&invocation);
        command.is_wrapper &= !command.is_elsewhere;
        let folder = place::resolve(self.place.workspace, None);
        if program.special == Special::Git && self.scope.certain_folder() != folder {
            self.is_elsewhere();
        }
        if !self.add(command) {
            return;
        }
        if invocation.only_asks_for_help(rest) {
            return;
        }
        self.invocation(&invocation);
    }

    /// Whether options that rules do not see lead it to another folder than the workspace itself.
    fn goes_elsewhere(&self, invocation: &Invocation<'_>) -> bool {
        let enters = |given: &&invocation::Given| given.does == Does::Enters;
        let mut entered = invocation.before_verb().iter().filter(enters).peekable();
        if entered.peek().is_none() {
            return false;
        }
        // Behind a link `..` is another folder than its letters say.
        let is_plain = |path: &String| path.split('/').all(|part| part != "..");
        let folder = entered.try_fold(self.scope.certain_folder(), |folder, given| {
            let path = given.value.as_ref().and_then(Word::known).filter(is_plain)?;
            Some(place::resolve(&path, folder.as_deref()))
        });
        folder.flatten() != place::resolve(self.place.workspace, None)
    }

    /// The command's name, if it is known.
    fn name_of(&mut self, name: &Word) -> Option<String> {
        let Some(known) = name.known() else {
            self.unclear(&format!("which command runs is computed: {}", name.text()));
            return None;
        };
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
        if known.is_empty() || !known.chars().all(is_plain) {
            self.unclear("the name of a command holds unusual characters");
            return None;
        }
        // No program is called so: it is an option of what runs there.
        if known.len() > 1 && known.starts_with('-') {
            self.unclear(&format!("an option stands in the place of a command: {known}"));
        }
        // What looks like a line may be one, to a program that gives it to a shell.
        if known.split_once(' ').is_some_and(|(first, _)| !first.contains('/')) {
            self.unclear("the name of a command is several words");
        }
        Some(known)
    }

    /// Judges what was understood of a command whose program is known.
    pub(crate) fn invocation(&mut self, invocation: &Invocation<'_>) {
        let mut before = self.scope.standing();
        // What only looked may be told to do more all the same.
        let only_reads = invocation.has(Does::OnlyReads) && !invocation.has(Does::Changes);
        let spares = invocation.has(Does::Spares);
        if spares {
            self.changes();
        } else if !only_reads {
            self.effect(invocation.program.effect);
        }
        if let Some(verb) = &invocation.unknown_verb {
            self.unknown_verb(invocation.program, verb);
        }
        for given in &invocation.options {
            self.option(given.does, given.value.as_ref(), only_reads || spares);
        }
        if invocation.may_do_more() {
            self.is_open_ended();
        }
        if invocation.may_be_fed_more() {
            self.unclear("what it is fed may be options");
        }
        for words in &invocation.commands {
            self.fed(words, "{}", &Word::computed("{}"));
            self.takers += 1;
        }
        if !only_reads {
            self.operands(invocation);
        }
        if invocation.program.special != Special::No {
            self.special(invocation, only_reads);
        }
        if invocation.has(Does::Enters) {
            self.scope.go_back(&before);
        } else if !matches!(
            invocation.program.special,
            Special::Cd | Special::Pushd | Special::Popd
        ) {
            // What it ran may have been a `cd` of this shell, or of a program.
            before.temps.clone_from(&self.scope.temps);
            self.scope.or(&before);
        }
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Reads => {}
            Effect::Changes => self.changes(),
            Effect::Asks(kind, why) => {
                self.changes();
                self.concern(kind, why);
            }
        }
    }

    fn unknown_verb(&mut self, program: &Program, verb: &Word) {
        self.changes();
        if program.special == Special::Runner {
            // Judged as a command, in `special`.
        } else if verb.known().is_none() {
            self.unclear(&format!("what is done is computed: {}", verb.text()));
        } else if program.special == Special::Git {
            self.unclear(&format!("git {} is no command of git itself", verb.text()));
        }
    }

    fn option(&mut self, does: Does, value: Option<&Word>, is_mild: bool) {
        let written = value.cloned().unwrap_or_default();
        match does {
            Does::Nothing | Does::Spares | Does::OnlyReads | Does::CommandNext | Does::RunsRest => {
            }
            Does::Setting => self.setting(&written),
            Does::SshSetting => self.ssh_setting(&written),
            Does::RemoteShell => self.remote_shell(&written),
            Does::Decides(why) => {
                self.changes();
                self.concern(ConcernKind::Environment, why);
                self.line_if_known(&written);
            }
            // Here it is the screen, which is written to as it is without the option.
            Does::WritesOrPrints if written.known().as_deref() == Some("-") => {}
            Does::WritesOrPrints => self.write(&written),
            Does::Changes => self.changes(),
            Does::Insists(why) => self.effect(Effect::Asks(ConcernKind::Irreversible, why)),
            Does::Asks(kind, why) => {
                self.changes();
                if !is_mild || kind != ConcernKind::Irreversible {
                    self.concern(kind, why);
                }
            }
            Does::Edits(_) => self.changes(),
            Does::MayWrite => self.may_write(&written),
            // Without a value it writes to a name of its own in the folder it works in.
            Does::Writes | Does::WritesOrRuns if value.is_none() => self.changes(),
            Does::WritesOrRuns if written.text().starts_with(['|', '!']) => {
                self.line_of(&written.skip(1))
            }
            Does::Writes | Does::WritesOrRuns => self.write(&written),
            Does::RunsAction if written.text().starts_with("exec=") => {
                self.line_of(&written.skip(5))
            }
            Does::RunsAction => {}
            Does::Enters => self.enter(&written),
            Does::RunsLine => self.line_of(&written),
            Does::RunsVerb(start) => {
                let atoms = [Word::literal(start).atoms, written.atoms].concat();
                self.line_of(&Word { atoms });
            }
            Does::RunsFile => self.script_file(&written),
            Does::RunsProgram => self.program_of(&written),
            Does::RunsVersion if is_version(&written) => {}
            Does::RunsVersion => self.program_of(&written),
            Does::Doubts => self.is_open_ended(),
            Does::DoubtsLine => {
                self.is_open_ended();
                self.line_if_known(&written);
            }
            Does::LooksWithin(spared) => {
                if written.known().is_none_or(|value| !spared.contains(&value.as_str())) {
                    self.is_elsewhere();
                }
            }
            Does::Names => self.variable_word(&written),
        }
    }

    fn operands(&mut self, invocation: &Invocation<'_>) {
        let operands = &invocation.operands;
        for given in &invocation.options {
            if let Does::Edits(skipped) = given.does {
                operands.iter().skip(skipped).for_each(|word| self.write(word));
            }
        }
        match invocation.program.operands {
            Operands::Read | Operands::Rest | Operands::Line(_) => {}
            Operands::Command(_) | Operands::CommandAfter(_) => {}
            Operands::Write(skipped) => {
                operands.iter().skip(skipped).for_each(|word| self.write(word))
            }
            Operands::WriteFirst => operands.first().into_iter().for_each(|word| self.write(word)),
            Operands::WriteLast => operands.last().into_iter().for_each(|word| self.write(word)),
            Operands::Move => operands.iter().for_each(|word| self.replace(word)),
            Operands::Lines => operands.iter().for_each(|word| self.line_of(word)),
            Operands::Names if invocation.has_option(&["-x"]) => {
                operands.iter().for_each(|word| self.exported_word(word))
            }
            Operands::Names => operands.iter().for_each(|word| self.variable_word(word)),
            Operands::Exports => operands.iter().for_each(|word| self.exported_word(word)),
            Operands::Change if operands.is_empty() => {}
            Operands::Change => self.changes(),
        }
        match invocation.program.operands {
            Operands::Command(_) | Operands::CommandAfter(_) => self.wrapped(&invocation.rest),
            Operands::Line(_) => self.joined_line(&invocation.rest),
            _ => {}
        }
    }
}

/// Whether a word is the version of a program, perhaps after its name, and no file.
fn is_version(word: &Word) -> bool {
    let Some(text) = word.known() else { return false };
    let version = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '@');
    let is_named = ["python", "pypy", "cpython"].iter().any(|name| text.starts_with(name));
    (is_named || text == version)
        && version.chars().all(|c| c.is_ascii_digit() || ".,<>=~!*".contains(c))
}

/// A command for the outside: its words, and the words that rules go by.
fn command_of(words: &[Word], invocation: Option<&Invocation<'_>>, known: usize) -> Command {
    let texts: Vec<String> = words.iter().map(Word::text).collect();
    let plain = match (texts.split_first(), invocation) {
        (Some((name, rest)), invocation) => {
            let from = invocation.map_or(0, |invocation| invocation.verb_at);
            let name = programs::base(name);
            std::iter::once(name).chain(rest.iter().skip(from).cloned()).collect()
        }
        (None, _) => Vec::new(),
    };
    let is_named = known > 0 && !invocation.is_some_and(Invocation::has_computed_verb);
    let is_wrapper = invocation.is_some_and(runs_another);
    let seen: Vec<&Word> = match invocation {
        Some(call) => {
            let own = call.flags.iter().chain(&call.operands).copied();
            own.chain(&call.rest).chain(words.first()).collect()
        }
        None => words.iter().collect(),
    };
    let shaped = |word: &Word| Some((word.text(), word.shape()?));
    let made = seen.into_iter().filter_map(shaped).collect();
    Command { words: texts, plain, is_named, is_wrapper, is_elsewhere: false, made }
}

/// Whether all that an invocation does is to run the command in its words.
fn runs_another(invocation: &Invocation<'_>) -> bool {
    let program = invocation.program;
    let takes_command = matches!(program.operands, Operands::Command(_))
        || matches!(program.special, Special::Env | Special::Xargs | Special::Setarch);
    takes_command
        && program.effect == Effect::Reads
        && !invocation.rest.is_empty()
        && !takes_settings_away(invocation)
}

/// Whether `env` takes away the variables by which git looks at no repository in disguise.
fn takes_settings_away(invocation: &Invocation<'_>) -> bool {
    // `-i`, alone or among other letters, and what `--ignore-environment` may be cut to.
    let takes_all = |flag: &&Word| {
        let text = flag.text();
        text.starts_with("--i") || !text.starts_with("--") && text.contains('i')
    };
    let takes_one = |name: &Word| name.known().is_none_or(|name| name.starts_with("GIT_CONFIG"));
    invocation.program.special == Special::Env
        && (invocation.rest.first().is_some_and(|word| word.text() == "-")
            || invocation.flags.iter().any(takes_all)
            || invocation.values(&["-u", "--unset"]).any(takes_one))
}
