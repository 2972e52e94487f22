//! Answers that a host must refuse, and others that it must read, for the reader of each language.

use super::shape::{Messages, Role};

const HEAD: &str = "\
# Answers of a gate as bytes, for every reader of messages. Made by `cargo xtask codes`.
# A reader refuses them, or reads an answer with this number; an `Answer` has this `http_status`.
# title	bytes in hexadecimal	number or `refused`	http_status
";

/// A title, the bytes, and the number and the `http_status` of the answer that they are.
type Row = (&'static str, Vec<u8>, Option<(u32, u64)>);

const CRITICAL: u32 = 1 << 31;

/// A field, or a whole message.
pub(crate) fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    lying(number, u32::try_from(bytes.len()).unwrap(), bytes)
}

/// A field whose length is another one.
fn lying(number: u32, len: u32, bytes: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &len.to_le_bytes(), bytes].concat()
}

pub(crate) fn rows(messages: &Messages) -> String {
    let number = |name: &str| match messages.find(name).role {
        Role::Question(number) | Role::Answer(number) => number,
        Role::Part => panic!("{name} is a part"),
    };
    let tag = |path: &str| {
        let (message, field) = path.split_once('.').unwrap();
        let fields = &messages.find(message).fields;
        fields.iter().find(|it| it.name == field).unwrap_or_else(|| panic!("there is no {path}")).tag()
    };
    let [answer, done, keys] = ["Answer", "Done", "KeyStatus"].map(number);
    let (status, preflight, refused) = (tag("Answer.http_status"), tag("Answer.preflight"), tag("Answer.refused"));
    let (token, kind, issuers) = (tag("Answer.token"), tag("Token.kind"), tag("KeyStatus.issuers"));
    let denied = field(status, &403_u64.to_le_bytes());
    let with = |more: &[u8]| field(answer, &[&denied, more].concat());
    let one = 1_u64.to_le_bytes();
    let issuer = field(issuers, &field(tag("IssuerStatus.key_count"), &one));
    let mut rows: Vec<Row> = vec![
        ("a denial", with(&[]), Some((answer, 403))),
        ("no field", field(answer, &[]), Some((answer, 0))),
        ("another order", field(answer, &[field(refused, b"expired"), denied.clone()].concat()), Some((answer, 403))),
        ("bytes that are no UTF-8", with(&field(refused, b"\xff\xfe")), Some((answer, 403))),
        ("an unknown field", with(&field(31, b"new")), Some((answer, 403))),
        ("an unknown field twice", with(&[field(31, b""), field(31, b"new")].concat()), Some((answer, 403))),
        ("an unknown field with a high number", with(&field(CRITICAL - 1, &[])), Some((answer, 403))),
        (
            "an unknown field with a number that is 32 higher",
            with(&field(32 + (status & !CRITICAL), &one)),
            Some((answer, 403)),
        ),
        (
            "a string, and an unknown field with a number that is 32 higher",
            with(&[field(refused, b"expired"), field(32 + refused, b"new")].concat()),
            Some((answer, 403)),
        ),
        ("an unknown critical field", with(&field(CRITICAL | 31, b"new")), None),
        ("an unknown critical field first", field(answer, &[field(CRITICAL | 31, b""), denied.clone()].concat()), None),
        ("the number 0", with(&field(0, &[])), Some((answer, 403))),
        ("a known field that is critical now", with(&field(CRITICAL | refused, b"expired")), None),
        ("a critical field that isn't any more", field(answer, &field(status & !CRITICAL, &one)), Some((answer, 0))),
        ("a field twice", with(&denied), None),
        ("a text twice", with(&[field(refused, b"a"), field(refused, b"b")].concat()), None),
        ("an integer of 7 bytes", field(answer, &field(status, &[0; 7])), None),
        ("an integer of 9 bytes", field(answer, &field(status, &[0; 9])), None),
        ("an integer of no bytes", field(answer, &field(status, &[])), None),
        ("a flag with a byte", with(&field(preflight, &[1])), None),
        ("a length beyond the end", with(&lying(refused, 8, b"expired")), None),
        ("the largest length", with(&lying(refused, u32::MAX, b"expired")), None),
        ("half of the largest length", with(&lying(refused, 1 << 31, b"expired")), None),
        ("a message that is shorter than it says", lying(answer, 99, &denied), None),
        ("a message of the largest length", lying(answer, u32::MAX, &denied), None),
        ("a message that is longer than it says", [field(answer, &denied), vec![0]].concat(), None),
        ("two messages", field(done, &[]).repeat(2), None),
        ("nothing", Vec::new(), None),
        ("an unknown answer", field(63, &[]), None),
        ("an unknown answer with known fields", field(1, &denied), None),
        ("a critical answer", field(CRITICAL | answer, &denied), None),
        ("the number 0 alone", field(0, &[]), None),
        ("an answer without fields", field(done, &[]), Some((done, 0))),
        ("an answer without fields that has one now", field(done, &field(1, b"new")), Some((done, 0))),
        ("an answer without fields that has a critical one now", field(done, &field(CRITICAL | 1, b"new")), None),
        ("an answer without fields and half of one", field(done, &[1, 0, 0]), None),
        ("a token", with(&field(token, &field(kind, &one))), Some((answer, 403))),
        ("a token without fields", with(&field(token, &[])), Some((answer, 403))),
        ("a token twice", with(&field(token, &field(kind, &one)).repeat(2)), None),
        ("a token with an unknown field", with(&field(token, &field(30, b"new"))), Some((answer, 403))),
        ("a token with an unknown critical field", with(&field(token, &field(CRITICAL | 30, b"new"))), None),
        ("a token that ends within a field", with(&field(token, &field(kind, &one)[..15])), None),
        ("a token that reaches beyond its end", with(&[field(token, &lying(kind, 8, &[])), vec![0; 8]].concat()), None),
        ("no issuer", field(keys, &[]), Some((keys, 0))),
        ("two issuers", field(keys, &issuer.repeat(2)), Some((keys, 0))),
        ("an issuer with half of a field", field(keys, &field(issuers, &[1, 0, 0, 0, 0])), None),
        ("two issuers, the second one wrong", field(keys, &[issuer.clone(), field(issuers, &[9])].concat()), None),
    ];
    // Each end within the head of a field.
    let whole = with(&field(refused, b"expired"));
    let cut = (1..8).map(|len| ("a cut head", field(answer, &whole[8..24 + len]), None));
    rows.extend(cut.chain((1..8).map(|len| ("a cut message", whole[..len].to_vec(), None))));
    let line = |(title, bytes, expected): Row| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match expected {
            Some((number, status)) => format!("{title}\t{hex}\t{number}\t{status}\n"),
            None => format!("{title}\t{hex}\trefused\t0\n"),
        }
    };
    HEAD.to_owned() + &rows.into_iter().map(line).collect::<String>()
}
