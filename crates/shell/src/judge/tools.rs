//! Compilers and databases: what their words have them run, load or write besides.

use super::invocation::Invocation;
use crate::programs::Special;
use crate::reader::{Input, Reader};
use crate::word::Word;

/// How options of compilers begin that name a program, a library or a file with more options.
const OF_COMPILERS: [&str; 22] = [
    "-wrapper",
    "-fplugin",
    "-B",
    "-specs",
    "--specs",
    "-Xclang",
    "-Xlinker",
    "-fpass-plugin",
    "-load",
    "-iplugindir",
    "-fuse-ld=/",
    "-fuse-ld=.",
    "--ld-path",
    "-ccc",
    "--config",
    "--gcc-",
    "-Wa,",
    "-Wp,",
    "-aux-info",
    "-fdump",
    "-fdiagnostics-add-output",
    "-fdiagnostics-set-output",
];

/// Commands of sqlite3 that only show or format.
const SHOWING: &str = ".schema .tables .indexes .indices .headers .header .mode .dump .dbinfo .databases .width \
    .separator .nullvalue .echo .stats .timer .eqp .fullschema .show .version .help .quit .exit .limit .bail \
    .changes .explain .print .timeout";

/// How SQL begins that only looks.
const LOOKING: [&str; 3] = ["select", "explain", "pragma"];

/// Words of it that a bracket may follow.
const CALLED: &str = "all and as between by cast count distinct else exists filter from glob having in join like not on or over \
    select then union using values when where \
    abs avg coalesce date datetime dense_rank first_value format group_concat hex ifnull iif instr json_array \
    json_array_length json_each json_extract json_group_array json_group_object json_object julianday lag \
    last_value lead length lower ltrim max min nullif printf quote random rank replace round row_number rtrim \
    strftime string_agg substr substring sum time total trim typeof unixepoch upper \
    foreign_key_check foreign_key_list index_info index_list index_xinfo integrity_check quick_check table_info \
    table_list table_xinfo";

/// Commands of mysql that run something of this machine, or read or write its files.
const OF_MYSQL: [&str; 6] = ["system", "source", "pager", "tee", "edit", "load"];

impl Reader<'_> {
    pub(super) fn tools(&mut self, call: &Invocation<'_>) {
        match call.program.special {
            Special::Compiler => self.compiler(call),
            Special::Sqlite => self.sqlite(call),
            Special::Sql => self.sql(call),
            _ => {}
        }
    }

    fn compiler(&mut self, call: &Invocation<'_>) {
        for flag in &call.flags {
            let text = flag.text();
            let links = text.starts_with("-Wl,");
            let of_linker = ["plugin", "-load", "Map", ",-o", "@", "script"];
            if OF_COMPILERS.iter().any(|start| text.starts_with(start))
                || links && of_linker.iter().any(|part| text.contains(part))
            {
                self.is_open_ended();
            }
        }
        if call.operands.iter().any(|word| word.known_prefix().starts_with('@')) {
            self.is_open_ended();
        }
        let of_rust = ["linker", "link-", "dlltool", "backend", "plugin", "llvm-args", "profile"];
        let names_more = |word: &Word| {
            let text = word.text();
            word.known().is_none() || of_rust.iter().any(|part| text.contains(part))
        };
        if call.values(&["-C", "--codegen", "-Z"]).any(names_more) {
            self.is_open_ended();
        }
        // A program and its arguments, with commas between.
        let wrapper = call.value(&["-wrapper"]).and_then(Word::known);
        if let Some(wrapper) = wrapper {
            let words: Vec<Word> = wrapper.split(',').map(Word::literal).collect();
            self.wrapped(&words);
        }
    }

    /// The words behind the file, and what it reads, are lines of commands with a dot, and of SQL.
    fn sqlite(&mut self, call: &Invocation<'_>) {
        let given = call.operands.iter().skip(1).copied().chain(call.values(&["-cmd", "-c", "-s"]));
        let mut texts: Vec<Word> = given.cloned().collect();
        if let Input::Text(text, _) = self.scope.input.clone() {
            texts.push((*text).clone());
        }
        let lines = |word: &Word| word.text().lines().map(|line| line.trim().to_owned()).collect();
        let texts: Vec<(bool, Vec<String>)> =
            texts.iter().map(|word| (word.known().is_some(), lines(word))).collect();
        texts.iter().flat_map(|(_, lines)| lines).for_each(|line| self.line_of_sqlite(line));
        // Without SQL it reads some, from whatever it is given.
        let packs = call.flags.iter().any(|flag| flag.text().starts_with("-A"));
        let only_looks = !texts.is_empty()
            && !packs
            && texts.iter().all(|(is_known, lines)| *is_known && only_looks(lines));
        if only_looks {
            return;
        }
        self.is_open_ended();
        if let Some(database) = call.operands.first()
            && !database.known().is_some_and(|name| {
                name.is_empty() || name == ":memory:" || name.starts_with("file:")
            })
        {
            self.write(database);
        }
    }

    fn line_of_sqlite(&mut self, line: &str) {
        if !line.starts_with('.') || shows(line) {
            return;
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // Names may be cut short; words in quotes are put together again for the shell.
        let runs =
            [".shell", ".system"].iter().any(|full| name.len() > 2 && full.starts_with(name));
        let piped = rest.split_once('|').map(|(_, line)| line.trim_matches(['"', '\'']));
        if let Some(line) = if runs { Some(rest) } else { piped } {
            self.line_of(&Word::literal(line));
        }
    }

    /// A backslash in what it is told may run a program of this machine, and `system` of mysql.
    fn sql(&mut self, call: &Invocation<'_>) {
        let names = ["-c", "--command", "-e", "--execute", "-v", "--set", "--variable"];
        let given = call.operands.iter().copied().chain(call.values(&names));
        let mut texts: Vec<Word> = given.cloned().collect();
        if let Input::Text(text, _) = self.scope.input.clone() {
            texts.push((*text).clone());
        }
        for word in texts {
            if word.known().is_none() {
                self.is_open_ended();
            }
            word.text().split(['\n', ';']).for_each(|line| self.line_of_sql(line.trim()));
        }
    }

    fn line_of_sql(&mut self, line: &str) {
        let first = line.split(char::is_whitespace).next().unwrap_or_default().to_lowercase();
        let is_shown = |rest: &str| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            name.starts_with('d')
                || matches!(name, "l" | "list" | "x" | "z" | "q" | "h" | "timing" | "conninfo")
        };
        if line.contains('`')
            || OF_MYSQL.contains(&first.as_str())
            || line.split('\\').skip(1).any(|rest| !is_shown(rest))
        {
            self.is_open_ended();
        }
        let told = line.split_once("\\!").map(|(_, told)| told);
        if let Some(told) = told.or_else(|| line.strip_prefix("system ")) {
            self.line_of(&Word::literal(told));
        }
    }
}

/// Whether a line of sqlite3 with a dot only shows or formats.
fn shows(line: &str) -> bool {
    let name = line.split(char::is_whitespace).next();
    SHOWING.split_ascii_whitespace().any(|showing| Some(showing) == name)
}

/// Whether lines of sqlite3 only look. What is called that nobody knows may be a program.
fn only_looks(lines: &[String]) -> bool {
    let (of_program, sql): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with('.'));
    let sql = sql.join("\n").to_lowercase();
    let begins = |sql: &str| LOOKING.iter().any(|start| sql.starts_with(start));
    let is_free = |before: &str| {
        let before = before.trim_end();
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        match word.filter(|word| !word.is_empty()) {
            Some(word) => CALLED.split_ascii_whitespace().any(|called| called == word),
            None => before.ends_with(|c| "(,=<>+-*%|&~".contains(c)),
        }
    };
    let looks = |sql: &str| {
        let calls = sql.match_indices('(').all(|(at, _)| is_free(&sql[..at]));
        let assigns = sql.starts_with("pragma") && sql.contains('=');
        sql.is_empty() || begins(sql) && calls && !assigns
    };
    of_program.into_iter().all(shows)
        && !sql.contains("--")
        && !sql.contains("/*")
        && sql.split(';').all(|sql| looks(sql.trim()))
}
