//! What every vendor's failures have in common: kinds by status, and one form of words.

use std::fmt::{Display, Write};
use std::time::Duration;

use heeler_core::{ProviderError, ProviderErrorKind, truncate_chars};

use crate::endpoint::Vendor;
use crate::transport::{Refusal, retry_after};

/// The longest text of a provider that is passed on in a message.
pub(crate) const DETAIL_CHARS_MAX: usize = 500;

/// The most that is quoted of what is no answer, in one line.
const LINE_CHARS_MAX: usize = 120;

/// The beginning of what is no answer, from which that line is made.
const SAID_CHARS_MAX: usize = 1024;

/// A failure that a provider told of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failed<'a> {
    pub(crate) vendor: &'a Vendor,
    pub(crate) kind: ProviderErrorKind,
    /// The type the provider itself gives it; empty for none.
    pub(crate) provider_type: &'a str,
    /// The provider's words; empty for none.
    pub(crate) detail: &'a str,
    pub(crate) at: At<'a>,
}

/// Where a failure was told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'a> {
    /// Instead of an answer; with the provider's id of the request, for its support.
    Refusal { status: u16, request_id: Option<&'a str>, retry_after: Option<Duration> },
    /// In the middle of one.
    Stream,
}

impl<'a> At<'a> {
    /// The status of a refusal.
    pub(crate) fn status(self) -> Option<u16> {
        match self {
            Self::Refusal { status, .. } => Some(status),
            Self::Stream => None,
        }
    }

    /// The place of a refusal whose id stands in this header.
    pub(crate) fn refusal(refusal: &'a Refusal, id_header: &str) -> Self {
        Self::Refusal {
            status: refusal.head.status(),
            request_id: refusal.head.header(id_header),
            retry_after: refusal.retry_after.or_else(|| asked(refusal)),
        }
    }
}

impl Failed<'_> {
    /// The failure in words, with the next step where there is one.
    pub(crate) fn error(self) -> ProviderError {
        let Self { vendor, kind, .. } = self;
        let mut message = format!("{} {}", vendor.name, verdict(kind));
        let status = self.at.status();
        let wait = match self.at {
            At::Refusal { status, request_id, retry_after } => {
                let _ = write!(message, " (HTTP {status}");
                if let Some(id) = request_id {
                    let _ = write!(message, ", request {}", clean(id));
                }
                message.push(')');
                retry_after
            }
            At::Stream => {
                message.push_str(" in the middle of its answer");
                retry_after::of_words(self.detail).filter(|_| kind == ProviderErrorKind::RateLimit)
            }
        };
        let detail = clean(self.detail);
        if !detail.is_empty() {
            let _ = write!(message, ": {detail}");
        }
        // What is shorter is waited for.
        if let Some(minutes) = wait.map(|wait| wait.as_secs().div_ceil(60)).filter(|n| *n > 1) {
            let _ = write!(message, "\nIt asks to wait {minutes} minutes.");
        }
        if let Some(next_step) = next_step(vendor, kind, status.unwrap_or_default()) {
            let _ = write!(message, "\n{next_step}");
        }
        let provider_type = Some(clean(self.provider_type)).filter(|named| !named.is_empty());
        ProviderError {
            retry_after: wait,
            status,
            provider_type,
            ..ProviderError::new(kind, message)
        }
    }
}

/// How long somebody with too many requests is asked to wait, where no header is for that: in words,
/// or by when there is room again.
fn asked(refusal: &Refusal) -> Option<Duration> {
    if refusal.head.status() != 429 {
        return None;
    }
    let words = retry_after::of_words(&String::from_utf8_lossy(&refusal.body));
    words.or_else(|| retry_after::of_resets(&refusal.head))
}

/// The kind of a failure of which only the status is known.
pub(crate) fn of_status(status: u16) -> ProviderErrorKind {
    match status {
        401 | 403 => ProviderErrorKind::Auth,
        402 => ProviderErrorKind::Billing,
        404 => ProviderErrorKind::UnknownModel,
        413 => ProviderErrorKind::ContextOverflow,
        429 => ProviderErrorKind::RateLimit,
        529 => ProviderErrorKind::Overloaded,
        408 | 409 | 425 | 500.. => ProviderErrorKind::Server,
        _ => ProviderErrorKind::InvalidRequest,
    }
}

fn verdict(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Auth => "did not accept the key",
        ProviderErrorKind::RateLimit => "has had too many requests from this account",
        ProviderErrorKind::Billing => "cannot bill this account",
        ProviderErrorKind::Overloaded => "is overloaded",
        ProviderErrorKind::ContextOverflow => "found the request too long",
        ProviderErrorKind::Network | ProviderErrorKind::Server => "failed",
        ProviderErrorKind::Format => "sent what could not be read",
        ProviderErrorKind::UnknownModel => "does not know this model or address",
        ProviderErrorKind::RefusedItem => "cannot process an image or a document",
        ProviderErrorKind::RefusedReasoning => "cannot verify reasoning of this conversation",
        ProviderErrorKind::InvalidRequest => "refused the request",
    }
}

/// What to do about a failure of this kind, where there is something.
pub(crate) fn next_step(vendor: &Vendor, kind: ProviderErrorKind, status: u16) -> Option<String> {
    let (keys, base_url) = (vendor.keys.join(" or "), vendor.base_url);
    Some(match kind {
        ProviderErrorKind::Auth if keys.is_empty() => return None,
        ProviderErrorKind::Auth if status == 403 => {
            format!("Check what the key in {keys} may use.")
        }
        ProviderErrorKind::Auth => format!("Check {keys}."),
        ProviderErrorKind::Billing => "Check the account's credit and payment details.".into(),
        ProviderErrorKind::UnknownModel => {
            format!("Check the model's name, and {base_url} if set.")
        }
        ProviderErrorKind::InvalidRequest if (300..400).contains(&status) => {
            format!("The address redirects, and keys are not sent elsewhere: correct {base_url}.")
        }
        ProviderErrorKind::ContextOverflow => "Compact the conversation or begin a new one.".into(),
        _ => return None,
    })
}

/// An answer that cannot be read, and why; that may quote it.
pub(crate) fn unreadable(name: &str, why: &impl Display) -> ProviderError {
    let message = format!("{name}'s answer could not be read: {}", clean(&why.to_string()));
    ProviderError::new(ProviderErrorKind::Format, message)
}

/// An answer without a single event, and how what was said instead begins, as one line: the first of
/// a page or of JSON in lines says nothing. Empty for nothing.
pub(crate) fn no_events(vendor: &Vendor, said: &str) -> ProviderError {
    let said = said.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let begin = truncate_chars(said, SAID_CHARS_MAX);
    let words: Vec<&str> = begin.split_whitespace().collect();
    let line = truncate_chars(&clean(&words.join(" ")), LINE_CHARS_MAX).into_owned();
    let said = if line.is_empty() { String::new() } else { format!(", but `{line}`") };
    let Vendor { name, base_url, .. } = vendor;
    let message = format!("{name}'s answer held no events{said}. Check {base_url} if it is set");
    ProviderError::new(ProviderErrorKind::Format, message)
}

/// An answer that went on and on, and was left. Another would, too: nobody is asked again.
pub(crate) fn too_long(bytes_max: usize) -> ProviderError {
    let message = format!(
        "the answer is longer than {bytes_max} bytes, which no model writes, and was left. Look at \
         the server, or at a proxy before it"
    );
    ProviderError::new(ProviderErrorKind::InvalidRequest, message)
}

/// A provider's text, bounded and without characters that would act on a terminal.
pub(crate) fn clean(text: &str) -> String {
    let printable: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    truncate_chars(&printable, DETAIL_CHARS_MAX).into()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn statuses() {
        let kinds: String = [
            302, 400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 425, 429, 500, 502, 503, 504,
            529,
        ]
        .iter()
        .map(|status| format!("{status} {:?}\n", of_status(*status)))
        .collect();
        expect![[r#"
            302 InvalidRequest
            400 InvalidRequest
            401 Auth
            402 Billing
            403 Auth
            404 UnknownModel
            408 Server
            409 Server
            413 ContextOverflow
            418 InvalidRequest
            422 InvalidRequest
            425 Server
            429 RateLimit
            500 Server
            502 Server
            503 Server
            504 Server
            529 Overloaded
        "#]]
        .assert_eq(&kinds);
    }

    #[test]
    fn a_stream_that_fails_for_too_many_requests_says_how_long() {
        let vendor = Vendor { name: "Local", keys: &[], base_url: "LOCAL_BASE_URL" };
        let detail = "Limit 30000, Used 27000. Please try again in 44.3s.";
        let wait = |kind| {
            Failed { vendor: &vendor, kind, provider_type: "", detail, at: At::Stream }
                .error()
                .retry_after
        };
        let told = Some(Duration::from_millis(44_300));
        assert_eq!(wait(ProviderErrorKind::RateLimit), told);
        assert_eq!(wait(ProviderErrorKind::InvalidRequest), None);
    }

    #[test]
    fn a_vendor_without_a_key_sends_nobody_to_it() {
        let vendor = Vendor { name: "Local", keys: &[], base_url: "LOCAL_BASE_URL" };
        let failed = Failed {
            vendor: &vendor,
            kind: ProviderErrorKind::Auth,
            provider_type: "",
            detail: "",
            at: At::Stream,
        };
        expect!["Local did not accept the key in the middle of its answer"]
            .assert_eq(&failed.error().message);
    }
}
