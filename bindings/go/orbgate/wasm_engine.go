//go:build !orbgate_cgo

package orbgate

// An engine is in the memory of every instance of a pool, at the same address.
type engine struct {
	*pool
	address uint32
	// The policy's digest.
	digest string
	// The policy's text, for gates; none of the policy that is compiled into the library.
	source string
	// How many bytes a scope set has; 0 if its policy has more scopes than the set's own bytes hold.
	setSize int
	// Of questions, which a second module answers.
	questioners *questioners
}

func (e engine) free() {
	e.pool.close()
	e.questioners.swap(nil).close()
}

// A scopeSet is in no instance. It is the bytes of the module's object, which mean the same in every instance, or the scopes as text
// if the object has more than its own bytes. Text counts with one policy only; an object itself knows its policy.
type scopeSet struct{ policy, text, object string }

func (s *ScopeSet) holds() bool { return s != nil && s.held.policy != "" }

// The scopes of a token with this policy: as text, or as an object.
func (e engine) scopes(token Token) (text, object string) {
	text, set := token.parts()
	switch {
	case set == nil:
		return text, ""
	case e.setSize > 0:
		return "", set.held.object
	case set.held.policy == e.digest:
		return set.held.text, ""
	}
	return "", ""
}

// Objects are aligned in this much room.
const objectRoom = 64

// Puts an object at the front of the room; null for none. The texts begin after it.
func (i *instance) object(object string) (pointer uint64, texts int) {
	if object == "" {
		return 0, 0
	}
	copy(i.room, object)
	return uint64(i.base), objectRoom
}

// The result of a call that did not trap.
func (e engine) done(i *instance) uint64 {
	packed := i.stack[0]
	e.put(i)
	return packed
}

// The result of a call that trapped, or that found no memory: no answer.
func (i *instance) broken() uint64 {
	if i != nil {
		i.close()
	}
	return uint64(StatusPanic) << 48
}

func (e engine) decide(method, target string, token Token, flags Option) uint64 {
	scopes, object := e.scopes(token)
	i := e.take(objectRoom + len(method) + len(target) + len(scopes))
	if i == nil {
		return i.broken()
	}
	set, methodAt := i.object(object)
	targetAt := methodAt + copy(i.room[methodAt:], method)
	scopesAt := targetAt + copy(i.room[targetAt:], target)
	copy(i.room[scopesAt:], scopes)
	base := uint64(i.base)
	i.stack = [10]uint64{
		uint64(e.address), base + uint64(methodAt), uint64(len(method)), base + uint64(targetAt), uint64(len(target)),
		uint64(token.Kind), base + uint64(scopesAt), uint64(len(scopes)), set, uint64(flags),
	}
	if !i.run(decidePacked) {
		return i.broken()
	}
	return e.done(i)
}

func (e engine) decideRoute(route RouteID, token Token, flags Option) uint64 {
	scopes, object := e.scopes(token)
	i := e.take(objectRoom + len(scopes))
	if i == nil {
		return i.broken()
	}
	set, scopesAt := i.object(object)
	copy(i.room[scopesAt:], scopes)
	i.stack = [10]uint64{
		uint64(e.address), route.high, route.low,
		uint64(token.Kind), uint64(i.base) + uint64(scopesAt), uint64(len(scopes)), set, uint64(flags),
	}
	if !i.run(decideRoutePacked) {
		return i.broken()
	}
	return e.done(i)
}

func (e engine) decideScope(scope string, token Token, flags Option) uint64 {
	scopes, object := e.scopes(token)
	i := e.take(objectRoom + len(scope) + len(scopes))
	if i == nil {
		return i.broken()
	}
	set, scopeAt := i.object(object)
	scopesAt := scopeAt + copy(i.room[scopeAt:], scope)
	copy(i.room[scopesAt:], scopes)
	base := uint64(i.base)
	i.stack = [10]uint64{
		uint64(e.address), base + uint64(scopeAt), uint64(len(scope)),
		uint64(token.Kind), base + uint64(scopesAt), uint64(len(scopes)), set, uint64(flags),
	}
	if !i.run(decideScopePacked) {
		return i.broken()
	}
	return e.done(i)
}
