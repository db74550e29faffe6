//! What stands in the text as one piece: each unit is one character that no keyboard writes.

use super::draft::Part;

/// The first of the characters that stand for units. Unicode has nothing here, and says that
/// nothing ever joins with what is here: each is a grapheme of its own, whatever stands beside it.
const FIRST: u32 = 0xE_0200;

/// The most units of one composer, those in its kill ring included.
pub const UNITS_MAX: usize = 1_000;

/// Whether the character stands for a unit.
pub(super) fn is_marker(letter: char) -> bool {
    (FIRST..FIRST + UNITS_MAX as u32).contains(&u32::from(letter))
}

/// The text without the characters that would stand for units, and with one kind of line break.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                letters.next_if_eq(&'\n');
                clean.push('\n');
            }
            _ if is_marker(letter) => {}
            _ => clean.push(letter),
        }
    }
    clean
}

/// The units by their characters.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// Absent when nothing mentions it any more.
    slots: Vec<Option<Unit>>,
}

#[derive(Debug)]
struct Unit {
    /// Never text.
    part: Part,
    /// Made once: it is drawn with every frame, and counts the lines of what may be megabytes.
    label: String,
}

impl Units {
    /// A character for the unit; none when all are taken.
    pub(super) fn add(&mut self, part: Part) -> Option<char> {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free >= UNITS_MAX {
            return None;
        }
        if free == self.slots.len() {
            self.slots.push(None);
        }
        let label = part.label();
        self.slots[free] = Some(Unit { part, label });
        char::from_u32(FIRST + free as u32)
    }

    /// What the grapheme stands for, if it stands for a unit.
    pub(super) fn get(&self, grapheme: &str) -> Option<&Part> {
        self.unit(grapheme).map(|unit| &unit.part)
    }

    /// How the unit is shown that the grapheme stands for.
    pub(super) fn label(&self, grapheme: &str) -> Option<&str> {
        self.unit(grapheme).map(|unit| unit.label.as_str())
    }

    fn unit(&self, grapheme: &str) -> Option<&Unit> {
        let letter = grapheme.chars().next().filter(|letter| is_marker(*letter))?;
        self.slots.get((u32::from(letter) - FIRST) as usize)?.as_ref()
    }

    /// Bytes of all pastes and images that are held.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |unit: &Unit| match &unit.part {
            Part::Text(text) => text.len(),
            Part::Paste(text) => text.len(),
            Part::Image(image) => match &image.source {
                super::draft::ImageSource::Bytes(bytes) => bytes.len(),
                super::draft::ImageSource::Path(_) => 0,
            },
        };
        self.slots.iter().flatten().map(bytes).sum()
    }

    /// Forgets the units that none of these texts mentions.
    pub(super) fn keep<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let mut mentioned = vec![false; self.slots.len()];
        for letter in texts.flat_map(str::chars).filter(|letter| is_marker(*letter)) {
            if let Some(place) = mentioned.get_mut((u32::from(letter) - FIRST) as usize) {
                *place = true;
            }
        }
        for (slot, mentioned) in self.slots.iter_mut().zip(mentioned) {
            slot.take_if(|_| !mentioned);
        }
    }

    /// The text as parts, each unit as what it stands for.
    pub(super) fn parts(&self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        for letter in text.chars() {
            match self.get(letter.encode_utf8(&mut [0; 4])) {
                Some(unit) => {
                    if !plain.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(unit.clone());
                }
                None => plain.push(letter),
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        parts
    }
}
