//! `--fallback-model`, and who is asked when a session goes on.

use heeler_script::Script;
use heeler_testkit::MockServer;

use crate::support::{MODEL, World};

const BROKE: &str = r#"
    [script]
    loop = true
    [[reply]]
    error = { status = 402, type = "billing_error", message = "no money" }
"#;
const ANSWER: &str = "[script]\nloop = true\n[[reply]]\ntext = \"from the other\"";

#[test]
fn another_model_answers_and_the_session_stays_with_the_chosen_one() {
    let world = World::new();
    let server = MockServer::start(Script::parse(BROKE).unwrap());
    let other = world.script(ANSWER);
    let flags = ["--fallback-model", &other, "hello"];
    let output = world.exec_at(&server, &flags).run().exits(0);
    assert_eq!(output.stdout, "from the other\n");
    let told = format!("heeler: {other} answers from here on, since {MODEL} cannot: ");
    assert!(output.stderr.contains(&told), "{}", output.stderr);
    // The next process asks the chosen one first, and has no other to ask.
    let arguments = ["exec", "--continue", "go on"];
    let output = world.heeler(&arguments).at(&server).run().exits(5);
    assert!(output.stderr.contains("no money"), "{}", output.stderr);
}

#[test]
fn an_account_without_credit_is_no_mistake_in_the_request() {
    let world = World::new();
    let broke = r#"
        [[reply]]
        error = { status = 400, type = "invalid_request_error", message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits." }
    "#;
    let server = MockServer::start(Script::parse(broke).unwrap());
    let other = world.script(ANSWER);
    let output = world.exec_at(&server, &["--fallback-model", &other, "hello"]).run().exits(0);
    assert_eq!(output.stdout, "from the other\n");
}

#[test]
fn settings_name_others_too_and_a_flag_wins() {
    let world = World::new();
    let server = MockServer::start(Script::parse(BROKE).unwrap());
    let other = world.script(ANSWER);
    world.write("home/settings.toml", format!("[models]\nfallback = [\"{other}\"]"));
    world.exec_at(&server, &["hello"]).run().exits(0);
    let unknown = world.exec_at(&server, &["--fallback-model", "nobody/x", "hello"]).run().exits(2);
    let told = "heeler: --fallback-model: `nobody/x`: there is no provider `nobody`";
    assert!(unknown.stderr.starts_with(told), "{}", unknown.stderr);
    world.write("home/settings.toml", "[models]\nfallback = [\"nobody/x\"]");
    let unknown = world.exec_at(&server, &["hello"]).run().exits(2);
    assert!(unknown.stderr.contains("settings.toml:2: `nobody/x`: "), "{}", unknown.stderr);
}

#[test]
fn a_budget_holds_for_every_model_that_may_answer() {
    let world = World::new();
    let server = MockServer::start(Script::parse(ANSWER).unwrap());
    let other = world.script(ANSWER);
    let flags = ["--max-cost", "1", "--fallback-model", &other, "hello"];
    let output = world.exec_at(&server, &flags).run().exits(2);
    let told = format!("the prices of {other} are not known, so its cost cannot be limited");
    assert!(output.stderr.contains(&told), "{}", output.stderr);
}

/// A checkpoint has the settings in force, which are those of who answers.
#[test]
fn a_session_stays_with_the_chosen_one_across_a_checkpoint() {
    let world = World::new();
    let call = "[[reply]]\nblocks = [{ call = \"LS\", input = { path = \".\" } }]\n";
    let chosen = format!("{}[[reply]]\ntext = \"one\"", call.repeat(5));
    let server = MockServer::start(Script::parse(&chosen).unwrap());
    world.exec_at(&server, &[&"a long prompt ".repeat(1000)]).run().exits(0);

    world.write("work/long.txt", "a long line\n".repeat(1000));
    let other = r#"
        [script]
        epoch = "may change"
        [[reply]]
        blocks = [{ call = "Read", input = { file_path = "long.txt" } }]
        [[reply]]
        text = "a summary"
        [[reply]]
        text = "from the other"
    "#;
    let other = world.script(other);
    let server = MockServer::start(Script::parse(BROKE).unwrap());
    let arguments = ["exec", "--continue", "--fallback-model", &other, "and now?"];
    let output = world.heeler(&arguments).at(&server).env("HEELER_CONTEXT_LIMIT", "6500").run();
    assert_eq!(output.exits(0).stdout, "from the other\n");
    let [id] = world.ids().try_into().unwrap();
    assert!(world.path(&format!("home/sessions/{id}.checkpoint-0")).exists());

    let output = world.heeler(&["exec", "--continue", "go on"]).at(&server).run().exits(5);
    assert!(output.stderr.contains("no money"), "{}", output.stderr);
}
