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
// Everything but a [Batch] may be used from any goroutine at any time. A decision allocates nothing. It crosses into the
// engine, so a call takes longer than the decision in it: a few times as long with WebAssembly, less with cgo. Cheaper are
// scopes from [Engine.ScopeSet], [Engine.DecideRoute], and [Engine.DecideBatch] for many at once.
//
// The engine is a WebAssembly module that the package carries. With the build tag orbgate_cgo it is the C library instead, which the
// package carries for Linux: see the README.
package orbgate

import "sync/atomic"

// An Engine is a compiled, immutable policy. The zero Engine, a nil one and a closed one answer every question with a
// denial.
//
// An engine that is open, and a [Handle] that holds it, own the policy together. Its memory, with cgo outside Go's heap, goes with the
// last owner's Close, or when the calls under way have ended.
type Engine struct {
	held atomic.Pointer[policy]
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
// every error.
func FromYAML[Text string | []byte](text Text) (*Engine, error) {
	return engineOf(fromYAML(string(text)))
}

// FromFile compiles a policy from a file. If the policy cannot be used, the error is an [*Error] with every error. If the file cannot
// be read, the error is also Go's own, as [io/fs.ErrNotExist].
func FromFile(path string) (*Engine, error) { return engineOf(fromFile(path)) }

func engineOf(policy *policy, err error) (*Engine, error) {
	if err != nil {
		return nil, err
	}
	engine := new(Engine)
	engine.held.Store(policy)
	return engine, nil
}

// Close lets go of the policy: from now on every question to this engine is answered with a denial and [ErrClosed]. Where no other
// engine and no handle holds the policy, its memory is freed, once the calls under way have ended; Close does not wait for them.
// Decisions and scope sets stay as they are. It may be called at any time, and more than once. An engine that nobody
// closes is freed by the garbage collector, which cannot see how large it is, so later. The error is always nil.
func (e *Engine) Close() error {
	if e != nil {
		if policy := e.held.Swap(nil); policy != nil {
			policy.disown()
		}
	}
	return nil
}

// The policy; nil where the engine is closed.
func (e *Engine) current() *policy {
	if e == nil {
		return nil
	}
	return e.held.Load()
}

// The policy, with the caller as one more owner; nil where the engine is closed.
func (e *Engine) share() *policy {
	if policy := e.current(); policy != nil && policy.own() {
		return policy
	}
	return nil
}

// Decide decides a request. Method and target are those of the request line, byte by byte. It allocates nothing.
func (e *Engine) Decide(method, target string, token Token, options ...Option) Decision {
	decision, _ := e.current().decide(method, target, token, options)
	return decision
}

// DecideRoute decides by the id of a route, for a server whose router has matched it: no text is looked at. An id of
// another policy, and the zero value, is denied as [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	decision, _ := e.current().decideRoute(route, token, options)
	return decision
}

// DecideScope decides by scope, for a service whose routes the policy does not list, as the inference api. A scope that
// the policy does not have is denied as [ReasonNoRoute]. It allocates nothing.
func (e *Engine) DecideScope(scope string, token Token, options ...Option) Decision {
	decision, _ := e.current().decideScope(scope, token, options)
	return decision
}

// A RouteID names a route of one policy: the same in every process, and never taken for a route of another policy. The
// zero value is none.
type RouteID struct{ high, low uint64 }

// FindRoute gives the id of the route that the policy writes with this method and this template, the api's base path
// included, as in GET and /api/v1/external/voxies/{voxieId}. Ask at a server's start, and [Engine.DecideRoute] for each
// request. The error is [ErrNotFound] where the policy has no such route.
func (e *Engine) FindRoute(method, template string) (RouteID, error) {
	return e.current().findRoute(method, template)
}

// ScopeSet interns the scopes of a token, separated by spaces. Those that the policy does not have are dropped.
func (e *Engine) ScopeSet(scopes string) (*ScopeSet, error) {
	return e.current().scopeSetFromString(scopes)
}

// ScopeSetOf interns scopes that come one by one, as from a JSON array. A scope with a space in it is in no policy.
func (e *Engine) ScopeSetOf(scopes ...string) (*ScopeSet, error) {
	return e.current().scopeSetFromList(scopes)
}

// Digest is the SHA-256 of the policy's canonical form, `sha256:` and 64 hexadecimal digits; empty where there is no policy.
func (e *Engine) Digest() string {
	if policy := e.current(); policy != nil {
		return policy.table.digest
	}
	return ""
}

// Name is the policy's name; empty where it states none, and where there is no policy.
func (e *Engine) Name() string {
	if policy := e.current(); policy != nil {
		return policy.table.name
	}
	return ""
}

// HasEndMarker is whether the text of the policy ends in YAML's end marker, the line `...`; false where there is no policy. A file
// that is still being written, or that was cut short, may be a valid policy with fewer routes. It lacks the marker:
// refuse it where you reload files that change.
func (e *Engine) HasEndMarker() bool {
	policy := e.current()
	return policy != nil && policy.table.hasEndMarker
}

// IsSealed is whether the end marker of that text carries a seal, the digest of everything before it, as orbgate fmt --seal writes
// it; false where there is no policy. A text with a wrong seal is no policy, so a sealed one is the text that was sealed: neither
// cut short, nor a mixture of two versions.
func (e *Engine) IsSealed() bool {
	policy := e.current()
	return policy != nil && policy.table.isSealed
}

// TableJSON is the whole table as one JSON document, as `orbgate table --format json` prints it.
func (e *Engine) TableJSON() ([]byte, error) { return e.current().tableJSON() }

// Version is that of the library, as in 0.1.0.
func Version() string { return named().version }
