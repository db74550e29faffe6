//! Who vouches for servers: whom the operating system says.

#[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
mod bundle;

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls_platform_verifier::Verifier;

/// Reads what the system says; it takes milliseconds.
///
/// # Errors
/// When it vouches for nobody at all.
pub(crate) fn verifier(
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    #[cfg(all(unix, not(target_vendor = "apple"), not(target_os = "android")))]
    if let Some(verifier) = bundle::BundleFirst::of_system(provider) {
        return Ok(Arc::new(verifier));
    }
    whole(provider)
}

/// All that the system says.
fn whole(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, rustls::Error> {
    Ok(Arc::new(Verifier::new(Arc::clone(provider))?))
}
