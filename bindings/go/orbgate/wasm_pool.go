//go:build !orbgate_cgo

package orbgate

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A pool has the instances of one engine. An instance takes one call at a time, so there are as many as calls were ever under way
// at once, which processors limit. They are made as copies: the memory of the first one, as it was once its policy was compiled, is
// copied into a fresh instance, where every pointer means the same.
type pool struct {
	module module
	// The memory of an instance, and its room.
	image []byte
	base  uint32
	// An instance at rest for each lane, so that processors do not wait for each other, and those for whom there was no lane.
	slots [lanes]slot
	mutex sync.Mutex
	spare []*instance
}

type slot struct {
	instance atomic.Pointer[instance]
	_        [120]byte
}

// From an instance that has its room. It becomes the pool's.
func newPool(module module, first *instance) *pool {
	p := &pool{module: module, image: append([]byte(nil), first.memory...), base: first.base}
	p.put(first)
	return p
}

// An instance with this much room; nil where none can be made.
func (p *pool) take(room int) *instance {
	if room > roomSize {
		return p.large(room)
	}
	if i := p.slots[nearby()].instance.Swap(nil); i != nil {
		return i
	}
	return p.other()
}

// Gives an instance back that has done its call.
func (p *pool) put(i *instance) {
	if i.grown || !p.slots[nearby()].instance.CompareAndSwap(nil, i) {
		p.keep(i)
	}
}

// One from elsewhere, or a new one.
func (p *pool) other() *instance {
	p.mutex.Lock()
	if last := len(p.spare) - 1; last >= 0 {
		i := p.spare[last]
		p.spare[last], p.spare = nil, p.spare[:last]
		p.mutex.Unlock()
		return i
	}
	p.mutex.Unlock()
	for index := range p.slots {
		if i := p.slots[index].instance.Swap(nil); i != nil {
			return i
		}
	}
	return p.copy()
}

// Keeps an instance whose lane has one already, unless as many are kept as there are processors. An instance that has grown is not
// kept, because its memory never shrinks.
func (p *pool) keep(i *instance) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if i.grown || len(p.spare) >= runtime.GOMAXPROCS(0) {
		i.close()
		return
	}
	p.spare = append(p.spare, i)
}

func (p *pool) copy() *instance {
	i, err := p.module.instantiate()
	if err != nil {
		return nil
	}
	const page = 64 << 10
	if _, grown := i.module.Memory().Grow(uint32((len(p.image) - len(i.memory)) / page)); !grown {
		i.close()
		return nil
	}
	i.base = p.base
	i.look()
	copy(i.memory, p.image)
	return i
}

// One for a request that does not fit into the room of the others.
func (p *pool) large(room int) *instance {
	i := p.copy()
	if i == nil {
		return nil
	}
	i.grown = true
	if !i.furnish(room) {
		i.close()
		return nil
	}
	return i
}

// Nobody has an instance any more, nor will.
func (p *pool) close() {
	for index := range p.slots {
		if i := p.slots[index].instance.Swap(nil); i != nil {
			i.close()
		}
	}
	for _, i := range p.spare {
		i.close()
	}
	p.spare = nil
}
