//! What the server of PostgreSQL needs.

/// Notes that something isn't tested: `cargo xtask test` lists it.
pub(crate) fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("ORBGATE_SKIPPED") {
        let list = std::fs::File::options().append(true).open(list).unwrap();
        std::io::Write::write_all(&mut &list, format!("{what}\n").as_bytes()).unwrap();
    }
}
