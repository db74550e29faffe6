//! Keeps a command's output within bounds while it comes: its beginning and its end.

use heeler_core::Progress;
use heeler_secrets::{BEYOND_CUT_BYTES, begun_at_end};

use super::progress::{PROGRESS_BYTES_MAX, progress_line};
use crate::text::part;

/// Progress lines that are sent one for each read, so that a slow command is followed closely.
const PROGRESS_EVERY_MAX: u64 = 100;
/// After those, one in so many.
const PROGRESS_ONE_IN: u64 = 10;

/// What is kept of an output.
pub(crate) struct Capture {
    head: Vec<u8>,
    /// What came right behind the beginning: a key may go on there.
    behind_head: Vec<u8>,
    /// Grows to twice its share before the older half goes, so that bytes move rarely. Something before
    /// the share stays: a key may begin there.
    tail: Vec<u8>,
    half_bytes_max: usize,
    n_bytes: usize,
    /// The last of what was taken: a key may have begun there.
    taken: Vec<u8>,
    /// How much of what is there was there already when it was taken.
    n_held_back: usize,
    n_reads: u64,
    progress: Progress,
}

impl Capture {
    /// Keeps at most `bytes_max`, half from the beginning and half from the end.
    pub(crate) fn new(bytes_max: usize, progress: Progress) -> Self {
        Self {
            head: Vec::new(),
            behind_head: Vec::new(),
            tail: Vec::new(),
            half_bytes_max: bytes_max / 2,
            n_bytes: 0,
            taken: Vec::new(),
            n_held_back: 0,
            n_reads: 0,
            progress,
        }
    }

    /// Takes what one read gave.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.keep(bytes);
        self.tell(bytes.len());
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len();
        let room = self.half_bytes_max - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        let room = BEYOND_CUT_BYTES - self.behind_head.len();
        self.behind_head.extend_from_slice(&rest[..rest.len().min(room)]);
        if self.tail.len() > 2 * self.half_bytes_max + BEYOND_CUT_BYTES {
            self.tail.drain(..self.tail.len() - self.half_bytes_max - BEYOND_CUT_BYTES);
        }
    }

    /// The last of what came since the last time, which stays where it is, and how many bytes stand
    /// before it.
    pub(crate) fn last(&self, bytes_max: usize) -> (String, usize) {
        let kept = self.end(bytes_max + BEYOND_CUT_BYTES);
        let last = whole_characters_after(last(&kept, bytes_max.min(self.n_bytes)));
        let before = &kept[..kept.len() - last.len()];
        (between(before, last, &[]), self.n_bytes - last.len())
    }

    /// Whether nothing came since the last time it was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_bytes == self.n_held_back
    }

    /// How many bytes between the beginning and the end are kept nowhere.
    pub(crate) fn n_left_out(&self) -> usize {
        if self.n_bytes <= 2 * self.half_bytes_max {
            return 0;
        }
        self.n_bytes - self.head.len() - self.tail.len().min(self.half_bytes_max)
    }

    /// The text that came since the last time, as it is. Of a character that has not come whole, what
    /// there is stays for the next time, and so does what begins as a key: half of one would not be known
    /// as one. If nothing more comes until then, it is none.
    pub(crate) fn take(&mut self) -> String {
        let is_new = !self.is_empty();
        let end = self.end(BEYOND_CUT_BYTES);
        let whole = whole_characters_before(&end);
        let n_begun = if is_new { begun_bytes(whole) } else { 0 };
        // Where it begins may have been taken.
        let n_held_back = (end.len() - whole.len() + n_begun).min(self.n_bytes);
        let held_back = last(&end, n_held_back).to_vec();
        self.forget_last(held_back.len());
        let text = self.take_rest();
        self.keep(&held_back);
        self.n_held_back = held_back.len();
        text
    }

    /// The same once nothing more can come.
    pub(crate) fn take_rest(&mut self) -> String {
        let taken = self.end(BEYOND_CUT_BYTES);
        let next = Self::new(2 * self.half_bytes_max, self.progress.clone());
        std::mem::replace(self, Self { taken, ..next }).into_raw_text()
    }

    /// Takes so many bytes away from the end.
    fn forget_last(&mut self, n_bytes: usize) {
        let n_of_tail = n_bytes.min(self.tail.len());
        self.tail.truncate(self.tail.len() - n_of_tail);
        self.head.truncate(self.head.len() - (n_bytes - n_of_tail));
        self.n_bytes -= n_bytes;
    }

    /// The end of all that ever came, as far as it is kept without a gap, of so many bytes at most.
    fn end(&self, bytes_max: usize) -> Vec<u8> {
        let tail = last(&self.tail, bytes_max);
        if self.n_bytes > self.head.len() + self.tail.len() {
            return tail.to_vec();
        }
        let head = last(&self.head, bytes_max - tail.len());
        let taken = last(&self.taken, bytes_max - tail.len() - head.len());
        [taken, head, tail].concat()
    }

    /// The text, with a marker where something was left out, without the line ends at its end.
    pub(crate) fn into_text(self) -> String {
        let mut text = self.into_raw_text();
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        text
    }

    fn into_raw_text(mut self) -> String {
        let n_left_out = self.n_left_out();
        if n_left_out == 0 {
            self.head.append(&mut self.tail);
            between(&self.taken, &self.head, &[])
        } else {
            let head = whole_characters_before(&self.head);
            let behind = [&self.head[head.len()..], &self.behind_head].concat();
            let tail = &self.tail[self.tail.len().saturating_sub(self.half_bytes_max)..];
            let tail = whole_characters_after(tail);
            let before = &self.tail[..self.tail.len() - tail.len()];
            format!(
                "{}\n[... {n_left_out} bytes left out ...]\n{}",
                between(&self.taken, head, &behind),
                between(before, tail, &[]),
            )
        }
    }

    /// Shows the last line to who watches. By count, since a clock would have to be handed in
    /// and a watcher keeps only the latest anyway.
    fn tell(&mut self, n_new: usize) {
        self.n_reads += 1;
        if self.n_reads > PROGRESS_EVERY_MAX && !self.n_reads.is_multiple_of(PROGRESS_ONE_IN) {
            return;
        }
        let kept = self.end(BEYOND_CUT_BYTES);
        let new = whole_characters_after(last(&kept, n_new.min(PROGRESS_BYTES_MAX)));
        let before = String::from_utf8_lossy(&kept[..kept.len() - new.len()]);
        let new = String::from_utf8_lossy(new);
        if let Some(line) = progress_line(&before, &new) {
            self.progress.send(line);
        }
    }
}

/// How many bytes at the end may be the beginning of a key.
fn begun_bytes(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let begun = begun_at_end(&text).map_or("", |start| &text[start..]);
    // What stands for bytes that are no text is longer than they are.
    if begun.contains(char::REPLACEMENT_CHARACTER) { 0 } else { begun.len() }
}

/// The last so many bytes, or all.
fn last(bytes: &[u8], n_bytes: usize) -> &[u8] {
    &bytes[bytes.len().saturating_sub(n_bytes)..]
}

/// A part of an output as text, without what is left in it of a key that begins or ends beyond it.
fn between(before: &[u8], bytes: &[u8], after: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if before.is_empty() && after.is_empty() {
        return text.into_owned();
    }
    let before = String::from_utf8_lossy(last(before, BEYOND_CUT_BYTES));
    let all = [&*before, &*text, &*String::from_utf8_lossy(after)].concat();
    part(&all, before.len()..before.len() + text.len()).into_owned()
}

/// Bytes up to the last place where a character may end: a cut hides nothing that was valid.
fn whole_characters_before(bytes: &[u8]) -> &[u8] {
    let last_start = bytes.iter().rposition(|byte| !is_continuation(*byte)).unwrap_or(0);
    match std::str::from_utf8(&bytes[last_start..]) {
        Err(error) if error.error_len().is_none() => &bytes[..last_start],
        _ => bytes,
    }
}

/// Bytes from the first place where a character may begin; a character has at most 3 that cannot.
fn whole_characters_after(bytes: &[u8]) -> &[u8] {
    let n_continued = bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
    &bytes[n_continued..]
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn check(bytes_max: usize, chunks: &[&[u8]], expected: &str) {
        let mut capture = Capture::new(bytes_max, Progress::nowhere());
        chunks.iter().for_each(|chunk| capture.push(chunk));
        let n_kept = capture.head.len() + capture.tail.len();
        assert!(n_kept <= bytes_max / 2 * 3 + BEYOND_CUT_BYTES);
        assert_eq!(capture.into_text(), expected);
    }

    #[test]
    fn what_fits_is_whole() {
        check(10, &[], "");
        check(10, &[b"12345", b"67890"], "1234567890");
        check(10, &[b"1234567890"], "1234567890");
        check(10, &[b"a\n\nb\r\n\n"], "a\n\nb");
    }

    #[test]
    fn over_the_limit_the_middle_is_left_out() {
        check(10, &[b"1234567890x"], "12345\n[... 1 bytes left out ...]\n7890x");
        check(4, &[b"ab", &[b'x'; 100], b"yz"], "ab\n[... 100 bytes left out ...]\nyz");
        let many = [b"x".as_slice(); 1000];
        check(4, &many, "xx\n[... 996 bytes left out ...]\nxx");
    }

    #[test]
    fn the_last_of_it_is_told_and_stays() {
        let check = |chunks: &[&[u8]], expected: (&str, usize)| {
            let mut capture = Capture::new(10, Progress::nowhere());
            chunks.iter().for_each(|chunk| capture.push(chunk));
            let (text, n_before) = capture.last(4);
            assert_eq!((text.as_str(), n_before), expected);
            assert_eq!(capture.n_bytes, chunks.iter().map(|chunk| chunk.len()).sum::<usize>());
        };
        check(&[], ("", 0));
        check(&[b"abc"], ("abc", 0));
        check(&[b"12345", b"6"], ("3456", 2));
        check(&[&[b'x'; 100], b"yz"], ("xxyz", 98));
        check(&["a\u{e9}\u{e9}b".as_bytes()], ("\u{e9}b", 3));
    }

    #[test]
    fn invalid_bytes_are_replaced_and_a_cut_splits_no_character() {
        check(100, &[b"a\xff\xfeb"], "a\u{fffd}\u{fffd}b");
        check(100, &[b"\xc3", b"\xa9"], "\u{e9}");
        check(
            6,
            &["a\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}".as_bytes()],
            "a\u{e9}\n[... 5 bytes left out ...]\n\u{e9}",
        );
    }

    #[test]
    fn what_is_taken_is_new_and_whole() {
        let mut capture = Capture::new(10, Progress::nowhere());
        capture.push(b"one\n\xc3");
        assert_eq!((capture.take().as_str(), capture.is_empty()), ("one\n", true));
        capture.push(b"\xa9");
        assert_eq!(capture.take(), "\u{e9}");
        assert_eq!((capture.take().as_str(), capture.is_empty()), ("", true));
        capture.push(b"1234567890abcde");
        capture.push(b"\xc3");
        assert_eq!(capture.take(), "12345\n[... 5 bytes left out ...]\nabcde");
        assert_eq!(capture.take_rest(), "\u{fffd}");
    }

    #[test]
    fn the_last_line_is_shown_and_not_too_often() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let progress = Progress::new(move |line| sink.lock().unwrap().push(line));
        let mut capture = Capture::new(100, progress);
        capture.push(b"one\ntwo\n\n");
        capture.push(b"10%\r20%\r\x1b[0m");
        capture.push(b"\n");
        capture.push("x".repeat(5_000).as_bytes());
        (5..=1_100).for_each(|i| capture.push(format!("{i}\n").as_bytes()));
        let lines = lines.lock().unwrap();
        assert_eq!(lines[..2], ["two", "[0m\u{2026}"]);
        assert_eq!(lines[2], format!("\u{2026}{}\u{2026}", "x".repeat(198)));
        assert_eq!(lines[98..101], ["100", "110", "120"]);
        assert_eq!(lines.len(), 99 + 100);
    }

    /// A key, and what is seen of it when it was cut.
    const KEY: &str = "ghp_q7Zk2Wm9Xr4Tb8Yc1Vn6Pd3Lf5Hg0JsAeBuC";
    const SEEN: &str = "[redacted: GitHub token]";

    #[test]
    fn a_key_that_a_cut_goes_through_is_not_shown_in_part() {
        let blanks = |n: usize| " ".repeat(n);
        for n_before in 0..=100 {
            let (few, many) = (blanks(n_before), blanks(200));
            for text in [format!("{few}{KEY}{many}"), format!("{many}{KEY}{few}")] {
                let mut capture = Capture::new(160, Progress::nowhere());
                text.as_bytes().chunks(7).for_each(|chunk| capture.push(chunk));
                let (last, _) = capture.last(80);
                for shown in [last, capture.into_raw_text()] {
                    let rest = shown.replace(KEY, "");
                    assert!(!rest.contains("ghp_") && !rest.contains("AeBuC"), "{shown}");
                }
            }
        }
        let mut capture = Capture::new(160, Progress::nowhere());
        let text = format!("{}{KEY}{}{KEY}{}", blanks(60), blanks(200_000), blanks(60));
        text.as_bytes().chunks(4096).for_each(|chunk| capture.push(chunk));
        let expected =
            format!("{}{SEEN}\n[... 200040 bytes left out ...]\n{SEEN}{}", blanks(60), blanks(60));
        assert_eq!(capture.into_raw_text(), expected);
    }

    /// What is given of chunks when it is asked for behind each, of the last once more, then at the end.
    fn takes(chunks: &[&str]) -> Vec<String> {
        let mut capture = Capture::new(100_000, Progress::nowhere());
        let mut given: Vec<String> = Vec::new();
        for chunk in chunks {
            capture.push(chunk.as_bytes());
            given.push(capture.take());
            assert!(capture.is_empty());
        }
        given.extend([capture.take(), capture.take_rest()]);
        given
    }

    #[test]
    fn a_key_that_comes_in_two_halves_is_not_taken_in_two() {
        let check = |chunks: &[&str], expected: &[&str]| assert_eq!(takes(chunks), expected);
        let (one, two) = KEY.split_at(20);
        let (whole, line) = (format!("{KEY} b\n"), format!("{two} b\n"));
        check(&["a ", one, &line], &["a ", "", &whole, "", ""]);
        check(&[&format!("a {one}"), &line], &["a ", &whole, "", ""]);
        // What ends with its line is whole, and so is what begins as no key does.
        check(&[&format!("a {one}\n"), "b"], &[&format!("a {one}\n"), "b", "", ""]);
        check(
            &["1/2", "package_name_1", "Go on? [y/N]"],
            &["1/2", "package_name_1", "Go on? [y/N]", "", ""],
        );
        // Held back once; what follows is known as its end all the same.
        check(&[one], &["", one, ""]);
        let mut capture = Capture::new(100, Progress::nowhere());
        capture.push(one.as_bytes());
        assert_eq!([capture.take(), capture.take()], ["", one]);
        capture.push(line.as_bytes());
        assert_eq!(capture.take(), format!("{SEEN} b\n"));
        // A known form goes on, and a word that says what it is was taken before.
        check(&[KEY, "1Z b\n"], &[KEY, &format!("{SEEN} b\n"), "", ""]);
        let random = &KEY[4..];
        check(
            &["TOKEN=", &random[..9], &format!("{} b\n", &random[9..])],
            &["TOKEN=", "", "[redacted: secret] b\n", "", ""],
        );
        check(&["TOKEN=", &format!("{random}\n")], &["TOKEN=", "[redacted: secret]\n", "", ""]);
        // Behind the word, what stands before the key may come with it.
        let [json, seen] = [random, "[redacted: secret]"].map(|it| format!(" \"{it}\"}}\n"));
        check(&["{\"token\":", &json], &["{\"token\":", &seen, "", ""]);
    }

    #[test]
    fn of_a_key_at_the_end_of_much_no_half_is_taken() {
        let blanks = |n: usize| " ".repeat(n);
        for n_before in 0..120 {
            for n_first in 5..KEY.len() {
                let mut capture = Capture::new(100, Progress::nowhere());
                let (one, two) = KEY.split_at(n_first);
                capture.push(format!("{}{one}", blanks(n_before)).as_bytes());
                let first = capture.take();
                capture.push(format!("{two}{}", blanks(n_before)).as_bytes());
                let shown = format!("{first}{}", capture.take());
                let rest = shown.replace(KEY, "");
                assert!(!rest.contains("ghp_") && !rest.contains("AeBuC"), "{shown}");
            }
        }
    }
}
