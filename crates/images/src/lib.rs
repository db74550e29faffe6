//! Makes any image one that model providers take, or says why it cannot be one.
//!
//! What comes out is a PNG or a JPEG of [`SIDE_MAX`] pixels and [`BYTES_MAX`] bytes at most, upright,
//! that holds a picture and nothing else: no place it was taken at, no thumbnail, no second frame.
//! A PNG or JPEG that is so already passes as the bytes it came in, once it was decoded without an
//! error; everything else is encoded anew. What was made here passes unchanged the next time.
//!
//! The size is read from the header and bounded before anything is decoded: a file of a few bytes may
//! claim a picture of gigabytes. It is work for a processor, so an async caller has it done on a
//! thread for such work.
//!
//! Invariant: no I/O; any bytes give an answer, and the same bytes the same answer.

mod decode;
mod encode;
mod format;
mod plain;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::error::Error;
use std::panic::catch_unwind;

use image::ImageError;

pub use format::Format;

/// The longest side of what comes out, in pixels. Anthropic scales down what is longer, which costs
/// time and shows no more; it refuses more than 8000, or 2000 where a request has many images. OpenAI
/// scales to 2048.
pub const SIDE_MAX: u32 = 1568;

/// The most bytes of what comes out: 5 MB as base64, the lowest of the providers' documented limits.
pub const BYTES_MAX: usize = 3_932_160;

/// The most bytes of an image that is looked at.
pub const INPUT_BYTES_MAX: usize = 20 * 1024 * 1024;

/// The most pixels of an image that is decoded: a screenshot of 8K has 33 million. A progressive
/// JPEG takes some ten bytes a pixel while it is decoded.
pub const PIXELS_MAX: u64 = 40_000_000;

/// An image that providers take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready<'a> {
    /// PNG or JPEG.
    pub format: Format,
    /// The file; borrowed when it passed as it was.
    pub bytes: Cow<'a, [u8]>,
    /// Pixels across and down.
    pub size: (u32, u32),
}

/// Why there is no image, in words for a model or a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its first bytes are those of no format that is read here.
    #[error("it is no PNG, JPEG, GIF or WebP; convert it to PNG first")]
    Unknown,
    /// The file is too large to be looked at.
    #[error("it has {0} bytes; at most {INPUT_BYTES_MAX} are read, so make a smaller copy first")]
    TooManyBytes(usize),
    /// The picture is too large to be decoded.
    #[error(
        "it is {0} x {1} pixels; at most {PIXELS_MAX} pixels are decoded, so make a smaller copy \
         first"
    )]
    TooManyPixels(u32, u32),
    /// It cannot be decoded.
    #[error("it cannot be decoded as {0} ({1}); make it again or convert it to PNG")]
    Broken(Format, String),
}

/// Makes these bytes an image that providers take.
///
/// # Errors
/// When they are none that can be read within the bounds.
pub fn ready(bytes: &[u8]) -> Result<Ready<'_>, Refusal> {
    let format = Format::of(bytes).ok_or(Refusal::Unknown)?;
    if INPUT_BYTES_MAX < bytes.len() {
        return Err(Refusal::TooManyBytes(bytes.len()));
    }
    // Decoders promise not to panic, and are fed what anybody made.
    catch_unwind(|| decoded(format, bytes))
        .unwrap_or_else(|_| Err(Refusal::Broken(format, "its decoder crashed".to_owned())))
}

fn decoded(format: Format, bytes: &[u8]) -> Result<Ready<'_>, Refusal> {
    let broken = |error: ImageError| Refusal::Broken(format, reason(&error));
    let header = decode::Header::read(format, bytes).map_err(broken)?;
    let (width, height) = header.size();
    if PIXELS_MAX < u64::from(width) * u64::from(height) {
        return Err(Refusal::TooManyPixels(width, height));
    }
    let picture = header.decode().map_err(broken)?;
    let fits = bytes.len() <= BYTES_MAX && width.max(height) <= SIDE_MAX;
    if fits && plain::is_plain(format, bytes) {
        return Ok(Ready { format, bytes: bytes.into(), size: (width, height) });
    }
    let picture = picture.shrunk(SIDE_MAX).upright();
    let (format, bytes) = encode::encode(format, &picture).map_err(broken)?;
    Ok(Ready { format, bytes: bytes.into(), size: picture.size() })
}

/// What is wrong, in words of ours: a decoder's own are for whoever mends it, and may hold anything.
fn reason(error: &ImageError) -> String {
    let mut source = Some(error as &(dyn Error + 'static));
    while let Some(cause) = source {
        if let Some(unusable) = cause.downcast_ref::<decode::Unusable>() {
            return unusable.to_string();
        }
        source = cause.source();
    }
    match error {
        ImageError::Limits(_) => "it takes too much memory".to_owned(),
        ImageError::Unsupported(_) => "it is of a kind that is not read here".to_owned(),
        _ => "its data is damaged or not all there".to_owned(),
    }
}
