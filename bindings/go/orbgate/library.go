package orbgate

/*
#include <orbgate.h>

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
#cgo noescape orbgate_engine_route_method
#cgo nocallback orbgate_engine_route_method
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
	"unsafe"
)

// This file and the constants are all there is of C; the rest of the package is plain Go over the functions below.

// Frees a policy when the collector finds it unused and not closed. The function that it returns cancels that.
func (p *policy) freeWhenUnreachable() func() {
	cleanup := runtime.AddCleanup(p, freeEngine, p.pointer)
	return cleanup.Stop
}

func (p *policy) free() { freeEngine(p.pointer) }

func freeEngine(engine unsafe.Pointer) { C.orbgate_engine_free((*C.OrbgateEngine)(engine)) }

func (p *policy) engine() *C.OrbgateEngine { return (*C.OrbgateEngine)(p.pointer) }

// The pointer; null without a set. The library reads null as no scopes.
func (s *ScopeSet) get() *C.OrbgateScopeSet {
	if s == nil {
		return nil
	}
	return (*C.OrbgateScopeSet)(s.pointer)
}

// A scope set is small, so the collector frees it: when nobody holds it any more. A running call holds it.
func ownScopeSet(set *C.OrbgateScopeSet) *ScopeSet {
	owned := &ScopeSet{unsafe.Pointer(set)}
	runtime.AddCleanup(owned, freeScopeSet, owned.pointer)
	return owned
}

func freeScopeSet(set unsafe.Pointer) { C.orbgate_scope_set_free((*C.OrbgateScopeSet)(set)) }

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

func abiVersion() uint32 { return uint32(C.orbgate_abi_version()) }

func libraryVersion() string { return static(C.orbgate_version()) }

func checkABI() error {
	if C.orbgate_check_abi() {
		return nil
	}
	return &Error{
		Status:  StatusInvalidArgument,
		Message: "liborbgate " + libraryVersion() + " does not fit this package, which needs " + C.ORBGATE_VERSION,
	}
}

func external() (*policy, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	var engine *C.OrbgateEngine
	if status := C.orbgate_engine_external(&engine); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownEngine(engine)
}

func fromYAML(text string) (*policy, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	var engine *C.OrbgateEngine
	var failure *C.OrbgateError
	status := C.orbgate_engine_from_yaml(chars(text), size(text), &engine, &failure)
	runtime.KeepAlive(text)
	if status != C.ORBGATE_STATUS_OK {
		return nil, takeError(status, failure)
	}
	return ownEngine(engine)
}

func fromFile(path string) (*policy, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	var engine *C.OrbgateEngine
	var failure *C.OrbgateError
	status := C.orbgate_engine_from_file(chars(path), size(path), &engine, &failure)
	runtime.KeepAlive(path)
	if status != C.ORBGATE_STATUS_OK {
		return nil, takeError(status, failure)
	}
	return ownEngine(engine)
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
		Path:    copied(info.path),
		Line:    int(info.line),
		Column:  int(info.column),
		Message: copied(info.message),
	}
	if err.Status == StatusIO {
		err.cause = unreadable(err.Path)
	}
	for index := C.size_t(0); index < info.fault_count; index++ {
		fault := C.orbgate_fault_init()
		if C.orbgate_error_fault(failure, index, &fault) == C.ORBGATE_STATUS_OK {
			err.Faults = append(err.Faults, Fault{int(fault.line), int(fault.column), copied(fault.message)})
		}
	}
	return err
}

func (p *policy) decide(method, target string, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_packed(p.engine(), chars(method), size(method), chars(target), size(target),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags(options)|packAbout))
	runtime.KeepAlive(set)
	p.leave(lane)
	return Decision{p.table, uint64(packed)}, true
}

func (p *policy) decideRoute(route RouteID, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_route_packed(p.engine(), C.uint64_t(route),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags(options)|packAbout))
	runtime.KeepAlive(set)
	p.leave(lane)
	return Decision{p.table, uint64(packed)}, true
}

func (p *policy) decideScope(scope string, token Token, options []Option) (Decision, bool) {
	lane := p.enter()
	if lane == nil {
		return Decision{}, false
	}
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_scope_packed(p.engine(), chars(scope), size(scope),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.get(), C.uint32_t(flags(options)|packAbout))
	runtime.KeepAlive(set)
	p.leave(lane)
	return Decision{p.table, uint64(packed)}, true
}

// Decides the rows from `first` on, as many as `out` has room for. They must have scope sets all or none.
func (p *policy) decideRows(batch *Batch, first int, interned bool, out []uint64) Status {
	scopes, sets := &batch.scopes, (*C.uintptr_t)(nil)
	if interned {
		// As integers: pointers would be looked at one by one, whether they are Go's.
		scopes, sets = &column{}, (*C.uintptr_t)(unsafe.Pointer(&batch.sets.pointers[first]))
	}
	status := C.go_orbgate_decide_batch(p.engine(), C.size_t(len(out)),
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

func (p *policy) scopeSetFromText(scopes string) (*ScopeSet, error) {
	lane := p.enter()
	if lane == nil {
		return nil, ErrClosed
	}
	defer p.leave(lane)
	var set *C.OrbgateScopeSet
	if status := C.orbgate_scope_set_from_text(p.engine(), chars(scopes), size(scopes), &set); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), nil
}

func (p *policy) scopeSetFromList(scopes []string) (*ScopeSet, error) {
	lane := p.enter()
	if lane == nil {
		return nil, ErrClosed
	}
	defer p.leave(lane)
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
	status := C.orbgate_scope_set_from_list(p.engine(), unsafe.SliceData(texts), C.size_t(len(texts)), &set)
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), nil
}

func (p *policy) findRoute(method, template string) (RouteID, error) {
	lane := p.enter()
	if lane == nil {
		return 0, ErrClosed
	}
	defer p.leave(lane)
	var id C.uint64_t
	status := C.orbgate_engine_find_route(p.engine(), chars(method), size(method), chars(template), size(template), &id)
	return RouteID(id), Status(status).err()
}

func (p *policy) tableJSON() ([]byte, error) {
	lane := p.enter()
	if lane == nil {
		return nil, ErrClosed
	}
	defer p.leave(lane)
	var text C.OrbgateStr
	if status := C.orbgate_engine_table_json(p.engine(), &text); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return C.GoBytes(unsafe.Pointer(text.data), C.int(text.len)), nil
}

// Takes over an engine, which the library has just made.
func ownEngine(engine *C.OrbgateEngine) (*policy, error) {
	table, status := readTable(engine)
	if status != C.ORBGATE_STATUS_OK {
		C.orbgate_engine_free(engine)
		return nil, Status(status)
	}
	return newPolicy(unsafe.Pointer(engine), table), nil
}

func readTable(engine *C.OrbgateEngine) (*table, C.OrbgateStatus) {
	var digest C.OrbgateStr
	var routes, scopes C.uint32_t
	var marked C.uint8_t
	for _, status := range []C.OrbgateStatus{
		C.orbgate_engine_digest_text(engine, &digest),
		C.orbgate_engine_route_count(engine, &routes),
		C.orbgate_engine_scope_count(engine, &scopes),
		C.orbgate_engine_has_end_marker(engine, &marked),
	} {
		if status != C.ORBGATE_STATUS_OK {
			return nil, status
		}
	}
	read := &table{
		digest:       copied(digest),
		hasEndMarker: marked == 1,
		routes:       make([]route, routes),
		scopes:       make([]scope, scopes),
	}
	for index := range read.scopes {
		if status := readScope(engine, index, &read.scopes[index]); status != C.ORBGATE_STATUS_OK {
			return nil, status
		}
	}
	methods := map[string][]string{}
	for index := range read.routes {
		if status := readRoute(engine, index, &read.routes[index], methods); status != C.ORBGATE_STATUS_OK {
			return nil, status
		}
	}
	return read, C.ORBGATE_STATUS_OK
}

func readScope(engine *C.OrbgateEngine, index int, into *scope) C.OrbgateStatus {
	found := C.OrbgateScope{struct_size: C.sizeof_OrbgateScope}
	status := C.orbgate_engine_scope(engine, C.uint32_t(index+1), &found)
	if status == C.ORBGATE_STATUS_OK {
		*into = scope{copied(found.name), copied(found.api), uint64(found.amount)}
	}
	return status
}

// Reads a route; the methods are those of the templates that have been read already.
func readRoute(engine *C.OrbgateEngine, index int, into *route, methods map[string][]string) C.OrbgateStatus {
	number := C.uint32_t(index + 1)
	found := C.OrbgateRoute{struct_size: C.sizeof_OrbgateRoute}
	if status := C.orbgate_engine_route(engine, number, &found); status != C.ORBGATE_STATUS_OK {
		return status
	}
	text := copied(found.text)
	template := text[len(text)-int(found.path_template.len):]
	if methods[template] == nil {
		var method C.OrbgateStr
		for C.orbgate_engine_route_method(engine, number, C.size_t(len(methods[template])), &method) == C.ORBGATE_STATUS_OK {
			methods[template] = append(methods[template], copied(method))
		}
	}
	*into = route{text, template, int(found.scope_number), uint64(found.amount), methods[template]}
	return C.ORBGATE_STATUS_OK
}
