//! The figures that a page shows come from the record that it links: a new record without a new page, or a
//! figure that was not measured, fails here.

use std::collections::HashMap;

/// The heads of the tables whose figures a record has.
const MEDIANS: &str = "| nanoseconds per request | 37 routes | 1,222 routes |";
const BEST: &str = "| nanoseconds per request of other kinds, best rounds | 37 routes: scopes interned | scopes as text | a \
                    router | 1,222 routes: scopes interned | scopes as text | a router |";
const GOALS: &str = "| goal | wanted | measured | met |";

/// The labels of a table of medians, and the contestants in the record. A router has two, and the page shows the faster one.
#[rustfmt::skip] // A table.
const HITS: [(&str, &[&str]); 9] = [
    ("floor, which looks at each byte, hashes once, reads a row, and has no answer", &["floor"]),
    ("orbgate, scopes interned once per token", &["orbgate-set"]),
    ("orbgate, scopes as text", &["orbgate-text"]),
    ("matchit and `scopes.split(' ')`, the whole decision by hand", &["by-hand"]),
    ("matchit, routing only", &["matchit-paths", "matchit-methods"]),
    ("wayfind, routing only", &["wayfind-paths", "wayfind-methods"]),
    ("regorus, the route and its input given", &["regorus-routed"]),
    ("regorus, the route from matchit", &["regorus-matchit"]),
    ("Cedar, route and policy given", &["cedar-sliced", "cedar-routed"]),
];

/// The labels of a table of other requests, and the streams in the record.
const STREAMS: [(&str, &str); 9] = [
    ("the same 64 over and over", "hits-hot"),
    ("tokens of 20 to 40 scopes", "hits-many-scopes"),
    ("values that are literals elsewhere", "words"),
    ("values of 60 to 250 bytes", "long"),
    ("no route", "misses"),
    ("malformed", "malformed"),
    ("a query of 20 bytes", "query-20"),
    ("a query of 1,000 bytes", "query-1000"),
    ("a letter of the other case", "case"),
];

/// The columns of that table for each policy. Routers only find the route, and Orbgate decides.
const OTHERS: [&[&str]; 3] =
    [&["orbgate-set"], &["orbgate-text"], &["matchit-paths", "matchit-methods", "wayfind-paths", "wayfind-methods"]];

#[test]
fn every_figure_of_a_page_is_in_the_record_that_it_links() {
    let mut tables = 0;
    for page in crate::pages() {
        let (text, name) = (crate::read(&page), page.display().to_string());
        let (records, plain): (Vec<_>, Vec<_>) = linked(&text).partition(|stem| has_figures(stem));
        for stem in plain {
            let record = crate::read(&crate::root().join(format!("benches/record/{stem}.md")));
            let wrong: Vec<_> =
                rows_of(&text, &record).filter(|row| !record.lines().any(|line| line == *row)).collect();
            assert_eq!(wrong, Vec::<&str>::new(), "{name}: not in {stem}");
        }
        for head in [MEDIANS, BEST, GOALS] {
            for table in text.split(&format!("\n{head}\n")).skip(1) {
                let [record] = records[..] else {
                    panic!("{name} links {records:?}: which one has its figures?");
                };
                let record = Record::read(record);
                let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
                let wrong: Vec<_> = rows.filter(|row| !record.has(head, row)).collect();
                assert_eq!(wrong, Vec::<&str>::new(), "{name}: not in the record");
                tables += 1;
            }
        }
        if !records.is_empty() && text.contains(BEST) {
            let missing = STREAMS.iter().filter(|(label, _)| !text.contains(&format!("\n| {label} |")));
            assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "{name} hides kinds of requests");
        }
        if !records.is_empty() {
            assert_eq!(ratios(&text), Vec::<&str>::new(), "{name}: keep ratios in tables");
        }
        for record in records {
            let missed = Record::read(record).goals.into_iter();
            let missed = missed.filter(|goal| goal.contains("**no**") && !text.contains(goal));
            assert_eq!(missed.collect::<Vec<_>>(), Vec::<String>::new(), "{name} hides goals");
        }
    }
    assert_eq!(tables, 4, "no page shows figures any more");
}

#[test]
fn only_the_figure_of_the_whole_label_counts() {
    let page = crate::read(&crate::root().join("docs/speed.md"));
    let record = Record::read(linked(&page).next().unwrap());
    #[rustfmt::skip]
    let table = [
        (MEDIANS, "| orbgate, scopes interned once per token | 57.1 | 101 |", true),
        (MEDIANS, "| orbgate, scopes interned once per token | 69.6 | 112 |", false),
        (MEDIANS, "| orbgate, scopes as text | 57.1 | 101 |", false),
        (MEDIANS, "| orbgate | 57.1 | 101 |", false),
        (MEDIANS, "| matchit, routing only | 85.8 | 263 |", false),
        (BEST, "| malformed | 73.2 | 73.7 | 55.6 | 107 | 108 | 177 |", true),
        (BEST, "| no route | 73.2 | 73.7 | 55.6 | 107 | 108 | 177 |", false),
        (BEST, "| malformed | 73.2 | 73.7 | 64.9 | 107 | 108 | 177 |", false),
        (BEST, "| a query of 20 bytes | 54.1 | 63.5 | 30.0 | 89.1 | 103 | – |", false),
        (GOALS, "| external: misses ÷ hits | ≤ 1.200 | 1.119 | yes |", true),
        (GOALS, "| external: misses ÷ hits | ≤ 1.200 | 1.119 | **no** |", false),
        (GOALS, "| github: misses ÷ hits | ≤ 1.200 | 1.119 | yes |", false),
    ];
    for (head, row, is_right) in table {
        assert_eq!(record.has(head, row), is_right, "{row}");
    }
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

/// Whether a record has a file of figures. Pages copy the tables of the others.
fn has_figures(stem: &str) -> bool {
    crate::root().join(format!("benches/record/{stem}.csv")).exists()
}

/// The rows of a page's tables whose heads are in a record.
fn rows_of<'p>(page: &'p str, record: &str) -> impl Iterator<Item = &'p str> {
    let is_head = |line: &&str| line.starts_with("| ") && record.contains(&format!("\n{line}\n|--"));
    let heads = page.lines().enumerate().filter(move |(_, line)| is_head(line));
    let heads: Vec<_> = heads.map(|(at, _)| at).collect();
    heads.into_iter().flat_map(|head| page.lines().skip(head).take_while(|line| line.starts_with('|')))
}

#[test]
fn a_row_that_is_not_in_a_plain_record_is_found() {
    let record = "# Record\n\n| a | b |\n|--|--|\n| 1 | 2 |\n";
    let page = "Text.\n| a | b |\n|--|--|\n| 1 | 3 |\n\n| c |\n|--|\n| 9 |\n";
    let rows: Vec<_> = rows_of(page, record).collect();
    assert_eq!(rows, ["| a | b |", "|--|--|", "| 1 | 3 |"]);
}

struct Record {
    /// By statistic, table, stream and contestant, with commas between.
    figures: HashMap<String, f64>,
    /// The rows of its goals, without their last column.
    goals: Vec<String>,
}

impl Record {
    fn read(stem: &str) -> Self {
        let file = |end| crate::root().join(format!("benches/record/{stem}.{end}"));
        let (text, csv) = (crate::read(&file("md")), crate::read(&file("csv")));
        let (head, rows) = csv.split_once('\n').unwrap();
        let columns: Vec<_> = head.split(',').skip(3).collect();
        let figures = rows.lines().flat_map(|row| {
            let cells: Vec<_> = row.splitn(4, ',').collect();
            let (of, figures) = (cells[..3].join(","), cells[3].split(','));
            let figure = move |(column, figure): (&&str, &str)| {
                let measure = column.strip_suffix(" (ns/request)")?;
                Some((format!("{measure},{of}"), figure.parse().ok()?))
            };
            columns.iter().zip(figures).filter_map(figure).collect::<Vec<_>>()
        });
        let goals = text.lines().skip_while(|line| *line != "## Goals").skip(1);
        let goals = goals.take_while(|line| !line.starts_with("## "));
        let goals = goals.filter(|line| line.starts_with('|')).map(|line| {
            let cells: Vec<_> = cells(line).take(4).collect();
            format!("| {} |", cells.join(" | "))
        });
        Self { figures: figures.collect(), goals: goals.collect() }
    }

    /// Whether a row of a page's table is right in every cell.
    fn has(&self, head: &str, row: &str) -> bool {
        if head == GOALS {
            return self.goals.iter().any(|goal| goal == row);
        }
        let mut shown = cells(row);
        let label = shown.next().unwrap();
        let shown: Vec<_> = shown.collect();
        let columns: Vec<_> = if head == MEDIANS {
            let Some((_, who)) = HITS.iter().find(|(known, _)| *known == label) else {
                return false;
            };
            let fastest = |table| self.fastest(&format!("median,{table},hits"), who);
            ["external", "github"].map(fastest).to_vec()
        } else {
            let Some((_, stream)) = STREAMS.iter().find(|(known, _)| *known == label) else {
                return false;
            };
            let best = |table| OTHERS.map(|who| self.fastest(&format!("min,{table},{stream}"), who));
            ["external", "github"].map(best).concat()
        };
        shown.len() == columns.len() && shown.iter().zip(columns).all(|(shown, figure)| is(shown, figure))
    }

    fn fastest(&self, of: &str, who: &[&str]) -> Option<f64> {
        let figures = who.iter().filter_map(|who| self.figures.get(&format!("{of},{who}")));
        figures.copied().reduce(f64::min)
    }
}

/// Whether a figure is this one, in as many digits as are shown; a dash stands for none.
fn is(shown: &str, figure: Option<f64>) -> bool {
    let Some(figure) = figure else {
        return shown == "–";
    };
    let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half = 0.5 * 10_f64.powi(-i32::try_from(digits).unwrap()) + 1e-9;
    let shown = shown.replace(',', "").parse::<f64>();
    shown.is_ok_and(|shown| (figure - shown).abs() <= half)
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

fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim_matches('|').split('|').map(str::trim)
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
