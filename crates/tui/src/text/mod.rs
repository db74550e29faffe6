//! Text made lines of styled cells: cleaned, wrapped, Markdown, highlighted code, diffs.
