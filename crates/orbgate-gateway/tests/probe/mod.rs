//! `--probe` finds each mistake of a proxy. The proxy here asks a gateway about each request, and is wrong in one way. Tests with real
//! proxies, whose mistakes are those of their configurations, are in `proxies/probes.rs`.

mod proxy;

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::thread;

use self::proxy::{Mistake, answers, asks, none, sends, unasked};
use crate::support::wire::first;
use crate::support::{Gateway, IDENTITY, Issuer, PROMISED, folder, free_port, run};

/// The token of the tests holds the first scope.
const POLICY: &str = "orbgate: 1\napis: { a: { base_path: /v1, scopes: { 'read:a': { orbs: 2, routes: [GET /a, 'GET /a/{id}'] }, \
    'write:a': { orbs: false, routes: [POST /c, 'DELETE /a/{id}', GET /b] } } } }\n";

/// A gateway, and the findings about proxies before it.
struct Bench {
    issuer: Issuer,
    gateway: Gateway,
    address: String,
}

impl Bench {
    fn start(name: &str) -> Self {
        Self::start_with(name, "")
    }

    fn start_with(name: &str, more: &str) -> Self {
        let (issuer, folder) = (Issuer::start(), folder(name));
        let address = format!("127.0.0.1:{}", free_port());
        fs::write(folder.join("policy.yaml"), POLICY).unwrap();
        let config = format!(
            "policy: policy.yaml\nlisteners: [{{ mode: forward_auth, listen: {address}, trusted_proxies: [127.0.0.1] }}]\n{more}"
        );
        let gateway = Gateway::start(folder, &issuer, &config);
        Self { issuer, gateway, address }
    }

    fn probe(&self, mistake: Mistake) -> BTreeSet<String> {
        self.probe_until(mistake, usize::MAX)
    }

    /// The findings about a proxy that ends after so many connections.
    fn probe_until(&self, mistake: Mistake, connections: usize) -> BTreeSet<String> {
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap().to_string();
        let backend = format!("127.0.0.1:{}", free_port());
        let (gateway, behind) = (self.address.clone(), backend.clone());
        thread::spawn(move || {
            for client in proxy.incoming().flatten().take(connections) {
                mistake.serve(client, &gateway, &behind);
            }
        });
        let token = self.issuer.token("user", "read:a");
        let arguments = ["--probe", &address, &backend, "--config", "gateway.yaml"];
        let (code, stdout, errors) = run(&self.gateway.folder, Some(&token), &arguments);
        match code {
            Some(0) => {
                assert_eq!(stdout, "what arrives was allowed\n");
                BTreeSet::new()
            }
            code => {
                assert_eq!(code, Some(1), "{errors}");
                stdout.replace(&backend, "BACKEND").lines().map(str::to_owned).collect()
            }
        }
    }
}

const MISSING: &str =
    "a promised header is missing, or there twice: `auth_request`, `forward_auth`, `ext_authz` or the list of headers";
const OTHER: &str = "another call was allowed than this one";
const CLIENTS: &str = "a promised header is the client's";
const REMOVED: &str = "the client's `Connection` names a promised header: a proxy behind this one would remove it";
const ANOTHER: &str = "another policy decided";
const NAMED: &str = "the client's `NAME` arrives, and names another call to backends that read it";
const UPGRADES: &str = "the backend can upgrade it, and nothing decides what comes then";

/// A finding about each of these requests, which arrive as they are.
fn each<R: AsRef<str>>(requests: impl IntoIterator<Item = R>, why: &str) -> BTreeSet<String> {
    let requests = requests.into_iter();
    let finding = |request: R| format!("{0} arrives as {0}: {why}", request.as_ref());
    requests.map(finding).collect()
}

/// The same about a request with each of these headers, whose name is `NAME`.
fn with(request: &str, headers: impl IntoIterator<Item = String>, why: &str) -> BTreeSet<String> {
    let headers = headers.into_iter();
    let finding = |header: String| {
        let why = why.replace("NAME", header.split_once(':').unwrap().0);
        format!("{request} with {header} arrives as {request}: {why}")
    };
    headers.map(finding).collect()
}

#[test]
fn a_proxy_without_mistakes_has_no_findings() {
    let bench = Bench::start("probe-right");
    assert_eq!(bench.probe(none()), BTreeSet::new());
    // Headers of the proxy's own, one of them long, and the only upgrade that a handshake decides.
    let own = sends(|client, sent| {
        sent.set("Server-Name", "client");
        sent.set("Cookie", &"a".repeat(32 * 1024));
        let upgrades: Vec<_> = client.starting("upgrade").collect();
        if matches!(upgrades.as_slice(), [(_, value)] if value == "websocket") {
            sent.set("Upgrade", "WebSocket");
        }
    });
    assert_eq!(bench.probe(own), BTreeSet::new());
    // What it writes itself is true, even if the client's headers have the same names. The test issuer's client is `client`, and
    // a word that clients write isn't the mark.
    let truthful = sends(|client, sent| {
        for name in TARGETS {
            sent.set(name, &client.target);
        }
        for name in METHODS.into_iter().filter(|name| !name.contains("Override")) {
            sent.set(name, &client.method);
        }
        for (name, _) in client.starting("x-orb-").filter(|(name, _)| !PROMISED.iter().any(|it| name.ends_with(it))) {
            sent.set(&name, "client");
        }
    });
    assert_eq!(bench.probe(truthful), BTreeSet::new());
    // Each request has one `Connection`, so that a proxy that takes only the first sees what is probed.
    let two = unasked(|it| !["", "CONNECT"].contains(&&*it.method) && it.starting("connection").count() != 1);
    assert_eq!(bench.probe(two), BTreeSet::new());
}

#[test]
fn a_public_route_arrives_without_a_finding_unless_it_becomes_another() {
    let bench = Bench::start_with("probe-public", "public: [GET /healthz]\n");
    assert_eq!(bench.probe(none()), BTreeSet::new());
    for target in ["/v1/b", "/static/x"] {
        let rewrites = sends(move |client, sent| {
            if client.target == "/healthz" {
                target.clone_into(&mut sent.target);
            }
        });
        let finding = format!("GET /healthz arrives as GET {target}: {OTHER}");
        assert_eq!(bench.probe(rewrites), BTreeSet::from([finding]));
    }
    let unseen = unasked(|it| it.target == "/healthz");
    assert_eq!(bench.probe(unseen), each(["GET /healthz"], MISSING));
}

#[test]
fn a_location_that_asks_nothing_is_found() {
    let bench = Bench::start("probe-locations");
    let pages = ["/", "/index.html", "/static/x", "/.git/config", "/healthz"];
    let expected = each(pages.iter().map(|page| format!("GET {page}")), MISSING);
    for has_token in [true, false] {
        let page = unasked(move |it| pages.contains(&&*it.target) && it.has_token() == has_token);
        assert_eq!(bench.probe(page), expected, "{has_token}");
    }
    let open = unasked(|it| !it.has_token() && it.target == "/v1/b");
    let mut expected = each(["GET /v1/b"], MISSING);
    expected.insert("GET /v1/b arrives without a token".to_owned());
    assert_eq!(bench.probe(open), expected);
}

/// The probe takes the place of one backend. Another one, which answers or is stopped, shows by its status.
#[test]
fn a_route_of_another_backend_that_needs_no_token_is_found() {
    let bench = Bench::start("probe-another-backend");
    for status in [200, 302, 502] {
        let findings = bench.probe(answers(move |it| (it.target == "/v1/b" && !it.has_token()).then_some(status)));
        let finding = format!(
            "GET /v1/b is answered with {status} without a token, and does not arrive: another backend or the proxy itself answers"
        );
        assert_eq!(findings, BTreeSet::from([finding]));
    }
    for status in [400, 401, 403, 404] {
        let denied = answers(move |it| (it.target == "/v1/b").then_some(status));
        assert_eq!(bench.probe(denied), BTreeSet::new(), "{status}");
    }
}

#[test]
fn a_location_of_files_is_found() {
    let bench = Bench::start("probe-files");
    let endings = ["png", "css", "js", "html", "php", "json", "svg", "ico", "txt"];
    let open = ["GET /v1/a", "GET /v1/a/1"];
    let all = ["GET /v1/a", "GET /v1/a/1", "POST /v1/c", "DELETE /v1/a/1"];
    for (has_token, calls) in [(true, &open[..]), (false, &all)] {
        let files = unasked(move |it| {
            let path = it.target.strip_prefix("/v1/");
            let ending = path.and_then(|path| path.rsplit_once('.'));
            ending.is_some_and(|(_, ending)| endings.contains(&ending)) && it.has_token() == has_token
        });
        let files = bench.probe(files);
        let calls = calls.iter();
        let expected = calls.flat_map(|call| endings.map(|ending| format!("{call}.{ending}")));
        assert_eq!(files, each(expected, MISSING), "{has_token}");
    }
}

/// Each row changes the path that is decided, and sends the client's.
#[test]
fn a_decision_about_another_spelling_is_found() {
    let bench = Bench::start("probe-spellings");
    type Reading = fn(&str) -> String;
    let table: [(Reading, &[&str]); 16] = [
        (|path| path.replace("//", "/"), &["//v1/a", "/v1//a"]),
        (|path| path.replace("/./", "/"), &["/./v1/a", "/v1/./a"]),
        (|path| path.replace("/%2e/", "/"), &["/%2e/v1/a", "/v1/%2e/a"]),
        (|path| path.replace("/x/..", ""), &["/x/../v1/a", "/v1/x/../a"]),
        (|path| path.replace("/x/%2e%2e", ""), &["/x/%2e%2e/v1/a"]),
        (|path| path.replace("/x\\..", ""), &["/x\\../v1/a"]),
        (|path| path.replace('\\', "/"), &["/v1\\a"]),
        (|path| path.replace("%2f", "/"), &["/v1%2fa"]),
        (|path| path.replace("%61", "a"), &["/v1/%61"]),
        (str::to_ascii_lowercase, &["/v1/A"]),
        (|path| path.replace("http://localhost", ""), &["http://localhost/v1/a"]),
        (|path| path.trim_end_matches('/').to_owned(), &["/v1/a/", "/v1/a//"]),
        (|path| path.replace("a/.", "a"), &["/v1/a/."]),
        (|path| path.replace(['#', ';'], "?"), &["/v1/a#x", "/v1/a;x", "/v1/a/a;b"]),
        (|path| path.replace("%00", "").replace("a%20", "a"), &["/v1/a%00", "/v1/a%20", "/v1/a/a%20b"]),
        (|path| path.replace("a%2Fb", "ab"), &["/v1/a/a%2Fb"]),
    ];
    for (change, expected) in table {
        let findings = bench.probe(asks(move |it| it.target = change(&it.target)));
        assert_eq!(findings, each(expected.iter().map(|path| format!("GET {path}")), OTHER));
    }
}

/// Each row lets some requests pass without a question.
#[test]
fn a_way_around_the_question_is_found() {
    let bench = Bench::start("probe-around");
    let ends = ["/..", "%2f", "%2e", "\\", "/%2e%2e/x", "?", "?x=1"].map(|end| format!("/v1/a{end}"));
    let targets = ends.clone().map(|target| format!("GET {target}"));
    let findings = bench.probe(unasked(move |it| it.method == "GET" && ends.contains(&it.target)));
    assert_eq!(findings, each(targets, MISSING));

    let values = ["..", "%2e%2e", "A"].map(|value| format!("/v1/a/{value}"));
    let calls = ["GET", "DELETE"].iter();
    let calls: Vec<_> = calls.flat_map(|method| values.clone().map(|value| format!("{method} {value}"))).collect();
    let findings = bench.probe(unasked(move |it| values.contains(&it.target)));
    assert_eq!(findings, each(calls, MISSING));

    let hops = ["close, X-Original-URI, X-Forwarded-Uri", "close, Authorization"];
    let findings = bench.probe(unasked(move |it| it.header("Connection").is_some_and(|it| hops.contains(&it))));
    let calls = ["GET /v1/a", "GET /v1/b", "POST /v1/c", "DELETE /v1/a/1"].iter();
    let expected = calls.flat_map(|call| with(call, hops.map(|hop| format!("Connection: {hop}")), MISSING));
    assert_eq!(findings, expected.collect());

    let handshakes = unasked(|it| {
        let upgrades: Vec<_> = it.starting("upgrade").map(|(_, value)| value).collect();
        upgrades == ["websocket"] && !it.has_token()
    });
    let expected = with("GET /v1/a", ["Upgrade: websocket".to_owned()], MISSING);
    assert_eq!(bench.probe(handshakes), expected);
}

const TARGETS: [&str; 6] = [
    "X-Original-URI",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Uri",
    "X-Forwarded-Prefix",
    "X-Envoy-Original-Path",
];
const METHODS: [&str; 6] = [
    "X-Original-Method",
    "X-Forwarded-Method",
    "X-Envoy-Original-Method",
    "X-HTTP-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
];

/// The names in each spelling that is probed.
fn spelled<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let spellings = |name: &str| ["-", "_", ".", "!"].map(|byte| name.replace('-', byte));
    names.into_iter().flat_map(spellings).collect()
}

#[test]
fn a_decision_about_the_call_in_a_header_is_found() {
    let bench = Bench::start("probe-asked");
    let (targets, methods) = (spelled(TARGETS), spelled(METHODS));
    let names = (targets.clone(), methods.clone());
    let findings = bench.probe(asks(move |it| {
        let headers = it.headers.clone();
        let one = |name: &&String| headers.iter().any(|(own, _)| own == *name);
        if let Some(name) = names.0.iter().find(one) {
            it.target = first(&headers, name).to_owned();
        }
        if let Some(name) = names.1.iter().find(one) {
            it.method = first(&headers, name).to_owned();
            it.remove(name);
        }
    }));
    let one = |request, names: &[String], value| {
        let headers = names.iter().map(|name| format!("{name}: {value}"));
        with(request, headers.collect::<Vec<_>>(), OTHER)
    };
    let both = ["X-Original-URI", "X-Forwarded-Uri"].map(str::to_owned);
    let expected = [
        one("GET /v1/b", &targets, "/v1/a?MARK"),
        one("GET /v1/a", &targets, "/v1/a/1?MARK"),
        one("DELETE /v1/a/1", &methods, "GET"),
        // Two headers name the whole of another call; a finding has the first.
        one("POST /v1/c", &both, "/v1/a?MARK"),
        one("DELETE /v1/a/1", &both, "/v1/a?MARK"),
    ];
    let expected = expected.into_iter().flatten().collect();
    assert_eq!(findings, expected);
}

#[test]
fn a_header_that_names_another_call_to_the_backend_is_found() {
    let bench = Bench::start("probe-named");
    // It reaches a backend that obeys it, or the proxy obeys it itself.
    let passes = bench.probe(sends(|client, sent| {
        let named = client.starting("x-").filter(|(name, _)| !name.to_ascii_lowercase().contains("orb"));
        sent.headers.extend(named);
    }));
    let others = ["/v1/b?MARK", "/v1/c?MARK", "/v1/a/1?MARK"];
    let targets = spelled(TARGETS).into_iter().flat_map(|name| others.map(|other| format!("{name}: {other}")));
    let names = METHODS.into_iter().filter(|name| !name.contains("HTTP") && *name != "X-Method-Override");
    let methods = spelled(names).into_iter();
    // A header with the method that arrives is true.
    let methods = methods.flat_map(|name| ["POST", "DELETE"].map(|other| format!("{name}: {other}")));
    assert_eq!(passes, with("GET /v1/a", targets.chain(methods), NAMED));

    let rewrites = bench.probe(sends(|client, sent| {
        if let Some(target) = client.header("X-Rewrite-URL") {
            sent.target = target.to_owned();
        }
    }));
    let expected = others.map(|other| format!("GET /v1/a with X-Rewrite-URL: {other} arrives as GET {other}: {OTHER}"));
    assert_eq!(rewrites, expected.into());
}

#[test]
fn a_promised_header_that_is_wrong_is_found() {
    let bench = Bench::start("probe-promised");
    let names = PROMISED.map(|word| format!("x-orb-{word}"));
    let identity = IDENTITY.map(|word| format!("x-orb-{word}"));
    let dashes = names.iter().map(|name| format!("{name}: MARK"));
    let more = identity.iter().map(|name| format!("{name}: MARK"));
    let others = spelled(names.iter().chain(&identity).map(String::as_str)).into_iter();
    let others = others.filter(|name| !name.contains('-')).map(|name| format!("{name}: MARK"));

    // The client's copy arrives in place of the gateway's, next to it, or under a name that servers take for the same.
    let in_place = sends(|client, sent| {
        for (name, value) in client.starting("x-orb-").filter(|(name, _)| name.contains('-')) {
            sent.set(&name, &value);
        }
    });
    assert_eq!(bench.probe(in_place), with("GET /v1/a", dashes.clone().chain(more.clone()), CLIENTS));
    let next_to_it = sends(|client, sent| {
        let own = client.starting("x-orb-").filter(|(name, _)| name.contains('-'));
        sent.headers.extend(own);
    });
    let expected: BTreeSet<_> =
        with("GET /v1/a", dashes, MISSING).into_iter().chain(with("GET /v1/a", more, CLIENTS)).collect();
    assert_eq!(bench.probe(next_to_it), expected);
    let spelled_otherwise = sends(|client, sent| {
        let own = client.starting("x-orb-").filter(|(name, _)| !name.contains('-'));
        sent.headers.extend(own);
    });
    assert_eq!(bench.probe(spelled_otherwise), with("GET /v1/a", others, CLIENTS));
    // The client names one in `Connection`, and the proxy takes it away.
    let hops = names.iter().flat_map(|name| ["close", "Upgrade"].map(|other| format!("Connection: {other}, {name}")));
    let hop_by_hop = sends(|client, sent| {
        for (_, named) in client.starting("connection") {
            named.split(", ").for_each(|name| sent.remove(name));
        }
    });
    assert_eq!(bench.probe(hop_by_hop), with("GET /v1/a", hops.clone(), MISSING));
    let passed_on = sends(|client, sent| sent.headers.extend(client.starting("connection")));
    assert_eq!(bench.probe(passed_on), with("GET /v1/a", hops, REMOVED));

    let calls = ["GET /v1/a", "GET /v1/a/1"].map(str::to_owned);
    let about = |findings: BTreeSet<String>, why: &str| {
        assert!(each(calls.clone(), why).is_subset(&findings), "{why}: {findings:?}");
        let is_it = |finding: &String| finding.ends_with(why);
        assert!(findings.iter().all(is_it), "{why}: {findings:?}");
    };
    for name in names {
        about(bench.probe(sends(move |_, sent| sent.remove(&name))), MISSING);
    }
    for (name, value, why) in [
        ("x-orb-policy", "0", ANOTHER),
        ("x-orb-decision", "deny", OTHER),
        ("x-orb-scope", "write:a", OTHER),
        ("x-orb-route", "GET /v1/b", OTHER),
        ("x-orb-token-kind", "-", OTHER),
    ] {
        about(bench.probe(sends(move |_, sent| sent.set(name, value))), why);
    }
}

#[test]
fn an_upgrade_is_found() {
    let bench = Bench::start("probe-upgrades");
    let passes = |has_token: bool| Mistake {
        // Without the header, the gateway would allow it.
        asks: Box::new(|it| it.remove("Upgrade")),
        unasked: Box::new(|it| !it.has_token() && it.header("Upgrade").is_some()),
        sends: Box::new(move |client, sent| {
            if client.has_token() == has_token {
                sent.headers.extend(client.starting("upgrade"));
            }
        }),
        ..none()
    };
    let all = ["h2c", "websocket", "websocket, h2c", "TLS/1.0"];
    let all = all.map(|value| format!("Upgrade: {value}"));
    // Of two lines, a finding has the first.
    let expected: BTreeSet<_> =
        with("GET /v1/a", all.clone(), UPGRADES).into_iter().chain(with("GET /v1/a", all, MISSING)).collect();
    assert_eq!(bench.probe(passes(true)), expected);
}

#[test]
fn a_tunnel_is_found() {
    let bench = Bench::start("probe-tunnels");
    for has_token in [true, false] {
        let tunnels = Mistake { tunnels: Box::new(move |it| it.has_token() == has_token), ..none() };
        let expected = ["BACKEND", "/v1/a"].map(|to| format!("CONNECT {to} arrives as GET /: {MISSING}"));
        assert_eq!(bench.probe(tunnels), expected.into(), "{has_token}");
    }
}

#[test]
fn a_probe_to_which_nothing_arrives_is_no_success() {
    let bench = Bench::start("probe-nothing");
    let nothing = "nothing arrives: the token may make no call, or the backend is another one";
    let closed = bench.probe(asks(|it| "/v1/b".clone_into(&mut it.target)));
    assert_eq!(closed, [nothing.to_owned()].into());
    // Only a header opens it.
    let header = bench.probe(asks(|it| {
        let target = it.header("X-Original-URI").unwrap_or("/v1/b");
        it.target = target.to_owned();
        it.method = "GET".to_owned();
    }));
    let expected = with("GET /", ["X-Original-URI: /v1/a?MARK".to_owned()], OTHER);
    assert_eq!(header, expected);
    // It ends after the first request: the look whether it is there comes before.
    let ended = bench.probe_until(none(), 2);
    assert!(ended.iter().any(|finding| finding.starts_with("the proxy does not answer: ")), "{ended:?}");
}
