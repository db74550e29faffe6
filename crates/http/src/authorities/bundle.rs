//! Where the system says in files who vouches for servers: all of them stand in one bundle, and each once more
//! in a folder beside it, which takes three times as long to read.
//!
//! So the bundle is read, and the folder only once it matters: when there is a server that the bundle does not
//! vouch for. That is what OpenSSL does, too, and an authority that somebody put into the folder alone is one
//! here.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

type Whole = dyn Fn() -> Result<Arc<dyn ServerCertVerifier>, Error> + Send + Sync;

/// Asks the bundle, and for whom it does not vouch, whatever else there is.
pub(super) struct BundleFirst {
    bundle: Arc<WebPkiServerVerifier>,
    read_whole: Box<Whole>,
    whole: OnceLock<Arc<dyn ServerCertVerifier>>,
}

impl BundleFirst {
    /// `None` where files are named by the environment, which means just these, or there is no
    /// bundle.
    pub(super) fn of_system(provider: &Arc<CryptoProvider>) -> Option<Self> {
        let named = ["SSL_CERT_FILE", "SSL_CERT_DIR"];
        if named.iter().any(|name| std::env::var_os(name).is_some()) {
            return None;
        }
        let file = openssl_probe::probe().cert_file?;
        let shared = Arc::clone(provider);
        Self::new(&file, provider, Box::new(move || super::whole(&shared)))
    }

    pub(super) fn new(
        file: &Path,
        provider: &Arc<CryptoProvider>,
        read_whole: Box<Whole>,
    ) -> Option<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(&std::fs::read(file).ok()?));
        let provider = Arc::clone(provider);
        let bundle = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        Some(Self { bundle: bundle.build().ok()?, read_whole, whole: OnceLock::new() })
    }

    fn whole(&self) -> Result<&Arc<dyn ServerCertVerifier>, Error> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole);
        }
        // A failure is not kept: it may have been put right the next time.
        let whole = (self.read_whole)()?;
        Ok(self.whole.get_or_init(|| whole))
    }
}

/// The certificates of a bundle; what is none in it vouches for nobody.
pub(super) fn certificates(bundle: &[u8]) -> Vec<CertificateDer<'static>> {
    let plain = plain_certificates(bundle);
    plain.unwrap_or_else(|| CertificateDer::pem_slice_iter(bundle).flatten().collect())
}

/// Those of a bundle in which nothing but certificates begins, each base64 of RFC 7468 between two marks, as
/// it is in every system's. The library's reader of all that PEM can be takes twice as long.
fn plain_certificates(bundle: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut certificates = Vec::new();
    let mut rest = std::str::from_utf8(bundle).ok()?;
    while let Some((before, section)) = rest.split_once(BEGIN) {
        if !before.is_empty() && !before.ends_with('\n') {
            return None;
        }
        let section = section.strip_prefix("CERTIFICATE-----\n")?;
        let (base64, after) = section.split_once("\n-----END CERTIFICATE-----\n")?;
        let base64: String = base64.split('\n').collect();
        certificates.push(BASE64_STANDARD.decode(base64).ok()?.into());
        rest = after;
    }
    Some(certificates)
}

impl fmt::Debug for BundleFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BundleFirst").finish_non_exhaustive()
    }
}

impl ServerCertVerifier for BundleFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let (server, chain, ocsp) = (end_entity, intermediates, ocsp_response);
        let ask = |verifier: &dyn ServerCertVerifier| {
            verifier.verify_server_cert(server, chain, server_name, ocsp, now)
        };
        // Whatever is wrong, the rest has the last word, and its reason is the one that is told.
        ask(&*self.bundle).or_else(|_| ask(&**self.whole()?))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.bundle.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.bundle.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.bundle.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    use rustls::crypto::ring;

    use super::*;

    struct Authority {
        pem: String,
        issuer: Issuer<'static, KeyPair>,
    }

    impl Authority {
        fn new(name: &str) -> Self {
            let mut params = CertificateParams::new([]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate().unwrap();
            let pem = params.self_signed(&key).unwrap().pem();
            Self { pem, issuer: Issuer::new(params, key) }
        }

        fn server(&self, name: &str) -> CertificateDer<'static> {
            let params = CertificateParams::new([name.to_owned()]).unwrap();
            let signed = params.signed_by(&KeyPair::generate().unwrap(), &self.issuer);
            signed.unwrap().der().clone()
        }
    }

    /// Trusts `bundle`, and after it `whole`; counts how often that was read.
    fn verifier(bundle: &str, whole: Option<&str>) -> (Option<BundleFirst>, Arc<AtomicUsize>) {
        let folder = tempfile::tempdir().unwrap();
        let provider = Arc::new(ring::default_provider());
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let n_read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_read);
        let whole = whole.map(|text| {
            let unread = Box::new(|| unreachable!());
            let file = write("whole.pem", text);
            BundleFirst::new(&file, &provider, unread).unwrap().bundle
        });
        let read_whole: Box<Whole> = Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let whole = whole.clone().map(|whole| whole as Arc<dyn ServerCertVerifier>);
            whole.ok_or_else(|| Error::General("nobody".to_owned()))
        });
        let file = write("bundle.pem", bundle);
        (BundleFirst::new(&file, &provider, read_whole), n_read)
    }

    fn verify(verifier: &BundleFirst, server: &CertificateDer<'_>) -> String {
        let name = ServerName::try_from("server.example").unwrap();
        match verifier.verify_server_cert(server, &[], &name, &[], UnixTime::now()) {
            Ok(_) => "trusted".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_rest_is_read_once_and_only_for_whom_the_bundle_does_not_vouch() {
        let [of_bundle, of_folder, of_nobody] = ["bundle", "folder", "nobody"].map(Authority::new);
        let text = format!("no certificate\n{}", of_bundle.pem);
        let (verifier, n_read) = verifier(&text, Some(&of_folder.pem));
        let verifier = verifier.unwrap();
        let n_read = || n_read.load(Ordering::Relaxed);
        assert_eq!(verify(&verifier, &of_bundle.server("server.example")), "trusted");
        assert_eq!(n_read(), 0);
        assert_eq!(verify(&verifier, &of_folder.server("server.example")), "trusted");
        assert_eq!(n_read(), 1);
        let unknown = "invalid peer certificate: UnknownIssuer";
        assert_eq!(verify(&verifier, &of_nobody.server("server.example")), unknown);
        // Another authority of the same name, as one is whose key was renewed.
        let renewed = Authority::new("folder").server("server.example");
        let wrong = "invalid peer certificate: BadSignature";
        assert_eq!(verify(&verifier, &renewed), wrong);
        let other = verify(&verifier, &of_folder.server("other.example"));
        assert!(other.contains("not valid for name \"server.example\""), "{other}");
        assert_eq!(n_read(), 1);
    }

    #[test]
    fn without_a_rest_its_reason_is_told_each_time() {
        let (verifier, n_read) = verifier(&Authority::new("bundle").pem, None);
        let verifier = verifier.unwrap();
        let server = Authority::new("nobody").server("server.example");
        for n in 1..3 {
            assert_eq!(verify(&verifier, &server), "unexpected error: nobody");
            assert_eq!(n_read.load(Ordering::Relaxed), n);
        }
    }

    #[test]
    fn a_bundle_is_read_as_the_library_reads_it() {
        let [one, other] = ["one", "other"].map(|name| Authority::new(name).pem);
        let both = format!("# one\n\n{one}\n# other\n{other}");
        let library = |text: &str| -> Vec<CertificateDer<'static>> {
            CertificateDer::pem_slice_iter(text.as_bytes()).flatten().collect()
        };
        let plain = |text: &str| plain_certificates(text.as_bytes());
        assert_eq!(plain(&both), Some(library(&both)));
        assert_eq!(plain("nothing"), Some(vec![]));
        for odd in [
            both.replace('\n', "\r\n"),
            both.replace("CERTIFICATE", "TRUSTED CERTIFICATE"),
            both.replacen("BEGIN CERTIFICATE", "BEGIN X509 CRL", 1),
            both.replacen("-----BEGIN", "x-----BEGIN", 1),
            both.replacen("-----END", "---END", 1),
            both.replacen("\nMII", "\nM!I", 1),
            both.replacen("\nMII", "\nComment: MII\n\nMII", 1),
            both.trim_end().to_owned(),
            both[..both.len() / 4].to_owned(),
        ] {
            assert_eq!(plain(&odd), None, "{odd}");
            assert_eq!(certificates(odd.as_bytes()), library(&odd), "{odd}");
        }
        // And this system's, if it has one.
        if let Some(file) = openssl_probe::probe().cert_file {
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(certificates(text.as_bytes()), library(&text));
        }
    }

    #[test]
    fn a_bundle_of_nobody_is_none() {
        let begun = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        let empty = format!("{begun}-----END CERTIFICATE-----\n");
        for text in ["", "no certificate", begun, &empty, &empty.repeat(9)] {
            assert!(verifier(text, None).0.is_none(), "{text}");
        }
    }
}
