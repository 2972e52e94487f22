//go:build !orbgate_cgo

package orbgate

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/orbgate/orbgate/bindings/go/orbgate/questions"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The module that answers questions: `cargo xtask wasm` makes it. Most programs ask none, so deciding has a module without it.
//
//go:embed orbgate_questions.wasm
var questionsBytecode []byte

// Compiled at the first question.
var compiledQuestions = sync.OnceValues(func() (module, error) {
	first, err := compiled()
	if err != nil {
		return module{}, err
	}
	code, err := first.runtime.CompileModule(background, questionsBytecode)
	if err != nil {
		return module{}, unusable(err)
	}
	return module{first.runtime, code}, nil
})

// A questioner answers questions about one policy, one at a time. One is kept between questions.
type questioner struct {
	module api.Module
	engine uint64
}

// The idle questioner of an engine, if it has one.
type questioners struct {
	mutex sync.Mutex
	idle  *questioner
}

func (q *questioners) swap(idle *questioner) *questioner {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	last := q.idle
	q.idle = idle
	return last
}

func (q *questioner) close() {
	if q != nil {
		_ = q.module.Close(background)
	}
}

func (e engine) ask(question, arguments string, form uint32) (string, error) {
	questioner := e.questioners.swap(nil)
	if questioner == nil {
		var err error
		if questioner, err = newQuestioner(e.source); err != nil {
			return "", err
		}
	}
	answer, status := questioner.ask(question, arguments, form)
	if status == StatusPanic {
		questioner.close()
		return "", status
	}
	e.questioners.swap(questioner).close()
	if status != statusOK {
		return "", questionError(status, answer)
	}
	return string(answer), nil
}

// With an engine of this policy, or of the policy that is compiled into the library.
func newQuestioner(source string) (*questioner, error) {
	code, err := compiledQuestions()
	if err != nil {
		return nil, err
	}
	made, err := code.runtime.InstantiateModule(background, code.code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, unusable(err)
	}
	q := &questioner{module: made}
	function := "orbgate_wasm_external"
	if source != "" {
		function = "orbgate_wasm_load"
		if !q.write(source) {
			q.close()
			return nil, StatusPanic
		}
	}
	answer, status := q.call(function)
	var loaded struct{ Engine uint64 }
	if status != statusOK || json.Unmarshal(answer, &loaded) != nil {
		q.close()
		return nil, StatusPanic
	}
	q.engine = loaded.Engine
	return q, nil
}

func (q *questioner) ask(question, arguments string, form uint32) ([]byte, Status) {
	if !q.write(question + arguments) {
		return nil, StatusPanic
	}
	return q.call("orbgate_wasm_ask", q.engine, uint64(len(question)), uint64(form))
}

func (q *questioner) write(input string) bool {
	at, err := q.module.ExportedFunction("orbgate_wasm_input").Call(background, uint64(len(input)))
	return err == nil && at[0] != 0 && q.module.Memory().WriteString(uint32(at[0]), input)
}

// Calls a function and reads what it answers.
func (q *questioner) call(name string, arguments ...uint64) ([]byte, Status) {
	status, err := q.module.ExportedFunction(name).Call(background, arguments...)
	if err != nil {
		return nil, StatusPanic
	}
	at, err := q.module.ExportedFunction("orbgate_wasm_answer").Call(background)
	if err != nil {
		return nil, StatusPanic
	}
	size, err := q.module.ExportedFunction("orbgate_wasm_answer_len").Call(background)
	if err != nil {
		return nil, StatusPanic
	}
	answer, ok := q.module.Memory().Read(uint32(at[0]), uint32(size[0]))
	if !ok {
		return nil, StatusPanic
	}
	return slices.Clone(answer), Status(int32(status[0]))
}

// Why there is no answer.
func questionError(status Status, answer []byte) error {
	var failure struct {
		Message     string
		Diagnostics []questions.PolicyDiagnostic
	}
	if json.Unmarshal(answer, &failure) != nil {
		return status
	}
	err := &Error{Status: status, Message: failure.Message}
	for _, diagnostic := range failure.Diagnostics {
		err.Diagnostics = append(err.Diagnostics, Diagnostic{int(diagnostic.Location.Line), int(diagnostic.Location.Column), diagnostic.Message})
	}
	if len(err.Diagnostics) > 0 {
		err.Line, err.Column = err.Diagnostics[0].Line, err.Diagnostics[0].Column
	}
	return err
}
