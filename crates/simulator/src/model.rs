//! The simulated model: it answers, calls tools, errs in every way a provider can.

use std::sync::Arc;

use heeler_core::{
    Block, ModelRequest, ProviderErrorKind, RawJson, RedactedThinking, Reply, Reserve, StopReason,
    Thinking, ToolResult, ToolUse, Usage,
};

use crate::chance::Chance;
use crate::tools;

/// How prone a model is to do what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temper {
    /// Percent of requests that fail.
    pub(crate) fails: u32,
    /// Percent of answers that call tools.
    pub(crate) calls: u32,
    /// Percent of answers that are broken in some way.
    pub(crate) errs: u32,
    /// Percent of calls that repeat the one before.
    pub(crate) insists: u32,
    /// Percent of calls that begin work in the background.
    pub(crate) later: u32,
    /// The most calls in one answer.
    pub(crate) calls_max: u32,
    /// Percent of requests that the provider finds too long.
    pub(crate) overflows: u32,
    /// Real tokens for each hundred estimated ones.
    pub(crate) counts: u32,
    /// Percent of requests with reasoning whose reasoning the provider cannot verify.
    pub(crate) refuses: u32,
}

impl Temper {
    /// What the provider counts for so many estimated tokens.
    pub(crate) fn counted(self, estimated: u64) -> u64 {
        estimated * u64::from(self.counts) / 100
    }
}

/// How a request ends.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Reply(Reply),
    Error { kind: ProviderErrorKind, usage: Usage, is_cut: bool },
}

/// What the model remembers between requests.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    last: Option<(String, RawJson)>,
    calls_made: u32,
}

/// Answers one request; `reserve.input` is its uncalibrated estimate.
pub(crate) fn answer(
    temper: Temper,
    memory: &mut Memory,
    (request, reserve): (&ModelRequest, Reserve),
    chance: &mut Chance,
) -> (Ending, u64) {
    let millis = chance.pick(&[5, 5, 50, 700, 20_000]);
    let reserve = Reserve { input: temper.counted(reserve.input), ..reserve };
    if refuses(temper, request, chance) {
        return (refusal(), millis);
    }
    if chance.percent(temper.overflows) {
        let kind = ProviderErrorKind::ContextOverflow;
        return (Ending::Error { kind, usage: Usage::default(), is_cut: false }, millis);
    }
    if chance.percent(temper.fails) {
        return (failure(reserve, chance), millis);
    }
    let mut blocks = Vec::new();
    if chance.percent(15) {
        blocks.push(reasoning(chance));
    }
    let calls = if chance.percent(temper.calls) { 1 + chance.below(temper.calls_max) } else { 0 };
    if calls == 0 || chance.percent(30) {
        blocks.push(Block::text("I say so."));
    }
    for _ in 0..calls {
        blocks.push(Block::from(call(temper, memory, chance)));
    }
    let mut stop = if calls == 0 { StopReason::EndTurn } else { StopReason::ToolUse };
    if chance.percent(temper.errs) {
        stop = spoil(&mut blocks, stop, chance);
    }
    let usage = usage(reserve, chance);
    (Ending::Reply(Reply { blocks, stop, usage, provider_id: None }), millis)
}

/// Whether a request is refused for its reasoning: one without never is.
pub(crate) fn refuses(temper: Temper, request: &ModelRequest, chance: &mut Chance) -> bool {
    let is_reasoning =
        |block: &Block| matches!(block, Block::Thinking(_) | Block::RedactedThinking(_));
    request.messages.iter().any(|message| message.message.blocks.iter().any(is_reasoning))
        && chance.percent(temper.refuses)
}

/// What a provider says that cannot verify reasoning.
pub(crate) fn refusal() -> Ending {
    let kind = ProviderErrorKind::RefusedReasoning;
    Ending::Error { kind, usage: Usage::default(), is_cut: false }
}

/// Reasoning that goes back as it came, but for what is not signed.
fn reasoning(chance: &mut Chance) -> Block {
    let signature = chance.pick(&["signed", "", "sealed"]);
    if signature == "sealed" {
        return Block::from(RedactedThinking { data: signature.into() });
    }
    Block::from(Thinking { text: "hm".into(), signature: signature.into(), raw: None })
}

fn call(temper: Temper, memory: &mut Memory, chance: &mut Chance) -> ToolUse {
    let repeated = memory.last.clone().filter(|_| chance.percent(temper.insists));
    // What is read is often written next.
    let written = memory.last.as_ref().filter(|(name, _)| name == "read" && chance.percent(25));
    let repeated = repeated.or(written.map(|(_, input)| ("write".to_owned(), input.clone())));
    let later = chance.percent(temper.later).then(|| (tools::LATER.to_owned(), tools::input(0)));
    let repeated = repeated.or(later);
    let (name, input) = repeated.unwrap_or_else(|| {
        // The last two are no tools, and rare.
        let known = if chance.percent(6) { 0 } else { 2 };
        (chance.pick(&tools::NAMES[..tools::NAMES.len() - known]).to_owned(), {
            let n = chance.below(5);
            if chance.percent(8) { tools::broken_input() } else { tools::input(n) }
        })
    });
    memory.last = Some((name.clone(), input.clone()));
    memory.calls_made += 1;
    let id = match chance.below(20) {
        17 => String::new(),
        18 => "toolu_same".into(),
        19 => "call_1_1_0".into(),
        _ => format!("toolu_{}", memory.calls_made),
    };
    ToolUse { id, name, input, invalid: None, cache: None }
}

/// Whether an answer is none of the two usual ones.
pub(crate) fn is_odd(reply: &Reply) -> bool {
    let is_usual = matches!(reply.stop, StopReason::EndTurn | StopReason::ToolUse);
    let mut calls = reply.blocks.iter().filter_map(Block::as_tool_use);
    !is_usual || reply.blocks.is_empty() || calls.any(|call| call.invalid.is_some())
}

/// Breaks an answer in one of the ways models and providers do.
fn spoil(blocks: &mut Vec<Block>, stop: StopReason, chance: &mut Chance) -> StopReason {
    match chance.below(11) {
        0 => StopReason::MaxTokens,
        1 => StopReason::Refusal,
        2 => StopReason::ContentFilter,
        3 => StopReason::Pause,
        4 => StopReason::Other("new".into()),
        5 => {
            blocks.clear();
            stop
        }
        6 => {
            *blocks = vec![Block::text("  \n")];
            StopReason::Pause
        }
        7 => {
            let content = vec![Block::text("the model answers itself")];
            let tool_use_id = "toolu_1".into();
            let own = ToolResult { tool_use_id, content, is_error: false, cache: None };
            blocks.insert(0, Block::from(own));
            stop
        }
        8 => {
            let why = chance.pick(&["the answer was cut", "it is not JSON"]);
            if let Some(Block::ToolUse(last)) = blocks.last_mut() {
                garble(last, why);
            }
            StopReason::MaxTokens
        }
        // The answer is whole, and one of its calls is nonsense, wherever it stands.
        _ => {
            let mut calls: Vec<&mut Arc<ToolUse>> = blocks.iter_mut().filter_map(as_call).collect();
            let at = chance.index(calls.len());
            if let Some(call) = calls.get_mut(at) {
                garble(call, "it is not JSON");
            }
            stop
        }
    }
}

fn as_call(block: &mut Block) -> Option<&mut Arc<ToolUse>> {
    match block {
        Block::ToolUse(call) => Some(call),
        _ => None,
    }
}

/// Makes a call one whose input cannot be read.
fn garble(call: &mut Arc<ToolUse>, why: &str) {
    let call = Arc::make_mut(call);
    call.input = RawJson::empty_object();
    call.invalid = Some(why.to_owned());
}

/// A request that fails in one of the ways they do.
pub(crate) fn failure(reserve: Reserve, chance: &mut Chance) -> Ending {
    use ProviderErrorKind::{
        Auth, Billing, ContextOverflow, Format, InvalidRequest, Network, Overloaded, RateLimit,
        RefusedItem, Server, UnknownModel,
    };
    let kinds = [
        Overloaded,
        RateLimit,
        Network,
        Format,
        Server,
        Overloaded,
        RateLimit,
        Network,
        Format,
        ContextOverflow,
        ContextOverflow,
        Auth,
        Billing,
        UnknownModel,
        RefusedItem,
        InvalidRequest,
    ];
    let kind = chance.pick(&kinds);
    let is_cut = kind == Format;
    let usage = if is_cut { usage(reserve, chance) } else { Usage::default() };
    Ending::Error { kind, usage, is_cut }
}

/// What a provider bills: what it counted in, and no more out than was reserved.
pub(crate) fn usage(reserve: Reserve, chance: &mut Chance) -> Usage {
    let cached = reserve.input * u64::from(chance.below(11)) / 10;
    let rest = reserve.input - cached;
    let (input, cache_write) = if chance.percent(50) { (rest, 0) } else { (0, rest) };
    let output = reserve.output * u64::from(chance.pick(&[1u32, 5, 100, 1000])) / 1000;
    // Some tell nothing, and drivers estimate.
    let is_estimated = reserve.input.is_multiple_of(20);
    Usage {
        input,
        output,
        cache_write,
        cache_read: cached,
        reasoning: 0,
        charged: None,
        is_estimated,
    }
}

/// What is left of an answer that was stopped while it came: its first blocks, and no calls that
/// were not whole.
pub(crate) fn interrupted(ending: &Ending, chance: &mut Chance) -> Option<Reply> {
    let Ending::Reply(reply) = ending else { return None };
    let keep = chance.index(reply.blocks.len() + 1);
    let mut blocks = reply.blocks.clone();
    blocks.truncate(keep);
    blocks.retain(|block| !block.is_empty());
    let usage = if chance.percent(50) { reply.usage } else { Usage::default() };
    let worth_keeping = !blocks.is_empty() || usage != Usage::default();
    worth_keeping.then_some(Reply {
        blocks,
        stop: StopReason::Interrupted,
        usage,
        provider_id: None,
    })
}
