//! The promise of a media store, and what one call is given of it.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, Clock, InputOrigin, MediaReference, SessionId, StoreError, Timestamp};

/// Keeps what tools make beside text: images, sounds, files.
///
/// Promises of every implementation: the reference follows from the bytes and all that is said of
/// them, so the same put twice is one item; what was put is read back as it was, or an error says that
/// it is damaged; what belongs to another scope is not there. A put past a limit changes nothing, but
/// for items whose time is over.
pub trait MediaStore: Send + Sync + 'static {
    /// Keeps bytes under a scope.
    ///
    /// # Errors
    /// `Full` past a limit, whose message names it; `NotFound` where there is no such session.
    fn put(&self, scope: MediaScope, media: NewMedia) -> BoxFuture<Result<MediaItem, StoreError>>;

    /// What is known of an item, without its bytes.
    ///
    /// # Errors
    /// `NotFound` when the scope holds no such item.
    fn find(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<MediaItem, StoreError>>;

    /// An item with its bytes.
    ///
    /// # Errors
    /// As [`MediaStore::find`]; `Damaged` when the bytes are not those that were put.
    fn get(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>>;

    /// All items of a scope, oldest first, by reference where they are as old.
    fn items(&self, scope: MediaScope) -> BoxFuture<Result<Vec<MediaItem>, StoreError>>;

    /// Removes all items of a scope; gives their number.
    fn remove(&self, scope: MediaScope) -> BoxFuture<Result<usize, StoreError>>;

    /// Removes what was put before this time, of every session; gives its number.
    fn remove_older(&self, than: Timestamp) -> BoxFuture<Result<usize, StoreError>>;

    /// The folder with the files of a session's items, absolute, where there is one: the model may read
    /// it.
    fn folder(&self, session: &SessionId) -> Option<PathBuf> {
        let _ = session;
        None
    }

    /// What it takes.
    fn limits(&self) -> MediaLimits;
}

/// Whom an item belongs to: a session, and the chat of a channel where these are known.
///
/// ```
/// use heeler_core::{InputOrigin, MediaScope};
///
/// let session = MediaScope::session("s".parse()?);
/// let room = MediaScope::of("s".parse()?, &InputOrigin::chat("matrix", "room 5"));
/// assert!(session.holds(&room) && !room.holds(&session));
/// # Ok::<(), heeler_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaScope {
    /// The session.
    pub session: SessionId,
    /// The kind of surface or messenger.
    pub channel: Option<String>,
    /// The chat within the channel.
    pub chat: Option<String>,
}

impl MediaScope {
    /// All of a session.
    #[must_use]
    pub fn session(session: SessionId) -> Self {
        Self { session, channel: None, chat: None }
    }

    /// The part of a session that an input from here belongs to.
    #[must_use]
    pub fn of(session: SessionId, origin: &InputOrigin) -> Self {
        Self { session, channel: origin.channel.clone(), chat: origin.chat.clone() }
    }

    /// Whether `other` is this scope or a part of it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        let is_within =
            |own: &Option<String>, other: &Option<String>| own.is_none() || own == other;
        self.session == other.session
            && is_within(&self.channel, &other.channel)
            && is_within(&self.chat, &other.chat)
    }
}

/// What is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMedia {
    /// Such as `image/png`.
    pub media_type: String,
    /// What a person would call it; may be empty.
    pub name: String,
    /// Its bytes.
    pub bytes: Bytes,
    /// The time.
    pub at: Timestamp,
}

/// What is known of an item: enough to open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MediaItem {
    /// What it is called.
    pub reference: MediaReference,
    /// Such as `image/png`, as whoever put it says; `application/octet-stream` when that was no
    /// media type.
    pub media_type: String,
    /// What a person would call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// When it was first put.
    pub created: Timestamp,
    /// The file with its bytes, absolute, where the store has one for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

/// What a store takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaLimits {
    /// The most bytes of one item.
    pub item_bytes: u64,
    /// The most items of one session.
    pub session_items: usize,
    /// The most bytes of one session.
    pub session_bytes: u64,
    /// The most items in all.
    pub items: usize,
    /// The most bytes in all.
    pub bytes: u64,
    /// Milliseconds after which an item goes, when there is no room for a new one.
    pub kept_millis: u64,
}

impl Default for MediaLimits {
    /// 20 MiB an item; 1,000 and 256 MiB a session; 10,000 and 2 GiB in all; 30 days.
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            item_bytes: 20 * MIB,
            session_items: 1_000,
            session_bytes: 256 * MIB,
            items: 10_000,
            bytes: 2_048 * MIB,
            kept_millis: 30 * 24 * 60 * 60 * 1000,
        }
    }
}

/// The media of one call's scope.
#[derive(Clone)]
pub struct Media {
    store: Arc<dyn MediaStore>,
    scope: MediaScope,
    clock: Arc<dyn Clock>,
}

impl Media {
    /// The items of `scope` in `store`.
    pub fn new(store: Arc<dyn MediaStore>, scope: MediaScope, clock: Arc<dyn Clock>) -> Self {
        Self { store, scope, clock }
    }

    /// Keeps bytes; see [`MediaStore::put`].
    pub fn put(
        &self,
        media_type: impl Into<String>,
        name: impl Into<String>,
        bytes: impl Into<Bytes>,
    ) -> BoxFuture<Result<MediaItem, StoreError>> {
        let (media_type, name) = (media_type.into(), name.into());
        let media = NewMedia { media_type, name, bytes: bytes.into(), at: self.clock.now() };
        self.store.put(self.scope.clone(), media)
    }

    /// See [`MediaStore::find`].
    pub fn find(&self, reference: MediaReference) -> BoxFuture<Result<MediaItem, StoreError>> {
        self.store.find(self.scope.clone(), reference)
    }

    /// See [`MediaStore::get`].
    pub fn get(
        &self,
        reference: MediaReference,
    ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>> {
        self.store.get(self.scope.clone(), reference)
    }

    /// See [`MediaStore::items`].
    pub fn items(&self) -> BoxFuture<Result<Vec<MediaItem>, StoreError>> {
        self.store.items(self.scope.clone())
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::StoreErrorKind;

    /// Holds nothing, and says so with what it was asked.
    struct Empty;

    impl Empty {
        fn nothing<T: Send + 'static>(
            asked: &str,
            scope: &MediaScope,
        ) -> BoxFuture<Result<T, StoreError>> {
            let chat = scope.chat.as_deref().unwrap_or("all");
            let error = StoreError::new(StoreErrorKind::NotFound, format!("{asked} of {chat}"));
            Box::pin(std::future::ready(Err(error)))
        }
    }

    impl MediaStore for Empty {
        fn put(
            &self,
            scope: MediaScope,
            media: NewMedia,
        ) -> BoxFuture<Result<MediaItem, StoreError>> {
            let NewMedia { media_type, name, bytes, at } = media;
            Self::nothing(&format!("{name} {media_type} {bytes:?} {}", at.millis()), &scope)
        }

        fn find(
            &self,
            scope: MediaScope,
            reference: MediaReference,
        ) -> BoxFuture<Result<MediaItem, StoreError>> {
            Self::nothing(&format!("what is known of {reference}"), &scope)
        }

        fn get(
            &self,
            scope: MediaScope,
            reference: MediaReference,
        ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>> {
            Self::nothing(&format!("{reference}"), &scope)
        }

        fn items(&self, scope: MediaScope) -> BoxFuture<Result<Vec<MediaItem>, StoreError>> {
            Self::nothing("items", &scope)
        }

        fn remove(&self, scope: MediaScope) -> BoxFuture<Result<usize, StoreError>> {
            Self::nothing("removal", &scope)
        }

        fn remove_older(&self, _: Timestamp) -> BoxFuture<Result<usize, StoreError>> {
            Box::pin(std::future::ready(Ok(0)))
        }

        fn limits(&self) -> MediaLimits {
            MediaLimits::default()
        }
    }

    struct AtSeven;

    impl Clock for AtSeven {
        fn now(&self) -> Timestamp {
            Timestamp(7)
        }

        fn sleep_until(&self, _: Timestamp) -> BoxFuture<()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn a_call_keeps_and_finds_media_in_its_own_scope() {
        let scope = MediaScope::of("s".parse().unwrap(), &InputOrigin::chat("matrix", "room"));
        let media = Media::new(Arc::new(Empty), scope, Arc::new(AtSeven));
        fn told<T>(asked: BoxFuture<Result<T, StoreError>>) -> String {
            asked.now_or_never().unwrap().err().unwrap().to_string()
        }
        let chart = || "media://3f2a".parse().unwrap();
        assert_eq!(told(media.put("image/png", "chart", "x")), r#"chart image/png b"x" 7 of room"#);
        assert_eq!(told(media.find(chart())), "what is known of media://3f2a of room");
        assert_eq!(told(media.get(chart())), "media://3f2a of room");
        assert_eq!(told(media.items()), "items of room");
    }

    #[test]
    fn a_store_has_no_folder_unless_it_says_so() {
        assert_eq!(Empty.folder(&"s".parse().unwrap()), None);
    }

    #[test]
    fn a_scope_holds_itself_and_its_parts_alone() {
        let scope = |session: &str, channel: &str, chat: &str| {
            MediaScope::of(session.parse().unwrap(), &InputOrigin::chat(channel, chat))
        };
        let all = MediaScope::session("s".parse().unwrap());
        let (channel, chat) = (scope("s", "matrix", ""), scope("s", "matrix", "1"));
        for (outer, inner, holds) in [
            (&all, &all, true),
            (&all, &chat, true),
            (&channel, &chat, true),
            (&chat, &chat, true),
            (&chat, &channel, false),
            (&chat, &all, false),
            (&chat, &scope("s", "matrix", "2"), false),
            (&chat, &scope("s", "irc", "1"), false),
            (&all, &scope("t", "matrix", "1"), false),
        ] {
            assert_eq!(outer.holds(inner), holds, "{outer:?} {inner:?}");
        }
    }
}
