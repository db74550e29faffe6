//! Keys with Ctrl on layouts that have no Latin letters: what counts is where the key is.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The letters of a layout, each behind the Latin one on the same key.
const LAYOUTS: &[&str] = &[
    "qйwцeуrкtеyнuгiшoщpзaфsыdвfаgпhрjоkлlдzяxчcсvмbиnтmь",
    "sіoў",
    "wςeεrρtτyυuθiιoοpπaαsσdδfφgγhηjξkκlλzζxχcψvωbβnνmμ",
    "eקrרtאyטuוiןoםpפaשsדdגfכgעhיjחkלlךzזxסcבvהbנnמmצ",
];

/// The key that a Latin layout has there, with Ctrl alone: a terminal that tells keys with all their
/// modifiers gives the letter of the layout.
pub(super) fn latin(mut key: KeyEvent) -> KeyEvent {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if let KeyCode::Char(letter) = key.code
        && has_control
        && !letter.is_ascii()
        && !key.modifiers.contains(KeyModifiers::ALT)
    {
        let lower = letter.to_lowercase().next();
        let found = LAYOUTS.iter().find_map(|layout| {
            let mut letters = layout.chars();
            std::iter::from_fn(|| Some((letters.next()?, letters.next())))
                .find(|(_, other)| *other == lower)
        });
        key.code = KeyCode::Char(found.map_or(letter, |(latin, _)| latin));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_control_the_place_of_a_key_counts() {
        let control = KeyModifiers::CONTROL;
        for (letter, modifiers, expected) in [
            ('с', control, 'c'),
            ('С', control | KeyModifiers::SHIFT, 'c'),
            ('в', control, 'd'),
            ('е', control, 't'),
            ('я', control, 'z'),
            ('к', control, 'r'),
            ('і', control, 's'),
            ('ψ', control, 'c'),
            ('δ', control, 'd'),
            ('ζ', control, 'z'),
            ('ב', control, 'c'),
            ('ג', control, 'd'),
            ('א', control, 't'),
            ('é', control, 'é'),
            ('c', control, 'c'),
            ('с', KeyModifiers::NONE, 'с'),
            ('с', control | KeyModifiers::ALT, 'с'),
        ] {
            let key = latin(KeyEvent::new(KeyCode::Char(letter), modifiers));
            assert_eq!(key, KeyEvent::new(KeyCode::Char(expected), modifiers), "{letter}");
        }
    }
}
