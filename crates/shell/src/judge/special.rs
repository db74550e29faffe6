//! Programs that a table cannot describe alone.

use super::invocation::Invocation;
use crate::line::ConcernKind;
use crate::place::{self, Extent, Target};
use crate::programs::{self, Does, Special};
use crate::reader::Reader;
use crate::word::{Atom, HoleKind, Word};

/// Modules of Python that are programs of their own.
const PYTHON_PROGRAMS: [&str; 7] = ["pip", "pipx", "uv", "poetry", "twine", "conda", "ensurepip"];

impl Reader<'_> {
    pub(super) fn special(&mut self, call: &Invocation<'_>, only_reads: bool) {
        match call.program.special {
            Special::No | Special::Unzip => {}
            Special::Shell => self.shell(call, only_reads),
            Special::Source => self.source(call),
            Special::OtherShell => self.other_shell(call),
            Special::Alias => self.alias(call),
            Special::Runner => self.wrapped(&call.rest),
            Special::Eval => self.eval(call),
            Special::Trap => self.trap(call),
            Special::Cd => self.cd(call),
            // Options turn the stack, or leave the folder as it is.
            Special::Pushd => {
                let folder = self.scope.folder.clone();
                self.scope.stack.push(folder);
                self.cd(call);
                self.scope.may_be_anywhere();
            }
            Special::Popd => {
                self.scope.folder = self.scope.stack.pop().flatten();
                self.scope.may_be_anywhere();
            }
            Special::Env => self.env(call),
            Special::Xargs => self.xargs(call),
            Special::Setarch if only_reads => {}
            Special::Setarch => self.setarch(call),
            Special::Script => {
                call.operands.iter().for_each(|file| self.write(file));
                self.own_shell(call, &call.rest);
            }
            Special::Lock => {
                let files = call.operands.iter().filter(|word| !is_number(&word.text()));
                files.for_each(|file| self.write(file));
            }
            Special::Temp if call.has_option(&["-p", "-t", "--tmpdir"]) => {}
            Special::Temp => call.operands.iter().for_each(|file| self.write(file)),
            Special::Date => self.date(call),
            Special::OwnShell => self.own_shell(call, &call.rest),
            Special::Parallel => self.parallel(call),
            Special::Kill => self.kill(call),
            Special::Remove => self.remove(call),
            Special::Chmod => self.chmod(call),
            Special::Copy => self.copy(call),
            Special::Dd => self.dd(call),
            Special::Tar => self.tar(call),
            Special::Rsync => self.rsync(call),
            Special::Sed => self.sed(call),
            Special::Awk => self.awk(call),
            Special::Less => self.less(call),
            Special::Python => self.python(call),
            Special::Make => self.make(call),
            Special::Set => self.set(call),
            Special::Shopt => self.shopt(call),
            Special::Compiler | Special::Sqlite | Special::Sql => self.tools(call),
            Special::Ssh | Special::Scp | Special::Sftp | Special::Curl => self.network(call),
            Special::Sudo | Special::Bwrap | Special::Capsh => self.rights(call),
            Special::Git
            | Special::GitCheckout
            | Special::GitClone
            | Special::GitConfig
            | Special::GitPush => self.git(call),
        }
    }

    fn cd(&mut self, call: &Invocation<'_>) {
        let before = self.scope.standing();
        match call.operands.first() {
            None => self.scope.go(|_| self.place.home.map(str::to_owned)),
            Some(word) if word.text() == "-" => {
                let previous = self.scope.previous.clone();
                self.scope.go(|_| previous.clone());
            }
            Some(word) => self.enter(word),
        }
        // A variable that holds nothing leads nowhere, and that succeeds.
        if call.operands.first().is_some_and(|word| word.leading_hole().is_some()) {
            self.scope.or(&before);
        }
    }

    fn env(&mut self, call: &Invocation<'_>) {
        if call.has_option(&["-S", "--split-string"]) {
            return self.split_string(call);
        }
        // One dash alone means `-i`.
        let dashes = call.rest.iter().take_while(|word| word.text() == "-").count();
        let rest = &call.rest[dashes..];
        let is_assignment =
            |word: &&Word| word.text().contains('=') && word.leading_hole().is_none();
        let assignments = rest.iter().take_while(is_assignment).count();
        for word in rest.iter().take(assignments) {
            self.exported_word(word);
        }
        self.wrapped(&rest[assignments..]);
    }

    /// A line that `env` splits by rules of its own: what comes out takes the line's place, before
    /// whatever follows it.
    fn split_string(&mut self, call: &Invocation<'_>) {
        let is_last = call.flags.last().is_some_and(|word| {
            let text = word.text();
            let name = text.split('=').next().unwrap_or_default();
            if name.starts_with("--") {
                "--split-string".starts_with(name)
            } else {
                name.contains('S')
            }
        });
        let mut lines = call.values(&["-S", "--split-string"]).map(Word::known);
        // Quotes, escapes and variables in it are not those of a shell.
        let is_plain = |line: &String| {
            line.chars().all(|c| c.is_ascii_alphanumeric() || " _-./=:,+@%".contains(c))
        };
        let (Some(Some(line)), None, true) = (lines.next(), lines.next(), is_last) else {
            return self.unclear("what env splits is not known");
        };
        if !is_plain(&line) {
            return self.unclear("env takes its words apart in a way of its own");
        }
        let mut words = vec![Word::literal("env")];
        words.extend(line.split_ascii_whitespace().map(Word::literal));
        words.extend(call.rest.iter().cloned());
        self.wrapped(&words);
    }

    /// An architecture stands before everything else or nowhere.
    fn setarch(&mut self, call: &Invocation<'_>) {
        let is_first = call.flags.is_empty() && call.operands_before_dashes.is_none();
        let words = call.rest.get(usize::from(is_first)..).unwrap_or_default();
        let is_option = |word: &&Word| word.known_prefix().starts_with('-');
        let options = if is_first { words.iter().take_while(is_option).count() } else { 0 };
        self.wrapped(&words[options..]);
        self.own_shell(call, &words[options..]);
    }

    /// Where no command follows, it starts a shell.
    pub(super) fn own_shell(&mut self, call: &Invocation<'_>, words: &[Word]) {
        let has_line = call.options.iter().any(|given| given.does == Does::RunsLine);
        if words.is_empty() && !has_line {
            self.changes();
            self.input_script();
        }
    }

    fn xargs(&mut self, call: &Invocation<'_>) {
        if call.rest.is_empty() {
            return;
        }
        let replaced =
            call.value(&["-I", "-i", "--replace"]).map(Word::text).filter(|text| !text.is_empty());
        let placeholder = replaced.unwrap_or_else(|| "{}".to_owned());
        self.fed(&call.rest, &placeholder, &Word::fed(&placeholder));
    }

    fn parallel(&mut self, call: &Invocation<'_>) {
        let is_separator = |word: &Word| word.text().starts_with(":::");
        let end = call.rest.iter().position(is_separator).unwrap_or(call.rest.len());
        match &call.rest[..end] {
            [] => self.unclear("parallel runs what it reads"),
            [line] if line.text().contains(|c: char| !c.is_ascii_alphanumeric()) => {
                self.line_of(line)
            }
            words => self.fed(words, "{}", &Word::fed("{}")),
        }
    }

    /// A word of digits sets the clock, unless it is only read.
    fn date(&mut self, call: &Invocation<'_>) {
        let sets = |word: &&Word| is_number(&word.text().replace('.', ""));
        if call.operands.iter().any(sets) && !call.has_option(&["-j"]) {
            self.concern(ConcernKind::Leaves, "sets the clock");
        }
    }

    fn kill(&mut self, call: &Invocation<'_>) {
        for word in call.flags.iter().skip(1) {
            if is_number(word.text().trim_start_matches('-')) {
                self.concern(ConcernKind::Leaves, "signals processes of others");
            }
        }
        for word in &call.operands {
            let is_parent = word.atoms.iter().any(|atom| {
                matches!(atom, Atom::Hole(hole)
                    if hole.kind == HoleKind::Variable("PPID".to_owned()))
            });
            if is_parent || word.known().is_some_and(|text| is_number(text.trim_start_matches('-')))
            {
                self.concern(ConcernKind::Leaves, format!("signals the process {}", word.text()));
            }
        }
    }

    fn remove(&mut self, call: &Invocation<'_>) {
        let is_deep = call.has_option(&["-r", "-R", "--recursive"])
            || call.flags.iter().any(|word| word.may_hold_options());
        for word in &call.operands {
            let is_temp = self.removes_in_temp(word);
            let text = word.text();
            let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let is_all = word.has_pattern()
                && !last.is_empty()
                && last.chars().all(|c| "*.?!()".contains(c));
            let is_all = is_all || word.has_pattern() && text.contains("**");
            // A name that ends like `*.o` is no option of rm.
            let is_doubtful =
                call.doubtful.contains(word) && (word.has_hole() || !text.contains('.'));
            if !is_temp && (is_deep || is_all || is_doubtful) {
                self.concern(ConcernKind::Irreversible, format!("removes {text} for good"));
            }
            self.replace(word);
        }
    }

    /// Whether what a word names lies in the private temp, wherever the line is.
    fn removes_in_temp(&mut self, word: &Word) -> bool {
        let rest = word.skip(1);
        if word.leading_hole().is_some_and(|hole| hole.kind == HoleKind::Temp) {
            // Where nothing could be made, the variable holds nothing: what comes after it must not
            // be a path by itself.
            let is_apart = matches!(rest.text().chars().next(), None | Some('/'));
            return is_apart && !rest.has_hole() && !word.text().contains("..");
        }
        let Some(path) = word.known() else { return false };
        let lies_there = |folder: &Option<String>| {
            place::resolve(&path, folder.as_deref()).is_some_and(|full| self.place.is_temp(&full))
        };
        let is_temp = self.scope.folders().iter().all(lies_there);
        if is_temp && !path.starts_with('/') {
            self.relies_on_folder();
        }
        is_temp
    }

    fn chmod(&mut self, call: &Invocation<'_>) {
        let is_mode = |word: &&&Word| {
            word.text().trim_start_matches('-').chars().all(|c| "rwxXst,=+-ugoa".contains(c))
        };
        let by_flag = call.flags.iter().find(is_mode).copied();
        let mode = by_flag.or_else(|| call.operands.first().copied());
        let skipped = usize::from(by_flag.is_none() && !call.has_option(&["--reference"]));
        self.mode(mode);
        for word in call.operands.iter().skip(skipped) {
            self.write(word);
        }
    }

    /// A mode that gives a program the rights of its owner.
    fn mode(&mut self, mode: Option<&Word>) {
        let Some(text) = mode.map(Word::text) else { return };
        let digits = text.trim_start_matches('0');
        let is_octal = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_set = text.split(',').any(|part| part.contains(['+', '=']) && part.contains('s'));
        if is_octal && digits.starts_with(['2', '4', '6', '3', '5', '7']) || is_set {
            self.concern(ConcernKind::Leaves, "gives a program the rights of its owner");
        }
    }

    fn copy(&mut self, call: &Invocation<'_>) {
        self.mode(call.value(&["-m", "--mode"]));
        let into = call.value(&["-t", "--target-directory"]).cloned();
        let makes_folders = call.has_option(&["-d", "--directory"]);
        let (sources, target) = match (into, call.operands.split_last()) {
            (Some(target), _) => (call.operands.clone(), Some(target)),
            (None, Some((last, sources))) if !makes_folders => {
                (sources.to_vec(), Some((*last).clone()))
            }
            (None, _) => (call.operands.clone(), None),
        };
        if makes_folders {
            call.operands.iter().for_each(|word| self.write(word));
        }
        let Some(target) = target else { return };
        for folder in self.scope.folders() {
            self.copy_into(&target, &sources, folder.as_deref());
        }
    }

    /// What copies are called in a folder may be protected there.
    fn copy_into(&mut self, target: &Word, sources: &[&Word], folder: Option<&str>) {
        let extent = if target.known().is_some() { Extent::Whole } else { Extent::Start };
        let place = self.place.target(&target.known_prefix(), folder, extent);
        if matches!(place, Target::Refused(..)) {
            return;
        }
        for source in sources {
            let text = source.text();
            let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let inner = format!("{}/{name}", target.known_prefix());
            if target.known().is_some()
                && source.known().is_some()
                && let Target::Refused(path, why) = self.place.target(&inner, folder, Extent::Whole)
            {
                self.concern(ConcernKind::Leaves, format!("writes to {path}, which {why}"));
            }
        }
    }

    fn dd(&mut self, call: &Invocation<'_>) {
        for word in &call.operands {
            // It may become `of=`, or several words.
            let is_apart = |atom: &Atom| matches!(atom, Atom::Hole(hole) if !hole.is_whole);
            let is_begun = word.known_prefix().contains('=');
            if word.atoms.iter().any(is_apart) || word.has_hole() && !is_begun {
                self.is_open_ended();
            }
            if word.text().starts_with("of=") {
                self.concern(ConcernKind::Irreversible, "dd overwrites what it is given");
                self.write(&word.skip(3));
            }
        }
    }

    fn tar(&mut self, call: &Invocation<'_>) {
        let has = |names: &[&str]| call.has_option(names);
        let (extracts, lists) = (has(&["-x", "--extract", "--get"]), has(&["-t", "--list"]));
        let archive = call.value(&["-f", "--file"]).map(Word::text).unwrap_or_default();
        if archive.contains(':') && !has(&["--force-local"]) {
            self.concern(ConcernKind::Leaves, "tar reaches another machine");
        }
        if extracts {
            self.changes();
            call.values(&["-C", "--directory", "--cd"]).for_each(|folder| self.write(folder));
            if has(&["-P", "--absolute-names"]) {
                self.concern(ConcernKind::Leaves, "writes where the archive says");
            }
        } else if !lists {
            self.changes();
            if let Some(file) = call.value(&["-f", "--file"]).filter(|file| file.text() != "-") {
                self.write(file);
            }
        }
    }

    fn rsync(&mut self, call: &Invocation<'_>) {
        for word in &call.operands {
            let text = word.text();
            let host = text.split('/').next().unwrap_or_default();
            if host.contains(':') || word.leading_hole().is_some() {
                self.concern(ConcernKind::Leaves, "rsync reaches another machine");
            }
        }
    }

    fn less(&mut self, call: &Invocation<'_>) {
        for word in &call.operands {
            let text = word.text();
            if let Some((_, line)) =
                text.strip_prefix('+').and_then(|rest| rest.split_once(['!', '|', '#']))
            {
                self.line_of(&Word::literal(line));
                self.unclear("less runs a command");
            }
        }
    }

    fn python(&mut self, call: &Invocation<'_>) {
        let Some(module) = call.value(&["-m"]) else { return };
        let name = module.text();
        if PYTHON_PROGRAMS.contains(&name.as_str()) && programs::find(&name).is_some() {
            let words = [vec![module.clone()], call.rest.clone()].concat();
            self.wrapped(&words);
        }
    }

    fn make(&mut self, call: &Invocation<'_>) {
        for word in call.operands.iter().filter(|word| word.text().contains('=')) {
            self.variable_word(word);
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
