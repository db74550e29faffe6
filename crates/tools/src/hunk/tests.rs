//! A hunk that was written from memory does what was meant, or nothing.

use proptest::prelude::*;

use super::*;

/// Lines before, and lines after a change, with the hunk that makes it.
#[derive(Debug, Clone)]
struct Case {
    before: Vec<String>,
    start: usize,
    end: usize,
    new: Vec<String>,
    /// Unchanged lines around the change that the hunk has.
    context: usize,
}

impl Case {
    fn after(&self) -> Vec<String> {
        let (head, tail) = (&self.before[..self.start], &self.before[self.end..]);
        [head, &self.new, tail].concat()
    }

    /// What each line is to the hunk, `K`, `R` or `A`, and the line.
    fn hunk(&self) -> Vec<(char, String)> {
        let from = self.start.saturating_sub(self.context);
        let to = (self.end + self.context).min(self.before.len());
        let some = |what, lines: &[String]| {
            lines.iter().map(move |line| (what, line.clone())).collect::<Vec<_>>()
        };
        [
            some('K', &self.before[from..self.start]),
            some('R', &self.before[self.start..self.end]),
            some('A', &self.new),
            some('K', &self.before[self.end..to]),
        ]
        .concat()
    }
}

/// Every line is another one by its number, so that a hunk has one place.
fn case() -> impl Strategy<Value = Case> {
    let line = (0usize..4, prop_oneof!["[a-c] = '", "if \"", "\\} - "], any::<bool>());
    let lines = prop::collection::vec(line.clone(), 3..14);
    (lines, prop::collection::vec(line, 0..4), 0usize..14, 0usize..4, 0usize..4).prop_map(
        |(before, new, start, n_removed, context)| {
            let text = |(index, (depth, word, is_blank)): (usize, (usize, String, bool))| {
                let is_blank = is_blank && index % 4 == 3;
                if is_blank {
                    String::new()
                } else {
                    format!("{}{word}{index} number {index}'", "    ".repeat(depth))
                }
            };
            let before: Vec<String> = before.into_iter().enumerate().map(text).collect();
            let new: Vec<String> = new
                .into_iter()
                .enumerate()
                .map(|(index, line)| text((index + 100, line)))
                .collect();
            let start = start.min(before.len());
            let end = (start + n_removed).min(before.len());
            Case { before, start, end, new, context }
        },
    )
}

/// Ways to write a line from memory.
#[derive(Debug, Clone, Copy)]
enum Drift {
    None,
    Deeper(usize),
    Flatter(usize),
    Tabs(usize),
    Steps,
    Ends,
    Quotes,
}

fn drift() -> impl Strategy<Value = Drift> {
    prop_oneof![
        Just(Drift::None),
        (1usize..9).prop_map(Drift::Deeper),
        (1usize..9).prop_map(Drift::Flatter),
        (2usize..5).prop_map(Drift::Tabs),
        Just(Drift::Steps),
        Just(Drift::Ends),
        Just(Drift::Quotes),
    ]
}

/// The line as it is written then; `None` when the drift cannot be of this line.
fn drifted(what: char, line: &str, drift: Drift) -> Option<String> {
    let (indent, text) = line.split_at(line.len() - line.trim_start().len());
    if text.is_empty() {
        return Some(String::new());
    }
    Some(match drift {
        Drift::None => line.to_owned(),
        Drift::Deeper(by) => format!("{}{line}", " ".repeat(by)),
        Drift::Flatter(by) => line.strip_prefix(&" ".repeat(by))?.to_owned(),
        Drift::Tabs(width) if 4 % width == 0 => {
            format!("{}{text}", "\t".repeat(indent.len() / width))
        }
        Drift::Tabs(_) => return None,
        Drift::Steps => format!("{}{text}", " ".repeat(indent.len() / 2)),
        Drift::Ends if what == 'A' => line.to_owned(),
        Drift::Ends => format!("{line}  "),
        Drift::Quotes => {
            line.replace('\'', "\u{2019}").replace('"', "\u{201d}").replace('-', "\u{2013}")
        }
    })
}

fn applied(before: &[String], end: &str, hunk: &[(char, String)]) -> Result<Vec<u8>, Refusal> {
    let content: String = before.iter().map(|line| format!("{line}{end}")).collect();
    let lines: Vec<Line<'_>> = hunk
        .iter()
        .map(|(what, line)| match what {
            'K' => Line::Keep(line),
            'R' => Line::Remove(line),
            _ => Line::Add(line),
        })
        .collect();
    let file = File::new(content.as_bytes());
    let fits = fits(&file, &lines)?;
    let [fit] = &fits[..] else { return Err(Refusal::NotFound) };
    let replacements = apply(&file, &lines, fit)?;
    Ok(crate::edit::apply(content.as_bytes(), &replacements))
}

fn bytes(lines: &[String], end: &str) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}{end}")).collect::<String>().into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_written_from_memory_does_what_was_meant_or_nothing(
        case in case(), drift in drift(), end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let hunk = case.hunk();
        let written: Option<Vec<_>> =
            hunk.iter().map(|(what, line)| Some((*what, drifted(*what, line, drift)?))).collect();
        let Some(written) = written else { return Ok(()) };
        let is_old = |line: &&(char, String)| line.0 != 'A';
        let shows = hunk.iter().zip(&written).any(|(one, other)| one.0 != 'A' && one != other);
        if !shows && !matches!(drift, Drift::None) {
            // Nothing tells that the added lines are meant otherwise.
            return Ok(());
        }
        let expected = bytes(&case.after(), end);
        match applied(&case.before, end, &written) {
            Ok(done) => prop_assert_eq!(String::from_utf8(done), String::from_utf8(expected)),
            Err(refusal) => {
                let tells = hunk.iter().filter(is_old).any(|(_, line)| !line.is_empty());
                prop_assert!(!tells || !matches!(drift, Drift::None | Drift::Ends), "{:?}", refusal);
            }
        }
    }

    /// A line that the model did not see, or has seen otherwise, stays; nothing else goes wrong.
    #[test]
    fn what_differs_stays_as_it_is(case in case(), at in 0usize..20, changes: bool) {
        let mut hunk = case.hunk();
        let kept: Vec<usize> = (0..hunk.len()).filter(|index| hunk[*index].0 == 'K').collect();
        let Some(at) = kept.get(at % kept.len().max(1)) else { return Ok(()) };
        if changes && !hunk[*at].1.is_empty() {
            hunk[*at].1.push_str(" // noted");
        } else {
            // At the edge, what is left is another change that is as good.
            let is_inner = [&hunk[..*at], &hunk[*at + 1..]]
                .iter()
                .all(|side| side.iter().any(|(what, _)| *what != 'A'));
            prop_assume!(is_inner);
            hunk.remove(*at);
        }
        if let Ok(done) = applied(&case.before, "\n", &hunk) {
            prop_assert_eq!(String::from_utf8(done), String::from_utf8(bytes(&case.after(), "\n")));
        }
    }

    #[test]
    fn nothing_panics(
        content in prop::collection::vec(any::<u8>(), 0..60),
        lines in prop::collection::vec(("[KRA]", "[ab\u{2018}\t ]{0,3}"), 0..6),
    ) {
        let file = File::new(&content);
        let hunk: Vec<Line<'_>> = lines
            .iter()
            .map(|(what, line)| match what.as_str() {
                "K" => Line::Keep(line),
                "R" => Line::Remove(line),
                _ => Line::Add(line),
            })
            .collect();
        for fit in fits(&file, &hunk).unwrap_or_default() {
            if let Ok(replacements) = apply(&file, &hunk, &fit) {
                crate::edit::apply(&content, &replacements);
            }
        }
    }
}

#[test]
fn lines_that_are_all_alike_cost_no_time() {
    let line = |n: usize| format!("{n:05} {}", "alike ".repeat(64));
    let content: String = (0..300).map(|n| format!("{}\n", line(n))).collect();
    let file = File::new(content.as_bytes());
    let differ = |n: usize| line(n).replacen("alike", "like", 1);
    let some_differ = |n: usize| if n.is_multiple_of(150) { differ(n) } else { line(n) };
    let began = std::time::Instant::now();
    for old in [
        (0..301).map(differ).collect::<Vec<_>>(),
        (0..301).map(some_differ).collect(),
        (0..301).map(|n| line(n % 2)).collect(),
    ] {
        let hunk: Vec<_> = old.iter().map(|line| Line::Keep(line)).collect();
        assert_eq!(fits(&file, &hunk), Err(Refusal::NotFound));
    }
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
