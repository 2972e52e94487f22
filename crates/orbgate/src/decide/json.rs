//! The JSON forms of the interface, for `serde`. The forms of codes are in `reason.rs`.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::decision::Decision;
use crate::listing::{Closed, Requirement, Route, ScopeInApi};
use crate::tables::reason::Effect;
use crate::tables::terms::{Digest, Orbs};

/// Serialises a structure with these fields, in this order. A field with `if` is absent if it is `None`.
macro_rules! structure {
    ($serializer:ident, $name:literal { $($key:literal $(if $optional:expr)? $(=> $value:expr)?;)* }) => {{
        let mut json = $serializer.serialize_struct($name, [$($key),*].len())?;
        $(
            $(json.serialize_field($key, &$value)?;)?
            $(match $optional {
                Some(value) => json.serialize_field($key, &value)?,
                None => json.skip_field($key)?,
            })?
        )*
        json.end()
    }};
}

impl Serialize for Decision<'_> {
    /// `{"decision","status","reason","detail","api","route","scope","scopes","orbs","policy"}`. `scopes` is absent if
    /// the call needs just the scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        structure!(serializer, "Decision" {
            "decision" => Effect::of(self.is_allow());
            "status" => self.status();
            "reason" => self.reason();
            "detail" => self.detail();
            "api" => self.api();
            "route" => self.route_name();
            "scope" => self.scope().map(|scope| scope.name());
            "scopes" if self.requirement();
            "orbs" => self.charge();
            "policy" => self.policy();
        })
    }
}

impl Serialize for ScopeInApi<'_> {
    /// `{"scope","permits","orbs","location","routes"}`, as in a [`Table`](crate::Table).
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scope = self.scope();
        structure!(serializer, "ScopeInApi" {
            "scope" => scope.name();
            "permits" => scope.permits();
            "orbs" => scope.orbs();
            "location" => self.location();
            "routes" => self.routes().collect::<Vec<_>>();
        })
    }
}

impl Serialize for Route<'_> {
    /// `{"route","method","template","scopes","orbs","location"}`, as in a [`Table`](crate::Table). `scopes` is absent if
    /// the route needs just its scope.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        structure!(serializer, "Route" {
            "route" => self.as_str();
            "method" => self.method();
            "template" => self.template();
            "scopes" if Some(self.requirement()).filter(|needs| !needs.is_one_scope());
            "orbs" => self.orbs();
            "location" => self.location();
        })
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
        structure!(serializer, "Closed" { "template" => self.template(); "location" => self.location(); })
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
        structure!(serializer, "Orbs" { "consumes" => consumes; "amount" => amount; })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
