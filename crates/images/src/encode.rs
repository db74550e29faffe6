//! A picture as a file: exact where that is small, else as JPEG.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageResult};

use crate::Format;
use crate::decode::{Picture, Pixels};

/// The most bytes of a PNG that is made: screenshots and drawings take less, photographs take a
/// multiple of their JPEG. Every request carries every image again.
const PNG_BYTES_MAX: usize = 1024 * 1024;

/// The quality of a JPEG that is made, of 100. Of noise, the worst there is, 1568 x 1568 pixels take
/// less than the providers' limit.
const JPEG_QUALITY: u8 = 85;

/// The file of a picture that came in this format.
pub(crate) fn encode(from: Format, picture: &Picture) -> ImageResult<(Format, Vec<u8>)> {
    if from != Format::Jpeg {
        let png = png(picture)?;
        if png.len() <= PNG_BYTES_MAX {
            return Ok((Format::Png, png));
        }
    }
    Ok((Format::Jpeg, jpeg(picture)?))
}

fn png(picture: &Picture) -> ImageResult<Vec<u8>> {
    let (width, height) = picture.size();
    let (samples, color) = match &picture.pixels {
        Pixels::Rgb(image) => (image.as_raw(), ExtendedColorType::Rgb8),
        Pixels::Rgba(image) => (image.as_raw(), ExtendedColorType::Rgba8),
    };
    let mut file = Vec::new();
    PngEncoder::new_with_quality(&mut file, CompressionType::Default, FilterType::Adaptive)
        .write_image(samples, width, height, color)?;
    Ok(file)
}

fn jpeg(picture: &Picture) -> ImageResult<Vec<u8>> {
    let (width, height) = picture.size();
    let flat;
    let samples = match &picture.pixels {
        Pixels::Rgb(image) => image.as_raw(),
        Pixels::Rgba(image) => {
            flat = on_white(image.as_raw());
            &flat
        }
    };
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY).write_image(
        samples,
        width,
        height,
        ExtendedColorType::Rgb8,
    )?;
    Ok(file)
}

/// JPEG knows nothing of transparency.
fn on_white(samples: &[u8]) -> Vec<u8> {
    let blend = |pixel: &[u8]| {
        let alpha = u32::from(pixel[3]);
        let over = |sample: u8| {
            let sum = u32::from(sample) * alpha + 255 * (255 - alpha);
            (sum / 255).to_le_bytes()[0]
        };
        [over(pixel[0]), over(pixel[1]), over(pixel[2])]
    };
    samples.chunks_exact(4).flat_map(blend).collect()
}
