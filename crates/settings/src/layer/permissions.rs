//! `permissions`: rules, the mode, and folders.

use heeler_core::{Mode, Rule, RuleEffect};
use heeler_turn::verdict::flaw;

use super::fields::{Fields, text, wrong};
use super::{Example, Reading, Setting, rule};
use crate::SettingsError;
use crate::document::{Node, Value};

/// The most rules of one file.
pub const RULES_MAX: usize = 4_096;

/// The most rules of one file of a repository that deny or ask: these count before anybody trusts it,
/// and every call is held against each.
pub const REPOSITORY_RULES_MAX: usize = 512;
/// The most bytes of these together.
pub const REPOSITORY_RULES_BYTES_MAX: usize = 32 * 1024;

/// What `disableBypassPermissionsMode` has to say.
const DISABLE: &str = "disable";

/// An example before its rule is known.
struct Given {
    text: String,
    matches: bool,
    line: usize,
}

impl Reading<'_> {
    pub(super) fn permissions(&mut self, mut fields: Fields<'_>) -> Result<(), SettingsError> {
        for (key, effect) in
            [("deny", RuleEffect::Deny), ("ask", RuleEffect::Ask), ("allow", RuleEffect::Allow)]
        {
            let rules = fields.list(key);
            for node in self.keep(rules).unwrap_or_default() {
                // That there are too many is told once, and one more of each changes nothing.
                if self.layer.rules.len() > RULES_MAX {
                    break;
                }
                let read = self.rule(key, effect, node);
                self.keep(read);
            }
        }
        let mode = self.mode(&mut fields);
        self.keep(mode);
        if let Some(node) = fields.take("disableBypassPermissionsMode")? {
            match &node.value {
                Value::Text(text) if text == DISABLE => {
                    self.layer.bypass_ruled_out = Some(self.at(node.line));
                }
                _ => {
                    let path = "permissions.disableBypassPermissionsMode";
                    let expected = format!("{DISABLE:?}");
                    return Err(wrong(&self.source.name, path, node, &expected));
                }
            }
        }
        for node in fields.list("additionalDirectories")? {
            let folder = self.folder("permissions.additionalDirectories", node)?;
            self.layer.folders.push(folder);
        }
        if self.is_foreign() {
            self.note_miscased(&fields);
        }
        fields.finish(self.unknown())
    }

    fn rule(&mut self, key: &str, effect: RuleEffect, node: &Node) -> Result<(), SettingsError> {
        let name = &self.source.name;
        let path = format!("permissions.{key}");
        let (given, examples) = match &node.value {
            Value::Text(text) => (text.clone(), Vec::new()),
            Value::Table(_) if !self.is_foreign() => self.with_examples(&path, node)?,
            _ => return Err(wrong(name, &path, node, "a list of rules, each a text")),
        };
        let readings = Rule::parse(&given, effect, &self.at(node.line))
            .map_err(|error| error.to_string())
            .and_then(|rule| rule::readings(rule, self.source.place, self.context));
        let readings = match readings {
            Ok(readings) => readings,
            // What allows nothing that anybody could rely on may be passed over; what forbids not.
            Err(why) if self.is_foreign() && effect == RuleEffect::Allow => {
                self.note(node.line, format!("a rule that allows is passed over: {why}"));
                return Ok(());
            }
            Err(why) => return Err(SettingsError::at(name, node.line, why)),
        };
        self.look_at(&readings[0], node)?;
        for Given { text, matches, line } in examples {
            let source = self.at(line);
            let rule = readings[0].clone();
            self.layer.examples.push(Example { rule, text, matches, source });
        }
        let was_bounded = self.is_bounded();
        self.layer.rules.extend(readings);
        // Once: what comes behind it is no news.
        if was_bounded && !self.is_bounded() {
            let why = format!(
                "a repository's rules that deny or ask are more than {REPOSITORY_RULES_MAX}, or have \
                 more than {REPOSITORY_RULES_BYTES_MAX} bytes; keep them in heeler's own settings.toml"
            );
            return Err(SettingsError::at(&self.source.name, node.line, why));
        }
        if self.layer.rules.len() > RULES_MAX {
            let why = format!("there are more than {RULES_MAX} rules; remove some");
            return Err(SettingsError::at(&self.source.name, node.line, why));
        }
        Ok(())
    }

    /// Whether the rules of a file that anybody may have written make no call slow.
    fn is_bounded(&self) -> bool {
        let rules = self.layer.rules.iter().filter(|rule| rule.effect != RuleEffect::Allow);
        let bytes = |rule: &Rule| rule.argument.as_ref().map_or(0, String::len);
        !self.source.place.is_repository()
            || (rules.clone().count() <= REPOSITORY_RULES_MAX
                && rules.map(bytes).sum::<usize>() <= REPOSITORY_RULES_BYTES_MAX)
    }

    /// Refuses a rule of ours that can never match; one of another program's is told.
    fn look_at(&mut self, rule: &Rule, node: &Node) -> Result<(), SettingsError> {
        let Some(why) = rule::idle(rule, self.context) else { return Ok(()) };
        if !self.is_foreign() {
            return Err(SettingsError::at(&self.source.name, node.line, format!("`{rule}` {why}")));
        }
        let meant = match rule.effect {
            _ if flaw(rule).is_none() => "",
            RuleEffect::Allow => "; it allows nothing",
            RuleEffect::Ask => "; it asks about all that it may mean",
            RuleEffect::Deny => "; it denies all that it may mean",
        };
        self.note(node.line, format!("`{rule}` {why}{meant}"));
        Ok(())
    }

    /// A rule that says what it has to match: its text, and the examples with their lines.
    fn with_examples(
        &self,
        path: &str,
        node: &Node,
    ) -> Result<(String, Vec<Given>), SettingsError> {
        let name = &self.source.name;
        let mut fields = Fields::of(name, path, node)?;
        let Some(rule) = fields.text("rule")? else {
            let why =
                format!("`{path}`: a table without `rule`; add the rule, such as `Bash(ls:*)`");
            return Err(SettingsError::at(name, node.line, why));
        };
        let mut examples = Vec::new();
        for (key, matches) in [("match", true), ("not_match", false)] {
            for node in fields.list(key)? {
                let example = text(name, &format!("{path}.{key}"), node)?;
                examples.push(Given { text: example.to_owned(), matches, line: node.line });
            }
        }
        fields.finish(self.unknown())?;
        Ok((rule.to_owned(), examples))
    }

    fn mode(&mut self, fields: &mut Fields<'_>) -> Result<(), SettingsError> {
        // The other program may keep something else under our name.
        let ours = if self.is_foreign() { None } else { fields.take("mode")? };
        let theirs = fields.take("defaultMode")?;
        if let (Some(_), Some(second)) = (ours, theirs) {
            let why = "`permissions.mode` and `permissions.defaultMode` are the same; keep one";
            return Err(SettingsError::at(&self.source.name, second.line, why));
        }
        let Some(node) = ours.or(theirs) else { return Ok(()) };
        let mode = match text(&self.source.name, "permissions.mode", node)? {
            "dontAsk" => Mode::AllowListed,
            text => match text.parse::<Mode>() {
                Ok(mode) => mode,
                Err(error) if self.is_foreign() => {
                    self.note(node.line, format!("the mode is passed over: {error}"));
                    return Ok(());
                }
                Err(error) => return Err(SettingsError::at(&self.source.name, node.line, error)),
            },
        };
        self.layer.mode = Some(Setting { value: mode, source: self.at(node.line) });
        Ok(())
    }
}
