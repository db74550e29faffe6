//! A session that goes on from its checkpoint, and who still looks at the whole journal.

use std::fs;

use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::World;

#[test]
fn a_session_goes_on_from_its_checkpoint_and_an_audit_reads_it_all() {
    let world = World::new();
    let call = "[[reply]]\nblocks = [{ call = \"LS\", input = { path = \".\" } }]\n";
    let texts = ["one", "a summary", "two", "three"];
    let texts = texts.map(|text| format!("[[reply]]\ntext = \"{text}\"\n")).concat();
    let script = format!("[script]\nepoch = \"may change\"\n{}{texts}", call.repeat(5));
    let server = MockServer::start(Script::parse(&script).unwrap());
    let long = "a long prompt ".repeat(1000);
    let exec = |arguments: &[&str]| world.heeler(&[&["exec"], arguments].concat()).at(&server);
    exec(&["--model", "claude-haiku-4-5", &long]).run().exits(0);
    // The model is that of the session, wherever its name stands.
    let small = exec(&["--continue", &"and now? ".repeat(1000)]);
    small.env("HEELER_CONTEXT_LIMIT", "6500").run().exits(0);
    let checkpoints = || {
        let folder = fs::read_dir(world.journal().parent().unwrap()).unwrap();
        let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".jsonl")).collect::<Vec<_>>()
    };
    let [id] = world.ids().try_into().unwrap();
    assert_eq!(checkpoints(), [format!("{id}.checkpoint-0")]);

    let journal = fs::read_to_string(world.journal()).unwrap();
    fs::write(world.journal(), journal.replacen("a long prompt", "A long prompt", 1)).unwrap();
    let resumed = exec(&["--continue", "go on"]).run().exits(0);
    assert!(!resumed.stderr.contains("damage"), "{}", resumed.stderr);
    let last = String::from_utf8(server.requests().pop().unwrap().body).unwrap();
    assert!(last.contains("a summary") && last.contains("claude-haiku-4-5"), "{last}");

    let audit = world.heeler(&["audit", &id]).run().exits(1);
    assert!(audit.stdout.contains("the line's checksum is wrong"), "{}", audit.stdout);
    world.heeler(&["sessions", "delete", &id]).run().exits(0);
    assert_eq!(fs::read_dir(world.path("home/sessions")).unwrap().count(), 0);
}
