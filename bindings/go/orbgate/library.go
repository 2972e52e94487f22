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
#cgo noescape orbgate_engine_unpack
#cgo nocallback orbgate_engine_unpack
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
    batch.len = len;
    batch.method = (OrbgateColumn){methods, methods_len, method_offsets};
    batch.target = (OrbgateColumn){targets, targets_len, target_offsets};
    batch.kinds = kinds;
    batch.scopes = (OrbgateColumn){scopes, scopes_len, scope_offsets};
    batch.scope_sets = (const OrbgateScopeSet *const *)scope_sets;
    batch.allow_bonus_orbs = allow_bonus_orbs;
    return orbgate_engine_decide_batch_packed(engine, &batch, out, len);
}

static OrbgateStatus go_orbgate_words(const OrbgateEngine *engine, uint64_t packed, OrbgateDecisionText *out)
{
    OrbgateDecision decision;
    OrbgateStatus status = orbgate_engine_unpack(engine, packed, &decision);
    *out = orbgate_decision_text_init();
    return status == ORBGATE_STATUS_OK ? orbgate_engine_decision_text(engine, &decision, out) : status;
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// This file and the constants are all there is of C; the rest of the package is plain Go over the functions below.

// A reference owns one object of the library. It is given back when the garbage collector finds that nobody holds the
// reference, which calls under way do: so nothing is used after it is gone, whoever closes what meanwhile.
type reference struct {
	pointer unsafe.Pointer
}

func own(pointer unsafe.Pointer, free func(unsafe.Pointer)) *reference {
	held := &reference{pointer}
	runtime.AddCleanup(held, free, pointer)
	return held
}

// The pointer; null where there is no object, which the library refuses.
func (held *reference) get() unsafe.Pointer {
	if held == nil {
		return nil
	}
	return held.pointer
}

func (held *reference) engine() *C.OrbgateEngine { return (*C.OrbgateEngine)(held.get()) }

func (held *reference) scopeSet() *C.OrbgateScopeSet { return (*C.OrbgateScopeSet)(held.get()) }

func ownEngine(engine *C.OrbgateEngine) *reference {
	return own(unsafe.Pointer(engine), func(pointer unsafe.Pointer) { C.orbgate_engine_free((*C.OrbgateEngine)(pointer)) })
}

func ownScopeSet(set *C.OrbgateScopeSet) *reference {
	return own(unsafe.Pointer(set), func(pointer unsafe.Pointer) {
		C.orbgate_scope_set_free((*C.OrbgateScopeSet)(pointer))
	})
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

func external() (*reference, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	var engine *C.OrbgateEngine
	if status := C.orbgate_engine_external(&engine); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownEngine(engine), nil
}

func fromYAML(text string) (*reference, error) {
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
	return ownEngine(engine), nil
}

func fromFile(path string) (*reference, error) {
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
	return ownEngine(engine), nil
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
	for index := C.size_t(0); index < info.fault_count; index++ {
		fault := C.orbgate_fault_init()
		if C.orbgate_error_fault(failure, index, &fault) == C.ORBGATE_STATUS_OK {
			err.Faults = append(err.Faults, Fault{int(fault.line), int(fault.column), copied(fault.message)})
		}
	}
	return err
}

func (held *reference) decide(method, target string, token Token, options []Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_packed(held.engine(), chars(method), size(method), chars(target), size(target),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.scopeSet(), C.uint32_t(flags(options)))
	runtime.KeepAlive(set)
	runtime.KeepAlive(held)
	return uint64(packed)
}

func (held *reference) decideRoute(route RouteID, token Token, options []Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_route_packed(held.engine(), C.uint64_t(route),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.scopeSet(), C.uint32_t(flags(options)))
	runtime.KeepAlive(set)
	runtime.KeepAlive(held)
	return uint64(packed)
}

func (held *reference) decideScope(scope string, token Token, options []Option) uint64 {
	scopes, set := token.parts()
	packed := C.orbgate_engine_decide_scope_packed(held.engine(), chars(scope), size(scope),
		C.uint32_t(token.Kind), chars(scopes), size(scopes), set.scopeSet(), C.uint32_t(flags(options)))
	runtime.KeepAlive(set)
	runtime.KeepAlive(held)
	return uint64(packed)
}

// Decides the rows from `first` on, as many as `out` has room for. They must have scope sets all or none.
func (held *reference) decideRows(batch *Batch, first int, interned bool, out []uint64) Status {
	scopes, sets := &batch.scopes, (*C.uintptr_t)(nil)
	if interned {
		// As integers: pointers would be looked at one by one, whether they are Go's.
		scopes, sets = &column{}, (*C.uintptr_t)(unsafe.Pointer(&batch.sets.pointers[first]))
	}
	status := C.go_orbgate_decide_batch(held.engine(), C.size_t(len(out)),
		batch.methods.chars(), batch.methods.size(), batch.methods.from(first),
		batch.targets.chars(), batch.targets.size(), batch.targets.from(first),
		(*C.uint8_t)(&batch.kinds[first]),
		scopes.chars(), scopes.size(), scopes.from(first), sets,
		(*C.uint8_t)(&batch.bonus[first]), (*C.uint64_t)(&out[0]))
	runtime.KeepAlive(batch)
	runtime.KeepAlive(held)
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

func (held *reference) unpack(packed uint64) (amount uint64, err error) {
	var decision C.OrbgateDecision
	status := C.orbgate_engine_unpack(held.engine(), C.uint64_t(packed), &decision)
	runtime.KeepAlive(held)
	return uint64(decision.amount), Status(status).err()
}

func (held *reference) words(packed uint64) (Words, error) {
	var text C.OrbgateDecisionText
	status := C.go_orbgate_words(held.engine(), C.uint64_t(packed), &text)
	if status != C.ORBGATE_STATUS_OK {
		return Words{}, Status(status)
	}
	words := Words{
		Decision: copied(text.decision),
		Reason:   copied(text.reason),
		Detail:   copied(text.detail),
		API:      copied(text.api),
		Route:    copied(text.route),
		Scope:    copied(text.scope),
		Policy:   copied(text.policy),
	}
	runtime.KeepAlive(held)
	return words, nil
}

func (held *reference) scopeSetFromText(scopes string) (*reference, error) {
	var set *C.OrbgateScopeSet
	status := C.orbgate_scope_set_from_text(held.engine(), chars(scopes), size(scopes), &set)
	runtime.KeepAlive(held)
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), nil
}

func (held *reference) scopeSetFromList(scopes []string) (*reference, error) {
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
	status := C.orbgate_scope_set_from_list(held.engine(), unsafe.SliceData(texts), C.size_t(len(texts)), &set)
	runtime.KeepAlive(held)
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	return ownScopeSet(set), nil
}

func (held *reference) findRoute(method, template string) (RouteID, error) {
	var id C.uint64_t
	status := C.orbgate_engine_find_route(held.engine(), chars(method), size(method), chars(template), size(template), &id)
	runtime.KeepAlive(held)
	return RouteID(id), Status(status).err()
}

func (held *reference) digest() string {
	var text C.OrbgateStr
	if C.orbgate_engine_digest_text(held.engine(), &text) != C.ORBGATE_STATUS_OK {
		return ""
	}
	digest := copied(text)
	runtime.KeepAlive(held)
	return digest
}

func (held *reference) tableJSON() ([]byte, error) {
	var text C.OrbgateStr
	if status := C.orbgate_engine_table_json(held.engine(), &text); status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	table := []byte(copied(text))
	runtime.KeepAlive(held)
	return table, nil
}
