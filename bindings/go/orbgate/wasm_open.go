//go:build !orbgate_cgo

package orbgate

import (
	"encoding/binary"
	"sync"
)

// The library without a policy.
var base = sync.OnceValues(func() (*pool, error) {
	module, err := compiled()
	if err != nil {
		return nil, err
	}
	first, err := module.instantiate()
	if err != nil {
		return nil, err
	}
	if !first.furnish(roomSize) {
		return nil, StatusPanic
	}
	return newPool(module, first), nil
})

func readNames(names *names) error {
	pool, err := base()
	if err != nil {
		return err
	}
	i := pool.take(0)
	if i == nil {
		return StatusPanic
	}
	abi, _ := i.call("orbgate_abi_version")
	names.version, names.abi = i.static("orbgate_version"), uint32(abi)
	for number := range names.reasons {
		code := uint64(number)
		names.reasons[number] = codeName{i.static("orbgate_reason_name", code), i.static("orbgate_explanation", code, 0)}
		names.details[number] = codeName{i.static("orbgate_detail_name", code), i.static("orbgate_explanation", 0, code)}
	}
	for number := range names.statuses {
		names.statuses[number] = i.static("orbgate_status_name", uint64(number))
	}
	pool.put(i)
	return nil
}

func tokenKind(name string) TokenKind {
	pool, err := base()
	if err != nil {
		return KindUnknown
	}
	const nameAt = 8
	i := pool.take(nameAt + len(name))
	if i == nil {
		return KindUnknown
	}
	copy(i.room[nameAt:], name)
	i.stack = [10]uint64{uint64(i.base) + nameAt, uint64(len(name)), uint64(i.base)}
	if !i.run(kindFromName) {
		i.close()
		return KindUnknown
	}
	kind := KindUnknown
	if Status(i.stack[0]) == statusOK {
		kind = TokenKind(binary.LittleEndian.Uint32(i.room))
	}
	pool.put(i)
	return kind
}

func openExternal() (engine, error) {
	return open(func(i *instance) error { return i.status("orbgate_engine_external", uint64(i.base)).err() })
}

func openYAML(text string) (engine, error) {
	made, err := open(func(i *instance) error {
		at := uint64(0)
		if len(text) > 0 {
			var ok bool
			if at, ok = i.allocate(len(text)); !ok {
				return StatusPanic
			}
			copy(i.memory[at:], text)
		}
		status := i.status("orbgate_engine_from_yaml", at, uint64(len(text)), uint64(i.base), uint64(i.base)+4)
		if status != statusOK {
			return i.failure(status)
		}
		if _, ok := i.call("orbgate_wasm_free", at, uint64(len(text))); !ok {
			return StatusPanic
		}
		return nil
	})
	made.source = text
	return made, err
}

// A pool for the engine that an instance makes. The instance's room begins with the address of the engine.
func open(load func(*instance) error) (engine, error) {
	library, err := base()
	if err != nil {
		return engine{}, err
	}
	i := library.copy()
	if i == nil {
		return engine{}, StatusPanic
	}
	if err := load(i); err != nil {
		i.close()
		return engine{}, err
	}
	made := engine{address: binary.LittleEndian.Uint32(i.room), questioners: new(questioners)}
	var info wasmInfo
	if status := i.describe("orbgate_engine_info", &info, uint64(made.address)); status != statusOK {
		i.close()
		return engine{}, status
	}
	made.digest = i.text(info.Digest)
	size, ok := i.call("orbgate_wasm_scope_set_size", uint64(made.address))
	if !ok {
		i.close()
		return engine{}, StatusPanic
	}
	if size <= objectRoom {
		made.setSize = int(size)
	}
	i.grown = false
	made.pool = newPool(library.module, i)
	return made, nil
}

// Why a policy could not be loaded. The instance is closed after it, so nothing is freed.
func (i *instance) failure(status Status) error {
	if status == StatusPanic {
		return &Error{Status: StatusPanic, Message: "an error of the library was caught"}
	}
	failure := uint64(binary.LittleEndian.Uint32(i.room[4:]))
	var info wasmError
	if i.describe("orbgate_error_info", &info, failure) != statusOK {
		return status
	}
	err := &Error{Status: status, Line: int(info.Line), Column: int(info.Column), Message: i.text(info.Message)}
	for index := range uint64(info.DiagnosticCount) {
		var diagnostic wasmDiagnostic
		if i.describe("orbgate_error_diagnostic", &diagnostic, failure, index) == statusOK {
			err.Diagnostics = append(err.Diagnostics, Diagnostic{int(diagnostic.Line), int(diagnostic.Column), i.text(diagnostic.Message)})
		}
	}
	return err
}
