//! Expected messages next to their inputs, in `testdata/expected.txt` of each crate, and parts of pages that are generated from
//! the code. `ORBGATE_UPDATE=1` rewrites the files, so that words can be edited in the code and reviewed in the diff.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    dead_code,
    unreachable_pub,
    reason = "tests of many crates, some at the same time, write to files; not each crate writes both"
)]

use core::fmt::Display;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

static WRITING: Mutex<()> = Mutex::new(());

/// A section of the file: each input on a line, and its output below it.
#[derive(Default)]
pub struct Expected(String);

impl Expected {
    pub fn add(&mut self, input: &str, output: impl IntoIterator<Item = impl Display>) {
        self.0 += &format!("{}\n", input.replace('\r', "\\r").replace('\n', "\\n"));
        for part in output {
            for line in part.to_string().lines() {
                self.0 += &format!("    {line}\n");
            }
        }
    }

    /// Compares with the section of this name, or writes it if `ORBGATE_UPDATE` is set.
    pub fn keep(&self, of_crate: &str, name: &str) {
        let file = Path::new(of_crate).join("testdata/expected.txt");
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let mut sections: BTreeMap<&str, &str> = sections(&text).collect();
        let now = self.0.trim_end();
        if std::env::var_os("ORBGATE_UPDATE").is_some() {
            sections.insert(name, now);
            let all = sections.iter().map(|(name, rows)| format!("## {name}\n{rows}\n"));
            return fs::write(&file, all.collect::<Vec<_>>().join("\n")).unwrap();
        }
        let then = sections.get(name).copied().unwrap_or_default();
        let different = now.lines().zip(then.lines()).find(|(now, then)| now != then);
        assert!(
            now == then,
            "`{name}` in {} differs ({different:?}): run the test with ORBGATE_UPDATE=1 and review the difference",
            file.display()
        );
    }
}

fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let sections = text.split("\n## ").map(|section| section.strip_prefix("## ").unwrap_or(section));
    sections.filter_map(|section| section.split_once('\n')).map(|(name, rows)| (name, rows.trim_end()))
}

/// Compares a part of a page with the generated Markdown, or writes it there if `ORBGATE_UPDATE` is set. The part is
/// between the comments `<!-- NAME: … -->` and `<!-- end -->`.
pub fn keep_part(page: &str, name: &str, made: &str) {
    let text = fs::read_to_string(page).unwrap();
    let start = format!("<!-- {name}: ");
    let (before, rest) = text.split_once(&start).expect(name);
    let (about, rest) = rest.split_once("-->\n").unwrap();
    let (part, after) = rest.split_once("<!-- end -->").unwrap();
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        fs::write(page, format!("{before}{start}{about}-->\n{made}<!-- end -->{after}")).unwrap();
    } else {
        assert_eq!(part, made, "{page}, {name}: run the test again with ORBGATE_UPDATE=1");
    }
}
