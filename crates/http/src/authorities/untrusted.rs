//! Why a certificate is not accepted, in words that say what to do.

use rustls::CertificateError;

use super::HOW_TO_TRUST;

/// A certificate that is not accepted. The same one would not be the next time.
#[derive(Debug, thiserror::Error)]
#[error("the certificate of {whose} is not accepted: {why}. {next_step}")]
pub(crate) struct Untrusted {
    whose: String,
    why: String,
    next_step: String,
}

impl Untrusted {
    pub(crate) fn of_server(error: &CertificateError) -> Self {
        use CertificateError as Bad;
        let told = error.to_string();
        let (why, next_step) = match error {
            Bad::UnknownIssuer | Bad::BadSignature => (
                format!("nobody vouches for it whom this machine trusts ({told})"),
                // Who vouches for it may stand in a file that was not read.
                super::broken_files().unwrap_or_else(|| {
                    format!(
                        "If you trust who signed it, such as a server or a proxy of your own \
                         network, {HOW_TO_TRUST}"
                    )
                }),
            ),
            // Only the library below has a name for it.
            Bad::Other(_) if told.contains("CaUsedAsEndEntity") => (
                "it is one of an authority and not of a server (CaUsedAsEndEntity)".to_owned(),
                format!("Give it one that the authority signed, and {HOW_TO_TRUST}"),
            ),
            Bad::Expired
            | Bad::ExpiredContext { .. }
            | Bad::NotValidYet
            | Bad::NotValidYetContext { .. } => {
                (told, "Look at the clock of this machine, and then at the certificate".to_owned())
            }
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
                (told, "Correct the address to a name that the certificate is for".to_owned())
            }
            _ => (told, "Ask whoever runs it for one that is in order".to_owned()),
        };
        Self { whose: "the server".to_owned(), why, next_step }
    }

    /// The same of the proxy at this address.
    pub(crate) fn of_proxy(self, address: &str) -> Self {
        Self { whose: format!("the proxy {address}"), ..self }
    }
}
