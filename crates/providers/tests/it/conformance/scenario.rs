//! What a model says, apart from any wire format, and what has to come of it.

use heeler_core::{Block, Reply, StopReason, Usage};

/// One answer.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Reasoning, then text, then calls: the order that every format can carry.
    pub(crate) said: Vec<Said>,
    pub(crate) stop: StopReason,
    /// The vendor's own word for why it stopped; the usual one for `stop` when there is none here.
    pub(crate) word: Option<&'static str>,
    pub(crate) usage: Usage,
}

pub(crate) enum Said {
    Thinking(&'static str),
    Text(&'static str),
    /// Text in which the model says that it will not.
    Refusal(&'static str),
    /// The input is the text on the wire.
    Call {
        id: &'static str,
        name: &'static str,
        input: &'static str,
    },
}

/// Every answer that a dialect must bring home.
pub(crate) fn all() -> Vec<Scenario> {
    let call = |id, name, input| Said::Call { id, name, input };
    let usage = Usage { input: 60, output: 30, cache_read: 40, ..Usage::default() };
    let plain = |name, said, stop| Scenario { name, said, stop, word: None, usage };
    vec![
        plain(
            "text",
            vec![Said::Text("Hello, wörld 🌍.\n\"Quoted\" \\ tab\t.")],
            StopReason::EndTurn,
        ),
        plain(
            "thinking",
            vec![Said::Thinking("Let me see …\nYes."), Said::Text("It is 4.")],
            StopReason::EndTurn,
        ),
        plain(
            "one call, no text",
            vec![call("call_1", "read", r#"{"path":"a/ü.rs","lines":[1,2]}"#)],
            StopReason::ToolUse,
        ),
        plain(
            "parallel calls keep their order",
            vec![
                Said::Text("I look at three."),
                call("call_c", "read", r#"{"path":"c"}"#),
                call("call_a", "read", r#"{"path":"a"}"#),
                call("call_b", "list", r#"{"path":"b","deep":{"er":[null,true,1.5]}}"#),
            ],
            StopReason::ToolUse,
        ),
        plain("a call without input", vec![call("call_1", "now", "{}")], StopReason::ToolUse),
        plain(
            "thinking, text and a call",
            vec![
                Said::Thinking("Which file?"),
                Said::Text("This one."),
                call("call_9", "read", r#"{"path":"x"}"#),
            ],
            StopReason::ToolUse,
        ),
        plain("cut at the limit", vec![Said::Text("It was a dark and")], StopReason::MaxTokens),
        Scenario {
            usage: Usage { reasoning: 20, ..usage },
            ..plain("reasoning is counted", vec![Said::Text("ok")], StopReason::EndTurn)
        },
    ]
}

impl Scenario {
    /// What the answer says, as [`told`] tells of a reply.
    pub(crate) fn expected(&self) -> String {
        let said = self.said.iter().map(|said| match said {
            Said::Thinking(text) => format!("thinking {text:?}"),
            Said::Text(text) | Said::Refusal(text) => format!("text {text:?}"),
            Said::Call { id, name, input } => call(id, name, input),
        });
        lines(said.collect(), &self.stop, self.usage)
    }
}

/// What a reply says, without what only its provider understands.
pub(crate) fn told(reply: &Reply) -> String {
    let blocks = reply.blocks.iter().filter_map(|block| match block {
        Block::Thinking(thinking) => Some(format!("thinking {:?}", thinking.text)),
        Block::Text(text) => Some(format!("text {:?}", text.text)),
        Block::ToolUse(use_) => Some(call(&use_.id, &use_.name, use_.input.get())),
        _ => None,
    });
    lines(blocks.collect(), &reply.stop, reply.usage)
}

fn call(id: &str, name: &str, input: &str) -> String {
    let input: serde_json::Value = serde_json::from_str(input).unwrap();
    format!("call {id} {name} {input}")
}

fn lines(mut lines: Vec<String>, stop: &StopReason, usage: Usage) -> String {
    let Usage { input, output, cache_read, cache_write, reasoning, .. } = usage;
    lines.push(format!("{stop:?} {input}+{cache_read}+{cache_write} {output} ({reasoning})"));
    lines.join("\n")
}
