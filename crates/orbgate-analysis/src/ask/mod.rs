//! Questions about policies as JSON: one interface for the command's `--json` and for every
//! language.

pub mod answers;
mod fields;
mod names;

use orbgate::{Engine, Grant, Policy, PolicyError, Request, Scopes, Token, TokenKind};
use orbgate_log::{RequestLine, Subject, TokenObject};
use orbgate_yaml::Object;
use serde::{Deserialize, Serialize};

use crate::ask::answers::{
    Asker, Checked, Compared, DiffAnswer, Failing, Files, Linted, Needs, Reach, Unused, Who, warnings,
};
use crate::{Levels, explain, explain_scope};

/// Why a question has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// There is no such question.
    #[error("no question is `{name:.40}`: {}", QUESTIONS.join(", "), name = .0)]
    Unknown(String),
    /// The arguments aren't JSON, or don't match the question. States the error and its location.
    #[error("arguments: {0}")]
    Arguments(String),
    /// The policy in the arguments has errors.
    #[error(transparent)]
    Policy(PolicyError),
    /// Two policies can't be compared, because too many templates overlap.
    #[error("too many templates overlap: not everything was compared")]
    Incomplete,
}

/// The questions.
pub const QUESTIONS: [&str; 9] = ["check", "diff", "explain", "lint", "needs", "reach", "table", "unused", "who"];

/// Answers a question about an engine's policy. The arguments are a JSON object. The result is the JSON that
/// `orbgate QUESTION --json` prints. A request has the format of `orbgate replay`.
///
/// | question | arguments |
/// |---|---|
/// | `check` | `policy`: the YAML of a policy; `file`: its name in the result |
/// | `diff` | `policy`: the YAML of the new policy; `fail_on`: kinds of changes, by default `wider`, `cheaper`, `other-cost` |
/// | `explain` | `request`; `declared` and `requested`: scopes separated by spaces; `issued`: `user` or `organisation`, for the token that both would give |
/// | `lint` | as `check`; `levels`: `error`, `warning`, `note` or `off` by code |
/// | `needs` | `token`: `user` (default) or `organisation`; `calls`: requests, without their tokens |
/// | `reach` | `token`: as in a request |
/// | `table` | none |
/// | `unused` | `calls`: requests with their tokens |
/// | `who` | `method`, `target`; `tokens`: each with `token`, and with `name` if you like |
///
/// ```
/// use orbgate::Engine;
///
/// let arguments = r#"{"calls":[{"method":"GET","target":"/api/v1/external/orbs"}]}"#;
/// let answer = orbgate_analysis::ask(Engine::external(), "needs", arguments)?;
/// assert!(answer.contains(r#""scopes":["read:orbs"]"#));
/// # Ok::<_, orbgate_analysis::AskError>(())
/// ```
///
/// # Errors
///
/// [`AskError`]: an unknown question, arguments that don't match the question, or errors in a policy other than the one
/// to check.
pub fn ask(engine: &Engine, question: &str, arguments: &str) -> Result<String, AskError> {
    let json = ask_in(engine, question, arguments, Form::Json)?;
    String::from_utf8(json).map_err(|error| AskError::Arguments(error.to_string()))
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// Fields of number, length and bytes, for languages without a reader of JSON: see `docs/messages.md`.
    Fields,
}

impl Form {
    /// The form with this number in the C ABI and in the WebAssembly module.
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Json),
            1 => Some(Self::Fields),
            _ => None,
        }
    }
}

/// Answers a question like [`ask`], in this form.
///
/// # Errors
///
/// As [`ask`].
pub fn ask_in(engine: &Engine, question: &str, arguments: &str, form: Form) -> Result<Vec<u8>, AskError> {
    match question {
        "check" => check(&read(arguments)?, form),
        "diff" => diff(engine, &read(arguments)?, form),
        "explain" => explained(engine, &read(arguments)?, form),
        "lint" => lint(read(arguments)?, form),
        "needs" => needs(engine, &read(arguments)?, form),
        "reach" => reach(engine, &read(arguments)?, form),
        "table" => {
            let Nothing {} = read(arguments)?;
            written(&engine.table(), form)
        }
        "unused" => unused(engine, &read(arguments)?, form),
        "who" => who(engine, read(arguments)?, form),
        other => Err(AskError::Unknown(other.to_owned())),
    }
}

fn read<'a, T: Deserialize<'a>>(arguments: &'a str) -> Result<T, AskError> {
    match serde_json::from_str(arguments) {
        Ok(Object(arguments)) => Ok(arguments),
        Err(error) => Err(AskError::Arguments(error.to_string())),
    }
}

fn written(answer: &impl Serialize, form: Form) -> Result<Vec<u8>, AskError> {
    // An answer consists of strings, integers, booleans and lists, which both forms can represent.
    let bytes = match form {
        Form::Json => serde_json::to_vec(answer).map_err(|error| error.to_string()),
        Form::Fields => fields::write(answer).map_err(|error| error.to_string()),
    };
    bytes.map_err(AskError::Arguments)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckArguments {
    policy: String,
    #[serde(default = "unnamed")]
    file: String,
}

fn unnamed() -> String {
    "policy.yaml".to_owned()
}

fn check(arguments: &CheckArguments, form: Form) -> Result<Vec<u8>, AskError> {
    let policy = Policy::from_yaml(&arguments.policy);
    let warnings = match &policy {
        Ok(policy) => warnings(policy, &arguments.policy),
        Err(_) => Vec::new(),
    };
    let policy = policy.as_ref().map(Some).map_err(PolicyError::diagnostics);
    written(&Files { files: vec![Checked::new(&arguments.file, policy, &warnings)] }, form)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LintArguments {
    policy: String,
    #[serde(default = "unnamed")]
    file: String,
    #[serde(default)]
    levels: std::collections::BTreeMap<String, String>,
}

fn lint(arguments: LintArguments, form: Form) -> Result<Vec<u8>, AskError> {
    let levels = arguments.levels.iter().map(|(code, level)| Levels::read(code, level));
    let levels: Levels = levels.collect::<Result<_, _>>().map_err(AskError::Arguments)?;
    let policy = Policy::from_yaml(&arguments.policy);
    let policy = policy.map_err(|error| error.diagnostics().to_vec());
    written(&Files { files: vec![Linted::new(arguments.file, &arguments.policy, policy, &levels)] }, form)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffArguments {
    policy: String,
    fail_on: Option<Vec<String>>,
}

fn diff(engine: &Engine, arguments: &DiffArguments, form: Form) -> Result<Vec<u8>, AskError> {
    let kinds = match &arguments.fail_on {
        None => Failing::USUAL.to_vec(),
        Some(names) => {
            let kinds = names.iter().map(|name| {
                let unknown = || AskError::Arguments(format!("no change is of a kind `{name}`"));
                Failing::from_name(name).ok_or_else(unknown)
            });
            kinds.collect::<Result<_, _>>()?
        }
    };
    let policy = Policy::from_yaml(&arguments.policy).map_err(AskError::Policy)?;
    let new = Engine::new(&policy);
    let compared = Compared::new(engine, &new);
    if !compared.diff.complete {
        return Err(AskError::Incomplete);
    }
    let fails = compared.fails(&kinds);
    written(&DiffAnswer { compared: &compared, fails: &fails }, form)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "RequestLine<'a>: Deserialize<'de>"))]
struct ExplainArguments<'a> {
    #[serde(borrow)]
    request: RequestLine<'a>,
    issued: Option<Owner>,
    declared: Option<String>,
    requested: Option<String>,
}

fn explained(engine: &Engine, arguments: &ExplainArguments<'_>, form: Form) -> Result<Vec<u8>, AskError> {
    let request = &arguments.request;
    let grant = Grant {
        declared: arguments.declared.as_deref().map(Scopes::from),
        requested: arguments.requested.as_deref().map(Scopes::from),
    };
    let held = match (&request.token, arguments.issued) {
        (None, None) => None,
        (Some(token), None) => Some((token.kind, token.scopes.set(engine))),
        (None, Some(kind)) => {
            let given = || AskError::Arguments("`issued` needs `declared` and `requested`".to_owned());
            Some((kind.into(), grant.scopes(engine).ok_or_else(given)?))
        }
        (Some(_), Some(_)) => {
            return Err(AskError::Arguments("`issued` stands for the token of a request without one".to_owned()));
        }
    };
    let token = held.as_ref().map(|(kind, set)| Token { kind: *kind, scopes: Scopes::Set(set) });
    let bonus = request.allow_bonus_orbs_use;
    let explanation = match &request.subject {
        Subject::Scope(scope) => explain_scope(engine, &**scope, token, bonus, &grant),
        Subject::Call { method, target } => {
            let call =
                Request { method: method.as_bytes(), target: target.as_bytes(), token, allow_bonus_orbs_use: bonus };
            explain(engine, &call, &grant)
        }
    };
    written(&explanation, form)
}

/// The token for calls that come without one.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Owner {
    #[default]
    User,
    Organisation,
}

impl From<Owner> for TokenKind {
    fn from(kind: Owner) -> Self {
        match kind {
            Owner::User => Self::User,
            Owner::Organisation => Self::Organisation,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "RequestLine<'a>: Deserialize<'de>"))]
struct NeedsArguments<'a> {
    #[serde(default)]
    token: Owner,
    #[serde(borrow)]
    calls: Vec<RequestLine<'a>>,
}

fn needs(engine: &Engine, arguments: &NeedsArguments<'_>, form: Form) -> Result<Vec<u8>, AskError> {
    let kind = TokenKind::from(arguments.token);
    let mut needs = Needs::new(engine, kind);
    for (at, call) in (1..).zip(&arguments.calls) {
        let shown = || shown(&call.subject);
        match &call.subject {
            Subject::Scope(scope) => needs.add_scope(at, &**scope, shown),
            Subject::Call { method, target } => needs.add(at, &**method, &**target, shown),
        }
    }
    written(&needs.answer(), form)
}

/// `METHOD TARGET` or `scope SCOPE`, shortened if it is long.
fn shown(subject: &Subject<'_>) -> String {
    let text = match subject {
        Subject::Call { method, target } => format!("{method} {target}"),
        Subject::Scope(name) => format!("scope {name}"),
    };
    text.chars().take(answers::MOST_SHOWN).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "TokenObject<'a>: Deserialize<'de>"))]
struct ReachArguments<'a> {
    #[serde(borrow)]
    token: TokenObject<'a>,
}

fn reach(engine: &Engine, arguments: &ReachArguments<'_>, form: Form) -> Result<Vec<u8>, AskError> {
    let token = &arguments.token;
    let scopes = token.joined();
    written(&Reach::new(engine, token.kind, &scopes, scopes.as_bytes()), form)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "RequestLine<'a>: Deserialize<'de>"))]
struct UnusedArguments<'a> {
    #[serde(borrow)]
    calls: Vec<RequestLine<'a>>,
}

fn unused(engine: &Engine, arguments: &UnusedArguments<'_>, form: Form) -> Result<Vec<u8>, AskError> {
    let mut unused = Unused::new(engine);
    for (at, call) in (1..).zip(&arguments.calls) {
        let token = call.token.as_ref();
        let token = token.filter(|token| token.kind != TokenKind::Unknown);
        let scopes = token.map(TokenObject::joined);
        let decided = scopes.as_deref().map(|scopes| (call.decide(engine), scopes.as_bytes()));
        unused.count(at, decided, None);
    }
    written(&unused.answer(), form)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "NamedToken<'a>: Deserialize<'de>"))]
struct WhoArguments<'a> {
    method: String,
    target: String,
    #[serde(borrow)]
    tokens: Vec<Object<NamedToken<'a>>>,
}

/// A token, and a name for its owner.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "TokenObject<'a>: Deserialize<'de>"))]
pub struct NamedToken<'a> {
    /// The name.
    #[serde(default)]
    pub name: Option<String>,
    /// `null` for a call without a token; must not be omitted.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    pub token: Option<TokenObject<'a>>,
}

impl<'a> NamedToken<'a> {
    /// Parses a line of JSON.
    ///
    /// # Errors
    ///
    /// Fails if it isn't such an object. The message states the error and the column.
    pub fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line).map(|Object(token)| token)
    }

    /// The decision on a call for the token at a position, from 1.
    pub fn ask<'e>(self, line: u64, method: &str, target: &str, engine: &'e Engine) -> Asker<'e> {
        let request = RequestLine {
            subject: Subject::Call { method: method.into(), target: target.into() },
            token: self.token,
            allow_bonus_orbs_use: false,
        };
        Asker { decision: request.decide(engine), name: self.name.unwrap_or_else(|| format!("line {line}")), line }
    }
}

fn who(engine: &Engine, arguments: WhoArguments<'_>, form: Form) -> Result<Vec<u8>, AskError> {
    let (method, target) = (&*arguments.method, &*arguments.target);
    let tokens = (1..).zip(arguments.tokens);
    let tokens = tokens.map(|(line, Object(token))| token.ask(line, method, target, engine)).collect();
    written(&Who { policy: engine.digest(), method, target, tokens }, form)
}
