package orbgate

import "sync/atomic"

// A Handle holds an engine's policy, which can be replaced while other goroutines decide. Readers never wait, and each
// decision comes from exactly one policy. The zero Handle and a nil one hold no policy and deny.
type Handle struct {
	held atomic.Pointer[policy]
}

// NewHandle makes a handle that holds an engine's policy.
func NewHandle(engine *Engine) *Handle {
	handle := new(Handle)
	handle.Store(engine)
	return handle
}

// Load returns the engine that the handle now holds, for several calls with one policy, such as making a scope set and
// using it for a decision. Close it afterwards. It is nil, which denies, if the handle holds no policy.
func (h *Handle) Load() *Engine {
	for policy := h.current(); policy != nil; policy = h.current() {
		if policy.own() {
			engine, _ := engineOf(policy, nil)
			return engine
		}
	}
	return nil
}

// Store replaces the handle's policy with an engine's. The handle becomes an additional owner of the policy, so close
// the engine if you don't need it any more. The previous policy is freed after its last owner and its running calls. A
// nil or closed engine empties the handle.
func (h *Handle) Store(engine *Engine) {
	if replaced := h.held.Swap(engine.share()); replaced != nil {
		replaced.disown()
	}
}

// Decide calls [Engine.Decide] of the engine that the handle now holds.
func (h *Handle) Decide(method, target string, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		// A policy that was replaced in the meantime might be freed.
		if decision, decided := policy.decide(method, target, token, options); decided || policy == nil {
			return decision
		}
	}
}

// DecideRoute calls [Engine.DecideRoute] of the engine that the handle now holds.
func (h *Handle) DecideRoute(route RouteID, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		if decision, decided := policy.decideRoute(route, token, options); decided || policy == nil {
			return decision
		}
	}
}

// DecideScope calls [Engine.DecideScope] of the engine that the handle now holds.
func (h *Handle) DecideScope(scope string, token Token, options ...Option) Decision {
	for {
		policy := h.current()
		if decision, decided := policy.decideScope(scope, token, options); decided || policy == nil {
			return decision
		}
	}
}

// The policy; nil if the handle holds none.
func (h *Handle) current() *policy {
	if h == nil {
		return nil
	}
	return h.held.Load()
}
