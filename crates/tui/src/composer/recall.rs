//! Going back to what was written before: step by step, or by a search.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::draft::Draft;
use super::edit::Did;
use super::graphemes;
use super::history::{History, Recalled, Search};
use super::words::{line_end, start_between_blanks};
use super::{Answer, Composer, TEXT_BYTES_MAX};

/// The longest query, in bytes.
const QUERY_BYTES_MAX: usize = 1_000;

impl Composer {
    /// Sets what was written before, in this session and others. A search that is open goes on in it.
    pub fn set_history(&mut self, history: History) {
        self.history = history;
        self.recalled = None;
        if let Some(search) = &mut self.search {
            search.look(&self.history);
        }
    }

    /// What was written before, what was sent since included.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Writes what was sent before in the place of everything. Up does this in a composer that is
    /// not empty; in an empty one it is passed on.
    pub fn recall_older(&mut self) -> Answer {
        let there = match &mut self.recalled {
            Some(recalled) => recalled.older(),
            None => {
                let own = self.editor.text().to_owned();
                self.recalled = Recalled::newest(&self.history, own);
                self.recalled.is_some()
            }
        };
        if !there {
            return Answer::Ignored;
        }
        self.write_recalled();
        // The next step back is one key away.
        self.editor.move_to(line_end(self.editor.text(), 0));
        Answer::Changed
    }

    /// What is written and not sent: also what stood here before something older was recalled.
    pub fn unsent(&self) -> Vec<Draft> {
        let own = self.recalled.as_ref().map(|recalled| &recalled.own);
        let own = own.map(|own| Draft { parts: self.editor.buffer.units.parts(own) });
        own.into_iter().chain([self.draft()]).collect()
    }

    /// Writes what was sent after that, and in the end what stood there at first.
    pub fn recall_newer(&mut self) -> Answer {
        let Some(recalled) = &mut self.recalled else { return Answer::Ignored };
        if recalled.newer(&self.history) {
            self.write_recalled();
        } else if let Some(recalled) = self.recalled.take() {
            self.editor.set(&recalled.own);
        }
        self.editor.did = Did::Recalled;
        Answer::Changed
    }

    fn write_recalled(&mut self) {
        let draft = self.recalled.as_ref().and_then(|recalled| recalled.draft(&self.history));
        let text =
            draft.cloned().map(|draft| self.encoded(draft, TEXT_BYTES_MAX)).unwrap_or_default();
        self.editor.set(&text);
        self.editor.did = Did::Recalled;
    }

    pub(super) fn open_search(&mut self) -> Answer {
        self.search = Some(Search::new(&self.history));
        Answer::Changed
    }

    /// A key while a search is open.
    pub(super) fn search_key(&mut self, key: KeyEvent) -> Answer {
        let Some(search) = &mut self.search else { return Answer::Ignored };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let query = &mut search.query;
        match (key.code, control) {
            (KeyCode::Enter | KeyCode::Tab, _) => self.accept_found(),
            (KeyCode::Left | KeyCode::Right | KeyCode::Home | KeyCode::End, _) => {
                self.accept_found();
                return self.plain_key(key);
            }
            (KeyCode::Esc, _) | (KeyCode::Char('g' | 'c'), true) => self.search = None,
            (KeyCode::Down, _) | (KeyCode::Char('r' | 'n'), true) => search.step(true),
            (KeyCode::Up, _) | (KeyCode::Char('s' | 'p'), true) => search.step(false),
            (KeyCode::Backspace, _) | (KeyCode::Char('h'), true) => {
                query.truncate(graphemes::previous(query, query.len()));
                search.look(&self.history);
            }
            (KeyCode::Char('w'), true) => {
                query.truncate(start_between_blanks(query, query.len()));
                search.look(&self.history);
            }
            (KeyCode::Char('u'), true) => {
                query.clear();
                search.look(&self.history);
            }
            (KeyCode::Char(letter), false) if !key.modifiers.contains(KeyModifiers::ALT) => {
                self.ask(letter.encode_utf8(&mut [0; 4]));
            }
            _ => return Answer::Ignored,
        }
        Answer::Changed
    }

    /// A paste while a search is open is a part of the query.
    pub(super) fn paste_into_search(&mut self, text: &str) -> Option<Answer> {
        self.search.as_ref()?;
        let line = text.lines().next().unwrap_or_default();
        self.ask(&line[..line.floor_char_boundary(QUERY_BYTES_MAX)]);
        Some(Answer::Changed)
    }

    fn ask(&mut self, more: &str) {
        if let Some(search) = &mut self.search
            && search.query.len() + more.len() <= QUERY_BYTES_MAX
        {
            search.query.push_str(more);
            search.look(&self.history);
        }
    }

    fn accept_found(&mut self) {
        let Some(search) = self.search.take() else { return };
        let Some(draft) = search.draft(&self.history).cloned() else { return };
        if self.recalled.is_none() && !self.is_empty() {
            // It comes back when what was found is sent.
            self.recalled = Recalled::found(&search, self.editor.text().to_owned());
        }
        let text = self.encoded(draft, TEXT_BYTES_MAX);
        self.editor.set(&text);
        self.editor.did = Did::Recalled;
    }
}
