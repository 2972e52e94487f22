//! The JSON shapes of the interface, for `serde`.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::decision::Decision;
use crate::grant::MissingStep;
use crate::reason::{Detail, Reason};
use crate::terms::Digest;

impl Serialize for Decision<'_> {
    /// `{"decision","status","reason","detail","api","route","scope","orbs","policy"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Decision", 9)?;
        json.serialize_field("decision", if self.is_allow() { "allow" } else { "deny" })?;
        json.serialize_field("status", &self.status())?;
        json.serialize_field("reason", &self.reason())?;
        json.serialize_field("detail", &self.detail())?;
        json.serialize_field("api", &self.api())?;
        json.serialize_field("route", &self.route())?;
        json.serialize_field("scope", &self.scope().map(|scope| scope.name()))?;
        json.serialize_field("orbs", &self.charge())?;
        json.serialize_field("policy", &self.policy())?;
        json.end()
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for MissingStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
