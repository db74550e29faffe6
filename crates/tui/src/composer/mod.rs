//! What somebody writes before it is sent.
//!
//! Keys come in, values go out. Invariant: nothing here does I/O but `walk`, on threads of its own,
//! and `history_file`.

mod buffer;
mod complete;
mod draft;
mod dragged;
mod draw;
mod edit;
mod emacs;
mod files;
mod graphemes;
mod history;
mod history_file;
mod keys;
mod kills;
mod layout;
mod menu;
#[cfg(test)]
mod properties;
mod recall;
mod suggest;
#[cfg(test)]
mod suggest_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod undo;
#[cfg(test)]
mod unit_tests;
mod units;
mod vim;
mod walk;
mod words;

use std::cell::Cell;
use std::path::Path;

pub use buffer::TEXT_BYTES_MAX;
pub use complete::Command;
pub use draft::{Attachment, Draft, ImageSource, Part, Submission};
pub use draw::{ComposerStyles, Drawn};
pub use edit::{HELD_BYTES_MAX, PASTE_BYTES_MAX, UNFOLD_BYTES_MAX};
pub use files::{FILES_MAX, FOUND_FILES_MAX, Paths, Ranking};
pub use history::{HISTORY_ENTRIES_MAX, History};
pub(crate) use history_file::keeps_whole;
pub use history_file::{
    HISTORY_FILE_BYTES_MAX, HISTORY_LINE_BYTES_MAX, HistoryFile, Kept, PASTE_KEPT_BYTES_MAX,
};
pub use menu::MENU_ROWS_MAX;
pub use undo::{UNDO_BYTES_MAX, UNDO_GROUPS_MAX};
pub use units::UNITS_MAX;
pub use vim::{COUNT_MAX, REPEATED_KEYS_MAX};
pub use walk::{FileFinder, FoundFiles};

use draw::{Canvas, View};
use edit::Editor;
use history::{Recalled, Search};
use menu::Menu;
use vim::{Mode, Vim};

/// Whose keys edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyStyle {
    /// Readline's.
    #[default]
    Emacs,
    /// Vim's; its insert mode has readline's, too.
    Vim,
}

/// What a composer is told once.
#[derive(Debug, Clone)]
pub struct ComposerSettings {
    /// Whose keys edit.
    pub keys: KeyStyle,
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
            keys: KeyStyle::default(),
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
    /// Somebody sent what they wrote; the composer is empty again, or has what they were writing before
    /// they recalled what they sent.
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
    vim: Option<Vim>,
    /// Ctrl-X was pressed, and the next key belongs to it.
    prefix: bool,
    /// A backslash and Enter broke a line, and nothing was pressed since.
    has_broken: bool,
    history: History,
    recalled: Option<Recalled>,
    search: Option<Search>,
    commands: Vec<Command>,
    menu: Option<Menu>,
    /// Where the word begins whose menu was closed.
    dismissed: Option<usize>,
    view: Cell<View>,
}

impl Composer {
    /// An empty one.
    pub fn new(settings: ComposerSettings) -> Self {
        Self {
            vim: (settings.keys == KeyStyle::Vim).then(Vim::new),
            settings,
            editor: Editor::default(),
            prefix: false,
            has_broken: false,
            history: History::default(),
            recalled: None,
            search: None,
            commands: Vec::new(),
            menu: None,
            dismissed: None,
            view: Cell::default(),
        }
    }

    /// Reads keys in this way from here on; what is written stays.
    pub fn set_keys(&mut self, keys: KeyStyle) {
        if self.settings.keys != keys {
            self.settings.keys = keys;
            self.vim = (keys == KeyStyle::Vim).then(Vim::new);
        }
    }

    /// Text came as one: from the clipboard, or a file that was dragged in.
    pub fn paste(&mut self, text: &str) -> Answer {
        self.editor.begin();
        if let Some(answer) = self.paste_into_search(text) {
            return answer;
        }
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
        self.suggest(true);
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
        self.suggest(true);
        self.or_notice(Answer::Changed)
    }

    /// Puts a draft that was sent, and not yet read, back in front of what is written, and leaves the
    /// cursor where it is in that.
    pub fn take_back(&mut self, draft: impl Into<Draft>) {
        self.editor.begin();
        let room = TEXT_BYTES_MAX.saturating_sub(self.editor.text().len() + 1);
        let mut front = self.encoded(draft.into(), room);
        if !self.is_empty() {
            front.push('\n');
        }
        let cursor = front.len() + self.editor.cursor();
        self.editor.buffer.undo.seal();
        if self.editor.replace(0..0, &front) {
            self.editor.move_to(cursor);
        }
        self.editor.buffer.undo.seal();
        self.suggest(false);
        self.settle();
    }

    /// Puts a draft behind what is written, as one change that can be taken back.
    pub fn append(&mut self, draft: Draft) {
        let mut whole = self.draft();
        if !whole.parts.is_empty() {
            whole.parts.push(Part::Text("\n".to_owned()));
        }
        whole.parts.extend(draft.parts);
        self.set_draft(whole);
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
        let text = self.encoded(draft.into(), TEXT_BYTES_MAX);
        self.editor.set(&text);
        self.suggest(false);
        self.settle();
    }

    /// Deletes everything, as one change that can be taken back.
    pub fn clear(&mut self) {
        self.editor.begin();
        self.editor.set("");
        self.recalled = None;
        self.suggest(false);
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.editor.text().is_empty()
    }

    /// The mode of vim's keys, as it is shown; none with other keys.
    pub fn mode_label(&self) -> Option<&'static str> {
        self.vim.as_ref().map(Vim::label)
    }

    /// Whether keys write: always but in vim's other modes, where the cursor stands on what it is
    /// about, and is shown as a block.
    pub fn is_writing(&self) -> bool {
        self.vim.as_ref().is_none_or(|vim| vim.mode == Mode::Insert)
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
            prompt: styles.mark.unwrap_or(&self.settings.prompt),
            placeholder: if styles.mark.is_some() { "" } else { &self.settings.placeholder },
            selection: self.vim.as_ref().and_then(|vim| vim.selection(&self.editor)),
            width,
            height_max,
            styles,
        };
        if let Some(search) = &self.search {
            return canvas.question("search: ", &search.query);
        }
        let mut view = self.view.get();
        let drawn = canvas.text(&self.editor, &mut view);
        self.view.set(view);
        drawn
    }

    fn or_notice(&mut self, answer: Answer) -> Answer {
        self.settle();
        self.editor.notice.take().map_or(answer, Answer::Notice)
    }

    /// In vim's normal mode the cursor stands on something.
    fn settle(&mut self) {
        if let Some(vim) = &self.vim {
            vim.settle(&mut self.editor);
        }
    }

    /// The draft as text of this composer, where there is room for so many bytes; text that is too long
    /// to be laid out is folded.
    fn encoded(&mut self, mut draft: Draft, room: usize) -> String {
        let fold = |draft: &mut Draft, longest: usize| {
            for part in &mut draft.parts {
                if let Part::Text(text) = part
                    && text.len() > longest
                {
                    *part = Part::Paste(units::clean(text).into());
                }
            }
        };
        fold(&mut draft, UNFOLD_BYTES_MAX);
        let text = self.editor.buffer.encode(&draft);
        if text.len() <= room {
            return text;
        }
        fold(&mut draft, 0);
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
