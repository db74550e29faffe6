//! Words after quotes are removed, with holes where the value is known only when the line runs.

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) atoms: Vec<Atom>,
}

/// The smallest part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A character that may still mean something to the shell: a brace, a pattern.
    Plain(char),
    /// A character that means itself.
    Quoted(char),
    /// A value that is known only when the line runs.
    Hole(Hole),
}

/// What stands where a value is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) source: String,
    pub(crate) kind: HoleKind,
    /// Whether its value stays one word.
    pub(crate) is_whole: bool,
}

impl Hole {
    /// One whose value may become several words.
    pub(crate) fn new(source: &str, kind: HoleKind) -> Self {
        Self { source: source.to_owned(), kind, is_whole: false }
    }
}

/// What computes a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HoleKind {
    Variable(String),
    Commands,
    /// A new file or folder in the private temp.
    Temp,
    /// What another program passes on.
    Fed,
    /// The home of another user.
    ForeignHome,
    /// A number, or nothing.
    Number,
    /// A position, a list: anything else.
    Other,
}

/// The most words that braces may make of one; more are one word that is computed.
const BRACES_MAX: usize = 256;

impl Word {
    /// A word that means just this text.
    pub(crate) fn literal(text: &str) -> Self {
        Self { atoms: text.chars().map(Atom::Quoted).collect() }
    }

    /// A word of which nothing is known.
    pub(crate) fn computed(source: &str) -> Self {
        let hole = Hole::new(source, HoleKind::Other);
        Self { atoms: vec![Atom::Hole(hole)] }
    }

    /// A word that another program passes on.
    pub(crate) fn fed(source: &str) -> Self {
        let hole = Hole::new(source, HoleKind::Fed);
        Self { atoms: vec![Atom::Hole(hole)] }
    }

    /// Whether another program decides how the word begins.
    pub(crate) fn is_fed(&self) -> bool {
        self.leading_hole().is_some_and(|hole| hole.kind == HoleKind::Fed)
    }

    /// The text after quotes are removed; what is computed keeps its source text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.atoms.len());
        for atom in &self.atoms {
            match atom {
                Atom::Plain(c) | Atom::Quoted(c) => text.push(*c),
                Atom::Hole(hole) => text.push_str(&hole.source),
            }
        }
        text
    }

    /// The text, where it is surely this.
    pub(crate) fn known(&self) -> Option<String> {
        (!self.has_hole() && !self.has_pattern()).then(|| self.text())
    }

    /// What is known of a word that is made when the line runs: a `*` stands wherever it may be
    /// anything, and nothing is known of what may be any words, or none.
    pub(crate) fn shape(&self) -> Option<String> {
        if self.known().is_some() {
            return None;
        }
        let is_given = |hole: &Hole| hole.kind == HoleKind::Other && hole.source == "{}";
        let is_temp = self.leading_hole().is_some_and(|hole| hole.kind == HoleKind::Temp);
        if let [Atom::Hole(hole)] = self.atoms.as_slice()
            && !(hole.is_whole || is_temp || is_given(hole))
        {
            return Some(String::new());
        }
        let is_open = |atom: &Atom| {
            let signs = |c: &char| "*?[]()@!+".contains(*c);
            matches!(atom, Atom::Hole(_)) || matches!(atom, Atom::Plain(c) if signs(c))
        };
        let first = self.atoms.iter().position(is_open)?;
        let last = self.atoms.iter().rposition(is_open)?;
        let text = |atoms: &[Atom]| Self { atoms: atoms.to_vec() }.text();
        let begin = if is_temp { "/".to_owned() } else { text(&self.atoms[..first]) };
        Some(format!("{begin}*{}", text(&self.atoms[last + 1..])))
    }

    pub(crate) fn has_hole(&self) -> bool {
        self.atoms.iter().any(|atom| matches!(atom, Atom::Hole(_)))
    }

    pub(crate) fn has_pattern(&self) -> bool {
        let opens = |atom: &Atom| matches!(atom, Atom::Plain('['));
        let bracket = self.atoms.iter().position(opens);
        let closes =
            |from: usize| self.atoms.iter().skip(from).any(|atom| *atom == Atom::Plain(']'));
        self.atoms.iter().any(|atom| matches!(atom, Atom::Plain('*' | '?')))
            || bracket.is_some_and(closes)
            || self
                .atoms
                .windows(2)
                .any(|two| matches!(two, [Atom::Plain('@' | '!' | '+'), Atom::Plain('(')]))
    }

    /// What computes the beginning of the word, if something does.
    pub(crate) fn leading_hole(&self) -> Option<&Hole> {
        match self.atoms.first() {
            Some(Atom::Hole(hole)) => Some(hole),
            _ => None,
        }
    }

    /// Whether it may turn out to be an option, though none is written.
    pub(crate) fn may_become_option(&self) -> bool {
        self.leading_hole().is_some_and(|hole| hole.kind != HoleKind::Temp)
            || matches!(self.atoms.first(), Some(Atom::Plain('*' | '?' | '[')))
    }

    /// Whether it may become options that are not written: a value without quotes may be several
    /// words, and a pattern the names of files that somebody chose.
    pub(crate) fn may_hold_options(&self) -> bool {
        let is_free = |atom: &Atom| matches!(atom, Atom::Hole(hole) if !matches!(hole.kind, HoleKind::Temp | HoleKind::Fed));
        self.atoms.iter().any(is_free) || self.may_become_option() || self.is_option_in_part()
    }

    /// Whether it is an option of which something else than the line says the rest: which one it is, or
    /// of several letters all but the first.
    pub(crate) fn is_option_in_part(&self) -> bool {
        let is_fed = |atom: &Atom| matches!(atom, Atom::Hole(hole) if hole.kind == HoleKind::Fed);
        let is_option = matches!(self.atoms.first(), Some(Atom::Plain('-') | Atom::Quoted('-')));
        is_option
            && (self.has_pattern() || self.atoms.iter().any(is_fed))
            && !self.known_prefix().contains('=')
    }

    /// The text up to the first part that is computed or a pattern.
    pub(crate) fn known_prefix(&self) -> String {
        let is_known = |atom: &&Atom| !matches!(atom, Atom::Hole(_) | Atom::Plain('*' | '?' | '['));
        let known = self.atoms.iter().take_while(is_known);
        let chars = known.filter_map(|atom| match atom {
            Atom::Plain(c) | Atom::Quoted(c) => Some(*c),
            Atom::Hole(_) => None,
        });
        chars.collect()
    }

    /// The word without its first characters.
    pub(crate) fn skip(&self, chars: usize) -> Self {
        Self { atoms: self.atoms.iter().skip(chars).cloned().collect() }
    }

    /// The words that braces make of it.
    pub(crate) fn with_braces_expanded(self) -> Vec<Self> {
        let mut words = Vec::new();
        if expand(&self.atoms, &mut words, 0) {
            return words.into_iter().map(|atoms| Self { atoms }).collect();
        }
        vec![Self::computed(&self.text())]
    }
}

/// Adds what the atoms make; false when they make too much.
fn expand(atoms: &[Atom], words: &mut Vec<Vec<Atom>>, depth: usize) -> bool {
    if depth > BRACES_MAX || words.len() > BRACES_MAX {
        return false;
    }
    let Some(brace) = Brace::first(atoms) else {
        words.push(atoms.to_vec());
        return true;
    };
    brace.choices.iter().all(|choice| {
        let all = [&atoms[..brace.start], choice, &atoms[brace.end..]].concat();
        expand(&all, words, depth + 1)
    })
}

/// Braces that make several words.
struct Brace {
    start: usize,
    end: usize,
    choices: Vec<Vec<Atom>>,
}

impl Brace {
    /// The first pair that makes several words, in one pass.
    fn first(atoms: &[Atom]) -> Option<Self> {
        // Where they are cut, and whether two dots stand in them, further in too.
        let mut open: Vec<(Vec<usize>, bool)> = Vec::new();
        let mut first: Option<Vec<usize>> = None;
        for (index, atom) in atoms.iter().enumerate() {
            match atom {
                Atom::Plain('{') => open.push((vec![index], false)),
                Atom::Plain(',') => {
                    open.last_mut().into_iter().for_each(|(cuts, _)| cuts.push(index))
                }
                Atom::Plain('.') if index > 0 && atoms[index - 1] == *atom => {
                    open.last_mut().into_iter().for_each(|(_, is_range)| *is_range = true)
                }
                Atom::Plain('}') => {
                    let Some((mut cuts, is_range)) = open.pop() else { continue };
                    open.last_mut().into_iter().for_each(|(_, outer)| *outer |= is_range);
                    cuts.push(index);
                    let is_earlier = first.as_ref().is_none_or(|first| cuts[0] < first[0]);
                    if is_earlier && (cuts.len() > 2 || is_range) {
                        first = Some(cuts);
                    }
                }
                _ => {}
            }
        }
        first.map(|cuts| Self::of(atoms, &cuts))
    }

    /// The pair with a comma at each cut between its ends.
    fn of(atoms: &[Atom], cuts: &[usize]) -> Self {
        let (start, end) = (cuts[0], cuts[cuts.len() - 1] + 1);
        let choices = if cuts.len() > 2 {
            cuts.windows(2).map(|cut| atoms[cut[0] + 1..cut[1]].to_vec()).collect()
        } else {
            let source = Word { atoms: atoms[start..end].to_vec() }.text();
            vec![vec![Atom::Hole(Hole::new(&source, HoleKind::Other))]]
        };
        Self { start, end, choices }
    }
}

/// What `$'...'` means, between its quotes; none where shells do not agree on it.
pub(crate) fn ansi_c(text: &str) -> Option<String> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escape = if c == '\\' { chars.next() } else { None };
        let Some(escape) = escape else {
            push(&mut out, c);
            continue;
        };
        let (digits_max, radix) = match escape {
            'x' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='7' => (2, 8),
            _ => (0, 10),
        };
        let is_octal = radix == 8;
        let mut value = escape.to_digit(8).filter(|_| is_octal);
        for _ in 0..digits_max {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
            chars.next();
        }
        match (escape, value) {
            // To bash the text ends here.
            (_, Some(0)) => break,
            (_, Some(value)) if is_octal || escape == 'x' => out.push(u8::try_from(value).ok()?),
            (_, Some(value)) => push(&mut out, char::from_u32(value)?),
            ('x', None) if chars.peek() == Some(&'{') => return None,
            ('c', None) => return None,
            ('n', None) => out.push(b'\n'),
            ('t', None) => out.push(b'\t'),
            ('r', None) => out.push(b'\r'),
            ('a', None) => out.push(0x07),
            ('b', None) => out.push(0x08),
            ('e' | 'E', None) => out.push(0x1b),
            ('f', None) => out.push(0x0c),
            ('v', None) => out.push(0x0b),
            ('\\' | '\'' | '"' | '?', None) => push(&mut out, escape),
            // What is no escape means itself.
            (other, None) => {
                out.push(b'\\');
                push(&mut out, other);
            }
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
