//! The door for images: what enters a session is one that providers take, or a note that says why
//! not. A request that is refused for an image would be refused again with every later one.

use std::sync::Arc;

use heeler_core::{Block, Image, Message};
use heeler_images::{INPUT_BYTES_MAX, Refusal, ready};
use tokio::sync::Semaphore;

/// The most images of one result.
pub(crate) const RESULT_IMAGES_MAX: usize = 20;
/// The most images of one message: no provider takes more in a whole request.
const MESSAGE_IMAGES_MAX: usize = 100;
/// The most bytes of all images of one message or result, as base64.
const IMAGE_BYTES_MAX: usize = 24 * 1024 * 1024;

/// Lets images in, one at a time: each may take hundreds of megabytes while it is decoded. Clones
/// are the same door.
#[derive(Debug, Clone)]
pub struct ImageDoor(Arc<Semaphore>);

/// What is still let in, and what was not.
struct Passage {
    images_left: usize,
    bytes_left: usize,
    left_out: usize,
    notes: Vec<String>,
}

impl Default for ImageDoor {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl ImageDoor {
    /// Makes every image of these messages one that providers take, or a note in its place. Those
    /// given by an address stay as they are. For messages that are handed to a session from outside;
    /// it does the same itself with inputs and results. Gives each note it left there, with the index
    /// of its message.
    #[must_use = "whoever gave the images has to hear which of them nobody will see"]
    pub async fn admit_messages(&self, messages: &mut [Message]) -> Vec<(usize, String)> {
        let mut notes = Vec::new();
        for (i, message) in messages.iter_mut().enumerate() {
            let left = self.admit(&mut message.blocks, MESSAGE_IMAGES_MAX).await;
            notes.extend(left.into_iter().map(|note| (i, note)));
        }
        notes
    }

    /// The same with an input; gives the notes it left there.
    pub(crate) async fn admit_input(&self, blocks: &mut Vec<Block>) -> Vec<String> {
        self.admit(blocks, MESSAGE_IMAGES_MAX).await
    }

    /// The same with so many images at most.
    pub(crate) async fn admit(&self, blocks: &mut Vec<Block>, images_max: usize) -> Vec<String> {
        let (images_left, bytes_left) = (images_max, IMAGE_BYTES_MAX);
        let mut passage = Passage { images_left, bytes_left, left_out: 0, notes: Vec::new() };
        if blocks.iter().any(concerns) {
            self.pass(blocks, &mut passage).await;
        }
        if passage.left_out > 0 {
            let note = format!("[{} more images left out]", passage.left_out);
            blocks.push(Block::text(note.clone()));
            passage.notes.push(note);
        }
        passage.notes
    }

    async fn pass(&self, blocks: &mut Vec<Block>, passage: &mut Passage) {
        for block in std::mem::take(blocks) {
            let block = match block {
                Block::Image(_) if passage.images_left == 0 => {
                    passage.left_out += 1;
                    continue;
                }
                Block::Image(image) => {
                    passage.images_left -= 1;
                    match self.ready(image).await {
                        Ok(image) if passage.bytes_left < image.data.len() => {
                            passage.left_out += 1;
                            continue;
                        }
                        Ok(image) => {
                            passage.bytes_left -= image.data.len();
                            Block::Image(image)
                        }
                        Err(note) => {
                            passage.notes.push(note.clone());
                            Block::text(note)
                        }
                    }
                }
                Block::ToolResult(mut result) => {
                    Box::pin(self.pass(&mut Arc::make_mut(&mut result).content, passage)).await;
                    Block::ToolResult(result)
                }
                other => other,
            };
            blocks.push(block);
        }
    }

    /// The image as providers take it, or a note.
    async fn ready(&self, image: Arc<Image>) -> Result<Arc<Image>, String> {
        if !image.has_bytes() {
            return Ok(image);
        }
        let too_long = |bytes: usize| Err(note(&Refusal::TooManyBytes(bytes).to_string()));
        // Before it is copied: base64 has four characters for three bytes.
        if INPUT_BYTES_MAX < image.data.len() / 4 * 3 {
            return too_long(image.data.len() / 4 * 3);
        }
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let work = move || {
            // It is held to the end, whoever still wants to know.
            let _permit = permit;
            made_ready(&image)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(note("the session ends")))
    }
}

/// Whether there is something to do about the block.
fn concerns(block: &Block) -> bool {
    match block {
        Block::Image(_) => true,
        Block::ToolResult(result) => result.content.iter().any(concerns),
        _ => false,
    }
}

/// Whether an input has to be looked at before it is written.
pub(crate) fn has_images(blocks: &[Block]) -> bool {
    blocks.iter().any(concerns)
}

fn made_ready(image: &Image) -> Result<Arc<Image>, String> {
    let Some(bytes) = image.bytes() else { return Err(note("its data is no base64")) };
    let ready = ready(&bytes).map_err(|refusal| note(&refusal.to_string()))?;
    let made = Image::from_bytes(ready.format.media_type(), &ready.bytes);
    Ok(Arc::new(Image { cache: image.cache, ..made }))
}

fn note(why: &str) -> String {
    format!("[image left out: {why}]")
}
