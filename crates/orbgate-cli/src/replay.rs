//! `orbgate replay`: JSON Lines in, JSON Lines out, in the same order and in constant memory.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};
use orbgate::{Decision, Engine};
use orbgate_analysis::{Disagreeing, Shadowed};
use orbgate_gate::PublicRoutes;
use orbgate_log::{AccessLog, Format, RequestLine, Subject, TOO_LONG};
use serde::Serialize;

use crate::input::STANDARD_INPUT;
use crate::log::{BUFFER, Length, Log};
use crate::output::{self, Exit, Stop};
use crate::policy_file::Source;
use crate::progress::Screen;
use crate::tally::Tally;
use crate::tolerate::Tolerance;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// File of requests, one JSON object per line; `-` is standard input
    #[arg(default_value = STANDARD_INPUT, value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Add the route of each request, even without a valid token
    ///
    /// Each line gets the field `about`: the route, or null.
    #[arg(long)]
    pub(crate) about: bool,

    /// Also decide with this policy, and report every disagreement
    ///
    /// Each line gets the field `shadow`: the decision of the other policy, or null.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) shadow: Option<PathBuf>,

    /// Allow a route without a token, such as `GET /healthz`; can be repeated
    ///
    /// Its calls are decided as `public_route`.
    #[arg(long, value_name = "ROUTE")]
    pub(crate) public: Vec<String>,

    #[command(flatten)]
    pub(crate) tolerance: Tolerance,
}

/// The progress bar is updated after this many lines, and while waiting for input.
const LINES_PER_STEP: u64 = 4096;

/// Decides every line of a file, or of standard input for `-`.
pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let candidate = match &arguments.shadow {
        None => None,
        Some(file) => Some(Source::load(Some(file))?),
    };
    let public = PublicRoutes::new(arguments.public.iter().map(String::as_str));
    let public = public.map_err(|error| Stop::Error(error.to_string()))?;
    let engines = [Some(source.engine()), candidate.as_ref().map(Source::engine)];
    for engine in engines.into_iter().flatten() {
        let checked = public.check(engine);
        checked.map_err(|error| Stop::Error(error.to_string()))?;
    }
    let start = Instant::now();
    let mut log = Log::open(&arguments.file)?;
    let mut out = BufWriter::with_capacity(BUFFER, Screen::beside(&log.bar));
    let mut tally = Tally::new();
    let policies = Policies {
        enforced: source.engine(),
        candidate: candidate.as_ref().map(Source::engine),
        public: (!arguments.public.is_empty()).then_some(&public),
    };
    let end = decide_all(&mut log, &mut out, arguments, &policies, &mut tally);
    log.bar.finish_and_clear();
    if matches!(end, Err(Stop::BrokenPipe)) {
        return end.map(|()| Exit::CouldNotRun);
    }
    // If nothing was read, there is no summary.
    if tally.lines == 0 && end.is_err() {
        return end.map(|()| Exit::CouldNotRun);
    }
    // The summary is optional: if standard error is closed, the decisions are still valid.
    let _ = write!(anstream::stderr(), "{}", tally.summary(start.elapsed()));
    end?;
    Ok(arguments.tolerance.exit(tally.errors, tally.lines, Exit::Fine))
}

fn decide_all(
    log: &mut Log,
    out: &mut BufWriter<Screen>,
    arguments: &Arguments,
    policies: &Policies<'_>,
    tally: &mut Tally,
) -> Result<(), Stop> {
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    let mut access = AccessLog::new();
    loop {
        // If the log arrives line by line, write each decision before waiting for the next line.
        if !log.has_line() {
            out.flush()?;
            log.bar.set_position(log.position);
        } else if tally.lines.is_multiple_of(LINES_PER_STEP) {
            log.bar.set_position(log.position);
        }
        let length = match log.read(&mut line) {
            Ok(Length::End) => break,
            Ok(length) => length,
            Err(message) => {
                out.flush()?;
                return Err(Stop::Error(message));
            }
        };
        tally.lines = tally.lines.saturating_add(1);
        let request = match length {
            Length::TooLong => Err(TOO_LONG.to_owned()),
            _ => RequestLine::parse(&line).map_err(|message| match format_of(&line, &mut access) {
                Some(format) => {
                    format!("{message}; it is a line of an access log ({format}), which `orbgate needs` reads")
                }
                None => message,
            }),
        };
        answer.clear();
        let written = match &request {
            Ok(request) => policies.decide(request, arguments.about, tally, &mut answer),
            Err(message) => {
                tally.errors = tally.errors.saturating_add(1);
                let error = BadLine { line: tally.lines, message };
                output::write_json(&mut answer, &NoRequest { error })
            }
        };
        written.map_err(io::Error::from)?;
        answer.push(b'\n');
        out.write_all(&answer)?;
    }
    Ok(out.flush()?)
}

/// The format of a line that isn't a request, if it is one of an access log.
fn format_of(line: &[u8], access: &mut AccessLog) -> Option<Format> {
    match access.read(line) {
        Ok(Some(line)) => Some(line.format()),
        Ok(None) | Err(_) => access.recognise(line),
    }
}

struct Policies<'e> {
    enforced: &'e Engine,
    candidate: Option<&'e Engine>,
    public: Option<&'e PublicRoutes>,
}

impl Policies<'_> {
    /// Decides a request, counts it, and writes the decision, with `about` if requested.
    fn decide(
        &self,
        request: &RequestLine<'_>,
        about: bool,
        tally: &mut Tally,
        to: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let decision = self.decided(request, self.enforced);
        tally.count(&decision);
        let shadowed = self
            .candidate
            .map(|candidate| Shadowed { enforced: decision, candidate: self.decided(request, candidate) });
        if let Some(shadowed) = &shadowed {
            tally.count_shadowed(shadowed);
        }
        let answer = Answer {
            decision: &decision,
            about: about.then(|| decision.about().map(|route| route.as_str())),
            shadow: shadowed.as_ref().map(Shadowed::disagreeing),
        };
        answer.write(to)
    }

    fn decided<'e>(&self, request: &RequestLine<'_>, engine: &'e Engine) -> Decision<'e> {
        let public = match (self.public, &request.subject) {
            (Some(public), Subject::Call { method, target }) => {
                public.decide(engine, method.as_bytes(), target.as_bytes())
            }
            _ => None,
        };
        public.unwrap_or_else(|| request.decide(engine))
    }
}

/// An output line, without the fields that weren't requested.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    decision: &'a Decision<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadow: Option<Option<Disagreeing<'a>>>,
}

impl Answer<'_> {
    /// If only the decision is requested, writes it directly, which is faster.
    fn write(&self, to: &mut Vec<u8>) -> serde_json::Result<()> {
        match (self.about, self.shadow) {
            (None, None) => output::write_json(to, self.decision),
            _ => output::write_json(to, self),
        }
    }
}

/// The output for a line that isn't a valid request.
#[derive(Serialize)]
struct NoRequest<'a> {
    error: BadLine<'a>,
}

#[derive(Serialize)]
struct BadLine<'a> {
    line: u64,
    message: &'a str,
}

const HELP: &str = "\
A line is a request, by route or by scope:
  {\"method\":\"GET\",\"target\":\"/api/v1/external/orbs\",
   \"token\":{\"kind\":\"user\",\"scopes\":\"read:orbs\"},\"allow_bonus_orbs_use\":true}
  {\"scope\":\"read:orbs\",\"token\":{\"kind\":\"organisation\",\"scopes\":[\"read:orbs\"]}}
(each on one line). `token` may be null or absent; `scopes` and
`allow_bonus_orbs_use` may be absent. A line that is not a request is answered
in its location by {\"error\":{\"line\":N,\"message\":\"…\"}}, and the rest goes on.

Examples:
  orbgate replay requests.jsonl > decisions.jsonl
  zcat requests.jsonl.gz | orbgate replay | grep -c scope_missing
  orbgate replay requests.jsonl --policy next.yaml | diff decisions.jsonl -
  orbgate replay requests.jsonl --about | grep no_token  # routes tried
  orbgate replay requests.jsonl --shadow next.yaml | grep disagreement
  orbgate replay requests.jsonl --public 'GET /healthz' > decisions.jsonl

Exit codes:
  0  every line was decided, be it allowed or denied
  2  could not run, or more lines were no requests than --tolerate accepts";
