//! The JSON forms of the interface, for `serde`. The forms of codes are in `reason.rs`.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::decision::Decision;
use crate::listing::{Closed, Requirement, Route, ScopeInApi};
use crate::tables::reason::Effect;
use crate::tables::terms::{Digest, Orbs};

impl Serialize for Decision<'_> {
    /// `{"decision","status","reason","detail","api","route","scope","scopes","orbs","policy"}`. `scopes` is absent if
    /// the call needs just the scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let requirement = self.requirement();
        let fields = if requirement.is_some() { 10 } else { 9 };
        let mut json = serializer.serialize_struct("Decision", fields)?;
        json.serialize_field("decision", &Effect::of(self.is_allow()))?;
        json.serialize_field("status", &self.status())?;
        json.serialize_field("reason", &self.reason())?;
        json.serialize_field("detail", &self.detail())?;
        json.serialize_field("api", &self.api())?;
        json.serialize_field("route", &self.route_name())?;
        json.serialize_field("scope", &self.scope().map(|scope| scope.name()))?;
        match requirement {
            Some(requirement) => json.serialize_field("scopes", &requirement)?,
            None => json.skip_field("scopes")?,
        }
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
    /// `{"route","method","template","scopes","orbs","location"}`, as in a [`Table`](crate::Table). `scopes` is absent if
    /// the route needs just its scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let requirement = Some(self.requirement()).filter(|needs| !needs.is_one_scope());
        let fields = if requirement.is_some() { 6 } else { 5 };
        let mut json = serializer.serialize_struct("Route", fields)?;
        json.serialize_field("route", self.as_str())?;
        json.serialize_field("method", self.method())?;
        json.serialize_field("template", self.template())?;
        match requirement {
            Some(requirement) => json.serialize_field("scopes", &requirement)?,
            None => json.skip_field("scopes")?,
        }
        json.serialize_field("orbs", &self.orbs())?;
        json.serialize_field("location", &self.location())?;
        json.end()
    }
}

impl Serialize for Requirement<'_> {
    /// `[["read:orders"],["admin:orders"]]`: the alternatives, the owner's first.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.alternatives().map(|scopes| scopes.map(|scope| scope.name()).collect::<Vec<_>>()))
    }
}

impl Serialize for Closed<'_> {
    /// `{"template","location"}`, as in a [`Table`](crate::Table).
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Closed", 2)?;
        json.serialize_field("template", self.template())?;
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
