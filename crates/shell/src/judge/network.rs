//! What talks to other machines: what it runs here to reach them, and what of theirs it writes.

use super::invocation::{Given, Invocation};
use crate::line::ConcernKind;
use crate::programs::{self, Special};
use crate::reader::{Input, Reader};
use crate::word::Word;

/// Settings of ssh that name no program and no file.
const FREE_SSH: &str = "stricthostkeychecking connecttimeout connectionattempts batchmode \
    serveraliveinterval serveralivecountmax tcpkeepalive user port hostname hostkeyalias loglevel \
    compression identitiesonly preferredauthentications passwordauthentication \
    pubkeyauthentication kbdinteractiveauthentication numberofpasswordprompts requesttty \
    addressfamily checkhostip visualhostkey forwardagent exitonforwardfailure hashknownhosts \
    pubkeyacceptedalgorithms pubkeyacceptedkeytypes hostkeyalgorithms kexalgorithms ciphers macs";

/// Those whose value is a line for a shell of this machine.
const LINES_OF_SSH: [&str; 4] =
    ["proxycommand", "localcommand", "knownhostscommand", "ssh_command"];

impl Reader<'_> {
    pub(super) fn network(&mut self, call: &Invocation<'_>) {
        match call.program.special {
            Special::Ssh => self.ssh(call),
            Special::Scp => self.scp(call),
            Special::Sftp => self.sftp(call),
            Special::Curl => self.curl(call),
            _ => {}
        }
    }

    /// Behind the host options go on, up to the command for the other machine.
    fn ssh(&mut self, call: &Invocation<'_>) {
        let Some((host, rest)) = call.rest.split_first() else { return };
        let behind = Invocation::read(call.program, rest);
        self.given(&behind.options);
        let may_be_option = |word: &Word| word.may_hold_options();
        if may_be_option(host) || behind.rest.first().is_some_and(may_be_option) {
            self.is_open_ended();
        }
    }

    fn given(&mut self, options: &[Given]) {
        for given in options {
            self.option(given.does, given.value.as_ref(), false);
        }
    }

    /// `name=value` or `name value` after `-o`.
    pub(super) fn ssh_setting(&mut self, word: &Word) {
        let text = word.text();
        let end = text.find(['=', ' ', '\t']).unwrap_or(text.len());
        let (name, value) = text.split_at(end);
        let name = name.to_lowercase();
        let value = value.trim_start_matches(['=', ' ', '\t']).trim_matches('"');
        let is_written = word.known_prefix().len() > end || word.known().is_some();
        let is_nowhere = name.ends_with("knownhostsfile") && value == "/dev/null"
            || name.starts_with("control") && matches!(value, "no" | "none");
        let is_free = FREE_SSH.split_ascii_whitespace().any(|free| free == name);
        if is_written && (is_free || is_nowhere) {
            return;
        }
        if LINES_OF_SSH.contains(&name.as_str()) && word.known().is_some() && value != "none" {
            self.line_of(&Word::literal(value));
        }
        self.is_open_ended();
    }

    /// What is last is written, unless it lies on another machine.
    fn scp(&mut self, call: &Invocation<'_>) {
        if let [_, .., last] = call.operands.as_slice()
            && !is_remote(last)
        {
            self.write(last);
        }
    }

    /// Without a path behind the host it does what it reads, where `!` runs something here.
    fn sftp(&mut self, call: &Invocation<'_>) {
        if let Some(target) = call.operands.get(1) {
            self.write(target);
        }
        if let Input::Text(text, _) = self.scope.input.clone() {
            for line in text.text().lines() {
                if let Some(line) = line.trim_start_matches([' ', '@', '-']).strip_prefix('!') {
                    self.line_of(&Word::literal(line));
                }
            }
        }
        let names_path = |word: &&Word| {
            let text = word.text();
            let rest = text.strip_prefix("sftp://").map(|rest| rest.contains('/'));
            rest.unwrap_or_else(|| text.contains(':')) && word.known().is_some()
        };
        if !call.operands.first().is_some_and(names_path) {
            self.is_open_ended();
        }
    }

    fn curl(&mut self, call: &Invocation<'_>) {
        // `#1` stands for a part of the address, `%output{file}` writes, and `@file` may say so.
        let names = ["-o", "--output"];
        if call.values(&names).any(|word| word.text().contains('#')) {
            self.is_open_ended();
        }
        let says_more = |word: &Word| {
            let text = word.text();
            text.contains("%output") || text.starts_with('@') || word.known().is_none()
        };
        if call.values(&["-w", "--write-out"]).any(says_more) {
            self.is_open_ended();
        }
        // To the address of a file it writes, a key may lie behind a library, and `--expand-output` makes up
        // a name.
        let is_file = |word: &Word| may_be_file(word);
        let mut addresses = call.operands.iter().copied().chain(call.values(&["--url"]));
        let is_library = |word: &Word| word.known_prefix().to_lowercase().starts_with("pkcs11:");
        if call.has_option(&["-T", "--upload-file"]) && addresses.any(is_file)
            || call.values(&["-E", "--cert", "--key"]).any(is_library)
            || call.flags.iter().any(|flag| flag.text().starts_with("--expand-"))
        {
            self.is_open_ended();
        }
    }

    /// The program by which rsync reaches another machine, perhaps with arguments.
    pub(super) fn remote_shell(&mut self, word: &Word) {
        self.concern(ConcernKind::Leaves, "rsync runs a program to reach another machine");
        let words = word
            .known()
            .map(|text| text.split_ascii_whitespace().map(Word::literal).collect::<Vec<Word>>());
        match words.as_deref() {
            // It does so by itself, too.
            Some([name, rest @ ..])
                if name.text() == "ssh" && !word.text().contains(['\'', '"']) =>
            {
                if let Some(ssh) = programs::find("ssh") {
                    let call = Invocation::read(ssh, rest);
                    self.given(&call.options);
                    self.ssh(&call);
                }
            }
            Some(_) => {
                self.line_of(word);
                self.is_open_ended();
            }
            None => self.is_open_ended(),
        }
    }
}

/// Whether an address may be that of a file: which kind it is may be written with braces and brackets.
fn may_be_file(address: &Word) -> bool {
    let text = address.known_prefix().to_lowercase();
    let end = text.find([':', '/', '?']);
    let kind = &text[..end.unwrap_or(text.len())];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-._@%".contains(c);
    kind == "file" || !kind.chars().all(is_plain) || end.is_none() && address.known().is_none()
}

/// Whether a word names a file of another machine.
fn is_remote(word: &Word) -> bool {
    let text = word.known_prefix();
    text.split('/').next().is_some_and(|host| host.contains(':'))
}
