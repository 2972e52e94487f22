package orbgate

import "sync/atomic"

// A Handle holds an engine that may be replaced while others decide. Readers never wait, and each decision comes from exactly
// one engine. The zero Handle holds none and denies.
//
// Where several questions go to one policy, as a scope set and the decision that it is for, ask what Load gives.
type Handle struct {
	engine atomic.Pointer[Engine]
}

// NewHandle makes a handle that holds an engine.
func NewHandle(engine *Engine) *Handle {
	handle := new(Handle)
	handle.Store(engine)
	return handle
}

// Load gives the engine that the handle holds now; nil, which denies, where it holds none.
func (h *Handle) Load() *Engine { return h.engine.Load() }

// Store puts another engine into the handle. The old one need not be closed.
func (h *Handle) Store(engine *Engine) { h.engine.Store(engine) }

// Decide is [Engine.Decide] of the engine that the handle holds now.
func (h *Handle) Decide(method, target string, token Token, options ...Option) Decision {
	return h.Load().Decide(method, target, token, options...)
}

// DecideRoute is [Engine.DecideRoute] of the engine that the handle holds now.
func (h *Handle) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	return h.Load().DecideRoute(route, token, options...)
}

// DecideScope is [Engine.DecideScope] of the engine that the handle holds now.
func (h *Handle) DecideScope(scope string, token Token, options ...Option) Decision {
	return h.Load().DecideScope(scope, token, options...)
}
