//! The events that stand in no journal.

use heeler_core::{
    CallId, Event, FinalAnswer, HookEnd, HookEvent, MediaItem, MediaReference, TurnOutcome,
};
use serde::{Deserialize, Serialize};

/// Makes the type of some of the events, and both ways between them.
macro_rules! live {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {
        /// An event that comes through the door.
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Live {
            $($name { $($field: $type),* }),*
        }

        impl Live {
            /// The event, where it is one of these.
            pub(crate) fn of(event: &Event) -> Option<Self> {
                match event {
                    $(Event::$name { $($field),* } => Some(Self::$name { $($field: $field.clone()),* }),)*
                    // These are told by records. All are named, so that a new one is decided about.
                    Event::TurnStarted { .. }
                    | Event::Message { .. }
                    | Event::AttemptStarted { .. }
                    | Event::Retry { .. }
                    | Event::Usage { .. }
                    | Event::CallStarted { .. }
                    | Event::CallFinished { .. }
                    | Event::PermissionRequested(_)
                    | Event::PermissionDecided { .. }
                    | Event::EpochStarted { .. }
                    | Event::SteeringQueued { .. }
                    | Event::SteeringTakenBack { .. }
                    | Event::SteeringDelivered { .. }
                    | Event::CompactionStarted { .. }
                    | Event::Compacted { .. }
                    | Event::CompactionFailed { .. }
                    | Event::Trimmed { .. }
                    | Event::Pruned { .. }
                    | Event::Restored { .. }
                    | Event::ItemsLeftOut { .. }
                    | Event::ReasoningLeftOut { .. }
                    | Event::LimitsChanged { .. } => None,
                }
            }

            pub(crate) fn event(self) -> Event {
                match self {
                    $(Self::$name { $($field),* } => Event::$name { $($field),* }),*
                }
            }
        }
    };
}

live! {
    TextDelta { block: u32, offset: u64, text: String }
    ThinkingDelta { block: u32, offset: u64, text: String }
    ToolInputDelta { block: u32, offset: u64, text: String }
    CallProgress { call: CallId, text: String }
    ToolText { call: CallId, text: String, media: Vec<MediaReference>, items: Vec<MediaItem> }
    HookStarted { event: HookEvent, hook: String, call: Option<CallId> }
    HookFinished { event: HookEvent, hook: String, call: Option<CallId>, millis: u64, end: HookEnd }
    Heartbeat { turn: u32, round: u32 }
    Notice { text: String }
    TurnFinished { turn: u32, outcome: TurnOutcome, answer: FinalAnswer }
}
