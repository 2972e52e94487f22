package orbgate

import (
	"encoding/json"
	"fmt"
)

// Ask answers a question about the policy: check, diff, explain, lint, needs, reach, table, unused or who. Arguments and answer are JSON;
// the answer is the JSON that `orbgate QUESTION --json` prints. Each question also has a method with types, such as [Engine.Explain].
//
// The error is an [*Error]: [ErrNotFound] for an unknown question, [ErrInvalidPolicy] if diff gets a policy with errors, and otherwise
// its message states what is wrong with the arguments. Over WebAssembly, the first question compiles a second module.
func (e *Engine) Ask(question, arguments string) (string, error) {
	p := e.current()
	lane := p.enter()
	if lane == nil {
		return "", ErrClosed
	}
	defer p.leave(lane)
	return p.engine.ask(question, arguments)
}

// Asks with typed arguments, for a typed answer.
func answered[Answer any, P interface {
	*Answer
	json.Unmarshaler
}](e *Engine, question string, arguments any) (*Answer, error) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("orbgate: %w", err)
	}
	found, err := e.Ask(question, string(text))
	if err != nil {
		return nil, err
	}
	answer := new(Answer)
	if err := P(answer).UnmarshalJSON([]byte(found)); err != nil {
		return nil, err
	}
	return answer, nil
}
