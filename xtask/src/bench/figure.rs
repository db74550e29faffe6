//! Figures: values of several runs, beside their reference and their budget.

use std::fmt;
use std::time::Duration;

/// Values of several runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<f64>);

/// What heeler has beside what it is measured against.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) reference: Values,
    pub(super) heeler: Values,
    pub(super) budget: Budget,
}

/// What a figure may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Budget {
    /// At most so many times the reference.
    Times(f64),
    /// At most so much more than the reference.
    More(f64),
    /// At most so much.
    AtMost(f64),
    /// At least so much.
    AtLeast(f64),
    /// Told only.
    None,
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

impl Values {
    pub(super) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn median(&self) -> f64 {
        let sorted = self.sorted();
        match (sorted.len(), sorted.len() / 2) {
            (0, _) => f64::NAN,
            (n, half) if n % 2 == 0 => f64::midpoint(sorted[half - 1], sorted[half]),
            (_, half) => sorted[half],
        }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

impl FromIterator<f64> for Values {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

impl fmt::Display for Values {
    /// The median, and the least and the most in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sorted().as_slice() {
            [] => write!(f, "-"),
            [only] => write!(f, "{}", short(*only)),
            [least, .., most] => {
                let median = short(self.median());
                write!(f, "{median} ({}..{})", short(*least), short(*most))
            }
        }
    }
}

impl Figure {
    /// The head of the table.
    pub(super) const HEAD: &str = "\
        | figure | reference | heeler | ratio | budget | |\n\
        |---|---|---|---|---|---|";

    /// Whether the budget is kept; `None` when there is none or nothing was measured.
    pub(super) fn is_met(&self) -> Option<bool> {
        let value = self.heeler.median();
        match self.budget {
            Budget::None => None,
            _ if self.heeler.is_empty() => None,
            Budget::AtMost(most) => Some(value <= most),
            Budget::AtLeast(least) => Some(value >= least),
            Budget::Times(most) => Some(value <= most * self.reference.median()),
            Budget::More(most) => Some(value <= most + self.reference.median()),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, unit, reference, heeler, .. } = self;
        let ratio = heeler.median() / reference.median();
        let ratio = if ratio.is_nan() { "-".to_owned() } else { format!("{ratio:.2}") };
        let budget = match self.budget {
            Budget::Times(most) => format!("{most} x"),
            Budget::More(most) => format!("{most} {unit} more"),
            Budget::AtMost(most) => format!("{most} {unit}"),
            Budget::AtLeast(least) => format!("at least {least}"),
            Budget::None => "-".to_owned(),
        };
        let met = match self.is_met() {
            Some(true) => "met",
            Some(false) => "NOT MET",
            None => "",
        };
        write!(f, "| {name}, {unit} | {reference} | {heeler} | {ratio} | {budget} | {met} |")
    }
}

/// Three figures or so, never an exponent.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(reference: &[f64], heeler: &[f64], budget: Budget, expected: Expect) {
        let [reference, heeler] =
            [reference, heeler].map(|values| values.iter().copied().collect());
        let figure = Figure { name: "start".into(), unit: "ms", reference, heeler, budget };
        expected.assert_eq(&figure.to_string());
    }

    #[test]
    fn a_figure_stands_beside_its_reference_and_its_budget() {
        check(
            &[2.0, 4.0],
            &[9.0, 3.0, 6.0],
            Budget::Times(1.5),
            expect![
                "| start, ms | 3.00 (2.00..4.00) | 6.00 (3.00..9.00) | 2.00 | 1.5 x | NOT MET |"
            ],
        );
        check(
            &[2.0],
            &[3.01],
            Budget::Times(1.5),
            expect!["| start, ms | 2.00 | 3.01 | 1.50 | 1.5 x | NOT MET |"],
        );
        check(
            &[2.0],
            &[2.9],
            Budget::More(1.0),
            expect!["| start, ms | 2.00 | 2.90 | 1.45 | 1 ms more | met |"],
        );
        check(
            &[],
            &[0.01, 0.02],
            Budget::AtMost(14.0),
            expect!["| start, ms | - | 0.015 (0.010..0.020) | - | 14 ms | met |"],
        );
        check(&[], &[], Budget::AtMost(14.0), expect!["| start, ms | - | - | - | 14 ms |  |"]);
        check(
            &[1.0],
            &[123.4],
            Budget::None,
            expect!["| start, ms | 1.00 | 123 | 123.40 | - |  |"],
        );
    }
}
