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
	handle uint64
	// Where the secrets of its opaque issuers are.
	sources []steps.SecretSource
	// The policy that is compiled into the instance, and its engine there.
	policy *pool
	engine uint32
	// Kept for another instance, should this one trap.
	make   steps.Make
	closed bool
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
	sources, handle, err := i.openGate(g.make)
	if err != nil {
		i.close()
		return err
	}
	g.instance, g.handle, g.sources, g.policy, g.engine = i, handle, sources, nil, 0
	return nil
}

func (i *instance) openGate(make steps.Make) ([]steps.SecretSource, uint64, error) {
	step, handle := new(steps.Step), uint64(0)
	if err := replied(i.ask(&handle, 0, &steps.Sources{Tokens: make.Tokens}, step), step); err != nil {
		return nil, 0, err
	}
	sources := step.SecretSources.Sources
	var err error
	if make.Secrets, err = readSecrets(sources); err != nil {
		return nil, 0, err
	}
	step = new(steps.Step)
	if err := replied(i.ask(&handle, 0, &make, step), step); err != nil {
		return nil, 0, err
	}
	return sources, handle, nil
}

// The room begins with the handles of a gate and a step, and the length of an answer. Then comes a question, which is put elsewhere if it is
// longer, and its answer to the same place.
const (
	gateAt     = 0
	stepAt     = 8
	lengthAt   = 16
	questionAt = 24
)

// Asks with the handle of a gate, which a Make writes, and the address of an engine. The answer is copied into the step, because the room is
// for the next call.
func (i *instance) ask(gate *uint64, engine uint32, question steps.Question, step *steps.Step) Status {
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
	binary.LittleEndian.PutUint64(i.room[gateAt:], *gate)
	binary.LittleEndian.PutUint64(i.room[stepAt:], step.Handle)
	answer, room := uint64(i.base)+questionAt, uint64(len(i.room)-questionAt)
	status := i.asked(engine, at, size, answer, room)
	if isLong && status != StatusPanic {
		if _, ok := i.call("orbgate_wasm_free", at, size); !ok {
			return StatusPanic
		}
	}
	length := uint64(binary.LittleEndian.Uint32(i.room[lengthAt:]))
	isLong = status == StatusTooSmall
	if isLong {
		var ok bool
		if answer, ok = i.allocate(int(length)); !ok {
			return StatusPanic
		}
		status = i.asked(engine, 0, 0, answer, length)
	}
	if step.Handle, step.Of = binary.LittleEndian.Uint64(i.room[stepAt:]), i; status == StatusPanic {
		step.Handle = 0
	}
	if status != statusOK {
		return status
	}
	*gate = binary.LittleEndian.Uint64(i.room[gateAt:])
	step.Room = append(step.Room[:0], i.memory[answer:answer+length]...)
	if isLong {
		if _, ok := i.call("orbgate_wasm_free", answer, length); !ok {
			return StatusPanic
		}
	}
	if !step.Read(step.Room) {
		return StatusPanic
	}
	return statusOK
}

func (i *instance) asked(engine uint32, question, size, answer, room uint64) Status {
	at := uint64(i.base)
	return i.status("orbgate_gate_ask", at+gateAt, uint64(engine), at+stepAt, question, size, answer, room, at+lengthAt)
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
		if step.Handle != 0 && step.Of != g.instance {
			step.Handle = 0
			return StatusInvalidArgument
		}
		return g.ask(&g.handle, engine, question, step)
	})
}

// A step that is lost with its instance is over.
func (g *wasmGate) drop(step *steps.Step) {
	if step.Handle == 0 {
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.instance != nil && step.Of == g.instance {
		binary.LittleEndian.PutUint64(g.room[stepAt:], step.Handle)
		if _, ok := g.instance.call("orbgate_step_end", uint64(g.base)+stepAt); !ok {
			g.instance.close()
			g.instance = nil
		}
	}
	step.Handle = 0
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
