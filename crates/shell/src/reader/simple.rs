//! Simple commands: assignments, words, redirections.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand,
};

use super::{Input, Reader};
use crate::line::LINES_TAKEN;
use crate::second;
use crate::word::Word;

/// Programs that read nothing, or run what the workspace holds.
const IDLE: [&str; 25] = [
    ":", "[", "cargo", "cd", "declare", "echo", "exit", "export", "false", "go", "local", "ls",
    "make", "mkdir", "npm", "printf", "pwd", "readonly", "return", "set", "sleep", "test", "touch",
    "true", "unset",
];

/// Who gets to see a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Shell,
    Programs,
}

impl Reader<'_> {
    pub(super) fn simple(&mut self, command: &SimpleCommand) {
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        let (mut words, mut sources) = (Vec::new(), Vec::new());
        let outer = self.scope.input.clone();
        let reach = if command.word_or_name.is_some() { Reach::Programs } else { Reach::Shell };
        for item in prefix {
            self.prefix_item(item, reach);
        }
        if let Some(name) = &command.word_or_name {
            sources.push(name.value.clone());
            words.extend(self.words(&name.value));
        }
        for item in suffix {
            self.suffix_item(item, &mut words, &mut sources);
        }
        let is_test = sources.first().is_some_and(|name| name == "[");
        if !sources.is_empty() && !is_test {
            self.seen.push(second::command(sources.iter().map(String::as_str)));
        }
        if let Input::Rest(before) = outer
            && before != self.takers
        {
            self.unclear(LINES_TAKEN);
        }
        let has_own = self.scope.input != outer;
        if has_own && let Input::Text(_, before) = &mut self.scope.input {
            *before = self.takers;
        }
        if !words.is_empty() {
            self.judge(&words);
        }
        let own = has_own.then(|| std::mem::replace(&mut self.scope.input, outer));
        self.takes(&words, own.as_ref());
    }

    /// Notes whether a command may have taken something of what it shares with others.
    fn takes(&mut self, words: &[Word], own: Option<&Input>) {
        let name = words.first().map(Word::text);
        let is = |names: &[&str]| name.as_deref().is_some_and(|name| names.contains(&name));
        // What they redirect stays so.
        let stays = is(&["exec", "command", "builtin"]);
        if stays && own.is_some() && matches!(self.scope.input, Input::Rest(_)) {
            self.unclear("a shell goes on with what it reads");
        }
        let is_idle = own.is_none() && (name.is_none() || is(&IDLE));
        let shares = self.scope.input != Input::Unknown;
        if shares && !is_idle && (stays || !matches!(own, Some(Input::Text(..)))) {
            self.takers += 1;
        }
    }

    fn prefix_item(&mut self, item: &CommandPrefixOrSuffixItem, reach: Reach) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                self.assignment(assignment, reach)
            }
            // Neither parser puts these before the name; if one does, it is not understood.
            CommandPrefixOrSuffixItem::Word(_)
            | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                self.process(item);
                self.unclear("something stands before the command's name");
            }
        }
    }

    fn suffix_item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Vec<Word>,
        sources: &mut Vec<String>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) => {
                sources.push(word.value.clone());
                words.extend(self.words(&word.value));
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                sources.push(word.value.clone());
                match &assignment.value {
                    // By itself, so that a tilde in it means a home, as it does to bash.
                    AssignmentValue::Scalar(value) => {
                        let is_whole = word.value.ends_with(&value.value);
                        let name = word.value.len().saturating_sub(value.value.len());
                        let mut full = Word::literal(word.value.get(..name).unwrap_or_default());
                        full.atoms.extend(self.one_word(&value.value).atoms);
                        let word = if is_whole { full } else { self.one_word(&word.value) };
                        words.extend(word.with_braces_expanded());
                    }
                    AssignmentValue::Array(_) => {
                        self.assignment(assignment, Reach::Shell);
                        words.push(Word::literal(&name_of(assignment)));
                    }
                }
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                let word = self.process(item);
                sources.push(String::new());
                words.extend(word);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment, reach: Reach) {
        if let AssignmentName::ArrayElementName(name, index) = &assignment.name {
            self.subscript(name, index);
        }
        let name = name_of(assignment);
        if matches!(assignment.name, AssignmentName::ArrayElementName(..))
            || matches!(assignment.value, AssignmentValue::Array(_))
        {
            self.is_array(&name);
        }
        if assignment.append {
            self.appends(&name);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.one_word(&word.value);
                self.names_variable(&name, Some(&value));
                if reach == Reach::Programs {
                    self.exports(&name, Some(&value));
                }
            }
            AssignmentValue::Array(values) => {
                self.named(&name, None);
                for (index, value) in values {
                    index.iter().for_each(|index| self.arithmetic(&index.value));
                    let values = self.words(&value.value);
                    values.iter().for_each(|value| self.gets(&name, Some(value)));
                }
            }
        }
    }
}

fn name_of(assignment: &Assignment) -> String {
    match &assignment.name {
        AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _) => {
            name.clone()
        }
    }
}
