//! The indentation of added lines, from how that of the other lines differs.
//!
//! A model that writes a block too far left, or with tabs where the file has spaces, writes the new
//! lines so, too. What turns its indentation into the file's is one rule that holds for every line
//! that can be compared. When several rules hold and do not agree about the new lines, none is
//! taken.

use super::alike::split_indent;

/// The widest tab.
const TAB_WIDTH_MAX: usize = 8;

/// Sizes of one step that models take for another: (the file's, the model's).
const STEPS: [(usize, usize); 8] = [(2, 1), (1, 2), (4, 1), (1, 4), (4, 3), (3, 4), (3, 2), (2, 3)];

/// How the file's indentation follows from the model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule<'a> {
    Same,
    Deeper(&'a str),
    Flatter(&'a str),
    TabsToSpaces(usize),
    SpacesToTabs(usize),
    Steps(usize, usize),
}

impl Rule<'_> {
    fn apply(self, indent: &str) -> Option<String> {
        match self {
            Self::Same => Some(indent.to_owned()),
            Self::Deeper(by) => Some(format!("{by}{indent}")),
            Self::Flatter(by) => indent.strip_prefix(by).map(str::to_owned),
            Self::TabsToSpaces(width) => Some(" ".repeat(columns(indent, width))),
            Self::SpacesToTabs(width) => {
                let columns = columns(indent, width);
                Some(format!("{}{}", "\t".repeat(columns / width), " ".repeat(columns % width)))
            }
            Self::Steps(file, model) => {
                let is_spaces = indent.bytes().all(|byte| byte == b' ');
                let is_whole = (indent.len() * file).is_multiple_of(model);
                (is_spaces && is_whole).then(|| " ".repeat(indent.len() * file / model))
            }
        }
    }
}

/// How far right an indentation reaches.
fn columns(indent: &str, width: usize) -> usize {
    indent.chars().fold(0, |column, sign| match sign {
        '\t' => (column / width + 1) * width,
        _ => column + 1,
    })
}

/// Gives the added lines the indentation that belongs there; `false` when that is not clear.
/// `pairs` are lines as written and as they are; `begins` says that an added line comes first.
pub(super) fn adapt(pairs: &[(&str, &str)], added: &mut [String], begins: bool) -> bool {
    let indents: Vec<(&str, &str)> = pairs
        .iter()
        .map(|(written, there)| (split_indent(written).0, split_indent(there).0))
        .collect();
    if indents.iter().all(|(written, there)| written == there) {
        return true;
    }
    let outcomes = outcomes(&indents, added).or_else(|| first_alone(&indents, added, begins));
    let Some(outcome) = outcomes.or_else(|| looked_up(&indents, added)) else { return false };
    for (line, indent) in added.iter_mut().zip(outcome) {
        let text = split_indent(line).1;
        if !text.is_empty() {
            *line = format!("{indent}{text}");
        }
    }
    true
}

/// What all rules say that hold for every pair, if they agree.
fn outcomes(indents: &[(&str, &str)], added: &[String]) -> Option<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for rule in rules(indents) {
        let holds =
            |(written, there): &(&str, &str)| rule.apply(written).as_deref() == Some(*there);
        if indents.iter().all(holds)
            && let Some(outcome) = each(added, |indent| rule.apply(indent))
            && !all.contains(&outcome)
        {
            all.push(outcome);
        }
    }
    if all.len() == 1 { all.pop() } else { None }
}

fn rules<'a>(indents: &[(&'a str, &'a str)]) -> Vec<Rule<'a>> {
    let mut rules = vec![Rule::Same];
    if let Some((written, there)) = indents.first() {
        rules.extend(there.strip_suffix(written).map(Rule::Deeper));
        rules.extend(written.strip_suffix(there).map(Rule::Flatter));
    }
    if indents.iter().any(|(written, _)| written.contains('\t')) {
        rules.extend((1..=TAB_WIDTH_MAX).map(Rule::TabsToSpaces));
    }
    if indents.iter().any(|(_, there)| there.contains('\t')) {
        rules.extend((1..=TAB_WIDTH_MAX).map(Rule::SpacesToTabs));
    }
    rules.extend(STEPS.map(|(file, model)| Rule::Steps(file, model)));
    rules
}

/// Only the first line has lost its indentation: the others are as they are to be.
fn first_alone(indents: &[(&str, &str)], added: &[String], begins: bool) -> Option<Vec<String>> {
    let ((written, there), rest) = indents.split_first()?;
    let is_lost = written.is_empty() && !rest.is_empty();
    if !is_lost || rest.iter().any(|(written, there)| written != there) {
        return None;
    }
    let mut outcome = each(added, |indent| Some(indent.to_owned()))?;
    if begins {
        let first = outcome.first_mut()?;
        if first != written {
            return None;
        }
        *first = (*there).to_owned();
    }
    Some(outcome)
}

/// Each added line is as deep as one that is there.
fn looked_up(indents: &[(&str, &str)], added: &[String]) -> Option<Vec<String>> {
    let has_rule = rules(indents).into_iter().any(|rule| {
        indents.iter().all(|(written, there)| rule.apply(written).as_deref() == Some(there))
    });
    if has_rule {
        return None;
    }
    each(added, |indent| {
        let mut found = indents.iter().filter(|(written, _)| *written == indent);
        let (_, there) = found.next()?;
        found.all(|(_, other)| other == there).then(|| (*there).to_owned())
    })
}

fn each(added: &[String], indent: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let one = |line: &String| match split_indent(line) {
        (_, "") => Some(String::new()),
        (written, _) => indent(written),
    };
    added.iter().map(one).collect()
}
