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

// Begins a field of fields, whose bytes begin at start.
func begin(to []byte, number uint32) (begun []byte, start int) {
	begun = putHead(to, number, 0)
	return begun, len(begun)
}

func end(to []byte, start int) []byte {
	binary.LittleEndian.PutUint32(to[start-4:], uint32(len(to)-start))
	return to
}

// The next field, and the fields after it.
func next(fields []byte) (tag uint32, bytes, rest []byte, ok bool) {
	if len(fields) < headSize {
		return 0, nil, nil, false
	}
	head := binary.LittleEndian.Uint64(fields)
	size := head >> 32
	if fields = fields[headSize:]; size > uint64(len(fields)) {
		return 0, nil, nil, false
	}
	return uint32(head), fields[:size], fields[size:], true
}

// A message is one field.
func open(message []byte) (number uint32, fields []byte, ok bool) {
	number, fields, rest, ok := next(message)
	return number, fields, ok && len(rest) == 0
}

// The bit of a field's number, if it is one of these, which a message has at most once.
func once(tag, single uint32) uint32 { return 1 << (tag &^ critical) & single }

func integer(bytes []byte) (value uint64, ok bool) {
	if len(bytes) != 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(bytes), true
}

// A text that answer after answer has: making it again would cost more than comparing.
func kept(old string, bytes []byte) string {
	if old == string(bytes) {
		return old
	}
	return string(bytes)
}
