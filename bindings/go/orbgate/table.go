package orbgate

import "strings"

// A table is what a policy says of its routes and scopes, in Go's memory: so decisions have words for as long as they are kept,
// even after their policy is closed.
type table struct {
	digest string
	// What the policy calls itself; empty where it has no name.
	name string
	// Whether the policy's text ends in YAML's end marker.
	hasEndMarker bool
	// And whether that carries a seal.
	isSealed bool
	// By number, from 1; then the closed templates, whose numbers go on.
	routes []route
	closed []route
	scopes []scope
}

type route struct {
	id RouteID
	// METHOD /template, and both halves of it.
	text, method, template string
	api                    string
	// The number of its scope, and what it needs: alternatives.
	scope  int
	scopes [][]string
	// As a decision has it: bits, and the amount that they speak of.
	charge uint32
	amount uint64
	// All methods of the template.
	methods      []string
	line, column int
}

type scope struct {
	name string
	// The first by name, where several have it.
	api    string
	amount uint64
}

// The route or closed template of a decision; nil where it has none.
func (t *table) route(number int) *route {
	switch {
	case t == nil || number < 1 || number > len(t.routes)+len(t.closed):
		return nil
	case number > len(t.routes):
		return &t.closed[number-len(t.routes)-1]
	}
	return &t.routes[number-1]
}

// The scope of a decision; nil where it has none.
func (t *table) scope(number int) *scope {
	if t == nil || number < 1 || number > len(t.scopes) {
		return nil
	}
	return &t.scopes[number-1]
}

// Sets a route, whose text says its method and template. The methods are as in GET, POST; a template's methods are kept once,
// and so is an api that the route before has.
func (t *table) setRoute(index int, set route, methods string) {
	set.method, set.template, _ = strings.Cut(set.text, " ")
	if index > 0 && t.routes[index-1].api == set.api {
		set.api = t.routes[index-1].api
	}
	if index > 0 && t.routes[index-1].template == set.template {
		set.methods = t.routes[index-1].methods
	} else {
		set.methods = strings.Split(methods, ", ")
	}
	t.routes[index] = set
}
