//! The menu below the text: when it opens, what it takes of the keys, and what it writes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::Line;

use super::complete::{self, Command, Mention};
use super::draw::{ComposerStyles, visible};
use super::files::{Paths, Ranking};
use super::menu::{self, About, Menu};
use super::{Answer, Composer};

/// What comes after a row was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Somebody goes on writing.
    Go,
    /// It is sent.
    Send,
}

impl Composer {
    /// Sets the commands that can be written behind `/`, in the order in which they are shown.
    pub fn set_commands(&mut self, commands: Vec<Command>) {
        self.commands = commands;
        self.menu = None;
    }

    /// What is written behind an `@`, while its menu is open: look for such files and call
    /// [`Composer::offer_files`]. Ask after each key and paste.
    pub fn file_query(&self) -> Option<&str> {
        let menu = self.menu.as_ref().filter(|menu| menu.about == About::Files)?;
        Some(&menu.query)
    }

    /// Paths that were found for a query, the best first; may be called again when there are
    /// better ones. Answers to an earlier query are passed over.
    pub fn offer_files(&mut self, query: &str, paths: &[String]) {
        let Some(open) = &mut self.menu else { return };
        if open.about != About::Files || open.query != query {
            return;
        }
        let mention = Mention { range: open.range.clone(), query: query.to_owned() };
        let mut offered = complete::files(mention, paths);
        // What somebody went to stays chosen, wherever it stands now.
        if let Some(chosen) = open.item().filter(|_| open.chosen > 0) {
            let place = offered.items.iter().position(|item| item == chosen);
            offered.chosen = place.unwrap_or(0);
        }
        *open = offered;
    }

    /// The rows of the menu or of the search, to be drawn below the text; none when neither is
    /// open.
    pub fn menu(&self, width: u16, styles: &ComposerStyles) -> Vec<Line<'static>> {
        if let Some(search) = &self.search {
            let found = search.rows(&self.history);
            let rows: Vec<_> = found.iter().map(|row| (row.as_str(), "")).collect();
            return match rows.is_empty() {
                true => menu::lines(&[("nothing found", "")], None, width, styles),
                false => menu::lines(&rows, Some(search.chosen), width, styles),
            };
        }
        self.menu.as_ref().map(|menu| menu.lines(width, styles)).unwrap_or_default()
    }

    /// The row of the menu or of the search that is chosen, in words; none when neither is open.
    pub fn menu_words(&self) -> Option<String> {
        if let Some(search) = &self.search {
            let found = search.rows(&self.history);
            return Some(match found.get(search.chosen) {
                Some(row) => {
                    let (at, n) = (search.chosen + 1, found.len());
                    format!("found {at} of {n}: {}", visible(row.as_str()))
                }
                None => "nothing found".to_owned(),
            });
        }
        let menu = self.menu.as_ref()?;
        let item = menu.item()?;
        let about = match item.right.as_str() {
            "" => visible(&item.left),
            right => format!("{}: {right}", visible(&item.left)),
        };
        Some(match menu.can_choose() {
            true => format!("choice {} of {}: {about}", menu.chosen + 1, menu.items.len()),
            false => about,
        })
    }

    /// Opens, keeps or closes the menu, as the word at the cursor has it. It opens only while
    /// somebody writes: who moves through a text wants the keys for that.
    pub(super) fn suggest(&mut self, is_writing: bool) {
        let before = self.menu.take();
        let can_open = self.search.is_none() && self.is_writing();
        if !can_open || (before.is_none() && !is_writing) {
            return;
        }
        let Some(menu) = self.meant(before.as_ref()) else {
            self.dismissed = None;
            return;
        };
        if self.dismissed == Some(menu.range.start) {
            return;
        }
        self.dismissed = None;
        self.menu = Some(match before {
            Some(before) if before.about == menu.about && before.query == menu.query => {
                Menu { range: menu.range, ..before }
            }
            _ => menu,
        });
    }

    /// What the word at the cursor could mean.
    fn meant(&self, before: Option<&Menu>) -> Option<Menu> {
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        if let Some(menu) = complete::commands(text, cursor, &self.commands) {
            return Some(menu);
        }
        let mention = complete::mention(text, cursor)?;
        // Until the answer comes, those of the last answer that still match.
        let mut paths = Paths::default();
        let of_files = before.filter(|before| before.about == About::Files);
        let items = of_files.into_iter().flat_map(|before| &before.items);
        paths.add(items.map(|item| item.left.clone()));
        let mut ranking = Ranking::new(&mention.query);
        ranking.advance(&paths, usize::MAX);
        Some(complete::files(mention, &ranking.best(&paths)))
    }

    /// A key while a menu is open, if it is for the menu.
    pub(super) fn menu_key(&mut self, key: KeyEvent) -> Option<Answer> {
        let menu = self.menu.as_mut().filter(|menu| !menu.items.is_empty())?;
        if key.code == KeyCode::Esc {
            self.dismissed = Some(menu.range.start);
            self.menu = None;
            return Some(Answer::Changed);
        }
        if !menu.can_choose() {
            return None;
        }
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Up if key.modifiers.is_empty() => menu.step(false),
            KeyCode::Down if key.modifiers.is_empty() => menu.step(true),
            KeyCode::Char('p') if control => menu.step(false),
            KeyCode::Char('n') if control => menu.step(true),
            KeyCode::Tab => self.accept(Then::Go),
            KeyCode::Enter if key.modifiers.is_empty() => {
                let complete = menu.item().is_some_and(|item| item.complete);
                match (menu.about, complete) {
                    (About::Commands, true) => {
                        self.accept(Then::Send);
                        return Some(self.send());
                    }
                    (About::Files, true) => return None,
                    _ => self.accept(Then::Go),
                }
            }
            _ => return None,
        }
        Some(Answer::Changed)
    }

    /// Writes the chosen row.
    fn accept(&mut self, then: Then) {
        let Some(menu) = self.menu.take() else { return };
        let Some(item) = menu.item() else { return };
        let rest = &self.editor.text()[menu.range.end..];
        // A blank that stands there already is not written twice.
        let ends = then == Then::Send || rest.starts_with(char::is_whitespace);
        let written = match ends {
            true => item.written.trim_end(),
            false => &item.written,
        };
        self.editor.buffer.undo.seal();
        self.editor.replace(menu.range.clone(), written);
        self.editor.buffer.undo.seal();
    }
}
