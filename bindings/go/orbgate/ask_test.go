package orbgate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/questions"
)

const policyCases = "../../../policy/cases"

// Asks with arguments that were read into their type, and writes the typed answer as JSON again.
func typed[Arguments, Answer any](t *testing.T, text []byte, ask func(Arguments) (*Answer, error)) string {
	t.Helper()
	var arguments Arguments
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&arguments); err != nil {
		t.Fatal(err)
	}
	answer, err := ask(arguments)
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(written.Bytes()))
}

// Each answer is the command's, byte for byte: as JSON, and as a typed value that is written as JSON again.
func TestQuestionsAreAnsweredAsByTheCommand(t *testing.T) {
	file, err := os.Open(filepath.Join(policyCases, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	covered := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			Question, Engine  string
			Arguments, Answer json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		engine, err := orbgate.External()
		if row.Engine != "" {
			engine, err = orbgate.FromFile(filepath.Join(policyCases, "policies", row.Engine+".yaml"))
		}
		if err != nil {
			t.Fatal(err)
		}
		answer, err := engine.Ask(row.Question, string(row.Arguments))
		if err != nil || answer != string(row.Answer) {
			t.Errorf("%s: %v\n%s\n%s", row.Question, err, answer, row.Answer)
		}
		written := map[string]func() string{
			"check":   func() string { return typed(t, row.Arguments, engine.Check) },
			"diff":    func() string { return typed(t, row.Arguments, engine.Diff) },
			"explain": func() string { return typed(t, row.Arguments, engine.Explain) },
			"lint":    func() string { return typed(t, row.Arguments, engine.Lint) },
			"needs":   func() string { return typed(t, row.Arguments, engine.Needs) },
			"reach":   func() string { return typed(t, row.Arguments, engine.Reach) },
			"table": func() string {
				return typed(t, row.Arguments, func(struct{}) (*questions.Table, error) { return engine.Table() })
			},
			"unused": func() string { return typed(t, row.Arguments, engine.Unused) },
			"who":    func() string { return typed(t, row.Arguments, engine.Who) },
		}[row.Question]()
		if written != string(row.Answer) {
			t.Errorf("%s, typed:\n%s\n%s", row.Question, written, row.Answer)
		}
		covered[row.Question] = true
		engine.Close()
	}
	if len(covered) != 9 {
		t.Errorf("only %v were asked", covered)
	}
}

func TestAQuestionThatCannotBeAnsweredIsAnError(t *testing.T) {
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Ask("why", "{}"); !errors.Is(err, orbgate.ErrNotFound) {
		t.Error(err)
	}
	if _, err := engine.Ask("reach", "{"); !errors.Is(err, orbgate.StatusInvalidArgument) {
		t.Error(err)
	}
	_, err = engine.Diff(questions.DiffArguments{Policy: "orbgate: 2\n"})
	var failure *orbgate.Error
	if !errors.As(err, &failure) || !errors.Is(err, orbgate.ErrInvalidPolicy) || failure.Line != 1 || len(failure.Diagnostics) == 0 {
		t.Error(err)
	}
	engine.Close()
	if _, err := engine.Table(); !errors.Is(err, orbgate.ErrClosed) {
		t.Error(err)
	}
}

func TestQuestionsAreAskedFromEveryGoroutine(t *testing.T) {
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 5 {
				reach, err := engine.Reach(questions.ReachArguments{Token: questions.RequestToken{Kind: "user", Scopes: "read:orbs"}})
				if err != nil || len(reach.Allowed) != 2 {
					t.Error(reach, err)
				}
			}
		}()
	}
	all.Wait()
	engine.Close()
}
