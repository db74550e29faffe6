//! Keys by their names, as the bytes that a terminal sends for them.

/// The most keys of one call.
pub(super) const KEYS_MAX: usize = 256;

/// What the names may be, for who wrote another.
const NAMES: &str = "enter, tab, esc, space, backspace, delete, insert, up, down, left, right, \
     home, end, pgup, pgdn, f1 to f12, one character, and ctrl-, alt- or shift- before one";

/// The bytes of keys whose names stand between commas or spaces; the error is for the model.
pub(super) fn keys(names: &str, is_application: bool) -> Result<Vec<u8>, String> {
    let names: Vec<&str> = names.split([',', ' ', '\n']).filter(|name| !name.is_empty()).collect();
    if names.is_empty() || names.len() > KEYS_MAX {
        return Err(format!("keys holds {} names; give 1 to {KEYS_MAX}: {NAMES}", names.len()));
    }
    let mut bytes = Vec::new();
    for name in names {
        let key = key(name, is_application);
        bytes.extend(key.ok_or_else(|| format!("there is no key `{name}`; there are {NAMES}"))?);
    }
    Ok(bytes)
}

fn key(name: &str, is_application: bool) -> Option<Vec<u8>> {
    let mut rest = name;
    let (mut shift, mut alt, mut ctrl) = (false, false, false);
    while let Some((before, after)) = rest.split_once(['-', '+']) {
        let held = match before.to_ascii_lowercase().as_str() {
            "shift" | "s" => &mut shift,
            "alt" | "m" | "meta" => &mut alt,
            "ctrl" | "c" | "control" => &mut ctrl,
            _ => break,
        };
        *held = true;
        rest = after;
    }
    let modifier = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
    let lower = rest.to_ascii_lowercase();
    if let Some(bytes) = special(&lower, modifier, is_application) {
        return Some(bytes);
    }
    let plain = match lower.as_str() {
        "enter" | "return" => '\r',
        "tab" if shift => return Some(b"\x1b[Z".to_vec()),
        "tab" => '\t',
        "esc" | "escape" => '\x1b',
        "space" => ' ',
        "backspace" => '\x7f',
        _ => single(rest)?,
    };
    let plain = if shift { plain.to_ascii_uppercase() } else { plain };
    let plain = if ctrl { controlled(plain)? } else { plain };
    let mut bytes = if alt { vec![0x1b] } else { Vec::new() };
    bytes.extend(plain.encode_utf8(&mut [0; 4]).bytes());
    Some(bytes)
}

/// Keys that send a sequence.
fn special(name: &str, modifier: u8, is_application: bool) -> Option<Vec<u8>> {
    let cursor = match name {
        "up" => Some('A'),
        "down" => Some('B'),
        "right" => Some('C'),
        "left" => Some('D'),
        "end" => Some('F'),
        "home" => Some('H'),
        _ => None,
    };
    if let Some(letter) = cursor {
        let text = match (modifier, is_application) {
            (1, true) => format!("\x1bO{letter}"),
            (1, false) => format!("\x1b[{letter}"),
            _ => format!("\x1b[1;{modifier}{letter}"),
        };
        return Some(text.into_bytes());
    }
    let number = match name {
        "insert" => 2,
        "delete" | "del" => 3,
        "pgup" | "pageup" => 5,
        "pgdn" | "pagedown" => 6,
        "f5" => 15,
        "f6" => 17,
        "f7" => 18,
        "f8" => 19,
        "f9" => 20,
        "f10" => 21,
        "f11" => 23,
        "f12" => 24,
        "f1" | "f2" | "f3" | "f4" => {
            let letter = char::from(name.as_bytes()[1] - b'1' + b'P');
            let plain = modifier == 1;
            let text =
                if plain { format!("\x1bO{letter}") } else { format!("\x1b[1;{modifier}{letter}") };
            return Some(text.into_bytes());
        }
        _ => return None,
    };
    let held = if modifier == 1 { String::new() } else { format!(";{modifier}") };
    Some(format!("\x1b[{number}{held}~").into_bytes())
}

fn single(name: &str) -> Option<char> {
    let mut characters = name.chars();
    let only = characters.next().filter(|character| !character.is_control())?;
    characters.next().is_none().then_some(only)
}

/// The character that the control key makes of another, where it makes one.
fn controlled(character: char) -> Option<char> {
    match character.to_ascii_uppercase() {
        ' ' | '@' => Some('\0'),
        '?' => Some('\x7f'),
        letter @ 'A'..='_' => char::from_u32(u32::from(letter) & 0x1f),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(names: &str, is_application: bool, expected: &str) {
        let said = match keys(names, is_application) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error,
        };
        assert_eq!(said, expected, "{names}");
    }

    #[test]
    fn names_are_bytes() {
        check("enter, tab,esc space", false, "\r\t\x1b ");
        check("up down right left home end", false, "\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F");
        check("up,home,ctrl-up", true, "\x1bOA\x1bOH\x1b[1;5A");
        check("pgup PgDn insert delete backspace", false, "\x1b[5~\x1b[6~\x1b[2~\x1b[3~\x7f");
        check(
            "f1 f4 f5 f12 shift-f1 alt-f5",
            false,
            "\x1bOP\x1bOS\x1b[15~\x1b[24~\x1b[1;2P\x1b[15;3~",
        );
        check("ctrl-c c-d C-z ctrl-[ ctrl-space", false, "\x03\x04\x1a\x1b\0");
        check("alt-x m-enter shift-tab shift-a q :", false, "\x1bx\x1b\r\x1b[ZAq:");
        check("- + \u{e9}", false, "-+\u{e9}");
    }

    #[test]
    fn what_is_no_key_is_named() {
        let wrong = |name: &str| format!("there is no key `{name}`; there are {NAMES}");
        for name in ["c-", "ctrl-", "hyper-x", "f13", "f0", "ctrl-1", "enterr", "ctrl-ctrl-"] {
            check(name, false, &wrong(name));
        }
        check(" ,, ", false, &format!("keys holds 0 names; give 1 to {KEYS_MAX}: {NAMES}"));
        let many = "a ".repeat(KEYS_MAX + 1);
        check(&many, false, &format!("keys holds 257 names; give 1 to {KEYS_MAX}: {NAMES}"));
        assert!(keys(&"a ".repeat(KEYS_MAX), false).is_ok());
    }

    proptest! {
        #[test]
        fn no_names_panic(names: String) {
            let _ = keys(&names, true);
        }
    }
}
