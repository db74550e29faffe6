//! The names of models: with their provider, without it, dated.

use std::borrow::Cow;

use super::{blocks, read};

/// Names that begin so are Anthropic's, whether the catalogue has them or not.
const CLAUDE: &str = "claude-";

/// The full name, `provider/NAME`: that of a bare name where it is a Claude name, or the catalogue
/// has it, dated or not, of exactly one provider. What has a slash is taken for a full name.
#[must_use]
pub fn full_name(model: &str) -> Option<String> {
    match model.split_once('/') {
        Some((provider, name)) => {
            let is_whole = !provider.is_empty() && !name.is_empty();
            return is_whole.then(|| model.to_owned());
        }
        None if model.starts_with(CLAUDE) => return Some(format!("anthropic/{model}")),
        None if model.is_empty() => return None,
        None => {}
    }
    let mut providers = providers_of(model);
    if providers.is_empty() {
        providers = providers_of(undated(model));
    }
    match &providers[..] {
        [provider] => Some(format!("{provider}/{model}")),
        _ => None,
    }
}

/// NAME of `provider/NAME`, what the provider itself calls the model.
#[must_use]
pub fn bare_name(full: &str) -> &str {
    full.split_once('/').map_or(full, |(_, name)| name)
}

/// Whose entry holds for a full name: both of OpenAI's ways to ask charge the same.
pub(super) fn priced_as(full: &str) -> Cow<'_, str> {
    match full.strip_prefix("openai-chat/") {
        Some(name) => Cow::Owned(format!("openai/{name}")),
        None => Cow::Borrowed(full),
    }
}

/// `name` without a snapshot's date or `-latest`.
pub(crate) fn undated(name: &str) -> &str {
    let is_number = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match name.rsplit_once('-') {
        Some((base, "latest")) => return base,
        Some((base, date)) if is_number(date, 8) => return base,
        _ => {}
    }
    let mut parts = name.rsplitn(4, '-');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(day), Some(month), Some(year), Some(base))
            if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) =>
        {
            base
        }
        _ => name,
    }
}

/// The providers that have a model of this bare name.
fn providers_of(bare: &str) -> Vec<String> {
    let ending = format!("/{bare}\"");
    let named = blocks().filter(|block| block.contains(&ending)).map(read);
    let full = named.flat_map(|model| model.names().map(str::to_owned).collect::<Vec<_>>());
    let provider = |name: String| {
        let (provider, own) = name.split_once('/')?;
        (own == bare).then(|| provider.to_owned())
    };
    full.filter_map(provider).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_bare_name_stands_for_the_only_provider_that_has_it() {
        check("claude-next-9", expect!["anthropic/claude-next-9"]);
        check("gpt-5.5", expect!["openai/gpt-5.5"]);
        check("gpt-5.5-2026-04-23", expect!["openai/gpt-5.5-2026-04-23"]);
        check("gemini-2.5-pro", expect!["gemini/gemini-2.5-pro"]);
        check("codestral-latest", expect!["mistral/codestral-latest"]);
        check("openrouter/a/b", expect!["openrouter/a/b"]);
        // Who serves it differs, so it needs a provider's name; these are no whole names.
        for none in ["gpt-oss-120b", "gpt-next", "", "/x", "x/"] {
            check(none, expect!["nobody"]);
        }
    }

    #[test]
    fn a_date_is_no_part_of_a_name() {
        for (name, base) in [
            ("a-20250929", "a"),
            ("a-2025-09-29", "a"),
            ("a-latest", "a"),
            ("a-2512", "a-2512"),
            ("a-2025-9-29", "a-2025-9-29"),
            ("20250929", "20250929"),
            ("a", "a"),
            ("", ""),
        ] {
            assert_eq!(undated(name), base);
        }
    }

    fn check(model: &str, expected: Expect) {
        expected.assert_eq(full_name(model).as_deref().unwrap_or("nobody"));
    }
}
