//go:build !orbgate_cgo

package orbgate

import (
	"encoding/binary"
	"strings"
)

// Structs of the C ABI as the module has them, with pointers of 32 bits.
type (
	wasmText  struct{ Data, Len uint32 }
	wasmError struct {
		Size                          uint32
		Code                          int32
		Line, Column, DiagnosticCount uint32
		Message, Path                 wasmText
	}
	wasmDiagnostic struct {
		Size, Line, Column, Reserved uint32
		Message                      wasmText
	}
	wasmInfo struct {
		Size, RouteCount, ScopeCount uint32
		HasEndMarker, IsSealed       uint8
		Reserved                     uint16
		Digest, Name                 wasmText
	}
	wasmRoute struct {
		Size, Number                       uint32
		ID                                 [2]uint64
		Text, Method, Template, Scope, API wasmText
		Amount                             uint64
		Charge, ScopeNumber, Line, Column  uint32
		Methods                            wasmText
	}
	wasmScope struct {
		Size, Number                     uint32
		Name, API, Permits, Organisation wasmText
		Amount                           uint64
		Charge, Line, Column, Reserved   uint32
	}
)

func (i *instance) text(text wasmText) string {
	return string(i.memory[text.Data : text.Data+text.Len])
}

// Reads what was written to the room.
func (i *instance) read(into any) {
	_, _ = binary.Decode(i.room, binary.LittleEndian, into)
}

// Calls a function that writes a struct of the caller's size, whose pointer is its last argument.
func (i *instance) describe(name string, into any, arguments ...uint64) Status {
	binary.LittleEndian.PutUint32(i.room, uint32(binary.Size(into)))
	status := i.status(name, append(arguments, uint64(i.base))...)
	if status == statusOK {
		i.read(into)
	}
	return status
}

func (i *instance) status(name string, arguments ...uint64) Status {
	status, ok := i.call(name, arguments...)
	if !ok {
		return StatusPanic
	}
	return Status(status)
}

// A text that is returned by value, which here is through a pointer before the arguments.
func (i *instance) static(name string, arguments ...uint64) string {
	var text wasmText
	if _, ok := i.call(name, append([]uint64{uint64(i.base)}, arguments...)...); !ok {
		return ""
	}
	i.read(&text)
	return i.text(text)
}

// Asks one of the instances. Only an answer that is OK is read: otherwise the room holds what an earlier call left there.
func asked[T any](e engine, room int, question func(*instance) (T, Status)) (answer T, status Status) {
	i := e.take(room)
	if i == nil {
		return answer, StatusPanic
	}
	if answer, status = question(i); status == StatusPanic {
		i.close()
	} else {
		e.put(i)
	}
	if status != statusOK {
		var none T
		return none, status
	}
	return answer, status
}

func (e engine) scopeSetFromString(scopes string) (*ScopeSet, Status) {
	if e.setSize == 0 {
		return &ScopeSet{scopeSet{policy: e.digest, text: scopes}}, statusOK
	}
	const textAt = 8
	return asked(e, textAt+len(scopes), func(i *instance) (*ScopeSet, Status) {
		copy(i.room[textAt:], scopes)
		base := uint64(i.base)
		status := i.status("orbgate_scope_set_from_string", uint64(e.address), base+textAt, uint64(len(scopes)), base)
		if status != statusOK {
			return nil, status
		}
		at := binary.LittleEndian.Uint32(i.room)
		object := string(i.memory[at : at+uint32(e.setSize)])
		if _, ok := i.call("orbgate_scope_set_free", uint64(at)); !ok {
			return nil, StatusPanic
		}
		return &ScopeSet{scopeSet{policy: e.digest, object: object}}, statusOK
	})
}

// As one text: a scope with a space in it is in no policy.
func (e engine) scopeSetFromList(scopes []string) (*ScopeSet, Status) {
	single := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		if !strings.Contains(scope, " ") {
			single = append(single, scope)
		}
	}
	return e.scopeSetFromString(strings.Join(single, " "))
}

func (e engine) findRoute(method, template string) (RouteID, Status) {
	const textsAt = 16
	return asked(e, textsAt+len(method)+len(template), func(i *instance) (RouteID, Status) {
		methodAt := uint64(i.base) + textsAt
		templateAt := methodAt + uint64(copy(i.room[textsAt:], method))
		copy(i.room[textsAt+len(method):], template)
		status := i.status("orbgate_engine_find_route", uint64(e.address),
			methodAt, uint64(len(method)), templateAt, uint64(len(template)), uint64(i.base))
		id := RouteID{high: binary.LittleEndian.Uint64(i.room), low: binary.LittleEndian.Uint64(i.room[8:])}
		return id, status
	})
}

func (e engine) table() (*table, Status) {
	return asked(e, 0, func(i *instance) (*table, Status) {
		address := uint64(e.address)
		var info wasmInfo
		if status := i.describe("orbgate_engine_info", &info, address); status != statusOK {
			return nil, status
		}
		read := &table{
			e.digest, i.text(info.Name), info.HasEndMarker == 1, info.IsSealed == 1,
			make([]route, info.RouteCount), nil, make([]scope, info.ScopeCount),
		}
		for index := range read.scopes {
			var raw wasmScope
			if status := i.describe("orbgate_engine_scope", &raw, address, uint64(index+1)); status != statusOK {
				return nil, status
			}
			read.scopes[index] = scope{i.text(raw.Name), i.text(raw.API), raw.Amount}
		}
		for index := range read.routes {
			var raw wasmRoute
			if status := i.describe("orbgate_engine_route", &raw, address, uint64(index+1)); status != statusOK {
				return nil, status
			}
			alternatives, status := i.alternatives(address, index+1)
			if status != statusOK {
				return nil, status
			}
			read.setRoute(index, route{
				id:     RouteID{high: raw.ID[0], low: raw.ID[1]},
				text:   i.text(raw.Text),
				api:    i.text(raw.API),
				scope:  int(raw.ScopeNumber),
				scopes: alternatives,
				charge: raw.Charge, amount: raw.Amount,
				line: int(raw.Line), column: int(raw.Column),
			}, i.text(raw.Methods))
		}
		for {
			var raw wasmRoute
			switch i.describe("orbgate_engine_route", &raw, address, uint64(len(read.routes)+len(read.closed)+1)) {
			case statusOK:
				read.closed = append(read.closed, route{text: i.text(raw.Text), template: i.text(raw.Text), api: i.text(raw.API)})
			case StatusNotFound:
				return read, statusOK
			default:
				return nil, StatusPanic
			}
		}
	})
}

// What a route needs.
func (i *instance) alternatives(engine uint64, number int) ([][]string, Status) {
	var alternatives [][]string
	for {
		switch status := i.status("orbgate_engine_route_alternative", engine, uint64(number), uint64(len(alternatives)), uint64(i.base)); status {
		case statusOK:
			var text wasmText
			i.read(&text)
			alternatives = append(alternatives, strings.Split(i.text(text), " "))
		case StatusNotFound:
			return alternatives, statusOK
		default:
			return nil, status
		}
	}
}
