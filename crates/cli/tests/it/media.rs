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
