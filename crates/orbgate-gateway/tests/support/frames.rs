//! Frames of HTTP/2, as no well-behaved client writes them.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

/// What a connection begins with.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A field of a head, in this order on the wire.
pub(crate) type Field<'f> = (&'f [u8], &'f [u8]);

/// A whole number of HPACK, behind the bits that its first byte has already (RFC 7541, 5.1).
fn number(bytes: &mut Vec<u8>, bits: u8, prefix: u32, value: usize) {
    let most = (1_usize << prefix) - 1;
    if value < most {
        return bytes.push(bits | u8::try_from(value).unwrap());
    }
    bytes.push(bits | u8::try_from(most).unwrap());
    let mut rest = value - most;
    while rest >= 128 {
        bytes.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    bytes.push(u8::try_from(rest).unwrap());
}

/// Kinds of frames (RFC 9113, 6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GO_AWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags: the stream ends; what a frame answers; the fields end.
pub(crate) const END: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// What has come on a connection, of its first stream.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// 0: no head came.
    pub(crate) status: u16,
    pub(crate) data: Vec<u8>,
    /// Why the connection is asked to end.
    pub(crate) gone: Option<u32>,
}

/// Reads frames until the stream or the connection has ended in one way or another.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Seen> {
    let mut seen = Seen::default();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return Ok(seen);
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload)?;
        let (kind, flags, is_ours) = (head[3], head[4], head[8] == 1);
        match kind {
            DATA if is_ours => seen.data.extend(payload),
            HEADERS if is_ours && seen.status == 0 => seen.status = status(&payload),
            RESET if is_ours => return Ok(seen),
            GO_AWAY => {
                seen.gone = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
                return Ok(seen);
            }
            SETTINGS if flags & ACK == 0 => stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?,
            _ => {}
        }
        if is_ours && [DATA, HEADERS].contains(&kind) && flags & END != 0 {
            return Ok(seen);
        }
    }
}

/// A block of fields: no table, no Huffman, every field as it is given.
pub(crate) fn block(fields: &[Field<'_>]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            number(&mut block, 0, 7, text.len());
            block.extend(*text);
        }
    }
    block
}

/// The status, which comes first: a field of the static table, or its name there and three digits.
pub(crate) fn status(block: &[u8]) -> u16 {
    let mut bytes = block.iter().copied().skip_while(|byte| byte >> 5 == 1);
    match bytes.next() {
        Some(indexed @ 0x88..=0x8e) => [200, 204, 206, 304, 400, 404, 500][usize::from(indexed - 0x88)],
        Some(0x08..=0x0e | 0x18..=0x1e | 0x48..=0x4e) => {
            let length = bytes.next().unwrap();
            let text: Vec<u8> = bytes.take(usize::from(length & 127)).collect();
            match length >> 7 {
                0 => String::from_utf8(text).unwrap().parse().unwrap(),
                _ => huffman(&text),
            }
        }
        other => panic!("{other:?} in {block:?}"),
    }
}

/// Three digits: 0 to 2 have five bits and the code of their value, 3 to 9 six bits, from 0b011001 on (RFC 7541, B).
fn huffman(text: &[u8]) -> u16 {
    let all = text.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let mut left = 8 * text.len();
    let mut number = 0;
    for _ in 0..3 {
        let five = all >> (left - 5) & 31;
        let (digit, bits) = match five {
            0..=2 => (five, 5),
            _ => ((all >> (left - 6) & 63) - 22, 6),
        };
        number = number * 10 + u16::try_from(digit).unwrap();
        left -= bits;
    }
    number
}

#[test]
fn three_digits_are_read() {
    // 401 and 503, as encoders write them, and 200 and 429 from the tables.
    assert_eq!(status(&[0x48, 0x82, 0x68, 0x01]), 401);
    assert_eq!(status(&[0x20, 0x48, 0x83, 0x6c, 0x0c, 0xff]), 503);
    assert_eq!(status(&[0x88]), 200);
    assert_eq!(status(&[0x08, 3, b'4', b'2', b'9']), 429);
}
