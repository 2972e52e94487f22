package orbgate

// A Token is what has been verified of a bearer token: whose it is, and its scopes. The zero Token is of unknown kind and
// denied as [ReasonInvalidToken]; where a request has none, say [NoToken].
type Token struct {
	Kind TokenKind
	// Scopes as the token has them, separated by spaces.
	Scopes string
	// ScopeSet is the same interned. Where it is not nil, Scopes is not looked at.
	ScopeSet *ScopeSet
}

// UserToken is a user's token with scopes separated by spaces.
func UserToken(scopes string) Token { return Token{Kind: KindUser, Scopes: scopes} }

// OrganisationToken is an organisation's token with scopes separated by spaces.
func OrganisationToken(scopes string) Token { return Token{Kind: KindOrganisation, Scopes: scopes} }

// NoToken says that the request has none: denied as [ReasonNoToken].
func NoToken() Token { return Token{Kind: KindNone} }

// A ScopeSet holds a token's scopes as bits: one test per decision. It belongs to the policy that made it; with another one
// it holds nothing, so that decisions deny rather than misread it. The zero ScopeSet holds nothing either.
type ScopeSet struct {
	held scopeSet
}

// The scopes as text, or interned.
func (t Token) parts() (string, *ScopeSet) {
	if t.ScopeSet != nil {
		return "", t.ScopeSet
	}
	return t.Scopes, nil
}
