package orbgate

import "slices"

// A Route is a method and a path template of a policy, with its requirements. You can keep it after its engine is
// closed.
type Route struct {
	// ID is for [Engine.DecideRoute].
	ID RouteID
	// Number is that of [Decision.RouteNumber], from 1.
	Number int
	// Method, and Template including the api's base path, for example GET and
	// /api/v1/external/voxies/{voxieId}.
	Method, Template string
	// Scope is the scope that owns the route, and API the api of the route.
	Scope, API string
	// Scopes are the alternatives that a call needs: all scopes of one of them. The owner's comes first, and begins with
	// Scope. Most routes need only Scope: {{Scope}}.
	Scopes [][]string
	// Methods are all methods that the template declares, in alphabetical order.
	Methods []string
	// Line and Column, in characters, are the route's location in the policy file, from 1.
	Line, Column int

	bits   uint32
	amount uint64
}

// Charge returns what an allowed call of the route consumes, without bonus orbs. stated is true: a
// policy states it for each route.
func (r Route) Charge() (charge Charge, stated bool) { return chargeOf(r.bits, r.amount) }

// Routes returns all routes of the policy, ordered by number; none if there is no policy. The caller owns the slice.
func (e *Engine) Routes() []Route {
	policy := e.current()
	if policy == nil {
		return nil
	}
	table := policy.table
	routes := make([]Route, len(table.routes))
	for index, route := range table.routes {
		routes[index] = Route{
			ID: route.id, Number: index + 1,
			Method: route.method, Template: route.template,
			Scope:   table.scope(route.scope).name, // every route has one
			API:     route.api,
			Scopes:  cloned(route.scopes),
			Methods: slices.Clone(route.methods),
			Line:    route.line, Column: route.column,
			bits: route.charge, amount: route.amount,
		}
	}
	return routes
}

func cloned(alternatives [][]string) [][]string {
	clone := make([][]string, len(alternatives))
	for index, scopes := range alternatives {
		clone[index] = slices.Clone(scopes)
	}
	return clone
}

// RouteCount returns the number of routes. Their numbers start at 1. It is 0 if there is no policy.
func (e *Engine) RouteCount() int {
	if policy := e.current(); policy != nil {
		return len(policy.table.routes)
	}
	return 0
}

// ScopeCount returns the number of scopes. Their numbers start at 1. It is 0 if there is no policy.
func (e *Engine) ScopeCount() int {
	if policy := e.current(); policy != nil {
		return len(policy.table.scopes)
	}
	return 0
}
