//! Questions whose message never ends: they take no place of others.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::{Attacked, CHECK, PATIENCE, check, code, connect, denied, framed, statuses};
use crate::support::frames::{DATA, END_HEADERS, HEADERS, block, frame, read};

#[test]
fn questions_without_their_body_take_no_place_of_others() {
    let attacked = Attacked::start("unfinished", "requests: 4, connections: 64, idle_seconds: 60");
    // Over gRPC, many more streams than questions, some with the start of a message.
    let mut open = connect(&attacked.grpc);
    let unfinished = (0..60).flat_map(|at| {
        let stream = u32::try_from(2 * at + 1).unwrap();
        let start = &framed(0, b"")[..at % 5];
        [frame(HEADERS, END_HEADERS, stream, &block(&CHECK)), frame(DATA, 0, stream, start)]
    });
    open.write_all(&unfinished.flatten().collect::<Vec<_>>()).unwrap();
    // Most of them have been told that there are too many, which says that they came.
    let told = read(&mut open).unwrap();
    assert_eq!((denied(&told), code(&told)), (Some(503), Some(14)));
    for _ in 0..100 {
        let seen = check(&attacked.grpc, &[], &attacked.message(&[]));
        assert_eq!(code(&seen), Some(0), "{seen:?}");
    }
    // AuthZEN's messages come over HTTP/1.1, one on a connection at a time.
    let body = r#"{"subject":{"type":"user","id":"a"},"action":{"name":"GET"},"resource":{"type":"route","id":"GET /api/v1/external/orbs"}}"#;
    let head = format!(
        "POST /access/v1/evaluation HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut unfinished: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = TcpStream::connect(&attacked.authzen).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(format!("{head}{{").as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut told = Vec::new();
    unfinished[0].read_to_end(&mut told).unwrap();
    assert!(told.starts_with(b"HTTP/1.1 503 "), "{told:?}");
    for _ in 0..100 {
        let whole = format!("{head}{body}");
        assert_eq!(statuses(&attacked.authzen, whole.as_bytes()), [200]);
    }
    drop((open, unfinished));
    attacked.serves();
}
