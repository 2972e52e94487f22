//! The test requests: calls, alternative spellings of them, and misleading headers.

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

/// Headers in which some server or proxy reads another method or target, separately and combined.
pub(super) fn lies<'l>(method: &'l str, target: &'l str) -> Vec<Vec<(&'static str, &'l str)>> {
    let alone = [
        ("X-Original-URI", target),
        ("X_Original_URI", target),
        ("X-Original-URL", target),
        ("X-Original-Method", method),
        ("X-Rewrite-URL", target),
        ("X-Forwarded-Uri", target),
        ("X_Forwarded_Uri", target),
        ("X-Forwarded-Method", method),
        ("X-Forwarded-Prefix", target),
        ("X-Envoy-Original-Path", target),
        ("X-Envoy-Original-Method", method),
        ("X-HTTP-Method-Override", method),
        ("X-HTTP-Method", method),
        ("X-Method-Override", method),
        ("Connection", "close, X-Original-URI, X-Forwarded-Uri"),
        ("Connection", "close, Authorization"),
    ];
    let together = [
        vec![("X-Original-URI", target), ("X-Original-Method", method)],
        vec![("X-Forwarded-Uri", target), ("X-Forwarded-Method", method)],
    ];
    let alone = alone.into_iter().map(|lie| vec![lie]);
    alone.chain(together).collect()
}

/// Path suffixes that configurations often serve from a separate location.
pub(super) const SUFFIXES: [&str; 9] = [".png", ".css", ".js", ".html", ".php", ".json", ".svg", ".ico", ".txt"];

/// Headers that request another protocol, in which nothing would be authorized.
pub(super) const UPGRADES: [&[(&str, &str)]; 6] = [
    // A proxy removes it if `Connection` lists it.
    &[("HTTP2-Settings", "AAMAAABkAAQAAP__")],
    &[("Upgrade", "h2c"), ("Connection", "Upgrade, HTTP2-Settings"), ("HTTP2-Settings", "AAMAAABkAAQAAP__")],
    &[
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ],
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
            &[("X-Original-URI", "/files/a"), ("X-Original-Method", "DELETE")],
        ] {
            let times = all.iter().filter(|it| it.as_slice() == lie).count();
            assert_eq!(times, 1, "{lie:?}");
        }
    }
}
