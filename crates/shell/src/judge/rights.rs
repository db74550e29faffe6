//! What runs a command with other rights or in another view of the system, behind words of its own.

use super::invocation::Invocation;
use crate::programs::Special;
use crate::reader::Reader;
use crate::word::Word;

/// Options of bwrap with a value.
const ONE: &str = "--tmpfs --dev --proc --mqueue --dir --remount-ro --chdir --unsetenv --lock-file --sync-fd \
    --exec-label --file-label --hostname --uid --gid --userns --userns2 --pidns --userns-block-fd --info-fd \
    --json-status-fd --block-fd --seccomp --add-seccomp-fd --cap-add --cap-drop --overlay-src --tmp-overlay \
    --ro-overlay --argv0 --size --perms --args";
/// Those with two.
const TWO: &str = "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --bind-fd --ro-bind-fd \
    --setenv --file --bind-data --ro-bind-data --symlink --chmod";

impl Reader<'_> {
    pub(super) fn rights(&mut self, call: &Invocation<'_>) {
        match call.program.special {
            Special::Sudo => self.sudo(call),
            Special::Bwrap => self.bwrap(call),
            Special::Capsh => self.capsh(call),
            _ => {}
        }
    }

    /// Variables stand before the command, and options go on behind them.
    fn sudo(&mut self, call: &Invocation<'_>) {
        let is_assignment =
            |word: &&Word| word.text().contains('=') && word.leading_hole().is_none();
        let assignments = call.rest.iter().take_while(is_assignment).count();
        for word in call.rest.iter().take(assignments) {
            self.exported_word(word);
        }
        let rest = &call.rest[assignments..];
        let goes_on = rest.first().is_some_and(|word| word.known_prefix().starts_with('-'));
        if assignments == 0 || !goes_on || call.operands_before_dashes.is_some() {
            self.wrapped(rest);
            let is_shell = |flag: &&Word| {
                let text = flag.text();
                matches!(text.as_str(), "--shell" | "--login")
                    || !text.starts_with("--") && text.contains(['s', 'i'])
            };
            if call.flags.iter().any(is_shell) {
                self.own_shell(call, rest);
            }
            return;
        }
        let behind = Invocation::read(call.program, rest);
        for given in &behind.options {
            self.option(given.does, given.value.as_ref(), false);
        }
        self.sudo(&behind);
    }

    /// Its options have up to three values.
    fn bwrap(&mut self, call: &Invocation<'_>) {
        if call.flags.iter().any(|flag| flag.text() == "--args") {
            self.unclear("bwrap reads its options from a descriptor");
        }
        if call.operands_before_dashes.is_some() {
            return self.wrapped(&call.rest);
        }
        let mut at = call.flags.last().map_or(0, |flag| values_of(&flag.text()));
        while let Some(text) = call.rest.get(at).map(Word::text)
            && text.starts_with("--")
        {
            at += 1 + values_of(&text);
            if text == "--args" {
                self.unclear("bwrap reads its options from a descriptor");
            }
            if text == "--" {
                break;
            }
        }
        self.wrapped(call.rest.get(at..).unwrap_or_default());
    }

    /// Behind two dashes stands what it gives to a shell.
    fn capsh(&mut self, call: &Invocation<'_>) {
        let Some(before) = call.operands_before_dashes else { return };
        let given = call.operands.iter().skip(before).map(|word| (*word).clone());
        let words: Vec<Word> = std::iter::once(Word::literal("bash")).chain(given).collect();
        self.wrapped(&words);
    }
}

fn values_of(option: &str) -> usize {
    let is_one_of = |names: &str| names.split_ascii_whitespace().any(|name| name == option);
    match () {
        () if is_one_of(ONE) => 1,
        () if is_one_of(TWO) => 2,
        () if option == "--overlay" => 3,
        () => 0,
    }
}
