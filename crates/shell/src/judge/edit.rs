//! Sed and awk: their scripts, and the files they edit.

use super::invocation::Invocation;
use crate::languages::{awk, sed};
use crate::line::ConcernKind;
use crate::reader::Reader;
use crate::word::{Atom, Word};

impl Reader<'_> {
    pub(super) fn sed(&mut self, call: &Invocation<'_>) {
        let (scripts, files) = scripts(call, &["-e", "--expression"], &["-f", "--file"]);
        for script in &scripts {
            self.sed_script(script);
        }
        // What the file says may run anything.
        if call.has_option(&["-f", "--file"]) {
            self.is_open_ended();
        }
        if call.has_option(&["-i", "--in-place"]) {
            files.iter().for_each(|file| self.write(file));
        }
        // A star in it stands for the name of the file, and with a slash it lies somewhere else.
        for copy in
            call.values(&["-i", "--in-place"]).filter(|copy| copy.text().contains(['/', '*']))
        {
            self.is_open_ended();
            self.write(&Word::literal(&copy.text()));
        }
    }

    fn sed_script(&mut self, word: &Word) {
        if word.atoms.len() == 1 && word.has_hole() {
            return self.unclear("the script of sed is computed");
        }
        // What stands there may be more of the script.
        if word.has_hole() {
            self.is_open_ended();
        }
        let Some(script) = sed::read(&filled(word)) else {
            return self.unclear("the script of sed is not understood");
        };
        for file in script.writes {
            self.write(&Word::literal(&file));
        }
        for line in script.runs {
            match line {
                Some(line) => self.line_of(&Word::literal(&line)),
                None => self.unclear("sed runs the text it edits"),
            }
        }
    }

    pub(super) fn awk(&mut self, call: &Invocation<'_>) {
        let (scripts, files) =
            scripts(call, &["-e", "--source"], &["-f", "--file", "-E", "--exec"]);
        for script in &scripts {
            self.awk_program(script);
        }
        if call.has_option(&["-f", "--file", "-E", "--exec", "-l", "--load", "-i", "--include"]) {
            self.is_open_ended();
        }
        if call.value(&["-i"]).is_some_and(|library| library.text() == "inplace") {
            files.iter().for_each(|file| self.write(file));
        }
    }

    fn awk_program(&mut self, word: &Word) {
        if word.atoms.len() == 1 && word.has_hole() {
            return self.unclear("the program of awk is computed");
        }
        if word.has_hole() {
            self.is_open_ended();
        }
        let Some(program) = awk::read(&filled(word)) else {
            return self.unclear("the program of awk is not understood");
        };
        for (file, is_whole) in program.writes {
            let mut word = Word::literal(&file);
            if !is_whole {
                word.atoms.extend(Word::computed("...").atoms);
            }
            self.changes();
            self.write(&word);
        }
        for line in program.runs {
            match line {
                Some(line) => self.awk_line(&line),
                None => self.unclear("awk runs a line that it makes"),
            }
        }
        if program.connects {
            self.concern(ConcernKind::Leaves, "awk opens a connection");
        }
        if program.loads {
            self.is_open_ended();
        }
    }

    /// What awk runs gets its input from awk.
    fn awk_line(&mut self, line: &str) {
        self.apart(|reader| {
            reader.scope.input = crate::reader::Input::Unknown;
            reader.script(line);
        });
    }
}

/// The scripts on the line, and the files after them.
fn scripts<'w>(
    call: &Invocation<'w>,
    given: &[&str],
    in_files: &[&str],
) -> (Vec<Word>, Vec<&'w Word>) {
    let scripts: Vec<Word> = call.values(given).cloned().collect();
    let in_file = call.has_option(in_files);
    if !scripts.is_empty() || in_file {
        return (scripts, call.operands.clone());
    }
    match call.operands.split_first() {
        Some((script, files)) => (vec![(*script).clone()], files.to_vec()),
        None => (scripts, Vec::new()),
    }
}

/// The script with a number for what is computed.
fn filled(word: &Word) -> String {
    let chars = word.atoms.iter().map(|atom| match atom {
        Atom::Plain(c) | Atom::Quoted(c) => *c,
        Atom::Hole(_) => '1',
    });
    chars.collect()
}
