//! The header of the C library, as cbindgen makes it of the library's sources, and in fewer lines, as it is committed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use cbindgen::{Builder, Config};

use crate::families::families;
use crate::files::Files;

/// The folder of the C library, whose sources are read and not compiled.
fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../orbgate-capi")
}

/// The header as cbindgen writes it.
pub(crate) struct Header {
    text: String,
    abi_version: u32,
}

impl Header {
    pub(crate) fn read() -> Result<Self> {
        Self::of(config()?)
    }

    fn of(config: Config) -> Result<Self> {
        let mut text = Vec::new();
        let bindings = Builder::new().with_crate(library()).with_config(config);
        bindings.generate().context("cbindgen can't read the C library")?.write(&mut text);
        Ok(Self { text: String::from_utf8(text)?, abi_version: abi_version()? })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The constants without `ORBGATE_`: `ORBGATE_NAME = 1,` and `#define ORBGATE_NAME 1`.
    pub(crate) fn constants(&self) -> Vec<(String, String)> {
        let constant = |line: &str| {
            let line = line.trim().trim_end_matches(',');
            let words = line.strip_prefix("#define ").unwrap_or(line).replace(" = ", " ");
            let (name, number) = words.split_once(' ')?;
            let (name, _) = (name.strip_prefix("ORBGATE_")?, number.parse::<u32>().ok()?);
            let is_version = name.starts_with("VERSION") || name.starts_with("ABI");
            (!is_version).then(|| (name.to_owned(), number.to_owned()))
        };
        let abi = ("ABI_VERSION".to_owned(), self.abi_version.to_string());
        [abi].into_iter().chain(self.text.lines().filter_map(constant)).collect()
    }

    /// The most lines of this header and that of gates.
    const MOST_LINES: usize = 1_500;

    pub(crate) fn make(&self, files: &mut Files) -> Result<()> {
        let header = self.compact();
        let lines = header.lines().count() + files.text("bindings/c/include/orbgate_gate.h")?.lines().count();
        ensure!(lines <= Self::MOST_LINES, "{lines} lines of headers are too long to read");
        files.whole("bindings/c/include/orbgate.h", header);
        Ok(())
    }

    fn compact(&self) -> String {
        compact(&self.text)
    }
}

fn config() -> Result<Config> {
    let parts = library().join("header");
    let part = |name: &str| fs::read_to_string(parts.join(name)).with_context(|| format!("can't read header/{name}"));
    let mut config = Config::from_file(parts.join("cbindgen.toml")).map_err(anyhow::Error::msg)?;
    config.header = Some(part("preamble.h")?.trim_end().to_owned());
    config.after_includes = Some(versions(&part("macros.h")?)?);
    config.trailer = Some(part("inline.h")?);
    Ok(config)
}

/// The version that the library states, in its source.
fn abi_version() -> Result<u32> {
    let source = fs::read_to_string(library().join("src/version.rs"))?;
    let number = source.split("ABI_VERSION: u32 = 0x").nth(1).and_then(|rest| rest.split(';').next());
    let number = number.context("version.rs has no `ABI_VERSION: u32 = 0x…;`")?;
    Ok(u32::from_str_radix(&number.replace('_', ""), 16)?)
}

fn versions(macros: &str) -> Result<String> {
    let version = abi_version()?;
    let abi = (version >> 16, version & 0xffff);
    let codes = families().map(|family| family.c()).concat();
    let macros = format!("{macros}{codes}");
    let text = macros
        .trim_end_matches('\n')
        .replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
        .replace("@PATCH@", env!("CARGO_PKG_VERSION_PATCH"))
        .replace("@ABI_MAJOR@", &abi.0.to_string())
        .replace("@ABI_MINOR@", &abi.1.to_string());
    Ok(text)
}

/// What a comment says in lines of its own.
const OWN_LINE: [&str; 5] = ["Ownership: ", "Thread-safe: ", "Allocates: ", "Blocks: ", "Cost: "];

/// The longest line with a comment behind its code, and the longest other line.
const WIDTHS: [usize; 2] = [140, 120];

/// The header with fewer lines: paragraphs and parameters fill theirs, what a field or a constant means stands behind it, and
/// what has one comment stands together.
fn compact(header: &str) -> String {
    let (mut lines, mut comment, mut before) = (Vec::<String>::new(), Vec::new(), "");
    for line in header.lines() {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            comment.push(text.trim());
            continue;
        }
        // Rust wants a comment for each function; the family's, or the preamble, has said this.
        let is_said =
            |text: &&str| text.starts_with("Like `") || ["Adds an owner.", "Removes an owner."].contains(text);
        comment.retain(|text| !is_said(text));
        if continues(before, &comment, line) && lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let above = |text: String| format!("{indent}/// {text}").trim_end().to_owned();
        let is_constant = line.starts_with("#define");
        if let Some(end) = comment.iter().position(|text| is_constant && text.is_empty()) {
            lines.extend(filled(&comment[..end]).map(above));
            comment.drain(..=end);
        }
        let whole = format!("{line} ///< {}", comment.join(" "));
        let is_field = !indent.is_empty() && line.ends_with([',', ';']);
        if !comment.is_empty() && (is_field || is_constant) && whole.len() <= WIDTHS[0] {
            lines.push(whole);
        } else {
            lines.extend(filled(&comment).map(above));
            lines.extend(wrapped(line));
        }
        comment.clear();
        before = if line.is_empty() { before } else { line };
    }
    lines.join("\n") + "\n"
}

/// Whether a line belongs to the one before: a constant whose comment doesn't begin with that of a group, or a function
/// that has no comment, except for the first one of a type's owners.
fn continues(before: &str, comment: &[&str], line: &str) -> bool {
    let ends = |line: &str, end: &str| line.split('(').next().is_some_and(|name| name.ends_with(end));
    let both = |start: &str| before.starts_with(start) && line.starts_with(start);
    let begins_owners = ends(line, "_retain") || ends(line, "_free") && !ends(before, "_retain");
    match comment {
        [] => both("ORBGATE_API ") && !begins_owners,
        _ => both("#define ") && !comment.contains(&""),
    }
}

/// The paragraphs of a comment. What a function promises is a line of its own.
fn filled<'c>(comment: &[&'c str]) -> impl Iterator<Item = String> + use<'c> {
    let mut lines = vec![String::new()];
    for text in comment {
        if text.is_empty() {
            lines.extend([String::new(), String::new()]);
        } else if OWN_LINE.iter().any(|tag| text.starts_with(tag)) && lines != [""] {
            lines.push((*text).to_owned());
        } else {
            for word in text.split(' ') {
                let last = lines.last_mut().unwrap();
                match last.len() + word.len() + 1 > WIDTHS[1] - 4 {
                    true => lines.push(word.to_owned()),
                    false if last.is_empty() => last.push_str(word),
                    false => *last += &format!(" {word}"),
                }
            }
        }
    }
    lines.truncate(if comment.is_empty() { 0 } else { lines.len() });
    lines.into_iter()
}

/// A declaration in lines; a pointer and its length stay together.
fn wrapped(line: &str) -> Vec<String> {
    if !line.starts_with("ORBGATE_API ") || line.len() <= WIDTHS[1] {
        return vec![line.to_owned()];
    }
    let (head, parameters) = line.split_once('(').unwrap();
    let mut lines = vec![format!("{head}("), String::from("   ")];
    for parameter in parameters.replace(", size_t ", ",\u{a0}size_t ").split_inclusive(", ") {
        let parameter = parameter.trim_end().replace('\u{a0}', " ");
        let last = lines.last_mut().unwrap();
        match last.len() + parameter.len() + 1 > WIDTHS[1] {
            true => lines.push(format!("    {parameter}")),
            false => *last += &format!(" {parameter}"),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
