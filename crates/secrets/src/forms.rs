//! The forms that services give their keys, and the words behind which secrets stand.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::Found;
use crate::randomness::{ASSIGNED_BITS_MIN, bits_per_char, is_mixed};

/// What has to be true of a match besides its form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Nothing: the form says it all.
    Form,
    /// It looks random.
    Random,
}

/// A form: what it is, the pattern whose group `s` is the secret, and what else has to be true.
struct Form {
    what: &'static str,
    pattern: &'static str,
    proof: Proof,
}

const fn form(what: &'static str, pattern: &'static str) -> Form {
    Form { what, pattern, proof: Proof::Form }
}

const fn random(what: &'static str, pattern: &'static str) -> Form {
    Form { what, pattern, proof: Proof::Random }
}

/// From the services' own documentation; each has a row in the tests.
const FORMS: [Form; 21] = [
    form(
        "private key",
        r"(?P<s>-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\\ \r\n]|-[A-Za-z0-9]){16,}(?:-----END [A-Z ]*PRIVATE KEY-----)?)",
    ),
    form("Anthropic key", r"\b(?P<s>sk-ant-[A-Za-z0-9_-]{20,})"),
    form("OpenRouter key", r"\b(?P<s>sk-or-v1-[0-9a-f]{40,})"),
    random("OpenAI key", r"\b(?P<s>sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,})"),
    form("GitHub token", r"\b(?P<s>gh[pousr]_[A-Za-z0-9]{36,})"),
    form("GitHub token", r"\b(?P<s>github_pat_[A-Za-z0-9_]{22,})"),
    form("GitLab token", r"\b(?P<s>gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{20,})"),
    form("AWS key id", r"\b(?P<s>(?:AKIA|ASIA)[0-9A-Z]{16})\b"),
    form("Slack token", r"\b(?P<s>xox[abeoprs]-[A-Za-z0-9-]{10,})"),
    form("Google key", r"\b(?P<s>AIza[0-9A-Za-z_-]{35})"),
    form("Google token", r"\b(?P<s>ya29\.[0-9A-Za-z_-]{20,})"),
    form("Stripe key", r"\b(?P<s>[sr]k_(?:live|test)_[0-9a-zA-Z]{20,})"),
    form("npm token", r"\b(?P<s>npm_[A-Za-z0-9]{36})"),
    form("PyPI token", r"\b(?P<s>pypi-AgEI[A-Za-z0-9_-]{50,})"),
    form("Hugging Face token", r"\b(?P<s>hf_[A-Za-z0-9]{30,})"),
    form("DigitalOcean token", r"\b(?P<s>do[opr]_v1_[0-9a-f]{64})"),
    form("SendGrid key", r"\b(?P<s>SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    form(
        "JSON web token",
        r"\b(?P<s>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
    ),
    form(
        "authorization",
        r"(?i)\bauthorization\W{1,4}(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]{16,})",
    ),
    form("password in a URL", r"\b[a-z][a-z0-9+.-]+://[^/\s:@'\x22]+:(?P<s>[^@\s/'\x22$<{]{12,})@"),
    random(
        "secret",
        r#"(?i)(?:api_?-?key|secret|token|passwo?r?d|credentials?)[A-Za-z0-9_]*["']?\s{0,4}(?:=>|:=|[:=])\s{0,4}["']?(?P<s>[A-Za-z0-9+/_.~!@#%^&*=-]{12,})"#,
    ),
];

/// What examples in documentation hold.
const PLACEHOLDERS: [&str; 6] = ["example", "xxxx", "your", "placeholder", "redacted", "changeme"];

struct Compiled {
    any: RegexSet,
    each: [Regex; FORMS.len()],
}

#[expect(clippy::expect_used, reason = "constants that a test compiles; without, nothing is found")]
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| Compiled {
    any: RegexSet::new(FORMS.map(|form| form.pattern)).expect("the set of constants compiles"),
    each: FORMS.map(|form| Regex::new(form.pattern).expect("each constant compiles")),
});

/// Every match of a form; they may overlap.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Found> {
    let which: Vec<usize> = COMPILED.any.matches(text).into_iter().collect();
    which.into_iter().flat_map(move |at| {
        let (form, pattern) = (&FORMS[at], &COMPILED.each[at]);
        pattern.captures_iter(text).filter_map(move |captures| {
            let secret = captures.name("s")?;
            let found = Found { range: secret.range(), what: form.what.to_owned() };
            is_real(form, secret.as_str()).then_some(found)
        })
    })
}

fn is_real(form: &Form, secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let is_random = || bits_per_char(secret) >= ASSIGNED_BITS_MIN && is_mixed(secret);
    !PLACEHOLDERS.iter().any(|word| lower.contains(word))
        && (form.proof == Proof::Form || is_random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_names_its_secret() {
        let names = |pattern: &Regex| pattern.capture_names().flatten().any(|name| name == "s");
        assert!(COMPILED.each.iter().all(names));
    }
}
