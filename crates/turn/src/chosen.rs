//! Which model was chosen, also while another answers because that one cannot.

use heeler_core::Record;
use serde::{Deserialize, Serialize};

/// The chosen model, as a fold over records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    model: String,
    /// The model whose settings are in force.
    answers: String,
    behind: Behind,
}

/// What a change stands right behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Behind {
    /// Whoever opens a session says which model it is to use.
    Opening,
    /// What answers because another model failed was nobody's choice.
    Failure,
    #[default]
    Other,
}

impl Chosen {
    /// Its name; empty before any was chosen.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Takes one record in.
    pub fn take(&mut self, record: &Record) {
        if let Record::SettingsChanged(settings) = record {
            let name = &settings.model.name;
            // A change of something else leaves what stands in where it is.
            let is_choice = match self.behind {
                Behind::Opening => true,
                Behind::Failure => false,
                Behind::Other => *name != self.answers,
            };
            if is_choice {
                self.model.clone_from(name);
            }
            self.answers.clone_from(name);
        }
        self.behind = match record {
            Record::Opened(_) => Behind::Opening,
            Record::ModelFailed(_) => Behind::Failure,
            // One that begins anew since somebody changed the settings is no failure.
            Record::CompactionFailed(failed) if failed.stays_due && failed.kind.is_some() => {
                Behind::Failure
            }
            _ => Behind::Other,
        };
    }
}

#[cfg(test)]
mod tests {
    use heeler_core::{CompactionFailed, ModelFailed, Opened, ProviderErrorKind, Settings, Usage};

    use super::*;

    /// A word a record: `open`, `failed`, `passed`, `elsewhere`, `given-up` and `anew` for a summary that
    /// failed, or the model of changed settings.
    fn check(records: &str, expected: &str) {
        let mut chosen = Chosen::default();
        for word in records.split_whitespace() {
            chosen.take(&match word {
                "open" => Record::Opened(Opened { incarnation: 1, build: String::new() }),
                "passed" => Record::TimePassed,
                "failed" => Record::ModelFailed(Box::new(ModelFailed {
                    turn: 1,
                    round: 1,
                    attempt: 1,
                    kind: ProviderErrorKind::Overloaded,
                    message: "busy".into(),
                    retry_at: None,
                    usage: Usage::default(),
                    cost: None,
                })),
                "elsewhere" => summary_failed(Some(ProviderErrorKind::Overloaded), true),
                "given-up" => summary_failed(Some(ProviderErrorKind::Overloaded), false),
                "anew" => summary_failed(None, true),
                name => {
                    let mut settings = Settings::default();
                    settings.model.name = name.into();
                    Record::SettingsChanged(Box::new(settings))
                }
            });
        }
        assert_eq!(chosen.model(), expected, "{records}");
    }

    fn summary_failed(kind: Option<ProviderErrorKind>, stays_due: bool) -> Record {
        let failed = CompactionFailed::because("busy");
        Record::CompactionFailed(Box::new(CompactionFailed { kind, stays_due, ..failed }))
    }

    #[test]
    fn what_stands_in_for_a_model_is_not_chosen() {
        check("", "");
        check("open a", "a");
        check("open a failed b", "a");
        check("open a failed b failed c", "a");
        check("open a failed b passed a", "a");
        // The mode changed, for one, while it answered.
        check("open a failed b passed b", "a");
        check("open a failed passed open a", "a");
        check("open a elsewhere b", "a");
        check("open a elsewhere b elsewhere c passed c", "a");
    }

    #[test]
    fn another_model_can_be_chosen_at_any_time() {
        check("open a passed b", "b");
        check("open a failed b passed c", "c");
        // Also the one that only stood in until then.
        check("open a failed b open b", "b");
        // Because no summary came, or while one is made.
        check("open a given-up b", "b");
        check("open a passed b anew c", "c");
    }
}
