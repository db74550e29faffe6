//! Who vouches for servers: whom the operating system says.

#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
mod bundle;
#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
mod named;
mod untrusted;

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::Verifier;

use crate::error::Problem;

pub(crate) use untrusted::Untrusted;

/// How another authority is trusted.
#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
const HOW_TO_TRUST: &str = "name a PEM file with that authority's certificate in SSL_CERT_FILE";
#[cfg(not(all(unix, not(target_vendor = "apple"), not(target_os = "android"))))]
const HOW_TO_TRUST: &str = "add that authority's certificate to those that this system trusts";

/// Reads what the system says; it takes milliseconds.
///
/// # Errors
/// When it vouches for nobody at all.
#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
pub(crate) fn verifier(
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Problem> {
    if let Some(verifier) = bundle::BundleFirst::of_system(provider) {
        return Ok(Arc::new(verifier));
    }
    let nobody = |_| Problem::NoAuthorities(named::nobody(|name| std::env::var_os(name)));
    whole(provider).map_err(nobody)
}

/// Has the system asked.
///
/// # Errors
/// When that cannot be set up.
#[cfg(not(all(unix, not(target_vendor = "apple"), not(target_os = "android"))))]
pub(crate) fn verifier(
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Problem> {
    whole(provider).map_err(Problem::Tls)
}

/// What is wrong with the files that the environment names, if anything is.
#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
fn broken_files() -> Option<String> {
    named::broken(|name| std::env::var_os(name))
}

/// Elsewhere none are read.
#[cfg(not(all(unix, not(target_vendor = "apple"), not(target_os = "android"))))]
fn broken_files() -> Option<String> {
    None
}

/// All that the system says.
fn whole(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    Ok(Arc::new(Verifier::new(Arc::clone(provider))?))
}
