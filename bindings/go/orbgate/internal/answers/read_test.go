package answers

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate/questions"
)

func field(name, value string) string {
	number := max(slices.Index(names[:], name), 0)
	if name == "later" {
		number = len(names) + 1<<31
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(number))
	return string(binary.LittleEndian.AppendUint32(head, uint32(len(value)))) + value
}

func number(value uint64) string { return string(binary.LittleEndian.AppendUint64(nil, value)) }

func TestAnAnswerIsReadFieldByField(t *testing.T) {
	location := field("location", field("line", number(1<<63))+field("column", number(2)))
	alternatives := field("scopes", field("scopes", "a")+field("scopes", "b")) + field("scopes", field("scopes", "c"))
	route := field("route", "") + field("scope", "a") + alternatives + field("orbs", field("consumes", "")+field("amount", number(0))) + location
	fields := field("later", "x") + field("policy", "ä") + field("allowed", route) + field("allowed", field("files", "of another type"))
	var reach questions.Reach
	if err := Read(fields, &reach); err != nil {
		t.Fatal(err)
	}
	empty, none := "", uint64(0)
	expected := questions.Reach{Policy: "ä", Allowed: []questions.ReachedRoute{{
		Route: &empty, Scope: "a", Scopes: [][]string{{"a", "b"}, {"c"}},
		Orbs:     &questions.Orbs{Consumes: true, Amount: &none},
		Location: questions.Position{Line: 1 << 63, Column: 2},
	}, {}}}
	if !reflect.DeepEqual(reach, expected) {
		t.Errorf("%+v, not %+v", reach, expected)
	}
	if err := Read("", &reach); err != nil || reach.Allowed == nil {
		t.Errorf("%v, %+v", err, reach)
	}
	// Every start of it that ends within a field is an error.
	ends := 0
	for end := range len(fields) {
		if Read(fields[:end], new(questions.Reach)) == nil {
			ends++
		}
	}
	if ends != 4 {
		t.Errorf("%d starts are read", ends)
	}
}

func TestMalformedFieldsAreAnError(t *testing.T) {
	for _, fields := range []string{
		"\x00", field("allowed", field("location", field("line", "1"))), field("allowed", field("orbs", field("consumes", "1"))),
		field("token", "kind"), field("allowed", field("scopes", "a")), field("policy", "")[:4] + "\xff\xff\xff\xff",
		field("policy", "") + field("policy", "a"), field("allowed", field("orbs", "")+field("orbs", "")),
	} {
		if Read(fields, new(questions.Reach)) == nil {
			t.Errorf("%q is read", fields)
		}
	}
}
