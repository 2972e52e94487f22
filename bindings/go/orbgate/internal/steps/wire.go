package steps

import "encoding/binary"

// The form of messages: see docs/messages.md. A field is a number, a length and its bytes.

const headSize = 8

// In the number of a field: a host that doesn't know it must deny.
const critical = 1 << 31

func putHead(to []byte, number uint32, size int) []byte {
	return binary.LittleEndian.AppendUint64(to, uint64(number)|uint64(size)<<32)
}

func putInteger(to []byte, number uint32, value uint64) []byte {
	return binary.LittleEndian.AppendUint64(putHead(to, number, 8), value)
}

func putFlag(to []byte, number uint32) []byte { return putHead(to, number, 0) }

func putText(to []byte, number uint32, text string) []byte {
	return append(putHead(to, number, len(text)), text...)
}

// Begins a question, whose fields begin at start.
func begin(to []byte, number uint32) (w writer, start int) {
	to = putHead(to, number, 0)
	return writer{to}, len(to)
}

func end(to []byte, start int) []byte {
	binary.LittleEndian.PutUint32(to[start-4:], uint32(len(to)-start))
	return to
}

// The next field, and the fields after it; if there is none that is whole, all bytes are left.
func next(fields []byte) (tag uint32, bytes, rest []byte, ok bool) {
	if len(fields) >= headSize {
		head := binary.LittleEndian.Uint64(fields)
		if size := head >> 32; size <= uint64(len(fields)-headSize) {
			return uint32(head), fields[headSize:][:size], fields[headSize+size:], true
		}
	}
	return 0, nil, fields, false
}

// A message is one field.
func open(message []byte) (number uint32, fields []byte, ok bool) {
	number, fields, rest, ok := next(message)
	return number, fields, ok && len(rest) == 0
}

// A writer leaves out what is empty.
type writer struct{ to []byte }

func (w *writer) integer(number uint32, value uint64) {
	if value != 0 {
		w.to = putInteger(w.to, number, value)
	}
}

func (w *writer) flag(number uint32, value bool) {
	if value {
		w.to = putFlag(w.to, number)
	}
}

func (w *writer) text(number uint32, value string) {
	if value != "" {
		w.to = putText(w.to, number, value)
	}
}

func (w *writer) optional(number uint32, value *string) {
	if value != nil {
		w.to = putText(w.to, number, *value)
	}
}

func (w *writer) texts(number uint32, values []string) {
	for _, value := range values {
		w.to = putText(w.to, number, value)
	}
}

func putParts[Part any, Pointer interface {
	*Part
	put(to []byte) []byte
}](w *writer, number uint32, parts []Part) {
	for index := range parts {
		to := putHead(w.to, number, 0)
		w.to = end(Pointer(&parts[index]).put(to), len(to))
	}
}

// A reader has the next field of a message. The library writes fields in the order of their numbers, so one pass over all that are known reads
// most messages; any other order takes more passes.
type reader struct {
	// 0, which no known field has, after the last one, and bytes are nil.
	tag         uint32
	bytes, rest []byte
	// A bit for each field that is no list's.
	seen           uint32
	moved, refused bool
}

func newReader(fields []byte) reader {
	r := reader{rest: fields}
	r.advance()
	return r
}

func (r *reader) advance() {
	r.moved = true
	r.tag, r.bytes, r.rest, _ = next(r.rest)
}

// Whether there are fields left. The next one is unknown if the pass before has not moved.
func (r *reader) pass() bool {
	if !r.moved {
		if r.tag >= critical {
			r.refused = true
		}
		r.advance()
	}
	r.moved = false
	return !r.refused && r.bytes != nil
}

// Whether the message was right, to its last byte.
func (r *reader) isRight() bool { return !r.refused && len(r.rest) == 0 }

// The bytes of a field that a message has at most once; the next field is the one after it.
func (r *reader) take() []byte {
	bit := uint32(1) << (r.tag & 31)
	if r.seen&bit != 0 {
		r.refused = true
	}
	r.seen |= bit
	bytes := r.bytes
	r.advance()
	return bytes
}

func (r *reader) integer(tag uint32, value *uint64) {
	if r.tag == tag {
		*value = r.takeInteger()
	}
}

// Not inlined, so that its caller is, which mostly finds another field.
//
//go:noinline
func (r *reader) takeInteger() uint64 {
	bytes := r.take()
	if len(bytes) != 8 {
		r.refused = true
		return 0
	}
	return binary.LittleEndian.Uint64(bytes)
}

func (r *reader) flag(tag uint32, value *bool) {
	if r.tag == tag {
		*value = true
		r.refused = len(r.take()) != 0 || r.refused
	}
}

func (r *reader) text(tag uint32, value *string) {
	if r.tag == tag {
		*value = string(r.take())
	}
}

// A text that answer after answer has: making it again would cost more than comparing.
func (r *reader) kept(tag uint32, value *string, old string) {
	if r.tag == tag {
		*value = r.takeKept(old)
	}
}

// Not inlined, so that its caller is, which mostly finds another field.
//
//go:noinline
func (r *reader) takeKept(old string) string {
	bytes := r.take()
	if old == string(bytes) {
		return old
	}
	return string(bytes)
}

func (r *reader) optional(tag uint32, value **string) {
	if r.tag == tag {
		text := string(r.take())
		*value = &text
	}
}

// Bytes that are not nil, even if there are none.
func (r *reader) blob(tag uint32, value *[]byte) {
	if r.tag == tag {
		if *value == nil {
			*value = []byte{}
		}
		*value = append(*value, r.take()...)
	}
}

func (r *reader) part(tag uint32, has *bool, part readable) {
	if r.tag == tag {
		r.takePart(has, part)
	}
}

func (r *reader) takePart(has *bool, part readable) {
	*has = true
	if !part.read(r.take()) {
		r.refused = true
	}
}

type readable interface{ read(fields []byte) bool }

// Adds the parts of a list.
func readParts[Part any, Pointer interface {
	*Part
	readable
}](r *reader, tag uint32, parts *[]Part) {
	for r.tag == tag {
		*parts = append(*parts, *new(Part))
		r.takeOne(Pointer(&(*parts)[len(*parts)-1]))
	}
}

func (r *reader) takeOne(part readable) {
	if !part.read(r.bytes) {
		r.refused = true
	}
	r.advance()
}
