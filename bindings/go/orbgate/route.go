package orbgate

import "slices"

// A Route is a method and a path that a policy has, and what a call of it needs. It may be kept, also beyond its engine.
type Route struct {
	// ID is for [Engine.DecideRoute].
	ID RouteID
	// Number is that of [Decision.RouteNumber], from 1.
	Number int
	// Method, and Template with the api's base path, as in GET and /api/v1/external/voxies/{voxieId}.
	Method, Template string
	// Scope that a call needs, and the API that the route is in.
	Scope, API string
	// Methods are all that the template declares, in alphabetical order.
	Methods []string
	// Line and Column, in characters, of the route in the policy's text, from 1.
	Line, Column int

	bits   uint32
	amount uint64
}

// Charge is what an allowed call of the route consumes, without bonus orbs. It is not there where the policy states no orb column.
func (r Route) Charge() (charge Charge, stated bool) { return chargeOf(r.bits, r.amount) }

// Routes are all routes of the policy, in the order of their numbers; none where there is no policy. The slice is the caller's.
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
			Methods: slices.Clone(route.methods),
			Line:    route.line, Column: route.column,
			bits: route.charge, amount: route.amount,
		}
	}
	return routes
}

// RouteCount is how many routes there are: their numbers go from 1 to this. It is 0 where there is no policy.
func (e *Engine) RouteCount() int {
	if policy := e.current(); policy != nil {
		return len(policy.table.routes)
	}
	return 0
}

// ScopeCount is how many scopes there are: their numbers go from 1 to this. It is 0 where there is no policy.
func (e *Engine) ScopeCount() int {
	if policy := e.current(); policy != nil {
		return len(policy.table.scopes)
	}
	return 0
}
