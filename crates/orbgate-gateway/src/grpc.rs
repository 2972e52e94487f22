//! Envoy's `ext_authz` over gRPC: question and answer as messages. The answer is that over HTTP in other words.

use core::net::IpAddr;
use std::collections::HashMap;
use std::sync::Arc;

use envoy_types::ext_authz::v3::pb::{
    Authorization, AuthorizationServer, CheckRequest, CheckResponse, DeniedHttpResponse,
    HeaderAppendAction, HeaderValue, HeaderValueOption, HttpResponse, HttpStatus, OkHttpResponse,
};
use envoy_types::pb::envoy::service::auth::v3::attribute_context::HttpRequest;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use envoy_types::pb::google::rpc;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Request, Response, StatusCode};
use hyper::body::Incoming;
use rustls::ServerConfig;
use tonic::Code;
use tower_service::Service as _;

use crate::answers::{ALLOWED, HttpAnswer, OVERLOADED, REMOVE};
use crate::authorizer::Authorizer;
use crate::connection::{Protocol, Service};
use crate::faults::Fault;
use crate::mode::{Mode, is_foreign};
use crate::question::Question;

/// The largest message: headers, and a body where Envoy is set to send it, of which nothing is read.
const LARGEST: usize = 1024 * 1024;

/// Answers Envoys in messages.
pub(crate) struct Grpc {
    authorizer: Arc<Authorizer>,
    server: AuthorizationServer<Asked>,
    /// Of the connections past the limit.
    past_capacity: AuthorizationServer<Full>,
}

/// What the messages ask.
struct Asked(Arc<Authorizer>);

/// Denies every message. A status of gRPC instead would allow where `failure_mode_allow` is set.
struct Full(Arc<Authorizer>);

impl Grpc {
    pub(crate) fn new(authorizer: Arc<Authorizer>) -> Self {
        let server = AuthorizationServer::new(Asked(Arc::clone(&authorizer)));
        let server = server.max_decoding_message_size(LARGEST);
        let past_capacity = AuthorizationServer::new(Full(Arc::clone(&authorizer)));
        let past_capacity = past_capacity.max_decoding_message_size(LARGEST);
        Self {
            authorizer,
            server,
            past_capacity,
        }
    }
}

impl Service for Grpc {
    type Body = tonic::body::Body;

    const PROTOCOL: Protocol = Protocol::Http2;

    fn trusts(&self, peer: Option<IpAddr>) -> bool {
        self.authorizer.trusts(peer)
    }

    fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.authorizer.tls()
    }

    fn note(&self, fault: Fault) {
        self.authorizer.note(fault);
    }

    async fn overloaded(&self, request: Request<Incoming>) -> Response<Self::Body> {
        let Ok(response) = self.past_capacity.clone().call(request).await;
        response
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Self::Body> {
        let Ok(response) = self.server.clone().call(request).await;
        response
    }
}

#[tonic::async_trait]
impl Authorization for Asked {
    async fn check(
        &self,
        request: tonic::Request<CheckRequest>,
    ) -> Result<tonic::Response<CheckResponse>, tonic::Status> {
        let request = request.into_inner();
        let answer = self.0.ask(question(&request)).await;
        Ok(tonic::Response::new(message(&answer)))
    }
}

#[tonic::async_trait]
impl Authorization for Full {
    async fn check(
        &self,
        _: tonic::Request<CheckRequest>,
    ) -> Result<tonic::Response<CheckResponse>, tonic::Status> {
        Ok(tonic::Response::new(message(&self.0.past_capacity())))
    }
}

/// The question of a message.
///
/// With `encode_raw_headers` Envoy sends headers as bytes, one item a line. Without, it joins lines by `,`, and writes `!` for bytes
/// that are not UTF-8: then nothing tells what a `!` in the path was.
fn question(request: &CheckRequest) -> Result<Question<'_>, Fault> {
    let attributes = request.attributes.as_ref();
    let http = attributes.and_then(|attributes| attributes.request.as_ref()?.http.as_ref());
    let http = http.ok_or(Fault::Unclear)?;
    let headers = headers(http);
    let named = |wanted: &str| {
        let all = headers.iter().filter(move |(name, _)| *name == wanted);
        all.map(|(_, value)| *value).collect::<Vec<_>>()
    };
    if headers
        .iter()
        .any(|(name, _)| is_foreign(name, Mode::EnvoyGrpc))
    {
        return Err(Fault::Foreign);
    }
    let target = match (&http.header_map, named(":path").as_slice()) {
        (Some(_), [path]) => *path,
        (None, _) if !http.path.contains('!') => http.path.as_bytes(),
        _ => return Err(Fault::Unclear),
    };
    let names = headers.iter().map(|(name, _)| name.as_bytes());
    Ok(Question::new(
        http.method.as_bytes(),
        target,
        named("authorization"),
        names.collect(),
    ))
}

/// The headers, with their names in lower case as Envoy has them.
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
            headers
                .map(|(name, value)| (name.as_str(), value.as_bytes()))
                .collect()
        }
    }
}

/// An answer as a message. It is never the default one, which Envoy takes for an allow.
fn message(answer: &HttpAnswer) -> CheckResponse {
    let is_allow = answer.status() == ALLOWED;
    let code = match answer.status() {
        ALLOWED => Code::Ok,
        StatusCode::UNAUTHORIZED => Code::Unauthenticated,
        OVERLOADED => Code::Unavailable,
        _ => Code::PermissionDenied,
    };
    let headers = options(answer.headers());
    let http_response = if is_allow {
        let removed = answer.headers().get(REMOVE);
        let removed = removed.and_then(|names| names.to_str().ok());
        let removed = removed.unwrap_or_default().split(',');
        HttpResponse::OkResponse(OkHttpResponse {
            headers,
            headers_to_remove: removed.map(str::to_owned).collect(),
            ..OkHttpResponse::default()
        })
    } else {
        HttpResponse::DeniedResponse(DeniedHttpResponse {
            status: Some(HttpStatus {
                code: i32::from(answer.status().as_u16()),
            }),
            headers,
            ..DeniedHttpResponse::default()
        })
    };
    CheckResponse {
        status: Some(rpc::Status {
            code: code.into(),
            ..rpc::Status::default()
        }),
        dynamic_metadata: Some(metadata(answer.headers())),
        http_response: Some(http_response),
    }
}

/// Headers that take the place of what is there.
fn options(headers: &HeaderMap) -> Vec<HeaderValueOption> {
    let options = texts(headers).map(|(key, value)| HeaderValueOption {
        header: Some(HeaderValue {
            key: key.to_owned(),
            value: value.to_owned(),
            raw_value: Vec::new(),
        }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
        ..HeaderValueOption::default()
    });
    options.collect()
}

/// The same for other filters of Envoy: logs, rate limits, RBAC.
fn metadata(headers: &HeaderMap) -> Struct {
    let fields = texts(headers).map(|(name, value)| {
        let kind = Some(Kind::StringValue(value.to_owned()));
        (name.to_owned(), Value { kind })
    });
    Struct {
        fields: fields.collect::<HashMap<_, _>>(),
    }
}

fn texts(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let said = headers.iter();
    let said = said.filter(|(name, _)| **name != REMOVE && **name != CONTENT_LENGTH);
    said.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
}

#[cfg(test)]
mod tests {
    use envoy_types::ext_authz::v3::pb::{CheckRequest, CheckResponse, HttpResponse};
    use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
    use envoy_types::pb::envoy::service::auth::v3::AttributeContext;
    use envoy_types::pb::envoy::service::auth::v3::attribute_context::{HttpRequest, Request};

    use super::{message, question};
    use crate::answers::{HttpAnswer, OVERLOADED, REFUSED, refused};
    use crate::faults::Fault;
    use crate::promises::Promises;

    fn asks(http: HttpRequest) -> CheckRequest {
        let request = Request {
            http: Some(http),
            ..Request::default()
        };
        let attributes = AttributeContext {
            request: Some(request),
            ..AttributeContext::default()
        };
        CheckRequest {
            attributes: Some(attributes),
        }
    }

    fn target(http: HttpRequest) -> Result<Vec<u8>, Fault> {
        let request = asks(http);
        let question = question(&request)?;
        Ok(question.request().target.to_owned())
    }

    /// A request with these lines of headers as bytes.
    fn raw(path: &str, lines: &[(&str, &[u8])]) -> HttpRequest {
        let headers = lines.iter().map(|(key, value)| HeaderValue {
            key: (*key).to_owned(),
            value: String::new(),
            raw_value: value.to_vec(),
        });
        HttpRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            header_map: Some(HeaderMap {
                headers: headers.collect(),
            }),
            ..HttpRequest::default()
        }
    }

    #[test]
    fn the_target_is_in_the_bytes_that_the_backend_gets_or_there_is_no_question() {
        assert_eq!(
            question(&CheckRequest::default()).unwrap_err(),
            Fault::Unclear
        );
        let no_http = CheckRequest {
            attributes: Some(AttributeContext::default()),
        };
        assert_eq!(question(&no_http).unwrap_err(), Fault::Unclear);
        let path = b"/store/\xe9";
        assert_eq!(
            target(raw("/store/!", &[(":path", path)])),
            Ok(path.to_vec())
        );
        assert_eq!(target(raw("/store", &[])), Err(Fault::Unclear));
        let twice: [(&str, &[u8]); 2] = [(":path", b"/a"), (":path", b"/b")];
        assert_eq!(target(raw("/a", &twice)), Err(Fault::Unclear));
        let joined = |path: &str| HttpRequest {
            path: path.to_owned(),
            ..HttpRequest::default()
        };
        assert_eq!(target(joined("/store?a")), Ok(b"/store?a".to_vec()));
        assert_eq!(target(joined("/store/!")), Err(Fault::Unclear));
        assert_eq!(target(joined("")), Ok(Vec::new()));
        let foreign: [(&str, &[u8]); 2] = [(":path", b"/a"), ("x_forwarded-uri", b"/b")];
        assert_eq!(target(raw("/a", &foreign)), Err(Fault::Foreign));
    }

    #[test]
    fn each_line_of_authorization_is_one_value() {
        let lines: [(&str, &[u8]); 3] = [
            (":path", b"/a"),
            ("authorization", b"Bearer a"),
            ("authorization", b"Bearer b"),
        ];
        let request = asks(raw("/a", &lines));
        let question = question(&request).unwrap();
        let values: [&[u8]; 2] = [b"Bearer a", b"Bearer b"];
        assert_eq!(question.request().authorization, values);
    }

    #[test]
    fn no_message_allows_but_that_of_an_allow() {
        let promises = Promises::new(Promises::PREFIX).unwrap();
        for (status, code) in [
            (REFUSED, 7),
            (OVERLOADED, 14),
            (http::StatusCode::UNAUTHORIZED, 16),
        ] {
            let message = message(&refused(&promises, status));
            assert_eq!(message.status.unwrap().code, code);
            let Some(HttpResponse::DeniedResponse(denied)) = message.http_response else {
                panic!("{status}")
            };
            assert_eq!(denied.status.unwrap().code, i32::from(status.as_u16()));
            assert_eq!(denied.headers.len(), 8);
        }
        // Nothing but the status decides; the answer of hyper's default is 200.
        let allowed = message(&HttpAnswer::default());
        assert_eq!(allowed.status.as_ref().unwrap().code, 0);
        assert!(matches!(
            allowed.http_response,
            Some(HttpResponse::OkResponse(_))
        ));
        assert_ne!(allowed, CheckResponse::default());
    }
}
