//! Targets: each byte at each position, each length, each limit.

use super::{Table, segments};
use crate::support::policies::base_of;
use crate::support::strategies::SIZES;

/// Every string of these bytes up to a length: targets that are shorter than one step.
#[test]
fn short_targets() {
    let templates = ["/", "/a", "/{x}", "/a/a", "/{x}/a", "/aa/{y}", "/{x}/{y}/{z}", "/a/a/a/a"];
    for base in ["", "/a", "/a/aa"] {
        let table = Table::new(base, templates);
        let mut targets = vec![Vec::new()];
        for _ in 0..8 {
            let longer = |target: &Vec<u8>| b"/a.".map(|byte| [target, [byte].as_slice()].concat());
            targets = targets.iter().flat_map(longer).collect();
            for target in &targets {
                table.get(target);
            }
        }
    }
}

#[test]
fn every_byte_at_every_position() {
    for encoded_params in [false, true] {
        let table = Table::of(encoded_params, "/api/v1", ["/a/{a}", "/{a}/b", "/{a}/{b}/{c}", "/a/b/c/{d}"]);
        for length in [14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200] {
            let mut target = b"/api/v1/a/".to_vec();
            target.resize(length, b'v');
            target[length / 2] = b'/';
            for at in 0..length {
                let before = target[at];
                for byte in 0..=u8::MAX {
                    target[at] = byte;
                    table.get(&target);
                }
                target[at] = before;
            }
        }
    }
}

/// At every position of targets of several steps, also right behind a border of 64 bytes.
#[test]
fn dots_and_slashes_at_every_position() {
    let deep = "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}";
    for encoded_params in [false, true] {
        let table = Table::of(encoded_params, "", [deep, "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}"]);
        for length in [5, 8, 15, 16, 31, 32, 40] {
            let target = format!("/{}", "v".repeat(length)).repeat(8).into_bytes();
            table.get(&target);
            let texts =
                ["/./", "/../", "/.../", "//", "/.", "/..", "/.v", "/..v", "/v./", ".", "/", "?", "%2e", "/%2e/"];
            for text in texts {
                for at in 0..=target.len() {
                    let end = target.len().min(at + text.len());
                    let replaced = [&target[..at], text.as_bytes(), &target[end..]].concat();
                    let inserted = [&target[..at], text.as_bytes(), &target[at..]].concat();
                    table.get(replaced);
                    table.get(inserted);
                }
            }
        }
    }
}

#[test]
fn a_value_of_every_length_at_every_segment() {
    let table = Table::new("/api", ["/{a}/{b}/{c}", "/a/{b}/{c}", "/{a}/{b}/c"]);
    for at in 0..3 {
        for length in (1..70).chain(120..136).chain(250..264) {
            let mut segments = ["a", "b", "c"].map(str::to_owned);
            segments[at] = "v".repeat(length);
            let actual = table.get(format!("/api/{}", segments.join("/")));
            let right = if length > 256 { "malformed_request" } else { "scope_held" };
            assert_eq!(actual.reason, right, "{length} bytes at {at}");
        }
    }
}

/// Up to 8,192 bytes, by the path and by the query, behind a prefix that leaves hardly any room.
#[test]
fn a_target_of_every_size_behind_a_prefix_of_every_size() {
    let bases = [0, 14, 64, 1_024, 4_096, 7_000, 7_700, 7_960, 8_100, 8_160, 8_190, 8_192];
    for base in bases.map(base_of) {
        // 32 segments have room for no more.
        let templates = ["/", "/{a}", "/b", "/{a}/{b}"].into_iter();
        let room = 33 - segments(&base).len();
        let table = Table::new(&base, templates.filter(|template| segments(template).len() < room));
        for size in SIZES.iter().copied().chain(8_100..8_200) {
            for (end, last) in [("/", "v"), ("/v/", "v"), ("/v?", "q"), ("/b?", "/"), ("?", "q")] {
                let mut target = format!("{base}{end}");
                if target.len() < size {
                    target.push_str(&last.repeat(size - target.len()));
                    let actual = table.get(&target);
                    if size > 8_192 {
                        assert_eq!(actual.detail, Some("length"), "{size} bytes behind {}", base.len());
                    }
                }
            }
        }
    }
}

/// A path that is no more than nearly below the prefix: another byte, or two that differ in the same bits, which a comparison by
/// windows that overlap could take for equal.
#[test]
fn a_prefix_with_other_bytes() {
    for size in (2..=40).chain([63, 64, 65, 128, 129]) {
        let base = base_of(size);
        let table = Table::new(&base, ["/a", "/{b}/{c}"]);
        for first in 1..base.len() {
            for second in first..base.len() {
                let mut target = format!("{base}/v/v").into_bytes();
                for at in [first, second] {
                    target[at] = base.as_bytes()[at] ^ 1;
                }
                let is_letter = |at: usize| base.as_bytes()[at] != b'/';
                if is_letter(first) && is_letter(second) {
                    assert_eq!(table.get(&target).reason, "no_route", "{first}, {second} of {size}");
                }
            }
        }
    }
}

/// 32 segments and no more, however many of them are prefix.
#[test]
fn more_segments_than_there_may_be() {
    for above in [0, 1, 8, 16, 28, 29, 30, 31] {
        for long in [1, 8, 200] {
            let base = format!("/{}", "b".repeat(long)).repeat(above);
            let one_to_four = (1..=4.min(32 - above)).map(|count| "/{p}".repeat(count));
            let numbered = one_to_four.map(|template| {
                let parts = template.split_inclusive("{p").enumerate();
                parts.map(|(at, part)| part.replace("{p", &format!("{{p{at}"))).collect::<String>()
            });
            let table = Table::new(&base, numbered);
            for below in 0..40 {
                let actual = table.get(format!("{base}{}", "/v".repeat(below)));
                if above + below > 32 && actual.reason != "malformed_request" {
                    panic!("{above} and {below} segments: {actual:?}");
                }
            }
        }
    }
}
