//! A reply that is ready to be sent, and the steps of sending it.

use std::collections::BTreeMap;

use crate::{After, ErrorSpec, UsageSpec};

/// What the model answers to one request; templates are filled in, ids minted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// Which request it answers, from 1.
    pub request: u64,
    /// What the model says.
    pub blocks: Vec<ReplyBlock>,
    /// Why it stops.
    pub stop: String,
    /// Tokens.
    pub usage: UsageSpec,
    /// Milliseconds before it begins.
    pub delay_ms: u64,
    /// In how many parts each block is sent.
    pub chunks: usize,
    /// The failure that comes instead of the blocks (with a status) or after them.
    pub error: Option<ErrorSpec>,
    /// Where the stream ends early.
    pub ending: Option<Ending>,
    /// HTTP headers.
    pub headers: BTreeMap<String, String>,
}

/// One block of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBlock {
    /// Plain text.
    Text(String),
    /// Reasoning.
    Thinking {
        /// The reasoning.
        text: String,
        /// Its signature; may be empty.
        signature: String,
    },
    /// Reasoning only the provider can read.
    Redacted(String),
    /// A call.
    Call {
        /// Its id; may be empty or repeated.
        id: String,
        /// The tool.
        name: String,
        /// The input's text, which may be broken JSON; `None` sends no input.
        input: Option<String>,
    },
    /// A provider's own block, as JSON text.
    Opaque(String),
}

/// How a stream ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ends without its end marker.
    Cut(After),
    /// Nothing more comes, and it does not end.
    Stall(After),
}

/// One step of sending a reply. Every step up to [`Step::Finished`] is one event of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The reply begins.
    Started,
    /// A block begins.
    BlockStarted {
        /// Its index.
        block: usize,
    },
    /// More of a block's text or input.
    Delta {
        /// The block's index.
        block: usize,
        /// The part.
        text: String,
    },
    /// A thinking block's signature.
    Signature {
        /// The block's index.
        block: usize,
    },
    /// A block is whole.
    BlockFinished {
        /// Its index.
        block: usize,
    },
    /// The reply is whole: stop reason, usage, end marker.
    Finished,
    /// The reply fails with its `error`.
    Failed,
    /// The stream ends without its end marker.
    Cut {
        /// Whether the connection breaks.
        hard: bool,
    },
    /// Nothing more comes.
    Stall,
}

impl Reply {
    /// The steps of sending the reply, in order. An ending after a number of events stands at its
    /// place; one after a number of bytes stands at the end, and the sender stops earlier.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        if self.error.as_ref().is_some_and(|error| error.status.is_some()) {
            return vec![Step::Failed];
        }
        let mut steps = vec![Step::Started];
        for (block, content) in self.blocks.iter().enumerate() {
            steps.push(Step::BlockStarted { block });
            let deltas = parts(content.streamed(), self.chunks);
            steps.extend(deltas.map(|text| Step::Delta { block, text: text.to_owned() }));
            if matches!(content, ReplyBlock::Thinking { signature, .. } if !signature.is_empty()) {
                steps.push(Step::Signature { block });
            }
            steps.push(Step::BlockFinished { block });
        }
        match (&self.error, self.ending) {
            (Some(_), _) => steps.push(Step::Failed),
            (None, None) => steps.push(Step::Finished),
            (None, Some(ending)) => {
                let (Ending::Cut(after) | Ending::Stall(after)) = ending;
                steps.truncate(after.events.unwrap_or(usize::MAX));
                steps.push(ending.step());
            }
        }
        steps
    }

    /// After how many bytes the stream ends early, when the script says so, and how.
    #[must_use]
    pub fn ending_in_bytes(&self) -> Option<(usize, Step)> {
        let ending = self.ending?;
        let (Ending::Cut(after) | Ending::Stall(after)) = ending;
        after.bytes.map(|bytes| (bytes, ending.step()))
    }

    /// Bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.streamed().len()).sum()
    }
}

impl Ending {
    fn step(self) -> Step {
        match self {
            Self::Cut(after) => Step::Cut { hard: after.hard },
            Self::Stall(_) => Step::Stall,
        }
    }
}

impl ReplyBlock {
    /// The part of the block that is sent in deltas.
    fn streamed(&self) -> &str {
        match self {
            Self::Text(text) | Self::Thinking { text, .. } => text,
            Self::Call { input, .. } => input.as_deref().unwrap_or_default(),
            Self::Redacted(_) | Self::Opaque(_) => "",
        }
    }
}

/// Cuts a text into `n` parts of about the same number of characters; none of an empty text.
fn parts(text: &str, n: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut chars_left = text.chars().count();
    let mut parts_left = n.clamp(1, chars_left.max(1));
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let take = chars_left.div_ceil(parts_left);
        let end = rest.char_indices().nth(take).map_or(rest.len(), |(end, _)| end);
        let (part, after) = rest.split_at(end);
        rest = after;
        chars_left -= take;
        parts_left = (parts_left - 1).max(1);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_parts_that_make_it_up_again() {
        for (n, expected) in [
            (0, vec!["aébcd"]),
            (2, vec!["aéb", "cd"]),
            (3, vec!["aé", "bc", "d"]),
            (99, vec!["a", "é", "b", "c", "d"]),
        ] {
            assert_eq!(parts("aébcd", n).collect::<Vec<_>>(), expected, "{n}");
        }
        assert_eq!(parts("", 3).count(), 0);
    }
}
