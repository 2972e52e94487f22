package orbgate

import "strings"

// A Token is the verified part of a bearer token: its kind and its scopes. The zero Token has an unknown kind and is
// denied with [ReasonInvalidToken]. For a request without a token, use [NoToken].
type Token struct {
	Kind TokenKind
	// Scopes is the token's scope string, separated by spaces.
	Scopes string
	// ScopeSet contains the interned scopes. If it isn't nil, Scopes is ignored.
	ScopeSet *ScopeSet
}

// UserToken returns a user's token with scopes separated by spaces.
func UserToken(scopes string) Token { return Token{Kind: KindUser, Scopes: scopes} }

// OrganisationToken returns an organisation's token with scopes separated by spaces.
func OrganisationToken(scopes string) Token { return Token{Kind: KindOrganisation, Scopes: scopes} }

// TokenOf returns a token whose scopes come from a list, such as a JSON array. Never join a list yourself: an item that
// contains a space is invalid, and would become two scopes.
func TokenOf(kind TokenKind, scopes []string) Token {
	single := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		if !strings.Contains(scope, " ") {
			single = append(single, scope)
		}
	}
	return Token{Kind: kind, Scopes: strings.Join(single, " ")}
}

// NoToken is for a request without a token, which is denied with [ReasonNoToken].
func NoToken() Token { return Token{Kind: KindNone} }

// A ScopeSet contains a token's scopes as bits; each decision tests one bit. It belongs to the policy that made it.
// With another policy it is empty, so that policy denies instead of misreading it. The zero ScopeSet is also empty.
type ScopeSet struct {
	held scopeSet
}

// The scopes as a string, or interned.
func (t Token) parts() (string, *ScopeSet) {
	if t.ScopeSet != nil {
		return "", t.ScopeSet
	}
	return t.Scopes, nil
}
