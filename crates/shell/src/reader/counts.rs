//! Commands that print a number and nothing else. What others print could be taken for an expression,
//! and with it the value of any variable that it names.

use brush_parser::ast::{
    Command, CommandPrefixOrSuffixItem, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect,
    Pipeline, Program, SimpleCommand,
};
use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter, WordPiece};

use crate::parse;

/// What is known of a word before the line runs.
enum Shape {
    Text(String),
    /// One word that begins so.
    Begins(String),
    /// One word of which nothing is known.
    One,
    /// Any number of words.
    Any,
}

/// Whether a program prints a number, or several, or nothing at all.
pub(super) fn prints_number(program: &Program) -> bool {
    let [list] = program.complete_commands.as_slice() else { return false };
    let [item] = list.0.as_slice() else { return false };
    let Pipeline { timed: None, seq, .. } = &item.0.first else { return false };
    item.0.additional.is_empty() && ends_with_number(seq)
}

/// Whether an expansion is a number whatever it is of.
pub(super) fn is_number(expression: &ParameterExpr) -> bool {
    use SpecialParameter as S;
    match expression {
        ParameterExpr::ParameterLength { .. } => true,
        ParameterExpr::Parameter { parameter: Parameter::Special(special), .. } => matches!(
            special,
            S::PositionalParameterCount
                | S::LastExitStatus
                | S::ProcessId
                | S::LastBackgroundProcessId
        ),
        _ => false,
    }
}

fn ends_with_number(stages: &[Command]) -> bool {
    let Some((Command::Simple(last), before)) = stages.split_last() else { return false };
    let Some(words) = words_of(last) else { return false };
    match words.as_slice() {
        // The spaces that some print before it.
        [Shape::Text(name), Shape::Text(option), Shape::Text(_)]
            if name == "tr" && option == "-d" =>
        {
            ends_with_number(before)
        }
        words => counts(words),
    }
}

/// The words of a command that only reads what its redirections name, and says in no stream but
/// its own what goes wrong.
fn words_of(command: &SimpleCommand) -> Option<Vec<Shape>> {
    let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
    if prefix.clone().any(|item| !is_quiet(item)) {
        return None;
    }
    let mut words = vec![shape(&command.word_or_name.as_ref()?.value)];
    for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => words.push(shape(&word.value)),
            item if is_quiet(item) => {}
            _ => return None,
        }
    }
    Some(words)
}

/// Whether this is a redirection that puts nothing into what the command prints.
fn is_quiet(item: &CommandPrefixOrSuffixItem) -> bool {
    use IoFileRedirectKind as Kind;
    let CommandPrefixOrSuffixItem::IoRedirect(redirect) = item else { return false };
    match redirect {
        IoRedirect::HereDocument(None | Some(0), _) | IoRedirect::HereString(None | Some(0), _) => {
            true
        }
        IoRedirect::File(descriptor, kind, IoFileRedirectTarget::Filename(file)) => {
            match descriptor {
                None | Some(0) => matches!(kind, Kind::Read),
                // Another name may be that of what it prints to.
                Some(2) => matches!(kind, Kind::Write | Kind::Append) && file.value == "/dev/null",
                Some(_) => false,
            }
        }
        _ => false,
    }
}

fn counts(words: &[Shape]) -> bool {
    let Some((Shape::Text(name), words)) = words.split_first() else { return false };
    match name.as_str() {
        "nproc" => words.is_empty(),
        "id" => matches!(words, [Shape::Text(option)] if ["-u", "-g"].contains(&option.as_str())),
        "wc" => matches!(words, [Shape::Text(option)] if is_options(option, "lcwm", 1)),
        "seq" => seq(words),
        "date" => date(words),
        "stat" => stat(words),
        "grep" => grep(words),
        "git" => match words {
            [Shape::Text(verb), Shape::Text(option), commits] => {
                verb == "rev-list" && option == "--count" && is_operand(commits)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Behind the first number there are no more options.
fn seq(words: &[Shape]) -> bool {
    let is_number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
            && text.bytes().any(|byte| byte.is_ascii_digit())
    };
    match words {
        [Shape::Text(option), words @ ..] if option == "-w" => seq(words),
        [Shape::Text(first), ..] => is_number(first),
        _ => false,
    }
}

fn date(words: &[Shape]) -> bool {
    match words {
        [Shape::Text(option), words @ ..] if option == "-u" => date(words),
        [Shape::Text(option), value, words @ ..] if option == "-d" || option == "-r" => {
            is_one(value) && date(words)
        }
        // Who does not know nanoseconds prints the letter: behind digits, that is no name.
        [Shape::Text(format)] => format.strip_prefix('+').is_some_and(|format| {
            let format = format.replace("%3N", "%N").replace("%6N", "%N");
            !format.starts_with("%N") && is_format(&format, "sYmdHMSjuwNy", 8)
        }),
        _ => false,
    }
}

fn stat(words: &[Shape]) -> bool {
    match words {
        [Shape::Text(option), words @ ..] if option == "-L" => stat(words),
        [Shape::Text(option), Shape::Text(format), words @ ..] if option == "-c" => {
            is_format(format, "sYXZWihugbBa", 1)
                && match words {
                    [Shape::Text(end), file] if end == "--" => is_one(file),
                    [file] => is_operand(file),
                    _ => false,
                }
        }
        _ => false,
    }
}

/// Of several files it says their names, too.
fn grep(words: &[Shape]) -> bool {
    let count = |option: &str| option.contains('c') && is_options(option, "ciEFGvwxas", 8);
    let behind = match words {
        [Shape::Text(option), Shape::Text(end), pattern, words @ ..]
            if count(option) && (end == "--" || end == "-e") =>
        {
            is_one(pattern).then_some(words)
        }
        [Shape::Text(option), pattern, words @ ..] if count(option) => {
            is_operand(pattern).then_some(words)
        }
        _ => None,
    };
    match behind {
        Some([]) => true,
        Some([file]) => is_operand(file),
        _ => false,
    }
}

/// Whether a word is one option, or several letters that are.
fn is_options(word: &str, letters: &str, n_max: usize) -> bool {
    word.strip_prefix('-').is_some_and(|given| {
        (1..=n_max).contains(&given.len()) && given.chars().all(|c| letters.contains(c))
    })
}

/// Whether a format is made of directives alone that print digits.
fn is_format(format: &str, letters: &str, n_max: usize) -> bool {
    let mut directives = format.split('%');
    directives.next() == Some("")
        && (1..=n_max).contains(&format.matches('%').count())
        && directives.all(|one| one.len() == 1 && letters.contains(one))
}

fn is_one(word: &Shape) -> bool {
    !matches!(word, Shape::Any)
}

/// Whether a word is surely no option.
fn is_operand(word: &Shape) -> bool {
    match word {
        Shape::Text(text) => !text.starts_with('-'),
        Shape::Begins(text) => !text.is_empty() && !text.starts_with('-'),
        Shape::One | Shape::Any => false,
    }
}

fn shape(source: &str) -> Shape {
    let Some(pieces) = parse::word(source) else { return Shape::Any };
    let (mut text, mut is_made) = (String::new(), false);
    let mut add = |more: &str, is_made: bool| {
        if !is_made {
            text.push_str(more);
        }
    };
    for piece in &pieces {
        match &piece.piece {
            WordPiece::Text(more) if !more.contains(['*', '?', '[', '{', '(', '\\']) => {
                add(more, is_made)
            }
            WordPiece::SingleQuotedText(more) => add(more, is_made),
            WordPiece::DoubleQuotedSequence(inner) => {
                for piece in inner {
                    match &piece.piece {
                        WordPiece::Text(more) => add(more, is_made),
                        _ => is_made = true,
                    }
                }
            }
            _ => return Shape::Any,
        }
    }
    // `"$@"` and its like are as many words as there are.
    match is_made {
        true if source.contains('@') => Shape::Any,
        true if text.is_empty() => Shape::One,
        true => Shape::Begins(text),
        false => Shape::Text(text),
    }
}
