//! `docs/servers.md` shows what `policy/cases/gate` has measured of each server.

use std::collections::BTreeMap;

use crate::expected::keep_part;
use crate::pages::{read, root};

/// The header of a table of `policy/cases/gate` and its rows.
fn table(file: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = read(&root().join("policy/cases/gate").join(file));
    let mut rows = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let header = rows.next().unwrap();
    (header, rows.collect())
}

/// Servers by the value that this gives their cells; `all` if there is only one value.
fn groups(servers: &[String], cells: &[String], of: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (server, cell) in servers.iter().zip(cells) {
        groups.entry(of(cell)).or_default().push(server);
    }
    let is_one = groups.len() == 1;
    let names = |servers: Vec<&str>| if is_one { "all".to_owned() } else { servers.join(", ") };
    groups.into_iter().map(|(what, servers)| (what, names(servers))).collect()
}

fn page() -> String {
    root().join("docs/servers.md").to_str().unwrap().to_owned()
}

/// One test, because both parts are of one file, which `ORBGATE_UPDATE` writes.
#[test]
fn the_page_of_servers_has_what_was_measured() {
    keep_servers();
    keep_framing();
}

fn keep_servers() {
    let (header, rows) = table("servers.tsv");
    let mut made =
        "| sent | served | denied by the gate | answered by the server itself |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let [name, sent, cells @ ..] = row.as_slice() else { panic!("a row has cells") };
        let sent = sent.replace("{orbs}", "/api/v1/external/orbs").replace("\\\\", "\\");
        let line: Vec<_> = sent.split(' ').take(2).collect();
        let mut columns = [String::new(), String::new(), String::new()];
        for (what, servers) in groups(&header[2..], cells, str::to_owned) {
            let (column, what) = match what.split_once(' ') {
                Some(("served", saw)) if saw == line.join(" ") => (0, String::new()),
                Some(("served", saw)) => (0, format!("as `{}`: ", saw.replace("/api/v1/external", "…"))),
                Some(("gate:", status)) => (1, format!("{status}: ")),
                Some(("server:", status)) => (2, format!("{status}: ")),
                _ => panic!("`{what}` is not measured: {name}"),
            };
            let part = &mut columns[column];
            part.push_str(if part.is_empty() { "" } else { "; " });
            part.push_str(&format!("{what}{servers}"));
        }
        made.push_str(&format!("| {name} | {} |\n", columns.join(" | ")));
    }
    keep_part(&page(), "servers", &made);
}

/// The rows in which servers differ.
fn keep_framing() {
    let (header, rows) = table("framing.tsv");
    let mut made = "| sent | served | refused | other |\n|---|---|---|---|\n".to_owned();
    let mut count = 0;
    for row in rows {
        let [name, _, cells @ ..] = row.as_slice() else { panic!("a row has cells") };
        let groups = groups(&header[2..], cells, |cell| match cell {
            "row" | "row after" => "row".to_owned(),
            "refused" | "refused after" => "refused".to_owned(),
            other => other.replace("row after", "served").replace("row", "served").replace(" after", ""),
        });
        if groups.len() == 1 {
            continue;
        }
        let mut columns = [String::new(), String::new(), String::new()];
        for (what, servers) in groups {
            let (column, what) = match &*what {
                "row" => (0, String::new()),
                "refused" => (1, String::new()),
                other => (2, format!("{other}: ")),
            };
            let part = &mut columns[column];
            part.push_str(if part.is_empty() { "" } else { "; " });
            part.push_str(&format!("{what}{servers}"));
        }
        made.push_str(&format!("| {name} | {} |\n", columns.join(" | ")));
        count += 1;
    }
    assert!(count >= 20, "{count} rows");
    keep_part(&page(), "framing", &made);
}
