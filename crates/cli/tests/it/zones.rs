//! Times by the person's own clock, whose zone has a name.

use heeler_testkit::require;

use crate::support::World;

/// A zone that has been nine hours from UTC, summer and winter, since before there were computers.
const ZONE: &str = "Asia/Tokyo";

fn has_zones() -> bool {
    let path = std::path::Path::new("/usr/share/zoneinfo").join(ZONE);
    require("the system's time zones (tzdata)", path.exists())
}

#[test]
fn a_named_zone_counts_in_the_list_of_sessions() {
    if !has_zones() {
        return;
    }
    let world = World::new();
    world.exec("[[reply]]\ntext = \"hi\"", &["hello"]).run().exits(0);
    let changed = |zone: &str| {
        let listed = world.heeler(&["sessions", "list"]).env("TZ", zone).run().exits(0).stdout;
        let words: Vec<_> = listed.split_whitespace().skip(1).take(2).collect();
        jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M", words.join(" ")).unwrap()
    };
    let hours = |zone| changed(zone).duration_since(changed("UTC")).as_hours();
    assert_eq!((hours(ZONE), hours("JST-9"), hours("UTC")), (9, 9, 0));
}

#[test]
fn the_model_is_told_the_time_in_the_zone_and_its_name() {
    if !has_zones() {
        return;
    }
    let script = r#"
        [[reply]]
        blocks = [{ call = "ToolSearch", input = { query = "CurrentTime" } }]
        [[reply]]
        blocks = [{ call = "CurrentTime", input = {} }]
        [[reply]]
        expect = { tool_result_contains = "+09:00 (Asia/Tokyo)" }
        text = "so late"
    "#;
    let output = World::new().exec(script, &["how late is it?"]).env("TZ", ZONE).run().exits(0);
    assert_eq!(output.stdout, "so late\n");
}
