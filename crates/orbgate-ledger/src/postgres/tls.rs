//! TLS to the server: which certificates are trusted, and the driver's connection over rustls.

use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::aws_lc_rs::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

use crate::postgres::password::read;

/// The authorities that a connection string names.
#[derive(Clone)]
pub(crate) struct Roots {
    file: Option<PathBuf>,
    is_system: bool,
    is_given: bool,
}

impl Roots {
    /// As libpq does: the file that is named, or the usual one if it exists.
    #[allow(clippy::disallowed_methods, reason = "a store is the edge: it looks for its certificates")]
    pub(crate) fn new(given: Option<String>, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let is_given = given.is_some();
        let is_system = given.as_deref() == Some("system");
        let home = || variable("HOME").filter(|home| !home.is_empty());
        let usual = || Some(Path::new(&home()?).join(".postgresql/root.crt")).filter(|file| file.exists());
        let file = given.filter(|_| !is_system).map(PathBuf::from).or_else(|| if is_system { None } else { usual() });
        Self { file, is_system, is_given }
    }

    pub(crate) const fn are_given(&self) -> bool {
        self.is_given
    }
}

/// What is verified.
#[derive(Clone)]
pub(crate) enum Tls {
    /// Nothing: anyone on the way could answer.
    Nothing,
    /// A certificate from an authority of the file, for any name.
    Authority(PathBuf),
    /// A certificate for the host, from an authority of the file or else of the system.
    Name(Option<PathBuf>),
}

impl Tls {
    /// As libpq, it verifies the authority if it knows one.
    pub(crate) fn require(roots: Roots) -> Result<Self, String> {
        Self::weak("require", &roots)?;
        Ok(roots.file.map_or(Self::Nothing, Self::Authority))
    }

    pub(crate) fn verify_ca(roots: Roots) -> Result<Self, String> {
        Self::weak("verify-ca", &roots)?;
        let none =
            "`sslmode=verify-ca` needs `sslrootcert=FILE`: any server has a certificate of the system's authorities";
        roots.file.map(Self::Authority).ok_or_else(|| none.to_owned())
    }

    pub(crate) fn verify_full(roots: Roots) -> Self {
        Self::Name(roots.file)
    }

    fn weak(mode: &str, roots: &Roots) -> Result<(), String> {
        if !roots.is_system {
            return Ok(());
        }
        Err(format!("`sslrootcert=system` needs `sslmode=verify-full`, because `{mode}` accepts any name"))
    }

    /// Reads the certificates. A handshake fails if it takes longer than this.
    pub(crate) fn connector(&self, patience: Duration) -> Result<Connector, String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
        let any_name = |roots| {
            let verifier = Arc::new(AnyName { roots, provider });
            config.clone().dangerous().with_custom_certificate_verifier(verifier)
        };
        let config = match self {
            Self::Nothing => any_name(None),
            Self::Authority(file) => any_name(Some(of_file(file)?)),
            Self::Name(Some(file)) => config.with_root_certificates(of_file(file)?),
            Self::Name(None) => config.with_root_certificates(of_system()?),
        };
        let mut config = config.with_no_client_auth();
        // Each connection verifies by itself.
        config.resumption = rustls::client::Resumption::disabled();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Connector { config: Arc::new(config), patience })
    }
}

fn of_file(file: &Path) -> Result<RootCertStore, String> {
    let invalid = |why: &dyn core::fmt::Display| format!("{}: {why}", file.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&read(file)?) {
        let certificate = certificate.map_err(|error| invalid(&error))?;
        roots.add(certificate).map_err(|error| invalid(&error))?;
    }
    if roots.is_empty() {
        return Err(invalid(&"it has no certificate in PEM"));
    }
    Ok(roots)
}

fn of_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("the system has no root certificates: name the server's authority by `sslrootcert=FILE`".to_owned());
    }
    Ok(roots)
}

/// Verifies that the authority of a certificate is known, if any is, but not its name.
#[derive(Debug)]
struct AnyName {
    roots: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let algorithms = self.provider.signature_verification_algorithms.all;
            let certificate = ParsedCertificate::try_from(certificate)?;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Why a connection over TLS failed, for the operator.
pub(crate) fn explained(error: &rustls::Error) -> String {
    match error {
        // Two authorities can have the same name.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            format!("the certificate of the server isn't from a known authority, which `sslrootcert` names: {error}")
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("the certificate of the server is for another name than `host`: {error}"),
        rustls::Error::InvalidCertificate(_) => format!("the certificate of the server is invalid: {error}"),
        error => format!("no TLS with the server: {error}"),
    }
}

/// The driver's interface to rustls.
#[derive(Clone)]
pub(crate) struct Connector {
    config: Arc<ClientConfig>,
    patience: Duration,
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        let (config, patience) = (Arc::clone(&self.config), self.patience);
        Ok(Handshake { config, host: ServerName::try_from(host.to_owned())?, patience })
    }
}

pub(crate) struct Handshake {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
    patience: Duration,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let connect = tokio_rustls::TlsConnector::from(self.config).connect(self.host, socket);
        // The driver's own time is up to the connection, and this begins after it.
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the server didn't answer in time");
        Box::pin(async move { Ok(Stream(tokio::time::timeout(self.patience, connect).await.map_err(late)??)) })
    }
}

pub(crate) struct Stream(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Stream {
    /// The password is proved for this certificate, and for no other that someone on the way might have.
    fn channel_binding(&self) -> ChannelBinding {
        let certificate = self.0.get_ref().1.peer_certificates().and_then(|chain| chain.first());
        let end = certificate.and_then(|certificate| end_point(certificate));
        end.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, to)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// `tls-server-end-point` of RFC 5929: a digest of the certificate, by the hash of its signature. None for a signature whose hash
/// isn't in its name, such as Ed25519; PostgreSQL has none for those either.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let (body, _) = element(0x30, certificate)?;
    let (_, signature) = element(0x30, body)?;
    let (name, _) = element(0x30, signature)?;
    let (name, _) = element(0x06, name)?;
    let algorithm = match name {
        // 1.2.840.113549.1.1: RSA with MD5, SHA-1, SHA-256, SHA-384 and SHA-512. The first two count as SHA-256.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 4 | 5 | 11] => &digest::SHA256,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 12] => &digest::SHA384,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 13] => &digest::SHA512,
        // 1.2.840.10045.4.1 and 1.2.840.10045.4.3: ECDSA with SHA-1, SHA-256, SHA-384 and SHA-512.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01] | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 2] => &digest::SHA256,
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 3] => &digest::SHA384,
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 4] => &digest::SHA512,
        _ => return None,
    };
    Some(digest::digest(algorithm, certificate).as_ref().to_vec())
}

/// The content of the first element of DER, if it has this tag, and what comes after it.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[found, short], mut rest) = der.split_first_chunk::<2>()?;
    let mut length = usize::from(short);
    if short >= 0x80 {
        let (digits, after) = rest.split_at_checked(usize::from(short & 0x7f))?;
        length =
            digits.iter().try_fold(0_usize, |sum, digit| sum.checked_mul(256)?.checked_add(usize::from(*digit)))?;
        rest = after;
    }
    let (content, after) = rest.split_at_checked(length)?;
    (found == tag).then_some((content, after))
}
