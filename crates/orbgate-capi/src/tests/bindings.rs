//! The bits of a packed decision, as Go, Java and Node unpack them by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::packed;

/// An integer variable in their sources, and the bit of a packed decision at which it starts.
type Integer = (&'static str, u32);

/// Folders, file extensions, and the integers.
const SOURCES: [(&str, &str, &[Integer]); 3] = [
    ("bindings/go/orbgate", "go", &[("packed", 0)]),
    ("bindings/java/src/main", "java", &[("packed", 0)]),
    // In two halves, because JavaScript's bitwise arithmetic has 32 bits.
    ("bindings/node/lib", "js", &[("low", 0), ("high", 32)]),
];

#[test]
fn bindings_read_the_fields_of_the_layout() {
    let fields: BTreeSet<_> = packed::FIELDS.iter().map(|(_, field)| (field.0, (1_u64 << field.1) - 1)).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (folder, extension, integers) in SOURCES {
        let mut read = BTreeSet::new();
        for text in sources(&root.join(folder), extension) {
            for (name, start) in integers {
                read.extend(text.lines().flat_map(|line| parts(line, name, *start)));
            }
        }
        assert_eq!(read, fields, "lowest bit and mask of each field, as {folder} reads them");
    }
}

#[test]
fn parts_of_integers_are_found() {
    let parts_in = |line| parts(line, "packed", 0).collect::<Vec<_>>();
    assert_eq!(parts_in("int x = (int) (packed >> 14 & 0x3ffff);"), [(14, 0x3ffff)]);
    assert_eq!(parts_in("return d.packed&3 == d.packed >> 2 & 15"), [(0, 3), (2, 15)]);
    assert_eq!(parts_in("unpacked & 3; packed = 7; packed >> by"), []);
    // Without a mask, the field is the rest of the 32 bits.
    assert_eq!(parts("low >>> 14;", "low", 0).collect::<Vec<_>>(), [(14, 0x3ffff)]);
}

/// The files in a folder and its subfolders.
fn sources(folder: &Path, extension: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(sources(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// The lowest bit and the mask of each `name >> 14 & 0x3ffff` in a line.
fn parts<'l>(line: &'l str, name: &'l str, start: u32) -> impl Iterator<Item = (u32, u64)> + 'l {
    line.match_indices(name).filter_map(move |(at, _)| {
        let is_word = !line[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
        let rest = line[at + name.len()..].trim_start();
        let (shift, rest) = match rest.strip_prefix(">>>").or_else(|| rest.strip_prefix(">>")) {
            Some(rest) => number(rest)?,
            None => (0, rest),
        };
        let low = u32::try_from(shift).ok()?;
        let mask = match rest.trim_start().strip_prefix('&') {
            Some(rest) => number(rest)?.0,
            None if shift > 0 => u64::from(u32::MAX >> low),
            None => return None,
        };
        is_word.then_some((start + low, mask))
    })
}

/// A number, decimal or hexadecimal, and the rest of the string.
fn number(text: &str) -> Option<(u64, &str)> {
    let text = text.trim_start();
    let end = text.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some((number.ok()?, rest))
}
