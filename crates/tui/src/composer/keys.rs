//! Which part of the composer a key is for.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::draft::Draft;
use super::edit::{Did, Way};
use super::emacs::{self, Outcome};
use super::{Answer, Composer};

impl Composer {
    /// A key was pressed. What an empty composer has no use for is passed on: Up, Escape, Ctrl-C,
    /// Ctrl-D, Tab and Shift-Tab.
    pub fn key(&mut self, key: KeyEvent) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Ignored;
        }
        self.editor.columns = self.view.get().columns;
        self.editor.begin();
        let revision = self.editor.buffer.revision();
        let answer = self.dispatch(key);
        let changed = self.editor.buffer.revision() != revision;
        self.suggest(changed && self.editor.did != Did::Recalled);
        self.or_notice(answer)
    }

    fn dispatch(&mut self, key: KeyEvent) -> Answer {
        let prefixed = std::mem::take(&mut self.prefix);
        // Some terminals are set up to send a backslash, CR and LF for Shift-Enter: that is one new line.
        let has_broken = std::mem::take(&mut self.has_broken);
        if has_broken && (key.code, key.modifiers) == (KeyCode::Char('j'), KeyModifiers::CONTROL) {
            return Answer::Changed;
        }
        if self.search.is_some() {
            return self.search_key(key);
        }
        if let Some(answer) = prefixed.then(|| self.key_after_prefix(key)).flatten() {
            return answer;
        }
        match self.menu_key(key) {
            Some(answer) => answer,
            None => self.plain_key(key),
        }
    }

    /// A key without a menu or a search.
    pub(super) fn plain_key(&mut self, key: KeyEvent) -> Answer {
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
            // In vim's normal mode it does changes again.
            KeyCode::Char('r') if control && self.is_writing() => self.open_search(),
            KeyCode::Up | KeyCode::Down if self.is_empty() && self.recalled.is_none() => {
                Answer::Ignored
            }
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
        let outcome = match &mut self.vim {
            Some(vim) => vim.key(&mut self.editor, key),
            None => emacs::key(&mut self.editor, key),
        };
        match outcome {
            Outcome::Done => Answer::Changed,
            Outcome::Edge(Way::Up) => self.recall_older(),
            Outcome::Edge(Way::Down) => self.recall_newer(),
            Outcome::Unknown => Answer::Ignored,
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
            self.has_broken = true;
            return Answer::Changed;
        }
        self.send()
    }

    /// Sends what is written, if there is anything.
    pub(super) fn send(&mut self) -> Answer {
        let draft = self.draft();
        if draft.is_blank() {
            return Answer::Ignored;
        }
        let own =
            self.recalled.take().map(|recalled| self.editor.buffer.units.parts(&recalled.own));
        self.editor.buffer.reset(self.editor.kills.texts());
        if let Some(vim) = &mut self.vim {
            vim.restart();
        }
        self.history.push(draft.clone());
        // Who sends what they sent before goes on with what they were writing.
        if let Some(own) = own.map(|parts| Draft { parts }).filter(|own| !own.is_blank()) {
            self.set_draft(own);
        }
        Answer::Submit(draft.into())
    }
}
