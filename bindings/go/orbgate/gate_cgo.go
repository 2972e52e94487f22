//go:build orbgate_cgo

package orbgate

/*
#include <orbgate.h>

#cgo noescape orbgate_gate_call
#cgo nocallback orbgate_gate_call
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A cgoGate is one of the C library's.
type cgoGate struct{ pointer *C.OrbgateGate }

// A cgoStep is a step of the C library, with room for a question. It serves one request after another, of any gate.
type cgoStep struct {
	pointer *C.OrbgateStep
	room    []byte
	answer  C.OrbgateStr
}

// Steps of no request.
var idleSteps sync.Pool

// A step keeps room for this much; few questions are longer.
const mostRoom = 64 << 10

func takeStep() *cgoStep {
	if step, is := idleSteps.Get().(*cgoStep); is {
		return step
	}
	made := new(cgoStep)
	if C.orbgate_step_new(&made.pointer) != C.ORBGATE_STATUS_OK {
		return nil
	}
	runtime.AddCleanup(made, func(step *C.OrbgateStep) { C.orbgate_step_free(step) }, made.pointer)
	return made
}

// Asks, and returns the answer, which is the step's until its next question.
func (s *cgoStep) ask(g *C.OrbgateGate, e *engine, question steps.Question) ([]byte, Status) {
	var pointer *C.OrbgateEngine
	if e != nil {
		pointer = e.pointer
	}
	s.room = question.Append(s.room[:0])
	status := C.orbgate_gate_call(g, pointer, s.pointer, (*C.char)(unsafe.Pointer(unsafe.SliceData(s.room))), C.size_t(len(s.room)), &s.answer)
	if cap(s.room) > mostRoom {
		s.room = nil
	}
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(s.answer.data)), int(s.answer.len)), statusOK
}

func openGate(make *steps.Make) (libraryGate, error) {
	step := takeStep()
	if step == nil {
		return nil, StatusPanic
	}
	defer idleSteps.Put(step)
	answer, status := step.ask(nil, nil, make)
	read := new(steps.Step)
	if status == statusOK && !read.Read(answer) {
		status = StatusPanic
	}
	if err := replied(status, read); err != nil {
		return nil, err
	}
	var made *C.OrbgateGate
	if status := C.orbgate_step_gate(step.pointer, &made); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return cgoGate{made}, nil
}

func (g cgoGate) call(e *engine, question steps.Question, step *steps.Step) Status {
	held, is := step.Held.(*cgoStep)
	if step.Held = nil; !is {
		if held = takeStep(); held == nil {
			return StatusPanic
		}
	}
	answer, status := held.ask(g.pointer, e, question)
	if status == statusOK && !step.Read(answer) {
		status = StatusPanic
	}
	if status == statusOK && isHeld(step) {
		step.Held = held
	} else {
		idleSteps.Put(held)
	}
	return status
}

func (g cgoGate) drop(step *steps.Step) {
	if step.Held != nil {
		cgoGate{}.call(nil, &steps.Drop{}, step) // the gate may be gone
	}
}

// The library reads them.
func (g cgoGate) secrets() ([]steps.Secret, error) { return nil, nil }

func (g cgoGate) allowsBonusOrbs(body []byte) bool {
	var allows C.uint8_t
	status := Status(C.orbgate_allows_bonus_orbs((*C.char)(unsafe.Pointer(unsafe.SliceData(body))), C.size_t(len(body)), &allows))
	return status == statusOK && allows == 1
}

func (g cgoGate) free() { C.orbgate_gate_free(g.pointer) }
