//! The test requests: calls, alternative spellings of them, and misleading headers.

use std::borrow::Cow;

/// A target of a template, with this value for each parameter.
pub(super) fn concrete(template: &str, value: &str) -> String {
    let segments = template.split('/');
    let filled = segments.map(|segment| if segment.starts_with('{') { value } else { segment });
    filled.collect::<Vec<_>>().join("/")
}

/// Alternative spellings of a target that some server treats as equal.
pub(super) fn spellings(target: &str) -> Vec<String> {
    let (folder, last) = target.rsplit_once('/').unwrap_or_default();
    let mut spellings: Vec<_> =
        ["/", "//", "/.", "/..", "?", "?x=1", "#x", ";x", "%20", "%00", "%2f", "%2e", "\\", "/%2e%2e/x"]
            .map(|end| format!("{target}{end}"))
            .into();
    spellings.extend(
        ["/", "/.", "/x/..", "/%2e", "/x/%2e%2e", "/x\\..", "http://localhost"].map(|start| format!("{start}{target}")),
    );
    spellings.extend(["//", "/./", "/x/../", "%2f", "\\", "/%2e/"].map(|middle| format!("{folder}{middle}{last}")));
    let escaped = last.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    spellings.extend([format!("{folder}/{escaped}"), format!("{folder}/{}", last.to_uppercase())]);
    spellings
}

pub(super) type Header<'h> = (Cow<'h, str>, &'h str);

/// Headers in which some server or proxy reads another method or target, separately and combined.
pub(super) fn lies<'l>(method: &'l str, target: &'l str) -> Vec<Vec<Header<'l>>> {
    let named = [
        ("X-Original-URI", target),
        ("X-Original-URL", target),
        ("X-Original-Method", method),
        ("X-Rewrite-URL", target),
        ("X-Forwarded-Uri", target),
        ("X-Forwarded-Method", method),
        ("X-Forwarded-Prefix", target),
        ("X-Envoy-Original-Path", target),
        ("X-Envoy-Original-Method", method),
        ("X-HTTP-Method-Override", method),
        ("X-HTTP-Method", method),
        ("X-Method-Override", method),
    ];
    let hops = ["close, X-Original-URI, X-Forwarded-Uri", "close, Authorization"];
    let together = [
        [("X-Original-URI", target), ("X-Original-Method", method)],
        [("X-Forwarded-Uri", target), ("X-Forwarded-Method", method)],
    ];
    let named = named.iter().flat_map(|(name, value)| names(name).map(|name| vec![(name, *value)]));
    let hops = hops.into_iter().map(|value| vec![("Connection".into(), value)]);
    let together = together.map(|pair| pair.map(|(name, value)| (name.into(), value)).into());
    named.chain(hops).chain(together).collect()
}

/// A header's name in spellings that some server doesn't distinguish.
pub(super) fn names(name: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let others = ["_", ".", "!"].into_iter().map(|byte| name.replace('-', byte).into());
    core::iter::once(name.into()).chain(others)
}

/// Path suffixes that configurations often serve from a separate location.
pub(super) const SUFFIXES: [&str; 9] = [".png", ".css", ".js", ".html", ".php", ".json", ".svg", ".ico", ".txt"];

/// The other headers of a WebSocket handshake than `Upgrade` and `Connection`.
pub(super) const WEBSOCKET: [(&str, &str); 2] =
    [("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")];

/// Headers that request another protocol, in which nothing would be authorized.
pub(super) const UPGRADES: [&[(&str, &str)]; 6] = [
    // A proxy removes it if `Connection` lists it.
    &[("HTTP2-Settings", "AAMAAABkAAQAAP__")],
    &[("Upgrade", "h2c"), ("Connection", "Upgrade, HTTP2-Settings"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")],
    &[("Upgrade", "websocket"), ("Connection", "Upgrade"), WEBSOCKET[0], WEBSOCKET[1]],
    &[("Upgrade", "websocket, h2c"), ("Connection", "Upgrade, HTTP2-Settings"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")],
    &[
        ("Upgrade", "websocket"),
        ("Upgrade", "h2c"),
        ("Connection", "Upgrade, HTTP2-Settings"),
        ("HTTP2-Settings", "AAMAAABkAAQAAP__"),
    ],
    &[("Upgrade", "TLS/1.0"), ("Connection", "Upgrade")],
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{lies, spellings};

    #[test]
    fn each_spelling_is_another_of_the_same_target() {
        let all = spellings("/files/a");
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        for spelling in ["/files/a;x", "//files/a", "/files/%2e/a", "/files/%61", "/files/A"] {
            assert!(all.iter().any(|it| it == spelling), "{spelling}");
        }
        assert!(!all.iter().any(|it| it == "/files/a"));
    }

    #[test]
    fn each_family_of_headers_names_the_call_once() {
        let all = lies("DELETE", "/files/a");
        for lie in [
            &[("X-Rewrite-URL", "/files/a")][..],
            &[("X-HTTP-Method-Override", "DELETE")],
            &[("X.HTTP.Method.Override", "DELETE")],
            &[("X_Forwarded_Uri", "/files/a")],
            &[("X-Original-URI", "/files/a"), ("X-Original-Method", "DELETE")],
        ] {
            let lie = lie.iter().map(|(name, value)| ((*name).into(), *value)).collect::<Vec<_>>();
            let times = all.iter().filter(|it| **it == lie).count();
            assert_eq!(times, 1, "{lie:?}");
        }
    }
}
