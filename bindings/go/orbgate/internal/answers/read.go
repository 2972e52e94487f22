// Package answers reads the answers of questions.
package answers

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
)

var errNotRead = errors.New("orbgate: the answer is malformed")

// Read reads an answer from the fields that the library writes, each a number, a length and its bytes. Its strings are parts of them.
// Unknown fields are skipped: a later library may add one. A field that isn't a list's is there once.
func Read[Answer any](fields string, answer *Answer) error {
	if !read(reflect.ValueOf(answer).Elem(), fields) {
		return errNotRead
	}
	return nil
}

// How a type is read.
type plan struct {
	// The struct's field for each number, from 1; 0 if it has none.
	fields [len(names)]int
	// Its lists that are never left out: without items, they are empty, as in JSON.
	lists []int
}

var plans sync.Map // of reflect.Type to *plan

func planOf(shape reflect.Type) *plan {
	if known, is := plans.Load(shape); is {
		return known.(*plan)
	}
	made := new(plan)
	for at := range shape.NumField() {
		field := shape.Field(at)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		made.fields[slices.Index(names[:], name)] = at + 1
		if field.Type.Kind() == reflect.Slice && option == "" {
			made.lists = append(made.lists, at)
		}
	}
	plans.Store(shape, made)
	return made
}

func read(to reflect.Value, fields string) bool {
	plan := planOf(to.Type())
	for _, at := range plan.lists {
		list := to.Field(at)
		list.Set(reflect.MakeSlice(list.Type(), 0, 0))
	}
	var seen [len(names)]bool
	return each(fields, func(number uint32, value string) bool {
		if number >= uint32(len(plan.fields)) || plan.fields[number] == 0 {
			return true
		}
		field := to.Field(plan.fields[number] - 1)
		if seen[number] && field.Kind() != reflect.Slice {
			return false
		}
		seen[number] = true
		return set(field, value)
	})
}

// Hands each field on, and returns whether all were right.
func each(fields string, take func(number uint32, value string) bool) bool {
	for len(fields) > 0 {
		if len(fields) < 8 {
			return false
		}
		head := []byte(fields[:8])
		number, size := binary.LittleEndian.Uint32(head), uint64(binary.LittleEndian.Uint32(head[4:]))
		if size > uint64(len(fields)-8) || !take(number, fields[8:8+size]) {
			return false
		}
		fields = fields[8+size:]
	}
	return true
}

func set(to reflect.Value, value string) bool {
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return set(to.Elem(), value)
	case reflect.Struct:
		return read(to, value)
	case reflect.Slice:
		to.Grow(1)
		to.SetLen(to.Len() + 1)
		item := to.Index(to.Len() - 1)
		if item.Kind() != reflect.Slice {
			return set(item, value)
		}
		return each(value, func(_ uint32, value string) bool { return set(item, value) })
	case reflect.String:
		to.SetString(value)
		return true
	case reflect.Uint64:
		if len(value) != 8 {
			return false
		}
		to.SetUint(binary.LittleEndian.Uint64([]byte(value)))
		return true
	default:
		to.SetBool(true)
		return len(value) == 0
	}
}
