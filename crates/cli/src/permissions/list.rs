//! `heeler permissions list`.

use anyhow::Result;
use heeler_assembly::{asks_for_box, hidden};
use heeler_core::{Mode, RuleEffect};
use heeler_settings::{Confinement, HookSetting, KEYS, Loaded};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Here, lacks, mistakes, mode_name};
use crate::exit::Exit;
use crate::say::harmless;

/// One thing that is set.
#[derive(Serialize)]
struct Line {
    what: &'static str,
    value: String,
    source: String,
}

/// What is set here, for a person or as JSON.
pub(super) fn text(here: Here) -> Result<(String, Exit)> {
    let (policy, mut loaded) = here.permission.look(&here.environment, &here.workspace)?;
    let asks = asks_for_box(&here.environment, &here.workspace, (&policy, &loaded))?;
    loaded.rules.extend(asks);
    loaded.problems.splice(0..0, hidden(&here.environment, &loaded).1);
    let lines = lines(policy.mode, &loaded)?;
    let (mistakes, exit) = mistakes(&loaded);
    if here.json {
        return Ok((format!("{}\n", as_json(&lines, &loaded)), exit));
    }
    let mut text = String::new();
    for Line { what, value, source } in &lines {
        text += &format!("{what:<8}  {value}  ({source})\n");
    }
    for problem in &loaded.problems {
        text += &format!("passed over: {problem}\n");
    }
    for note in &loaded.notes {
        text += &format!("note: {}: {}\n", note.source, note.text);
    }
    for file in &loaded.untrusted {
        text += &format!("not trusted: {}\n", lacks(file));
    }
    Ok((harmless(&(text + &mistakes)), exit))
}

/// Rules first, the strictest before; then the rest.
fn lines(mode: Mode, loaded: &Loaded) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (effect, what) in
        [(RuleEffect::Deny, "deny"), (RuleEffect::Ask, "ask"), (RuleEffect::Allow, "allow")]
    {
        let rules = loaded.rules.iter().filter(|rule| rule.effect == effect);
        lines.extend(rules.map(|rule| Line {
            what,
            value: rule.to_string(),
            source: rule.source.clone(),
        }));
    }
    let source = loaded.mode.as_ref().map_or("default", |mode| &mode.source).to_owned();
    lines.push(Line { what: "mode", value: mode_name(mode)?, source });
    if let Some(source) = &loaded.bypass_ruled_out {
        lines.push(Line { what: "mode", value: "never bypass".into(), source: source.clone() });
    }
    for hook in &loaded.hooks {
        lines.push(Line { what: "hook", value: shown(hook), source: hook.source.clone() });
    }
    if let Some(source) = &loaded.hooks_off {
        lines.push(Line { what: "hook", value: "none runs".into(), source: source.clone() });
    }
    for (name, value) in &loaded.environment {
        // Values may be secrets.
        lines.push(Line { what: "variable", value: name.clone(), source: value.source.clone() });
    }
    if let Some(set) = &loaded.confinement {
        let value = match set.value {
            Confinement::Off => "off",
            Confinement::On => "on",
            Confinement::Required => "required",
        };
        lines.push(Line { what: "sandbox", value: value.into(), source: set.source.clone() });
    }
    for folder in &loaded.writable {
        let value = format!("writable {}", folder.value.display());
        lines.push(Line { what: "sandbox", value, source: folder.source.clone() });
    }
    if let Some(set) = &loaded.network {
        let value = if set.value { "network on" } else { "network off" };
        lines.push(Line { what: "sandbox", value: value.into(), source: set.source.clone() });
    }
    for (name, set) in &loaded.models {
        lines.push(Line { what: "model", value: name.clone(), source: set.source.clone() });
    }
    if let Some(set) = &loaded.fallback {
        let value = format!("else {}", set.value.join(", "));
        lines.push(Line { what: "model", value, source: set.source.clone() });
    }
    if let Some(set) = &loaded.search {
        let value = format!("search by {}", set.value.name());
        lines.push(Line { what: "web", value, source: set.source.clone() });
    }
    for host in &loaded.web_hosts {
        let value = format!("fetch from {}", host.value);
        lines.push(Line { what: "web", value, source: host.source.clone() });
    }
    for key in KEYS {
        let Some(set) = loaded.values.get(key.path) else { continue };
        let value = format!("{} = {}", key.path, key.show(&set.value));
        lines.push(Line { what: "setting", value, source: set.source.clone() });
    }
    Ok(lines)
}

/// When a hook runs, what it is about and what it runs, with all that sets it apart from others.
fn shown(hook: &HookSetting) -> String {
    let matcher = if hook.matcher.is_empty() { "*" } else { &hook.matcher };
    let mut value = format!("{} {matcher}", hook.event);
    if let Some(only) = &hook.only {
        if let Some(rule) = only.denying.first() {
            value += &format!(" if {rule}");
        }
        if only.allowing.is_empty() {
            value += " and allows nothing";
        }
    }
    value += &format!(": {}", hook.command);
    if hook.in_background {
        value += " (nobody waits for it)";
    }
    if let Some(why) = &hook.broken {
        let end = if hook.event.guards() { ", and what it may be about is denied" } else { "" };
        value += &format!(" (never runs{end}: {why})");
    }
    value
}

fn as_json(lines: &[Line], loaded: &Loaded) -> Value {
    let notes = loaded.notes.iter().map(|n| json!({ "source": n.source, "text": n.text }));
    let untrusted = loaded.untrusted.iter().map(|file| {
        let aspects = file.aspects.iter().map(|aspect| aspect.name()).collect::<Vec<_>>();
        json!({ "file": file.name, "aspects": aspects })
    });
    json!({
        "settings": lines,
        "passed_over": loaded.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "mistakes": loaded.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "notes": notes.collect::<Vec<_>>(),
        "untrusted": untrusted.collect::<Vec<_>>(),
    })
}
