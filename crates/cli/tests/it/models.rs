//! `heeler models`: who can be asked here, and what it costs.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::World;

/// What is listed of the first provider, and the line of one that has no key.
fn check(world: &World, variables: &[(&str, &str)], expected: Expect) {
    let heeler = world.heeler(&["models"]);
    let heeler = variables.iter().fold(heeler, |heeler, (name, value)| heeler.env(name, value));
    let output = heeler.run().exits(0);
    let text = output.stdout.replace(&world.path("").display().to_string(), "WORLD/");
    let is_told = |line: &&str| {
        ["Anthropic", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-next", "Prices", "* "]
            .iter()
            .any(|part| line.contains(part))
    };
    let lines: Vec<_> = text.lines().filter(is_told).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn what_can_be_asked_is_listed_with_what_it_costs() {
    let world = World::new();
    check(
        &world,
        &[],
        expect![[r#"
        Anthropic: no key; set ANTHROPIC_API_KEY, or run `heeler login anthropic`
        Prices: dollars per million tokens of input / cached input / output; + is more for long requests.
        * answers when nobody else is named: anthropic/claude-sonnet-5-5"#]],
    );
    world.write(
        "home/settings.toml",
        r#"
[models."anthropic/claude-next-1"]
window = 1_500_000
prices = { input = 1, output = 5.25 }
[models."anthropic/claude-haiku-5-5"]
output_max = 500
"#,
    );
    let key = ("ANTHROPIC_API_KEY", "sk-1");
    check(
        &world,
        &[key, ("HEELER_MODEL", "claude-haiku-5-5")],
        expect![[r#"
        Anthropic: its key is in ANTHROPIC_API_KEY
          anthropic/claude-sonnet-5-5                        1M   128k  2 / 0.1 / 10           images tools reasoning effort
        * anthropic/claude-haiku-5-5                         1M    500  0.1 / 0.01 / 0.5+      images tools reasoning effort
          anthropic/claude-next-1                          1.5M      ?  1 / 1 / 5.25
        Prices: dollars per million tokens of input / cached input / output; + is more for long requests.
        * answers when nobody else is named: anthropic/claude-haiku-5-5"#]],
    );
}

#[test]
fn programs_read_json() {
    let world = World::new();
    let heeler = world.heeler(&["models", "--json"]).env("ANTHROPIC_AUTH_TOKEN", "t");
    let models: Value = serde_json::from_str(&heeler.run().exits(0).stdout).unwrap();
    assert_eq!(models["default"], "anthropic/claude-sonnet-5-5");
    let anthropic = &models["providers"][0];
    expect![[r#""anthropic" true "ANTHROPIC_AUTH_TOKEN" ["ANTHROPIC_API_KEY","ANTHROPIC_AUTH_TOKEN"] {"name":"anthropic/claude-fable-5-1","window":1000000,"output_max":128000,"dollars_per_million":{"input":10.0,"output":50.0,"cache_write":12.5,"cache_read":0.25,"long":null},"abilities":["images","tools","reasoning","effort"]}"#]].assert_eq(&format!(
        "{} {} {} {} {}",
        anthropic["name"],
        anthropic["ready"],
        anthropic["key"],
        anthropic["variables"],
        anthropic["models"][0],
    ));
}
