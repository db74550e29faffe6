//! The first run, where there is no key of any provider.

use super::Glass;
use crate::local::server;
use crate::support::World;
use expect_test::expect;

/// Nothing listens there, whatever else this machine runs.
const CLOSED: &str = "http://127.0.0.1:1/v1";

fn begins(vllm: &str) -> (World, Glass) {
    let world = World::new();
    let variables = [
        ("OLLAMA_BASE_URL", CLOSED),
        ("LLAMACPP_BASE_URL", CLOSED),
        ("LMSTUDIO_BASE_URL", CLOSED),
        ("VLLM_BASE_URL", vllm),
    ];
    let glass = Glass::open_with(&world, 80, 24, &[], &variables);
    glass.waits_for("A number, or Enter to leave:");
    (world, glass)
}

#[test]
fn n1_without_a_key_it_says_what_can_be_done() {
    let (_world, mut glass) = begins(CLOSED);
    glass.shows(expect![[r#"
        heeler: there is no key of a provider yet. What now?

          1  give a provider's key, and have it kept (heeler login)
          2  watch the demo: a scripted model mends a failing test

        Or set ANTHROPIC_API_KEY, and start heeler again.
        A number, or Enter to leave:
    "#]]);
    let screen = glass.screen();
    assert!(screen.contains("there is no key of a provider yet"), "{screen}");
    assert!(screen.contains("2  watch the demo"), "{screen}");
    assert!(screen.contains("Or set ANTHROPIC_API_KEY"), "{screen}");
    glass.types("\r");
    assert_eq!(glass.ends().0, 0);
}

#[test]
fn n2_a_key_that_is_given_is_kept_and_the_session_begins() {
    let (world, mut glass) = begins(CLOSED);
    glass.types("1\r");
    glass.waits_for("Whose?");
    glass.types("\r");
    glass.waits_for("it is not shown");
    glass.shows(expect![[r#"
        heeler: there is no key of a provider yet. What now?

          1  give a provider's key, and have it kept (heeler login)
          2  watch the demo: a scripted model mends a failing test

        Or set ANTHROPIC_API_KEY, and start heeler again.
        A number, or Enter to leave:
        1
        Whose? anthropic, openai, openai-chat, deepseek, gemini, glm, groq, mistral, moonshot, openrouter, together, xai [anthropic]

        The key for Anthropic (it is not shown):
    "#]]);
    glass.types("sk-ant-test-0123456789\r");
    glass.waits_for("what is to be done?");
    assert!(!glass.everything().contains("0123456789"));
    assert!(world.path("home/keys.toml").exists());
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
}

#[test]
fn n3_a_model_on_this_machine_answers() {
    let (_world, mut glass) = begins(&server());
    glass.waits_for("2  vllm/qwen, which answers on this machine");
    glass.types("2\r");
    glass.waits_for("what is to be done?");
    glass.types("hello\r");
    glass.waits_for("Hi.");
    glass.shows(expect![[r#"
        heeler: there is no key of a provider yet. What now?

          1  give a provider's key, and have it kept (heeler login)
          2  vllm/qwen, which answers on this machine
          3  watch the demo: a scripted model mends a failing test

        Or set ANTHROPIC_API_KEY, and start heeler again.
        A number, or Enter to leave:
        2
        `heeler --model vllm/qwen`, or `model.default` in the settings, keeps it.
        > hello

        Hi.

        > what is to be done? (/help)
        qwen · ask · ░░░░░░░░ _% · cache 5 min · confined
    "#]]);
    glass.types("\x04");
    assert_eq!(glass.ends().0, 0);
}
