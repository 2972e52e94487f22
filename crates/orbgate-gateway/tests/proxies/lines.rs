//! Each line of the examples, left out: what comes of it is in `lines.tsv`, and what is dangerous is found by the probe or said on the page.

use std::fs;
use std::path::Path;

use super::probes::findings;
use super::program::{Program, Proxy};

/// A row of the table.
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
        Row {
            file: next(),
            line: next(),
            without: next(),
            note: next(),
        }
    })
}

/// The lines of a file that say something, with their places.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim).enumerate();
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#') && !line.starts_with("--"))
}

#[test]
fn every_line_of_the_examples_has_its_row() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway");
    let mut there = Vec::new();
    for kind in Program::ALL {
        let (example, _) = kind.example();
        let files = fs::read_dir(examples.join(example)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(&file).unwrap();
            there.extend(
                lines(&text).map(|(_, line)| (format!("{example}/{name}"), line.to_owned())),
            );
        }
    }
    let rows_of = rows().map(|row| (row.file.to_owned(), row.line.to_owned()));
    assert_eq!(rows_of.collect::<Vec<_>>(), there);
    let page = include_str!("../../README.md");
    for Row {
        file,
        line,
        without,
        note,
    } in rows()
    {
        let place = format!("{file}: {line}");
        match without {
            "no start" | "nothing passes" | "found" => assert_eq!(note, "", "{place}"),
            "same" => assert_ne!(note, "", "{place}"),
            other => panic!("{place}: {other}"),
        }
        if let Some(said) = note.strip_prefix("page: ") {
            assert!(page.contains(said), "{place}: the page does not say {said}");
        }
    }
}

/// Leaves out each line whose absence lets something pass that must not.
fn finds(kind: Program) {
    let (example, _) = kind.example();
    let of_kind = rows().filter(|row| row.file.split('/').next() == Some(example));
    let mut before: Vec<(&str, usize)> = Vec::new();
    for row in of_kind {
        let (_, wanted) = row.file.split_once('/').unwrap();
        // How many rows of the same file come before it.
        let at = before.iter().filter(|(file, _)| *file == wanted).count();
        before.push((wanted, at));
        if row.without != "found" {
            continue;
        }
        let said = findings(kind, |binary, place, backend| {
            Proxy::start_edited(kind, binary, place, backend, |file, text| {
                let left_out = lines(&text).nth(at).filter(|_| file == wanted);
                let left_out = left_out.map(|(at, _)| at);
                let kept = text.lines().enumerate();
                let kept = kept.filter(|(at, _)| Some(*at) != left_out);
                kept.map(|(_, line)| format!("{line}\n")).collect()
            })
        });
        let Some(said) = said else { return };
        let is_found = [
            " without a token",
            "a promised header",
            "another call was allowed",
        ]
        .iter()
        .any(|found| said.contains(found));
        assert!(is_found, "{}: {}: {said}", row.file, row.line);
    }
}

#[test]
#[ignore = "starts nginx: cargo xtask test gateway"]
fn the_probe_finds_a_line_of_nginx_that_is_left_out() {
    finds(Program::Nginx);
}

#[test]
#[ignore = "starts Caddy: cargo xtask test gateway"]
fn the_probe_finds_a_line_of_caddy_that_is_left_out() {
    finds(Program::Caddy);
}

#[test]
#[ignore = "starts Traefik: cargo xtask test gateway"]
fn the_probe_finds_a_line_of_traefik_that_is_left_out() {
    finds(Program::Traefik);
}

#[test]
#[ignore = "starts HAProxy: cargo xtask test gateway"]
fn the_probe_finds_a_line_of_haproxy_that_is_left_out() {
    finds(Program::Haproxy);
}

#[test]
#[ignore = "starts Envoy: cargo xtask test gateway"]
fn the_probe_finds_a_line_of_envoy_that_is_left_out() {
    finds(Program::EnvoyHttp);
    finds(Program::EnvoyGrpc);
}
