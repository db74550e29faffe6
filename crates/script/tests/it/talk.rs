//! A conversation with a scripted model, as a log one can read.

use expect_test::Expect;
use heeler_script::{
    BlockView, MessageView, Player, Reply, ReplyBlock, RequestView, Script, ToolView,
};

/// A conversation that grows by what the player answers.
pub(crate) struct Talk {
    pub(crate) player: Player,
    pub(crate) messages: Vec<MessageView>,
    pub(crate) log: String,
}

impl Talk {
    pub(crate) fn new(script: &str) -> Self {
        let player = Player::new(parsed(script));
        Self { player, messages: Vec::new(), log: String::new() }
    }

    pub(crate) fn request(&self) -> RequestView {
        let tools = vec![ToolView { name: "read".into(), raw: "{}".into() }];
        let head = RequestView {
            model: "m".into(),
            system: "You help.".into(),
            tools,
            ..RequestView::default()
        };
        RequestView { messages: RequestView::of(self.messages.clone()).messages, ..head }
    }

    /// Says these blocks, asks, and appends the answer.
    pub(crate) fn say(mut self, blocks: impl IntoIterator<Item = BlockView>) -> Self {
        self.messages.push(MessageView::user(blocks));
        match self.player.answer(&self.request()) {
            Ok(reply) => {
                self.log.push_str(&line(&reply));
                self.messages.push(MessageView::assistant(reply.blocks.iter().map(view)));
            }
            Err(mismatch) => {
                self.log.push_str(&format!("refused: {mismatch}\n"));
                self.messages.pop();
            }
        }
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.say([BlockView::text(text)])
    }

    pub(crate) fn result(self, id: &str, text: &str) -> Self {
        self.say([BlockView::tool_result(id, text)])
    }

    #[track_caller]
    pub(crate) fn gives(self, expected: Expect) {
        // One line a clause.
        expected.assert_eq(&self.log.replace("; `", ";\n  `").replace(": it had ", ":\n  it had "));
    }
}

pub(crate) fn parsed(script: &str) -> Script {
    Script::parse_named("s.toml", script).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn line(reply: &Reply) -> String {
    let blocks: Vec<String> = reply
        .blocks
        .iter()
        .map(|block| match block {
            ReplyBlock::Text(text) => text.clone(),
            ReplyBlock::Call { id, name, input } => {
                format!("{name}#{id}({})", input.as_deref().unwrap_or("-"))
            }
            other => format!("{other:?}"),
        })
        .collect();
    format!("{}: {} [{}]\n", reply.request, blocks.join(" | "), reply.stop)
}

fn view(block: &ReplyBlock) -> BlockView {
    match block {
        ReplyBlock::Text(text) => BlockView::text(text.clone()),
        ReplyBlock::Call { id, name, input } => {
            BlockView::tool_use(id, name, input.as_deref().unwrap_or("{}"))
        }
        other => BlockView { content: heeler_script::Content::Opaque, raw: format!("{other:?}") },
    }
}
