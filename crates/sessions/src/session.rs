//! A session: a conversation as plain data that its caller owns.

use std::collections::BTreeMap;

use heeler_core::{Message, RawJson};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::RecordedEvent;

/// A conversation, what its owner keeps beside it, and what happened in it.
///
/// It does nothing by itself: the caller hands the history to a model call, puts the new one back,
/// and says when it is stored.
///
/// ```
/// use heeler_core::Message;
/// use heeler_sessions::Session;
///
/// let mut session = Session::new("chat-7");
/// session.history.push(Message::user("Hello"));
/// session.set_state("visits", &3)?;
/// assert_eq!(session.state::<u32>("visits")?, 3);
/// assert!(session.state::<u32>("name").unwrap_err().is_absent());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Session {
    /// What it is called. Stores take letters, digits, `-`, `_` and `.`, 1 to 128 of them, the
    /// first no dot.
    pub id: String,
    /// Which of its stored forms this is; a store says when it has written one.
    #[serde(default)]
    pub version: SessionVersion,
    /// The conversation.
    #[serde(default)]
    pub history: Vec<Message>,
    /// What its owner keeps beside the history, by name; see [`Session::state`].
    #[serde(default)]
    pub state: BTreeMap<String, RawJson>,
    /// What happened, as a [`SessionRecorder`](crate::SessionRecorder) put it here. Numbers rise.
    #[serde(default)]
    pub events: Vec<RecordedEvent>,
}

/// A stored form of a session. Each write makes one that was never there before, also when the
/// session was removed and made again in between; 0 is that of a session that was not stored yet.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[must_use = "the session has to carry the version that was written, or its next update is a conflict"]
pub struct SessionVersion(pub u64);

impl Session {
    /// A session without anything in it.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// What is kept under `key`, as a `T`.
    ///
    /// # Errors
    /// When nothing is kept there, or something else than a `T`: two kinds that can be told apart.
    pub fn state<T: DeserializeOwned>(&self, key: &str) -> Result<T, StateError> {
        let raw = self.state.get(key).ok_or_else(|| StateError {
            kind: StateErrorKind::Absent,
            message: format!("the session has no state `{key}`"),
            source: None,
        })?;
        serde_json::from_str(raw.get()).map_err(|error| StateError {
            kind: StateErrorKind::Undecodable,
            message: format!("the state `{key}` is no {}: {error}", std::any::type_name::<T>()),
            source: Some(error.into()),
        })
    }

    /// Keeps `value` under `key`, in place of what was there.
    ///
    /// # Errors
    /// When the value has no form in JSON, or one beyond the limits of
    /// [`RawJson`](heeler_core::RawJson); what was there stays.
    pub fn set_state<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), StateError> {
        let key = key.into();
        let raw = encode(value).map_err(|source| StateError {
            kind: StateErrorKind::Unencodable,
            message: format!("the state `{key}` cannot be kept as JSON: {source}"),
            source: Some(source),
        })?;
        self.state.insert(key, raw);
        Ok(())
    }

    /// Adds events after those that are there, each with the next number.
    pub fn add_events(&mut self, events: impl IntoIterator<Item = RecordedEvent>) {
        let mut seq = self.events.last().map_or(0, |event| event.seq);
        self.events.extend(events.into_iter().map(|event| {
            seq = seq.saturating_add(1);
            RecordedEvent { seq, ..event }
        }));
    }
}

fn encode<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, Source> {
    Ok(RawJson::parse(&serde_json::to_string(value)?)?)
}

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What kind of failure of a session's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateErrorKind {
    /// There is nothing under this name.
    Absent,
    /// What is there is something else.
    Undecodable,
    /// The value has no form in JSON, or too large a one.
    Unencodable,
}

/// A failure of a session's state; the message names the key.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StateError {
    kind: StateErrorKind,
    message: String,
    source: Option<Source>,
}

impl StateError {
    /// What kind of failure.
    #[must_use]
    pub fn kind(&self) -> StateErrorKind {
        self.kind
    }

    /// Whether there is nothing under this name.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.kind == StateErrorKind::Absent
    }

    /// Whether what is there is something else.
    #[must_use]
    pub fn is_undecodable(&self) -> bool {
        self.kind == StateErrorKind::Undecodable
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::RecordedEventKind::ModelRequest;
    use crate::samples::event;

    #[test]
    fn what_is_absent_is_told_from_what_is_something_else() {
        let check = |error: StateError, expected: Expect| {
            expected.assert_eq(&format!("{:?}: {error}", error.kind()));
        };
        let mut session = Session::new("a");
        session.set_state("name", "Ada").unwrap();
        let absent = session.state::<String>("nam").unwrap_err();
        assert!(absent.is_absent() && !absent.is_undecodable());
        check(absent, expect!["Absent: the session has no state `nam`"]);
        let other = session.state::<u32>("name").unwrap_err();
        assert!(other.is_undecodable() && !other.is_absent());
        check(
            other,
            expect![[
                r#"Undecodable: the state `name` is no u32: invalid type: string "Ada", expected u32 at line 1 column 5"#
            ]],
        );
        check(
            session.set_state("name", &BTreeMap::from([([1], 2)])).unwrap_err(),
            expect!["Unencodable: the state `name` cannot be kept as JSON: key must be a string"],
        );
        let deep = serde_json::from_str::<serde_json::Value>(&("[".repeat(97) + &"]".repeat(97)));
        check(
            session.set_state("name", &deep.unwrap()).unwrap_err(),
            expect![
                "Unencodable: the state `name` cannot be kept as JSON: JSON nested deeper than 96 levels"
            ],
        );
        assert_eq!(session.state::<String>("name").unwrap(), "Ada");
    }

    #[test]
    fn a_session_is_read_back_as_it_was() {
        let mut session = Session::new("a");
        session.history.push(Message::user("Wie heißt du?"));
        session.set_state("b", &[1.5, f64::MIN_POSITIVE]).unwrap();
        session.set_state("a", &u64::MAX).unwrap();
        session.add_events([event(ModelRequest)]);
        session.version = SessionVersion(7);
        let text = serde_json::to_string(&session).unwrap();
        expect![[r#"{"id":"a","version":7,"history":[{"role":"user","blocks":[{"text":{"text":"Wie heißt du?"}}]}],"state":{"a":"18446744073709551615","b":"[1.5,2.2250738585072014e-308]"},"events":[{"seq":1,"turn":"00000000000000ff","iteration":1,"time":5,"kind":"model_request"}]}"#]].assert_eq(&text);
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
        assert_eq!(serde_json::from_str::<Session>(r#"{"id":"a"}"#).unwrap(), Session::new("a"));
    }

    #[test]
    fn events_go_on_after_the_last_number() {
        let mut session = Session::new("a");
        session.events.push(event(ModelRequest).numbered(41));
        session.add_events([event(ModelRequest).numbered(3), event(ModelRequest)]);
        let seqs: Vec<u64> = session.events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, [41, 42, 43]);
    }

    proptest! {
        #[test]
        fn state_comes_back_as_the_type_it_had(
            float in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL,
            whole in any::<(i128, u64, i64)>(),
            text in any::<(String, char, Option<String>)>(),
            map in any::<BTreeMap<String, Vec<bool>>>(),
        ) {
            let mut session = Session::new("a");
            back(&mut session, float)?;
            back(&mut session, whole)?;
            back(&mut session, text)?;
            back(&mut session, map)?;
        }
    }

    fn back<T>(session: &mut Session, value: T) -> Result<(), TestCaseError>
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        session.set_state("key", &value).unwrap();
        let text = serde_json::to_string(session).unwrap();
        let read: Session = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.state::<T>("key").unwrap(), value);
        Ok(())
    }
}
