//! The JSON forms of the interface, for `serde`. The forms of codes are in `reason.rs`.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::decision::Decision;
use crate::listing::{Route, ScopeInApi};
use crate::tables::reason::Effect;
use crate::tables::terms::{Digest, Orbs};

impl Serialize for Decision<'_> {
    /// `{"decision","status","reason","detail","api","route","scope","orbs","policy"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Decision", 9)?;
        json.serialize_field("decision", &Effect::of(self.is_allow()))?;
        json.serialize_field("status", &self.status())?;
        json.serialize_field("reason", &self.reason())?;
        json.serialize_field("detail", &self.detail())?;
        json.serialize_field("api", &self.api())?;
        json.serialize_field("route", &self.route_name())?;
        json.serialize_field("scope", &self.scope().map(|scope| scope.name()))?;
        json.serialize_field("orbs", &self.charge())?;
        json.serialize_field("policy", &self.policy())?;
        json.end()
    }
}

impl Serialize for ScopeInApi<'_> {
    /// `{"scope","permits","orbs","location","routes"}`, as in a [`Table`](crate::Table).
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scope = self.scope();
        let mut json = serializer.serialize_struct("ScopeInApi", 5)?;
        json.serialize_field("scope", scope.name())?;
        json.serialize_field("permits", &scope.permits())?;
        json.serialize_field("orbs", &scope.orbs())?;
        json.serialize_field("location", &self.location())?;
        json.serialize_field("routes", &self.routes().collect::<Vec<_>>())?;
        json.end()
    }
}

impl Serialize for Route<'_> {
    /// `{"route","method","template","orbs","location"}`, as in a [`Table`](crate::Table).
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Route", 5)?;
        json.serialize_field("route", self.as_str())?;
        json.serialize_field("method", self.method())?;
        json.serialize_field("template", self.template())?;
        json.serialize_field("orbs", &self.orbs())?;
        json.serialize_field("location", &self.location())?;
        json.end()
    }
}

impl Serialize for Orbs {
    /// `{"consumes","amount"}`, as in a decision.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (consumes, amount) = match *self {
            Self::Free => (false, Some(0)),
            Self::Unstated => (true, None),
            Self::Amount(amount) => (true, Some(amount)),
        };
        let mut json = serializer.serialize_struct("Orbs", 2)?;
        json.serialize_field("consumes", &consumes)?;
        json.serialize_field("amount", &amount)?;
        json.end()
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
