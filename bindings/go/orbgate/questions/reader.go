package questions

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

var errNotRead = errors.New("orbgate: the answer is not the JSON of this version")

// Reads the library's JSON, several times as fast as reflection does. Strings are parts of the text. Unknown fields are skipped: a later
// library may add one.
type reader struct {
	text string
	// At the end after anything wrong.
	at    int
	wrong bool
}

type shape interface{ read(r *reader) }

func unmarshal(text []byte, answer shape) error {
	r := &reader{text: string(text)}
	answer.read(r)
	if r.peek(); r.wrong || r.at != len(r.text) {
		return errNotRead
	}
	return nil
}

func (r *reader) fail() {
	r.at, r.wrong = len(r.text), true
}

// The next byte that is not white space; 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if next := r.text[r.at]; next > ' ' {
			return next
		}
	}
	return 0
}

func (r *reader) take(wanted byte) bool {
	if r.peek() != wanted {
		return false
	}
	r.at++
	return true
}

func (r *reader) expect(wanted byte) {
	if !r.take(wanted) {
		r.fail()
	}
}

// Whether a word follows: null, true or false.
func (r *reader) word(wanted string) bool {
	if r.peek() != wanted[0] || !strings.HasPrefix(r.text[r.at:], wanted) {
		return false
	}
	r.at += len(wanted)
	return true
}

func (r *reader) isNull() bool { return r.word("null") }

func (r *reader) flag() bool {
	if r.word("true") {
		return true
	}
	if !r.word("false") {
		r.fail()
	}
	return false
}

func (r *reader) number() uint64 {
	r.peek()
	end := r.at
	for end < len(r.text) && r.text[end] >= '0' && r.text[end] <= '9' {
		end++
	}
	number, err := strconv.ParseUint(r.text[r.at:end], 10, 64)
	if r.at = end; err != nil {
		r.fail()
	}
	return number
}

func (r *reader) string() string {
	r.expect('"')
	rest := r.text[r.at:]
	if end := strings.IndexByte(rest, '"'); end >= 0 && strings.IndexByte(rest[:end], '\\') < 0 {
		r.at += end + 1
		return rest[:end]
	}
	for end := 0; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '"':
			var text string
			if json.Unmarshal([]byte(r.text[r.at-1:r.at+end+1]), &text) != nil {
				r.fail()
				return ""
			}
			r.at += end + 1
			return text
		}
	}
	r.fail()
	return ""
}

// Whether a list or an object has a first item: `for more := r.first('[', ']'); more; more = r.next(']')`.
func (r *reader) first(start, end byte) bool {
	r.expect(start)
	return !r.wrong && !r.take(end)
}

// Whether it has another one.
func (r *reader) next(end byte) bool {
	if r.take(',') {
		return true
	}
	r.expect(end)
	return false
}

// The name of a member.
func (r *reader) name() string {
	name := r.string()
	r.expect(':')
	return name
}

func (r *reader) strings() []string {
	texts := []string{}
	for more := r.first('[', ']'); more; more = r.next(']') {
		texts = append(texts, r.string())
	}
	return texts
}

func (r *reader) lists() [][]string {
	lists := [][]string{}
	for more := r.first('[', ']'); more; more = r.next(']') {
		lists = append(lists, r.strings())
	}
	return lists
}

func (r *reader) stringsByString() map[string]string {
	texts := map[string]string{}
	for more := r.first('{', '}'); more; more = r.next('}') {
		name := r.name()
		texts[name] = r.string()
	}
	return texts
}

func (r *reader) skip() {
	switch r.peek() {
	case '"':
		r.string()
	case '[':
		for more := r.first('[', ']'); more; more = r.next(']') {
			r.skip()
		}
	case '{':
		for more := r.first('{', '}'); more; more = r.next('}') {
			r.name()
			r.skip()
		}
	default:
		start := r.at
		for r.at < len(r.text) && r.text[r.at] != ',' && r.text[r.at] != ']' && r.text[r.at] != '}' {
			r.at++
		}
		if r.at == start {
			r.fail()
		}
	}
}

// A list of shapes.
func list[T any, P interface {
	*T
	shape
}](r *reader) []T {
	values := []T{}
	for more := r.first('[', ']'); more; more = r.next(']') {
		values = append(values, *new(T))
		P(&values[len(values)-1]).read(r)
	}
	return values
}

func pointer[T any](value T) *T { return &value }
