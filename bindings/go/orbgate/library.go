package orbgate

import (
	"fmt"
	"sync"
)

// A library is an engine as the rest of the package sees it. There are two, one in each build: by default the one that runs the
// WebAssembly module, wasm_engine.go, and with the tag orbgate_cgo the one that calls the C library, library_cgo.go. Both make
// engines by openExternal and openYAML, name the codes by readNames and tokenKind, and have scopeSet for what [ScopeSet] holds. No
// method is called during or after free. A call with a status other than statusOK gives nothing else.
type library interface {
	// The packed decision; one with effect 0 has the status that says why there is none.
	decide(method, target string, token Token, flags Option) uint64
	decideRoute(route RouteID, token Token, flags Option) uint64
	decideScope(scope string, token Token, flags Option) uint64
	// Decides the rows from `first` on, as many as `out` has room for. They must have scope sets all or none.
	decideRows(batch *Batch, first int, interned bool, out []uint64) Status

	scopeSetFromString(scopes string) (*ScopeSet, Status)
	scopeSetFromList(scopes []string) (*ScopeSet, Status)
	findRoute(method, template string) (RouteID, Status)
	// Answers a question with JSON.
	ask(question, arguments string, form uint32) (string, error)
	// All that a policy says of its routes and scopes.
	table() (*table, Status)
	free()
}

var _ library = engine{}

// Names are what the library calls its codes, by their numbers.
type names struct {
	version          string
	abi              uint32
	reasons, details [256]codeName
	statuses         [32]string
}

type codeName struct{ name, explanation string }

// Read once: they live as long as the program. If the library cannot be loaded, there are no names, and no engine either.
var loaded = sync.OnceValues(func() (*names, error) {
	read := new(names)
	if err := readNames(read); err != nil {
		return read, err
	}
	return read, read.fits()
})

// Whether the library has the ABI that this package needs.
func (n *names) fits() error {
	if n.abi>>16 == abiVersion>>16 && n.abi >= abiVersion {
		return nil
	}
	return &Error{
		Status: StatusInvalidArgument,
		Message: fmt.Sprintf("liborbgate %s has the ABI %d.%d, and this package needs %d.%d or a later %d", n.version,
			n.abi>>16, n.abi&0xffff, abiVersion>>16, abiVersion&0xffff, abiVersion>>16),
	}
}

func named() *names {
	names, _ := loaded()
	return names
}

func external() (*policy, error) {
	if _, err := loaded(); err != nil {
		return nil, err
	}
	return ownEngine(openExternal())
}

func fromYAML(text string) (*policy, error) {
	if _, err := loaded(); err != nil {
		return nil, err
	}
	return ownEngine(openYAML(text))
}

// Takes over an engine, which the library has just made.
func ownEngine(engine engine, err error) (*policy, error) {
	if err != nil {
		return nil, err
	}
	table, status := engine.table()
	if status != statusOK {
		engine.free()
		return nil, status
	}
	return newPolicy(engine, table), nil
}

func (p *policy) decide(method, target string, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	packed := p.engine.decide(method, target, token, flags(options)|packAbout)
	p.leave(lane)
	return Decision{p.table, packed}, true
}

func (p *policy) decideRoute(route RouteID, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	packed := p.engine.decideRoute(route, token, flags(options)|packAbout)
	p.leave(lane)
	return Decision{p.table, packed}, true
}

func (p *policy) decideScope(scope string, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	packed := p.engine.decideScope(scope, token, flags(options)|packAbout)
	p.leave(lane)
	return Decision{p.table, packed}, true
}

// Asks for anything else, unless the policy is gone.
func ask[T any](p *policy, question func(engine) (T, Status)) (T, error) {
	var nothing T
	lane := p.enter()
	if lane == nil {
		return nothing, ErrClosed
	}
	defer p.leave(lane)
	answer, status := question(p.engine)
	return answer, status.err()
}

func (p *policy) scopeSetFromString(scopes string) (*ScopeSet, error) {
	return ask(p, func(e engine) (*ScopeSet, Status) { return e.scopeSetFromString(scopes) })
}

func (p *policy) scopeSetFromList(scopes []string) (*ScopeSet, error) {
	return ask(p, func(e engine) (*ScopeSet, Status) { return e.scopeSetFromList(scopes) })
}

func (p *policy) findRoute(method, template string) (RouteID, error) {
	return ask(p, func(e engine) (RouteID, Status) { return e.findRoute(method, template) })
}
