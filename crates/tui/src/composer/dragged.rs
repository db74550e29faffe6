//! Files that were dragged into the terminal arrive as text: quoted, escaped or as URLs.

use std::path::{Path, PathBuf};

/// The most bytes that are looked at; what is longer is no list of paths.
const DRAGGED_BYTES_MAX: usize = 16 * 1024;
/// The most files of one drag.
const DRAGGED_FILES_MAX: usize = 50;
/// What the names of images end in.
const ENDS: [&str; 5] = ["gif", "jpeg", "jpg", "png", "webp"];

/// The images that a pasted text names, when it names nothing else and all of them exist.
pub(super) fn images(pasted: &str, is_file: fn(&Path) -> bool) -> Option<Vec<PathBuf>> {
    let pasted = pasted.trim();
    if pasted.is_empty() || pasted.len() > DRAGGED_BYTES_MAX {
        return None;
    }
    let is_image = |path: &PathBuf| has_image_end(path) && path.is_absolute() && is_file(path);
    // Some terminals paste a path with blanks just as it is.
    if !pasted.contains('\n') {
        let whole = PathBuf::from(pasted);
        if is_image(&whole) {
            return Some(vec![whole]);
        }
    }
    let words = words(pasted)?;
    let paths: Vec<_> = words.iter().map(|word| path_of(word)).collect::<Option<_>>()?;
    let all = !paths.is_empty() && paths.len() <= DRAGGED_FILES_MAX && paths.iter().all(is_image);
    all.then_some(paths)
}

fn has_image_end(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    end.is_some_and(|end| ENDS.iter().any(|image| end.eq_ignore_ascii_case(image)))
}

/// The words of the text as a shell reads them; none when a quote stays open.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (_, '\\') => word.get_or_insert_default().push(letters.next()?),
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The path that a word is, or that a `file:` URL of this machine names.
fn path_of(word: &str) -> Option<PathBuf> {
    let Some(rest) = word.strip_prefix("file://") else { return Some(PathBuf::from(word)) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    percent_decoded(path).map(PathBuf::from)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [*rest.next()?, *rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            _ => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}
