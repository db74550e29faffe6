//! Hosts that results are to be of, or not.

use heeler_core::ToolError;
use url::{Host, Url};

/// Domains of one list.
pub(super) const DOMAINS_MAX: usize = 20;

/// The hosts of a list, as addresses write them.
///
/// # Errors
/// When there are too many, or one is none; the text says which.
pub(super) fn read(list: &str, domains: &[String]) -> Result<Vec<String>, ToolError> {
    if domains.len() > DOMAINS_MAX {
        let text = format!("{list} has {} domains; at most {DOMAINS_MAX} are taken", domains.len());
        return Err(ToolError::for_model(text));
    }
    let read = |(index, domain): (usize, &String)| {
        let plain = domain.trim().trim_start_matches("*.").trim_end_matches('.');
        let host = Host::parse(plain).ok().map(|host| host.to_string());
        host.filter(|host| host.contains('.') && !host.contains('*')).ok_or_else(|| {
            let shown = super::text::one_line(domain, 100);
            ToolError::for_model(format!(
                "{list}[{index}]: `{shown}` is no domain; write it as `example.com`"
            ))
        })
    };
    domains.iter().enumerate().map(read).collect()
}

/// Whether an address is of one of these hosts, or below one.
pub(super) fn holds(domains: &[String], address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_end_matches('.');
    domains.iter().any(|domain| {
        host.strip_suffix(domain.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}
