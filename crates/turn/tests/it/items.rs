//! Images and documents that a provider cannot process: replaced once, never sent for ever.

use std::sync::Arc;

use expect_test::expect;
use heeler_core::{
    Block, CacheMarker, Entry, Image, Input, Message, ModelFailed, ModelStarted, Opaque,
    ProviderErrorKind, RawJson, Record, Reserve, Role, Timestamp, ToolResult, ToolUse, Usage,
};
use heeler_turn::State;

use crate::door::{check, check_after};

/// An image that the provider took.
const SEEN: &str = "picture look\nreply A cat.";

const IMAGE: &str = "[image left out: the provider could not process it]";

#[test]
fn what_was_said_since_the_last_answer_is_left_out_and_the_request_sent_again() {
    check_after(
        SEEN,
        "picture and this?
         lost refused_item
         reply I cannot see it.
         user and the first?
         reply A cat.",
        expect![[r#"
            picture and this?
              > model 2.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 2.1.2
            reply I cannot see it.
                turn 2 ended done: I cannot see it.
              > idle
            user and the first?
              > model 3.1.1
            reply A cat.
                turn 3 ended done: A cat.
              > idle
            ---
            user: look + an image
            model: A cat.
            user: and this? + [image left out: the provider could not process it]
            model: I cannot see it.
            user: and the first?
            model: A cat.
        "#]],
    );
}

#[test]
fn where_nothing_new_can_be_it_all_are_left_out() {
    check_after(
        SEEN,
        "user and now?
         lost refused_item
         reply What do you mean?",
        expect![[r#"
            user and now?
              > model 2.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 2.1.2
            reply What do you mean?
                turn 2 ended done: What do you mean?
              > idle
            ---
            user: look + [image left out: the provider could not process it]
            model: A cat.
            user: and now?
            model: What do you mean?
        "#]],
    );
}

/// What was said since the answer goes, whoever said something after it.
#[test]
fn what_an_answer_was_given_to_stays_where_anything_newer_can_be_it() {
    check_after(
        SEEN,
        "picture and this?
         lost auth
         user hello?
         lost refused_item
         reply Hello.",
        expect![[r#"
            picture and this?
              > model 2.1.1
            lost auth
                attempt 1 failed auth, for good
                turn 2 ended provider failed auth
              > idle
            user hello?
              > model 3.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 3.1.2
            reply Hello.
                turn 3 ended done: Hello.
              > idle
            ---
            user: look + an image
            model: A cat.
            user: and this? + [image left out: the provider could not process it]
            user: hello?
            model: Hello.
        "#]],
    );
}

#[test]
fn of_many_answers_the_last_one_tells_what_is_new() {
    check_after(
        "picture look\nreply A cat.\npicture and this?\nreply A dog.",
        "picture and that?
         lost refused_item
         reply I cannot see it.",
        expect![[r#"
            picture and that?
              > model 3.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 3.1.2
            reply I cannot see it.
                turn 3 ended done: I cannot see it.
              > idle
            ---
            user: look + an image
            model: A cat.
            user: and this? + an image
            model: A dog.
            user: and that? + [image left out: the provider could not process it]
            model: I cannot see it.
        "#]],
    );
}

#[test]
fn a_provider_that_takes_none_is_asked_three_times_at_most() {
    check_after(
        SEEN,
        "picture and this?
         lost refused_item
         lost refused_item
         lost refused_item
         user hello?
         reply Hello.",
        expect![[r#"
            picture and this?
              > model 2.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 2.1.2
            lost refused_item
                attempt 2 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 3 refuseditem
              > model 2.1.3
            lost refused_item
                attempt 3 failed refuseditem, for good
                turn 2 ended provider failed refuseditem
              > idle
            user hello?
              > model 3.1.1
            reply Hello.
                turn 3 ended done: Hello.
              > idle
            ---
            user: look + [image left out: the provider could not process it]
            model: A cat.
            user: and this? + [image left out: the provider could not process it]
            user: hello?
            model: Hello.
        "#]],
    );
}

#[test]
fn what_is_refused_without_an_item_ends_the_turn() {
    check(
        "user hello
         lost refused_item",
        expect![[r#"
            user hello
                epoch 1 first
              > model 1.1.1
            lost refused_item
                attempt 1 failed refuseditem, for good
                turn 1 ended provider failed refuseditem
              > idle
            ---
            user: hello
        "#]],
    );
}

#[test]
fn a_crash_after_the_refusal_changes_nothing() {
    check(
        "picture look
         lost refused_item
         crash
         reply I see nothing.",
        expect![[r#"
            picture look
                epoch 1 first
              > model 1.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 2 refuseditem
              > model 1.1.2
            crash
              > model 1.1.3
            reply I see nothing.
                turn 1 ended done: I see nothing.
              > idle
            ---
            user: look + [image left out: the provider could not process it]
            model: I see nothing.
        "#]],
    );
}

#[test]
fn results_and_documents_are_left_out_too_and_markers_stay() {
    let image = Image::from_bytes("image/png", b"");
    let call = Block::from(ToolUse {
        id: "a".into(),
        name: "draw".into(),
        input: RawJson::empty_object(),
        invalid: None,
        cache: None,
    });
    let result = ToolResult::text("a", "drawn").with_images([image.clone(), image.clone()]);
    let document = Opaque { provider: "anthropic".into(), raw: RawJson::empty_object() };
    let mut said = Message::tool_results([result]);
    said.blocks.push(Block::from(image).cached(CacheMarker::OneHour));
    said.blocks.push(Block::Document(Arc::new(document)));
    let messages =
        vec![Message::user("go"), Message { role: Role::Assistant, blocks: vec![call] }, said];
    let mut state = State::new();
    let mut seq = 0;
    let mut write = |state: &mut State, record| {
        seq += 1;
        state.apply(&Entry { seq, at: Timestamp(0), record });
    };
    write(&mut state, Record::HistoryGiven { messages });
    let before = state.history.weight();
    let mut left = state.clone();
    let (turn, round, attempt) = (1, 1, 1);
    write(&mut left, Record::Input(Box::new(Input::text("and?"))));
    let (epoch, up_to, reserve) = (1, 2, Reserve::default());
    let started = ModelStarted { turn, round, attempt, epoch, up_to, reserve };
    write(&mut left, Record::ModelStarted(started));
    let failed = ModelFailed {
        turn,
        round,
        attempt,
        kind: ProviderErrorKind::RefusedItem,
        message: "no".into(),
        retry_at: None,
        usage: Usage::default(),
        cost: None,
    };
    write(&mut left, Record::ModelFailed(Box::new(failed)));
    assert_eq!(left.misfits, 0);
    assert!(left.history.weight() < before, "what is gone weighs nothing");
    let left: Vec<Message> = left.history.messages().iter().map(|one| (**one).clone()).collect();
    let document = "[document left out: the provider could not process it]";
    let note = || Block::text(IMAGE);
    let result = ToolResult {
        content: vec![Block::text("drawn"), note(), note()],
        ..ToolResult::text("a", "")
    };
    let left_over =
        [Block::from(result), note().cached(CacheMarker::OneHour), Block::text(document)];
    assert_eq!(left[2].blocks, left_over);
}

#[test]
fn a_summary_that_it_was_refused_for_may_be_asked_for_again() {
    check(
        "set keep=0
         picture look
         reply A cat.
         picture and this?
         reply A dog.
         compact
         no summary refused_item
         compact
         summary They looked.
         user go on
         reply On.",
        expect![[r#"
            set keep=0
              > idle
            picture look
                epoch 1 first
              > model 1.1.1
            reply A cat.
                turn 1 ended done: A cat.
              > idle
            picture and this?
              > model 2.1.1
            reply A dog.
                turn 2 ended done: A dog.
              > idle
            compact
              > compact manual cut 4
            no summary refused_item
                compaction failed: no summary came
                items left out: 2
                notice: 2 images or documents were replaced by notes, since the provider cannot process what was sent; the request goes on without
              > idle
            compact
              > compact manual cut 4
            summary They looked.
                compacted 4
              > idle
            user go on
                epoch 2 compaction
              > model 3.1.1
            reply On.
                turn 3 ended done: On.
              > idle
            ---
            user: [Earlier conversation summary — treat as background context]\n\nThey looked.\n\n[Kept beside the summary, word for word]\nTh…
            user: go on
            model: On.
        "#]],
    );
}

#[test]
fn what_was_refused_does_not_come_back_with_what_was_pruned() {
    let more = "x".repeat(200);
    check(
        &format!(
            "set chars=1 context=6500 keep=2
             picture look
             reply call read a | read 0
             long 0 2400
             reply call read b | read 0
             long 0 2400
             reply Read. | read 0
             user {more}
             lost refused_item
             reply So. | read 0
             set chars=1 context=9000 keep=2
             undo"
        ),
        expect![[r#"
            set chars=1 context=6500 keep=2
              > idle
            picture look
                epoch 1 first
              > model 1.1.1
            reply call read a | read 0
              > run 0 read [mode bypass]
            long 0 2400
              > model 1.2.1
            reply call read b | read 0
              > run 0 read [mode bypass]
            long 0 2400
              > model 1.3.1
            reply Read. | read 0
                turn 1 ended done: Read.
              > idle
            user xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                pruned 2 results, 4288 characters, 0 items: 6650 -> 2546
                epoch 2 compaction
              > model 2.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 3 refuseditem
              > model 2.1.2
            reply So. | read 0
                turn 2 ended done: So.
              > idle
            set chars=1 context=9000 keep=2
              > idle
            undo
                restored to 8: 1000 -> 5104
              > idle
            ---
            user: look + [image left out: the provider could not process it]
            model: <w1 read {"path":"a"}>
            user: <w1 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: <w2 read {"path":"b"}>
            user: <w2 = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…>
            model: Read.
            user: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
            model: So.
        "#]],
    );
}

#[test]
fn what_was_answered_to_before_a_summary_comes_back_as_it_was() {
    check(
        "set keep=0
         picture look
         reply A cat.
         compact
         summary They looked.
         picture and this?
         lost refused_item
         reply So.
         undo",
        expect![[r#"
            set keep=0
              > idle
            picture look
                epoch 1 first
              > model 1.1.1
            reply A cat.
                turn 1 ended done: A cat.
              > idle
            compact
              > compact manual cut 2
            summary They looked.
                compacted 2
              > idle
            picture and this?
                epoch 2 compaction
              > model 2.1.1
            lost refused_item
                attempt 1 failed refuseditem, again in 0
                items left out: 1
                notice: an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without
                epoch 3 refuseditem
              > model 2.1.2
            reply So.
                turn 2 ended done: So.
              > idle
            undo
                restored to 4: 4 -> 102
              > idle
            ---
            user: look + an image
            model: A cat.
            user: and this? + [image left out: the provider could not process it]
            model: So.
        "#]],
    );
}
