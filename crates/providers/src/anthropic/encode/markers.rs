//! Where a request's cache markers go.
//!
//! The provider takes four. Those a user set all count and come first; what they leave goes to the
//! system prompt, the last tool, and the newest message that will stand unchanged in the next
//! request, where no user marked these. The provider also refuses an hour's marker behind one of
//! five minutes (tools come first, then the system prompt, then messages), so ours last an hour
//! where a user's hour follows.

use std::ops::Range;
use std::sync::Arc;

use heeler_core::{CacheMarker, ModelRequest, ProviderError, RequestMessage};

use super::tail::refused;
use super::{HeadMarkers, encoded, head, message};

/// The most markers a request may have.
const MARKERS_MAX: usize = 4;

/// Which markers a request gets.
pub(super) struct Markers {
    pub(super) head: HeadMarkers,
    /// The message whose last block is marked.
    pub(super) stable: Option<(usize, CacheMarker)>,
}

impl Markers {
    pub(super) fn choose(request: &ModelRequest) -> Result<Self, ProviderError> {
        let own = Own::count(request)?;
        let mut free = MARKERS_MAX - own.n_tools - own.n_system - own.n_messages;
        let mut take = |wanted: bool, place: Place| {
            let taken = wanted && free > 0;
            free -= usize::from(taken);
            let hour_follows = own.last_hour.is_some_and(|hour| place < hour);
            let marker = if hour_follows { CacheMarker::OneHour } else { CacheMarker::FiveMinutes };
            taken.then_some(marker)
        };
        let marks_system = own.n_system == 0 && !request.system.is_empty();
        let marks_tools = own.n_tools == 0 && head::marked_tool(request).is_some();
        let system = take(marks_system, Place::System).or(request.parameters.system_cache);
        let head = HeadMarkers { system, tools: take(marks_tools, Place::Tools) };
        let stable = newest_stable(request)
            .and_then(|index| Some((index, take(true, Place::Message(index))?)));
        Ok(Self { head, stable })
    }

    /// Whether one of these messages is marked by us.
    pub(super) fn marks_within(&self, messages: Range<usize>) -> bool {
        self.stable.is_some_and(|(at, _)| messages.contains(&at))
    }
}

/// The places of markers, in the order in which the provider reads them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Tools,
    System,
    Message(usize),
}

/// The markers users set.
#[derive(Default)]
struct Own {
    n_tools: usize,
    n_system: usize,
    n_messages: usize,
    /// Where the last marker of an hour is.
    last_hour: Option<Place>,
    has_five_minutes: bool,
    /// An hour's marker follows one of five minutes.
    has_late_hour: bool,
}

impl Own {
    /// Counts them all.
    fn count(request: &ModelRequest) -> Result<Self, ProviderError> {
        let mut own = Self::default();
        head::tool_markers(request, &mut |marker| own.add(Place::Tools, marker));
        if let Some(marker) = request.parameters.system_cache.filter(|_| !request.system.is_empty())
        {
            own.add(Place::System, marker);
        }
        let mut at = 0;
        for stretch in request.messages.stretches() {
            if stretch.is_marked() {
                own.add_messages(at, stretch.messages());
            }
            at += stretch.messages().len();
        }
        own.add_messages(at, request.messages.recent());
        let n = own.n_tools + own.n_system + own.n_messages;
        if n > MARKERS_MAX {
            let Self { n_tools, n_system, n_messages, .. } = own;
            return Err(refused(format!(
                "the request has {n} cache markers ({n_tools} on tools, {n_system} on the system \
                 prompt, {n_messages} in messages) and Anthropic takes {MARKERS_MAX}; remove some, \
                 the oldest first"
            )));
        }
        if own.has_late_hour {
            return Err(refused(
                "a cache marker of one hour follows one of five minutes, which Anthropic refuses; \
                 tools come first, then the system prompt, then messages: let those before last an \
                 hour too, or this one five minutes"
                    .to_owned(),
            ));
        }
        Ok(own)
    }

    fn add_messages(&mut self, from: usize, messages: &[Arc<RequestMessage>]) {
        for (index, said) in (from..).zip(messages).filter(|(_, said)| said.is_marked()) {
            message::markers(&said.message, &mut |marker| self.add(Place::Message(index), marker));
        }
    }

    fn add(&mut self, place: Place, marker: CacheMarker) {
        match place {
            Place::Tools => self.n_tools += 1,
            Place::System => self.n_system += 1,
            Place::Message(_) => self.n_messages += 1,
        }
        match marker {
            CacheMarker::FiveMinutes => self.has_five_minutes = true,
            CacheMarker::OneHour => {
                self.last_hour = Some(place);
                self.has_late_hour |= self.has_five_minutes;
            }
        }
    }
}

/// The newest stable message that can carry a marker. One that a user marked already serves, so
/// nothing before it is looked at.
fn newest_stable(request: &ModelRequest) -> Option<usize> {
    let stable = request.stable.min(request.messages.len());
    for index in (0..stable).rev() {
        let message = request.messages.get(index)?;
        let mut is_marked = false;
        if message.is_marked() {
            message::markers(&message.message, &mut |_| is_marked = true);
        }
        if is_marked {
            return None;
        }
        if encoded(message, request.messages.get(index + 1)).marker_at.is_some() {
            return Some(index);
        }
    }
    None
}
