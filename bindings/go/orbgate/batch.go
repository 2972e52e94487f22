package orbgate

import (
	"math"
	"slices"
)

// A Batch is a list of requests in columns, which are decided in one call. The zero Batch is empty. Several goroutines
// can decide a batch at the same time, as long as none adds to it or resets it.
type Batch struct {
	methods, targets, scopes column
	kinds, bonus             []uint8
	sets                     sets
	// The number of rows that have a scope set.
	interned int
	err      error
}

// The scope sets of rows; nil for none.
type sets []*ScopeSet

func (s sets) has(row int) bool { return s[row].holds() }

// The number of rows that are decided in one call of the engine, with room on the stack. The cost of a call per row is
// then small, and the scheduler never waits for long.
const chunk = 256

// Offsets into a column have 32 bits. Smaller in tests.
var columnLimit = math.MaxUint32

// Strings end to end, in the layout of Arrow's utf8.
type column struct {
	data    []byte
	offsets []uint32
}

func (c *column) add(text string) {
	if c.offsets == nil {
		c.offsets = append(c.offsets, 0)
	}
	c.data = append(c.data, text...)
	c.offsets = append(c.offsets, uint32(len(c.data)))
}

func (c *column) fits(text string) bool { return len(text) <= columnLimit-len(c.data) }

func (c *column) reset() { c.data, c.offsets = c.data[:0], c.offsets[:min(1, len(c.offsets))] }

// Add adds a request, with the same parameters as [Engine.Decide]; the strings are copied. If a column would exceed 4
// GiB, the row is left out and deciding fails.
func (b *Batch) Add(method, target string, token Token, options ...Option) {
	scopes, set := token.parts()
	if !b.methods.fits(method) || !b.targets.fits(target) || !b.scopes.fits(scopes) {
		b.err = StatusInvalidArgument
		return
	}
	b.methods.add(method)
	b.targets.add(target)
	b.scopes.add(scopes)
	b.kinds = append(b.kinds, uint8(token.Kind))
	b.bonus = append(b.bonus, uint8(min(flags(options), math.MaxUint8)))
	b.sets = append(b.sets, set)
	if b.sets.has(b.Len() - 1) {
		b.interned++
	}
}

// Len returns the number of requests; 0 for a nil batch.
func (b *Batch) Len() int {
	if b == nil {
		return 0
	}
	return len(b.kinds)
}

// Reset empties the batch and keeps its memory for the next requests.
func (b *Batch) Reset() {
	b.methods.reset()
	b.targets.reset()
	b.scopes.reset()
	clear(b.sets)
	b.sets, b.interned = b.sets[:0], 0
	b.kinds, b.bonus, b.err = b.kinds[:0], b.bonus[:0], nil
}

// DecideBatch decides every request of a batch as [Engine.Decide] would, with one call of the engine for 256 requests,
// and appends the decisions to a slice. If you pass the slice of the last batch, cut to length 0, nothing is allocated.
// On an error, nothing is appended.
func (e *Engine) DecideBatch(decisions []Decision, batch *Batch) ([]Decision, error) {
	if batch == nil {
		return decisions, StatusInvalidArgument
	}
	if batch.err != nil {
		return decisions, batch.err
	}
	policy := e.current()
	lane := policy.enter()
	if lane == nil {
		return decisions, ErrClosed
	}
	defer policy.leave(lane)
	decided := slices.Grow(decisions, batch.Len())
	var packed [chunk]uint64
	for first := 0; first < batch.Len(); {
		rows, interned := batch.chunk(first)
		if status := policy.engine.decideRows(batch, first, interned, packed[:rows]); status != statusOK {
			return decisions, status
		}
		// Within the room that has grown: an append for each would look for it again.
		room := decided[len(decided) : len(decided)+rows]
		for row := range room {
			room[row] = Decision{policy.table, packed[row]}
		}
		decided = decided[:len(decided)+rows]
		first += rows
	}
	return decided, nil
}

// How many rows from `first` on can be asked for at once, and whether their scopes are interned.
func (b *Batch) chunk(first int) (rows int, interned bool) {
	last := min(first+chunk, b.Len())
	interned = b.sets.has(first)
	if b.interned == 0 || b.interned == b.Len() {
		return last - first, interned
	}
	for rows = 1; first+rows < last && b.sets.has(first+rows) == interned; rows++ {
	}
	return rows, interned
}
