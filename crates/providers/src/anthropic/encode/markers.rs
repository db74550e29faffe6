//! Where a request's cache markers go.
//!
//! The provider takes four. Those a user set come first, the newest of them; then the system
//! prompt, the last tool, and the newest message that will stand unchanged in the next request. It
//! also refuses an hour's marker behind one of five minutes, so ours last an hour where a user's
//! hour follows.

use std::ops::Range;
use std::sync::Arc;

use heeler_core::{Block, CacheMarker, ModelRequest, RequestMessage};

use super::{HeadMarkers, encoded};

/// The most markers a request may have.
const MARKERS_MAX: usize = 4;

/// Which markers a request gets.
pub(super) struct Markers {
    pub(super) head: HeadMarkers,
    /// The message whose last block is marked.
    pub(super) stable: Option<(usize, CacheMarker)>,
    /// Messages before this one lose the markers a user set: there are too many.
    own_from: usize,
}

impl Markers {
    pub(super) fn choose(request: &ModelRequest) -> Self {
        let own = Own::count(request);
        let mut free = MARKERS_MAX - own.kept;
        let mut take = |wanted: bool, index: Option<usize>| {
            let taken = wanted && free > 0;
            free -= usize::from(taken);
            let hour_follows = own.last_hour.is_some_and(|hour| index.is_none_or(|i| i < hour));
            let marker = if hour_follows { CacheMarker::OneHour } else { CacheMarker::FiveMinutes };
            taken.then_some(marker)
        };
        let head = HeadMarkers {
            system: take(!request.system.is_empty(), None),
            tools: take(!request.tools.is_empty(), None),
        };
        let stable = newest_stable(request, own.from)
            .and_then(|index| Some((index, take(true, Some(index))?)));
        Self { head, stable, own_from: own.from }
    }

    /// Whether the markers a user set on this message are left out.
    pub(super) fn own_left_out(&self, index: usize) -> bool {
        index < self.own_from
    }

    /// Whether one of these messages is marked by us.
    pub(super) fn marks_within(&self, messages: Range<usize>) -> bool {
        self.stable.is_some_and(|(at, _)| messages.contains(&at))
    }
}

/// The markers users set.
struct Own {
    /// How many are sent.
    kept: usize,
    /// The first message whose markers are sent; 0 when all are.
    from: usize,
    /// The last message with a marker of an hour.
    last_hour: Option<usize>,
}

impl Own {
    fn count(request: &ModelRequest) -> Self {
        let mut own = Self { kept: 0, from: 0, last_hour: None };
        let messages = &request.messages;
        let mut end = messages.len();
        own.count_part(&mut end, messages.recent());
        for stretch in messages.stretches().rev() {
            if own.from > 0 {
                break;
            }
            if stretch.is_marked() {
                own.count_part(&mut end, stretch.messages());
            } else {
                end -= stretch.messages().len();
            }
        }
        own
    }

    /// Counts the messages that end before `end`, the newest first, as long as all fit.
    fn count_part(&mut self, end: &mut usize, messages: &[Arc<RequestMessage>]) {
        for message in messages.iter().rev() {
            let (n, has_hour) = own_markers(message);
            if self.kept + n > MARKERS_MAX {
                self.from = *end;
                return;
            }
            *end -= 1;
            self.kept += n;
            if has_hour && self.last_hour.is_none() {
                self.last_hour = Some(*end);
            }
        }
    }
}

/// How many markers a user set on a message, and whether one of them is for an hour.
fn own_markers(message: &RequestMessage) -> (usize, bool) {
    fn count(blocks: &[Block], found: &mut (usize, bool)) {
        for block in blocks {
            let marker = match block {
                Block::Text(text) => text.cache,
                Block::Image(image) => image.cache,
                Block::ToolUse(call) => call.cache,
                Block::ToolResult(result) => {
                    count(&result.content, found);
                    result.cache
                }
                Block::Thinking(_)
                | Block::RedactedThinking(_)
                | Block::Document(_)
                | Block::Opaque(_) => None,
            };
            found.0 += usize::from(marker.is_some());
            found.1 |= marker == Some(CacheMarker::OneHour);
        }
    }
    let mut found = (0, false);
    if message.is_marked() {
        count(&message.message.blocks, &mut found);
    }
    found
}

/// The newest stable message that can carry a marker. One that a user marked already serves, so
/// nothing before it is looked at.
fn newest_stable(request: &ModelRequest, own_from: usize) -> Option<usize> {
    let stable = request.stable.min(request.messages.len());
    for index in (0..stable).rev() {
        let message = request.messages.get(index)?;
        if own_from <= index && message.is_marked() {
            return None;
        }
        if encoded(message).marker_at.is_some() {
            return Some(index);
        }
    }
    None
}
