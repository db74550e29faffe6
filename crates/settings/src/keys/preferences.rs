//! What the keys say together, as values with types.

use heeler_core::{CompactionSettings, EstimateSettings, Limits, ThinkingSettings};

use super::value::KeyValue;
use super::{
    ATTRIBUTION, AUTO_COMPACT, CALLS, CALLS_AT_ONCE, CHARS_PER_TOKEN, CONTEXT_LIMIT, COST, Key,
    MODEL, NOTES_ENABLED, NOTES_FILE_BYTES, NOTES_NAMES, NOTES_TOTAL_BYTES, OUTPUT_MAX, REPEATS,
    RESULT_CHARS, ROUNDS, SECONDS, TAIL, THINKING, TOKENS, TUI_BELL, TUI_KEYS, TUI_PLAIN,
    TUI_STATUS, TUI_THEME,
};
use crate::loaded::Loaded;

/// What the settings say beside what may run; the defaults where they say nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    /// `model`.
    pub model: ModelPreferences,
    /// `context`.
    pub context: ContextPreferences,
    /// `limits`.
    pub limits: LimitPreferences,
    /// `notes`.
    pub notes: NotePreferences,
    /// `attribution`.
    pub attribution: Attribution,
    /// `tui`.
    pub tui: TuiPreferences,
}

/// Which model answers, and how it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPreferences {
    /// Who answers when nobody is named.
    pub default: Option<String>,
    /// How much it reasons; `None` leaves that to its provider.
    pub thinking: Option<ThinkingSettings>,
    /// The most tokens of a reply.
    pub output_max: u64,
}

/// How tokens are counted, and when the conversation is summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextPreferences {
    /// How tokens are counted.
    pub estimate: EstimateSettings,
    /// When the conversation is summarized.
    pub compaction: CompactionSettings,
    /// The most characters of a tool's result.
    pub result_chars_max: usize,
}

/// When a turn ends whatever the model wants; what is `None` is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitPreferences {
    rounds: Option<u64>,
    calls: Option<u64>,
    tokens: Option<u64>,
    cost: Option<u64>,
    seconds: Option<u64>,
    repeats: Option<u64>,
    calls_at_once: Option<u64>,
}

/// Which files are project notes, and how much of them is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePreferences {
    /// Whether there are any.
    pub enabled: bool,
    /// Their names, in the order they are read in a folder.
    pub names: Vec<String>,
    /// The most bytes of one, with what it imports.
    pub file_bytes: usize,
    /// The most bytes of all.
    pub total_bytes: usize,
}

/// What commits and pull requests say of who wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribution {
    /// Whatever the model writes by itself.
    AsModel,
    /// Nothing.
    Nothing,
    /// This.
    Text(String),
}

/// How the terminal looks and is typed into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TuiPreferences {
    /// `auto`, `light`, `dark`, `plain`, or the name of a theme file.
    pub theme: String,
    /// How the composer is edited.
    pub keys: KeyStyle,
    /// Lines of text alone.
    pub plain: bool,
    /// Whether the bell rings for whoever looked away.
    pub bell: bool,
    /// What the status line shows, in this order.
    pub status: Vec<StatusField>,
}

/// How the composer is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyStyle {
    /// As in a shell.
    Emacs,
    /// With modes.
    Vim,
}

/// A part of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusField {
    /// Who answers.
    Model,
    /// The permission mode.
    Mode,
    /// How full the context is.
    Context,
    /// What the session cost.
    Cost,
    /// How long the provider's cache lives.
    Cache,
    /// The branch of git.
    Branch,
    /// How commands are confined.
    Confinement,
}

impl StatusField {
    /// The field of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "model" => Self::Model,
            "mode" => Self::Mode,
            "context" => Self::Context,
            "cost" => Self::Cost,
            "cache" => Self::Cache,
            "branch" => Self::Branch,
            "confinement" => Self::Confinement,
            _ => return None,
        })
    }
}

impl LimitPreferences {
    /// These limits, over those that hold where nothing is said.
    #[must_use]
    pub fn over(self, base: Limits) -> Limits {
        let small =
            |set: Option<u64>, base| set.map_or(base, |set| u32::try_from(set).unwrap_or(u32::MAX));
        Limits {
            rounds: small(self.rounds, base.rounds),
            calls: small(self.calls, base.calls),
            tokens: self.tokens.unwrap_or(base.tokens),
            cost: self.cost.unwrap_or(base.cost),
            wall_millis: self.seconds.map_or(base.wall_millis, |s| s.saturating_mul(1000)),
            repeats: small(self.repeats, base.repeats),
            calls_at_once: small(self.calls_at_once, base.calls_at_once),
        }
    }
}

impl Loaded {
    /// What is set beside what may run, with the defaults.
    #[must_use]
    pub fn preferences(&self) -> Preferences {
        let small = |key| u32::try_from(self.number(key).unwrap_or_default()).unwrap_or(u32::MAX);
        let size =
            |key| usize::try_from(self.number(key).unwrap_or_default()).unwrap_or(usize::MAX);
        Preferences {
            model: ModelPreferences {
                default: self.text(&MODEL),
                thinking: self.thinking(),
                output_max: self.number(&OUTPUT_MAX).unwrap_or_default(),
            },
            context: ContextPreferences {
                estimate: EstimateSettings {
                    chars_per_token: small(&CHARS_PER_TOKEN),
                    context_limit: self.number(&CONTEXT_LIMIT),
                },
                compaction: CompactionSettings {
                    automatic: self.switch(&AUTO_COMPACT),
                    keep_tail: small(&TAIL),
                },
                result_chars_max: size(&RESULT_CHARS),
            },
            limits: self.limits(),
            notes: NotePreferences {
                enabled: self.switch(&NOTES_ENABLED),
                names: self.list(&NOTES_NAMES),
                file_bytes: size(&NOTES_FILE_BYTES),
                total_bytes: size(&NOTES_TOTAL_BYTES),
            },
            attribution: self.attribution(),
            tui: self.tui(),
        }
    }

    fn thinking(&self) -> Option<ThinkingSettings> {
        match self.value(&THINKING)? {
            KeyValue::Number(tokens) => Some(ThinkingSettings::Budget(tokens)),
            KeyValue::Text(effort) => Some(ThinkingSettings::Effort(effort)),
            KeyValue::Switch(_) | KeyValue::List(_) => None,
        }
    }

    fn limits(&self) -> LimitPreferences {
        let set = |key: &'static Key| match self.values.get(key.path)?.value {
            KeyValue::Number(number) => Some(number),
            _ => None,
        };
        LimitPreferences {
            rounds: set(&ROUNDS),
            calls: set(&CALLS),
            tokens: set(&TOKENS),
            cost: set(&COST),
            seconds: set(&SECONDS),
            repeats: set(&REPEATS),
            calls_at_once: set(&CALLS_AT_ONCE),
        }
    }

    fn attribution(&self) -> Attribution {
        match self.value(&ATTRIBUTION) {
            Some(KeyValue::Switch(false)) => Attribution::Nothing,
            Some(KeyValue::Text(text)) => Attribution::Text(text),
            _ => Attribution::AsModel,
        }
    }

    fn tui(&self) -> TuiPreferences {
        let is_vim = self.text(&TUI_KEYS).is_some_and(|keys| keys == "vim");
        TuiPreferences {
            theme: self.text(&TUI_THEME).unwrap_or_default(),
            keys: if is_vim { KeyStyle::Vim } else { KeyStyle::Emacs },
            plain: self.switch(&TUI_PLAIN),
            bell: self.switch(&TUI_BELL),
            status: self
                .list(&TUI_STATUS)
                .iter()
                .filter_map(|name| StatusField::named(name))
                .collect(),
        }
    }

    /// What a key holds: what was set, or else its default.
    fn value(&self, key: &'static Key) -> Option<KeyValue> {
        let set = self.values.get(key.path).map(|setting| setting.value.clone());
        set.or_else(|| key.default_value())
    }

    fn number(&self, key: &'static Key) -> Option<u64> {
        match self.value(key)? {
            KeyValue::Number(number) => Some(number),
            _ => None,
        }
    }

    fn text(&self, key: &'static Key) -> Option<String> {
        match self.value(key)? {
            KeyValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn switch(&self, key: &'static Key) -> bool {
        self.value(key) == Some(KeyValue::Switch(true))
    }

    fn list(&self, key: &'static Key) -> Vec<String> {
        match self.value(key) {
            Some(KeyValue::List(list)) => list,
            _ => Vec::new(),
        }
    }
}
