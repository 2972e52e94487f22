//! TLS at an address: a certificate with its key and, if required, client certificates. A new certificate takes effect
//! when it is complete.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::config::error::{StartError, kept};
use crate::config::files;
use crate::config::mode::Mode;
use crate::config::tls::TlsFiles;

/// The TLS settings from these files, as they are now.
pub(crate) fn load(files: &TlsFiles, mode: Mode) -> Result<Arc<ServerConfig>, StartError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let clients = files.client_ca.as_ref();
    let clients = clients.map_or_else(|| Ok(WebPkiClientVerifier::no_client_auth()), |file| verifier(file, &provider));
    let mut errors = Vec::new();
    let read = (
        kept(certificates(&files.certificate), &mut errors),
        kept(key(&files.key), &mut errors),
        kept(clients, &mut errors),
    );
    let (Some(chain), Some(key), Some(clients)) = read else {
        return Err(StartError::Several(errors));
    };
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions();
    let config = config.map_err(|error| invalid(&files.certificate, error))?;
    let config = config.with_client_cert_verifier(clients);
    let config = config.with_single_cert(chain, key);
    let mut config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            invalid(&files.certificate, format!("{} is the key of another certificate", files.key.display()))
        }
        error => invalid(&files.certificate, error),
    })?;
    config.alpn_protocols = match mode {
        Mode::EnvoyGrpc => vec![b"h2".to_vec()],
        _ => vec![b"http/1.1".to_vec()],
    };
    Ok(Arc::new(config))
}

fn verifier(file: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, StartError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| invalid(file, error))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(provider));
    verifier.build().map_err(|error| invalid(file, error))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let text = read(file)?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(none) if none.is_empty() => Err(invalid(file, "it has no certificate in PEM")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(invalid(file, error)),
    }
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, StartError> {
    let key = PrivateKeyDer::from_pem_slice(&read(file)?);
    key.map_err(|error| match error {
        pem::Error::NoItemsFound => invalid(file, "it has no private key in PEM"),
        error => invalid(file, error),
    })
}

fn read(file: &Path) -> Result<Vec<u8>, StartError> {
    files::read(file).map_err(StartError::unreadable(file))
}

fn invalid(file: &Path, error: impl core::fmt::Display) -> StartError {
    StartError::Invalid(format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{TlsFiles, load};
    use crate::config::mode::Mode;

    #[test]
    fn each_mode_agrees_on_its_protocol_and_an_empty_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let pem = |label: &str, der: &[u8]| {
            let text = STANDARD.encode(der);
            format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
        };
        let (certificate, key) = (own.cert.der(), own.signing_key.serialized_der());
        let files = TlsFiles {
            certificate: write("server.pem", &pem("CERTIFICATE", certificate)),
            key: write("server.key", &pem("PRIVATE KEY", key)),
            client_ca: None,
        };
        for (mode, protocol) in [(Mode::EnvoyGrpc, "h2"), (Mode::Nginx, "http/1.1")] {
            let config = load(&files, mode).unwrap();
            assert_eq!(config.alpn_protocols, [protocol.as_bytes()], "{mode:?}");
        }
        let without = TlsFiles { certificate: write("empty.pem", ""), ..files };
        let refused = load(&without, Mode::Nginx).unwrap_err().to_string();
        assert!(refused.ends_with("empty.pem: it has no certificate in PEM"));
    }
}
