package orbgate

import "strings"

// A Token is the verified part of a bearer token: whose it is, and its scopes. The zero Token is of unknown kind and
// denied as [ReasonInvalidToken]; for a request without a token, use [NoToken].
type Token struct {
	Kind TokenKind
	// Scopes as the token has them, separated by spaces.
	Scopes string
	// ScopeSet is the same interned. If it is not nil, Scopes is not looked at.
	ScopeSet *ScopeSet
}

// UserToken is a user's token with scopes separated by spaces.
func UserToken(scopes string) Token { return Token{Kind: KindUser, Scopes: scopes} }

// OrganisationToken is an organisation's token with scopes separated by spaces.
func OrganisationToken(scopes string) Token { return Token{Kind: KindOrganisation, Scopes: scopes} }

// TokenOf is a token whose scopes come one by one, as from a JSON array. Never join them yourself: an element with a space in it is
// no scope, and would become two.
func TokenOf(kind TokenKind, scopes []string) Token {
	single := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		if !strings.Contains(scope, " ") {
			single = append(single, scope)
		}
	}
	return Token{Kind: kind, Scopes: strings.Join(single, " ")}
}

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
