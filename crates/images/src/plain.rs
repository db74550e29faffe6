//! Whether a file holds its picture and nothing else, as its parts say, without decoding it.
//!
//! Parts are allowed by name: whatever somebody invents to carry more is not on the list.

use crate::Format;

/// The parts of a PNG that say how it looks.
const PNG_CHUNKS: [&[u8; 4]; 11] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"bKGD",
    b"pHYs",
];

/// What stands before the chunks of a PNG.
const PNG_SIGNATURE_BYTES: usize = 8;
/// The size of a chunk's length, name and checksum.
const PNG_CHUNK_BYTES: usize = 12;

/// Whether the file holds only a picture of one frame. What was not plain before may be so after it
/// is encoded anew.
pub(crate) fn is_plain(format: Format, bytes: &[u8]) -> bool {
    match format {
        Format::Png => is_plain_png(bytes).is_some(),
        Format::Jpeg => is_plain_jpeg(bytes).is_some(),
        // Not every server that speaks a provider's language reads them.
        Format::Gif | Format::Webp => false,
    }
}

fn is_plain_png(bytes: &[u8]) -> Option<()> {
    let mut rest = bytes.get(PNG_SIGNATURE_BYTES..)?;
    loop {
        let (length, name) = (rest.first_chunk::<4>()?, rest.get(4..8)?);
        if !PNG_CHUNKS.iter().any(|known| name == *known) {
            return None;
        }
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        rest = rest.get(length.checked_add(PNG_CHUNK_BYTES)?..)?;
        if name == b"IEND" {
            return rest.is_empty().then_some(());
        }
    }
}

fn is_plain_jpeg(bytes: &[u8]) -> Option<()> {
    let mut rest = bytes.get(2..)?;
    loop {
        let [0xff, marker, ..] = *rest else { return None };
        if marker == 0xd9 {
            return (rest.len() == 2).then_some(());
        }
        let length = usize::from(u16::from_be_bytes([*rest.get(2)?, *rest.get(3)?]));
        let segment = rest.get(4..length.checked_add(2)?)?;
        match marker {
            // Tables, restarts, the JFIF header without a thumbnail, how the colors are to be read.
            0xc4 | 0xdb | 0xdd | 0xda => {}
            0xe0 if segment.len() == 14 && segment.starts_with(b"JFIF\0") => {}
            0xee if segment.len() == 12 && segment.starts_with(b"Adobe") => {}
            // Frames of eight bits, gray or in color, as every decoder reads them.
            0xc0..=0xc2 if segment.first() == Some(&8) && matches!(segment.get(5), Some(1 | 3)) => {
            }
            _ => return None,
        }
        rest = rest.get(length + 2..)?;
        if marker == 0xda {
            rest = &rest[scan_bytes(rest)?..];
        }
    }
}

/// The length of a scan's data, in which `ff` is no marker before `00` and restarts.
fn scan_bytes(data: &[u8]) -> Option<usize> {
    data.windows(2).position(|pair| pair[0] == 0xff && !matches!(pair[1], 0 | 0xd0..=0xd7))
}
