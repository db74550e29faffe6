//! Which lines of Markdown belong together, decided as each line is complete and never revised.
//!
//! This is what makes a stream cheap: a block that was handed out is not looked at again. It follows
//! CommonMark's way of opening and closing containers line by line; the inside of a paragraph, a
//! table or a heading is left to the parser in `leaf`.

use super::super::highlight::CodePlace;
use super::starts::{self, Fence, Marker};

/// The most bytes one block of text holds before it is cut at a line's end, so that a paragraph or
/// table without an end costs what it grows.
pub(super) const SEGMENT_BYTES_MAX: usize = 16 * 1024;
/// A block of code is handed out in pieces of so many lines: what is still open has to fit a small
/// terminal.
pub(super) const CODE_PIECE_LINES: usize = 12;
/// Quotes and items within each other; what is deeper is text.
pub(super) const DEPTH_MAX: usize = 16;

/// A stretch that is drawn by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Quotes and items it stands in, the outermost first.
    pub(super) margins: Vec<Margin>,
    /// Whether an empty line stands before it, and how many of the margins it stands in.
    pub(super) gap: Option<usize>,
    pub(super) body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Margin {
    Quote,
    /// An item; its marker stands before its first segment only.
    Item {
        marker: Option<String>,
        cells: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    /// A paragraph, heading, rule, table or HTML, as Markdown.
    Text(String),
    /// Lines of code, each with its line feed; the first piece of a block has its label.
    Code { place: CodePlace, text: String, label: Option<String> },
}

/// Takes lines, gives segments.
#[derive(Debug, Clone, Default)]
pub(super) struct Scanner {
    containers: Vec<Container>,
    leaf: Leaf,
    opened: Opened,
    /// Whether the last line was empty.
    is_after_blank: bool,
    /// How many containers have stood since the last segment began.
    kept: usize,
    last: Option<Shape>,
    /// The item that this line closed, which its sibling goes on counting from.
    popped: Option<(usize, char, u64)>,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone)]
enum Container {
    Quote,
    Item {
        /// The columns a line has to be indented by to belong to it.
        columns: usize,
        kind: char,
        number: u64,
        /// Taken by the first segment.
        marker: Option<String>,
        cells: usize,
    },
}

#[derive(Debug, Clone, Default)]
enum Leaf {
    #[default]
    None,
    Text(String),
    Fence {
        fence: Fence,
        code: Code,
    },
    Indented {
        code: Code,
        blanks: usize,
    },
}

#[derive(Debug, Clone)]
struct Code {
    place: CodePlace,
    label: Option<String>,
    text: String,
    lines: usize,
    is_first: bool,
}

/// What was so when the open leaf began.
#[derive(Debug, Clone, Copy, Default)]
struct Opened {
    is_after_blank: bool,
    kept: usize,
    goes_on: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Heading,
    Table,
    Code,
}

impl Scanner {
    /// Takes a line without its line feed. `goes_on` says that it is the rest of a line that was
    /// too long for one.
    pub(super) fn line(&mut self, line: &str, goes_on: bool) {
        if goes_on && let Leaf::Text(text) = &mut self.leaf {
            text.push_str(line);
            self.cut_text(0);
            return;
        }
        self.popped = None;
        let mut rest = line;
        let matched = self.matched(&mut rest);
        let all = matched == self.containers.len();
        if all && self.is_code(rest) {
            return;
        }
        if rest.trim_start_matches(' ').is_empty() {
            self.close_leaf_unless_code();
            self.truncate(matched);
            self.is_after_blank = true;
            return;
        }
        if !all {
            // A paragraph goes on without the signs of its containers.
            if matches!(self.leaf, Leaf::Text(_)) && !starts::is_block(rest) {
                self.push_text(rest);
                return;
            }
            self.truncate(matched);
        }
        let rest = self.open_containers(rest);
        self.open_leaf(rest);
    }

    /// There is no more.
    pub(super) fn finish(&mut self) {
        self.truncate(0);
        self.close_leaf();
    }

    /// What is complete.
    pub(super) fn take(&mut self) -> Vec<Segment> {
        std::mem::take(&mut self.segments)
    }

    /// How many containers the line goes on in; their signs are taken off it.
    fn matched(&self, rest: &mut &str) -> usize {
        for (depth, container) in self.containers.iter().enumerate() {
            let indent = starts::indent(rest);
            match container {
                Container::Quote => match rest[indent..].strip_prefix('>') {
                    Some(inner) if indent < 4 => *rest = inner.strip_prefix(' ').unwrap_or(inner),
                    _ => return depth,
                },
                Container::Item { columns, .. } => {
                    if indent == rest.len() {
                        *rest = "";
                    } else if indent >= *columns {
                        *rest = &rest[*columns..];
                    } else {
                        return depth;
                    }
                }
            }
        }
        self.containers.len()
    }

    /// Whether the line belongs to open code.
    fn is_code(&mut self, rest: &str) -> bool {
        let indent = starts::indent(rest);
        let full = match &mut self.leaf {
            Leaf::Fence { fence, .. } if fence.is_closed_by(rest) => {
                self.close_leaf();
                return true;
            }
            Leaf::Fence { fence, code } => code.push(&rest[indent.min(fence.indent)..]),
            Leaf::Indented { blanks, .. } if indent == rest.len() => {
                *blanks += 1;
                return true;
            }
            Leaf::Indented { code, blanks } if indent >= 4 => {
                for _ in 0..std::mem::take(blanks) {
                    code.push("");
                }
                code.push(&rest[4..])
            }
            Leaf::Indented { blanks, .. } => {
                self.is_after_blank = *blanks > 0;
                self.close_leaf();
                return false;
            }
            Leaf::None | Leaf::Text(_) => return false,
        };
        if full {
            self.emit_code();
        }
        true
    }

    fn open_containers<'a>(&mut self, line: &'a str) -> &'a str {
        let mut rest = line;
        loop {
            let indent = starts::indent(rest);
            if indent >= 4 || self.containers.len() >= DEPTH_MAX {
                return rest;
            }
            let body = &rest[indent..];
            let has_text = matches!(self.leaf, Leaf::Text(_));
            if let Some(inner) = body.strip_prefix('>') {
                self.close_leaf();
                self.containers.push(Container::Quote);
                rest = inner.strip_prefix(' ').unwrap_or(inner);
                continue;
            }
            if starts::is_rule(body) {
                return rest;
            }
            let Some(marker) = Marker::of(body).filter(|marker| !has_text || marker.interrupts)
            else {
                return rest;
            };
            self.close_leaf();
            self.push_item(&marker, indent);
            rest = marker.rest;
            if rest.is_empty() {
                return rest;
            }
        }
    }

    fn push_item(&mut self, marker: &Marker<'_>, indent: usize) {
        let depth = self.containers.len();
        let number = match self.popped {
            Some((at, kind, number)) if at == depth && kind == marker.kind => {
                number.saturating_add(1)
            }
            _ => marker.number,
        };
        let shown = marker.shown(number);
        self.containers.push(Container::Item {
            columns: indent + marker.columns,
            kind: marker.kind,
            number,
            cells: super::super::width(&shown),
            marker: Some(shown),
        });
    }

    fn open_leaf(&mut self, rest: &str) {
        if rest.is_empty() {
            return;
        }
        let indent = starts::indent(rest);
        let body = &rest[indent..];
        let has_text = matches!(self.leaf, Leaf::Text(_));
        if indent >= 4 && !has_text {
            self.begin();
            let mut code = Code::new("", None);
            code.push(&rest[4..]);
            self.leaf = Leaf::Indented { code, blanks: 0 };
        } else if indent >= 4 {
            self.push_text(rest);
        } else if has_text && starts::is_underline(body) {
            self.push_text(rest);
            self.close_leaf();
        } else if let Some((fence, info)) = Fence::of(rest) {
            self.close_leaf();
            self.begin();
            let label = (!info.is_empty()).then(|| info.to_owned());
            let code = Code::new(starts::language(info), label);
            self.leaf = Leaf::Fence { fence, code };
        } else if starts::is_heading(body) || starts::is_rule(body) {
            self.close_leaf();
            self.push_text(rest);
            self.close_leaf();
        } else {
            self.push_text(rest);
        }
    }

    fn begin(&mut self) {
        self.kept = self.kept.min(self.containers.len());
        self.opened =
            Opened { is_after_blank: self.is_after_blank, kept: self.kept, goes_on: false };
        self.is_after_blank = false;
        self.kept = self.containers.len();
    }

    fn push_text(&mut self, line: &str) {
        let line = line.trim_start_matches(' ');
        if matches!(self.leaf, Leaf::Text(_)) {
            self.cut_text(line.len());
        } else {
            self.begin();
            self.leaf = Leaf::Text(String::new());
        }
        if let Leaf::Text(text) = &mut self.leaf {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
        }
    }

    /// Hands out the text there is when more would be too much; a table's head is said again.
    fn cut_text(&mut self, more: usize) {
        let Leaf::Text(text) = &mut self.leaf else { return };
        if text.len() + more <= SEGMENT_BYTES_MAX {
            return;
        }
        let head = starts::table_head(text).filter(|head| head.len() < SEGMENT_BYTES_MAX / 2);
        let head = head.map(|head| format!("{head}\n")).unwrap_or_default();
        let text = std::mem::replace(text, head);
        self.emit(Body::Text(text));
        self.opened.goes_on = true;
    }

    fn close_leaf_unless_code(&mut self) {
        if matches!(self.leaf, Leaf::Text(_)) {
            self.close_leaf();
        }
    }

    fn close_leaf(&mut self) {
        match std::mem::take(&mut self.leaf) {
            Leaf::None => {}
            Leaf::Text(text) => self.emit(Body::Text(text)),
            Leaf::Fence { code, .. } | Leaf::Indented { code, .. } => {
                if !code.text.is_empty() || code.is_first {
                    self.emit(code.into_body());
                }
            }
        }
    }

    /// Hands out the lines of code there are; the block stays open.
    fn emit_code(&mut self) {
        let (Leaf::Fence { code, .. } | Leaf::Indented { code, .. }) = &mut self.leaf else {
            return;
        };
        let next = Code {
            place: code.place.after(&code.text),
            label: None,
            text: String::new(),
            lines: 0,
            is_first: false,
        };
        let piece = std::mem::replace(code, next).into_body();
        self.emit(piece);
        self.opened.goes_on = true;
    }

    fn emit(&mut self, body: Body) {
        let shape = match &body {
            Body::Code { .. } => Shape::Code,
            Body::Text(text) if starts::is_heading(text) => Shape::Heading,
            Body::Text(text) if starts::table_head(text).is_some() => Shape::Table,
            Body::Text(_) => Shape::Text,
        };
        let begins_item = self
            .containers
            .iter()
            .any(|container| matches!(container, Container::Item { marker: Some(_), .. }));
        let stands_alone = |shape| matches!(shape, Shape::Code | Shape::Table);
        let wants_gap = self.opened.is_after_blank
            || (!begins_item && (stands_alone(shape) || shape == Shape::Heading))
            || self.last.is_some_and(stands_alone);
        let has_gap = self.last.is_some() && !self.opened.goes_on && wants_gap;
        let margins = self.containers.iter_mut().map(Container::margin).collect();
        self.segments.push(Segment { margins, gap: has_gap.then_some(self.opened.kept), body });
        self.last = Some(shape);
    }

    /// Closes the containers from `depth` on and what is open in them.
    fn truncate(&mut self, depth: usize) {
        if depth >= self.containers.len() {
            return;
        }
        self.close_leaf();
        // An item without text has its marker all the same.
        let has_marker =
            |container: &Container| matches!(container, Container::Item { marker: Some(_), .. });
        if self.containers[depth..].iter().any(has_marker) {
            self.begin();
            self.emit(Body::Text(String::new()));
        }
        if let Container::Item { kind, number, .. } = &self.containers[depth] {
            self.popped = Some((depth, *kind, *number));
        }
        self.containers.truncate(depth);
        self.kept = self.kept.min(depth);
    }
}

impl Container {
    fn margin(&mut self) -> Margin {
        match self {
            Self::Quote => Margin::Quote,
            Self::Item { marker, cells, .. } => {
                Margin::Item { marker: marker.take(), cells: *cells }
            }
        }
    }
}

impl Code {
    fn new(language: &str, label: Option<String>) -> Self {
        let place = CodePlace::start(language);
        Self { place, label, text: String::new(), lines: 0, is_first: true }
    }

    /// Takes a line; whether the piece is now full.
    fn push(&mut self, line: &str) -> bool {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
        self.lines >= CODE_PIECE_LINES
    }

    fn into_body(self) -> Body {
        Body::Code { place: self.place, text: self.text, label: self.label }
    }
}
