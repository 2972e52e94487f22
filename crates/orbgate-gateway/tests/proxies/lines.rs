//! Each line of the examples, left out: what comes of it is in `lines.tsv`, and what is dangerous is found by the probe or in a table of the proxy's page.

use std::fs;
use std::path::Path;

use super::probes::findings;
use super::program::{Program, Proxy};
use crate::support::{folder, run};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gateway");

/// The gateway's own.
const OWN: [&str; 2] = ["gateway.yaml", "tokens.yaml"];

struct Row {
    file: &'static str,
    line: &'static str,
    without: &'static str,
    note: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    let lines = include_str!("lines.tsv").lines();
    let rows = lines.filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let mut cells = row.split('\t');
        let mut next = || cells.next().unwrap_or_default();
        Row { file: next(), line: next(), without: next(), note: next() }
    })
}

/// The lines of a file that say something, with their locations.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim).enumerate();
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("--"))
}

#[test]
fn every_line_of_the_examples_has_its_row() {
    let mut there = Vec::new();
    for kind in Program::ALL {
        let (example, _) = kind.example();
        let files = fs::read_dir(Path::new(EXAMPLES).join(example)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(&file).unwrap();
            there.extend(lines(&text).map(|(_, line)| (format!("{example}/{name}"), line.to_owned())));
        }
    }
    for name in OWN {
        let text = fs::read_to_string(Path::new(EXAMPLES).join(name)).unwrap();
        there.extend(lines(&text).map(|(_, line)| (name.to_owned(), line.to_owned())));
    }
    let rows_of = rows().map(|row| (row.file.to_owned(), row.line.to_owned()));
    assert_eq!(rows_of.collect::<Vec<_>>(), there);
    for Row { file, line, without, note } in rows() {
        let location = format!("{file}: {line}");
        match without {
            "no start" | "nothing passes" | "found" => assert_eq!(note, "", "{location}"),
            "same" => assert_ne!(note, "", "{location}"),
            other => panic!("{location}: {other}"),
        }
        if let Some(cell) = note.strip_prefix("page: ") {
            let mut cells = page(file).lines().filter_map(|row| row.split(" | ").next());
            let is_there = cells.any(|first| first.starts_with("| ") && first.contains(cell));
            assert!(is_there, "{location}: no row of its page begins with {cell}");
        }
    }
}

/// The page of a file's proxy, or its section of a page.
fn page(file: &str) -> &'static str {
    let proxy = file.split(['/', '-']).next().unwrap();
    let mut sections = include_str!("../../../../docs/gateway/proxies.md").split("\n## ");
    let section = sections.find(|section| section.lines().next().unwrap().eq_ignore_ascii_case(proxy));
    section.unwrap_or(include_str!("../../../../docs/gateway/envoy.md"))
}

/// The rows of a file, each with the file's text without its line.
fn without<'t>(file: &str, text: &'t str) -> impl Iterator<Item = (Row, String)> + 't {
    let of_file: Vec<_> = rows().filter(|row| row.file == file).collect();
    let locations: Vec<_> = lines(text).map(|(at, _)| at).collect();
    of_file.into_iter().zip(locations).map(|(row, left_out)| {
        let kept = text.lines().enumerate();
        let kept = kept.filter(|(at, _)| *at != left_out);
        (row, kept.map(|(_, line)| format!("{line}\n")).collect())
    })
}

#[test]
fn the_gateway_refuses_its_own_files_without_a_line_or_the_table_says_why_not() {
    let folder = folder("lines");
    for file in OWN {
        let text = fs::read_to_string(Path::new(EXAMPLES).join(file)).unwrap();
        for (row, without) in without(file, &text) {
            for other in OWN {
                fs::copy(Path::new(EXAMPLES).join(other), folder.join(other)).unwrap();
            }
            fs::write(folder.join(file), without).unwrap();
            let (code, ..) = run(&folder, None, &["--check", "--config", OWN[0]]);
            let expected = if row.without == "same" { 0 } else { 2 };
            assert_eq!(code, Some(expected), "{file}: {}", row.line);
        }
    }
}

/// Leaves out each line whose absence lets something pass that must not.
fn finds(kind: Program) {
    let (example, _) = kind.example();
    for file in fs::read_dir(Path::new(EXAMPLES).join(example)).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        let of_file = without(&format!("{example}/{name}"), &text);
        for (row, without) in of_file.filter(|(row, _)| row.without == "found") {
            let report =
                findings(kind, |binary, location, backend| {
                    Proxy::start_edited(kind, binary, location, backend, |other, text| {
                        if other == name { without.clone() } else { text }
                    })
                });
            let Some(report) = report else { return };
            let is_found = [
                " without a token",
                "a promised header",
                "another call was allowed",
                "nothing decides what comes then",
                "names another call",
                "belongs to an upgrade",
            ]
            .iter()
            .any(|words| report.contains(words));
            assert!(is_found, "{}: {}: {report}", row.file, row.line);
        }
    }
}

through_proxies! { finds;
    the_probe_finds_a_line_of_nginx_that_is_left_out: Nginx,
    the_probe_finds_a_line_of_caddy_that_is_left_out: Caddy,
    the_probe_finds_a_line_of_traefik_that_is_left_out: Traefik,
    the_probe_finds_a_line_of_haproxy_that_is_left_out: Haproxy,
    the_probe_finds_a_line_of_envoy_that_is_left_out: EnvoyHttp EnvoyGrpc,
}
