// Package orbgate decides in one call which scope a route needs, whether a token may call it, whether it
// consumes orbs, and why.
//
//	engine, err := orbgate.External()
//	…
//	decision := engine.Decide(r.Method, r.RequestURI, orbgate.UserToken("read:voxies write:voxies"))
//	if !decision.IsAllow() {
//		w.WriteHeader(decision.HTTPStatus()) // and an empty body
//	}
//
// Pass method and target exactly as received, neither decoded nor normalised: [net/http.Request.RequestURI], not its
// URL.
//
// Everything except a [Batch] can be used from any goroutine at any time. A decision allocates nothing. A call of the
// engine costs more than the decision itself: several times as much with WebAssembly, less with cgo. It costs less with
// scopes from [Engine.ScopeSet], with [Engine.DecideRoute], and with [Engine.DecideBatch] for many requests.
//
// The engine is a WebAssembly module that the package contains. With the build tag orbgate_cgo it is the C library
// instead, which the package contains for Linux: see the README.
package orbgate

import "sync/atomic"

// An Engine is a compiled, immutable policy. The zero Engine, a nil one and a closed one deny every request.
//
// Open engines, and handles that hold them, share ownership of a policy. Its memory, which with cgo is outside Go's
// heap, is freed when the last owner is closed and the running calls have ended.
type Engine struct {
	held atomic.Pointer[policy]
}

// An Option is an additional property of a request.
type Option uint32

func flags(options []Option) Option {
	var flags Option
	for _, option := range options {
		flags |= option
	}
	return flags
}

// External returns the engine of the policy that is compiled into the library: the table of the
// specification.
func External() (*Engine, error) { return engineOf(external()) }

// FromYAML compiles a policy from the contents of a policy file. If the policy is invalid, the error is an [*Error]
// with all errors.
func FromYAML[Text string | []byte](text Text) (*Engine, error) {
	return engineOf(fromYAML(string(text)))
}

// FromFile compiles a policy from a file. If the policy is invalid, the error is an [*Error] with all errors. If the
// file can't be read, the error also matches Go's own, such as [io/fs.ErrNotExist].
func FromFile(path string) (*Engine, error) { return engineOf(fromFile(path)) }

func engineOf(policy *policy, err error) (*Engine, error) {
	if err != nil {
		return nil, err
	}
	engine := new(Engine)
	engine.held.Store(policy)
	return engine, nil
}

// Close releases the policy: from then on, every call of this engine is denied with [ErrClosed]. If no other engine or
// handle holds the policy, its memory is freed after the running calls have ended; Close doesn't wait for them.
// Decisions and scope sets stay valid. You can call Close at any time, and more than once. The garbage collector frees
// an engine that isn't closed, but later, because it can't see how large it is. The error is always nil.
func (e *Engine) Close() error {
	if e != nil {
		if policy := e.held.Swap(nil); policy != nil {
			policy.disown()
		}
	}
	return nil
}

// The policy; nil if the engine is closed.
func (e *Engine) current() *policy {
	if e == nil {
		return nil
	}
	return e.held.Load()
}

// The policy, with the caller as an additional owner; nil if the engine is closed.
func (e *Engine) share() *policy {
	if policy := e.current(); policy != nil && policy.own() {
		return policy
	}
	return nil
}

// Decide decides a request. Pass method and target exactly as in the request line, byte for byte. It allocates
// nothing.
func (e *Engine) Decide(method, target string, token Token, options ...Option) Decision {
	decision, _ := e.current().decide(method, target, token, options)
	return decision
}

// DecideRoute decides by the id of a route, for a server whose router has already matched it. It reads no string. An
// id of another policy, and the zero value, is denied with [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	decision, _ := e.current().decideRoute(route, token, options)
	return decision
}

// DecideScope decides by scope, for a service whose routes the policy doesn't list, such as the inference API. A scope
// that the policy doesn't define is denied with [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideScope(scope string, token Token, options ...Option) Decision {
	decision, _ := e.current().decideScope(scope, token, options)
	return decision
}

// A RouteID identifies a route of a policy. It is the same in every process, and never equals the id of another
// policy's route. The zero value identifies no route.
type RouteID struct{ high, low uint64 }

// FindRoute returns the id of the route with exactly this method and template, including the api's base path, for
// example GET and /api/v1/external/voxies/{voxieId}. Call it when a server starts, and [Engine.DecideRoute] for each
// request. If the policy doesn't have the route, the error is [ErrNotFound].
func (e *Engine) FindRoute(method, template string) (RouteID, error) {
	return e.current().findRoute(method, template)
}

// ScopeSet interns the scopes of a token, separated by spaces. Scopes that the policy doesn't define are
// dropped.
func (e *Engine) ScopeSet(scopes string) (*ScopeSet, error) {
	return e.current().scopeSetFromString(scopes)
}

// ScopeSetOf interns scopes from a list, such as a JSON array. A scope that contains a space is in no policy.
func (e *Engine) ScopeSetOf(scopes ...string) (*ScopeSet, error) {
	return e.current().scopeSetFromList(scopes)
}

// Digest returns the SHA-256 of the policy's canonical form: `sha256:` and 64 hexadecimal digits; empty if there is no
// policy.
func (e *Engine) Digest() string {
	if policy := e.current(); policy != nil {
		return policy.table.digest
	}
	return ""
}

// Name returns the policy's name; empty if it has none, and if there is no policy.
func (e *Engine) Name() string {
	if policy := e.current(); policy != nil {
		return policy.table.name
	}
	return ""
}

// HasEndMarker reports whether the policy file ends in YAML's end marker, the line `...`; false if there is no policy.
// A file that is still being written, or that was cut short, can be a valid policy with fewer routes. It lacks the
// marker, so reject a file without the marker if you reload files that change.
func (e *Engine) HasEndMarker() bool {
	policy := e.current()
	return policy != nil && policy.table.hasEndMarker
}

// IsSealed reports whether the end marker has a seal, the digest of everything before it, as orbgate fmt --seal writes
// it; false if there is no policy. A wrong seal is an error, so a sealed policy is exactly what was sealed: it isn't
// cut short, and it isn't a mixture of two versions.
func (e *Engine) IsSealed() bool {
	policy := e.current()
	return policy != nil && policy.table.isSealed
}

// Version returns the version of the library, for example 0.1.0.
func Version() string { return named().version }
