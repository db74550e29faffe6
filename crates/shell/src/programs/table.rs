//! The words that tables of programs are written in.

use crate::line::ConcernKind;

/// A program, or one of its verbs (`push` of `git`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// Its names; of a verb, those of several words are joined by `+`.
    names: &'static str,
    pub(crate) effect: Effect,
    /// Options before the verb, or all there are.
    pub(crate) options: &'static [Option_],
    /// Options that are also understood after the verb.
    pub(crate) everywhere: &'static [Option_],
    pub(crate) operands: Operands,
    pub(crate) verbs: &'static [Program],
    pub(crate) style: Style,
    pub(crate) special: Special,
}

/// What running it means by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes what the box lets it.
    Changes,
    /// It must be asked about.
    Asks(ConcernKind, &'static str),
}

/// An option or several that mean the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Option_ {
    /// With their dashes.
    pub(crate) names: &'static str,
    /// Whether the next word belongs to it when nothing is attached.
    pub(crate) takes: bool,
    /// Whether it has a value only where one is attached.
    pub(crate) optional: bool,
    pub(crate) does: Does,
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Nothing,
    /// The program changes something after all.
    Changes,
    /// The program only reads, whatever it does else.
    OnlyReads,
    /// What the program would destroy is spared.
    Spares,
    /// It destroys, even where something is spared.
    Insists(&'static str),
    /// The value is a file or folder that is written.
    Writes,
    /// The same, unless it begins with `|` or `!` and is a line for a shell.
    WritesOrRuns,
    /// The value may be a file that is written; what programs of no table call their output.
    MayWrite,
    /// Files in the operands are edited, all but the first so many.
    Edits(usize),
    /// The value is `exec=` and a line for a shell, or something harmless.
    RunsAction,
    /// The value is the folder that the program works in.
    Enters,
    /// The value is a line for a shell.
    RunsLine,
    /// The same after this.
    RunsVerb(&'static str),
    /// The value is a file that a shell runs.
    RunsFile,
    /// The value is a program, perhaps with arguments.
    RunsProgram,
    /// The value is a program, or only a version of one.
    RunsVersion,
    /// It may write, or run, more than is known.
    Doubts,
    /// The same, and the value is a line for a shell.
    DoubtsLine,
    /// Repositories within the one it works in are looked into, whose settings may name programs;
    /// not with one of these values.
    LooksWithin(&'static [&'static str]),
    /// The command follows at once, whatever stands before it without this.
    CommandNext,
    /// A command follows, up to `;` or `+` or the end.
    RunsRest,
    /// The value is the name of a variable that is set.
    Names,
    /// The value is a setting of git.
    Setting,
    /// The value is a setting of ssh.
    SshSetting,
    /// The value is the program by which rsync reaches another machine.
    RemoteShell,
    /// It decides what runs: the value is a line for a shell.
    Decides(&'static str),
    /// The value is a file that is written, or a dash for the screen.
    WritesOrPrints,
    Asks(ConcernKind, &'static str),
}

impl Does {
    /// Whether the program writes, runs or sets something with it.
    pub(crate) fn is_more(self) -> bool {
        // What a program of no table may write is its own business.
        !matches!(
            self,
            Self::Nothing
                | Self::OnlyReads
                | Self::Spares
                | Self::Enters
                | Self::MayWrite
                | Self::CommandNext
        )
    }
}

/// What words that are no options mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// They are read, or are no files.
    Read,
    /// All but the first so many are written.
    Write(usize),
    /// Only the first is written.
    WriteFirst,
    /// The last is written, the others are read; one alone is written to.
    WriteLast,
    /// The last is written and the others go away.
    Move,
    /// After so many a command follows.
    Command(usize),
    /// After one of these words a command follows.
    CommandAfter(&'static str),
    /// After so many all words together are a line for a shell.
    Line(usize),
    /// Options end at the first of them; a special rule looks at what is there.
    Rest,
    /// Each is a line for a shell.
    Lines,
    /// They are names of variables, perhaps with values.
    Names,
    /// The same, which programs get to see.
    Exports,
    /// Having any means a change.
    Change,
}

/// How options look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `-abc`, `--long=value`, and long ones may be cut short.
    Gnu,
    /// `-long value`, `-long=value`.
    Long,
}

/// Programs that no table can describe alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    No,
    Shell,
    Source,
    /// A shell that is not bash.
    OtherShell,
    Alias,
    /// Words that are no verb of its own are a command.
    Runner,
    Eval,
    Trap,
    Cd,
    Popd,
    Pushd,
    Env,
    Xargs,
    Setarch,
    Script,
    /// A file that it makes stands before the command.
    Lock,
    /// Its operands are names of new files, unless options say where those lie.
    Temp,
    Date,
    /// Without a command it starts a shell.
    OwnShell,
    Parallel,
    Kill,
    Remove,
    Chmod,
    Copy,
    Dd,
    Tar,
    Rsync,
    Unzip,
    Sed,
    Awk,
    Less,
    Python,
    Git,
    GitCheckout,
    GitClone,
    GitConfig,
    GitPush,
    Make,
    Set,
    Shopt,
    Compiler,
    Sqlite,
    Sql,
    Ssh,
    Scp,
    Sftp,
    Curl,
    Sudo,
    Bwrap,
    Capsh,
}

pub(crate) const fn reads(names: &'static str) -> Program {
    program(names, Effect::Reads)
}

pub(crate) const fn changes(names: &'static str) -> Program {
    program(names, Effect::Changes)
}

/// Work is lost where the box lets it write.
pub(crate) const fn destroys(names: &'static str, why: &'static str) -> Program {
    program(names, Effect::Asks(ConcernKind::Irreversible, why))
}

/// It leaves the box, or wants to.
pub(crate) const fn leaves(names: &'static str, why: &'static str) -> Program {
    program(names, Effect::Asks(ConcernKind::Leaves, why))
}

/// What it runs is not read.
pub(crate) const fn riddles(names: &'static str, why: &'static str) -> Program {
    program(names, Effect::Asks(ConcernKind::NotUnderstood, why))
}

/// It decides what other words run.
pub(crate) const fn redefines(names: &'static str, why: &'static str) -> Program {
    program(names, Effect::Asks(ConcernKind::Environment, why))
}

const fn program(names: &'static str, effect: Effect) -> Program {
    Program {
        names,
        effect,
        options: &[],
        everywhere: &[],
        operands: Operands::Read,
        verbs: &[],
        style: Style::Gnu,
        special: Special::No,
    }
}

impl Program {
    pub(crate) const fn options(self, options: &'static [Option_]) -> Self {
        Self { options, ..self }
    }

    pub(crate) const fn everywhere(self, everywhere: &'static [Option_]) -> Self {
        Self { everywhere, ..self }
    }

    pub(crate) const fn operands(self, operands: Operands) -> Self {
        Self { operands, ..self }
    }

    pub(crate) const fn verbs(self, verbs: &'static [Program]) -> Self {
        Self { verbs, ..self }
    }

    pub(crate) const fn long_options(self) -> Self {
        Self { style: Style::Long, ..self }
    }

    pub(crate) const fn special(self, special: Special) -> Self {
        Self { special, ..self }
    }

    pub(crate) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }

    /// The verb that the words begin with, and how many words it has; the longest name wins.
    pub(crate) fn verb(&self, words: &[String]) -> Option<(&'static Program, usize)> {
        let matching =
            self.verbs.iter().flat_map(|verb| verb.all_names().map(move |name| (verb, name)));
        let fits = matching.filter_map(|(verb, name)| {
            let parts: Vec<&str> = name.split('+').collect();
            let begins = words.len() >= parts.len()
                && parts.iter().zip(words).all(|(part, word)| part == word);
            begins.then_some((verb, parts.len()))
        });
        fits.max_by_key(|(_, length)| *length)
    }
}

/// The next word belongs to the option.
pub(crate) const fn takes(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Nothing }
}

/// With it no operand stands before the command.
pub(crate) const fn command_next(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::CommandNext }
}

/// The value is a file that is written.
pub(crate) const fn writes(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Writes }
}

/// Operands after the first so many are edited in place.
pub(crate) const fn edits(names: &'static str, skipped: usize) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Edits(skipped) }
}

/// Without a value, and of no weight.
pub(crate) const fn flag(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Nothing }
}

/// The value is the folder to work in.
pub(crate) const fn enters(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Enters }
}

/// The value is a line for a shell.
pub(crate) const fn runs_line(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::RunsLine }
}

/// The value is a program.
pub(crate) const fn runs_program(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::RunsProgram }
}

/// A command follows.
pub(crate) const fn runs_rest(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::RunsRest }
}

/// The value is the name of a variable.
pub(crate) const fn names_variable(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Names }
}

/// With it nobody can tell what it writes or runs.
pub(crate) const fn doubts(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Doubts }
}

/// Repositories within are looked into, unless the value, which is attached, is one of these.
pub(crate) const fn looks_within(names: &'static str, spared: &'static [&'static str]) -> Option_ {
    Option_ { names, takes: false, optional: true, does: Does::LooksWithin(spared) }
}

/// The value is a program, or a version of one.
pub(crate) const fn runs_version(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::RunsVersion }
}

/// The value is `name=value`, a setting of git.
pub(crate) const fn setting(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Setting }
}

/// With it something changes.
pub(crate) const fn alters(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Changes }
}

/// With it nothing is done but to look.
pub(crate) const fn only_reads(names: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::OnlyReads }
}

/// With it work is lost.
pub(crate) const fn loses(names: &'static str, why: &'static str) -> Option_ {
    Option_ {
        names,
        takes: false,
        optional: false,
        does: Does::Asks(ConcernKind::Irreversible, why),
    }
}

/// With it work is lost, whatever other options spare.
pub(crate) const fn insists(names: &'static str, why: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Insists(why) }
}

/// With it the box is left.
pub(crate) const fn escapes(names: &'static str, why: &'static str) -> Option_ {
    Option_ { names, takes: false, optional: false, does: Does::Asks(ConcernKind::Leaves, why) }
}

/// With it something else decides what runs.
pub(crate) const fn decides(names: &'static str, why: &'static str) -> Option_ {
    Option_ {
        names,
        takes: false,
        optional: false,
        does: Does::Asks(ConcernKind::Environment, why),
    }
}

/// With it something else decides what runs, and its value is a line for a shell.
pub(crate) const fn decides_line(names: &'static str, why: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::Decides(why) }
}

/// The value is a line for a shell, which may run whatever else is said.
pub(crate) const fn doubts_line(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::DoubtsLine }
}

/// The value is a file that is written, or a dash.
pub(crate) const fn prints(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::WritesOrPrints }
}

/// The value is a setting of ssh.
pub(crate) const fn ssh_setting(names: &'static str) -> Option_ {
    Option_ { names, takes: true, optional: false, does: Does::SshSetting }
}

impl Option_ {
    /// The same with a value only where one is attached.
    pub(crate) const fn attached(self) -> Self {
        Self { takes: false, optional: true, ..self }
    }

    /// The same with a value after it.
    pub(crate) const fn valued(self) -> Self {
        Self { takes: true, ..self }
    }

    pub(crate) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }
}
