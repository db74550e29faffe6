//! `sessions export` and `sessions delete`: bytes as they are stored, and what is gone.

use expect_test::expect;
use heeler_script::Script;
use heeler_testkit::MockServer;
use rustix::process::Signal;

use crate::support::World;

const ANY: &str = "[script]\nloop = true\n[[reply]]\ntext = \"heard\"\n";
const SILENT: &str = "[[reply]]\ntext = \"well\"\nstall = {}";

#[test]
fn an_export_is_the_journal_byte_for_byte() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["sessions", "export", &id[..30]]).run().exits(0);
    assert_eq!(output.stdout, std::fs::read_to_string(world.journal()).unwrap());
    assert_eq!(output.stderr, "");
    assert!(output.stdout.lines().count() > 5, "{}", output.stdout);
    let named = world.heeler(&["sessions", "export", &id, "-o", "-"]).run().exits(0);
    assert_eq!(named.stdout, output.stdout);
}

#[test]
fn a_session_that_runs_is_exported_up_to_now() {
    let world = World::new();
    let server = MockServer::start(Script::parse(SILENT).unwrap());
    let mut running = world.exec_at(&server, &["--json", "hello"]).start();
    running.wait_for("text_delta");
    let written = world.journal_lines();
    let [id] = world.ids().try_into().unwrap();
    let output = world.heeler(&["sessions", "export", &id]).run().exits(0);
    assert_eq!(output.stdout, written.concat());
    running.signal(Signal::INT);
    running.finish().exits(130);
}

#[test]
fn damage_and_a_torn_tail_are_exported_and_told() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let changed = world.journal_lines().concat().replacen("\"first\"", "\"worst\"", 1);
    std::fs::write(world.journal(), changed.clone() + "{\"seq\":9,\"a").unwrap();
    let output = world.heeler(&["sessions", "export", &id]).run().exits(0);
    assert_eq!(output.stdout, changed);
    expect![[r#"
        heeler: damaged: line 4: the line's checksum is wrong
        heeler: torn: the last 11 bytes are no whole record; the next turn of the session cuts them off
    "#]]
    .assert_eq(&world.plain(&output.stderr));

    let changed = changed.replacen("heeler-journal", "heeler-jourmal", 1);
    std::fs::write(world.journal(), &changed).unwrap();
    let output = world.heeler(&["sessions", "export", &id]).run().exits(0);
    assert_eq!(output.stdout, changed);
    expect![[r#"
        heeler: the first line of `WORLD/home/sessions/ID.jsonl` cannot be read (its checksum is wrong); `heeler sessions export ID` prints what there is; restore the file from a backup, or remove the session with `heeler sessions delete ID`
    "#]]
    .assert_eq(&world.plain(&output.stderr));
}

#[test]
fn a_deleted_session_is_told_and_gone() {
    let world = World::new();
    for prompt in ["first", "second", "third"] {
        world.exec(ANY, &[prompt]).run().exits(0);
    }
    let [first, second, third] = world.ids().try_into().unwrap();
    // Whatever the first line holds, the advice works.
    let text = std::fs::read_to_string(&world.journals()[1]).unwrap();
    std::fs::write(&world.journals()[1], text.replacen("journal", "jourmal", 1)).unwrap();
    let output = world.heeler(&["sessions", "delete", &first, &second]).run().exits(0);
    expect![[r#"
        deleted ID  TIME  WORLD/work  first
        deleted ID  TIME    (the first line is damaged)
    "#]]
    .assert_eq(&world.plain(&output.stdout));
    assert_eq!(world.ids(), [third]);
}

#[test]
fn a_journal_that_is_cut_off_is_not_told_as_none() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    std::fs::File::options().write(true).open(world.journal()).unwrap().set_len(100).unwrap();
    let [id] = world.ids().try_into().unwrap();
    for line in [&["audit", &*id][..], &["exec", "--model", "script:x", "--resume", &id, "more"]] {
        let told = world.heeler(line).run().exits(2).stderr;
        assert!(told.contains("ends within its first line"), "{told}");
    }
    world.heeler(&["sessions", "delete", &id]).run().exits(0);
    assert!(world.ids().is_empty());
}

#[test]
fn only_whole_ids_of_sessions_are_deleted() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let [id] = world.ids().try_into().unwrap();
    let check = |ids: &[&str], stderr: expect_test::Expect| {
        let output = world.heeler(&[&["sessions", "delete"], ids].concat()).run().exits(2);
        assert_eq!(output.stdout, "");
        stderr.assert_eq(&world.plain(&output.stderr.replace(&id[..35], "PART")));
        assert_eq!(world.ids().len(), 1);
    };
    check(
        &[&id[..35], "absent"],
        expect![[r#"
        heeler: PART is only the beginning of an id; to delete, give the whole of it
        heeler: there is no session absent (no `WORLD/home/sessions/absent.jsonl`); the list shows which there are
        heeler: 2 of 2 not deleted
    "#]],
    );
    check(
        &[&id, "../x"],
        expect![[r#"
        heeler: `../x` is not a session id
    "#]],
    );
    check(
        &[],
        expect![[r#"
        error: the following required arguments were not provided:
          <ID>...

        Usage: heeler sessions delete <ID>...

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn an_owner_keeps_its_session_and_no_other() {
    let world = World::new();
    world.exec(ANY, &["first"]).run().exits(0);
    let server = MockServer::start(Script::parse(SILENT).unwrap());
    let mut owner = world.exec_at(&server, &["--json", "hello"]).start();
    owner.wait_for("text_delta");
    let [first, owned] = world.ids().try_into().unwrap();
    let output = world.heeler(&["sessions", "delete", &owned, &first]).run().exits(2);
    expect![[r#"
        deleted ID  TIME  WORLD/work  first
        heeler: session ID is in use; `heeler attach ID` watches it and has a say in it, or end what has it open (a program of yours awaits `Session::close`) and try again
        heeler: 1 of 2 not deleted
    "#]].assert_eq(&world.plain(&(output.stdout + &output.stderr)));
    assert_eq!(world.ids(), [&*owned]);

    owner.signal(Signal::INT);
    owner.finish().exits(130);
    world.heeler(&["sessions", "delete", &owned]).run().exits(0);
    assert_eq!(world.ids(), [""; 0]);
}
