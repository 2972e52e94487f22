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
	// Asks a question that this engine decides; nil if it needs none. An answer is read into the step.
	call(e *engine, question steps.Question, step *steps.Step) Status
	drop(step *steps.Step)
	// The secrets of opaque issuers that the library can't read itself.
	secrets() ([]steps.Secret, error)
	allowsBonusOrbs(body []byte) bool
	free()
}

func newGate(make *steps.Make) (steps.Gate, error) {
	if _, err := loaded(); err != nil {
		return nil, err
	}
	made, err := openGate(make)
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
func (g *gateOf) Ask(of any, question steps.Question, step *steps.Step) error {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	if g.closed {
		g.library.drop(step)
		return ErrClosed
	}
	if of == nil {
		return replied(g.library.call(nil, question, step), step)
	}
	policy := of.(*Engine).current()
	lane := policy.enter()
	if lane == nil {
		g.library.drop(step)
		return ErrClosed
	}
	defer policy.leave(lane)
	err := replied(g.library.call(&policy.engine, question, step), step)
	if err == nil && step.Number == steps.KindAnswer {
		step.Decision = Decision{policy.table, step.Answer.Packed}
	}
	return err
}

// The error of a question.
func replied(status Status, step *steps.Step) error {
	if status != statusOK {
		return status
	}
	if step.Number == steps.KindFailed {
		return failed(&step.Failed)
	}
	if loaded := &step.Loaded; step.Number == steps.KindLoaded && loaded.Status != 0 {
		return failed(&steps.Failed{Status: loaded.Status, Message: loaded.Reason, Diagnostics: loaded.Diagnostics})
	}
	return nil
}

func failed(failed *steps.Failed) error {
	err := &Error{Status: Status(failed.Status), Message: failed.Message}
	for _, one := range failed.Diagnostics {
		err.Diagnostics = append(err.Diagnostics, Diagnostic{int(one.Line), int(one.Column), one.Message})
	}
	if len(err.Diagnostics) > 0 {
		err.Line, err.Column = err.Diagnostics[0].Line, err.Diagnostics[0].Column
	}
	return err
}

// A step can be freed also after its gate.
func (g *gateOf) Drop(step *steps.Step) { g.library.drop(step) }

func (g *gateOf) Reload(of any, question *steps.Reload, step *steps.Step) error {
	text, lost := readRegular(question.File)
	if question.Policy = string(text); lost != nil {
		question.Failure = lost.Error()
	}
	var unread error
	g.open(func() { question.Secrets, unread = g.library.secrets() })
	if unread != nil && question.SecretsFailure == "" {
		question.SecretsFailure = unread.Error()
	}
	err := g.Ask(of, question, step)
	if failure, is := err.(*Error); is && failure.Status != StatusInvalidConfiguration {
		failure.Path, failure.cause = question.File, lost
	}
	return err
}

func (g *gateOf) AllowsBonusOrbs(body []byte) (allows bool) {
	g.open(func() { allows = g.library.allowsBonusOrbs(body) })
	return allows
}

func (g *gateOf) Close() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !g.closed {
		g.closed = true
		g.library.free()
	}
}
