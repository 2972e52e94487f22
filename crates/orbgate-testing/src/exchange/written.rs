//! Hand-written exchanges: the files of `policy/cases/gate`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::cases::unescape;
use crate::exchange::expected::{Expected, Saw, Sent};
use crate::exchange::recipe::Recipe;
use crate::exchange::world::{World, root};

/// A file: the settings that its exchanges share, and the exchanges.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) policy: String,
    /// Routes that need no token.
    #[serde(default)]
    pub(crate) public: Vec<String>,
    /// The extent of challenges; minimal if absent.
    challenge: Option<String>,
    request: String,
    answer: Expected,
    exchanges: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Overrides the file's request.
    request: Option<String>,
    answer: Option<Expected>,
    /// Overrides `{token}`.
    token: Option<Recipe>,
    /// The code of the rejection.
    refused: Option<String>,
    saw: Option<Saw>,
    /// The orbs in each line of the audit that has this route.
    audit: Option<Value>,
}

/// An exchange.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// File and name.
    pub(crate) location: String,
    /// With `{token}` in place of the token.
    request: Vec<u8>,
    token: Option<Recipe>,
    pub(crate) expected: Expected,
    pub(crate) refused: Option<String>,
    pub(crate) audit: Option<Value>,
}

impl Exchange {
    /// The bytes to send, with this token.
    pub(crate) fn bytes(&self, token: Option<&str>) -> Vec<u8> {
        let Some(token) = token else {
            return self.request.clone();
        };
        let mut bytes = Vec::new();
        let mut rest = self.request.as_slice();
        while let Some(at) = rest.windows(7).position(|seven| seven == b"{token}") {
            bytes.extend(&rest[..at]);
            bytes.extend(token.as_bytes());
            rest = &rest[at + 7..];
        }
        bytes.extend(rest);
        bytes
    }

    /// The request, with a token of this environment.
    pub(crate) fn sent(&self, world: &World) -> Result<Sent> {
        self.sent_with(|recipe| world.token(recipe))
    }

    /// The request, with what a function makes of its token.
    pub(crate) fn sent_with(&self, bearer: impl FnOnce(&Recipe) -> Result<String>) -> Result<Sent> {
        let recipe = self.token.as_ref();
        let bearer = recipe.map(bearer).transpose()?;
        let (method, target) = self.line();
        let known = recipe.filter(|_| self.expected.status != 401);
        Ok(Sent {
            location: self.location.clone(),
            bytes: self.bytes(bearer.as_deref()),
            method: method.to_vec(),
            target: target.to_vec(),
            token: known.map(Recipe::named),
        })
    }

    /// Method and target of the request line.
    fn line(&self) -> (&[u8], &[u8]) {
        let mut words = self.request.split(|byte| *byte == b' ');
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }
}

/// An exchange that can be sent to something other than a gate program.
pub struct Written {
    pub policy: String,
    pub sent: Sent,
    /// The kind and scopes of its token, even if it must be rejected.
    pub token: Option<(String, String)>,
    pub expected: Expected,
    /// The code of the rejection.
    pub refused: Option<String>,
}

/// All exchanges in the files, with tokens of this environment.
///
/// # Errors
///
/// Fails if a file has a wrong format.
pub fn written(world: &World) -> Result<Vec<Written>> {
    let mut all = Vec::new();
    let files = files()?.into_iter();
    for (name, file) in files.filter(|(_, file)| file.arguments().next().is_none()) {
        let policy = file.policy.clone();
        for exchange in file.exchanges(&name)? {
            all.push(Written {
                policy: policy.clone(),
                sent: exchange.sent(world)?,
                token: exchange.token.as_ref().map(Recipe::named),
                expected: exchange.expected,
                refused: exchange.refused,
            });
        }
    }
    Ok(all)
}

/// The file with this name.
pub(crate) fn file(name: &str) -> Result<File> {
    let mut files = files()?.into_iter();
    let file = files.find_map(|(other, file)| (other == name).then_some(file));
    file.with_context(|| format!("no file {name}"))
}

/// The files, by name.
pub(crate) fn files() -> Result<Vec<(String, File)>> {
    let folder = root().join("policy/cases/gate");
    let entries: Result<Vec<PathBuf>, _> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = entries?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    ensure!(!paths.is_empty(), "no exchanges in {}", folder.display());
    let files = paths.into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let file = serde_yaml::from_str(&text).with_context(|| name.clone())?;
        Ok((name, file))
    });
    files.collect()
}

impl File {
    /// The arguments of a gate program with its settings.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        let public = self.public.iter().flat_map(|route| ["--public", route]);
        public.chain(self.challenge.iter().flat_map(|extent| ["--challenge", extent]))
    }

    pub(crate) fn exchanges(self, name: &str) -> Result<Vec<Exchange>> {
        let exchanges = self.exchanges.into_iter().map(|written| {
            let location = format!("{name}: {}", written.name);
            let request = written.request.as_ref().unwrap_or(&self.request);
            let mut expected = written.answer.unwrap_or_else(|| self.answer.clone());
            ensure!((expected.status == 200) == written.saw.is_some(), "{location}: `saw` goes with 200");
            expected.saw = written.saw;
            Ok(Exchange {
                // Lines end as in HTTP; an empty line ends the headers.
                request: unescape(&format!("{}\n\n", request.trim_end()).replace('\n', "\\x0d\\x0a")),
                token: written.token,
                expected,
                audit: written.audit,
                refused: written.refused,
                location,
            })
        });
        exchanges.collect()
    }
}
