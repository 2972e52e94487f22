//! The Authorization API of AuthZEN 1.0 over HTTP: allowed callers, paths and messages.

mod evaluate;
mod message;
mod search;

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::request::Parts as Head;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use orbgate_gate::Credentials;
use orbgate_yaml::Object;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::authorize::answers::{HttpAnswer, OVERLOADED, explained};
use crate::authorize::errors::RequestError;
use crate::authorize::question::{Headers, Question};
use crate::authorize::state::State;
use crate::config::authzen::Endpoint;
use crate::protocols::authorizer::Authorizer;
use crate::protocols::body::{Unread, whole};
use crate::protocols::service::{Entrance as _, Protocol, Service};

use self::evaluate::{Evaluator, Known, invalid};
use self::message::{Evaluation, Parts, Several, Subject};

const METADATA: &str = "/.well-known/authzen-configuration";

/// The maximum size of a message, in bytes.
const LARGEST: usize = 256 * 1024;

/// The maximum number of evaluations in a message.
const MOST: usize = 1_000;

/// What the text of a 503 is.
const TOO_MANY: &str = "too many requests at once";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Responds to programs that enforce decisions themselves.
pub(crate) struct Authzen {
    authorizer: Arc<Authorizer>,
    current: Arc<ArcSwap<State>>,
    patience: core::time::Duration,
}

type Refusal = (StatusCode, String);

impl Authzen {
    pub(crate) const fn new(
        authorizer: Arc<Authorizer>,
        current: Arc<ArcSwap<State>>,
        patience: core::time::Duration,
    ) -> Self {
        Self { authorizer, current, patience }
    }

    async fn asked(&self, request: Request<Incoming>) -> HttpAnswer {
        let Some(permit) = self.authorizer.permit() else {
            return overloaded();
        };
        let state = self.current.load_full();
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        if path == METADATA {
            return metadata(&head.method, state.config.authzen.url.as_deref());
        }
        if let Some(denied) = self.caller(&state, &head).await {
            return denied;
        }
        let Some(endpoint) = Endpoint::at(path) else {
            return refused((StatusCode::NOT_FOUND, "nothing is here".to_owned()));
        };
        if head.method != Method::POST {
            return only(Method::POST);
        }
        drop(permit);
        let read = self.body(&head.headers, body).await;
        let Some(_permit) = self.authorizer.permit() else {
            return overloaded();
        };
        let answered = match read {
            Ok(body) => answered(endpoint, &Evaluator::new(&state), &body).await,
            Err(refusal) => Err(refusal),
        };
        match answered {
            Ok(value) => json_answer(&value),
            Err(refusal) => refused(refusal),
        }
    }

    /// The denial of a caller that may not use the API, by the gate's own rules. `None` if callers need
    /// no token.
    async fn caller(&self, state: &State, head: &Head) -> Option<HttpAnswer> {
        let callers = state.callers.as_ref()?;
        let (method, target) = (head.method.as_str().as_bytes(), head.uri.path().as_bytes());
        let question = Question::new(method, target, Headers::of_map(&head.headers));
        let denial = callers.ask(question.request(), |answer| match (answer.decision.is_allow(), answer.denial) {
            (true, None) => None,
            (_, Some(denial)) => {
                let status = StatusCode::from_u16(denial.status).unwrap_or(StatusCode::FORBIDDEN);
                let mut response = refused((status, "the caller may not ask".to_owned()));
                response.headers_mut().extend(explained(&denial));
                Some(response)
            }
            (false, None) => Some(refused((StatusCode::FORBIDDEN, "the caller may not ask".to_owned()))),
        });
        denial.await
    }

    async fn body(&self, headers: &HeaderMap, body: Incoming) -> Result<Bytes, Refusal> {
        if !is_json(headers) {
            let message = "the `Content-Type` must be `application/json`";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        }
        let unread = match whole(body, LARGEST, self.patience, &self.authorizer.bodies).await {
            Ok(body) => return Ok(body),
            Err(unread) => unread,
        };
        Err(match unread {
            Unread::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, format!("the message has more than {LARGEST} bytes")),
            Unread::NotWhole => (StatusCode::BAD_REQUEST, "the message is not whole".to_owned()),
            Unread::TooMany => {
                self.authorizer.note(RequestError::Overloaded);
                (OVERLOADED, TOO_MANY.to_owned())
            }
            Unread::TooSlow => (StatusCode::REQUEST_TIMEOUT, "the message takes too long".to_owned()),
        })
    }
}

impl Service for Authzen {
    type Entrance = Authorizer;
    type Body = Full<Bytes>;

    const PROTOCOL: Protocol = Protocol::Http1;

    fn entrance(&self) -> &Authorizer {
        &self.authorizer
    }

    async fn overloaded(&self, _: Request<Incoming>) -> HttpAnswer {
        overloaded()
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        let id = request.headers().get(REQUEST_ID).cloned();
        let mut response = self.asked(request).await;
        if let Some(id) = id {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }
}

async fn answered(endpoint: Endpoint, evaluator: &Evaluator<'_>, body: &[u8]) -> Result<Value, Refusal> {
    Ok(match endpoint {
        Endpoint::Evaluation => evaluation(evaluator, body).await?,
        Endpoint::Evaluations => evaluations(evaluator, body).await?,
        Endpoint::Subjects => evaluator.subjects(&read(body)?),
        Endpoint::Resources => evaluator.resources(&read(body)?).await,
        Endpoint::Actions => evaluator.actions(&read(body)?).await,
    })
}

async fn evaluation(evaluator: &Evaluator<'_>, body: &[u8]) -> Result<Value, Refusal> {
    let question: Evaluation = read(body)?;
    let known = evaluator.known(&question.subject.0).await;
    Ok(evaluator.answer(&known, &question.action.0, &question.resource.0).1)
}

async fn evaluations(evaluator: &Evaluator<'_>, body: &[u8]) -> Result<Value, Refusal> {
    let several: Several = read(body)?;
    let items = several.evaluations.unwrap_or_default();
    if items.is_empty() {
        return evaluation(evaluator, body).await;
    }
    if items.len() > MOST {
        let message = format!("there are more than {MOST} evaluations");
        return Err((StatusCode::BAD_REQUEST, message));
    }
    let usually = known(evaluator, several.subject.as_ref()).await;
    let semantic = several.options.unwrap_or_default().0.evaluations_semantic;
    let mut answers = Vec::with_capacity(items.len());
    for item in items {
        let (decision, answer) = match serde_json::from_str::<Object<Parts>>(item.get()) {
            Err(error) => (false, invalid(400, &error.to_string())),
            Ok(Object(item)) => {
                let own = known(evaluator, item.subject.as_ref()).await;
                let known = own.as_ref().or(usually.as_ref());
                let action = item.action.as_ref().or(several.action.as_ref());
                let resource = item.resource.as_ref().or(several.resource.as_ref());
                match (known, action, resource) {
                    (Some(known), Some(action), Some(resource)) => evaluator.answer(known, &action.0, &resource.0),
                    _ => (false, invalid(400, "`subject`, `action` or `resource` is missing")),
                }
            }
        };
        answers.push(answer);
        if semantic.ends_with(decision) {
            break;
        }
    }
    Ok(json!({ "evaluations": answers }))
}

/// The properties of a subject that can be omitted.
async fn known(evaluator: &Evaluator<'_>, subject: Option<&Object<Subject>>) -> Option<Credentials<Known>> {
    match subject {
        Some(subject) => Some(evaluator.known(&subject.0).await),
        None => None,
    }
}

fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Refusal> {
    let read = serde_json::from_slice::<Object<T>>(body);
    let refusal = |error: serde_json::Error| (StatusCode::BAD_REQUEST, error.to_string());
    Ok(read.map_err(refusal)?.0)
}

/// Whether there is exactly one `Content-Type`, and it is JSON. It can have parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim();
    second.is_none() && kind.eq_ignore_ascii_case("application/json")
}

/// The metadata, with which programs discover the API. Not available without a configured URL.
fn metadata(method: &Method, url: Option<&str>) -> HttpAnswer {
    let Some(url) = url else {
        return refused((StatusCode::NOT_FOUND, "nothing is here".to_owned()));
    };
    if method != Method::GET {
        return only(Method::GET);
    }
    let endpoints = Endpoint::ALL.map(|(_, path, name)| (name.to_owned(), Value::from(format!("{url}{path}"))));
    let mut metadata = Map::from_iter(endpoints);
    metadata.insert("policy_decision_point".to_owned(), url.into());
    json_answer(&metadata.into())
}

fn json_answer(value: &Value) -> HttpAnswer {
    with_body(StatusCode::OK, "application/json", value.to_string())
}

/// A rejection, with its message as the body.
fn refused((status, message): Refusal) -> HttpAnswer {
    with_body(status, "text/plain; charset=utf-8", message)
}

fn overloaded() -> HttpAnswer {
    refused((OVERLOADED, TOO_MANY.to_owned()))
}

fn only(method: Method) -> HttpAnswer {
    let message = format!("only {method} is answered here");
    let mut response = refused((StatusCode::METHOD_NOT_ALLOWED, message));
    if let Ok(value) = HeaderValue::from_str(method.as_str()) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

fn with_body(status: StatusCode, kind: &'static str, body: String) -> HttpAnswer {
    let mut response = HttpAnswer::new(Full::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    //! What a point of decisions answers under load. A message with many tokens doesn't delay other clients' requests.

    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::fs;
    use std::sync::Arc;

    use serde_json::json;
    use tokio::runtime::Builder;

    use super::{Evaluator, answered, overloaded};
    use crate::authorize::answers::OVERLOADED;
    use crate::authorize::state::State;
    use crate::config::authzen::Endpoint;

    #[test]
    fn past_capacity_nothing_looks_like_an_answer() {
        assert_eq!(overloaded().status(), OVERLOADED);
    }

    #[test]
    fn a_message_with_many_tokens_lets_others_be_answered_between_them() {
        const TOKENS: usize = 500;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write(
            "gateway.yaml",
            "orbgate_gateway: 1\ntokens: tokens.yaml\nlisteners: [{ mode: authzen, listen: unix:/a }]\n",
        );
        write("tokens.yaml", include_str!("../../../../../examples/gateway/tokens.yaml"));
        let item =
            |at| json!({ "subject": { "type": "user", "id": "a", "properties": { "token": format!("t{at}") } } });
        let message = json!({
            "action": { "name": "GET" },
            "resource": { "type": "target", "id": "/api/v1/external/orbs" },
            "evaluations": (0..TOKENS).map(item).collect::<Vec<_>>(),
        });
        // With one worker, another task runs between two tokens.
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (answers, turns) = runtime.block_on(async {
            let state = State::look(&folder.join("gateway.yaml")).unwrap();
            assert!(!state.has_keys(), "no keys were fetched");
            let turns = Arc::<AtomicUsize>::default();
            let counted = Arc::clone(&turns);
            let other = tokio::spawn(async move {
                loop {
                    counted.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            });
            let body = message.to_string();
            let evaluator = Evaluator::new(&state);
            let answers = answered(Endpoint::Evaluations, &evaluator, body.as_bytes()).await;
            other.abort();
            (answers.unwrap(), turns.load(Ordering::Relaxed))
        });
        let answers = answers["evaluations"].as_array().unwrap().clone();
        assert_eq!(answers.len(), TOKENS);
        assert!(answers.iter().all(|it| it["context"]["reason"] == "invalid_token"), "{answers:?}");
        assert!(turns >= TOKENS, "{turns}");
    }
}
