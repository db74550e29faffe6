//! What a program writes to a terminal, as text for a reader without one; and which keys it wants.
//!
//! Colors and titles go, a move to another place of the screen becomes a new line, a move along the
//! line spaces. That is less than a screen and enough to read one, and it costs a model no more
//! than the words that are there.

/// The longest sequence of numbers that is heeded.
const NUMBERS_BYTES_MAX: usize = 64;
/// The most spaces that a move along the line becomes.
const SPACES_MAX: usize = 100;

const BELL: u8 = 0x07;
const ESCAPE: u8 = 0x1b;

/// Reads what a program writes, however it is cut.
#[derive(Default)]
pub(super) struct Screen {
    at: At,
    numbers: Vec<u8>,
    is_returned: bool,
    is_within_line: bool,
    wants_application_keys: bool,
}

/// Where in a sequence the reader is.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum At {
    #[default]
    Text,
    Escape,
    /// One byte more, which says nothing.
    Skip,
    /// `ESC [`, numbers, and a letter that says what they are.
    Sequence,
    /// Words for the terminal itself, such as a title, until their end.
    Words,
}

impl Screen {
    /// Whether cursor keys are to be sent in the way of applications: DECCKM.
    pub(super) fn wants_application_keys(&self) -> bool {
        self.wants_application_keys
    }

    /// The text in these bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.read_byte(*byte, &mut text);
        }
        text
    }

    fn read_byte(&mut self, byte: u8, text: &mut Vec<u8>) {
        if byte == ESCAPE {
            self.numbers.clear();
            self.at = At::Escape;
            return;
        }
        match self.at {
            At::Text => self.read_text(byte, text),
            At::Escape => self.read_escape(byte, text),
            At::Skip => self.at = At::Text,
            At::Sequence => match byte {
                0x20..=0x3f if self.numbers.len() < NUMBERS_BYTES_MAX => self.numbers.push(byte),
                0x20..=0x3f => {}
                0x40..=0x7e => {
                    self.at = At::Text;
                    self.obey(byte, text);
                }
                // In the middle of a sequence these mean what they mean elsewhere.
                b'\r' | b'\n' => self.read_text(byte, text),
                0x18 | 0x1a => self.at = At::Text,
                _ => {}
            },
            // The escape before a final backslash was seen above.
            At::Words if byte == BELL => self.at = At::Text,
            At::Words => {}
        }
    }

    fn read_text(&mut self, byte: u8, text: &mut Vec<u8>) {
        match byte {
            b'\n' => {
                self.is_returned = false;
                self.is_within_line = false;
                text.push(b'\n');
            }
            b'\r' => self.is_returned = true,
            0..=0x08 | 0x0b..=0x1f | 0x7f => {}
            _ => {
                if std::mem::take(&mut self.is_returned) {
                    self.new_line(text);
                }
                self.is_within_line = true;
                text.push(byte);
            }
        }
    }

    fn read_escape(&mut self, byte: u8, text: &mut Vec<u8>) {
        self.at = match byte {
            b'[' => At::Sequence,
            b']' | b'P' | b'X' | b'^' | b'_' => At::Words,
            b' '..=b'/' => At::Skip,
            _ => At::Text,
        };
        match byte {
            b'D' | b'E' | b'M' => self.new_line(text),
            b'c' => self.wants_application_keys = false,
            _ => {}
        }
    }

    /// Does what a sequence says that ends with this letter.
    fn obey(&mut self, letter: u8, text: &mut Vec<u8>) {
        match letter {
            b'h' | b'l' if self.is_about_cursor_keys() => {
                self.wants_application_keys = letter == b'h';
            }
            b'p' if self.numbers == b"!" => self.wants_application_keys = false,
            b'A' | b'B' | b'E' | b'F' | b'H' | b'd' | b'f' => self.new_line(text),
            b'C' | b'G' if self.is_within_line => {
                let number = std::str::from_utf8(&self.numbers).ok().and_then(|n| n.parse().ok());
                let count = if letter == b'C' { number.unwrap_or(1) } else { 1 };
                text.resize(text.len() + count.min(SPACES_MAX), b' ');
            }
            _ => {}
        }
    }

    /// Whether private mode 1 is among those that a sequence sets.
    fn is_about_cursor_keys(&self) -> bool {
        let modes = self.numbers.strip_prefix(b"?").unwrap_or_default();
        modes.split(|byte| *byte == b';').any(|mode| mode == b"1")
    }

    fn new_line(&mut self, text: &mut Vec<u8>) {
        self.is_returned = false;
        if std::mem::take(&mut self.is_within_line) {
            text.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(written: &str, expected: &str) {
        let text = Screen::default().read(written.as_bytes());
        assert_eq!(String::from_utf8(text).unwrap(), expected, "{written:?}");
    }

    #[test]
    fn the_words_stay_and_the_rest_goes() {
        check("a\r\nb\r\r\n\r\nc", "a\nb\n\nc");
        check("10%\r20%\r\n", "10%\n20%\n");
        check("\x1b[1;31mred\x1b[0m \x1b(Bplain\x07\x08", "red plain");
        check("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab");
        check("\x1bPdata\x1b\\a\x1b=b\x1b>c", "abc");
        check("\x1b[2J\x1b[Hone\x1b[2;1Htwo\x1b[5Cthree\x1b[10dfour", "one\ntwo     three\nfour");
        check("a\x1b[99999999999999999999Cb", "a b");
        check("a\x1b[999Cb", &format!("a{}b", " ".repeat(SPACES_MAX)));
        check("a\tb\x1b[\x18c", "a\tbc");
        check("\u{e9}\u{4e16}", "\u{e9}\u{4e16}");
    }

    #[test]
    fn the_way_of_cursor_keys_is_heard() {
        for (written, expected) in [
            ("", false),
            ("\x1b[?1h", true),
            ("\x1b[?25;1h\x1b[?1049h", true),
            ("\x1b[?1h\x1b[?1l", false),
            ("\x1b[?1h\x1bc", false),
            ("\x1b[?1h\x1b[!p", false),
            ("\x1b[1h\x1b[?11h", false),
        ] {
            let mut screen = Screen::default();
            screen.read(written.as_bytes());
            assert_eq!(screen.wants_application_keys(), expected, "{written:?}");
        }
    }

    proptest! {
        #[test]
        fn where_it_is_cut_makes_no_difference(bytes: Vec<u8>, at in 0_usize..100) {
            let mut whole = Screen::default();
            let text = whole.read(&bytes);
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut cut = Screen::default();
            prop_assert_eq!(text, [cut.read(first), cut.read(second)].concat());
            prop_assert_eq!(whole.wants_application_keys(), cut.wants_application_keys());
        }
    }
}
