//! Lines as text for snapshots.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

/// The lines as a person without colors sees them; spaces at the end are dropped.
pub(crate) fn shown(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| format!("{}\n", line.to_string().trim_end())).collect()
}

/// The lines with what each styled stretch looks like: `{red bold|text}`.
pub(crate) fn styled(lines: &[Line<'_>]) -> String {
    let mut out = String::new();
    for line in lines {
        for span in &line.spans {
            match marks(line.style.patch(span.style)) {
                marks if marks.is_empty() => out.push_str(&span.content),
                marks => out.push_str(&format!("{{{marks}|{}}}", span.content)),
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

fn marks(style: Style) -> String {
    let mut marks = Vec::new();
    if let Some(color) = style.fg.filter(|color| *color != Color::Reset) {
        marks.push(color.to_string().to_lowercase());
    }
    if let Some(color) = style.bg {
        marks.push(format!("on-{color}").to_lowercase());
    }
    marks.extend(style.add_modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    let all = Modifier::all();
    debug_assert!(all.contains(style.add_modifier));
    marks.join(" ")
}
