//! Expansions: what becomes of a word, and the commands inside of it.

use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTransformOp, TildeExpr, WordPiece, WordPieceWithSource,
};

use super::{Reader, counts};
use crate::line::Command;
use crate::word::{Atom, Hole, HoleKind, Word, ansi_c};
use crate::{environment, parse};

/// Programs whose output is made of what they are given: no place that nobody wrote.
const ECHOES: [&str; 10] =
    ["dirname", "basename", "echo", "printf", "tr", "sed", "cut", "date", "pwd", "seq"];

/// Whether a piece stands between quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Double,
}

impl Reader<'_> {
    /// The words that the source of a word becomes.
    pub(crate) fn words(&mut self, source: &str) -> Vec<Word> {
        let mut words = self.one_word(source).with_braces_expanded();
        for word in &mut words {
            if let Some(Atom::Plain('~')) = word.atoms.first() {
                *word = self.at_home(std::mem::take(word));
            }
        }
        words
    }

    /// The word with its folder where a tilde begins it: braces may have put one there.
    fn at_home(&self, word: Word) -> Word {
        let Some((Atom::Plain('~'), rest)) = word.atoms.split_first() else { return word };
        let end = rest.iter().position(|atom| *atom == Atom::Plain('/')).unwrap_or(rest.len());
        let (name, path) = rest.split_at(end);
        if !name.iter().all(|atom| matches!(atom, Atom::Plain(_))) {
            return word;
        }
        let name = Word { atoms: name.to_vec() }.text();
        let tilde = match name.as_str() {
            "" => TildeExpr::Home,
            "+" => TildeExpr::WorkingDir,
            "-" => TildeExpr::OldWorkingDir,
            _ => TildeExpr::UserHome(name.clone()),
        };
        let mut found = Word::default();
        self.tilde(&tilde, &format!("~{name}"), &mut found);
        found.atoms.extend(path.iter().cloned());
        found
    }

    /// The same where braces stay: in assignments, here-strings.
    pub(crate) fn one_word(&mut self, source: &str) -> Word {
        match parse::word(source) {
            Some(pieces) => self.pieces(&pieces, source),
            None => self.unreadable(source),
        }
    }

    /// A text in which quotes mean nothing.
    pub(super) fn document(&mut self, source: &str) -> Word {
        match parse::text(source) {
            Some(pieces) => self.pieces(&pieces, source),
            None => self.unreadable(source),
        }
    }

    /// A variable gets a value, which bash may expand by itself.
    pub(super) fn expands_later(&mut self, name: &str, value: Option<&Word>) {
        if !environment::is_expanded(name) {
            return;
        }
        let is_prompt = name.starts_with("PS");
        let known = value.and_then(Word::known);
        match known.filter(|text| !(is_prompt && environment::is_spelled(text))) {
            Some(text) => {
                let mut end = "END".to_owned();
                while text.lines().any(|line| line == end) {
                    end.push('_');
                }
                self.apart(|reader| {
                    reader.is_later();
                    reader.script(&format!("<<{end}\n{text}\n{end}\n"));
                });
                // What it becomes names a script.
                if name.ends_with("ENV") {
                    value.into_iter().for_each(|file| self.script_file(file));
                }
            }
            // The prompts of those who type are made of each other.
            None if environment::why(name, None).is_none() && value.is_none_or(Word::has_hole) => {}
            None => self.unclear(&format!("{name} is expanded, and its value is computed")),
        }
    }

    /// A variable gets more behind what it holds.
    pub(crate) fn appends(&mut self, name: &str) {
        if environment::is_expanded(name) {
            self.unclear(&format!("{name} is expanded, and its value is put together"));
        }
    }

    /// Runs what arithmetic holds; its value does not matter.
    pub(super) fn arithmetic(&mut self, source: &str) {
        let word = self.document(source);
        self.evaluates(&word);
    }

    fn unreadable(&mut self, source: &str) -> Word {
        self.unclear("a word does not parse");
        Word::computed(source)
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], source: &str) -> Word {
        let mut word = Word::default();
        for piece in pieces {
            self.piece(piece, source, Quoted::No, &mut word);
        }
        word
    }

    fn piece(
        &mut self,
        piece: &WordPieceWithSource,
        source: &str,
        quoted: Quoted,
        word: &mut Word,
    ) {
        let atom = if quoted == Quoted::No { Atom::Plain } else { Atom::Quoted };
        let text = source.get(piece.start_index..piece.end_index).unwrap_or(source);
        match &piece.piece {
            // An escaped line end is none at all.
            WordPiece::Text(text) => word.atoms.extend(text.replace("\\\n", "").chars().map(atom)),
            WordPiece::SingleQuotedText(text) => word.atoms.extend(text.chars().map(Atom::Quoted)),
            WordPiece::AnsiCQuotedText(inner) => match ansi_c(inner) {
                Some(meant) => word.atoms.extend(meant.chars().map(Atom::Quoted)),
                None => {
                    self.unclear("an escape means one thing to some shells and another to others");
                    word.atoms.push(hole(text, HoleKind::Other));
                }
            },
            WordPiece::EscapeSequence(escape) => {
                let escaped = escape.chars().skip(1).filter(|c| *c != '\n');
                word.atoms.extend(escaped.map(Atom::Quoted));
            }
            WordPiece::DoubleQuotedSequence(inner) => {
                let begin = word.atoms.len();
                for piece in inner {
                    self.piece(piece, source, Quoted::Double, word);
                }
                for atom in &mut word.atoms[begin..] {
                    if let Atom::Hole(hole) = atom {
                        // `"$@"` and its like are as many words as there are.
                        hole.is_whole = !hole.source.contains('@');
                    }
                }
            }
            // A catalogue may say something else.
            WordPiece::GettextDoubleQuotedSequence(inner) => {
                self.pieces(inner, source);
                word.atoms.push(hole(text, HoleKind::Other));
            }
            WordPiece::TildeExpansion(tilde) => self.tilde(tilde, text, word),
            WordPiece::ParameterExpansion(parameter) => self.parameter(parameter, text, word),
            WordPiece::CommandSubstitution(inner) => {
                let kind = self.substitution(inner);
                word.atoms.push(hole(text, kind));
            }
            WordPiece::BackquotedCommandSubstitution(inner) => {
                if text.contains('\\') {
                    self.unclear("backquotes are nested");
                }
                let kind = self.substitution(inner);
                word.atoms.push(hole(text, kind));
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.arithmetic(&expression.value);
                word.atoms.push(hole(text, HoleKind::Number));
            }
        }
    }

    fn tilde(&self, tilde: &TildeExpr, source: &str, word: &mut Word) {
        let folder = match tilde {
            TildeExpr::Home => self.place.home.map(str::to_owned),
            TildeExpr::WorkingDir => self.scope.certain_folder(),
            TildeExpr::OldWorkingDir => self.scope.previous.clone(),
            TildeExpr::UserHome(_)
            | TildeExpr::NthDirFromTopOfDirStack { .. }
            | TildeExpr::NthDirFromBottomOfDirStack { .. } => None,
        };
        match folder {
            Some(folder) => word.atoms.extend(folder.chars().map(Atom::Quoted)),
            None => word.atoms.push(hole(source, HoleKind::ForeignHome)),
        }
    }

    /// Reads the commands of a substitution, and says what they make.
    fn substitution(&mut self, source: &str) -> HoleKind {
        let Some(program) = parse::program(source) else {
            self.unclear("a substitution does not parse");
            return HoleKind::Commands;
        };
        let before = self.commands().len();
        self.apart(|reader| {
            reader.share_input();
            reader.program(&program);
        });
        let within = self.commands().get(before..).unwrap_or_default();
        let echoes = |command: &Command| {
            command.words.first().is_some_and(|name| ECHOES.contains(&name.as_str()))
        };
        let is_echo = !within.is_empty() && within.iter().all(echoes);
        // The names of its options may hold no place of its own choice.
        let is_temp = matches!(
            source.trim(),
            "mktemp" | "mktemp -d" | "mktemp -q" | "mktemp -qd" | "mktemp -dq"
        );
        match (is_temp && self.place.temp.is_some(), is_echo) {
            (true, _) => HoleKind::Temp,
            _ if counts::prints_number(&program) => HoleKind::Number,
            (false, true) => HoleKind::Other,
            (false, false) => HoleKind::Commands,
        }
    }

    fn parameter(&mut self, expression: &ParameterExpr, source: &str, word: &mut Word) {
        if let ParameterExpr::Parameter { parameter: Parameter::Named(name), indirect: false } =
            expression
        {
            return self.variable(name, source, word);
        }
        self.indirect(expression, source);
        for text in self.texts_of(expression) {
            self.one_word(&text);
        }
        let kind = match expression {
            ParameterExpr::Parameter { parameter: Parameter::Named(name), .. } => {
                HoleKind::Variable(name.clone())
            }
            expression if counts::is_number(expression) => HoleKind::Number,
            _ => HoleKind::Other,
        };
        word.atoms.push(hole(source, kind));
    }

    fn variable(&mut self, name: &str, source: &str, word: &mut Word) {
        let value = match name {
            "HOME" => self.place.home.map(str::to_owned),
            "TMPDIR" => self.place.temp.map(str::to_owned),
            "PWD" => self.scope.certain_folder(),
            "OLDPWD" => self.scope.previous.clone(),
            _ => None,
        };
        match value {
            Some(value) => word.atoms.extend(value.chars().map(Atom::Quoted)),
            None if self.holds_temp(name) => word.atoms.push(hole(source, HoleKind::Temp)),
            None => word.atoms.push(hole(source, HoleKind::Variable(name.to_owned()))),
        }
    }

    fn index(&mut self, parameter: &Parameter) {
        if let Parameter::NamedWithIndex { name, index } = parameter {
            self.subscript(name, index);
        }
    }

    /// `${!x}`: what x holds is the name of another variable, with a subscript if it has one.
    fn indirect(&mut self, expression: &ParameterExpr, source: &str) {
        use ParameterExpr as E;
        let Some(name) = source.strip_prefix("${!") else { return };
        if matches!(expression, E::VariableNames { .. } | E::MemberKeys { .. }) {
            return;
        }
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &name[..end.unwrap_or(name.len())];
        match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            true => self.evaluates_variable(name),
            false => self.unclear("${!...} takes what it is given for a name"),
        }
    }

    /// The texts inside of an expansion that are expanded themselves.
    fn texts_of(&mut self, expression: &ParameterExpr) -> Vec<String> {
        use ParameterExpr as E;
        let mut texts = Vec::new();
        match expression {
            E::Parameter { parameter, .. } | E::ParameterLength { parameter, .. } => {
                self.index(parameter)
            }
            E::UseDefaultValues { parameter, default_value: text, .. }
            | E::IndicateErrorIfNullOrUnset { parameter, error_message: text, .. }
            | E::UseAlternativeValue { parameter, alternative_value: text, .. }
            | E::RemoveSmallestSuffixPattern { parameter, pattern: text, .. }
            | E::RemoveLargestSuffixPattern { parameter, pattern: text, .. }
            | E::RemoveSmallestPrefixPattern { parameter, pattern: text, .. }
            | E::RemoveLargestPrefixPattern { parameter, pattern: text, .. }
            | E::UppercaseFirstChar { parameter, pattern: text, .. }
            | E::UppercasePattern { parameter, pattern: text, .. }
            | E::LowercaseFirstChar { parameter, pattern: text, .. }
            | E::LowercasePattern { parameter, pattern: text, .. } => {
                self.index(parameter);
                texts.extend(text.clone());
            }
            E::AssignDefaultValues { parameter, default_value, .. } => {
                self.index(parameter);
                texts.extend(default_value.clone());
                if let Parameter::NamedWithIndex { name, .. } = parameter {
                    self.is_array(name);
                }
                if let Parameter::Named(name) | Parameter::NamedWithIndex { name, .. } = parameter {
                    self.names_variable(name, None);
                }
            }
            E::Substring { parameter, offset, length, .. } => {
                self.index(parameter);
                self.arithmetic(&offset.value);
                length.iter().for_each(|length| self.arithmetic(&length.value));
            }
            E::ReplaceSubstring { parameter, pattern, replacement, .. } => {
                self.index(parameter);
                texts.push(pattern.clone());
                texts.extend(replacement.clone());
            }
            E::Transform { parameter, op, .. } => {
                self.index(parameter);
                if matches!(op, ParameterTransformOp::PromptExpand) {
                    self.unclear("@P runs what a variable holds");
                }
            }
            E::VariableNames { .. } | E::MemberKeys { .. } => {}
        }
        texts
    }
}

fn hole(source: &str, kind: HoleKind) -> Atom {
    Atom::Hole(Hole::new(source, kind))
}
