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

/// One secret of sixty-four in base64 begins as a path does, so that is not enough for one.
fn is_path(name: &str, value: &str) -> bool {
    let names_place = PLACE_ENDS.iter().any(|end| name.ends_with(end));
    match value.as_bytes() {
        [b'~', b'/', ..] => true,
        [b'/', ..] => names_place || !randomness::is_jumbled(value),
        [b'.', ..] => names_place,
        _ => names_place && value.contains('/'),
    }
}
