//! A diff as JSON, for `serde`. A caller whose decision changed is written as a request that
//! `orbgate replay` reads.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::change::{Asked, Caller, Change, Cost, Rule};
use super::compare::{Diff, Verdict};

impl Serialize for Diff<'_, '_> {
    /// `{"verdict","widens","complete","left_out","changes"}`: `verdict` is null if `complete` is false.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Diff", 5)?;
        json.serialize_field("verdict", &self.verdict().map(Verdict::as_str))?;
        json.serialize_field("widens", &self.widens())?;
        json.serialize_field("complete", &self.complete)?;
        json.serialize_field("left_out", &self.left_out)?;
        json.serialize_field("changes", &self.changes)?;
        json.end()
    }
}

impl Serialize for Change<'_, '_> {
    /// `{"asked","before","after","wider","narrower","cost","payer","removed"}`: `asked` is a request
    /// without a token, `wider`, `narrower` and `payer` are null or the same request with one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = |caller| Some(Request { asked: &self.asked, token: Some(caller?) });
        let mut json = serializer.serialize_struct("Change", 8)?;
        json.serialize_field("asked", &self.asked)?;
        json.serialize_field("before", &self.before)?;
        json.serialize_field("after", &self.after)?;
        json.serialize_field("wider", &request(self.wider.as_ref()))?;
        json.serialize_field("narrower", &request(self.narrower.as_ref()))?;
        json.serialize_field("cost", &self.cost)?;
        json.serialize_field("payer", &request(self.payer.as_ref()))?;
        json.serialize_field("removed", &self.removed)?;
        json.end()
    }
}

/// `{"method","target"}` or `{"scope"}`, with a `token` where a caller asks.
struct Request<'a> {
    asked: &'a Asked,
    token: Option<&'a Caller>,
}

impl Serialize for Request<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Request", 3)?;
        match self.asked {
            Asked::Call { method, target } => {
                json.serialize_field("method", method)?;
                json.serialize_field("target", target)?;
            }
            Asked::Scope(name) => json.serialize_field("scope", name)?,
        }
        if let Some(token) = self.token {
            json.serialize_field("token", token)?;
        }
        json.end()
    }
}

impl Serialize for Asked {
    /// `{"method","target"}` or `{"scope"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (asked, token) = (self, None);
        Request { asked, token }.serialize(serializer)
    }
}

impl Serialize for Caller {
    /// `{"kind","scopes"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Caller", 2)?;
        json.serialize_field("kind", self.kind.as_str())?;
        json.serialize_field("scopes", &self.scopes)?;
        json.end()
    }
}

impl Serialize for Rule<'_> {
    /// `{"route","scope","scopes","orbs","organisation","location"}`. `scopes` is absent if the rule needs just its scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let organisation = self.scope.organisation().map(|rule| rule.as_str());
        let mut json = serializer.serialize_struct("Rule", 6)?;
        json.serialize_field("route", &self.route.map(|route| route.as_str()))?;
        json.serialize_field("scope", self.scope.name())?;
        match self.requirement() {
            Some(requirement) => json.serialize_field("scopes", &requirement)?,
            None => json.skip_field("scopes")?,
        }
        json.serialize_field("orbs", &self.orbs())?;
        json.serialize_field("organisation", &organisation)?;
        json.serialize_field("location", &self.location())?;
        json.end()
    }
}

impl Serialize for Cost {
    /// `less`, `more` or `unknown`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Less => "less",
            Self::More => "more",
            Self::Unknown => "unknown",
        })
    }
}
