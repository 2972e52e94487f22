// Package orbgate answers in one call which scope a route needs, whether a token may make the call, whether that
// consumes orbs, and why.
//
//	engine, err := orbgate.External()
//	…
//	decision := engine.Decide(r.Method, r.RequestURI, orbgate.UserToken("read:voxies write:voxies"))
//	if !decision.IsAllow() {
//		w.WriteHeader(decision.HTTPStatus()) // and an empty body
//	}
//
// Hand over method and target as they came over the wire, neither decoded nor normalised: [net/http.Request.RequestURI],
// not its URL.
//
// Everything but a [Batch] may be used from any goroutine at any time. A decision allocates nothing. It crosses into C, which
// costs more than the decision itself; see [Engine.DecideRoute] for the cheapest question and [Engine.DecideBatch] for many
// at once.
//
// The package needs liborbgate, which pkg-config finds: see the README.
package orbgate

import "sync/atomic"

// An Engine is a compiled, immutable policy. The zero Engine, a nil one and a closed one answer every question with a
// denial.
type Engine struct {
	held atomic.Pointer[reference]
}

// An Option says more about a request.
type Option uint32

func flags(options []Option) Option {
	var flags Option
	for _, option := range options {
		flags |= option
	}
	return flags
}

// External gives the engine of the policy that is compiled into the library: the table of the specification.
func External() (*Engine, error) { return engineOf(external()) }

// FromYAML compiles a policy from the text of a policy file. The error of one that cannot be used is an [*Error] with
// every fault.
func FromYAML(text string) (*Engine, error) { return engineOf(fromYAML(text)) }

// FromFile compiles a policy from a file. The error of one that cannot be used is an [*Error] with every fault.
func FromFile(path string) (*Engine, error) { return engineOf(fromFile(path)) }

func engineOf(held *reference, err error) (*Engine, error) {
	if err != nil {
		return nil, err
	}
	engine := new(Engine)
	engine.held.Store(held)
	return engine, nil
}

// Close lets go of the policy: from now on every question is answered with a denial. Calls under way, decisions and scope
// sets go on working, so it may be called at any time, and more than once; the memory goes with the next garbage
// collection after the last of them. An engine that nobody refers to any more needs no Close. The error is always nil.
func (e *Engine) Close() error {
	if e != nil {
		e.held.Store(nil)
	}
	return nil
}

func (e *Engine) reference() *reference {
	if e == nil {
		return nil
	}
	return e.held.Load()
}

// Decide decides a request. Method and target are those of the request line, byte by byte. It allocates nothing.
func (e *Engine) Decide(method, target string, token Token, options ...Option) Decision {
	held := e.reference()
	return Decision{held, held.decide(method, target, token, options)}
}

// DecideRoute decides by the id of a route, for a server whose router has matched it: no text is looked at. An id of
// another policy, and 0, is denied as [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	held := e.reference()
	return Decision{held, held.decideRoute(route, token, options)}
}

// DecideScope decides by scope, for a service whose routes the policy does not list, as the inference api. A scope that
// the policy does not have is denied as [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideScope(scope string, token Token, options ...Option) Decision {
	held := e.reference()
	return Decision{held, held.decideScope(scope, token, options)}
}

// A RouteID stands for a route of one policy: below 2^53, the same in every process, and never taken for a route of
// another policy.
type RouteID uint64

// FindRoute gives the id of the route that the policy writes with this method and this template, the api's base path
// included, as in GET and /api/v1/external/voxies/{voxieId}. Ask at a server's start, and [Engine.DecideRoute] for each
// request. The error is [StatusNotFound] where the policy has no such route.
func (e *Engine) FindRoute(method, template string) (RouteID, error) {
	return e.reference().findRoute(method, template)
}

// ScopeSet interns the scopes of a token, separated by spaces. Those that the policy does not have are dropped.
func (e *Engine) ScopeSet(scopes string) (*ScopeSet, error) {
	return scopeSetOf(e.reference().scopeSetFromText(scopes))
}

// ScopeSetOf interns scopes that come one by one, as from a JSON array. One with a space in it is no scope of any policy.
func (e *Engine) ScopeSetOf(scopes ...string) (*ScopeSet, error) {
	return scopeSetOf(e.reference().scopeSetFromList(scopes))
}

// Digest is the SHA-256 of the policy's canonical form, `sha256:` and 64 hexadecimal digits; empty where there is no policy.
func (e *Engine) Digest() string { return e.reference().digest() }

// TableJSON is the whole table as one JSON document, as `orbgate table --format json` prints it.
func (e *Engine) TableJSON() ([]byte, error) { return e.reference().tableJSON() }

// Version is that of the library, as in 0.1.0.
func Version() string { return libraryVersion() }
