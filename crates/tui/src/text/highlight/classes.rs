//! From the scopes of syntect's grammars to the classes a theme knows.

use syntect::parsing::Scope;

use crate::theme::SyntaxClass;

/// The beginnings of scopes and what they are; the first that fits counts, `None` ends the search.
const TABLE: [(&str, Option<SyntaxClass>); 32] = [
    ("comment", Some(SyntaxClass::Comment)),
    ("string", Some(SyntaxClass::String)),
    ("markup.raw", Some(SyntaxClass::String)),
    ("markup.inserted", Some(SyntaxClass::Added)),
    ("markup.deleted", Some(SyntaxClass::Removed)),
    ("markup.heading", Some(SyntaxClass::Keyword)),
    ("meta.diff.range", Some(SyntaxClass::Type)),
    ("meta.diff.header", Some(SyntaxClass::Keyword)),
    ("constant.character.escape", Some(SyntaxClass::Number)),
    ("constant", Some(SyntaxClass::Number)),
    ("keyword.operator.word", Some(SyntaxClass::Keyword)),
    ("keyword.operator.logical.python", Some(SyntaxClass::Keyword)),
    ("keyword.operator", None),
    ("keyword", Some(SyntaxClass::Keyword)),
    ("storage", Some(SyntaxClass::Keyword)),
    ("variable.language", Some(SyntaxClass::Keyword)),
    ("variable.function", Some(SyntaxClass::Function)),
    ("support.function", Some(SyntaxClass::Function)),
    ("support.macro", Some(SyntaxClass::Function)),
    ("support.type.property-name", Some(SyntaxClass::Function)),
    ("support.type", Some(SyntaxClass::Type)),
    ("support.class", Some(SyntaxClass::Type)),
    ("support.constant", Some(SyntaxClass::Number)),
    ("entity.name.function", Some(SyntaxClass::Function)),
    ("entity.name.macro", Some(SyntaxClass::Function)),
    ("entity.other.attribute-name", Some(SyntaxClass::Function)),
    ("entity.other.inherited-class", Some(SyntaxClass::Type)),
    ("entity.name.section", Some(SyntaxClass::Keyword)),
    ("entity.name.label", None),
    ("entity.name.constant", Some(SyntaxClass::Number)),
    ("entity.name", Some(SyntaxClass::Type)),
    ("punctuation.definition.comment", Some(SyntaxClass::Comment)),
];

/// The table with its scopes made ready.
pub(super) struct ClassTable {
    entries: Vec<(Scope, Option<SyntaxClass>)>,
}

impl ClassTable {
    pub(super) fn new() -> Self {
        let entries =
            TABLE.iter().filter_map(|(name, class)| Some((Scope::new(name).ok()?, *class)));
        Self { entries: entries.collect() }
    }

    /// What stands where these scopes do; the innermost that says anything decides.
    pub(super) fn class(&self, scopes: &[Scope]) -> Option<SyntaxClass> {
        scopes.iter().rev().find_map(|scope| self.of(*scope)).flatten()
    }

    fn of(&self, scope: Scope) -> Option<Option<SyntaxClass>> {
        let found = self.entries.iter().find(|(start, _)| start.is_prefix_of(scope));
        found.map(|(_, class)| *class)
    }
}
