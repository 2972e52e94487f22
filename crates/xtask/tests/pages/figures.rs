//! The figures that a page shows come from the record that it links: a new record without a new page, or a
//! figure that was not measured, fails here.

use std::collections::BTreeSet;

#[test]
fn every_figure_of_a_page_is_in_the_record_that_it_links() {
    let mut tables = 0;
    for page in crate::pages() {
        let (text, name) = (crate::read(&page), page.display().to_string());
        for stem in linked(&text) {
            let record = crate::read(&crate::root().join(format!("benches/record/{stem}.md")));
            let shared = shared(&text, &record);
            tables += shared.len();
            let rows: Vec<_> = shared.into_iter().flat_map(rows).collect();
            assert_eq!(not_in(&record, &rows), Vec::<&str>::new(), "{name}: not in {stem}");
            // No kind of requests and no goal that is missed is left out.
            let is_of_requests = |table: &&str| table.starts_with("| nanoseconds per request");
            let of_requests: Vec<_> = record.split("\n\n").filter(is_of_requests).collect();
            let missed = record.lines().filter(|line| line.contains("| **no** |"));
            let must = of_requests.iter().flat_map(|table| self::rows(table)).chain(missed);
            let hides = must.filter(|row| !rows.iter().any(|shown| row.starts_with(shown)));
            assert_eq!(hides.collect::<Vec<_>>(), Vec::<&str>::new(), "{name} hides rows of {stem}");
            if !of_requests.is_empty() {
                assert_eq!(ratios(&text), Vec::<&str>::new(), "{name}: keep ratios in tables");
            }
        }
    }
    assert_eq!(tables, 12, "tables of records on pages");
}

/// The newest of each kind: an older one goes with it.
#[test]
fn there_is_one_record_of_each_kind() {
    let records = crate::files(&["benches/record/*.md"]);
    let kinds = records.iter().map(|record| record.split_at("benches/record/2026-11-24".len()).1);
    assert_eq!(kinds.collect::<BTreeSet<_>>().len(), records.len(), "{records:?}");
}

/// A page's tables whose heads are in a record, perhaps with more columns there.
fn shared<'p>(page: &'p str, record: &str) -> Vec<&'p str> {
    let tables = page.split("\n\n").filter(|table| {
        let head = table.lines().next().filter(|head| head.starts_with("| "));
        head.is_some_and(|head| record.contains(&format!("\n{head}")))
    });
    tables.collect()
}

/// The head and the rows of a table.
fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|row| !row.starts_with("|--"))
}

/// The rows that a record doesn't begin a line with.
fn not_in<'r>(record: &str, rows: &[&'r str]) -> Vec<&'r str> {
    rows.iter().copied().filter(|row| !record.lines().any(|line| line.starts_with(row))).collect()
}

#[test]
fn a_row_that_is_not_in_a_record_is_found() {
    let record = "# Record\n\n| a | b | more |\n|--|--|--|\n| 1 | 2 | 7 |\n";
    let page = "Text.\n\n| a | b |\n|--|--|\n| 1 | 3 |\n\n| c |\n|--|\n| 9 |\n";
    let [table] = shared(page, record)[..] else {
        panic!("one of the page's tables is in the record");
    };
    let rows: Vec<_> = rows(table).collect();
    assert_eq!((&*rows, not_in(record, &rows)), (&["| a | b |", "| 1 | 3 |"][..], vec!["| 1 | 3 |"]));
}

#[test]
fn ratios_are_told_by_their_missing_unit() {
    for ratio in 1..100 {
        let prose = format!("It takes 0.{ratio:02} of the time.");
        assert_eq!(ratios(&prose).len(), 1, "{prose}");
    }
    assert_eq!(ratios("In 22.8 µs, with TLS 1.3.\n| 0.70 |"), ["1.3"]);
}

/// The numbers with a decimal point in prose that have no unit.
fn ratios(page: &str) -> Vec<&str> {
    const UNITS: [&str; 6] = ["ns", "µs", "ms", "s", "MB", "million"];
    let prose = page.lines().filter(|line| !line.starts_with(['|', '[']));
    let words: Vec<_> = prose.flat_map(str::split_whitespace).collect();
    let ratios = words.iter().enumerate().filter_map(|(at, word)| {
        let number = word.trim_matches(|c: char| !c.is_ascii_digit());
        let is_number = number.contains('.') && number.replace(',', "").parse::<f64>().is_ok();
        let unit = words.get(at + 1).map_or("", |next| next.trim_end_matches(['.', ',', ';', ')']));
        (is_number && !UNITS.contains(&unit)).then_some(number)
    });
    ratios.collect()
}

/// A figure of speed has one of these: a unit after a number or in the head of a table, or the processor that it was measured on.
#[test]
fn a_page_that_links_no_record_shows_no_speed() {
    let mut diagnostics = Vec::new();
    for page in crate::pages() {
        let text = crate::read(&page);
        if linked(&text).next().is_none() {
            let lines = text.lines().filter(|line| shows_speed(line));
            diagnostics.extend(lines.map(|line| format!("{}: {line}", page.display())));
        }
    }
    assert_eq!(diagnostics, Vec::<String>::new(), "without a record");
}

fn shows_speed(line: &str) -> bool {
    const UNITS: [&str; 5] = ["ns", "µs", "nanoseconds", "microseconds", "requests/s"];
    let words: Vec<_> =
        line.split(|c: char| !c.is_alphanumeric() && !"./".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_measured = words
        .windows(2)
        .any(|pair| UNITS.contains(&pair[1].trim_end_matches('.')) && pair[0].ends_with(|c: char| c.is_ascii_digit()));
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
    for line in ["Instructions are no nanoseconds.", "after 30 s", "within 7 days"] {
        assert!(!shows_speed(line), "{line}");
    }
}

/// The names, without their extension, of the records that a page links.
fn linked(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("benches/record/").skip(1);
    links.filter_map(|rest| Some(rest.split_once(".md")?.0).filter(|stem| !stem.contains(['\n', ')'])))
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
            let of = |name: &str| who.iter().any(|who| name.starts_with(&format!("{stream}{who}")));
            let counts = counts.filter(|(name, _)| of(name));
            let counts = counts.map(|(_, count)| count.parse::<f64>().unwrap());
            counts.fold(f64::INFINITY, f64::min)
        };
        let cells = ["external/hits/", "github/hits/"].map(|stream| {
            let (own, router) = (least(stream, &["orbgate-set"]), least(stream, &["matchit", "wayfind"]));
            format!("{own:.0} | {router:.0}")
        });
        let row = format!("| {processor} | {} |", cells.join(" | "));
        assert!(page.contains(&row), "docs/speed.md has no row {row}");
        for (what, stream) in [
            ("no route", "/misses"),
            ("a query of 20 bytes", "/query-20"),
            ("a query of 1,000 bytes", "/query-1000"),
            ("malformed", "/malformed"),
            ("a letter of the other case", "/case"),
            ("paths that end in a slash", "-slash/hits"),
        ] {
            let cells = ["external", "github"].map(|table| {
                let own = least(&format!("{table}{stream}/"), &["orbgate-set"]);
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
    let rows = crate::table("bindings/README.md", "| language | call |");
    let goals = crate::read(&crate::root().join("benches/bindings.py"));
    let goals = goals.lines().filter(|line| line.starts_with("    (\""));
    let quoted = |words: &str| format!("`{}`", words.replace(' ', "`, `"));
    let goals: Vec<_> = goals
        .map(|line| {
            let cells: Vec<_> = line.split(['"', ')']).collect();
            let most = cells[4].trim_start_matches(", ").to_owned();
            [quoted(cells[1]), quoted(cells[3]), most]
        })
        .collect();
    assert_eq!(rows[1..], goals);
}
