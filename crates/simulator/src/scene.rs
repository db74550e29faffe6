//! What one run is made of: settings, tempers, and how much happens.

use heeler_core::{
    CompactionSettings, EstimateSettings, Limits, LongPrices, Mode, ModelSettings, Parameters,
    Policy, Prices, Rule, RuleEffect, Settings,
};
use heeler_turn::retry;

use crate::chance::Chance;
use crate::model::Temper;
use crate::tools::{self, Results};

/// Everything a run draws once.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// Where the settings begin.
    pub(crate) settings: Settings,
    /// The model's manners.
    pub(crate) temper: Temper,
    /// What calls come to.
    pub(crate) results: Results,
    /// Inputs that are still to be said.
    pub(crate) inputs_left: u32,
    /// Things people still do besides.
    pub(crate) acts_left: u32,
    /// Percent of moments at which somebody does something.
    pub(crate) acts: u32,
    /// Processes that still die.
    pub(crate) crashes_left: u32,
    /// Percent of moments at which one dies.
    pub(crate) crashes: u32,
    /// Percent of crashes that are a loss of power.
    pub(crate) power: u32,
    /// Percent of the moments at which the driver starts less than it could.
    pub(crate) postpones: u32,
    /// Whether a program answers permission requests.
    pub(crate) has_approver: bool,
    /// When failed requests are sent again.
    pub(crate) retry: retry::Policy,
    /// When a call is cancelled.
    pub(crate) call_timeout_millis: u64,
    /// Percent of answers whose stream ends before they are whole.
    pub(crate) streams_break: u32,
    /// Percent of answers that the provider keeps for whoever asks for them again.
    pub(crate) keeps: u32,
    /// Old results fill the room there is.
    pub(crate) is_cluttered: bool,
    /// Percent of what people say that is long.
    pub(crate) long_winded: u32,
    /// Percent of summaries that fail.
    pub(crate) summaries_fail: u32,
    /// How often a session may still be closed in the middle.
    pub(crate) closes_left: u32,
}

impl Scene {
    pub(crate) fn draw(chance: &mut Chance) -> Self {
        let mut scene = Self {
            settings: settings(chance),
            temper: Temper {
                fails: chance.pick(&[0, 5, 15, 40]),
                calls: chance.pick(&[0, 60, 85, 85]),
                errs: chance.pick(&[0, 5, 15, 40]),
                insists: chance.pick(&[0, 10, 90]),
                // So that there mostly is something in the background.
                later: 12,
                calls_max: chance.pick(&[1, 3, 6]),
                overflows: chance.pick(&[0, 0, 0, 25, 75]),
                counts: chance.pick(&[100, 100, 60, 150, 400]),
                refuses: chance.pick(&[0, 10, 50]),
            },
            results: Results {
                fail: chance.pick(&[0, 10, 50, 95]),
                bulky: chance.pick(&[20, 5, 20, 60]),
                lines_max: 110,
            },
            inputs_left: 1 + chance.below(12),
            acts_left: chance.pick(&[0, 20, 40, 80]),
            acts: chance.pick(&[0, 10, 25, 40]),
            crashes_left: chance.pick(&[0, 0, 6, 12, 20]),
            crashes: chance.pick(&[0, 2, 8, 20]),
            power: chance.pick(&[0, 40]),
            postpones: chance.pick(&[0, 30, 80]),
            has_approver: chance.percent(50),
            retry: retry::Policy { attempts_max: 1 + chance.below(5), ..retry::Policy::default() },
            call_timeout_millis: 660_000,
            streams_break: 0,
            keeps: chance.pick(&[0, 0, 50, 100]),
            is_cluttered: false,
            long_winded: 5,
            summaries_fail: 20,
            closes_left: 0,
        };
        if chance.percent(20) {
            scene.clutter(chance);
        }
        scene
    }

    /// A run of the whole engine: shorter, since it is slower, and with many more moments at which
    /// something can happen.
    pub(crate) fn draw_for_engine(chance: &mut Chance) -> Self {
        let mut scene = Self {
            inputs_left: 1 + chance.below(4),
            acts_left: chance.pick(&[0, 8, 20, 40]),
            crashes_left: chance.pick(&[0, 0, 4, 8]),
            crashes: chance.pick(&[0, 1, 3, 8]),
            call_timeout_millis: chance.pick(&[660_000, 2000, 100]),
            streams_break: chance.pick(&[0, 5, 25]),
            power: chance.pick(&[0, 50]),
            closes_left: chance.pick(&[0, 0, 1, 2]),
            ..Self::draw(chance)
        };
        // A shorter run has less reasoning that could be refused.
        scene.temper.refuses = chance.pick(&[0, 20, 60]);
        if chance.percent(30) {
            scene.cramp(chance);
        } else if chance.percent(30) {
            scene.clutter(chance);
        }
        if scene.is_cluttered {
            // Seldom anywhere else does a process end while old results are cut short.
            scene.crashes = 1;
            scene.crashes_left += 2;
            scene.closes_left += 1;
        }
        scene
    }

    /// What somebody changes the settings to.
    pub(crate) fn other_settings(&self, chance: &mut Chance) -> Settings {
        let mut settings = settings(chance);
        if self.is_cluttered {
            clutter(&mut settings, chance);
        }
        settings
    }

    /// Room for some long results, and many of them: the old ones are cut short.
    fn clutter(&mut self, chance: &mut Chance) {
        self.is_cluttered = true;
        clutter(&mut self.settings, chance);
        self.settings.policy.mode = Mode::Bypass;
        // Long turns, of one call at a time: what is kept has to leave room for less than half.
        self.temper = Temper {
            fails: 5,
            calls: 95,
            errs: 0,
            insists: 0,
            later: 40,
            calls_max: 1,
            overflows: 0,
            counts: 100,
            refuses: 40,
        };
        self.acts = self.acts.min(25);
        self.crashes = self.crashes.min(1);
        self.results = Results { fail: 10, bulky: 80, lines_max: 220 };
        self.inputs_left += 3;
    }

    /// Little room for many words, and a model that hardly ever sums them up: the conversation is
    /// cut back without one.
    fn cramp(&mut self, chance: &mut Chance) {
        let estimate = &mut self.settings.estimate;
        estimate.context_limit = Some(context_limit(estimate.chars_per_token, chance));
        self.settings.compaction.automatic = true;
        self.inputs_left += 3;
        self.long_winded = 70;
        self.summaries_fail = 90;
    }
}

/// Room for more than what is kept, and no more than a few results.
fn clutter(settings: &mut Settings, chance: &mut Chance) {
    let chars = 12_000 + chance.below(4000);
    let estimate = &mut settings.estimate;
    estimate.context_limit = Some(u64::from(chars / estimate.chars_per_token));
    settings.compaction.automatic = true;
    settings.compaction.keep_tail = chance.pick(&[2, 1]);
    settings.limits = Limits { rounds: 12, repeats: 5, calls_at_once: 2, ..Limits::default() };
}

/// Settings of any kind.
pub(crate) fn settings(chance: &mut Chance) -> Settings {
    let chars_per_token = chance.pick(&[4, 3, 1]);
    let long =
        LongPrices { over: 3000, input: 6000, output: 22_500, cache_write: 7500, cache_read: 600 };
    let prices = Prices {
        input: 3000,
        output: 15_000,
        cache_write: 3750,
        cache_read: 300,
        long: Some(long),
    };
    Settings {
        model: ModelSettings {
            name: chance.pick(&["a/one", "a/two"]).into(),
            window: None,
            output_max: chance.pick(&[1000, 300, 100]),
            prices: chance.percent(50).then_some(prices),
            parameters: Parameters {
                temperature: chance.percent(20).then_some(0.5),
                ..Parameters::default()
            },
        },
        limits: limits(chance),
        estimate: EstimateSettings {
            chars_per_token,
            context_limit: chance.percent(50).then(|| context_limit(chars_per_token, chance)),
        },
        compaction: CompactionSettings {
            automatic: !chance.percent(20),
            keep_tail: chance.pick(&[2, 4, 3, 1, 8, 0]),
        },
        policy: policy(chance),
        background_wakes: chance.percent(40),
    }
}

/// Room for the prompt, the words that ask for a summary, and some conversation; for less, or for
/// long results besides.
fn context_limit(chars_per_token: u32, chance: &mut Chance) -> u64 {
    let chars = chance.pick(&[800, 2600, 800, 800, 2600, 150]) + chance.below(1200);
    u64::from(chars / chars_per_token)
}

/// Limits of any kind; none by default.
pub(crate) fn limits(chance: &mut Chance) -> Limits {
    Limits {
        rounds: chance.pick(&[12, 12, 12, 4, 2]),
        calls: chance.pick(&[0, 0, 8, 3, 1]),
        tokens: chance.pick(&[0, 0, 0, 6000, 2000]),
        cost: chance.pick(&[0, 0, 0, 60_000_000, 9_000_000]),
        wall_millis: chance.pick(&[0, 0, 2_000_000, 60_000, 1500]),
        repeats: chance.pick(&[5, 5, 3, 0]),
        calls_at_once: chance.pick(&[32, 32, 2, 1]),
    }
}

/// What may run, of any kind.
pub(crate) fn policy(chance: &mut Chance) -> Policy {
    let mode = chance.pick(&[
        Mode::Bypass,
        Mode::Ask,
        Mode::Ask,
        Mode::AcceptEdits,
        Mode::AllowListed,
        Mode::Plan,
    ]);
    let rules = (0..chance.below(4)).filter_map(|_| {
        let effect = chance.pick(&[RuleEffect::Allow, RuleEffect::Deny, RuleEffect::Ask]);
        rule(effect, chance)
    });
    let rules = rules.collect();
    Policy {
        mode,
        rules,
        interactive: !chance.percent(12),
        workspace: tools::WORKSPACE.into(),
        has_box: false,
        staged: false,
        asks_to_leave_plan: chance.percent(80),
        secrets: chance.percent(20).then(|| tools::SECRET.into()).into_iter().collect(),
        readable: Vec::new(),
        protected: Vec::new(),
        home: None,
        within: None,
    }
}

/// A rule of this effect.
pub(crate) fn rule(effect: RuleEffect, chance: &mut Chance) -> Option<Rule> {
    let texts = [
        "Bash",
        "Bash(git status)",
        "Bash(git:*)",
        "Bash(rm:*)",
        "Edit",
        "Edit(src/**)",
        "Read",
        "Read(secret/**)",
        "WebFetch(domain:example.com)",
        "opaque",
        "solo",
    ];
    Rule::parse(chance.pick(&texts), effect, "simulation").ok()
}

/// A rule that forbids a whole tool.
pub(crate) fn rule_against(tool: &str) -> Rule {
    let source = "simulation".to_owned();
    Rule { effect: RuleEffect::Deny, tool: tool.to_owned(), argument: None, source }
}
