//! The little languages that run and write from within an argument: sed and awk.

pub(crate) mod awk;
pub(crate) mod sed;

use std::iter::Peekable;
use std::str::Chars;

/// Goes past brackets of a regular expression, of which the first was read; none where they are not
/// closed. What ends the expression may stand in them. Only some languages have an escape there.
fn brackets(chars: &mut Peekable<Chars<'_>>, escape: Option<char>) -> Option<()> {
    chars.next_if_eq(&'^');
    chars.next_if_eq(&']');
    loop {
        match chars.next()? {
            ']' => return Some(()),
            '[' => {
                // A class such as `[:alpha:]`, in which a bracket closes nothing.
                let class = chars.next_if(|c| matches!(c, ':' | '.' | '='));
                while let Some(kind) = class
                    && !(chars.next()? == kind && chars.next_if_eq(&']').is_some())
                {
                }
            }
            c if Some(c) == escape => drop(chars.next()?),
            _ => {}
        }
    }
}
