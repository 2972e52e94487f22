//go:build !orbgate_cgo

package orbgate

import (
	"encoding/binary"
	"slices"
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
	sources []secretSource
	// The policy that is compiled into the instance, and its engine there.
	policy *pool
	engine uint32
	// The answer that was read last, which the next question frees.
	over uint32
	// Texts that answer after answer has.
	texts texts
	// Room for a token, while no step has it.
	spare []byte
	// Kept for another instance, should this one trap. It counts the instances: steps of an earlier one are gone.
	tokens     string
	options    steps.Options
	generation int
	closed     bool
}

// Structs of the C ABI as the module has them: sizes and offsets of their fields with pointers of 32 bits.
type (
	wasmGateOptions struct {
		Size, Flags, Challenge, Templates uint32
		Realm, ResourceMetadata           wasmText
		_                                 [10]uint32 // when keys are fetched: 0 selects the default
		Public                            wasmText
		CorsPreflight, _                  uint32
		Secrets                           wasmText
	}
	wasmFetch struct {
		Size, Timeout     uint32
		Attempt, MaxBytes uint64
		URL               wasmText
		Body              wasmText
		Authorization     wasmText
	}
	wasmIssuer struct {
		Size, Keys                uint32
		Fetched                   uint64
		Issuer, Failure, Warnings wasmText
		Opaque, Reserved          uint32
	}
	wasmDifference struct {
		Size, Kind       uint32
		Route, DecidedAs wasmText
	}
)

func openGate(tokens string, options *steps.Options) (libraryGate, error) {
	g := &wasmGate{tokens: tokens, options: *options}
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
	address, sources, err := i.openGate(g.tokens, &g.options)
	if err != nil {
		i.close()
		return err
	}
	g.instance, g.address, g.sources, g.policy, g.engine, g.over = i, address, sources, nil, 0, 0
	g.generation++
	return nil
}

func (i *instance) openGate(tokens string, options *steps.Options) (uint32, []secretSource, error) {
	var room handed
	at := room.text(tokens)
	raw := wasmGateOptions{
		Size: uint32(binary.Size(wasmGateOptions{})), Flags: options.Flags, Challenge: options.Challenge, Templates: options.Templates,
		Realm: room.text(options.Realm), ResourceMetadata: room.text(options.ResourceMetadata),
		CorsPreflight: options.CorsPreflight,
	}
	public, ok := room.putList(i, options.Public, &raw.Realm, &raw.ResourceMetadata, &at)
	if !ok {
		return 0, nil, StatusPanic
	}
	raw.Public = wasmText{uint32(public), uint32(len(options.Public))}
	out := uint64(i.base)
	if status := i.status("orbgate_verifier_from_yaml", uint64(at.Data), uint64(at.Len), out, out+4); status != statusOK {
		return 0, nil, i.failure(status)
	}
	verifier := uint64(binary.LittleEndian.Uint32(i.room))
	sources := i.sources(verifier)
	secrets, err := readSecrets(sources)
	if err != nil {
		return 0, nil, err
	}
	var secret handed
	list, ok := secret.putList(i, secrets)
	if !ok {
		return 0, nil, StatusPanic
	}
	raw.Secrets = wasmText{uint32(list), uint32(len(secrets))}
	_, _ = binary.Encode(i.room[16:], binary.LittleEndian, &raw)
	if status := i.status("orbgate_gate_new", verifier, out+16, out, out+4); status != statusOK {
		return 0, nil, i.failure(status)
	}
	address := binary.LittleEndian.Uint32(i.room)
	if _, ok := i.call("orbgate_verifier_free", verifier); !ok || !room.freeList(i, public, options.Public) || !secret.freeList(i, list, secrets) {
		return 0, nil, StatusPanic
	}
	return address, sources, nil
}

// Texts that are handed over together, in memory of their own.
type handed struct {
	bytes []byte
	at    uint32
}

// Adds a text; it has an offset until they are put, and an address from then on.
func (h *handed) text(text string) wasmText {
	placed := wasmText{uint32(len(h.bytes)), uint32(len(text))}
	h.bytes = append(h.bytes, text...)
	return placed
}

// Adds an array of texts.
func (h *handed) texts(list []string) []wasmText {
	texts := make([]wasmText, len(list))
	for index, text := range list {
		texts[index] = h.text(text)
	}
	return texts
}

// Puts the texts into the module's memory, and gives each its address.
func (h *handed) put(i *instance, texts ...*wasmText) bool {
	if len(h.bytes) == 0 {
		return true
	}
	at, ok := i.allocate(len(h.bytes))
	if !ok {
		return false
	}
	h.at = uint32(at)
	copy(i.memory[at:], h.bytes)
	for _, text := range texts {
		text.Data += h.at
	}
	return true
}

// Adds a list of texts, and puts it and all others; returns the address of the list.
func (h *handed) putList(i *instance, list []string, others ...*wasmText) (uint64, bool) {
	texts := h.texts(list)
	for index := range texts {
		others = append(others, &texts[index])
	}
	at, ok := i.allocate(sizeOfList(list))
	if !ok || !h.put(i, others...) {
		return 0, false
	}
	_, _ = binary.Encode(i.memory[at:], binary.LittleEndian, texts)
	return at, true
}

// One byte more, because the module allocates none for an empty list.
func sizeOfList(list []string) int { return textSize*len(list) + 1 }

func (h *handed) freeList(i *instance, at uint64, list []string) bool {
	_, ok := i.call("orbgate_wasm_free", at, uint64(sizeOfList(list)))
	return ok && h.free(i)
}

func (h *handed) free(i *instance) bool {
	if len(h.bytes) == 0 {
		return true
	}
	_, ok := i.call("orbgate_wasm_free", uint64(h.at), uint64(len(h.bytes)))
	return ok
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
func (g *wasmGate) within(e engine) (uint64, Status) {
	if g.policy == e.pool {
		return uint64(g.engine), statusOK
	}
	out := uint64(g.base)
	var room handed
	source := room.text(e.source)
	if !room.put(g.instance, &source) {
		return 0, StatusPanic
	}
	var status Status
	if e.source == "" {
		status = g.instance.status("orbgate_engine_external", out)
	} else {
		status = g.instance.status("orbgate_engine_from_yaml", uint64(source.Data), uint64(source.Len), out, 0)
	}
	if status != statusOK {
		return 0, StatusPanic
	}
	made := binary.LittleEndian.Uint32(g.room)
	if _, ok := g.call("orbgate_engine_free", uint64(g.engine)); !ok || !room.free(g.instance) {
		return 0, StatusPanic
	}
	g.policy, g.engine = e.pool, made
	return uint64(made), statusOK
}

// A step of this gate, in an instance.
type wasmHeld struct {
	address    uint32
	generation int
}

// The step's address; false where its instance is gone. It is no longer this step's.
func (g *wasmGate) take(step *steps.Step) (uint64, bool) {
	held, is := step.Held.(wasmHeld)
	step.Held = nil
	return uint64(held.address), is && held.generation == g.generation
}

func (g *wasmGate) resume(e engine, step *steps.Step, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	next := new(steps.Step)
	status := g.hand(e, step, func(address, held uint64) Status {
		status := g.instance.status("orbgate_gate_resume", uint64(g.address), address, held, unixMS, monotonicMS, uint64(g.base))
		if status != statusOK {
			return status
		}
		made := uint64(binary.LittleEndian.Uint32(g.room))
		return g.read(next, g.instance.status("orbgate_wasm_step", uint64(g.address), made, uint64(g.base)))
	})
	return next, status
}

func (g *wasmGate) checked(e engine, step *steps.Step, isRight bool, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	right := uint64(0)
	if isRight {
		right = 1
	}
	status := g.hand(e, step, func(address, held uint64) Status {
		over := g.over
		g.over = 0
		g.spare = step.Token
		return g.read(step, g.instance.status("orbgate_wasm_gate_checked",
			uint64(g.address), address, held, right, step.TokenHash, unixMS, monotonicMS, uint64(over), uint64(g.base)))
	})
	return step, status
}

// Hands a step on.
func (g *wasmGate) hand(e engine, step *steps.Step, call func(engine, held uint64) Status) Status {
	return g.locked(func() Status {
		address, status := g.within(e)
		if status != statusOK {
			return status
		}
		held, is := g.take(step)
		if !is {
			return StatusInvalidArgument
		}
		return call(address, held)
	})
}

func (g *wasmGate) drop(step *steps.Step) {
	g.locked(func() Status {
		if held, is := g.take(step); is {
			return g.instance.status0("orbgate_step_free", held)
		}
		return statusOK
	})
}

// Calls a function that returns nothing.
func (i *instance) status0(name string, arguments ...uint64) Status {
	if _, ok := i.call(name, arguments...); !ok {
		return StatusPanic
	}
	return statusOK
}

func (g *wasmGate) isOver(step *steps.Step, monotonicMS uint64) bool {
	over := true
	g.locked(func() Status {
		held, is := step.Held.(wasmHeld)
		if !is || held.generation != g.generation {
			return statusOK
		}
		status := g.instance.status("orbgate_gate_is_over", uint64(g.address), uint64(held.address), monotonicMS, uint64(g.base))
		over = status != statusOK || g.room[0] == 1
		return status
	})
	return over
}

func (g *wasmGate) nextFetch(monotonicMS uint64) (next *steps.Fetch) {
	g.locked(func() Status {
		status := g.instance.status("orbgate_gate_next_fetch", uint64(g.address), monotonicMS, uint64(g.base))
		next, status = g.fetch(status)
		return status
	})
	return next
}

func (g *wasmGate) fetched(attempt uint64, status int, cacheControl string, body []byte, monotonicMS uint64) (next *steps.Fetch) {
	g.locked(func() Status {
		var room handed
		texts := room.texts([]string{cacheControl, string(body)})
		if !room.put(g.instance, &texts[0], &texts[1]) {
			return StatusPanic
		}
		found := g.instance.status("orbgate_gate_fetched", uint64(g.address), attempt, uint64(status), uint64(texts[0].Data), uint64(texts[0].Len),
			uint64(texts[1].Data), uint64(texts[1].Len), monotonicMS, uint64(g.base))
		if !room.free(g.instance) {
			return StatusPanic
		}
		next, found = g.fetch(found)
		return found
	})
	return next
}

// Reads the fetch that was written to the room, if there is one, and frees it.
func (g *wasmGate) fetch(status Status) (*steps.Fetch, Status) {
	address := uint64(binary.LittleEndian.Uint32(g.room))
	if status != statusOK || address == 0 {
		return nil, status
	}
	var info wasmFetch
	if status := g.describe("orbgate_fetch_info", &info, address); status != statusOK {
		return nil, StatusPanic
	}
	next := &steps.Fetch{URL: g.text(info.URL), Attempt: info.Attempt, MaxBytes: int(info.MaxBytes), TimeoutMS: info.Timeout,
		Body: g.text(info.Body), Authorization: g.text(info.Authorization)}
	return next, g.status0("orbgate_fetch_free", address)
}

func (g *wasmGate) fetchFailed(attempt uint64, failure uint32, monotonicMS uint64) {
	g.locked(func() Status {
		return g.instance.status("orbgate_gate_fetch_failed", uint64(g.address), attempt, uint64(failure), monotonicMS)
	})
}

func (g *wasmGate) warm(monotonicMS uint64) {
	g.locked(func() Status { return g.instance.status("orbgate_gate_warm", uint64(g.address), monotonicMS) })
}

func (g *wasmGate) revoke(issuer, kid string) Status {
	return g.named("orbgate_gate_revoke", issuer, kid)
}

func (g *wasmGate) forget(issuer string) Status { return g.named("orbgate_gate_forget", issuer) }

// Calls a function that takes the gate and texts.
func (g *wasmGate) named(function string, names ...string) Status {
	return g.locked(func() Status {
		var room handed
		texts := room.texts(names)
		arguments := []uint64{uint64(g.address)}
		if !room.put(g.instance) {
			return StatusPanic
		}
		for _, text := range texts {
			arguments = append(arguments, uint64(room.at+text.Data), uint64(text.Len))
		}
		status := g.instance.status(function, arguments...)
		if !room.free(g.instance) {
			return StatusPanic
		}
		return status
	})
}

func (g *wasmGate) allowsBonusOrbs(body []byte) (allows bool) {
	g.locked(func() Status {
		var room handed
		text := room.text(string(body))
		if !room.put(g.instance, &text) {
			return StatusPanic
		}
		status := g.instance.status("orbgate_allows_bonus_orbs", uint64(text.Data), uint64(text.Len), uint64(g.base))
		allows = status == statusOK && g.room[0] == 1
		if !room.free(g.instance) {
			return StatusPanic
		}
		return status
	})
	return allows
}

func (g *wasmGate) status() (issuers []steps.Issuer) {
	g.locked(func() Status {
		if status := g.instance.status("orbgate_gate_status", uint64(g.address), uint64(g.base)); status != statusOK {
			return status
		}
		keys := uint64(binary.LittleEndian.Uint32(g.room))
		var info wasmIssuer
		for g.describe("orbgate_key_status_issuer", &info, keys, uint64(len(issuers))) == statusOK {
			issuers = append(issuers, steps.Issuer{Name: g.text(info.Issuer), Failure: g.text(info.Failure),
				Warnings: g.text(info.Warnings), Keys: int(info.Keys), FetchedMS: info.Fetched, Opaque: info.Opaque == 1})
		}
		return g.status0("orbgate_key_status_free", keys)
	})
	return issuers
}

func (g *wasmGate) free() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.instance != nil {
		g.instance.close()
	}
	g.instance, g.closed = nil, true
}

func (g *wasmGate) checkEngine(e engine) error {
	return g.failing(func() Status {
		address, status := g.within(e)
		if status != statusOK {
			return status
		}
		return g.instance.status("orbgate_gate_check_engine", uint64(g.address), address, uint64(g.base)+4)
	})
}

func (g *wasmGate) checkWider(active, next engine) error {
	return g.failing(func() Status {
		before, status := g.within(active)
		if status != statusOK {
			return status
		}
		// The instance keeps one engine, and this is the one time that it needs two.
		g.policy, g.engine = nil, 0
		after, status := g.within(next)
		if status != statusOK {
			return status
		}
		status = g.instance.status("orbgate_gate_check_wider", uint64(g.address), before, after, uint64(g.base)+4)
		if status == StatusPanic {
			return status
		}
		if _, ok := g.call("orbgate_engine_free", before); !ok {
			return StatusPanic
		}
		return status
	})
}

// Calls a function of the library that writes an error.
func (g *wasmGate) failing(call func() Status) (err error) {
	status := g.locked(func() Status {
		status := call()
		if status != statusOK && status != StatusPanic {
			err = g.failure(status)
		}
		return status
	})
	if err == nil {
		err = status.err()
	}
	return err
}

func (g *wasmGate) checkRoutes(e engine, methods, templates []string) (read []steps.Difference, status Status) {
	status = g.locked(func() Status {
		address, status := g.within(e)
		if status != statusOK {
			return status
		}
		var room handed
		both := slices.Concat(methods, templates)
		at, ok := room.putList(g.instance, both)
		if !ok {
			return StatusPanic
		}
		count := uint64(len(methods))
		status = g.instance.status("orbgate_gate_check_routes", uint64(g.address), address, at, at+textSize*count, count, uint64(g.base))
		differences := uint64(binary.LittleEndian.Uint32(g.room))
		if !room.freeList(g.instance, at, both) {
			return StatusPanic
		}
		if status != statusOK || differences == 0 {
			return status
		}
		var one wasmDifference
		for g.describe("orbgate_route_difference", &one, differences, uint64(len(read))) == statusOK {
			read = append(read, steps.Difference{Undeclared: one.Kind == differenceUndeclared, Route: g.text(one.Route), DecidedAs: g.text(one.DecidedAs)})
		}
		return g.status0("orbgate_route_differences_free", differences)
	})
	return read, status
}
