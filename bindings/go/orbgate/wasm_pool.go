//go:build !orbgate_cgo

package orbgate

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A pool has the instances of one engine. An instance takes one call at a time, so there are as many instances as there were ever
// calls at the same time, which the number of processors limits. Instances are copies: the memory of the first one, right after its
// policy was compiled, is copied into a new instance, where every pointer means the same.
type pool struct {
	module module
	// The memory of an instance, and its room.
	image []byte
	base  uint32
	// One idle instance for each lane, so that processors do not wait for each other, and the idle instances without a lane.
	slots [lanes]slot
	mutex sync.Mutex
	spare []*instance
}

type slot struct {
	instance atomic.Pointer[instance]
	_        [120]byte
}

// Makes a pool from an instance that has its room. The instance belongs to the pool.
func newPool(module module, first *instance) *pool {
	p := &pool{module: module, image: append([]byte(nil), first.memory...), base: first.base}
	p.put(first)
	return p
}

// An instance with this much room; nil if none can be made.
func (p *pool) take(room int) *instance {
	if room > roomSize {
		return p.large(room)
	}
	if i := p.slots[nearby()].instance.Swap(nil); i != nil {
		return i
	}
	return p.other()
}

// Gives back an instance that has done its call.
func (p *pool) put(i *instance) {
	if i.grown || !p.slots[nearby()].instance.CompareAndSwap(nil, i) {
		p.keep(i)
	}
}

// An idle instance from outside this lane, or a new one.
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

// An instance for a request that does not fit into the room of the others.
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

// Closes the instances. No call uses one, and none will.
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
