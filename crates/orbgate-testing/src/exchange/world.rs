//! The shared environment of all groups: issuers, the file that names them, and tokens.

use core::net::{Ipv4Addr, SocketAddr};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::exchange::issuer::{Conduct, Issuer, Issuers};
use crate::exchange::recipe::Recipe;
use crate::signer::{AUDIENCE, Signer};
use crate::unsound;

/// Issuers and their tokens.
pub struct World {
    pub(crate) issuers: Issuers,
    /// The address of an issuer that is down: nothing listens there.
    pub(crate) down: String,
    /// Bound to `down` from the start, so that no other program is given the port. It listens once the issuer is up.
    bound: Mutex<Option<Socket>>,
    folder: TempDir,
    /// The end of every signed token, which no output may show.
    signed: Mutex<BTreeSet<String>>,
}

/// Every issuer, and how it behaves.
pub(crate) const ISSUERS: [(&str, Conduct); 21] = [
    ("main", Conduct::Right),
    ("rotating", Conduct::Right),
    ("asked", Conduct::Right),
    ("renewed", Conduct::Right),
    ("stormed", Conduct::Right),
    ("directory", Conduct::Right),
    ("twins", Conduct::SaysTwins),
    ("listed", Conduct::Right),
    ("unsound", Conduct::Right),
    ("closes", Conduct::Closes),
    ("drips", Conduct::Drips),
    ("crowded", Conduct::Drips),
    ("huge", Conduct::Huge),
    ("endless", Conduct::Endless),
    ("fails", Conduct::Fails),
    ("redirects", Conduct::Redirects),
    ("page", Conduct::Page),
    ("another", Conduct::SaysAnother),
    ("elsewhere", Conduct::SaysElsewhere),
    ("secret", Conduct::SaysSecret),
    ("holds", Conduct::Holds),
];

/// The longest token: less than by default, because not every server takes a header that long.
const TOKEN_BYTES: usize = 8_192;

/// The project's root.
pub(crate) fn root() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("a crate is in crates/")
}

/// The file of a policy, as cases name it.
pub(crate) fn policy(name: &str) -> PathBuf {
    let policies = root().join("policy");
    match name {
        "external" => policies.join("external.yaml"),
        name => policies.join("cases/policies").join(format!("{name}.yaml")),
    }
}

/// The time, in seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("the clock is right").as_secs()
}

impl World {
    /// Starts the issuers.
    ///
    /// # Errors
    ///
    /// Fails if there is no free port, or no room for files.
    pub fn new() -> Result<Self> {
        let issuers = Issuers::serve("127.0.0.1:0")?;
        let (second, rsa) = (Signer::p256(), Signer::rsa());
        for (name, conduct) in ISSUERS {
            let issuer = Issuer::new(&format!("{name}-1"), conduct);
            let issuer = match name {
                "main" => issuer.with([second.jwk("main-2"), rsa.jwk("main-rsa")]),
                "twins" => issuer.with([second.jwk("twins-2")]),
                "listed" => {
                    let again = issuer.signer.jwk("listed-1");
                    let rsa = ["RS256", "RS384", "RS512"].map(|alg| {
                        let mut jwk = rsa.jwk("listed-1");
                        jwk["alg"] = alg.into();
                        jwk
                    });
                    issuer.with([again]).with(rsa)
                }
                "unsound" => issuer.with(unsound::keys().into_iter().map(|key| key.jwk)),
                _ => issuer,
            };
            issuers.add(name, issuer);
        }
        issuers.add("filed", Issuer::new("filed-1", Conduct::Right));
        issuers.add("down", Issuer::new("down-1", Conduct::Right));
        let bound = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        bound.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        let down = bound.local_addr()?.as_socket_ipv4();
        let world = Self {
            issuers,
            down: down.expect("it was bound to one").to_string(),
            bound: Mutex::new(Some(bound)),
            folder: TempDir::new()?,
            signed: Mutex::default(),
        };
        let mut all: Vec<Value> = ISSUERS.map(|(name, _)| world.configuration(name)).into();
        all.push(world.configuration("down"));
        // JSON is also YAML.
        let text = json!({"orbgate_token": 1, "issuers": all, "max_token_bytes": TOKEN_BYTES});
        fs::write(world.tokens(), format!("{text:#}"))?;
        Ok(world)
    }

    /// The configuration of an issuer.
    pub(crate) fn configuration(&self, name: &str) -> Value {
        let mut issuer = json!({
            "issuer": self.issuers.name(name),
            "audience": AUDIENCE,
            "algorithms": ["ES256", "RS256"],
            "kind": {
                "user": [{"claim": "token_kind", "equals": "user"}],
                "organisation": [{"claim": "token_kind", "equals": "organisation"}],
            },
            "require": ["sub", "jti"],
            "max_lifetime_seconds": 3600,
        });
        // The others are found by discovery.
        if ["asked", "drips", "crowded"].contains(&name) {
            issuer["jwks_uri"] = format!("{}/jwks", self.issuers.name(name)).into();
        }
        if name == "unsound" {
            issuer["algorithms"] = json!(["ES256", "ES384", "ES512", "RS256", "EdDSA"]);
        }
        if name == "main" {
            issuer["derive"] = json!({
                "earned:any-token": "always",
                "earned:admin": {"claim": ["realm_access", "roles"], "contains": "admin"},
                "earned:level": {"claim": "level", "one_of": [3, "high", true]},
                "earned:verified": {"claim": "verified_at", "within_seconds": 300},
                "earned:otp": {"claim": "amr", "contains_word": "otp"},
                "earned:own": [
                    {"claim": "azp", "equals_claim": "client_id"},
                    {"claim": ["org", "id"], "present": true},
                ],
                "earned:mfa": {"claim": "acr", "one_of": ["phr", "phrh"]},
                "earned:strong": {"claim": "acr", "equals": "phrh"},
                "earned:recent": {"claim": "auth_time", "within_seconds": 300},
                "earned:fresh": [
                    {"claim": "acr", "one_of": ["phrh", "phr"]},
                    {"claim": "auth_time", "within_seconds": 60},
                ],
            });
        }
        if name == "directory" {
            issuer["organisation_scopes"] = json!({"claim": ["realm_access", "roles"], "format": "array"});
        }
        if name == "down" {
            issuer["jwks_uri"] = format!("http://{}/down/jwks", self.down).into();
        }
        issuer
    }

    /// Starts the issuer that is down.
    pub(crate) fn start_down(&self) -> Result<()> {
        let bound = self.bound.lock().unwrap().take();
        let bound = bound.expect("it starts once");
        bound.listen(128)?;
        self.issuers.also_on(bound.into());
        Ok(())
    }

    /// A file only for this run.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of issuers.
    pub fn tokens(&self) -> PathBuf {
        self.file("tokens.yaml")
    }

    /// The token for a recipe.
    pub(crate) fn token(&self, recipe: &Recipe) -> Result<String> {
        let issuer = recipe.issuer.as_deref().unwrap_or("main");
        let token = self.issuers.sign(issuer, |issuer| recipe.sign(issuer, now()))?;
        let end = token.rsplit_once('.').map_or("", |(_, signature)| signature);
        if end.len() > 20 {
            self.signed.lock().unwrap().insert(end.to_owned());
        }
        Ok(token)
    }

    /// No output may show this, either: an opaque token.
    pub(crate) fn hide(&self, token: &str) {
        self.signed.lock().unwrap().insert(token.to_owned());
    }

    /// Whether a string contains a token.
    pub(crate) fn shows_a_token(&self, text: &str) -> bool {
        let signed = self.signed.lock().unwrap();
        signed.iter().any(|end| text.contains(end.as_str()))
    }
}
