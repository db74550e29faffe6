//! The keys that `layer` takes apart with readers of their own: rules, hooks, the box, models, the
//! web.

use super::{Key, Kind, Merge, Scope};
use crate::source::Aspect;

const RULES: &str = r##"{"type": "array", "items": {"$ref": "#/$defs/rule"}}"##;
const TEXTS: &str = r#"{"type": "array", "items": {"type": "string"}}"#;
const SWITCH: &str = r#"{"type": "boolean"}"#;

const fn outside(
    path: &'static str,
    schema: &'static str,
    merge: Merge,
    scope: Scope,
    words: &'static str,
) -> Key {
    Key { path, kind: Kind::Outside(schema), default: "", merge, scope, variables: &[], words }
}

pub(super) const DENY: Key = outside(
    "permissions.deny",
    RULES,
    Merge::All,
    Scope::Anybody,
    "rules on what never runs; they win over all others",
);
pub(super) const ASK: Key = outside(
    "permissions.ask",
    RULES,
    Merge::All,
    Scope::Anybody,
    "rules on what asks first; they win over what allows",
);
pub(super) const ALLOW: Key = outside(
    "permissions.allow",
    RULES,
    Merge::All,
    Scope::Trusted(Aspect::Rules),
    "rules on what runs without asking",
);
pub(super) const MODE: Key = outside(
    "permissions.mode",
    r#"{"enum": ["ask", "accept-edits", "plan", "allow-listed", "bypass", "default", "acceptEdits", "dontAsk", "bypassPermissions"]}"#,
    Merge::MostSpecific,
    Scope::Trusted(Aspect::Mode),
    "what runs without a rule: `ask`, `accept-edits`, `plan`, `allow-listed` or `bypass`; also \
     called `defaultMode`, also with Claude Code's names",
);
pub(super) const BYPASS: Key = outside(
    "permissions.disableBypassPermissionsMode",
    r#"{"const": "disable"}"#,
    Merge::Any,
    Scope::Anybody,
    "`\"disable\"` rules the mode bypass out, wherever it is asked for",
);
pub(super) const DIRECTORIES: Key = outside(
    "permissions.additionalDirectories",
    TEXTS,
    Merge::All,
    Scope::Trusted(Aspect::Folders),
    "folders that are read without asking",
);
pub(super) const HOOKS: Key = outside(
    "hooks",
    r##"{"type": "object", "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/hooks"}}}"##,
    Merge::All,
    Scope::Trusted(Aspect::Hooks),
    "[commands that run by themselves](hooks.md), in Claude Code's form; `timeout` in seconds",
);
pub(super) const HOOKS_OFF: Key = outside(
    "disableAllHooks",
    SWITCH,
    Merge::Any,
    Scope::Trusted(Aspect::Hooks),
    "`true`: no hook of any file runs",
);
pub(super) const ENV: Key = outside(
    "env",
    r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
    Merge::ByName,
    Scope::Trusted(Aspect::Environment),
    "variables of commands. From Claude Code's files those whose names look like secrets are left \
     out",
);
pub(super) const SANDBOX: Key = outside(
    "sandbox.mode",
    r#"{"enum": ["off", "on", "required"]}"#,
    Merge::MostSpecific,
    Scope::Lowers(Aspect::Sandbox),
    "`on`, `off`, or `required`: commands run in the box or not at all",
);
pub(super) const WRITABLE: Key = outside(
    "sandbox.writable",
    TEXTS,
    Merge::All,
    Scope::Trusted(Aspect::Sandbox),
    "folders that confined commands may write, too",
);
pub(super) const NETWORK: Key = outside(
    "sandbox.network",
    SWITCH,
    Merge::MostSpecific,
    Scope::Lowers(Aspect::Sandbox),
    "whether confined commands reach the network",
);
pub(super) const MODELS: Key = outside(
    "models.\"PROVIDER/NAME\"",
    r##"{"$ref": "#/$defs/model"}"##,
    Merge::ByName,
    Scope::Trusted(Aspect::Models),
    "`window`, `output_max`, `prices` and `long` of a model, [beside the \
     catalogue](models.md#the-catalogue)",
);
pub(super) const FALLBACK: Key = outside(
    "models.fallback",
    r#"{"type": "array", "items": {"type": "string"}, "maxItems": 16}"#,
    Merge::MostSpecific,
    Scope::Trusted(Aspect::Models),
    "who answers, in this order, when the model cannot",
);
pub(super) const SEARCH: Key = outside(
    "web_search.backend",
    r#"{"enum": ["searxng", "brave", "tavily"]}"#,
    Merge::MostSpecific,
    Scope::Own,
    "[who searches the web](#the-web): `searxng`, `brave` or `tavily`; without it there is no \
     `WebSearch`",
);
pub(super) const SEARCH_ADDRESS: Key = outside(
    "web_search.address",
    r#"{"type": "string"}"#,
    Merge::MostSpecific,
    Scope::Own,
    "where the SearXNG instance is; it may be of your own network",
);
pub(super) const WEB_HOSTS: Key = outside(
    "web_fetch.allowed_hosts",
    r#"{"type": "array", "items": {"type": "string"}, "maxItems": 64}"#,
    Merge::All,
    Scope::Own,
    "hosts, by name or IP address, that `WebFetch` may reach although they are not of the public \
     internet",
);
