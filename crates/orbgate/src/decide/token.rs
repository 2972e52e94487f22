//! Tokens and their scopes.

use crate::codes;
use crate::tables::list::index;
use crate::tables::reason::Reason;

/// A *verified* bearer token (RFC 9068). The engine doesn't verify tokens; the token layer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Whether the token is a user's or an organisation's.
    pub kind: TokenKind,
    /// The scopes of the token.
    pub scopes: Scopes<'a>,
}

impl<'a> Token<'a> {
    /// A user's token.
    ///
    /// ```
    /// let token = orbgate::Token::user("read:account write:voxies");
    /// ```
    ///
    /// Pass the scopes as a string, as bytes, or as a [`ScopeSet`].
    #[must_use]
    pub fn user(scopes: impl Into<Scopes<'a>>) -> Self {
        Self { kind: TokenKind::User, scopes: scopes.into() }
    }

    /// An organisation's token (specification §5.2).
    #[must_use]
    pub fn organisation(scopes: impl Into<Scopes<'a>>) -> Self {
        Self { kind: TokenKind::Organisation, scopes: scopes.into() }
    }
}

codes! {
    /// The kind of token: a user's or an organisation's.
    ///
    /// Exhaustive on purpose: anything else is `Unknown`, which is denied.
    #[derive(Default)]
    pub enum TokenKind: u8 {
        #[default]
        Unknown = 0: "unknown", "an unknown kind: denied as `invalid_token`";
        User = 1: "user", "a user's token";
        Organisation = 2: "organisation", "an organisation's token";
    }
}

impl TokenKind {
    /// The kind with this frozen name; `Unknown` for any other string.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.as_str() == name).unwrap_or_default()
    }
}

/// The scopes of a token.
///
/// Exhaustive on purpose: a token layer passes scopes in one of these two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes<'a> {
    /// A scope string: names separated by spaces, in any order. Duplicates and empty names are
    /// ignored. Works with any engine; every decision searches the string.
    Text(&'a [u8]),
    /// Interned once with [`Engine::scopes`](crate::Engine::scopes); each decision tests a bit.
    Set(&'a ScopeSet),
}

/// A string or bytes, owned or borrowed.
impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Scopes<'a> {
    fn from(text: &'a T) -> Self {
        Self::Text(text.as_ref())
    }
}

impl<'a> From<&'a ScopeSet> for Scopes<'a> {
    fn from(set: &'a ScopeSet) -> Self {
        Self::Set(set)
    }
}

/// A token's scopes as a set of bits, made by [`Engine::scopes`](crate::Engine::scopes) or
/// [`Engine::scope_set`](crate::Engine::scope_set).
///
/// A set belongs to the policy of the engine that made it. To an engine of another policy it is empty, so that engine
/// denies instead of misreading it. Scopes that the policy doesn't define are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScopeSet {
    /// The policy that numbered the scopes.
    policy: u128,
    /// One bit per scope. The first words need no allocation.
    few: [u64; WORDS],
    more: Box<[u64]>,
}

/// The number of words stored inside the set.
const WORDS: usize = 2;

impl ScopeSet {
    /// A set for a policy with at most this many scopes doesn't allocate.
    #[doc(hidden)]
    pub const OWN_SCOPES: usize = WORDS * 64;

    /// An empty set for a policy with this many scopes.
    pub(crate) fn empty(policy: u128, scopes: usize) -> Self {
        let more = vec![0; scopes.saturating_sub(Self::OWN_SCOPES).div_ceil(64)].into_boxed_slice();
        Self { policy, few: [0; WORDS], more }
    }

    /// Adds a scope.
    pub(crate) fn insert(&mut self, scope: u16) {
        let mut words = self.few.iter_mut().chain(&mut self.more);
        let word = words.nth(usize::from(scope >> 6));
        debug_assert!(word.is_some(), "a scope of another policy");
        if let Some(word) = word {
            *word |= 1_u64.wrapping_shl(u32::from(scope));
        }
    }

    /// Whether the set contains the scope with this id in this policy (specification §5.3). If no scope of the set's policy
    /// has such an id, the answer is `otherwise`.
    #[inline(always)]
    pub(crate) fn holds(&self, policy: u128, scope: u32, otherwise: impl FnOnce() -> bool) -> bool {
        let word = index(scope >> 6);
        let word = match self.few.get(word) {
            Some(word) => Some(word),
            None => word.checked_sub(WORDS).and_then(|word| self.more.get(word)),
        };
        match word {
            Some(word) => self.policy == policy && word.wrapping_shr(scope) & 1 == 1,
            None => otherwise(),
        }
    }
}

/// The token, if its kind is known. A token of unknown kind is always denied.
#[inline(always)]
pub(crate) const fn read_token<'t, 's>(token: Option<&'t Token<'s>>) -> Result<&'t Token<'s>, Reason> {
    match token {
        None => Err(Reason::NoToken),
        Some(Token { kind: TokenKind::Unknown, .. }) => Err(Reason::InvalidToken),
        Some(token) => Ok(token),
    }
}
