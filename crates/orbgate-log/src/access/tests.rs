//! The combined format, field by field, and the formats of other servers.

use proptest::prelude::*;

use super::{AccessLine, AccessLog, Field};
use crate::expected::Expected;

const COMBINED: &str = r#"10.0.0.1 - ann [20/Nov/2026:13:05:00 +0000] "GET /orbs HTTP/1.1" 200 17 "https://a.example/" "curl/8 \"x\"" "read:orbs read:keys" user [1 2] -"#;

fn text(line: &AccessLine<'_>, name: &str) -> Option<String> {
    let field = line.field(&Field::from_name(name).unwrap())?;
    Some(String::from_utf8(field.into_owned()).unwrap())
}

fn error(line: &str) -> String {
    AccessLog::new().read(line.as_bytes()).map(|_| ()).unwrap_err()
}

#[test]
fn every_field_has_a_name() {
    let line = parsed(COMBINED);
    for (name, expected) in [
        ("host", Some("10.0.0.1")),
        ("identity", None),
        ("user", Some("ann")),
        ("time", Some("20/Nov/2026:13:05:00 +0000")),
        ("status", Some("200")),
        ("size", Some("17")),
        ("referer", Some("https://a.example/")),
        ("agent", Some(r#"curl/8 "x""#)),
        ("extra1", Some("read:orbs read:keys")),
        ("extra2", Some("user")),
        ("extra3", Some("1 2")),
        ("extra4", None),
        ("extra5", None),
    ] {
        assert_eq!(text(&line, name).as_deref(), expected, "{name}");
    }
    for name in ["", "extra", "extra0", "extra-1", "scopes"] {
        assert_eq!(Field::from_name(name), None, "{name}");
    }
}

#[test]
fn a_request_is_a_method_and_a_target() {
    for (request, method, target) in [
        ("GET /orbs HTTP/1.1", "GET", "/orbs"),
        ("GET /orbs HTTP/2", "GET", "/orbs"),
        ("GET /orbs", "GET", "/orbs"),
        ("GET /a b HTTP/1.1", "GET", "/a b"),
        ("GET /a HTTP/1.11", "GET", "/a HTTP/1.11"),
        ("get  HTTP/1.0", "get", ""),
        (r"GET /\x22\x5Cq HTTP/1.1", "GET", r#"/"\q"#),
        (r"GET /a\x20HTTP/1.1", "GET", "/a"),
        ("GET ", "GET", ""),
    ] {
        let line = format!(r#"h - - [20/Nov/2026:13:05:00 +0000] "{request}" 200 -"#);
        let line = parsed(&line);
        let call = line.call().unwrap();
        assert_eq!((&*call.method, &*call.target), (method.as_bytes(), target.as_bytes()));
    }
    let mut expected = Expected::default();
    for request in ["-", "", r"\x16\x03", " GET"] {
        let line = format!(r#"h - - [20/Nov/2026:13:05:00 +0000] "{request}" 400 0"#);
        let line = parsed(&line);
        expected.add(request, [line.call().unwrap_err()]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "access logs: no request");
}

#[test]
fn a_name_cannot_pass_for_a_time() {
    let user = r"a [b] [01/Jan/2020:00:00:00 +0000] \x22GET / HTTP/1.1\x22";
    let line = format!(r#"h - {user} [20/Nov/2026:13:05:00 +0000] "POST /b HTTP/1.1" 200 0"#);
    let line = parsed(&line);
    assert_eq!(text(&line, "time").unwrap(), "20/Nov/2026:13:05:00 +0000");
    assert_eq!(&*line.call().unwrap().method, b"POST");
}

#[test]
fn a_call_is_one_whatever_its_time_and_status_say() {
    for (user, time, status) in [
        ("-", "20/Nov/2026:13:05:00", "200"),
        ("ann [x] smith", "20/Nov/2026:13:05:00.125 Z", "200.0"),
        ("ann [x", "2026-11-20T13:05:00+00:00", "ok"),
        (r#"a\"] b"#, "20/11/2026", "404"),
        (r#""ann smith""#, "yesterday", "200"),
        (r#""""#, "", "200"),
        ("-", "-", "-"),
    ] {
        let line = format!(r#"h - {user} [{time}] "GET /a HTTP/1.1" {status} 0 "[x] " "[y]""#);
        let line = parsed(&line);
        let absent = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        assert_eq!(absent(text(&line, "time")), time);
        assert_eq!(absent(text(&line, "status")), status);
        assert_eq!(&*line.call().unwrap().target, b"/a");
    }
}

#[test]
fn a_server_before_all_others_is_no_host() {
    let rest = r#"[20/Nov/2026:13:05:00 +0000] "GET /a HTTP/1.1" 200 17 "-" "curl""#;
    for (start, vhost, host, identity, user) in [
        ("a.example:443 10.0.0.1 - ann", Some("a.example:443"), "10.0.0.1", None, Some("ann")),
        ("a.example:443 ::1 - ann smith", Some("a.example:443"), "::1", None, Some("ann smith")),
        ("[::1]:80 h.example id -", Some("[::1]:80"), "h.example", Some("id"), None),
        // IPv6 addresses, and clients with ports.
        ("::1 - - ann", None, "::1", None, Some("- ann")),
        ("fe80::1:80 - ann", None, "fe80::1:80", None, Some("ann")),
        ("fe80::1:80 x - ann", None, "fe80::1:80", Some("x"), Some("- ann")),
        ("10.0.0.1:5000 - ann smith", None, "10.0.0.1:5000", None, Some("ann smith")),
        ("10.0.0.1:5000 id ann", None, "10.0.0.1:5000", Some("id"), Some("ann")),
        ("a: 10.0.0.1 - ann", None, "a:", Some("10.0.0.1"), Some("- ann")),
    ] {
        let line = format!("{start} {rest}");
        let line = parsed(&line);
        let fields = ["vhost", "host", "identity", "user"].map(|name| text(&line, name));
        let fields = fields.each_ref().map(Option::as_deref);
        assert_eq!(fields, [vhost, Some(host), identity, user], "{start}");
        assert_eq!(&*line.call().unwrap().target, b"/a");
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut expected = Expected::default();
    for line in [
        "",
        " \r",
        "GET",
        " - - [",
        "h -",
        r#"h - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 0"#,
        r#"h - - 20/Nov/2026:13:05:00 "GET / HTTP/1.1" 200 0"#,
        r#"h - - 20/Nov/2026 "GET /a" 200 0 [x] "GET /b" 200 0"#,
        r#"h - - "GET /a" 200 0 "r [x] " "GET /b" 200 0"#,
        r#"h - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1\" 200 0"#,
        r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /""#,
        r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200"#,
        r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200 0 "a"#,
        r#"h - - [20/Nov/2026:13:05:00 +0000] "GET /" 200  0"#,
    ] {
        expected.add(line, [error(line)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "access logs: missing parts");
    assert!(AccessLog::new().read(format!("{COMBINED}\r").as_bytes()).is_ok());
}

fn parsed(line: &str) -> AccessLine<'_> {
    AccessLog::new().read(line.as_bytes()).unwrap().unwrap()
}

const ALB: &str = r#"h2 2026-11-12T08:12:36.431832Z app/lb-a/30118 203.0.113.9:13624 198.51.100.1:8000 0.000 0.177 0.000 200 201 961 2071 "GET https://shop.example:443/v1/items?a=b HTTP/2.0" "curl/8 \"x\"" TLS_AES TLSv1.3 arn:x "Root=1-66" "shop.example" "arn:y" 10160 2026-11-12T08:12:36.254000Z "forward" "-" "-" "172.16.140.164:8000" "200" "-" "-" TID_37ac"#;
const HAPROXY: &str = r#"10.0.0.1:33317 [01/Nov/2026:01:30:00.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {shop.example|read:a read:b|#7C#22} {} "GET /v1/items?#22 HTTP/1.1""#;
const ENVOY: &str = r#"[2026-11-01T01:30:00.123Z] "GET /v1/items HTTP/2" 200 - 0 17 3 2 "203.0.113.1" "curl/8" "1b6c" "shop.example" "10.0.0.1:80""#;
const ISTIO: &str = r#"[2026-11-01T01:30:00.123Z] "GET /v1/items HTTP/2" 503 UF upstream_reset - "tls: \x22" 0 17 3 - "-" "curl/8" "1b6c" "shop.example" "10.0.0.1:80" outbound|80||x - 10.0.0.2:80 10.0.0.3:44 - default"#;
const IIS: &str = "\
#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status
2026-11-12 11:49:08 10.0.0.1 GET /v1/items - 443 - 203.0.113.1 Mozilla/5.0+(X11) 200
2026-11-12 11:49:09 10.0.0.1 GET /v1/items/7 a=b+c 443 DOM\\ann 203.0.113.1 sqlmap#stable 200
#Fields: time cs-method cs-uri-stem sc-status\r
11:50:00 POST /v1/items 201\r
";
const CLOUDFRONT: &str = "\
#Version: 1.0
#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(User-Agent) cs-uri-query x-host-header
2026-11-11\t05:45:16\tHEL51-P6\t1571170\t203.0.113.1\tGET\td.example\t/v1/items\t200\tMozilla%2520(x)\ta=b\tshop.example
";

/// Each line as a call with these fields, or its error. A directive has no row.
fn rows(log: &str, names: &[&str]) -> Vec<String> {
    let mut reader = AccessLog::new();
    let row = |line: AccessLine<'_>| {
        let call = line.call()?;
        let (method, target) =
            (String::from_utf8(call.method.into_owned()), String::from_utf8(call.target.into_owned()));
        let fields = names.iter().map(|name| text(&line, name).unwrap_or_else(|| "-".to_owned()));
        let fields: Vec<_> = fields.collect();
        Ok(format!("{} {} | {} | {}", method.unwrap(), target.unwrap(), fields.join(" | "), line.format()))
    };
    let rows = log.lines().map(|line| match reader.read(line.as_bytes()) {
        Ok(line) => line.map(row),
        Err(why) => Some(Err(why)),
    });
    rows.flatten().map(|row: Result<_, String>| row.unwrap_or_else(|why| format!("error: {why}"))).collect()
}

#[test]
fn the_formats_of_other_servers_are_recognised_by_their_lines() {
    let names = ["vhost", "host", "user", "time", "status", "size", "agent"];
    for (log, expected) in [
        (
            ALB,
            &[
                r#"GET /v1/items?a=b | shop.example | 203.0.113.9 | - | 2026-11-12T08:12:36.431832Z | 200 | 2071 | curl/8 "x" | ALB"#,
            ][..],
        ),
        (HAPROXY, &[r#"GET /v1/items?" | - | 10.0.0.1 | - | 01/Nov/2026:01:30:00.655 | 200 | 2750 | - | HAProxy"#]),
        (
            ENVOY,
            &["GET /v1/items | shop.example | 203.0.113.1 | - | 2026-11-01T01:30:00.123Z | 200 | 17 | curl/8 | Envoy"],
        ),
        (ISTIO, &["GET /v1/items | shop.example | - | - | 2026-11-01T01:30:00.123Z | 503 | 17 | curl/8 | Envoy"]),
        (
            IIS,
            &[
                "GET /v1/items | - | 203.0.113.1 | - | 2026-11-12T11:49:08Z | 200 | - | Mozilla/5.0+(X11) | W3C",
                r"GET /v1/items/7?a=b+c | - | 203.0.113.1 | DOM\ann | 2026-11-12T11:49:09Z | 200 | - | sqlmap#stable | W3C",
                "POST /v1/items | - | - | - | 11:50:00 | 201 | - | - | W3C",
            ],
        ),
        (
            CLOUDFRONT,
            &[
                "GET /v1/items?a=b | shop.example | 203.0.113.1 | - | 2026-11-11T05:45:16Z | 200 | 1571170 | Mozilla%2520(x) | W3C",
            ],
        ),
    ] {
        assert_eq!(rows(log, &names), expected);
    }
    assert_eq!(
        rows(HAPROXY, &["extra1", "extra2", "extra3", "extra4"]),
        [r#"GET /v1/items?" | shop.example | read:a read:b | |" | - | HAProxy"#]
    );
    assert_eq!(
        rows(CLOUDFRONT, &["x-edge-location", "cs(host)", "cs(X-Scopes)", "extra1"]),
        ["GET /v1/items?a=b | HEL51-P6 | d.example | - | - | W3C"]
    );
    // A syslog server puts its own prefix first.
    for prefix in [
        "Nov  1 01:30:00 lb1 haproxy[14389]: ",
        "<134>Nov 12 01:30:00 lb1 haproxy[1]: ",
        "2026-11-01T01:30:00+00:00 lb1 haproxy[9]: ",
    ] {
        assert_eq!(
            rows(&format!("{prefix}{HAPROXY}"), &["host"]),
            [r#"GET /v1/items?" | 10.0.0.1 | HAProxy"#],
            "{prefix}"
        );
    }
}

#[test]
fn a_url_that_a_server_put_together_is_taken_apart() {
    let haproxy = |request: &str| rows(&HAPROXY.replace("GET /v1/items?#22 HTTP/1.1", request), &[]);
    assert_eq!(haproxy("GET https://shop.example/v1/items?a HTTP/2.0"), ["GET /v1/items?a |  | HAProxy"]);
    // In HTTP/1.1, the client sent it like this, and the engine refuses it.
    assert_eq!(
        haproxy("GET https://shop.example/v1/items HTTP/1.1"),
        ["GET https://shop.example/v1/items |  | HAProxy"]
    );
    let alb = |request: &str| rows(&ALB.replace("GET https://shop.example:443/v1/items?a=b HTTP/2.0", request), &[]);
    assert_eq!(alb("GET http://a.example:80/a b?c://d HTTP/1.1"), ["GET /a b?c://d |  | ALB"]);
    assert_eq!(alb("GET http://a.example:80?c HTTP/1.1"), ["GET ?c |  | ALB"]);
    assert_eq!(
        alb("- http://a.example:80- -"),
        ["error: the request is `- http://a.example:80- -`, no method and target"]
    );
}

#[test]
fn a_line_of_a_known_format_that_is_broken_names_the_format() {
    let mut expected = Expected::default();
    let cut = |line: &str, from: &str, to: &str| {
        assert!(line.contains(from), "{from}");
        line.replacen(from, to, 1)
    };
    for line in [
        cut(ALB, "\"curl", "curl"),
        cut(ALB, " 200 201", " 200"),
        ALB[..200].to_owned(),
        cut(HAPROXY, " {}", " {"),
        cut(HAPROXY, "10/0/30/69/109", "10/0/30"),
        cut(HAPROXY, "HTTP/1.1\"", ""),
        cut(HAPROXY, "200 2750", "OK 2750"),
        cut(ENVOY, " HTTP/2\"", "\""),
        cut(ENVOY, "GET /v1/items", "GET /v1/it\"ems"),
        cut(ENVOY, "200 - 0", "- - 0"),
        cut(ENVOY, "curl/8", "cu\"rl"),
        cut(ISTIO, "upstream_reset - ", ""),
        "2026-11-12 11:49:08 10.0.0.1 GET /v1/items 200".to_owned(),
        "#Version: 1.0\nGET /v1/items".to_owned(),
        "#Fields: date time c-ip\n2026-11-12 11:49:08 10.0.0.1".to_owned(),
        format!("{IIS}GET /v1/items"),
        "#Fields: cs-method cs-uri-stem\n- -".to_owned(),
        "# a comment".to_owned(),
    ] {
        let last = rows(&line, &[]).pop().unwrap();
        expected.add(line.lines().last().unwrap(), [last.strip_prefix("error: ").expect(&last)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "access logs: other formats");
}

/// What a client sends can't make the line of one server that of another, nor another call.
#[test]
fn a_client_cannot_choose_the_format() {
    let combined = |user: &str, agent: &str| {
        format!(r#"h - {user} [20/Nov/2026:13:05:00 +0000] "GET /a HTTP/1.1" 200 0 "-" "{agent}""#)
    };
    for value in [
        "#Fields: cs-method cs-uri-stem",
        "[2026-11-01T01:30:00.123Z] GET /b HTTP/2 200 - 0 17 3 2",
        "http 2026-11-12T08:12:36.431832Z a",
        "ann[12]: 1.2.3.4:80 [01/Nov/2026:01:30:00.655] f b/s 1/1/1/1/1 200 0 - - ---- 1/1/1/1/0 0/0",
        "haproxy[1]: 1.2.3.4:80",
    ] {
        for line in [combined(&format!("a {value}"), "-"), combined("-", value)] {
            assert_eq!(rows(&line, &[]), ["GET /a |  | combined"], "{line}");
        }
        assert_eq!(rows(&ALB.replace("curl/8", value), &[]), ["GET /v1/items?a=b |  | ALB"]);
        assert_eq!(rows(&ENVOY.replace("curl/8", value), &[]), ["GET /v1/items |  | Envoy"]);
    }
    assert_eq!(
        rows("[::1]:80 h.example id - [20/Nov/2026:13:05:00 +0000] \"GET /a HTTP/1.1\" 200 0", &["vhost"]),
        ["GET /a | [::1]:80 | combined"]
    );
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(line: Vec<u8>, start in 0..COMBINED.len()) {
        for (before, whole) in [("", COMBINED), ("", ALB), ("", HAPROXY), ("", ENVOY), ("", ISTIO), (IIS, "11:50:00 POST /v1/items 201")] {
            let mut log = AccessLog::new();
            before.lines().for_each(|line| drop(log.read(line.as_bytes())));
            let mut mixed = whole.as_bytes()[..start.min(whole.len())].to_vec();
            mixed.extend(&line);
            for line in [&line, &mixed] {
                if let Ok(Some(line)) = log.read(line) {
                    let _ = line.call();
                    let _ = line.field(&Field::Extra(3));
                    let _ = line.field(&Field::Time);
                }
            }
        }
    }
}
