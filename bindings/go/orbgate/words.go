package orbgate

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/terms"
)

// Words are a decision as strings, like those of the JSON interface. A string that is null in JSON is
// empty here.
type Words struct {
	// Decision is allow or deny.
	Decision string
	// Reason and Detail are the names of the codes.
	Reason, Detail string
	// API is the api of the route; for a decision by scope, the scope's api, the first by name if
	// there are several.
	API string
	// Route is METHOD /template; for method_not_declared, only the template.
	Route string
	// Scope is the scope that owns the route, or that was asked for; [Decision.Scopes] has the alternatives.
	Scope string
	// Policy is the digest, sha256:….
	Policy string
	// About is the route that the request matches, even without a valid token.
	About string
}

// String returns the decision on one line, for display, such as
// `deny: scope_missing, GET /keys, read:keys`.
func (d Decision) String() string {
	words, err := d.Words()
	if err != nil {
		return "deny: " + err.Error()
	}
	text := words.Decision + ": " + words.Reason
	for _, word := range []string{words.Detail, words.Route, words.Scope} {
		if word != "" {
			text += ", " + word
		}
	}
	return text
}

func (d Decision) effect() string {
	if d.IsAllow() {
		return terms.EffectAllow
	}
	return terms.EffectDeny
}

// Route returns METHOD /template, and for [ReasonMethodNotDeclared] only the template; empty if the decision has no
// route.
func (d Decision) Route() string {
	route := d.table.route(d.RouteNumber())
	switch {
	case route == nil:
		return ""
	case d.Reason() == ReasonMethodNotDeclared:
		return route.template
	}
	return route.text
}

// About returns the route that the request matches, METHOD /template, even without a valid token, so that logs show
// which routes were called without one. Don't send it to callers. Empty if no route has the path and the method, and
// for a decision by scope.
func (d Decision) About() string {
	if route := d.table.route(d.AboutNumber()); route != nil {
		return route.text
	}
	return ""
}

// DeclaredMethods returns the methods that the request's path declares, in alphabetical order, for the Allow header of
// a 405. It is empty for all reasons except [ReasonMethodNotDeclared]. The caller owns the slice.
func (d Decision) DeclaredMethods() []string {
	if route := d.table.route(d.RouteNumber()); route != nil && d.Reason() == ReasonMethodNotDeclared {
		return slices.Clone(route.methods)
	}
	return nil
}

// Scope returns the scope that owns the route, or that was asked for; empty if none was found. The call needs it, or what
// [Decision.Scopes] returns.
func (d Decision) Scope() string {
	if scope := d.table.scope(d.ScopeNumber()); scope != nil {
		return scope.name
	}
	return ""
}

// Scopes returns the alternatives of a call that needs more or other than [Decision.Scope]: a token needs all scopes of one
// of them. The owner's comes first, and begins with Scope. It is empty if the call needs just Scope. The caller owns the
// slice.
func (d Decision) Scopes() [][]string {
	route := d.table.route(d.RouteNumber())
	if route == nil || d.ScopeNumber() == 0 || len(route.scopes) == 1 && len(route.scopes[0]) == 1 {
		return nil
	}
	return cloned(route.scopes)
}

// The api of the route or, for a decision by scope, of the scope.
func (d Decision) api() string {
	if route := d.table.route(d.RouteNumber()); route != nil {
		return route.api
	}
	if scope := d.table.scope(d.ScopeNumber()); scope != nil {
		return scope.api
	}
	return ""
}

// Words returns the decision as strings, for logs and audits, without copying. If no decision was made, returns the
// error of [Decision.Err].
func (d Decision) Words() (Words, error) {
	if err := d.Err(); err != nil {
		return Words{}, err
	}
	return Words{
		Decision: d.effect(),
		Reason:   d.Reason().String(),
		Detail:   d.Detail().String(),
		API:      d.api(),
		Route:    d.Route(),
		Scope:    d.Scope(),
		Policy:   d.table.digest,
		About:    d.About(),
	}, nil
}

// MarshalJSON returns the decision as `orbgate decide --json` prints it. [json.Marshal] then escapes `&`, `<` and `>`,
// which doesn't change the meaning; a [json.Encoder] with SetEscapeHTML(false) doesn't.
func (d Decision) MarshalJSON() ([]byte, error) {
	words, err := d.Words()
	if err != nil {
		return nil, err
	}
	type orbs struct {
		Consumes     bool    `json:"consumes"`
		Amount       *uint64 `json:"amount"`
		BonusAllowed bool    `json:"bonus_allowed"`
	}
	document := struct {
		Decision string     `json:"decision"`
		Status   *int       `json:"status"`
		Reason   string     `json:"reason"`
		Detail   *string    `json:"detail"`
		API      *string    `json:"api"`
		Route    *string    `json:"route"`
		Scope    *string    `json:"scope"`
		Scopes   [][]string `json:"scopes,omitempty"`
		Orbs     *orbs      `json:"orbs"`
		Policy   string     `json:"policy"`
	}{
		Decision: words.Decision,
		Status:   orNull(d.HTTPStatus()),
		Reason:   words.Reason,
		Detail:   orNull(words.Detail),
		API:      orNull(words.API),
		Route:    orNull(words.Route),
		Scope:    orNull(words.Scope),
		Scopes:   d.Scopes(),
		Policy:   words.Policy,
	}
	if charge, stated := d.Charge(); stated {
		document.Orbs = &orbs{Consumes: charge.Consumes, BonusAllowed: charge.BonusAllowed}
		if charge.AmountStated {
			document.Orbs.Amount = &charge.Amount
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(document)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func orNull[T comparable](value T) *T {
	var empty T
	if value == empty {
		return nil
	}
	return &value
}
