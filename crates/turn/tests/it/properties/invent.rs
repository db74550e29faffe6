//! Records out of thin air: every kind, small numbers that may fit and large ones that never do.

use heeler_core::{
    AcceptedAnswer, Block, CallId, CallPlan, CallPlanned, Compacted, CompactionCause,
    CompactionStarted, Cost, Decision, EpochCause, EpochStarted, FactsChanged, ForUser, ForkOrigin,
    HookAnswered, HookEvent, Image, Input, InterruptCause, Kept, LimitKind, Limits, Message,
    ModelAccepted, ModelFailed, ModelReplied, ModelStarted, Opened, PermissionAsked,
    PermissionDecided, PermissionId, PermissionReason, ProviderErrorKind, Pruned, RawJson, Record,
    Reply, Reserve, Role, SteeringId, SteeringQueued, StopReason, Thinking, Timestamp, ToolOutput,
    ToolResult, ToolUse, Trimmed, TurnOutcome, Usage,
};

use super::{Dice, world};
use crate::toolbox;

/// Any time, forwards or backwards.
pub(super) fn time(dice: &mut Dice) -> Timestamp {
    Timestamp(dice.pick(&[0, 1, 5000, u64::MAX]))
}

/// Any record.
pub(super) fn record(dice: &mut Dice) -> Record {
    match dice.below(25) {
        0 => Record::Opened(Opened { incarnation: large(dice), build: String::new() }),
        1 => {
            let settings = world::World::roll(dice).settings;
            Record::SettingsChanged(Box::new(settings))
        }
        2 => Record::LimitsChanged(Limits { rounds: small(dice), ..Limits::default() }),
        3 => Record::EpochStarted(Box::new(epoch(dice))),
        4 => Record::Input(Box::new(input(dice))),
        5..=7 => Record::ModelStarted(ModelStarted {
            turn: small(dice),
            round: small(dice),
            attempt: small(dice),
            epoch: small(dice),
            up_to: large(dice),
            reserve: Reserve::default(),
        }),
        8..=10 => Record::ModelReplied(Box::new(ModelReplied {
            turn: small(dice),
            round: small(dice),
            attempt: small(dice),
            reply: reply(dice),
            cost: dice.pick(&[None, Some(Cost(u64::MAX))]),
        })),
        24 => Record::ModelAccepted(Box::new(ModelAccepted {
            turn: small(dice),
            round: small(dice),
            attempt: small(dice),
            answer: AcceptedAnswer { dialect: "d".into(), id: "r".into() },
        })),
        11 => Record::ModelFailed(Box::new(ModelFailed {
            turn: small(dice),
            round: small(dice),
            attempt: small(dice),
            kind: dice.pick(&[
                ProviderErrorKind::Overloaded,
                ProviderErrorKind::ContextOverflow,
                ProviderErrorKind::RefusedItem,
                ProviderErrorKind::RefusedReasoning,
            ]),
            message: String::new(),
            retry_at: dice.pick(&[None, Some(Timestamp(5000)), Some(Timestamp(u64::MAX))]),
            usage: usage(dice),
            cost: None,
        })),
        12 | 13 => {
            let name = dice.pick(&["note", "write", "jump"]);
            let argument = dice.pick(&["a", "b", "hook-deny", "hook-stop", "hook-allow"]);
            let plan = toolbox::plan(name, &toolbox::input(name, argument));
            let plan = if dice.below(5) == 4 { unusable() } else { plan };
            Record::CallPlanned(Box::new(CallPlanned {
                call: call(dice),
                answered_before: 0,
                plan,
            }))
        }
        14 | 15 => Record::CallStarted { call: call(dice) },
        16 => Record::CallFinished {
            call: call(dice),
            output: Box::new(ToolOutput {
                content: blocks(dice),
                is_background: dice.below(4) == 0,
                ..ToolOutput::default()
            }),
            millis: large(dice),
            inner_calls: dice.pick(&[0, 0, 1, u32::MAX]),
        },
        17 => Record::PermissionAsked(Box::new(PermissionAsked {
            id: PermissionId::first(call(dice)),
            reason: match dice.below(2) {
                0 => PermissionReason::Repeated(small(dice)),
                _ => PermissionReason::LeavePlan { calls: Vec::new(), more: small(dice) },
            },
        })),
        18 => Record::PermissionDecided(Box::new(PermissionDecided {
            id: PermissionId::first(call(dice)),
            decision: decision(dice),
            by: String::new(),
        })),
        _ => rarer(dice),
    }
}

fn rarer(dice: &mut Dice) -> Record {
    let id = SteeringId(dice.pick(&["s1", "input-5", ""]).into());
    match dice.below(18) {
        17 => Record::FactsChanged(Box::new(FactsChanged {
            call: call(dice),
            facts: toolbox::facts(dice.pick(&["note", "write", "jump"]), "a").unwrap_or_default(),
            ends_allowance: dice.below(2) == 0,
        })),
        13 => Record::Forked(Box::new(ForkOrigin {
            session: "source".parse().expect("an id"),
            at: small(dice),
        })),
        12 => Record::Named { name: dice.pick(&[None, Some("it".parse().expect("a name"))]) },
        11 => Record::HistoryGiven { messages: messages(dice) },
        10 => Record::HookAnswered(Box::new(hook_answered(dice))),
        0 => Record::RuleGranted(Box::new(world::rule(dice))),
        1 => Record::SteeringTakenBack { id },
        2 => Record::SteeringQueued(Box::new(SteeringQueued {
            id,
            input: input(dice),
            background: dice.pick(&[None, Some(CallId { turn: 1, round: 1, index: 0 })]),
            for_user: dice.pick(&[None, Some(Box::new(ForUser::default()))]),
        })),
        3 => Record::Interrupted {
            cause: dice.pick(&[InterruptCause::Cancelled, InterruptCause::WallTime]),
        },
        4 | 5 => Record::CompactionStarted(CompactionStarted {
            cut: large(dice),
            cause: dice.pick(&[CompactionCause::Automatic, CompactionCause::Manual]),
            focus: dice.pick(&[None, Some("a file")]).map(Into::into),
        }),
        6 => Record::Compacted(Box::new(Compacted {
            summary: dice.pick(&["", "So far."]).into(),
            usage: usage(dice),
            cost: None,
            kept: [
                None,
                Some(Kept {
                    said_chars_max: large(dice),
                    steps_max: large(dice),
                    files_max: large(dice),
                }),
            ][usize::from(dice.below(2) == 1)],
        })),
        7 => Record::CompactionFailed(Box::default()),
        8 => Record::TurnFinished {
            turn: small(dice),
            outcome: dice.pick(&[
                TurnOutcome::Done,
                TurnOutcome::Limit { limit: LimitKind::Wall },
                TurnOutcome::Cancelled,
            ]),
        },
        9 => Record::Trimmed(Trimmed {
            cut: large(dice),
            said_chars_max: large(dice),
            result_chars_max: large(dice),
            only_said: dice.below(2) == 1,
        }),
        15 => Record::Restored,
        14 => Record::Pruned(Pruned { before: large(dice), result_chars_max: large(dice) }),
        _ => Record::TimePassed,
    }
}

fn hook_answered(dice: &mut Dice) -> HookAnswered {
    HookAnswered {
        event: dice.pick(&HookEvent::ALL),
        call: dice.pick(&[true, false]).then(|| call(dice)),
        verdict: toolbox::hook(dice.pick(&["allow", "ask", "broken", "deny", "stop", ""])),
        context: Vec::new(),
    }
}

fn small(dice: &mut Dice) -> u32 {
    dice.pick(&[1, 1, 1, 2, 2, 3, 4, 0, u32::MAX])
}

fn large(dice: &mut Dice) -> u64 {
    dice.pick(&[1, 2, 3, 4, 5, 6, 7, 0, u64::MAX])
}

fn call(dice: &mut Dice) -> CallId {
    CallId { turn: small(dice), round: small(dice), index: dice.pick(&[0, 1, 2, u32::MAX]) }
}

fn usage(dice: &mut Dice) -> Usage {
    let n = large(dice);
    Usage { input: n, output: n, cache_write: n, ..Usage::default() }
}

fn epoch(dice: &mut Dice) -> EpochStarted {
    EpochStarted {
        epoch: small(dice),
        cause: EpochCause::Tools,
        system: dice.pick(&["", "You help."]).into(),
        tools: Vec::new(),
        provider_tools: Vec::new(),
        model: dice.pick(&["", "model", "a/b/c"]).into(),
        system_hash: String::new(),
        tools_hash: String::new(),
    }
}

fn input(dice: &mut Dice) -> Input {
    Input { blocks: blocks(dice), origin: heeler_core::InputOrigin::default() }
}

fn reply(dice: &mut Dice) -> Reply {
    let stop = dice.pick(&[StopReason::ToolUse, StopReason::EndTurn, StopReason::Pause]);
    Reply { blocks: blocks(dice), stop, usage: usage(dice), provider_id: None }
}

fn messages(dice: &mut Dice) -> Vec<Message> {
    let role = |dice: &mut Dice| dice.pick(&[Role::User, Role::Assistant]);
    (0..dice.below(6)).map(|_| Message { role: role(dice), blocks: blocks(dice) }).collect()
}

/// Blocks that belong there, and blocks that never may.
fn blocks(dice: &mut Dice) -> Vec<Block> {
    (0..dice.below(4)).map(|_| block(dice)).collect()
}

fn block(dice: &mut Dice) -> Block {
    let id = dice.pick(&["same", "", "call_1_1_0"]).to_owned();
    match dice.below(6) {
        0 | 1 => Block::from(ToolUse {
            id,
            name: dice.pick(&["note", "write", "jump"]).into(),
            input: RawJson::empty_object(),
            invalid: None,
            cache: None,
        }),
        2 => Block::from(ToolResult {
            tool_use_id: id,
            content: Vec::new(),
            is_error: false,
            cache: None,
        }),
        3 => match dice.below(2) {
            0 => Block::text(""),
            _ => Block::from(Image::from_bytes("image/png", b"")),
        },
        4 => Block::from(Thinking {
            text: "Hm.".into(),
            signature: dice.pick(&["", "signed"]).into(),
            raw: None,
        }),
        _ => Block::text("Well."),
    }
}

fn decision(dice: &mut Dice) -> Decision {
    let reason = None;
    match dice.below(6) {
        4 => Decision::LeavePlan {
            mode: dice.pick(&[heeler_core::Mode::Ask, heeler_core::Mode::Bypass]),
        },
        0 => Decision::Once,
        1 => Decision::Session { rule: world::rule(dice) },
        3 => Decision::Edited { input: RawJson::empty_object() },
        2 => Decision::Deny { reason },
        _ => Decision::DenyAndStop { reason },
    }
}

fn unusable() -> CallPlan {
    CallPlan::Invalid { error: String::new() }
}
