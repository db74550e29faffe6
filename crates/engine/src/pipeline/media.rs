//! Puts what no model can read aside, and says what is known of what is for the user.

use heeler_core::{Block, IfCut, Media, MediaItem, RawJson, StoreErrorKind, ToolOutput};
use heeler_images::Format;

use super::heavy::{Heavy, URL_CHARS_MIN, heavy};

/// The most items that are put aside of one text.
const TEXT_MEDIA_MAX: usize = 64;

/// Whether there may be something to put aside, or to find.
pub(super) fn concerns(output: &ToolOutput) -> bool {
    let texts = output.content.iter().filter_map(Block::as_text);
    !output.media.is_empty()
        || texts.chain([output.for_user.as_str()]).any(|text| text.len() >= URL_CHARS_MIN)
}

/// Puts data URLs and long base64 of its texts and its JSON into the store, a note in the place of each,
/// and finds what its references name. What the store does not take stays where it is, and so does the
/// JSON where a note would not be what was declared of it, by what `fits` says.
pub(super) async fn put_aside(
    output: &mut ToolOutput,
    media: &Media,
    fits: impl Fn(&RawJson) -> bool,
) {
    let mut is_shown_in_part = false;
    for block in &mut output.content {
        let lightened = match block.as_text() {
            Some(text) => lightened(text, media).await,
            None => None,
        };
        if let Some((text, _)) = lightened {
            *block = Block::text(text);
            is_shown_in_part = true;
        }
    }
    // What a note stands for was not shown as it is. That it is there was, so a review of it still counts.
    for change in output.state.iter_mut().filter(|_| is_shown_in_part) {
        if let IfCut::Becomes(value) = &change.if_cut {
            change.value = value.clone();
        }
    }
    if let Some((text, items)) = lightened(&output.for_user, media).await {
        output.for_user = text;
        let references = items.into_iter().map(|item| item.reference);
        let new: Vec<_> = references.filter(|one| !output.media.contains(one)).collect();
        output.media.extend(new);
    }
    // As text, so that what stays does so byte for byte; a note is JSON where base64 was.
    if let Some(json) = &output.structured
        && let Some((text, _)) = lightened(json.get(), media).await
        && let Ok(light) = RawJson::parse(&text)
        && fits(&light)
    {
        output.structured = Some(light);
    }
    find_items(output, media).await;
}

/// The text with notes, and what was put aside; `None` when it stays as it is.
async fn lightened(text: &str, media: &Media) -> Option<(String, Vec<MediaItem>)> {
    if text.len() < URL_CHARS_MIN {
        return None;
    }
    let (mut light, mut items, mut at) = (String::new(), Vec::new(), 0);
    for Heavy { range, media_type, bytes } in heavy(text, TEXT_MEDIA_MAX) {
        let media_type = media_type.unwrap_or_else(|| type_of(&bytes).to_owned());
        match media.put(media_type, "", bytes).await {
            Ok(item) => {
                light.push_str(&text[at..range.start]);
                light.push_str(&note(&item));
                at = range.end;
                items.push(item);
            }
            Err(error) => tracing::warn!(%error, "base64 of a result could not be put aside"),
        }
    }
    if items.is_empty() {
        return None;
    }
    light.push_str(&text[at..]);
    Some((light, items))
}

/// What stands in the place of an item, known by [`heeler_core::MediaReference::NOTE_START`]. It stays JSON
/// where it stands in a string of JSON.
fn note(item: &MediaItem) -> String {
    let is_plain = |path: &&str| !path.contains(['"', '\\', '\n', '\r', ']']);
    let path = item.path.as_deref().and_then(|path| path.to_str()).filter(is_plain);
    let place = path.map(|path| format!(" in {path}")).unwrap_or_default();
    let kind = item.media_type.replace(['"', '\\'], "");
    format!("[{} {kind} {}{place}]", item.reference, size(item.bytes))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

/// What bytes are by their beginning.
fn type_of(bytes: &[u8]) -> &'static str {
    if let Some(format) = Format::of(bytes) {
        return format.media_type();
    }
    match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => "application/pdf",
        [b'P', b'K', 3, 4, ..] => "application/zip",
        [0x1f, 0x8b, ..] => "application/gzip",
        [b'I', b'D', b'3', ..] => "audio/mpeg",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

/// Finds what the references name. One that names nothing here is left out, and the model told: the
/// user would be given nothing.
async fn find_items(output: &mut ToolOutput, media: &Media) {
    output.media_items.clear();
    for reference in std::mem::take(&mut output.media) {
        match media.find(reference.clone()).await {
            Ok(item) => output.media_items.push(item),
            Err(error) if error.kind() == StoreErrorKind::NotFound => {
                let text = format!("\n[{reference} is not kept here; the user was not given it]");
                output.content.push(Block::text(text));
                continue;
            }
            Err(error) => tracing::warn!(%error, %reference, "an item cannot be told of"),
        }
        output.media.push(reference);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use heeler_core::{
        BoxFuture, MediaLimits, MediaReference, MediaScope, MediaStore, NewMedia, StoreError,
        Timestamp,
    };

    use super::*;

    /// A store that fails like this whatever it is asked for.
    struct Fails(StoreErrorKind);

    impl Fails {
        fn now<T: Send + 'static>(&self) -> BoxFuture<Result<T, StoreError>> {
            Box::pin(std::future::ready(Err(StoreError::new(self.0, "no"))))
        }
    }

    impl MediaStore for Fails {
        fn put(&self, _: MediaScope, _: NewMedia) -> BoxFuture<Result<MediaItem, StoreError>> {
            self.now()
        }

        fn find(
            &self,
            _: MediaScope,
            _: MediaReference,
        ) -> BoxFuture<Result<MediaItem, StoreError>> {
            self.now()
        }

        fn get(
            &self,
            _: MediaScope,
            _: MediaReference,
        ) -> BoxFuture<Result<(MediaItem, Bytes), StoreError>> {
            self.now()
        }

        fn items(&self, _: MediaScope) -> BoxFuture<Result<Vec<MediaItem>, StoreError>> {
            self.now()
        }

        fn remove(&self, _: MediaScope) -> BoxFuture<Result<usize, StoreError>> {
            self.now()
        }

        fn remove_older(&self, _: Timestamp) -> BoxFuture<Result<usize, StoreError>> {
            self.now()
        }

        fn limits(&self) -> MediaLimits {
            MediaLimits::default()
        }
    }

    /// A reference that the store gives no item for is only given up where there surely is none.
    #[tokio::test]
    async fn a_store_that_fails_takes_nothing_from_the_user() {
        for (kind, is_kept) in [(StoreErrorKind::NotFound, false), (StoreErrorKind::Io, true)] {
            let scope = MediaScope { session: "a".parse().unwrap(), channel: None, chat: None };
            let media = Media::new(Arc::new(Fails(kind)), scope, Arc::new(crate::SystemClock));
            let mut output = ToolOutput::media("a", ["media://beef".parse().unwrap()]);
            find_items(&mut output, &media).await;
            let given = (output.media.len(), output.content.len(), output.media_items.len());
            assert_eq!(given, if is_kept { (1, 1, 0) } else { (0, 2, 0) }, "{kind:?}");
        }
    }

    #[test]
    fn short_texts_are_not_looked_into() {
        assert!(!concerns(&ToolOutput::text("a".repeat(URL_CHARS_MIN - 1))));
        assert!(concerns(&ToolOutput::text("a".repeat(URL_CHARS_MIN))));
        assert!(concerns(&ToolOutput::user("a".repeat(URL_CHARS_MIN))));
        assert!(concerns(&ToolOutput::media("a", ["media://a".parse().unwrap()])));
    }

    #[test]
    fn bytes_are_what_they_begin_with() {
        let check = |bytes: &[u8], expected: &str| assert_eq!(type_of(bytes), expected);
        check(b"%PDF-1.7\n\xff", "application/pdf");
        check(b"PK\x03\x04\xff", "application/zip");
        check(b"\x1f\x8b\x08", "application/gzip");
        check(b"ID3\x04\xff", "audio/mpeg");
        check(b"OggS\xff", "audio/ogg");
        check(b"RIFF\xff\xff\xff\xffWAVEfmt ", "audio/wav");
        check(b"\0\0\0\x18ftypmp42\xff", "video/mp4");
        check(b"\x89PNG\r\n\x1a\n", "image/png");
        check("Grüße".as_bytes(), "text/plain");
        check(b"\xff\xff", "application/octet-stream");
    }

    #[test]
    fn a_note_says_where_it_is_unless_that_is_no_plain_text() {
        let told = |path: Option<&str>| {
            note(&MediaItem {
                reference: "media://a".parse().unwrap(),
                media_type: "image/png".into(),
                name: String::new(),
                bytes: 12,
                created: heeler_core::Timestamp(0),
                path: path.map(Into::into),
            })
        };
        assert_eq!(
            told(Some("/home/user/a.png")),
            "[media://a image/png 12 B in /home/user/a.png]"
        );
        for path in [
            None,
            Some("/home/user/\"a\".png"),
            Some("/home/user/[a].png"),
            Some("/home/user/a\n.png"),
        ] {
            assert_eq!(told(path), "[media://a image/png 12 B]", "{path:?}");
            assert!(told(path).starts_with(MediaReference::NOTE_START), "tools know it by that");
        }
    }

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        let sizes = [0, 999, 1_000, 999_999, 1_000_000, 12_345_678];
        assert_eq!(sizes.map(size), ["0 B", "999 B", "1 kB", "999 kB", "1.0 MB", "12.3 MB"]);
    }
}
