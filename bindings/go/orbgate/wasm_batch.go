//go:build !orbgate_cgo

package orbgate

import "encoding/binary"

// How a batch lies in the room: an OrbgateBatch as the module has it, with pointers of 32 bits, then the decisions, the offsets of
// the three columns, and bytes.
const (
	batchSize  = 72
	outAt      = 80
	rowSize    = 8 + 3*4 + 2 // of each row, and its texts
	batchExtra = outAt + 3*4 // of the batch, with the offset after each column's last row
)

func (e engine) decideRows(batch *Batch, first int, interned bool, out []uint64) Status {
	for done := 0; done < len(out); {
		rows := len(out) - done
		size := e.roomFor(batch, first+done, rows, interned)
		for ; size > roomSize && rows > 1; size = e.roomFor(batch, first+done, rows, interned) {
			rows /= 2
		}
		if status := e.decideFitting(batch, first+done, interned, size, out[done:done+rows]); status != statusOK {
			return status
		}
		done += rows
	}
	return statusOK
}

func (e engine) roomFor(batch *Batch, first, rows int, interned bool) int {
	size := batchExtra + rows*rowSize + len(batch.methods.rows(first, rows)) + len(batch.targets.rows(first, rows))
	if !interned {
		return size + len(batch.scopes.rows(first, rows))
	}
	size += objectRoom // so that the first object is aligned
	var last *ScopeSet
	for _, set := range batch.sets[first : first+rows] {
		text, object := e.scopes(Token{ScopeSet: set})
		if size += len(text); object != "" && set != last {
			size += objectRoom
		}
		last = set
	}
	return size
}

func (e engine) decideFitting(batch *Batch, first int, interned bool, size int, out []uint64) Status {
	i := e.take(size)
	if i == nil {
		return StatusPanic
	}
	rows := len(out)
	w := writer{i.room, i.base, outAt + rows*8}
	clear(i.room[:batchSize])
	w.field(0, batchSize)
	w.field(1, uint32(packAbout))
	w.field(2, uint32(rows))
	// The offsets first: they are aligned.
	methods, targets, scopes := w.offsets(rows), w.offsets(rows), w.offsets(rows)
	switch sets := batch.sets[first : first+rows]; {
	case !interned:
		w.column(11, &batch.scopes, scopes, first, rows)
	case e.setSize > 0:
		e.objects(&w, sets, scopes)
	default:
		e.texts(&w, sets, scopes)
	}
	w.column(3, &batch.methods, methods, first, rows)
	w.column(6, &batch.targets, targets, first, rows)
	w.field(10, w.bytes(batch.kinds[first:first+rows]))
	w.field(15, w.bytes(batch.bonus[first:first+rows]))
	i.stack = [10]uint64{uint64(e.address), uint64(i.base), uint64(i.base) + outAt, uint64(rows)}
	if !i.run(decideBatchPacked) {
		i.close()
		return StatusPanic
	}
	for row := range out {
		out[row] = binary.LittleEndian.Uint64(i.room[outAt+8*row:])
	}
	return Status(e.done(i))
}

// Scope sets as pointers to objects. Rows of one token follow each other.
func (e engine) objects(w *writer, sets []*ScopeSet, pointers int) {
	w.at = (w.at + objectRoom - 1) &^ (objectRoom - 1)
	var last *ScopeSet
	pointer := uint32(0)
	for row, set := range sets {
		if set != last {
			last, pointer = set, 0
			if object := set.held.object; object != "" {
				pointer = w.base + uint32(w.at)
				copy(w.room[w.at:], object)
				w.at += objectRoom
			}
		}
		w.number(pointers+4*row, pointer)
	}
	w.field(14, w.base+uint32(pointers))
}

// Scope sets as a column of texts.
func (e engine) texts(w *writer, sets []*ScopeSet, offsets int) {
	start := w.at
	for row, set := range sets {
		w.number(offsets+4*row, uint32(w.at-start))
		text, _ := e.scopes(Token{ScopeSet: set})
		w.at += copy(w.room[w.at:], text)
	}
	w.number(offsets+4*len(sets), uint32(w.at-start))
	w.texts(11, start, offsets)
}

// The bytes of some rows.
func (c *column) rows(first, rows int) []byte { return c.data[c.offsets[first]:c.offsets[first+rows]] }

// A writer fills the room from the front.
type writer struct {
	room []byte
	base uint32
	at   int
}

func (w *writer) number(at int, value uint32) { binary.LittleEndian.PutUint32(w.room[at:], value) }

// Every field of an OrbgateBatch has 32 bits.
func (w *writer) field(index int, value uint32) { w.number(4*index, value) }

func (w *writer) bytes(bytes []byte) (address uint32) {
	address = w.base + uint32(w.at)
	w.at += copy(w.room[w.at:], bytes)
	return address
}

// Leaves room for the offsets of a column.
func (w *writer) offsets(rows int) (at int) {
	at = w.at
	w.at += 4 * (rows + 1)
	return at
}

// Writes some rows of a column, and the three fields that say where they are.
func (w *writer) column(field int, column *column, offsets, first, rows int) {
	start := w.at
	w.bytes(column.rows(first, rows))
	from := column.offsets[first]
	for row, offset := range column.offsets[first : first+rows+1] {
		w.number(offsets+4*row, offset-from)
	}
	w.texts(field, start, offsets)
}

func (w *writer) texts(field, start, offsets int) {
	w.field(field, w.base+uint32(start))
	w.field(field+1, uint32(w.at-start))
	w.field(field+2, w.base+uint32(offsets))
}
