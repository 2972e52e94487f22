//! Writes the committed files that are made of tables: `cargo xtask codes`. Everything is made in memory first, so that a wrong row of a
//! table leaves all files as they are.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_core,
    clippy::unwrap_used,
    reason = "it reads and writes the repository's files, and a wrong row ends it, with the row's place"
)]

mod codes;
mod families;
mod files;
mod header;
mod layout;
mod messages;
mod names;
mod questions;
#[path = "../../orbgate-capi/src/status/codes.rs"]
mod status;
mod table;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::files::Files;
use crate::header::Header;

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let files = made()?;
            for path in files.write()? {
                println!("{path}");
            }
        }
        ["--check"] => {
            let files = made()?;
            let differing = files.differing();
            ensure!(
                differing.is_empty(),
                "not what the tables say: {}\nto write them: cargo xtask codes",
                differing.join(" ")
            );
        }
        ["fields-of-c", file] => std::fs::write(file, messages::c_fields::test(&messages::shape::Messages::read()))?,
        _ => bail!("usage: orbgate-generate [--check | fields-of-c FILE]"),
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files.
fn made() -> Result<Files> {
    let (mut files, header) = (Files::new(root()), Header::read()?);
    codes::make(&mut files, &header)?;
    codes::on_pages(&mut files)?;
    codes::lints(&mut files)?;
    names::make(&mut files)?;
    messages::make(&mut files)?;
    questions::make(&mut files)?;
    layout::make(&mut files, &header)?;
    header.make(&mut files)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::made;

    #[test]
    fn the_committed_files_are_what_the_tables_say() {
        assert_eq!(made().unwrap().differing(), [""; 0], "to write them: cargo xtask codes");
    }
}
