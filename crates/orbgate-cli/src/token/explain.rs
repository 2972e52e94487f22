//! `orbgate token explain`: names the rule that a token breaks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, ValueHint};
use orbgate_token::{Explanation, KeySet, KeyWarning, Keys, ProvedRequest, SettingsError, Verifier};
use serde::Serialize;

use crate::input::{self, STANDARD_INPUT};
use crate::output::{self, ALLOW, DENY, Exit, FAINT, STRONG, Stop, one_line, print_json};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// File that contains the token; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, default_value = STANDARD_INPUT)]
    token: PathBuf,

    /// Configuration of the issuers: the `tokens.yaml` of a gate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: PathBuf,

    /// Keys of the token's issuer as a JWK set, to check key and signature
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    keys: Option<PathBuf>,

    /// File that contains the DPoP proof of a request, to check it with the token; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "url")]
    proof: Option<PathBuf>,

    /// Method of that request [default: GET]
    #[arg(long, value_name = "METHOD", requires = "proof")]
    method: Option<String>,

    /// URL of that request, as its client calls it
    #[arg(long, value_name = "URL", requires = "proof")]
    url: Option<String>,

    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

/// A larger file is neither a token nor a configuration.
const MOST: u64 = 1 << 20;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let verifier = verifier(&arguments.config)?;
    let set = match &arguments.keys {
        Some(path) => Some(key_set(path)?),
        None => None,
    };
    let keys = set.as_ref().map(|set| keys(set, &verifier));
    let left_out = set.as_ref().map_or(&[][..], |set| set.warnings());
    let token = read(path_of_token(&arguments.token)?)?;
    let token = token.trim_ascii();
    let token = token.strip_prefix(b"Bearer ").or_else(|| token.strip_prefix(b"DPoP ")).unwrap_or(token);
    let explanation = match (&arguments.proof, &arguments.url) {
        (Some(path), Some(url)) => {
            let proof = read(path_of_token(path)?)?;
            let method = arguments.method.as_deref().unwrap_or("GET");
            let request = ProvedRequest { proof: proof.trim_ascii(), method, url };
            verifier.explain_proved(token, &request, keys.as_ref(), SystemTime::now())
        }
        _ => verifier.explain(token, keys.as_ref(), SystemTime::now()),
    };
    if arguments.json {
        print_json(&Json::of(&explanation, left_out))?;
    } else {
        output::print(|out| write(out, &explanation, keys.is_some(), left_out))?;
    }
    Ok(match explanation.refused {
        None => Exit::Fine,
        Some(_) => Exit::Findings,
    })
}

/// The path of the file with the token. A token in its place is refused here, because an error that names it would end in logs.
pub(super) fn path_of_token(path: &Path) -> Result<&Path, Stop> {
    let text = path.to_string_lossy();
    let text = text.strip_prefix("Bearer ").unwrap_or(&text);
    let is_token =
        text.len() > 128 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+=".contains(&byte));
    match is_token && !path.exists() {
        true => Err(Stop::Error(
            "this is a token, and a file with it is wanted: write it to a file or to standard input, because everyone on a machine \
             can see the arguments of commands"
                .to_owned(),
        )),
        false => Ok(path),
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let bytes = input::read(path, MOST.saturating_add(1)).map_err(Stop::Error)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= MOST => Ok(bytes),
        _ => Err(Stop::Error(format!("`{}` has more than {MOST} bytes", path.display()))),
    }
}

fn verifier(path: &Path) -> Result<Verifier, Stop> {
    let name = path.display().to_string();
    let text = String::from_utf8(read(path)?);
    let text = text.map_err(|_| Stop::Error(format!("`{name}` is not UTF-8")))?;
    let name = one_line(&name);
    let verifier = Verifier::from_yaml(&text).map_err(|error| Stop::Diagnostics(error.in_file(&name)))?;
    // A gate refuses this configuration, whatever the keys.
    let checked = SettingsError::of_issuers(&verifier);
    checked.map(|()| verifier).map_err(|error| Stop::Diagnostics(format!("{name}: {error}")))
}

fn key_set(path: &Path) -> Result<Arc<KeySet>, Stop> {
    let set = KeySet::from_jwks(&read(path)?);
    set.map(Arc::new).map_err(|error| Stop::Error(format!("`{}`: {error}", path.display())))
}

/// The keys, assigned to the issuer that signed the token.
fn keys(set: &Arc<KeySet>, verifier: &Verifier) -> Keys {
    verifier.issuers().fold(Keys::new(), |keys, issuer| keys.with(issuer, Arc::clone(set)))
}

fn write(out: &mut dyn Write, explanation: &Explanation, has_keys: bool, left_out: &[KeyWarning]) -> io::Result<()> {
    match explanation.refused {
        Some(refused) => writeln!(out, "{DENY}refused{DENY:#}: {}: {refused}", refused.as_str())?,
        None => {
            let kind = explanation.kind.map_or("", |kind| kind.as_str());
            let scopes = explanation.scopes.as_deref().unwrap_or_default();
            let scopes = match scopes {
                "" => "without scopes".to_owned(),
                scopes => format!("with `{}`", one_line(scopes)),
            };
            writeln!(out, "{ALLOW}accepted{ALLOW:#}: {kind} {scopes}")?;
        }
    }
    if let Some(hint) = &explanation.hint {
        writeln!(out, "  {}", one_line(hint))?;
    }
    if let Some(why) = &explanation.no_account {
        let about = "gates with a ledger deny its calls that consume orbs (no_account)";
        writeln!(out, "  {STRONG}no account{STRONG:#}: {}; {about}", one_line(why))?;
    }
    if !explanation.dropped.is_empty() {
        let names = explanation.dropped.join(" ");
        writeln!(out, "  dropped: `{}`, because only `derive` gives such a scope", one_line(&names))?;
    }
    for (scope, why) in &explanation.unearned {
        writeln!(out, "  not earned: `{}`: {}", one_line(scope), one_line(why))?;
    }
    for warning in left_out {
        writeln!(out, "  {FAINT}--keys: {warning}{FAINT:#}")?;
    }
    match (explanation.is_signature_checked, has_keys) {
        (true, _) => Ok(()),
        (false, true) => writeln!(out, "  {FAINT}not checked by this build: the signature{FAINT:#}"),
        (false, false) => {
            writeln!(out, "  {FAINT}not checked without --keys: the key and the signature{FAINT:#}")
        }
    }
}

/// A scope that the token doesn't earn, and the test that fails.
#[derive(Serialize)]
struct Unearned<'a> {
    scope: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct Json<'a> {
    refused: Option<&'static str>,
    explanation: Option<&'static str>,
    hint: Option<&'a str>,
    kind: Option<&'static str>,
    scopes: Option<&'a str>,
    dropped: &'a [String],
    unearned: Vec<Unearned<'a>>,
    no_account: Option<&'a str>,
    is_signature_checked: bool,
    keys_left_out: Vec<String>,
}

impl<'a> Json<'a> {
    fn of(explanation: &'a Explanation, left_out: &[KeyWarning]) -> Self {
        Self {
            keys_left_out: left_out.iter().map(ToString::to_string).collect(),
            refused: explanation.refused.map(|refused| refused.as_str()),
            explanation: explanation.refused.map(|refused| refused.explanation()),
            hint: explanation.hint.as_deref(),
            kind: explanation.kind.map(|kind| kind.as_str()),
            scopes: explanation.scopes.as_deref(),
            dropped: &explanation.dropped,
            unearned: explanation.unearned.iter().map(|(scope, why)| Unearned { scope, why }).collect(),
            no_account: explanation.no_account.as_deref(),
            is_signature_checked: explanation.is_signature_checked,
        }
    }
}

const HELP: &str = "\
The answer contains the token's type, algorithm, issuer, audience and times,
and the kind and scopes of a token that is accepted. It never contains the
token itself, its signature, its subject or the values of other claims.

Examples:
  orbgate token explain token.txt --config tokens.yaml
  pbpaste | orbgate token explain --config tokens.yaml
  curl -o jwks.json https://id.example.com/jwks
  orbgate token explain token.txt --config tokens.yaml --keys jwks.json
  orbgate token explain token.txt --config tokens.yaml \\
    --proof proof.txt --method POST --url https://api.example.com/orders

Exit codes:
  0  the token is accepted, with its proof if there is one
  1  the token is refused
  2  could not run: a file that can't be read, or an error in it";
