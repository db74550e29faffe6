//! Which variables are secret, by their names and what they hold.

use crate::SECRET_CHARS_MIN;
use crate::randomness::{self, NAMED_BITS_MIN};

/// What a variable's name holds when its value is secret.
const SECRET_NAMES: [&str; 9] = [
    "APIKEY",
    "API_KEY",
    "CREDENTIAL",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PGPASS",
    "SECRET",
    "TOKEN",
];
/// Ends of such names. `PWD` and `OLDPWD` are folders.
const SECRET_ENDS: [&str; 5] = ["_KEY", "_PAT", "_PASS", "_PWD", "_AUTH"];
/// Ends of the names of variables that say where something is.
const PLACE_ENDS: [&str; 4] = ["FILE", "_PATH", "_DIR", "_HOME"];

/// The longest run of letters and digits in a name of a folder that may be jumbled.
const NAME_BYTES_MAX: usize = 24;

/// Whether a variable is secret. A value that says what it is (a path, a word, a number) is not, whatever
/// its name.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_named = SECRET_NAMES.iter().any(|word| name.contains(word))
        || SECRET_ENDS.iter().any(|end| name.ends_with(end));
    is_named
        && value.chars().count() >= SECRET_CHARS_MIN
        && !is_path(&name, value)
        && randomness::bits_per_char(value) >= NAMED_BITS_MIN
}

fn is_path(name: &str, value: &str) -> bool {
    let names_place = PLACE_ENDS.iter().any(|end| name.ends_with(end));
    let looks_like_one = || !randomness::is_jumbled(value) || is_in_folder(value);
    match value.as_bytes() {
        // One secret of sixty-four in base64 begins as a path does, so that is not enough for one.
        [b'/', ..] | [b'~', b'/', ..] => names_place || looks_like_one(),
        [b'.', ..] => names_place,
        _ => names_place && value.contains('/') && looks_like_one(),
    }
}

/// Whether a value that is jumbled is a path for all that: the first folder is called by a word, as those
/// are that hold all others, and what follows is at least one name. In base64 what stands between two
/// slashes is long and jumbled.
fn is_in_folder(path: &str) -> bool {
    let (is_in_home, path) = match path.strip_prefix("~/") {
        Some(path) => (true, path),
        None => (false, path.strip_prefix('/').unwrap_or(path)),
    };
    let Some((folders, last)) = path.rsplit_once('/') else { return false };
    let is_of_names = |c: char| c.is_alphanumeric() || "._-@, ".contains(c);
    let is_name = |name: &str| {
        let mut runs = name.split(|c: char| !c.is_alphanumeric());
        runs.all(|run| run.len() <= NAME_BYTES_MAX || !randomness::is_jumbled(run))
    };
    (is_in_home || folders.split('/').next().is_some_and(is_word))
        && folders.split('/').all(|name| name.chars().all(is_of_names) && is_name(name))
        && is_name(last)
}

/// Whether a name is of letters that are alike but for the first one, with a number at most behind them.
fn is_word(name: &str) -> bool {
    let is_plain = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let rest = letters.chars().skip(1);
        letters.chars().all(char::is_alphabetic)
            && (rest.clone().all(char::is_lowercase) || letters.chars().all(char::is_uppercase))
    };
    !name.is_empty() && name.split(['.', '_', '-']).all(is_plain)
}
