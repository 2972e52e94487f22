//! The ledger as a service: commands as JSON, for gates in any language and for operators.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use orbgate_ledger::{
    AccountId, Accounts, Answer, Command, Cursor, Done, Each, Entries, Error, Extended, Freeze, Grant, Granted,
    HoldAnswer, Ledger, Listing, Millis, Note, Part, Period, Refund, Refusal, Revoke, Settled,
};
use orbgate_yaml::Object;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::authorize::answers::{HttpAnswer, OVERLOADED};
use crate::authorize::ledger::{Caller, Store};
use crate::authorize::measures;
use crate::authorize::state::State;
use crate::config::Role;
use crate::protocols::authorizer::Authorizer;
use crate::protocols::body::{Unread, whole};
use crate::protocols::grants;
use crate::protocols::service::{Protocol, Service};

/// The maximum size of a message, in bytes.
const LARGEST: usize = 512 * 1024;

/// The most entries of an answer.
const MOST: usize = 1_000;

/// The most commands of a message: gates read answers of at most 1 MiB, and a receipt with the longest names has 1,841 bytes.
const MOST_COMMANDS: usize = 500;

/// How long a store may take. Afterwards the command might be done or not.
const STORE_PATIENCE: Duration = Duration::from_secs(30);

/// What can be asked, in the order of [`Endpoint::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Hold,
    Extend,
    Settle,
    Grant,
    Revoke,
    Refund,
    Freeze,
    Balance,
    Holds,
    Entries,
    Accounts,
    Statement,
    Totals,
}

/// The roles that move orbs for calls.
const CALLS: &[Role] = &[Role::Gate, Role::Operator];
/// The roles that read.
const READERS: &[Role] = &[Role::Support, Role::Operator];
const OPERATORS: &[Role] = &[Role::Operator];

impl Endpoint {
    /// Each with its path, and all roles that may ask.
    const ALL: [(Self, &'static str, &'static [Role]); 13] = [
        (Self::Hold, "/v1/hold", CALLS),
        (Self::Extend, "/v1/extend", CALLS),
        (Self::Settle, "/v1/settle", CALLS),
        (Self::Grant, "/v1/grant", OPERATORS),
        (Self::Revoke, "/v1/revoke", OPERATORS),
        (Self::Refund, "/v1/refund", OPERATORS),
        (Self::Freeze, "/v1/freeze", OPERATORS),
        (Self::Balance, "/v1/balance", READERS),
        (Self::Holds, "/v1/holds", READERS),
        (Self::Entries, "/v1/entries", READERS),
        (Self::Accounts, "/v1/accounts", READERS),
        (Self::Statement, "/v1/statement", READERS),
        (Self::Totals, "/v1/totals", READERS),
    ];
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAccount {
    account: AccountId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    #[serde(default)]
    after: String,
    #[serde(default = "usual_limit")]
    limit: usize,
    /// Only those of this account.
    #[serde(default)]
    account: Option<AccountId>,
    /// Only those at this time or later.
    #[serde(default)]
    from: Option<Millis>,
    /// Only those before this time.
    #[serde(default)]
    to: Option<Millis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    #[serde(default)]
    at: Option<Millis>,
}

const fn usual_limit() -> usize {
    100
}

/// Why a message isn't answered with a receipt: a status, a code and a sentence.
struct Refused(StatusCode, &'static str, String);

pub(crate) struct LedgerService {
    authorizer: Arc<Authorizer>,
    current: Arc<ArcSwap<State>>,
    patience: Duration,
}

impl LedgerService {
    pub(crate) const fn new(authorizer: Arc<Authorizer>, current: Arc<ArcSwap<State>>, patience: Duration) -> Self {
        Self { authorizer, current, patience }
    }

    async fn asked(&self, request: Request<Incoming>) -> Result<HttpAnswer, Refused> {
        let state = self.current.load_full();
        let Some(ledger) = &state.ledger else {
            return Err(overloaded("the ledger isn't open"));
        };
        let (head, body) = request.into_parts();
        // Strangers don't learn what there is, and their bodies aren't read.
        let Some(Caller { role, name }) = secret(&head.headers).and_then(|secret| ledger.caller(secret)) else {
            let message = "one `Authorization: Bearer` with a secret of the ledger is required";
            return Err(Refused(StatusCode::UNAUTHORIZED, "unauthorized", message.to_owned()));
        };
        let Some((endpoint, path, roles)) = Endpoint::ALL.iter().find(|(_, path, _)| *path == head.uri.path()) else {
            return Err(Refused(StatusCode::NOT_FOUND, "not_found", "nothing is here".to_owned()));
        };
        if !roles.contains(role) {
            let keys: Vec<_> = roles.iter().map(|role| format!("`{}`", role.key())).collect();
            let message = format!("`{path}` requires a secret of {}", keys.join(" or "));
            return Err(Refused(StatusCode::FORBIDDEN, "forbidden", message));
        }
        if head.method != Method::POST {
            let message = "only POST is answered here".to_owned();
            return Err(Refused(StatusCode::METHOD_NOT_ALLOWED, "method", message));
        }
        let body = whole(body, LARGEST, self.patience, &self.authorizer.bodies).await.map_err(unread)?;
        let Some(_permit) = self.authorizer.permit() else {
            return Err(overloaded("too many commands at once"));
        };
        answered(*endpoint, &ledger.store.ledger, name, &body).await
    }
}

impl Service for LedgerService {
    type Entrance = Authorizer;
    type Body = Full<Bytes>;

    const PROTOCOL: Protocol = Protocol::Http1;

    fn entrance(&self) -> &Authorizer {
        &self.authorizer
    }

    async fn overloaded(&self, _: Request<Incoming>) -> HttpAnswer {
        overloaded("too many connections").answer()
    }

    async fn answer(&self, request: Request<Incoming>) -> HttpAnswer {
        self.asked(request).await.unwrap_or_else(Refused::answer)
    }
}

async fn answered(
    endpoint: Endpoint,
    store: &Arc<dyn Ledger>,
    author: &Note,
    body: &[u8],
) -> Result<HttpAnswer, Refused> {
    let author = author.clone();
    let command = match endpoint {
        Endpoint::Hold => Command::Hold(read(body)?),
        Endpoint::Grant => return granted(store, &author, body).await,
        Endpoint::Revoke => Command::Revoke(Revoke { author, ..read(body)? }),
        Endpoint::Refund => Command::Refund(Refund { author, ..read(body)? }),
        Endpoint::Freeze => Command::Freeze(Freeze { author, ..read(body)? }),
        Endpoint::Balance => Command::Balance(read::<OfAccount>(body)?.account),
        Endpoint::Holds => Command::Holds(read::<OfAccount>(body)?.account),
        Endpoint::Extend => return Ok(each(store, several(body, Command::Extend)?, extended).await),
        Endpoint::Settle => return Ok(each(store, several(body, Command::Settle)?, settled).await),
        Endpoint::Entries => return Ok(entries(store, read(body)?).await),
        Endpoint::Accounts => {
            let mut listing: Listing = read(body)?;
            listing.limit = listing.limit.clamp(1, MOST);
            let limit = listing.limit;
            let listed = move |store: &dyn Ledger| Ok(Accounts::new(store.accounts(&listing)?, limit));
            return Ok(reading(store, "accounts", listed).await);
        }
        Endpoint::Statement => {
            let mut part: Part = read(body)?;
            part.limit = part.limit.clamp(1, MOST);
            return Ok(reading(store, "statement", move |store| store.statement(&part)).await);
        }
        Endpoint::Totals => {
            let At { at } = read(body)?;
            return Ok(reading(store, "totals", move |store| store.totals(at)).await);
        }
    };
    Ok(match ended(begun(store, command)).await {
        Ok(Answer::Revoked(done)) => json(StatusCode::OK, &done),
        Ok(Answer::Refunded(done)) => json(StatusCode::OK, &done),
        Ok(Answer::Frozen(done)) => json(StatusCode::OK, &done),
        Ok(Answer::Hold(answer)) => json(StatusCode::OK, &answer),
        Ok(Answer::Balance(balance)) => json(StatusCode::OK, &balance),
        Ok(Answer::Holds(holds)) => json(StatusCode::OK, &holds),
        Ok(Answer::Granted(_) | Answer::Extended(_) | Answer::Settled(_)) => not_done(&unasked()),
        Err(error) => not_done(&error),
    })
}

/// Does a grant, or several in order. If one of several can't be read, none is done.
async fn granted(store: &Arc<dyn Ledger>, author: &Note, body: &[u8]) -> Result<HttpAnswer, Refused> {
    let are_several = body.trim_ascii_start().starts_with(b"[");
    let commands = if are_several { grants::several(body).map_err(invalid)? } else { vec![read(body)?] };
    let commands = commands.into_iter().map(|grant| Command::Grant(Grant { author: author.clone(), ..grant }));
    let done = all(store, commands.collect(), granted_of).await;
    let opened = done.iter().flatten().filter(|done| done.opens());
    let similar = grants::names(store, opened.map(|done| done.receipt.account.clone()).collect()).await;
    let mut answers = done.into_iter().map(|done| done.map(|done| grants::told(done, &similar)));
    if are_several {
        return Ok(json(StatusCode::OK, &answers.map(each_of).collect::<Vec<_>>()));
    }
    Ok(match answers.next() {
        Some(Ok(answer)) => json(StatusCode::OK, &answer),
        Some(Err(error)) => not_done(&error),
        None => return Err(invalid("there is no grant".to_owned())),
    })
}

fn granted_of(answer: Answer) -> Option<Done<Granted>> {
    match answer {
        Answer::Granted(done) => Some(done),
        _ => None,
    }
}

/// Does several commands in order. Each has its own answer.
async fn each<R: Serialize>(
    store: &Arc<dyn Ledger>,
    commands: Vec<Command>,
    receipt: fn(Answer) -> Option<R>,
) -> HttpAnswer {
    let answers = all(store, commands, receipt).await;
    json(StatusCode::OK, &answers.into_iter().map(each_of).collect::<Vec<_>>())
}

fn each_of<R>(answer: Result<R, Error>) -> Each<R> {
    answer.map_or_else(|error| Each::Refused(Refusal::from(&error)), Each::Done)
}

/// Does several commands in order, and in as few commits as the store can.
async fn all<R>(
    store: &Arc<dyn Ledger>,
    commands: Vec<Command>,
    receipt: fn(Answer) -> Option<R>,
) -> Vec<Result<R, Error>> {
    // A store that keeps the order has them all at once. Otherwise each waits for the one before: only the store knows which of
    // them concern one account.
    let until = patience();
    let begin = |command| Begun { until, ..begun(store, command) };
    let mut waiting: VecDeque<_> = commands.into();
    let mut begun: VecDeque<_> =
        if store.keeps_order() { waiting.drain(..).map(begin).collect() } else { VecDeque::new() };
    let mut answers = Vec::with_capacity(begun.len().saturating_add(waiting.len()));
    while let Some(command) = begun.pop_front().or_else(|| waiting.pop_front().map(begin)) {
        answers.push(ended(command).await.and_then(|answer| receipt(answer).ok_or_else(unasked)));
    }
    answers
}

fn extended(answer: Answer) -> Option<Done<Extended>> {
    match answer {
        Answer::Extended(done) => Some(done),
        _ => None,
    }
}

fn settled(answer: Answer) -> Option<Done<Settled>> {
    match answer {
        Answer::Settled(done) => Some(done),
        _ => None,
    }
}

async fn entries(store: &Arc<dyn Ledger>, request: After) -> HttpAnswer {
    let After { after, limit, account, from, to } = request;
    let (after, limit, period) = (Cursor::new(after), limit.clamp(1, MOST), Period { from, to });
    let page = move |store: &dyn Ledger| {
        let page = match account {
            Some(account) => store.entries_of(&account, &after, limit)?,
            None => store.entries(&after, limit)?,
        };
        // The cursor is after all that were read.
        let mut page = Entries::from(page);
        page.entries.retain(|entry| period.has(entry.at));
        Ok(page)
    };
    reading(store, "entries", page).await
}

/// Answers with what a store reads.
async fn reading<T: Serialize + Send + 'static>(
    store: &Arc<dyn Ledger>,
    name: &'static str,
    read: impl FnOnce(&dyn Ledger) -> Result<T, Error> + Send + 'static,
) -> HttpAnswer {
    let store = Arc::clone(store);
    // A store reads on the thread that asks.
    let found = tokio::task::spawn_blocking(move || read(&*store));
    let found = match tokio::time::timeout(STORE_PATIENCE, found).await {
        Ok(found) => found.unwrap_or_else(|error| Err(Error::Unknown(error.to_string()))),
        Err(_) => Err(late()),
    };
    measures::counted(name, found.as_ref().map_or_else(Error::code, |_| "done"));
    match found {
        Ok(found) => json(StatusCode::OK, &found),
        Err(error) => not_done(&error),
    }
}

/// A command that the store has.
struct Begun {
    name: &'static str,
    /// The commands of a message begin together, so they also end together.
    until: Instant,
    answer: oneshot::Receiver<Result<Answer, Error>>,
}

fn begun(store: &Arc<dyn Ledger>, command: Command) -> Begun {
    let name = command.name();
    let (send, answer) = oneshot::channel();
    store.submit(
        command,
        Box::new(move |answer| {
            // Whoever asked has gone.
            let _ = send.send(answer);
        }),
    );
    Begun { name, until: patience(), answer }
}

fn patience() -> Instant {
    let now = Instant::now();
    now.checked_add(STORE_PATIENCE).unwrap_or(now)
}

async fn ended(begun: Begun) -> Result<Answer, Error> {
    let answer = match tokio::time::timeout_at(begun.until, begun.answer).await {
        Ok(answer) => answer.unwrap_or_else(|_| Err(Error::Unknown("the ledger has stopped".to_owned()))),
        Err(_) => Err(late()),
    };
    measures::counted(
        begun.name,
        match &answer {
            Ok(Answer::Hold(HoldAnswer::Denied(denied))) => denied.reason.name(),
            Ok(_) => "done",
            Err(error) => error.code(),
        },
    );
    answer
}

/// Asks the store for an account that doesn't exist. The error is why it doesn't answer.
pub(crate) async fn is_ready(store: &Store) -> Result<(), String> {
    let unknown = AccountId::new("orbgate readiness").map_err(|error| error.to_string())?;
    let answer = ended(begun(&store.ledger, Command::Balance(unknown)));
    let answer = match tokio::time::timeout(Duration::from_secs(2), answer).await {
        Ok(answer) => answer.map(drop).map_err(|error| error.to_string()),
        Err(_) => Err(late().to_string()),
    };
    // A store tries again for longer than that. What it has met before says more.
    answer.map_err(|error| store.failure.load().as_ref().map_or(error, |failure| failure.to_string()))
}

/// Measures what is pending, what has expired and isn't written yet, and what readers don't see yet.
pub(crate) async fn measure(store: &Store) {
    measures::waiting(store.waiting());
    let ledger = Arc::clone(&store.ledger);
    let backlog = tokio::task::spawn_blocking(move || ledger.backlog());
    measures::backlog(match tokio::time::timeout(Duration::from_secs(2), backlog).await {
        Ok(Ok(Ok(backlog))) => Some(backlog),
        _ => None,
    });
}

/// The only secret of a request.
fn secret(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (values.next()?, values.next());
    let (scheme, secret) = first.as_bytes().split_at_checked("Bearer ".len())?;
    (second.is_none() && scheme.eq_ignore_ascii_case(b"Bearer ")).then_some(secret)
}

fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Refused> {
    let read = serde_json::from_slice::<Object<T>>(body);
    read.map(|Object(read)| read).map_err(|error| invalid(error.to_string()))
}

fn several<'b, T: Deserialize<'b>>(body: &'b [u8], command: fn(T) -> Command) -> Result<Vec<Command>, Refused> {
    let read = serde_json::from_slice::<Vec<Object<T>>>(body).map_err(|error| invalid(error.to_string()))?;
    if read.len() > MOST_COMMANDS {
        return Err(invalid(format!("there are more than {MOST_COMMANDS} commands")));
    }
    Ok(read.into_iter().map(|Object(read)| command(read)).collect())
}

const fn invalid(message: String) -> Refused {
    Refused(StatusCode::BAD_REQUEST, "invalid", message)
}

fn overloaded(message: &str) -> Refused {
    Refused(OVERLOADED, "busy", message.to_owned())
}

fn unread(unread: Unread) -> Refused {
    match unread {
        Unread::TooLarge => {
            let message = format!("the message has more than {LARGEST} bytes");
            Refused(StatusCode::PAYLOAD_TOO_LARGE, "invalid", message)
        }
        Unread::NotWhole => invalid("the message is not whole".to_owned()),
        Unread::TooMany => overloaded("too many commands at once"),
        Unread::TooSlow => Refused(StatusCode::REQUEST_TIMEOUT, "invalid", "the message takes too long".to_owned()),
    }
}

fn late() -> Error {
    Error::Unknown("the ledger didn't answer in time".to_owned())
}

fn unasked() -> Error {
    Error::Unknown("the ledger gave an answer to another command".to_owned())
}

fn not_done(error: &Error) -> HttpAnswer {
    let status = match error {
        Error::Conflict | Error::Settled(_) | Error::NotPending(_) | Error::NotCaptured(_) | Error::TooMuch(_) => {
            StatusCode::CONFLICT
        }
        Error::UnknownHold | Error::UnknownGrant | Error::UnknownAccount => StatusCode::NOT_FOUND,
        Error::Busy | Error::Clock(_) | Error::Unknown(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    json(status, &Refusal::from(error))
}

impl Refused {
    fn answer(self) -> HttpAnswer {
        let Self(status, code, message) = self;
        let mut response = json(status, &Refusal::new(code, message));
        let header = match status {
            StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
            StatusCode::METHOD_NOT_ALLOWED => Some((ALLOW, "POST")),
            _ => None,
        };
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> HttpAnswer {
    let Ok(body) = serde_json::to_vec(value) else {
        let mut response = HttpAnswer::default();
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    };
    let mut response = HttpAnswer::new(Full::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
