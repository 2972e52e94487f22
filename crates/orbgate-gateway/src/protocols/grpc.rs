//! Envoy's `ext_authz` over gRPC: requests and responses as messages. The responses are equivalent to those
//! over HTTP.

use core::convert::Infallible;
use core::future::{Ready, ready};
use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use envoy_types::ext_authz::v3::pb::{
    self, CheckRequest, CheckResponse, DeniedHttpResponse, HeaderAppendAction, HeaderValueOption, HttpResponse,
    HttpStatus, OkHttpResponse,
};
use envoy_types::pb::envoy::service::auth::v3::attribute_context::HttpRequest;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use envoy_types::pb::google::rpc;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::WithTrailers;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use prost::Message as _;

use crate::authorize::answers::{ALLOWED, HttpAnswer, OVERLOADED};
use crate::authorize::errors::RequestError;
use crate::authorize::question::{Headers, Question};
use crate::config::Limits;
use crate::config::mode::{Mode, is_foreign};
use crate::config::promises::is_identity;
use crate::protocols::authorizer::Authorizer;
use crate::protocols::body::{Unread, whole};
use crate::protocols::service::{Protocol, Service};

mod code {
    pub(super) const OK: i32 = 0;
    pub(super) const PERMISSION_DENIED: i32 = 7;
    pub(super) const UNIMPLEMENTED: i32 = 12;
    pub(super) const UNAVAILABLE: i32 = 14;
    pub(super) const UNAUTHENTICATED: i32 = 16;
}

/// The maximum size of a message: headers and, if Envoy is configured to send it, a body, which is
/// ignored.
const LARGEST: usize = 1024 * 1024;

/// The bytes before a message: whether it is compressed, and its length.
const BEFORE: usize = 5;

const CHECK: &str = "/envoy.service.auth.v3.Authorization/Check";

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// Responds to Envoy in gRPC messages.
///
/// A message that can't be read is also denied with a message, because with `failure_mode_allow`, Envoy treats a gRPC
/// error status as an allow. A gRPC server library would respond with such a status, so none is used.
pub(crate) struct Grpc {
    authorizer: Arc<Authorizer>,
    limits: Limits,
}

/// The body of a response: a message, followed by the status of the call.
type GrpcBody = WithTrailers<Full<Bytes>, Ready<Option<Result<HeaderMap, Infallible>>>>;

impl Grpc {
    pub(crate) const fn new(authorizer: Arc<Authorizer>, limits: Limits) -> Self {
        Self { authorizer, limits }
    }

    /// The message of a request, which must be the only one.
    async fn read(&self, request: Request<Incoming>) -> Result<CheckRequest, RequestError> {
        let (head, body) = request.into_parts();
        let mut kinds = head.headers.get_all(CONTENT_TYPE).iter();
        let is_grpc = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/grpc");
        if !kinds.next().is_some_and(is_grpc) || kinds.next().is_some() {
            return Err(RequestError::Unclear);
        }
        let most = LARGEST.saturating_add(BEFORE);
        match whole(body, most, self.limits.idle, &self.authorizer.bodies).await {
            Ok(body) => only(body),
            Err(Unread::TooMany) => Err(RequestError::Overloaded),
            Err(Unread::TooLarge) => Err(RequestError::MessageTooLarge),
            Err(Unread::TooSlow | Unread::NotWhole) => Err(RequestError::Unclear),
        }
    }
}

impl Service for Grpc {
    type Entrance = Authorizer;
    type Body = GrpcBody;

    const PROTOCOL: Protocol = Protocol::Http2;

    fn entrance(&self) -> &Authorizer {
        &self.authorizer
    }

    async fn overloaded(&self, _: Request<Incoming>) -> Response<GrpcBody> {
        response(Some(message(&self.authorizer.past_capacity())), code::OK)
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<GrpcBody> {
        if request.uri().path() != CHECK {
            return response(None, code::UNIMPLEMENTED);
        }
        let read = self.read(request).await;
        let Some(_permit) = self.authorizer.permit() else {
            return response(Some(message(&self.authorizer.past_capacity())), code::OK);
        };
        let question = read.as_ref().map_err(|error| *error);
        let question = question.and_then(|it| question_of(it, self.limits.header_bytes));
        response(Some(message(&self.authorizer.ask(question).await)), code::OK)
    }
}

/// The message encoded in these bytes.
fn only(mut bytes: Bytes) -> Result<CheckRequest, RequestError> {
    let (flag, length) = match bytes.get(..BEFORE) {
        Some(&[flag, a, b, c, d]) => (flag, u32::from_be_bytes([a, b, c, d])),
        _ => return Err(RequestError::Unclear),
    };
    bytes.advance(BEFORE);
    // A compressed message could expand to any size.
    if flag != 0 || usize::try_from(length) != Ok(bytes.len()) {
        return Err(RequestError::Unclear);
    }
    CheckRequest::decode(bytes).map_err(|_| RequestError::Unclear)
}

/// A response to a call: an optional message, and the gRPC status.
fn response(message: Option<CheckResponse>, status: i32) -> Response<GrpcBody> {
    let mut bytes = BytesMut::new();
    if let Some(message) = message {
        let length = message.encoded_len();
        bytes.reserve(BEFORE.saturating_add(length));
        bytes.put_u8(0);
        bytes.put_u32(u32::try_from(length).unwrap_or_default());
        bytes.extend_from_slice(&message.encode_to_vec());
    }
    let status = [(GRPC_STATUS, HeaderValue::from(status))];
    let after = HeaderMap::from_iter(status);
    let body = Full::new(bytes.freeze()).with_trailers(ready(Some(Ok(after))));
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// The authorization request in a message.
///
/// Its headers are counted as in HTTP/2, with 32 additional bytes for each (RFC 9113, 6.5.2).
///
/// With `encode_raw_headers`, Envoy sends headers as bytes, one item for each line. Without it, Envoy joins lines with
/// `,` and replaces bytes that aren't UTF-8 with `!`, so the original of a `!` in the path is unknown.
fn question_of(request: &CheckRequest, header_bytes: usize) -> Result<Question<'_>, RequestError> {
    let attributes = request.attributes.as_ref();
    let http = attributes.and_then(|attributes| attributes.request.as_ref()?.http.as_ref());
    let http = http.ok_or(RequestError::Unclear)?;
    let headers = headers(http);
    let sizes = headers.iter();
    let sizes = sizes.map(|(name, value)| name.len().saturating_add(value.len()));
    if sizes.fold(0, |all: usize, size| all.saturating_add(size).saturating_add(32)) > header_bytes {
        return Err(RequestError::HeadersTooLarge);
    }
    let named = |wanted: &str| {
        let all = headers.iter().filter(move |(name, _)| *name == wanted);
        all.map(|(_, value)| *value).collect::<Vec<_>>()
    };
    if headers.iter().any(|(name, _)| is_foreign(name, Mode::EnvoyGrpc)) {
        return Err(RequestError::Foreign);
    }
    let target = match (&http.header_map, named(":path").as_slice()) {
        (Some(_), [path]) => *path,
        (None, _) if !http.path.contains('!') => http.path.as_bytes(),
        _ => return Err(RequestError::Unclear),
    };
    let method = http.method.as_bytes();
    Ok(Question::new(method, target, Headers::of(headers)))
}

/// The headers, with their names in lower case, as Envoy sends them.
fn headers(http: &HttpRequest) -> Vec<(&str, &[u8])> {
    match &http.header_map {
        Some(map) => {
            let headers = map.headers.iter();
            headers
                .map(|header| {
                    let value = match header.raw_value.as_slice() {
                        [] => header.value.as_bytes(),
                        raw => raw,
                    };
                    (header.key.as_str(), value)
                })
                .collect()
        }
        None => {
            let headers = http.headers.iter();
            headers.map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
        }
    }
}

/// A response as a message. It is never the default message, which Envoy treats as an allow.
fn message(answer: &HttpAnswer) -> CheckResponse {
    let is_allow = answer.status() == ALLOWED;
    let code = match answer.status() {
        ALLOWED => code::OK,
        StatusCode::UNAUTHORIZED => code::UNAUTHENTICATED,
        OVERLOADED => code::UNAVAILABLE,
        _ => code::PERMISSION_DENIED,
    };
    let headers = options(answer.headers());
    let http_response = if is_allow {
        HttpResponse::OkResponse(OkHttpResponse { headers, ..OkHttpResponse::default() })
    } else {
        HttpResponse::DeniedResponse(DeniedHttpResponse {
            status: Some(HttpStatus { code: i32::from(answer.status().as_u16()) }),
            headers,
            ..DeniedHttpResponse::default()
        })
    };
    CheckResponse {
        status: Some(rpc::Status { code, ..rpc::Status::default() }),
        dynamic_metadata: Some(metadata(answer.headers())),
        http_response: Some(http_response),
    }
}

fn options(headers: &HeaderMap) -> Vec<HeaderValueOption> {
    let options = texts(headers).map(|(key, value)| HeaderValueOption {
        header: Some(pb::HeaderValue { key: key.to_owned(), value: value.to_owned(), raw_value: Vec::new() }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
        ..HeaderValueOption::default()
    });
    options.collect()
}

/// The same values for other Envoy filters: logs, rate limits, RBAC. A charge is a number, as rate limits require, and
/// is absent if no amount is stated.
fn metadata(headers: &HeaderMap) -> Struct {
    // Metadata gets into logs, so it doesn't tell who calls.
    let fields = texts(headers).filter(|(name, _)| !is_identity(name)).filter_map(|(name, value)| {
        let kind = match name.ends_with("-charge") {
            true => Kind::NumberValue(value.parse().ok()?),
            false => Kind::StringValue(value.to_owned()),
        };
        let kind = Some(kind);
        Some((name.to_owned(), Value { kind }))
    });
    Struct { fields: fields.collect::<HashMap<_, _>>() }
}

fn texts(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let fields = headers.iter().filter(|(name, _)| **name != CONTENT_LENGTH);
    fields.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
}

#[cfg(test)]
mod tests {
    use envoy_types::ext_authz::v3::pb::{CheckRequest, CheckResponse, HttpResponse};
    use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
    use envoy_types::pb::envoy::service::auth::v3::AttributeContext;
    use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Request};

    use super::{HeaderAppendAction, Kind, message, question_of};
    use crate::authorize::answers::{HttpAnswer, OVERLOADED, REFUSED, refused};
    use crate::authorize::errors::RequestError;
    use crate::config::promises::Promises;

    fn asks(http: HttpRequest) -> CheckRequest {
        let request = Request { http: Some(http), ..Request::default() };
        let attributes = AttributeContext { request: Some(request), ..AttributeContext::default() };
        CheckRequest { attributes: Some(attributes) }
    }

    fn target(http: HttpRequest) -> Result<Vec<u8>, RequestError> {
        let request = asks(http);
        let question = question_of(&request, usize::MAX)?;
        Ok(question.request().target.to_owned())
    }

    /// A request with these header lines as bytes.
    fn raw(path: &str, lines: &[(&str, &[u8])]) -> HttpRequest {
        let headers = lines.iter().map(|(key, value)| HeaderValue {
            key: (*key).to_owned(),
            value: String::new(),
            raw_value: value.to_vec(),
        });
        HttpRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            header_map: Some(HeaderMap { headers: headers.collect() }),
            ..HttpRequest::default()
        }
    }

    #[test]
    fn the_target_is_in_the_bytes_that_the_backend_gets_or_there_is_no_question() {
        assert_eq!(question_of(&CheckRequest::default(), usize::MAX).unwrap_err(), RequestError::Unclear);
        let no_http = CheckRequest { attributes: Some(AttributeContext::default()) };
        assert_eq!(question_of(&no_http, usize::MAX).unwrap_err(), RequestError::Unclear);
        let path = b"/store/\xe9";
        assert_eq!(target(raw("/store/!", &[(":path", path)])), Ok(path.to_vec()));
        assert_eq!(target(raw("/store", &[])), Err(RequestError::Unclear));
        let twice: [(&str, &[u8]); 2] = [(":path", b"/a"), (":path", b"/b")];
        assert_eq!(target(raw("/a", &twice)), Err(RequestError::Unclear));
        let joined = |path: &str| HttpRequest { path: path.to_owned(), ..HttpRequest::default() };
        assert_eq!(target(joined("/store?a")), Ok(b"/store?a".to_vec()));
        assert_eq!(target(joined("/store/!")), Err(RequestError::Unclear));
        assert_eq!(target(joined("")), Ok(Vec::new()));
        let foreign: [(&str, &[u8]); 2] = [(":path", b"/a"), ("x_forwarded-uri", b"/b")];
        assert_eq!(target(raw("/a", &foreign)), Err(RequestError::Foreign));
    }

    #[test]
    fn each_line_of_authorization_is_one_value() {
        let lines: [(&str, &[u8]); 3] =
            [(":path", b"/a"), ("authorization", b"Bearer a"), ("authorization", b"Bearer b")];
        let request = asks(raw("/a", &lines));
        let question = question_of(&request, usize::MAX).unwrap();
        let values: [&[u8]; 2] = [b"Bearer a", b"Bearer b"];
        assert_eq!(question.request().authorization, values);
    }

    #[test]
    fn the_metadata_has_a_charge_only_as_a_number() {
        let charge = |text: &'static str| {
            let mut answer = HttpAnswer::default();
            let headers = answer.headers_mut();
            headers.insert("x-orb-charge", http::HeaderValue::from_static(text));
            let fields = message(&answer).dynamic_metadata.unwrap().fields;
            fields.get("x-orb-charge").and_then(|value| value.kind.clone())
        };
        assert_eq!(charge("5"), Some(Kind::NumberValue(5.0)));
        assert_eq!(charge("0"), Some(Kind::NumberValue(0.0)));
        assert_eq!((charge("unstated"), charge("-")), (None, None));
    }

    #[test]
    fn the_metadata_never_tells_who_calls() {
        let mut answer = HttpAnswer::default();
        for name in ["x-orb-token-subject", "x-acme-token-client", "x-orb-token-issuer", "x-orb-token-kind"] {
            answer.headers_mut().insert(name, http::HeaderValue::from_static("a"));
        }
        let message = message(&answer);
        let fields = message.dynamic_metadata.unwrap().fields;
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["x-orb-token-kind"]);
        let Some(HttpResponse::OkResponse(allowed)) = message.http_response else { panic!("no allow") };
        assert_eq!(allowed.headers.len(), 4);
    }

    /// The client's copies of the promised headers are replaced; their other spellings are denied.
    #[test]
    fn an_allow_replaces_the_headers_of_the_client() {
        let mut answer = HttpAnswer::default();
        for (name, value) in [("x-orb-scope", "read:orbs"), ("content-length", "0")] {
            let value = http::HeaderValue::from_static(value);
            answer.headers_mut().insert(name, value);
        }
        let Some(HttpResponse::OkResponse(allowed)) = message(&answer).http_response else { panic!("no allow") };
        let [option] = &*allowed.headers else { panic!("{:?}", allowed.headers) };
        let header = option.header.as_ref().unwrap();
        let both = (header.key.as_str(), header.value.as_str());
        assert_eq!(both, ("x-orb-scope", "read:orbs"));
        let replaces = HeaderAppendAction::OverwriteIfExistsOrAdd;
        assert_eq!(option.append_action(), replaces);
    }

    #[test]
    fn no_message_allows_but_that_of_an_allow() {
        let promises = Promises::new(Promises::PREFIX, false).unwrap();
        for (status, code) in [(REFUSED, 7), (OVERLOADED, 14), (http::StatusCode::UNAUTHORIZED, 16)] {
            let message = message(&refused(&promises, status));
            assert_eq!(message.status.unwrap().code, code);
            let Some(HttpResponse::DeniedResponse(denied)) = message.http_response else { panic!("{status}") };
            assert_eq!(denied.status.unwrap().code, i32::from(status.as_u16()));
            assert_eq!(denied.headers.len(), 9);
        }
        // Only the status decides; hyper's default response is 200.
        let allowed = message(&HttpAnswer::default());
        assert_eq!(allowed.status.as_ref().unwrap().code, 0);
        assert!(matches!(allowed.http_response, Some(HttpResponse::OkResponse(_))));
        assert_ne!(allowed, CheckResponse::default());
    }
}
