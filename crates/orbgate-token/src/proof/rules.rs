//! What an issuer's tokens are bound to, and who must prove it.

use crate::algorithm::Algorithm;

/// A way to prove that the sender of a token holds the key that it is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProofMethod {
    /// A signed proof in the header `DPoP` (RFC 9449), for a token with `cnf.jkt`.
    Dpop,
    /// The client's certificate of the TLS connection (RFC 8705), for a token with `cnf.x5t#S256`.
    Mtls,
}

impl ProofMethod {
    /// The word of the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dpop => "dpop",
            Self::Mtls => "mtls",
        }
    }

    /// The member of `cnf` that it proves.
    #[must_use]
    pub const fn member(self) -> &'static str {
        match self {
            Self::Dpop => "jkt",
            Self::Mtls => "x5t#S256",
        }
    }
}

/// What proves the tokens of an issuer. See [`Issuer::proof`](crate::Issuer::proof).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofRules {
    pub(crate) methods: Vec<ProofMethod>,
    pub(crate) is_required: bool,
    pub(crate) algorithms: Vec<Algorithm>,
}

impl ProofRules {
    /// Each token must be bound, by one of these methods or several. A token that isn't bound is rejected.
    #[must_use]
    pub fn required(methods: impl IntoIterator<Item = ProofMethod>) -> Self {
        Self { is_required: true, ..Self::when_bound(methods) }
    }

    /// A token that is bound by these methods must be proved. One that isn't bound is a bearer token, which a thief can use.
    #[must_use]
    pub fn when_bound(methods: impl IntoIterator<Item = ProofMethod>) -> Self {
        Self { methods: methods.into_iter().collect(), is_required: false, algorithms: ALGORITHMS.to_vec() }
    }

    /// The algorithms with which clients can sign DPoP proofs. Default: ES256, PS256, EdDSA and Ed25519, those of FAPI 2.0.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Whether proofs are signed with the usual algorithms.
    pub(crate) fn is_usual(&self) -> bool {
        self.algorithms == ALGORITHMS
    }

    pub(crate) fn has(&self, method: ProofMethod) -> bool {
        self.methods.contains(&method)
    }
}

/// Those of FAPI 2.0 (section 5.4.1).
const ALGORITHMS: [Algorithm; 4] = [Algorithm::Es256, Algorithm::Ps256, Algorithm::EdDsa, Algorithm::Ed25519];
