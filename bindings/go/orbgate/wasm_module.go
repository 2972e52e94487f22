//go:build !orbgate_cgo

package orbgate

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The library as a WebAssembly module: `cargo xtask wasm` makes it. It imports nothing, so it can do nothing but compute.
//
//go:embed orbgate.wasm
var bytecode []byte

// Nothing here waits, so nothing is cancelled.
var background = context.Background()

// A module is the library, compiled for this processor once per process; its instances share the code.
type module struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

var compiled = sync.OnceValues(func() (module, error) {
	runtime := wazero.NewRuntime(background)
	code, err := runtime.CompileModule(background, bytecode)
	if err != nil {
		return module{}, unusable(err)
	}
	return module{runtime, code}, nil
})

func unusable(err error) error {
	return &Error{Status: StatusPanic, Message: fmt.Sprintf("the WebAssembly module cannot be used: %v", err)}
}

// An instance is the module with a memory of its own, for one call at a time.
type instance struct {
	module api.Module
	// All of its memory, and the room in it for what is handed over. Both are looked up anew when the memory may have grown.
	memory, room []byte
	// Where the room is.
	base uint32
	// It has more memory than the others of its pool.
	grown bool
	hot   [hotFunctions]api.Function
	cold  map[string]api.Function
	// The arguments of a call, and then its result.
	stack [10]uint64
}

const (
	decidePacked = iota
	decideRoutePacked
	decideScopePacked
	decideBatchPacked
	kindFromName
	hotFunctions
)

var hotNames = [hotFunctions]string{
	"orbgate_engine_decide_packed",
	"orbgate_engine_decide_route_packed",
	"orbgate_engine_decide_scope_packed",
	"orbgate_engine_decide_batch_packed",
	"orbgate_token_kind_from_name",
}

// This many bytes are handed over at once: all but very long requests, and 256 rows of a batch.
const roomSize = 64 << 10

// Makes a new instance.
func (m module) instantiate() (*instance, error) {
	made, err := m.runtime.InstantiateModule(background, m.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, unusable(err)
	}
	i := &instance{module: made, cold: map[string]api.Function{}}
	for number, name := range hotNames {
		i.hot[number] = made.ExportedFunction(name)
	}
	i.look()
	return i, nil
}

func (i *instance) close() { _ = i.module.Close(background) }

// Looks up the memory.
func (i *instance) look() {
	memory := i.module.Memory()
	i.memory, _ = memory.Read(0, memory.Size())
	if i.base != 0 {
		i.room = i.memory[i.base : i.base+roomSize]
	}
}

// Gets room of this size, at another address than the room that the instance may have had.
func (i *instance) furnish(size int) bool {
	base, ok := i.allocate(size)
	if !ok {
		return false
	}
	i.base = uint32(base)
	i.room = i.memory[base : base+uint64(size)]
	return true
}

// Memory for this many bytes, some at least; a module has no more than 2 GiB of them in one piece.
func (i *instance) allocate(size int) (at uint64, ok bool) {
	if size > math.MaxInt32 {
		return 0, false
	}
	at, ok = i.call("orbgate_wasm_alloc", uint64(size))
	return at, ok && at != 0
}

// Calls one of the functions that every instance holds with the arguments on the stack. They allocate nothing, so the memory stays
// where it is. A call that fails has trapped, and the instance is good for nothing any more.
func (i *instance) run(function int) bool {
	return i.hot[function].CallWithStack(background, i.stack[:]) == nil
}

// Calls any function; the memory may grow.
func (i *instance) call(name string, arguments ...uint64) (result uint64, ok bool) {
	function := i.cold[name]
	if function == nil {
		function = i.module.ExportedFunction(name)
		i.cold[name] = function
	}
	copy(i.stack[:], arguments)
	err := function.CallWithStack(background, i.stack[:])
	if int(i.module.Memory().Size()) != len(i.memory) {
		i.grown = true
		i.look()
	}
	return i.stack[0], err == nil
}
