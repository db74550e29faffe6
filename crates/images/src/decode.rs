//! A file's header, the picture in it, and that picture smaller and upright.

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::error::{DecodingError, ImageFormatHint};
use image::imageops::{flip_horizontal, flip_vertical, rotate90, rotate180, rotate270, thumbnail};
use image::metadata::Orientation;
use image::{
    ColorType, ImageBuffer, ImageDecoder, ImageError, ImageResult, Limits, Pixel, RgbImage,
    RgbaImage,
};

use crate::{Format, PIXELS_MAX};

/// The most bytes a decoder takes for the picture and its own work: eight a pixel, for sixteen bits
/// a channel.
const DECODER_BYTES_MAX: u64 = 2 * 8 * PIXELS_MAX;

/// An image of which only the header was read.
pub(crate) struct Header<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
}

/// A decoded picture.
pub(crate) struct Picture {
    pub(crate) pixels: Pixels,
    orientation: Orientation,
}

/// Eight bits a channel; gray is color here.
pub(crate) enum Pixels {
    Rgb(RgbImage),
    Rgba(RgbaImage),
}

impl<'a> Header<'a> {
    pub(crate) fn read(format: Format, bytes: &'a [u8]) -> ImageResult<Self> {
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(DECODER_BYTES_MAX);
        let file = Cursor::new(bytes);
        let decoder: Box<dyn ImageDecoder + 'a> = match format {
            Format::Png => Box::new(PngDecoder::with_limits(file, limits)?),
            Format::Jpeg => Box::new(JpegDecoder::new(file)?),
            Format::Gif => Box::new(GifDecoder::new(file)?),
            Format::Webp => Box::new(WebPDecoder::new(file)?),
        };
        Ok(Self { decoder })
    }

    pub(crate) fn size(&self) -> (u32, u32) {
        self.decoder.dimensions()
    }

    /// Decodes the picture; its size was found bearable.
    pub(crate) fn decode(mut self) -> ImageResult<Picture> {
        let (size, color) = (self.decoder.dimensions(), self.decoder.color_type());
        // What cannot be read of how it was held is no reason not to look at it.
        let orientation = self.decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(DECODER_BYTES_MAX);
        self.decoder.set_limits(limits)?;
        let bytes = usize::try_from(self.decoder.total_bytes()).unwrap_or(usize::MAX);
        let mut samples = vec![0; bytes];
        self.decoder.read_image_boxed(&mut samples)?;
        Ok(Picture { pixels: Pixels::of(size, color, samples)?, orientation })
    }
}

impl Pixels {
    fn of((width, height): (u32, u32), color: ColorType, samples: Vec<u8>) -> ImageResult<Self> {
        let (is_wide, has_alpha, channels) = match color {
            ColorType::L8 => (false, false, 1),
            ColorType::La8 => (false, true, 2),
            ColorType::Rgb8 => (false, false, 3),
            ColorType::Rgba8 => (false, true, 4),
            ColorType::L16 => (true, false, 1),
            ColorType::La16 => (true, true, 2),
            ColorType::Rgb16 => (true, false, 3),
            ColorType::Rgba16 => (true, true, 4),
            other => return Err(unusable(format!("its colors are {other:?}"))),
        };
        let samples = if is_wide { eight_bits(&samples) } else { samples };
        let samples = match channels {
            1 => samples.iter().flat_map(|gray| [*gray; 3]).collect(),
            2 => samples.chunks_exact(2).flat_map(|la| [la[0], la[0], la[0], la[1]]).collect(),
            _ => samples,
        };
        let pixels = match has_alpha {
            false => RgbImage::from_raw(width, height, samples).map(Self::Rgb),
            true => RgbaImage::from_raw(width, height, samples).map(Self::Rgba),
        };
        pixels.ok_or_else(|| unusable("it ends too early".to_owned()))
    }

    fn size(&self) -> (u32, u32) {
        match self {
            Self::Rgb(image) => image.dimensions(),
            Self::Rgba(image) => image.dimensions(),
        }
    }
}

impl Picture {
    /// Pixels across and down.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.pixels.size()
    }

    /// The picture with no side longer than this, in its proportions.
    pub(crate) fn shrunk(self, side_max: u32) -> Self {
        let (width, height) = self.size();
        let longest = width.max(height);
        if longest <= side_max {
            return self;
        }
        let side = |side: u32| {
            let shrunk = u64::from(side) * u64::from(side_max) / u64::from(longest);
            u32::try_from(shrunk).unwrap_or(side_max).max(1)
        };
        let (width, height) = (side(width), side(height));
        let pixels = match &self.pixels {
            Pixels::Rgb(image) => Pixels::Rgb(thumbnail(image, width, height)),
            Pixels::Rgba(image) => Pixels::Rgba(thumbnail(image, width, height)),
        };
        Self { pixels, ..self }
    }

    /// The picture as it was meant to be held.
    pub(crate) fn upright(self) -> Self {
        let pixels = match self.pixels {
            Pixels::Rgb(image) => Pixels::Rgb(turned(image, self.orientation)),
            Pixels::Rgba(image) => Pixels::Rgba(turned(image, self.orientation)),
        };
        Self { pixels, orientation: Orientation::NoTransforms }
    }
}

type Buffer<P> = ImageBuffer<P, Vec<<P as Pixel>::Subpixel>>;

fn turned<P: Pixel + 'static>(image: Buffer<P>, orientation: Orientation) -> Buffer<P> {
    match orientation {
        Orientation::NoTransforms => image,
        Orientation::Rotate90 => rotate90(&image),
        Orientation::Rotate180 => rotate180(&image),
        Orientation::Rotate270 => rotate270(&image),
        Orientation::FlipHorizontal => flip_horizontal(&image),
        Orientation::FlipVertical => flip_vertical(&image),
        Orientation::Rotate90FlipH => flip_horizontal(&rotate90(&image)),
        Orientation::Rotate270FlipH => flip_horizontal(&rotate270(&image)),
    }
}

/// The high bytes of samples in the machine's own order.
fn eight_bits(samples: &[u8]) -> Vec<u8> {
    let high = |pair: &[u8]| (u16::from_ne_bytes([pair[0], pair[1]]) >> 8).to_le_bytes()[0];
    samples.chunks_exact(2).map(high).collect()
}

/// Why a picture that was decoded is none, in words of ours.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(String);

fn unusable(reason: String) -> ImageError {
    ImageError::Decoding(DecodingError::new(ImageFormatHint::Unknown, Unusable(reason)))
}
