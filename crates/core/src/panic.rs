//! What a panic said: whoever is called may panic, and whoever called says why.

use std::any::Any;

/// The text of a panic's payload.
#[must_use]
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_a_text_or_nothing() {
        assert_eq!(panic_text(&"as it is"), "as it is");
        assert_eq!(panic_text(&format!("made {}", 1)), "made 1");
        assert_eq!(panic_text(&7), "no message");
    }
}
