//! Queries: each byte at each position, behind paths that end at each position of a block.

use super::Table;

/// What a query may have next to what no target may have.
const SOME: [u8; 16] = [0, 0x1f, b' ', b'!', b'"', b'#', b'$', b'%', b'.', b'/', b'?', b'a', b'~', 0x7f, 0x80, 0xff];

/// Lengths around those of registers and blocks.
const LENGTHS: [usize; 8] = [1, 2, 15, 17, 32, 33, 64, 65];

fn check(table: &Table, path: usize, bytes: impl Iterator<Item = u8> + Clone) {
    let mut target = b"/api/v1/a/".to_vec();
    target.resize(path, b'v');
    for length in LENGTHS {
        target.truncate(path);
        target.push(b'?');
        target.resize(path + length, b'q');
        assert_eq!(table.get(&target).reason, "scope_held", "{path} {length}");
        for at in path + 1..path + length {
            for byte in bytes.clone() {
                target[at] = byte;
                let actual = table.get(&target);
                let detail = match byte {
                    b'#' => Some("fragment"),
                    b'!'..=b'~' => None,
                    _ => Some("byte"),
                };
                assert_eq!(actual.detail, detail, "{byte} at {at} of {path} {length}");
            }
            target[at] = b'q';
        }
    }
}

#[test]
fn some_bytes_at_every_position_behind_every_path() {
    let table = Table::new("/api/v1", ["/a/{a}", "/a/{a}/{b}", "/{a}/b"]);
    for path in 11..=90 {
        check(&table, path, SOME.into_iter());
    }
}

#[test]
fn every_byte_at_every_position_behind_some_paths() {
    let table = Table::new("/api/v1", ["/a/{a}", "/a/{a}/{b}", "/{a}/b"]);
    for path in [11, 16, 31, 71, 72, 73] {
        check(&table, path, 0..=u8::MAX);
    }
}

/// The path's own last byte, and what comes before its `?`, in every shape.
#[test]
fn paths_of_every_kind_before_a_query() {
    let templates = ["/", "/a", "/{a}", "/a/{b}", "/{a}/b", "/{a}/{b}/c/{d}"];
    let table = Table::new("/api/v1", templates);
    let paths = [
        "",
        "/",
        "x",
        "/.",
        "/..",
        "//",
        "/a",
        "/a/",
        "/a/.",
        "/A",
        "/a/b",
        "/a/;",
        "/a/%41",
        "/a/~",
        "/a/x y",
        "/a/x#",
        "/x/y/c/z",
        "/x/y/C/z",
        "/x/y/z/c",
        "/a/b/c/d/e",
    ];
    for base in ["", "/api/v1", "/api/v", "/api/v1/", "/api/v2"] {
        for path in paths {
            for query in ["?", "??", "?/", "?/..", "?a=b?c", "?a#b", "?a b", "?\u{e9}", "?%zz", "?\\;"] {
                for pad in [0, 16, 40, 64, 200] {
                    table.get(format!("{base}{path}{query}{}", "q".repeat(pad)));
                }
            }
        }
    }
}

/// The limit counts the query: the last byte is looked at, and a longer target is refused for its length alone.
#[test]
fn the_longest_queries() {
    let table = Table::new("/api/v1", ["/a/{a}"]);
    for size in [4_096, 8_127, 8_128, 8_191, 8_192, 8_193, 8_200, 9_000, 70_000] {
        for byte in *b"q# \xff" {
            let mut target = b"/api/v1/a/v?".to_vec();
            target.resize(size, b'q');
            *target.last_mut().unwrap() = byte;
            let actual = table.get(&target);
            let detail = match byte {
                _ if size > 8_192 => Some("length"),
                b'q' => None,
                b'#' => Some("fragment"),
                _ => Some("byte"),
            };
            assert_eq!(actual.detail, detail, "{byte} at the end of {size}");
        }
    }
}

/// Random targets with letters of either case and queries of any bytes, of lengths around blocks: 20,000, or as many as
/// `ORBGATE_DECISIONS` says.
#[test]
fn a_stream_of_queries() {
    let templates = [
        "/a/{a}",
        "/a/{a}/b",
        "/{a}/b",
        "/{a}/{b}/c/{d}",
        "/a/Mixed-Case/{c}",
        "/{a}/a-literal-of-26-letters-/b",
        "/c/Twice/{c}",
        "/b/twice/{c}/{d}",
    ];
    let tables = ["", "/api/v1", "/a/very/long/base/path/of/this/api"];
    let tables = tables.map(|base| (base, Table::new(base, templates)));
    let count = std::env::var("ORBGATE_DECISIONS").ok();
    let count: u32 = count.map_or(20_000, |count| count.parse().unwrap());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        // Xorshift: the same stream each time.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % limit
    };
    for _ in 0..count {
        let (base, table) = &tables[below(3)];
        let mut target = base.as_bytes().to_vec();
        for _ in 0..=below(4) {
            let mut segment = match below(8) {
                0 | 1 => "a".to_owned(),
                2 | 3 => "b".to_owned(),
                4 => "c".to_owned(),
                5 => ["Mixed-Case", "twice"][below(2)].to_owned(),
                6 => "a-literal-of-26-letters-".to_owned(),
                _ => "v".repeat(below(70)),
            };
            if below(6) == 0 {
                segment = segment.to_ascii_uppercase();
            }
            target.extend(format!("/{segment}").bytes());
        }
        let length = [0, below(140)][below(2)];
        if length > 0 {
            target.push(b'?');
        }
        for _ in 1..length {
            target.push(b'!' + u8::try_from(below(94)).unwrap());
        }
        // Two of three have no `#`; one of two has any byte at some position.
        if below(3) != 0 {
            target.retain(|byte| *byte != b'#');
        }
        if below(2) == 0 {
            let at = below(target.len());
            target[at] = u8::try_from(below(256)).unwrap();
        }
        table.get(&target);
    }
}
