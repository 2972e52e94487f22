//go:build orbgate_cgo

package orbgate

/*
#include <orbgate.h> // In a checkout `cargo xtask go` makes it, and the library.

#cgo noescape orbgate_engine_decide_packed
#cgo nocallback orbgate_engine_decide_packed
#cgo noescape orbgate_engine_decide_route_packed
#cgo nocallback orbgate_engine_decide_route_packed
#cgo noescape orbgate_engine_decide_scope_packed
#cgo nocallback orbgate_engine_decide_scope_packed
#cgo noescape orbgate_engine_find_route
#cgo nocallback orbgate_engine_find_route
#cgo noescape orbgate_engine_route
#cgo nocallback orbgate_engine_route
#cgo noescape go_orbgate_decide_batch
#cgo nocallback go_orbgate_decide_batch

// Go's memory may not point to more of it while C reads it, so structs of pointers are put together here.

static OrbgateStatus go_orbgate_decide_batch(
    const OrbgateEngine *engine, size_t len,
    const char *methods, size_t methods_len, const uint32_t *method_offsets,
    const char *targets, size_t targets_len, const uint32_t *target_offsets,
    const uint8_t *kinds,
    const char *scopes, size_t scopes_len, const uint32_t *scope_offsets,
    const uintptr_t *scope_sets,
    const uint8_t *allow_bonus_orbs, uint64_t *out)
{
    OrbgateBatch batch = orbgate_batch_init();
    batch.flags = ORBGATE_PACK_ABOUT;
    batch.len = len;
    batch.method = (OrbgateColumn){methods, methods_len, method_offsets};
    batch.target = (OrbgateColumn){targets, targets_len, target_offsets};
    batch.kinds = kinds;
    batch.scopes = (OrbgateColumn){scopes, scopes_len, scope_offsets};
    batch.scope_sets = (const OrbgateScopeSet *const *)scope_sets;
    batch.allow_bonus_orbs = allow_bonus_orbs;
    return orbgate_engine_decide_batch_packed(engine, &batch, out, len);
}
*/
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

// This file and those that link are all there is of C; the rest of the package is plain Go.

// An engine is one of the C library's.
type engine struct{ pointer *C.OrbgateEngine }

func (e engine) free() { C.orbgate_engine_free(e.pointer) }

// A scopeSet is small, so the collector frees it: when nobody holds it any more. A running call holds it.
type scopeSet struct{ pointer *C.OrbgateScopeSet }

func ownScopeSet(set *C.OrbgateScopeSet) *ScopeSet {
	owned := &ScopeSet{scopeSet{set}}
	runtime.AddCleanup(owned, func(set *C.OrbgateScopeSet) { C.orbgate_scope_set_free(set) }, set)
	return owned
}

func (s *ScopeSet) holds() bool { return s.get() != nil }

// The pointer; null without a set. The library reads null as no scopes.
func (s *ScopeSet) get() *C.OrbgateScopeSet {
	if s == nil {
		return nil
	}
	return s.held.pointer
}

// The bytes of a text, which C only reads.
func chars(text string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(text))) }

func size(text string) C.size_t { return C.size_t(len(text)) }

// A copy, for texts that live as long as their owner only.
func copied(text C.OrbgateStr) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text.data)), int(text.len)))
}

// The text itself, for texts that live as long as the program.
func static(text C.OrbgateStr) string {
	return unsafe.String((*byte)(unsafe.Pointer(text.data)), int(text.len))
}

func readNames(names *names) error {
	names.version, names.abi = static(C.orbgate_version()), uint32(C.orbgate_abi_version())
	for number := range names.reasons {
		code := C.uint8_t(number)
		names.reasons[number] = codeName{static(C.orbgate_reason_name(code)), static(C.orbgate_explanation(code, 0))}
		names.details[number] = codeName{static(C.orbgate_detail_name(code)), static(C.orbgate_explanation(0, code))}
	}
	for number := range names.statuses {
		names.statuses[number] = static(C.orbgate_status_name(C.int32_t(number)))
	}
	return nil
}

func tokenKind(name string) TokenKind {
	var kind C.uint32_t
	if C.orbgate_token_kind_from_name(chars(name), size(name), &kind) != C.ORBGATE_STATUS_OK {
		return KindUnknown
	}
	return TokenKind(kind)
}

func openExternal() (engine, error) {
	var made *C.OrbgateEngine
	status := C.orbgate_engine_external(&made)
	return engine{made}, Status(status).err()
}

func openYAML(text string) (engine, error) {
	var made *C.OrbgateEngine
	var failure *C.OrbgateError
	status := C.orbgate_engine_from_yaml(chars(text), size(text), &made, &failure)
	runtime.KeepAlive(text)
	if status != C.ORBGATE_STATUS_OK {
		return engine{}, takeError(status, failure)
	}
	return engine{made}, nil
}

// Turns an error of the library into one of Go, and frees it.
func takeError(status C.OrbgateStatus, failure *C.OrbgateError) error {
	defer C.orbgate_error_free(failure)
	info := C.orbgate_error_info_init()
	if C.orbgate_error_info(failure, &info) != C.ORBGATE_STATUS_OK {
		return Status(status)
	}
	err := &Error{
		Status:  Status(status),
		Line:    int(info.line),
		Column:  int(info.column),
		Message: copied(info.message),
	}
	for index := C.size_t(0); index < info.diagnostic_count; index++ {
		diagnostic := C.orbgate_diagnostic_init()
		if C.orbgate_error_diagnostic(failure, index, &diagnostic) == C.ORBGATE_STATUS_OK {
			err.Diagnostics = append(err.Diagnostics, Diagnostic{int(diagnostic.line), int(diagnostic.column), copied(diagnostic.message)})
		}
	}
	return err
}

func (e engine) decide(method, target string, token Token, flags Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_packed(e.pointer, chars(method), size(method), chars(target), size(target),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags))
	runtime.KeepAlive(set)
	return uint64(packed)
}

func (e engine) decideRoute(route RouteID, token Token, flags Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_route_packed(e.pointer, C.uint64_t(route.high), C.uint64_t(route.low),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags))
	runtime.KeepAlive(set)
	return uint64(packed)
}

func (e engine) decideScope(scope string, token Token, flags Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_scope_packed(e.pointer, chars(scope), size(scope),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags))
	runtime.KeepAlive(set)
	return uint64(packed)
}

func (e engine) decideRows(batch *Batch, first int, interned bool, out []uint64) Status {
	scopes, sets := &batch.scopes, (*C.uintptr_t)(nil)
	if interned {
		// As integers: pointers would be looked at one by one, whether they are Go's.
		var pointers [chunk]C.uintptr_t
		for row := range out {
			pointers[row] = C.uintptr_t(uintptr(unsafe.Pointer(batch.sets[first+row].get())))
		}
		scopes, sets = &column{}, &pointers[0]
	}
	status := C.go_orbgate_decide_batch(e.pointer, C.size_t(len(out)),
		batch.methods.chars(), batch.methods.size(), batch.methods.from(first),
		batch.targets.chars(), batch.targets.size(), batch.targets.from(first),
		(*C.uint8_t)(&batch.kinds[first]),
		scopes.chars(), scopes.size(), scopes.from(first), sets,
		(*C.uint8_t)(&batch.bonus[first]), (*C.uint64_t)(&out[0]))
	runtime.KeepAlive(batch)
	return Status(status)
}

func (c *column) chars() *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(c.data))) }

func (c *column) size() C.size_t { return C.size_t(len(c.data)) }

func (c *column) from(row int) *C.uint32_t {
	if c.offsets == nil {
		return nil
	}
	return (*C.uint32_t)(&c.offsets[row])
}

func (e engine) scopeSetFromString(scopes string) (*ScopeSet, Status) {
	var set *C.OrbgateScopeSet
	if status := C.orbgate_scope_set_from_string(e.pointer, chars(scopes), size(scopes), &set); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), statusOK
}

func (e engine) scopeSetFromList(scopes []string) (*ScopeSet, Status) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	texts := make([]C.OrbgateStr, len(scopes))
	for index, scope := range scopes {
		if scope != "" {
			pinner.Pin(unsafe.StringData(scope))
			texts[index] = C.OrbgateStr{chars(scope), size(scope)}
		}
	}
	var set *C.OrbgateScopeSet
	status := C.orbgate_scope_set_from_list(e.pointer, unsafe.SliceData(texts), C.size_t(len(texts)), &set)
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), statusOK
}

func (e engine) findRoute(method, template string) (RouteID, Status) {
	var id C.OrbgateRouteId
	status := C.orbgate_engine_find_route(e.pointer, chars(method), size(method), chars(template), size(template), &id)
	return RouteID{high: uint64(id.high), low: uint64(id.low)}, Status(status)
}

func (e engine) ask(question, arguments string, form uint32) (string, error) {
	var answer *C.OrbgateAnswer
	var text C.OrbgateStr
	var failure *C.OrbgateError
	status := C.orbgate_engine_ask(
		e.pointer, chars(question), size(question), chars(arguments), size(arguments), C.uint32_t(form), &answer, &text, &failure)
	runtime.KeepAlive(question)
	runtime.KeepAlive(arguments)
	if status != C.ORBGATE_STATUS_OK {
		return "", takeError(status, failure)
	}
	defer C.orbgate_answer_free(answer)
	return copied(text), nil
}

func (e engine) table() (*table, Status) {
	info := C.OrbgateEngineInfo{struct_size: C.sizeof_OrbgateEngineInfo}
	if status := C.orbgate_engine_info(e.pointer, &info); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	read := &table{
		copied(info.digest), copied(info.name), info.has_end_marker == 1, info.is_sealed == 1,
		make([]route, info.route_count), nil, make([]scope, info.scope_count),
	}
	for index := range read.scopes {
		raw := C.OrbgateScope{struct_size: C.sizeof_OrbgateScope}
		if status := C.orbgate_engine_scope(e.pointer, C.uint32_t(index+1), &raw); status != C.ORBGATE_STATUS_OK {
			return nil, Status(status)
		}
		read.scopes[index] = scope{copied(raw.name), copied(raw.api), uint64(raw.amount)}
	}
	for index := range read.routes {
		raw := C.OrbgateRoute{struct_size: C.sizeof_OrbgateRoute}
		if status := C.orbgate_engine_route(e.pointer, C.uint32_t(index+1), &raw); status != C.ORBGATE_STATUS_OK {
			return nil, Status(status)
		}
		read.setRoute(index, route{
			id:     RouteID{high: uint64(raw.id.high), low: uint64(raw.id.low)},
			text:   copied(raw.text),
			api:    copied(raw.api),
			scope:  int(raw.scope_number),
			scopes: e.alternatives(index + 1),
			charge: uint32(raw.charge), amount: uint64(raw.amount),
			line: int(raw.line), column: int(raw.column),
		}, copied(raw.methods))
	}
	for {
		raw := C.OrbgateRoute{struct_size: C.sizeof_OrbgateRoute}
		number := C.uint32_t(len(read.routes) + len(read.closed) + 1)
		if C.orbgate_engine_route(e.pointer, number, &raw) != C.ORBGATE_STATUS_OK {
			return read, statusOK
		}
		text := copied(raw.text)
		read.closed = append(read.closed, route{text: text, template: text, api: copied(raw.api)})
	}
}

// What a route needs.
func (e engine) alternatives(number int) (alternatives [][]string) {
	var text C.OrbgateStr
	for C.orbgate_engine_route_alternative(e.pointer, C.uint32_t(number), C.size_t(len(alternatives)), &text) == C.ORBGATE_STATUS_OK {
		alternatives = append(alternatives, strings.Split(copied(text), " "))
	}
	return alternatives
}
