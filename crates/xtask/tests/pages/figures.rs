//! The figures that a page shows come from the record that it links: a new record without a new page, or a
//! figure that was not measured, fails here.

use std::collections::HashMap;

/// A table with this in its head shows medians of the stream of hits, a column for each table of routes.
const HEAD: &str = "| nanoseconds per request |";

#[test]
fn every_figure_of_a_page_is_in_the_record_that_it_links() {
    let mut rows = 0;
    for page in crate::pages() {
        let (text, name) = (crate::read(&page), page.display().to_string());
        if !text.contains(HEAD) {
            continue;
        }
        let records: Vec<_> = linked(&text).map(Record::read).collect();
        assert!(!records.is_empty(), "{name} links no record of its figures");
        for section in text.split("\n## ") {
            if section.contains(HEAD) {
                rows += check_table(&name, section, &records);
            }
            check_prose(&name, section, &records);
        }
    }
    assert!(rows >= 4, "no page shows figures any more under `{HEAD}`");
}

/// A figure of speed has one of these: a unit after a number or in the head of a table, or the processor that it was measured on.
#[test]
fn a_page_that_links_no_record_shows_no_speed() {
    let mut faults = Vec::new();
    for page in crate::pages() {
        let text = crate::read(&page);
        if linked(&text).next().is_none() {
            let lines = text.lines().filter(|line| shows_speed(line));
            faults.extend(lines.map(|line| format!("{}: {line}", page.display())));
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "without a record");
}

fn shows_speed(line: &str) -> bool {
    const UNITS: [&str; 5] = ["ns", "µs", "nanoseconds", "microseconds", "requests/s"];
    let words: Vec<_> = line
        .split(|c: char| !c.is_alphanumeric() && !"./".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_measured = words.windows(2).any(|pair| {
        UNITS.contains(&pair[1].trim_end_matches('.'))
            && pair[0].ends_with(|c: char| c.is_ascii_digit())
    });
    let is_head = line.starts_with('|') && words.iter().any(|word| UNITS.contains(word));
    is_measured || is_head || words.iter().any(|word| ["Xeon", "EPYC"].contains(word))
}

#[test]
fn speed_is_told_by_its_unit_or_processor() {
    for line in [
        "`Decide` 77 ns, of which",
        "decided in 8 µs.",
        "| call | nanoseconds per decision |",
        "on 2026-11-20, Intel Xeon",
    ] {
        assert!(shows_speed(line), "{line}");
    }
    for line in [
        "Instructions are no nanoseconds.",
        "after 30 s",
        "within 7 days",
    ] {
        assert!(!shows_speed(line), "{line}");
    }
}

/// The names, without their extension, of the records that a page links.
fn linked(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("benches/record/").skip(1);
    links.filter_map(|rest| {
        Some(rest.split_once(".md")?.0).filter(|stem| !stem.contains(['\n', ')']))
    })
}

struct Record {
    /// Medians of hits by the number of routes, as `1,222`: contestant and nanoseconds.
    medians: HashMap<String, Vec<(String, f64)>>,
    /// What was measured of each goal; of loads, which pages compare either way round, one divided by it as well.
    ratios: Vec<f64>,
}

impl Record {
    fn read(stem: &str) -> Self {
        let file = |end| crate::root().join(format!("benches/record/{stem}.{end}"));
        let (text, csv) = (crate::read(&file("md")), crate::read(&file("csv")));
        // `### external: 37 routes, 32 templates, 22 scopes`
        let tables = text.lines().filter_map(|line| {
            let (table, rest) = line.strip_prefix("### ")?.split_once(": ")?;
            Some((table, grouped(rest.split_once(" routes")?.0)))
        });
        let median = |row: &str, table: &str| {
            let cells: Vec<_> = row.split(',').collect();
            let is_wanted = cells[..4] == ["median", "ns/request", table, "hits"];
            is_wanted.then(|| (cells[4].to_owned(), cells[5].parse().unwrap()))
        };
        let medians = tables.map(|(table, routes)| {
            let medians = csv.lines().filter_map(|row| median(row, table));
            (routes, medians.collect())
        });
        let goals = text.lines().skip_while(|line| *line != "## Goals").skip(1);
        let goals = goals.take_while(|line| !line.starts_with("## "));
        let ratios = goals.flat_map(|line| {
            let measured: Option<f64> = line.split(" | ").nth(2).and_then(|cell| cell.parse().ok());
            let turned = measured.filter(|_| line.contains("load")).map(f64::recip);
            measured.into_iter().chain(turned)
        });
        Self {
            medians: medians.collect(),
            ratios: ratios.collect(),
        }
    }

    /// Whether a contestant of this name took this long, in as many digits as are shown.
    fn has(&self, routes: &str, who: &str, shown: &str) -> bool {
        let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
        let shown: f64 = shown.replace(',', "").parse().unwrap();
        let half = 0.5 * 10_f64.powi(-i32::try_from(digits).unwrap()) + 1e-9;
        let medians = self.medians.get(routes).into_iter().flatten();
        let mut of = medians
            .filter(|(name, _)| name.starts_with(who) || who == "matchit" && name == "by-hand");
        of.any(|(_, median)| (median - shown).abs() <= half)
    }
}

/// `1222` as `1,222`.
fn grouped(digits: &str) -> String {
    match digits.len().checked_sub(3) {
        Some(thousands @ 1..) => {
            format!("{},{}", grouped(&digits[..thousands]), &digits[thousands..])
        }
        _ => digits.to_owned(),
    }
}

/// Every row of the table is in one of the records; gives how many rows there are.
fn check_table(page: &str, section: &str, records: &[Record]) -> usize {
    let lines = section.lines().skip_while(|line| !line.starts_with(HEAD));
    let table: Vec<_> = lines.take_while(|line| line.starts_with('|')).collect();
    let routes: Vec<_> = cells(table[0])
        .skip(1)
        .map(|cell| cell.replace(" routes", ""))
        .collect();
    let is_there = |record: &Record, row: &str| {
        let mut cells = cells(row);
        let label = cells.next().unwrap().to_lowercase();
        let who = label.split([' ', ',']).next().unwrap();
        let mut shown = cells.zip(&routes);
        shown.all(|(shown, routes)| record.has(routes, who, shown))
    };
    let faults = |record: &Record| {
        let rows = table[2..].iter().copied();
        rows.filter(|row| !is_there(record, row))
            .collect::<Vec<_>>()
    };
    let best = records.iter().map(faults).min_by_key(Vec::len).unwrap();
    assert_eq!(best, Vec::<&str>::new(), "{page}: not in the record");
    table.len() - 2
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim_matches('|').split('|').map(str::trim)
}

/// Every ratio of the text, a number with two decimals, is the ratio of a goal.
fn check_prose(page: &str, section: &str, records: &[Record]) {
    let ratios: Vec<_> = records.iter().flat_map(|record| &record.ratios).collect();
    let lines = section.lines().filter(|line| !line.starts_with('|'));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_digit() && c != '.'));
    for word in words.map(|word| word.trim_matches('.')) {
        let decimals = word.split_once('.').map(|(_, decimals)| decimals.len());
        if decimals == Some(2) {
            let shown: f64 = word.parse().unwrap();
            // The records have three decimals.
            let known = ratios.iter().any(|ratio| (*ratio - shown).abs() < 0.0056);
            assert!(
                known,
                "{page}: no goal of its records was measured as {word}"
            );
        }
    }
}

#[test]
fn numbers_are_grouped_as_pages_show_them() {
    for (digits, shown) in [("37", "37"), ("1222", "1,222"), ("100000", "100,000")] {
        assert_eq!(grouped(digits), shown);
    }
}

/// The table of instructions in docs/speed.md has what the committed lists have.
#[test]
fn the_page_says_what_the_lists_of_instructions_say() {
    let root = crate::root();
    let page = crate::read(&root.join("docs/speed.md"));
    for (processor, list) in [("x86-64", ""), ("aarch64", "-aarch64")] {
        let list = crate::read(&root.join(format!("benches/instructions{list}.tsv")));
        let least = |stream: &str, who: &[&str]| {
            let counts = list.lines().filter_map(|line| line.split_once('\t'));
            let of = |name: &str| {
                who.iter()
                    .any(|who| name.starts_with(&format!("{stream}{who}")))
            };
            let counts = counts.filter(|(name, _)| of(name));
            let counts = counts.map(|(_, count)| count.parse::<f64>().unwrap());
            counts.fold(f64::INFINITY, f64::min)
        };
        let cells = ["external/hits/", "github/hits/"].map(|stream| {
            let (own, router) = (
                least(stream, &["orbgate-set"]),
                least(stream, &["matchit", "wayfind"]),
            );
            format!("{own:.0} | {router:.0}")
        });
        let row = format!("| {processor} | {} |", cells.join(" | "));
        assert!(page.contains(&row), "docs/speed.md has no row {row}");
        for (what, stream) in [
            ("no route", "misses"),
            ("a query of 20 bytes", "query-20"),
            ("a query of 1,000 bytes", "query-1000"),
            ("malformed", "malformed"),
            ("a letter of the other case", "case"),
        ] {
            let cells = ["external", "github"].map(|table| {
                let own = least(&format!("{table}/{stream}/"), &["orbgate-set"]);
                grouped(&format!("{own:.0}"))
            });
            let row = format!("| {processor}, {what} | {} |", cells.join(" | "));
            assert!(page.contains(&row), "docs/speed.md has no row {row}");
        }
    }
}

/// The goals of other languages are those that bindings/README.md promises.
#[test]
fn the_page_of_the_bindings_says_their_goals() {
    let page = crate::read(&crate::root().join("bindings/README.md")).replace("\n  ", " ");
    let goals = crate::read(&crate::root().join("benches/bindings.py"));
    let goals = goals.lines().filter(|line| line.starts_with("    (\""));
    let goals: Vec<_> = goals
        .map(|line| line.split(['"', ':', ',']).collect::<Vec<_>>())
        .collect();
    assert_eq!(goals.len(), 5);
    for goal in goals {
        let most = goal[6].trim();
        let promise = match (goal[1], goal[4]) {
            ("c", "single") => format!("a call from C takes over {most} times the Rust call"),
            (_, call) => format!("a decision in a {call} of 256 over {most} times"),
        };
        assert!(page.contains(&promise), "bindings/README.md: {promise}");
    }
}
