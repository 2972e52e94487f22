package orbgate

// A table is what a policy says of its routes and scopes, in Go's memory: so decisions have words for as long as they are kept,
// whatever becomes of their policy.
type table struct {
	digest string
	// Whether the policy's text ends in YAML's end marker.
	hasEndMarker bool
	// By number, from 1.
	routes []route
	scopes []scope
}

type route struct {
	// METHOD /template, and the second half of it.
	text, template string
	// Its number.
	scope  int
	amount uint64
	// All methods of the template.
	methods []string
}

type scope struct {
	name, api string
	amount    uint64
}

// The route of a decision; nil where it has none.
func (t *table) route(number int) *route {
	if t == nil || number < 1 || number > len(t.routes) {
		return nil
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
