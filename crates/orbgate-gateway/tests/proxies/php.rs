//! PHP behind each proxy. Its servers write every byte of a header's name that is no letter or digit as `_`, so a client can spell a header
//! in ways that no proxy and no gateway may overlook.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::process::Command;

use super::gateway;
use super::program::{Program, Proxy, find, get, installed};
use crate::support::wire::{Answer, ask, request};
use crate::support::{IDENTITY, Issuer, PROMISED, Running, folder, free_port};

const VOXIES: &[u8] = b"/api/v1/external/voxies";

/// The value of a client's header.
const FORGED: &str = "forged";

/// Every byte but letters and digits that a name may have (RFC 9110, 5.6.2).
const BYTES: &str = "!#$%&'*+-.^_`|~";

/// Words of headers in which frameworks, servers and proxies read another method or target.
const NAMING: [&str; 12] = [
    "X HTTP Method Override",
    "X HTTP Method",
    "X Method Override",
    "X Rewrite URL",
    "X Original URL",
    "X Original URI",
    "X Original Method",
    "X Forwarded Uri",
    "X Forwarded Method",
    "X Forwarded Prefix",
    "X Envoy Original Path",
    "X Envoy Original Method",
];

/// PHP behind lighttpd. It answers with the variables that it makes of a request's headers.
struct Php {
    address: String,
    _server: Running,
}

impl Php {
    fn start() -> Option<Self> {
        let lighttpd = installed("lighttpd")?;
        let php = installed("php-cgi")?;
        let port = free_port();
        let home = folder(&format!("php-{port}"));
        let script = "<?php\n$text = '';\nforeach ($_SERVER as $name => $value) {\n    if (str_starts_with($name, 'HTTP_')) {\n        \
                      $text .= \"$name=$value\\n\";\n    }\n}\nheader('Content-Length: ' . strlen($text));\necho $text;\n";
        fs::write(home.join("index.php"), script).unwrap();
        let (home_text, php) = (home.display(), php.display());
        let config = format!(
            "server.modules = (\"mod_rewrite\", \"mod_fastcgi\")\nserver.document-root = \"{home_text}\"\nserver.bind = \"127.0.0.1\"\n\
             server.port = {port}\nurl.rewrite-once = (\".*\" => \"/index.php\")\nfastcgi.server = (\".php\" => ((\"bin-path\" => \"{php}\", \
             \"socket\" => \"{home_text}/php\", \"max-procs\" => 1)))\n"
        );
        fs::write(home.join("lighttpd.conf"), config).unwrap();
        let mut command = Command::new(lighttpd);
        let mut server = Running::start(command.args(["-D", "-f", "lighttpd.conf"]).current_dir(&home));
        let address = format!("127.0.0.1:{port}");
        server.until("lighttpd listens", |_| TcpStream::connect(&address).is_ok());
        Some(Self { address, _server: server })
    }
}

/// The variables in an answer.
fn variables(answer: &Answer) -> BTreeMap<&str, &str> {
    answer.body.lines().filter_map(|line| line.split_once('=')).collect()
}

/// All spellings of a name: its words with each byte between them, and with several.
fn spellings(words: &str) -> Vec<String> {
    let bytes = BYTES.chars().map(|byte| words.replace(' ', &byte.to_string()));
    let mut next = ['_', '.', '-', '!'].into_iter().cycle();
    let mixed = words.chars().map(|byte| if byte == ' ' { next.next().unwrap() } else { byte });
    bytes.chain([mixed.collect()]).collect()
}

#[test]
#[ignore = "starts lighttpd: cargo xtask test gateway"]
fn php_reads_every_spelling_as_the_same_header() {
    let Some(php) = Php::start() else { return };
    for spelling in spellings("X HTTP Method Override") {
        let answer = ask(&php.address, &request(b"GET", b"/", &[(&spelling, FORGED)]));
        assert_eq!(variables(&answer).get("HTTP_X_HTTP_METHOD_OVERRIDE"), Some(&FORGED), "{spelling}: {answer:?}");
    }
}

/// Whatever a client sends: PHP gets the gateway's headers, and none that names another method or target.
fn no_spelling_reaches_php(kind: Program) {
    let (Some(binary), Some(php)) = (find(kind), Php::start()) else { return };
    let issuer = Issuer::start();
    let listen = format!("127.0.0.1:{}", free_port());
    let gateway = gateway(&issuer.tokens_yaml(), &listen, kind.mode(), "");
    let mut proxy = Proxy::start(kind, &binary, &listen, &php.address);
    proxy.wait_for(&gateway, get);
    let bearer = format!("Bearer {}", issuer.token("user", "write:voxies"));
    let promised: Vec<_> =
        PROMISED.iter().chain(&IDENTITY).map(|word| format!("X Orb {}", word.replace('-', " "))).collect();
    let names: Vec<_> = NAMING.into_iter().chain(promised.iter().map(String::as_str)).flat_map(spellings).collect();
    let mut passed = 0;
    for spelling in &names {
        // Some proxies take away what `Connection` names, and must not do so only where they ask.
        for connection in ["close", spelling] {
            let headers = [
                ("Authorization", bearer.as_str()),
                ("Content-Length", "0"),
                (spelling, FORGED),
                ("Connection", connection),
            ];
            let answer = ask(&proxy.address, &request(b"POST", VOXIES, &headers));
            if answer.status != 200 {
                assert!((400..500).contains(&answer.status), "{kind:?} {spelling}: {answer:?}");
                continue;
            }
            passed += 1;
            let seen = variables(&answer);
            assert!(!seen.values().any(|value| value.contains(FORGED)), "{kind:?} {spelling}: {seen:?}");
            for (name, value) in [("DECISION", "allow"), ("SCOPE", "write:voxies"), ("CHARGE", "unstated")] {
                assert_eq!(seen.get(&*format!("HTTP_X_ORB_{name}")), Some(&value), "{kind:?} {spelling}: {seen:?}");
            }
        }
    }
    // In their own spelling, all that the gateway writes are replaced.
    assert!(passed >= PROMISED.len(), "{kind:?}: {passed}");
}

/// With `identity: true`, a backend gets who calls, and never what a client claims.
fn the_identity_reaches_php(kind: Program) {
    let (Some(binary), Some(php)) = (find(kind), Php::start()) else { return };
    let issuer = Issuer::start();
    let listen = format!("127.0.0.1:{}", free_port());
    let gateway = gateway(&issuer.tokens_yaml(), &listen, kind.mode(), "identity: true\npublic: [GET /open]\n");
    let mut proxy = Proxy::start(kind, &binary, &listen, &php.address);
    proxy.wait_for(&gateway, get);
    let bearer = format!("Bearer {}", issuer.token("user", "write:voxies"));
    let claims = IDENTITY.map(|word| format!("X-Orb-{word}"));
    let claims: Vec<_> = claims.iter().map(|name| (name.as_str(), FORGED)).collect();
    let iss = issuer.tokens_yaml();
    let iss = iss.lines().find_map(|line| line.trim().strip_prefix("- issuer: ")).unwrap();
    let token = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
    for (is_public, expected) in [(false, ["user-7", "app-1", iss]), (true, ["-"; 3])] {
        let (method, target) = if is_public { (&b"GET"[..], &b"/open"[..]) } else { (&b"POST"[..], VOXIES) };
        let headers = if is_public { &[][..] } else { &token };
        let answer = ask(&proxy.address, &request(method, target, &[headers, &claims].concat()));
        assert_eq!(answer.status, 200, "{kind:?}: {answer:?}");
        let seen = variables(&answer);
        let told = ["SUBJECT", "CLIENT", "ISSUER"].map(|word| seen[&*format!("HTTP_X_ORB_TOKEN_{word}")]);
        assert_eq!(told, expected, "{kind:?}");
    }
}

through_proxies! { the_identity_reaches_php;
    the_identity_reaches_php_through_nginx: Nginx,
    the_identity_reaches_php_through_caddy: Caddy,
    the_identity_reaches_php_through_traefik: Traefik,
    the_identity_reaches_php_through_haproxy: Haproxy,
    the_identity_reaches_php_through_envoy: EnvoyHttp EnvoyGrpc,
}

/// nginx compares a body's length with the limit of the location that asks, too, although the question has no body.
#[test]
#[ignore = "starts nginx: cargo xtask test gateway"]
fn a_large_body_passes_nginx() {
    let (Some(binary), Some(php)) = (find(Program::Nginx), Php::start()) else { return };
    let issuer = Issuer::start();
    let listen = format!("127.0.0.1:{}", free_port());
    let gateway = gateway(&issuer.tokens_yaml(), &listen, "nginx", "");
    let change = ("location / {", "location / {\n            client_max_body_size 10m;");
    let mut proxy = Proxy::start_with(Program::Nginx, &binary, &listen, &php.address, change);
    proxy.wait_for(&gateway, get);
    let bearer = format!("Bearer {}", issuer.token("user", "write:voxies"));
    for (bearer, bytes, status) in [(&*bearer, 3 << 20, 200), ("", 3 << 20, 401), (&bearer, 11 << 20, 413)] {
        let headers = [("Authorization", bearer), ("Content-Length", &bytes.to_string())];
        let head = request(b"POST", VOXIES, &headers);
        let answer = ask(&proxy.address, &[head, vec![b'x'; bytes]].concat());
        assert_eq!(answer.status, status, "{bytes}");
    }
}

through_proxies! { no_spelling_reaches_php;
    no_spelling_of_a_header_reaches_php_through_nginx: Nginx,
    no_spelling_of_a_header_reaches_php_through_caddy: Caddy,
    no_spelling_of_a_header_reaches_php_through_traefik: Traefik,
    no_spelling_of_a_header_reaches_php_through_haproxy: Haproxy,
    no_spelling_of_a_header_reaches_php_through_envoy: EnvoyHttp EnvoyGrpc,
}
