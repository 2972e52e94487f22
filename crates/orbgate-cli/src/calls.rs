//! Reads the calls in a log: requests as JSON, lines of an access log, or `METHOD TARGET`.

use std::borrow::Cow;
use std::path::Path;

use orbgate::TokenKind;
use orbgate_analysis::ask::answers::MOST_SHOWN;
use orbgate_log::{AccessLine, BLANK, Field, RequestLine, Subject, TOO_LONG};

use crate::log::{Length, Log};
use crate::output::{self, Stop, count};

/// A call in a log.
pub(crate) struct Call<'l> {
    pub(crate) asked: Asked<'l>,
    /// The kind of its token and its scopes, separated by spaces.
    pub(crate) token: Option<(TokenKind, Cow<'l, [u8]>)>,
    /// The time, if the log has it.
    pub(crate) time: Option<Cow<'l, [u8]>>,
}

/// A call or a scope.
pub(crate) enum Asked<'l> {
    Call(Cow<'l, [u8]>, Cow<'l, [u8]>),
    Scope(Cow<'l, str>),
}

/// Which field of an access log contains the tokens' scopes, the kind of the tokens, and whether lines that can't have a
/// token are unusable.
#[derive(Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) field: Option<Field>,
    pub(crate) kind: TokenKind,
    pub(crate) are_needed: bool,
}

/// Unusable lines of a file. The first ones are reported, and the rest are counted.
#[derive(Default)]
pub(crate) struct Unusable(u64);

impl Unusable {
    const REPORTED: u64 = 20;

    pub(crate) fn report(&mut self, log: &Log, path: &Path, line: u64, message: &str) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= Self::REPORTED {
            let name = path.display();
            let message = format!("{name}:{line}: {message}");
            log.bar.suspend(|| output::error(&message));
        }
    }

    /// Reports how many weren't reported, and returns the total.
    pub(crate) fn finish(self) -> u64 {
        if let more @ 1.. = self.0.saturating_sub(Self::REPORTED) {
            let more = usize::try_from(more).unwrap_or(usize::MAX);
            output::error(&format!("{} cannot be used", count(more, "more line")));
        }
        self.0
    }
}

/// Reads the calls in a log, each with its line. Returns the number of unusable lines.
pub(crate) fn each(path: &Path, tokens: Tokens, mut take: impl FnMut(u64, Call<'_>)) -> Result<u64, Stop> {
    let mut log = Log::open(path)?;
    let (mut line, mut number) = (Vec::new(), 0_u64);
    let mut unusable = Unusable::default();
    loop {
        let length = log.read(&mut line).map_err(Stop::Error)?;
        number = number.saturating_add(1);
        log.bar.set_position(log.position);
        let parsed = match length {
            Length::End => break,
            Length::TooLong => Err(TOO_LONG.to_owned()),
            Length::Fits => parse(&line, tokens),
        };
        match parsed {
            Ok(call) => take(number, call),
            Err(message) => unusable.report(&log, path, number, &message),
        }
    }
    log.bar.finish_and_clear();
    Ok(unusable.finish())
}

fn parse(line: &[u8], tokens: Tokens) -> Result<Call<'_>, String> {
    if line.trim_ascii().is_empty() {
        return Err(BLANK.to_owned());
    }
    if line.starts_with(b"{") {
        return Ok(of_request(RequestLine::parse(line)?));
    }
    if line.contains(&b'"') {
        return of_access(&AccessLine::parse(line)?, tokens);
    }
    if tokens.are_needed {
        return Err("it is neither a request, as `orbgate replay` reads it, nor a line of an access log".to_owned());
    }
    let (asked, token, time) = (plain(line)?, None, None);
    Ok(Call { asked, token, time })
}

/// A call in the form `METHOD TARGET`.
pub(crate) fn plain(call: &[u8]) -> Result<Asked<'_>, String> {
    let call = call.strip_suffix(b"\r").unwrap_or(call);
    let space = call.iter().position(|byte| *byte == b' ');
    let parts = space.and_then(|space| call.split_at_checked(space));
    match parts {
        Some((method, [b' ', target @ ..])) if !target.is_empty() => Ok(Asked::Call(method.into(), target.into())),
        _ => {
            let start: Vec<u8> = call.iter().take(100).copied().collect();
            Err(format!("`{}` is not a call: it is written `METHOD TARGET`", orbgate_log::shown(&start)))
        }
    }
}

fn of_request(request: RequestLine<'_>) -> Call<'_> {
    let asked = match request.subject {
        Subject::Call { method, target } => Asked::Call(bytes(method), bytes(target)),
        Subject::Scope(name) => Asked::Scope(name),
    };
    let token = request.token.map(|token| {
        let scopes = Cow::Owned(token.joined().into_owned().into_bytes());
        (token.kind, scopes)
    });
    let time = None;
    Call { asked, token, time }
}

fn of_access<'l>(line: &AccessLine<'l>, tokens: Tokens) -> Result<Call<'l>, String> {
    let call = line.call()?;
    let scopes = |field| line.field(field).unwrap_or_default();
    Ok(Call {
        asked: Asked::Call(call.method, call.target),
        token: tokens.field.map(|field| (tokens.kind, scopes(field))),
        time: line.field(Field::Time),
    })
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

impl Asked<'_> {
    /// For users: `METHOD TARGET` or `scope SCOPE`, shortened if it is long.
    pub(crate) fn shown(&self) -> String {
        let text = match self {
            Self::Call(method, target) => {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                format!("{} {}", text(method), text(target))
            }
            Self::Scope(name) => format!("scope {name}"),
        };
        text.chars().take(MOST_SHOWN).collect()
    }
}
