package questions

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Another type with the same fields, which encoding/json reads by itself.
type reflected Reach

const reached = `{"policy":"sha256:\u00e4\ud83d\ude00\"\\\n","token":{"kind":"user","scopes":""},"allowed":[
	{"route":"GET /a","scope":"a","orbs":{"consumes":true,"amount":18446744073709551615},"reason":"scope_held","location":{"line":1,"column":2}},
	{"route":null,"scope":"b","orbs":null,"reason":"","location":{"line":0,"column":0},"later":[{"a":[1.5e3,-1,true,null,"]"],"b":{}},[]]}],
	"later":{"\"":"}"}}`

func TestAnswersAreReadAsReflectionReadsThem(t *testing.T) {
	for _, text := range []string{reached, ` { "allowed" : [ ] } `, `{}`} {
		var read Reach
		var expected reflected
		if err := read.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal([]byte(text), &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read, Reach(expected)) {
			t.Errorf("%s: %+v, not %+v", text, read, expected)
		}
	}
}

func TestTextThatIsNoAnswerIsAnError(t *testing.T) {
	wrong := []string{
		``, `null`, `[]`, `{`, `}`, `{}{}`, `{} x`, `{,}`, `{"policy"}`, `{"policy":}`, `{"policy":1}`, `{"policy":"a"`,
		`{"policy":"a",}`, `{"policy":"\x"}`, `{"policy":"a\"}`, `{"allowed":[{}{}]}`, `{"allowed":[,{}]}`, `{"allowed":[{},]}`,
		`{"allowed":[{"location":{"line":-1}}]}`, `{"allowed":[{"location":{"line":18446744073709551616}}]}`,
		`{"allowed":[{"orbs":{"consumes":tru}}]}`, `{"allowed":[{"orbs":nul}]}`, `{"later":}`, `{"later":[1}`,
	}
	for _, text := range wrong {
		if new(Reach).UnmarshalJSON([]byte(text)) == nil {
			t.Errorf("%s is read", text)
		}
	}
	// Every start of an answer is one.
	for end := range len(reached) {
		if new(Reach).UnmarshalJSON([]byte(reached[:end])) == nil {
			t.Errorf("%s is read", reached[:end])
		}
	}
}
