//! What both media stores share, and the one in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use heeler_core::{
    BoxFuture, MediaItem, MediaLimits, MediaReference, MediaScope, MediaStore, NewMedia, SessionId,
    StoreError, StoreErrorKind, Timestamp,
};
use sha2::{Digest, Sha256};

use crate::on_first_poll;

/// How many bytes of a hash make a reference.
const REFERENCE_BYTES: usize = 16;
/// The longest media type and name; what is longer is left out.
const NAME_BYTES_MAX: usize = 255;
/// The type of what is of no known type.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// The item that these bytes are, for those who keep it without a file.
pub(crate) fn item_of(
    scope: &MediaScope,
    media: NewMedia,
) -> Result<(MediaItem, Bytes), StoreError> {
    let NewMedia { media_type, name, bytes, at } = media;
    let media_type = match is_media_type(&media_type) {
        true => media_type.to_ascii_lowercase(),
        false => UNKNOWN_TYPE.to_owned(),
    };
    let is_name = name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    let name = if is_name { name } else { String::new() };
    let reference = reference_of(scope, &media_type, &name, &bytes)?;
    let item = MediaItem {
        reference,
        media_type,
        name,
        bytes: bytes.len() as u64,
        created: at,
        path: None,
    };
    Ok((item, bytes))
}

/// What the bytes and all that is said of them are called, so that nothing of it can change unnoticed.
pub(crate) fn reference_of(
    scope: &MediaScope,
    media_type: &str,
    name: &str,
    bytes: &[u8],
) -> Result<MediaReference, StoreError> {
    let known = |part: &Option<String>| part.as_ref().map_or(0, |part| part.len() as u64 + 1);
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let mut hash = Sha256::new();
    for (length, part) in [
        (known(&scope.channel), text(&scope.channel).as_bytes()),
        (known(&scope.chat), text(&scope.chat).as_bytes()),
        (media_type.len() as u64, media_type.as_bytes()),
        (name.len() as u64, name.as_bytes()),
        (bytes.len() as u64, bytes),
    ] {
        hash.update(length.to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let id: String = hash.iter().take(REFERENCE_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("media://{id}")
        .parse()
        .map_err(|error| StoreError::new(StoreErrorKind::Io, format!("{error}")))
}

/// `type/subtype`, with or without parameters.
fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let kind = text.split(';').next().unwrap_or_default();
    text.len() <= NAME_BYTES_MAX
        && text.bytes().all(|b| (b' '..=b'~').contains(&b))
        && kind.split_once('/').is_some_and(|(main, sub)| is_token(main) && is_token(sub))
}

/// What a store holds, as far as limits are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) items: usize,
    pub(crate) bytes: u64,
}

impl Held {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.items += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn has_room(self, items_max: usize, bytes_max: u64, bytes: u64) -> bool {
        self.items < items_max && self.bytes.saturating_add(bytes) <= bytes_max
    }
}

/// Why an item of so many bytes cannot come beside what its session and the store hold.
pub(crate) fn no_room(
    limits: &MediaLimits,
    session: &SessionId,
    (of_session, in_all): (Held, Held),
    bytes: u64,
) -> Option<StoreError> {
    let full = |what: String| Some(StoreError::new(StoreErrorKind::Full, what));
    if bytes > limits.item_bytes {
        return full(format!(
            "{bytes} bytes are too many for one item; the most are {}",
            limits.item_bytes
        ));
    }
    if !of_session.has_room(limits.session_items, limits.session_bytes, bytes) {
        return full(format!(
            "session {session} holds {} items of {} bytes, and may hold {} of {}; begin another \
             session, or keep less",
            of_session.items, of_session.bytes, limits.session_items, limits.session_bytes
        ));
    }
    if !in_all.has_room(limits.items, limits.bytes, bytes) {
        return full(format!(
            "all sessions hold {} items of {} bytes, and may hold {} of {}; remove sessions that \
             are not needed with `heeler sessions delete`",
            in_all.items, in_all.bytes, limits.items, limits.bytes
        ));
    }
    None
}

pub(crate) fn no_item(reference: &MediaReference, session: &SessionId) -> StoreError {
    let message = format!(
        "session {session} has no {reference} (here); it may be of another chat, or removed since"
    );
    StoreError::new(StoreErrorKind::NotFound, message)
}

/// Oldest first, in an order of their own.
pub(crate) fn sorted(mut items: Vec<MediaItem>) -> Vec<MediaItem> {
    heeler_core::sort_by(&mut items, |a, b| {
        (a.created, &a.reference).cmp(&(b.created, &b.reference))
    });
    items
}

/// Keeps media in memory, gone with the process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryMedia {
    limits: MediaLimits,
    kept: Arc<Mutex<Kept>>,
}

type Kept = BTreeMap<(SessionId, MediaReference), (MediaScope, MediaItem, Bytes)>;

impl MemoryMedia {
    /// An empty store that takes so much.
    #[must_use]
    pub fn new(limits: MediaLimits) -> Self {
        Self { limits, kept: Arc::default() }
    }

    /// An item of any scope: whoever holds the store owns all of it.
    #[must_use]
    pub fn open(&self, reference: &MediaReference) -> Option<(MediaItem, Bytes)> {
        let kept = self.kept();
        let (_, item, bytes) = kept.iter().find(|((_, of), _)| of == reference)?.1;
        Some((item.clone(), bytes.clone()))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every change is made in one step, so a panic leaves nothing half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_now(&self, scope: MediaScope, media: NewMedia) -> Result<MediaItem, StoreError> {
        let at = media.at;
        let (item, bytes) = item_of(&scope, media)?;
        let key = (scope.session.clone(), item.reference.clone());
        let mut kept = self.kept();
        if let Some((_, there, _)) = kept.get(&key) {
            return Ok(there.clone());
        }
        let no_room = |kept: &Kept| {
            let mut held = (Held::default(), Held::default());
            for ((session, _), (_, item, _)) in kept {
                held.1.add(item.bytes);
                if *session == scope.session {
                    held.0.add(item.bytes);
                }
            }
            no_room(&self.limits, &scope.session, held, item.bytes)
        };
        if no_room(&kept).is_some() {
            remove_older(&mut kept, Timestamp(at.0.saturating_sub(self.limits.kept_millis)));
        }
        if let Some(error) = no_room(&kept) {
            return Err(error);
        }
        kept.insert(key, (scope, item.clone(), bytes));
        Ok(item)
    }

    fn get_now(
        &self,
        scope: &MediaScope,
        reference: &MediaReference,
    ) -> Result<(MediaItem, Bytes), StoreError> {
        let kept = self.kept();
        let found = kept.get(&(scope.session.clone(), reference.clone()));
        let found = found.filter(|(of, ..)| scope.holds(of));
        let (_, item, bytes) = found.ok_or_else(|| no_item(reference, &scope.session))?;
        Ok((item.clone(), bytes.clone()))
    }
}

impl MediaStore for MemoryMedia {
    fn put(&self, scope: MediaScope, media: NewMedia) -> BoxFuture<Result<MediaItem, StoreError>> {
        let this = self.clone();
        on_first_poll(move || this.put_now(scope, media))
    }

    fn find(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<MediaItem, StoreError>> {
        let this = self.clone();
        on_first_poll(move || Ok(this.get_now(&scope, &reference)?.0))
    }

    fn get(
        &self,
        scope: MediaScope,
        reference: MediaReference,
    ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>> {
        let this = self.clone();
        on_first_poll(move || this.get_now(&scope, &reference))
    }

    fn items(&self, scope: MediaScope) -> BoxFuture<Result<Vec<MediaItem>, StoreError>> {
        let this = self.clone();
        on_first_poll(move || {
            let kept = this.kept();
            let items = kept.values().filter(|(of, ..)| scope.holds(of));
            Ok(sorted(items.map(|(_, item, _)| item.clone()).collect()))
        })
    }

    fn remove(&self, scope: MediaScope) -> BoxFuture<Result<usize, StoreError>> {
        let this = self.clone();
        on_first_poll(move || Ok(retain(&mut this.kept(), |of, _| !scope.holds(of))))
    }

    fn remove_older(&self, than: Timestamp) -> BoxFuture<Result<usize, StoreError>> {
        let this = self.clone();
        on_first_poll(move || Ok(remove_older(&mut this.kept(), than)))
    }

    fn limits(&self) -> MediaLimits {
        self.limits
    }
}

fn remove_older(kept: &mut Kept, than: Timestamp) -> usize {
    retain(kept, |_, item| item.created >= than)
}

/// Keeps what is to be kept, and tells how many went.
fn retain(kept: &mut Kept, is_kept: impl Fn(&MediaScope, &MediaItem) -> bool) -> usize {
    let before = kept.len();
    kept.retain(|_, (scope, item, _)| is_kept(scope, item));
    before - kept.len()
}
