//go:build !orbgate_cgo

package orbgate

import (
	"encoding/binary"
	"sync"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A wasmGate is in an instance of its own, because it has a state: its keys. It takes one call at a time; signatures, which take
// most of the time, are checked outside of it. The policy is compiled into that instance when it is first asked for.
type wasmGate struct {
	mutex sync.Mutex
	*instance
	address uint32
	// Where the secrets of its opaque issuers are.
	sources []steps.SecretSource
	// The policy that is compiled into the instance, and its engine there.
	policy *pool
	engine uint32
	// The instance's steps of no request.
	idle []*wasmStep
	// Kept for another instance, should this one trap.
	make   steps.Make
	closed bool
}

// A step in an instance. If the instance is gone, so is the step.
type wasmStep struct {
	of      *instance
	address uint32
}

func openGate(make *steps.Make) (libraryGate, error) {
	g := &wasmGate{make: *make}
	if err := g.open(); err != nil {
		return nil, err
	}
	return g, nil
}

// Makes the gate, in a new instance.
func (g *wasmGate) open() error {
	module, err := compiled()
	if err != nil {
		return err
	}
	i, err := module.instantiate()
	if err != nil {
		return err
	}
	if !i.furnish(roomSize) {
		i.close()
		return StatusPanic
	}
	sources, address, err := i.openGate(g.make)
	if err != nil {
		i.close()
		return err
	}
	g.instance, g.address, g.sources, g.policy, g.engine, g.idle = i, address, sources, nil, 0, nil
	return nil
}

func (i *instance) openGate(make steps.Make) ([]steps.SecretSource, uint32, error) {
	step, err := i.newStep()
	if err != nil {
		return nil, 0, err
	}
	read := new(steps.Step)
	if err := replied(i.ask(0, 0, step, &steps.Sources{Tokens: make.Tokens}, read), read); err != nil {
		return nil, 0, err
	}
	sources := read.SecretSources.Sources
	if make.Secrets, err = readSecrets(sources); err != nil {
		return nil, 0, err
	}
	if err := replied(i.ask(0, 0, step, &make, read), read); err != nil {
		return nil, 0, err
	}
	if err := i.status("orbgate_step_gate", uint64(step.address), uint64(i.base)).err(); err != nil {
		return nil, 0, err
	}
	address := binary.LittleEndian.Uint32(i.room)
	if _, ok := i.call("orbgate_step_free", uint64(step.address)); !ok {
		return nil, 0, StatusPanic
	}
	return sources, address, nil
}

func (i *instance) newStep() (*wasmStep, error) {
	if err := i.status("orbgate_step_new", uint64(i.base)).err(); err != nil {
		return nil, err
	}
	return &wasmStep{i, binary.LittleEndian.Uint32(i.room)}, nil
}

// Asks with these addresses of a gate and of an engine, and reads the answer. The room begins with where the answer is; then comes the
// question, which is put elsewhere if it is longer.
func (i *instance) ask(gate, engine uint32, step *wasmStep, question steps.Question, read *steps.Step) Status {
	const questionAt = 16
	at := uint64(i.base) + questionAt
	// Without the capacity of its own, the room would reach to the end of the memory.
	message := question.Append(i.room[questionAt:questionAt:len(i.room)])
	size := uint64(len(message))
	isLong := len(message) > len(i.room)-questionAt
	if isLong {
		var ok bool
		if at, ok = i.allocate(len(message)); !ok {
			return StatusPanic
		}
		copy(i.memory[at:], message)
	}
	status := i.status("orbgate_gate_call", uint64(gate), uint64(engine), uint64(step.address), at, size, uint64(i.base))
	if isLong {
		if _, ok := i.call("orbgate_wasm_free", at, size); !ok {
			return StatusPanic
		}
	}
	if status != statusOK {
		return status
	}
	data, length := binary.LittleEndian.Uint32(i.room), binary.LittleEndian.Uint32(i.room[4:])
	if !read.Read(i.memory[data : data+length]) {
		return StatusPanic
	}
	return statusOK
}

// Asks the gate; after a trap there is another instance, without keys.
func (g *wasmGate) locked(question func() Status) Status {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.closed {
		return StatusPanic
	}
	if g.instance == nil && g.open() != nil {
		return StatusPanic
	}
	status := question()
	if status == StatusPanic {
		g.instance.close()
		g.instance = nil
	}
	return status
}

// The engine of this policy within the instance.
func (g *wasmGate) within(e engine) (uint32, Status) {
	if g.policy == e.pool {
		return g.engine, statusOK
	}
	var status Status
	if e.source == "" {
		status = g.instance.status("orbgate_engine_external", uint64(g.base))
	} else {
		status = g.put(e.source, func(at uint64) Status {
			return g.instance.status("orbgate_engine_from_yaml", at, uint64(len(e.source)), uint64(g.base), 0)
		})
	}
	if status != statusOK {
		return 0, StatusPanic
	}
	made := binary.LittleEndian.Uint32(g.room)
	if _, ok := g.instance.call("orbgate_engine_free", uint64(g.engine)); !ok {
		return 0, StatusPanic
	}
	g.policy, g.engine = e.pool, made
	return made, statusOK
}

// Calls with the address of a string in the module's memory.
func (i *instance) put(text string, call func(at uint64) Status) Status {
	// One byte more, because the module allocates none for an empty string.
	size := len(text) + 1
	at, ok := i.allocate(size)
	if !ok {
		return StatusPanic
	}
	copy(i.memory[at:], text)
	status := call(at)
	if _, ok := i.call("orbgate_wasm_free", at, uint64(size)); !ok {
		return StatusPanic
	}
	return status
}

func (g *wasmGate) call(e *engine, question steps.Question, step *steps.Step) Status {
	return g.locked(func() Status {
		engine, status := uint32(0), statusOK
		if e != nil {
			if engine, status = g.within(*e); status != statusOK {
				return status
			}
		}
		held, err := g.held(step)
		if err != nil {
			return StatusPanic
		}
		if held.of != g.instance {
			return StatusInvalidArgument
		}
		status = g.ask(g.address, engine, held, question, step)
		if status == statusOK && isHeld(step) {
			step.Held = held
		} else {
			g.idle = append(g.idle, held)
		}
		return status
	})
}

// The instance's part of a step, which is no longer this one's; an idle one if it has none.
func (g *wasmGate) held(step *steps.Step) (*wasmStep, error) {
	if held, is := step.Held.(*wasmStep); is {
		step.Held = nil
		return held, nil
	}
	if last := len(g.idle) - 1; last >= 0 {
		held := g.idle[last]
		g.idle = g.idle[:last]
		return held, nil
	}
	return g.newStep()
}

func (g *wasmGate) drop(step *steps.Step) {
	if step.Held != nil {
		g.call(nil, &steps.Drop{}, step)
	}
}

func (g *wasmGate) allowsBonusOrbs(body []byte) (allows bool) {
	g.locked(func() Status {
		return g.put(string(body), func(at uint64) Status {
			status := g.instance.status("orbgate_allows_bonus_orbs", at, uint64(len(body)), uint64(g.base))
			allows = status == statusOK && g.room[0] == 1
			return status
		})
	})
	return allows
}

func (g *wasmGate) free() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.instance != nil {
		g.instance.close()
	}
	g.instance, g.closed = nil, true
}
