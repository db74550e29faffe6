//! Values out of conversations.

use expect_test::expect;
use heeler_core::Message;
use heeler_script::{BlockSpec, ReplySpec};
use heeler_toolkit::{Extract, ExtractError, Parallel, StepError, extract, parallel};
use serde_json::json;

use crate::door::{client, echo, tools};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// In cents.
    #[schemars(range(max = 1_000_000))]
    cents: u32,
}

fn wanted() -> Extract<Sum> {
    Extract::new([Message::user("It costs 12.50.")], "The sum")
        .validate(|sum: &Sum| if sum.cents > 0 { Ok(()) } else { Err("nothing is free") })
}

fn submits(cents: u32) -> ReplySpec {
    ReplySpec::call("submit", json!({ "cents": cents }))
}

#[tokio::test]
async fn a_value_is_submitted_and_sent_back_until_it_is_valid() {
    let look = ReplySpec::call("echo", json!({"text": "a"}));
    let wrong = ReplySpec::call("submit", json!({"cents": "twelve"}));
    let (asks, model) = client([look, submits(0), wrong, submits(1250)]);
    let extracted = extract(&asks, wanted().tools(tools([echo()]))).await.unwrap();
    assert_eq!(extracted.value, Sum { cents: 1250 });
    assert_eq!((extracted.result.rounds, model.requests().len()), (4, 4));
    assert!(extracted.result.usage.total() > 0);
    let names: Vec<String> = model.requests()[0].tools.iter().map(|t| t.name.clone()).collect();
    assert_eq!(names, ["echo", "submit"]);
}

#[tokio::test]
async fn the_first_of_several_counts() {
    let both = ReplySpec::blocks([
        BlockSpec::call("submit", json!({"cents": 1})),
        BlockSpec::call("submit", json!({"cents": 2})),
    ]);
    let (asks, _) = client([both]);
    assert_eq!(extract(&asks, wanted()).await.unwrap().value, Sum { cents: 1 });
}

#[tokio::test]
async fn who_answers_with_a_text_is_told_to_submit_and_may_still() {
    let (asks, model) = client([ReplySpec::text("12.50, I would say."), submits(1250)]);
    let extracted = extract(&asks, wanted()).await.unwrap();
    assert_eq!((extracted.value, extracted.result.rounds), (Sum { cents: 1250 }, 2));
    expect!["The hook `extraction` does not let the turn end yet: the value has to be given by calling `submit`, and this text is none (it is no JSON); call `submit` with the value"].assert_eq(&model.requests()[1].messages.last().unwrap().text());
    // Within the rounds there are.
    let (asks, model) = client([ReplySpec::text("12.50."), submits(1250)]);
    let error = extract(&asks, wanted().rounds(1)).await.unwrap_err();
    let told =
        "the model ended without calling `submit`, after one answer; the last it said: 12.50.";
    assert_eq!(error.to_string(), told);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_text_that_is_the_value_and_nothing_else_is_taken() {
    for text in [r#"{"cents": 1250}"#, "```json\n{\"cents\": 1250}\n```\n"] {
        let (asks, model) = client([ReplySpec::text(text)]);
        assert_eq!(extract(&asks, wanted()).await.unwrap().value, Sum { cents: 1250 });
        assert_eq!(model.requests().len(), 1);
    }
    // What it would refuse as an input it refuses here.
    for (cents, why) in [(0, "(nothing is free)"), (2_000_000, "(`/cents`: 2000000 is greater")] {
        let text = ReplySpec::text(json!({ "cents": cents }).to_string());
        let (asks, model) = client([text, submits(7)]);
        assert_eq!(extract(&asks, wanted()).await.unwrap().value, Sum { cents: 7 });
        let told = model.requests()[1].messages.last().unwrap().text();
        assert!(told.contains(why), "{told}");
    }
}

#[tokio::test]
async fn without_a_value_the_error_names_the_tool() {
    let (asks, _) = client(["I will not.", "No.", "Never."].map(ReplySpec::text));
    let error = extract(&asks, wanted().name("hand_in")).await.unwrap_err();
    assert!(error.result().is_some_and(|result| result.rounds == 3 && result.cost.0 > 0));
    expect!["the model ended without calling `hand_in`, after 3 answers; the last it said: Never."]
        .assert_eq(&error.to_string());
    let (asks, _) = client([submits(0), submits(0)]);
    let error = extract(&asks, wanted().rounds(2)).await.unwrap_err();
    expect!["the model ended without a value that `submit` accepts, after 2 answers; the last was refused: nothing is free"].assert_eq(&error.to_string());
    let (asks, _) = client([]);
    let none = Extract::<Sum>::new([Message::user("?")], " ");
    assert!(matches!(extract(&asks, none).await, Err(ExtractError::NoDescription)));
    for taken in [wanted().name("echo").tools(tools([echo()])), wanted().name("hand.in")] {
        let error = extract(&asks, taken).await.unwrap_err();
        assert!(matches!(error, ExtractError::Tools(_)) && error.result().is_none(), "{error}");
    }
    let (asks, _) = client([ReplySpec::error(401, "authentication_error", "?")]);
    assert!(matches!(extract(&asks, wanted()).await, Err(ExtractError::Run(_))));
}

#[tokio::test]
async fn a_check_that_panics_is_told_wherever_the_value_stands() {
    let said = || ReplySpec::text(json!({ "cents": 7 }).to_string());
    for first in [said(), submits(7)] {
        let (asks, model) = client([first, said(), said(), said()]);
        let panics = |_: &Sum| -> Result<(), String> { panic!("no check today") };
        let error = extract(&asks, wanted().validate(panics)).await.unwrap_err();
        let refused = "was refused: the check of the value crashed: no check today";
        assert!(error.to_string().ends_with(refused), "{error}");
        let told = format!("{:?}", model.requests()[1].messages.last().unwrap());
        assert!(told.contains("the check of the value crashed: no check today"), "{told}");
    }
}

#[tokio::test]
async fn steps_give_their_results_in_order_and_a_panic_is_one() {
    let step = |n: u32| async move {
        tokio::task::yield_now().await;
        assert_ne!(n, 2, "two is bad");
        if n == 1 { Err("one") } else { Ok(n) }
    };
    let all = parallel((0..4).map(step), Parallel::default()).await;
    assert_eq!(all[0], Ok(0));
    assert_eq!(all[1], Err(StepError::Failed("one")));
    assert!(matches!(&all[2], Err(StepError::Panicked(text)) if text.contains("two is bad")));
    assert_eq!(all[3], Ok(3));
    let one = Parallel { at_once: 1, fail_fast: true };
    let some = parallel((0..4).map(step), one).await;
    assert_eq!((&some[0], &some[2]), (&Ok(0), &Err(StepError::Stopped)));
    assert!(
        parallel(std::iter::empty::<std::future::Ready<Result<(), ()>>>(), one).await.is_empty()
    );
}

#[tokio::test]
async fn no_more_run_at_once_than_may() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let step = |_| async {
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        running.fetch_sub(1, Ordering::SeqCst);
        Ok::<(), ()>(())
    };
    parallel((0..20).map(step), Parallel { at_once: 3, fail_fast: false }).await;
    assert_eq!(most.load(Ordering::SeqCst), 3);
}
