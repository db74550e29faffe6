//! A pattern's way from ECMA-262's words into Rust's, with a count of what a match will cost.

use std::mem;

/// The longest pattern, and the most groups within each other.
const TEXT_BYTES_MAX: usize = 100_000;
const GROUPS_DEEP_MAX: usize = 64;

/// What something weighs: at about so many places of it a match can be at once. A set of characters
/// that are not all of ASCII is itself a small pattern over bytes, and one by a property a large one.
pub(super) const WIDE_WEIGHT: usize = 4;
pub(super) const PROPERTY_WEIGHT: usize = 16;

/// The most memory that matching builds up for a part of a pattern: the engine's own bound, for each
/// of its two directions.
const PART_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What it takes to remember once where a match can be, in both directions.
const PLACES_BYTES: usize = 2 * 1024;

const ANY_BUT_LINE_ENDS: &str = r"[^\n\r\u{2028}\u{2029}]";
/// Matches between characters, and stands after what is repeated without end, since fancy-regex
/// takes `a+b*a+` for `a+(?:b+a+)?`, which is found in `a`; after whatever is repeated where somebody
/// asks what a group found, since it takes `(a?)+` for `(a*)`; and in groups that it would not repeat.
const APART: &str = "a{0}";
/// Groups that capture nothing, without their parenthesis.
const GROUPS: [(&str, Kind); 5] = [
    ("?:", Kind::Plain),
    ("?=", Kind::Ahead),
    ("?!", Kind::Ahead),
    ("?<=", Kind::Behind),
    ("?<!", Kind::Behind),
];

/// A pattern in Rust's words.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) pattern: String,
    pub(super) weight: usize,
    /// The most memory that matching builds up.
    pub(super) matching_bytes: usize,
    /// It looks around, or back at what was found, which is done by going back step by step.
    pub(super) looks: bool,
    /// It may take up all of a text, or look around for that much.
    pub(super) is_endless: bool,
    /// It looks around again and again, each time as far as there is text.
    pub(super) looks_far: bool,
    /// Groups keep what they find.
    pub(super) looks_back: bool,
}

/// Translates a pattern; if that fails, why.
pub(super) fn translated(text: &str) -> Result<Translated, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("is longer than {TEXT_BYTES_MAX} bytes"));
    }
    let mut translation = Translation {
        rest: text,
        out: String::new(),
        outer: Vec::new(),
        group: Group::new(Kind::Plain),
        captures: Vec::new(),
        looks_back: looks_back(text),
        atom: None,
        atom_looks_far: false,
        looks_far: false,
    };
    translation.all()?;
    let Translation { out, mut group, outer, looks_far, looks_back, .. } = translation;
    if !outer.is_empty() {
        // In the engine's words, which would count the place in what it was given.
        let why = "Opening parenthesis without closing parenthesis";
        return Err(format!("cannot be used: Parsing error at position {}: {why}", text.len()));
    }
    group.end_way();
    let whole_bytes = matching_bytes(group.weight);
    // Where something looks around, the whole is only what finds the place to begin at.
    let parts_bytes = if group.looks { group.matching_bytes } else { 0 };
    Ok(Translated {
        pattern: out,
        weight: group.weight,
        matching_bytes: whole_bytes.saturating_add(parts_bytes),
        looks: group.looks,
        is_endless: group.is_endless,
        looks_far,
        looks_back,
    })
}

pub(super) struct Translation<'t> {
    pub(super) rest: &'t str,
    pub(super) out: String,
    /// Groups around the one that is read, and that one; the outermost is the whole.
    pub(super) outer: Vec<Group>,
    pub(super) group: Group,
    pub(super) captures: Vec<Capture<'t>>,
    /// What groups found is asked for; what nothing asks for costs time and memory all the same.
    looks_back: bool,
    /// What the thing weighs that was read last, if it may be repeated.
    pub(super) atom: Option<usize>,
    /// That looks around as far as there is text.
    atom_looks_far: bool,
    /// Something is repeated that does.
    looks_far: bool,
}

pub(super) struct Group {
    pub(super) kind: Kind,
    pub(super) looks: bool,
    /// It may take up all of the text, or look around for that much.
    pub(super) is_endless: bool,
    looks_far: bool,
    /// Of the ways that have ended with a bar, and of the one that is read.
    weight: usize,
    way_weight: usize,
    /// Of the way that is read, what groups weigh that are no part of it when it is compiled.
    apart_weight: usize,
    matching_bytes: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Plain,
    /// By its index.
    Capture(usize),
    Ahead,
    Behind,
}

pub(super) struct Capture<'t> {
    /// Empty if it has none.
    pub(super) name: &'t str,
    pub(super) has_ended: bool,
}

/// How often something is repeated.
struct Times {
    min: u32,
    /// Without end if there is none.
    max: Option<u32>,
}

impl<'t> Translation<'t> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(char) = self.next() {
            match char {
                '(' => self.begin()?,
                ')' => self.end()?,
                '|' => {
                    self.out.push('|');
                    self.group.end_way();
                    self.atom = None;
                }
                '*' | '+' => self.repeat(char, Times { min: 0, max: None })?,
                '?' => self.repeat(char, Times { min: 0, max: Some(1) })?,
                '{' => match self.count()? {
                    Some(times) => self.repeat('{', times)?,
                    None => self.put(r"\{", 1),
                },
                '[' => self.class()?,
                '\\' => self.escape()?,
                '.' => self.put(ANY_BUT_LINE_ENDS, WIDE_WEIGHT),
                '^' => self.put_empty("^", 1),
                '$' => self.put_empty("$", 1),
                other => {
                    self.out.push(other);
                    self.weigh(other.len_utf8());
                }
            }
        }
        Ok(())
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.rest = &self.rest[char.len_utf8()..];
        Some(char)
    }

    pub(super) fn eat(&mut self, prefix: &str) -> bool {
        self.rest.strip_prefix(prefix).map(|rest| self.rest = rest).is_some()
    }

    /// Writes something that may be repeated.
    pub(super) fn put(&mut self, text: &str, weight: usize) {
        self.out += text;
        self.weigh(weight);
    }

    /// Writes something that matches between characters.
    pub(super) fn put_empty(&mut self, text: &str, weight: usize) {
        self.put(text, weight);
        self.atom = None;
    }

    pub(super) fn weigh(&mut self, weight: usize) {
        self.group.way_weight = self.group.way_weight.saturating_add(weight);
        self.atom = Some(weight);
        self.atom_looks_far = false;
    }

    /// What follows a parenthesis that opens.
    fn begin(&mut self) -> Result<(), String> {
        let kind = if let Some((start, kind)) = GROUPS.into_iter().find(|(it, _)| self.eat(it)) {
            self.out.push('(');
            self.out += start;
            kind
        } else if self.eat("?<") {
            let name = self.name().ok_or_else(|| "has a group without a name".to_owned())?;
            if self.captures.iter().any(|it| it.name == name) {
                return Err(format!("has two groups with the name `{name}`"));
            }
            // Rust refuses names beside the numbers that all references are written as.
            self.capture(name)
        } else if self.rest.starts_with('?') {
            let start: String = self.rest.chars().take(2).collect();
            return Err(format!("has the group `({start}`, which ECMA-262 does not know"));
        } else {
            self.capture("")
        };
        if self.outer.len() == GROUPS_DEEP_MAX {
            return Err(format!("has more than {GROUPS_DEEP_MAX} groups within each other"));
        }
        // A look-behind is never repeated, and with this would not be seen to have ways of one length.
        let is_odd = self.rest.starts_with(')') || self.rest.starts_with("(?");
        if is_odd && kind != Kind::Behind {
            self.out += APART;
        }
        self.outer.push(mem::replace(&mut self.group, Group::new(kind)));
        self.atom = None;
        Ok(())
    }

    fn capture(&mut self, name: &'t str) -> Kind {
        self.out += if self.looks_back { "(" } else { "(?:" };
        self.captures.push(Capture { name, has_ended: false });
        Kind::Capture(self.captures.len() - 1)
    }

    /// A name up to the bracket that ends it.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        let (name, rest) = self.rest.split_once('>')?;
        let is_of_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
        let is_name =
            !name.is_empty() && !name.starts_with(char::is_numeric) && name.chars().all(is_of_name);
        self.rest = rest;
        is_name.then_some(name)
    }

    fn end(&mut self) -> Result<(), String> {
        let outer = self.outer.pop();
        let outer = outer.ok_or_else(|| "has a parenthesis that nothing opens".to_owned())?;
        let mut ended = mem::replace(&mut self.group, outer);
        ended.end_way();
        self.out.push(')');
        let is_look = matches!(ended.kind, Kind::Ahead | Kind::Behind);
        // What is looked for is one part, unless something looks around within.
        let bytes = match is_look && !ended.looks {
            true => matching_bytes(ended.weight),
            false => ended.matching_bytes,
        };
        self.group.matching_bytes = self.group.matching_bytes.saturating_add(bytes);
        self.group.looks |= is_look || ended.looks;
        self.group.is_endless |= ended.is_endless;
        let looks_far = ended.looks_far || is_look && ended.is_endless;
        self.group.looks_far |= looks_far;
        if let Kind::Capture(index) = ended.kind {
            self.captures[index].has_ended = true;
        }
        self.weigh(ended.weight);
        self.atom_looks_far = looks_far;
        if is_look || ended.looks {
            self.group.apart_weight = self.group.apart_weight.saturating_add(ended.weight);
        }
        if is_look {
            self.atom = None;
        }
        Ok(())
    }

    /// What follows a brace, if it says how often: `2}`, `2,}` or `2,3}`.
    fn count(&mut self) -> Result<Option<Times>, String> {
        let rest = self.rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == ',');
        let count = &self.rest[..self.rest.len() - rest.len()];
        let (min, max) = count.split_once(',').unwrap_or((count, count));
        let Some(rest) = rest.strip_prefix('}') else { return Ok(None) };
        if min.is_empty() || max.contains(',') {
            return Ok(None);
        }
        let number =
            |digits: &str| digits.parse().map_err(|_| "has a count that is too large".to_owned());
        let times = Times {
            min: number(min)?,
            max: if max.is_empty() { None } else { Some(number(max)?) },
        };
        if times.max.is_some_and(|max| max < times.min) {
            return Err("has a count that ends before it begins".to_owned());
        }
        self.rest = rest;
        self.out += &format!("{{{count}}}");
        Ok(Some(times))
    }

    /// Repeats what was read last, which is as heavy as if it were written so often.
    fn repeat(&mut self, how: char, times: Times) -> Result<(), String> {
        let Some(weight) = self.atom.take() else {
            return Err(format!("has a `{how}` with nothing to repeat"));
        };
        if how != '{' {
            self.out.push(how);
        }
        if self.eat("?") {
            self.out.push('?');
        }
        self.group.is_endless |= times.max.is_none();
        self.looks_far |= self.atom_looks_far && times.max.is_none_or(|max| max > 1);
        if self.rest.starts_with('+') {
            return Err("makes a quantifier possessive, which ECMA-262 does not know".to_owned());
        }
        let written = times.max.unwrap_or(times.min.saturating_add(1));
        let more = usize::try_from(written.saturating_sub(1)).unwrap_or(usize::MAX);
        self.weigh(weight.saturating_mul(more).saturating_add(1));
        self.atom = None;
        if (times.max.is_none() || self.looks_back) && !self.rest.is_empty() {
            self.out += APART;
        }
        Ok(())
    }
}

impl Group {
    fn new(kind: Kind) -> Self {
        let (looks, is_endless, looks_far) = (false, false, false);
        let (weight, way_weight, apart_weight, matching_bytes) = (0, 0, 0, 0);
        Self {
            kind,
            looks,
            is_endless,
            looks_far,
            weight,
            way_weight,
            apart_weight,
            matching_bytes,
        }
    }

    /// Ends one of its ways, at a bar or at its end.
    fn end_way(&mut self) {
        let bytes = matching_bytes(self.way_weight.saturating_sub(self.apart_weight));
        self.matching_bytes = self.matching_bytes.saturating_add(bytes);
        self.weight = self.weight.saturating_add(self.way_weight).saturating_add(1);
        (self.way_weight, self.apart_weight) = (0, 0);
    }
}

/// Whether there may be a reference back.
fn looks_back(text: &str) -> bool {
    let is_reference = |after: &str| after.starts_with(|first| matches!(first, 'k' | '1'..='9'));
    text.split('\\').skip(1).any(is_reference)
}

/// The most memory that matching builds up for a part: in a small one, a match can only be at so many
/// sets of places, in different orders.
fn matching_bytes(weight: usize) -> usize {
    (PLACES_BYTES << (2 * weight.min(8))).min(PART_BYTES_MAX)
}
