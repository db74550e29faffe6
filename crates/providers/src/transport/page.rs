//! Pages for people where a model's answer should be, as a proxy, a firewall or a wrong address
//! sends them.

use heeler_core::{ProviderError, ProviderErrorKind, truncate_chars};
use heeler_http::{Head, Target};

use super::Refusal;
use crate::endpoint::Vendor;
use crate::failure::{clean, next_step, of_status};

/// What some pages begin with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The longest title that is told.
const TITLE_CHARS_MAX: usize = 100;

/// Whether the head says so. Some servers call everything HTML.
pub(super) fn is_html(head: &Head) -> bool {
    let kind = head.header("content-type").unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/html")
}

/// Whether the body of a refusal is a page; of one that is packed only the head can be read.
pub(super) fn is_page(head: &Head, body: Option<&[u8]>) -> bool {
    let Some(body) = body else { return is_html(head) };
    let body = body.trim_ascii_start();
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body).trim_ascii_start();
    let begins =
        |mark: &[u8]| body.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark));
    begins(b"<!doctype html") || begins(b"<html") || (is_html(head) && begins(b"<"))
}

/// A page's title; empty for none.
pub(super) fn title(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    // As long as the page, byte by byte.
    let lower = page.to_ascii_lowercase();
    let inner = || {
        let tag = lower.find("<title")?;
        let begin = tag + lower[tag..].find('>')? + 1;
        let end = begin + lower[begin..].find("</title")?;
        Some(&page[begin..end])
    };
    let words: Vec<&str> = inner().unwrap_or_default().split_whitespace().collect();
    truncate_chars(&clean(&words.join(" ")), TITLE_CHARS_MAX).into()
}

/// What a refusal means whose body is a page with this title. Whoever sent it knows no models, and did
/// not look at the key, except where the status asks for another one: gateways say so in pages.
pub(crate) fn refused(
    vendor: &Vendor,
    target: &Target,
    refusal: &Refusal,
    title: &str,
) -> ProviderError {
    use ProviderErrorKind::{Auth, Billing, InvalidRequest, UnknownModel};
    let status = refusal.head.status();
    let key = next_step(vendor, Auth, status).filter(|_| status == 401);
    let kind = match of_status(status) {
        Auth if key.is_some() => Auth,
        Auth | Billing | UnknownModel => InvalidRequest,
        other => other,
    };
    let (origin, advice) =
        (target.origin(), if kind.is_transient() { "try again, and " } else { "" });
    let title = if title.is_empty() { String::new() } else { format!(", `{title}`") };
    let cause = if key.is_some() { "Either the key was not accepted, or it is" } else { "It is" };
    let key = key.map(|step| format!("\n{step}")).unwrap_or_default();
    let message = format!(
        "{origin} answered HTTP {status} with a page for people{title}, not as a model does. {cause} \
         of something in between, such as a proxy or a firewall: {advice}check the proxy, the \
         network and the base URL{key}"
    );
    ProviderError {
        retry_after: refusal.retry_after,
        status: Some(status),
        ..ProviderError::new(kind, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let long = format!("<title>{}</title>", "x".repeat(200));
        let cut = title(long.as_bytes());
        assert!(cut.starts_with("xxx") && cut.chars().count() <= TITLE_CHARS_MAX, "{cut}");
        for (page, expected) in [
            ("", ""),
            ("<html><body>no</body>", ""),
            ("<title>cut", ""),
            ("<title", ""),
            ("<TITLE lang=\"en\">\n Access \x1b[31m\tdenied </Title>", "Access  [31m denied"),
            ("<head><title></title>", ""),
        ] {
            assert_eq!(title(page.as_bytes()), expected, "{page}");
        }
        assert_eq!(title(b"\xff<title>a\xffb</title>"), "a\u{fffd}b");
    }
}
