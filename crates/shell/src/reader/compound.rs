//! Lists, pipelines, loops, functions.

use std::rc::Rc;

use brush_parser::ast::{
    AndOr, AndOrList, BinaryPredicate, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, ExtendedTestExpr, FunctionDefinition, IoFileRedirectKind, IoFileRedirectTarget,
    IoHereDocument, IoRedirect, Pipeline, Program, RedirectList, SeparatorOperator, SimpleCommand,
    SubshellCommand, UnaryPredicate,
};

use super::{Input, Reader};
use crate::line::ConcernKind;
use crate::place::is_connection;
use crate::word::{HoleKind, Word};
use crate::{environment, programs, second};

/// Commands whose operands are variables of the shell itself.
const ASSIGNING: [&str; 5] = ["export", "declare", "typeset", "readonly", "local"];

impl Reader<'_> {
    pub(super) fn program(&mut self, program: &Program) {
        for list in &program.complete_commands {
            self.list(list);
        }
    }

    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.apart(|reader| reader.and_or(&item.0)),
                SeparatorOperator::Sequence => self.and_or(&item.0),
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        let mut before = vec![self.scope.standing()];
        self.pipeline(&list.first);
        // It surely ran, so what it set is set. Whether it could change the folder is another thing.
        before[0].temps.clone_from(&self.scope.temps);
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => {
                    before.push(self.scope.standing());
                    self.pipeline(pipeline);
                }
                AndOr::Or(pipeline) => {
                    before.iter().for_each(|before| self.scope.or(before));
                    self.perhaps(|reader| reader.pipeline(pipeline));
                }
            }
        }
        before.iter().for_each(|before| self.scope.or(before));
    }

    /// Does this as something that the line may not do.
    fn perhaps(&mut self, act: impl FnOnce(&mut Self)) {
        let before = self.scope.standing();
        act(self);
        self.scope.or(&before);
    }

    /// Does this as something that the line may do again, from where it then is.
    fn repeatedly(&mut self, act: impl FnOnce(&mut Self)) {
        let (before, relied) = (self.scope.standing(), self.relied);
        // In another round others have read.
        if matches!(self.scope.input, Input::Text(..)) {
            self.takers += 1;
        }
        act(self);
        if self.scope.has_moved(&before) {
            self.is_open_ended();
            if self.relied > relied {
                let why = "removes for good in a folder that changes with each round";
                self.concern(ConcernKind::Irreversible, why);
            }
        }
        self.scope.or(&before);
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [command] = pipeline.seq.as_slice() {
            let before = pipeline.bang.then(|| self.scope.standing());
            self.command(command);
            // What comes next comes when it failed.
            before.iter().for_each(|before| self.scope.or(before));
            return;
        }
        for (index, command) in pipeline.seq.iter().enumerate() {
            self.apart(|reader| {
                if index > 0 {
                    reader.scope.input = Input::Unknown;
                }
                reader.command(command);
            });
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple_alone(simple),
            Command::Compound(compound, redirects) => {
                self.with_redirects(redirects.as_ref(), |reader| reader.compound(compound));
            }
            Command::Function(function) => self.function(function),
            Command::ExtendedTest(test, redirects) => {
                self.with_redirects(redirects.as_ref(), |reader| reader.test(&test.expr));
            }
        }
    }

    /// A simple command: what is assigned before a name is gone after it, and few names assign.
    fn simple_alone(&mut self, simple: &SimpleCommand) {
        let before = self.scope.temps.clone();
        self.simple(simple);
        let assigns = match &simple.word_or_name {
            Some(name) => simple.prefix.is_none() && ASSIGNING.contains(&name.value.as_str()),
            None => true,
        };
        if !assigns {
            self.scope.temps.retain(|name| before.contains(name));
        }
    }

    fn with_redirects(&mut self, redirects: Option<&RedirectList>, act: impl FnOnce(&mut Self)) {
        let outer = self.scope.input.clone();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect);
        }
        act(self);
        self.scope.input = outer;
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.arithmetic(&command.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in
                    [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten()
                {
                    self.arithmetic(&part.value);
                }
                self.repeatedly(|reader| reader.list(&clause.body.list));
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.subshell(shell),
            CompoundCommand::ForClause(clause) => {
                let name = &clause.variable_name;
                self.named(name, None);
                match &clause.values {
                    None => self.gets(name, None),
                    Some(values) => {
                        let values = values.iter().flat_map(|word| self.words(&word.value));
                        let values: Vec<_> = values.collect();
                        values.iter().for_each(|value| self.gets(name, Some(value)));
                    }
                }
                self.repeatedly(|reader| reader.list(&clause.body.list));
            }
            CompoundCommand::CaseClause(clause) => {
                self.words(&clause.value.value);
                for item in &clause.cases {
                    for pattern in &item.patterns {
                        self.words(&pattern.value);
                    }
                    self.perhaps(|reader| item.cmd.iter().for_each(|list| reader.list(list)));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.perhaps(|reader| reader.list(&clause.then));
                for other in clause.elses.iter().flatten() {
                    self.perhaps(|reader| {
                        other.condition.iter().for_each(|list| reader.list(list));
                        reader.list(&other.body);
                    });
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeatedly(|reader| {
                    reader.list(&clause.0);
                    reader.list(&clause.1.list);
                });
            }
            CompoundCommand::Coprocess(process) => self.apart(|reader| {
                reader.changes();
                reader.command(&process.body);
            }),
        }
    }

    pub(super) fn subshell(&mut self, shell: &SubshellCommand) {
        self.apart(|reader| reader.list(&shell.list));
    }

    fn function(&mut self, function: &FunctionDefinition) {
        let name = function.fname.value.clone();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '.');
        if !name.chars().all(is_plain) {
            self.unclear("a function's name hides what runs");
        }
        if programs::find(&name).is_some() || programs::is_word_of_shell(&name) {
            self.concern(ConcernKind::Environment, format!("a function takes the place of {name}"));
        }
        self.functions.insert(name.clone());
        self.within.push(name);
        // It runs when it is called, wherever that is.
        self.apart(|reader| {
            reader.is_later();
            reader.with_redirects(function.body.1.as_ref(), |reader| {
                reader.compound(&function.body.0);
            });
        });
        self.within.pop();
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner)
            }
            ExtendedTestExpr::UnaryTest(kind, word) => {
                let names = matches!(
                    kind,
                    UnaryPredicate::ShellVariableIsSetAndAssigned
                        | UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                self.tested(&word.value, names);
            }
            ExtendedTestExpr::BinaryTest(kind, a, b) => {
                use BinaryPredicate as B;
                let counts = matches!(
                    kind,
                    B::ArithmeticEqualTo
                        | B::ArithmeticNotEqualTo
                        | B::ArithmeticLessThan
                        | B::ArithmeticLessThanOrEqualTo
                        | B::ArithmeticGreaterThan
                        | B::ArithmeticGreaterThanOrEqualTo
                );
                self.tested(&a.value, counts);
                self.tested(&b.value, counts);
            }
        }
    }

    /// A word between `[[` and `]]`.
    fn tested(&mut self, source: &str, is_evaluated: bool) {
        for word in self.words(source) {
            if is_evaluated {
                self.evaluates(&word);
            }
        }
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                self.file_redirect(*descriptor, kind, target);
            }
            IoRedirect::OutputAndError(word, _) => {
                self.seen.extend(second::redirection(&word.value));
                self.target(&word.value);
            }
            IoRedirect::HereDocument(descriptor, document) => {
                let text = self.here_document(document);
                self.reads(*descriptor, text);
            }
            IoRedirect::HereString(descriptor, word) => {
                let text = self.one_word(&word.value);
                self.reads(*descriptor, text);
            }
        }
    }

    /// What another descriptor holds, a shell only reads when it is told so.
    fn reads(&mut self, descriptor: Option<i32>, text: Word) {
        if descriptor.unwrap_or(0) == 0 {
            self.scope.input = Input::Text(Rc::new(text), self.takers);
        }
    }

    fn here_document(&mut self, document: &IoHereDocument) -> Word {
        let text = &document.doc.value;
        let text = if document.remove_tabs {
            let lines: Vec<&str> =
                text.split('\n').map(|line| line.trim_start_matches('\t')).collect();
            lines.join("\n")
        } else {
            text.clone()
        };
        if document.requires_expansion { self.document(&text) } else { Word::literal(&text) }
    }

    fn file_redirect(
        &mut self,
        descriptor: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
    ) {
        use IoFileRedirectKind as K;
        let reads = matches!(kind, K::Read | K::DuplicateInput);
        if descriptor.map_or(reads || matches!(kind, K::ReadAndWrite), |number| number == 0) {
            self.scope.input = Input::Unknown;
        }
        let word = match target {
            IoFileRedirectTarget::Filename(word) => &word.value,
            IoFileRedirectTarget::Duplicate(word) => {
                // By another descriptor the same may be read.
                if !matches!(word.value.as_str(), "1" | "2" | "-") {
                    self.takers += 1;
                }
                &word.value
            }
            IoFileRedirectTarget::Fd(_) => return,
            IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                return self.apart(|reader| {
                    reader.share_input();
                    reader.subshell(shell);
                });
            }
        };
        let Some(seen) = second::redirection(word) else { return };
        self.seen.push(seen);
        if !reads {
            return self.target(word);
        }
        let word = self.one_word(word);
        if is_connection(&word.known_prefix()) {
            self.connects();
        }
        if matches!(kind, IoFileRedirectKind::Read) {
            self.line.reads.push(word.text());
        }
    }

    fn target(&mut self, source: &str) {
        for word in self.words(source) {
            self.write(&word);
        }
    }

    /// A variable gets a value.
    pub(crate) fn names_variable(&mut self, name: &str, value: Option<&Word>) {
        self.gets(name, value);
        self.named(name, value);
    }

    /// A variable gets a value that is not looked at here.
    pub(super) fn named(&mut self, name: &str, value: Option<&Word>) {
        self.holds(name, value);
        if value.is_some_and(|value| self.is_same(name, value)) {
            return;
        }
        self.expands_later(name, value);
        if environment::renames(name) {
            self.unclear(&format!("{name} makes a word mean something else"));
        } else if let Some(why) = environment::why(name, value) {
            self.concern(ConcernKind::Environment, why);
            if let Some(line) = environment::line_of(name, value) {
                self.line_of(&line);
            }
        } else if environment::may_load(name) {
            self.is_open_ended();
        }
    }

    /// Programs get to see a variable: what one that is not known to be harmless has them do, nobody can tell.
    pub(crate) fn exports(&mut self, name: &str, value: Option<&Word>) {
        // Where the line gave it another value before, that was asked about.
        let is_kept = environment::why(name, None).is_some()
            && value.is_some_and(|value| self.is_same(name, value));
        if !is_kept && !environment::is_harmless(name, value) {
            self.is_open_ended();
        }
    }

    /// Whether a variable keeps its value.
    fn is_same(&self, name: &str, value: &Word) -> bool {
        match value.leading_hole() {
            Some(hole) => {
                value.atoms.len() == 1 && hole.kind == HoleKind::Variable(name.to_owned())
            }
            None => name == "HOME" && value.known().as_deref() == self.place.home,
        }
    }

    /// The shell inside of a word such as `<(sort a)`.
    pub(super) fn process(&mut self, item: &CommandPrefixOrSuffixItem) -> Option<Word> {
        let CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) = item else { return None };
        self.apart(|reader| {
            reader.share_input();
            reader.subshell(shell);
        });
        Some(Word::computed(&shell.to_string()))
    }
}
