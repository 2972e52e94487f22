//! Connections over TLS, and passwords, with a server that accepts nothing else over TCP.

use core::sync::atomic::{AtomicU32, Ordering};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orbgate_ledger::{Error, Ledger as _, Postgres};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, RsaKeySize};

use super::server::Server;
use crate::support::{account, grant, orbs};

const PASSWORD: &str = "hunter2 for the tests";

/// An authority, whose certificate is in a file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        Self::with(folder, name, KeyPair::generate().unwrap())
    }

    /// With this key, by which the hash of its signatures differs.
    fn with(folder: &Path, name: &str, key: KeyPair) -> Self {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let file = folder.join(name);
        fs::write(&file, pem("CERTIFICATE", certificate.der())).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }
}

/// A server that only accepts TLS, on an address of its own.
struct Secured {
    server: Server,
    address: String,
    folder: tempfile::TempDir,
    right: Authority,
    wrong: Authority,
}

impl Secured {
    fn start() -> Option<Self> {
        /// The servers of this process.
        static STARTED: AtomicU32 = AtomicU32::new(0);

        let server = Server::start()?;
        // All of 127.0.0.0/8 is the loopback, and no other process has this address: nothing chooses a port.
        let number = std::process::id() * 4 + STARTED.fetch_add(1, Ordering::SeqCst) % 4;
        let [_, a, b, c] = number.to_be_bytes();
        let address = format!("127.{a}.{b}.{c}");
        let folder = tempfile::tempdir().unwrap();
        let (right, wrong) = (Authority::new(folder.path(), "right.crt"), Authority::new(folder.path(), "wrong.crt"));
        server.run(&server.url("dbname=postgres"), &format!("ALTER USER orbs PASSWORD '{PASSWORD}'"));
        server.write("pg_hba.conf", "local all all trust\nhostssl all orbs 127.0.0.0/8 scram-sha-256\n");
        server.set(&format!("listen_addresses = '{address}'\nssl = on\n"));
        let mut secured = Self { server, address, folder, right, wrong };
        secured.certify(&secured.right);
        secured.restart();
        Some(secured)
    }

    /// From its next start, the server has a certificate from this authority.
    fn certify(&self, authority: &Authority) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["db.orbs.test".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority.issuer).unwrap();
        self.server.write("server.crt", &pem("CERTIFICATE", certificate.der()));
        self.server.write("server.key", &pem("PRIVATE KEY", &key.serialize_der()));
    }

    fn restart(&mut self) {
        self.server.kill();
        self.server.start_again();
    }

    /// A connection string for a host of this name, which needs no resolver.
    fn url(&self, host: &str, rest: &str) -> String {
        format!("host={host} hostaddr={} user=orbs dbname=postgres {rest}", self.address)
    }

    fn with_password(&self, host: &str, rest: &str) -> String {
        self.url(host, &format!("password='{PASSWORD}' {rest}"))
    }

    /// How many connections of ledgers are there, with and without TLS.
    fn connections(&self) -> (i64, i64) {
        let mut client = postgres::Client::connect(&self.server.url("dbname=postgres"), postgres::NoTls).unwrap();
        let sql = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl \
                   JOIN pg_stat_activity USING (pid) WHERE application_name = 'orbgate'";
        let row = client.query_one(sql, &[]).unwrap();
        (row.get(0), row.get(1))
    }
}

/// Why a ledger can't be opened, which never has the password.
fn refused(url: &str) -> String {
    let error = Postgres::open(url).err().unwrap_or_else(|| panic!("{url}"));
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains("hunter2") && !text.contains("for the tests"), "{text}");
    }
    error.to_string()
}

#[test]
fn each_sslmode_verifies_what_it_promises() {
    let Some(mut secured) = Secured::start() else {
        return;
    };
    let (right, wrong) = (secured.right.file.display().to_string(), secured.wrong.file.display().to_string());
    let empty = secured.folder.path().join("empty.crt").display().to_string();
    fs::write(&empty, "").unwrap();
    let broken = secured.folder.path().join("broken.crt").display().to_string();
    fs::write(&broken, pem("CERTIFICATE", b"no certificate")).unwrap();
    let (own, other) = ("db.orbs.test", "other.orbs.test");
    for (host, rest) in [
        (own, format!("sslmode=verify-full sslrootcert={right}")),
        (own, format!("sslmode=verify-full sslrootcert={right} channel_binding=require")),
        (own, format!("sslmode=verify-ca sslrootcert={right}")),
        (own, format!("sslmode=require sslrootcert={right}")),
        (own, "sslmode=require".to_owned()),
        // Only the name is wrong.
        (other, format!("sslmode=verify-ca sslrootcert={right}")),
        (other, format!("sslmode=require sslrootcert={right}")),
        (other, "sslmode=require channel_binding=require".to_owned()),
    ] {
        let ledger = Postgres::open(&secured.with_password(host, &rest));
        let ledger = ledger.unwrap_or_else(|error| panic!("{host} {rest}: {error}"));
        ledger.grant(grant(&format!("{host} {rest}").replace(['=', ' ', '/'], "-"), "a", 1)).unwrap();
        // Those of a ledger that was closed can still be there.
        let (encrypted, plain) = secured.connections();
        assert!(encrypted >= 2 && plain == 0, "{host} {rest}: {encrypted} {plain}");
        drop(ledger);
    }
    let (authority, name) = ("isn't from a known authority", "is for another name than `host`");
    let plain = "no encryption";
    for (host, rest, why) in [
        (own, format!("sslmode=verify-full sslrootcert={wrong}"), authority),
        (own, format!("sslmode=verify-ca sslrootcert={wrong}"), authority),
        (own, format!("sslmode=require sslrootcert={wrong}"), authority),
        (own, "sslmode=verify-full sslrootcert=system".to_owned(), "the "),
        (other, format!("sslmode=verify-full sslrootcert={right}"), name),
        (&*secured.address, format!("sslmode=verify-full sslrootcert={right}"), name),
        // The server has no rule for these.
        (own, String::new(), plain),
        (own, "sslmode=disable".to_owned(), plain),
        (own, "sslmode=verify-full sslrootcert=/nowhere/root.crt".to_owned(), "/nowhere/root.crt: No such file"),
        (own, format!("sslmode=verify-full sslrootcert={empty}"), "empty.crt: it has no certificate in PEM"),
        (own, format!("sslmode=require sslrootcert={broken}"), "broken.crt: "),
    ] {
        let error = refused(&secured.with_password(host, &rest));
        assert!(error.starts_with("postgres: ") && error.contains(why), "{host} {rest}: {error}");
    }
    // What a password is proved for depends on the signature of the certificate.
    for (name, key) in [
        ("longer.crt", KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384)),
        ("rsa.crt", KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048)),
        ("longer-rsa.crt", KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA512, RsaKeySize::_2048)),
    ] {
        let authority = Authority::with(secured.folder.path(), name, key.unwrap());
        secured.certify(&authority);
        secured.restart();
        let rest = format!("sslmode=verify-full sslrootcert={} channel_binding=require", authority.file.display());
        let opened = Postgres::open(&secured.with_password(own, &rest));
        drop(opened.unwrap_or_else(|error| panic!("{name}: {error}")));
    }

    secured.server.set("ssl = off\n");
    secured.server.write("pg_hba.conf", "local all all trust\nhost all orbs 127.0.0.0/8 scram-sha-256\n");
    secured.restart();
    for rest in ["sslmode=require".to_owned(), format!("sslmode=verify-full sslrootcert={right}")] {
        let error = refused(&secured.with_password(own, &rest));
        assert_eq!(error, "postgres: the server doesn't offer TLS, which `sslmode` requires", "{rest}");
    }
    drop(Postgres::open(&secured.with_password(own, "")).unwrap());
}

#[test]
fn a_later_connection_is_verified_as_the_first() {
    let Some(mut secured) = Secured::start() else {
        return;
    };
    let root = secured.folder.path().join("root.crt");
    fs::copy(&secured.right.file, &root).unwrap();
    let rest = format!("sslmode=verify-full sslrootcert={}", root.display());
    let ledger = Postgres::open(&secured.with_password("db.orbs.test", &rest)).unwrap();
    ledger.grant(grant("g", "a", 5)).unwrap();
    // The server comes back with a certificate that isn't trusted.
    secured.certify(&secured.wrong);
    secured.restart();
    let Err(Error::Unknown(why)) = ledger.balance(account("a")) else { panic!("a wrong certificate is accepted") };
    assert!(why.contains("isn't from a known authority"), "{why}");
    assert_eq!(secured.connections(), (0, 0));
    // Until the operator trusts it.
    fs::copy(&secured.wrong.file, &root).unwrap();
    assert_eq!(ledger.balance(account("a")).unwrap().available, orbs(5));
    assert_eq!(secured.connections().1, 0);
}

#[test]
fn a_password_is_read_and_never_shown() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(secured) = Secured::start() else {
        return;
    };
    let url = secured.url("db.orbs.test", &format!("sslmode=verify-full sslrootcert={}", secured.right.file.display()));
    assert_eq!(refused(&url), "postgres: the server requires a password: give it by a file or by `PGPASSWORD`");
    let error = refused(&format!("{url} password='hunter2, a wrong one'"));
    assert_eq!(error, "postgres: password authentication failed for user \"orbs\"");

    let file = |name: &str, text: &str| {
        let file = secured.folder.path().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    };
    let passfile = file("passfile", &format!("db.orbs.test:5432:*:orbs:{PASSWORD}\n"));
    drop(Postgres::open(&format!("{url} passfile={}", passfile.display())).unwrap());
    let single = file("single", &format!("{PASSWORD}\n"));
    let ledger = Postgres::open_with_password(&url, &single).unwrap();
    assert!(!format!("{ledger:?}").contains("hunter2"));
    drop(ledger);
    for variables in [[("PGPASSWORD", PASSWORD)], [("PGPASSFILE", passfile.to_str().unwrap())]] {
        let mut process = Process::new(std::env::current_exe().unwrap());
        process.args(["postgres::tls::the_process", "--exact", "--nocapture"]).env(URL, &url).envs(variables);
        let output = process.output().unwrap();
        let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(shown.contains("opened by the process"), "{variables:?}: {shown}");
    }
}

const URL: &str = "ORBGATE_LEDGER_TEST_URL";

/// The process of the test above, whose variables are its own.
#[test]
fn the_process() {
    let Ok(url) = std::env::var(URL) else {
        return;
    };
    Postgres::open(&url).unwrap();
    println!("opened by the process");
}
