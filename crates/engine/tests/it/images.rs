//! Images enter a session as ones that providers take, or as notes; nothing else reaches a request.

use expect_test::{Expect, expect};
use heeler_core::{
    Block, Event, Image, Input, InputOrigin, Message, SteeringId, ToolOutput, TurnOutcome,
};
use heeler_engine::ImageDoor;
use heeler_images::SIDE_MAX;
use heeler_testkit::picture::{pixel, png};
use heeler_testkit::transcript;

use crate::common::{Stage, settled, stage, tool, virtually};

const ANSWERS: &str = r#"
    [[reply]]
    text = "one"
    [[reply]]
    text = "two"
    [[reply]]
    text = "three"
"#;

fn image(media_type: &str, bytes: &[u8]) -> Block {
    Block::from(Image::from_bytes(media_type, bytes))
}

fn address() -> Block {
    Block::from(Image::from_url("https://a.test/b.png").unwrap())
}

fn input(blocks: impl IntoIterator<Item = Block>) -> Input {
    Input { blocks: blocks.into_iter().collect(), origin: InputOrigin::default() }
}

/// The images in a conversation, with their sizes as their headers say.
fn images(messages: &[Message]) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |block: &Block| {
        let Block::Image(image) = block else { return };
        let size = image.bytes().map(|bytes| {
            let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            format!(" {}x{}", side(16), side(20))
        });
        told.push(format!("{}{}", image.media_type, size.unwrap_or_default()));
    };
    for block in messages.iter().flat_map(|message| &message.blocks) {
        match block {
            Block::ToolResult(result) => result.content.iter().for_each(&mut tell),
            block => tell(block),
        }
    }
    told
}

fn notices(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.starts_with("notice")).collect()
}

/// Says these blocks in one turn; then the conversation, its images and what a person was told.
fn check(blocks: Vec<Block>, expected: Expect) {
    let shown = virtually(async {
        let stage = stage(ANSWERS, []).await;
        assert_eq!(stage.session.turn(input(blocks)).await, TurnOutcome::Done);
        let messages = stage.watcher_messages().await;
        let lines = stage.close().await;
        let notices: String = notices(&lines).iter().map(|line| format!("{line}\n")).collect();
        format!("{}{:?}\n{notices}", transcript(&messages), images(&messages))
    });
    expected.assert_eq(&shown);
}

trait Messages {
    async fn watcher_messages(&self) -> Vec<Message>;
}

impl Messages for Stage {
    async fn watcher_messages(&self) -> Vec<Message> {
        settled().await;
        let (view, _) = self.session.subscribe();
        view.messages.iter().map(|message| (**message).clone()).collect()
    }
}

#[test]
fn an_input_keeps_good_images_and_names_bad_ones() {
    check(
        vec![
            Block::text("look"),
            // Its sender is wrong about what it is.
            image("image/webp", &png(2, 1)),
            image("image/png", b"<html>not found</html>"),
            Block::from(Image { media_type: "image/png".into(), data: "***".into(), cache: None }),
            address(),
            image("image/png", &png(SIDE_MAX * 2, 4)),
        ],
        expect![[r#"
            user: look
            user: [image/png]
            user: [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
            user: [image left out: its data is no base64]
            user: [image by address]
            user: [image/png]
            assistant: one
            ["image/png 2x1", "", "image/png 1568x2"]
            notice [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
            notice [image left out: its data is no base64]
        "#]],
    );
}

#[test]
fn what_a_tool_shows_is_looked_at_too() {
    let shown = virtually(async {
        let draws = tool("draw", |context: heeler_core::ToolContext, _| async move {
            context.images.attach(Image::from_bytes("image/png", &png(10, SIDE_MAX + 10)));
            let content = vec![image("image/png", b"\x89PNG\r\n\x1a\nbroken"), address()];
            Ok(ToolOutput { content, ..ToolOutput::default() })
        });
        let script = "[[reply]]\nblocks = [{ call = \"draw\" }]\n[[reply]]\ntext = \"done\"\n";
        let stage = stage(script, [draws]).await;
        assert_eq!(stage.say("go").await, TurnOutcome::Done);
        let messages = stage.watcher_messages().await;
        stage.close().await;
        format!("{}{:?}\n", transcript(&messages), images(&messages))
    });
    expect![[r#"
        user: go
        assistant: call draw {}
        result ok: [image left out: it cannot be decoded as PNG (its data is damaged or not all there); make it again or convert it to PNG] [image by address] [image/png]
        assistant: done
        ["", "image/png 9x1568"]
    "#]].assert_eq(&shown);
}

#[test]
fn steering_with_an_image_waits_for_it_and_keeps_its_place() {
    let shown = virtually(async {
        let stage = stage(ANSWERS, []).await;
        for (id, blocks) in [
            ("a", vec![Block::text("first"), image("image/png", &png(SIDE_MAX * 2, 2))]),
            ("b", vec![Block::text("second")]),
            ("c", vec![image("image/png", b"")]),
        ] {
            stage.session.steer(SteeringId(id.into()), input(blocks)).await.unwrap();
        }
        let messages = stage.watcher_messages().await;
        let lines = stage.close().await;
        format!("{}{:?}\n{:?}\n", transcript(&messages), images(&messages), notices(&lines))
    });
    expect![[r#"
        user: first
        user: [image/png]
        assistant: one
        user: second
        assistant: two
        user: [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
        assistant: three
        ["image/png 1568x1"]
        ["notice [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]"]
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_turn_that_is_cancelled_while_its_image_is_decoded_leaves_nothing() {
    virtually(async {
        let stage = stage(ANSWERS, []).await;
        let turn = stage.session.turn(input([image("image/png", &png(3000, 3000))]));
        stage.session.cancel().await;
        assert_eq!(turn.await, TurnOutcome::Cancelled);
        assert_eq!(stage.watcher_messages().await, []);
        let shown = stage.say("hi").await;
        assert_eq!(shown, TurnOutcome::Done);
        stage.close().await;
    });
}

#[test]
fn a_message_has_limits() {
    virtually(async {
        let door = ImageDoor::default();
        let told = |message: &Message| {
            let images = message.blocks.iter().filter(|b| matches!(b, Block::Image(_))).count();
            format!("{images}, {:?}", message.blocks.last().and_then(Block::as_text))
        };
        let many = Message::user_with_images("", (0..103).map(|_| pixel()));
        // Some three megabytes each as base64.
        let large = Image::from_bytes("image/png", &png(SIDE_MAX, SIDE_MAX));
        assert!(large.data.len() > 3_200_000);
        let heavy = Message::user_with_images("", (0..9).map(|_| large.clone()));
        let nested = Message::tool_results([heeler_core::ToolResult::text("a", "")
            .with_images([Image::from_bytes("image/png", b"?")])]);
        // Longer than is looked at, and so not even decoded from base64.
        let endless = "A".repeat(28 * 1024 * 1024);
        let endless = Image { media_type: "image/png".into(), data: endless, cache: None };
        let endless = Message::user_with_images("", [endless]);
        let mut messages = [many, heavy, endless, nested];
        let notes = door.admit_messages(&mut messages).await;
        assert_eq!(notes.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let [many, heavy, endless, nested] = messages;
        expect![[r#"100, Some("[3 more images left out]")"#]].assert_eq(&told(&many));
        expect![[r#"7, Some("[2 more images left out]")"#]].assert_eq(&told(&heavy));
        expect![[r#"0, Some("[image left out: it has 22020096 bytes; at most 20971520 are read, so make a smaller copy first]")"#]].assert_eq(&told(&endless));
        expect![[r#"
            result ok:  [image left out: it is no PNG, JPEG, GIF or WebP; convert it to PNG first]
        "#]]
        .assert_eq(&transcript([&nested]));
    });
}

#[test]
fn the_same_image_is_the_same_bytes_each_time() {
    virtually(async {
        let mut stage = stage(ANSWERS, []).await;
        let mut said = Vec::new();
        for _ in 0..2 {
            let turn = stage.session.turn(input([image("image/gif", &png(SIDE_MAX + 1, 9))]));
            assert_eq!(turn.await, TurnOutcome::Done);
            stage.watcher.until(|event| matches!(event, Event::TurnFinished { .. })).await;
        }
        for message in stage.watcher_messages().await {
            said.extend(message.blocks.into_iter().filter(|b| matches!(b, Block::Image(_))));
        }
        assert_eq!(said.len(), 2);
        assert_eq!(said[0], said[1]);
        let mut again = Message { role: heeler_core::Role::User, blocks: said.clone() };
        let notes = ImageDoor::default().admit_messages(std::slice::from_mut(&mut again)).await;
        assert_eq!(notes, []);
        assert_eq!(again.blocks, said, "what was let in passes unchanged");
        stage.close().await;
    });
}

#[test]
fn what_a_provider_refuses_becomes_a_note_for_good() {
    let shown = virtually(async {
        let script = r#"
            [[reply]]
            error = { status = 400, type = "refused_item", message = "Could not process image" }
            [[reply]]
            text = "I see nothing."
            [[reply]]
            text = "Still nothing."
        "#;
        let stage = stage(script, []).await;
        let said = input([Block::text("look"), Block::from(pixel())]);
        assert_eq!(stage.session.turn(said).await, TurnOutcome::Done);
        assert_eq!(stage.say("and now?").await, TurnOutcome::Done);
        let messages = stage.watcher_messages().await;
        let lines = stage.close().await;
        format!("{}{:?}\n", transcript(&messages), notices(&lines))
    });
    expect![[r#"
        user: look
        user: [image left out: the provider could not process it]
        assistant: I see nothing.
        user: and now?
        assistant: Still nothing.
        ["notice an image or document was replaced by a note, since the provider cannot process what was sent; the request goes on without"]
    "#]].assert_eq(&shown);
}
