//! Real images of any size, written without an encoder.

use heeler_core::Image;

/// The most bytes of one stored block of a zlib stream.
const STORED_BYTES_MAX: usize = 65_535;

/// The bytes of a gray PNG of this size. Nothing in it is compressed, so it has a little more than
/// one byte a pixel.
#[must_use]
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    // Before each row stands how it is filtered: not at all.
    let row = [vec![0], vec![0x80; width as usize]].concat();
    let rows = row.repeat(height as usize);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", stored(&rows)), (b"IEND", Vec::new())] {
        let named = [&name[..], &data].concat();
        file.extend(length(&data).to_be_bytes());
        file.extend(&named);
        file.extend(checksum(&named).to_be_bytes());
    }
    file
}

/// The smallest image there is: one gray pixel.
#[must_use]
pub fn pixel() -> Image {
    Image::from_bytes("image/png", &png(1, 1))
}

fn length(data: &[u8]) -> u32 {
    u32::try_from(data.len()).unwrap_or(u32::MAX)
}

/// A zlib stream of blocks that are not compressed.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(STORED_BYTES_MAX).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in data {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

/// CRC-32, as PNG has it.
fn checksum(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}
