//! The rooms of xtask are laid out in floors: what a file imports is on a floor below, or in its own room, and no two files import
//! each other, not over others either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the top. Rooms of one floor do not know each other.
const FLOORS: [&[&str]; 5] = [
    &["main"],
    &["test", "short"],
    &["measure", "release"],
    &["language"],
    &["kit"],
];

#[test]
fn imports_run_down_only() {
    let mut count = 0;
    for (file, imports) in imports() {
        for import in imports {
            let (from, to) = (room(&file), room(&import));
            let runs_down = from == to || floor(&from) < floor(&to);
            assert!(runs_down, "{file} imports {import}, which is not below it");
            count += 1;
        }
    }
    assert!(count >= 100, "{count} imports");
}

#[test]
fn no_imports_run_in_a_circle() {
    let mut left = imports();
    // What imports nothing that is left is in no circle.
    while !left.is_empty() {
        let before = left.len();
        let files: BTreeSet<_> = left.keys().cloned().collect();
        left.retain(|_, imports| !imports.is_disjoint(&files));
        assert!(left.len() < before, "a circle is among {left:#?}");
    }
}

/// Each file, `release/dist/sbom`, and the files of ours that it imports.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![source.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
                false => {}
            }
        }
    }
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(&source).unwrap().with_extension("");
        let name = path.display().to_string().replace('\\', "/");
        name.trim_end_matches("/mod").to_owned()
    };
    let known: BTreeSet<_> = files.iter().map(name).collect();
    files
        .iter()
        .map(|path| (name(path), of_file(path, &name(path), &known)))
        .collect()
}

fn of_file(path: &Path, name: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let above = match path.ends_with("mod.rs") {
        true => name,
        false => name.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let uses = text.split("\nuse ").skip(1);
    let uses = uses.filter_map(|rest| rest.split(';').next());
    let in_place = text.split("crate::").skip(1).filter_map(|rest| {
        let path = rest.split(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
        Some(format!("crate::{}", path.into_iter().next()?))
    });
    let paths = uses.flat_map(|path| paths("", path)).chain(in_place);
    let words = paths.filter_map(|path| {
        let path = path.replace("::", "/");
        match path.strip_prefix("crate/") {
            Some(path) => Some(path.to_owned()),
            None => Some(format!("{above}/{}", path.strip_prefix("super/")?)),
        }
    });
    let files = words.filter_map(|path| {
        let mut path = path.as_str();
        while !known.contains(path) {
            path = path.rsplit_once('/')?.0;
        }
        Some(path.to_owned())
    });
    files.filter(|file| file != name).collect()
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(prefix: &str, text: &str) -> Vec<String> {
    let text = text.trim();
    let Some((head, inside)) = text.split_once('{') else {
        return vec![format!("{prefix}{text}")];
    };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inside.strip_suffix('}').unwrap().chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(c),
        }
    }
    let prefix = format!("{prefix}{head}");
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| paths(&prefix, part)).collect()
}

fn room(file: &str) -> String {
    file.split('/').next().unwrap().to_owned()
}

fn floor(room: &str) -> usize {
    let floor = FLOORS.iter().position(|rooms| rooms.contains(&room));
    floor.unwrap_or_else(|| panic!("{room} is on no floor"))
}
