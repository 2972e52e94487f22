//go:build orbgate_cgo

package orbgate

/*
#include <orbgate.h>

#cgo noescape orbgate_gate_ask
#cgo nocallback orbgate_gate_ask
#cgo noescape orbgate_step_end
#cgo nocallback orbgate_step_end
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A cgoGate is the handle of one of the C library's.
type cgoGate uint64

// A step has room for answers of this size, and keeps room for this much; few questions and answers are longer.
const (
	leastRoom = 2 << 10
	mostRoom  = 64 << 10
)

// Asks, and reads the answer, which comes into the room of its question.
func (g *cgoGate) ask(e *engine, question steps.Question, step *steps.Step) Status {
	var pointer *C.OrbgateEngine
	if e != nil {
		pointer = e.pointer
	}
	var length C.size_t
	room := question.Append(step.Room[:0])
	size := len(room)
	room = slices.Grow(room, max(0, leastRoom-size))
	room = room[:cap(room)]
	own, handle, data := (*C.uint64_t)(unsafe.Pointer(g)), handleOf(step), (*C.char)(unsafe.Pointer(unsafe.SliceData(room)))
	status := C.orbgate_gate_ask(own, pointer, handle, data, C.size_t(size), data, C.size_t(len(room)), &length)
	if status == C.ORBGATE_STATUS_TOO_SMALL {
		room = make([]byte, int(length))
		data = (*C.char)(unsafe.Pointer(unsafe.SliceData(room)))
		status = C.orbgate_gate_ask(own, pointer, handle, nil, 0, data, length, &length)
	}
	if step.Room = room; len(room) > mostRoom {
		step.Room = nil
	}
	if status != C.ORBGATE_STATUS_OK {
		return Status(status)
	}
	if !step.Read(room[:length]) {
		C.orbgate_step_end(handle)
		return StatusPanic
	}
	return statusOK
}

func handleOf(step *steps.Step) *C.uint64_t { return (*C.uint64_t)(unsafe.Pointer(&step.Handle)) }

func openGate(make *steps.Make) (libraryGate, error) {
	var made cgoGate
	step := new(steps.Step)
	if err := replied(made.ask(nil, make, step), step); err != nil {
		return nil, err
	}
	return made, nil
}

func (g cgoGate) call(e *engine, question steps.Question, step *steps.Step) Status {
	return g.ask(e, question, step)
}

func (g cgoGate) drop(step *steps.Step) { C.orbgate_step_end(handleOf(step)) }

// The library reads them.
func (g cgoGate) secrets() ([]steps.Secret, error) { return nil, nil }

func (g cgoGate) allowsBonusOrbs(body []byte) bool {
	var allows C.uint8_t
	status := Status(C.orbgate_allows_bonus_orbs((*C.char)(unsafe.Pointer(unsafe.SliceData(body))), C.size_t(len(body)), &allows))
	return status == statusOK && allows == 1
}

func (g cgoGate) free() { C.orbgate_gate_end((*C.uint64_t)(unsafe.Pointer(&g))) }
