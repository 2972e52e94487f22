//! Runs every row of `policy/cases/*.tsv` through the public interface: see `policy/cases/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use orbgate::{Decision, Detail, Engine, Policy, Reason, Request, Token, TokenKind};

const COLUMNS: [&str; 16] = [
    "name", "policy", "method", "target", "by_scope", "kind", "scopes", "bonus", "decision", "status", "reason",
    "detail", "api", "route", "scope", "orbs",
];

/// A row, by column.
type Row = BTreeMap<&'static str, String>;

#[test]
fn every_row_decides_as_it_says() {
    let engines = engines();
    let mut count = 0;
    for (file, line, row) in rows() {
        let expected: Vec<_> = COLUMNS[8..].iter().map(|column| row[column].clone()).collect();
        // The specification's policy is compiled into the program, too.
        let compiled_in = (row["policy"] == "external").then(Engine::external);
        for engine in [&engines[&row["policy"]]].into_iter().chain(compiled_in) {
            // Scopes as text, and interned: one answer.
            for interned in [false, true] {
                let decision = ask(engine, &row, interned);
                assert_eq!(answer(&decision), expected, "{file}:{line}: {}", row["name"]);
                check_indices(engine, &decision);
            }
            count += 1;
        }
    }
    assert_eq!(count, cases_in_files(), "every case was run");
}

#[test]
fn every_reason_and_detail_has_a_row() {
    let reasons: BTreeSet<_> = rows().into_iter().map(|(_, _, row)| row["reason"].clone()).collect();
    let of_engines = Reason::ALL.iter().filter(|reason| reason.is_of_engines());
    let of_engines = of_engines.map(|reason| reason.as_str().to_owned());
    assert_eq!(reasons, of_engines.collect());
    let details: BTreeSet<_> = rows().into_iter().map(|(_, _, row)| row["detail"].clone()).collect();
    // Exchanges show the details of gates: `every_detail_of_gates_has_an_exchange`.
    let all = Detail::ALL.iter().filter(|detail| detail.is_of_target());
    let all = all.map(|detail| detail.as_str().to_owned());
    assert_eq!(details, all.chain([String::new()]).collect());
}

/// The table of ARCHITECTURE.md says what each rule refuses, and with which detail.
#[test]
fn rule_numbers_are_those_of_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| P"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let table: BTreeSet<_> = cells
        .filter(|cells| cells[2].starts_with('`'))
        .map(|cells| (cells[0].parse().unwrap(), cells[2].trim_matches('`').to_owned()))
        .collect();
    let of_target = Detail::ALL.iter().filter(|detail| detail.is_of_target());
    let numbers = of_target.map(|detail| (detail.rule(), detail.as_str().to_owned()));
    assert_eq!(numbers.collect::<BTreeSet<_>>(), table);
}

#[test]
fn every_route_is_allowed_and_denied_in_some_row() {
    for wanted in ["scope_held", "scope_missing"] {
        let in_rows: BTreeSet<_> = rows()
            .into_iter()
            .filter(|(_, _, row)| row["policy"] == "external" && row["reason"] == wanted)
            .map(|(_, _, row)| row["route"].clone())
            .filter(|route| !route.is_empty())
            .collect();
        let all: BTreeSet<_> = Engine::external().routes().map(|route| route.as_str().to_owned()).collect();
        assert_eq!(in_rows, all, "{wanted}");
    }
}

#[test]
fn names_are_unique_in_their_file() {
    let mut seen = BTreeSet::new();
    for (file, line, row) in rows() {
        let name = row["name"].clone();
        assert!(seen.insert((file.clone(), name)), "{file}:{line}: the name is taken");
    }
}

/// Every hostile target of the project's collection, in both profiles.
#[test]
fn hostile_targets_are_all_there() {
    let hostile = rows().into_iter().filter(|(file, _, _)| file == "hostile.tsv");
    let names: BTreeSet<_> = hostile.map(|(_, _, row)| row["name"].clone()).collect();
    for id in (1..=223).step_by(3) {
        for profile in ["strict", "encoded"] {
            let start = format!("h{id:03} {profile}");
            assert!(names.iter().any(|name| name.starts_with(&start)), "no row `{start}`");
        }
    }
    assert!(names.len() >= 4 * 75, "at least as many again of our own");
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy/cases")
}

/// The engines that the rows name, each read from its file.
fn engines() -> BTreeMap<String, Engine> {
    let mut files = vec![cases().join("../external.yaml")];
    files.extend(fs::read_dir(cases().join("policies")).unwrap().map(|entry| entry.unwrap().path()));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let policy =
            Policy::from_yaml(&text).unwrap_or_else(|error| panic!("{}", error.in_file(&path.display().to_string())));
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), Engine::new(&policy))
    };
    files.into_iter().map(read).collect()
}

/// Every row, with its file and line.
fn rows() -> Vec<(String, usize, Row)> {
    let mut rows = Vec::new();
    for path in files() {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        let (_, header) = lines.next().unwrap();
        assert_eq!(header.split('\t').collect::<Vec<_>>(), COLUMNS, "{file}");
        for (at, line) in lines {
            let cells: Vec<_> = line.split('\t').collect();
            assert_eq!(cells.len(), COLUMNS.len(), "{file}:{}", at + 1);
            let row = COLUMNS.into_iter().zip(cells.into_iter().map(str::to_owned)).collect();
            rows.push((file.clone(), at + 1, row));
        }
    }
    rows
}

/// The case files, in order.
fn files() -> Vec<PathBuf> {
    let all = fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|e| e == "tsv")).collect();
    files.sort();
    files
}

/// How many cases the files have, counted without reading them as rows: one a row, two where its policy is
/// `external`.
fn cases_in_files() -> usize {
    let count = |path: PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let cases = rows.map(|row| 1 + usize::from(row.split('\t').nth(1) == Some("external")));
        cases.sum::<usize>()
    };
    files().into_iter().map(count).sum()
}

fn ask<'e>(engine: &'e Engine, row: &Row, interned: bool) -> Decision<'e> {
    let scopes = unescape(&row["scopes"]);
    let set = engine.scopes(&scopes);
    let token = (!row["kind"].is_empty()).then(|| Token {
        kind: TokenKind::from_name(&row["kind"]),
        scopes: if interned { (&set).into() } else { scopes.as_slice().into() },
    });
    let bonus = row["bonus"] == "yes";
    if row["by_scope"].is_empty() {
        let (method, target) = (unescape(&row["method"]), unescape(&row["target"]));
        let request = Request { method: &method, target: &target, token, allow_bonus_orbs_use: bonus };
        engine.decide(&request)
    } else {
        engine.decide_scope(unescape(&row["by_scope"]), token, bonus)
    }
}

/// The indices of a decision are those of the route and the scope that it names.
fn check_indices(engine: &Engine, decision: &Decision<'_>) {
    let route = decision.route_index().and_then(|at| engine.route(at));
    let is_template = decision.reason() == Reason::MethodNotDeclared;
    let named = route.map(|route| match is_template {
        true => route.template(),
        false => route.as_str(),
    });
    assert_eq!(named.or_else(|| Some(decision.closed()?.template())), decision.route_name());
    let scope = decision.scope_index().and_then(|at| engine.scope(at));
    assert_eq!(scope, decision.scope());
}

/// The answer in the words of the last eight columns.
fn answer(decision: &Decision<'_>) -> Vec<String> {
    let orbs = decision.charge().map(|charge| {
        let amount = match (charge.consumes, charge.amount) {
            (false, amount) => {
                assert_eq!(amount, Some(0));
                "free".to_owned()
            }
            (true, None) => "unstated".to_owned(),
            (true, Some(amount)) => amount.to_string(),
        };
        if charge.bonus_allowed { format!("{amount} bonus") } else { amount }
    });
    vec![
        if decision.is_allow() { "allow" } else { "deny" }.to_owned(),
        decision.status().map(|status| status.to_string()).unwrap_or_default(),
        decision.reason().to_string(),
        decision.detail().map(|detail| detail.to_string()).unwrap_or_default(),
        decision.api().unwrap_or_default().to_owned(),
        decision.route_name().unwrap_or_default().to_owned(),
        decision.scope().map(|scope| scope.name()).unwrap_or_default().to_owned(),
        orbs.unwrap_or_default(),
    ]
}

/// `\xNN` is a byte, `\\` a backslash.
fn unescape(cell: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = cell.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match tail {
            [b'x', high, low, after @ ..] if *first == b'\\' => {
                let hex = [*high, *low];
                bytes.push(u8::from_str_radix(str::from_utf8(&hex).unwrap(), 16).unwrap());
                after
            }
            [b'\\', after @ ..] if *first == b'\\' => {
                bytes.push(b'\\');
                after
            }
            _ => {
                assert_ne!(*first, b'\\', "an escape of `{cell}`");
                bytes.push(*first);
                tail
            }
        };
    }
    bytes
}
