//! Reports scopes that a policy doesn't define, which are probably misspelt.

use orbgate::Engine;
use orbgate_yaml::quoted;

use crate::near::near_scope;

/// An error message for each of these scopes, separated by spaces, that the policy doesn't define.
pub(crate) fn lacking(engine: &Engine, scopes: &str) -> Vec<String> {
    let scopes = scopes.split(' ').filter(|scope| !scope.is_empty());
    let lacking = scopes.filter(|scope| engine.find_scope(scope).is_none());
    lacking.map(|scope| unknown(engine, scope)).collect()
}

/// The error message for a scope that the policy doesn't define.
pub(crate) fn unknown(engine: &Engine, name: &str) -> String {
    let known: Vec<_> = engine.scope_table().map(|scope| scope.name()).collect();
    let advice = match near_scope(name, &known.join(" ")) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if name.contains(',') => "; scopes are separated by spaces".to_owned(),
        None => String::new(),
    };
    format!("the policy has no scope {}{advice}", quoted(name))
}
