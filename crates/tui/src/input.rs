//! What was written, as an input: images are read from where they are.

use std::io;
use std::path::Path;

use heeler_core::{Block, Image, Input};

use crate::composer::{Attachment, ImageSource, Submission};

/// The largest image that is read; what is larger no provider takes, however it is scaled.
pub const IMAGE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The input.
///
/// # Errors
/// When an image cannot be read; says which.
pub(crate) async fn of(submission: Submission) -> Result<Input, String> {
    let mut input = Input::text(submission.text);
    if !submission.images.is_empty() {
        let images = submission.images;
        let read = move || images.iter().map(image).collect::<Result<Vec<_>, _>>();
        let read = tokio::task::spawn_blocking(read).await;
        let images = read.map_err(|_| "reading the images broke off".to_owned())??;
        input.blocks.extend(images.into_iter().map(Block::from));
    }
    Ok(input)
}

fn image(attachment: &Attachment) -> Result<Image, String> {
    let refused = |why: String| format!("{}: {why}; nothing was sent", attachment.name);
    match &attachment.source {
        ImageSource::Path(path) => {
            let size = std::fs::metadata(path).map_err(|error| refused(error.to_string()))?.len();
            if size > IMAGE_BYTES_MAX {
                return Err(refused(format!("{size} bytes are more than {IMAGE_BYTES_MAX}")));
            }
            let bytes = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
            Ok(Image::from_bytes(media_type(&bytes), &bytes))
        }
        ImageSource::Bytes(bytes) => Ok(Image::from_bytes(media_type(bytes), bytes)),
    }
}

/// The largest file whose change is shown in its place.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// The text of a file, if it is one of a usual size.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= TEXT_BYTES_MAX).then_some(())?;
    std::fs::read_to_string(path).ok()
}

/// What the first bytes say; the engine looks at all of them before an image enters a history.
fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [b'G', b'I', b'F', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        _ => "application/octet-stream",
    }
}

/// Stops this process, as a terminal does at Ctrl-Z, until it is told to go on: with all that were
/// started with it, since a shell waits for a script that goes on.
pub(crate) fn suspend() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    Ok(kill_current_process_group(Signal::TSTP)?)
}
