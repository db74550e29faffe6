//! `heeler models`: who can be asked here, and what it costs.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use heeler_assembly::{Environment, Permission, Reachable, ReachableModel, ReachableProvider};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::folder::workspace;
use crate::login::words;
use crate::permissions::mistakes;
use crate::say::{harmless, print, say};

/// Billionths of a dollar per token in a dollar per million tokens.
const PER_MILLION: f64 = 1000.0;

/// Runs `models`.
pub(crate) fn run(json: bool) -> Result<Exit> {
    let environment = Environment::of_this_process();
    let (_, loaded) = Permission::default().look(&environment, &workspace(None)?)?;
    let mut reachable = Reachable::of(&environment, &loaded)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(reachable.ask_servers(&environment, &loaded));
    let text = if json { format!("{}\n", as_json(&reachable)) } else { text(&reachable)? };
    print(&harmless(&text))?;
    let (mistakes, exit) = mistakes(&loaded);
    mistakes.lines().for_each(|line| say(format_args!("heeler: {line}")));
    Ok(exit)
}

/// What `models` prints, for somebody who asks within a session.
pub(crate) async fn told(environment: &Environment, workspace: &Path) -> Result<String> {
    let (_, loaded) = Permission::default().look(environment, workspace)?;
    let mut reachable = Reachable::of(environment, &loaded)?;
    reachable.ask_servers(environment, &loaded).await;
    Ok(harmless(&(text(&reachable)? + &mistakes(&loaded).0)))
}

fn text(reachable: &Reachable) -> Result<String> {
    let mut text = String::new();
    let (ready, other): (Vec<_>, Vec<_>) =
        reachable.providers.iter().partition(|provider| provider.is_ready());
    for provider in ready {
        let key = match &provider.key {
            Some(place) => format!("its key is in {}", words(place)),
            None => "it needs no key".to_owned(),
        };
        writeln!(text, "{}: {key}", provider.title)?;
        if let Some(why) = &provider.silent {
            writeln!(text, "  {why}")?;
        } else if provider.models.is_empty() {
            writeln!(text, "  any model, as {}/NAME", provider.name)?;
        }
        for model in &provider.models {
            writeln!(text, "{}", row(model, model.name == reachable.default))?;
        }
        writeln!(text)?;
    }
    for ReachableProvider { name, title, keys, .. } in other {
        let variable = keys.first().unwrap_or(&"");
        writeln!(text, "{title}: no key; set {variable}, or run `heeler login {name}`")?;
    }
    writeln!(
        text,
        "\nPrices: dollars per million tokens of input / cached input / output; + is more for long requests."
    )?;
    writeln!(text, "* answers when nobody else is named: {}", reachable.default)?;
    Ok(text)
}

fn row(model: &ReachableModel, is_default: bool) -> String {
    let mark = if is_default { '*' } else { ' ' };
    let tokens = |tokens: Option<u64>| tokens.map_or("?".to_owned(), thousands);
    let prices = model.prices.map_or("?".to_owned(), |prices| {
        let dollars = |price| format!("{}", per_million(price));
        let more = if prices.long.is_some() { "+" } else { "" };
        let parts = [prices.input, prices.cache_read, prices.output].map(dollars);
        format!("{}{more}", parts.join(" / "))
    });
    let abilities: Vec<_> = model.abilities.iter().map(|ability| ability.name()).collect();
    let line = format!(
        "{mark} {:<46} {:>6} {:>6}  {prices:<22} {}",
        model.name,
        tokens(model.window),
        tokens(model.output_max),
        abilities.join(" ")
    );
    line.trim_end().to_owned()
}

fn as_json(reachable: &Reachable) -> Value {
    let model = |model: &ReachableModel| {
        let prices = model.prices.map(|prices| {
            let long = prices.long.map(|long| {
                let mut rung = rung(prices.at(u64::MAX));
                rung["over"] = json!(long.over);
                rung
            });
            let mut rung = rung(prices);
            rung["long"] = json!(long);
            rung
        });
        json!({
            "name": model.name,
            "window": model.window,
            "output_max": model.output_max,
            "dollars_per_million": prices,
            "abilities": model.abilities.iter().map(|ability| ability.name()).collect::<Vec<_>>(),
        })
    };
    let provider = |provider: &ReachableProvider| {
        json!({
            "name": provider.name,
            "ready": provider.is_ready(),
            "needs_key": provider.needs_key,
            "key": provider.key.as_ref().map(words),
            "variables": provider.keys,
            "silent": provider.silent,
            "models": provider.models.iter().map(model).collect::<Vec<_>>(),
        })
    };
    json!({
        "v": 1,
        "default": reachable.default,
        "providers": reachable.providers.iter().map(provider).collect::<Vec<_>>(),
    })
}

fn rung(prices: heeler_core::Prices) -> Value {
    json!({
        "input": per_million(prices.input),
        "output": per_million(prices.output),
        "cache_write": per_million(prices.cache_write),
        "cache_read": per_million(prices.cache_read),
    })
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn per_million(price: u64) -> f64 {
    price as f64 / PER_MILLION
}

/// A number of tokens in thousands or millions, as people say it.
fn thousands(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..1_000_000 => format!("{}k", tokens / 1000),
        _ if tokens % 1_000_000 < 100_000 => format!("{}M", tokens / 1_000_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}
