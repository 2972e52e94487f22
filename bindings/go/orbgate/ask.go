package orbgate

import (
	"encoding/json"
	"fmt"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/answers"
)

// Ask answers a question about the policy: check, diff, explain, lint, needs, reach, table, unused or who. Arguments and answer are JSON;
// the answer is the JSON that `orbgate QUESTION --json` prints. Each question also has a method with types, such as [Engine.Explain].
//
// The error is an [*Error]: [ErrNotFound] for an unknown question, [ErrInvalidPolicy] if diff gets a policy with errors, and otherwise
// its message states what is wrong with the arguments. Over WebAssembly, the first question compiles a second module.
func (e *Engine) Ask(question, arguments string) (string, error) {
	return e.ask(question, arguments, answerJSON)
}

func (e *Engine) ask(question, arguments string, form uint32) (string, error) {
	p := e.current()
	lane := p.enter()
	if lane == nil {
		return "", ErrClosed
	}
	defer p.leave(lane)
	return p.engine.ask(question, arguments, form)
}

// Asks with typed arguments, for a typed answer.
func answered[Answer any](e *Engine, question string, arguments any) (*Answer, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("orbgate: %w", err)
	}
	fields, err := e.ask(question, string(text), answerFields)
	if err != nil {
		return nil, err
	}
	answer := new(Answer)
	if err := answers.Read(fields, answer); err != nil {
		return nil, err
	}
	return answer, nil
}
