//! Text made lines of styled cells: cleaned, wrapped, Markdown, highlighted code, diffs.
//!
//! Everything a model, a tool or a file says passes `clean` first; what comes out of this room is
//! `Line`s that hold nothing a terminal would obey, none wider than asked.

mod clean;
pub mod diff;
mod highlight;
mod markdown;
#[cfg(test)]
pub(crate) mod testing;
mod width;
mod wrap;

pub(crate) use clean::one_line;
pub use clean::{TAB_CELLS, clean, lines_of};
pub use highlight::{Classes, CodePlace, Highlight, Highlighted, Highlighter, Run, Uncolored};
pub use markdown::{Look, StreamingMarkdown, markdown};
pub use width::width;
pub use wrap::{ELLIPSIS, line_width, owned, truncate, wrap};
