//! Flags that say what may run, the same for every command that has to do with it.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use heeler_assembly::{Permission, Sandbox, SettingsFiles};
use heeler_core::{Mode, Rule, RuleEffect};
use heeler_settings::Setting;

use super::value::{ModeName, Text, text};

/// The arguments of `permissions`.
#[derive(Args)]
pub(crate) struct PermissionsArguments {
    #[command(subcommand)]
    pub(crate) command: PermissionsCommand,
}

/// What to do about what may run.
#[derive(Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Say whether a call would run here, and what decides: `Bash(git push)`, `Edit(src/main.rs)`
    Explain {
        /// The tool and its argument: a command line, a path, or an address
        #[arg(value_name = "CALL", value_parser = text())]
        call: String,
        #[command(flatten)]
        here: HereArguments,
    },
    /// List the rules, the mode and whatever else the settings say, each with its source
    List {
        #[command(flatten)]
        here: HereArguments,
    },
    /// Show what this folder's own files ask for, and trust exactly that
    Trust {
        /// Trust it without asking
        #[arg(long, conflicts_with = "revoke")]
        yes: bool,
        /// Take back all trust in this folder's files
        #[arg(long)]
        revoke: bool,
        /// Look at this folder instead of the current one
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
    },
}

/// Where, and under which flags.
#[derive(Args)]
pub(crate) struct HereArguments {
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
    /// As if working in this folder instead of the current one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// As if in this mode: ask, accept-edits, plan, allow-listed or bypass. Without, the settings
    /// say; else it is ask, where exec has allow-listed
    #[arg(long, alias = "permission-mode", value_name = "MODE")]
    #[arg(value_parser = Text(ModeName), hide_possible_values = true)]
    mode: Option<String>,
    #[command(flatten)]
    permission: PermissionArguments,
}

impl HereArguments {
    /// What the flags say may run, for somebody who can be asked.
    pub(crate) fn permission(&self) -> Result<Permission> {
        let permission = self.permission.read("--mode", self.mode.as_deref())?;
        Ok(Permission { mode_default: Mode::Ask, interactive: true, ..permission })
    }
}

/// What the command line says of permission.
#[derive(Args)]
pub(crate) struct PermissionArguments {
    /// Let this run: `Bash(git status:*)`, `Edit(src/**)`, `Bash`; may be given often
    #[arg(long, value_name = "RULE", value_parser = text())]
    allow: Vec<String>,
    /// Ask before this runs, whatever allows it; may be given often
    #[arg(long, value_name = "RULE", value_parser = text())]
    ask: Vec<String>,
    /// Never let this run, in any mode; may be given often
    #[arg(long, value_name = "RULE", value_parser = text())]
    deny: Vec<String>,
    /// Read this file of settings too, after the usual ones
    #[arg(long, value_name = "FILE", conflicts_with = "no_settings")]
    settings: Option<PathBuf>,
    /// Read no files of settings: neither what they allow nor what they deny counts
    #[arg(long)]
    no_settings: bool,
    /// Confine no command: none runs but what a rule or the mode allows, with your own rights
    #[arg(long)]
    no_sandbox: bool,
}

impl PermissionArguments {
    /// The mode and the rules of the flags. One that cannot be read stops everything: what somebody
    /// meant to forbid must not run because of a typing error.
    pub(crate) fn read(&self, mode_flag: &'static str, mode: Option<&str>) -> Result<Permission> {
        let mut rules = read(&self.deny, RuleEffect::Deny, "--deny")?;
        rules.extend(read(&self.ask, RuleEffect::Ask, "--ask")?);
        rules.extend(read(&self.allow, RuleEffect::Allow, "--allow")?);
        let mode = match mode {
            None => None,
            Some(text) => {
                let value = text.parse::<Mode>().context(mode_flag)?;
                Some(Setting { value, source: mode_flag.to_owned() })
            }
        };
        let files = match (&self.settings, self.no_settings) {
            (_, true) => SettingsFiles::None,
            (Some(path), _) => SettingsFiles::And(path.clone()),
            (None, _) => SettingsFiles::Usual,
        };
        let sandbox = if self.no_sandbox { Sandbox::Off } else { Sandbox::AsSettings };
        Ok(Permission { rules, mode, files, sandbox, ..Permission::default() })
    }
}

fn read(texts: &[String], effect: RuleEffect, flag: &'static str) -> Result<Vec<Rule>> {
    texts.iter().map(|text| Rule::parse(text, effect, flag).context(flag)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arguments::{Command, Parsed, read};

    fn permission(words: &[String]) -> Result<Permission> {
        let words = ["heeler", "exec"].map(str::to_owned).into_iter().chain(words.to_vec());
        match read(words.map(Into::into)).unwrap() {
            Parsed::Command(Command::Exec(arguments)) => arguments.permission(),
            _ => panic!("no exec"),
        }
    }

    fn rule() -> impl Strategy<Value = String> {
        prop_oneof!["(Bash|Edit|mcp__a__b|b\\*)(\\([ -~]{0,10}\\))?", "[ -~]{0,12}", "(?s).{0,8}",]
    }

    proptest! {
        /// Every rule is kept with its effect, or nothing runs and the flag is named.
        #[test]
        fn no_rule_is_dropped_or_turned(
            denied in prop::collection::vec(rule(), 0..4),
            asked in prop::collection::vec(rule(), 0..4),
            allowed in prop::collection::vec(rule(), 0..4),
        ) {
            let flags = |flag: &'static str, rules: &[String]| -> Vec<String> {
                rules.iter().map(|rule| format!("{flag}={rule}")).collect()
            };
            let words = [
                flags("--allow", &allowed), flags("--ask", &asked), flags("--deny", &denied),
            ];
            match permission(&words.concat()) {
                Ok(permission) => {
                    let of = |effect| {
                        permission.rules.iter().filter(|rule| rule.effect == effect).count()
                    };
                    prop_assert_eq!(of(RuleEffect::Deny), denied.len());
                    prop_assert_eq!(of(RuleEffect::Ask), asked.len());
                    prop_assert_eq!(of(RuleEffect::Allow), allowed.len());
                    prop_assert_eq!(permission.mode, None);
                }
                Err(error) => {
                    let text = format!("{error:#}");
                    let named = ["--deny: `", "--ask: `", "--allow: `"];
                    prop_assert!(named.iter().any(|flag| text.starts_with(flag)), "{}", text);
                }
            }
        }
    }

    #[test]
    fn files_are_chosen_by_flags() {
        for (words, files) in [
            (&[][..], SettingsFiles::Usual),
            (&["--no-settings"], SettingsFiles::None),
            (&["--settings", "a.toml"], SettingsFiles::And("a.toml".into())),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(permission(&words).unwrap().files, files);
        }
        let both = ["heeler", "exec", "--settings=a", "--no-settings"].map(Into::into);
        assert!(read(both).is_err());
    }
}
