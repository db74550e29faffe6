//! A world: settings, a model, tools and a person whose answers depend on nothing but what they
//! are asked, so that runs of one world can be compared.

use std::collections::BTreeSet;

use heeler_core::{
    Block, CallId, Decision, HookVerdict, LongPrices, Mode, PermissionId, Prices, RawJson, Reply,
    Rule, RuleEffect, Settings, StopReason, Thinking, ToolOutput, ToolUse, Usage,
};

use heeler_turn::limits::ENDS_REFUSED_MAX;
use heeler_turn::words;

use super::Dice;
use crate::toolbox;

/// After so many rounds the model gives its final answer.
const ROUNDS_MAX: u32 = 5;
/// Some pass, some do not, some are put right, and about some a hook has its say.
const ARGUMENTS: [&str; 9] =
    ["a", "b", "bad", "fixme", "", "hook-allow", "hook-ask", "hook-deny", "hook-broken"];
const TOOLS: [&str; 7] = ["note", "read", "write", "bash", "solo", "finish", "jump"];

/// Everything outside the machine.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) settings: Settings,
    replies: Vec<Reply>,
    salt: u32,
    /// Calls whose outcome is unknown, as after a crash.
    pub(super) unknown: BTreeSet<CallId>,
    /// Decisions that stop the turn or change rules are left out.
    pub(super) calm: bool,
}

impl World {
    pub(super) fn roll(dice: &mut Dice) -> Self {
        let settings = settings(dice);
        let replies = (0..1 + dice.below(6)).map(|_| reply(dice)).collect();
        let salt = u32::try_from(dice.below(256)).unwrap();
        Self { settings, replies, salt, unknown: BTreeSet::new(), calm: false }
    }

    /// A world whose turns end by the model's will alone, whatever the order of things.
    pub(super) fn roll_calm(dice: &mut Dice) -> Self {
        let mut world = Self::roll(dice);
        let limits = &mut world.settings.limits;
        (limits.calls, limits.tokens, limits.cost, limits.repeats) = (0, 0, 0, 0);
        limits.wall_millis = 0;
        world.settings.policy.interactive = true;
        world.settings.compaction.automatic = false;
        world.calm = true;
        world
    }

    pub(super) fn reply(&self, turn: u32, round: u32) -> Reply {
        if round > ROUNDS_MAX {
            return answer(vec![Block::text("That is all.")], StopReason::EndTurn);
        }
        self.replies[(turn * 3 + round) as usize % self.replies.len()].clone()
    }

    /// The same call always comes to the same, but for its name in the text.
    pub(super) fn output(&self, call: CallId, name: &str, input: &RawJson) -> ToolOutput {
        if self.unknown.contains(&call) {
            return ToolOutput::error(words::OUTCOME_UNKNOWN);
        }
        let argument = toolbox::argument(input);
        let text = format!("{call}: {name} {argument}");
        match self.hash(&format!("{name} {argument}")) % 9 {
            0 | 1 => ToolOutput::error(text),
            2 => ToolOutput { response_handled: true, ..ToolOutput::text(text) },
            3 => ToolOutput { for_user: "Look!".into(), ..ToolOutput::text(text) },
            4 => ToolOutput::text("x".repeat(300)),
            5 => ToolOutput::text(""),
            _ => ToolOutput::text(&text).with_state(argument, &text),
        }
    }

    /// What somebody says who is asked to leave plan mode.
    pub(super) fn plan_decision(&self, id: PermissionId) -> Decision {
        match self.hash(&format!("plan {id}")) % if self.calm { 4 } else { 5 } {
            0 => Decision::LeavePlan { mode: Mode::Ask },
            1 => Decision::LeavePlan { mode: Mode::AcceptEdits },
            2 => Decision::Deny { reason: None },
            3 => Decision::Deny { reason: Some("not yet".into()) },
            _ => Decision::DenyAndStop { reason: None },
        }
    }

    pub(super) fn decision(&self, id: PermissionId, name: &str) -> Decision {
        let rule = |effect| Rule::parse(name, effect, "person").unwrap();
        let choices = if self.calm { 5 } else { 9 };
        let hash = self.hash(&id.to_string());
        match hash % choices {
            0 | 1 => Decision::Once,
            2 => Decision::Deny { reason: None },
            3 => Decision::Deny { reason: Some("because".into()) },
            4 => {
                let argument = ARGUMENTS[(hash / choices) as usize % ARGUMENTS.len()];
                Decision::Edited { input: toolbox::input(name, argument) }
            }
            5 => Decision::Session { rule: rule(RuleEffect::Allow) },
            6 => Decision::Always { rule: rule(RuleEffect::Allow) },
            7 => Decision::Session { rule: rule(RuleEffect::Deny) },
            _ => Decision::DenyAndStop { reason: None },
        }
    }

    /// What a hook says of a call that somebody would be asked about; most say nothing.
    pub(super) fn permission_hook(&self, call: CallId) -> Option<HookVerdict> {
        let wishes = ["allow", "deny", "broken"];
        let wish = wishes.get(self.hash(&format!("hook {call}")) as usize % 9)?;
        Some(toolbox::hook(wish))
    }

    /// Whether a hook refuses a turn its end that was refused it so often already.
    pub(super) fn refuses_end(&self, turn: u32, times: u32) -> bool {
        times < ENDS_REFUSED_MAX && self.hash(&format!("end {turn} {times}")).is_multiple_of(3)
    }

    fn hash(&self, text: &str) -> u32 {
        let mix = |sum: u32, byte: u8| sum.wrapping_mul(31).wrapping_add(u32::from(byte));
        text.bytes().fold(self.salt, mix) >> 2
    }
}

fn settings(dice: &mut Dice) -> Settings {
    let mut settings = Settings::default();
    settings.model.name = "test/model".into();
    settings.model.output_max = dice.pick(&[8192, 300]);
    let long = LongPrices { over: 60, input: 4, output: 7, cache_write: 6, cache_read: 2 };
    let prices = Prices { input: 2, output: 5, cache_write: 3, cache_read: 1, long: Some(long) };
    let free_output = Prices { output: 0, ..prices };
    settings.model.prices = dice.pick(&[None, Some(prices), Some(free_output)]);
    settings.limits.rounds = dice.pick(&[0, 1, 3, 8]);
    settings.limits.calls = dice.pick(&[0, 2, 5]);
    settings.limits.tokens = dice.pick(&[0, 3000, 600]);
    settings.limits.cost = dice.pick(&[0, 50_000, 2000]);
    settings.limits.repeats = dice.pick(&[5, 0, 1, 2, 3]);
    settings.limits.calls_at_once = dice.pick(&[32, 0, 1, 2]);
    settings.limits.wall_millis = dice.pick(&[0, 5000]);
    settings.estimate.chars_per_token = dice.pick(&[4, 1, 0]);
    settings.estimate.context_limit = dice.pick(&[None, Some(400), Some(30)]);
    settings.compaction.keep_tail = dice.pick(&[8, 1, 2]);
    settings.compaction.automatic = dice.below(4) != 3;
    settings.policy.mode =
        dice.pick(&[Mode::Bypass, Mode::Ask, Mode::AcceptEdits, Mode::Plan, Mode::AllowListed]);
    settings.policy.interactive = dice.below(3) != 2;
    settings.policy.asks_to_leave_plan = true;
    settings.policy.workspace = toolbox::WORKSPACE.into();
    settings.policy.rules = (0..dice.below(3)).map(|_| rule(dice)).collect();
    settings
}

/// A rule about all of a tool, which the watcher can judge by itself.
pub(super) fn rule(dice: &mut Dice) -> Rule {
    let effect = dice.pick(&[RuleEffect::Allow, RuleEffect::Deny, RuleEffect::Ask]);
    Rule::parse(dice.pick(&TOOLS), effect, "test").unwrap()
}

fn reply(dice: &mut Dice) -> Reply {
    let mut blocks = Vec::new();
    match dice.below(6) {
        0..=2 => {}
        n => {
            let signature = if n == 3 { String::new() } else { "signed".into() };
            blocks.push(Block::from(Thinking { text: "Hm.".into(), signature, raw: None }));
        }
    }
    match dice.below(6) {
        0..=3 => blocks.push(Block::text("Well.")),
        4 => blocks.push(Block::text("")),
        _ => {}
    }
    for _ in 0..dice.pick(&[0, 1, 2, 2, 3, 4]) {
        blocks.push(call(dice));
    }
    let stop = dice.pick(&[
        StopReason::ToolUse,
        StopReason::EndTurn,
        StopReason::ToolUse,
        StopReason::MaxTokens,
        StopReason::Pause,
        StopReason::ToolUse,
        StopReason::Refusal,
        StopReason::StopSequence,
        StopReason::ContentFilter,
        StopReason::Interrupted,
        StopReason::Other("new".into()),
    ]);
    answer(blocks, stop)
}

fn call(dice: &mut Dice) -> Block {
    let name = dice.pick(&TOOLS);
    let argument = dice.pick(&ARGUMENTS);
    let invalid = (dice.below(10) == 9).then(|| "it was cut off".to_owned());
    let input =
        if invalid.is_some() { RawJson::empty_object() } else { toolbox::input(name, argument) };
    let id = dice.pick(&["same", "", "other", "call_1_1_0", "call_1_2_1"]).to_owned();
    Block::from(ToolUse { id, name: name.to_owned(), input, invalid, cache: None })
}

fn answer(blocks: Vec<Block>, stop: StopReason) -> Reply {
    Reply { blocks, stop, usage: Usage::default(), provider_id: None }
}
