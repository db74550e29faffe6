//! `heeler show --request`: a past model request, made again from the journal.
//!
//! A request is a pure function of the records before it, so nothing of it is stored.

mod parts;

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context as _, Result, bail};
use heeler::providers::{KnownProvider, NamedModel};
use heeler_core::{
    Bill, Event, Journal, ModelReplied, ModelStarted, Prices, Record, Reread, Seq, SessionId,
    SessionStore, Usage, from_json_bytes,
};
use heeler_store::FileStore;
use heeler_turn::state::Announcer;
use heeler_turn::{CharacterEstimate, State};
use serde_json::Value;

use crate::say::{harmless, say};
use parts::{Part, parts};

/// A request that was sent.
struct Past<'a> {
    state: State,
    started: &'a ModelStarted,
    seq: Seq,
    reply: Option<&'a ModelReplied>,
    /// What its epoch cost, if that began with it.
    reread: Option<Reread>,
    body: Vec<u8>,
    /// How many requests the session has made.
    n_requests: u64,
}

/// Prints the body's bytes.
pub(super) async fn print_raw(
    store: &FileStore,
    id: SessionId,
    number: u64,
    out: &mut dyn Write,
) -> Result<()> {
    let journal = store.read(id).await?;
    let past = find(&journal, number)?;
    tell_damage(&journal, past.seq);
    out.write_all(&past.body)?;
    Ok(out.flush()?)
}

/// Prints the body for a person, after a summary on stderr.
pub(super) async fn print(
    store: &FileStore,
    id: SessionId,
    number: u64,
    out: &mut dyn Write,
) -> Result<()> {
    let journal = store.read(id).await?;
    let past = find(&journal, number)?;
    tell_damage(&journal, past.seq);
    let body: Value = from_json_bytes(&past.body).context("the body is not JSON")?;
    say(summary(&past, number, &body)?.trim_end());
    writeln!(out, "{}", harmless(&serde_json::to_string_pretty(&body)?))?;
    Ok(out.flush()?)
}

/// Folds the journal up to the request and encodes it as its provider did.
fn find(journal: &Journal, number: u64) -> Result<Past<'_>> {
    let id = &journal.header.id;
    let starts = journal.entries.iter().enumerate().filter_map(|(at, entry)| {
        let Record::ModelStarted(started) = &entry.record else { return None };
        Some((at, started))
    });
    let starts: Vec<_> = starts.collect();
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let Some(&(at, started)) = index.and_then(|index| starts.get(index)) else {
        match starts.len() {
            0 => bail!("session {id} has sent no model request yet"),
            n => bail!("session {id} has no model request {number}; it has {n}, from 1 to {n}"),
        }
    };
    let mut state = State::new();
    journal.entries[..=at].iter().for_each(|entry| state.apply(entry));
    let request = state.request(started.reserve.output).with_context(|| {
        format!("the record of the prompt's beginning is missing in the journal of session {id}")
    })?;
    let reply = journal.entries[at..].iter().find_map(|entry| match &entry.record {
        Record::ModelReplied(replied) if is_reply(replied, started) => Some((entry, &**replied)),
        _ => None,
    });
    let reread = reply.and_then(|(entry, _)| {
        let mut out = Announcer::collecting();
        state.clone().apply_announcing(entry, &mut out);
        out.into_events().into_iter().find_map(|event| match event {
            Event::Usage { reread, .. } => reread,
            _ => None,
        })
    });
    let reply = reply.map(|(_, replied)| replied);
    let provider = NamedModel::provider_of(&state.settings.model.name);
    // What a scripted model is asked has no bytes; those of the first provider stand for them.
    let known = provider.map(|(provider, _)| provider).ok().or_else(|| KnownProvider::all().next());
    let body = known.context("there is no provider")?.request_body(&request)?;
    let (seq, n_requests) = (journal.entries[at].seq, starts.len() as u64);
    Ok(Past { state, started, seq, reply, reread, body, n_requests })
}

fn is_reply(replied: &ModelReplied, started: &ModelStarted) -> bool {
    (replied.turn, replied.round, replied.attempt) == (started.turn, started.round, started.attempt)
}

/// What is missing before a request may have been part of it.
fn tell_damage(journal: &Journal, seq: Seq) {
    for damage in journal.damage.iter().filter(|damage| damage.seq <= seq) {
        say(format_args!(
            "heeler: damaged: line {}: {}; what was sent may have been something else",
            damage.line, damage.what
        ));
    }
}

fn summary(past: &Past<'_>, number: u64, body: &Value) -> Result<String> {
    let ModelStarted { turn, round, attempt, .. } = past.started;
    let settings = &past.state.settings;
    let estimate = CharacterEstimate::new(settings.estimate.chars_per_token);
    let mut parts = parts(body, &estimate);
    if let Some(replied) = past.reply {
        mark_read(&mut parts, &replied.reply.usage);
    }
    let mut text = String::new();
    writeln!(
        text,
        "request {number} of {}: turn {turn}, round {round}, attempt {attempt}, {}, {} bytes",
        past.n_requests,
        settings.model.name,
        past.body.len()
    )?;
    if settings.model.name.starts_with("script:") {
        writeln!(text, "(a scripted model is sent no bytes; these are Anthropic's for the same)")?;
    }
    let tokens = |parts: &[Part]| parts.iter().map(|part| part.tokens).sum::<u64>();
    let total = tokens(&parts);
    writeln!(text, "\n  tokens  share")?;
    for part in &parts {
        let share = (part.tokens * 100).checked_div(total).unwrap_or_default();
        let mark = match (part.was_read, part.is_cached) {
            (true, _) => '#',
            (false, true) => '=',
            (false, false) => ' ',
        };
        let row = format!("{:8}  {share:3} % {mark} {}", part.tokens, part.label);
        writeln!(text, "{}", row.trim_end())?;
    }
    let cached = parts.iter().filter(|part| part.is_cached).map(|part| part.tokens).sum();
    writeln!(
        text,
        "about {total} tokens, {cached} of them before the last cache marker (= and #)"
    )?;
    writeln!(text, "#: what was read from the cache, by the model's own count")?;
    if let Some(prices) = &settings.model.prices {
        writeln!(text, "{}", costs(prices, total, cached))?;
    }
    if let Some(replied) = past.reply {
        let usage = replied.reply.usage;
        let mut bill = Bill::default();
        bill.add(&usage, replied.cost);
        writeln!(text, "counted by the model: {}, {} out, {bill}", input(&usage), usage.output)?;
        if let Some(reread) = past.reread {
            writeln!(text, "{}", told_reread("a new epoch began with it", &reread))?;
        }
    }
    Ok(text)
}

/// Input by where it came from, and how much of it the cache had, if that is known.
pub(super) fn input(usage: &Usage) -> String {
    let hit = match usage.cache_hit_percent() {
        Some(hit) => format!("{hit} % cached: "),
        None => String::new(),
    };
    format!(
        "{} tokens in ({hit}{} read, {} written, {} neither)",
        usage.input_total(),
        usage.cache_read,
        usage.cache_write,
        usage.input
    )
}

/// What a new epoch cost, in words.
pub(super) fn told_reread(what: &str, reread: &Reread) -> String {
    let cost = reread.cost.map(|cost| format!(", for {cost} more")).unwrap_or_default();
    format!("{what}: {} tokens were read anew, not from the cache{cost}", reread.tokens)
}

/// Marks as many parts as make up the share of the input that was read from the cache.
fn mark_read(parts: &mut [Part], usage: &Usage) {
    let all: u64 = parts.iter().map(|part| part.tokens).sum();
    let (read, total) = (u128::from(usage.cache_read), u128::from(usage.input_total()));
    let mut before = 0;
    for part in parts {
        before += part.tokens;
        part.was_read = read > 0 && u128::from(before) * total <= u128::from(all) * read;
    }
}

/// What the input costs the first time, and what it does once the provider has it.
fn costs(prices: &Prices, total: u64, cached: u64) -> String {
    let fresh = total - cached;
    let new = Usage { input: fresh, cache_write: cached, ..Usage::default() };
    let known = Usage { input: fresh, cache_read: cached, ..Usage::default() };
    format!("about {} sent the first time, {} again", prices.cost(&new), prices.cost(&known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_tells_nothing_of_the_cache() {
        let told = Usage { input: 10, cache_read: 10, ..Usage::default() };
        assert_eq!(input(&told), "20 tokens in (50 % cached: 10 read, 0 written, 10 neither)");
        let estimated = Usage { is_estimated: true, ..told };
        assert_eq!(input(&estimated), "20 tokens in (10 read, 0 written, 10 neither)");
    }
}
