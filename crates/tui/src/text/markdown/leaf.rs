//! The inside of a block of Markdown: paragraphs, headings, tables, rules, HTML.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::wrap;
use super::table::Table;
use crate::theme::Theme;

/// Draws a block that the scanner handed out.
pub(super) fn lines(source: &str, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    if source.trim().is_empty() {
        return vec![Line::default()];
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut leaf = Leaf::new(cells, theme);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        if leaf.depth == 0 {
            // The parser says nothing of definitions of links; who wrote them wants them seen.
            leaf.unread(source.get(leaf.read_to..range.start).unwrap_or_default());
            leaf.read_to = range.end;
        }
        if !leaf.event(event) {
            // A block within the block: the scanner saw text here, so it is shown as written.
            return plain(source, cells, theme);
        }
    }
    leaf.unread(source.get(leaf.read_to..).unwrap_or_default());
    leaf.lines
}

fn plain(source: &str, cells: usize, theme: &Theme) -> Vec<Line<'static>> {
    source
        .lines()
        .flat_map(|line| wrap(&Line::styled(line.to_owned(), theme.text), cells, 0))
        .collect()
}

struct Leaf<'a> {
    cells: usize,
    theme: &'a Theme,
    lines: Vec<Line<'static>>,
    /// What is open, blocks and spans alike.
    depth: usize,
    /// How far the source was read.
    read_to: usize,
    inline: Inline,
    /// Styles around what comes next, the innermost last.
    styles: Vec<Style>,
    links: Vec<Link>,
    table: Option<Table>,
}

/// Text with styles, line by line, not yet wrapped.
#[derive(Default)]
struct Inline {
    lines: Vec<Vec<Span<'static>>>,
}

struct Link {
    address: String,
    /// What stands there so far, to tell whether it says the address anyway.
    text: String,
    is_image: bool,
}

impl<'a> Leaf<'a> {
    fn new(cells: usize, theme: &'a Theme) -> Self {
        Self {
            cells,
            theme,
            lines: Vec::new(),
            depth: 0,
            read_to: 0,
            inline: Inline::default(),
            styles: vec![theme.text],
            links: Vec::new(),
            table: None,
        }
    }

    /// Takes an event; `false` for what is no part of a leaf.
    fn event(&mut self, event: Event<'_>) -> bool {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                return self.start(tag);
            }
            Event::End(tag) => {
                self.depth -= 1;
                self.end(tag);
            }
            Event::Text(text) => self.text(&text, self.style()),
            Event::Code(text) => {
                let style = self.style().patch(self.theme.code);
                if self.theme.marks_code() {
                    self.text(&format!("`{text}`"), style);
                } else {
                    self.text(&text, style);
                }
            }
            Event::InlineHtml(html) if is_line_break(&html) => self.inline.break_line(),
            Event::InlineHtml(html) => self.text(&html, self.theme.dim),
            Event::Html(html) => self.html(&html),
            Event::SoftBreak | Event::HardBreak => self.inline.break_line(),
            Event::Rule => {
                let rule = match self.theme.is_spoken() {
                    true => String::new(),
                    false => "─".repeat(self.cells),
                };
                self.lines.push(Line::styled(rule, self.theme.dim));
            }
            Event::TaskListMarker(_)
            | Event::FootnoteReference(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => return false,
        }
        true
    }

    fn start(&mut self, tag: Tag<'_>) -> bool {
        let style = match tag {
            Tag::Paragraph | Tag::HtmlBlock => return true,
            Tag::Heading { level, .. } => heading(level, self.theme),
            Tag::Emphasis => self.theme.emphasis,
            Tag::Strong => self.theme.strong,
            Tag::Strikethrough => Style::new().add_modifier(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, true),
            Tag::Table(alignments) => {
                self.table = Some(Table::new(alignments));
                return true;
            }
            Tag::TableHead => self.theme.strong,
            Tag::TableRow | Tag::TableCell => return true,
            _ => return false,
        };
        self.styles.push(self.style().patch(style));
        true
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.close_link();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lines.extend(table.lines(self.cells, self.theme));
                }
            }
            TagEnd::TableHead => {
                self.styles.pop();
                self.end_row();
            }
            TagEnd::TableRow => self.end_row(),
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            _ => {}
        }
    }

    fn end_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.end_row();
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(self.theme.text)
    }

    fn text(&mut self, text: &str, style: Style) {
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
        }
        self.inline.push(text, style);
    }

    fn html(&mut self, html: &str) {
        for line in html.lines() {
            self.lines.extend(wrap(&Line::styled(line.to_owned(), self.theme.dim), self.cells, 0));
        }
    }

    fn open_link(&mut self, address: &str, is_image: bool) -> Style {
        if is_image {
            self.inline.push("[image: ", self.theme.dim);
        }
        self.links.push(Link { address: address.to_owned(), text: String::new(), is_image });
        self.theme.link
    }

    fn close_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        if link.is_image {
            self.inline.push("]", self.theme.dim);
        }
        let says_it = link.text == link.address
            || link.address.strip_prefix("mailto:").is_some_and(|mail| mail == link.text);
        if !says_it && !link.address.is_empty() {
            // An address may hold what the cleaned source spelled as an entity.
            let address = super::super::clean(&link.address).replace('\n', " ");
            self.inline.push(&format!(" ({address})"), self.theme.dim);
        }
        if let Some(outer) = self.links.last_mut() {
            outer.text.push_str(&link.text);
        }
    }

    fn flush(&mut self) {
        for spans in self.inline.take() {
            self.lines.extend(wrap(&Line::from(spans), self.cells, 0));
        }
    }

    /// Shows what the parser passed over.
    fn unread(&mut self, source: &str) {
        for line in source.lines().filter(|line| !line.trim().is_empty()) {
            self.lines.extend(wrap(&Line::styled(line.to_owned(), self.theme.dim), self.cells, 0));
        }
    }
}

impl Inline {
    fn push(&mut self, text: &str, style: Style) {
        // Entities (`&#27;`) become characters only here.
        let text = super::super::clean(text);
        for (index, piece) in text.split('\n').enumerate() {
            if index > 0 {
                self.break_line();
            }
            if self.lines.is_empty() {
                self.lines.push(Vec::new());
            }
            let Some(line) = self.lines.last_mut() else { return };
            match line.last_mut() {
                _ if piece.is_empty() => {}
                Some(last) if last.style == style => last.content.to_mut().push_str(piece),
                _ => line.push(Span::styled(piece.to_owned(), style)),
            }
        }
    }

    fn break_line(&mut self) {
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        self.lines.push(Vec::new());
    }

    fn take(&mut self) -> Vec<Vec<Span<'static>>> {
        std::mem::take(&mut self.lines)
    }
}

fn heading(level: HeadingLevel, theme: &Theme) -> Style {
    match level {
        HeadingLevel::H1 => theme.heading.add_modifier(Modifier::UNDERLINED),
        HeadingLevel::H2 => theme.heading,
        _ => theme.text.patch(theme.strong),
    }
}

fn is_line_break(html: &str) -> bool {
    let inner = html.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    inner.trim().eq_ignore_ascii_case("br")
}
