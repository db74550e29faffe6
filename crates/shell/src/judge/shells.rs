//! Shells: what they run, and what their builtins change about the lines that follow.

use super::invocation::Invocation;
use crate::programs::{self, Does};
use crate::reader::Reader;
use crate::word::Word;

impl Reader<'_> {
    pub(super) fn shell(&mut self, call: &Invocation<'_>, only_reads: bool) {
        if only_reads {
            return;
        }
        self.set(call);
        // A dash alone ends the options as two do.
        let is_dash = |word: &&Word| word.text() == "-" && call.operands_before_dashes.is_none();
        let dashes = call.rest.iter().take(1).filter(is_dash).count();
        match call.rest.get(dashes) {
            Some(program) if call.has_option(&["-c"]) => self.line_of(program),
            Some(file) if !call.has_option(&["-s"]) => self.script_file(file),
            _ if call.has_option(&["-c"]) => {}
            _ => self.input_script(),
        }
    }

    pub(super) fn source(&mut self, call: &Invocation<'_>) {
        call.rest.first().into_iter().for_each(|file| self.script_file(file));
        self.scope.may_be_anywhere();
    }

    pub(super) fn other_shell(&mut self, call: &Invocation<'_>) {
        let has_line = call.options.iter().any(|given| given.does == Does::RunsLine);
        match call.rest.first() {
            Some(file) if file.text() != "-" => self.script_file(file),
            None if has_line => {}
            _ => self.unclear("a shell runs what it reads"),
        }
    }

    pub(super) fn alias(&mut self, call: &Invocation<'_>) {
        if call.operands.iter().any(|word| word.text().contains('=') || word.known().is_none()) {
            self.unclear("an alias makes a word mean something else");
        }
    }

    pub(super) fn eval(&mut self, call: &Invocation<'_>) {
        let known: Option<Vec<String>> = call.rest.iter().map(Word::known).collect();
        match known {
            Some(texts) => self.script(&texts.join(" ")),
            None => self.unclear("what eval runs is computed"),
        }
    }

    pub(super) fn trap(&mut self, call: &Invocation<'_>) {
        if let [command, _, ..] = call.operands.as_slice()
            && command.text() != "-"
        {
            // It runs later, wherever that is.
            let (mut is_elsewhere, n_before) = (false, self.commands().len());
            self.apart(|reader| {
                reader.is_later();
                let before = reader.scope.standing();
                match command.known() {
                    Some(text) => reader.script(&text),
                    None => reader.line_of(command),
                }
                let mut run = reader.commands().iter().skip(n_before);
                let is_function = run.any(|command| {
                    command.words.first().is_some_and(|name| reader.is_function(name))
                });
                is_elsewhere = reader.scope.has_moved(&before) || is_function;
            });
            // At the end nothing follows.
            let is_end =
                |word: &Word| word.known().is_some_and(|name| name.to_uppercase() == "EXIT");
            self.scope.roams |=
                is_elsewhere && !call.operands.iter().skip(1).all(|word| is_end(word));
        }
    }

    pub(super) fn set(&mut self, call: &Invocation<'_>) {
        call.values(&["-o", "-O"]).for_each(|name| self.shell_option(name));
    }

    pub(super) fn shopt(&mut self, call: &Invocation<'_>) {
        if call.flags.iter().any(|flag| flag.text().contains('s') || flag.has_hole()) {
            call.operands.iter().for_each(|name| self.shell_option(name));
        }
    }

    /// Options of bash by their names.
    fn shell_option(&mut self, name: &Word) {
        match name.known().as_deref() {
            None => self.unclear("an option of the shell is computed"),
            Some("keyword") => self.unclear(programs::KEYWORD_WHY),
            // Each variable that gets a value is seen by what runs.
            Some("allexport") => self.is_open_ended(),
            // What ends a pipe runs in this shell; the name of a variable is a folder.
            Some("lastpipe" | "cdable_vars") => self.scope.roams = true,
            Some(_) => {}
        }
    }
}
