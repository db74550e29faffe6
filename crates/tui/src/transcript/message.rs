//! Messages of the conversation, which end what streamed before them.

use heeler_core::{Block, Message, Role, Timestamp, ToolResult};
use heeler_turn::compact::is_summary;
use heeler_turn::words::{is_end_refused, is_of_background};

use super::Transcript;
use super::call::CallRow;
use super::item::{Answer, Item, Said, Speaker, Thought};
use super::note::Note;
use crate::text::lines_of;

/// What the engine puts in the place of images that it leaves out of an input, each its own block.
const LEFT_OUT: [&str; 2] = ["[image left out: ", " more images left out]"];

/// How a message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// As it was said; notices tell beside it what people are to know.
    Live,
    /// From the journal, which keeps no notices.
    Stored,
}

impl Transcript {
    /// Takes in a message: what of it was shown while it streamed is ended, the rest is added.
    pub(super) fn message(&mut self, message: &Message, heard: Heard, now: Timestamp) {
        match message.role {
            Role::Assistant => self.reply(message, now),
            Role::User if is_summary(message) => self.summary(message),
            Role::User => self.user(message, heard),
        }
    }

    fn reply(&mut self, message: &Message, now: Timestamp) {
        let mut thoughts_shown = std::mem::take(&mut self.thoughts);
        self.end_thought(now);
        let mut calls = 0;
        for block in &message.blocks {
            match block {
                Block::Text(text) if !text.text.trim().is_empty() => {
                    match self.streamed(&text.text) {
                        Some(answer) => {
                            // A reader that was behind has not seen the end of it.
                            let n_seen = answer.source.len();
                            answer.push(&text.text[n_seen..]);
                            answer.end();
                        }
                        None => self.open.push_back(Item::Answer(Answer::whole(&text.text))),
                    }
                }
                Block::Thinking(thinking) if !thinking.text.trim().is_empty() => {
                    if thoughts_shown > 0 {
                        thoughts_shown -= 1;
                        continue;
                    }
                    let mut thought = Thought::streaming(0, now);
                    thought.push(&thinking.text);
                    thought.end(now);
                    self.open.push_back(Item::Thought(thought));
                }
                Block::ToolUse(call) => {
                    let row = CallRow::asked(calls, &call.id, &call.name, &call.input);
                    self.open.push_back(Item::Call(row));
                    calls += 1;
                }
                _ => {}
            }
        }
        // What streamed and is not in the message: lines of it may be in the scrollback.
        for item in &mut self.open {
            if let Item::Answer(answer) = item {
                answer.end();
            }
        }
    }

    /// The answer that streams and is the beginning of this text.
    fn streamed(&mut self, text: &str) -> Option<&mut Answer> {
        self.open.iter_mut().find_map(|item| match item {
            Item::Answer(answer) if answer.is_streaming() && text.starts_with(&answer.source) => {
                Some(answer)
            }
            _ => None,
        })
    }

    fn user(&mut self, message: &Message, heard: Heard) {
        let mut said = String::new();
        let mut images = 0;
        let mut left_out = Vec::new();
        for (index, block) in message.blocks.iter().enumerate() {
            match block {
                Block::Text(text) if index > 0 && is_left_out(&text.text) => {
                    left_out.push(text.text.clone());
                }
                Block::Text(text) => {
                    if !said.is_empty() {
                        said.push('\n');
                    }
                    said.push_str(&text.text);
                }
                Block::Image(_) | Block::Document(_) => images += 1,
                Block::ToolResult(result) => self.result(result),
                _ => {}
            }
        }
        let speaker = match is_of_background(&said) || is_end_refused(&said) {
            true => Speaker::Session,
            false => Speaker::Person,
        };
        // A notice says the same.
        let is_told = heard == Heard::Live;
        let is_said = !said.trim().is_empty() || images > 0;
        if is_said && !(is_told && is_end_refused(&said)) {
            let text = said.trim_end().to_owned();
            self.open.push_back(Item::Said(Said { text, images, speaker }));
        }
        if !is_told {
            left_out.into_iter().for_each(|text| self.note(Note::warning(text)));
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let is_it =
            |item: &&mut Item| matches!(item, Item::Call(row) if row.is_of(&result.tool_use_id));
        let Some(Item::Call(row)) = self.open.iter_mut().find(is_it) else { return };
        let texts = result.content.iter().filter_map(Block::as_text);
        row.result(lines_of(texts), result.is_error);
    }
}

/// Whether a block of an input, behind its words, stands for images that nobody will see.
fn is_left_out(text: &str) -> bool {
    let [one, more] = LEFT_OUT;
    text.ends_with(']') && (text.starts_with(one) || text.starts_with('[') && text.ends_with(more))
}
