//! The rooms of xtask, the C ABI, the layer, the command and the gateway are laid out in floors: what a file imports is on a floor
//! below, or in its own room. Those of the core are a tree. No two files import each other, not over others either. A room is a
//! folder, or a file that is in none.

use std::collections::{BTreeMap, BTreeSet};

/// Those of xtask from the top. Rooms of one floor do not know each other.
const OF_XTASK: [&[&str]; 3] = [&["main"], &["docs", "measure", "release", "test"], &["kit"]];

/// Each crate, its floors, and how many imports it has at least.
fn crates() -> [(&'static str, Vec<Vec<String>>, usize); 5] {
    let of_xtask = OF_XTASK.map(|rooms| rooms.iter().map(|room| (*room).to_owned()).collect());
    [
        ("xtask", of_xtask.to_vec(), 20),
        ("orbgate-capi", of_page(1), 80),
        ("orbgate-tower", of_page(2), 30),
        ("orbgate-cli", of_page(3), 80),
        ("orbgate-gateway", of_page(4), 60),
    ]
}

/// The floors in a column of the table in ARCHITECTURE.md.
fn of_page(column: usize) -> Vec<Vec<String>> {
    let page = crate::read(&crate::root().join("ARCHITECTURE.md"));
    let header = "| floor | `orbgate-capi` | `orbgate-tower` | `orbgate-cli` | `orbgate-gateway` |\n";
    let table = page.split(header).nth(1);
    let rows = table.unwrap().lines().skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cell = |line: &str| line.split('|').nth(column + 1).unwrap().to_owned();
    rows.map(|line| {
        let rooms = cell(line);
        let rooms = rooms.split('`').skip(1).step_by(2);
        rooms.map(str::to_owned).collect()
    })
    .collect()
}

#[test]
fn imports_run_down_only() {
    for (name, floors, least) in crates() {
        let floor = |room: &String| {
            let floor = floors.iter().position(|rooms| rooms.contains(room));
            floor.unwrap_or_else(|| panic!("{name}: {room} is on no floor"))
        };
        let mut count = 0;
        for (file, imports) in imports(name) {
            let from = room(&file);
            floor(&from);
            for import in imports {
                let to = room(&import);
                let runs_down = from == to || floor(&from) < floor(&to);
                assert!(runs_down, "{name}: {file} imports {import}, which is not below it");
                count += 1;
            }
        }
        assert!(count >= least, "{name}: {count} imports");
    }
}

#[test]
fn every_room_is_there() {
    for (name, floors, _) in crates() {
        let there: BTreeSet<_> = imports(name).keys().map(|file| room(file)).collect();
        let rooms: Vec<_> = floors.into_iter().flatten().collect();
        assert_eq!(rooms.len(), there.len(), "{name}: {rooms:?} {there:?}");
        assert_eq!(BTreeSet::from_iter(rooms), there, "{name}");
    }
}

/// The picture in ARCHITECTURE.md: a room imports those below it in the tree, and `tables`, which is last.
#[test]
fn rooms_of_the_core_are_those_of_the_picture() {
    let page = crate::read(&crate::root().join("ARCHITECTURE.md"));
    let picture = page.split("```text\n engine ").nth(1).unwrap();
    let picture = format!(" engine {}", picture.split("```").next().unwrap());
    // How deep each room is in the tree, its name and its sentence.
    let rooms: Vec<_> = picture.lines().map(room_of_picture).collect();
    let mut expected: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (at, (depth, name, sentence)) in rooms.iter().enumerate() {
        let source = format!("crates/orbgate/src/{name}/mod.rs");
        let first = crate::read(&crate::root().join(&source)).to_lowercase();
        let is_said = first.starts_with(&format!("//! {sentence}"));
        assert!(is_said, "{source} does not begin with {sentence:?}");
        let below = rooms[at + 1..].iter();
        let below = below.take_while(|(other, ..)| other > depth);
        let below = below.map(|(_, other, _)| *other);
        let last = rooms.last().map(|(_, last, _)| *last);
        let known = below.chain(last.filter(|last| last != name));
        expected.insert((*name).to_owned(), known.map(str::to_owned).collect());
    }
    let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (file, imports) in imports("orbgate") {
        let from = room(&file);
        let others = imports.iter().map(|import| room(import));
        let others = others.filter(|other| *other != from);
        arrows.entry(from.clone()).or_default().extend(others);
    }
    assert_eq!(arrows, expected);
    let arrows: usize = arrows.values().map(BTreeSet::len).sum();
    assert!(page.contains(&format!("the {arrows} arrows between rooms")));
}

fn room_of_picture(line: &str) -> (usize, &str, &str) {
    let is_name = |c: char| c.is_ascii_lowercase();
    let start = line.find(is_name).unwrap();
    let depth = line[..start].chars().count();
    let (name, sentence) = line[start..].split_once(' ').unwrap();
    (depth, name, sentence.trim())
}

#[test]
fn no_imports_run_in_a_circle() {
    let crates = crate::files(&["crates/*/src/**.rs".to_owned(), "benches/src/**.rs".to_owned()]);
    let sources: BTreeSet<_> = crates.iter().filter_map(|path| Some(path.split_once("/src/")?.0)).collect();
    assert!(sources.len() > 15, "{sources:?}");
    for source in sources {
        let mut left = imports_below(&format!("{source}/src/"), &["tests"]);
        // What imports nothing that is left is in no circle.
        loop {
            let before = left.len();
            let files: BTreeSet<_> = left.keys().cloned().collect();
            left.retain(|_, imports| !imports.is_disjoint(&files));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "{source}: a circle is among {left:#?}");
    }
}

/// The files of a crate.
fn imports(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    imports_below(&format!("crates/{name}/src/"), &["tests"])
}

/// Each file below a folder, `release/dist/sbom`, and the files of ours that it imports. A library's root, which names all, and what is
/// in these rooms are left out.
fn imports_below(source: &str, without: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let is_code = |path: &String| {
        let path = path.trim_start_matches(source);
        path != "lib.rs" && !path.split(['/', '.']).any(|part| without.contains(&part))
    };
    let files = crate::files(&[format!("{source}**.rs")]);
    let files: Vec<_> = files.into_iter().filter(is_code).collect();
    let name = |path: &String| {
        let path = path.trim_start_matches(source).trim_end_matches(".rs");
        path.trim_end_matches("/mod").to_owned()
    };
    let known: BTreeSet<_> = files.iter().map(name).collect();
    let of_file = |path| (name(path), of_file(path, &name(path), &known));
    files.iter().map(of_file).collect()
}

fn of_file(path: &str, name: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let text = crate::read(&crate::root().join(path));
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = without_texts(&code.map(|line| format!("{line}\n")).collect::<String>());
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let text = text.split("\nmod tests {").next().unwrap();
    let uses = text.match_indices("use ").filter_map(|(at, word)| {
        let before = text[..at].rsplit('\n').next()?.trim();
        let is_use = before.is_empty() || before == "pub" || before.starts_with("pub(") && before.ends_with(')');
        is_use.then(|| text[at + word.len()..].split(';').next()).flatten()
    });
    let is_part = |c: char| c.is_alphanumeric() || "_:".contains(c);
    let in_place = text.split(|c| !is_part(c)).filter(|path| path.contains("::") && !path.ends_with("::"));
    let paths = uses.flat_map(|path| paths("", path)).chain(in_place.map(str::to_owned));
    let files = paths.filter_map(|path| file_of(&path, name, known));
    files.filter(|file| file != name).collect()
}

/// Code without what is between quotation marks.
fn without_texts(code: &str) -> String {
    let (mut left, mut rest) = (String::new(), code);
    while let Some(at) = rest.find('"') {
        let is_character = rest[..at].ends_with('\'') && rest[at + 1..].starts_with('\'');
        left.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        while !is_character && let Some(end) = rest.find(['"', '\\']) {
            let is_escape = rest[end..].starts_with('\\');
            rest = rest.get(end + 1 + usize::from(is_escape)..).unwrap_or_default();
            if !is_escape {
                break;
            }
        }
    }
    left + rest
}

/// The file of ours that a path in a file leads to, if it leads to one: `crate::a::B` to `a`, `super::C` to the folder's own file, `b::D`
/// to a file below.
fn file_of(path: &str, name: &str, known: &BTreeSet<String>) -> Option<String> {
    let mut words: Vec<_> = path.split("::").map(str::trim).filter(|word| !word.is_empty()).collect();
    let mut at: Vec<_> = name.split('/').collect();
    match *words.first()? {
        "crate" => at.clear(),
        "super" => {}
        "self" => drop(words.remove(0)),
        first if known.contains(&format!("{name}/{first}")) => {}
        _ => return None,
    }
    words.retain(|word| *word != "crate");
    while words.first() == Some(&"super") {
        words.remove(0);
        at.pop();
    }
    let least = at.len();
    at.extend(words);
    (least..=at.len()).rev().map(|len| at[..len].join("/")).find(|file| known.contains(file))
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
