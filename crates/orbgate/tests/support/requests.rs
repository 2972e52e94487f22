//! Random requests that nearly fit a policy, with a token that nearly suits them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::string::string_regex;

use super::model::{Model, is_parameter};
use super::reference::Ask;
use super::strategies::{METHODS, SCOPES, SIZES, WORDS, placed, scopes};

/// Requests that nearly fit a policy, with a token that nearly suits them.
pub fn asks(model: &Model) -> impl Strategy<Value = Ask> + use<> {
    let slash = if model.trailing_slash { "/" } else { "" };
    let routes = model.routes().into_iter().map(|(_, scope, route, full)| {
        let scope = SCOPES.iter().find(|name| **name == scope.name);
        let full = full.into_iter().map(str::to_owned).collect();
        (route.method.clone(), full, *scope.unwrap())
    });
    let mut routes: Vec<(String, Vec<String>, &str)> = routes.collect();
    if routes.is_empty() {
        let words = WORDS.iter().map(|word| vec![(*word).to_owned()]);
        routes.extend(words.map(|word| ("GET".to_owned(), word, SCOPES[0])));
    }
    let literals = routes.iter().flat_map(|(_, full, _)| full);
    let mut literals: Vec<_> = literals.filter(|segment| !is_parameter(segment)).cloned().collect();
    literals.push("a".to_owned());
    literals.sort();
    literals.dedup();
    let fine = fine_values(literals.clone()).boxed();
    let odd = odd_values(fine.clone(), literals).boxed();
    let twists = vec(twists(), 0..3).boxed();
    let near = (select(routes), prop::bool::weighted(0.6));
    let near = near.prop_flat_map(move |((method, template, scope), is_fine)| {
        let methods = prop_oneof![
            5 => Just(method.into_bytes()),
            2 => select(METHODS).prop_map(|method| method.as_bytes().to_vec()),
            1 => vec(any::<u8>(), 0..20),
            1 => select(&["get", "GET ", "", "GETT\0", "OPTIONS"][..]).prop_map(|m| m.as_bytes().to_vec()),
        ];
        let value = if is_fine { &fine } else { &odd };
        let segments: Vec<_> = template.iter().map(|segment| near_segment(segment, value)).collect();
        let size = proptest::option::weighted(0.15, select(SIZES));
        let held = prop_oneof![2 => scopes(), 1 => placed(Just(scope))];
        (methods, Just(template), segments, size, twists.clone(), held)
    });
    let near = near.prop_map(move |(method, template, mut segments, size, twists, held)| {
        if let Some(size) = size {
            lengthen(&template, &mut segments, size);
        }
        let mut target = format!("/{}{slash}", segments.join("/")).into_bytes();
        for (at, twist) in twists {
            twist.apply(&mut target, at);
        }
        (method, target, held)
    });
    let bytes = (select(METHODS), vec(any::<u8>(), 0..60), scopes());
    let text = (vec(b'!'..=b'~', 0..40), scopes());
    let target = prop_oneof![
        20 => near,
        1 => bytes.prop_map(|(method, target, held)| (method.as_bytes().to_vec(), target, held)),
        1 => text.prop_map(|(rest, held)| (b"GET".to_vec(), [b"/", rest.as_slice()].concat(), held)),
    ];
    let kind = select(&["user", "user", "user", "organisation", "unknown", "root"][..]);
    let kind = proptest::option::weighted(0.9, kind);
    (target, kind, any::<bool>()).prop_map(|((method, target, held), kind, bonus)| Ask {
        method,
        target,
        token: kind.map(|kind| (kind, held)),
        bonus,
    })
}

/// Lengthens what stands for parameters, until the target has this many bytes.
fn lengthen(template: &[String], segments: &mut [String], size: usize) {
    let taken: usize = segments.iter().map(|segment| segment.len() + 1).sum();
    let mut left = size.saturating_sub(taken);
    for (segment, value) in template.iter().zip(segments) {
        if is_parameter(segment) {
            let more = left.min(256_usize.saturating_sub(value.len()));
            value.push_str(&"x".repeat(more));
            left -= more;
        }
    }
}

/// What a request has where a template has this segment.
fn near_segment(segment: &str, value: &BoxedStrategy<String>) -> BoxedStrategy<String> {
    if is_parameter(segment) {
        return value.clone();
    }
    prop_oneof![
        64 => Just(segment.to_owned()),
        1 => Just(segment.to_ascii_uppercase()),
        1 => Just(flip(segment)),
        1 => escaped(Just(segment.to_owned())),
        2 => value.clone(),
    ]
    .boxed()
}

/// A word with one escape, of a mark if it has one: an escaped letter is refused before anything is compared with a literal.
fn escaped(word: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (word, any::<Index>(), any::<bool>()).prop_map(|(mut word, at, is_lower)| {
        let marks: Vec<_> =
            word.match_indices(|mark: char| !mark.is_ascii_alphanumeric() && !"-._~".contains(mark)).collect();
        let at = marks.get(at.index(marks.len().max(1))).map_or_else(|| at.index(word.len()), |(at, _)| *at);
        let byte = word.as_bytes()[at];
        let escape = if is_lower { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
        word.replace_range(at..=at, &escape);
        word
    })
}

/// Values that are well-formed: literals of the policy, what is nearly one, and strangers of any length.
fn fine_values(literals: Vec<String>) -> impl Strategy<Value = String> + Clone {
    let literal = || select(literals.clone());
    // The same length, and mostly the same ends.
    let changed = (literal(), any::<Index>(), select(&['x', 'y', 'm', '.'][..]));
    let changed = changed.prop_map(|(mut word, at, mark)| {
        let at = at.index(word.len());
        word.replace_range(at..=at, &mark.to_string());
        word
    });
    let longer = (literal(), any::<Index>(), 1..80_usize);
    let longer = longer.prop_map(|(mut word, at, count)| {
        word.insert_str(at.index(word.len()), &"m".repeat(count));
        word.truncate(256);
        word
    });
    let shorter = (literal(), any::<Index>()).prop_map(|(mut word, at)| {
        if word.len() > 1 {
            word.remove(at.index(word.len()));
        }
        word
    });
    prop_oneof![
        6 => literal(),
        2 => select(WORDS).prop_map(str::to_owned),
        3 => string_regex("[a-zA-Z0-9._~!$&'()*+,=:@-]{1,20}").unwrap(),
        2 => changed,
        1 => longer,
        1 => shorter,
        1 => string_regex("[a-z0-9-]{20,140}").unwrap(),
        1 => select(SIZES).prop_map(|size| "x".repeat(size.min(256))),
    ]
    // A word made of dots is not a value.
    .prop_map(|value| if value.bytes().all(|byte| byte == b'.') { "a".to_owned() } else { value })
}

/// The same, and now and then one that is refused or has escapes, such as an escaped spelling of a literal.
fn odd_values(fine: BoxedStrategy<String>, literals: Vec<String>) -> impl Strategy<Value = String> {
    let marked = |word: &&String| word.bytes().any(|byte| b"!$&'()*+,=:@".contains(&byte));
    let marked: Vec<_> = literals.iter().filter(marked).cloned().collect();
    let escapes = "(%[0-9a-fA-F]{2}|%20|%40me|%40ME|%40mE|a%2Bb|A%2bb|a%3Ab|[a-z.]){1,4}";
    let refused = &[".", "..", "...", "", "a..b", "%", "%2", "%u002e"][..];
    prop_oneof![
        16 => fine,
        4 => escaped(select(if marked.is_empty() { literals } else { marked })),
        2 => string_regex(escapes).unwrap(),
        1 => select(refused).prop_map(str::to_owned),
        1 => (250..260_usize).prop_map(|length| "x".repeat(length)),
    ]
}

/// The segment with its first letter in the other case.
fn flip(segment: &str) -> String {
    let mut bytes = segment.as_bytes().to_vec();
    if let Some(letter) = bytes.iter_mut().find(|byte| byte.is_ascii_alphabetic()) {
        *letter ^= 0x20;
    }
    String::from_utf8(bytes).unwrap()
}

/// One small change to a target.
#[derive(Clone, Debug)]
enum Twist {
    Insert(&'static str),
    Append(&'static str),
    /// More segments, until there are this many.
    Segments(usize),
    /// A longer segment, or a query, until the target has this many bytes.
    Stretch(usize),
    Query(usize),
    /// This text, this many bytes before or behind a multiple of 64.
    Border(&'static str, usize),
    Set(u8),
    EncodeByte,
    FlipCase,
    Delete,
}

fn twists() -> impl Strategy<Value = (Index, Twist)> {
    let inserts = &["/", "./", "x/../", "../", ";p", "%00", "\\", "?", "#", "%2e", "\u{e9}", " ", "%20", "A"][..];
    let appended = &["/", "?", "?a=/../b", "#x", "%00", "/.", "/..", ";", "//", "?%00%2f;"][..];
    let at_borders = &["/./", "/../", "//", "/.", "/..", "/x", ".", "/.x", "?", "%2e"][..];
    let twist = prop_oneof![
        4 => select(inserts).prop_map(Twist::Insert),
        4 => select(appended).prop_map(Twist::Append),
        2 => (1..70_usize).prop_map(Twist::Segments),
        2 => (31..34_usize).prop_map(Twist::Segments),
        4 => select(SIZES).prop_map(Twist::Stretch),
        2 => (select(SIZES)).prop_map(Twist::Query),
        4 => (select(at_borders), 0..8_usize).prop_map(|(text, off)| Twist::Border(text, off)),
        4 => any::<u8>().prop_map(Twist::Set),
        2 => select(&b"%;\\\"<>^`{}|[]?#. "[..]).prop_map(Twist::Set),
        2 => Just(Twist::EncodeByte),
        2 => Just(Twist::FlipCase),
        2 => Just(Twist::Delete),
    ];
    // Most requests stay as they are.
    (any::<Index>(), prop_oneof![2 => Just(Twist::Append("")), 1 => twist])
}

impl Twist {
    fn apply(&self, target: &mut Vec<u8>, at: Index) {
        let location = at.index(target.len().max(1)).min(target.len());
        match self {
            Self::Insert(text) => drop(target.splice(location..location, text.bytes())),
            Self::Append(text) => target.extend(text.bytes()),
            Self::Segments(count) => {
                let there = target.iter().filter(|byte| **byte == b'/').count();
                target.extend("/x".repeat(count.saturating_sub(there)).bytes());
            }
            Self::Stretch(size) => {
                let more = size.saturating_sub(target.len());
                drop(target.splice(location..location, core::iter::repeat_n(b'x', more)));
            }
            Self::Query(size) if target.len() < *size => {
                target.push(b'?');
                target.resize(*size, b'q');
            }
            Self::Border(text, off) => {
                let borders = target.len() / 64;
                let location = (64 * (1 + at.index(borders.max(1))) + off).saturating_sub(4);
                if location <= target.len() {
                    drop(target.splice(location..location, text.bytes()));
                }
            }
            Self::Set(byte) if location < target.len() => target[location] = *byte,
            Self::EncodeByte if location < target.len() => {
                let escape = format!("%{:02x}", target[location]);
                drop(target.splice(location..=location, escape.bytes()));
            }
            Self::FlipCase if location < target.len() && target[location].is_ascii_alphabetic() => {
                target[location] ^= 0x20;
            }
            Self::Delete if location < target.len() => drop(target.remove(location)),
            _ => {}
        }
    }
}
