//! What no model can read: kept beside its session, and gone with it.

use crate::support::World;

#[test]
fn base64_is_kept_as_a_file_until_its_session_is_deleted() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "head -c 3000 /dev/urandom | tee a | base64" } }]
        [[reply]]
        expect = { tool_result_contains = "octet-stream 3 kB in ", tool_result_is_error = false }
        text = "kept"
    "#;
    let output = world.exec(script, &["--json", "--allow", "Bash", "go"]).run().exits(0);
    assert_eq!(output.terminal()["answer"], "kept");
    let folder = world.journal().with_extension("media");
    let files = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let kept = files().find(|path| path.extension().is_none()).unwrap();
    assert_eq!(std::fs::read(kept).unwrap(), std::fs::read(world.path("work/a")).unwrap());
    assert_eq!(files().count(), 2);
    world.heeler(&["sessions", "delete", &world.ids()[0]]).run().exits(0);
    assert!(!folder.exists());
}

#[test]
fn a_run_cleans_up_what_is_old_whoever_made_it() {
    let world = World::new();
    let script = r#"
        [[reply]]
        blocks = [{ call = "Bash", input = { command = "head -c 3000 /dev/urandom | base64" } }]
        [[reply]]
        text = "kept"
    "#;
    world.exec(script, &["--json", "--allow", "Bash", "go"]).run().exits(0);
    let folder = world.journal().with_extension("media");
    let known = || {
        let mut paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some())
    };
    let path = known().unwrap();
    // Made a year ago, and cleaned up for the last time the day before.
    let text = std::fs::read_to_string(&path).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let now = json["created"].as_u64().unwrap();
    json["created"] = (now - 365 * 24 * 60 * 60 * 1000).into();
    std::fs::write(&path, json.to_string()).unwrap();
    let other = "[[reply]]\ntext = \"hi\"";
    world.exec(other, &["--json", "go"]).run().exits(0);
    assert!(known().is_some(), "it was done today");
    std::fs::write(folder.ancestors().nth(2).unwrap().join("media.cleaned"), "1000").unwrap();
    world.exec(other, &["--json", "go"]).run().exits(0);
    assert!(known().is_none());
}
