//! Files made by the encoders, as they come and with what files carry beside a picture.

use expect_test::{Expect, expect};
use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, Frame, ImageEncoder, RgbaImage};
use proptest::prelude::*;

use super::*;

#[test]
fn a_plain_png_or_jpeg_passes_as_it_is() {
    check(&png(3, 2), expect!["PNG 3 x 2, the same bytes"]);
    check(&jpeg(3, 2), expect!["JPEG 3 x 2, the same bytes"]);
    check(&png(SIDE_MAX, 1), expect!["PNG 1568 x 1, the same bytes"]);
    check(&jpeg(1, SIDE_MAX), expect!["JPEG 1 x 1568, the same bytes"]);
}

#[test]
fn what_is_not_read_everywhere_is_written_as_what_is() {
    check(&webp(3, 2), expect!["PNG 3 x 2, encoded"]);
    check(&gif(3, 2, 1), expect!["PNG 3 x 2, encoded"]);
    check(&gif(3, 2, 5), expect!["PNG 3 x 2, encoded"]);
}

#[test]
fn what_is_too_long_shrinks_in_its_proportions() {
    check(&png(SIDE_MAX + 1, 1), expect!["PNG 1568 x 1, encoded"]);
    check(&jpeg(3136, 1000), expect!["JPEG 1568 x 500, encoded"]);
    check(&webp(10, 5000), expect!["PNG 3 x 1568, encoded"]);
}

#[test]
fn what_a_file_carries_beside_its_picture_is_left_out() {
    let secret = b"51.5N 0.1W";
    let says = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
    let comment = segment(0xfe, secret);
    let exif = segment(0xe1, &[b"Exif\0\0".as_slice(), secret].concat());
    let jfif = segment(0xe0, &[b"JFIF\0\x01\x02\0\0\x01\0\x01".as_slice(), secret].concat());
    let profile = segment(0xe2, &[b"ICC_PROFILE\0\x01\x01".as_slice(), secret].concat());
    let text = chunk(b"tEXt", &[b"Place\0".as_slice(), secret].concat());
    let place = chunk(b"eXIf", secret);
    for (name, file) in [
        ("comment", after(&jpeg(3, 2), 2, &comment)),
        ("exif", after(&jpeg(3, 2), 2, &exif)),
        ("jfif with a thumbnail", after(&jpeg(3, 2), 2, &jfif)),
        ("color profile", after(&jpeg(3, 2), 2, &profile)),
        ("after the end of a JPEG", [jpeg(3, 2), secret.to_vec()].concat()),
        ("text", after(&png(3, 2), 33, &text)),
        ("eXIf", after(&png(3, 2), 33, &place)),
        ("after the end of a PNG", [png(3, 2), secret.to_vec()].concat()),
    ] {
        assert!(says(&file), "{name}");
        let ready = ready(&file).unwrap();
        assert!(matches!(ready.bytes, Cow::Owned(_)) && !says(&ready.bytes), "{name}");
        assert_eq!(ready.size, (3, 2), "{name}");
    }
}

#[test]
fn a_picture_stands_as_it_was_held() {
    // A red row over a blue one, as a camera writes it that was turned.
    let rows = RgbaImage::from_fn(16, 32, |_, y| match y {
        0..16 => image::Rgba([255, 0, 0, 255]),
        _ => image::Rgba([0, 0, 255, 255]),
    });
    let shown = |orientation: u8| {
        let tag = [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0];
        let head = b"Exif\0\0II*\0\x08\0\0\0\x01\0";
        let exif = segment(0xe1, &[head.as_slice(), &tag, &[0; 4]].concat());
        let file = after(&jpeg_of(&rows), 2, &exif);
        let bytes = ready(&file).unwrap().bytes.into_owned();
        let image = image::load_from_memory(&bytes).unwrap().to_rgb8();
        let name = |x, y| if image.get_pixel(x, y).0[0] > 128 { "red" } else { "blue" };
        let (width, height) = image.dimensions();
        let corners = [name(0, 0), name(width - 1, 0), name(0, height - 1)];
        format!("{orientation}: {width} x {height} {}\n", corners.join(" "))
    };
    // Corners: upper left, upper right, lower left.
    expect![[r#"
        1: 16 x 32 red red blue
        2: 16 x 32 red red blue
        3: 16 x 32 blue blue red
        4: 16 x 32 blue blue red
        5: 32 x 16 red blue red
        6: 32 x 16 blue red blue
        7: 32 x 16 blue red blue
        8: 32 x 16 red blue red
        9: 16 x 32 red red blue
    "#]]
    .assert_eq(&(1..=9).map(shown).collect::<String>());
}

#[test]
fn what_cannot_be_read_says_why() {
    check(b"", expect!["refused: it is no PNG, JPEG, GIF or WebP; convert it to PNG first"]);
    check(b"<svg/>", expect!["refused: it is no PNG, JPEG, GIF or WebP; convert it to PNG first"]);
    check(
        &png(3, 2)[..40],
        expect![
            "refused: it cannot be decoded as PNG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    check(
        &jpeg(3, 2)[..40],
        expect![
            "refused: it cannot be decoded as JPEG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    check(
        &webp(3, 2)[..20],
        expect![
            "refused: it cannot be decoded as WebP (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    check(
        &gif(3, 2, 1)[..10],
        expect![
            "refused: it cannot be decoded as GIF (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
}

/// What a decoder says of itself is not repeated.
#[test]
fn what_is_damaged_is_called_so() {
    let mut wrong_sum = png(3, 2);
    // Within the checksum of the header.
    wrong_sum[30] ^= 0xff;
    check(
        &wrong_sum,
        expect![
            "refused: it cannot be decoded as PNG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    let mut wrong_data = png(3, 2);
    let data = wrong_data.windows(4).position(|four| four == b"IDAT").unwrap();
    wrong_data[data + 6] ^= 0xff;
    check(
        &wrong_data,
        expect![
            "refused: it cannot be decoded as PNG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    let mut tables = jpeg(3, 2);
    let table = tables.windows(2).position(|pair| pair == [0xff, 0xc4]).unwrap();
    tables[table + 5..table + 12].fill(0xff);
    check(
        &tables,
        expect![
            "refused: it cannot be decoded as JPEG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
}

#[test]
fn a_size_is_bounded_before_anything_is_decoded() {
    let mut gif = gif(3, 2, 1);
    gif[6..10].copy_from_slice(&[0xff; 4]);
    check(
        &gif,
        expect![
            "refused: it is 65535 x 65535 pixels; at most 40000000 pixels are decoded, so make a smaller copy first"
        ],
    );
    let mut jpeg = jpeg(3, 2);
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    check(
        &jpeg,
        expect![
            "refused: it is 65535 x 65535 pixels; at most 40000000 pixels are decoded, so make a smaller copy first"
        ],
    );
    check(
        &png_claiming(8000, 5001),
        expect![
            "refused: it is 8000 x 5001 pixels; at most 40000000 pixels are decoded, so make a smaller copy first"
        ],
    );
    // As large as may be, and then there is nothing in it.
    check(
        &png_claiming(8000, 5000),
        expect![
            "refused: it cannot be decoded as PNG (its data is damaged or not all there); make it again or convert it to PNG"
        ],
    );
    check(
        &png_claiming(u32::MAX / 2, u32::MAX / 2),
        expect![
            "refused: it cannot be decoded as PNG (it takes too much memory); make it again or convert it to PNG"
        ],
    );
    let mut long = png(3, 2);
    long.resize(INPUT_BYTES_MAX + 1, 0);
    check(
        &long,
        expect![
            "refused: it has 20971521 bytes; at most 20971520 are read, so make a smaller copy first"
        ],
    );
    long.pop();
    check(&long, expect!["PNG 3 x 2, encoded"]);
}

#[test]
fn noise_fits_too() {
    let mut state = 1_u32;
    let noise = RgbaImage::from_fn(SIDE_MAX, SIDE_MAX, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        image::Rgba(state.to_be_bytes())
    });
    let file = png_of(&noise);
    assert!(file.len() > BYTES_MAX);
    check(&file, expect!["JPEG 1568 x 1568, encoded"]);
}

proptest! {
    #[test]
    fn any_bytes_are_answered_within_the_bounds(
        head in prop::sample::select(vec![png(9, 7), jpeg(9, 7), webp(9, 7), gif(9, 7, 2)]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        tail in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut bytes = head;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2));
        bytes.extend(tail);
        if let Ok(first) = ready(&bytes) {
            prop_assert!(first.bytes.len() <= BYTES_MAX && first.size.0.max(first.size.1) <= SIDE_MAX);
            prop_assert!(matches!(first.format, Format::Png | Format::Jpeg));
            let again = ready(&first.bytes).unwrap();
            prop_assert_eq!(&again.bytes, &first.bytes, "what was made here passes unchanged");
        }
    }

    #[test]
    fn what_is_made_passes_unchanged_and_is_made_so_each_time(
        width in 1..40_u32, height in 1..40_u32, seed in any::<[u8; 4]>(), kind in 0..4,
    ) {
        let image = RgbaImage::from_fn(width, height, |x, y| {
            let at = (x * 7 + y * 13).to_le_bytes()[0];
            image::Rgba(seed.map(|byte| byte.wrapping_mul(at)))
        });
        let file = match kind {
            0 => png_of(&image),
            1 => jpeg_of(&image),
            2 => webp_of(&image),
            _ => [jpeg_of(&image), vec![0]].concat(),
        };
        let first = ready(&file).unwrap();
        prop_assert_eq!(&first, &ready(&file).unwrap());
        prop_assert_eq!(first.size, (width, height));
        prop_assert!(matches!(ready(&first.bytes).unwrap().bytes, Cow::Borrowed(_)));
    }
}

fn check(file: &[u8], expected: Expect) {
    let told = match ready(file) {
        Ok(Ready { format, bytes, size: (width, height) }) => {
            assert!(bytes.len() <= BYTES_MAX);
            let how = match bytes {
                Cow::Borrowed(bytes) if bytes == file => "the same bytes",
                _ => "encoded",
            };
            format!("{format} {width} x {height}, {how}")
        }
        Err(refusal) => format!("refused: {refusal}"),
    };
    expected.assert_eq(&told);
}

fn plain_image(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_pixel(width, height, image::Rgba([200, 30, 30, 255]))
}

fn png(width: u32, height: u32) -> Vec<u8> {
    png_of(&plain_image(width, height))
}

fn png_of(image: &RgbaImage) -> Vec<u8> {
    let mut file = Vec::new();
    PngEncoder::new(&mut file)
        .write_image(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgba8)
        .unwrap();
    file
}

fn jpeg(width: u32, height: u32) -> Vec<u8> {
    jpeg_of(&plain_image(width, height))
}

fn jpeg_of(image: &RgbaImage) -> Vec<u8> {
    let image = image::DynamicImage::from(image.clone()).to_rgb8();
    let mut file = Vec::new();
    JpegEncoder::new(&mut file)
        .write_image(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgb8)
        .unwrap();
    file
}

fn webp(width: u32, height: u32) -> Vec<u8> {
    webp_of(&plain_image(width, height))
}

fn webp_of(image: &RgbaImage) -> Vec<u8> {
    let mut file = Vec::new();
    WebPEncoder::new_lossless(&mut file)
        .write_image(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgba8)
        .unwrap();
    file
}

fn gif(width: u32, height: u32, frames: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = GifEncoder::new(&mut file);
    encoder.encode_frames((0..frames).map(|_| Frame::new(plain_image(width, height)))).unwrap();
    drop(encoder);
    file
}

/// A PNG that claims a size and holds nothing.
fn png_claiming(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let signature = png(1, 1)[..8].to_vec();
    [signature, chunk(b"IHDR", &header), chunk(b"IDAT", &[]), chunk(b"IEND", &[])].concat()
}

fn after(file: &[u8], at: usize, more: &[u8]) -> Vec<u8> {
    [&file[..at], more, &file[at..]].concat()
}

fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
    [&[0xff, marker], &length[..], data].concat()
}

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let named = [name.as_slice(), data].concat();
    let mut sum = u32::MAX;
    for byte in &named {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 * (sum & 1));
        }
    }
    [&length[..], &named, &(!sum).to_be_bytes()].concat()
}
