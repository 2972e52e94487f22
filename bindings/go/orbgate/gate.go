package orbgate

import (
	"sync"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// What package gate asks: it has the network and the clocks, and the rules are the library's.

func init() {
	steps.New = newGate
	steps.ReadRegular = readRegular
}

// The library's gate: see gate_cgo.go and wasm_gate.go.
type libraryGate interface {
	ask(e engine, request *steps.Request, unixMS, monotonicMS uint64) (*steps.Step, Status)
	resume(e engine, step *steps.Step, unixMS, monotonicMS uint64) (*steps.Step, Status)
	checked(e engine, step *steps.Step, isRight bool, unixMS, monotonicMS uint64) (*steps.Step, Status)
	drop(step *steps.Step)
	isOver(step *steps.Step, monotonicMS uint64) bool
	nextFetch(monotonicMS uint64) *steps.Fetch
	fetched(attempt uint64, status int, cacheControl string, body []byte, monotonicMS uint64) *steps.Fetch
	fetchFailed(attempt uint64, failure uint32, monotonicMS uint64)
	warm(monotonicMS uint64)
	revoke(issuer, kid string) Status
	forget(issuer string) Status
	readSecrets() error
	status() []steps.Issuer
	allowsBonusOrbs(body []byte) bool
	checkEngine(e engine) error
	checkWider(active, next engine) error
	checkRoutes(e engine, methods, templates []string) ([]steps.Difference, Status)
	free()
}

func newGate(tokens string, options *steps.Options) (steps.Gate, error) {
	if _, err := loaded(); err != nil {
		return nil, err
	}
	made, err := openGate(tokens, options)
	if err != nil {
		return nil, err
	}
	return &gateOf{library: made}, nil
}

// A gate that may be closed at any time.
type gateOf struct {
	library libraryGate
	mutex   sync.RWMutex
	closed  bool
}

var _ steps.Gate = &gateOf{}

// Runs a call, unless the gate is closed.
func (g *gateOf) open(call func()) bool {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	if !g.closed {
		call()
	}
	return !g.closed
}

// Asks with an engine's policy, which stays until the call has ended, and reads the decision with its table.
func (g *gateOf) with(of any, question func(engine) (*steps.Step, Status)) (found *steps.Step, err error) {
	policy := of.(*Engine).current()
	if !g.open(func() { found, err = ask(policy, question) }) {
		return nil, ErrClosed
	}
	if err == nil && found.Kind == steps.StepAnswer {
		found.Decision = Decision{policy.table, found.Packed}
	}
	return found, err
}

func (g *gateOf) Ask(of any, request *steps.Request, unixMS, monotonicMS uint64) (*steps.Step, error) {
	return g.with(of, func(e engine) (*steps.Step, Status) { return g.library.ask(e, request, unixMS, monotonicMS) })
}

func (g *gateOf) Resume(of any, step *steps.Step, unixMS, monotonicMS uint64) (*steps.Step, error) {
	defer g.Drop(step) // if it is not taken
	return g.with(of, func(e engine) (*steps.Step, Status) { return g.library.resume(e, step, unixMS, monotonicMS) })
}

func (g *gateOf) Checked(of any, step *steps.Step, isRight bool, unixMS, monotonicMS uint64) (*steps.Step, error) {
	defer g.Drop(step) // if it is not taken
	return g.with(of, func(e engine) (*steps.Step, Status) { return g.library.checked(e, step, isRight, unixMS, monotonicMS) })
}

// A step can be freed also after its gate.
func (g *gateOf) Drop(step *steps.Step) {
	if step.Held != nil {
		g.library.drop(step)
	}
}

func (g *gateOf) IsOver(step *steps.Step, monotonicMS uint64) bool {
	over := true
	g.open(func() { over = g.library.isOver(step, monotonicMS) })
	return over
}

func (g *gateOf) NextFetch(monotonicMS uint64) (next *steps.Fetch) {
	g.open(func() { next = g.library.nextFetch(monotonicMS) })
	return next
}

func (g *gateOf) Fetched(attempt uint64, status int, cacheControl string, body []byte, monotonicMS uint64) (next *steps.Fetch) {
	g.open(func() { next = g.library.fetched(attempt, status, cacheControl, body, monotonicMS) })
	return next
}

func (g *gateOf) FetchFailed(attempt uint64, failure uint32, monotonicMS uint64) {
	g.open(func() { g.library.fetchFailed(attempt, failure, monotonicMS) })
}

func (g *gateOf) Warm(monotonicMS uint64) {
	g.open(func() { g.library.warm(monotonicMS) })
}

func (g *gateOf) Revoke(issuer, kid string) error {
	err := error(ErrClosed)
	g.open(func() { err = g.library.revoke(issuer, kid).err() })
	return err
}

func (g *gateOf) Forget(issuer string) error {
	err := error(ErrClosed)
	g.open(func() { err = g.library.forget(issuer).err() })
	return err
}

func (g *gateOf) ReadSecrets() error {
	err := error(ErrClosed)
	g.open(func() { err = g.library.readSecrets() })
	return err
}

func (g *gateOf) AllowsBonusOrbs(body []byte) (allows bool) {
	g.open(func() { allows = g.library.allowsBonusOrbs(body) })
	return allows
}

func (g *gateOf) CheckEngine(of any) error {
	err := error(ErrClosed)
	policy := of.(*Engine).current()
	g.open(func() {
		var found error
		if _, err = ask(policy, func(e engine) (bool, Status) { found = g.library.checkEngine(e); return true, statusOK }); err == nil {
			err = found
		}
	})
	return err
}

func (g *gateOf) CheckWider(active, next any) error {
	err := error(ErrClosed)
	before, after := active.(*Engine).current(), next.(*Engine).current()
	g.open(func() {
		var found error
		_, err = ask(before, func(old engine) (bool, Status) {
			_, err := ask(after, func(young engine) (bool, Status) { found = g.library.checkWider(old, young); return true, statusOK })
			if err != nil {
				found = err
			}
			return true, statusOK
		})
		if err == nil {
			err = found
		}
	})
	return err
}

func (g *gateOf) CheckRoutes(of any, methods, templates []string) (found []steps.Difference, err error) {
	err = ErrClosed
	policy := of.(*Engine).current()
	g.open(func() {
		found, err = ask(policy, func(e engine) ([]steps.Difference, Status) { return g.library.checkRoutes(e, methods, templates) })
	})
	return found, err
}

func (g *gateOf) Status() (issuers []steps.Issuer) {
	g.open(func() { issuers = g.library.status() })
	return issuers
}

func (g *gateOf) Close() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !g.closed {
		g.closed = true
		g.library.free()
	}
}
