//! Keeping a rule that a person gave for good.
//!
//! It goes to heeler's home folder, never into the repository: a rule for one workspace into that
//! workspace's table of `projects.toml`, one for all of them into `settings.toml`. Whatever a person
//! wrote in these files stays, comments too.

use std::path::Path;

use heeler_core::{Rule, RuleEffect};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::SettingsError;
use crate::layer::{Layer, idle};
use crate::locked;
use crate::source::{Context, Place, Source};

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// In every workspace of this user.
    Everywhere,
    /// In this workspace alone.
    Here,
}

/// Stands above a new `projects.toml`.
const HEAD: &str = "\
# Rules that were given for good, each for one folder: the keys are those of settings.toml.

";

/// How far a rule of a new list is indented.
const INDENT: &str = "  ";

/// Keeps a rule. One that is there already is not kept twice; savers at the same time wait for each
/// other, and none loses what another one kept.
///
/// # Errors
/// When the rule could never match, or the file cannot be changed; it is as it was then.
pub fn save_rule(
    heeler_home: &Path,
    keep: Keep,
    rule: &Rule,
    context: &Context,
) -> Result<(), SettingsError> {
    let (place, name) = match keep {
        Keep::Everywhere => (Place::User, "settings.toml"),
        Keep::Here => (Place::Saved, "projects.toml"),
    };
    let path = heeler_home.join(name);
    let shown = path.display().to_string();
    let refused = |why: String| SettingsError::of_file(&shown, why);
    check(rule, context).map_err(|why| refused(format!("`{rule}` {why}")))?;
    locked::change_file(heeler_home, name, |content| {
        let read = |content: &[u8]| {
            let (path, name, content) = (path.clone(), shown.clone(), content.to_owned());
            Layer::read(&Source { place, path, name, content, trusted: [].into() }, context)
        };
        // What is broken already is told with its line.
        read(content)?;
        let before = String::from_utf8_lossy(content);
        let before = before.strip_prefix('\u{feff}').unwrap_or(&before);
        let tables: &[&str] = match keep {
            Keep::Everywhere => &["permissions"],
            Keep::Here => &[&context.workspace, "permissions"],
        };
        let Some(after) = with_rule(before, tables, rule).map_err(refused)? else {
            return Ok(None);
        };
        // Nobody is to be locked out by what we wrote.
        read(after.as_bytes())?;
        Ok(Some(if before.is_empty() && keep == Keep::Here {
            HEAD.to_owned() + &after
        } else {
            after
        }))
    })
}

/// Whether the rule comes back as itself when the file is read.
fn check(rule: &Rule, context: &Context) -> Result<(), String> {
    match Rule::parse(&rule.to_string(), rule.effect, &rule.source) {
        Ok(read) if read == *rule => {}
        Ok(_) => return Err("would be read as another rule".to_owned()),
        Err(error) => return Err(format!("cannot be kept: {error}")),
    }
    let is_at_home = rule.argument.as_deref().is_some_and(|argument| argument.starts_with('~'));
    match idle(rule, context) {
        Some(why) if !is_at_home => Err(why),
        _ => Ok(()),
    }
}

/// The text of a file with the rule in it; `None` when it is there already.
fn with_rule(text: &str, tables: &[&str], rule: &Rule) -> Result<Option<String>, String> {
    let broken = |what: &str| format!("{what} is in the way; mend the file");
    let mut document: DocumentMut = text.parse().map_err(|_| broken("what is no TOML"))?;
    // Comments of a file without anything else would end up below what is added.
    let is_bare = document.as_table().is_empty();
    if is_bare {
        document = DocumentMut::new();
    }
    let mut table = document.as_item_mut();
    for (n, name) in tables.iter().enumerate() {
        let entries = table.as_table_like_mut().ok_or_else(|| broken(name))?;
        table = entries.entry(name).or_insert_with(|| {
            let mut new = Table::new();
            new.set_implicit(n + 1 < tables.len());
            Item::Table(new)
        });
    }
    let key = match rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask => "ask",
        RuleEffect::Deny => "deny",
    };
    let entries = table.as_table_like_mut().ok_or_else(|| broken("permissions"))?;
    let list = entries.entry(key).or_insert_with(|| {
        let mut new = Array::new();
        new.set_trailing("\n");
        Item::Value(Value::Array(new))
    });
    let list = list.as_array_mut().ok_or_else(|| broken(key))?;
    let rule = rule.to_string();
    if list.iter().any(|kept| text_of(kept) == Some(&rule)) {
        return Ok(None);
    }
    push(list, &rule);
    let end = if is_bare && !text.is_empty() && !text.ends_with('\n') { "\n" } else { "" };
    let before = if is_bare { text } else { "" };
    Ok(Some(format!("{before}{end}{document}")))
}

/// The rule of an entry, which may have examples.
fn text_of(kept: &Value) -> Option<&str> {
    match kept {
        Value::InlineTable(table) => table.get("rule")?.as_str(),
        other => other.as_str(),
    }
}

/// Adds a rule in the way the list is written: below the last one, or beside it.
fn push(list: &mut Array, rule: &str) {
    let trailing = list.trailing().as_str().unwrap_or_default().to_owned();
    let Some((above, _)) = trailing.rsplit_once('\n') else { return list.push(rule) };
    let mut value = Value::from(rule);
    // A comment behind the last rule stays there.
    value.decor_mut().set_prefix(format!("{above}\n{INDENT}"));
    list.push_formatted(value);
    list.set_trailing("\n");
    list.set_trailing_comma(true);
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn rule(text: &str) -> Rule {
        Rule::parse(text, RuleEffect::Allow, "test").unwrap()
    }

    /// A file after a rule was added.
    fn check_with(text: &str, tables: &[&str], expected: Expect) {
        let after = match with_rule(text, tables, &rule("Bash(make:*)")) {
            Ok(after) => after.unwrap_or_else(|| "(as it was)".to_owned()),
            Err(why) => why,
        };
        expected.assert_eq(&after);
    }

    #[test]
    fn a_rule_is_added_in_the_way_the_file_is_written() {
        let user = ["permissions"];
        check_with(
            "",
            &user,
            expect![[r#"
            [permissions]
            allow = [
              "Bash(make:*)",
            ]
        "#]],
        );
        check_with(
            "",
            &["/space/a b", "permissions"],
            expect![[r#"
            ["/space/a b".permissions]
            allow = [
              "Bash(make:*)",
            ]
        "#]],
        );
        check_with(
            "# mine",
            &user,
            expect![[r##"
            # mine
            [permissions]
            allow = [
              "Bash(make:*)",
            ]
        "##]],
        );
        check_with(
            "[env]\nA = '1' # why\n# the end\n",
            &user,
            expect![[r#"
            [env]
            A = '1' # why

            [permissions]
            allow = [
              "Bash(make:*)",
            ]
            # the end
        "#]],
        );
        check_with(
            "[permissions]\nallow = ['Bash(ls)']\n",
            &user,
            expect![[r#"
            [permissions]
            allow = ['Bash(ls)', "Bash(make:*)"]
        "#]],
        );
        check_with(
            "[permissions]\nallow = []\n",
            &user,
            expect![[r#"
            [permissions]
            allow = ["Bash(make:*)"]
        "#]],
        );
        check_with(
            "[permissions]\n# first\nallow = [\n    # for lists\n    'Bash(ls)', # short\n    # end\n]\nmode = 'ask'\n",
            &user,
            expect![[r#"
                [permissions]
                # first
                allow = [
                    # for lists
                    'Bash(ls)', # short
                    # end
                  "Bash(make:*)",
                ]
                mode = 'ask'
            "#]],
        );
    }

    #[test]
    fn a_list_of_any_form_is_found() {
        let user = ["permissions"];
        check_with(
            "permissions.allow = [\n'Bash(ls)'\n]\n",
            &user,
            expect![[r#"
            permissions.allow = [
            'Bash(ls)'
            , "Bash(make:*)"]
        "#]],
        );
        check_with(
            "permissions = { deny = ['Bash'] }\n",
            &user,
            expect![[r#"
            permissions = { deny = ['Bash'] , allow = [
              "Bash(make:*)",
            ] }
        "#]],
        );
        check_with(
            "['/other'.permissions]\nallow = ['Bash']\n",
            &["/space", "permissions"],
            expect![[r#"
                ['/other'.permissions]
                allow = ['Bash']

                ["/space".permissions]
                allow = [
                  "Bash(make:*)",
                ]
            "#]],
        );
        check_with("[permissions]\nallow = ['Bash(make:*)']", &user, expect!["(as it was)"]);
        check_with(
            "[permissions]\nallow = [{ rule = 'Bash(make:*)' }]",
            &user,
            expect!["(as it was)"],
        );
        check_with("permissions = 1", &user, expect!["permissions is in the way; mend the file"]);
        check_with(
            "[permissions]\nallow = 1",
            &user,
            expect!["allow is in the way; mend the file"],
        );
    }

    proptest! {
        /// What is saved is read, what was there stays, and a second save changes nothing.
        #[test]
        fn what_is_saved_is_read(
            rules in prop::collection::vec("Bash\\([ -'+-~]{1,12}\\)|Read\\([a-z/*]{1,8}\\)", 1..6),
            comments in any::<bool>(),
        ) {
            let mut text = if comments { "# one\n[env]\nA = '1' # two\n".to_owned() } else { String::new() };
            let rules: Vec<Rule> = rules
                .iter()
                .filter_map(|text| Rule::parse(text, RuleEffect::Deny, "test").ok())
                .collect();
            for rule in &rules {
                let added = with_rule(&text, &["permissions"], rule).unwrap();
                text = added.unwrap_or(text);
                prop_assert_eq!(with_rule(&text, &["permissions"], rule).unwrap(), None);
            }
            prop_assert!(!comments || (text.contains("# one\n") && text.contains("# two\n")));
            let read: toml::Table = text.parse().unwrap();
            if !rules.is_empty() {
                let kept: Vec<&str> = read["permissions"]["deny"]
                    .as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
                let mut expected: Vec<String> = Vec::new();
                for rule in rules.iter().map(ToString::to_string) {
                    if !expected.contains(&rule) {
                        expected.push(rule);
                    }
                }
                prop_assert_eq!(kept, expected);
            }
        }
    }
}
