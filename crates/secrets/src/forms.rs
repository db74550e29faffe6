//! The forms that services give their keys, and the words behind which secrets stand.

use std::sync::{LazyLock, OnceLock};

use memchr::memmem::{self, Finder};
use regex::Regex;

use crate::Found;
use crate::randomness::is_random;

/// What has to be true of a match besides its form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Nothing: the form says it all.
    Form,
    /// It looks random, or its group `r` does, which is the secret without its prefix.
    Random,
}

/// A form: what it is, the pattern whose group `s` is the secret, and what else has to be true.
struct Form {
    what: &'static str,
    /// In lower case; one of them is in every match. Without any in a text the pattern is not even
    /// compiled, which takes longer than most texts do.
    hints: &'static [&'static str],
    pattern: &'static str,
    proof: Proof,
}

const fn form(what: &'static str, hints: &'static [&'static str], pattern: &'static str) -> Form {
    Form { what, hints, pattern, proof: Proof::Form }
}

const fn random(what: &'static str, hints: &'static [&'static str], pattern: &'static str) -> Form {
    Form { what, hints, pattern, proof: Proof::Random }
}

/// How many forms there are.
const N_FORMS: usize = 21;

/// From the services' own documentation; each has a row in the tests.
const FORMS: [Form; N_FORMS] = [
    form(
        "private key",
        &["private key-----"],
        r"(?P<s>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\\ \t\r\n]|-[A-Za-z0-9]){16,}(?:-----END [A-Z ]*PRIVATE KEY-----)?)",
    ),
    form("Anthropic key", &["sk-ant-"], r"\b(?P<s>sk-ant-[A-Za-z0-9_-]{20,})"),
    form("OpenRouter key", &["sk-or-v1-"], r"\b(?P<s>sk-or-v1-[0-9a-f]{40,})"),
    random(
        "OpenAI key",
        &["sk-"],
        r"\b(?P<s>sk-(?:proj-|svcacct-|admin-)?(?P<r>[A-Za-z0-9_-]{32,}))",
    ),
    form(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\b(?P<s>gh[pousr]_[A-Za-z0-9]{36,})",
    ),
    form("GitHub token", &["github_pat_"], r"\b(?P<s>github_pat_[A-Za-z0-9_]{22,})"),
    form(
        "GitLab token",
        &["glpat-", "glptt-", "gldt-", "glrt-"],
        r"\b(?P<s>gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{20,})",
    ),
    form("AWS key id", &["akia", "asia"], r"\b(?P<s>(?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    form("Slack token", &["xox"], r"\b(?P<s>xox[abeoprs]-[A-Za-z0-9-]{10,})"),
    form("Google key", &["aiza"], r"\b(?P<s>AIza[0-9A-Za-z_-]{35})"),
    form("Google token", &["ya29."], r"\b(?P<s>ya29\.[0-9A-Za-z_-]{20,})"),
    form("Stripe key", &["k_live_", "k_test_"], r"\b(?P<s>[sr]k_(?:live|test)_[0-9a-zA-Z]{20,})"),
    form("npm token", &["npm_"], r"\b(?P<s>npm_[A-Za-z0-9]{36})"),
    form("PyPI token", &["pypi-agei"], r"\b(?P<s>pypi-AgEI[A-Za-z0-9_-]{50,})"),
    form("Hugging Face token", &["hf_"], r"\b(?P<s>hf_[A-Za-z0-9]{30,})"),
    form("DigitalOcean token", &["_v1_"], r"\b(?P<s>do[opr]_v1_[0-9a-f]{64})"),
    form("SendGrid key", &["sg."], r"\b(?P<s>SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    form(
        "JSON web token",
        &[".eyj"],
        r"\b(?P<s>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
    ),
    form(
        "authorization",
        &["authorization"],
        r"(?i)\bauthorization\W{1,4}(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]{16,})",
    ),
    form(
        "password in a URL",
        &["://"],
        r"\b[a-z][a-z0-9+.-]+://[^/\s:@'\x22]+:(?P<s>[^@\s/'\x22$<{]{12,})@",
    ),
    random(
        "secret",
        &["key", "secret", "token", "passw", "passphrase", "_pwd", "credential"],
        r#"(?i)(?:api_?-?key|secret|token|passwo?r?d|passphrase|_pwd|credentials?)[A-Za-z0-9_]*["']?\s{0,4}(?:=>|:=|[:=])\s{0,4}["']?(?P<s>[A-Za-z0-9+/_.~!@#%^&*=-]{12,})"#,
    ),
];

/// How many patterns there are of what begins as a form does.
const N_BEGUN: usize = 5;

/// The same forms, with their hints, where a text that goes on ends within the secret. The tests of the
/// forms cut each of them.
const BEGUN: [(&[&str], &str); N_BEGUN] = [
    (
        &[
            "sk-",
            "gh",
            "github_pat_",
            "gl",
            "akia",
            "asia",
            "xox",
            "aiza",
            "ya29.",
            "k_live_",
            "k_test_",
            "npm_",
            "pypi-",
            "hf_",
            "_v1_",
            "sg.",
            "eyj",
        ],
        r"\b(?P<s>(?:sk-|gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt)-|AKIA|ASIA|xox[abeoprs]-|AIza|ya29\.|[sr]k_(?:live|test)_|npm_|pypi-A|hf_|do[opr]_v1_|SG\.|eyJ)[A-Za-z0-9_.-]+)$",
    ),
    (
        &["private key-----"],
        r"(?P<s>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\\ \t\r\n]|-[A-Za-z0-9])*)$",
    ),
    (
        &["authorization"],
        r"(?i)\bauthorization\W{1,4}(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]+)$",
    ),
    (&["://"], r"\b[a-z][a-z0-9+.-]+://[^/\s:@'\x22]+:(?P<s>[^@\s/'\x22$<{]+)$"),
    (
        &["key", "secret", "token", "passw", "passphrase", "_pwd", "credential"],
        r#"(?i)(?:api_?-?key|secret|token|passwo?r?d|passphrase|_pwd|credentials?)[A-Za-z0-9_]*["']?\s{0,4}(?:=>|:=|[:=])\s{0,4}["']?(?P<s>[A-Za-z0-9+/_.~!@#%^&*=-]+)$"#,
    ),
];

/// What examples in documentation hold.
const PLACEHOLDERS: [&str; 6] = ["example", "xxxx", "your", "placeholder", "redacted", "changeme"];

/// The patterns that were needed so far: of the forms, then of what begins as they do.
static COMPILED: [OnceLock<Regex>; N_FORMS + N_BEGUN] =
    [const { OnceLock::new() }; N_FORMS + N_BEGUN];

#[expect(clippy::expect_used, reason = "constants that a test compiles; without, nothing is found")]
fn compiled(at: usize) -> &'static Regex {
    let pattern = if at < N_FORMS { FORMS[at].pattern } else { BEGUN[at - N_FORMS].1 };
    COMPILED[at].get_or_init(|| Regex::new(pattern).expect("each constant compiles"))
}

/// What looks for the hints of each form; to make one takes longer than most texts do.
static HINTS: LazyLock<[Vec<Finder<'static>>; N_FORMS]> =
    LazyLock::new(|| FORMS.each_ref().map(|form| form.hints.iter().map(Finder::new).collect()));

/// Every match of a form; they may overlap.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Found> {
    let lower = text.to_ascii_lowercase();
    let is_hinted =
        move |at: usize| HINTS[at].iter().any(|hint| hint.find(lower.as_bytes()).is_some());
    let hinted = FORMS.iter().enumerate().filter(move |(at, _)| is_hinted(*at));
    hinted.flat_map(move |(at, form)| {
        compiled(at).captures_iter(text).filter_map(move |captures| {
            let secret = captures.name("s")?;
            let found = Found { range: secret.range(), what: form.what.to_owned() };
            let random = captures.name("r").unwrap_or(secret);
            is_real(form, secret.as_str(), random.as_str()).then_some(found)
        })
    })
}

/// Where the secret begins that a text ends within, should it go on: one that is no secret so far. What is
/// all digits and signs is a number, as counters show them.
pub(crate) fn begun(text: &str) -> Option<usize> {
    // Only a private key goes on behind a blank, and is known by its first line.
    if text.ends_with(char::is_whitespace) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let is_number = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_punctuation());
    let begun = BEGUN.iter().zip(N_FORMS..).filter_map(|((hints, _), at)| {
        let is_in = |hint: &&str| memmem::find(lower.as_bytes(), hint.as_bytes()).is_some();
        let begun = hints.iter().any(is_in).then(|| compiled(at).captures(text)?.name("s"));
        begun.flatten().filter(|begun| !is_number(begun.as_str())).map(|begun| begun.start())
    });
    let start = begun.min()?;
    let is_known = find(text).any(|found| found.range.end == text.len());
    (!is_known).then_some(start)
}

fn is_real(form: &Form, secret: &str, random: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    !PLACEHOLDERS.iter().any(|word| lower.contains(word))
        && (form.proof == Proof::Form || is_random(secret) || is_random(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_names_its_secret() {
        let names = |pattern: &Regex| pattern.capture_names().flatten().any(|name| name == "s");
        assert!((0..COMPILED.len()).all(|at| names(compiled(at))));
    }
}
