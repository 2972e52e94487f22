//! Logs as people have them: `needs --log` and `unused` read their formats, and never make up a call.

use crate::{file, orbgate, orbgate_reading};

const SHOP: &str = "\
orbgate: 1
name: shop
orbs: none
apis:
  shop:
    base_path: /v1
    scopes:
      read:items: { permits: reads, routes: [GET /items, 'GET /items/{id}', 'HEAD /items/{id}'] }
      write:items: { permits: writes, routes: [POST /items] }
...
";

const COMBINED: &str =
    r#"203.0.113.8 - ann [02/Nov/2026:01:30:00 +0000] "GET /v1/items HTTP/1.1" 200 612 "-" "curl" "read:items""#;

const LOGS: [(&str, &str); 6] = [
    (
        "W3C",
        "#Software: Microsoft Internet Information Services 10.0\n\
         #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) cs(X-Scopes) sc-status\n\
         2026-11-12 11:49:08 10.0.0.1 GET /v1/items - 203.0.113.1 Mozilla/5.0+(X11) read:items 200\n\
         2026-11-12 11:49:09 10.0.0.1 GET /v1/items/7 a=b+c 203.0.113.1 sqlmap#stable read:items 200\n",
    ),
    (
        "CloudFront",
        "#Version: 1.0\n#Fields: date time c-ip cs-method cs(Host) cs-uri-stem sc-status cs-uri-query\n\
         2026-11-11\t05:45:16\t203.0.113.1\tGET\td.example\t/v1/items\t200\t-\n",
    ),
    (
        "ALB",
        r#"h2 2026-11-12T08:12:36.431832Z app/lb-a/30118 203.0.113.9:13624 198.51.100.1:8000 0.000 0.177 0.000 200 200 961 2071 "GET https://shop.example:443/v1/items HTTP/2.0" "curl/8" TLS_AES TLSv1.3 arn:x "Root=1-66" "shop.example" "arn:y" 10160 2026-11-12T08:12:36.254000Z "forward" "-" "-""#,
    ),
    (
        "HAProxy",
        r#"10.0.0.1:33317 [01/Nov/2026:01:30:00.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {read:items} {} "GET /v1/items HTTP/1.1""#,
    ),
    (
        "Envoy",
        r#"[2026-11-01T01:30:00.123Z] "GET /v1/items HTTP/2" 200 - 0 17 3 2 "203.0.113.1" "curl/8" "1b6c" "shop.example" "10.0.0.1:80""#,
    ),
    ("combined", COMBINED),
];

#[test]
fn every_format_that_people_have_is_read() {
    let shop = file("logs-shop.yaml", SHOP);
    for (name, log) in LOGS {
        let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop], log.as_bytes());
        assert_eq!((ran.code, &*ran.err), (0, ""), "{name}");
        assert!(ran.out.starts_with("read:items\n") && ran.out.contains(": GET /v1/items\n"), "{name}: {}", ran.out);
    }
    for (at, field, last) in [
        (0, "cs(X-Scopes)", "line 4, 2026-11-12T11:49:09Z"),
        (3, "extra1", "line 1, 01/Nov/2026:01:30:00.655"),
        (5, "extra1", "line 1, 02/Nov/2026:01:30:00 +0000"),
    ] {
        let ran = orbgate_reading(&["unused", "-", "--field", field, "--policy", &shop], LOGS[at].1.as_bytes());
        assert_eq!((ran.code, &*ran.err), (0, ""));
        assert!(ran.out.contains(last), "{}", ran.out);
    }
}

#[test]
fn a_line_that_is_no_call_is_2_and_never_a_call() {
    let shop = file("logs-no-calls.yaml", SHOP);
    for line in [
        "# calls of billing",
        "1 GET /v1/items",
        "      1 GET /v1/items",
        "GET items",
        "GET /v1/items HTTP/1.1 200",
        "GET /v1/items x",
        "GET  /v1/items",
        "GET: /v1/items",
        "2026-11-12 11:49:08 10.0.0.1 GET /v1/items 200",
        "#Fields: date time c-ip",
        "GET\t/v1/items",
        "GET,/v1/items",
    ] {
        let log = format!("{line}\n{COMBINED}\n");
        let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop, "--json"], log.as_bytes());
        let only = if line.starts_with('#') && line.contains(':') { 0 } else { 1 };
        assert_eq!(ran.code, 2, "{line}: {}", ran.out);
        assert!(ran.out.contains(&format!("\"calls\":{only},")), "{line}: {}", ran.out);
        assert!(ran.err.starts_with(&format!("error: -:{}: ", 2 - only)), "{line}: {}", ran.err);
        assert_eq!(orbgate(&["needs", line, "--policy", &shop]).code, 2, "{line}");
    }
    // A request line is the call.
    for (log, call) in
        [("GET /v1/items HTTP/1.1", "GET /v1/items"), ("GET /v1/items\r", "GET /v1/items"), ("get /v1", "get /v1")]
    {
        let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop, "--json"], log.as_bytes());
        assert!(ran.out.contains(&format!("\"call\":\"{call}\"")), "{} {}", ran.out, ran.err);
    }
}

#[test]
fn tolerated_lines_do_not_count_for_the_exit_code() {
    let shop = file("logs-tolerate.yaml", SHOP);
    let start = |request: &str| {
        format!(
            "203.0.113.8 - - [04/Oct/2026:04:34:49 +0200] \"{request}\" 400 0 \"-\" \"-\" \"read:items write:items\"\n"
        )
    };
    let bots = [r"\x03\x00\x00/*\xE0", "", "-"].map(start).concat()
        + &["GET /v1/items", "HEAD /v1/items/7 HTTP/2.0", "POST /v1/items HTTP/1.1"].map(start).concat();
    let ran = |command: &[&str], more: &[&str]| {
        let ran = orbgate_reading(&[command, &["--policy", &shop], more].concat(), bots.as_bytes());
        assert_eq!(ran.err.lines().filter(|line| line.starts_with("error: -:")).count(), 3, "{}", ran.err);
        (ran.code, ran.err.lines().last().unwrap().to_owned())
    };
    for command in [&["needs", "--log", "-"][..], &["unused", "-", "--field", "extra1"]] {
        for (tolerate, code) in [("0", 2), ("2", 2), ("49%", 2), ("3", 0), ("50%", 0), ("50.0%", 0), ("100%", 0)] {
            let (status, last) = ran(command, &["--tolerate", tolerate]);
            assert_eq!(status, code, "{command:?} {tolerate}: {last}");
            let is_said = last == format!("3 of 6 lines cannot be used, as allowed by --tolerate {tolerate}");
            assert_eq!(is_said, code == 0, "{last}");
        }
        assert_eq!(ran(command, &[]).0, 2);
        for bad in ["", "%", "-1", "1.5", "1e3", ".5%", "1.%", "1%%", "inf", "NaN%"] {
            let argument = format!("--tolerate={bad}");
            let ran = orbgate_reading(&[command, &[&*argument]].concat(), b"");
            assert!(ran.code == 2 && ran.err.contains("--tolerate"), "{bad}: {}", ran.err);
        }
    }
}

#[test]
fn the_last_use_is_the_latest_time_and_not_the_last_line() {
    let shop = file("logs-latest.yaml", SHOP);
    let at = |time: &str| COMBINED.replace("02/Nov/2026:01:30:00 +0000", time) + "\n";
    let last = |log: &[String]| {
        let ran = orbgate_reading(&["unused", "-", "--field", "extra1", "--policy", &shop], log.concat().as_bytes());
        assert_eq!((ran.code, &*ran.err), (0, ""));
        ran.out.lines().nth(1).unwrap().split_once("line ").unwrap().1.to_owned()
    };
    let [first, second] = ["01/Nov/2026:01:30:00 +0000", "02/Nov/2026:01:30:00 +0000"].map(at);
    // `cat access.log access.log.1`, newest first.
    assert_eq!(last(&[second.clone(), first.clone()]), "1, 02/Nov/2026:01:30:00 +0000");
    assert_eq!(last(&[first.clone(), second.clone()]), "2, 02/Nov/2026:01:30:00 +0000");
    // Zones count, and a time that can't be read is older than one that can.
    assert_eq!(last(&[at("02/Nov/2026:01:00:00 -0100"), second.clone()]), "1, 02/Nov/2026:01:00:00 -0100");
    assert_eq!(last(&[second.clone(), at("yesterday")]), "1, 02/Nov/2026:01:30:00 +0000");
    assert_eq!(last(&[at("tomorrow"), at("yesterday")]), "2, yesterday");
    assert_eq!(last(&[second.clone(), second]), "2, 02/Nov/2026:01:30:00 +0000");
}

#[test]
fn replay_names_the_format_of_a_log_that_is_no_log_of_requests() {
    for (name, log) in LOGS {
        let ran = orbgate_reading(&["replay"], log.as_bytes());
        let format = if name == "CloudFront" { "W3C" } else { name };
        assert_eq!(ran.code, 2);
        let last = ran.out.lines().last().unwrap();
        assert!(last.contains(&format!("a line of an access log ({format})")), "{last}");
    }
}

#[cfg(feature = "compressed")]
#[test]
fn compressed_logs_are_read_as_what_they_contain() {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    let shop = file("logs-compressed.yaml", SHOP);
    let gzip = |text: &str| {
        let mut to = GzEncoder::new(Vec::new(), Compression::default());
        to.write_all(text.as_bytes()).unwrap();
        to.finish().unwrap()
    };
    let zstd = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    let skipped = [&b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"[..]].concat();
    let (one, two) = (format!("{COMBINED}\n").repeat(3000), "POST /v1/items\n".to_owned());
    let needs = |log: &[u8]| {
        let ran = orbgate_reading(&["needs", "--log", "-", "--policy", &shop], log);
        (ran.code, ran.out, ran.err)
    };
    let expected = needs((one.clone() + &two).as_bytes());
    assert_eq!((expected.0, &*expected.2), (0, ""));
    for log in [
        gzip(&(one.clone() + &two)),
        [gzip(&one), gzip(&two)].concat(),
        zstd(&(one.clone() + &two)),
        [zstd(&one), skipped.clone(), zstd(&two), skipped].concat(),
    ] {
        assert_eq!(needs(&log), expected);
        let named = file("logs-compressed.log", &log);
        let ran = orbgate(&["needs", "--log", &named, "--policy", &shop]);
        assert_eq!((ran.code, &ran.out), (0, &expected.1));
        // A log that breaks off or is damaged could not be read.
        for end in [log.len() - 1, log.len() / 2, 5] {
            let (code, out, err) = needs(&log[..end]);
            assert_eq!((code, &*out), (2, ""), "{end}");
            assert!(err.starts_with("error: cannot read standard input: "), "{err}");
        }
    }
    let mut damaged = gzip(&one);
    let middle = damaged.len() - 6;
    damaged[middle] ^= 1;
    assert!(needs(&damaged).2.contains("cannot read"), "a checksum");
    let request = "{\"method\":\"GET\",\"target\":\"/api/v1/external/orbs\"}\n";
    let plain = orbgate_reading(&["replay"], request.as_bytes());
    for log in [gzip(request), zstd(request)] {
        assert_eq!(orbgate_reading(&["replay"], &log).out, plain.out);
    }
    // Their first bytes alone are a line, which is no call.
    for log in [&b"\x1f"[..], b"\x28\xb5\x2f", b"\x28\xb5\n"] {
        assert!(needs(log).2.starts_with("error: -:1: "), "{log:?}");
    }
}

#[cfg(not(feature = "compressed"))]
#[test]
fn a_command_that_cannot_decompress_says_what_can() {
    for (start, program) in [(&b"\x1f\x8b\x08\x00"[..], "gzip -dc"), (b"\x28\xb5\x2f\xfd\x00", "zstd -dc")] {
        let log = file("logs-compressed.log", start);
        for command in [&["needs", "--log", &log][..], &["unused", &log], &["replay", &log]] {
            let ran = orbgate(command);
            assert_eq!((ran.code, &*ran.out), (2, ""));
            assert!(ran.err.contains(program) && ran.err.contains("--features compressed\n"), "{}", ran.err);
        }
    }
}

/// Without calls, "no scope is needed" and "every scope is used" would be misleading.
#[test]
fn a_log_without_calls_is_2() {
    for (log, more) in [("", &[][..]), ("no call\n", &["--tolerate", "100%"])] {
        for command in [&["needs", "--log", "-"][..], &["unused", "-", "--field", "extra1"]] {
            let ran = orbgate_reading(&[command, more].concat(), log.as_bytes());
            assert_eq!(ran.code, 2, "{command:?} {log:?}: {}{}", ran.out, ran.err);
        }
    }
    let ran = orbgate_reading(&["needs", "--log", "-"], b"");
    assert_eq!((&*ran.out, &*ran.err), ("", "error: -: there are no calls\n"));
}
