//! What somebody writes before it is sent.
//!
//! Keys come in, values go out. Invariant: nothing here does I/O.

mod buffer;
mod draft;
mod dragged;
mod draw;
mod edit;
mod emacs;
mod graphemes;
mod kills;
mod layout;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod undo;
mod units;
mod words;

use std::cell::Cell;
use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use buffer::TEXT_BYTES_MAX;
pub use draft::{Attachment, Draft, ImageSource, Part, Submission};
pub use draw::{ComposerStyles, Drawn};
pub use edit::{HELD_BYTES_MAX, PASTE_BYTES_MAX, UNFOLD_BYTES_MAX};
pub use undo::{UNDO_BYTES_MAX, UNDO_GROUPS_MAX};
pub use units::UNITS_MAX;

use draw::{Canvas, View};
use edit::Editor;
use emacs::Outcome;

/// What a composer is told once.
#[derive(Debug, Clone)]
pub struct ComposerSettings {
    /// A paste of more lines is folded.
    pub fold_lines: usize,
    /// A paste of more bytes is folded.
    pub fold_bytes: usize,
    /// The mark before the first row.
    pub prompt: String,
    /// What stands there while nothing is written.
    pub placeholder: String,
    /// Whether there is a file: a pasted path of an image becomes an attachment only then.
    pub is_file: fn(&Path) -> bool,
}

impl Default for ComposerSettings {
    fn default() -> Self {
        Self {
            fold_lines: 8,
            fold_bytes: 1_000,
            prompt: "> ".to_owned(),
            placeholder: String::new(),
            is_file: |_| false,
        }
    }
}

/// What a key or a paste came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Not the composer's: the caller may use it.
    Ignored,
    /// Taken; the composer may look different now.
    Changed,
    /// Somebody sent what they wrote; the composer is empty again.
    Submit(Submission),
    /// Open this text in an editor, and call [`Composer::set_text`] with what comes back.
    OpenEditor(String),
    /// Taken, but not done: tell why.
    Notice(String),
}

/// The place where a person writes.
#[derive(Debug)]
pub struct Composer {
    settings: ComposerSettings,
    editor: Editor,
    /// Ctrl-X was pressed, and the next key belongs to it.
    prefix: bool,
    view: Cell<View>,
}

impl Composer {
    /// An empty one.
    pub fn new(settings: ComposerSettings) -> Self {
        Self { settings, editor: Editor::default(), prefix: false, view: Cell::default() }
    }

    /// A key was pressed. What an empty composer has no use for is passed on: Up, Escape, Ctrl-C,
    /// Ctrl-D, Tab, Shift-Tab and `?`.
    pub fn key(&mut self, key: KeyEvent) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Ignored;
        }
        self.editor.columns = self.view.get().columns;
        self.editor.begin();
        let prefixed = std::mem::take(&mut self.prefix);
        let answer = match prefixed.then(|| self.key_after_prefix(key)).flatten() {
            Some(answer) => answer,
            None => self.plain_key(key),
        };
        self.or_notice(answer)
    }

    /// Text came as one: from the clipboard, or a file that was dragged in.
    pub fn paste(&mut self, text: &str) -> Answer {
        self.editor.begin();
        if text.len() > PASTE_BYTES_MAX {
            return Answer::Notice(format!(
                "This paste is {} MB long, and {} are taken. Put it into a file and name it with @",
                text.len().div_ceil(1024 * 1024),
                PASTE_BYTES_MAX / (1024 * 1024)
            ));
        }
        if let Some(paths) = dragged::images(text, self.settings.is_file) {
            for path in paths {
                self.editor.insert_unit(Part::Image(Attachment::of_path(&path)));
            }
            return self.or_notice(Answer::Changed);
        }
        let text = units::clean(text);
        let long = text.len() > self.settings.fold_bytes
            || text.lines().count() > self.settings.fold_lines
            || self.editor.text().len() + text.len() > TEXT_BYTES_MAX;
        match long {
            true => self.editor.insert_unit(Part::Paste(text.into())),
            false => self.editor.insert(&text),
        }
        self.or_notice(Answer::Changed)
    }

    /// Puts an image at the cursor.
    pub fn attach(&mut self, image: Attachment) -> Answer {
        self.editor.begin();
        self.editor.insert_unit(Part::Image(image));
        self.or_notice(Answer::Changed)
    }

    /// Writes at the cursor, as if it were typed.
    pub fn insert(&mut self, text: &str) -> Answer {
        self.editor.begin();
        self.editor.insert(text);
        self.or_notice(Answer::Changed)
    }

    /// Puts a draft that was sent, and not yet read, back in front of what is written.
    pub fn take_back(&mut self, draft: impl Into<Draft>) {
        self.editor.begin();
        let mut front = self.encoded(draft.into());
        let end = front.len();
        if !self.is_empty() {
            front.push('\n');
        }
        self.editor.buffer.undo.seal();
        if self.editor.replace(0..0, &front) {
            self.editor.move_to(end);
        }
        self.editor.buffer.undo.seal();
    }

    /// Writes this in the place of everything, as one change that can be taken back. What it holds
    /// of the folded pastes and images stays folded; a line break at its end, as editors leave it,
    /// is dropped.
    pub fn set_text(&mut self, text: &str) {
        let text = units::clean(text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let draft = self.folded_again(text);
        self.set_draft(draft);
    }

    /// Writes this in the place of everything, as one change that can be taken back.
    pub fn set_draft(&mut self, draft: impl Into<Draft>) {
        self.editor.begin();
        let text = self.encoded(draft.into());
        self.editor.set(&text);
    }

    /// Deletes everything, as one change that can be taken back.
    pub fn clear(&mut self) {
        self.editor.begin();
        self.editor.set("");
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.editor.text().is_empty()
    }

    /// What is written, pastes whole, images as their labels.
    pub fn text(&self) -> String {
        self.draft().text()
    }

    /// What is written.
    pub fn draft(&self) -> Draft {
        self.editor.buffer.draft()
    }

    /// The composer in so many columns, and no more rows than that; what does not fit is scrolled.
    pub fn lines(&self, width: u16, height_max: u16, styles: &ComposerStyles) -> Drawn {
        let canvas = Canvas {
            prompt: &self.settings.prompt,
            placeholder: &self.settings.placeholder,
            selection: None,
            width,
            height_max,
            styles,
        };
        let mut view = self.view.get();
        let drawn = canvas.text(&self.editor, &mut view);
        self.view.set(view);
        drawn
    }

    fn or_notice(&mut self, answer: Answer) -> Answer {
        self.editor.notice.take().map_or(answer, Answer::Notice)
    }

    /// The draft as text of this composer; text that is too long to be laid out is folded.
    fn encoded(&mut self, mut draft: Draft) -> String {
        for part in &mut draft.parts {
            if let Part::Text(text) = part
                && text.len() > UNFOLD_BYTES_MAX
            {
                *part = Part::Paste(units::clean(text).into());
            }
        }
        self.editor.buffer.encode(&draft)
    }

    /// The text with what is folded now folded again, as far as it is still there, in order.
    fn folded_again(&self, text: &str) -> Draft {
        let mut parts = Vec::new();
        let mut rest = text;
        for unit in self.draft().parts {
            let found = match &unit {
                Part::Text(_) => continue,
                Part::Paste(paste) => rest.split_once(&**paste),
                Part::Image(_) => rest.split_once(&unit.label()),
            };
            if let Some((before, after)) = found {
                parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
                parts.push(unit);
                rest = after;
            }
        }
        parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
        Draft { parts }
    }
}

/// Keys.
impl Composer {
    fn plain_key(&mut self, key: KeyEvent) -> Answer {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter if key.modifiers.is_empty() => self.enter(),
            KeyCode::Enter => {
                self.editor.insert("\n");
                Answer::Changed
            }
            KeyCode::Char('x') if control => {
                self.prefix = true;
                Answer::Changed
            }
            KeyCode::Char('g') if control => Answer::OpenEditor(self.text()),
            KeyCode::Char('?') if self.is_empty() => Answer::Ignored,
            _ => self.edit(key),
        }
    }

    /// The key behind Ctrl-X, if it means something there.
    fn key_after_prefix(&mut self, key: KeyEvent) -> Option<Answer> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('e') if control => Some(Answer::OpenEditor(self.text())),
            KeyCode::Char('o') if control => {
                self.editor.unfold();
                Some(Answer::Changed)
            }
            KeyCode::Char('u') if control => {
                self.editor.buffer.undo();
                Some(Answer::Changed)
            }
            _ => None,
        }
    }

    fn edit(&mut self, key: KeyEvent) -> Answer {
        match emacs::key(&mut self.editor, key) {
            Outcome::Done => Answer::Changed,
            Outcome::Edge(_) | Outcome::Unknown => Answer::Ignored,
        }
    }

    /// Sends, unless a backslash before the cursor asks for a line break.
    fn enter(&mut self) -> Answer {
        let cursor = self.editor.cursor();
        let before = &self.editor.text()[..cursor];
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            self.editor.buffer.undo.seal();
            self.editor.replace(cursor - 1..cursor, "\n");
            self.editor.buffer.undo.seal();
            return Answer::Changed;
        }
        let draft = self.draft();
        if draft.is_blank() {
            return Answer::Ignored;
        }
        self.editor.buffer.reset(self.editor.kills.texts());
        Answer::Submit(draft.into())
    }
}
