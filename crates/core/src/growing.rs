//! Texts that grow while an answer comes.

/// A text that has grown beyond so many bytes is a long one.
const LONG_BYTES: usize = 256 * 1024;
/// A long text gets room for so many times what it holds,
const LONG_GROWTH: usize = 8;
/// and never for more than so many bytes at once, beyond what any text that grows gets.
const LONG_ROOM_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Adds to a text that may become long.
///
/// A text that outgrows its room moves, and each page of its new place is touched for the first time, which
/// costs more than filling it; room that is never used is never touched, and costs nothing. So a long text
/// gets much room at once, and moves hardly ever again.
pub fn push_text(text: &mut String, more: &str) {
    let is_full = text.capacity() - text.len() < more.len();
    if is_full && text.len() >= LONG_BYTES {
        text.reserve(more.len().max((text.len() * (LONG_GROWTH - 1)).min(LONG_ROOM_BYTES_MAX)));
    }
    text.push_str(more);
}

/// Empties a text that will grow again; what a long one held is given back.
pub(crate) fn clear_text(text: &mut String) {
    text.clear();
    text.shrink_to(LONG_BYTES);
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    /// How often a text moves while it grows to so many KiB, and its room then, in KiB.
    fn grown(kib: usize) -> (usize, usize) {
        let (mut text, mut n_moves) = (String::new(), 0);
        for n in 0..kib {
            let room = text.capacity();
            push_text(&mut text, &"x".repeat(KIB));
            n_moves += usize::from(text.capacity() != room);
            assert_eq!(text.len(), (n + 1) * KIB);
        }
        (n_moves, text.capacity() / KIB)
    }

    #[test]
    fn a_long_text_moves_hardly_ever_and_its_room_has_a_limit() {
        assert_eq!(grown(256), (9, 256));
        assert_eq!(grown(2 * KIB), (10, 2 * KIB));
        assert_eq!(grown(16 * KIB), (11, 16 * KIB));
        assert_eq!(grown(32 * KIB), (12, 32 * KIB));
        assert_eq!(grown(33 * KIB), (13, 64 * KIB));
    }

    #[test]
    fn what_a_long_text_held_is_given_back() {
        for bytes in [1, LONG_BYTES, 2 * LONG_BYTES] {
            let mut text = "x".repeat(bytes);
            clear_text(&mut text);
            assert_eq!((text.as_str(), text.capacity()), ("", bytes.min(LONG_BYTES)));
        }
    }
}
