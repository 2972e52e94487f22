package orbgate

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// A policy is an engine of the library, with everything that needs it: its owners, which are the engines and handles that hold it, and
// the calls under way. It is freed as soon as the last owner is closed and the last call has ended. The collector cannot see how
// large it is, and frees only a policy that nobody has closed.
type policy struct {
	engine engine
	table  *table
	owners atomic.Int64
	// In which lanes there may still be calls.
	open  atomic.Int64
	lanes [lanes]lane
	// Cancels what the collector would do; called once.
	kept func()
}

// A lane counts calls under way. Goroutines that run at the same time are mostly in different lanes, whose counts lie in cache
// lines of their own: with one count, processors would wait for each other.
type lane struct {
	calls atomic.Int64
	_     [120]byte
}

const (
	laneBits = 4
	lanes    = 1 << laneBits
	// The count of a closed lane is this, plus the calls that have not ended.
	closedLane = math.MinInt64 / 2
	// The count is this once the last call has ended: calls that come too late change it, but never back to closedLane.
	drainedLane = 2 * closedLane
)

// Makes a policy with one owner, the caller.
func newPolicy(made engine, table *table) *policy {
	p := &policy{engine: made, table: table}
	p.owners.Store(1)
	p.open.Store(lanes)
	p.kept = runtime.AddCleanup(p, engine.free, made).Stop
	return p
}

// Adds an owner, unless there is none any more.
func (p *policy) own() bool {
	for owners := p.owners.Load(); owners > 0; owners = p.owners.Load() {
		if p.owners.CompareAndSwap(owners, owners+1) {
			return true
		}
	}
	return false
}

// Removes an owner. The last one closes the lanes, and does not wait for the calls in them.
func (p *policy) disown() {
	if p.owners.Add(-1) > 0 {
		return
	}
	for index := range p.lanes {
		lane := &p.lanes[index]
		if lane.calls.Add(closedLane) == closedLane {
			p.drain(lane)
		}
	}
}

// Begins a call: the policy stays until [policy.leave]. No lane without a policy, or after its last owner closed it.
func (p *policy) enter() *lane {
	if p == nil {
		return nil
	}
	lane := &p.lanes[nearby()]
	if lane.calls.Add(1) < 0 {
		p.leave(lane)
		return nil
	}
	return lane
}

// Ends a call.
func (p *policy) leave(lane *lane) {
	if lane.calls.Add(-1) == closedLane {
		p.drain(lane)
	}
}

// A closed lane has no calls any more. Several calls may see that; only the first one counts.
func (p *policy) drain(lane *lane) {
	if lane.calls.CompareAndSwap(closedLane, drainedLane) && p.open.Add(-1) == 0 {
		p.kept()
		p.engine.free()
	}
}

// The index of a lane, by where this goroutine's stack is.
func nearby() uint64 {
	var here byte
	const spread = 0x9e37_79b9_7f4a_7c15 // 2^64 by the golden ratio: neighbours part
	return uint64(uintptr(unsafe.Pointer(&here))) >> 11 * spread >> (64 - laneBits)
}
