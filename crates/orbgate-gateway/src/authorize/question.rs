//! Reads a proxy's authorization request from the headers of its mode.

use http::HeaderMap;
use http::request::Parts;

use crate::authorize::errors::RequestError;
use crate::config::mode::{Mode, is_foreign};
use crate::config::promises::Promises;

/// An authorization request, in the bytes that the proxy sent.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    method: &'q [u8],
    target: &'q [u8],
    headers: Headers<'q>,
}

/// The headers of the client's request that a gate reads.
#[derive(Debug, Default)]
pub(crate) struct Headers<'q> {
    authorization: Vec<&'q [u8]>,
    dpop: Vec<&'q [u8]>,
    upgrade: Vec<&'q [u8]>,
    origin: Vec<&'q [u8]>,
    requested_method: Vec<&'q [u8]>,
    names: Vec<&'q [u8]>,
}

impl<'q> Headers<'q> {
    /// Reads header lines whose names are in lower case.
    pub(crate) fn of(lines: impl IntoIterator<Item = (&'q str, &'q [u8])>) -> Self {
        let mut headers = Self::default();
        for (name, value) in lines {
            headers.names.push(name.as_bytes());
            match name {
                "authorization" => headers.authorization.push(value),
                "dpop" => headers.dpop.push(value),
                "upgrade" => headers.upgrade.push(value),
                "origin" => headers.origin.push(value),
                "access-control-request-method" => headers.requested_method.push(value),
                _ => {}
            }
        }
        headers
    }

    /// Reads all lines of a request.
    pub(crate) fn of_map(headers: &'q HeaderMap) -> Self {
        Self::of(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
    }
}

impl<'q> Question<'q> {
    /// Reads the request, and only the headers of its mode.
    ///
    /// Without `encode_raw_headers`, Envoy writes `!` for bytes that aren't UTF-8, which it accepts from HTTP/2
    /// clients. Over HTTP, the gateway can't tell whether that setting is on, so a path that contains `!` might not be
    /// the client's.
    pub(crate) fn read(mode: Mode, parts: &'q Parts) -> Result<Self, RequestError> {
        let headers = &parts.headers;
        if headers.keys().any(|name| is_foreign(name.as_str(), mode)) {
            return Err(RequestError::Foreign);
        }
        let (method, target) = match mode.headers() {
            Some([method, target]) => (one(headers, method)?, one(headers, target)?),
            None => (parts.method.as_str().as_bytes(), target_of(parts)),
        };
        if mode == Mode::EnvoyHttp && target.iter().take_while(|byte| **byte != b'?').any(|byte| *byte == b'!') {
            return Err(RequestError::Unclear);
        }
        Ok(Self::new(method, target, Headers::of_map(headers)))
    }

    pub(crate) const fn new(method: &'q [u8], target: &'q [u8], headers: Headers<'q>) -> Self {
        Self { method, target, headers }
    }

    /// The same request, unless the client has forged one of the gateway's headers.
    pub(crate) fn unforged(self, promises: &Promises) -> Result<Self, RequestError> {
        match self.headers.names.iter().any(|name| promises.is_forged(name)) {
            true => Err(RequestError::Forged),
            false => Ok(self),
        }
    }

    /// The request in the form that the gate takes.
    pub(crate) fn request(&self) -> orbgate_gate::Request<'_> {
        orbgate_gate::Request {
            method: self.method,
            target: self.target,
            authorization: &self.headers.authorization,
            dpop: &self.headers.dpop,
            upgrade: &self.headers.upgrade,
            origin: &self.headers.origin,
            access_control_request_method: &self.headers.requested_method,
            header_names: &self.headers.names,
            // The proxy does its own routing, and the request comes without a body.
            ..orbgate_gate::Request::default()
        }
    }
}

fn one<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<&'h [u8], RequestError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value.as_bytes()),
        (None, _) => Err(RequestError::Missing(name)),
        (Some(_), Some(_)) => Err(RequestError::Repeated(name)),
    }
}

/// The target, if the request itself is to be authorized. Empty if it isn't in origin form, which the engine rejects.
fn target_of(parts: &Parts) -> &[u8] {
    match (parts.uri.authority(), parts.uri.path_and_query()) {
        (None, Some(target)) => target.as_str().as_bytes(),
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::Question;
    use crate::authorize::errors::RequestError;
    use crate::config::mode::Mode;

    fn read(mode: Mode, headers: &[(&str, &str)]) -> Result<(Vec<u8>, Vec<u8>), RequestError> {
        let request = Request::builder().method("PUT").uri("/store?x=1");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let parts = request.body(()).unwrap().into_parts().0;
        let question = Question::read(mode, &parts)?;
        let request = question.request();
        Ok((request.method.to_owned(), request.target.to_owned()))
    }

    #[test]
    fn each_mode_has_its_question_in_one_location() {
        let expected = Ok((b"POST".to_vec(), b"/a/%2e?b".to_vec()));
        let original = [("X-Original-Method", "POST"), ("X-Original-URI", "/a/%2e?b")];
        let forwarded = [("X-Forwarded-Method", "POST"), ("X-Forwarded-Uri", "/a/%2e?b")];
        assert_eq!(read(Mode::Nginx, &original), expected);
        assert_eq!(read(Mode::ForwardAuth, &forwarded), expected);
        assert_eq!(read(Mode::EnvoyHttp, &[]), Ok((b"PUT".to_vec(), b"/store?x=1".to_vec())));
        for (mode, others) in [(Mode::Nginx, forwarded), (Mode::ForwardAuth, original), (Mode::EnvoyHttp, original)] {
            assert_eq!(read(mode, &others), Err(RequestError::Foreign), "{mode:?}");
        }
        let both = [original, forwarded].concat();
        for (_, mode) in Mode::NAMED.iter().copied() {
            assert_eq!(read(mode, &both), Err(RequestError::Foreign), "{mode:?}");
        }
    }

    /// What the gate is not given, it cannot refuse: an upgrade, a preflight, another method.
    #[test]
    fn a_gate_gets_every_header_that_it_reads_and_all_names() {
        let request = Request::builder()
            .uri("/store")
            .header("Authorization", "Bearer a")
            .header("DPoP", "b")
            .header("DPoP", "c")
            .header("Upgrade", "h2c")
            .header("Upgrade", "websocket")
            .header("Origin", "https://a.example")
            .header("Access-Control-Request-Method", "GET")
            .header("X-HTTP-Method-Override", "DELETE");
        let parts = request.body(()).unwrap().into_parts().0;
        let question = Question::read(Mode::EnvoyHttp, &parts).unwrap();
        let request = question.request();
        assert_eq!(request.authorization, [b"Bearer a"]);
        assert_eq!(request.dpop, [b"b", b"c"]);
        assert_eq!(request.upgrade, [&b"h2c"[..], b"websocket"]);
        assert_eq!(request.origin, [b"https://a.example"]);
        assert_eq!(request.access_control_request_method, [b"GET"]);
        let names = request.header_names;
        assert_eq!(names.len(), 8);
        assert!(names.contains(&&b"x-http-method-override"[..]));
    }

    #[test]
    fn a_path_of_envoy_that_may_have_lost_bytes_is_no_question() {
        let read = |target: &str| {
            let request = Request::builder().uri(target).body(()).unwrap();
            let parts = request.into_parts().0;
            Question::read(Mode::EnvoyHttp, &parts).map(|_| ())
        };
        assert_eq!(read("/files/!"), Err(RequestError::Unclear));
        assert_eq!(read("/files/!?a"), Err(RequestError::Unclear));
        assert_eq!(read("/files/a?b=!"), Ok(()));
    }

    #[test]
    fn a_header_is_there_once_and_has_no_second_spelling() {
        let (method, target) = (("X-Original-Method", "GET"), ("X-Original-URI", "/a"));
        let table: [(&[_], _); 6] = [
            (&[], RequestError::Missing("x-original-method")),
            (&[method], RequestError::Missing("x-original-uri")),
            (&[target], RequestError::Missing("x-original-method")),
            (&[method, target, target], RequestError::Repeated("x-original-uri")),
            (&[method, target, ("x_original_uri", "/b")], RequestError::Foreign),
            (&[method, target, ("X-Rewrite-URL", "/b")], RequestError::Foreign),
        ];
        for (headers, error) in table {
            assert_eq!(read(Mode::Nginx, headers), Err(error), "{headers:?}");
        }
    }
}
