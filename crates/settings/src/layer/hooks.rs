//! `hooks`: commands that run by themselves, in Claude Code's form.

use heeler_core::{HookEvent, HookRule, Rule, RuleEffect, matches_no_tool};
use regex::RegexBuilder;

use super::fields::{Fields, list, unknown_name, wrong};
use super::{Reading, exec_form, rule};
use crate::SettingsError;
use crate::document::{Node, Value};

/// The longest a hook may be given; those who run hooks give it no more.
pub const HOOK_TIMEOUT_SECONDS_MAX: u32 = 10 * 60;

/// The moments that nothing comes to so far.
const SUBAGENTS: [HookEvent; 2] = [HookEvent::SubagentStart, HookEvent::SubagentStop];

/// The most groups of hooks of one file, and the most hooks: each has a pattern that is read at every
/// start.
pub const HOOKS_MAX: usize = 256;
/// The longest matcher.
const MATCHER_BYTES_MAX: usize = 1024;
/// The room that the pattern of a matcher may take: names of tools need a hundredth of it.
const MATCHER_ROOM_BYTES_MAX: usize = 64 * 1024;

/// A command that runs by itself when something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSetting {
    /// When it runs.
    pub event: HookEvent,
    /// Which tools or kinds it is about, as it was written; empty is all of them.
    pub matcher: String,
    /// The command line.
    pub command: String,
    /// How long it may take; `None` for the default.
    pub timeout_seconds: Option<u32>,
    /// Which calls it is about beyond its matcher, as a rule.
    pub only: Option<HookRule>,
    /// Whether nobody waits for it, and so nothing hangs on what it says.
    pub in_background: bool,
    /// Why it cannot be run as it was meant; a call that it guards is denied.
    pub broken: Option<String>,
    /// The file and its line.
    pub source: String,
}

/// What the hooks of one matcher have in common.
struct Group<'a> {
    event: HookEvent,
    matcher: &'a str,
    /// Why the matcher is none, of another program's.
    mistake: Option<String>,
    /// Whether a key beside it may have been meant to say more of what they are about.
    is_unsure: bool,
}

impl Reading<'_> {
    pub(super) fn hooks(&mut self, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let Value::Table(events) = &node.value else {
            return Err(wrong(name, "hooks", node, "a table"));
        };
        let mut n_groups = 0;
        for event in events {
            let path = format!("hooks.{}", event.key);
            let Some(known) = HookEvent::ALL.into_iter().find(|known| known.name() == event.key)
            else {
                let names = HookEvent::ALL.map(HookEvent::name);
                let why = unknown_name(&format!("`{path}`"), "event", &event.key, &names);
                match self.is_foreign() {
                    true => self.note(event.line, format!("its hooks never run: {why}")),
                    false => self.layer.mistakes.push(SettingsError::at(name, event.line, why)),
                }
                continue;
            };
            if SUBAGENTS.contains(&known) {
                let why = "heeler starts no sub-agents yet";
                self.note(event.line, format!("its hooks never run: `{path}`: {why}"));
            }
            let groups = list(name, &path, &event.node);
            for group in self.keep(groups).unwrap_or_default() {
                n_groups += 1;
                if n_groups > HOOKS_MAX {
                    return Err(self.too_many(group));
                }
                let read = self.group(known, &path, group);
                self.keep(read);
            }
        }
        Ok(())
    }

    fn too_many(&self, node: &Node) -> SettingsError {
        let why = format!("there are more than {HOOKS_MAX} hooks; remove some");
        SettingsError::at(&self.source.name, node.line, why)
    }

    /// The hooks of one matcher.
    fn group(&mut self, event: HookEvent, path: &str, node: &Node) -> Result<(), SettingsError> {
        let mut fields = Fields::of(&self.source.name, path, node)?;
        let matcher = fields.text("matcher")?.unwrap_or_default();
        let mistake = mistake(event, matcher).map(|why| format!("its matcher `{matcher}` {why}"));
        if let Some(why) = &mistake {
            let why = format!("`{path}`: {why}");
            if !self.is_foreign() {
                return Err(SettingsError::at(&self.source.name, node.line, why));
            }
            self.note_broken(event, node.line, &why);
        }
        let hooks = fields.list("hooks")?;
        let is_unsure = self.strangers(event, fields)?;
        let group = Group { event, matcher, mistake, is_unsure };
        for hook in hooks {
            if self.layer.hooks.len() == HOOKS_MAX {
                return Err(self.too_many(hook));
            }
            let read = self.hook(&group, &format!("{path}.hooks"), hook);
            self.keep(read);
        }
        Ok(())
    }

    /// Keys that are not understood: what they would have kept from running might run. Whether one of them may
    /// have been meant to say which calls a guard is about, so that it may allow none.
    fn strangers(&mut self, event: HookEvent, fields: Fields<'_>) -> Result<bool, SettingsError> {
        let strange = if self.is_foreign() { fields.strange("if") } else { Vec::new() };
        let mut is_unsure = false;
        for (line, path, may_be_if) in strange {
            let is_if = may_be_if && event.guards();
            is_unsure |= is_if;
            let end = if is_if { "the hook allows nothing" } else { "changes nothing" };
            self.note(line, format!("`{path}` is not understood, and {end}"));
        }
        fields.finish(self.unknown())?;
        Ok(is_unsure)
    }

    fn hook(&mut self, group: &Group<'_>, path: &str, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let event = group.event;
        let mut fields = Fields::of(name, path, node)?;
        let Some((line, mut broken)) = self.command(event, &mut fields, path, node)? else {
            return Ok(());
        };
        let timeout_seconds = match fields.take("timeout")? {
            None => None,
            Some(node) => self.seconds(&format!("{path}.timeout"), node)?,
        };
        let only = fields.take("if")?;
        if let Some(node) = only.filter(|_| !event.is_of_call()) {
            let why =
                format!("`{path}.if`: there is no call at {event} that a rule could speak of");
            if !self.is_foreign() {
                return Err(SettingsError::at(name, node.line, format!("{why}; remove it")));
            }
            self.note(node.line, format!("{why}; the hook never runs"));
            return Ok(());
        }
        let mut only = only.map(|node| self.only(&format!("{path}.if"), node)).transpose()?;
        let mut in_background = self.flag(&mut fields, path, "async")?;
        if self.is_foreign() {
            in_background |= self.wakes(&mut fields, path, node)?;
            // With arguments no shell runs it.
            let has_arguments = fields.take("args")?.is_some();
            let shell = fields.text("shell")?.filter(|it| *it != "bash" && !has_arguments);
            if let Some(shell) = shell {
                let why =
                    format!("`{path}.shell`: heeler runs hooks with bash, not with `{shell}`");
                self.note_broken(event, node.line, &why);
                broken = Some(why);
            }
            // What is shown meanwhile, and what the other program heeds elsewhere alone.
            for key in ["statusMessage", "once"] {
                fields.take(key)?;
            }
        }
        if self.strangers(event, fields)? || group.is_unsure {
            only.get_or_insert_default().allowing.clear();
        }
        self.layer.hooks.push(HookSetting {
            event,
            matcher: group.matcher.to_owned(),
            command: line,
            timeout_seconds,
            only,
            in_background,
            broken: group.mistake.clone().or(broken),
            source: self.at(node.line),
        });
        Ok(())
    }

    /// The command line of a hook, and why it cannot be run as it was meant; none where it never runs
    /// and guards nothing.
    fn command(
        &mut self,
        event: HookEvent,
        fields: &mut Fields<'_>,
        path: &str,
        node: &Node,
    ) -> Result<Option<(String, Option<String>)>, SettingsError> {
        let name = &self.source.name;
        let kind = fields.text("type")?.unwrap_or("command");
        if kind == "command" {
            let command = fields.text("command")?.unwrap_or_default();
            if command.trim().is_empty() {
                let why =
                    format!("`{path}`: a hook without a command; add `command`, or remove it");
                return Err(SettingsError::at(name, node.line, why));
            }
            let args = fields.take("args")?;
            return self.line(event, command, path, args).map(Some);
        }
        let why = format!("`{path}`: heeler runs hooks of the type command, not `{kind}`");
        if !self.is_foreign() {
            return Err(SettingsError::at(name, node.line, format!("{why}; change the type")));
        }
        self.note_broken(event, node.line, &why);
        // What it would have asked, and whom.
        for key in ["command", "args", "prompt", "model", "url", "headers", "allowedEnvVars"] {
            fields.take(key)?;
        }
        Ok(event.guards().then(|| (kind.to_owned(), Some(why))))
    }

    /// Says what becomes of another program's hook that cannot be run as it was meant.
    fn note_broken(&mut self, event: HookEvent, line: usize, why: &str) {
        let end = match event.guards() {
            true => "what the hook may be about is denied",
            false => "the hook never runs",
        };
        self.note(line, format!("{why}; {end}"));
    }

    /// Whether the other program would run it beside the work and be woken by it.
    fn wakes(
        &mut self,
        fields: &mut Fields<'_>,
        path: &str,
        node: &Node,
    ) -> Result<bool, SettingsError> {
        let wakes = self.flag(fields, path, "asyncRewake")?;
        if wakes {
            let why = format!("`{path}.asyncRewake`: the hook runs, and wakes nobody");
            self.note(node.line, why);
        }
        Ok(wakes)
    }

    /// The command line of a hook, or why it cannot be run as it was meant.
    fn line(
        &mut self,
        event: HookEvent,
        command: &str,
        path: &str,
        args: Option<&Node>,
    ) -> Result<(String, Option<String>), SettingsError> {
        let Some(node) = args else { return Ok((command.to_owned(), None)) };
        if let Some(arguments) = texts(node) {
            return Ok((exec_form::line(command, &arguments), None));
        }
        let why = format!("`{path}.args` has to be a list of texts");
        if !self.is_foreign() {
            return Err(SettingsError::at(&self.source.name, node.line, why));
        }
        self.note_broken(event, node.line, &why);
        Ok((command.to_owned(), Some(why)))
    }

    /// The rule on calls that a hook is about. One that cannot be read hides nothing from it, and lets
    /// it allow nothing.
    fn only(&mut self, path: &str, node: &Node) -> Result<HookRule, SettingsError> {
        let readings = |effect| match &node.value {
            Value::Text(text) => Rule::parse(text, effect, &self.at(node.line))
                .map_err(|error| error.to_string())
                .and_then(|rule| rule::readings(rule, self.source.place, self.context)),
            other => Err(format!("it has to be a rule, and is {}", other.kind())),
        };
        let denying = readings(RuleEffect::Deny);
        let allowing = readings(RuleEffect::Allow).unwrap_or_default();
        let why = match &denying {
            Ok(rules) => {
                rule::idle(&rules[0], self.context).map(|why| format!("`{}` {why}", rules[0]))
            }
            Err(why) => Some(why.clone()),
        };
        if let Some(why) = why {
            let why = format!("`{path}`: {why}");
            if !self.is_foreign() {
                return Err(SettingsError::at(&self.source.name, node.line, why));
            }
            self.note(
                node.line,
                format!("{why}; the hook runs at all it may mean, and allows nothing"),
            );
        }
        Ok(HookRule { denying: denying.unwrap_or_default(), allowing })
    }

    /// Whether a key says true. Another program's that says neither is told, and counts for nothing.
    fn flag(
        &mut self,
        fields: &mut Fields<'_>,
        path: &str,
        key: &'static str,
    ) -> Result<bool, SettingsError> {
        match fields.take(key)? {
            None => Ok(false),
            Some(Node { value: Value::Bool(is_set), .. }) => Ok(*is_set),
            Some(node) => {
                let why = wrong(&self.source.name, &format!("{path}.{key}"), node, "true or false");
                if !self.is_foreign() {
                    return Err(why);
                }
                self.note(
                    node.line,
                    format!("`{path}.{key}` is neither true nor false, and changes nothing"),
                );
                Ok(false)
            }
        }
    }

    /// How long a hook may take. What another program takes for a time is no mistake there.
    fn seconds(&mut self, path: &str, node: &Node) -> Result<Option<u32>, SettingsError> {
        let possible = 1..=HOOK_TIMEOUT_SECONDS_MAX;
        let given = match node.value {
            Value::Integer(seconds) => seconds,
            Value::Fraction(seconds) if self.is_foreign() => rounded_up(seconds),
            _ if self.is_foreign() => {
                let why = format!("`{path}` is no number, and the hook has the time of all others");
                self.note(node.line, why);
                return Ok(None);
            }
            _ => return Err(self.no_seconds(path, node)),
        };
        if let Some(seconds) = u32::try_from(given).ok().filter(|given| possible.contains(given)) {
            return Ok(Some(seconds));
        }
        if !self.is_foreign() {
            return Err(self.no_seconds(path, node));
        }
        let seconds = if given < 1 { 1 } else { HOOK_TIMEOUT_SECONDS_MAX };
        let why = format!("`{path}`: a hook has from 1 to {HOOK_TIMEOUT_SECONDS_MAX} seconds");
        self.note(node.line, format!("{why}; this one has {seconds} instead of {given}"));
        Ok(Some(seconds))
    }

    fn no_seconds(&self, path: &str, node: &Node) -> SettingsError {
        let why = format!(
            "`{path}` has to be a whole number of seconds from 1 to {HOOK_TIMEOUT_SECONDS_MAX}"
        );
        SettingsError::at(&self.source.name, node.line, why)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a number too large gives the largest"
)]
fn rounded_up(seconds: f64) -> i64 {
    seconds.ceil() as i64
}

/// The texts of a list, if it is one.
fn texts(node: &Node) -> Option<Vec<&str>> {
    let Value::List(nodes) = &node.value else { return None };
    let texts = nodes.iter().map(|node| match &node.value {
        Value::Text(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Why a matcher can be read neither as names nor as a pattern, or would match nothing.
fn mistake(event: HookEvent, matcher: &str) -> Option<String> {
    let matcher = matcher.trim();
    if matcher == "*" {
        return None;
    }
    if let Some(why) = matches_no_tool(matcher).filter(|_| event.is_of_call()) {
        return Some(format!("matches no tool: {why}"));
    }
    if matcher.len() > MATCHER_BYTES_MAX {
        return Some(format!("is no pattern: it has more than {MATCHER_BYTES_MAX} bytes"));
    }
    let error = RegexBuilder::new(matcher).size_limit(MATCHER_ROOM_BYTES_MAX).build().err()?;
    if let regex::Error::CompiledTooBig(_) = error {
        return Some("is no pattern: it is too large".to_owned());
    }
    let error = error.to_string();
    // Its last line says it; those before draw where.
    let why = error.lines().last().unwrap_or_default().trim();
    Some(format!("is no pattern: {}", why.strip_prefix("error: ").unwrap_or(why)))
}
