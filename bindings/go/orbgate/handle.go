package orbgate

import "sync/atomic"

// A Handle holds an engine's policy, which may be replaced while others decide. Readers never wait, and each decision comes from
// exactly one policy. The zero Handle and a nil one hold none and deny.
type Handle struct {
	held atomic.Pointer[policy]
}

// NewHandle makes a handle that holds an engine's policy.
func NewHandle(engine *Engine) *Handle {
	handle := new(Handle)
	handle.Store(engine)
	return handle
}

// Load gives the engine that the handle holds now, for several questions to one policy, as a scope set and the decision
// that it is for: close it after them. It is nil, which denies, where the handle holds none.
func (h *Handle) Load() *Engine {
	for policy := h.current(); policy != nil; policy = h.current() {
		if policy.own() {
			engine, _ := engineOf(policy, nil)
			return engine
		}
	}
	return nil
}

// Store puts an engine's policy into the handle, which becomes one more owner of it: close the engine if you have no other use for
// it. The policy that the handle held goes with its last owner and the calls under way. A nil or closed engine empties the handle.
func (h *Handle) Store(engine *Engine) {
	if replaced := h.held.Swap(engine.share()); replaced != nil {
		replaced.disown()
	}
}

// Decide is [Engine.Decide] of the engine that the handle holds now.
func (h *Handle) Decide(method, target string, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		// One that has been replaced meanwhile may be gone.
		if decision, decided := policy.decide(method, target, token, options); decided || policy == nil {
			return decision
		}
	}
}

// DecideRoute is [Engine.DecideRoute] of the engine that the handle holds now.
func (h *Handle) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		if decision, decided := policy.decideRoute(route, token, options); decided || policy == nil {
			return decision
		}
	}
}

// DecideScope is [Engine.DecideScope] of the engine that the handle holds now.
func (h *Handle) DecideScope(scope string, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		if decision, decided := policy.decideScope(scope, token, options); decided || policy == nil {
			return decision
		}
	}
}

// The policy; nil where the handle holds none.
func (h *Handle) current() *policy {
	if h == nil {
		return nil
	}
	return h.held.Load()
}
