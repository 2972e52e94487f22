//! Detects connection upgrades that would carry requests past the gate.

/// Whether these values of `Upgrade` list `h2c`.
///
/// A server that accepts the upgrade answers 101, and reads further requests from the same connection as HTTP/2. The
/// gate or proxy that decided the first request sees none of them.
pub(crate) fn lists_h2c(values: &[&[u8]]) -> bool {
    let mut protocols = values.iter().flat_map(|value| value.split(|byte| *byte == b','));
    protocols.any(is_h2c)
}

/// Whether any server could read this name as `h2c`, regardless of surrounding characters.
///
/// Netty drops spaces even inside the name, Jetty drops quotes and backslashes, Python's servers drop non-ASCII spaces,
/// and others drop a version or parameter after the name. So only letters and digits count. No registered name contains
/// these three characters.
fn is_h2c(protocol: &[u8]) -> bool {
    let mut last = [0; 3];
    let letters = protocol.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.into_iter().any(|byte| {
        let [_, second, third] = last;
        last = [second, third, byte.to_ascii_lowercase()];
        last == *b"h2c"
    })
}

#[cfg(test)]
mod tests {
    use super::lists_h2c;

    #[test]
    fn every_spelling_that_some_server_accepts_is_found() {
        let spellings: &[&[u8]] = &[
            b"h2c",
            b"H2C",
            b" h2c\t",
            b"websocket, h2c",
            b"h2c,websocket",
            b"websocket,\th2C ,foo",
            b",,h2c",
            b"h2c/2.0",
            b"h2c-17",
            b"h2c;q=1",
            b"\"h2c\"",
            b"\"h\\2c\"",
            b"h 2c",
            b"h2c\xa0",
            b"\x1fh2c",
            b"\0h2c",
            b"websocket h2c",
        ];
        for spelling in spellings {
            assert!(lists_h2c(&[spelling]), "{}", spelling.escape_ascii());
            assert!(lists_h2c(&[b"websocket", spelling]));
        }
        let others: &[&[u8]] =
            &[b"", b"websocket", b"h2", b"h2, c", b"h2,connect-udp", b"TLS/1.0", b"HTTP/2.0", b"h3c"];
        for other in others {
            assert!(!lists_h2c(&[other]), "{}", other.escape_ascii());
        }
        assert!(!lists_h2c(&[]));
        assert!(!lists_h2c(&[b"h2", b"c"]));
    }
}
