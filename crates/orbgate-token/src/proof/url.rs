//! The URL of a request in a proof, compared with what the service's public URLs make of the target.
//!
//! Our own code: the crate `url` repairs what is rejected here, such as backslashes, tabs and unusual spellings of an address.

/// A base URL of the service, as clients see it, in its normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicUrl {
    /// Scheme and authority.
    origin: String,
    /// The path that a proxy strips; empty for none.
    path: String,
}

impl PublicUrl {
    /// `None` if it isn't an absolute URL of HTTP without user, query, fragment and final slash.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        if url.contains(['?', '#']) || url.ends_with('/') {
            return None;
        }
        let (origin, path) = split(url)?;
        let path = if path.is_empty() { String::new() } else { normal_path(path.as_bytes())? };
        Some(Self { origin, path })
    }

    /// Whether a proof's `htu` is the URL of this target. Query and fragment don't count (RFC 9449 §4.3), and both sides are
    /// compared in their normal form (RFC 3986 §6.2.2, §6.2.3).
    pub(crate) fn has(&self, htu: &str, target: &[u8]) -> bool {
        let stated = htu.split(['?', '#']).next().unwrap_or_default();
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        let is_of_origin = path.starts_with(b"/");
        let is_same = || {
            let (origin, stated) = split(stated)?;
            let raw = [self.path.as_bytes(), path].concat();
            Some(origin == self.origin && normal_path(stated.as_bytes())? == normal_path(&raw)?)
        };
        is_of_origin && is_same().unwrap_or(false)
    }
}

impl PublicUrl {
    /// The target that a service gets of this URL, in its normal form and without a query; `None` if the URL isn't below this one.
    pub(crate) fn target_of(&self, url: &str) -> Option<String> {
        let (origin, path) = split(url.split(['?', '#']).next()?)?;
        let path = normal_path(path.as_bytes())?;
        let target = path.strip_prefix(&self.path).filter(|target| target.starts_with('/'))?;
        (origin == self.origin).then(|| target.to_owned())
    }
}

/// Scheme and authority in their normal form, and the path as it is.
fn split(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let default = match () {
        () if scheme.eq_ignore_ascii_case("https") => 443,
        () if scheme.eq_ignore_ascii_case("http") => 80,
        () => return None,
    };
    let (authority, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len()))?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let port = match port {
        "" => default,
        port if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse::<u16>().ok()?,
        _ => return None,
    };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match inner {
        Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)),
    };
    let port = if port == default { String::new() } else { format!(":{port}") };
    is_host.then(|| (format!("{}://{}{port}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()), path))
}

/// The normal form of a path: escapes in capitals and only where they are needed, without segments of dots.
fn normal_path(path: &[u8]) -> Option<String> {
    let mut decoded = String::with_capacity(path.len());
    let mut bytes = path.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digits = [*bytes.next()?, *bytes.next()?];
                let digits = core::str::from_utf8(&digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
                let value = u8::from_str_radix(digits, 16).ok()?;
                if value.is_ascii_alphanumeric() || b"-._~".contains(&value) {
                    decoded.push(char::from(value));
                } else {
                    decoded.push('%');
                    decoded.push_str(&digits.to_ascii_uppercase());
                }
            }
            // What can't be in a path isn't compared.
            0x21..=0x7e if !b"\"<>\\^`{|}?#".contains(byte) => decoded.push(char::from(*byte)),
            _ => return None,
        }
    }
    Some(without_dots(&decoded))
}

/// RFC 3986 §5.2.4. An empty path is `/` (§6.2.3).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                // What ends in dots ends in a slash without them.
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{PublicUrl, normal_path};

    #[test]
    fn a_public_url_is_absolute_and_has_nothing_after_its_path() {
        for url in ["https://a", "http://localhost:8080", "https://a/v1", "https://[::1]:8443/a/b", "HTTPS://A.example"]
        {
            assert!(PublicUrl::parse(url).is_some(), "{url}");
        }
        for url in [
            "",
            "a",
            "/a",
            "https://",
            "https:///a",
            "https://a/",
            "https://a?b",
            "https://a#b",
            "https://u@a",
            "ftp://a",
            "https://a b",
            "https://a:x",
            "https://a:65536",
            "https://a/%zz",
            "https://[a]",
            "//a",
            "https://a/\\b",
        ] {
            assert_eq!(PublicUrl::parse(url), None, "{url}");
        }
    }

    #[test]
    fn only_equivalent_urls_are_the_same() {
        let base = PublicUrl::parse("https://api.example.com/v1").unwrap();
        let table: &[(&str, &[u8], bool)] = &[
            ("https://api.example.com/v1/orders", b"/orders", true),
            ("https://api.example.com/v1/orders", b"/orders?a=b", true),
            ("https://api.example.com/v1/orders?x#y", b"/orders", true),
            ("HTTPS://API.Example.com:443/v1/orders", b"/orders", true),
            ("https://api.example.com:/v1/orders", b"/orders", true),
            ("https://api.example.com/v1/x/../orders", b"/orders", true),
            ("https://api.example.com/v1/%6frders", b"/orders", true),
            ("https://api.example.com/v1/a%2fb", b"/a%2Fb", true),
            ("https://api.example.com/v1/a%2fb", b"/a/b", false),
            ("https://api.example.com/v1/a%20b", b"/a%20b", true),
            ("https://api.example.com/v1/a b", b"/a%20b", false),
            ("https://api.example.com/v1/orders/", b"/orders", false),
            ("https://api.example.com/v1//orders", b"/orders", false),
            ("https://api.example.com/v1/Orders", b"/orders", false),
            ("https://api.example.com/orders", b"/orders", false),
            ("https://api.example.com:444/v1/orders", b"/orders", false),
            ("http://api.example.com/v1/orders", b"/orders", false),
            ("https://u@api.example.com/v1/orders", b"/orders", false),
            ("https://api.example.com.evil.test/v1/orders", b"/orders", false),
            ("https://evil.test/https://api.example.com/v1/orders", b"/orders", false),
            ("//api.example.com/v1/orders", b"/orders", false),
            ("/v1/orders", b"/orders", false),
            ("", b"/orders", false),
            ("https://api.example.com/v1/orders", b"orders", false),
            ("https://api.example.com/v1*", b"*", false),
            ("https://api.example.com/v1/", b"/", true),
            ("https://api.example.com/v1", b"/", false),
        ];
        for (htu, target, is_same) in table {
            assert_eq!(base.has(htu, target), *is_same, "{htu} {}", target.escape_ascii());
        }
        let bare = PublicUrl::parse("http://localhost:80").unwrap();
        for htu in [
            "http://localhost",
            "http://localhost/",
            "http://LOCALHOST:80/",
            "http://localhost/.",
            "http://localhost/a/..",
        ] {
            assert!(bare.has(htu, b"/"), "{htu}");
        }
        assert!(PublicUrl::parse("https://[::1]:8443").unwrap().has("https://[::1]:8443/a", b"/a"));
    }

    /// The examples of RFC 3986, §5.2.4 and §6.2.2.
    #[test]
    fn paths_have_one_normal_form() {
        for (path, normal) in [
            ("/a/b/c/./../../g", "/a/g"),
            ("/mid/content=5/../6", "/mid/6"),
            ("/b/./c/../%7bfoo%7d", "/b/%7Bfoo%7D"),
            ("/%61%2D%2e%5F%7e", "/a-._~"),
            ("/a/.", "/a/"),
            ("/a/..", "/"),
            ("/..", "/"),
            ("/../a", "/a"),
            ("", "/"),
            ("/a//b/../c", "/a//c"),
            ("/%2e%2E/a", "/a"),
            ("/...", "/..."),
            ("/a/b/..", "/a/"),
        ] {
            assert_eq!(normal_path(path.as_bytes()).as_deref(), Some(normal), "{path}");
            assert_eq!(normal_path(normal.as_bytes()).as_deref(), Some(normal), "{path}");
        }
        for path in ["/%", "/%4", "/%4g", "/%+1", "/\u{e9}", "/a b", "/\\", "/a\0"] {
            assert_eq!(normal_path(path.as_bytes()), None, "{path}");
        }
    }
}
