//! Reads the calls in a log: requests as JSON, lines of an access log, or `METHOD TARGET`.

use std::borrow::Cow;
use std::path::Path;

use orbgate::TokenKind;
use orbgate_analysis::ask::answers::MOST_SHOWN;
use orbgate_log::{AccessLine, AccessLog, BLANK, Field, RequestLine, Subject, TOO_LONG};

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
#[derive(Clone)]
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

/// How many lines a log has, and how many of them are unusable.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lines {
    pub(crate) all: u64,
    pub(crate) unusable: u64,
}

/// Reads the calls in a log, each with its line. The log is read to its end.
pub(crate) fn each(path: &Path, tokens: &Tokens, mut take: impl FnMut(u64, Call<'_>)) -> Result<Lines, Stop> {
    let mut log = Log::open(path)?;
    let (mut line, mut number) = (Vec::new(), 0_u64);
    let (mut access, mut unusable) = (AccessLog::new(), Unusable::default());
    loop {
        let length = log.read(&mut line).map_err(Stop::Error)?;
        log.bar.set_position(log.position);
        let parsed = match length {
            Length::End => break,
            Length::TooLong => Err(TOO_LONG.to_owned()),
            Length::Fits => parse(&line, &mut access, tokens),
        };
        number = number.saturating_add(1);
        match parsed {
            Ok(Some(call)) => take(number, call),
            Ok(None) => {}
            Err(message) => unusable.report(&log, path, number, &message),
        }
    }
    log.bar.finish_and_clear();
    Ok(Lines { all: number, unusable: unusable.finish() })
}

/// The call on a line. A directive of a W3C log has no call.
fn parse<'l>(line: &'l [u8], access: &mut AccessLog, tokens: &Tokens) -> Result<Option<Call<'l>>, String> {
    if line.trim_ascii().is_empty() {
        return Err(BLANK.to_owned());
    }
    if line.starts_with(b"{") {
        return Ok(Some(of_request(RequestLine::parse(line)?)));
    }
    if line.contains(&b'"') || access.recognise(line).is_some() {
        return access.read(line)?.map(|line| of_access(&line, tokens)).transpose();
    }
    if tokens.are_needed {
        return Err("it is neither a request, as `orbgate replay` reads it, nor a line of an access log".to_owned());
    }
    let (asked, token, time) = (plain(line)?, None, None);
    Ok(Some(Call { asked, token, time }))
}

/// A call in the form `METHOD TARGET`, perhaps followed by the version, as in a request line.
pub(crate) fn plain(call: &[u8]) -> Result<Asked<'_>, String> {
    let text = call.strip_suffix(b"\r").unwrap_or(call);
    let words: Vec<&[u8]> = text.splitn(4, |byte| *byte == b' ').collect();
    let is_method = |word: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        word.first().is_some_and(u8::is_ascii_alphabetic) && word.iter().all(is_part)
    };
    let ends = words.get(2..).is_none_or(|rest| match rest {
        [] => true,
        [version] => version.starts_with(b"HTTP/"),
        _ => false,
    });
    match *words {
        [method, target, ..] if ends && is_method(method) && target.starts_with(b"/") => {
            Ok(Asked::Call(method.into(), target.into()))
        }
        _ => {
            let start: Vec<u8> = text.iter().take(100).copied().collect();
            Err(format!("`{}` is not a call: it is written `METHOD /TARGET`", orbgate_log::shown(&start)))
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

fn of_access<'l>(line: &AccessLine<'l>, tokens: &Tokens) -> Result<Call<'l>, String> {
    let call = line.call()?;
    let scopes = |field: &Field| line.field(field).unwrap_or_default();
    Ok(Call {
        asked: Asked::Call(call.method, call.target),
        token: tokens.field.as_ref().map(|field| (tokens.kind, scopes(field))),
        time: line.field(&Field::Time),
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
