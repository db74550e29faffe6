//! What programs do, as data: one table a family of programs.
//!
//! A program that is in no table changes something within the box and is not asked about. A table
//! says what is worse (it leaves, it destroys), what is better (it only reads), and which options
//! and operands make the difference.

mod build;
mod containers;
mod files;
mod git;
mod interpreters;
mod network;
mod packages;
mod shell;
mod system;
mod table;
mod text;
mod versions;
mod wrappers;

pub(crate) use shell::KEYWORD_WHY;
pub(crate) use table::{Does, Effect, Operands, Option_, Program, Special, Style};

/// A program that is in no table.
pub(crate) const UNKNOWN: Program = table::changes("").options(&[Option_ {
    names: "-o --output --out --outfile --output-file --output-dir --out-dir --outdir",
    takes: true,
    optional: false,
    does: Does::MayWrite,
}]);

/// All tables.
const TABLES: [&[Program]; 12] = [
    shell::PROGRAMS,
    wrappers::PROGRAMS,
    files::PROGRAMS,
    text::PROGRAMS,
    git::PROGRAMS,
    versions::PROGRAMS,
    build::PROGRAMS,
    interpreters::PROGRAMS,
    packages::PROGRAMS,
    network::PROGRAMS,
    system::PROGRAMS,
    containers::PROGRAMS,
];

/// Folders whose programs are the system's own.
const SYSTEM_FOLDERS: [&str; 6] =
    ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// Words that bash itself takes for something else than a command.
const WORDS_OF_SHELL: &str = "if then else elif fi case esac for select while until do done in \
    function time coproc ! { } [[ ]]";

/// What is known of a program, by its name or path. Upper case counts as lower: some file systems
/// do not tell them apart.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    let base = base(name);
    let without_version =
        base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let family = match base.as_str() {
        name if name.starts_with("mkfs.") => "mkfs",
        name if name.starts_with("ld-") => "ld.so",
        name => name.strip_suffix(".exe").unwrap_or(without_version),
    };
    // What only looks has no version by its name: `id3` is another program.
    let is_apart = base.strip_prefix(family).is_some_and(|rest| !rest.contains(['-', '.']));
    get(&base)
        .or_else(|| get(family).filter(|program| !is_apart || program.effect != Effect::Reads))
}

fn get(name: &str) -> Option<&'static Program> {
    let mut programs = TABLES.iter().flat_map(|table| table.iter());
    programs.find(|program| program.all_names().any(|known| known == name))
}

/// The last part of a name, in lower case.
pub(crate) fn base(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_lowercase()
}

/// Whether bash takes the word for something else than a command.
pub(crate) fn is_word_of_shell(name: &str) -> bool {
    WORDS_OF_SHELL.split_ascii_whitespace().any(|word| word == name)
}

/// Whether a name can only mean the system's program of that name.
pub(crate) fn is_of_the_system(name: &str) -> bool {
    !name.contains('/')
        || SYSTEM_FOLDERS.iter().any(|folder| {
            name.strip_prefix(folder).is_some_and(|rest| !rest.contains('/') && !rest.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_in_two_tables() {
        let names = TABLES.iter().flat_map(|table| table.iter()).flat_map(Program::all_names);
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let twice: Vec<&str> =
            names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
        assert_eq!(twice, Vec::<&str>::new());
    }
}
